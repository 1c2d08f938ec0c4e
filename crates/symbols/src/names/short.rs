//! Shortens names for display.
//!
//! Only what can be restored with certainty is left out: default arguments of the standard libraries' own templates,
//! according to the standards, and inline namespaces. Templates of the user keep their arguments.

use super::parts::{group_end, operator_length, split_arguments};

/// Arguments that are nested more deeply keep their default arguments.
const NESTING_LIMIT: usize = 32;

/// How much a name is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Makes only white space uniform.
    Plain,
    /// Also omits default arguments and inline namespaces.
    WithoutDefaults,
    /// Also writes `std::basic_string<char>` as `std::string`, and the like.
    Short,
}

/// The short form of a function's or type's name: without the default arguments of standard containers
/// (`std::vector<int>`, `alloc::vec::Vec<i32>`), without the inline namespaces of C++ libraries, and with aliases such as
/// `std::string` for the types they stand for.
pub fn short_name(name: &str) -> String {
    in_form(name, Form::Short)
}

pub(crate) fn in_form(name: &str, form: Form) -> String {
    rewrite(name, form, 0)
}

fn rewrite(name: &str, form: Form, depth: usize) -> String {
    let bytes = name.as_bytes();
    let mut out = String::with_capacity(name.len());
    // The position in `out` at which the path being copied starts.
    let mut path = 0;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &name[at..];
        if is_start_of_word(bytes, at)
            && let Some(length) = operator_length(rest)
        {
            out.push_str(&rest[..length]);
            at += length;
            continue;
        }
        match bytes[at] {
            b'<' if depth < NESTING_LIMIT => {
                let end = group_end(bytes, at);
                let Some(inside) = name[at + 1..end].strip_suffix('>') else {
                    out.push_str(rest);
                    break;
                };
                let arguments = arguments(&out[path..], inside, form, depth);
                // After an operator such as `<<`, the bracket would read as part of the operator.
                if out.ends_with(['<', '>', '-']) && out[path..].contains("operator") {
                    out.push(' ');
                }
                write_arguments(&mut out, path, arguments, form);
                at = end;
            }
            b' ' => {
                let next = rest.trim_start().chars().next();
                // `<Vec<i32> as Clone>`, `<impl From<u8> for Vec<i32>>`
                let behind = rest.trim_start();
                let is_cast = ["as ", "for "].iter().any(|word| behind.starts_with(word))
                    && out.ends_with(['>', ']', ')', '}']);
                let between_words = next.is_some_and(is_word) && out.ends_with(is_word) || is_cast;
                let after_comma = out.ends_with(',');
                let around_arrow = out.ends_with("->") || rest.trim_start().starts_with("->");
                // Other spaces, as that before `&` in `const Shape &`, have no meaning and are left out.
                if between_words || ((after_comma || around_arrow) && next.is_some()) {
                    out.push(' ');
                }
                if between_words || after_comma {
                    path = out.len();
                }
                at += rest.len() - rest.trim_start_matches(' ').len();
            }
            _ => {
                let Some(character) = rest.chars().next() else {
                    break;
                };
                out.push(character);
                at += character.len_utf8();
                if !is_word(character) && !matches!(character, ':' | '>') {
                    path = out.len();
                    if character == ',' && !name[at..].starts_with(' ') && at < name.len() {
                        out.push(' ');
                        path = out.len();
                    }
                } else if form != Form::Plain && out.ends_with("::") {
                    drop_inline_namespace(&mut out, path);
                }
            }
        }
    }
    out
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '~' | '$')
}

fn is_start_of_word(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'o'
        && at
            .checked_sub(1)
            .is_none_or(|before| !bytes[before].is_ascii_alphanumeric() && bytes[before] != b'_')
}

/// `std::__cxx11::` → `std::`. libstdc++'s and libc++'s versioning namespaces are inline (C++20 §9.8.2).
fn drop_inline_namespace(out: &mut String, path: usize) {
    for inline in ["__cxx11::", "__1::", "_V2::"] {
        if out[path..].starts_with("std::") && out[path..].ends_with(inline) {
            out.truncate(out.len() - inline.len());
        }
    }
}

fn arguments(path: &str, inside: &str, form: Form, depth: usize) -> Vec<String> {
    let mut arguments: Vec<String> = split_arguments(inside)
        .into_iter()
        .map(|argument| rewrite(argument, form, depth + 1))
        .collect();
    if form != Form::Plain {
        while arguments.len() > 1 && last_is_default(path, &arguments) {
            arguments.pop();
        }
    }
    arguments
}

