//! Numbers, characters and booleans: from bytes to a [`Number`], and from a number to text.

use super::names;
use super::quoting::quote_char;
use dapple_arch::extended_floats::{from_extended, from_quad, to_extended};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, Type, TypeId, TypeKind};
use std::fmt::Write;

/// A number in an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer. Unsigned 16-byte values above `i128::MAX` are stored wrapped.
    Integer {
        /// Its value.
        value: i128,
        /// Its width in bytes.
        size: u8,
        /// Whether its type is signed.
        signed: bool,
    },
    /// A floating-point number.
    Float {
        /// Its value, rounded to 64 bits.
        value: f64,
        /// Its width in bytes.
        size: u8,
    },
    /// A boolean.
    Bool(bool),
    /// A Unicode scalar or a code unit.
    Char(u32),
    /// An address.
    Pointer {
        /// The address of the target.
        address: u64,
        /// The target's type; `None`: void.
        target: Option<TypeId>,
    },
}

impl Number {
    /// An integer, wrapped to its width.
    pub fn integer(value: i128, size: u8, signed: bool) -> Number {
        let shift = 128 - 8 * u32::from(size.clamp(1, 16));
        let value = if signed {
            value << shift >> shift
        } else {
            ((value as u128) << shift >> shift) as i128
        };
        Number::Integer {
            value,
            size,
            signed,
        }
    }

    /// Reads the bytes of a base type. `None`: no number of this encoding has this size, or the encoding isn't that of a single number.
    pub(crate) fn read(encoding: Encoding, bytes: &[u8]) -> Option<Number> {
        let size = u8::try_from(bytes.len())
            .ok()
            .filter(|s| (1..=16).contains(s))?;
        let mut wide = [0; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = i128::from_le_bytes(wide);
        match encoding {
            Encoding::Signed | Encoding::SignedChar => Some(Number::integer(bits, size, true)),
            Encoding::Unsigned | Encoding::UnsignedChar => Some(Number::integer(bits, size, false)),
            Encoding::Bool if bits == 0 || bits == 1 => Some(Number::Bool(bits == 1)),
            Encoding::Bool => Some(Number::integer(bits, size, false)),
            Encoding::Utf => Some(Number::Char(bits as u32)),
            Encoding::Float => {
                let value = match size {
                    4 => f64::from(f32::from_bits(bits as u32)),
                    8 => f64::from_bits(bits as u64),
                    10 | 16 => from_extended(bits as u128),
                    _ => return None,
                };
                Some(Number::Float { value, size })
            }
            Encoding::Quad => Some(Number::Float {
                value: from_quad(bits.cast_unsigned()),
                size,
            }),
            Encoding::ComplexFloat | Encoding::Other(_) => None,
        }
    }

    /// The number's bytes, little-endian.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        match self {
            Number::Integer { value, size, .. } => {
                value.to_le_bytes()[..usize::from(size.min(16))].to_vec()
            }
            Number::Float { value, size: 4 } => (value as f32).to_le_bytes().to_vec(),
            Number::Float {
                value,
                size: 10 | 16,
            } => to_extended(value).to_le_bytes().to_vec(),
            Number::Float { value, .. } => value.to_le_bytes().to_vec(),
            Number::Bool(value) => vec![u8::from(value)],
            Number::Char(value) => value.to_le_bytes().to_vec(),
            Number::Pointer { address, .. } => address.to_le_bytes().to_vec(),
        }
    }

    /// Whether the number counts as true in a condition.
    pub fn is_true(self) -> bool {
        match self {
            Number::Integer { value, .. } => value != 0,
            Number::Float { value, .. } => value != 0.0,
            Number::Bool(value) => value,
            Number::Char(value) => value != 0,
            Number::Pointer { address, .. } => address != 0,
        }
    }

    /// The number as text. A character is quoted.
    pub fn text(self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// Writes the number as [`Number::text`] does.
    pub fn write(self, text: &mut String) {
        // Writing into a text can't fail.
        let _ = match self {
            Number::Integer {
                value,
                size: 16,
                signed: false,
            } => write!(text, "{}", value as u128),
            Number::Integer { value, .. } => match i64::try_from(value) {
                Ok(value) => write!(text, "{value}"),
                Err(_) => write!(text, "{value}"),
            },
            Number::Float { value, size: 4 } => write!(text, "{:?}", value as f32),
            Number::Float { value, .. } => write!(text, "{value:?}"),
            Number::Bool(value) => write!(text, "{value}"),
            Number::Char(value) => write!(text, "{}", quote_char(value)),
            Number::Pointer { address, .. } => write!(text, "{address:#x}"),
        };
    }

    /// The name of its type in `language`. For pointers the caller has to make the name, from the target's.
    pub(crate) fn type_name(self, language: Language) -> &'static str {
        let rust = language == Language::Rust;
        match self {
            Number::Integer { size, signed, .. } => match (size, signed) {
                (1, true) if rust => "i8",
                (1, false) if rust => "u8",
                (2, true) if rust => "i16",
                (2, false) if rust => "u16",
                (4, true) if rust => "i32",
                (4, false) if rust => "u32",
                (8, true) if rust => "i64",
                (8, false) if rust => "u64",
                (_, true) if rust => "i128",
                (_, false) if rust => "u128",
                (1, true) => "signed char",
                (1, false) => "unsigned char",
                (2, true) => "short",
                (2, false) => "unsigned short",
                (4, true) => "int",
                (4, false) => "unsigned int",
                (8, true) => "long",
                (8, false) => "unsigned long",
                (_, true) => "__int128",
                (_, false) => "unsigned __int128",
            },
            Number::Float { size: 4, .. } if rust => "f32",
            Number::Float { .. } if rust => "f64",
            Number::Float { size: 4, .. } => "float",
            Number::Float { size: 8, .. } => "double",
            Number::Float { .. } => "long double",
            Number::Bool(_) => "bool",
            Number::Char(_) => "char",
            Number::Pointer { .. } if rust => "*const ()",
            Number::Pointer { .. } => "void *",
        }
    }
}

