//! What a user means by a name, and which full names that is.

use super::parts::{Part, parts, split_arguments};
use super::short::{Form, in_form};

/// Names longer than this are nobody's.
const LONGEST: usize = 16 * 1024;

/// A name as a user writes it.
///
/// - It is a full path or the end of one, cut at `::`: `parse`, `orders::parse`, `Vec::push`. With `::` in front it
///   is the full path and nothing else.
/// - Generic and template arguments count where they are written: `max` is every `max<T>`, `max<int>` only that. Those
///   that the standard libraries have by default can be left out: `std::vector<int>::push_back`.
/// - So do a C++ function's parameters: `area` is every overload, `area(int)` one.
/// - `*` stands for any text inside a component, `**` for any components: `orders::*`, `orders::**`, `*_test`.
/// - A method of a Rust trait is found by the type that has it: `Shape::fmt`. In full, it is
///   `<tour::Shape as core::fmt::Display>::fmt`.
/// - C's `struct`, `union`, `enum` and C++'s `class` may stand in front of a type.
#[derive(Debug, Clone)]
pub struct NamePattern {
    text: String,
    anchored: bool,
    /// The pattern as written, and without arguments that are defaults.
    forms: Vec<Vec<Wanted>>,
    parameters: Option<String>,
}

/// A component of a pattern.
#[derive(Debug, Clone)]
struct Wanted {
    base: String,
    glob: bool,
    arguments: Option<String>,
}

impl NamePattern {
    /// Reads what a user wrote. Any text is a pattern; an empty one finds nothing.
    pub fn new(text: &str) -> NamePattern {
        let text = text.trim();
        let mut name = text;
        for keyword in ["struct ", "class ", "union ", "enum "] {
            name = name.strip_prefix(keyword).unwrap_or(name).trim_start();
        }
        let anchored = name.starts_with("::");
        name = name.trim_start_matches("::");
        if name.len() > LONGEST {
            name = "";
        }
        let mut parameters = None;
        let forms = [Form::Plain, Form::WithoutDefaults].map(|form| {
            let name = in_form(name, form);
            let mut parts = parts(&name);
            // `<T as Trait>::method` is compared as such, `<T>::method` is `T::method`.
            if let Some(inside) = inherent(&parts) {
                parts.splice(..1, inside);
            }
            if let Some(last) = parts.last() {
                parameters = last.parameters.map(canonical_parameters);
            }
            parts.iter().map(Wanted::new).collect()
        });
        NamePattern {
            text: text.to_owned(),
            anchored,
            forms: forms.into(),
            parameters,
        }
    }

    /// As it was written, without white space around it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Why it can't be anything's name, in a sentence: nothing is written, or a bracket has no partner. What has no
    /// such problem may still be nobody's name.
    pub fn problem(&self) -> Option<String> {
        if self.base().is_empty() {
            return Some(match self.text.is_empty() {
                true => "the name is empty".to_owned(),
                false => "that can't be a name".to_owned(),
            });
        }
        // Operators are made of brackets.
        if self.text.contains("operator") {
            return None;
        }
        let mut open = Vec::new();
        let mut before = ' ';
        for character in self.text.chars() {
            match character {
                '(' | '[' | '{' | '<' => open.push(character),
                // `fn(i32) -> i32`
                '>' if before == '-' => {}
                ')' | ']' | '}' | '>' if open.pop() != partner(character) => {
                    return Some(format!("`{character}` closes nothing in {}", self.shown()));
                }
                _ => {}
            }
            before = character;
        }
        let open = open.pop()?;
        Some(format!("`{open}` is not closed in {}", self.shown()))
    }

