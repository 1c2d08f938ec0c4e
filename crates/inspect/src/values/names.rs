//! Type names as source code has them, without what the standard libraries add.

use dapple_symbols::functions::Language;

mod library;

/// The longest name that is shortened, in bytes.
const MAX_NAME: usize = 4000;

/// The name of a type, shortened for its language.
pub(crate) fn shorten(name: &str, language: Language) -> String {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.len() > MAX_NAME || name.bytes().all(is_word) {
        return name.to_owned();
    }
    match language {
        // Names without arguments and paths can't be shortened: `Node *`, `&str`.
        Language::Rust if !name.contains(['<', ':', '{', '(', '=']) => name.to_owned(),
        Language::Cpp if !name.contains(['<', ':', '[']) => plain_integers(&single_const(name)),
        Language::Rust => shorten_rust(name),
        Language::Cpp => shorten_cpp(&plain_integers(&single_const(name))),
        _ => plain_integers(&single_const(name)),
    }
}

/// Whether a name is that of a typedef for an 8-bit number.
pub(crate) fn is_small_integer(name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name);
    let name = name.trim_start_matches('_');
    matches!(
        name,
        "int8_t"
            | "uint8_t"
            | "int_least8_t"
            | "uint_least8_t"
            | "int_fast8_t"
            | "uint_fast8_t"
            | "u8"
            | "s8"
            | "i8"
    )
}

/// The name without its path, cut at its first generic argument: `tour::Point<i32>` → `Point`, `Box<int>::Node` → `Box`.
pub(crate) fn base_name(name: &str) -> &str {
    let path = match name.find('<') {
        Some(0) | None => name,
        Some(at) => &name[..at],
    };
    path.rsplit("::").next().unwrap_or(path)
}

