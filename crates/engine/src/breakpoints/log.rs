//! Messages that breakpoints write instead of stopping: text with expressions in braces.
//!
//! `{expression}` is shown like a variable; `{expression:x}` in the format `x` ([`Format`]). `{{` and `}}` are braces; `\n`, `\t` and `\\`
//! are as in C. In place of an expression that can't be evaluated, the reason is shown in angle brackets, and the program goes on.

use crate::Error;
use crate::breakpoints::condition::{Expression, Here};
use dapple_arch::decision::{MOST_VALUES, Recorded};
use dapple_inspect::eval::prepared::Kind;
use dapple_inspect::frame::Frame;
use dapple_inspect::inspect::kept::KeptValue;
use dapple_inspect::values::{Contents, NamedValue, Number, Reader, Value, number_of};
use dapple_symbols::functions::Language;

/// A parsed message.
#[derive(Debug, Clone)]
pub(crate) struct LogMessage {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Value {
        expression: Expression,
        format: Option<Format>,
        /// The expression's column in the message, in characters from 1.
        column: usize,
    },
}

/// How a value is shown, as C's and Rust's formats have it: `#` for a prefix, `0` for zeros and a width, `.` and a number of decimals, and a
/// letter. Each may be left out, but not all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    prefix: bool,
    zeros: bool,
    width: usize,
    decimals: Option<usize>,
    letter: Option<char>,
}

/// A message with its values, as a breakpoint writes it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    /// The values in the message that have children.
    pub(crate) values: Vec<KeptValue>,
}

/// A message whose values the program records.
#[derive(Debug)]
pub(crate) struct RecordedMessage {
    parts: Vec<RecordedPart>,
}

/// How the program records a message.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) message: RecordedMessage,
    /// The message's values.
    pub(crate) values: Vec<Recorded>,
    /// If a thread's id has to be known: how far from the thread pointer it has it.
    pub(crate) own_id: Option<u64>,
}

#[derive(Debug)]
enum RecordedPart {
    Text(String),
    Value(Kind, Option<Format>),
}

impl RecordedMessage {
    /// Writes the message whose values, in their order, were recorded as these words.
    pub(crate) fn write(&self, mut words: impl Iterator<Item = u64>, text: &mut String) {
        for part in &self.parts {
            match part {
                RecordedPart::Text(plain) => text.push_str(plain),
                RecordedPart::Value(kind, format) => {
                    let number = kind.number(words.next().unwrap_or_default());
                    match format {
                        None => number.write(text),
                        Some(format) => text.push_str(&format.of(number)),
                    }
                }
            }
        }
    }
}

/// The largest width and the largest number of decimals that a format may have. A larger one is taken for a mistake.
const WIDEST: usize = 200;

