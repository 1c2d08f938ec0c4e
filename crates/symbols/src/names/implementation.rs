//! Parses Rust implementations in names. The demangler of one mangling gives `<tour::Shape as core::fmt::Display>::fmt`,
//! that of the other `tour::<impl core::fmt::Display for tour::Shape>::fmt`. Users write both, and `impl Trait for
//! Type::method`.

use super::parts::{Part, parts};

/// The parsed text between the angle brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Implementation<'n> {
    /// The implementing type.
    pub subject: &'n str,
    /// The trait; `None` for an inherent implementation.
    pub of: Option<&'n str>,
}

impl<'n> Implementation<'n> {
    /// Parses the text between `<` and `>`; `None` for a lambda.
    pub fn read(inside: &'n str) -> Option<Implementation<'n>> {
        if let Some(rest) = after_impl(inside) {
            return Some(match split_at(rest, " for ") {
                Some((of, subject)) => Implementation {
                    subject,
                    of: Some(of),
                },
                None => Implementation {
                    subject: rest,
                    of: None,
                },
            });
        }
        if inside.starts_with("lambda") {
            return None;
        }
        Some(match split_at(inside, " as ") {
            Some((subject, of)) => Implementation {
                subject,
                of: Some(of),
            },
            None => Implementation {
                subject: inside,
                of: None,
            },
        })
    }

    /// The first implementation in a path, and the parts behind it. `None` if no part is in angle brackets, lambdas aside.
    /// Also `None` if the first part in brackets has no `impl` and isn't at the start of the path: Rust has no such names.
    pub fn find<'p>(path: &'p [Part<'n>]) -> Option<(Implementation<'n>, &'p [Part<'n>])> {
        let at = path
            .iter()
            .position(|part| inside_of(part).is_some_and(|inside| !inside.starts_with("lambda")))?;
        let inside = inside_of(&path[at])?;
        if at > 0 && after_impl(inside).is_none() {
            return None;
        }
        Some((Implementation::read(inside)?, &path[at + 1..]))
    }
}

/// Converts `impl Trait for Type::method` to `<Type as Trait>::method`; returns other text unchanged.
pub(super) fn bracketed(name: &str) -> String {
    let bracket = || {
        let (of, path) = split_at(after_impl(name)?, " for ")?;
        let last = parts(path).last()?.base;
        let at = path.rfind(last)?;
        let subject = path[..at].strip_suffix("::")?;
        Some(format!("<{subject} as {of}>::{}", &path[at..]))
    };
    bracket().unwrap_or_else(|| name.to_owned())
}

fn inside_of<'n>(part: &Part<'n>) -> Option<&'n str> {
    part.base.strip_prefix('<')?.strip_suffix('>')
}

/// The text behind `impl ` or `impl<T> `.
fn after_impl(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let end = super::parts::group_end(rest.as_bytes(), 0);
        return rest.get(end..).map(str::trim_start);
    }
    rest.strip_prefix(' ').map(str::trim_start)
}

/// Splits at the first `word` that is outside of all brackets.
fn split_at<'n>(text: &'n str, word: &str) -> Option<(&'n str, &'n str)> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    for at in 0..bytes.len() {
        match bytes[at] {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && bytes[at..].starts_with(word.as_bytes()) => {
                return Some((text[..at].trim(), text[at + word.len()..].trim()));
            }
            _ => {}
        }
    }
    None
}
