//! Commands that show and change values, and `info`.

use anyhow::{Context, bail};
use dapple_adapter::DecidedRequest;
use dapple_dap::message::Empty;
use dapple_dap::types::{
    EvaluateArguments, EvaluateArgumentsContext, EvaluateRequest, ModulesArguments, ModulesRequest,
    Scope, ScopePresentationHint, ScopesArguments, ScopesRequest, SetExpressionArguments,
    SetExpressionRequest, StackFrame, Variable, VariablesArguments, VariablesArgumentsFilter,
    VariablesRequest,
};

use super::{Argument, Command, Flow};
use crate::debug::render;
use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::style::Role;
use crate::debug::value_tree;

/// The subjects of `info`.
pub const TOPICS: &[&str] = &[
    "breakpoints",
    "locals",
    "args",
    "threads",
    "processes",
    "registers",
    "modules",
    LOCKS,
];

/// A subject of `info` with the beginning of another one, whose abbreviations stay that one's.
const LOCKS: &str = "locks";

pub static COMMANDS: &[Command] = &[
    Command {
        name: "print",
        aliases: &["p"],
        usage: "EXPRESSION",
        summary: "show a value",
        details: "Such as `p order.items[0]` or `p *next`. What does not fit on a line is opened up. `p/x flags` shows numbers in hexadecimal, `p *pointer@3` three of what it points to. `p -full text` leaves nothing out.",
        argument: Argument::Expression,
        repeats: false,
        run: print,
    },
    Command {
        name: "type",
        aliases: &["ptype", "whatis"],
        usage: "EXPRESSION",
        summary: "show the type of a value, and of its fields, or what a type or function is",
        details: "Such as `type order.items`, `type Order`, `type main`.",
        argument: Argument::Expression,
        repeats: false,
        run: type_of,
    },
    Command {
        name: "set",
        aliases: &[],
        usage: "PLACE = VALUE",
        summary: "give a variable another value",
        details: "Such as `set order.count = 3`, `set flags |= 1` or `set $rax = 0`; both sides are expressions. What does not fit is refused, and changes nothing.",
        argument: Argument::Expression,
        repeats: false,
        run: set,
    },
    Command {
        name: "info",
        aliases: &["i"],
        usage: "breakpoints | locals | args | threads | processes | registers | modules | locks",
        summary: "list what there is of these",
        details: "The start of the word is enough: `i b`, `i lo` (locals). `info locks` lists the threads that wait for a mutex or for another thread, with who \
                  holds it, and marks circles of them as deadlocks.",
        argument: Argument::Topic(TOPICS),
        repeats: false,
        run: info,
    },
];

/// The option that shows a value in full.
const FULL: &str = "-full";

fn print(session: &mut Session, expression: &str) -> anyhow::Result<Flow> {
    if expression.is_empty() {
        bail!("print what? `p order.items[0]`");
    }
    let (is_full, expression) = match expression.strip_prefix(FULL) {
        Some(rest) if rest.starts_with(char::is_whitespace) => (true, rest.trim()),
        _ => (false, expression),
    };
    let (name, expression) = match expression.strip_prefix('/') {
        Some(format) => with_format(session, format)?,
        None => (expression, expression.to_owned()),
    };
    let expression = match at_sign(&expression) {
        Some((first, count)) if session.is_own_adapter() => format!("&({first}),[{count}]"),
        _ => expression,
    };
    if let Some(at) = assigns(&expression) {
        return assign(session, &expression, at);
    }
    let frame = session.stop()?.frame().map(|frame| frame.id);
    let mut arguments = EvaluateArguments::new(expression);
    arguments.frame_id = frame;
    // In other adapters, `repl` takes the adapter's own commands, and `p x` is one of lldb's.
    arguments.context = Some(match is_full {
        true => EvaluateArgumentsContext::Clipboard,
        false => EvaluateArgumentsContext::Watch,
    });
    let answer = session.request_that_runs::<EvaluateRequest>(arguments)?;
    if is_full {
        session.screen.print(&format!("{name} = {}", answer.result));
        return Ok(Flow::Go);
    }
    let value = value_tree::Value::from(&answer);
    let text = value_tree::open(session, name, &value);
    session.screen.print(&text);
    Ok(Flow::Go)
}