    /// As it was written, for a message: the start of a long one.
    pub fn shown(&self) -> String {
        /// More says no more.
        const SHOWN: usize = 200;
        match self.text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &self.text[..end]),
            None => self.text.clone(),
        }
    }

    /// The same name with any parameters; `None` where none are written.
    pub fn without_parameters(&self) -> Option<NamePattern> {
        let parameters = self.parameters.as_ref().map(|_| None)?;
        Some(NamePattern {
            parameters,
            ..self.clone()
        })
    }

    /// The last component, by which names are looked up.
    pub(crate) fn base(&self) -> &str {
        self.last().map_or("", |wanted| &wanted.base)
    }

    /// Whether its last component stands for several.
    pub(crate) fn has_glob_base(&self) -> bool {
        self.last().is_some_and(|wanted| wanted.glob)
    }

    fn last(&self) -> Option<&Wanted> {
        self.forms.first()?.last()
    }

    /// Whether a name whose last component is `base` may be meant.
    pub(crate) fn takes_base(&self, base: &str) -> bool {
        !self.base().is_empty() && self.last().is_some_and(|wanted| wanted.takes_base(base))
    }

    /// The parameter list that was written, without the parentheses and made uniform.
    pub(crate) fn parameters(&self) -> Option<&str> {
        self.parameters.as_deref()
    }

    /// Whether the full name is meant; parameters are not looked at.
    pub fn matches(&self, full: &str) -> bool {
        if self.base().is_empty() || full.len() > LONGEST {
            return false;
        }
        // Most names have nothing to be brought into form.
        let simple = !full.contains(['<', ' ']) && !full.contains("std::");
        let forms = [Form::Plain, Form::WithoutDefaults, Form::Short];
        let forms = &forms[..if simple { 1 } else { 3 }];
        forms.iter().any(|&form| {
            let full = in_form(full, form);
            let parts = parts(&full);
            let matches = |parts: &[Part]| self.forms.iter().any(|wanted| self.ends(wanted, parts));
            matches(&parts)
                || subject(&parts).is_some_and(|parts| matches(&parts))
                || without_anonymous(&parts).is_some_and(|parts| matches(&parts))
        })
    }

    /// As [`NamePattern::matches`] for a Rust function whose path has its generic parameters (`alloc::vec::Vec<T,A>::push`)
    /// and whose own name has its arguments, first those of the implementation (`push<i32, alloc::alloc::Global>`).
    pub(crate) fn matches_instance(&self, path: &str, own: &str) -> bool {
        let Some(wanted) = self.forms.first() else {
            return false;
        };
        let written: Vec<&str> = wanted
            .iter()
            .filter_map(|wanted| wanted.arguments.as_deref())
            .collect();
        if written.is_empty() {
            return false;
        }
        let own = in_form(own, Form::Plain);
        let arguments = parts(&own).last().and_then(|part| part.arguments);
        let arguments = arguments.map(split_arguments).unwrap_or_default();
        let written: Vec<String> = split_arguments(&written.join(", "))
            .into_iter()
            .map(str::to_owned)
            .collect();
        let begins = written.len() <= arguments.len()
            && written.iter().zip(&arguments).all(|(written, argument)| {
                let plain = NamePattern::new(written);
                plain.matches(argument)
            });
        let mut bare = self.clone();
        for wanted in bare.forms.iter_mut().flatten() {
            wanted.arguments = None;
        }
        begins && bare.matches(path)
    }

    /// Whether the function whose parameters these are is meant.
    pub(crate) fn takes_parameters(&self, parameters: &str) -> bool {
        self.parameters
            .as_ref()
            .is_none_or(|wanted| *wanted == canonical_parameters(parameters))
    }

    fn ends(&self, wanted: &[Wanted], parts: &[Part<'_>]) -> bool {
        (0..parts.len())
            .take(if self.anchored { 1 } else { usize::MAX })
            .any(|start| is_all(wanted, &parts[start..]))
    }
}

