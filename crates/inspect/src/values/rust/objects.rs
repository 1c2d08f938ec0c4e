//! Fat pointers: to slices and strings (for structs that end in those, see `tails`), and to trait objects, whose concrete type the
//! vtable identifies.

use super::{Flaw, OrUnknownLayout, sequences, tails};
use crate::Address;
use crate::values::view::{Limit, Shows, View};
use crate::values::{Contents, Reader, Value, contents, names};
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::FoundType;
use dapple_symbols::types::{Type, TypeKind};

/// How many nested structs are searched for the trait object at their end.
const NESTING: usize = 6;

/// The metadata of a fat pointer.
pub(super) enum Fat {
    /// The number of elements.
    Length(u64),
    /// The address of the vtable.
    Table(u64),
}

impl Fat {
    /// The metadata of the pointer in a value. `None`: the pointer is thin, or the metadata is unreadable.
    pub fn of(reader: &Reader<'_>, value: &Value) -> Option<Fat> {
        let word = |field: Value| reader.word(&field.contents).ok();
        if reader.find(value, "data_ptr").is_some() {
            return reader.find(value, "length").and_then(word).map(Fat::Length);
        }
        let table = reader.search(value, 2, &|name, _| name == Some("vtable"))?;
        word(table).map(Fat::Table)
    }
}

/// The view of references, raw pointers and boxes that are fat pointers.
pub(super) fn fat_pointer(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    limit: Limit,
) -> Result<View, Flaw> {
    if let Some(table) = reader.field(value, "vtable") {
        let address = reader.word(&reader.find_pointer(value).known()?.contents)?;
        let table = reader.word(&table.contents)?;
        let pointer = reader.find_pointer(value).known()?;
        let TypeKind::Pointer(_, target) = reader.resolve(&pointer).known()?.type_.kind else {
            return Err(Flaw::Layout);
        };
        let pointee = value.sibling(target, Contents::Memory(Address(address)));
        let view = behind_table(reader, value, &pointee, table)?;
        return Ok(match view {
            View::Alias(target) if type_.name.starts_with('*') => View::Pointer {
                address,
                note: name(reader, &target),
                target: Some(target),
                shows: Shows::Address,
            },
            view => view,
        });
    }
    let data = reader.field(value, "data_ptr").known()?;
    let length = reader.word(&reader.field(value, "length").known()?.contents)?;
    let address = reader.word(&data.contents)?;
    let TypeKind::Pointer(_, element) = reader.resolve(&data).known()?.type_.kind else {
        return Err(Flaw::Layout);
    };
    let pointee = names::pointee(&type_.name).known()?;
    if !sequences::is_slice(pointee) {
        let pointee = value.sibling(element, Contents::Memory(Address(address)));
        return tails::behind(reader, pointee, &type_.name, length);
    }
    sequences::slice(reader, value, pointee, element, (address, length), limit)
}

/// The object behind a fat pointer with a vtable. `None`: its type isn't known.
pub(crate) fn concrete_object(reader: &Reader<'_>, pointer: &Value) -> Option<Value> {
    let table = reader
        .word(&reader.field(pointer, "vtable")?.contents)
        .ok()?;
    let address = reader.word(&reader.find_pointer(pointer)?.contents).ok()?;
    match object(reader, pointer, address, table) {
        Ok(View::Alias(target)) => Some(target),
        _ => None,
    }
}

/// The view of `pointee`, the target of the pointer `value` with a vtable at `table`: a trait object, or a struct that ends in one,
/// such as a `RefCell<dyn Trait>`.
pub(super) fn behind_table(
    reader: &Reader<'_>,
    value: &Value,
    pointee: &Value,
    table: u64,
) -> Result<View, Flaw> {
    let type_ = reader.resolve(pointee).known()?.type_;
    let address = pointee.contents.address().known()?.0;
    if is_object(&type_) {
        return object(reader, value, address, table);
    }
    let align = alignment(reader, table).known()?;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return Err(Flaw::Layout);
    };
    let mut record = reader.record(pointee, &type_, aggregate);
    let tail = end_of(reader, pointee, align, NESTING).known()?;
    let View::Alias(tail) = object(reader, value, tail, table)? else {
        return Err(Flaw::Layout);
    };
    let last = aggregate.members.iter().max_by_key(|member| member.offset);
    let name = last.and_then(|member| member.name.as_deref()).known()?;
    let name = super::tuple_index(name).unwrap_or(name);
    let path = names::path_name(&type_.name);
    if super::is_cell(path) {
        return Ok(super::cells::holding(
            reader,
            names::base_name(path),
            super::Style::Named,
            name,
            tail,
        ));
    }
    let field = record.fields.iter_mut().find(|field| field.name == name);
    field.known()?.value = tail;
    record.reachable = false;
    Ok(View::Record(record))
}

