//! The methods that are answered without calling the program: what containers hold, what choices have, where texts are.

use dapple_symbols::functions::Language;

/// What such a method asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    /// How many elements or bytes there are.
    Length,
    IsEmpty,
    /// Whether it is in a variant: of two, this is the one, and that the other.
    IsVariant(&'static str, &'static str),
    First,
    Last,
    /// The element at a position, or of a key.
    Element,
    /// Whether an element or key is there.
    Contains,
    /// How often: C++'s word for keys.
    Count,
    HasValue,
    /// What `Some`, `Ok`, `optional` hold.
    Inner,
    /// What `Err` holds.
    InnerError,
    /// The pointer that an owner has; the contents of a cell.
    Get,
    /// Where a text or the elements are.
    Address,
    /// The same seen otherwise.
    Same,
    /// The text or the elements of a container; what merely leads to one has no such method.
    Contents,
}

/// Their names, and how many arguments each takes.
const ALL: [(&str, usize, Builtin); 32] = [
    ("len", 0, Builtin::Length),
    ("length", 0, Builtin::Length),
    ("size", 0, Builtin::Length),
    ("is_empty", 0, Builtin::IsEmpty),
    ("empty", 0, Builtin::IsEmpty),
    ("is_some", 0, Builtin::IsVariant("Some", "None")),
    ("is_none", 0, Builtin::IsVariant("None", "Some")),
    ("is_ok", 0, Builtin::IsVariant("Ok", "Err")),
    ("is_err", 0, Builtin::IsVariant("Err", "Ok")),
    ("first", 0, Builtin::First),
    ("front", 0, Builtin::First),
    ("last", 0, Builtin::Last),
    ("back", 0, Builtin::Last),
    ("at", 1, Builtin::Element),
    ("get", 1, Builtin::Element),
    ("contains", 1, Builtin::Contains),
    ("contains_key", 1, Builtin::Contains),
    ("count", 1, Builtin::Count),
    ("has_value", 0, Builtin::HasValue),
    ("value", 0, Builtin::Inner),
    ("unwrap", 0, Builtin::Inner),
    ("unwrap_err", 0, Builtin::InnerError),
    ("expect", 1, Builtin::Inner),
    ("get", 0, Builtin::Get),
    ("c_str", 0, Builtin::Address),
    ("data", 0, Builtin::Address),
    ("as_ptr", 0, Builtin::Address),
    ("as_ref", 0, Builtin::Same),
    ("as_mut", 0, Builtin::Same),
    ("as_deref", 0, Builtin::Same),
    ("as_str", 0, Builtin::Contents),
    ("as_slice", 0, Builtin::Contents),
];

/// What a value is to who may ask it something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Sequence,
    /// With keys.
    Map,
    Text,
    /// `Some` or `None`.
    Option,
    /// `Ok` or `Err`.
    Result,
    /// C++'s `optional`.
    Optional,
    /// What owns something behind a pointer.
    Owner,
}

/// The methods to offer for a value, as they are written in its language; what takes an argument ends in its bracket.
pub(super) fn offered(language: Language, asked: Asked) -> &'static [&'static str] {
    let is_rust = language == Language::Rust;
    match asked {
        Asked::Sequence if is_rust => &[
            "len()",
            "is_empty()",
            "first()",
            "last()",
            "get(",
            "contains(",
            "as_ptr()",
        ],
        Asked::Sequence => &["size()", "empty()", "front()", "back()", "at(", "data()"],
        Asked::Map if is_rust => &["len()", "is_empty()", "get(", "contains_key("],
        Asked::Map => &["size()", "empty()", "at(", "count(", "contains("],
        Asked::Text if is_rust => &[
            "len()",
            "is_empty()",
            "as_str()",
            "as_ptr()",
            "trim()",
            "contains(",
            "starts_with(",
            "ends_with(",
            "find(",
            "as_bytes()",
        ],
        Asked::Text => &["size()", "empty()", "length()", "c_str()", "data()"],
        Asked::Option => &["is_some()", "is_none()", "unwrap()"],
        Asked::Result => &["is_ok()", "is_err()", "unwrap()", "unwrap_err()"],
        Asked::Optional => &["has_value()", "value()"],
        Asked::Owner if is_rust => &[],
        Asked::Owner => &["get()"],
    }
}

/// Whether there is one of that name.
pub(super) fn is_known(name: &str) -> bool {
    ALL.iter().any(|(known, _, _)| *known == name)
}

/// The one of that name with so many arguments.
pub(super) fn named(name: &str, arguments: usize) -> Option<Builtin> {
    let mut all = ALL.iter();
    let found = all.find(|(known, count, _)| *known == name && *count == arguments);
    found.map(|(_, _, builtin)| *builtin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::rust_library;

    #[test]
    fn what_is_offered_is_answered() {
        let all = [
            Asked::Sequence,
            Asked::Map,
            Asked::Text,
            Asked::Option,
            Asked::Result,
            Asked::Optional,
            Asked::Owner,
        ];
        for (asked, language) in all
            .into_iter()
            .flat_map(|asked| [(asked, Language::Rust), (asked, Language::Cpp)])
        {
            for method in offered(language, asked) {
                let (name, arguments) = method.split_once('(').expect("a bracket");
                let count = usize::from(arguments.is_empty());
                let is_rust = language == Language::Rust && rust_library::takes(name, count);
                assert!(named(name, count).is_some() || is_rust, "{method}");
            }
        }
    }
}
