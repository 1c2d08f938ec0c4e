//! Output formats of values: numbers in hexadecimal, octal, binary, as characters; bytes as texts.

use super::quoting::quote;
use super::render::ALIASES;
use super::view::{LONG, Limit, Sequence, View};
use super::{Contents, Number, Reader, Value, c, number_of};
use crate::Address;
use dapple_symbols::types::{Encoding, TypeKind};

/// The format of numbers in a value and in its children.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// As their types require.
    #[default]
    Natural,
    /// `0x2a`; negative numbers in two's complement.
    Hexadecimal,
    /// `42`, also for characters and enumerators.
    Decimal,
    /// `0o52`, in C and C++ `052`.
    Octal,
    /// `0b101010`.
    Binary,
    /// `'*'`.
    Character,
    /// `42`; negative numbers in two's complement.
    Unsigned,
    /// `0x401136 <main+4>`.
    Address,
    /// `"text"`, of a pointer's target or of an array: up to the first zero, or all of the array.
    Text,
    /// `1500.0`, without an exponent; integers of a float's size are reinterpreted.
    Fixed,
    /// `1.5e3`.
    Scientific,
    /// `0x2A`.
    UpperHexadecimal,
    /// `0x0000002a`, with all digits of the type.
    PaddedHexadecimal,
    /// `true`: not zero.
    Boolean,
    /// `U+0041`.
    CodePoint,
    /// `45 4c 46 00`, in memory order.
    Bytes,
    /// `45 4c 46 00  ELF.`
    BytesAndText,
}

/// All formats, as an error message lists them.
pub(crate) const FORMATS: &str = "`x` or `h`, `d`, `u`, `o`, `b` or `t`, `c`, `s` (text), `p` (address), `f`, `e`, `B` (true or false), `X`, `z` (all digits), `U` (code point), `y` (bytes), `Y` (bytes and text), `!` (raw), `full` (nothing is left out), or a number of elements: `10`, `[n]`";

impl Format {
    /// The format for the letter after a comma; `None`: unknown.
    pub fn named(letter: &str) -> Option<Format> {
        Some(match letter {
            "x" | "h" => Format::Hexadecimal,
            "X" | "H" => Format::UpperHexadecimal,
            "z" => Format::PaddedHexadecimal,
            "B" => Format::Boolean,
            "U" => Format::CodePoint,
            "y" => Format::Bytes,
            "Y" => Format::BytesAndText,
            "d" | "i" => Format::Decimal,
            "u" => Format::Unsigned,
            "p" | "a" | "A" => Format::Address,
            "s" => Format::Text,
            "f" => Format::Fixed,
            "e" => Format::Scientific,
            "o" => Format::Octal,
            "b" | "t" => Format::Binary,
            "c" | "C" => Format::Character,
            _ => return None,
        })
    }

