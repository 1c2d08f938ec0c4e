//! Converts a number to the bytes of a type, for assignments. A number that doesn't fit is refused, not truncated, except in C's `x += 1`.

use crate::eval::a_type;
use crate::values::Number;
use dapple_arch::extended_floats::{from_extended, to_quad};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, Type, TypeKind};

/// A number to be converted, and its target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conversion<'a> {
    pub number: Number,
    /// The expression consists only of literals without a type suffix (Rust).
    pub untyped: bool,
    /// The target type without typedefs, and its name.
    pub type_: &'a Type,
    pub type_name: &'a str,
    /// The size of an address, in bytes.
    pub word: u8,
    /// The width in bits, if the target is a bit-field.
    pub bits: Option<u64>,
    /// The number is the result of `x += 1` or the like: it is truncated where the language does so.
    pub wraps: bool,
}

/// The value of a name in the context of a type: an enumeration's constant, or a float's special value.
pub(super) fn named(type_: &Type, name: &str) -> Option<Number> {
    let size = u8::try_from(type_.size?).ok()?;
    match &type_.kind {
        TypeKind::Enumeration { signed, values } => {
            let name = name.rsplit("::").next()?;
            let (_, value) = values.iter().find(|(known, _)| **known == *name)?;
            Some(Number::integer(*value, size, *signed))
        }
        TypeKind::Base(Encoding::Float) => {
            let value = match name.trim_start_matches("f32::").trim_start_matches("f64::") {
                "NaN" | "nan" | "NAN" => f64::NAN,
                "inf" | "infinity" | "INFINITY" => f64::INFINITY,
                "NEG_INFINITY" => f64::NEG_INFINITY,
                _ => return None,
            };
            Some(Number::Float { value, size })
        }
        _ => None,
    }
}

