//! Methods answered by reading memory, without calling the program: sizes and elements of containers, variants of enums, addresses of
//! strings.

use dapple_symbols::functions::Language;

/// What a method that is answered by reading memory returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    /// The number of elements or bytes.
    Length,
    IsEmpty,
    /// Whether an enum is in the variant with the first name. Its only other variant has the second name.
    IsVariant(&'static str, &'static str),
    First,
    Last,
    /// Whether an enum is in the variant that the argument names. For Natvis files.
    IsNamedVariant,
    /// The whole object that a value is a base of, by its virtual table. For Natvis files.
    MostDerived,
    /// The element at an index or key.
    Element,
    /// Whether an element or key is present.
    Contains,
    /// The number of entries with a key: C++'s `count`.
    Count,
    HasValue,
    /// The payload of `Some`, `Ok` or `optional`.
    Inner,
    /// The payload of `Err`.
    InnerError,
    /// The pointer of a smart pointer; the contents of a cell.
    Get,
    /// The address of a string's bytes or of the elements.
    Address,
    /// The value itself, as `as_ref` gives it.
    Same,
    /// The string or the elements of a container. A value that merely leads to a container has no such method.
    Contents,
}

/// The methods' names and argument counts.
const ALL: [(&str, usize, Builtin); 34] = [
    ("len", 0, Builtin::Length),
    ("length", 0, Builtin::Length),
    ("size", 0, Builtin::Length),
    ("is_empty", 0, Builtin::IsEmpty),
    ("empty", 0, Builtin::IsEmpty),
    ("is_some", 0, Builtin::IsVariant("Some", "None")),
    ("is_none", 0, Builtin::IsVariant("None", "Some")),
    ("is_ok", 0, Builtin::IsVariant("Ok", "Err")),
    ("is_err", 0, Builtin::IsVariant("Err", "Ok")),
    ("is_variant", 1, Builtin::IsNamedVariant),
    ("most_derived", 0, Builtin::MostDerived),
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

/// The kinds of values that methods are offered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Receiver {
    Sequence,
    /// A container with keys.
    Map,
    Text,
    /// `Some` or `None`.
    Option,
    /// `Ok` or `Err`.
    Result,
    /// C++'s `optional`.
    Optional,
    /// A smart pointer.
    Owner,
}

/// The methods to offer for a value, as written in its language. A method with an argument ends in its opening bracket.
pub(super) fn offered(language: Language, receiver: Receiver) -> &'static [&'static str] {
    let is_rust = language == Language::Rust;
    match receiver {
        Receiver::Sequence if is_rust => &[
            "len()",
            "is_empty()",
            "first()",
            "last()",
            "get(",
            "contains(",
            "as_ptr()",
        ],
        Receiver::Sequence => &["size()", "empty()", "front()", "back()", "at(", "data()"],
        Receiver::Map if is_rust => &["len()", "is_empty()", "get(", "contains_key("],
        Receiver::Map => &["size()", "empty()", "at(", "count(", "contains("],
        Receiver::Text if is_rust => &[
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
        Receiver::Text => &["size()", "empty()", "length()", "c_str()", "data()"],
        Receiver::Option => &["is_some()", "is_none()", "unwrap()"],
        Receiver::Result => &["is_ok()", "is_err()", "unwrap()", "unwrap_err()"],
        Receiver::Optional => &["has_value()", "value()"],
        Receiver::Owner if is_rust => &[],
        Receiver::Owner => &["get()"],
    }
}

/// Whether a method of that name is answered by reading memory.
pub(super) fn is_known(name: &str) -> bool {
    ALL.iter().any(|(known, _, _)| *known == name)
}

/// The method of that name and argument count.
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
            Receiver::Sequence,
            Receiver::Map,
            Receiver::Text,
            Receiver::Option,
            Receiver::Result,
            Receiver::Optional,
            Receiver::Owner,
        ];
        for (receiver, language) in all
            .into_iter()
            .flat_map(|receiver| [(receiver, Language::Rust), (receiver, Language::Cpp)])
        {
            for method in offered(language, receiver) {
                let (name, arguments) = method.split_once('(').expect("a bracket");
                let count = usize::from(arguments.is_empty());
                let is_rust = language == Language::Rust && rust_library::takes(name, count);
                assert!(named(name, count).is_some() || is_rust, "{method}");
            }
        }
    }
}
