//! What a user means by a name, and which full names that is.

use super::implementation::{Implementation, bracketed};
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
/// - `*` stands for any text inside a component, `**` for any components: `orders::*`, `orders::**`, `*_test`. With `**::`
///   in front a name means what it means without.
/// - An argument of which nothing is known is `_`, or a capital letter as in the source: `Vec<T>::push`, `pair::<u8, _>`.
/// - A method of a Rust trait is found by the type that has it, `Shape::fmt`, by the trait, `Display::fmt`, and by both,
///   `<Shape as Display>::fmt` or `impl Display for Shape::fmt`. `std` is `core` and `alloc`, too; `crate::` is any crate.
/// - `{closure}` is all closures of a Rust function, `{lambda(int)#1}` one of a C++ function: `run::{closure}`.
/// - C's `struct`, `union`, `enum` and C++'s `class` may stand in front of a type.
#[derive(Debug, Clone)]
pub struct NamePattern {
    text: String,
    anchored: bool,
    /// The pattern as written, and without arguments that are defaults.
    forms: Vec<Vec<Wanted>>,
    parameters: Option<String>,
    /// For `<Shape as Display>::fmt`, whose forms are of what is behind the brackets.
    implementation: Option<(String, String)>,
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
                // A method that the trait has itself: `shop::Priced::doubled<shop::Order>`.
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

    /// As [`NamePattern::matches`] for a Rust function whose path has its generic parameters (`alloc::vec::Vec<T,A>::push`)
    /// and whose own name has its arguments, first those of the implementation (`push<i32, alloc::alloc::Global>`).
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
        // The implementation's come first; a method's own may be all that is written.
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

    /// Whether the function whose parameters these are is meant.
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

/// The subject of an implementation without its arguments.
fn subject_of(pattern: &NamePattern) -> Option<String> {
    let (subject, _) = pattern.implementation.as_ref()?;
    let bases: Vec<&str> = parts(subject).iter().map(|part| part.base).collect();
    Some(bases.join("::"))
}

/// As people write names, made as compilers do: `operator ""`, `{anonymous}`, `impl Trait for Type::method`.
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
        // `operator new` and `operator bool` are words; the others are signs, around which there may be white space.
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

/// What Rust's `std` passes on of `core` and `alloc`, whose names it has in binaries.
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

/// More nested arguments are compared as text.
const DEEPEST: usize = 8;

/// Whether what is written stands for the type, or for the constant.
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

/// Whether the path ends in what is written.
fn ends_in_path(written: &str, path: &[Part<'_>], depth: usize) -> bool {
    let wanted: Vec<Wanted> = parts(written).iter().map(Wanted::new).collect();
    let facades = of_facades(&wanted);
    let ends =
        |wanted: &Vec<Wanted>| (0..path.len()).any(|start| is_all(wanted, &path[start..], depth));
    ends(&wanted) || facades.iter().any(ends)
}

/// Whether an argument is written that stands for any: `_`, or a parameter's name as most sources have it.
fn is_anything(written: &str) -> bool {
    let mut characters = written.chars();
    match characters.next() {
        Some('_' | '*') => characters.next().is_none(),
        Some('A'..='Z') => characters.all(|character| character.is_ascii_digit()),
        _ => false,
    }
}

/// Whether the components stand for exactly these parts.
fn is_all(wanted: &[Wanted], parts: &[Part<'_>], depth: usize) -> bool {
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
            // They have numbers, or none in the old mangling.
            "{closure}" | "{{closure}}" => "{*closure*}",
            base => base,
        };
        Wanted {
            // `operator*` is one function.
            glob: base.contains('*') && !base.starts_with("operator"),
            base: base.to_owned(),
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

/// Without C++'s unnamed namespaces, whose members are written as if they were around them.
fn without_anonymous<'n>(found: &[Part<'n>]) -> Option<Vec<Part<'n>>> {
    let anonymous = |part: &&Part| part.base == "(anonymous namespace)";
    found.iter().any(|part| anonymous(&part)).then(|| {
        let named = found.iter().filter(|part| !anonymous(part));
        named.copied().collect()
    })
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
#[path = "pattern_tests.rs"]
mod tests;
