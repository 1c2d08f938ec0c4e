//! The storage of a text, for writing another text there: the bytes of a `String`, a `std::string` or a character array.

use super::view::{LONG, View};
use super::{Bits, Contents, Reader, Value, cpp, names, rust};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, TypeKind};
use std::sync::Arc;

/// The storage of a text.
#[derive(Debug, Clone)]
pub(crate) struct TextStorage {
    /// Where the text's code units are.
    pub units: Contents,
    /// How many units fit, without a terminating zero.
    pub capacity: u64,
    /// The bytes in a code unit: 1 for UTF-8, 2 for UTF-16, 4 for UTF-32.
    pub unit: u64,
    /// Whether the text must have a terminating zero. A full array may lack it.
    pub terminated: bool,
    /// The value that stores the text's length, in code units. `None` for an array, which stores no length.
    pub length: Option<Value>,
    /// Whether the text must be valid UTF-8.
    pub utf8: bool,
}

impl Reader<'_> {
    /// The storage of a value's text; `None`: the text can't be changed in place.
    pub(crate) fn text_storage(&self, value: &Value) -> Option<TextStorage> {
        let type_ = self.resolve(value)?.type_;
        // A container that isn't shown as a text is in an invalid state: its pointer may point anywhere.
        let is_text = matches!(self.view(value, LONG), View::Text { .. });
        match (&type_.kind, type_.language) {
            (TypeKind::Aggregate(_), _) if !is_text => None,
            (TypeKind::Aggregate(_), Language::Rust)
                if names::path_name(&type_.name) == "alloc::string::String" =>
            {
                let vec = self.field(value, "vec")?;
                let (address, capacity) = rust::raw_vec_parts(self, &self.field(&vec, "buf")?)?;
                Some(TextStorage {
                    units: Contents::Memory(crate::Address(address)),
                    capacity,
                    unit: 1,
                    terminated: false,
                    length: Some(self.field(&vec, "len")?),
                    utf8: true,
                })
            }
            (TypeKind::Aggregate(_), Language::Cpp)
                if names::base_name(&type_.name) == "basic_string" =>
            {
                self.storage_of_string(value, &type_.name)
            }
            (TypeKind::Array { .. }, language) if language != Language::Rust => {
                let View::Sequence(sequence) = self.view(value, LONG) else {
                    return None;
                };
                let element = self.resolve(&sequence.element)?;
                let is_character = match element.type_.kind {
                    TypeKind::Base(Encoding::SignedChar | Encoding::UnsignedChar) => {
                        !names::is_small_integer(&element.alias)
                    }
                    TypeKind::Base(Encoding::Utf) => true,
                    _ => super::scalars::is_wide_character(&element.alias),
                };
                is_character.then_some(TextStorage {
                    units: sequence.element.contents,
                    capacity: sequence.length,
                    unit: sequence.size,
                    terminated: false,
                    length: None,
                    utf8: false,
                })
            }
            _ => None,
        }
    }

    fn storage_of_string(&self, value: &Value, type_name: &str) -> Option<TextStorage> {
        if let Some(representation) = self.find(value, "__rep_") {
            return self.storage_of_libcxx(&representation);
        }
        let Some(data) = self.find(value, "_M_p") else {
            return self.storage_of_declared(value, type_name);
        };
        let unit = self.unit_behind(&data)?;
        let address = crate::Address(self.word(&data.contents).ok()?);
        let local = self.find(value, "_M_local_buf")?;
        // A short string is in the object itself; a long one has its capacity in place of the characters.
        let capacity = if local.contents.address() == Some(address) {
            (16 / unit).checked_sub(1)?
        } else {
            let capacity = self.find(value, "_M_allocated_capacity")?;
            self.word(&capacity.contents).ok()?
        };
        let length = self.find(value, "_M_string_length")?;
        Some(text_storage(address, capacity, unit, length))
    }

    /// The storage of libc++'s string, which is a union of a short and a long form. The bit `__is_long_` tells which form it has.
    fn storage_of_libcxx(&self, representation: &Value) -> Option<TextStorage> {
        let short = self.field(representation, "__s")?;
        let long = self.field(representation, "__l")?;
        let data = self.field(&long, "__data_")?;
        let unit = self.unit_behind(&data)?;
        let number = |value: &Value| {
            let size = self.size_of(value)?.min(8);
            let bytes = self.bytes(&value.contents, size).ok()?;
            u64::try_from(super::extract_bits(&bytes, 0, 64)).ok()
        };
        if number(&self.find(&short, "__is_long_")?)? == 0 {
            let buffer = self.field(&short, "__data_")?;
            let capacity = (self.size_of(&buffer)? / unit).checked_sub(1)?;
            let length = self.find(&short, "__size_")?;
            return Some(text_storage(
                buffer.contents.address()?,
                capacity,
                unit,
                length,
            ));
        }
        let address = crate::Address(self.word(&data.contents).ok()?);
        // The stored capacity is divided by two, and includes the terminating zero.
        let capacity = number(&self.find(&long, "__cap_")?)?.checked_mul(2)?;
        let length = self.find(&long, "__size_")?;
        Some(text_storage(
            address,
            capacity.checked_sub(1)?,
            unit,
            length,
        ))
    }

    /// The storage of a string whose type the module only declares. Its members are where the library's ABI has them.
    fn storage_of_declared(&self, value: &Value, type_name: &str) -> Option<TextStorage> {
        let (is_libcxx, unit) = cpp::declared_string(type_name)?;
        let own = value.contents.address()?;
        let part = |offset: u64| Contents::Memory(crate::Address(own.0.wrapping_add(offset)));
        let words = [0, 8, 16].map(|offset| self.word(&part(offset)).ok());
        let [Some(first), Some(_), Some(third)] = words else {
            return None;
        };
        let length = value.sibling(None, part(8));
        if !is_libcxx {
            let is_local = Some(first) == own.0.checked_add(16);
            let capacity = if is_local { 16 / unit - 1 } else { third };
            return Some(text_storage(crate::Address(first), capacity, unit, length));
        }
        if first & 1 == 0 {
            let mut length = value.sibling(None, part(0));
            length.bits = Some(Arc::new(Bits {
                storage: part(0),
                skip: 1,
                count: 7,
            }));
            let address = crate::Address(own.0.wrapping_add(unit));
            return Some(text_storage(address, 24 / unit - 2, unit, length));
        }
        let capacity = (first - 1).checked_sub(1)?;
        Some(text_storage(crate::Address(third), capacity, unit, length))
    }

    /// The size of the code units that a pointer points to.
    fn unit_behind(&self, pointer: &Value) -> Option<u64> {
        let TypeKind::Pointer(_, target) = self.resolve(pointer)?.type_.kind else {
            return None;
        };
        let unit = pointer.sibling(target, Contents::Memory(crate::Address(0)));
        self.size_of(&unit).filter(|unit| matches!(unit, 1 | 2 | 4))
    }
}

