//! Replaces internal names of C++'s standard library by those that users know.

use super::{arguments, end_of_argument};

/// Character templates by their standard names: `std::basic_string<char>` → `std::string`.
pub(super) fn characters(mut name: String) -> String {
    const TEMPLATES: [&str; 13] = [
        "string",
        "string_view",
        "stringbuf",
        "ostringstream",
        "istringstream",
        "stringstream",
        "ofstream",
        "ifstream",
        "fstream",
        "ostream",
        "istream",
        "iostream",
        "streambuf",
    ];
    const UNITS: [(&str, &str); 5] = [
        ("char", ""),
        ("wchar_t", "w"),
        ("char8_t", "u8"),
        ("char16_t", "u16"),
        ("char32_t", "u32"),
    ];
    if !name.contains("std::basic_") {
        return name;
    }
    for template in TEMPLATES {
        for (unit, prefix) in UNITS {
            // Streams have names for `char` and `wchar_t` only.
            if prefix.starts_with('u') && !template.starts_with("string") {
                continue;
            }
            let long = format!("std::basic_{template}<{unit}>");
            if name.contains(&long) {
                name = name.replace(&long, &format!("std::{prefix}{template}"));
            }
        }
    }
    name
}

/// For an iterator of a map or set: the beginning of the container's name. The element type says which container it is.
const TREE: &str = "std::";
const TABLE: &str = "std::unordered_";
/// For an iterator made of another iterator.
const BACKWARDS: &str = "";
/// An iterator's name in the library, the container of elements of the iterator's first argument, and the iterator's name in that
/// container.
const OF_ELEMENTS: [(&str, &str, &str); 15] = [
    ("std::__map_iterator<", TREE, "iterator"),
    ("std::__map_const_iterator<", TREE, "const_iterator"),
    ("std::reverse_iterator<", BACKWARDS, ""),
    ("std::_Rb_tree_iterator<", TREE, "iterator"),
    ("std::_Rb_tree_const_iterator<", TREE, "const_iterator"),
    ("std::__detail::_Node_iterator<", TABLE, "iterator"),
    (
        "std::__detail::_Node_const_iterator<",
        TABLE,
        "const_iterator",
    ),
    ("std::_List_iterator<", "std::list", "iterator"),
    ("std::_List_const_iterator<", "std::list", "const_iterator"),
    ("std::_Fwd_list_iterator<", "std::forward_list", "iterator"),
    (
        "std::_Fwd_list_const_iterator<",
        "std::forward_list",
        "const_iterator",
    ),
    ("std::__list_iterator<", "std::list", "iterator"),
    ("std::__list_const_iterator<", "std::list", "const_iterator"),
    ("std::_Deque_iterator<", "std::deque", "iterator"),
    ("std::__deque_iterator<", "std::deque", "iterator"),
];
/// An iterator made of a pointer. Its container is the second argument.
const OF_CONTAINERS: &str = "__gnu_cxx::__normal_iterator<";

/// Gives iterators the names that users know, if the container is known: `std::_List_iterator<int>` → `std::list<int>::iterator`.
pub(super) fn iterators(name: &str) -> String {
    let first = OF_ELEMENTS.iter().map(|(long, ..)| *long);
    let starts = first.chain([OF_CONTAINERS]);
    let found = starts.filter_map(|long| Some((name.find(long)?, long)));
    let Some((at, long)) = found.min() else {
        return bit_iterators(name);
    };
    let inside = &name[at + long.len()..];
    let arguments = arguments(&name[at..]);
    let Some(end) = end_of_list(inside).filter(|_| !arguments.is_empty()) else {
        return name.to_owned();
    };
    let short = match OF_ELEMENTS.iter().find(|(of, ..)| *of == long) {
        Some((_, container, _)) if *container == BACKWARDS => backwards(long, &arguments[0]),
        Some((_, container, kind)) if [TREE, TABLE].contains(container) => {
            match of_map_or_set(container, kind, &arguments[0]) {
                Some(short) => short,
                None => return name.to_owned(),
            }
        }
        Some((_, container, kind)) => {
            let second = arguments.get(1).map_or("", String::as_str);
            let kind = match *container {
                "std::deque" if is_const(second) => "const_iterator",
                _ => kind,
            };
            format!("{container}<{}>::{kind}", iterators(&arguments[0]))
        }
        None => {
            let container = arguments.get(1).map_or("", String::as_str);
            let kind = match is_const(&arguments[0]) {
                true => "const_iterator",
                false => "iterator",
            };
            format!("{}::{kind}", iterators(container))
        }
    };
    format!("{}{short}{}", &name[..at], iterators(&inside[end..]))
}