/// The text of a base type's bytes in its language. `alias` is the outermost typedef's name, or the type's own.
pub(crate) fn text(encoding: Encoding, bytes: &[u8], base: &Type, alias: &str) -> String {
    if encoding == Encoding::ComplexFloat && bytes.len().is_multiple_of(2) {
        let (real, imaginary) = bytes.split_at(bytes.len() / 2);
        let part = |bytes| float(bytes).unwrap_or_default();
        return complex(&part(real), &part(imaginary));
    }
    if let (Encoding::Quad, Ok(bytes)) = (encoding, bytes.try_into()) {
        return super::extended::text_of_quad(u128::from_le_bytes(bytes));
    }
    if encoding == Encoding::Float
        && let Some(text) = float(bytes)
    {
        return text;
    }
    let Some(number) = Number::read(encoding, bytes) else {
        return hex(bytes);
    };
    if base.language == Language::Rust {
        return match number {
            Number::Char(value) => match char::from_u32(value) {
                Some(c) => format!("{c:?}"),
                None => format!("<invalid char {value:#x}>"),
            },
            _ => number.text(),
        };
    }
    let is_character = match encoding {
        // `int8_t` and the like are characters to the compiler, but numbers to the user.
        Encoding::SignedChar | Encoding::UnsignedChar => !names::is_small_integer(alias),
        Encoding::Utf => true,
        _ => is_wide_character(alias),
    };
    match number {
        Number::Integer { value, size, .. } if is_character => {
            let code = Number::integer(value, size, false);
            let Number::Integer { value: code, .. } = code else {
                return value.to_string();
            };
            format!("{value} {}", code_unit_text(code as u32, size))
        }
        Number::Char(value) => {
            let size = u8::try_from(bytes.len()).unwrap_or(4);
            format!("{value} {}", code_unit_text(value, size))
        }
        _ => number.text(),
    }
}

/// Whether C uses the integer type of this name for characters.
pub(super) fn is_wide_character(alias: &str) -> bool {
    matches!(alias, "wchar_t" | "char16_t" | "char32_t")
}

