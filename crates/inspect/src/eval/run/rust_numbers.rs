//! Computes methods of Rust's numbers and characters, in their exact types.

use crate::values::Number;

/// The result of a method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Answer {
    /// A number of the receiver's type.
    Own(Number),
    /// An `Option` of such a number.
    Maybe(Option<Number>),
    /// An integer of the unsigned type of the same width.
    Unsigned(Number),
    /// A number of another type.
    Other(Number),
    /// A `usize`.
    Size(u64),
    /// No result: the reason why the program would panic.
    Panics(&'static str),
}

/// The type of a method's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// The receiver's type.
    Own,
    /// A `u32`: an exponent or a number of bits.
    Count,
}

pub(super) fn takes(name: &str) -> Takes {
    match name {
        "pow" | "rotate_left" | "rotate_right" => Takes::Count,
        _ if name.ends_with("_pow") || name.ends_with("_shl") || name.ends_with("_shr") => {
            Takes::Count
        }
        _ => Takes::Own,
    }
}

const OVERFLOW: Answer = Answer::Panics("the result does not fit its type: an overflow");
const BY_ZERO: Answer = Answer::Panics("division by zero");

fn flag(is: bool) -> Answer {
    Answer::Other(Number::Bool(is))
}

fn count(count: u32) -> Answer {
    Answer::Other(Number::integer(count.into(), 4, false))
}

/// The result of an integer's or float's method. `None`: no method with that name and such arguments is supported.
pub(super) fn of_number(name: &str, number: Number, arguments: &[Number]) -> Option<Answer> {
    match number {
        Number::Integer {
            value,
            size,
            signed,
        } => {
            let mut integers = Vec::new();
            for argument in arguments {
                let Number::Integer { value, .. } = argument else {
                    return None;
                };
                integers.push(*value);
            }
            let of = integers.as_slice();
            match (size, signed) {
                (1, false) => of_u8(name, value as u8, of),
                (2, false) => of_u16(name, value as u16, of),
                (4, false) => of_u32(name, value as u32, of),
                (8, false) => of_u64(name, value as u64, of),
                (16, false) => of_u128(name, value as u128, of),
                (1, true) => of_i8(name, value as i8, of),
                (2, true) => of_i16(name, value as i16, of),
                (4, true) => of_i32(name, value as i32, of),
                (8, true) => of_i64(name, value as i64, of),
                (16, true) => of_i128(name, value, of),
                _ => None,
            }
        }
        Number::Float { value, size } => {
            let mut floats = Vec::new();
            for argument in arguments {
                let Number::Float { value, .. } = argument else {
                    return None;
                };
                floats.push(*value);
            }
            match size {
                4 => of_f32(name, value as f32, &floats),
                8 => of_f64(name, value, &floats),
                _ => None,
            }
        }
        _ => None,
    }
}

