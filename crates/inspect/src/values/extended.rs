//! The text of floating-point numbers that Rust has no type for, the x87's of 80 bits and IEEE's of 128: the fewest digits that identify the
//! number.
//!
//! Steele and White's algorithm (“How to Print Floating-Point Numbers Accurately”, 1990) with big integers.

/// A non-negative integer of any size, least significant word first.
#[derive(Clone, PartialEq, Eq)]
struct Whole(Vec<u32>);

impl Whole {
    fn of(value: u128) -> Whole {
        let words = (0..4).map(|at| (value >> (32 * at)) as u32);
        Whole(words.collect()).trimmed()
    }

    fn trimmed(mut self) -> Whole {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn times(&mut self, factor: u32) {
        let mut carry = 0u64;
        for word in &mut self.0 {
            carry += u64::from(*word) * u64::from(factor);
            *word = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn times_power(&mut self, ten: u32) {
        for _ in 0..ten / 9 {
            self.times(1_000_000_000);
        }
        self.times(10u32.pow(ten % 9));
    }

    fn shifted(self, bits: u32) -> Whole {
        let mut words = vec![0; (bits / 32) as usize];
        words.extend(self.0);
        let mut shifted = Whole(words);
        shifted.times(1 << (bits % 32));
        shifted
    }

    fn plus(&self, other: &Whole) -> Whole {
        let mut carry = 0u64;
        let count = self.0.len().max(other.0.len()) + 1;
        let word = |whole: &Whole, at: usize| u64::from(whole.0.get(at).copied().unwrap_or(0));
        let sum = (0..count).map(|at| {
            carry += word(self, at) + word(other, at);
            let low = carry as u32;
            carry >>= 32;
            low
        });
        Whole(sum.collect()).trimmed()
    }

    /// Subtracts a number that isn't larger.
    fn minus(&mut self, other: &Whole) {
        let mut borrow = 0i64;
        for (at, word) in self.0.iter_mut().enumerate() {
            let rest = i64::from(*word) - i64::from(other.0.get(at).copied().unwrap_or(0)) + borrow;
            *word = rest as u32;
            borrow = rest >> 32;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn is_below(&self, other: &Whole) -> bool {
        let key = |whole: &Whole| whole.0.len();
        match key(self).cmp(&key(other)) {
            std::cmp::Ordering::Equal => self.0.iter().rev().lt(other.0.iter().rev()),
            order => order.is_lt(),
        }
    }
}

/// The text of an 80-bit number: sign, 15 bits of exponent, 64 bits of mantissa with an explicit leading one (Intel SDM vol. 1, 4.2.2).
pub(super) fn text(bits: u128) -> String {
    let mantissa = bits as u64;
    let exponent = (bits >> 64) as u16 & 0x7fff;
    let sign = if bits >> 79 & 1 == 1 { "-" } else { "" };
    if exponent == 0x7fff {
        return match mantissa << 1 {
            0 => format!("{sign}inf"),
            _ => "NaN".to_owned(),
        };
    }
    if mantissa == 0 {
        return format!("{sign}0.0");
    }
    // Denormals have the exponent of the smallest normal numbers.
    let power = i32::from(exponent.max(1)) - 16383 - 63;
    decimal(sign, mantissa.into(), power, 64)
}

/// The text of a number of 128 bits: sign, 15 bits of exponent, 112 bits of fraction (IEEE 754, binary128).
pub(super) fn text_of_quad(bits: u128) -> String {
    let fraction = bits & ((1 << 112) - 1);
    let exponent = (bits >> 112) as u16 & 0x7fff;
    let sign = if bits >> 127 == 1 { "-" } else { "" };
    if exponent == 0x7fff {
        return match fraction {
            0 => format!("{sign}inf"),
            _ => "NaN".to_owned(),
        };
    }
    let mantissa = fraction | u128::from(exponent != 0) << 112;
    if mantissa == 0 {
        return format!("{sign}0.0");
    }
    let power = i32::from(exponent.max(1)) - 16383 - 112;
    decimal(sign, mantissa, power, 113)
}

/// A mantissa of at most so many `bits` times two to the `power`, as Rust formats `f64`.
fn decimal(sign: &str, mantissa: u128, power: i32, bits: u32) -> String {
    let (digits, point) = digits(mantissa, power, bits);
    let digits: String = digits
        .iter()
        .map(|digit| char::from(b'0' + digit))
        .collect();
    let number = match point {
        -3..=0 => format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        1..=16 => {
            let point = point as usize;
            let whole = format!("{digits:0<point$}");
            let (whole, rest) = whole.split_at(point);
            let rest = if rest.is_empty() { "0" } else { rest };
            format!("{whole}.{rest}")
        }
        point => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{first}{dot}{rest}e{}", point - 1)
        }
    };
    format!("{sign}{number}")
}

/// The fewest digits of `mantissa` times two to the `power`, and the position of the decimal point.
fn digits(mantissa: u128, power: i32, bits: u32) -> (Vec<u8>, i32) {
    // The number is `rest` / `unit`. `above` / `unit` is half the distance to the next larger number, `below` / `unit` that to the next
    // smaller one, which is nearer if the mantissa is a power of two.
    let is_edge = mantissa == 1 << (bits - 1);
    let extra = 1 + u32::from(is_edge);
    let up = power.max(0) as u32;
    let mut rest = Whole::of(mantissa).shifted(up + extra);
    let mut unit = Whole::of(1).shifted(power.min(0).unsigned_abs() + extra);
    let mut below = Whole::of(1).shifted(up);
    let mut above = Whole::of(1).shifted(up + u32::from(is_edge));
    let is_even = mantissa.is_multiple_of(2);
    let exponent = f64::from(power) + (mantissa as f64).log2();
    let mut point = (exponent * std::f64::consts::LOG10_2 - 1e-6).ceil() as i32;
    if point >= 0 {
        unit.times_power(point as u32);
    } else {
        let scale = point.unsigned_abs();
        rest.times_power(scale);
        below.times_power(scale);
        above.times_power(scale);
    }
    let is_past = |rest: &Whole, above: &Whole, unit: &Whole| match is_even {
        true => !rest.plus(above).is_below(unit),
        false => unit.is_below(&rest.plus(above)),
    };
    if is_past(&rest, &above, &unit) {
        point += 1;
    } else {
        rest.times(10);
        below.times(10);
        above.times(10);
    }
    let mut digits = Vec::new();
    loop {
        let mut digit = 0;
        while !rest.is_below(&unit) && digit < 10 {
            rest.minus(&unit);
            digit += 1;
        }
        let is_low = rest.is_below(&below) || (is_even && rest == below);
        let is_high = is_past(&rest, &above, &unit);
        if is_low || is_high || digits.len() >= 40 {
            let twice = rest.plus(&rest);
            let goes_up = if is_low && is_high {
                !twice.is_below(&unit)
            } else {
                is_high
            };
            digits.push((digit + u8::from(goes_up)).min(9));
            return (digits, point);
        }
        digits.push(digit);
        rest.times(10);
        below.times(10);
        above.times(10);
    }
}

#[cfg(test)]
mod tests {
    use super::{text, text_of_quad};

    #[test]
    fn numbers_of_128_bits_have_theirs() {
        // As gcc for aarch64 stores `3.25L`, `0.1L`, `-1`, LDBL_MAX, LDBL_MIN and the smallest denormal.
        for (bits, expected) in [
            (0x4000_a000_0000_0000_0000_0000_0000_0000, "3.25"),
            (0x3ffb_9999_9999_9999_9999_9999_9999_999a, "0.1"),
            (0xbfff << 112, "-1.0"),
            (
                0x7ffe_ffff_ffff_ffff_ffff_ffff_ffff_ffff,
                "1.189731495357231765085759326628007e4932",
            ),
            (1 << 112, "3.3621031431120935062626778173217526e-4932"),
            (1, "6e-4966"),
            (0x7fff << 112, "inf"),
            (0x8000 << 112, "-0.0"),
        ] {
            assert_eq!(text_of_quad(bits), expected);
        }
    }

    #[test]
    fn numbers_have_as_many_digits_as_tell_them_apart() {
        // As gcc stores `0.1L`, `(long double)0.1`, `3.125L`, `-1`, LDBL_MAX, LDBL_MIN, the smallest denormal, 1e16 and 1e17.
        for (bits, expected) in [
            (0x3ffb_cccc_cccc_cccc_cccd, "0.1"),
            (0x3ffb_cccc_cccc_cccc_d000, "0.10000000000000000555"),
            (0x4000_c800_0000_0000_0000, "3.125"),
            (0xbfff_8000_0000_0000_0000, "-1.0"),
            (0x7ffe_ffff_ffff_ffff_ffff, "1.189731495357231765e4932"),
            (0x0001_8000_0000_0000_0000, "3.3621031431120935063e-4932"),
            (0x0000_0000_0000_0000_0001, "4e-4951"),
            (0x4034_8e1b_c9bf_0400_0000, "1e16"),
            (0x4030_e35f_a931_a000_0000, "1000000000000000.0"),
            (0x4037_b1a2_bc2e_c500_0000, "1e17"),
            (0x3fff_8000_0000_0000_0001, "1.0000000000000000001"),
            (0x4000_c90f_daa2_2168_c235, "3.1415926535897932385"),
            (0, "0.0"),
            (0x7fff_8000_0000_0000_0000, "inf"),
            (0xffff_8000_0000_0000_0000, "-inf"),
            (0x7fff_c000_0000_0000_0000, "NaN"),
        ] {
            assert_eq!(text(bits), expected, "{bits:#x}");
        }
    }

    #[test]
    fn any_bits_have_a_text() {
        for shift in 0..80 {
            let _ = text(1 << shift);
            let _ = text(u128::MAX << shift);
            let _ = text(u128::MAX >> shift);
        }
    }
}
