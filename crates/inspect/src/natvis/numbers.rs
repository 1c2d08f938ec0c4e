//! Numbers in forms that only Natvis files ask for: padded with zeros, of 16 bits, longer than any type, with a decimal point.

/// The longest number of any length, in bytes.
pub(super) const MAX_DIGITS: u64 = 4096;
/// The most decimals of a number with a decimal point.
const MAX_SCALE: u64 = 64;

/// At least `width` digits.
pub(super) fn padded(number: i128, width: usize) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{:0width$}", number.unsigned_abs())
}

/// The decimals of a second, at least one, of a number of nanoseconds.
pub(super) fn fraction(nanoseconds: i128) -> String {
    let digits = padded(nanoseconds, 9);
    let trimmed = digits.trim_end_matches('0');
    match trimmed {
        "" => "0".to_owned(),
        _ => trimmed.to_owned(),
    }
}

/// An IEEE 754 binary16 number, as Rust's `half` writes it: as the `f32` of the same value.
pub(super) fn half(bits: u16) -> String {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    let value = match exponent {
        0 => fraction * f32::powi(2.0, -24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (fraction + 1024.0) * f32::powi(2.0, exponent - 25),
    };
    format!("{:?}", sign * value)
}

/// A bfloat16 number: the upper half of an `f32`.
pub(super) fn brain(bits: u16) -> String {
    format!("{:?}", f32::from_bits(u32::from(bits) << 16))
}

/// A number with a decimal point before its last `scale` digits. `None`: more than any number type has.
pub(super) fn scaled(number: i128, scale: u64) -> Option<String> {
    if scale > MAX_SCALE {
        return None;
    }
    let scale = scale as usize;
    let sign = if number < 0 { "-" } else { "" };
    let digits = format!("{:0width$}", number.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    Some(match fraction {
        "" => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    })
}

/// The decimal text of a number of any length; `bytes` has the least significant byte first. `None`: it is longer than
/// [`MAX_DIGITS`].
pub(super) fn big(bytes: &[u8]) -> Option<String> {
    const GROUP: u64 = 1_000_000_000;
    if bytes.len() as u64 > MAX_DIGITS {
        return None;
    }
    // Groups of nine decimal digits, the least significant one first.
    let mut groups: Vec<u64> = Vec::new();
    for byte in bytes.iter().rev() {
        let mut carry = u64::from(*byte);
        for group in &mut groups {
            let value = *group * 256 + carry;
            *group = value % GROUP;
            carry = value / GROUP;
        }
        if carry > 0 {
            groups.push(carry);
        }
    }
    let Some(first) = groups.pop() else {
        return Some("0".to_owned());
    };
    let rest = groups.iter().rev().map(|group| format!("{group:09}"));
    Some(std::iter::once(first.to_string()).chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_their_crates_write_them() {
        assert_eq!(padded(7, 2), "07");
        assert_eq!(padded(-7, 2), "-07");
        assert_eq!(padded(123, 2), "123");
        assert_eq!(fraction(500_000_000), "5");
        assert_eq!(fraction(5_000_000), "005");
        assert_eq!(fraction(0), "0");
        assert_eq!(half(0x3c00), "1.0");
        assert_eq!(half(0x3555), "0.33325195");
        assert_eq!(half(0xc100), "-2.5");
        assert_eq!(half(1), "5.9604645e-8");
        assert_eq!(half(0xfc00), "-inf");
        assert_eq!(half(0x7e00), "NaN");
        assert_eq!(brain(0x3fc0), "1.5");
        assert_eq!(scaled(1995, 2).as_deref(), Some("19.95"));
        assert_eq!(scaled(-5, 1).as_deref(), Some("-0.5"));
        assert_eq!(scaled(5, 0).as_deref(), Some("5"));
        assert_eq!(scaled(5, 99), None);
        assert_eq!(big(&[]).as_deref(), Some("0"));
        assert_eq!(big(&[0, 1]).as_deref(), Some("256"));
        let wide = u128::MAX.to_le_bytes();
        assert_eq!(big(&wide), Some(u128::MAX.to_string()));
        assert_eq!(big(&vec![1; 5000]), None);
    }
}
