//! From text to tokens.

use super::Fault;
use crate::eval::a_type;
use crate::values::Number;
use dapple_symbols::functions::Language;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// The offset of its first byte.
    pub at: usize,
    /// The offset of the byte after it.
    pub end: usize,
    pub kind: TokenKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// An identifier with its path: `x`, `ns::x`.
    Name(String),
    /// `$rip`, without the `$`.
    Register(String),
    /// `untyped`: an integer or float without a suffix.
    Number {
        number: Number,
        untyped: bool,
    },
    /// A string literal's bytes.
    String(Arc<[u8]>),
    /// An operator or bracket.
    Operator(&'static str),
    End,
}

/// How debug information writes a namespace without a name in qualified names.
pub(crate) const ANONYMOUS_NAMESPACE: &str = "(anonymous namespace)";

/// The longest expression, in bytes.
const MAX_TEXT: usize = 4096;

/// Operators. Longer ones come before their prefixes.
const OPERATORS: [&str; 48] = [
    "<<=", ">>=", "...", "..=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "..", "(", ")", "[", "]", ".", "+", "-", "*",
    "/", "%", "<", ">", "&", "|", "^", "!", "~", "=", ",", "?", ":", ";", "{", "}",
];

pub(super) fn tokens(text: &str, language: Language) -> Result<Vec<Token>, Fault> {
    if text.len() > MAX_TEXT {
        return Err(Fault::new(0, "the expression is too long"));
    }
    if text.is_empty() {
        return Err(Fault::new(0, "there is nothing to evaluate"));
    }
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let after_dot = matches!(
            tokens.last(),
            Some(Token {
                kind: TokenKind::Operator("."),
                ..
            })
        );
        let (kind, length) = token(rest, at, after_dot, language)?;
        tokens.push(Token {
            at,
            end: at + length,
            kind,
        });
        at += length;
    }
    tokens.push(Token {
        at: text.len(),
        end: text.len(),
        kind: TokenKind::End,
    });
    Ok(tokens)
}

/// The first token of `rest`, which begins at byte `at` of the expression, and the token's length. `after_dot`: it follows a `.`.
fn token(
    rest: &str,
    at: usize,
    after_dot: bool,
    language: Language,
) -> Result<(TokenKind, usize), Fault> {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() && after_dot {
        // In `t.0.1`, `0.1` is two tuple fields, not a float.
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        Ok((TokenKind::Name(rest[..digits].to_owned()), digits))
    } else if first.is_ascii_digit() {
        number(rest, at, language)
    } else if first == '\'' {
        character(rest, at)
    } else if let Some((text, length)) = raw_text(rest, language) {
        Ok((TokenKind::String(text.as_bytes().into()), length))
    } else if let Some(prefix) = literal_prefix(rest) {
        prefixed(rest, prefix, at)
    } else if is_name_start(first)
        || rest.starts_with("::")
        || (language == Language::Cpp && rest.starts_with(ANONYMOUS_NAMESPACE))
    {
        Ok(name(rest))
    } else if first == '$' {
        let length = 1 + rest[1..]
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        Ok((TokenKind::Register(rest[1..length].to_owned()), length))
    } else if first == '"' {
        text_of(rest, at)
    } else {
        let operator = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(**operator));
        match operator {
            Some(operator) => Ok((TokenKind::Operator(operator), operator.len())),
            None => Err(Fault::new(at, not_understood(first))),
        }
    }
}

/// A string or character literal behind a prefix of `prefix` bytes.
fn prefixed(rest: &str, prefix: usize, at: usize) -> Result<(TokenKind, usize), Fault> {
    let (kind, length) = match rest.get(prefix..) {
        Some(quoted) if quoted.starts_with('"') => text_of(quoted, at + prefix)?,
        quoted => character(quoted.unwrap_or_default(), at + prefix)?,
    };
    let kind = match kind {
        // Rust's byte literals are numbers.
        TokenKind::Number {
            number: Number::Char(code),
            untyped,
        } if rest.starts_with('b') => TokenKind::Number {
            number: Number::integer(code.into(), 1, false),
            untyped,
        },
        kind => kind,
    };
    Ok((kind, prefix + length))
}

fn not_understood(first: char) -> String {
    let hint = match first {
        '@' => "; for as many elements write their number behind a comma: `p, 3`",
        '#' => "; there is no preprocessor here",
        '`' | '´' | '‘' | '’' => "; characters stand in `'`",
        '“' | '”' | '„' => "; texts stand in `\"`",
        _ => "",
    };
    format!("`{first}` is not understood{hint}")
}