/// Splits gdb's `numbers[2]@3`, which means three elements from `numbers[2]` on. An `@` inside a string doesn't count.
fn at_sign(text: &str) -> Option<(&str, &str)> {
    let mut quoted = None;
    let mut chars = text.char_indices();
    let mut found = None;
    while let Some((at, c)) = chars.next() {
        match (quoted, c) {
            (Some(_), '\\') => drop(chars.next()),
            (Some(quote), c) if c == quote => quoted = None,
            (None, '"' | '\'') => quoted = Some(c),
            (None, '@') => found = Some((text[..at].trim(), text[at + 1..].trim())),
            _ => {}
        }
    }
    found.filter(|(first, count)| !first.is_empty() && !count.is_empty())
}

/// Translates `/x flags`, the notation of gdb and lldb, into Dapple's `flags,x`; also returns the expression alone as the name.
fn with_format<'f>(session: &Session, format: &'f str) -> anyhow::Result<(&'f str, String)> {
    let (letter, expression) = format
        .split_once(char::is_whitespace)
        .context("print what? `p/x flags`")?;
    if !session.is_own_adapter() {
        bail!(
            "`/{letter}` is a format of Dapple's adapter only; use the notation that this adapter documents"
        );
    }
    // `a` (address) is shown as hexadecimal; gdb's `t` (two) means binary.
    let letter = match letter {
        "a" => "x",
        "t" => "b",
        letter => letter,
    };
    let expression = expression.trim();
    Ok((expression, format!("{expression},{letter}")))
}

/// Shows a value's type, and the types of its fields.
fn type_of(session: &mut Session, expression: &str) -> anyhow::Result<Flow> {
    if expression.is_empty() {
        bail!("the type of what? `type order.items`");
    }
    let mut arguments = EvaluateArguments::new(expression.to_owned());
    arguments.frame_id = session.stop()?.frame().map(|frame| frame.id);
    arguments.context = Some(EvaluateArgumentsContext::Watch);
    let answer = session.request_that_runs::<EvaluateRequest>(arguments)?;
    let Some(type_name) = answer.r#type.filter(|name| !name.is_empty()) else {
        bail!("the type of `{expression}` is not known");
    };
    let mut lines = vec![type_name];
    if answer.variables_reference > 0 && answer.named_variables != Some(0) {
        let fields = VariablesArguments::new(answer.variables_reference)
            .with_filter(VariablesArgumentsFilter::Named);
        let fields = session.request::<VariablesRequest>(fields)?.variables;
        let fields = fields.iter().filter(|field| !field.name.starts_with('['));
        lines.extend(fields.filter_map(|field| {
            let of = field.r#type.as_ref().filter(|name| !name.is_empty())?;
            Some(format!("  {}: {of}", field.name))
        }));
    }
    session.screen.print(&printable(&lines.join("\n")));
    Ok(Flow::Go)
}

fn set(session: &mut Session, assignment: &str) -> anyhow::Result<Flow> {
    // gdb also has `set variable`.
    let words = ["variable ", "var "];
    let rest = words.iter().find_map(|word| assignment.strip_prefix(word));
    let assignment = rest.unwrap_or(assignment).trim();
    match assigns(assignment) {
        Some(at) => assign(session, assignment, at),
        None => bail!("set what? `set order.count = 3`"),
    }
}

/// The end of an assignment's operator: after the first `=` that is no part of a comparison or string. `None`: it is no assignment.
fn assigns(text: &str) -> Option<usize> {
    let mut quoted = None;
    let (mut before, mut is_doubled) = (' ', false);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match (quoted, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(quote), c) if c == quote => quoted = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quoted = Some(c),
            (None, '=') if next == Some('=') => {
                chars.next();
            }
            (None, '=') if before == '!' => {}
            // `<=` compares, `<<=` shifts.
            (None, '=') if matches!(before, '<' | '>') && !is_doubled => {}
            (None, '=') => return Some(at + 1),
            _ => {}
        }
        is_doubled = before == c;
        before = c;
    }
    None
}

