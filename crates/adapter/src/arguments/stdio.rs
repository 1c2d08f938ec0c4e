//! `stdio`: all streams in one argument, as CodeLLDB and lldb-dap have it.
//!
//! Output empties the file that it goes to. So a file that is there is output only where it stands in output's place: alone, as a text
//! or in a list, it is the input.

use super::given::Given;
use crate::argument_values::{sink, stdin};
use serde_json::Value;
use std::path::Path;

/// The names of the streams, in their order.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Takes `"FILE"` (the input where that is a file, else all three, as a terminal), a list whose last but the first goes for the
/// rest, or `{"stdout": "FILE"}`; `null` leaves a stream as it is.
///
/// # Errors
/// A file that can't be one.
pub fn read(given: &mut Given, name: &str, value: &Value) -> Result<(), String> {
    if let Value::Array(items) = value
        && items.len() > STREAMS.len()
    {
        given.warn(format!(
            "`{name}` has {} streams; only the first three, input, output and errors, are looked at",
            items.len()
        ));
    }
    let is_input_alone = match value {
        Value::Array(items) => items.len() == 1,
        Value::String(text) => is_file(given, Path::new(text)),
        _ => false,
    };
    for (index, stream) in STREAMS.iter().enumerate() {
        if is_input_alone && index > 0 {
            break;
        }
        let (label, value) = match value {
            Value::Array(items) => match items.get(index).or(items.last()) {
                Some(item) => (format!("{name}[{}]", index.min(items.len() - 1)), item),
                None => return Ok(()),
            },
            Value::Object(fields) => match fields.get(*stream) {
                Some(field) => (format!("{name}.{stream}"), field),
                None => continue,
            },
            all => (name.to_owned(), all),
        };
        match *stream {
            _ if value.is_null() => {}
            "stdin" => given.options.stdin = stdin(&label, value)?,
            "stdout" => given.options.stdout = sink(&label, value)?,
            _ => given.options.stderr = sink(&label, value)?,
        }
    }
    Ok(())
}

/// Whether a path, from the program's working directory, is of a regular file that is there.
fn is_file(given: &Given, path: &Path) -> bool {
    let folder = given.options.cwd.as_deref().unwrap_or(Path::new(""));
    folder.join(path).is_file()
}