/// Whether the components stand for exactly these parts.
fn is_all(wanted: &[Wanted], parts: &[Part<'_>]) -> bool {
    // As with `*` in text: on a difference, only the last `**` needs to be tried again with one part more.
    let (mut w, mut p) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while p < parts.len() {
        match wanted.get(w) {
            Some(any) if any.base == "**" => {
                again = Some((w, p));
                w += 1;
                // It stands for one part at least.
                p += 1;
            }
            Some(one) if one.takes(&parts[p]) => {
                w += 1;
                p += 1;
            }
            _ => match &mut again {
                Some((any, taken)) => {
                    *taken += 1;
                    (w, p) = (*any + 1, *taken + 1);
                }
                None => return false,
            },
        }
    }
    w == wanted.len()
}

impl Wanted {
    fn new(part: &Part<'_>) -> Wanted {
        Wanted {
            // `operator*` is one function.
            glob: part.base.contains('*') && !part.base.starts_with("operator"),
            base: part.base.to_owned(),
            arguments: part.arguments.map(str::to_owned),
        }
    }

    fn takes(&self, part: &Part<'_>) -> bool {
        let arguments = match (&self.arguments, part.arguments) {
            (None, _) => true,
            (Some(wanted), Some(arguments)) => same_literals(wanted, arguments),
            (Some(_), None) => false,
        };
        arguments && self.takes_base(part.base)
    }

    fn takes_base(&self, base: &str) -> bool {
        match self.glob {
            true => glob(self.base.as_bytes(), base.as_bytes()),
            false => self.base == base,
        }
    }
}

/// Whether arguments are the same; compilers differ in how they write `3`: `3u`, `3ul`, `(char)3`.
fn same_literals(wanted: &str, arguments: &str) -> bool {
    wanted == arguments || without_suffixes(wanted) == without_suffixes(arguments)
}

/// Numbers without the suffix that says their type.
fn without_suffixes(arguments: &str) -> String {
    let mut out = String::with_capacity(arguments.len());
    let mut in_number = false;
    let mut in_word = false;
    for character in arguments.chars() {
        if in_number && matches!(character, 'u' | 'l' | 'U' | 'L') {
            continue;
        }
        in_number = character.is_ascii_digit() && (in_number || !in_word);
        in_word = character.is_alphanumeric() || character == '_';
        out.push(character);
    }
    out
}

fn partner(closing: char) -> Option<char> {
    match closing {
        ')' => Some('('),
        ']' => Some('['),
        '}' => Some('{'),
        '>' => Some('<'),
        _ => None,
    }
}

/// Whether `pattern`, in which `*` stands for any text, is all of `text`.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                again = Some((p, t));
                p += 1;
            }
            Some(&byte) if byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match &mut again {
                Some((star, taken)) => {
                    *taken += 1;
                    (p, t) = (*star + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// `<T>::method` as `T::method`.
fn inherent<'n>(parts: &[Part<'n>]) -> Option<Vec<Part<'n>>> {
    let inside = inside_of(parts.first()?)?;
    (parts.len() > 1 && !inside.contains(" as ")).then(|| self::parts(inside))
}

/// The same path by the type that an implementation is for: `<tour::Shape as core::fmt::Display>::fmt` as
/// `tour::Shape::fmt`, `alloc::vec::<impl core::fmt::Debug for tour::Shape>::fmt`, too.
fn subject<'n>(found: &[Part<'n>]) -> Option<Vec<Part<'n>>> {
    let at = found
        .iter()
        .position(|part| inside_of(part).is_some_and(|inside| !inside.starts_with("lambda")))?;
    let inside = inside_of(&found[at])?;
    let inside = match inside.strip_prefix("impl ") {
        Some(implementation) => {
            let subject = implementation.rsplit_once(" for ");
            subject.map_or(implementation, |(_, subject)| subject)
        }
        None if at > 0 => return None,
        None => split_as(inside),
    };
    let mut all = parts(inside);
    all.extend_from_slice(&found[at + 1..]);
    Some(all)
}