fn is_const(argument: &str) -> bool {
    argument.starts_with("const ")
}

/// The length of a list of arguments, including the bracket that closes it. `None`: no bracket closes it.
fn end_of_list(inside: &str) -> Option<usize> {
    let mut end = 0;
    while let Some(length) = end_of_argument(&inside[end..]) {
        end += length + 1;
        if inside[..end].ends_with('>') {
            return Some(end);
        }
    }
    None
}

/// `std::reverse_iterator` of an iterator.
fn backwards(long: &str, argument: &str) -> String {
    let inner = iterators(argument);
    match inner.rsplit_once("::") {
        Some((container, "iterator")) => format!("{container}::reverse_iterator"),
        Some((container, "const_iterator")) => {
            format!("{container}::const_reverse_iterator")
        }
        _ => format!("{long}{inner}>"),
    }
}

/// A map's iterator if the elements are pairs with a constant key, otherwise a set's. Those of a `multimap` and a `multiset` have the same
/// types, and so the same names. `None`: the pair is not understood.
fn of_map_or_set(container: &str, kind: &str, argument: &str) -> Option<String> {
    let element = iterators(&pair_of(argument));
    if !element.starts_with("std::pair<const ") {
        return Some(match container {
            // A set's elements are constant, so both its iterators are shown alike.
            TREE => format!("{container}set<{element}>::iterator"),
            _ => format!("{container}set<{element}>::{kind}"),
        });
    }
    let parts = arguments(&element);
    let key = parts.first()?.strip_prefix("const ")?;
    let value = parts.get(1)?;
    Some(format!("{container}map<{key}, {value}>::{kind}"))
}

/// The pair that a node contains, for libc++'s map iterators, which are made of an iterator of nodes.
fn pair_of(argument: &str) -> String {
    let value = argument
        .starts_with("std::__tree_")
        .then(|| arguments(argument).into_iter().next())
        .flatten();
    let value = value.filter(|value| value.starts_with("std::__value_type<"));
    match value.map(|value| arguments(&value)).as_deref() {
        Some([key, value]) => format!("std::pair<const {key}, {value}>"),
        _ => argument.to_owned(),
    }
}

fn bit_iterators(name: &str) -> String {
    [
        ("std::_Bit_iterator", "std::vector<bool>::iterator"),
        (
            "std::_Bit_const_iterator",
            "std::vector<bool>::const_iterator",
        ),
        ("std::_Bit_reference", "std::vector<bool>::reference"),
    ]
    .iter()
    .fold(name.to_owned(), |name, (long, short)| {
        name.replace(long, short)
    })
}

/// Durations by their standard names: `std::chrono::duration<long, std::ratio<1, 1000>>` → `std::chrono::milliseconds`.
pub(super) fn durations(mut name: String) -> String {
    const UNITS: [(&str, &str); 7] = [
        (", std::ratio<1, 1000000000>", "nanoseconds"),
        (", std::ratio<1, 1000000>", "microseconds"),
        (", std::ratio<1, 1000>", "milliseconds"),
        ("", "seconds"),
        (", std::ratio<60, 1>", "minutes"),
        (", std::ratio<3600, 1>", "hours"),
        (", std::ratio<86400, 1>", "days"),
    ];
    if !name.contains("std::chrono::duration<") {
        return name;
    }
    for (period, unit) in UNITS {
        for count in ["long", "long long"] {
            let long = format!("std::chrono::duration<{count}{period}>");
            if name.contains(&long) {
                name = name.replace(&long, &format!("std::chrono::{unit}"));
            }
        }
    }
    name
}