    /// The letter and the meaning of a format, for messages.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Format::Natural => "no format",
            Format::Hexadecimal => "`x` (hexadecimal)",
            Format::UpperHexadecimal => "`X` (hexadecimal)",
            Format::PaddedHexadecimal => "`z` (hexadecimal)",
            Format::Decimal => "`d` (decimal)",
            Format::Octal => "`o` (octal)",
            Format::Binary => "`b` (binary)",
            Format::Character => "`c` (a character)",
            Format::Unsigned => "`u` (without a sign)",
            Format::Address => "`p` (an address)",
            Format::Text => "`s` (bytes as a text)",
            Format::Fixed => "`f` (a float)",
            Format::Scientific => "`e` (a float)",
            Format::Boolean => "`B` (true or false)",
            Format::CodePoint => "`U` (a code point)",
            Format::Bytes => "`y` (bytes)",
            Format::BytesAndText => "`Y` (bytes and text)",
        }
    }

    /// Whether it shows all bytes in a row instead of one number at a time.
    fn is_of_bytes(self) -> bool {
        matches!(self, Format::Bytes | Format::BytesAndText)
    }

    /// Bytes in memory order; for [`Format::BytesAndText`] followed by their ASCII characters.
    fn of_bytes(self, bytes: &[u8]) -> String {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let digits = digits.join(" ");
        if self != Format::BytesAndText {
            return digits;
        }
        let text = bytes.iter().map(|byte| match byte {
            b' '..=b'~' => char::from(*byte),
            _ => '.',
        });
        format!("{digits}  {}", text.collect::<String>())
    }

    fn of(self, number: Number, is_rust: bool) -> Option<String> {
        let (value, size) = match number {
            Number::Integer { value, size, .. } => (value, size),
            Number::Char(code) => (code.into(), 4),
            // Other formats aren't supported for `long double`.
            Number::Float {
                value,
                size: size @ (4 | 8),
            } => return self.of_float(value, size),
            _ => return None,
        };
        let bits = value.cast_unsigned() << (128 - 8 * u32::from(size.clamp(1, 16)));
        let bits = bits >> (128 - 8 * u32::from(size.clamp(1, 16)));
        Some(match self {
            Format::Natural => return None,
            Format::Hexadecimal => format!("{bits:#x}"),
            Format::UpperHexadecimal => format!("0x{bits:X}"),
            Format::PaddedHexadecimal => {
                format!("{bits:#0width$x}", width = 2 + 2 * usize::from(size))
            }
            Format::Boolean => (bits != 0).to_string(),
            Format::CodePoint => format!("U+{bits:04X}"),
            Format::Decimal => match number {
                Number::Char(code) => code.to_string(),
                number => number.text(),
            },
            Format::Octal if is_rust => format!("{bits:#o}"),
            Format::Octal => format!("0{bits:o}"),
            Format::Binary => format!("{bits:#b}"),
            Format::Character => Number::Char(u32::try_from(bits).ok()?).text(),
            Format::Unsigned => bits.to_string(),
            Format::Address => format!("{bits:#x}"),
            Format::Text | Format::Bytes | Format::BytesAndText => return None,
            Format::Fixed | Format::Scientific => {
                let value = match size {
                    4 => f32::from_bits(bits as u32).into(),
                    8 => f64::from_bits(bits as u64),
                    _ => return None,
                };
                return self.of_float(value, size);
            }
        })
    }

    fn of_float(self, value: f64, size: u8) -> Option<String> {
        if !value.is_finite() {
            return None;
        }
        let short = value as f32;
        let digits = match (self, size) {
            (Format::Fixed, 4) => format!("{short}"),
            (Format::Fixed, _) => format!("{value}"),
            (Format::Scientific, 4) => format!("{short:e}"),
            (Format::Scientific, _) => format!("{value:e}"),
            _ => return None,
        };
        let is_whole = self == Format::Fixed && !digits.contains('.');
        Some(if is_whole { digits + ".0" } else { digits })
    }
}

