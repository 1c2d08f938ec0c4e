//! How to drop values of Rust: finds the compiler's drop glue (`core::ptr::drop_in_place::<T>`) by the type's name.
//!
//! A type without glue in the program, such as a `Result` that was only ever unwrapped, is dropped member by member, as its glue would
//! do. This module only reads debug information and memory; its callers run the code.

use super::active_variant;
use crate::Address;
use crate::modules::LoadedModule;
use crate::values::{Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Aggregate, Type, TypeId, TypeKind};
use std::sync::Arc;

/// The most types that are visited to judge one type, and the most calls that drop one value.
const MOST_VISITS: usize = 256;
const DEEPEST: usize = 16;
/// Types whose values must not be left undropped, since they hold borrows and reference counts that other values depend on. Types whose
/// names end in `Guard` are such types, too.
const SHARED: [&str; 10] = [
    "Ref",
    "RefMut",
    "BorrowRef",
    "BorrowRefMut",
    "Rc",
    "Arc",
    "Weak",
    "Sender",
    "SyncSender",
    "Receiver",
];

/// The beginnings of the paths of library types that own heap memory.
const HEAP: [&str; 3] = ["alloc::", "std::collections::", "hashbrown::"];

/// Whether values of a type have to be dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Drops {
    /// They needn't be, or the type is unknown or too large to be searched.
    No,
    Yes,
    /// They have to be, but the module has no drop glue for the type of this name: the value's type or that of a part.
    Unknown(String),
}

/// A call that drops a value or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropCall {
    /// The function's name for display.
    pub name: String,
    /// The address of the function.
    pub code: Address,
    /// The address of the object: the only argument.
    pub object: Address,
}

/// Whether values of a type have to be dropped.
pub(crate) fn drops(module: &Arc<LoadedModule>, id: TypeId) -> Drops {
    drops_within(module, id, DEEPEST, &mut 0)
}

fn drops_within(module: &Arc<LoadedModule>, id: TypeId, depth: usize, visits: &mut usize) -> Drops {
    *visits += 1;
    let Some(type_) = dropped_type(module, id).filter(|_| depth > 0 && *visits <= MOST_VISITS)
    else {
        return Drops::No;
    };
    if code(module, &type_).is_some() {
        return Drops::Yes;
    }
    if keeps_others_out(&type_) {
        return Drops::Unknown(names::shorten(&type_.name, type_.language));
    }
    let mut found = Drops::No;
    for part in parts(module, &type_) {
        match drops_within(module, part, depth - 1, visits) {
            Drops::No => {}
            Drops::Yes => found = Drops::Yes,
            unknown @ Drops::Unknown(_) => return unknown,
        }
    }
    found
}

/// The calls that drop a value, in order. Empty: the value isn't in memory, or needs no call.
pub fn calls(reader: &Reader<'_>, value: &Value) -> Vec<DropCall> {
    let mut calls = Vec::new();
    collect(reader, value, DEEPEST, &mut calls);
    calls
}

fn collect(reader: &Reader<'_>, value: &Value, depth: usize, calls: &mut Vec<DropCall>) {
    let type_ = value
        .type_id
        .and_then(|id| dropped_type(&value.module, id))
        .filter(|_| depth > 0 && calls.len() < MOST_VISITS);
    let (Some(type_), Some(object)) = (type_, value.contents.address()) else {
        return;
    };
    if let Some(code) = code(&value.module, &type_) {
        let name = names::shorten(&type_.name, type_.language);
        calls.push(DropCall {
            name: format!("drop_in_place<{name}>"),
            code,
            object,
        });
        return;
    }
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return;
    };
    if aggregate.variants.is_some() {
        if let Ok(variant) = active_variant(reader, value, aggregate) {
            collect(
                reader,
                &reader.member(value, &variant.member),
                depth - 1,
                calls,
            );
        }
        return;
    }
    for member in &aggregate.members {
        collect(reader, &reader.member(value, member), depth - 1, calls);
    }
}

/// Whether values of a Rust type own something, so that a copy of their bytes would be a second owner.
pub(crate) fn is_owner(module: &Arc<LoadedModule>, type_: &Type) -> bool {
    type_.language == Language::Rust
        && (owns_memory(module, type_) || drops(module, type_.id) != Drops::No)
}

