//! Finds the expression at a position in a source line: under the mouse pointer, or in front of a dot.

use std::ops::Range;

/// The longest line supported, in bytes.
const MAX_LINE: usize = 10_000;

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The expression that ends in the name at byte `at` of a line: in `a.b[i].c`, everything at `c`, only `a.b` at `b`, and only `i` at `i`.
/// `None`: there is no name, the line doesn't contain the whole expression, or a call is in front of the name.
pub fn expression_at(line: &str, at: usize) -> Option<&str> {
    if line.len() > MAX_LINE {
        return None;
    }
    let at = (0..=at.min(line.len()))
        .rev()
        .find(|at| line.is_char_boundary(*at))?;
    let tail = line.get(at..)?;
    let end = at + tail.find(|c| !is_part(c)).unwrap_or(tail.len());
    let start = name_before(line, end)?;
    let range = whole(line, start..end)?;
    line.get(range)
}

/// The expression that ends at byte `end` of a line.
pub(super) fn expression_before(line: &str, end: usize) -> Option<&str> {
    if line.len() > MAX_LINE {
        return None;
    }
    let end = line.get(..end)?.trim_end().len();
    let start = operand_before(line, end)?;
    line.get(whole(line, start..end)?)
}

/// The start of the name that ends at a byte.
fn name_before(line: &str, end: usize) -> Option<usize> {
    let head = line.get(..end)?;
    let start = head.rfind(|c| !is_part(c)).map_or(0, |at| {
        at + head[at..].chars().next().map_or(1, char::len_utf8)
    });
    (start < end).then_some(start)
}

/// The start of the operand that ends at a byte: a name, possibly with indices, or an expression in brackets.
fn operand_before(line: &str, end: usize) -> Option<usize> {
    let head = line.get(..end)?;
    match head.chars().next_back()? {
        ']' => {
            let open = opening(head, '[', ']')?;
            operand_before(line, head.get(..open)?.trim_end().len())
        }
        ')' => {
            let open = opening(head, '(', ')')?;
            // A call's value is not known.
            let called = head.get(..open)?.chars().next_back();
            (!called.is_some_and(|c| is_part(c) || c == '>')).then_some(open)
        }
        _ => {
            let start = name_before(line, end)?;
            let is_register = head.get(..start)?.ends_with('$');
            Some(start - usize::from(is_register))
        }
    }
}

/// The position of the bracket that matches the one at the end of a text.
fn opening(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices().rev() {
        if c == close {
            depth += 1;
        } else if c == open {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Extends an operand to the left by the objects that it is a member of.
fn whole(line: &str, operand: Range<usize>) -> Option<Range<usize>> {
    let Range { mut start, end } = operand;
    loop {
        let head = line.get(..start)?.trim_end();
        let before = if head.ends_with("..") {
            None
        } else {
            ["->", "::", "."]
                .iter()
                .find_map(|link| head.strip_suffix(link))
        };
        let Some(before) = before else { break };
        let before = before.trim_end();
        if before.is_empty() && head.ends_with("::") {
            break;
        }
        start = operand_before(line, before.len())?;
    }
    // A number alone is not a name.
    let first = line.get(start..end)?.chars().next()?;
    (!first.is_ascii_digit()).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_with_what_it_is_a_member_of() {
        let line =
            "    total += order->items[i + 1].price * self.rate::<T>(x) - (*p).next + ns::count;";
        let at = |name: &str| expression_at(line, line.find(name).expect(name) + 1);
        assert_eq!(at("total"), Some("total"));
        assert_eq!(at("order"), Some("order"));
        assert_eq!(at("items"), Some("order->items"));
        assert_eq!(at("price"), Some("order->items[i + 1].price"));
        assert_eq!(at("rate"), Some("self.rate"));
        assert_eq!(at("next"), Some("(*p).next"));
        assert_eq!(at("count"), Some("ns::count"));
        assert_eq!(
            expression_at(line, line.find("i + 1").expect("i")),
            Some("i")
        );
        assert_eq!(expression_at(line, line.find("1]").expect("1")), None);
        assert_eq!(expression_at(line, 0), None);
        assert_eq!(expression_at("call(x).member", 9), None);
        assert_eq!(expression_at("0..end", 4), Some("end"));
        assert_eq!(expression_at("pair.0", 5), Some("pair.0"));
    }

    #[test]
    fn no_text_is_too_odd() {
        for line in [
            "", "]", ")", "a]", ").b", "é.ü", "a.", "::a", "[[[", "->x", "🦀.x", "(().x",
        ] {
            for at in 0..=line.len() + 2 {
                let _ = expression_at(line, at);
                let _ = expression_before(line, at);
            }
        }
        assert_eq!(expression_before("a.b[2].", 6), Some("a.b[2]"));
        assert_eq!(expression_before("x + (*p)", 8), Some("(*p)"));
        assert_eq!(expression_before("f(p)", 4), None);
    }
}
