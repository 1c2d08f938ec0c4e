//! The names that users write: which full names a pattern matches.

use super::implementation::{Implementation, bracketed};
use super::parts::{Part, parts, split_arguments};
use super::short::{Form, in_form};
use wildmatch::WildMatchPattern;

/// In bytes. Longer patterns match nothing, and nothing matches a longer name.
const LONGEST: usize = 16 * 1024;

/// A component in which only `*` is special. The wildcard for a single character is NUL, because no name contains it. (`globset` would
/// read brackets and braces, too.)
type Glob = WildMatchPattern<'*', '\0'>;

/// A name as a user writes it.
///
/// - It is a full path, or the end of a full path from a `::` on: `parse`, `orders::parse`, `Vec::push`. With a leading `::` it
///   is only the full path.
/// - Generic and template arguments must match if they are written: `max` is every `max<T>`, `max<int>` only that one. Default
///   arguments of the standard libraries may be omitted: `std::vector<int>::push_back`.
/// - A C++ function's parameters, too, must match if they are written: `area` is every overload, `area(int)` one.
/// - `*` stands for any text inside a component, `**` for one or more components: `orders::*`, `orders::**`, `*_test`. A leading
///   `**::` changes nothing.
/// - An unspecified argument is `_`, or a capital letter as in the source: `Vec<T>::push`, `pair::<u8, _>`.
/// - A method of a Rust trait is found by its type, `Shape::fmt`, by the trait, `Display::fmt`, and by both,
///   `<Shape as Display>::fmt` or `impl Display for Shape::fmt`. `std` includes `core` and `alloc`; `crate::` is any crate.
/// - `{closure}` is all closures of a Rust function (`{{closure}}` also the bodies of async functions and blocks), `{lambda(int)#1}` one of a C++ function: `run::{closure}`.
/// - C's `struct`, `union`, `enum` and C++'s `class` may precede a type.
#[derive(Debug, Clone)]
pub struct NamePattern {
    text: String,
    anchored: bool,
    /// The components in several forms, one of which must match: as written, without default arguments, and, for a path in
    /// `std`, with `core` and with `alloc` instead.
    forms: Vec<Vec<Wanted>>,
    parameters: Option<String>,
    /// Type and trait of `<Shape as Display>::fmt`; `forms` then has only the components behind the brackets.
    implementation: Option<(String, String)>,
}

#[derive(Debug, Clone)]
struct Wanted {
    base: String,
    /// The base as a glob, if it contains wildcards.
    glob: Option<Glob>,
    /// Whether the base is `{{closure}}`, which in Rust's old mangling is also the name of the bodies of async functions and blocks.
    any_closure: bool,
    arguments: Option<String>,
}

