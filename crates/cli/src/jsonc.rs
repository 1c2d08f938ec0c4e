//! The JSON of editors' settings, which has comments.

/// Turns the JSON of editors' settings into plain JSON: removes comments and trailing commas. Lines keep their numbers, so that errors name
/// the right line.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    // The position in `out` of a comma that may be a trailing one.
    let mut comma = None;
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('"', _) => {
                comma = None;
                out.push(c);
                while let Some(c) = rest.next() {
                    out.push(c);
                    match c {
                        '\\' => out.extend(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            ('/', Some('*')) => {
                rest.next();
                while let Some(c) = rest.next() {
                    if c == '\n' {
                        out.push(c);
                    }
                    if c == '*' && rest.peek() == Some(&'/') {
                        rest.next();
                        break;
                    }
                }
                out.push(' ');
            }
            (',', _) => {
                comma = Some(out.len());
                out.push(c);
            }
            ('}' | ']', _) => {
                if let Some(at) = comma.take() {
                    out.replace_range(at..at + 1, " ");
                }
                out.push(c);
            }
            _ => {
                if !c.is_whitespace() {
                    comma = None;
                }
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_are_taken_out_where_they_are_some() {
        let cases = [
            ("[1, // one\n2,]", "[1, \n2 ]"),
            (
                "{\"a\": \"// no, */\\\"\", /* b\n */ }",
                "{\"a\": \"// no, */\\\"\"  \n  }",
            ),
            ("[\"é\", ]", "[\"é\"  ]"),
            ("[1,,]", "[1, ]"),
            ("/* open", " "),
            ("\"open \\", "\"open \\"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_comments(text), expected, "{text}");
        }
    }
}
