//! What the debugger tells, a record a line.

use std::borrow::Cow;

use serde::Deserialize;

use crate::debug::results::{Output, Record};

/// The kind of a record.
#[derive(Deserialize)]
struct Head<'l> {
    #[serde(borrow)]
    record: Cow<'l, str>,
}

/// Reads a record. `None`: it is of a kind that this version doesn't know.
pub fn read(line: &str) -> Option<Record> {
    // What a program writes comes in many records, which serde reads faster if it needn't find out their kind.
    let head: Head<'_> = serde_json::from_str(line).ok()?;
    match &*head.record {
        "output" => serde_json::from_str::<Output>(line)
            .ok()
            .map(Record::Output),
        _ => serde_json::from_str(line).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_and_unknown_ones_are_left_out() {
        let output = read(r#"{"record":"output","stream":"stderr","text":"a\u001bb"}"#);
        assert!(matches!(output, Some(Record::Output(it)) if it.text == "a\u{1b}b"));
        let exited = read(r#"{"record":"exited","code":3,"text":"program exited with code 3"}"#);
        assert!(matches!(exited, Some(Record::Exited(it)) if it.code == Some(3)));
        assert!(read(r#"{"record":"something else"}"#).is_none());
        assert!(read("no JSON").is_none());
    }
}
