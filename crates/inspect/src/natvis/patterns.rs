//! Matches type names against patterns, in which `*` stands for any argument.
//!
//! A name is a path of parts, each with its arguments: `ns::Map<int, ns::List<*> >::node`. Compilers write the same type
//! differently (`long unsigned int`, `3UL`, `> >`, `std::__1::`), and a Natvis file may use Microsoft's names for Rust's types
//! (`tuple$<i32,u8>`). So names and patterns are both normalized, and compared part by part. A `*` at the end of a list stands for all
//! remaining arguments.

/// The deepest nesting of arguments.
const MAX_DEPTH: usize = 32;
/// The longest type name, in bytes.
const MAX_NAME: usize = 16 << 10;

/// A pattern for type names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    name: Name,
}

/// A type's name, split into parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    parts: Vec<Part>,
    /// The normalized suffix: `*`, `const`, `[4]`.
    behind: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    name: String,
    arguments: Option<Vec<Argument>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Argument {
    /// The text as written.
    text: String,
    name: Name,
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(crate) fn new(text: &str) -> Result<Pattern, String> {
        if text.trim().is_empty() {
            return Err("a type's name was expected".to_owned());
        }
        let name = Name::new(text).ok_or_else(|| format!("`{text}` is no type's name"))?;
        Ok(Pattern { name })
    }

    /// The texts that the pattern's `*`s match in a type's name; empty for a pattern that is just `*`. `None`: the name doesn't match.
    pub(crate) fn captures(&self, name: &Name) -> Option<Vec<String>> {
        let mut captures = Vec::new();
        let is_any = |part: &[Part]| matches!(part, [only] if only.name == "*");
        if is_any(&self.name.parts) {
            return Some(captures);
        }
        matches(&self.name, name, &mut captures).then_some(captures)
    }

    /// Whether the pattern has no `*`, so that it matches only one type.
    pub(crate) fn is_exact(&self) -> bool {
        !self.name.has_any()
    }
}

impl Name {
    /// Splits a name. `None`: its form is not known.
    pub(crate) fn new(text: &str) -> Option<Name> {
        if text.len() > MAX_NAME {
            return None;
        }
        cut(text, 0)
    }

    fn has_any(&self) -> bool {
        self.parts.iter().any(|part| {
            let arguments = part.arguments.iter().flatten();
            part.name == "*"
                || arguments
                    .into_iter()
                    .any(|argument| argument.name.has_any())
        })
    }

    fn simple(name: &str) -> Name {
        Name {
            parts: vec![Part {
                name: name.to_owned(),
                arguments: None,
            }],
            behind: String::new(),
        }
    }

    /// A name with arguments, as Microsoft's debug information writes Rust types: `tuple$<A,B>`.
    fn made(name: &str, arguments: Vec<Argument>) -> Name {
        Name {
            parts: vec![Part {
                name: name.to_owned(),
                arguments: Some(arguments),
            }],
            behind: String::new(),
        }
    }
}