fn is_object(type_: &Type) -> bool {
    type_.name.starts_with("dyn ") || type_.name.starts_with("(dyn ")
}

/// The address of the trait object at the end of a value: behind all other members, at the next multiple of its alignment.
fn end_of(reader: &Reader<'_>, value: &Value, align: u64, nesting: usize) -> Option<u64> {
    let type_ = reader.resolve(value)?.type_;
    let start = value.contents.address()?.0;
    if is_object(&type_) {
        return start.checked_next_multiple_of(align);
    }
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    let last = aggregate
        .members
        .iter()
        .max_by_key(|member| member.offset)?;
    end_of(
        reader,
        &reader.member(value, last),
        align,
        nesting.checked_sub(1)?,
    )
}

/// The view of a trait object: its concrete value if the vtable identifies the type, else its address.
pub(super) fn object(
    reader: &Reader<'_>,
    value: &Value,
    address: u64,
    table: u64,
) -> Result<View, Flaw> {
    if let Some(mut target) = described(reader, value, table) {
        target.contents = Contents::Memory(Address(address));
        // A size of 0 in the vtable, although the type that was found has a size, means a function item.
        if size(reader, table) == Some(0) && reader.size_of(&target) != Some(0) {
            target.contents = Contents::Unavailable(function_item());
        }
        return Ok(View::Alias(target));
    }
    let name = concrete_type(reader, table);
    if let Some(name) = &name {
        // `Box<dyn Error>::from` wraps a string in this type.
        let type_name = match name.ends_with("::from::StringError") {
            true => "alloc::string::String",
            false => name,
        };
        if let Some(mut target) = named(value, type_name) {
            target.contents = Contents::Memory(Address(address));
            return Ok(View::Alias(target));
        }
    }
    Ok(View::Pointer {
        address,
        target: None,
        note: name.map(|name| format!("<{}>", names::shorten(&name, Language::Rust))),
        shows: Shows::Address,
    })
}

/// A value of the type with this name, preferably of the definition in the compilation unit of `value`'s type. Its location is a
/// placeholder. `None`: the module has no definition of the type.
pub(super) fn named(value: &Value, name: &str) -> Option<Value> {
    let pattern = NamePattern::new(&format!("::{name}"));
    let module = &value.module.module;
    let whole = |all: Vec<FoundType>| all.into_iter().find(|found| !found.only_declared);
    let beside = whole(module.find_types_beside(value.type_id?, &pattern));
    let found = beside.or_else(|| whole(module.find_types(&pattern)))?;
    Some(value.sibling(Some(found.id), Contents::Memory(Address(0))))
}

/// A value of the concrete type whose vtable is at `table`, by the debug information; `None` if that type isn't found. The value's location
/// is a placeholder.
fn described(reader: &Reader<'_>, value: &Value, table: u64) -> Option<Value> {
    let module = reader.modules.at(Address(table))?;
    let file = module.to_file(Address(table));
    let type_id = module.module.type_of_trait_table(file, value.type_id?)?;
    let nowhere = Contents::Memory(Address(0));
    Some(Value::new(
        std::sync::Arc::clone(module),
        Some(type_id),
        Language::Rust,
        nowhere,
    ))
}

/// Why a function item isn't shown: rustc describes all function items with the same signature alike, so the type doesn't name the
/// function.
pub(crate) fn function_item() -> Unavailable {
    Unavailable::Unsupported("a function item: the debug information doesn't name it".to_owned())
}

/// The size of a vtable's type: the vtable's second word.
fn size(reader: &Reader<'_>, table: u64) -> Option<u64> {
    let slot = table.checked_add(reader.address_size())?;
    reader.memory.read_address(Address(slot)).ok()
}

/// The alignment of a vtable's type: the vtable's third word.
pub(super) fn alignment(reader: &Reader<'_>, table: u64) -> Option<u64> {
    let slot = Address(table.checked_add(2 * reader.address_size())?);
    let align = reader.memory.read_address(slot).ok()?;
    (align.is_power_of_two() && align <= 1 << 29).then_some(align)
}

/// The concrete type of the trait object `target`. `None`: the object's text begins with a type's name already, or the type is unknown.
pub(super) fn note(reader: &Reader<'_>, target: &Value) -> Option<String> {
    if let View::Record(record) = reader.view(target, crate::values::view::SHORT)
        && record.name.is_some_and(|name| !name.is_empty())
    {
        return None;
    }
    name(reader, target)
}

fn name(reader: &Reader<'_>, target: &Value) -> Option<String> {
    let type_ = reader.resolve(target)?.type_;
    Some(format!("<{}>", names::shorten(&type_.name, Language::Rust)))
}

