//! Numbers in another form than their types have: hexadecimal, octal, binary, as a character.

use super::view::{Sequence, View};
use super::{Contents, Number, Reader, Value, number_of};
use dapple_symbols::types::TypeKind;

/// How numbers are shown, in a value and all that is in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// As their types have it.
    #[default]
    Natural,
    /// `0x2a`; negative ones by their bits.
    Hexadecimal,
    /// `42`, also of characters and constants with names.
    Decimal,
    /// `0o52`, in C and C++ `052`.
    Octal,
    /// `0b101010`.
    Binary,
    /// `'*'`.
    Character,
}

impl Format {
    /// By its letter behind a comma; `None`: it is none.
    pub fn named(letter: &str) -> Option<Format> {
        Some(match letter {
            "x" | "h" | "X" | "H" => Format::Hexadecimal,
            "d" | "i" | "u" => Format::Decimal,
            "o" => Format::Octal,
            "b" | "t" => Format::Binary,
            "c" => Format::Character,
            _ => return None,
        })
    }

    fn of(self, number: Number, is_rust: bool) -> Option<String> {
        let (value, size) = match number {
            Number::Integer { value, size, .. } => (value, size),
            Number::Char(code) => (code.into(), 4),
            _ => return None,
        };
        let bits = value.cast_unsigned() << (128 - 8 * u32::from(size.clamp(1, 16)));
        let bits = bits >> (128 - 8 * u32::from(size.clamp(1, 16)));
        Some(match self {
            Format::Natural => return None,
            Format::Hexadecimal => format!("{bits:#x}"),
            Format::Decimal => match number {
                Number::Char(code) => code.to_string(),
                number => number.text(),
            },
            Format::Octal if is_rust => format!("{bits:#o}"),
            Format::Octal => format!("0{bits:o}"),
            Format::Binary => format!("{bits:#b}"),
            Format::Character => Number::Char(u32::try_from(bits).ok()?).text(),
        })
    }
}

impl Reader<'_> {
    /// A number's text in the value's format; `None`: it is no number, or its own text will do.
    pub(super) fn formatted(&self, value: &Value) -> Option<String> {
        if value.format == Format::Natural {
            return None;
        }
        let is_rust = value.language == dapple_symbols::functions::Language::Rust;
        if let Contents::Number(number) = value.contents {
            return value.format.of(number, is_rust);
        }
        let type_ = self.resolve(value)?.type_;
        if !matches!(type_.kind, TypeKind::Base(_) | TypeKind::Enumeration { .. }) {
            return None;
        }
        let size = type_.size.filter(|size| (1..=16).contains(size))?;
        let bytes = self.bytes(&value.contents, size).ok()?;
        value.format.of(number_of(&type_, &bytes)?, is_rust)
    }

    /// Several values of one type that lie one after another, from the first on.
    pub(super) fn repeated(&self, value: &Value, length: u64) -> View {
        let mut element = value.clone();
        element.repeated = None;
        let size = self.size_of(&element).unwrap_or(0);
        View::Sequence(Sequence {
            element,
            stride: size,
            size,
            length,
            ring: None,
            text: None,
            container: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_are_shown_by_their_bits() {
        let number = Number::integer(-2, 2, true);
        assert_eq!(
            Format::Hexadecimal.of(number, true).as_deref(),
            Some("0xfffe")
        );
        assert_eq!(Format::Octal.of(number, false).as_deref(), Some("0177776"));
        assert_eq!(Format::Decimal.of(number, false).as_deref(), Some("-2"));
        let number = Number::integer(0x41, 1, false);
        assert_eq!(
            Format::Binary.of(number, true).as_deref(),
            Some("0b1000001")
        );
        assert_eq!(Format::Character.of(number, true).as_deref(), Some("'A'"));
    }
}
