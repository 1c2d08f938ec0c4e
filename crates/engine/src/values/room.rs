//! The room that a text lies in, for putting another there: the bytes of a `String`, a `std::string`, an array of characters.

use super::view::{LONG, View};
use super::{Contents, Reader, Value, names, rust};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, TypeKind};

/// Where a text lies.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    /// Where its units are.
    pub units: Contents,
    /// How many there is room for, without the zero behind them.
    pub capacity: u64,
    /// The bytes of a unit: 1 for UTF-8, 2 for UTF-16, 4 for UTF-32.
    pub unit: u64,
    /// A zero comes behind it; an array that is full has none.
    pub terminated: bool,
    /// Where its length is kept, in units.
    pub length: Option<Contents>,
    /// It has to be valid UTF-8.
    pub utf8: bool,
}

impl Reader<'_> {
    /// The room of a value's text; `None`: it is none that can be changed in place.
    pub(crate) fn room(&self, value: &Value) -> Option<Room> {
        let type_ = self.resolve(value)?.type_;
        match (&type_.kind, type_.language) {
            (TypeKind::Aggregate(_), Language::Rust)
                if names::path_name(&type_.name) == "alloc::string::String" =>
            {
                let vec = self.field(value, "vec")?;
                let (address, capacity) = rust::raw_vec_parts(self, &self.field(&vec, "buf")?)?;
                Some(Room {
                    units: Contents::Memory(crate::Address(address)),
                    capacity,
                    unit: 1,
                    terminated: false,
                    length: Some(self.field(&vec, "len")?.contents),
                    utf8: true,
                })
            }
            (TypeKind::Aggregate(_), Language::Cpp)
                if names::base_name(&type_.name) == "basic_string" =>
            {
                self.room_of_string(value)
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
                    _ => &*element.alias == "wchar_t",
                };
                is_character.then_some(Room {
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

    /// libstdc++'s: a short text lies in the object itself, a long one has its capacity there.
    fn room_of_string(&self, value: &Value) -> Option<Room> {
        let data = self.find(value, "_M_p")?;
        let TypeKind::Pointer(_, target) = self.resolve(&data)?.type_.kind else {
            return None;
        };
        let address = crate::Address(self.word(&data.contents).ok()?);
        let units = Contents::Memory(address);
        let unit = self.size_of(&data.sibling(target, units.clone()))?;
        let local = self.find(value, "_M_local_buf")?;
        let capacity = if local.contents.address() == Some(address) {
            (16 / unit.max(1)).checked_sub(1)?
        } else {
            let capacity = self.find(value, "_M_allocated_capacity")?;
            self.word(&capacity.contents).ok()?
        };
        Some(Room {
            units,
            capacity,
            unit,
            terminated: true,
            length: Some(self.find(value, "_M_string_length")?.contents),
            utf8: false,
        })
    }
}

impl Room {
    /// A text as its units, with the zero where there has to be one, and how many units it has. `None`: it isn't valid in this room.
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
        // What an array has room for ends with a zero, as far as there is room for that, too.
        if self.terminated || (self.length.is_none() && length < self.capacity) {
            bytes.resize(bytes.len() + self.unit as usize, 0);
        }
        Some((bytes, length))
    }
}