impl Conversion<'_> {
    /// The bytes, as many as the type has.
    ///
    /// # Errors
    /// Why the number doesn't fit the type, as a sentence.
    pub(super) fn bytes(self) -> Result<Vec<u8>, String> {
        let size = self.type_.size.and_then(|size| u8::try_from(size).ok());
        let size = size
            .filter(|size| (1..=16).contains(size))
            .ok_or_else(|| self.unfit())?;
        match &self.type_.kind {
            TypeKind::Base(encoding) => match encoding {
                Encoding::Signed | Encoding::SignedChar => self.integer(size, true),
                Encoding::Unsigned | Encoding::UnsignedChar => self.integer(size, false),
                Encoding::Bool => self.truth(size),
                Encoding::Utf => self.character(size),
                Encoding::Float => self.float(size),
                Encoding::Quad => {
                    // A value of 16 bytes is written as an x87's.
                    let mut wide = [0; 16];
                    wide.copy_from_slice(&self.float(16)?);
                    Ok(to_quad(from_extended(u128::from_le_bytes(wide)))
                        .to_le_bytes()
                        .to_vec())
                }
                Encoding::ComplexFloat | Encoding::Other(_) => Err(self.unfit()),
            },
            TypeKind::Enumeration { signed, values } => {
                if self.is_rust() {
                    let known = |wanted: i128| values.iter().any(|(_, value)| *value == wanted);
                    return match self.number {
                        Number::Integer { value, .. } if known(value) => self.cut(value, size),
                        _ => Err(format!(
                            "it takes a variant of `{}`: {}",
                            self.type_name,
                            some_of(values.iter().map(|(name, _)| &**name))
                        )),
                    };
                }
                self.integer(size, *signed)
            }
            TypeKind::Pointer(..) => match self.number {
                Number::Pointer { address, .. } => Ok(self.address(address)),
                Number::Integer { value, .. } => match u64::try_from(value) {
                    Ok(address) => Ok(self.address(address)),
                    Err(_) => Err(format!("{value} is no address")),
                },
                _ => Err(self.unfit()),
            },
            _ => Err(self.unfit()),
        }
    }

    fn is_rust(&self) -> bool {
        self.type_.language == Language::Rust
    }

    fn given(&self) -> &'static str {
        self.number.type_name(self.type_.language)
    }

    fn unfit(&self) -> String {
        format!(
            "{} can't be made of {}",
            a_type(self.type_name),
            a_type(self.given())
        )
    }

    fn cut(&self, value: i128, size: u8) -> Result<Vec<u8>, String> {
        Ok(Number::integer(value, size, true).to_bytes())
    }

    fn address(&self, address: u64) -> Vec<u8> {
        address.to_le_bytes()[..usize::from(self.word).min(8)].to_vec()
    }

    fn integer(&self, size: u8, signed: bool) -> Result<Vec<u8>, String> {
        let (value, from_unsigned, wide) = match self.number {
            Number::Integer {
                value,
                size: from,
                signed: from_signed,
            } => {
                if self.is_rust() && !self.untyped && (from, from_signed) != (size, signed) {
                    let name = self.type_name;
                    return Err(format!(
                        "it is {}, the value {}; write `as {name}` behind it",
                        a_type(name),
                        a_type(self.given())
                    ));
                }
                // An unsigned 128-bit number above `i128::MAX` is stored as a negative one.
                (value, !from_signed, from == 16 && !from_signed && value < 0)
            }
            _ if self.is_rust() => return Err(self.unfit()),
            Number::Bool(value) => (value.into(), false, false),
            Number::Char(code) => (code.into(), true, false),
            Number::Float { value, .. } => {
                let whole = value.trunc();
                if !(-1.7e38..=1.7e38).contains(&whole) {
                    return Err(self.beyond(&self.number.text(), signed, size));
                }
                (whole as i128, false, false)
            }
            Number::Pointer { address, .. } if size == self.word => (address.into(), true, false),
            Number::Pointer { .. } => return Err(self.unfit()),
        };
        let bits = self.bits.unwrap_or(u64::from(size) * 8).clamp(1, 128);
        let fits = if bits == 128 {
            !(wide && signed)
        } else {
            let half = 1i128 << (bits - 1);
            let least = if signed || !self.is_rust() { -half } else { 0 };
            // As in C, an unsigned type accepts a negative number's bits, and a signed type accepts an unsigned number's.
            let most = if signed && !from_unsigned {
                half - 1
            } else {
                half - 1 + half
            };
            !wide && (least..=most).contains(&value)
        };
        let fits = fits && !(bits == 128 && !signed && self.is_rust() && value < 0 && !wide);
        let may_wrap = self.wraps && !self.is_rust();
        if !fits && !may_wrap {
            return Err(self.beyond(&self.number.text(), signed, size));
        }
        self.cut(value, size)
    }

    fn beyond(&self, given: &str, signed: bool, size: u8) -> String {
        let bits = self.bits.unwrap_or(u64::from(size) * 8).clamp(1, 128);
        let (least, most) = match (signed, bits) {
            (true, 128) => (i128::MIN.to_string(), i128::MAX.to_string()),
            (false, 128) => ("0".to_owned(), u128::MAX.to_string()),
            (true, bits) => {
                let half = 1i128 << (bits - 1);
                ((-half).to_string(), (half - 1).to_string())
            }
            (false, bits) => ("0".to_owned(), ((1u128 << bits) - 1).to_string()),
        };
        let what = match self.bits {
            Some(1) => "1 bit".to_owned(),
            Some(bits) => format!("{bits} bits"),
            None => a_type(self.type_name),
        };
        format!("{given} does not fit {what}, which holds {least} to {most}")
    }

    fn truth(&self, size: u8) -> Result<Vec<u8>, String> {
        match self.number {
            Number::Bool(value) => self.cut(value.into(), size),
            _ if self.is_rust() => Err(format!(
                "a `bool` is `true` or `false`, not {}",
                a_type(self.given())
            )),
            number => self.cut(number.is_true().into(), size),
        }
    }

    fn character(&self, size: u8) -> Result<Vec<u8>, String> {
        let code = match self.number {
            Number::Char(code) => i128::from(code),
            Number::Integer { value, .. } if !self.is_rust() => value,
            _ => return Err(self.unfit()),
        };
        let is_valid = match self.is_rust() {
            true => u32::try_from(code).is_ok_and(|code| char::from_u32(code).is_some()),
            false => (0..1i128 << (8 * u32::from(size.min(4)))).contains(&code),
        };
        if !is_valid {
            return Err(format!("{code:#x} is no `{}`", self.type_name));
        }
        self.cut(code, size)
    }

    fn float(&self, size: u8) -> Result<Vec<u8>, String> {
        if !matches!(size, 4 | 8 | 10 | 16) || (self.is_rust() && size > 8) {
            return Err(format!("{} can't be set", a_type(self.type_name)));
        }
        let value = match self.number {
            Number::Float { value, size: from } => {
                if self.is_rust() && !self.untyped && from != size {
                    let name = self.type_name;
                    return Err(format!(
                        "it is {}, the value {}; write `as {name}` behind it",
                        a_type(name),
                        a_type(self.given())
                    ));
                }
                value
            }
            // An integer literal without a suffix may be assigned to a float here, though not in Rust.
            Number::Integer { value, .. } if self.untyped || !self.is_rust() => value as f64,
            Number::Bool(value) if !self.is_rust() => f64::from(u8::from(value)),
            Number::Char(code) if !self.is_rust() => f64::from(code),
            _ => return Err(self.unfit()),
        };
        let mut bytes = Number::Float { value, size }.to_bytes();
        bytes.resize(size.into(), 0);
        Ok(bytes)
    }
}

/// Some names, quoted, with "…" if there are more.
pub(super) fn some_of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    const SHOWN: usize = 8;
    let more = if names.clone().count() > SHOWN {
        ", …"
    } else {
        ""
    };
    let shown: Vec<String> = names.take(SHOWN).map(|name| format!("`{name}`")).collect();
    format!("{}{more}", shown.join(", "))
}