macro_rules! integers {
    ($common:ident, $type:ident) => {
        /// Methods that signed and unsigned integers have in common.
        fn $common(name: &str, a: $type, of: &[i128]) -> Option<Answer> {
            let number = |value: $type| {
                Number::integer(value as i128, size_of::<$type>() as u8, $type::MIN != 0)
            };
            let own = |value: $type| Answer::Own(number(value));
            let maybe = |value: Option<$type>| Answer::Maybe(value.map(number));
            let exact = |value: Option<$type>| value.map_or(OVERFLOW, own);
            let logarithm = |value: Option<u32>| {
                value.map_or(Answer::Panics("its logarithm isn't defined"), count)
            };
            let [b] = of else {
                return Some(match (name, of) {
                    ("count_ones", []) => count(a.count_ones()),
                    ("count_zeros", []) => count(a.count_zeros()),
                    ("leading_zeros", []) => count(a.leading_zeros()),
                    ("leading_ones", []) => count(a.leading_ones()),
                    ("trailing_zeros", []) => count(a.trailing_zeros()),
                    ("trailing_ones", []) => count(a.trailing_ones()),
                    ("swap_bytes", []) => own(a.swap_bytes()),
                    ("reverse_bits", []) => own(a.reverse_bits()),
                    ("wrapping_neg", []) => own(a.wrapping_neg()),
                    ("checked_neg", []) => maybe(a.checked_neg()),
                    ("ilog2", []) => logarithm(a.checked_ilog2()),
                    ("ilog10", []) => logarithm(a.checked_ilog10()),
                    ("clamp", [least, most]) => match (*least as $type, *most as $type) {
                        (least, most) if least <= most => own(a.clamp(least, most)),
                        _ => Answer::Panics("the first bound is above the second"),
                    },
                    _ => return None,
                });
            };
            let (b, times) = (*b as $type, *b as u32);
            Some(match name {
                "wrapping_div" | "wrapping_rem" | "rem_euclid" | "div_euclid" if b == 0 => BY_ZERO,
                "wrapping_add" => own(a.wrapping_add(b)),
                "wrapping_sub" => own(a.wrapping_sub(b)),
                "wrapping_mul" => own(a.wrapping_mul(b)),
                "wrapping_div" => own(a.wrapping_div(b)),
                "wrapping_rem" => own(a.wrapping_rem(b)),
                "wrapping_pow" => own(a.wrapping_pow(times)),
                "wrapping_shl" => own(a.wrapping_shl(times)),
                "wrapping_shr" => own(a.wrapping_shr(times)),
                "checked_add" => maybe(a.checked_add(b)),
                "checked_sub" => maybe(a.checked_sub(b)),
                "checked_mul" => maybe(a.checked_mul(b)),
                "checked_div" => maybe(a.checked_div(b)),
                "checked_rem" => maybe(a.checked_rem(b)),
                "checked_pow" => maybe(a.checked_pow(times)),
                "checked_shl" => maybe(a.checked_shl(times)),
                "checked_shr" => maybe(a.checked_shr(times)),
                "saturating_add" => own(a.saturating_add(b)),
                "saturating_sub" => own(a.saturating_sub(b)),
                "saturating_mul" => own(a.saturating_mul(b)),
                "saturating_pow" => own(a.saturating_pow(times)),
                "pow" => exact(a.checked_pow(times)),
                "rem_euclid" => exact(a.checked_rem_euclid(b)),
                "div_euclid" => exact(a.checked_div_euclid(b)),
                "min" => own(a.min(b)),
                "max" => own(a.max(b)),
                "rotate_left" => own(a.rotate_left(times)),
                "rotate_right" => own(a.rotate_right(times)),
                "abs_diff" => {
                    let distance = a.abs_diff(b) as i128;
                    let size = size_of::<$type>() as u8;
                    Answer::Unsigned(Number::integer(distance, size, false))
                }
                _ => return None,
            })
        }
    };
}

macro_rules! unsigned {
    ($function:ident, $common:ident, $type:ident) => {
        integers!($common, $type);

        fn $function(name: &str, a: $type, of: &[i128]) -> Option<Answer> {
            let number =
                |value: $type| Number::integer(value as i128, size_of::<$type>() as u8, false);
            let own = |value: $type| Answer::Own(number(value));
            Some(match (name, of) {
                ("is_power_of_two", []) => flag(a.is_power_of_two()),
                ("next_power_of_two", []) => a.checked_next_power_of_two().map_or(OVERFLOW, own),
                ("checked_next_power_of_two", []) => {
                    Answer::Maybe(a.checked_next_power_of_two().map(number))
                }
                ("isqrt", []) => own(a.isqrt()),
                ("div_ceil", [0]) => BY_ZERO,
                ("div_ceil", [b]) => own(a.div_ceil(*b as $type)),
                ("is_multiple_of", [b]) => flag(match *b as $type {
                    0 => a == 0,
                    b => a % b == 0,
                }),
                _ => return $common(name, a, of),
            })
        }
    };
}

