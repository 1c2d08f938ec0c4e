//! Resolves names: variables, functions, constants, and paths relative to the frame's function. Suggests a similar name for an unknown
//! one.

use super::{Fault, Runner, convert};
use crate::frame::Frame;
use crate::values::{Number, Value};
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::scopes::Variable;
use dapple_symbols::types::TypeKind;
use dapple_target::suggest::nearest;

/// The most types of a unit searched for a constant.
const MAX_TYPES: usize = 2000;
/// The most constants considered for a suggestion.
const MAX_CONSTANTS: usize = 1000;

/// An associated constant of a Rust number: `u8::MAX`, `f64::EPSILON`. An address has `word` bytes.
fn scalar_constant(name: &str, word: u8) -> Option<Number> {
    let name = name
        .trim_start_matches("std::")
        .trim_start_matches("core::");
    let (type_name, constant) = name.split_once("::")?;
    let float = |size, values: [f64; 5]| {
        let names = ["MAX", "MIN", "EPSILON", "INFINITY", "NAN"];
        let (_, value) = names
            .iter()
            .zip(values)
            .find(|(name, _)| **name == constant)?;
        Some(Number::Float { value, size })
    };
    let (signed, bits) = match type_name {
        "f32" => {
            let all = [f32::MAX, f32::MIN, f32::EPSILON, f32::INFINITY, f32::NAN];
            return float(4, all.map(f64::from));
        }
        "f64" => {
            return float(
                8,
                [f64::MAX, f64::MIN, f64::EPSILON, f64::INFINITY, f64::NAN],
            );
        }
        "usize" => (false, 8 * u32::from(word)),
        "isize" => (true, 8 * u32::from(word)),
        _ => {
            let (sign, bits) = type_name.split_at_checked(1)?;
            let signed = ["u", "i"].iter().position(|known| *known == sign)? == 1;
            (signed, bits.parse::<u32>().ok()?)
        }
    };
    if !matches!(bits, 8 | 16 | 32 | 64 | 128) {
        return None;
    }
    let most = u128::MAX >> (128 - bits + u32::from(signed));
    let value = match (constant, signed) {
        ("BITS", _) => return Some(Number::integer(bits.into(), 4, false)),
        ("MAX", _) => most.cast_signed(),
        ("MIN", true) => -most.cast_signed() - 1,
        ("MIN", false) => 0,
        _ => return None,
    };
    Some(Number::integer(value, (bits / 8) as u8, signed))
}

/// The candidates for a path relative to the frame's function: `crate::x`, `self::x`, `super::x`. The debug information doesn't tell
/// whether a part of the function's path is a type or a module, so there may be several. Empty: `name` is no relative path, or the frame
/// isn't in Rust code.
pub(in crate::eval) fn absolute(frame: &Frame, name: &str) -> Vec<String> {
    let mut path = frame.function.as_deref().unwrap_or_default();
    path = path
        .split(['<', '{'])
        .next()
        .unwrap_or(path)
        .trim_end_matches("::");
    if frame.language != Language::Rust || path.is_empty() {
        return Vec::new();
    }
    if let Some(rest) = name.strip_prefix("crate::") {
        let own = path.split("::").next().unwrap_or(path);
        return vec![format!("{own}::{rest}")];
    }
    let mut rest = name.strip_prefix("self::").unwrap_or(name);
    let mut up = 0;
    while let Some(outer) = rest.strip_prefix("super::") {
        rest = outer;
        up += 1;
    }
    if rest == name {
        return Vec::new();
    }
    let mut outer = path.rsplit_once("::").map(|(outer, _)| outer);
    let mut found = Vec::new();
    while let Some(module) = outer {
        found.push(module);
        outer = module.rsplit_once("::").map(|(outer, _)| outer);
    }
    let found = found.into_iter().skip(up);
    found.map(|module| format!("{module}::{rest}")).collect()
}

