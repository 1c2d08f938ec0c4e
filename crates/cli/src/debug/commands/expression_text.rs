//! Where strings and brackets begin and end in an expression. That is much the same in all languages; everything else is left to the adapter.

/// The characters of an expression that are in no string, with their positions, and how many brackets are open before them.
pub fn unquoted(text: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let mut chars = text.char_indices();
    let (mut quoted, mut depth) = (None, 0_usize);
    std::iter::from_fn(move || {
        loop {
            let (at, c) = chars.next()?;
            let open = depth;
            match (quoted, c) {
                (Some(_), '\\') => drop(chars.next()),
                (Some(quote), c) if c == quote => quoted = None,
                (Some(_), _) => {}
                // A lifetime in Rust is followed by no second quote.
                (None, '"' | '\'') if text[at + 1..].contains(c) => quoted = Some(c),
                (None, '(' | '[' | '{') => depth += 1,
                (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
                (None, _) => {}
            }
            if quoted.is_none() && !matches!(c, '"' | '\'') {
                return Some((at, c, open));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_left_out_and_brackets_counted() {
        let found = |text| -> Vec<_> {
            let commas = unquoted(text).filter(|(_, c, _)| *c == ',');
            commas.map(|(at, _, depth)| (at, depth)).collect()
        };
        assert_eq!(
            found("f(1, 2), ',' \",\\\",\", x"),
            [(3, 1), (7, 0), (19, 0)]
        );
        assert_eq!(
            found("x as &'a T, [a[0], 1])), ü, 2"),
            [(10, 0), (17, 1), (23, 0), (27, 0)]
        );
    }
}
