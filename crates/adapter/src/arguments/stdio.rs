//! The argument `stdio`: all standard streams in one argument, as in CodeLLDB and lldb-dap.
//!
//! A file for output is truncated. So a string that names an existing regular file stands only for the input, and so does the item of a list
//! of one.

use super::given::Given;
use crate::argument_values::{sink, stdin};
use serde_json::Value;
use std::path::Path;

/// The names of the streams, in the order of a list.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Reads `"FILE"` (the input if that is a regular file, else all three streams, such as a terminal), a list, or `{"stdout": "FILE"}`. In a
/// list of two, the second item stands for both outputs. `null` leaves a stream unchanged.
///
/// # Errors
/// A value is no valid file.
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

/// Whether a path, relative to the program's working directory, is an existing regular file.
fn is_file(given: &Given, path: &Path) -> bool {
    let folder = given.options.cwd.as_deref().unwrap_or(Path::new(""));
    folder.join(path).is_file()
}
