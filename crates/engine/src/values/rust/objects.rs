//! Pointers with more than an address: to slices and texts, and to trait objects, whose table tells their type.

use super::{Flaw, Known, sequences};
use crate::Address;
use crate::values::view::{Limit, Shows, View};
use crate::values::{Contents, Reader, Value, contents, names};
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::types::{Type, TypeKind};

/// What a pointer has besides its address.
pub(super) enum Fat {
    /// How many elements there are.
    Length(u64),
    /// The address of the table of a trait's functions.
    Table(u64),
}

impl Fat {
    /// What the pointer in a value has.
    pub fn of(reader: &Reader<'_>, value: &Value) -> Option<Fat> {
        let word = |field: Value| reader.word(&field.contents).ok();
        if reader.find(value, "data_ptr").is_some() {
            return reader.find(value, "length").and_then(word).map(Fat::Length);
        }
        let table = reader.search(value, 2, &|name, _| name == Some("vtable"))?;
        word(table).map(Fat::Table)
    }
}

/// References, raw pointers and boxes of this kind.
pub(super) fn fat_pointer(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    limit: Limit,
) -> Result<View, Flaw> {
    if let Some(table) = reader.field(value, "vtable") {
        let address = reader.word(&reader.find_pointer(value).known()?.contents)?;
        let table = reader.word(&table.contents)?;
        let view = object(reader, value, address, table)?;
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
    sequences::slice(reader, value, pointee, element, (address, length), limit)
}

/// A trait object: what it is, where its table tells; else its address.
pub(super) fn object(
    reader: &Reader<'_>,
    value: &Value,
    address: u64,
    table: u64,
) -> Result<View, Flaw> {
    if let Some(mut target) = described(reader, value, table) {
        target.contents = Contents::Memory(Address(address));
        return Ok(View::Alias(target));
    }
    let name = concrete_type(reader, table);
    if let (Some(name), Some(unit)) = (&name, value.type_id) {
        // What `Box<dyn Error>::from` makes of a text is that text.
        let type_name = match name.ends_with("::from::StringError") {
            true => "alloc::string::String",
            false => name,
        };
        let pattern = NamePattern::new(&format!("::{type_name}"));
        let found = value.module.module.find_types_beside(unit, &pattern);
        if let Some(found) = found.iter().find(|found| !found.only_declared) {
            let contents = Contents::Memory(Address(address));
            return Ok(View::Alias(value.sibling(Some(found.id), contents)));
        }
    }
    Ok(View::Pointer {
        address,
        target: None,
        note: name.map(|name| format!("<{}>", names::shorten(&name, Language::Rust))),
        shows: Shows::Address,
    })
}

/// A value of the type that the debug information says a table is for; where it is isn't known.
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

/// The alignment of what a table is for: the third word of it.
pub(super) fn alignment(reader: &Reader<'_>, table: u64) -> Option<u64> {
    let slot = Address(table.checked_add(16)?);
    let align = reader.memory.read_u64(slot).ok()?;
    (align.is_power_of_two() && align <= 1 << 29).then_some(align)
}

/// The concrete type of a trait object, where its text doesn't begin with it.
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

/// The type a trait object's table was made for, from the names of its functions: `drop_in_place::<T>` comes first where
/// there's anything to drop, then size and alignment, then the trait's methods, `<T as Trait>::method`.
pub(crate) fn concrete_type(reader: &Reader<'_>, table: u64) -> Option<String> {
    const METHODS: u64 = 4;
    let dropping = reader.memory.read_u64(Address(table)).ok()?;
    let name = reader.symbol_name(dropping).unwrap_or_default();
    if let Some((_, type_)) = name.split_once("drop_in_place") {
        let type_ = type_.trim_start_matches("::");
        return Some(type_.strip_prefix('<')?.strip_suffix('>')?.to_owned());
    }
    (0..METHODS).find_map(|method| {
        let slot = table.checked_add(24 + 8 * method)?;
        let function = reader.memory.read_u64(Address(slot)).ok()?;
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

/// `std::io::Error`, where the system has made it: its number is in the upper half of a word whose low bits say so.
pub(super) fn io_error(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    const OS: u64 = 0b10;
    let bytes = reader.bytes(&value.contents, 8)?;
    let word = contents::extract_bits(&bytes, 0, 64) as u64;
    if word & 0b11 != OS || reader.size_of(value) != Some(8) {
        return Err(Flaw::Layout);
    }
    let error = std::io::Error::from_raw_os_error((word >> 32) as i32);
    Ok(View::Text {
        text: format!("{error:?}"),
        address: None,
    })
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