impl LogMessage {
    /// Parses a message.
    ///
    /// # Errors
    /// A sentence with what is wrong, and in which column.
    pub(crate) fn parse(text: &str) -> Result<LogMessage, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text.char_indices().peekable();
        let column = |at: usize| text[..at].chars().count() + 1;
        while let Some((at, c)) = rest.next() {
            let doubled = matches!(rest.peek(), Some((_, next)) if *next == c);
            match c {
                '{' | '}' if doubled => {
                    rest.next();
                    plain.push(c);
                }
                '}' => {
                    return Err(format!(
                        "column {} of the log message has a `}}` without its `{{`; write `}}}}` for a brace",
                        column(at)
                    ));
                }
                '{' => {
                    let start = at + 1;
                    let Some(length) = closing(&text[start..]) else {
                        return Err(format!(
                            "column {} of the log message has a `{{` without its `}}`; write `{{{{` for a brace",
                            column(at)
                        ));
                    };
                    let inside = &text[start..start + length];
                    let (expression, format) = split_format(inside).map_err(|(from, what)| {
                        format!("column {} of the log message: {what}", column(start + from))
                    })?;
                    if expression.trim().is_empty() {
                        return Err(format!(
                            "column {} of the log message has nothing between its braces; write `{{{{` for a brace",
                            column(at)
                        ));
                    }
                    if !plain.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut plain)));
                    }
                    let blank = expression.len() - expression.trim_start().len();
                    parts.push(Part::Value {
                        expression: Expression::new(expression),
                        format,
                        column: column(start + blank),
                    });
                    while rest.next_if(|(at, _)| *at <= start + length).is_some() {}
                }
                '\\' => {
                    let meant = rest.peek().and_then(|(_, next)| escaped(*next));
                    if meant.is_some() {
                        rest.next();
                    }
                    plain.push(meant.unwrap_or('\\'));
                }
                c => plain.push(c),
            }
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(LogMessage { parts })
    }

    fn expressions(&mut self) -> impl Iterator<Item = (&mut Expression, usize)> {
        self.parts.iter_mut().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value {
                expression, column, ..
            } => Some((expression, *column)),
        })
    }

    /// Checks that the message's expressions can be parsed in `language`.
    ///
    /// # Errors
    /// A sentence with the first expression that can't be, its column and what is wrong.
    pub(crate) fn check(&mut self, language: Language) -> Result<(), String> {
        for (expression, column) in self.expressions() {
            expression.check(language).map_err(|error| {
                let text = expression.text();
                format!("`{text}` in column {column} of the log message can't be read: {error}")
            })?;
        }
        Ok(())
    }

    /// Forgets the parsed forms of the message's expressions. Call after modules were loaded or unloaded.
    pub(crate) fn forget(&mut self) {
        self.expressions()
            .for_each(|(expression, _)| expression.forget());
    }

    /// The message for a stopped thread. `None`: writing it would call a function of the program.
    pub(crate) fn message(&mut self, here: &Here<'_>) -> Option<Message> {
        let mut message = Message::default();
        for part in &mut self.parts {
            match part {
                Part::Text(plain) => message.text.push_str(plain),
                Part::Value {
                    expression, format, ..
                } => {
                    let quick = match format {
                        None => expression.quick_text(here),
                        Some(format) if format.is_of_numbers() => {
                            expression.quick_number(here).map(|it| format.of(it))
                        }
                        Some(_) => None,
                    };
                    match quick {
                        Some(text) => message.text.push_str(&text),
                        None => {
                            let show = |named, frame: &Frame, reader: &Reader<'_>| {
                                shown(named, *format, frame, reader)
                            };
                            message.add(expression.shown(here, show).transpose()?);
                        }
                    }
                }
            }
        }
        Some(message)
    }

    /// The message as one whose values the program records.
    ///
    /// # Errors
    /// Why it can't, as a clause.
    pub(crate) fn recorded(&mut self, here: &Here<'_>) -> Result<Recording, String> {
        let mut parts = Vec::new();
        let mut values = Vec::new();
        let mut own_id = None;
        for part in &mut self.parts {
            parts.push(match part {
                Part::Text(plain) => RecordedPart::Text(plain.clone()),
                Part::Value {
                    expression, format, ..
                } => {
                    if format.is_some_and(|format| !format.is_of_numbers()) {
                        return Err("a value in its message has a format for texts".to_owned());
                    }
                    let (value, kind, id) = expression.recorded(here, format.is_none())?;
                    values.push(value);
                    own_id = own_id.or(id);
                    RecordedPart::Value(kind, *format)
                }
            });
        }
        match values.len() {
            0..=MOST_VALUES => Ok(Recording {
                message: RecordedMessage { parts },
                values,
                own_id,
            }),
            _ => Err("its message has too many values".to_owned()),
        }
    }

    /// The message, in which each expression's value is what `show` returns for the expression's text and format.
    pub(crate) fn message_by(
        &self,
        mut show: impl FnMut(&str, Option<Format>) -> Result<Shown, Error>,
    ) -> Message {
        let mut message = Message::default();
        for part in &self.parts {
            match part {
                Part::Text(plain) => message.text.push_str(plain),
                Part::Value {
                    expression, format, ..
                } => message.add(show(expression.text(), *format)),
            }
        }
        message
    }
}

