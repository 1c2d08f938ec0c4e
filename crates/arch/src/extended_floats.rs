//! Formats of floating-point numbers that Rust has no type for: the 80 bits of x87 registers and of x86-64's `long double`, and the 128 bits of
//! IEEE 754, which are other machines' `long double`.

/// The `f64` nearest to an 80-bit float: sign, 15 bits of exponent, 64 bits of mantissa with an explicit leading one (Intel SDM vol. 1,
/// 4.2.2).
pub fn from_extended(bits: u128) -> f64 {
    let mantissa = bits as u64;
    let exponent = (bits >> 64) as u16 & 0x7fff;
    let sign = if bits >> 79 & 1 == 1 { -1.0 } else { 1.0 };
    if exponent == 0x7fff {
        let fraction = mantissa << 1;
        return if fraction == 0 {
            sign * f64::INFINITY
        } else {
            f64::NAN
        };
    }
    let power = i32::from(exponent) - 16383 - 63;
    // In two steps, so that the power of two itself neither overflows nor vanishes.
    let half = power / 2;
    sign * (mantissa as f64) * 2f64.powi(half) * 2f64.powi(power - half)
}

/// The 80-bit float that is equal to a value.
pub fn to_extended(value: f64) -> u128 {
    let sign = u128::from(value.is_sign_negative()) << 79;
    let rest = if value.is_nan() {
        0x7fff << 64 | 0xc000 << 48
    } else if value.is_infinite() {
        0x7fff << 64 | 0x8000 << 48
    } else if value == 0.0 {
        0
    } else {
        let bits = value.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        // Subnormal numbers have no leading one; their exponent is that of the smallest normal ones.
        let (exponent, fraction) = match exponent {
            0 => (1 - 1023, fraction << 11),
            _ => (exponent - 1023, fraction << 11 | 1 << 63),
        };
        let shift = fraction.leading_zeros();
        let exponent = exponent + 16383 - shift.cast_signed();
        u128::from(exponent.cast_unsigned()) << 64 | u128::from(fraction << shift)
    };
    sign | rest
}

/// The `f64` nearest to a number of 128 bits: sign, 15 bits of exponent, 112 bits of fraction (IEEE 754, binary128).
pub fn from_quad(bits: u128) -> f64 {
    let fraction = bits & ((1 << 112) - 1);
    let exponent = (bits >> 112) as u16 & 0x7fff;
    let sign = if bits >> 127 == 1 { -1.0 } else { 1.0 };
    if exponent == 0x7fff {
        return match fraction {
            0 => sign * f64::INFINITY,
            _ => f64::NAN,
        };
    }
    let leading = u128::from(exponent != 0) << 112;
    let power = i32::from(exponent.max(1)) - 16383 - 112;
    let half = power / 2;
    sign * ((fraction | leading) as f64) * 2f64.powi(half) * 2f64.powi(power - half)
}

/// The number of 128 bits that is equal to a value.
pub fn to_quad(value: f64) -> u128 {
    let sign = u128::from(value.is_sign_negative()) << 127;
    let rest = if value.is_nan() {
        0xffff << 111
    } else if value.is_infinite() {
        0x7fff << 112
    } else if value == 0.0 {
        0
    } else {
        let extended = to_extended(value.abs());
        let fraction = u128::from((extended as u64) << 1) << 48;
        (extended >> 64) << 112 | fraction
    };
    sign | rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_floats_are_read() {
        // 3.125 and -1 as gcc stores them.
        assert_eq!(from_extended(0x4000_c800_0000_0000_0000), 3.125);
        assert_eq!(from_extended(0xbfff_8000_0000_0000_0000), -1.0);
        assert_eq!(from_extended(0), 0.0);
        assert!(from_extended(0x7fff_8000_0000_0000_0000).is_infinite());
    }

    #[test]
    fn quads_are_written_as_they_are_read() {
        // 3.25L and -1 as gcc stores them for aarch64.
        assert_eq!(to_quad(3.25), 0x4000_a000_0000_0000_0000_0000_0000_0000);
        assert_eq!(to_quad(-1.0), 0xbfff << 112);
        let least = f64::from_bits(1);
        for value in [
            0.1,
            -1e300,
            f64::MIN_POSITIVE,
            least,
            f64::INFINITY,
            -0.0,
            3.25,
        ] {
            assert_eq!(
                from_quad(to_quad(value)).to_bits(),
                value.to_bits(),
                "{value}"
            );
        }
        assert!(from_quad(to_quad(f64::NAN)).is_nan());
    }

    #[test]
    fn extended_floats_are_written_as_they_are_read() {
        assert_eq!(to_extended(3.125), 0x4000_c800_0000_0000_0000);
        let least = f64::from_bits(1);
        for value in [0.1, -1e300, f64::MIN_POSITIVE, least, f64::INFINITY, -0.0] {
            let back = from_extended(to_extended(value));
            assert_eq!(back.to_bits(), value.to_bits(), "{value}");
        }
        assert!(from_extended(to_extended(f64::NAN)).is_nan());
    }
}
