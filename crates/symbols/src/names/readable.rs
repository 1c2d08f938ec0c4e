//! Names of functions for people to read, in stack frames and messages. The whole names of generic programs have hundreds of
//! characters, and compilers' names for closures and async bodies are not what anybody wrote.
//!
//! Only for display: what users type is matched against whole names ([`super::NamePattern`]).
//!
//! - Arguments of generic types and functions, and a C++ function's parameters, are written without their modules; a list
//!   of more than 20 characters is cut: `Vec<u8>::push`, `Core<…>::poll`. rustc repeats the type's arguments in its
//!   methods' lists; they are left out.
//! - A trait has no modules either: `<my::Shape as Display>::fmt`. The module of the type stays.
//! - A closure is `{closure in worker}`, an async block `{async block in worker}`, a C++ lambda `{lambda in main}`. Of
//!   more than two that are nested, those between are cut: `{closure in {… in worker}}`.
//! - The body of an `async fn` is `worker (async)`.
//! - What compilers make for calls through a table is a `virtual call of` the method.

use super::implementation::Implementation;
use super::parts::{Part, group_end, operator_length, parts, split_arguments};
use super::short::short_name;

/// The longest list of arguments that is shown, in characters.
const LONGEST_LIST: usize = 20;
/// Longer lists are cut without a look, in bytes.
const LONGEST_READ: usize = 400;
/// Longer names keep their default arguments, in bytes.
const LONGEST_SHORTENED: usize = 16 * 1024;
/// Arguments that are nested more deeply are cut.
const NESTING_LIMIT: usize = 8;
const CUT: &str = "…";

/// The name of a function for display. `name` is a whole name, as the debug information or a demangler gives it. Text that isn't
/// understood stays.
pub fn readable_name(name: &str) -> String {
    // Most names are plain paths. Those in C++'s `std` may have inline namespaces.
    if !name.contains(['<', '(', '{', ' ', '@', '[']) && !name.starts_with("std::") {
        return name.to_owned();
    }
    // `<signal handler called>`
    if name.starts_with('<') && group_end(name.as_bytes(), 0) == name.len() {
        return name.to_owned();
    }
    let (thunk, name) = after_thunk(name);
    let (name, mark) = before_marks(name);
    let name = without_result(name);
    let shortened = match name.len() {
        0..LONGEST_SHORTENED => short_name(name),
        _ => name.to_owned(),
    };
    // A shortened name has no space there.
    let shortened = shortened
        .replace("<impl[", "<impl [")
        .replace("<impl&", "<impl &");
    format!("{thunk}{}{mark}", path(&shortened, Modules::Kept, 0))
}

/// Splits `non-virtual thunk to A::f` behind `to `.
fn after_thunk(name: &str) -> (&str, &str) {
    const KINDS: [&str; 3] = [
        "non-virtual thunk to ",
        "virtual thunk to ",
        "covariant return thunk to ",
    ];
    let length = KINDS
        .iter()
        .find(|kind| name.starts_with(**kind))
        .map_or(0, |kind| kind.len());
    name.split_at(length)
}

/// Splits before the marks of clones and versions: `f [constprop.0]`, `f@plt`.
fn before_marks(name: &str) -> (&str, &str) {
    let clone = name.rfind(" [").filter(|_| name.ends_with(']'));
    let version = name
        .find('@')
        .filter(|at| !name[*at..].contains(['>', ')', '}', ':']));
    let end = clone.into_iter().chain(version).min();
    name.split_at(end.unwrap_or(name.len()))
}

/// Removes the type of the result from a demangled C++ template: `int larger<int>(int, int)`.
fn without_result(name: &str) -> &str {
    let bytes = name.as_bytes();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        if at == start || name[..at].ends_with("::") {
            if operator_length(&name[at..]).is_some() {
                break;
            }
        } else if bytes[at] == b'(' {
            at = group_end(bytes, at);
            let rest = &name[at..];
            let goes_on = rest.starts_with("::")
                || rest.starts_with(' ')
                    && !["const", "volatile", "&", "["]
                        .iter()
                        .any(|word| rest[1..].starts_with(word));
            if !goes_on {
                break;
            }
            continue;
        }
        match bytes[at] {
            b'<' | b'(' | b'[' | b'{' => at = group_end(bytes, at),
            b' ' => {
                at += 1;
                start = at;
            }
            _ => at = next_boundary(name, at),
        }
    }
    match name[start..].is_empty() {
        true => name,
        false => &name[start..],
    }
}

fn next_boundary(text: &str, at: usize) -> usize {
    (at + 1..text.len())
        .find(|next| text.is_char_boundary(*next))
        .unwrap_or(text.len())
}

/// Whether paths keep their modules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Modules {
    Kept,
    Left,
}

/// What a compiler makes inside a function, outermost first.
#[derive(Clone, PartialEq, Eq)]
enum Inner {
    /// The body of a function of this kind: `async`.
    Body(String),
    /// A closure, block or lambda.
    Other(String),
}