/// The arguments of the first generic list: `_Handler<int (int), lambda>::call` → `int (int)`, `lambda`.
pub(crate) fn arguments(name: &str) -> Vec<String> {
    let Some(open) = name.find('<') else {
        return Vec::new();
    };
    let (mut depth, mut start, mut previous) = (0usize, open + 1, ' ');
    let mut arguments = Vec::new();
    for (at, c) in name.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if previous == '-' => {}
            '>' | ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    arguments.push(name[start..at].trim().to_owned());
                    break;
                }
            }
            ',' if depth == 1 => {
                arguments.push(name[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
        previous = c;
    }
    arguments
}

/// The path up to the first generic argument: `core::option::Option<i32>` → `core::option::Option`.
pub(crate) fn path_name(name: &str) -> &str {
    match name.find('<') {
        Some(0) | None => name,
        // Rust's v0 mangling writes a function's arguments like calls have them: `tour::largest::<i32>`.
        Some(at) => name[..at].trim_end_matches("::"),
    }
}

/// The first generic argument: `alloc::rc::Rc<[u8], alloc::alloc::Global>` → `[u8]`.
pub(crate) fn first_argument(name: &str) -> Option<&str> {
    let rest = &name[name.find('<')? + 1..];
    Some(rest[..end_of_argument(rest)?].trim())
}

/// The target in the name of a Rust pointer: `&mut [T]`, `*const str`, `alloc::boxed::Box<T>`.
pub(crate) fn pointee(name: &str) -> Option<&str> {
    ["&mut ", "&", "*const ", "*mut "]
        .iter()
        .find_map(|sign| name.strip_prefix(sign))
        .or_else(|| first_argument(name))
}

/// Whether a Rust path belongs to the standard library.
pub(crate) fn is_rust_std(name: &str) -> bool {
    ["core::", "alloc::", "std::"]
        .iter()
        .any(|root| name.starts_with(root))
}

/// Whether a C++ name is internal to a library: `std::__shared_ptr<…>::element_type`, `…::_Rep_type`.
pub(crate) fn is_internal(name: &str) -> bool {
    let is_typedef = name.ends_with("::element_type")
        || name.ends_with("::type")
        || name.ends_with("::rep")
        || name.ends_with("::mutex_type")
        || name.ends_with("::value_type")
        || name.ends_with("::mapped_type")
        || name.ends_with("::key_type")
        || base_name(name).starts_with('_')
        || name
            .rsplit("::")
            .next()
            .is_some_and(|last| last.starts_with('_'));
    // Clang leaves out the class of these.
    let is_bare = matches!(name, "iterator" | "const_iterator" | "reference");
    is_bare || (name.starts_with("std::") && is_typedef)
}

/// Applies `map` to each path in a name, and keeps the rest.
fn map_paths(name: &str, mut map: impl FnMut(&str) -> String) -> String {
    let mut text = String::with_capacity(name.len());
    let mut path = String::new();
    for c in name.chars() {
        if c.is_alphanumeric() || matches!(c, '_' | ':' | '#') {
            path.push(c);
        } else {
            if !path.is_empty() {
                text.push_str(&map(&path));
                path.clear();
            }
            text.push(c);
        }
    }
    if !path.is_empty() {
        text.push_str(&map(&path));
    }
    text
}

/// Removes the generic arguments for which `drop` returns true.
fn drop_arguments(name: &str, drop: impl Fn(&str) -> bool + Copy) -> String {
    let Some(open) = name.find('<').filter(|_| !name.contains("operator<")) else {
        return name.to_owned();
    };
    let mut depth = 0usize;
    let mut start = open + 1;
    let mut kept: Vec<String> = Vec::new();
    let mut end = name.len();
    let mut previous = ' ';
    let mut take = |argument: &str| {
        let argument = argument.trim();
        let argument = match argument.strip_prefix("(dyn ") {
            Some(_) if argument.ends_with(')') => &argument[1..argument.len() - 1],
            _ => argument,
        };
        if !drop(argument) {
            kept.push(leading_const(&drop_arguments(argument, drop)));
        }
    };
    for (at, c) in name.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if previous == '-' => {}
            '>' | ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    if c == '>' {
                        take(&name[start..at]);
                        end = at + 1;
                    }
                    break;
                }
            }
            ',' if depth == 1 => {
                take(&name[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        previous = c;
    }
    if end <= open || !name[..end].ends_with('>') {
        return name.to_owned();
    }
    let head = &name[..open];
    let tail = drop_arguments(&name[end..], drop);
    let list = kept.join(", ");
    if list.is_empty() && !name[open + 1..end - 1].trim().is_empty() {
        format!("{head}{tail}")
    } else {
        format!("{head}<{list}>{tail}")
    }
}

/// Parts of the compiler's names of the values of closures and futures, and what is shown for each.
const STORED: [(&str, &str); 4] = [
    ("{closure_env#", "{closure#"),
    ("{async_fn_env#", "{async fn#"),
    ("{async_block_env#", "{async block#"),
    ("{async_closure_env#", "{async closure#"),
];

/// `Fn<(i32, u8), Output=i32>` → `Fn(i32, u8) -> i32`.
fn function_traits(name: String) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name.as_str();
    while let Some(at) = ["Fn<(", "FnMut<(", "FnOnce<("]
        .iter()
        .filter_map(|t| rest.find(t))
        .min()
    {
        let Some(open) = rest[at..].find('<').map(|open| at + open) else {
            break;
        };
        let inside = &rest[open + 1..];
        let Some((parameters, output, end)) = signature(inside) else {
            text.push_str(&rest[..=open]);
            rest = inside;
            continue;
        };
        text.push_str(&rest[..open]);
        text.push_str(parameters);
        if output != "()" {
            text.push_str(" -> ");
            text.push_str(&function_traits(output.to_owned()).replace(" = ", "="));
        }
        rest = &inside[end..];
    }
    text.push_str(rest);
    text.replace('=', " = ")
}

/// The parameters, the result, and the length of `(i32), Output=i32>`.
fn signature(inside: &str) -> Option<(&str, &str, usize)> {
    let parameters = end_of_argument(inside)?;
    let output = inside[parameters..].strip_prefix(", Output=")?;
    let end = end_of_argument(output)?;
    let behind = output[end..].strip_prefix('>')?;
    Some((
        &inside[..parameters],
        &output[..end],
        inside.len() - behind.len(),
    ))
}

/// The length of a list's first argument.
fn end_of_argument(list: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut previous = ' ';
    for (at, c) in list.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if previous == '-' => {}
            '>' | ',' if depth == 0 => return Some(at),
            '>' | ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        previous = c;
    }
    None
}

