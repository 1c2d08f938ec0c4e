//! gdb's `printf`: values in a text.
//!
//! The values are the adapter's own texts of them: a directive chooses the part of it that C would show.

use anyhow::{Context, bail};
use dapple_dap::types::{EvaluateArguments, EvaluateArgumentsContext, EvaluateRequest};

use super::data::in_notation_of_adapter;
use super::expression_text::unquoted;
use super::{Argument, Command, Flow};
use crate::debug::screen::printable;
use crate::debug::session::Session;

/// The widest that a value is made.
const WIDEST: usize = 1000;

pub static COMMANDS: &[Command] = &[Command {
    name: "printf",
    aliases: &[],
    usage: "\"TEXT\", VALUE …",
    summary: "print a line of text with values in it",
    details: "`printf \"%d of %s\\n\", count, name`: `%d`, `%u`, `%x`, `%o`, `%c`, `%s`, `%f`, `%p` stand for a value each, also with a width (`%-8s`); `%%` for a percent sign.",
    argument: Argument::Expression,
    repeats: false,
    run: printf,
}];

fn printf(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (pieces, rest) = parse(argument)?;
    let mut values = values(rest)?.into_iter();
    let mut text = String::new();
    for piece in &pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Value(directive) => {
                let value = values.next();
                let value = value
                    .with_context(|| format!("a value for `%{}` is missing", directive.kind))?;
                text.push_str(&directive.shown(session, value)?);
            }
        }
    }
    if let Some(value) = values.next() {
        bail!("there is no directive for `{value}`");
    }
    session.screen.print(&printable(&text));
    Ok(Flow::Go)
}

/// A part of the text.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Value(Directive),
}

/// Where a value stands: `%-8s`.
#[derive(Debug, PartialEq, Eq)]
struct Directive {
    kind: char,
    width: usize,
    is_left: bool,
    fills_zeros: bool,
}

/// The pieces of a text in quotation marks, and what follows it.
fn parse(argument: &str) -> anyhow::Result<(Vec<Piece>, &str)> {
    let usage = "print what? `printf \"%d\\n\", count`";
    let inner = argument.strip_prefix('"').context(usage)?;
    let (mut pieces, mut text) = (Vec::new(), String::new());
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                pieces.push(Piece::Text(text));
                return Ok((pieces, inner[at + 1..].trim()));
            }
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push_str("    "),
                Some((_, c)) => text.push(c),
                None => break,
            },
            '%' => {
                let rest = &inner[at + 1..];
                let end = rest
                    .find(|c: char| c.is_ascii_alphabetic() && !"hlLzjt".contains(c) || c == '%');
                let end = end.context("`%` stands alone; `%%` is a percent sign")?;
                if rest[end..].starts_with('%') {
                    text.push('%');
                } else {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    pieces.push(Piece::Value(Directive::parse(&rest[..=end])?));
                }
                chars = inner.char_indices();
                chars
                    .by_ref()
                    .take_while(|(index, _)| *index < at + 1 + end)
                    .for_each(drop);
            }
            c => text.push(c),
        }
    }
    bail!("the text has no end: a `\"` is missing")
}

/// The expressions behind the text, each behind a comma.
fn values(rest: &str) -> anyhow::Result<Vec<&str>> {
    if rest.is_empty() {
        return Ok(Vec::new());
    }
    let rest = rest
        .strip_prefix(',')
        .context("a comma stands before each value")?;
    let commas = unquoted(rest).filter(|(_, c, depth)| (*c, *depth) == (',', 0));
    let mut values = Vec::new();
    let mut from = 0;
    for (at, ..) in commas {
        values.push(rest[from..at].trim());
        from = at + 1;
    }
    values.push(rest[from..].trim());
    if values.contains(&"") {
        bail!("a value is missing behind a comma");
    }
    Ok(values)
}