/// A raw string and the length of its literal: `r#"…"#`, in C++ `R"x(…)x"`.
fn raw_text(rest: &str, language: Language) -> Option<(&str, usize)> {
    let (begin, end) = match language {
        Language::Rust => {
            let behind = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
            let hashes = behind.len() - behind.trim_start_matches('#').len();
            behind.get(hashes..)?.strip_prefix('"')?;
            let begin = rest.len() - behind.len() + hashes + 1;
            (begin, format!("\"{}", "#".repeat(hashes)))
        }
        Language::Cpp => {
            let behind = rest.strip_prefix("R\"")?;
            let (delimiter, _) = behind.split_once('(')?;
            let is_short = delimiter.len() <= 16 && !delimiter.contains(['"', ' ', ')', '\\']);
            is_short.then(|| (2 + delimiter.len() + 1, format!("){delimiter}\"")))?
        }
        _ => return None,
    };
    let text = rest.get(begin..)?;
    let length = text.find(&end)?;
    Some((text.get(..length)?, begin + length + end.len()))
}

/// The length of a literal's prefix: `u8"…"`, `L'x'`, `b'x'`.
fn literal_prefix(rest: &str) -> Option<usize> {
    let prefixes = ["u8", "u", "U", "L", "b"].into_iter();
    let mut lengths = prefixes.filter_map(|prefix| {
        let quoted = rest.strip_prefix(prefix)?;
        quoted.starts_with(['\'', '"']).then_some(prefix.len())
    });
    lengths.next()
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn name(rest: &str) -> (TokenKind, usize) {
    let mut length = if rest.starts_with("r#") { 2 } else { 0 };
    let mut path = String::new();
    // `::` at the start: the global scope, or the rest of a path behind template arguments.
    if rest.starts_with("::") {
        length = 2;
        path.push_str("::");
    }
    loop {
        let tail = &rest[length..];
        let part = match tail.starts_with(ANONYMOUS_NAMESPACE) {
            true => ANONYMOUS_NAMESPACE.len(),
            false => tail.find(|c| !is_name_part(c)).unwrap_or(tail.len()),
        };
        path.push_str(&tail[..part]);
        length += part;
        // Generic arguments, `size_of::<T>`.
        if rest[length..].starts_with("::<") {
            length += 2;
            break;
        }
        // `::` continues the path only if a name follows.
        let Some(tail) = rest[length..].strip_prefix("::") else {
            break;
        };
        if !tail.starts_with(is_name_start) && !tail.starts_with(ANONYMOUS_NAMESPACE) {
            break;
        }
        path.push_str("::");
        length += 2;
    }
    (TokenKind::Name(path), length.max(1))
}

fn number(rest: &str, at: usize, language: Language) -> Result<(TokenKind, usize), Fault> {
    let (radix, prefix) = match rest.get(..2) {
        Some("0x" | "0X") => (16, 2),
        Some("0b" | "0B") => (2, 2),
        Some("0o") => (8, 2),
        Some(zero) if is_octal(zero, rest) && language != Language::Rust => (8, 0),
        _ => (10, 0),
    };
    let is_digit = |c: char| c.is_digit(radix) || c == '_' || c == '\'';
    let body = &rest[prefix..];
    let digits = body.find(|c| !is_digit(c)).unwrap_or(body.len());
    let after = &body[digits..];
    let has_fraction =
        after.starts_with('.') && !after[1..].starts_with(|c: char| c == '.' || is_name_start(c));
    let exponent = |text: &str| {
        let tail = text.strip_prefix(['e', 'E'])?;
        let tail = tail.strip_prefix(['+', '-']).unwrap_or(tail);
        tail.starts_with(|c: char| c.is_ascii_digit())
            .then_some(text.len() - tail.len())
    };
    if radix == 10 && (has_fraction || exponent(after).is_some()) {
        return Ok(float(rest));
    }
    let text: String = body[..digits]
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    if text.is_empty() {
        let why = format!(
            "a number's digits were expected behind `{}`",
            &rest[..prefix]
        );
        return Err(Fault::new(at, why));
    }
    let value = u128::from_str_radix(&text, radix)
        .map_err(|_| Fault::new(at, "this number is too large: it has more than 128 bits"))?;
    let suffix_length = after.find(|c| !is_name_part(c)).unwrap_or(after.len());
    let suffix = &after[..suffix_length];
    let number = integer(value, suffix, radix != 10).ok_or_else(|| {
        let is_digit = suffix.starts_with(|c: char| c.is_ascii_digit());
        let what = match is_digit {
            true => format!("`{suffix}` has no digits of base {radix}"),
            false => format!("`{suffix}` is no suffix of a number"),
        };
        Fault::new(at + prefix + digits, what)
    })?;
    if let Number::Integer {
        value: kept,
        size,
        signed,
    } = number
        && language == Language::Rust
        && !suffix.is_empty()
        && !fits(value, kept, size, signed)
    {
        return Err(Fault::new(
            at,
            format!("{value} does not fit {}", a_type(suffix)),
        ));
    }
    Ok((
        TokenKind::Number {
            number,
            untyped: suffix.is_empty(),
        },
        prefix + digits + suffix_length,
    ))
}

/// Whether the number that begins `rest` is octal: it starts with a zero and another digit, and is not a float (C 2011 §6.4.4.1).
/// `start` is its first two characters.
fn is_octal(start: &str, rest: &str) -> bool {
    let mut bytes = start.bytes();
    let is_zero = bytes.next() == Some(b'0') && bytes.next().is_some_and(|b| b.is_ascii_digit());
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    is_zero && !behind.starts_with(['.', 'e', 'E'])
}

/// Whether a literal fits its type. A signed one may be too large by one, because the minimum is written as a negated literal.
fn fits(value: u128, kept: i128, size: u8, signed: bool) -> bool {
    match signed {
        true => value <= 1u128 << (8 * u32::from(size) - 1),
        false => kept.cast_unsigned() == value,
    }
}

fn integer(value: u128, suffix: &str, is_hex: bool) -> Option<Number> {
    let bits = value as i128;
    let make = |size, signed| Some(Number::integer(bits, size, signed));
    let lower = suffix.to_ascii_lowercase();
    match lower.as_str() {
        "" if value <= i32::MAX as u128 => make(4, true),
        "" if is_hex && value <= u128::from(u32::MAX) => make(4, false),
        "" | "l" | "ll" if value <= i64::MAX as u128 => make(8, true),
        "" | "l" | "ll" if value <= u128::from(u64::MAX) => make(8, false),
        "" => make(16, value <= i128::MAX as u128),
        "u" if value <= u128::from(u32::MAX) => make(4, false),
        "u" | "ul" | "lu" | "ull" | "llu" => make(8, false),
        "f32" => Some(Number::Float {
            value: f64::from(value as f32),
            size: 4,
        }),
        "f64" => Some(Number::Float {
            value: value as f64,
            size: 8,
        }),
        "usize" => make(8, false),
        "isize" => make(8, true),
        other => {
            let signed = other.starts_with('i');
            let width = other.strip_prefix(['i', 'u'])?.parse::<u8>().ok()?;
            matches!(width, 8 | 16 | 32 | 64 | 128)
                .then(|| Number::integer(bits, width / 8, signed))
        }
    }
}

/// Reads a float, which the text is known to start with.
fn float(rest: &str) -> (TokenKind, usize) {
    let mut length = rest
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'_')
        .count();
    if rest[length..].starts_with('.') {
        length += 1;
        length += rest[length..]
            .bytes()
            .take_while(|b| b.is_ascii_digit() || *b == b'_')
            .count();
    }
    if rest[length..].starts_with(['e', 'E']) {
        let mut end = length + 1;
        end += usize::from(rest[end..].starts_with(['+', '-']));
        let digits = rest[end..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            length = end + digits;
        }
    }
    let text: String = rest[..length].chars().filter(|c| *c != '_').collect();
    let (size, suffix) = match &rest[length..] {
        tail if tail.starts_with("f32") => (4, 3),
        tail if tail.starts_with("f64") => (8, 3),
        tail if tail.starts_with(['f', 'F']) => (4, 1),
        tail if tail.starts_with(['l', 'L']) => (16, 1),
        _ => (8, 0),
    };
    // The text is rounded only once, to the literal's own size.
    let value = match size {
        4 => text.parse::<f32>().map(f64::from),
        _ => text.parse::<f64>(),
    };
    let value = value.unwrap_or(f64::NAN);
    (
        TokenKind::Number {
            number: Number::Float { value, size },
            untyped: suffix == 0,
        },
        length + suffix,
    )
}

