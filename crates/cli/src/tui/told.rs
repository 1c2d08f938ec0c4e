//! What the debugger tells, a record a line.

use serde::Deserialize;

use crate::debug::results::{Output, Record};

/// The kind of a record.
#[derive(Deserialize)]
struct Head {
    record: Kind,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Output,
    #[serde(other)]
    Other,
}

/// Reads a record. `None`: it is of a kind that this version doesn't know.
pub fn read(line: &str) -> Option<Record> {
    // A program that writes much is not to be read twice, as the kinds of a record are told apart by serde.
    let head: Head = serde_json::from_str(line).ok()?;
    match head.record {
        Kind::Output => serde_json::from_str::<Output>(line)
            .ok()
            .map(Record::Output),
        Kind::Other => serde_json::from_str(line).ok(),
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
