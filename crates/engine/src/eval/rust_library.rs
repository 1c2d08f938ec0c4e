//! Methods of Rust's numbers, characters, texts and choices that are answered by reading, besides those of [`super::builtins`]: which
//! names with how many arguments they have. What each comes to is in `run/rust_library`.

/// Names by how many arguments they take.
const ALL: [&[&str]; 3] = [
    &[
        // Integers and floats.
        "abs",
        "signum",
        "is_negative",
        "is_positive",
        "count_ones",
        "count_zeros",
        "leading_zeros",
        "leading_ones",
        "trailing_zeros",
        "trailing_ones",
        "swap_bytes",
        "reverse_bits",
        "is_power_of_two",
        "next_power_of_two",
        "checked_next_power_of_two",
        "unsigned_abs",
        "wrapping_abs",
        "checked_abs",
        "saturating_abs",
        "wrapping_neg",
        "checked_neg",
        "ilog2",
        "ilog10",
        "isqrt",
        "floor",
        "ceil",
        "round",
        "trunc",
        "fract",
        "sqrt",
        "recip",
        "to_bits",
        "is_nan",
        "is_finite",
        "is_infinite",
        "is_sign_negative",
        "is_sign_positive",
        // Characters and bytes.
        "is_ascii",
        "is_ascii_alphabetic",
        "is_ascii_alphanumeric",
        "is_ascii_digit",
        "is_ascii_hexdigit",
        "is_ascii_lowercase",
        "is_ascii_uppercase",
        "is_ascii_punctuation",
        "is_ascii_whitespace",
        "is_ascii_control",
        "is_ascii_graphic",
        "to_ascii_lowercase",
        "to_ascii_uppercase",
        "is_alphabetic",
        "is_alphanumeric",
        "is_numeric",
        "is_lowercase",
        "is_uppercase",
        "is_whitespace",
        "is_control",
        "len_utf8",
        // Texts.
        "as_bytes",
        "trim",
        "trim_start",
        "trim_end",
        "to_lowercase",
        "to_uppercase",
        "chars",
        "bytes",
        "lines",
        "split_whitespace",
        "count",
        "next",
        // Choices.
        "copied",
        "cloned",
        "ok",
        "err",
    ],
    &[
        "wrapping_add",
        "wrapping_sub",
        "wrapping_mul",
        "wrapping_div",
        "wrapping_rem",
        "wrapping_pow",
        "wrapping_shl",
        "wrapping_shr",
        "checked_add",
        "checked_sub",
        "checked_mul",
        "checked_div",
        "checked_rem",
        "checked_pow",
        "checked_shl",
        "checked_shr",
        "saturating_add",
        "saturating_sub",
        "saturating_mul",
        "saturating_pow",
        "pow",
        "min",
        "max",
        "rem_euclid",
        "div_euclid",
        "div_ceil",
        "is_multiple_of",
        "abs_diff",
        "rotate_left",
        "rotate_right",
        "copysign",
        "starts_with",
        "ends_with",
        "find",
        "rfind",
        "strip_prefix",
        "strip_suffix",
        "eq_ignore_ascii_case",
        "is_char_boundary",
        "nth",
        "unwrap_or",
        "expect_err",
    ],
    &["clamp"],
];

/// Whether there is one of that name.
pub(super) fn is_known(name: &str) -> bool {
    ALL.iter().any(|names| names.contains(&name))
}

/// Whether there is one of that name with so many arguments.
pub(super) fn takes(name: &str, arguments: usize) -> bool {
    ALL.get(arguments)
        .is_some_and(|names| names.contains(&name))
}

/// The names that take so many arguments.
#[cfg(test)]
pub(super) fn names(arguments: usize) -> &'static [&'static str] {
    ALL[arguments]
}