fn character(rest: &str, at: usize) -> Result<(TokenKind, usize), Fault> {
    let unfinished = || {
        Fault::new(
            at,
            "one character stands between `'` and `'`; a text is written `\"…\"`",
        )
    };
    let mut chars = rest[1..].char_indices();
    let (_, first) = chars.next().ok_or_else(unfinished)?;
    let code = match first {
        '\\' => escaped(&mut chars).ok_or_else(unfinished)?.code(),
        first => first as u32,
    };
    match chars.next() {
        Some((index, '\'')) => Ok((
            TokenKind::Number {
                number: Number::Char(code),
                untyped: false,
            },
            index + 2,
        )),
        _ => Err(unfinished()),
    }
}

/// The value of an escape sequence.
enum Escaped {
    Byte(u8),
    Scalar(char),
}

impl Escaped {
    fn code(self) -> u32 {
        match self {
            Escaped::Byte(byte) => byte.into(),
            Escaped::Scalar(scalar) => scalar.into(),
        }
    }
}

/// Reads the escape sequence after a backslash: C 2011 §6.4.4.4, the Rust reference's "Character escapes".
fn escaped(chars: &mut std::str::CharIndices<'_>) -> Option<Escaped> {
    let (_, escape) = chars.next()?;
    Some(Escaped::Byte(match escape {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'v' => 11,
        'f' => 12,
        'e' => 27,
        '0' => 0,
        '\\' | '\'' | '"' | '?' => u8::try_from(escape).ok()?,
        'x' => {
            let mut digit = || chars.next()?.1.to_digit(16);
            u8::try_from(digit()? * 16 + digit()?).ok()?
        }
        'u' => {
            let mut code = 0u32;
            let mut rest = chars.clone();
            if let Some((_, '{')) = rest.next() {
                *chars = rest;
                loop {
                    match chars.next()?.1 {
                        '}' => break,
                        digit => code = code.checked_mul(16)? + digit.to_digit(16)?,
                    }
                }
            } else {
                for _ in 0..4 {
                    code = code * 16 + chars.next()?.1.to_digit(16)?;
                }
            }
            return Some(Escaped::Scalar(char::from_u32(code)?));
        }
        _ => return None,
    }))
}