/// What a component of a path is.
enum Component<'n> {
    Name(&'n str),
    Inner(Inner),
    /// A function that calls another one, with the words to precede that function.
    Shim(&'static str),
}

impl<'n> Component<'n> {
    fn of(base: &'n str) -> Component<'n> {
        if base.starts_with("<lambda") {
            return Component::Inner(Inner::Other("lambda".to_owned()));
        }
        let inside = base
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let Some(inside) = inside else {
            return Component::Name(base);
        };
        let inside = inside
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or(inside);
        // rustc: `{closure#0}`, and `{closure_env#0}` for its type. g++: `{lambda(int)#1}`.
        let kind = inside.split('#').next().unwrap_or(inside);
        let kind = kind.strip_suffix("_env").unwrap_or(kind);
        if kind.starts_with("lambda(") {
            return Component::Inner(Inner::Other("lambda".to_owned()));
        }
        if let Some(shim) = shim(kind) {
            return Component::Shim(shim);
        }
        let words = kind.replace('_', " ");
        match words.rsplit(' ').next() {
            Some("fn") if words.len() > 3 => {
                Component::Inner(Inner::Body(words[..words.len() - 3].to_owned()))
            }
            Some("closure" | "block" | "coroutine") => Component::Inner(Inner::Other(words)),
            _ if kind == "impl" => Component::Name("<impl>"),
            _ => Component::Name(base),
        }
    }
}

/// The words for a shim: `shim:vtable` in the new mangling of Rust, `vtable.shim` in the old one.
fn shim(kind: &str) -> Option<&'static str> {
    let kind = kind
        .strip_prefix("shim:")
        .or_else(|| kind.strip_suffix(".shim"))
        .or_else(|| kind.strip_suffix("-shim"))?;
    Some(match kind {
        "vtable" => "virtual call of ",
        _ if kind.starts_with("reify") => "call by pointer of ",
        _ => "shim of ",
    })
}

/// A path that is written from its first component on.
struct Path<'n> {
    modules: Modules,
    depth: usize,
    text: String,
    inner: Vec<Inner>,
    shim: &'static str,
    /// The arguments of the component before.
    before: Option<&'n str>,
}

fn path(name: &str, modules: Modules, depth: usize) -> String {
    let all = parts(name);
    let mut path = Path {
        modules,
        depth,
        text: String::new(),
        inner: Vec::new(),
        shim: "",
        before: None,
    };
    let rest = match Implementation::find(&all) {
        Some((implementation, rest)) => {
            path.text = self::implementation(implementation, modules, depth);
            rest
        }
        None => &all,
    };
    let mut left = rest;
    while let Some((part, behind)) = left.split_first() {
        left = match behind.split_first() {
            // The class of a lambda has no name, except in old compilers' `<lambda(int)>`.
            Some((call, behind)) if is_call(call) && is_lambda(part) => {
                path.inner.push(Inner::Other("lambda".to_owned()));
                behind
            }
            _ => {
                path.push(part, behind.is_empty());
                behind
            }
        };
    }
    path.finish()
}

fn is_lambda(part: &Part<'_>) -> bool {
    let base = part.base;
    matches!(base, "{anonymous struct}" | "{anonymous class}")
        || base.starts_with("<lambda")
        || base.starts_with("{lambda(")
}

/// Whether a member of a lambda's class runs it.
fn is_call(part: &Part<'_>) -> bool {
    matches!(part.base, "operator()" | "_FUN" | "__invoke")
}

impl<'n> Path<'n> {
    fn push(&mut self, part: &Part<'n>, is_last: bool) {
        let (base, shim) = match part.base.find("{{").filter(|at| *at > 0) {
            // `call_once{{vtable.shim}}`
            Some(at) => (
                &part.base[..at],
                self::shim(part.base[at..].trim_matches(['{', '}'])),
            ),
            None => (part.base, None),
        };
        self.shim = shim.unwrap_or(self.shim);
        match Component::of(base) {
            Component::Inner(inner) => self.inner.push(inner),
            Component::Shim(words) => self.shim = words,
            Component::Name(base) => self.push_name(base, part, is_last),
        }
    }

    fn push_name(&mut self, base: &str, part: &Part<'n>, is_last: bool) {
        if !self.inner.is_empty() {
            self.text = self.with_inner();
            self.inner.clear();
        }
        match self.modules {
            Modules::Left => self.text.clear(),
            Modules::Kept if !self.text.is_empty() => self.text += "::",
            Modules::Kept => {}
        }
        match base.strip_prefix("operator ") {
            Some(target) => {
                self.text += &format!("operator {}", types(target, Modules::Kept, self.depth + 1))
            }
            None => self.text += base,
        }
        if let Some(arguments) = part.arguments {
            let own = own_arguments(arguments, self.before);
            if !own.is_empty() {
                // `operator<< <char>`
                if base.starts_with("operator") && base.ends_with(['<', '>', '-']) {
                    self.text.push(' ');
                }
                let list = list(&own, self.depth);
                let list = match (list, own.as_slice()) {
                    (Some(list), _) => list,
                    // Which type is dropped is all that this function's name says.
                    (None, [dropped]) if base == "drop_in_place" => without_arguments(dropped),
                    (None, _) => CUT.to_owned(),
                };
                self.text += &format!("<{list}>");
            }
        }
        self.before = part.arguments;
        if let Some(parameters) = part.parameters.filter(|_| is_last) {
            let list = match parameters {
                "" => Some(String::new()),
                parameters => list(&split_arguments(parameters), self.depth),
            };
            self.text += &format!("({})", list.as_deref().unwrap_or(CUT));
        }
    }