/// Whether the memory that a value's view shows is still valid after the value's drop, judged by names: the value owns no heap memory,
/// or shares it with others.
pub fn outlives_drop(module: &LoadedModule, type_: &Type) -> bool {
    let is_shared = |part: &str| SHARED.contains(&part) || part.ends_with("Guard");
    let mut words = type_.name.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(is_shared) || !owns_memory(module, type_)
}

/// Whether values of a type own heap memory, alone or with others, judged by its parts. `true` if the type is too large to be searched.
pub(crate) fn owns_memory(module: &LoadedModule, type_: &Type) -> bool {
    owns_within(module, type_, DEEPEST, &mut 0)
}

fn owns_within(module: &LoadedModule, type_: &Type, depth: usize, visits: &mut usize) -> bool {
    *visits += 1;
    if depth == 0 || *visits > MOST_VISITS {
        return true;
    }
    let inner = |id: TypeId, visits: &mut usize| {
        let type_ = module.module.strip_aliases(id).ok().flatten();
        type_.is_none_or(|type_| owns_within(module, &type_, depth - 1, visits))
    };
    match &type_.kind {
        TypeKind::Pointer(..) => {
            !type_.name.starts_with('&')
                && !type_.name.contains("fn(")
                && type_.name.contains("Box<")
        }
        TypeKind::Aggregate(_) if HEAP.iter().any(|path| type_.name.starts_with(path)) => true,
        TypeKind::Array { element, .. } => inner(*element, visits),
        TypeKind::Aggregate(_) => parts(module, type_).any(|id| inner(id, visits)),
        _ => false,
    }
}

/// The type without aliases, if it is a Rust type whose values may have to be dropped.
fn dropped_type(module: &LoadedModule, id: TypeId) -> Option<Arc<Type>> {
    let type_ = module.module.strip_aliases(id).ok().flatten()?;
    let is_plain = match &type_.kind {
        TypeKind::Aggregate(_) => type_.name.starts_with(['&', '*']),
        TypeKind::Pointer(..) => !type_.name.contains("Box<") || type_.name.starts_with(['&', '*']),
        _ => true,
    };
    (!is_plain && type_.language == Language::Rust).then_some(type_)
}

/// The types of the members of a type's values, including those of all variants. Empty for references: a fat one is a struct, but owns
/// no parts.
fn parts(module: &LoadedModule, type_: &Type) -> impl Iterator<Item = TypeId> {
    let mut parts = Vec::new();
    if let TypeKind::Aggregate(aggregate) = &type_.kind
        && !type_.name.starts_with('&')
    {
        let members = |aggregate: &Aggregate| -> Vec<TypeId> {
            let members = aggregate.members.iter();
            members.map(|member| member.type_id).collect()
        };
        parts = members(aggregate);
        let payloads = aggregate.variants.iter().flat_map(|part| &part.variants);
        for variant in payloads {
            let payload = module.module.strip_aliases(variant.member.type_id);
            if let Ok(Some(payload)) = payload
                && let TypeKind::Aggregate(payload) = &payload.kind
            {
                parts.extend(members(payload));
            }
        }
    }
    parts.into_iter()
}

fn keeps_others_out(type_: &Type) -> bool {
    let name = names::base_name(&type_.name);
    let is_library = names::is_rust_std(names::path_name(&type_.name));
    name.ends_with("Guard") || is_library && SHARED.contains(&name)
}

/// The address of a type's drop glue. `None`: the module has none. Candidates are taken from the symbols, which is faster than a search
/// of the debug information. A candidate is the glue if the function at its address is `drop_in_place` of this type according to the
/// debug information.
fn code(module: &LoadedModule, type_: &Type) -> Option<Address> {
    // An identifier in the type's name, which every mangling scheme preserves.
    let base = names::base_name(&type_.name);
    let is_identifier = |c: char| c.is_alphanumeric() || c == '_';
    let base = base.split(|c| !is_identifier(c)).next().unwrap_or("");
    let symbols = module.module.functions_with("drop_in_place");
    let mut symbols = symbols.iter().filter(|symbol| symbol.name.contains(base));
    symbols.find_map(|symbol| {
        let function = module.module.function_at(symbol.address)?;
        let rest = function.name.strip_prefix("core::ptr::drop_in_place<")?;
        let is_it =
            function.entry == symbol.address && rest.strip_suffix('>') == Some(&*type_.name);
        is_it.then(|| module.to_process(symbol.address))
    })
}