/// The bytes of a displayed string. `None`: the display was truncated, or is not a string.
pub(super) fn unquoted(shown: &str) -> Option<Vec<u8>> {
    match text_of(shown.strip_prefix('"').map(|_| shown)?, 0).ok()? {
        (TokenKind::String(bytes), length) if length == shown.len() => Some(bytes.to_vec()),
        _ => None,
    }
}

fn text_of(rest: &str, at: usize) -> Result<(TokenKind, usize), Fault> {
    let mut bytes = Vec::new();
    let mut chars = rest.char_indices();
    chars.next();
    while let Some((index, next)) = chars.next() {
        match next {
            '"' => return Ok((TokenKind::String(bytes.into()), index + 1)),
            '\\' => match escaped(&mut chars) {
                Some(Escaped::Byte(byte)) => bytes.push(byte),
                Some(Escaped::Scalar(scalar)) => {
                    bytes.extend(scalar.encode_utf8(&mut [0; 4]).as_bytes());
                }
                None => return Err(Fault::new(at + index, "this escape is not understood")),
            },
            other => bytes.extend(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err(Fault::new(at, "this text has no end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let tokens = tokens(text, Language::C).expect("tokens");
        tokens.into_iter().map(|token| token.kind).collect()
    }

    fn one(text: &str) -> TokenKind {
        kinds(text).swap_remove(0)
    }

    #[test]
    fn numbers_have_the_type_they_are_written_with() {
        let number = |text| match one(text) {
            TokenKind::Number { number, .. } => number,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(number("42"), Number::integer(42, 4, true));
        assert_eq!(number("0xffffffff"), Number::integer(0xffff_ffff, 4, false));
        assert_eq!(
            number("5000000000"),
            Number::integer(5_000_000_000, 8, true)
        );
        assert_eq!(number("010"), Number::integer(8, 4, true));
        assert_eq!(number("0"), Number::integer(0, 4, true));
        assert_eq!(number("7UL"), Number::integer(7, 8, false));
        assert_eq!(number("1_000u16"), Number::integer(1000, 2, false));
        assert_eq!(
            number("1.5e3f"),
            Number::Float {
                value: 1500.0,
                size: 4
            }
        );
        assert_eq!(
            number("2."),
            Number::Float {
                value: 2.0,
                size: 8
            }
        );
        assert_eq!(number(r"'\n'"), Number::Char(10));
        assert_eq!(number(r"'\x41'"), Number::Char(0x41));
    }

    #[test]
    fn fields_of_tuples_are_no_floats() {
        let name = |text: &str| TokenKind::Name(text.to_owned());
        assert_eq!(
            kinds("t.0.1"),
            [
                name("t"),
                TokenKind::Operator("."),
                name("0"),
                TokenKind::Operator("."),
                name("1"),
                TokenKind::End
            ]
        );
    }

    #[test]
    fn paths_are_one_name() {
        assert_eq!(
            one("outer::inner::counter"),
            TokenKind::Name("outer::inner::counter".into())
        );
        assert_eq!(one("::counter"), TokenKind::Name("::counter".into()));
        assert_eq!(one("r#type"), TokenKind::Name("type".into()));
    }

    #[test]
    fn what_is_not_understood_has_its_place() {
        assert_eq!(tokens("a # b", Language::C).expect_err("no token").at, 2);
        assert_eq!(tokens("12abc", Language::C).expect_err("no suffix").at, 2);
        assert!(tokens("'", Language::C).is_err());
        assert!(tokens("0x", Language::C).is_err());
        assert!(tokens("", Language::C).is_err());
    }
}