impl Directive {
    /// Parses what follows the percent sign.
    fn parse(text: &str) -> anyhow::Result<Directive> {
        let kind = text.chars().last().unwrap_or_default();
        if !"diuxXocsfegp".contains(kind) {
            bail!("`%{text}` is no directive; there are d, u, x, o, c, s, f and p");
        }
        let flags = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let digits = flags.trim_start_matches(['-', '0', '+', ' ', '#']);
        let width = digits.split('.').next().unwrap_or_default();
        let flags = &flags[..flags.len() - digits.len()];
        Ok(Directive {
            kind,
            width: width.parse().unwrap_or(0).min(WIDEST),
            is_left: flags.contains('-'),
            fills_zeros: flags.contains('0'),
        })
    }

    /// The value of an expression as it is to be shown.
    fn shown(&self, session: &mut Session, expression: &str) -> anyhow::Result<String> {
        let expression = match self.kind {
            'x' | 'X' => in_notation_of_adapter(session, &format!("/x {expression}"))?.1,
            'o' => in_notation_of_adapter(session, &format!("/o {expression}"))?.1,
            _ => session.values.expanded(expression)?,
        };
        let mut arguments = EvaluateArguments::new(expression);
        arguments.frame_id = session.stop()?.frame().map(|frame| frame.id);
        // Texts are whole in this context.
        arguments.context = Some(EvaluateArgumentsContext::Clipboard);
        let answer = session.request_that_runs::<EvaluateRequest>(arguments)?;
        Ok(self.padded(&self.part_of(&answer.result)))
    }

    /// What C would show of a value, of which the adapter shows more: of `0x5555 "text"` or `65 'A'`.
    fn part_of(&self, value: &str) -> String {
        let between = |mark: char| {
            let (from, to) = (value.find(mark)?, value.rfind(mark)?);
            (from < to).then(|| value[from + 1..to].to_owned())
        };
        let first = value.split_whitespace().next().unwrap_or_default();
        match self.kind {
            's' => between('"').unwrap_or_else(|| value.to_owned()),
            'c' => between('\'').unwrap_or_else(|| value.to_owned()),
            'x' => first.trim_start_matches("0x").to_owned(),
            'X' => first.trim_start_matches("0x").to_uppercase(),
            'o' => first.trim_start_matches("0o").to_owned(),
            _ => first.to_owned(),
        }
    }

    fn padded(&self, text: &str) -> String {
        let width = self.width;
        match (self.is_left, self.fills_zeros) {
            (true, _) => format!("{text:<width$}"),
            (false, true) => format!("{text:0>width$}"),
            (false, false) => format!("{text:>width$}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_directives() {
        let value = |kind, width, is_left, fills_zeros| {
            Piece::Value(Directive {
                kind,
                width,
                is_left,
                fills_zeros,
            })
        };
        let text = |text: &str| Piece::Text(text.to_owned());
        let (pieces, rest) = parse(r#""a \"%-8s\" 5%% %04lx\n", name, f(1, 2)"#).expect("a text");
        let expected = [
            text("a \""),
            value('s', 8, true, false),
            text("\" 5% "),
            value('x', 4, false, true),
            text("\n"),
        ];
        assert_eq!(pieces, expected);
        assert_eq!(values(rest).expect("values"), ["name", "f(1, 2)"]);
        for wrong in ["", "x", "\"%d", "\"5%\"", "\"%y\""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(values("x").is_err() && values(", x,").is_err());
    }

    #[test]
    fn a_directive_shows_what_c_would() {
        let shown = |text: &str, value: &str| {
            let directive = Directive::parse(text).expect("a directive");
            directive.padded(&directive.part_of(value))
        };
        assert_eq!(shown("s", "0x5555 \"a \\\"b\\\" c\""), "a \\\"b\\\" c");
        assert_eq!(shown("c", "65 'A'"), "A");
        assert_eq!(shown("d", "65 'A'"), "65");
        assert_eq!(shown("5d", "65"), "   65");
        assert_eq!(shown("04x", "0x1f"), "001f");
        assert_eq!(shown("-4d", "7"), "7   ");
    }
}