fn shorten_rust(name: &str) -> String {
    let name = STORED
        .iter()
        .fold(single_tuple(name), |name, (long, short)| {
            name.replace(long, short)
        });
    let name = &name;
    let name = drop_arguments(name, |argument| {
        argument == "alloc::alloc::Global" || argument.ends_with("hash::random::RandomState")
    });
    let name = map_paths(&name, |path| {
        if is_rust_std(path) {
            base_name(path).to_owned()
        } else {
            path.to_owned()
        }
    });
    function_traits(name)
}

/// The debug information has `const` both for a constant array and for its elements.
fn single_const(name: &str) -> String {
    match name.contains("const const ") {
        true => name.replace("const const ", "const "),
        false => name.to_owned(),
    }
}

/// Adds the comma of a tuple with one element, which the compiler leaves out: `(i32)` → `(i32,)`.
fn single_tuple(name: &str) -> String {
    let inner = name
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    let is_single = inner.is_some_and(|inner| {
        let mut depth = 0i32;
        let plain = inner.chars().all(|c| {
            match c {
                '<' | '(' | '[' => depth += 1,
                '>' | ')' | ']' => depth -= 1,
                _ => {}
            }
            depth >= 0 && !(c == ',' && depth == 0)
        });
        plain && !inner.is_empty()
    });
    match inner {
        Some(inner) if is_single => format!("({inner},)"),
        _ => name.to_owned(),
    }
}

fn shorten_cpp(name: &str) -> String {
    let mut name = spaced(&plain_numbers(name));
    for inline in [
        "__cxx11::",
        "__1::",
        "__ndk1::",
        "_V2::",
        "__fs::",
        "__exception_ptr::",
        "__n4861::",
    ] {
        if name.contains(inline) {
            name = name
                .replace(&format!("std::{inline}"), "std::")
                .replace(&format!("filesystem::{inline}"), "filesystem::")
                .replace(&format!("chrono::{inline}"), "chrono::");
        }
    }
    let name = drop_arguments(&name, |argument| {
        [
            "std::allocator<",
            "std::char_traits<",
            "std::less<",
            "std::hash<",
            "std::equal_to<",
            "std::default_delete<",
            "std::default_accessor<",
        ]
        .iter()
        .any(|default| argument.starts_with(default))
            // The default layout of an `mdspan`, the default period of a duration (seconds), and the default extent of a span (dynamic).
            || ["std::layout_right", "std::ratio<1, 1>", "std::ratio<1, 1> ", "18446744073709551615"].contains(&argument)
    });
    // The same where an address has 4 bytes.
    let name = match name.contains("span<") {
        true => name
            .replace(", 4294967295>", ">")
            .replace(", 4294967295U>", ">"),
        false => name,
    };
    library::durations(library::iterators(&library::characters(name)))
}

/// Integer types as usually written, where gcc has their full names: `long unsigned int` → `unsigned long`.
fn plain_integers(name: &str) -> String {
    const NAMES: [(&str, &str); 7] = [
        ("long long unsigned int", "unsigned long long"),
        ("long unsigned int", "unsigned long"),
        ("short unsigned int", "unsigned short"),
        ("long long int", "long long"),
        ("long int", "long"),
        ("short int", "short"),
        ("__int128 unsigned", "unsigned __int128"),
    ];
    let mut name = name.to_owned();
    if !name.contains("int") {
        return name;
    }
    for (long, short) in NAMES {
        if name.contains(long) {
            name = name.replace(long, short);
        }
    }
    name
}

/// Removes the suffixes that clang gives numbers in template arguments: `3UL` → `3`.
fn plain_numbers(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        text.push_str(before);
        let length = number.find(|c: char| !c.is_ascii_digit());
        let (digits, after) = number.split_at(length.unwrap_or(number.len()));
        text.push_str(digits);
        let is_number = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let suffix = after
            .find(|c: char| !matches!(c, 'U' | 'L'))
            .unwrap_or(after.len());
        let ends = !after[suffix..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        rest = if is_number && ends {
            &after[suffix..]
        } else {
            after
        };
        if rest.len() == after.len() && !is_number {
            // The digits are in an identifier: skip the rest of it.
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            text.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    text.push_str(rest);
    text
}

/// Unifies the spacing that compilers give template arguments: `Point *`, `int []`, `int(int)`.
fn spaced(name: &str) -> String {
    let Some(open) = name.find('<') else {
        return name.to_owned();
    };
    let mut text = name[..open].to_owned();
    for (at, c) in name.char_indices().skip_while(|(at, _)| *at < open) {
        let is_word = text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '>'));
        match c {
            '*' | '&' if is_word => text.push(' '),
            '[' if is_word && !text.ends_with("operator") => text.push(' '),
            '(' if text.ends_with(' ') && !is_declarator(&name[at..]) => {
                let last = text[..text.len() - 1].chars().next_back();
                if last.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '>')) {
                    text.pop();
                }
            }
            _ => {}
        }
        text.push(c);
    }
    text
}

