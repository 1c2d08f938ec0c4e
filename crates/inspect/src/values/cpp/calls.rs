//! Callables: `function`, bound functions and their placeholders, and coroutines.

use super::choices::{elements, listed};
use super::{find, library_path, word};
use crate::Address;
use crate::values::view::{Shows, View};
use crate::values::{Contents, Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Aggregate, TypeKind};

/// The largest function object that libstdc++'s `function` stores inline, if the object is trivially copyable, in words.
const INSIDE: u64 = 2;
/// How many functions in the vtable of libc++'s object are looked at.
const TABLE: usize = 9;

/// `function`: its target. libstdc++ stores a function that is specialised for the target's type, libc++ an object with a vtable.
pub(super) fn function(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let empty = || Some(View::Leaf("empty".to_owned()));
    let held = match word(reader, value, &["_M_invoker"]) {
        Some(_) if word(reader, value, &["_M_manager"])? == 0 => return empty(),
        Some(invoker) => held_by_libstdcxx(reader, value, invoker),
        None if libcxx_object(reader, value)? == 0 => return empty(),
        None => held_by_libcxx(reader, value),
    };
    match held {
        Some(held) => Some(callable(reader, held)),
        None => named(reader, value),
    }
}

/// The target in libstdc++'s `function`. The invoker is a member of a class that has the target's type as an argument.
fn held_by_libstdcxx(reader: &Reader<'_>, value: &Value, invoker: u64) -> Option<Value> {
    let handler = class_of(reader, value, invoker, "_Function_handler")?;
    let type_ = reader.resolve(&handler)?.type_;
    let TypeKind::Aggregate(class) = &type_.kind else {
        return None;
    };
    let held = class.type_arguments.get(1)?.1;
    let functor = reader.find(value, "_M_functor")?;
    let mut held = handler.sibling(held, functor.contents);
    let size = reader.size_of(&held)?;
    let type_ = reader.resolve(&held)?.type_;
    let module = &held.module.module;
    let word = reader.address_size();
    let is_outside = size > INSIDE * word || reader.align_of(&held) > word;
    if is_outside || module.is_passed_by_reference(type_.id) {
        held.contents = Contents::Memory(Address(reader.word(&held.contents).ok()?));
    }
    Some(held)
}

fn libcxx_object(reader: &Reader<'_>, value: &Value) -> Option<u64> {
    let holder = reader.find(value, "__f_")?;
    let object = reader.search(&holder, 8, &|name, type_| {
        name == Some("__f_") && matches!(type_.kind, TypeKind::Pointer(..))
    })?;
    reader.word(&object.contents).ok()
}

fn held_by_libcxx(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let object = libcxx_object(reader, value)?;
    let [table] = reader.words(object).ok()?;
    let functions: [u64; TABLE] = reader.words(table).ok()?;
    let mut holder = functions
        .iter()
        .find_map(|function| class_of(reader, value, *function, "__func"))?;
    holder.contents = Contents::Memory(Address(object));
    find(reader, &holder, &["__func_", "__f_"])
}

/// The class of which the function at an address is a member. `None`: there is none, or its base name isn't `name`.
fn class_of(reader: &Reader<'_>, value: &Value, function: u64, name: &str) -> Option<Value> {
    let module = reader.modules.at(Address(function))?;
    let class = module
        .module
        .class_of_function(module.to_file(Address(function)))?;
    let contents = Contents::Memory(Address(0));
    let class = Value::new(module.clone(), Some(class), value.language, contents);
    let type_ = reader.resolve(&class)?.type_;
    (names::base_name(&type_.name) == name).then_some(class)
}

/// The view of a wrapper's target: if the target's class has no fields, the name of the class, else the target itself.
fn callable(reader: &Reader<'_>, held: Value) -> View {
    let is_bare = reader.resolve(&held).is_some_and(|resolved| {
        let TypeKind::Aggregate(aggregate) = &resolved.type_.kind else {
            return false;
        };
        let empty = |member: &dapple_symbols::types::Member| {
            member.base && reader.is_empty_base(member, &held, 0)
        };
        aggregate.members.iter().all(empty)
    });
    match held_name(reader, &held).filter(|_| is_bare) {
        Some(name) => View::Leaf(format!("<{name}>")),
        None => View::Alias(held),
    }
}

/// The view of a target whose type has no debug information: the type's name, from the symbol of a function specialised for it.
fn named(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let (callable, target) = match word(reader, value, &["_M_invoker"]) {
        Some(invoker) => {
            let name = reader.function_name(invoker)?;
            let arguments = names::arguments(name.split_once("_Function_handler")?.1);
            let functor = reader.find(value, "_M_functor")?;
            (arguments.get(1)?.clone(), functor.contents)
        }
        None => {
            let object = libcxx_object(reader, value)?;
            let [table] = reader.words(object).ok()?;
            let name = reader.symbol_name(table)?;
            let arguments = names::arguments(name.split_once("__function::__func")?.1);
            let target = Contents::Memory(Address(object.checked_add(reader.address_size())?));
            (arguments.first()?.clone(), target)
        }
    };
    if callable.contains("(*)") {
        let target = reader.word(&target).ok()?;
        let name = reader.function_name(target)?;
        return Some(View::Leaf(format!("{target:#x} <{name}>")));
    }
    // Clang's name of a lambda in the debug information: `(lambda at FOLDER/FILE:LINE:COLUMN)`.
    let place = callable.split_once("(lambda at ").and_then(|(_, place)| {
        let (file, _) = place.strip_suffix(')')?.rsplit_once(':')?;
        file.rsplit('/').next()
    });
    Some(View::Leaf(match place {
        Some(place) => format!("<lambda at {place}>"),
        None => format!("<{}>", names::shorten(&callable, Language::Cpp)),
    }))
}

