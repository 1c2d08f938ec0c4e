//! C++'s standard library as its users know it: the strings, containers, owners and other types of libstdc++ and libc++.
//!
//! Members are found by their role, as for Rust's library. A type with an unexpected layout is shown with its plain fields.

use super::quoting::quote;
use super::view::{Field, Limit, SHORT, View};
use super::{Contents, Reader, Value, names};
use crate::exceptions::cpp::Space;
use dapple_arch::Machine;
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::types::{Aggregate, Type, TypeKind};
use std::sync::Arc;

mod adaptors;
mod blocks;
mod calendar;
mod calls;
mod choices;
mod end_nodes;
mod errors;
mod futures;
mod iterators;
mod measures;
mod nodes;
mod owners;
mod spans;
mod streams;
mod texts;
mod threads;
mod walks;

pub(crate) use texts::declared_string;

/// How deep base classes may nest.
const MAX_BASES: usize = 16;
/// The largest plausible sequence or text, in bytes.
const MAX_OBJECT: u64 = i64::MAX as u64;

/// The view of a standard library's type; `None`: another type, or an unexpected layout.
pub(crate) fn view(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
    limit: Limit,
) -> Option<View> {
    let path = library_path(&type_.name)?;
    match path {
        "basic_string" => texts::string(reader, value, limit),
        "basic_string_view" => texts::string_view(reader, value, limit),
        "filesystem::path" | "filesystem::__cxx11::path" | "__fs::filesystem::path" => {
            let name = find(reader, value, &["_M_pathname", "__pn_"])?;
            Some(reader.view(&name, limit))
        }
        "vector" if is_of_bits(reader, value) => blocks::bits(reader, value, limit),
        "vector" => blocks::vector(reader, value),
        "deque" => blocks::deque(reader, value, aggregate, limit),
        "span" => spans::span(reader, value, type_),
        "mdspan" => spans::mdspan(reader, value, type_),
        "initializer_list" => spans::list(reader, value),
        "valarray" => spans::valarray(reader, value),
        "flat_map" | "flat_multimap" => spans::flat_map(reader, value, limit),
        "flat_set" | "flat_multiset" => Some(View::Alias(reader.field(value, "__keys_")?)),
        "bitset" => blocks::bitset(reader, value, type_, limit),
        "array" => blocks::array(reader, value, aggregate, limit),
        "map" | "multimap" | "set" | "multiset" => {
            nodes::tree(reader, value, aggregate, path, limit)
        }
        "list" | "forward_list" | "unordered_map" | "unordered_multimap" | "unordered_set"
        | "unordered_multiset" => nodes::chain(reader, value, aggregate, path, limit),
        "stack" | "queue" | "priority_queue" => Some(View::Alias(reader.field(value, "c")?)),
        "mutex" | "recursive_mutex" | "timed_mutex" | "recursive_timed_mutex" => {
            threads::mutex(reader, value)
        }
        "lock_guard" | "scoped_lock" => threads::guard(reader, value),
        "unique_lock" | "shared_lock" => threads::lock(reader, value),
        "shared_mutex" | "shared_timed_mutex" => threads::shared_mutex(reader, value),
        "condition_variable" | "condition_variable_any" | "_V2::condition_variable_any" => {
            threads::condition(reader, value)
        }
        "once_flag" => threads::once(reader, value),
        "stop_source" | "stop_token" => threads::stop(reader, value),
        "counting_semaphore" | "latch" => threads::counter(reader, value),
        "atomic_flag" => threads::flag(reader, value),
        "future" | "shared_future" | "promise" | "packaged_task" => {
            futures::view(reader, value, aggregate)
        }
        "thread" | "thread::id" | "__thread_id" | "jthread" => threads::thread(reader, value),
        "optional" => choices::optional(reader, value),
        "variant" => choices::variant(reader, value, aggregate),
        "monostate" => Some(View::Leaf("monostate".to_owned())),
        "tuple" => choices::tuple(reader, value, aggregate),
        "unique_ptr" => owners::unique(reader, value, limit),
        "shared_ptr" | "__shared_ptr" => owners::shared(reader, value, false, limit),
        "weak_ptr" | "__weak_ptr" => owners::shared(reader, value, true, limit),
        "expected" | "unexpected" => choices::expected(reader, value),
        "function" => calls::function(reader, value),
        "_Bind" | "_Bind_result" | "__bind" | "__bind_r" | "_Bind_front" | "__bind_front_t"
        | "_Not_fn" | "__not_fn_t" => calls::bound(reader, value),
        "_Mem_fn" | "__mem_fn" => {
            let names = ["_M_pmf", "_M_pm", "__f_"];
            Some(View::Alias(find(reader, value, &names)?))
        }
        "_Placeholder" | "placeholders::__ph" => calls::placeholder(reader, value),
        "coroutine_handle" | "__n4861::coroutine_handle" => {
            calls::coroutine(reader, value, aggregate)
        }
        "any" => owners::any(reader, value),
        "exception_ptr" | "__exception_ptr::exception_ptr" => owners::exception(reader, value),
        "atomic" | "__atomic_base" => owners::atomic(reader, value, limit),
        "reference_wrapper" | "atomic_ref" => owners::reference(reader, value),
        "chrono::duration" => measures::duration(reader, value, type_),
        "chrono::time_point" => measures::time_point(reader, value, type_),
        "complex" => measures::complex(reader, value),
        "ratio" => calendar::ratio(type_),
        "error_code" | "error_condition" => errors::code(reader, value),
        "error_category" | "_V2::error_category" => errors::category(reader, value),
        "source_location" => errors::location(reader, value),
        "type_info" => errors::type_info(reader, value),
        "type_index" => errors::type_index(reader, value),
        "strong_ordering" | "weak_ordering" | "partial_ordering" => {
            errors::ordering(reader, value, path)
        }
        _ if is_exception(path) => says(reader, value, limit),
        _ => iterators::view(reader, value, path, limit)
            .or_else(|| adaptors::view(reader, value, path, limit))
            .or_else(|| calendar::view(reader, value, path))
            .or_else(|| streams::view(reader, value, type_, limit)),
    }
}

