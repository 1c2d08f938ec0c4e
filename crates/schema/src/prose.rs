//! Text for comments in generated code: ranges of numbers in words, and lines of a bounded width.

use crate::model::Type;

/// The column that lines of prose don't pass, unless a word does.
const WIDTH: usize = 100;

/// The range of a number, or of each number of an array, in words.
pub(crate) fn range(ty: &Type) -> Option<String> {
    let shown = |low: Option<String>, high: Option<String>| match (low, high) {
        (None, None) => None,
        (Some(low), Some(high)) => Some(format!("Range: {low}..={high}.")),
        (Some(low), None) => Some(format!("Range: {low} or more.")),
        (None, Some(high)) => Some(format!("Range: up to {high}.")),
    };
    match ty {
        Type::Integer(integer) => {
            let (low, high) = integer.range();
            shown(
                low.map(|low| low.to_string()),
                high.map(|high| high.to_string()),
            )
        }
        Type::Number { minimum, maximum } => shown(
            minimum.map(|low| low.to_string()),
            maximum.map(|high| high.to_string()),
        ),
        Type::Array(items) => range(&items.ty).map(|text| text.replace("Range:", "Range of each:")),
        _ => None,
    }
}

/// The lines of a text, each wrapped by itself, behind `indent` and `mark`. None for an empty text.
pub(crate) fn wrapped(text: &str, indent: &str, mark: &str) -> Vec<String> {
    let start = format!("{indent}{mark}");
    let mut lines = Vec::new();
    for paragraph in text.trim().lines() {
        let mut line = start.clone();
        let mut is_empty = true;
        for word in paragraph.split_whitespace() {
            if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push(line.trim_end().to_owned());
                line = start.clone();
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}
