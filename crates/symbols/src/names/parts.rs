//! Splits a name's path into parts. One scan that knows the brackets and operators of C++ and Rust. A part that it doesn't
//! understand is a base name as a whole. What follows a function's parameters, such as ` const`, is left out.

/// More parts than any real path has; further ones are left out.
const PARTS_LIMIT: usize = 256;

/// C++ operators of punctuation; longer ones come before their prefixes (C++20 §12.4).
const OPERATORS: [&str; 40] = [
    "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "->", "&&", "||",
    "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "=", "!", "+", "-", "*",
    "/", "%", "^", "&", "|", "~", ",", "\"\"",
];

/// One component of a path: `vector` with the arguments `int, std::allocator<int>`, or `area` with the parameters `int`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part<'n> {
    pub base: &'n str,
    /// The text between its angle brackets.
    pub arguments: Option<&'n str>,
    /// The text between its parentheses, for C++ functions.
    pub parameters: Option<&'n str>,
}

/// The parts of a path, in order; never empty.
pub(crate) fn parts(name: &str) -> Vec<Part<'_>> {
    let mut found: Vec<Part> = Vec::new();
    let mut at = 0;
    while found.len() < PARTS_LIMIT {
        let end = part_end(name, at);
        let text = name[at..end].trim();
        match found.last_mut() {
            // Rust's turbofish: `Vec::<i32>::push`.
            Some(before)
                if before.arguments.is_none()
                    && before.parameters.is_none()
                    && text.starts_with('<')
                    && !text.starts_with("<lambda")
                    && !text.starts_with("<impl ")
                    && text.ends_with('>') =>
            {
                before.arguments = Some(text[1..text.len() - 1].trim());
            }
            _ => found.push(part(text)),
        }
        if end == name.len() {
            break;
        }
        at = end + 2;
    }
    found
}

/// A name's last component without arguments and parameters: the key of name lookups.
pub(crate) fn base_of(name: &str) -> &str {
    if !name.contains(['<', '(', ':']) {
        return name;
    }
    parts(name).last().map_or(name, |part| part.base)
}

/// The end of the part that starts at `at`: the next `::` outside of all brackets, or the end of the name.
fn part_end(name: &str, at: usize) -> usize {
    let bytes = name.as_bytes();
    let mut position = at;
    // Rust's `&dyn core::fmt::Write` is a type, not a path.
    if at == 0
        && ["&", "*const ", "*mut "]
            .iter()
            .any(|sign| name.starts_with(sign))
    {
        return bytes.len();
    }
    if let Some(length) = operator_length(&name[at..]) {
        position += length;
        // The target type of a conversion operator may contain `::`.
        if bytes.get(at + "operator".len()) == Some(&b' ') {
            while position < bytes.len() && bytes[position] != b'(' {
                position += 1;
            }
        }
    }
    while position < bytes.len() {
        match bytes[position] {
            b'<' | b'(' | b'[' | b'{' => position = group_end(bytes, position),
            b':' if bytes.get(position + 1) == Some(&b':') => return position,
            _ => position += 1,
        }
    }
    bytes.len()
}

fn part(text: &str) -> Part<'_> {
    let bytes = text.as_bytes();
    let whole = Part {
        base: text,
        arguments: None,
        parameters: None,
    };
    let mut at = match operator_length(text) {
        Some(length) if bytes.get("operator".len()) == Some(&b' ') => text[length..]
            .find('(')
            .map_or(text.len(), |parenthesis| length + parenthesis),
        Some(length) => length,
        // `{closure#0}`, `(anonymous namespace)`, `<lambda(int)>`, `[T]` are base names themselves.
        None if text.starts_with(['<', '(', '[', '{']) => group_end(bytes, 0),
        None => 0,
    };
    while at < bytes.len() && !matches!(bytes[at], b'<' | b'(') {
        at = match bytes[at] {
            b'{' | b'[' => group_end(bytes, at),
            _ => at + 1,
        };
    }
    let Some(base) = text.get(..at).map(str::trim_end) else {
        return whole;
    };
    let mut part = Part { base, ..whole };
    if bytes.get(at) == Some(&b'<') {
        let end = group_end(bytes, at);
        let Some(inside) = text
            .get(at + 1..end)
            .and_then(|text| text.strip_suffix('>'))
        else {
            return whole;
        };
        part.arguments = Some(inside.trim());
        at = end;
    }
    if bytes.get(at) == Some(&b'(') {
        let end = group_end(bytes, at);
        let Some(inside) = text
            .get(at + 1..end)
            .and_then(|text| text.strip_suffix(')'))
        else {
            return whole;
        };
        part.parameters = Some(inside.trim());
    } else if at < bytes.len() {
        return whole;
    }
    part
}