impl Message {
    fn add(&mut self, shown: Result<Shown, Error>) {
        match shown {
            Ok((text, value)) => {
                self.text.push_str(&text);
                self.values.extend(value);
            }
            Err(error) => self.text.push_str(&format!("<{error}>")),
        }
    }
}

/// A value's text in a message; and the value itself, if it has children and the message gives no format for it.
pub(crate) type Shown = (String, Option<KeptValue>);

/// Shows a value as a message does.
pub(crate) fn shown(
    named: NamedValue,
    format: Option<Format>,
    frame: &Frame,
    reader: &Reader<'_>,
) -> Shown {
    if let Some(format) = format {
        return (format.apply(&named.value, reader), None);
    }
    let rendered = reader.render(&named.value);
    let text = rendered.text.clone();
    (text, KeptValue::logged(named, rendered, frame, reader))
}

/// What a backslash and this character mean in a message. `None`: the backslash stays as it is.
fn escaped(c: char) -> Option<char> {
    match c {
        'n' => Some('\n'),
        't' => Some('\t'),
        '\\' => Some('\\'),
        _ => None,
    }
}

/// The offset of the brace that ends the expression at the beginning of `text`. Braces in quotes don't count. `None`: there is no such brace.
fn closing(text: &str) -> Option<usize> {
    let mut quoted = None;
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match (quoted, c) {
            (Some(_), '\\') => {
                characters.next();
            }
            (Some(quote), c) if quote == c => quoted = None,
            (Some(_), _) => {}
            (None, '"') => quoted = Some('"'),
            // The quote begins a character literal, not a Rust lifetime.
            (None, '\'') if is_character(&text[at..]) => quoted = Some('\''),
            (None, '}') => return Some(at),
            (None, _) => {}
        }
    }
    None
}

fn is_character(text: &str) -> bool {
    let mut inside = text.chars().skip(1);
    match inside.next() {
        Some('\\') => true,
        Some(_) => inside.next() == Some('\''),
        None => false,
    }
}

/// Splits an expression from its format, which follows the last colon that is not part of a path (`a::b`) or a character (`':'`). The
/// error is the offset of a text there that is no format, and a sentence about it.
fn split_format(text: &str) -> Result<(&str, Option<Format>), (usize, String)> {
    let mut found = None;
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices(':') {
        let beside = |index: Option<usize>| index.and_then(|i| bytes.get(i)) == Some(&b':');
        let quoted = matches!(
            (
                at.checked_sub(1).and_then(|i| bytes.get(i)),
                bytes.get(at + 1)
            ),
            (Some(b'\''), Some(b'\''))
        );
        if !beside(at.checked_sub(1)) && !beside(Some(at + 1)) && !quoted {
            found = Some(at);
        }
    }
    let Some(at) = found else {
        return Ok((text, None));
    };
    let format = text[at + 1..].trim();
    match Format::parse(format) {
        Some(format) => Ok((&text[..at], Some(format))),
        None => Err((
            at + 1,
            format!(
                "`{format}` is no format; there are d, u, x, X, o, b, c, s, p, as in `x`, `#x`, `08x` and `.3`"
            ),
        )),
    }
}

impl Format {
    fn parse(text: &str) -> Option<Format> {
        let (prefix, text) = match text.strip_prefix('#') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (zeros, text) = match text.strip_prefix('0') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (width, text) = digits(text)?;
        let (decimals, text) = match text.strip_prefix('.') {
            Some(rest) => {
                let (decimals, rest) = digits(rest)?;
                (Some(decimals), rest)
            }
            None => (None, text),
        };
        let mut letters = text.chars();
        let letter = letters.next();
        let known = letter.is_none_or(|letter| "duxXobcspf".contains(letter));
        let given = prefix || zeros || width > 0 || decimals.is_some() || letter.is_some();
        (known && given && letters.next().is_none()).then_some(Format {
            prefix,
            zeros,
            width,
            decimals,
            letter,
        })
    }