/// Whether a value is an object of a C++ class with a definition, so that it has a raw form, which shows its fields. A raw form has no
/// further one.
pub(crate) fn has_fields(reader: &Reader<'_>, value: &Value) -> bool {
    !value.raw
        && reader.resolve(value).is_some_and(|resolved| {
            resolved.type_.language == Language::Cpp
                && matches!(&resolved.type_.kind, TypeKind::Aggregate(it) if !it.declaration)
        })
}

/// Whether a type belongs to C++'s standard library.
pub(crate) fn is_library(type_: &Type) -> bool {
    type_.language == Language::Cpp && library_path(&type_.name).is_some()
}

/// The name of a library's type without arguments, `std` and the library's inline namespaces: `std::__1::vector<int>` → `vector`. `None`:
/// the type isn't the library's.
fn library_path(name: &str) -> Option<&str> {
    let path = names::path_name(name);
    if path.starts_with("__gnu_cxx::") {
        return Some(path);
    }
    let path = path.strip_prefix("std::")?;
    let inline = ["__cxx11::", "__1::", "__ndk1::"];
    Some(
        inline
            .iter()
            .find_map(|it| path.strip_prefix(it))
            .unwrap_or(path),
    )
}

/// The view of a library's type that the program only declares, for the types whose layout the ABI defines.
pub(crate) fn declared(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    limit: Limit,
) -> Option<View> {
    match library_path(&type_.name) {
        Some("type_info") => return errors::type_info(reader, value),
        Some("error_category" | "_V2::error_category") => return errors::category(reader, value),
        _ => {}
    }
    texts::declared(reader, value, &type_.name, limit)
        .or_else(|| streams::view(reader, value, type_, limit))
}

/// The name of the type of `held`, the value that `value` contains now, if the type of `value` doesn't say it: if `value` is a `variant`,
/// an `any` or a `function`.
pub(crate) fn held(reader: &Reader<'_>, value: &Value, held: &Value) -> Option<String> {
    calls::held(reader, value, held)
}

/// The size of a library's type that the program only declares, if the ABI defines it. An address has `word` bytes.
pub(crate) fn declared_size(type_: &Type, word: u64) -> Option<u64> {
    let is_declared = matches!(&type_.kind, TypeKind::Aggregate(it) if it.declaration);
    is_declared
        .then(|| texts::declared_size(&type_.name, word))
        .flatten()
}

/// Whether a library's type is one of its exceptions, which have `what()`. `path` is its name without `std`.
fn is_exception(path: &str) -> bool {
    let plain = matches!(path, "exception" | "invalid_argument" | "out_of_range");
    plain || path.ends_with("_error") || path.starts_with("bad_")
}

fn is_of_bits(reader: &Reader<'_>, vector: &Value) -> bool {
    let has = |name| reader.find(vector, name).is_some();
    has("_M_offset") || (has("__begin_") && has("__size_") && !has("__end_"))
}

/// The view of a library's object in an impossible state.
fn nonsense(why: &str) -> View {
    View::Broken(format!("<not initialised or corrupt: {why}>"))
}