macro_rules! signed {
    ($function:ident, $common:ident, $type:ident) => {
        integers!($common, $type);

        fn $function(name: &str, a: $type, of: &[i128]) -> Option<Answer> {
            let number =
                |value: $type| Number::integer(value as i128, size_of::<$type>() as u8, true);
            let own = |value: $type| Answer::Own(number(value));
            Some(match (name, of) {
                ("abs", []) => a.checked_abs().map_or(OVERFLOW, own),
                ("signum", []) => own(a.signum()),
                ("is_negative", []) => flag(a.is_negative()),
                ("is_positive", []) => flag(a.is_positive()),
                ("wrapping_abs", []) => own(a.wrapping_abs()),
                ("checked_abs", []) => Answer::Maybe(a.checked_abs().map(number)),
                ("saturating_abs", []) => own(a.saturating_abs()),
                ("unsigned_abs", []) => {
                    let size = size_of::<$type>() as u8;
                    Answer::Unsigned(Number::integer(a.unsigned_abs() as i128, size, false))
                }
                _ => return $common(name, a, of),
            })
        }
    };
}

unsigned!(of_u8, common_u8, u8);
unsigned!(of_u16, common_u16, u16);
unsigned!(of_u32, common_u32, u32);
unsigned!(of_u64, common_u64, u64);
unsigned!(of_u128, common_u128, u128);
signed!(of_i8, common_i8, i8);
signed!(of_i16, common_i16, i16);
signed!(of_i32, common_i32, i32);
signed!(of_i64, common_i64, i64);
signed!(of_i128, common_i128, i128);

macro_rules! float {
    ($function:ident, $type:ident) => {
        fn $function(name: &str, a: $type, of: &[f64]) -> Option<Answer> {
            let size = size_of::<$type>() as u8;
            let own = |value: $type| {
                let value = value.into();
                Answer::Own(Number::Float { value, size })
            };
            let of: Vec<$type> = of.iter().map(|value| *value as $type).collect();
            Some(match (name, of.as_slice()) {
                ("abs", []) => own(a.abs()),
                ("signum", []) => own(a.signum()),
                ("floor", []) => own(a.floor()),
                ("ceil", []) => own(a.ceil()),
                ("round", []) => own(a.round()),
                ("trunc", []) => own(a.trunc()),
                ("fract", []) => own(a.fract()),
                ("sqrt", []) => own(a.sqrt()),
                ("recip", []) => own(a.recip()),
                ("to_bits", []) => Answer::Other(Number::integer(a.to_bits().into(), size, false)),
                ("is_nan", []) => flag(a.is_nan()),
                ("is_finite", []) => flag(a.is_finite()),
                ("is_infinite", []) => flag(a.is_infinite()),
                ("is_sign_negative", []) => flag(a.is_sign_negative()),
                ("is_sign_positive", []) => flag(a.is_sign_positive()),
                ("min", [b]) => own(a.min(*b)),
                ("max", [b]) => own(a.max(*b)),
                ("copysign", [b]) => own(a.copysign(*b)),
                ("rem_euclid", [b]) => own(a.rem_euclid(*b)),
                ("div_euclid", [b]) => own(a.div_euclid(*b)),
                ("clamp", [least, most]) if least <= most => own(a.clamp(*least, *most)),
                ("clamp", [_, _]) => Answer::Panics("the first bound is above the second"),
                _ => return None,
            })
        }
    };
}

float!(of_f32, f32);
float!(of_f64, f64);

