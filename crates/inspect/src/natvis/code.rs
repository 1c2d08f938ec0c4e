//! Expressions of a Natvis file: splits off their format specifiers, and replaces calls of the file's intrinsic functions.

use super::model::Place;
use crate::eval::Parsed;
use crate::eval::scope::Change;
use crate::values::Format;
use dapple_symbols::functions::Language;
use std::sync::Arc;

/// The longest expression after replacements, in bytes.
const MAX_TEXT: usize = 4096;
/// The deepest nesting of intrinsic calls.
const MAX_CALLS: usize = 8;

/// An expression and its place in the file.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    pub place: Place,
    /// The parsed expression, or why it can't be parsed.
    pub what: Result<What, Arc<str>>,
    pub shown: Shown,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Value(Parsed),
    Change(Change),
}

/// The format specifiers after an expression's commas.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    pub format: Option<Format>,
    /// Shown as a string.
    pub text: Option<Quoting>,
    /// Shown without a presentation, as laid out in memory.
    pub raw: bool,
    /// Pointers are shown without their addresses.
    pub without_address: bool,
    /// The number of elements to show.
    pub count: Option<Arc<Code>>,
    /// With the type's name in front, as what a `std::variant` contains.
    pub held: bool,
    /// Of the elements in memory, only each of this number is shown: those of a row or column of a matrix.
    pub step: Option<Arc<Code>>,
    /// A form of numbers that only Natvis files have.
    pub number: Option<NumberForm>,
    /// Shown by the entries for this view.
    pub view: Option<Arc<str>>,
}

/// How a string is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoting {
    /// The size of a code unit in bytes.
    pub unit: u64,
    /// Without quotation marks.
    pub bare: bool,
    /// As a Rust byte string: `b"\xff"`.
    pub bytes: bool,
}

/// A form of numbers that only Natvis files have.
#[derive(Debug, Clone)]
pub(crate) enum NumberForm {
    /// With leading zeros, up to this number of digits.
    Padded(usize),
    /// Seconds since 1970 as a date and a time of day: `2024-02-29T01:02:03`.
    Utc,
    /// Days since 1970 as a date: `2024-02-29`.
    Date,
    /// The given number of bytes in memory as hexadecimal digits.
    Hex,
    /// A number of nanoseconds as the decimals of a second, at least one.
    Fraction,
    /// The bits of a 16-bit floating-point number (IEEE 754 binary16).
    Half,
    /// The upper half of a 32-bit floating-point number (bfloat16).
    Brain,
    /// The given number of digits in memory, the least significant one first, as one decimal number.
    Big,
    /// With a decimal point before the given number of digits.
    Scaled(Arc<Code>),
}

/// An intrinsic function, which the file declares. Its calls are replaced by its expression.
#[derive(Debug, Clone)]
pub(crate) struct Intrinsic {
    pub name: String,
    pub parameters: Vec<String>,
    pub expression: String,
}

impl Code {
    /// Parses an expression.
    pub(crate) fn new(text: &str, place: &Place, intrinsics: &[Intrinsic]) -> Code {
        let (text, shown, unknown) = split(text, place, intrinsics);
        let parsed = match unknown {
            Some(unknown) => Err(format!("`{unknown}` is an unknown format specifier")),
            None => replaced(text, intrinsics, 0).and_then(|text| {
                Parsed::new(&text, Language::Cpp).map_err(|error| error.to_string())
            }),
        };
        Code {
            place: place.clone(),
            what: parsed
                .map(What::Value)
                .map_err(|why| format!("`{}`: {why}", text.trim()).into()),
            shown,
        }
    }

    /// Parses an assignment.
    pub(crate) fn change(text: &str, place: &Place, intrinsics: &[Intrinsic]) -> Code {
        let change = replaced(text, intrinsics, 0)
            .and_then(|text| Change::new(&text).map_err(|error| error.to_string()));
        Code {
            place: place.clone(),
            what: change
                .map(What::Change)
                .map_err(|why| format!("`{}`: {why}", text.trim()).into()),
            shown: Shown::default(),
        }
    }
}

/// Splits the format specifiers off an expression. The third value is a specifier that is unknown.
fn split<'a>(
    text: &'a str,
    place: &Place,
    intrinsics: &[Intrinsic],
) -> (&'a str, Shown, Option<&'a str>) {
    let mut shown = Shown::default();
    let mut rest = text.trim();
    let mut unknown = None;
    while let Some(at) = last_comma(rest) {
        let specifier = rest[at + 1..].trim();
        match take(specifier, &mut shown, place, intrinsics) {
            true => {}
            false => unknown = Some(specifier),
        }
        rest = rest[..at].trim_end();
    }
    (rest, shown, unknown)
}