/// Without C++'s unnamed namespaces, whose members are written as if they were around them.
fn without_anonymous<'n>(found: &[Part<'n>]) -> Option<Vec<Part<'n>>> {
    let anonymous = |part: &&Part| part.base == "(anonymous namespace)";
    found.iter().any(|part| anonymous(&part)).then(|| {
        let named = found.iter().filter(|part| !anonymous(part));
        named.copied().collect()
    })
}

fn inside_of<'n>(part: &Part<'n>) -> Option<&'n str> {
    part.base.strip_prefix('<')?.strip_suffix('>')
}

/// What is in front of the ` as ` that is outside of all brackets.
fn split_as(inside: &str) -> &str {
    let mut depth = 0usize;
    let bytes = inside.as_bytes();
    for at in 0..bytes.len() {
        match bytes[at] {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && bytes[at..].starts_with(b" as ") => return &inside[..at],
            _ => {}
        }
    }
    inside
}

/// A list of parameter types as it is compared: short, `(void)` empty, `const` in front of what it qualifies.
fn canonical_parameters(parameters: &str) -> String {
    let parameters = in_form(parameters, Form::Short);
    if parameters == "void" {
        return String::new();
    }
    let parameters: Vec<String> = split_arguments(&parameters)
        .into_iter()
        .map(|parameter| match parameter.find(" const") {
            // `char const*` as `const char*`.
            Some(at)
                if !parameter.starts_with("const ") && !parameter[..at].contains(['*', '&']) =>
            {
                format!(
                    "const {}{}",
                    &parameter[..at],
                    &parameter[at + " const".len()..]
                )
            }
            _ => parameter.to_owned(),
        })
        .collect();
    parameters.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_by_their_ends() {
        let cases = [
            ("area", "tour::area", true),
            ("tour::area", "tour::area", true),
            ("ea", "tour::area", false),
            ("our::area", "tour::area", false),
            ("::area", "tour::area", false),
            ("::tour::area", "tour::area", true),
            ("max", "ns::max<int>", true),
            ("max<int>", "ns::max<int>", true),
            ("max<long>", "ns::max<int>", false),
            ("max<int>", "ns::max", false),
            ("Vec::push", "alloc::vec::Vec<T, A>::push", true),
            ("Vec::<T, A>::push", "alloc::vec::Vec<T, A>::push", true),
            (
                "std::vector<int>::push_back",
                "std::vector<int, std::allocator<int> >::push_back",
                true,
            ),
            (
                "vector<int, std::allocator<int>>::push_back",
                "std::vector<int, std::allocator<int> >::push_back",
                true,
            ),
            (
                "std::vector<long>::push_back",
                "std::vector<int, std::allocator<int> >::push_back",
                false,
            ),
            (
                "std::string::append",
                "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append",
                true,
            ),
            (
                "basic_string<char>::append",
                "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append",
                true,
            ),
            ("Array<3>::get", "Array<3ul>::get", true),
            ("Array<3>::get", "Array<13ul>::get", false),
            (
                "Shape::fmt",
                "<tour::Shape as core::fmt::Display>::fmt",
                true,
            ),
            (
                "Display::fmt",
                "<tour::Shape as core::fmt::Display>::fmt",
                false,
            ),
            (
                "<tour::Shape as core::fmt::Display>::fmt",
                "<tour::Shape as core::fmt::Display>::fmt",
                true,
            ),
            ("Vec<i32>::push", "<alloc::vec::Vec<i32>>::push", true),
            (
                "Shape::fmt",
                "tour::<impl core::fmt::Display for tour::Shape>::fmt",
                true,
            ),
            ("operator<", "ns::operator<", true),
            ("operator<", "ns::operator<<", false),
            ("Stack::operator<<", "Stack<int>::operator<<", true),
            ("operator*", "ns::operator*", true),
            ("operator*", "ns::operator**", false),
            ("struct item", "item", true),
            ("ns::helper", "ns::(anonymous namespace)::helper", true),
            (
                "ns::(anonymous namespace)::helper",
                "ns::(anonymous namespace)::helper",
                true,
            ),
            ("", "", false),
        ];
        for (wanted, full, expected) in cases {
            let pattern = NamePattern::new(wanted);
            assert_eq!(pattern.matches(full), expected, "{wanted} in {full}");
        }
    }

    #[test]
    fn a_rust_instance_is_meant_by_its_own_arguments() {
        let is = |pattern: &str| {
            NamePattern::new(pattern).matches_instance(
                "alloc::vec::Vec<T,A>::push",
                "push<alloc::string::String, alloc::alloc::Global>",
            )
        };
        assert!(is("Vec<String>::push"));
        assert!(is("alloc::vec::Vec<alloc::string::String>::push"));
        assert!(!is("Vec<i32>::push"));
        assert!(!is("Vec<String>::pop"));
    }

    #[test]
    fn what_can_be_no_name_has_a_problem() {
        let cases = [
            ("", Some("the name is empty")),
            (" ", Some("the name is empty")),
            ("::", Some("that can't be a name")),
            ("area(", Some("`(` is not closed in area(")),
            (
                "Vec<Vec<i32>::push",
                Some("`<` is not closed in Vec<Vec<i32>::push"),
            ),
            ("area)", Some("`)` closes nothing in area)")),
            ("area(int]", Some("`]` closes nothing in area(int]")),
            ("area(int)", None),
            ("<tour::Shape as core::fmt::Display>::fmt", None),
            ("apply<fn(i32) -> i32>", None),
            ("main::{closure#0}", None),
            ("ns::(anonymous namespace)::helper", None),
            ("ns::operator<<", None),
            ("operator()(int)", None),
            ("Map::operator->", None),
            ("orders::**", None),
        ];
        for (name, expected) in cases {
            let problem = NamePattern::new(name).problem();
            assert_eq!(problem.as_deref(), expected, "{name:?}");
        }
    }

    #[test]
    fn of_a_long_name_the_start_is_shown() {
        let shown = |text: &str| NamePattern::new(text).shown();
        assert_eq!(shown(" area(int) "), "area(int)");
        assert_eq!(shown(&"ü".repeat(300)), format!("{}…", "ü".repeat(200)));
    }

    #[test]
    fn stars_stand_for_text_and_components() {
        let cases = [
            ("orders::*", "orders::parse", true),
            ("orders::*", "shop::orders::parse", true),
            ("orders::*", "orders::Order::new", false),
            ("orders::*", "orders", false),
            ("orders::**", "orders::Order::new", true),
            ("orders::**::new", "orders::inner::Order::new", true),
            ("orders::**::new", "orders::new", false),
            ("*_test", "shop::parse_test", true),
            ("par*e", "parse", true),
            ("par*e", "parser", false),
            ("*", "main", true),
        ];
        for (wanted, full, expected) in cases {
            let pattern = NamePattern::new(wanted);
            assert_eq!(pattern.matches(full), expected, "{wanted} in {full}");
        }
    }

    #[test]
    fn parameters_count_where_they_are_written() {
        let takes = |pattern: &str, parameters: &str| {
            NamePattern::new(pattern).takes_parameters(parameters)
        };
        assert!(takes("area", "int"));
        assert!(takes("area(int)", "int"));
        assert!(!takes("area(int)", "int, int"));
        assert!(!takes("area()", "int"));
        assert!(takes("area(void)", ""));
        assert!(takes("area(const char *)", "char const*"));
        let any = NamePattern::new("area(int)").without_parameters();
        assert!(any.is_some_and(|any| any.takes_parameters("long") && any.matches("ns::area")));
        assert!(NamePattern::new("area").without_parameters().is_none());
        assert!(takes(
            "put(const std::string &)",
            "const std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > &"
        ));
    }
}