/// The result of a `char`'s or `u8`'s method that classifies or converts a character. `None`: it is no such method.
pub(super) fn of_character(name: &str, number: Number, arguments: &[Number]) -> Option<Answer> {
    let (c, is_byte) = match number {
        Number::Char(code) => (char::from_u32(code)?, false),
        Number::Integer {
            value,
            size: 1,
            signed: false,
        } => (char::from(value as u8), true),
        _ => return None,
    };
    let own = |c: char| {
        Answer::Own(match is_byte {
            true => Number::integer((c as u32).into(), 1, false),
            false => Number::Char(c.into()),
        })
    };
    let is = match (name, arguments) {
        ("to_ascii_lowercase", []) => return Some(own(c.to_ascii_lowercase())),
        ("to_ascii_uppercase", []) => return Some(own(c.to_ascii_uppercase())),
        ("len_utf8", []) if !is_byte => {
            return Some(Answer::Size(c.len_utf8() as u64));
        }
        ("is_ascii", []) => c.is_ascii(),
        ("is_ascii_alphabetic", []) => c.is_ascii_alphabetic(),
        ("is_ascii_alphanumeric", []) => c.is_ascii_alphanumeric(),
        ("is_ascii_digit", []) => c.is_ascii_digit(),
        ("is_ascii_hexdigit", []) => c.is_ascii_hexdigit(),
        ("is_ascii_lowercase", []) => c.is_ascii_lowercase(),
        ("is_ascii_uppercase", []) => c.is_ascii_uppercase(),
        ("is_ascii_punctuation", []) => c.is_ascii_punctuation(),
        ("is_ascii_whitespace", []) => c.is_ascii_whitespace(),
        ("is_ascii_control", []) => c.is_ascii_control(),
        ("is_ascii_graphic", []) => c.is_ascii_graphic(),
        ("eq_ignore_ascii_case", [other]) => {
            let other = match other {
                Number::Char(code) => char::from_u32(*code)?,
                Number::Integer { value, .. } => char::from(u8::try_from(*value).ok()?),
                _ => return None,
            };
            c.eq_ignore_ascii_case(&other)
        }
        _ if is_byte => return None,
        ("is_alphabetic", []) => c.is_alphabetic(),
        ("is_alphanumeric", []) => c.is_alphanumeric(),
        ("is_numeric", []) => c.is_numeric(),
        ("is_lowercase", []) => c.is_lowercase(),
        ("is_uppercase", []) => c.is_uppercase(),
        ("is_whitespace", []) => c.is_whitespace(),
        ("is_control", []) => c.is_control(),
        _ => return None,
    };
    Some(flag(is))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_panics_at_the_ends_of_a_type() {
        let names = |count: usize| crate::eval::rust_library::names(count);
        let integer = |value, size, signed| Number::integer(value, size, signed);
        for (size, signed) in [1u8, 2, 4, 8, 16]
            .into_iter()
            .flat_map(|size| [(size, true), (size, false)])
        {
            let ends = [i128::MIN, -1, 0, 1, 2, i128::MAX].map(|it| integer(it, size, signed));
            let least = integer(1i128 << (8 * u32::from(size) - 1), size, signed);
            for one in ends.into_iter().chain([least]) {
                for name in names(0) {
                    of_number(name, one, &[]);
                    of_character(name, one, &[]);
                }
                for other in ends.into_iter().chain([least]) {
                    for name in names(1) {
                        of_number(name, one, &[other]);
                        of_character(name, one, &[other]);
                    }
                    for name in names(2) {
                        of_number(name, one, &[other, one]);
                    }
                }
            }
        }
        for value in [f64::NAN, f64::INFINITY, 0.0, -0.5] {
            let one = Number::Float { value, size: 4 };
            for name in names(0) {
                of_number(name, one, &[]);
            }
            for name in names(1) {
                of_number(name, one, &[one]);
            }
            for name in names(2) {
                of_number(name, one, &[one, one]);
            }
        }
    }

    #[test]
    fn what_overflows_is_told() {
        let least = Number::integer(-128, 1, true);
        assert_eq!(of_number("abs", least, &[]), Some(OVERFLOW));
        assert_eq!(
            of_number("wrapping_abs", least, &[]),
            Some(Answer::Own(least))
        );
        let zero = Number::integer(0, 1, true);
        assert_eq!(of_number("rem_euclid", least, &[zero]), Some(BY_ZERO));
        assert_eq!(
            of_number("checked_div", least, &[zero]),
            Some(Answer::Maybe(None))
        );
    }
}