/// The text of a floating-point number: the fewest digits that tell it from all other numbers of its size.
fn float(bytes: &[u8]) -> Option<String> {
    if let (10 | 16, Some(extended)) = (bytes.len(), bytes.get(..10)) {
        let mut wide = [0; 16];
        wide[..10].copy_from_slice(extended);
        return Some(super::extended::text(u128::from_le_bytes(wide)));
    }
    Number::read(Encoding::Float, bytes).map(Number::text)
}

pub(crate) fn complex(real: &str, imaginary: &str) -> String {
    match imaginary.strip_prefix('-') {
        Some(imaginary) => format!("{real} - {imaginary}i"),
        None => format!("{real} + {imaginary}i"),
    }
}

fn code_unit_text(code: u32, size: u8) -> String {
    match char::from_u32(code) {
        Some(c) if size > 1 || code < 0x80 => quote_char(u32::from(c)),
        _ => format!("'\\x{code:02x}'"),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::from("0x");
    for byte in bytes.iter().rev().take(32) {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// The text of a C or C++ enumeration's value: the name of its enumerator, the names of its flags, or its number.
pub(crate) fn enumerator<'a>(
    values: impl Iterator<Item = (&'a str, i128)> + Clone,
    value: i128,
) -> String {
    if let Some((name, _)) = values.clone().find(|(_, known)| *known == value) {
        return name.to_owned();
    }
    let is_flag = |known: i128| known > 0 && known & (known - 1) == 0;
    let flags = values.clone().filter(|(_, known)| is_flag(*known));
    let all = flags.clone().fold(0, |all, (_, known)| all | known);
    // An enumerator that combines other enumerators' flags doesn't stop the enumeration from being one of flags.
    let only_flags = values
        .clone()
        .all(|(_, known)| known >= 0 && known & !all == 0);
    if only_flags && flags.clone().count() > 1 && value > 0 {
        let mut rest = value;
        let mut set = Vec::new();
        for (name, known) in flags {
            if rest & known == known {
                rest &= !known;
                set.push(name.to_owned());
            }
        }
        if rest != 0 && !set.is_empty() {
            set.push(format!("{rest:#x}"));
            rest = 0;
        }
        if rest == 0 {
            return set.join(" | ");
        }
    }
    value.to_string()
}

/// The number in a type's bytes, if it is a base type, enumeration or pointer of a supported size.
pub fn number_of(type_: &Type, bytes: &[u8]) -> Option<Number> {
    match &type_.kind {
        TypeKind::Base(encoding) => Number::read(*encoding, bytes),
        TypeKind::Enumeration { signed, .. } => {
            let encoding = if *signed {
                Encoding::Signed
            } else {
                Encoding::Unsigned
            };
            Number::read(encoding, bytes)
        }
        TypeKind::Pointer(_, target) => {
            let address = match bytes.len() {
                4 => u32::from_le_bytes(bytes.try_into().ok()?).into(),
                _ => u64::from_le_bytes(bytes.try_into().ok()?),
            };
            Some(Number::Pointer {
                address,
                target: *target,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_cut_to_their_width() {
        assert_eq!(Number::integer(0x1ff, 1, true).text(), "-1");
        assert_eq!(Number::integer(-1, 16, false).text(), u128::MAX.to_string());
        assert_eq!(Number::integer(-1, 8, false).text(), u64::MAX.to_string());
    }

    #[test]
    fn flags_are_named_and_unknown_values_numbered() {
        let flags = [("READ", 1), ("WRITE", 2), ("EXECUTE", 4)];
        assert_eq!(enumerator(flags.into_iter(), 5), "READ | EXECUTE");
        assert_eq!(enumerator(flags.into_iter(), 9), "READ | 0x8");
        assert_eq!(enumerator(flags.into_iter(), 24), "24");
        let both = [("READ", 1), ("WRITE", 2), ("BOTH", 3), ("EXECUTE", 4)];
        assert_eq!(enumerator(both.into_iter(), 3), "BOTH");
        assert_eq!(enumerator(both.into_iter(), 7), "READ | WRITE | EXECUTE");
        assert_eq!(enumerator([("RED", 0), ("GREEN", 5)].into_iter(), 99), "99");
        assert_eq!(enumerator([("BELOW", -2)].into_iter(), -2), "BELOW");
    }
}
