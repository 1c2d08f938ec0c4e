//! Type names in messages, with their indefinite article.

/// "a `u8`", "an `i32`", "a `&str`": the article follows the pronunciation.
pub(crate) fn a_type(name: impl AsRef<str>) -> String {
    let name = name.as_ref();
    let article = if begins_with_a_vowel(name) { "an" } else { "a" };
    format!("{article} `{name}`")
}

/// Prefixes that begin with a vowel letter but a consonant sound, as in "you" or "won".
const AS_CONSONANT: [&str; 10] = [
    "eu", "once", "one", "uint", "uni", "url", "use", "usi", "utf", "uuid",
];

/// Whether the name begins with a vowel sound.
fn begins_with_a_vowel(name: &str) -> bool {
    let name = name.trim_start_matches('_').to_lowercase();
    let mut letters = name.chars();
    let (first, second) = (letters.next(), letters.next());
    // In a type such as `i32`, the letter is pronounced by its name.
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
