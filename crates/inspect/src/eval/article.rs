//! Types within sentences: their names with the article that is said before them.

/// "a `u8`", "an `i32`", "a `&str`": by how a name begins when it is read out.
pub(crate) fn a_type(name: impl AsRef<str>) -> String {
    let name = name.as_ref();
    let article = if begins_with_a_vowel(name) { "an" } else { "a" };
    format!("{article} `{name}`")
}

/// Beginnings that are written with a vowel, and said with a consonant: "you", "won".
const AS_CONSONANT: [&str; 10] = [
    "eu", "once", "one", "uint", "uni", "url", "use", "usi", "utf", "uuid",
];

/// Whether it does, when it is said.
fn begins_with_a_vowel(name: &str) -> bool {
    let name = name.trim_start_matches('_').to_lowercase();
    let mut letters = name.chars();
    let (first, second) = (letters.next(), letters.next());
    // A letter with a number of bits is said as a letter.
    if second.is_some_and(|second| second.is_ascii_digit()) {
        return matches!(
            first,
            Some('a' | 'e' | 'f' | 'h' | 'i' | 'l'..='o' | 'r' | 's' | 'x')
        );
    }
    let is_exception = AS_CONSONANT.iter().any(|start| name.starts_with(start));
    let is_negation = name.starts_with("unin") || name.starts_with("unim");
    matches!(first, Some('a' | 'e' | 'i' | 'o' | 'u')) && (!is_exception || is_negation)
}

#[cfg(test)]
mod tests {
    use super::a_type;

    #[test]
    fn the_article_is_by_the_sound() {
        for name in [
            "i8",
            "i32",
            "f64",
            "isize",
            "int [4]",
            "unsigned int",
            "Option<u32>",
            "app::Item",
            "enum colour",
            "__int128",
            "__m128i",
            "Uninit",
        ] {
            assert_eq!(a_type(name), format!("an `{name}`"));
        }
        for name in [
            "u8",
            "u128",
            "usize",
            "uint32_t",
            "union number",
            "std::string",
            "OnceCell<i32>",
            "User",
            "&str",
            "*const i32",
            "[i32; 4]",
            "(i32, i32)",
            "()",
            "bool",
            "float",
            "double",
            "",
        ] {
            assert_eq!(a_type(name), format!("a `{name}`"));
        }
    }
}