    /// The text with what is inside of that function.
    fn with_inner(&self) -> String {
        let function = &self.text;
        let (body, others) = match self.inner.split_first() {
            Some((Inner::Body(kind), others)) => (Some(kind), others),
            _ => (None, self.inner.as_slice()),
        };
        let mut names: Vec<&str> = Vec::new();
        for inner in others {
            let (Inner::Other(kind) | Inner::Body(kind)) = inner;
            // An async closure is compiled to a closure that makes a future, and to the future's body in it.
            if kind == "async closure" && names.last() == Some(&"closure") {
                names.pop();
            }
            names.push(kind);
        }
        match (names.as_slice(), body) {
            ([], Some(kind)) if function.is_empty() => format!("{{{kind} fn}}"),
            ([], Some(kind)) => format!("{function} ({kind})"),
            ([], None) => function.clone(),
            ([.., name], _) if function.is_empty() => format!("{{{name}}}"),
            ([name], _) => format!("{{{name} in {function}}}"),
            ([outer, name], _) => format!("{{{name} in {{{outer} in {function}}}}}"),
            ([.., name], _) => format!("{{{name} in {{{CUT} in {function}}}}}"),
        }
    }

    fn finish(self) -> String {
        format!("{}{}", self.shim, self.with_inner())
    }
}

/// `<Type as Trait>`, or only the type if it is a path.
fn implementation(of: Implementation<'_>, modules: Modules, depth: usize) -> String {
    let subject = types(of.subject, modules, depth + 1);
    match of.of {
        Some(of) => format!("<{subject} as {}>", types(of, Modules::Left, depth + 1)),
        None => {
            let is_path = of.subject.starts_with(is_word) && !subject.contains(' ');
            match is_path {
                true => subject,
                false => format!("<{subject}>"),
            }
        }
    }
}

/// A function's own arguments: without those of its type, which rustc repeats.
fn own_arguments<'n>(arguments: &'n str, before: Option<&'n str>) -> Vec<&'n str> {
    let own = split_arguments(arguments);
    let before = before.map(split_arguments).unwrap_or_default();
    match own.strip_prefix(before.as_slice()) {
        Some(rest) => rest.to_vec(),
        None => own,
    }
}

/// A list of arguments; `None` if it is too long.
fn list(arguments: &[&str], depth: usize) -> Option<String> {
    let length: usize = arguments.iter().map(|argument| argument.len()).sum();
    if length > LONGEST_READ || depth >= NESTING_LIMIT {
        return None;
    }
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| types(argument, Modules::Left, depth + 1))
        .collect();
    let list = arguments.join(", ");
    (list.chars().count() <= LONGEST_LIST).then_some(list)
}

/// A type's name with its arguments cut: `Stage<…>`.
fn without_arguments(type_: &str) -> String {
    match parts(type_).last() {
        Some(Part {
            base,
            arguments: Some(_),
            ..
        }) => format!("{base}<{CUT}>"),
        _ => CUT.to_owned(),
    }
}

/// The text of a type or another argument, with each path in it rewritten.
fn types(text: &str, modules: Modules, depth: usize) -> String {
    if depth > NESTING_LIMIT {
        return CUT.to_owned();
    }
    let mut out = String::new();
    let mut at = 0;
    while at < text.len() {
        let end = path_end(text, at);
        if end > at {
            out += &path(&text[at..end], modules, depth);
            at = end;
        } else {
            let next = next_boundary(text, at);
            out += &text[at..next];
            at = next;
            if out.ends_with(';') && !text[at..].starts_with(' ') {
                out.push(' ');
            }
        }
    }
    out
}

/// The end of the path that begins at `start`; `start` if none does.
fn path_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        let rest = &text[at..];
        let is_begin = at == start || text[start..at].ends_with("::");
        match bytes[at] {
            b'<' => at = group_end(bytes, at),
            b'{' if is_begin => at = group_end(bytes, at),
            // `main()::<lambda(int)>`, `(anonymous namespace)::A`
            b'(' if bytes[group_end(bytes, at)..].starts_with(b"::") => at = group_end(bytes, at),
            b':' if rest.starts_with("::") => at += 2,
            _ if rest.starts_with(is_word) => at = next_boundary(text, at),
            _ => break,
        }
    }
    at
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '~' | '$')
}

#[cfg(test)]
mod tests;