/// The storage of a C++ string.
fn text_storage(address: crate::Address, capacity: u64, unit: u64, length: Value) -> TextStorage {
    TextStorage {
        units: Contents::Memory(address),
        capacity,
        unit,
        terminated: true,
        length: Some(length),
        utf8: false,
    }
}

impl TextStorage {
    /// The code units of a text, with a terminating zero where necessary, and their number without the zero. The number may exceed the
    /// capacity. `None`: the text must be valid UTF-8, but isn't.
    pub(crate) fn encode(&self, text: &[u8]) -> Option<(Vec<u8>, u64)> {
        let (mut bytes, length) = match self.unit {
            1 => {
                if self.utf8 {
                    std::str::from_utf8(text).ok()?;
                }
                (text.to_vec(), text.len())
            }
            2 => {
                let units: Vec<u16> = std::str::from_utf8(text).ok()?.encode_utf16().collect();
                let bytes = units.iter().flat_map(|unit| unit.to_le_bytes());
                (bytes.collect(), units.len())
            }
            4 => {
                let text = std::str::from_utf8(text).ok()?;
                let bytes = text.chars().flat_map(|c| u32::from(c).to_le_bytes());
                (bytes.collect(), text.chars().count())
            }
            _ => return None,
        };
        let length = length as u64;
        // In an array, the zero is written if it fits.
        if self.terminated || (self.length.is_none() && length < self.capacity) {
            bytes.resize(bytes.len() + self.unit as usize, 0);
        }
        Some((bytes, length))
    }
}