fn find(reader: &Reader<'_>, value: &Value, names: &[&str]) -> Option<Value> {
    names.iter().find_map(|name| reader.find(value, name))
}

fn word(reader: &Reader<'_>, value: &Value, names: &[&str]) -> Option<u64> {
    reader.word(&find(reader, value, names)?.contents).ok()
}

/// The first eight bytes of an unsigned integer of any size.
fn integer(reader: &Reader<'_>, value: &Value) -> Option<u64> {
    let size = reader.size_of(value)?.min(8);
    let mut word = [0; 8];
    let bytes = reader.bytes(&value.contents, size).ok()?;
    word.get_mut(..bytes.len())?.copy_from_slice(&bytes);
    Some(u64::from_le_bytes(word))
}

/// The base class with this base name, whatever its template arguments.
fn base(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate, name: &str) -> Option<Value> {
    bases(reader, value, aggregate, name).next()
}

/// All base classes with this base name.
fn bases(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    name: &str,
) -> impl Iterator<Item = Value> {
    let bases = aggregate.members.iter().filter(|member| member.base);
    bases.filter_map(move |member| {
        let base = reader.member(value, member);
        let type_ = reader.resolve(&base)?.type_;
        (names::base_name(&type_.name) == name).then_some(base)
    })
}

/// The name of an object's dynamic type. `None`: its class has no virtual functions, or is the dynamic type itself.
pub(crate) fn dynamic_type(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
) -> Option<String> {
    let is_polymorphic = |aggregate: &Aggregate| {
        let first = aggregate.members.first()?;
        Some(first.artificial && first.offset == 0)
    };
    let own = reader.resolve(value)?.type_;
    let mut at = Arc::clone(&own);
    let mut found = is_polymorphic(aggregate)?;
    // The vtable's address may be in the first base instead.
    for _ in 0..MAX_BASES {
        let TypeKind::Aggregate(inner) = &at.kind else {
            return None;
        };
        found = found || is_polymorphic(inner)?;
        let base = inner.members.first().filter(|member| member.base && !found);
        let Some(base) = base else {
            break;
        };
        at = reader
            .resolve(&value.sibling(Some(base.type_id), value.contents.clone()))?
            .type_;
    }
    let table = if found {
        reader.word(&value.contents).ok()?
    } else {
        return None;
    };
    let name = reader.symbol_name(table)?;
    let class = name
        .strip_prefix("vtable for ")
        .or_else(|| name.strip_prefix("{vtable(")?.strip_suffix(")}"))?;
    let class = names::shorten(class, Language::Cpp);
    (class != names::shorten(&own.name, own.language)).then_some(class)
}

/// The view of an exception whose class is only declared, as the standard library's are: the text of its `what()`.
pub(crate) fn says(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    let at = value.contents.address()?;
    let space = Space {
        memory: reader.memory,
        modules: reader.modules,
    };
    let text = space.what(space.dynamic(at)?, errors::STACK)?;
    let mut ends = (0..=limit.text.min(text.len())).rev();
    let shown = ends.find(|end| text.is_char_boundary(*end))?;
    let mark = if shown < text.len() { "…" } else { "" };
    Some(View::Text {
        text: format!("{}{mark}", quote(&text.as_bytes()[..shown])),
        address: Some(at.0),
    })
}

/// The text of a pointer to member: the member at its offset, or the function (Itanium C++ ABI §2.3).
pub(crate) fn member_pointer(
    machine: Machine,
    bytes: &[u8],
    function: impl Fn(u64) -> Option<String>,
    member: impl Fn(u64) -> Option<String>,
    virtual_function: impl Fn(u64) -> Option<String>,
) -> String {
    let size = machine.address_size() as usize;
    let word = |index: usize| {
        let bytes = bytes.get(size * index..)?.get(..size)?;
        match size {
            4 => Some(i32::from_le_bytes(bytes.try_into().ok()?).into()),
            _ => Some(i64::from_le_bytes(bytes.try_into().ok()?)),
        }
    };
    // The entry in a virtual table, in bytes. On arm, the second word says whether the first is one (C++ ABI for the Arm Architecture, §4.2.1).
    let entry = |first: i64| match machine {
        Machine::Arm => word(1).filter(|second| second & 1 == 1).map(|_| first),
        _ => (first & 1 == 1).then_some(first - 1),
    };
    let words = bytes.len() / size;
    match (word(0), words) {
        (Some(-1), 1) => "nullptr".to_owned(),
        (Some(0), 2) if entry(0).is_none() => "nullptr".to_owned(),
        (Some(offset), 1) => match member(offset as u64) {
            Some(member) => format!("&{member}"),
            None => format!("offset {offset}"),
        },
        (Some(first), 2) if entry(first).is_some() => {
            let slot = entry(first).unwrap_or(0) as u64 / size as u64;
            match virtual_function(slot) {
                Some(name) => format!("&{name} (virtual)"),
                None => format!("virtual function {slot}"),
            }
        }
        (Some(address), _) => match function(address as u64) {
            Some(name) => format!("{address:#x} <{name}>"),
            None => format!("{address:#x}"),
        },
        (None, _) => super::scalars::hex(bytes),
    }
}