/// The offset of the last comma outside brackets and quotation marks.
fn last_comma(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped, mut last) = (0i32, None, false, None);
    // For each open `<`, the last comma before it. A `<` may begin a list of arguments, whose commas don't count.
    let mut angles = Vec::new();
    for (at, c) in text.char_indices() {
        if let Some(open) = quote {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == open => quote = None,
                _ => {}
            }
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '<' if depth == 0 => angles.push(last),
            // The `<` did begin a list of arguments: forget the commas in it.
            '>' if depth == 0 => {
                if let Some(before) = angles.pop() {
                    last = before;
                }
            }
            ',' if depth == 0 => last = Some(at),
            _ => {}
        }
    }
    last
}

/// Applies one specifier. Returns `false` if it is unknown.
fn take(text: &str, shown: &mut Shown, place: &Place, intrinsics: &[Intrinsic]) -> bool {
    let quoting = |unit, bare| {
        Some(Quoting {
            unit,
            bare,
            bytes: false,
        })
    };
    let text = text.strip_prefix("nvo").unwrap_or(text).trim();
    match text {
        // Specifiers that concern only other debuggers, or have no effect here.
        "" | "nd" | "nr" | "en" | "e" | "f" | "g" | "hr" | "hv" | "wc" | "wm" | "viewmode" => {}
        "!" => shown.raw = true,
        "na" => shown.without_address = true,
        "held" => shown.held = true,
        "s" | "hs" => shown.text = quoting(1, false),
        "sb" => shown.text = quoting(1, true),
        "s8" => shown.text = quoting(1, false),
        "s8b" => shown.text = quoting(1, true),
        "su" | "bstr" => shown.text = quoting(2, false),
        "sub" => shown.text = quoting(2, true),
        "s32" => shown.text = quoting(4, false),
        "s32b" => shown.text = quoting(4, true),
        "bytes" => {
            shown.text = Some(Quoting {
                unit: 1,
                bare: false,
                bytes: true,
            });
        }
        "date" => shown.number = Some(NumberForm::Date),
        "hex" => shown.number = Some(NumberForm::Hex),
        "utc" => shown.number = Some(NumberForm::Utc),
        "fraction" => shown.number = Some(NumberForm::Fraction),
        "half" => shown.number = Some(NumberForm::Half),
        "bfloat" => shown.number = Some(NumberForm::Brain),
        "big" => shown.number = Some(NumberForm::Big),
        "w2" => shown.number = Some(NumberForm::Padded(2)),
        "w3" => shown.number = Some(NumberForm::Padded(3)),
        "w4" => shown.number = Some(NumberForm::Padded(4)),
        "w6" => shown.number = Some(NumberForm::Padded(6)),
        "w9" => shown.number = Some(NumberForm::Padded(9)),
        "xb" | "hb" | "Xb" | "Hb" => shown.format = Some(Format::Hexadecimal),
        "bb" => shown.format = Some(Format::Binary),
        _ => {
            let inner = |open: &str, close| text.strip_prefix(open)?.strip_suffix(close);
            if let Some(format) = Format::named(text) {
                shown.format = Some(format);
            } else if let Some(view) = inner("view(", ")") {
                shown.view = Some(view.trim().into());
            } else if let Some(step) = inner("step(", ")") {
                shown.step = Some(Arc::new(Code::new(step, place, intrinsics)));
            } else if let Some(scale) = inner("scale(", ")") {
                let scale = Arc::new(Code::new(scale, place, intrinsics));
                shown.number = Some(NumberForm::Scaled(scale));
            } else if let Some((count, more)) = in_brackets(text) {
                shown.count = Some(Arc::new(Code::new(count, place, intrinsics)));
                return take(more, shown, place, intrinsics);
            } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
                shown.count = Some(Arc::new(Code::new(text, place, &[])));
            } else {
                return false;
            }
        }
    }
    true
}

