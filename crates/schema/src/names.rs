//! Converts names on the wire to names in code.

/// The words of a camel-case or spaced name, in lower case: `supportsANSIStyling` → supports, ansi, styling.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let previous_lower =
            i > 0 && (chars[i - 1].is_lowercase() || chars[i - 1].is_ascii_digit());
        let ends_acronym = i > 0
            && chars[i - 1].is_uppercase()
            && chars.get(i + 1).is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && (previous_lower || ends_acronym) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A field's name without the raw marker: `threadId` → `thread_id`, `__restart` → `restart`.
pub(crate) fn snake(name: &str) -> String {
    words(name).join("_")
}

/// A type's or variant's name: `function breakpoint` → `FunctionBreakpoint`, `SHA256` → `Sha256`.
pub(crate) fn pascal(name: &str) -> String {
    words(name)
        .iter()
        .map(|word| crate::model::capitalized(word))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_at_case_changes_and_keep_acronyms_together() {
        assert_eq!(snake("supportsANSIStyling"), "supports_ansi_styling");
        assert_eq!(snake("threadId"), "thread_id");
        assert_eq!(snake("__restart"), "restart");
        assert_eq!(snake("request_seq"), "request_seq");
        assert_eq!(pascal("function breakpoint"), "FunctionBreakpoint");
        assert_eq!(pascal("unixTimestampUTC"), "UnixTimestampUtc");
        assert_eq!(pascal("SHA256"), "Sha256");
        assert_eq!(pascal("readOnly"), "ReadOnly");
    }
}