impl Runner<'_> {
    pub(super) fn name(&self, name: &str, at: usize) -> Result<Value, Fault> {
        if let Some(scope) = self.scope {
            return self.name_in(scope, name, at);
        }
        let suspended = self.reader.suspended_variables(self.frame).into_iter();
        if let Some(found) = { suspended }.rfind(|variable| variable.name == name) {
            return Ok(found.value);
        }
        let locals = self.locals();
        if let Some(found) = self.variable_called(name, &locals) {
            return Ok(found);
        }
        if let Some(errno) = self.errno(name) {
            return Ok(errno);
        }
        if let Some(number) = self
            .wanted
            .as_deref()
            .and_then(|type_| convert::named(type_, name))
        {
            return Ok(self.computed(number));
        }
        if let Some(found) = self.static_meant(name) {
            return Ok(found);
        }
        if let Some((module, function)) = self.resolve_function(name) {
            let address = module.to_process(function.entry).0;
            return Ok(self.computed(Number::Pointer {
                address,
                target: None,
            }));
        }
        if let Some(value) = self.enumeration_constant(name) {
            return Ok(value);
        }
        let this = locals.iter().find(|local| local.name == "this");
        if let Some(this) = this.map(|this| self.variable(this, &self.module))
            && let Some(value) = self.constant_of_object(&this, name)
        {
            return Ok(value);
        }
        if let Some(value) = self.static_of_class(name) {
            return Ok(value);
        }
        if let Some(number) = scalar_constant(name, self.word_size()).filter(|_| self.is_rust()) {
            return Ok(self.computed(number));
        }
        for path in self.absolute(name) {
            if let Ok(found) = self.name(&path, at) {
                return Ok(found);
            }
        }
        Err(Fault::unknown(
            at,
            self.no_name(name, &locals, &self.statics()),
        ))
    }

    fn is_rust(&self) -> bool {
        self.frame.language == Language::Rust
    }

    /// [`absolute`] for this runner's frame.
    pub(super) fn absolute(&self, name: &str) -> Vec<String> {
        absolute(self.frame, name)
    }

    /// The message for an unknown name, with a suggestion.
    fn no_name<'v>(&self, name: &str, locals: &'v [Variable], statics: &'v [Variable]) -> String {
        if let Some(inside) = self.no_constant(name) {
            return inside;
        }
        let is_type = match self.type_named(name) {
            Some(_) => true,
            None => self
                .absolute(name)
                .iter()
                .any(|it| self.type_named(it).is_some()),
        };
        if is_type {
            return format!("`{name}` is a type, not a value");
        }
        if let Some(elsewhere) = self.elsewhere(name) {
            return format!("no variable `{name}` here; {elsewhere}");
        }
        let constants: Vec<String> = match self.is_rust() || name.contains("::") {
            true => Vec::new(),
            false => self.constants_near(),
        };
        // Of each known path, as many trailing parts are compared as the user has written.
        let depth = name.matches("::").count();
        let tail = |path: &'v str| {
            let start = path
                .rmatch_indices("::")
                .nth(depth)
                .map_or(0, |(at, _)| at + 2);
            path.get(start..).unwrap_or(path)
        };
        let known = locals
            .iter()
            .rev()
            .chain(statics)
            .map(|known| tail(&known.name))
            .chain(constants.iter().map(String::as_str));
        if let Some(near) = nearest(name, known) {
            return format!("no variable `{name}` here; did you mean `{near}`?");
        }
        let is_constant = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let last = name.rsplit("::").next().unwrap_or(name);
        let hint = match self.frame.language {
            Language::Rust if last.chars().all(is_constant) => {
                "; a `const` is not in the debug information, only a `static` is"
            }
            Language::C | Language::Cpp if name.chars().all(is_constant) => {
                "; a macro is not in the debug information"
            }
            _ => "",
        };
        format!("no variable `{name}` here{hint}")
    }

    /// The message for an unknown name inside an enumeration or a class. `None`: `name` is no path into one, the type has no constants, or
    /// it does have the name.
    fn no_constant(&self, name: &str) -> Option<String> {
        let (path, last) = name.rsplit_once("::")?;
        let (module, id) = match self.type_named(path) {
            Some(found) => found,
            None => {
                let paths = self.absolute(path);
                paths.iter().find_map(|path| self.type_named(path))?
            }
        };
        let type_ = module.module.strip_aliases(id).ok()??;
        let known: Vec<&str> = match &type_.kind {
            TypeKind::Enumeration { values, .. } => {
                values.iter().map(|(name, _)| &**name).collect()
            }
            TypeKind::Aggregate(aggregate) => {
                let variants = aggregate.variants.iter().flat_map(|part| &part.variants);
                let statics = aggregate.statics.iter().map(|one| &*one.name);
                variants
                    .map(|variant| &*variant.name)
                    .chain(statics)
                    .collect()
            }
            _ => return None,
        };
        if known.is_empty() || known.contains(&last) {
            return None;
        }
        let hint = match nearest(last, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has {}", convert::some_of(known.into_iter())),
        };
        Some(format!("`{path}` has no `{last}`; {hint}"))
    }

    /// The names of the constants of enumerations in the frame's unit, up to a limit.
    fn constants_near(&self) -> Vec<String> {
        let lookup = self.module.to_file(self.frame.physical.lookup);
        let all = NamePattern::new("*");
        let types = self.module.module.find_types_near(lookup, &all);
        let types = types.into_iter().take(MAX_TYPES);
        let types = types.filter_map(|it| self.module.module.strip_aliases(it.id).ok().flatten());
        let mut names = Vec::new();
        for type_ in types {
            if let TypeKind::Enumeration { values, .. } = &type_.kind {
                names.extend(values.iter().map(|(name, _)| name.to_string()));
            }
            if names.len() >= MAX_CONSTANTS {
                break;
            }
        }
        names
    }

    /// A variable that is visible in the frame: a local, a member of `this`, or a static of the unit.
    pub(super) fn variable_called(&self, name: &str, locals: &[Variable]) -> Option<Value> {
        if let Some(local) = locals.iter().rev().find(|local| local.name == name) {
            return Some(self.variable(local, &self.module));
        }
        if let Some(this) = locals.iter().find(|local| local.name == "this") {
            let this = self.variable(this, &self.module);
            if let Some(member) = self.find_member(&this, name) {
                return Some(member);
            }
        }
        // `::counter` is the variable outside all namespaces.
        let global = name.strip_prefix("::");
        let statics = self.statics();
        let is_named = |variable: &&Variable| {
            variable.name == name
                || variable
                    .name
                    .strip_suffix(name)
                    .is_some_and(|head| head.ends_with("::"))
        };
        // Variables that the linker has removed come last. Of the others, those deepest in the namespaces of the frame's function come
        // first.
        let own = self.frame.function.as_deref().unwrap_or_default();
        let nearness = |variable: &&Variable| {
            let scope = variable.name.strip_suffix(name).unwrap_or_default();
            let shared = if own.starts_with(scope) {
                scope.len()
            } else {
                0
            };
            (variable.dropped, std::cmp::Reverse(shared))
        };
        let exact = |variable: &&Variable| variable.name == global.unwrap_or(name);
        let found = statics
            .iter()
            .filter(exact)
            .min_by_key(nearness)
            .or_else(|| statics.iter().filter(is_named).min_by_key(nearness));
        found.map(|found| self.variable(found, &self.module))
    }

    pub(super) fn statics(&self) -> Vec<Variable> {
        let lookup = self.module.to_file(self.frame.physical.lookup);
        self.module.module.statics_at(lookup)
    }

    pub(super) fn locals(&self) -> Vec<Variable> {
        if !self.frame.is_call() {
            return Vec::new();
        }
        let lookup = self.module.to_file(self.frame.physical.lookup);
        self.module
            .module
            .variables_at(lookup, self.frame.inline_depth)
    }
}