    /// Whether the format shows the number that a value is, whatever the value's type.
    fn is_of_numbers(self) -> bool {
        matches!(
            self.letter,
            Some('x' | 'X' | 'o' | 'b' | 'u' | 'd' | 'p' | 'c')
        )
    }

    fn of(self, number: Number) -> String {
        self.padded(match self.letter {
            Some('c') => character(number),
            _ => self.digits(number),
        })
    }

    fn apply(self, value: &Value, reader: &Reader<'_>) -> String {
        let rendered = || reader.render(value).text;
        match (self.letter, number(value, reader)) {
            (Some('s'), _) => self.padded(bare_text(&rendered())),
            (_, Some(number)) if self.is_of_numbers() => self.of(number),
            (None | Some('f'), Some(Number::Float { value, .. })) if self.decimals.is_some() => {
                self.padded(format!("{value:.*}", self.decimals.unwrap_or(6)))
            }
            _ => self.padded(rendered()),
        }
    }

    fn padded(self, text: String) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        if !self.zeros {
            return " ".repeat(missing) + &text;
        }
        // Zeros go after a sign and a prefix.
        let sign = text.len() - text.trim_start_matches('-').len();
        let head = match text.get(sign..sign + 2) {
            Some("0x" | "0o" | "0b") if self.prefix => sign + 2,
            _ => sign,
        };
        let (head, tail) = text.split_at(head);
        format!("{head}{}{tail}", "0".repeat(missing))
    }

    /// A number's digits. A negative number is shown by its bits in the width of its type, except for `d`.
    fn digits(self, number: Number) -> String {
        let (value, size) = match number {
            Number::Integer { value, size, .. } => (value, size),
            Number::Bool(value) => (value.into(), 1),
            Number::Char(value) => (value.into(), 4),
            Number::Pointer { address, .. } => (address.into(), 8),
            Number::Float { value, .. } => (value as i128, 16),
        };
        let bits = match Number::integer(value, size, false) {
            Number::Integer { value, .. } => value as u128,
            _ => value as u128,
        };
        match (self.letter, self.prefix) {
            (Some('x'), false) => format!("{bits:x}"),
            (Some('x'), true) | (Some('p'), _) => format!("{bits:#x}"),
            (Some('X'), false) => format!("{bits:X}"),
            (Some('X'), true) => format!("0x{bits:X}"),
            (Some('o'), false) => format!("{bits:o}"),
            (Some('o'), true) => format!("{bits:#o}"),
            (Some('b'), false) => format!("{bits:b}"),
            (Some('b'), true) => format!("{bits:#b}"),
            (Some('u'), _) => bits.to_string(),
            _ => value.to_string(),
        }
    }
}

/// The number that `text` begins with, 0 for none, and what follows. `None`: the number is more than [`WIDEST`].
fn digits(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    let number = match digits {
        "" => 0,
        digits => digits.parse().ok().filter(|number| *number <= WIDEST)?,
    };
    Some((number, rest))
}

/// A value as a number. `None`: the value is no number, or can't be read.
fn number(value: &Value, reader: &Reader<'_>) -> Option<Number> {
    if let Contents::Number(number) = value.contents {
        return Some(number);
    }
    let type_ = reader.resolve(value)?.type_;
    let size = type_.size.filter(|size| (1..=16).contains(size))?;
    number_of(&type_, &reader.bytes(&value.contents, size).ok()?)
}