impl Reader<'_> {
    /// A number's text in the value's format; `None`: it is no number, can't be read, or the format doesn't apply to it.
    pub(super) fn formatted(&self, value: &Value) -> Option<String> {
        if value.format == Format::Natural {
            return None;
        }
        let is_rust = value.language == dapple_symbols::functions::Language::Rust;
        let shown = |number| {
            let text = value.format.of(number, is_rust)?;
            Some(match (value.format, number) {
                (Format::Address, Number::Integer { value, .. }) => {
                    match u64::try_from(value).ok().and_then(|at| self.place_at(at)) {
                        Some(place) => format!("{text} {place}"),
                        None => text,
                    }
                }
                _ => text,
            })
        };
        if let Contents::Number(number) = value.contents {
            return shown(number);
        }
        let type_ = self.resolve(value)?.type_;
        if !matches!(type_.kind, TypeKind::Base(_) | TypeKind::Enumeration { .. }) {
            return None;
        }
        let size = type_.size.filter(|size| (1..=16).contains(size))?;
        let bytes = self.bytes(&value.contents, size).ok()?;
        shown(number_of(&type_, &bytes)?)
    }

    /// Whether the value is a number, an address or bytes to which its format applies.
    pub(crate) fn is_formatted(&self, value: &Value) -> bool {
        self.formatted(value).is_some() || matches!(self.as_bytes(value, LONG), Some(View::Leaf(_)))
    }

    /// The function at an address and the distance from its beginning: `<main+4>`.
    pub(super) fn code_place(&self, address: u64) -> Option<String> {
        let module = self.modules.at(Address(address))?;
        let is_code = module.has_code_at(Address(address));
        is_code.then(|| self.place_at(address)).flatten()
    }

    /// The symbol at an address and the distance from its beginning: `<main+4>`, `<counter>`.
    fn place_at(&self, address: u64) -> Option<String> {
        let address = Address(address);
        let module = self.modules.at(address)?;
        let symbol = module.module.symbol_at(module.to_file(address))?;
        let name = dapple_symbols::module::demangle(&symbol.name);
        Some(
            match module.to_file(address).0.checked_sub(symbol.address.0)? {
                0 => format!("<{name}>"),
                distance => format!("<{name}+{distance}>"),
            },
        )
    }

    /// The view of a pointer to bytes, or of a sequence of bytes, as a text. `None`: the value's format isn't [`Format::Text`], it is of
    /// another kind, or it can't be read.
    pub(super) fn as_text(&self, value: &Value, limit: Limit) -> Option<View> {
        if value.format != Format::Text {
            return None;
        }
        let mut value = value.clone();
        value.format = Format::Natural;
        for _ in 0..ALIASES {
            let (address, length) = match self.view(&value, limit) {
                View::Alias(target) => {
                    value = target;
                    continue;
                }
                View::Pointer {
                    address,
                    target: Some(target),
                    ..
                } if address != 0 && self.is_byte(&target) => (address, None),
                View::Sequence(sequence)
                    if sequence.stride == 1
                        && sequence.ring.is_none()
                        && self.is_byte(&sequence.element) =>
                {
                    (
                        sequence.element.contents.address()?.0,
                        Some(sequence.length),
                    )
                }
                _ => return None,
            };
            let most = length.map_or(limit.text + 1, |length| {
                usize::try_from(length).map_or(limit.text + 1, |it| it.min(limit.text + 1))
            });
            let bytes = c::read_available(self, address, most);
            if bytes.is_empty() && most > 0 {
                return None;
            }
            let is_whole = length == Some(bytes.len() as u64);
            let end = bytes.iter().position(|byte| *byte == 0);
            let is_cut = end.is_none() && !is_whole;
            let shown = &bytes[..end.unwrap_or(bytes.len()).min(limit.text)];
            let mark = if is_cut { "…" } else { "" };
            return Some(View::Text {
                text: format!("{}{mark}", quote(shown)),
                address: Some(address),
            });
        }
        None
    }

    /// The bytes of a scalar or of a sequence of scalars, for a format that shows bytes. `None`: the format is another one, the value can't
    /// be read, or it has children to show instead.
    pub(super) fn as_bytes(&self, value: &Value, limit: Limit) -> Option<View> {
        if !value.format.is_of_bytes() {
            return None;
        }
        let mut natural = value.clone();
        natural.format = Format::Natural;
        for _ in 0..ALIASES {
            match self.view(&natural, limit) {
                View::Alias(target) => natural = target,
                View::Sequence(mut sequence)
                    if sequence.ring.is_none() && self.is_scalar(&sequence.element) =>
                {
                    let length = sequence.length.checked_mul(sequence.stride)?;
                    let most = length.min(limit.text as u64);
                    let contents = sequence.element.contents.part(0, most);
                    let bytes = self.bytes(&contents, most).ok()?;
                    let mark = limit.mark(most < length, Some(length));
                    sequence.text = Some(value.format.of_bytes(&bytes) + &mark);
                    sequence.element.format = value.format;
                    return Some(View::Sequence(sequence));
                }
                _ => break,
            }
        }
        let bytes = match natural.contents {
            Contents::Number(number) => number.to_bytes(),
            _ if self.is_scalar(&natural) => {
                let size = self
                    .size_of(&natural)
                    .filter(|size| (1..=64).contains(size))?;
                self.bytes(&natural.contents, size).ok()?
            }
            _ => return None,
        };
        Some(View::Leaf(value.format.of_bytes(&bytes)))
    }

    /// Whether the value is a number, a character, an enumerator, or an address.
    fn is_scalar(&self, value: &Value) -> bool {
        let type_ = self.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| {
            matches!(
                type_.kind,
                TypeKind::Base(_) | TypeKind::Enumeration { .. } | TypeKind::Pointer(..)
            )
        })
    }

    fn is_byte(&self, value: &Value) -> bool {
        let type_ = self.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| {
            type_.size == Some(1)
                && matches!(
                    type_.kind,
                    TypeKind::Base(
                        Encoding::Signed
                            | Encoding::Unsigned
                            | Encoding::SignedChar
                            | Encoding::UnsignedChar
                            | Encoding::Utf
                    )
                )
        })
    }

    /// The view of `length` contiguous values of one type; `value` is the first.
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