/// The text in the brackets that `text` begins with, and the text after them.
fn in_brackets(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0i32;
    for (at, c) in text.strip_prefix('[')?.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return Some((&text[1..=at], text[at + 2..].trim())),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Replaces calls of intrinsic functions by their expressions.
fn replaced(text: &str, intrinsics: &[Intrinsic], depth: usize) -> Result<String, String> {
    if intrinsics.is_empty() {
        return Ok(text.to_owned());
    }
    let too_much = || "the functions in it call each other without end".to_owned();
    if depth > MAX_CALLS {
        return Err(too_much());
    }
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let (before, from) = rest.split_at(start);
        let length = from.find(|c| !is_word(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(length);
        result.push_str(before);
        rest = after;
        // After `.`, `->` or `::` the name is that of a member, not of the intrinsic function.
        let before = result.trim_end();
        let is_own = ![".", "::", "->"].iter().any(|sign| before.ends_with(sign));
        let called = intrinsics
            .iter()
            .find(|one| one.name == word && is_own && after.trim_start().starts_with('('));
        let Some(called) = called else {
            result.push_str(word);
            continue;
        };
        let open = after.find('(').unwrap_or(0);
        let (given, end) =
            arguments(&after[open..]).ok_or_else(|| format!("the call of `{word}` has no end"))?;
        if given.len() != called.parameters.len() {
            let wanted = called.parameters.len();
            return Err(format!(
                "`{word}` takes {wanted} arguments, not {}",
                given.len()
            ));
        }
        let body = with_arguments(&called.expression, &called.parameters, &given);
        result.push('(');
        result.push_str(&replaced(&body, intrinsics, depth + 1)?);
        result.push(')');
        rest = &after[open + end..];
        if result.len() > MAX_TEXT {
            return Err(too_much());
        }
    }
    result.push_str(rest);
    match result.len() > MAX_TEXT {
        true => Err(too_much()),
        false => Ok(result),
    }
}

/// The arguments in the brackets that a text begins with, and the offset after the closing bracket. `None`: no closing bracket is there.
fn arguments(text: &str) -> Option<(Vec<&str>, usize)> {
    let mut depth = 0i32;
    let mut start = 1;
    let mut given = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth -= 1;
                if depth == 0 {
                    let last = text.get(start..at)?.trim();
                    if !last.is_empty() || !given.is_empty() {
                        given.push(last);
                    }
                    return Some((given, at + 1));
                }
            }
            ',' if depth == 1 => {
                given.push(text.get(start..at)?.trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// An intrinsic function's expression, with the arguments in place of the parameters.
fn with_arguments(expression: &str, parameters: &[String], given: &[&str]) -> String {
    let mut result = String::new();
    let mut rest = expression;
    while let Some(start) = rest.find(is_word) {
        let (before, from) = rest.split_at(start);
        let length = from.find(|c| !is_word(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(length);
        result.push_str(before);
        match parameters.iter().zip(given).find(|(name, _)| *name == word) {
            Some((_, given)) if result.len() <= MAX_TEXT => result.push_str(&format!("({given})")),
            _ => result.push_str(word),
        }
        rest = after;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn place() -> Place {
        Place {
            file: Path::new("a.natvis").into(),
            line: 1,
        }
    }

    #[test]
    fn what_is_said_of_showing_is_cut_off() {
        let cut = |text| {
            let (rest, shown, unknown) = split(text, &place(), &[]);
            let text = shown.text.map(|text| (text.unit, text.bare));
            assert_eq!(unknown, None, "{rest}");
            (
                rest.to_owned(),
                shown.format,
                text,
                shown.raw,
                shown.count.is_some(),
            )
        };
        let plain = |rest: &str| (rest.to_owned(), None, None, false, false);
        assert_eq!(cut("x"), plain("x"));
        assert_eq!(cut("f(a, b)"), plain("f(a, b)"));
        assert_eq!(cut("(Pair<int, T> *)p"), plain("(Pair<int, T> *)p"));
        assert_eq!(cut("Pair<int, T>::all"), plain("Pair<int, T>::all"));
        assert_eq!(cut("name == \"a,b\""), plain("name == \"a,b\""));
        assert_eq!(
            cut("x,x"),
            (
                "x".to_owned(),
                Some(Format::Hexadecimal),
                None,
                false,
                false
            )
        );
        assert_eq!(
            cut("a < b ? p : q, sb"),
            (
                "a < b ? p : q".to_owned(),
                None,
                Some((1, true)),
                false,
                false
            )
        );
        assert_eq!(
            cut("data,[size + 1],d"),
            ("data".to_owned(), Some(Format::Decimal), None, false, true)
        );
        assert_eq!(
            cut("*this,!"),
            ("*this".to_owned(), None, None, true, false)
        );
        assert_eq!(split("x,zz", &place(), &[]).2, Some("zz"));
    }

    #[test]
    fn functions_are_put_in() {
        let intrinsic = |name: &str, parameters: &[&str], expression: &str| Intrinsic {
            name: name.to_owned(),
            parameters: parameters.iter().map(|name| (*name).to_owned()).collect(),
            expression: expression.to_owned(),
        };
        let all = [
            intrinsic("size", &[], "end - begin"),
            intrinsic("at", &["i"], "begin[i] + size()"),
            intrinsic("round", &[], "round() + round()"),
        ];
        let put = |text: &str| replaced(text, &all, 0);
        assert_eq!(put("size() * 2").as_deref(), Ok("(end - begin) * 2"));
        assert_eq!(
            put("sizes() + x.size()").as_deref(),
            Ok("sizes() + x.size()")
        );
        assert_eq!(
            put("at(a + (1, 2)[0])").as_deref(),
            Ok("(begin[(a + (1, 2)[0])] + (end - begin))")
        );
        assert!(put("round()").is_err());
        assert!(put("at()").is_err());
        assert!(put("at(").is_err());
    }
}
