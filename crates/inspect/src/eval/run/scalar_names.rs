//! The names of scalars in debug information, and which of them have the size of an address.

use crate::eval::ir::Scalar;

/// Whether a scalar of this name has the size of an address: `long`, but not `long long`, `size_t`, `usize`.
pub(super) fn is_of_a_word(name: &str) -> bool {
    let words = || name.split_whitespace();
    let is_long = words().filter(|word| *word == "long").count() == 1;
    let is_plain = |word: &str| {
        matches!(
            word.strip_prefix("std::").unwrap_or(word),
            "size_t" | "ssize_t" | "usize" | "isize" | "uintptr_t" | "intptr_t" | "ptrdiff_t"
        )
    };
    is_long && !words().any(|word| word == "double") || words().any(is_plain)
}

pub(super) fn names_of_long(signed: bool) -> &'static [&'static str] {
    match signed {
        true => &["long int", "long", "int"],
        false => &["long unsigned int", "unsigned long", "unsigned int"],
    }
}

pub(super) fn names_of_long_long(signed: bool) -> &'static [&'static str] {
    match signed {
        true => &["long long int", "long long"],
        false => &["long long unsigned int", "unsigned long long"],
    }
}

/// The names that compilers of C and C++ give a scalar in debug information.
pub(super) fn names_of(scalar: Scalar) -> &'static [&'static str] {
    match scalar {
        Scalar::Bool => &["_Bool", "bool"],
        Scalar::Char => &["char"],
        Scalar::Float { size: 4 } => &["float"],
        Scalar::Float { size: 8 } => &["double"],
        Scalar::Float { .. } => &["long double"],
        Scalar::Integer { size, signed } => match (size, signed) {
            (1, true) => &["signed char"],
            (1, false) => &["unsigned char"],
            (2, true) => &["short int", "short"],
            (2, false) => &["short unsigned int", "unsigned short"],
            (4, true) => &["int"],
            (4, false) => &["unsigned int"],
            (8, true) => &["long int", "long", "long long int", "long long"],
            (8, false) => &[
                "long unsigned int",
                "unsigned long",
                "long long unsigned int",
                "unsigned long long",
            ],
            (_, true) => &["__int128"],
            (_, false) => &["__int128 unsigned", "unsigned __int128"],
        },
    }
}