/// Whether the last argument is the template's default. Default arguments behind it are removed already.
fn last_is_default(path: &str, arguments: &[String]) -> bool {
    let (Some(first), Some(last)) = (arguments.first(), arguments.last()) else {
        return false;
    };
    let of = |template: &str, argument: &str| *last == format!("std::{template}<{argument}>");
    let number = arguments.len() - 1;
    let Some(name) = path.strip_prefix("std::") else {
        let in_alloc = path.starts_with("alloc::") && last == "alloc::alloc::Global";
        return in_alloc;
    };
    match (name, number) {
        ("vector" | "deque" | "list" | "forward_list", 1) => of("allocator", first),
        ("set" | "multiset" | "map" | "multimap" | "priority_queue", _) if of("less", first) => {
            number
                == if name.ends_with("map") || name == "priority_queue" {
                    2
                } else {
                    1
                }
        }
        ("set" | "multiset", 2) => of("allocator", first),
        ("map" | "multimap", 3) | ("unordered_map" | "unordered_multimap", 4) => {
            let value = &arguments[1];
            of("allocator", &format!("std::pair<const {first}, {value}>"))
                || of("allocator", &format!("std::pair<{first} const, {value}>"))
        }
        ("unordered_set" | "unordered_multiset", 1)
        | ("unordered_map" | "unordered_multimap", 2) => of("hash", first),
        ("unordered_set" | "unordered_multiset", 2)
        | ("unordered_map" | "unordered_multimap", 3) => of("equal_to", first),
        ("unordered_set" | "unordered_multiset", 3) | ("basic_string", 2) => of("allocator", first),
        (
            "basic_string" | "basic_string_view" | "basic_ostream" | "basic_istream"
            | "basic_iostream" | "basic_ios" | "basic_streambuf" | "basic_filebuf"
            | "basic_ofstream" | "basic_ifstream" | "basic_fstream",
            1,
        ) => of("char_traits", first),
        (
            "basic_stringstream"
            | "basic_ostringstream"
            | "basic_istringstream"
            | "basic_stringbuf",
            1,
        ) => of("char_traits", first),
        (
            "basic_stringstream"
            | "basic_ostringstream"
            | "basic_istringstream"
            | "basic_stringbuf",
            2,
        ) => of("allocator", first),
        ("unique_ptr", 1) => of("default_delete", first),
        ("stack" | "queue", 1) => of("deque", first),
        ("priority_queue", 1) => of("vector", first),
        // Rust's `std`.
        ("collections::hash::map::HashMap", 2) | ("collections::hash::set::HashSet", 1) => {
            last == "std::hash::random::RandomState"
        }
        _ => false,
    }
}

fn write_arguments(out: &mut String, path: usize, arguments: Vec<String>, form: Form) {
    if form == Form::Short
        && let [character] = arguments.as_slice()
        && character == "char"
        && let Some(name) = out[path..].strip_prefix("std::basic_")
    {
        // The aliases that <string>, <string_view> and <iosfwd> define.
        let name = name.to_owned();
        out.truncate(path);
        out.push_str("std::");
        out.push_str(&name);
        return;
    }
    out.push('<');
    out.push_str(&arguments.join(", "));
    out.push('>');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_arguments_of_the_standard_library_are_left_out() {
        let cases = [
            (
                "std::vector<int, std::allocator<int> >::push_back",
                "std::vector<int>::push_back",
            ),
            (
                "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, \
                 std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, \
                 std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, int> > >::at",
                "std::map<std::string, int>::at",
            ),
            (
                "std::unordered_map<int, long, std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, long> > >",
                "std::unordered_map<int, long>",
            ),
            (
                "std::unique_ptr<A, std::default_delete<A> >",
                "std::unique_ptr<A>",
            ),
            (
                "alloc::vec::Vec<i32, alloc::alloc::Global>::push",
                "alloc::vec::Vec<i32>::push",
            ),
            (
                "const std::vector<long, std::allocator<long> > &",
                "const std::vector<long>&",
            ),
        ];
        for (full, expected) in cases {
            assert_eq!(short_name(full), expected, "{full}");
        }
    }

    #[test]
    fn what_is_not_certain_stays() {
        let cases = [
            "mine::vector<int, std::allocator<int>>",
            "std::vector<int, std::allocator<long>>",
            "std::vector<int, mine::Arena<int>>",
            "ns::operator<",
            "ns::operator<< <char>",
            "tour::Pool<i32, alloc::alloc::Global>",
            "run<fn(i32) -> i32>",
            "broken<int",
            "tour::main::{closure#0}",
            "area(int, const char*)",
        ];
        for name in cases {
            assert_eq!(short_name(name), name);
        }
    }
}