/// The length of `operator` and its sign, or of `operator` and a space (`operator new`), if the text starts with them.
pub(crate) fn operator_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("operator")?;
    let sign = match rest.as_bytes().first()? {
        b' ' => 1,
        _ => OPERATORS
            .iter()
            .find(|operator| rest.starts_with(**operator))?
            .len(),
    };
    Some("operator".len() + sign)
}

/// The position after the bracket that closes the one at `open`, or the end. Brackets of all kinds count alike.
pub(crate) fn group_end(bytes: &[u8], open: usize) -> usize {
    let mut depth = 0usize;
    let mut at = open;
    while at < bytes.len() {
        match bytes[at] {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            // The `>` of `->` in a function type closes no bracket.
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Splits at commas outside of all brackets.
pub(crate) fn split_arguments(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'<' | b'(' | b'[' | b'{' => {
                at = group_end(bytes, at);
                continue;
            }
            b',' => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.push(text[start..].trim());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_outside_of_brackets() {
        let cases = [
            ("main", "main"),
            ("ns::Shape::area(int) const", "ns|Shape|area ()int"),
            (
                "std::vector<int, std::allocator<int> >::push_back",
                "std|vector <>int, std::allocator<int>|push_back",
            ),
            ("Vec::<i32>::push", "Vec <>i32|push"),
            ("ns::operator<", "ns|operator<"),
            (
                "ns::operator<< <char>(ns::A)",
                "ns|operator<< <>char ()ns::A",
            ),
            ("A::operator()(int)", "A|operator() ()int"),
            (
                "A::operator std::string() const",
                "A|operator std::string ()",
            ),
            ("A::operator->", "A|operator->"),
            ("operators::run", "operators|run"),
            ("&dyn core::fmt::Write", "&dyn core::fmt::Write"),
            (
                "(anonymous namespace)::f(int)",
                "(anonymous namespace)|f ()int",
            ),
            ("tour::{impl#3}::fmt<T>", "tour|{impl#3}|fmt <>T"),
            ("tour::main::{{closure}}", "tour|main|{{closure}}"),
            (
                "<tour::Shape as core::fmt::Display>::fmt",
                "<tour::Shape as core::fmt::Display>|fmt",
            ),
            ("f::<lambda(int)>::operator()", "f|<lambda(int)>|operator()"),
            ("run<fn(i32) -> i32>", "run <>fn(i32) -> i32"),
            ("broken<int", "broken<int"),
            ("", ""),
        ];
        for (name, expected) in cases {
            let shown: Vec<String> = parts(name)
                .iter()
                .map(|part| {
                    let mut shown = part.base.to_owned();
                    if let Some(arguments) = part.arguments {
                        shown += &format!(" <>{arguments}");
                    }
                    if let Some(parameters) = part.parameters {
                        shown += &format!(" (){parameters}");
                    }
                    shown
                })
                .collect();
            assert_eq!(shown.join("|"), expected, "{name}");
        }
    }

    #[test]
    fn any_text_is_cut_without_panic() {
        let signs = [
            "<", ">", "::", "operator", "(", ")", "é", " ", "{", "}", ",",
        ];
        for a in signs {
            for b in signs {
                for c in signs {
                    for d in signs {
                        let name = [a, b, c, d].concat();
                        parts(&name);
                        split_arguments(&name);
                        base_of(&name);
                    }
                }
            }
        }
    }
}
