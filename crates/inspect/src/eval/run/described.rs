//! Descriptions of names that aren't variables: a type with its members, or a function with its parameters and result.

use super::super::ir::Form;
use super::super::{lex, parse};
use super::{Runner, runner};
use crate::frame::Frame;
use crate::modules::LoadedModule;
use crate::values::{Contents, Reader, Value};
use dapple_symbols::functions::{Function, Language};
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{
    Aggregate, AggregateKind, AliasKind, Member, Type, TypeId, TypeKind, VariantPart,
};
use std::sync::Arc;

/// The most members of a type that are written out.
const MOST_PARTS: usize = 64;
/// A text with one of these characters is taken for an expression. C++'s operators also have such characters in their
/// names; they are not described.
const NO_NAME: [char; 6] = ['(', '.', '=', '"', '+', '/'];
/// C and C++ keywords in front of a type's name.
const KEYWORDS: [&str; 4] = ["struct ", "class ", "union ", "enum "];

/// Describes the type or function of a name. `None`: the name is neither, or is a variable.
pub(in super::super) fn described(
    name: &str,
    frame: &Frame,
    reader: &Reader<'_>,
) -> Option<String> {
    let name = name.trim();
    // A text with brackets may be a call that has failed: its message stays, no description replaces it.
    let plain = name.replace(lex::ANONYMOUS_NAMESPACE, "");
    if plain.contains(NO_NAME.as_slice()) {
        return None;
    }
    let runner = runner(name, frame, reader, None).ok()?;
    let keyword = KEYWORDS.iter().find_map(|word| name.strip_prefix(word));
    if keyword.is_none() && runner.is_variable(name) {
        return None;
    }
    let name = keyword.unwrap_or(name).trim();
    match runner.type_written(name) {
        Some((module, id)) => runner.type_described(&module, id),
        None if keyword.is_some() => None,
        None => runner.function_described(name),
    }
}