fn character(number: Number) -> String {
    let code = match number {
        Number::Integer { value, size, .. } => match Number::integer(value, size, false) {
            Number::Integer { value, .. } => u32::try_from(value).ok(),
            _ => None,
        },
        Number::Char(code) => Some(code),
        _ => None,
    };
    let shown = code.and_then(char::from_u32);
    shown.map_or_else(|| number.text(), String::from)
}

/// The quoted part of a value's text, without the quotes and escapes: `name` of `0x5555 "name"`. All of the text if nothing is quoted.
fn bare_text(text: &str) -> String {
    let inside = text
        .split_once('"')
        .and_then(|(_, rest)| Some((rest.rsplit_once('"')?.0, rest)));
    let Some((inside, _)) = inside else {
        return text.to_owned();
    };
    let mut bare = String::with_capacity(inside.len());
    let mut characters = inside.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            bare.push(c);
            continue;
        }
        match characters.next() {
            Some('n') => bare.push('\n'),
            Some('t') => bare.push('\t'),
            Some('r') => bare.push('\r'),
            Some(c @ ('"' | '\\' | '\'')) => bare.push(c),
            Some(c) => bare.extend(['\\', c]),
            None => bare.push('\\'),
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<String> {
        let message = LogMessage::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let shown = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Value {
                expression, format, ..
            } => format!(
                "<{}{}>",
                expression.text(),
                if format.is_some() { " in a format" } else { "" }
            ),
        };
        message.parts.iter().map(shown).collect()
    }

    #[test]
    fn a_message_is_text_and_expressions() {
        assert_eq!(parts("plain"), ["plain"]);
        assert_eq!(parts("i = {i}, {{braces}}"), ["i = ", "<i>", ", {braces}"]);
        assert_eq!(parts("{a}{ b }"), ["<a>", "<b>"]);
        assert_eq!(
            parts("{ns::x} {ns::x:x}"),
            ["<ns::x>", " ", "<ns::x in a format>"]
        );
        assert_eq!(parts("{c == '}'}!"), ["<c == '}'>", "!"]);
        assert_eq!(parts("{c == ':'}"), ["<c == ':'>"]);
        assert_eq!(parts("ä{i}ö"), ["ä", "<i>", "ö"]);
        assert_eq!(parts(r"a\tb\n{i}\\n\d"), ["a\tb\n", "<i>", r"\n\d"]);
        assert_eq!(parts("{i:#010x}"), ["<i in a format>"]);
        assert!(parts("").is_empty());
    }

    #[test]
    fn broken_braces_are_told_with_their_column() {
        let error = |text: &str| LogMessage::parse(text).unwrap_err();
        assert!(
            error("ab {i").starts_with("column 4 "),
            "{}",
            error("ab {i")
        );
        assert!(error("ä }").starts_with("column 3 "));
        assert!(error("x{}").starts_with("column 2 "));
        assert!(
            error("{i:q}").starts_with("column 4 "),
            "{}",
            error("{i:q}")
        );
        assert!(error("{i:99999x}").contains("`99999x` is no format"));
    }

    #[test]
    fn integers_have_their_digits() {
        let digits = |format: &str, number| Format::parse(format).unwrap().digits(number);
        let minus = Number::integer(-1, 2, true);
        assert_eq!(digits("x", minus), "ffff");
        assert_eq!(digits("#x", minus), "0xffff");
        assert_eq!(digits("X", minus), "FFFF");
        assert_eq!(digits("d", minus), "-1");
        assert_eq!(digits("u", minus), "65535");
        assert_eq!(digits("#b", Number::integer(5, 1, false)), "0b101");
        assert_eq!(digits("o", Number::Char(8)), "10");
    }

    #[test]
    fn quoted_text_loses_its_quotes() {
        assert_eq!(bare_text(r#"0x5555 "na\"me\n""#), "na\"me\n");
        assert_eq!(bare_text("12"), "12");
        assert_eq!(bare_text("\""), "\"");
    }
}
