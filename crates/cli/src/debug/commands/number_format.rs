//! Whole numbers in gdb's formats, for adapters that have no formats of their own.

/// A value's text in the format of a letter: `/x`, `/o`, `/t`, `/d`, `/u`, `/c`. `None`: it is no whole number, or the letter means something else.
/// `type_name` tells how many bits a negative number has.
pub fn formatted(text: &str, type_name: Option<&str>, letter: &str) -> Option<String> {
    let number = whole_number(text)?;
    let bits = bits_of(type_name.unwrap_or_default());
    // As the machine has it: a negative number in two's complement.
    let unsigned = match number {
        0.. => number.unsigned_abs(),
        _ => u128::try_from(number + (1_i128 << bits)).ok()?,
    };
    Some(match letter {
        "x" | "a" => format!("{unsigned:#x}"),
        "o" => format!("{unsigned:#o}"),
        "t" => format!("{unsigned:#b}"),
        "u" => unsigned.to_string(),
        "d" => number.to_string(),
        "c" => {
            let shown = u32::try_from(unsigned).ok().and_then(char::from_u32)?;
            format!("{number} {shown:?}")
        }
        _ => return None,
    })
}

/// The number that a value's text begins with: `7`, `-7`, `0x7`, `97 'a'`.
fn whole_number(text: &str) -> Option<i128> {
    let word = text.split_whitespace().next()?;
    // Of JavaScript's.
    let word = word.strip_suffix('n').unwrap_or(word);
    match word.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// How many bits a signed type has, by its name in C, C++, Rust or Go; 64 for others.
fn bits_of(type_name: &str) -> u32 {
    match type_name {
        "char" | "signed char" | "i8" | "int8" | "int8_t" => 8,
        "short" | "i16" | "int16" | "int16_t" => 16,
        "int" | "i32" | "int32" | "int32_t" => 32,
        _ => 64,
    }
}

#[cfg(test)]
mod tests {
    use super::formatted;

    #[test]
    fn whole_numbers_have_formats_and_other_values_have_none() {
        let shown = |text, kind, letter| formatted(text, Some(kind), letter);
        assert_eq!(shown("255", "int", "x").as_deref(), Some("0xff"));
        assert_eq!(shown("-1", "short", "x").as_deref(), Some("0xffff"));
        assert_eq!(shown("5", "number", "t").as_deref(), Some("0b101"));
        assert_eq!(shown("0x10", "int *", "d").as_deref(), Some("16"));
        assert_eq!(shown("97 'a'", "char", "c").as_deref(), Some("97 'a'"));
        for (text, letter) in [("1.5", "x"), ("\"a\"", "x"), ("", "x"), ("5", "s")] {
            assert_eq!(shown(text, "", letter), None, "{text}");
        }
    }
}