fn matches(pattern: &Name, name: &Name, captures: &mut Vec<String>) -> bool {
    if pattern.behind != name.behind {
        return false;
    }
    // Patterns usually leave out the inline namespaces of a library's versions.
    let is_versions = |part: &&Part| {
        let inline = ["__1", "__cxx11", "__ndk1", "_V2", "__debug", "__cxx1998"];
        part.arguments.is_none() && inline.contains(&part.name.as_str())
    };
    let mut parts = name.parts.iter();
    for wanted in &pattern.parts {
        let found = loop {
            match parts.next() {
                Some(part) if is_versions(&part) && part.name != wanted.name => {}
                Some(part) => break part,
                None => return false,
            }
        };
        if wanted.name != found.name {
            return false;
        }
        match (&wanted.arguments, &found.arguments) {
            (None, None) => {}
            (Some(wanted), Some(found)) => {
                if !arguments_match(wanted, found, captures) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    parts.next().is_none()
}

fn arguments_match(wanted: &[Argument], found: &[Argument], captures: &mut Vec<String>) -> bool {
    for (position, argument) in wanted.iter().enumerate() {
        let is_any = argument.text == "*";
        if is_any && position + 1 == wanted.len() {
            // A `*` at the end stands for all remaining arguments, also for none.
            let rest = found.get(position..).unwrap_or_default();
            captures.extend(rest.iter().map(|argument| argument.text.clone()));
            return position <= found.len();
        }
        let Some(found) = found.get(position) else {
            return false;
        };
        if is_any {
            captures.push(found.text.clone());
        } else if !matches(&argument.name, &found.name, captures) {
            return false;
        }
    }
    wanted.len() == found.len()
}

fn cut(text: &str, depth: usize) -> Option<Name> {
    if depth > MAX_DEPTH {
        return None;
    }
    let text = text.trim();
    if let Some(name) = cut_rust(text, depth) {
        return Some(name);
    }
    let text = ["class ", "struct ", "enum ", "union ", "typename "]
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .unwrap_or(text);
    let (text, behind) = cut_behind(text);
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let (part, after) = cut_part(rest, depth)?;
        parts.push(part);
        match after.strip_prefix("::") {
            Some(after) => rest = after,
            None if after.trim().is_empty() => break,
            None => return None,
        }
    }
    let mut name = Name { parts, behind };
    // Microsoft's name for a Rust enum wraps the enum's own name.
    if let [
        Part {
            name: outer,
            arguments: Some(arguments),
        },
    ] = &name.parts[..]
        && outer == "enum2$"
        && let [only] = &arguments[..]
    {
        name = only.name.clone();
    }
    Some(name)
}

/// Cuts `*`, `&`, array bounds and qualifiers off a type's end, and `const` off its start.
fn cut_behind(text: &str) -> (&str, String) {
    let mut rest = text.trim();
    let mut behind: Vec<String> = Vec::new();
    let is_only_star = |rest: &str| rest == "*";
    loop {
        if is_only_star(rest) {
            break;
        }
        if let Some(before) = rest.strip_suffix(['*', '&']) {
            behind.push(rest[before.len()..].to_owned());
            rest = before.trim_end();
        } else if let Some(before) = rest.strip_suffix(" const") {
            behind.push(" const".to_owned());
            rest = before.trim_end();
        } else if let Some(open) = rest.strip_suffix(']').and_then(|_| rest.rfind('[')) {
            behind.push(plain_number(&rest[open + 1..rest.len() - 1], "[", "]"));
            rest = rest[..open].trim_end();
        } else {
            break;
        }
    }
    if let Some(after) = rest.strip_prefix("const ") {
        behind.push(" const".to_owned());
        rest = after.trim_start();
    }
    behind.reverse();
    (rest, behind.concat())
}

fn plain_number(text: &str, open: &str, close: &str) -> String {
    format!("{open}{}{close}", plain(text))
}

/// Normalizes what compilers spell differently.
fn plain(text: &str) -> String {
    let text = text.trim();
    let text = match text {
        "`anonymous namespace'" | "`anonymous-namespace'" | "{anonymous}" => {
            "(anonymous namespace)"
        }
        text => text,
    };
    // clang writes the type of a number that isn't an `int`: `(unsigned short)6`.
    let cast = text.strip_prefix('(').and_then(|text| text.split_once(')'));
    let text = match cast {
        Some((_, number)) if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => number,
        _ => text,
    };
    let is_number = text
        .strip_prefix('-')
        .unwrap_or(text)
        .starts_with(|c: char| c.is_ascii_digit());
    if is_number {
        return text.trim_end_matches(['u', 'U', 'l', 'L']).to_owned();
    }
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let counts = |word: &str| words.iter().filter(|known| **known == word).count();
    let longs = counts("long");
    let is_integer = words
        .iter()
        .all(|word| ["long", "int", "unsigned", "signed", "short", "char"].contains(word));
    if is_integer && !words.is_empty() {
        let has = |word: &str| words.contains(&word);
        let mut name = Vec::new();
        if has("unsigned") {
            name.push("unsigned");
        }
        if has("signed") && has("char") {
            name.push("signed");
        }
        name.extend(match () {
            () if has("char") => vec!["char"],
            () if has("short") => vec!["short"],
            () if longs > 0 => vec!["long"; longs],
            () => vec!["int"],
        });
        return name.join(" ");
    }
    match words[..] {
        ["__int64"] => return "long".to_owned(),
        ["unsigned", "__int64"] => return "unsigned long".to_owned(),
        _ => {}
    }
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

/// The first part of a path with its arguments, and the text after it.
fn cut_part(text: &str, depth: usize) -> Option<(Part, &str)> {
    let mut nesting = 0i32;
    let mut end = text.len();
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' | '`' => nesting += 1,
            ')' | '}' | ']' | '\'' => nesting -= 1,
            '<' if nesting == 0 => {
                end = at;
                break;
            }
            ':' if nesting == 0 && previous != ':' && text[at..].starts_with("::") => {
                return Some((part(&text[..at], None), &text[at..]));
            }
            _ => {}
        }
        previous = c;
    }
    let (name, rest) = text.split_at(end);
    if rest.is_empty() {
        return Some((part(name, None), ""));
    }
    let (arguments, behind) = list(rest, '<', '>', depth)?;
    Some((part(name, Some(arguments)), behind))
}

fn part(name: &str, arguments: Option<Vec<Argument>>) -> Part {
    Part {
        name: plain(name),
        arguments,
    }
}

/// The list in the brackets that a text begins with, and the text after it.
fn list(text: &str, open: char, close: char, depth: usize) -> Option<(Vec<Argument>, &str)> {
    let mut nesting = 0i32;
    let mut start = open.len_utf8();
    let mut found = Vec::new();
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '>' if previous == '-' || previous == '=' => {}
            '<' | '(' | '[' | '{' => nesting += 1,
            '>' | ')' | ']' | '}' => {
                nesting -= 1;
                if nesting == 0 {
                    let last = text.get(start..at)?.trim();
                    if !last.is_empty() {
                        found.push(argument(last, depth)?);
                    }
                    return (c == close).then_some((found, &text[at + c.len_utf8()..]));
                }
            }
            ',' if nesting == 1 => {
                let one = text.get(start..at)?.trim();
                if !one.is_empty() {
                    found.push(argument(one, depth)?);
                }
                start = at + 1;
            }
            _ => {}
        }
        previous = c;
    }
    None
}

fn argument(text: &str, depth: usize) -> Option<Argument> {
    Some(Argument {
        // A text whose form is not known is compared literally.
        name: cut(text, depth + 1).unwrap_or_else(|| Name::simple(&text.replace(' ', ""))),
        text: text.to_owned(),
    })
}

/// Rust's built-in types under their names in Microsoft's debug information, which Natvis files use.
fn cut_rust(text: &str, depth: usize) -> Option<Name> {
    let of = |name: &str, inner: &str| Some(Name::made(name, vec![argument(inner.trim(), depth)?]));
    if let Some(inner) = text.strip_prefix('&') {
        return match inner.strip_prefix("mut ") {
            Some(inner) => of("ref_mut$", inner),
            None => of("ref$", inner),
        };
    }
    if let Some(inner) = text.strip_prefix("*const ") {
        return of("ptr_const$", inner);
    }
    if let Some(inner) = text.strip_prefix("*mut ") {
        return of("ptr_mut$", inner);
    }
    if text == "str" {
        return Some(Name::simple("str$"));
    }
    if text.starts_with('(') && text.ends_with(')') {
        let (arguments, behind) = list(text, '(', ')', depth)?;
        return behind.is_empty().then(|| Name::made("tuple$", arguments));
    }
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    match inner.rsplit_once(';') {
        Some((element, length)) => Some(Name::made(
            "array$",
            vec![
                argument(element.trim(), depth)?,
                argument(length.trim(), depth)?,
            ],
        )),
        None => of("slice2$", inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captures(pattern: &str, name: &str) -> Option<Vec<String>> {
        let pattern = Pattern::new(pattern).expect("a pattern");
        pattern.captures(&Name::new(name).expect("a name"))
    }

    #[test]
    fn names_are_compared_part_by_part() {
        for (pattern, name, expected) in [
            ("Point", "Point", Some(&[][..])),
            ("Point", "ns::Point", None),
            ("ns::Point", "ns::Point", Some(&[])),
            ("Foo<*>", "Foo<int, char>", Some(&["int", "char"])),
            (
                "Foo<*,*>",
                "Foo<int, std::pair<int, char> >",
                Some(&["int", "std::pair<int, char>"]),
            ),
            ("Foo<*,*>", "Foo<int>", Some(&["int"])),
            ("Foo<*>", "Foo", None),
            ("Foo", "Foo<int>", None),
            ("Foo<bool,*>", "Foo<bool, A<bool> >", Some(&["A<bool>"])),
            ("Foo<bool,*>", "Foo<int, A>", None),
            ("Foo<Bar<*>,*>", "Foo<Bar<int>, 3UL>", Some(&["int", "3UL"])),
            ("Matrix<*,3,4>", "Matrix<double, 3UL, 4>", Some(&["double"])),
            ("Foo<unsigned __int64>", "Foo<long unsigned int>", Some(&[])),
            ("Foo<unsigned int>", "Foo<unsigned int>", Some(&[])),
            (
                "std::vector<*>",
                "std::__1::vector<int, std::__1::allocator<int> >",
                Some(&["int", "std::__1::allocator<int>"]),
            ),
            ("Foo<6,true>", "Foo<(unsigned short)6, true>", Some(&[])),
            ("Foo<int *>", "Foo<int*>", Some(&[])),
            ("Foo<const char *>", "Foo<char const*>", Some(&[])),
            ("Foo<const char *>", "Foo<char*>", None),
            ("Outer<*>::Inner", "Outer<int>::Inner", Some(&["int"])),
            ("Outer<*>::Inner", "Outer<int>::Inner<int>", None),
            ("*", "anything<at, all>", Some(&[])),
            (
                "(anonymous namespace)::Foo",
                "(anonymous namespace)::Foo",
                Some(&[]),
            ),
            ("class ns::Foo", "ns::Foo", Some(&[])),
            // Rust types, under Microsoft's names.
            (
                "tuple$<*,*>",
                "(i32, alloc::vec::Vec<u8, alloc::alloc::Global>)",
                Some(&["i32", "alloc::vec::Vec<u8, alloc::alloc::Global>"]),
            ),
            ("enum2$<app::Shape>", "app::Shape", Some(&[])),
            (
                "enum2$<core::option::Option<*>>",
                "core::option::Option<i32>",
                Some(&["i32"]),
            ),
            (
                "app::Stack<ref$<str$>,*>",
                "app::Stack<&str, 4>",
                Some(&["4"]),
            ),
            ("app::Stack<array$<u8,4>>", "app::Stack<[u8; 4]>", Some(&[])),
            ("app::Stack<slice2$<*>>", "app::Stack<[u8]>", Some(&["u8"])),
        ] {
            let expected = expected.map(|all| all.iter().map(|one| (*one).to_owned()).collect());
            assert_eq!(captures(pattern, name), expected, "{pattern} of {name}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["", "  ", "Foo<", "Foo<*", "Foo<(>"] {
            assert!(Pattern::new(text).is_err(), "{text}");
        }
        assert!(Name::new(&"a<".repeat(MAX_NAME)).is_none());
        let deep = format!("{}{}", "a<".repeat(1000), ">".repeat(1000));
        let _ = Name::new(&deep);
    }

    proptest! {
        #[test]
        fn no_name_is_too_odd(text in "[a<>:,*&()\\[\\]{}$ `'0-9;é-]{0,40}") {
            if let (Ok(pattern), Some(name)) = (Pattern::new(&text), Name::new(&text)) {
                let _ = pattern.captures(&name);
            }
        }
    }
}
