//! Converts names on the wire to names in Rust.

use crate::names::{self, snake};

/// A field's name as written in code: `type` → `r#type`.
pub(super) fn field(name: &str) -> String {
    let name = snake(name);
    match name.as_str() {
        "type" | "enum" | "struct" | "fn" | "mod" | "move" | "ref" | "match" | "use" | "where"
        | "loop" | "in" | "as" | "async" | "await" | "box" | "const" | "continue" | "break"
        | "else" | "extern" | "false" | "for" | "if" | "impl" | "let" | "mut" | "pub"
        | "return" | "static" | "trait" | "true" | "unsafe" | "while" | "abstract" | "yield"
        | "macro" | "final" | "do" | "override" | "priv" | "typeof" | "unsized" | "virtual"
        | "try" | "gen" | "dyn" => format!("r#{name}"),
        // These can't be raw names.
        "self" | "super" | "crate" => format!("{name}_"),
        _ => name,
    }
}

/// A type's or variant's name.
pub(super) fn pascal(name: &str) -> String {
    match names::pascal(name) {
        name if name == "Self" => "Self_".into(),
        name => name,
    }
}

/// Whether `name` can be a name in code.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut chars = name.trim_start_matches("r#").chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_become_raw_names() {
        assert_eq!(field("type"), "r#type");
        assert_eq!(field("threadId"), "thread_id");
        assert_eq!(field("self"), "self_");
        assert_eq!(pascal("self"), "Self_");
    }

    #[test]
    fn names_without_letters_are_no_identifiers() {
        for name in ["", "2nd", "+"] {
            assert!(!is_identifier(name), "{name}");
        }
        assert!(is_identifier("r#type") && is_identifier("Größe2"));
    }
}