/// The name shown before a type-erased value: `Point`, `lambda at FILE:LINE`. `None`: it is no object of a class, or of a library's
/// internal one.
fn held_name(reader: &Reader<'_>, held: &Value) -> Option<String> {
    let resolved = reader.resolve(held)?;
    if !matches!(resolved.type_.kind, TypeKind::Aggregate(_)) {
        return None;
    }
    if !resolved.type_.name.ends_with("{lambda}") {
        // Names of a library's internal types tell nothing.
        let name = Some(reader.type_name(held));
        return name.filter(|name| !names::is_internal(name));
    }
    let place = held.module.module.type_declaration(resolved.type_.id)?;
    let file = place.file.file_name()?.to_string_lossy();
    Some(format!("lambda at {file}:{}", place.line))
}

/// As [`super::held`].
pub(super) fn held(reader: &Reader<'_>, value: &Value, held: &Value) -> Option<String> {
    let type_ = reader.resolve(value)?.type_;
    if type_.language != Language::Cpp || value.raw {
        return None;
    }
    match library_path(&type_.name)? {
        "function" | "move_only_function" => held_name(reader, held),
        "variant" | "any" => {
            let name = reader.type_name(held);
            (name != "std::monostate" && !name.is_empty()).then_some(name)
        }
        _ => None,
    }
}

/// Bound functions: the function and its bound arguments.
pub(super) fn bound(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let function = find(reader, value, &["_M_f", "_M_fd", "_M_fn", "__f_"]);
    let rest = match reader.find(value, "_M_fn") {
        Some(_) => Vec::new(),
        None => {
            let tuple = find(reader, value, &["_M_bound_args", "__bound_args_"])?;
            let type_ = reader.resolve(&tuple)?.type_;
            let TypeKind::Aggregate(aggregate) = &type_.kind else {
                return None;
            };
            elements(reader, &tuple, aggregate)?
        }
    };
    // libc++ stores some functions as the first one of the arguments.
    let all = function.into_iter().chain(rest).enumerate();
    let name = |position: usize| match position {
        0 => "function".to_owned(),
        position => (position - 1).to_string(),
    };
    let all = all.map(|(position, value)| (name(position), value));
    let type_ = reader.resolve(value)?.type_;
    let said = match names::base_name(&type_.name).trim_start_matches('_') {
        "Bind_front" | "bind_front_t" => "bind_front",
        "Not_fn" | "not_fn_t" => "not_fn",
        _ => "bind",
    };
    Some(listed(Some(said), all.collect()))
}

/// A placeholder for an argument: `_1`.
pub(super) fn placeholder(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let type_ = reader.resolve(value)?.type_;
    let number = names::arguments(&type_.name).first()?.clone();
    Some(View::Leaf(format!("_{number}")))
}

/// `coroutine_handle`: the coroutine's function and its promise. In the coroutine's memory, the promise comes after two words, at the next
/// address that its alignment allows. The first word points to the resume function; it is null if the coroutine has finished.
pub(super) fn coroutine(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<View> {
    let address = word(reader, value, &["_M_fr_ptr", "__handle_"])?;
    let mut pointer = View::Pointer {
        address,
        target: None,
        note: None,
        shows: Shows::Target,
    };
    if address == 0 {
        return Some(pointer);
    }
    let Ok([resume, destroy]) = reader.words(address) else {
        return Some(View::Pointer {
            address,
            target: None,
            note: Some("<its frame cannot be read>".to_owned()),
            shows: Shows::Address,
        });
    };
    let function = match resume {
        0 => reader.function_name(destroy),
        resume => reader.function_name(resume),
    };
    // Compilers append a suffix that says which part of the coroutine the function is.
    let name = function.map(|name| {
        let end = name.find(['(', '.', ' ']).unwrap_or(name.len());
        name[..end].to_owned()
    });
    let state = if resume == 0 { "done" } else { "suspended" };
    let note = match name {
        Some(name) => format!("<{name}, {state}>"),
        None => format!("<{state}>"),
    };
    let promise = aggregate.type_arguments.first().and_then(|(_, promise)| {
        let mut promise = value.sibling(Some((*promise)?), Contents::Memory(Address(0)));
        let align = reader.align_of(&promise).max(1);
        let at = address
            .checked_add(2 * reader.address_size())?
            .checked_next_multiple_of(align)?;
        promise.contents = Contents::Memory(Address(at));
        reader.resolve(&promise).is_some().then_some(promise)
    });
    if let View::Pointer {
        target, note: said, ..
    } = &mut pointer
    {
        *target = promise;
        *said = Some(note);
    }
    Some(pointer)
}