/// The type that a vtable was made for, from the names of its functions. A vtable begins with `drop_in_place::<T>` if there is anything
/// to drop, followed by size and alignment; the trait's methods, `<T as Trait>::method`, come last.
pub(crate) fn concrete_type(reader: &Reader<'_>, table: u64) -> Option<String> {
    const METHODS: u64 = 4;
    let dropping = reader.memory.read_address(Address(table)).ok()?;
    let name = reader.symbol_name(dropping).unwrap_or_default();
    if let Some((_, type_)) = name.split_once("drop_in_place") {
        let type_ = type_.trim_start_matches("::");
        return Some(type_.strip_prefix('<')?.strip_suffix('>')?.to_owned());
    }
    (0..METHODS).find_map(|method| {
        let slot = table.checked_add((3 + method) * reader.address_size())?;
        let function = reader.memory.read_address(Address(slot)).ok()?;
        implementing_type(&reader.symbol_name(function)?)
    })
}

/// `<T as Trait>::method` or `<impl Trait for T>::method` → `T`.
fn implementing_type(name: &str) -> Option<String> {
    if let Some((_, rest)) = name.split_once("<impl ") {
        let (_, rest) = rest.split_once(" for ")?;
        return Some(rest.rsplit_once(">::")?.0.to_owned());
    }
    let (type_, _) = name.strip_prefix('<')?.split_once(" as ")?;
    Some(type_.to_owned())
}

/// `std::io::Error`: a word whose two lowest bits select a variant of `ErrorData`.
pub(super) fn io_error(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    const TAGS: [&str; 4] = ["SimpleMessage", "Custom", "Os", "Simple"];
    if reader.address_size() != 8 {
        return unpacked_io_error(reader, value);
    }
    if reader.size_of(value) != Some(8) {
        return Err(Flaw::Layout);
    }
    let bytes = reader.bytes(&value.contents, 8)?;
    let word = contents::extract_bits(&bytes, 0, 64) as u64;
    let (tag, high) = ((word & 0b11) as usize, word >> 32);
    if TAGS[tag] == "Os" {
        let error = std::io::Error::from_raw_os_error(high as i32);
        return Ok(View::Text {
            text: format!("{error:?}"),
            address: None,
        });
    }
    // The packed word's type refers to the enum `ErrorData` only by a generic argument, that of a `PhantomData`.
    let data = reader.search(value, 8, &|_, type_| {
        type_.name.contains("::ErrorData<") && names::base_name(&type_.name) == "PhantomData"
    });
    let data = first_argument(reader, &data.known()?).known()?;
    let TypeKind::Aggregate(aggregate) = &reader.resolve(&data).known()?.type_.kind else {
        return Err(Flaw::Layout);
    };
    let variants = &aggregate.variants.as_ref().known()?.variants;
    let variant = variants.iter().find(|variant| &*variant.name == TAGS[tag]);
    let payload = reader.member(&data, &variant.known()?.member);
    let mut inside = reader.field(&payload, "__0").known()?;
    let inner = match TAGS[tag] {
        "Simple" => high,
        _ => word & !0b11,
    };
    inside.contents = Contents::Bytes(inner.to_le_bytes().into());
    Ok(View::Alias(inside))
}

/// Where addresses have 4 bytes, an error is an `ErrorData` itself.
fn unpacked_io_error(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let data = reader.search(value, 8, &|_, type_| {
        names::base_name(&type_.name) == "ErrorData"
    });
    let View::Record(variant) = reader.view(&data.known()?, crate::values::view::SHORT) else {
        return Err(Flaw::Layout);
    };
    let inside = &variant.fields.first().known()?.value;
    if variant.name.as_deref() == Some("Os") {
        let code = reader.number(&inside.contents, 4)?;
        let error = std::io::Error::from_raw_os_error(code as i32);
        return Ok(View::Text {
            text: format!("{error:?}"),
            address: None,
        });
    }
    Ok(View::Alias(inside.clone()))
}

/// `value`, taken as a value of another type: the first generic argument of its own type.
fn first_argument(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let type_ = reader.resolve(value)?.type_;
    match &type_.kind {
        TypeKind::Aggregate(aggregate) => {
            Some(value.sibling(Some(super::argument(aggregate)?), value.contents.clone()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_tell_who_implements_them() {
        let of = |name| implementing_type(name);
        assert_eq!(
            of("<tour::Circle as tour::Shape>::area").as_deref(),
            Some("tour::Circle")
        );
        let number = "core::fmt::num::imp::<impl core::fmt::Display for i32>::fmt";
        assert_eq!(of(number).as_deref(), Some("i32"));
        assert_eq!(of("main"), None);
    }
}
