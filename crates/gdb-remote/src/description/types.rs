//! The types of registers that a target description declares: vectors, unions, structures, flags and enumerations.

use crate::xml::Element;
use std::collections::BTreeMap;

/// The most types of a feature, and fields of a type.
const MAX_ITEMS: usize = 4096;
/// The largest type, in bits.
const MAX_BITS: u64 = 1 << 20;

/// A type that a feature declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// What it is made of.
    pub kind: TypeKind,
    /// The size in bits. `None` if it is made of a type whose size isn't known, such as `data_ptr`.
    pub bits: Option<u64>,
}

/// What a type is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeKind {
    /// A number of elements.
    Vector {
        /// The elements' type.
        element: String,
        /// Their number.
        count: u64,
    },
    /// The same bits in several forms.
    Union(Vec<Field>),
    /// Fields one after the other, or bit fields.
    Struct(Vec<Field>),
    /// Single bits and small bit fields, named if they are set.
    Flags(Vec<Field>),
    /// Names of values.
    Enum(Vec<(String, u64)>),
}

/// A part of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name. Empty for bits without a meaning.
    pub name: String,
    /// The type's name. Bit fields without one are numbers.
    pub type_name: Option<String>,
    /// The first and the last bit of a bit field, counted from the least significant one.
    pub bit_range: Option<(u64, u64)>,
}

/// The size of a predefined type.
fn predefined(name: &str) -> Option<u64> {
    Some(match name {
        "bool" => 1,
        "int8" | "uint8" => 8,
        "int16" | "uint16" | "ieee_half" | "bfloat16" => 16,
        "int32" | "uint32" | "ieee_single" => 32,
        "int64" | "uint64" | "ieee_double" => 64,
        "i387_ext" => 80,
        "arm_fpa_ext" => 96,
        "int128" | "uint128" => 128,
        _ => return None,
    })
}

fn size_of(name: &str, types: &BTreeMap<String, Type>) -> Option<u64> {
    match types.get(name) {
        Some(known) => known.bits,
        None => predefined(name),
    }
}

/// Takes an element that declares a type; elements of other names are left out. A type only uses those before it, so that sizes are known at once.
pub(super) fn take(element: &Element, types: &mut BTreeMap<String, Type>) -> Result<(), String> {
    let declared = match element.name.as_str() {
        "vector" => vector(element, types)?,
        "union" => {
            let fields = fields(element)?;
            let sizes = fields.iter().map(|field| field_size(field, types));
            let bits = sizes.collect::<Option<Vec<_>>>();
            Type {
                bits: bits.and_then(|sizes| sizes.into_iter().max()),
                kind: TypeKind::Union(fields),
            }
        }
        "struct" => {
            let fields = fields(element)?;
            let sizes = fields.iter().map(|field| field_size(field, types));
            let sum = sizes.sum::<Option<u64>>();
            Type {
                bits: in_bits(element)?.or(sum),
                kind: TypeKind::Struct(fields),
            }
        }
        "flags" => Type {
            bits: in_bits(element)?,
            kind: TypeKind::Flags(fields(element)?),
        },
        "enum" => Type {
            bits: in_bits(element)?,
            kind: TypeKind::Enum(values(element)?),
        },
        _ => return Ok(()),
    };
    if declared.bits.is_some_and(|bits| bits > MAX_BITS) || types.len() == MAX_ITEMS {
        return Err("a type is too large, or there are too many".to_owned());
    }
    types.insert(element.need("id")?.to_owned(), declared);
    Ok(())
}

fn vector(element: &Element, types: &BTreeMap<String, Type>) -> Result<Type, String> {
    let of = element.need("type")?;
    let count = element.need_number("count")?;
    let bits = match size_of(of, types) {
        Some(bits) => Some(
            bits.checked_mul(count)
                .ok_or_else(|| "a vector is too large".to_owned())?,
        ),
        None => None,
    };
    Ok(Type {
        kind: TypeKind::Vector {
            element: of.to_owned(),
            count,
        },
        bits,
    })
}

/// A type's own size, which is declared in bytes.
fn in_bits(element: &Element) -> Result<Option<u64>, String> {
    let size = element.number("size")?;
    Ok(size.map(|bytes| bytes.saturating_mul(8)))
}

fn field_size(field: &Field, types: &BTreeMap<String, Type>) -> Option<u64> {
    match field.bit_range {
        Some((first, last)) => last.checked_sub(first)?.checked_add(1),
        None => size_of(field.type_name.as_deref()?, types),
    }
    .filter(|bits| *bits <= MAX_BITS)
}

fn fields(element: &Element) -> Result<Vec<Field>, String> {
    let mut fields = Vec::new();
    for field in element.named("field") {
        if fields.len() == MAX_ITEMS {
            return Err("a type has too many fields".to_owned());
        }
        let start = field.number("start")?;
        fields.push(Field {
            name: field.need("name")?.to_owned(),
            type_name: field.attribute("type").map(str::to_owned),
            // A bit of flags may say its place alone.
            bit_range: match (start, field.number("end")?) {
                (Some(start), end) => Some((start, end.unwrap_or(start))),
                (None, _) => None,
            },
        });
    }
    Ok(fields)
}

fn values(element: &Element) -> Result<Vec<(String, u64)>, String> {
    let mut values = Vec::new();
    for value in element.named("evalue") {
        if values.len() == MAX_ITEMS {
            return Err("an enumeration has too many values".to_owned());
        }
        values.push((value.need("name")?.to_owned(), value.need_number("value")?));
    }
    Ok(values)
}
