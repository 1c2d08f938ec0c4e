//! Short forms of the reasons for unavailable values, for summaries: a long reason would hide the available values around it.

use std::borrow::Cow;

/// The longest reason in a summary, in characters, with the brackets.
const MOST: usize = 30;

/// The short form of a reason: without addresses and explanations, and cut after a word if it is still too long.
pub(super) fn brief(reason: &str) -> Cow<'_, str> {
    if reason.chars().count() <= MOST {
        return reason.into();
    }
    let text = reason.strip_prefix('<').unwrap_or(reason);
    let text = text.strip_suffix('>').unwrap_or(text);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let text = match text.rsplit_once(" at 0x") {
        Some((before, number)) if is_number(number) => before,
        _ => text,
    };
    let ends = [": ", "; ", ", "].map(|end| text.find(end));
    let end = ends.into_iter().flatten().min().unwrap_or(text.len());
    let text = &text[..end];
    // `MOST` includes two brackets, and an ellipsis if the text is cut.
    if text.chars().count() <= MOST - 2 {
        return format!("<{text}>").into();
    }
    let room = text.char_indices().nth(MOST - 3).map_or(0, |(at, _)| at);
    let end = match text[room..].starts_with(' ') {
        true => room,
        false => text[..room].rfind(' ').unwrap_or(room),
    };
    format!("<{}…>", &text[..end]).into()
}

#[cfg(test)]
mod tests {
    use super::{MOST, brief};

    #[test]
    fn a_reason_is_cut_where_its_details_begin() {
        for (whole, expected) in [
            ("<optimized out>", "<optimized out>"),
            (
                "<cannot read memory at 0x7ffc12345678>",
                "<cannot read memory>",
            ),
            (
                "<not initialised or corrupt: length 5 beyond capacity 3>",
                "<not initialised or corrupt>",
            ),
            (
                "<each thread has its own; evaluate its name>",
                "<each thread has its own>",
            ),
            (
                "<no variant has the discriminant 77>",
                "<no variant has the…>",
            ),
            (
                "<ééééééééééééééééééééééééééééééééééééé>",
                "<ééééééééééééééééééééééééééé…>",
            ),
        ] {
            let brief = brief(whole);
            assert_eq!(brief, expected);
            assert!(brief.chars().count() <= MOST, "{brief}");
        }
    }
}
