//! Owners: smart pointers, and types that hide the type of their value.

use super::{bases, integer, word};
use crate::Address;
use crate::exceptions::cpp::Space;
use crate::exceptions::thrown;
use crate::values::view::{Limit, Shows, View};
use crate::values::{Contents, Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeKind;

/// The largest plausible number of owners of one object.
const MAX_OWNERS: i64 = i32::MAX as i64;

/// `unique_ptr`: its pointer, which may come after the deleter.
pub(super) fn unique(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    let pointer = match reader.find(value, "__ptr_") {
        Some(pointer) => pointer,
        None => {
            let tuple = reader.search(value, 8, &|_, type_| {
                names::base_name(&type_.name) == "_Tuple_impl"
            })?;
            let type_ = reader.resolve(&tuple)?.type_;
            let TypeKind::Aggregate(aggregate) = &type_.kind else {
                return None;
            };
            let head = bases(reader, &tuple, aggregate, "_Head_base").next()?;
            reader.field(&head, "_M_head_impl")?
        }
    };
    // The length of an array is unknown.
    let is_array = reader.resolve(value)?.type_.name.contains("[]");
    let shows = if is_array {
        Shows::Address
    } else {
        Shows::Target
    };
    Some(owner(reader, pointer, shows, limit))
}

fn owner(reader: &Reader<'_>, mut pointer: Value, shows: Shows, limit: Limit) -> View {
    pointer.raw = true;
    match reader.view(&pointer, limit) {
        // If the target is shown, drop a note with its dynamic type: the target's own view shows that type, too.
        View::Pointer {
            address,
            target,
            note,
            ..
        } => View::Pointer {
            address,
            target,
            note: note.filter(|note| !note.starts_with('<') || shows == Shows::Address),
            shows,
        },
        other => other,
    }
}

/// `shared_ptr` and `weak_ptr`, with the numbers of owners.
pub(super) fn shared(
    reader: &Reader<'_>,
    value: &Value,
    is_weak: bool,
    limit: Limit,
) -> Option<View> {
    let pointer = super::find(reader, value, &["_M_ptr", "__ptr_"])?;
    let Some((owners, weak)) = counts(reader, value) else {
        return Some(owner(reader, pointer, Shows::Target, limit));
    };
    if is_weak && owners == 0 {
        return Some(View::Pointer {
            address: reader.word(&pointer.contents).ok()?,
            target: None,
            note: None,
            shows: Shows::Counted(format!("expired, weak count {weak}")),
        });
    }
    let counts = format!("use count {owners}, weak count {weak}");
    Some(owner(reader, pointer, Shows::Counted(counts), limit))
}

/// The number of owners, and the number of weak references.
fn counts(reader: &Reader<'_>, value: &Value) -> Option<(i64, i64)> {
    let block = super::find(reader, value, &["_M_pi", "__cntrl_"])?;
    let TypeKind::Pointer(_, target) = reader.resolve(&block)?.type_.kind else {
        return None;
    };
    let address = reader.word(&block.contents).ok().filter(|at| *at != 0)?;
    let name = reader.resolve(&block)?.type_.name.clone();
    let block = block.sibling(target, Contents::Memory(Address(address)));
    let count = |name: &str| {
        let count = reader.find(&block, name)?;
        let number = integer(reader, &count)?;
        Some(match reader.size_of(&count)? {
            4 => i64::from(number as u32 as i32),
            _ => number as i64,
        })
    };
    // All owners together count as one weak reference. libc++ stores each number less one.
    let (owners, weak) = match count("_M_use_count") {
        Some(owners) => (owners, count("_M_weak_count")?),
        None => {
            let (owners, weak) = match count("__shared_owners_") {
                Some(owners) => (owners, count("__shared_weak_owners_")?),
                // If the type of the counts is only declared: they come after the vtable's address.
                None if name.contains("__shared_weak_count") => {
                    let [owners, weak] = reader
                        .words(address.checked_add(reader.address_size())?)
                        .ok()?;
                    (owners as i64, weak as i64)
                }
                None => return None,
            };
            (owners.checked_add(1)?, weak.checked_add(1)?)
        }
    };
    let weak = weak.checked_sub(i64::from(owners > 0))?;
    let is_plausible = (0..=MAX_OWNERS).contains(&owners) && (0..=MAX_OWNERS).contains(&weak);
    is_plausible.then_some((owners, weak))
}

/// `any`: its value, whose type is in the name of its manager function.
pub(super) fn any(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let manager = word(reader, value, &["_M_manager", "__h_", "__h"])?;
    if manager == 0 {
        return Some(View::Leaf("empty".to_owned()));
    }
    let name = reader.function_name(manager)?;
    let (is_inside, rest) = [
        "_Manager_internal",
        "__any_imp::_SmallHandler",
        "_SmallHandler",
    ]
    .iter()
    .find_map(|inside| Some((true, name.split_once(inside)?.1)))
    .or_else(|| {
        let outside = ["_Manager_external", "_LargeHandler"];
        let rest = outside
            .iter()
            .find_map(|outside| Some(name.split_once(outside)?.1));
        Some((false, rest?))
    })?;
    let held = names::arguments(rest).first()?.clone();
    let storage = super::find(reader, value, &["_M_storage", "__s_", "__s"])?;
    let contents = match is_inside {
        true => storage.contents,
        false => Contents::Memory(Address(reader.word(&storage.contents).ok()?)),
    };
    match reader.type_named(&held, Language::Cpp, &value.module) {
        Some((module, type_id)) => {
            let held = Value::new(module, Some(type_id), value.language, contents);
            Some(View::Alias(held))
        }
        None => {
            let name = names::shorten(&held, Language::Cpp);
            Some(View::Leaf(format!(
                "<a {name}, whose type is not described>"
            )))
        }
    }
}

/// `exception_ptr`: the exception.
pub(super) fn exception(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let object = word(reader, value, &["_M_exception_object", "__ptr_"])?;
    thrown_at(reader, object, value)
}

/// The view of an exception. `object` is the address of the thrown object, or 0 for none.
pub(super) fn thrown_at(reader: &Reader<'_>, object: u64, value: &Value) -> Option<View> {
    let space = Space {
        memory: reader.memory,
        modules: reader.modules,
    };
    let thrown = (object != 0)
        .then(|| space.of_object(Address(object)))
        .flatten();
    let name = thrown.and_then(|thrown| space.type_name(thrown.type_info));
    let name = name.map(|name| names::shorten(&name, Language::Cpp));
    let target =
        thrown.and_then(|thrown| thrown::value_of(reader, thrown, None, &value.module).ok());
    // A thrown scalar is shown in the note; it has no target to show.
    let is_number = |target: &Value| matches!(target.contents, Contents::Number(_));
    let number = target
        .as_ref()
        .filter(|target| is_number(target))
        .map(|number| reader.render(number).text);
    let target = target.filter(|target| !is_number(target));
    let note = name.map(|name| match number {
        Some(number) => format!("<{name}> {number}"),
        None => format!("<{name}>"),
    });
    Some(View::Pointer {
        address: object,
        target,
        note,
        shows: Shows::Target,
    })
}

/// `reference_wrapper` and `atomic_ref`: the target, as for references. A function is shown as an address.
pub(super) fn reference(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let pointer = super::find(reader, value, &["_M_data", "_M_ptr", "__f_", "__ptr_"])?;
    let TypeKind::Pointer(_, target) = reader.resolve(&pointer)?.type_.kind else {
        return None;
    };
    let address = reader.word(&pointer.contents).ok()?;
    let referred = pointer.sibling(target, Contents::Memory(Address(address)));
    Some(View::Alias(match reader.size_of(&referred) {
        Some(_) => referred,
        None => pointer,
    }))
}

/// `atomic`: its value.
pub(super) fn atomic(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    let names = ["_M_i", "_M_base", "_M_p", "_M_fp", "__a_value", "_M_b"];
    if let Some(held) = super::find(reader, value, &names) {
        return Some(View::Alias(held));
    }
    // An atomic shared pointer.
    let pointer = reader.find(value, "_M_ptr")?;
    Some(owner(reader, pointer, Shows::Target, limit))
}