/// Whether parentheses belong to a pointer declarator, as in `int (*)(int)`, instead of parameters.
fn is_declarator(rest: &str) -> bool {
    let inner = rest.find(')').map_or("", |end| &rest[1..end]);
    // The parameters of a function pointer may be inside: `(*(int))`.
    if inner
        .split_once('(')
        .is_some_and(|(sign, _)| sign.ends_with('*'))
    {
        return true;
    }
    inner.ends_with(['*', '&']) && rest[inner.len() + 2..].starts_with(['(', '[', ' '])
}

/// Moves an argument's qualifier to the front: `int const` → `const int`.
fn leading_const(argument: &str) -> String {
    if let Some(rest) = argument.strip_suffix(" const")
        && !rest.contains(['*', '&', '(', '['])
    {
        return format!("const {rest}");
    }
    // The qualifier of a pointer's target: `int const *`.
    match argument.rsplit_once(" const ") {
        Some((rest, pointer))
            if pointer.starts_with(['*', '&'])
                && !pointer.contains(['<', '>', ','])
                && !rest.starts_with("const ")
                && !rest.contains(['*', '&', '(', '[']) =>
        {
            format!("const {rest} {pointer}")
        }
        _ => argument.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_names_lose_std_paths_and_allocators() {
        for (long, short) in [
            (
                "alloc::vec::Vec<alloc::string::String, alloc::alloc::Global>",
                "Vec<String>",
            ),
            (
                "core::option::Option<alloc::boxed::Box<tour::Node, alloc::alloc::Global>>",
                "Option<Box<tour::Node>>",
            ),
            ("(core::option::Option<(i32, u8)>)", "(Option<(i32, u8)>,)"),
            ("(i32, u8)", "(i32, u8)"),
            ("&mut [tour::Point]", "&mut [tour::Point]"),
            (
                "fn(i32) -> core::option::Option<i32>",
                "fn(i32) -> Option<i32>",
            ),
            (
                "(i32, alloc::vec::Vec<u8, alloc::alloc::Global>)",
                "(i32, Vec<u8>)",
            ),
            (
                "alloc::boxed::Box<dyn core::fmt::Display, alloc::alloc::Global>",
                "Box<dyn Display>",
            ),
            (
                "alloc::boxed::Box<dyn core::ops::function::Fn<(i32), Output=i32>>",
                "Box<dyn Fn(i32) -> i32>",
            ),
            (
                "alloc::boxed::Box<(dyn core::ops::function::FnMut<(&str, (u8, i32)), Output=()> + core::marker::Send), alloc::alloc::Global>",
                "Box<dyn FnMut(&str, (u8, i32)) + Send>",
            ),
            (
                "&dyn core::ops::function::Fn<(), Output=alloc::boxed::Box<dyn core::ops::function::Fn<(u8), Output=u8>>>",
                "&dyn Fn() -> Box<dyn Fn(u8) -> u8>",
            ),
            (
                "tour::main::{closure_env#0}<i32>",
                "tour::main::{closure#0}<i32>",
            ),
        ] {
            assert_eq!(shorten(long, Language::Rust), short);
        }
    }

    #[test]
    fn cpp_names_lose_default_arguments() {
        for (long, short) in [
            (
                "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
                "std::string",
            ),
            ("std::vector<int, std::allocator<int> >", "std::vector<int>"),
            (
                "std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > > &",
                "std::vector<std::string> &",
            ),
            ("Buffer<short, 3>", "Buffer<short, 3>"),
            ("operator<", "operator<"),
            (
                "std::__1::set<Point*, std::__1::less<Point*>, std::__1::allocator<Point*> >",
                "std::set<Point *>",
            ),
            ("std::array<double, 3UL>", "std::array<double, 3>"),
            ("Sized<a1L, 12>", "Sized<a1L, 12>"),
            (
                "std::span<double const, 18446744073709551615UL>",
                "std::span<const double>",
            ),
            ("std::function<int (int)>", "std::function<int(int)>"),
            (
                "std::unique_ptr<_IO_FILE, int (*)(_IO_FILE*)>",
                "std::unique_ptr<_IO_FILE, int (*)(_IO_FILE *)>",
            ),
            ("std::unique_ptr<int[]>", "std::unique_ptr<int []>"),
            (
                "__gnu_cxx::__normal_iterator<int const*, std::vector<int, std::allocator<int> > >",
                "std::vector<int>::const_iterator",
            ),
            (
                "std::reverse_iterator<std::_List_iterator<std::_Fwd_list_const_iterator<int> > > &",
                "std::list<std::forward_list<int>::const_iterator>::reverse_iterator &",
            ),
            (
                "std::function<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > ()>",
                "std::function<std::string()>",
            ),
            (
                "std::__1::reverse_iterator<std::__1::__map_const_iterator<std::__1::__tree_const_iterator<std::__1::__value_type<int, char>, std::__1::__tree_node<std::__1::__value_type<int, char>, void *> *, long> > >",
                "std::map<int, char>::const_reverse_iterator",
            ),
            (
                "std::_Deque_iterator<int, int const&, int const*>",
                "std::deque<int>::const_iterator",
            ),
            ("std::_Bit_iterator", "std::vector<bool>::iterator"),
            (
                "std::_Rb_tree_const_iterator<std::pair<int const, std::vector<char, std::allocator<char> > > >",
                "std::map<int, std::vector<char>>::const_iterator",
            ),
            (
                "std::_Rb_tree_const_iterator<int>",
                "std::set<int>::iterator",
            ),
            (
                "std::__detail::_Node_iterator<std::pair<const int, char>, false, false>",
                "std::unordered_map<int, char>::iterator",
            ),
            (
                "std::__detail::_Node_const_iterator<int, true, false>",
                "std::unordered_set<int>::const_iterator",
            ),
            (
                "std::vector<std::chrono::duration<long, std::ratio<1, 1000> >, std::allocator<int> >",
                "std::vector<std::chrono::milliseconds>",
            ),
            (
                "std::_Bind<int (*(int, std::_Placeholder<1>))(int, int)>",
                "std::_Bind<int (*(int, std::_Placeholder<1>))(int, int)>",
            ),
            (
                "std::__cxx11::basic_ostringstream<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >",
                "std::wostringstream",
            ),
            (
                "std::basic_string_view<char16_t, std::char_traits<char16_t> >",
                "std::u16string_view",
            ),
            (
                "std::chrono::duration<double, std::ratio<1L, 1L> >",
                "std::chrono::duration<double>",
            ),
            (
                "std::chrono::_V2::system_clock",
                "std::chrono::system_clock",
            ),
        ] {
            assert_eq!(shorten(long, Language::Cpp), short);
        }
    }

    #[test]
    fn arguments_are_told_apart() {
        for (name, expected) in [
            ("std::pair<int, f(a, b)>", &["int", "f(a, b)"][..]),
            (
                "_Handler<int(int), main()::<lambda(int)> >::call",
                &["int(int)", "main()::<lambda(int)>"],
            ),
            ("span<int, 3>", &["int", "3"]),
            ("plain", &[]),
            ("broken<a", &[]),
        ] {
            assert_eq!(arguments(name), expected, "{name}");
        }
    }

    #[test]
    fn broken_names_are_left_alone() {
        for name in [
            "",
            "<",
            ">",
            "a<",
            "a<b",
            "<>>",
            "a<(>",
            "é<ü>",
            "std::_List_iterator<",
        ] {
            let _ = shorten(name, Language::Rust);
            let _ = shorten(name, Language::Cpp);
        }
        for part in ["a<", "(", "a<b>::", "<a as ", "std::_List_iterator<"] {
            let _ = shorten(&part.repeat(MAX_NAME / part.len()), Language::Rust);
            let _ = shorten(&part.repeat(MAX_NAME), Language::Cpp);
        }
        assert_eq!(shorten("a<b", Language::Cpp), "a<b");
        assert_eq!(base_name("<impl X>"), "<impl X>");
    }
}