/// The member of a class at an offset: `Point::y`. `class` is an object at address 0.
pub(crate) fn member_at(reader: &Reader<'_>, class: &Value, offset: u64) -> Option<String> {
    let type_ = reader.resolve(class)?.type_;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    let record = reader.record(class, &type_, aggregate);
    let is_there = |field: &&Field| {
        field.value.contents.address().map(|at| at.0) == Some(offset)
            && !field.base
            && !field.artificial
    };
    let field = record.fields.iter().find(is_there)?;
    Some(format!(
        "{}::{}",
        names::shorten(&type_.name, type_.language),
        field.name
    ))
}

/// The virtual function of a class at an index of its vtable: `Shape::area`. The first indices are those of the first base's functions.
pub(crate) fn virtual_at(reader: &Reader<'_>, class: &Value, slot: u64) -> Option<String> {
    let mut class = class.clone();
    for _ in 0..MAX_BASES {
        let type_ = reader.resolve(&class)?.type_;
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        let module = &class.module.module;
        if let Some(name) = module.virtual_function(type_.id, slot) {
            let own = names::shorten(&type_.name, type_.language);
            return Some(format!("{own}::{name}"));
        }
        let mut bases = aggregate.members.iter().filter(|member| member.base);
        let first = bases.find(|base| base.offset == 0 && !base.virtual_base)?;
        class = class.sibling(Some(first.type_id), class.contents.clone());
    }
    None
}

/// Names a closure's fields after the captured variables: gcc prepends two underscores.
pub(crate) fn name_captures(fields: &mut [Field]) {
    for field in fields {
        if let Some(name) = field.name.strip_prefix("__") {
            field.name = name.to_owned();
        }
    }
}

/// The most-derived object that a value is a base of, as a field named after the object's class: `[Derived]`. `None`: the value is that
/// object itself or is shown within it, or the class is unknown.
pub(crate) fn most_derived(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
) -> Option<Field> {
    let at = value
        .contents
        .address()
        .filter(|at| at.0 != 0 && !value.base && !value.raw)?;
    let class = dynamic_type(reader, value, aggregate)?;
    let [table] = reader.words(at.0).ok()?;
    // The offset to the top of the object, two words before the vtable's address point (Itanium C++ ABI §2.5.2).
    let [offset] = reader
        .words(table.checked_sub(2 * reader.address_size())?)
        .ok()?;
    let whole = Contents::Memory(at.offset(reader.signed(offset)));
    let near = NamePattern::new(&format!("::{class}"));
    let module = &value.module.module;
    let near = module.find_types_beside(value.type_id?, &near);
    let beside = near.into_iter().find(|found| !found.only_declared);
    let (module, type_id) = match beside {
        Some(found) => (Arc::clone(&value.module), found.id),
        None => reader.type_named(&class, Language::Cpp, &value.module)?,
    };
    Some(Field {
        name: format!("[{class}]"),
        value: Value::new(module, Some(type_id), value.language, whole),
        base: true,
        artificial: true,
    })
}

impl Reader<'_> {
    /// The most-derived object that contains `part`, found by the vtable, or `part` itself if the vtable leads to no other object. `None`:
    /// the class of `part` has no vtable.
    pub(crate) fn whole_object(&self, part: &Value, aggregate: &Aggregate) -> Option<Value> {
        let whole = most_derived(self, part, aggregate).map(|field| field.value);
        whole.or_else(|| self.has_table(part, aggregate, 0).then(|| part.clone()))
    }

    fn has_table(&self, value: &Value, aggregate: &Aggregate, depth: usize) -> bool {
        aggregate.members.iter().any(|member| {
            let is_table = || {
                let name = member.name.as_deref();
                member.artificial && name.is_some_and(|name| name.starts_with("_vptr"))
            };
            if !member.base {
                return is_table();
            }
            let base = value.sibling(Some(member.type_id), value.contents.clone());
            let type_ = self.resolve(&base).map(|resolved| resolved.type_);
            type_.is_some_and(|type_| match &type_.kind {
                TypeKind::Aggregate(inner) if depth < 16 => self.has_table(&base, inner, depth + 1),
                _ => false,
            })
        })
    }
}