impl Runner<'_> {
    fn is_variable(&self, name: &str) -> bool {
        self.variable_called(name, &self.locals()).is_some()
            || self.reader.modules.iter().any(|module| {
                let statics = module.module.statics_named(name);
                statics.iter().any(|it| !it.dropped)
            })
    }

    /// The type of a name, also in C's other spellings: `unsigned short` is `short unsigned int` in the debug information.
    fn type_written(&self, name: &str) -> Option<(Arc<LoadedModule>, TypeId)> {
        if let Some(found) = self.type_named(name) {
            return Some(found);
        }
        let language = self.frame.language;
        let target = parse::type_name(lex::tokens(name, language).ok()?, language).ok()?;
        if target.pointers > 0 || target.form != Form::Plain {
            return None;
        }
        let (module, id) = self.find_type(&target).ok()?;
        Some((module, id?))
    }

    fn function_described(&self, name: &str) -> Option<String> {
        let mut paths = std::iter::once(name.to_owned()).chain(self.absolute(name));
        let (module, function) = paths.find_map(|path| self.resolve_function(&path))?;
        self.signature(&module, &function)
    }

    fn signature(&self, module: &Arc<LoadedModule>, function: &Function) -> Option<String> {
        let signature = module.module.signature_of(function.id)?;
        let is_rust = function.language == Language::Rust;
        let result = signature.result.type_id;
        let result = result.map(|id| self.type_in(module, Some(id), function.language));
        let parameters = signature.parameters.iter().filter(|it| !it.artificial);
        let mut parameters: Vec<String> = parameters
            .map(|parameter| {
                let type_ = self.type_in(module, Some(parameter.type_id), function.language);
                match &parameter.name {
                    Some(name) if is_rust => format!("{name}: {type_}"),
                    Some(name) => declared(&type_, name),
                    None => type_,
                }
            })
            .collect();
        if signature.variadic {
            parameters.push("...".to_owned());
        }
        let (name, parameters) = (&function.name, parameters.join(", "));
        Some(match (is_rust, result) {
            (true, None) => format!("fn {name}({parameters})"),
            (true, Some(result)) => format!("fn {name}({parameters}) -> {result}"),
            (false, result) => {
                format!(
                    "{} {name}({parameters})",
                    result.as_deref().unwrap_or("void")
                )
            }
        })
    }

    fn type_described(&self, module: &Arc<LoadedModule>, id: TypeId) -> Option<String> {
        let type_ = module.module.type_of(id).ok()?;
        let name = self.type_in(module, Some(id), type_.language);
        // Names of C's types include their keyword.
        let mut keywords = KEYWORDS.iter();
        let bare = keywords.find_map(|word| name.strip_prefix(word));
        let bare = bare.unwrap_or(&name);
        let text = match &type_.kind {
            TypeKind::Aggregate(aggregate) => self.aggregate(module, &type_, bare, aggregate),
            TypeKind::Enumeration { values, .. } => {
                let names = values.iter().map(|(name, _)| name.to_string());
                let parts = joined(names, ", ");
                match type_.language {
                    Language::Rust => format!("enum {name} {{ {parts} }}"),
                    _ => format!("enum {bare} {{{parts}}}"),
                }
            }
            TypeKind::Alias(AliasKind::Typedef, target) => {
                let target = self.type_in(module, *target, type_.language);
                match target == name {
                    // The target is displayed by the alias's own name, as `std::string` is: that name alone is shown.
                    true => name,
                    false => format!("typedef {}", declared(&target, &name)),
                }
            }
            _ => name,
        };
        let stripped = module.module.strip_aliases(id).ok().flatten();
        Some(match stripped.and_then(|type_| type_.size) {
            Some(1) => format!("{text} (1 byte)"),
            Some(size) => format!("{text} ({size} bytes)"),
            None => text,
        })
    }

    fn aggregate(
        &self,
        module: &Arc<LoadedModule>,
        type_: &Type,
        name: &str,
        aggregate: &Aggregate,
    ) -> String {
        let is_rust = type_.language == Language::Rust;
        if let Some(variants) = &aggregate.variants {
            return self.variants(module, name, variants);
        }
        let word = match aggregate.kind {
            AggregateKind::Struct => "struct",
            AggregateKind::Class => "class",
            AggregateKind::Union => "union",
        };
        let (bases, members): (Vec<&Member>, Vec<&Member>) =
            aggregate.members.iter().partition(|member| member.base);
        let members = members.into_iter().filter(|member| !member.artificial);
        let is_tuple = is_rust
            && members.clone().all(|it| it.name.as_deref() == Some("__0"))
            && !aggregate.members.is_empty();
        let parts = members.clone().map(|member| {
            let of = self.type_in(module, Some(member.type_id), type_.language);
            let name = member.name.as_deref().unwrap_or_default();
            match (is_rust, member.bits) {
                (true, _) if is_tuple => of,
                (true, _) => format!("{name}: {of}"),
                (false, Some((_, bits))) => format!("{}:{bits};", declared(&of, name)),
                (false, None) => format!("{};", declared(&of, name)),
            }
        });
        if is_rust {
            let parts = joined(parts, ", ");
            return match (is_tuple, parts.is_empty()) {
                (true, _) => format!("{word} {name}({parts})"),
                (false, true) => format!("{word} {name}"),
                (false, false) => format!("{word} {name} {{ {parts} }}"),
            };
        }
        let bases = bases
            .into_iter()
            .map(|base| self.type_in(module, Some(base.type_id), type_.language));
        let bases = joined(bases, ", ");
        let bases = match bases.is_empty() {
            true => bases,
            false => format!(": {bases} "),
        };
        if aggregate.declaration {
            return format!("{word} {name} {bases}{{not defined here}}");
        }
        format!("{word} {name} {bases}{{{}}}", joined(parts, " "))
    }

    fn variants(&self, module: &Arc<LoadedModule>, name: &str, part: &VariantPart) -> String {
        let variants = part.variants.iter().map(|variant| {
            let payload = module.module.strip_aliases(variant.member.type_id);
            let fields = match payload.ok().flatten().map(|type_| type_.kind.clone()) {
                Some(TypeKind::Aggregate(aggregate)) => aggregate.members,
                _ => Vec::new(),
            };
            let is_tuple = fields.iter().all(|it| {
                it.name
                    .as_deref()
                    .is_some_and(|name| name.starts_with("__"))
            });
            let parts = fields.iter().map(|field| {
                let of = self.type_in(module, Some(field.type_id), Language::Rust);
                match is_tuple {
                    true => of,
                    false => format!("{}: {of}", field.name.as_deref().unwrap_or_default()),
                }
            });
            let parts = joined(parts, ", ");
            match (fields.is_empty(), is_tuple) {
                (true, _) => variant.name.to_string(),
                (false, true) => format!("{}({parts})", variant.name),
                (false, false) => format!("{} {{ {parts} }}", variant.name),
            }
        });
        format!("enum {name} {{ {} }}", joined(variants, ", "))
    }

    /// A type's name as it is displayed for values; `None` is void.
    fn type_in(
        &self,
        module: &Arc<LoadedModule>,
        id: Option<TypeId>,
        language: Language,
    ) -> String {
        if id.is_none() {
            return "void".to_owned();
        }
        let contents = Contents::Unavailable(Unavailable::OptimizedOut);
        let value = Value::new(Arc::clone(module), id, language, contents);
        self.reader.type_name(&value)
    }
}

/// The first parts, followed by "…" if there are more.
fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    let mut parts: Vec<String> = parts.take(MOST_PARTS + 1).collect();
    if parts.len() > MOST_PARTS {
        parts.pop();
        parts.push("…".to_owned());
    }
    parts.join(between)
}

/// A declaration of `name` in C's syntax: `char name[4]`, `int (*name)(int)`, `const char *name`.
fn declared(type_: &str, name: &str) -> String {
    if name.is_empty() {
        return type_.to_owned();
    }
    if let Some(at) = type_.find("(*") {
        let (before, behind) = type_.split_at(at + 2);
        return format!("{before}{name}{behind}");
    }
    // The outermost array bounds. Bounds within template arguments come before the last `>`.
    let start = type_.rfind('>').map_or(0, |at| at + 1);
    if let Some(at) = type_[start..].find(" [") {
        let (before, behind) = type_.split_at(start + at);
        return format!("{before} {name}{}", behind.trim_start());
    }
    match type_.ends_with(['*', '&']) {
        true => format!("{type_}{name}"),
        false => format!("{type_} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::declared;

    #[test]
    fn names_are_declared_as_c_writes_them() {
        for (type_, written) in [
            ("int", "int x"),
            ("const char *", "const char *x"),
            ("char [4]", "char x[4]"),
            ("int [2][3]", "int x[2][3]"),
            ("void (*)(int)", "void (*x)(int)"),
            ("std::array<int [2], 3>", "std::array<int [2], 3> x"),
        ] {
            assert_eq!(declared(type_, "x"), written);
        }
    }
}