impl NamePattern {
    /// Reads what a user wrote. Any text is a pattern; an empty or very long one matches nothing.
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
        for anywhere in ["crate::", "self::"] {
            name = name.strip_prefix(anywhere).unwrap_or(name);
        }
        if !anchored {
            name = name.strip_prefix("**::").unwrap_or(name);
        }
        let name = uniform(name);
        let mut parameters = None;
        let mut implementation = None;
        let forms = [Form::Plain, Form::WithoutDefaults].map(|form| {
            let name = in_form(&name, form);
            let parts = parts(&name);
            if let Some(last) = parts.last() {
                parameters = last.parameters.map(canonical_parameters);
            }
            let wanted = |parts: &[Part]| parts.iter().map(Wanted::new).collect();
            match Implementation::find(&parts) {
                Some((
                    Implementation {
                        subject,
                        of: Some(of),
                    },
                    rest,
                )) if !rest.is_empty() => {
                    implementation = Some((subject.to_owned(), of.to_owned()));
                    wanted(rest)
                }
                // `<T>::method` is `T::method`.
                Some((Implementation { subject, of: None }, rest)) if !rest.is_empty() => {
                    let mut all = self::parts(subject);
                    all.extend_from_slice(rest);
                    wanted(&all)
                }
                _ => wanted(&parts),
            }
        });
        let mut forms: Vec<Vec<Wanted>> = forms.into();
        if implementation.is_none() {
            forms.extend(of_facades(&forms[0]));
        }
        NamePattern {
            text: text.to_owned(),
            anchored,
            forms,
            parameters,
            implementation,
        }
    }

    /// The pattern as written, without surrounding white space.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A message that says why the text can't be a name: its last component is empty, or a bracket has no partner. `None`
    /// if it has no such problem; it may still match nothing.
    pub fn problem(&self) -> Option<String> {
        if self.base().is_empty() {
            return Some(match self.text.is_empty() {
                true => "the name is empty".to_owned(),
                false => "that can't be a name".to_owned(),
            });
        }
        // Operators contain brackets without partners.
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

    /// The pattern as written, for messages; long ones are truncated.
    pub fn shown(&self) -> String {
        /// In characters.
        const SHOWN: usize = 200;
        match self.text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &self.text[..end]),
            None => self.text.clone(),
        }
    }

    /// A copy of this pattern without its parameters, which matches all overloads; `None` if this pattern has no parameters.
    pub fn without_parameters(&self) -> Option<NamePattern> {
        let parameters = self.parameters.as_ref().map(|_| None)?;
        Some(NamePattern {
            parameters,
            ..self.clone()
        })
    }

    /// The last component without arguments, empty if there is none: the key of name lookups.
    pub(crate) fn base(&self) -> &str {
        self.last().map_or("", |wanted| &wanted.base)
    }

    /// Whether the last component contains a wildcard.
    pub(crate) fn has_glob_base(&self) -> bool {
        self.last().is_some_and(|wanted| wanted.glob.is_some())
    }

    fn last(&self) -> Option<&Wanted> {
        self.forms.first()?.last()
    }

    /// Whether the pattern may match a name whose last component is `base`.
    pub(crate) fn takes_base(&self, base: &str) -> bool {
        !self.base().is_empty() && self.last().is_some_and(|wanted| wanted.takes_base(base))
    }

    /// The parameter list as written, in its canonical form without the parentheses.
    pub(crate) fn parameters(&self) -> Option<&str> {
        self.parameters.as_deref()
    }

    /// Whether the pattern matches the full name. Ignores the pattern's parameters: see `takes_parameters`.
    pub fn matches(&self, full: &str) -> bool {
        if self.base().is_empty() || full.len() > LONGEST {
            return false;
        }
        // Most names are the same in all three forms.
        let simple = !full.contains(['<', ' ']) && !full.contains("std::");
        let forms = [Form::Plain, Form::WithoutDefaults, Form::Short];
        let forms = &forms[..if simple { 1 } else { 3 }];
        forms.iter().any(|&form| {
            let full = in_form(full, form);
            self.matches_parts(&parts(&full))
        })
    }

    fn matches_parts(&self, found: &[Part<'_>]) -> bool {
        let matches = |parts: &[Part]| self.forms.iter().any(|wanted| self.ends(wanted, parts));
        let implementation = Implementation::find(found);
        if let Some((subject, of)) = &self.implementation {
            let all = |rest: &[Part]| self.forms.iter().any(|wanted| is_all(wanted, rest, 0));
            return match implementation {
                Some((
                    Implementation {
                        subject: for_,
                        of: Some(is),
                    },
                    rest,
                )) => is_type(subject, for_, 0) && is_type(of, is, 0) && all(rest),
                // A method with a default body in the trait: `shop::Priced::doubled<shop::Order>`.
                _ => found.split_last().is_some_and(|(last, path)| {
                    let arguments = last.arguments.map(split_arguments).unwrap_or_default();
                    let first = arguments.first();
                    first.is_some_and(|first| is_type(subject, first, 0))
                        && all(std::slice::from_ref(last))
                        && ends_in_path(of, path, 0)
                }),
            };
        }
        let through = |path: &str, rest: &[Part]| {
            let mut parts = parts(path);
            parts.extend_from_slice(rest);
            matches(&parts)
        };
        matches(found)
            || implementation.is_some_and(|(implementation, rest)| {
                through(implementation.subject, rest)
                    || implementation.of.is_some_and(|of| through(of, rest))
            })
            || without_anonymous(found).is_some_and(|parts| matches(&parts))
    }

    /// Like [`NamePattern::matches`], for an instance of a generic Rust function. `path` has the names of its generic
    /// parameters (`alloc::vec::Vec<T,A>::push`), `own` the actual arguments, those of the implementation first
    /// (`push<i32, alloc::alloc::Global>`). Always `false` for a pattern without arguments.
    pub(crate) fn matches_instance(&self, path: &str, own: &str) -> bool {
        let Some(wanted) = self.forms.first() else {
            return false;
        };
        let subject = self
            .implementation
            .as_ref()
            .map(|(subject, _)| parts(subject));
        let of_subject = subject.iter().flatten().filter_map(|part| part.arguments);
        let of_path = wanted
            .iter()
            .filter_map(|wanted| wanted.arguments.as_deref());
        let written: Vec<&str> = of_subject.chain(of_path).collect();
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
        if written.len() > arguments.len() {
            return false;
        }
        let are = |arguments: &[&str]| {
            let mut pairs = written.iter().zip(arguments);
            pairs.all(|(written, argument)| is_type(written, &in_form(argument, Form::Short), 0))
        };
        // The implementation's arguments come first; the pattern may have only the method's own arguments.
        let only_last = wanted.iter().rposition(|wanted| wanted.arguments.is_some());
        let own = only_last == Some(wanted.len() - 1)
            && wanted[..wanted.len() - 1]
                .iter()
                .all(|wanted| wanted.arguments.is_none())
            && are(&arguments[arguments.len() - written.len()..]);
        if !own && !are(&arguments) {
            return false;
        }
        let mut bare = self.clone();
        for wanted in bare.forms.iter_mut().flatten() {
            wanted.arguments = None;
        }
        if let (Some((subject, _)), Some(parts)) = (&mut bare.implementation, &subject_of(self)) {
            subject.clone_from(parts);
        }
        bare.matches(path)
    }

    /// Whether the pattern has no parameters, or has the same ones as `parameters`.
    pub(crate) fn takes_parameters(&self, parameters: &str) -> bool {
        self.parameters
            .as_ref()
            .is_none_or(|wanted| *wanted == canonical_parameters(parameters))
    }

    fn ends(&self, wanted: &[Wanted], parts: &[Part<'_>]) -> bool {
        (0..parts.len())
            .take(if self.anchored { 1 } else { usize::MAX })
            .any(|start| is_all(wanted, &parts[start..], 0))
    }
}

/// The implementing type that a pattern names, without the type's arguments; `None` if the pattern names no implementation.
fn subject_of(pattern: &NamePattern) -> Option<String> {
    let (subject, _) = pattern.implementation.as_ref()?;
    let bases: Vec<&str> = parts(subject).iter().map(|part| part.base).collect();
    Some(bases.join("::"))
}

/// Converts what users write to what compilers write: `operator ""`, `{anonymous}`, `impl Trait for Type::method`.
fn uniform(name: &str) -> String {
    let mut name = bracketed(name);
    for anonymous in [
        "{anonymous}",
        "(anonymous)",
        "<unnamed>",
        "`anonymous namespace'",
    ] {
        if name.contains(anonymous) {
            name = name.replace(anonymous, "(anonymous namespace)");
        }
    }
    if let Some(at) = name.find("operator ") {
        let rest = name[at + "operator ".len()..].trim_start();
        // `operator new` and `operator bool` are words; the others are signs, which may be surrounded by white space.
        if rest
            .starts_with(|first: char| first.is_ascii_punctuation() && first != '_' && first != ':')
        {
            let rest = match rest.strip_prefix("\"\"") {
                Some(suffix) => format!("\"\"{}", suffix.trim_start()),
                None => rest.to_owned(),
            };
            name = format!("{}operator{rest}", &name[..at]);
        }
    }
    name
}

/// A pattern in `std` with `core` and `alloc` instead: `std` re-exports their items, and binaries have the original
/// names.
fn of_facades(wanted: &[Wanted]) -> Vec<Vec<Wanted>> {
    let Some((first, rest)) = wanted.split_first() else {
        return Vec::new();
    };
    if first.base != "std" || rest.is_empty() {
        return Vec::new();
    }
    let of = |base: &str| {
        let first = Wanted {
            base: base.to_owned(),
            ..first.clone()
        };
        std::iter::once(first).chain(rest.iter().cloned()).collect()
    };
    vec![of("core"), of("alloc")]
}

/// More deeply nested arguments must be equal as text.
const DEEPEST: usize = 8;

/// Whether the written argument stands for the actual type or constant.
fn is_type(written: &str, actual: &str, depth: usize) -> bool {
    if is_anything(written) || same_literals(written, actual) {
        return true;
    }
    let (written, actual) = (written.trim(), actual.trim());
    for sign in ["&mut ", "&", "*const ", "*mut ", "dyn ", "const "] {
        match (written.strip_prefix(sign), actual.strip_prefix(sign)) {
            (Some(written), Some(actual)) => return is_type(written, actual, depth),
            (None, None) => {}
            _ => return false,
        }
    }
    depth < DEEPEST && ends_in_path(written, &parts(actual), depth + 1)
}

/// Whether the last parts of `path` match the path in `written`.
fn ends_in_path(written: &str, path: &[Part<'_>], depth: usize) -> bool {
    let wanted: Vec<Wanted> = parts(written).iter().map(Wanted::new).collect();
    let facades = of_facades(&wanted);
    let ends =
        |wanted: &Vec<Wanted>| (0..path.len()).any(|start| is_all(wanted, &path[start..], depth));
    ends(&wanted) || facades.iter().any(ends)
}

/// Whether the written argument stands for any argument: `_`, `*`, or a generic parameter's usual name (`T`, `T1`).
fn is_anything(written: &str) -> bool {
    let mut characters = written.chars();
    match characters.next() {
        Some('_' | '*') => characters.next().is_none(),
        Some('A'..='Z') => characters.all(|character| character.is_ascii_digit()),
        _ => false,
    }
}

/// Whether the components match exactly these parts.
fn is_all(wanted: &[Wanted], parts: &[Part<'_>], depth: usize) -> bool {
    // Backtracking as with `*` in text: on a mismatch, only the last `**` is retried with one more part.
    let (mut w, mut p) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while p < parts.len() {
        match wanted.get(w) {
            Some(any) if any.base == "**" => {
                again = Some((w, p));
                w += 1;
                // `**` stands for at least one part.
                p += 1;
            }
            Some(one) if one.takes(&parts[p], depth) => {
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
        let base = match part.base {
            // A demangled closure has a number, `{closure#0}`, except in Rust's old mangling: `{{closure}}`.
            "{closure}" | "{{closure}}" => "{*closure*}",
            base => base,
        };
        // `operator*` contains no wildcard.
        let is_glob = base.contains('*') && !base.starts_with("operator");
        Wanted {
            glob: is_glob.then(|| Glob::new(base)),
            base: base.to_owned(),
            any_closure: part.base == "{{closure}}",
            arguments: part.arguments.map(str::to_owned),
        }
    }

    fn takes(&self, part: &Part<'_>, depth: usize) -> bool {
        let arguments = match (&self.arguments, part.arguments) {
            (None, _) => true,
            (Some(wanted), Some(arguments)) => {
                same_literals(wanted, arguments) || {
                    let (wanted, arguments) = (split_arguments(wanted), split_arguments(arguments));
                    let mut pairs = wanted.iter().zip(&arguments);
                    wanted.len() == arguments.len()
                        && self.takes_base(part.base)
                        && pairs.all(|(wanted, argument)| is_type(wanted, argument, depth))
                }
            }
            (Some(_), None) => false,
        };
        arguments && self.takes_base(part.base)
    }

    fn takes_base(&self, base: &str) -> bool {
        match &self.glob {
            Some(glob) => glob.matches(base) || self.any_closure && base.starts_with("{async_"),
            None => self.base == base,
        }
    }
}

/// Whether the arguments are equal apart from number suffixes; compilers write `3` as `3`, `3u` or `3ul`.
fn same_literals(wanted: &str, arguments: &str) -> bool {
    wanted == arguments || without_suffixes(wanted) == without_suffixes(arguments)
}

/// Removes the type suffixes of numbers.
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

/// The parts without C++'s anonymous namespaces, whose members are visible in the enclosing namespace. `None` if no part
/// is an anonymous namespace.
fn without_anonymous<'n>(found: &[Part<'n>]) -> Option<Vec<Part<'n>>> {
    let anonymous = |part: &&Part| part.base == "(anonymous namespace)";
    found.iter().any(|part| anonymous(&part)).then(|| {
        let named = found.iter().filter(|part| !anonymous(part));
        named.copied().collect()
    })
}

/// Parameter types in the form in which they are compared: short, `(void)` empty, `const` before the type it qualifies.
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
mod tests;