fn assign(session: &mut Session, assignment: &str, at: usize) -> anyhow::Result<Flow> {
    let frame = session.stop()?.frame().map(|frame| frame.id);
    let (head, value) = assignment.split_at(at);
    let place = head.trim_end_matches('=').trim();
    let is_plain = !place.ends_with(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    // Only Dapple's adapter is known to evaluate assignments.
    let (name, value) = if is_plain && !session.is_own_adapter() {
        let mut arguments = SetExpressionArguments::new(place, value.trim());
        arguments.frame_id = frame;
        let answer = session.request_that_runs::<SetExpressionRequest>(arguments)?;
        (place, value_tree::Value::from(&answer))
    } else {
        let mut arguments = EvaluateArguments::new(assignment.to_owned());
        arguments.frame_id = frame;
        arguments.context = Some(EvaluateArgumentsContext::Repl);
        let answer = session.request_that_runs::<EvaluateRequest>(arguments)?;
        let place = place.trim_end_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
        (place.trim(), value_tree::Value::from(&answer))
    };
    let text = value_tree::open(session, name, &value);
    session.screen.print(&text);
    Ok(Flow::Go)
}

fn info(session: &mut Session, topic: &str) -> anyhow::Result<Flow> {
    // Also accepts `regs` and `vars`.
    let known = super::foreign_commands::single_words()
        .find(|(word, _)| *word == topic)
        .and_then(|(_, command)| command.strip_prefix("info "));
    let topic = match known.unwrap_or(topic) {
        "regs" => "registers",
        topic => topic,
    };
    let matching: Vec<_> = TOPICS
        .iter()
        .filter(|known| known.starts_with(topic))
        .filter(|known| **known != LOCKS || !"loc".starts_with(topic))
        .collect();
    match matching[..] {
        [&"breakpoints"] => breakpoints(session),
        [&"locals"] => variables(
            session,
            |scope| hint(scope) == Some(&ScopePresentationHint::Locals),
            "locals",
        )?,
        [&"args"] => variables(
            session,
            |scope| hint(scope) == Some(&ScopePresentationHint::Arguments),
            "arguments",
        )?,
        [&"threads"] => threads(session)?,
        [&"processes"] => {
            let lines = session.process_lines();
            let none = "the program is not running; `run` starts it";
            let text = match lines.is_empty() {
                true => none.to_owned(),
                false => lines.join("\n"),
            };
            session.screen.print(&text);
        }
        [&"registers"] => drop(super::machine::registers(session, "")?),
        [&"modules"] => modules(session)?,
        [&LOCKS] => super::locks::show(session)?,
        _ if topic.is_empty() => bail!("info about what? {}", TOPICS.join(", ")),
        [] => {
            let similar = TOPICS
                .iter()
                .map(|known| (strsim::levenshtein(topic, known), *known))
                .min();
            if let Some((distance, known)) = similar
                && distance <= known.len().div_ceil(3)
            {
                bail!("there is no info about `{topic}`; did you mean `info {known}`?");
            }
            bail!(
                "there is no info about `{topic}`, only about {}",
                TOPICS.join(", ")
            )
        }
        _ => bail!(
            "`{topic}` could be any of {}",
            matching
                .iter()
                .map(|topic| **topic)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
    Ok(Flow::Go)
}

fn breakpoints(session: &mut Session) {
    // Without a running program, nothing is decided yet.
    let asked = session.is_own_adapter().then(|| {
        let asked = session.request::<DecidedRequest>(Empty);
        asked.unwrap_or_default()
    });
    let answer = asked.unwrap_or_default();
    let decided = &answer.breakpoints;
    let mut lines: Vec<_> = session
        .breakpoints
        .iter()
        .map(|this| {
            let id = this.answer.as_ref().and_then(|answer| answer.id);
            let decided = decided.iter().find(|decided| Some(decided.id) == id);
            let how = decided.map_or_else(String::new, render::decided);
            render::breakpoint_line(this, session.screen.style) + &how
        })
        .collect();
    lines.extend(super::watching::lines(session));
    if answer.memory > 0 {
        lines.push(format!(
            "what is decided in the program takes {} KB of its memory",
            answer.memory.div_ceil(1024)
        ));
    }
    let text = if lines.is_empty() {
        "there are no breakpoints".to_owned()
    } else {
        lines.join("\n")
    };
    session.screen.print(&text);
}

pub(super) fn hint(scope: &Scope) -> Option<&ScopePresentationHint> {
    scope.presentation_hint.as_ref()
}

pub(super) fn scopes(session: &Session, frame: &StackFrame) -> anyhow::Result<Vec<Scope>> {
    Ok(session
        .request::<ScopesRequest>(ScopesArguments::new(frame.id))?
        .scopes)
}

pub(super) fn children(session: &Session, reference: i64) -> anyhow::Result<Vec<Variable>> {
    Ok(session
        .request::<VariablesRequest>(VariablesArguments::new(reference))?
        .variables)
}

pub(super) fn selected(session: &Session) -> anyhow::Result<StackFrame> {
    session
        .stop()?
        .frame()
        .cloned()
        .context("this thread has no frames")
}

fn variables(
    session: &mut Session,
    wanted: impl Fn(&Scope) -> bool,
    what: &str,
) -> anyhow::Result<()> {
    let frame = selected(session)?;
    let mut lines = Vec::new();
    for scope in scopes(session, &frame)?
        .iter()
        .filter(|scope| wanted(scope))
    {
        for variable in children(session, scope.variables_reference)? {
            let value = value_tree::Value::from(&variable);
            lines.push(value_tree::line(session, &variable.name, &value));
        }
    }
    if lines.is_empty() {
        lines.push(format!("there are no {what} here"));
    }
    session.screen.print(&lines.join("\n"));
    Ok(())
}

/// The names of a frame's variables, for completion, without those in expensive scopes.
pub fn variables_of(session: &Session, frame: &StackFrame) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for scope in scopes(session, frame)?
        .iter()
        .filter(|scope| !scope.expensive)
    {
        names.extend(
            children(session, scope.variables_reference)?
                .into_iter()
                .map(|variable| variable.name),
        );
    }
    Ok(names)
}

fn threads(session: &mut Session) -> anyhow::Result<()> {
    let selected = session.stop()?.thread;
    let threads = session.threads()?;
    let style = session.screen.style;
    let lines = threads.iter().map(|thread| {
        let mark = if thread.id == selected {
            style.paint(Role::Current, "→")
        } else {
            " ".to_owned()
        };
        format!("{mark} {}", render::thread(thread.id, &threads))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    session.screen.print(&text);
    Ok(())
}

fn modules(session: &mut Session) -> anyhow::Result<()> {
    let answer = session.request::<ModulesRequest>(ModulesArguments::default())?;
    let style = session.screen.style;
    let lines: Vec<_> = answer
        .modules
        .iter()
        .map(|module| {
            let path = module.path.as_deref().unwrap_or(&module.name);
            let symbols = module
                .symbol_status
                .as_deref()
                .map(|status| format!("  {status}"))
                .unwrap_or_default();
            let range = module
                .address_range
                .as_deref()
                .map(|range| format!("{range}  "))
                .unwrap_or_default();
            format!(
                "{range}{}{}",
                crate::debug::screen::printable(path),
                style.paint(Role::Aside, &crate::debug::screen::printable(&symbols))
            )
        })
        .collect();
    let text = if lines.is_empty() {
        "there are no modules yet".to_owned()
    } else {
        lines.join("\n")
    };
    session.screen.print(&text);
    Ok(())
}

/// Shows the return value of the function that a step left, if the adapter provides it.
pub fn returned(session: &mut Session) -> anyhow::Result<()> {
    session.load_frames(1)?;
    let Some(frame) = session.stop()?.frames.first().map(|frame| frame.id) else {
        return Ok(());
    };
    let scopes = session
        .request::<ScopesRequest>(ScopesArguments::new(frame))?
        .scopes;
    let returned = scopes
        .iter()
        .find(|scope| hint(scope) == Some(&ScopePresentationHint::ReturnValue));
    let Some(scope) = returned else {
        return Ok(());
    };
    let arguments = VariablesArguments::new(scope.variables_reference);
    for variable in session.request::<VariablesRequest>(arguments)?.variables {
        let value = value_tree::Value::from(&variable);
        let text = value_tree::line(session, &variable.name, &value);
        session.screen.print(&format!("returned {text}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{assigns, at_sign};

    #[test]
    fn an_at_sign_counts_and_one_in_a_text_is_none() {
        assert_eq!(at_sign("*argv@argc - 1"), Some(("*argv", "argc - 1")));
        assert_eq!(at_sign("names[\"a@b\"]"), None);
        assert_eq!(at_sign("c == '@'"), None);
        assert_eq!(at_sign("x@"), None);
    }

    #[test]
    fn what_assigns_is_told_from_what_compares() {
        for text in [
            "x = 3",
            "x=3",
            "a[1] += 2",
            "x <<= 1",
            "x >>= 1",
            "s = \"a == b\"",
        ] {
            assert!(assigns(text).is_some(), "{text}");
        }
        for text in [
            "x == 3",
            "x != 3",
            "x <= 3",
            "x >= 3",
            "s == \"a = b\"",
            "c == '='",
            "x",
        ] {
            assert!(assigns(text).is_none(), "{text}");
        }
    }
}
