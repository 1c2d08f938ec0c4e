//! Ranges as in source code: `1..10`, `'a'..='z'`, `..5`.

use super::{Flaw, OrUnknownLayout};
use crate::values::names;
use crate::values::view::{Field, Record, Style, View};
use crate::values::{Reader, Value};

/// The view of a range, by the name of its type.
pub(super) fn range(reader: &Reader<'_>, value: &Value, path: &str) -> Result<View, Flaw> {
    let kind = names::base_name(path);
    let parts: &[&str] = match kind {
        "Range" | "RangeInclusive" => &["start", "end"],
        "RangeFrom" => &["start"],
        "RangeTo" | "RangeToInclusive" => &["end"],
        "RangeFull" => &[],
        _ => return Err(Flaw::Layout),
    };
    let field = |name: &&str| -> Result<Field, Flaw> {
        Ok(Field {
            name: (*name).to_owned(),
            value: reader.field(value, name).known()?,
            base: false,
            artificial: false,
        })
    };
    Ok(View::Record(Record {
        name: None,
        style: match kind.ends_with("Inclusive") {
            true => Style::RangeInclusive,
            false => Style::Range,
        },
        fields: parts.iter().map(field).collect::<Result<_, _>>()?,
        raw: kind == "RangeInclusive",
        statics: Vec::new(),
        reachable: true,
        whole: None,
    }))
}

/// The note of a `RangeInclusive` that has been iterated to its end.
pub(super) fn note(reader: &Reader<'_>, value: &Value) -> Option<String> {
    let exhausted = reader.field(value, "exhausted")?;
    let bytes = reader.bytes(&exhausted.contents, 1).ok()?;
    (bytes == [1]).then(|| "exhausted".to_owned())
}
