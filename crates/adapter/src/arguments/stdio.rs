//! `stdio`: all streams in one argument, as CodeLLDB and lldb-dap have it.

use super::given::Given;
use super::values::{sink, stdin};
use serde_json::Value;

/// The names of the streams, in their order.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Takes `"FILE"` for all, a list whose last goes for the rest, or `{"stdout": "FILE"}`; `null` leaves a stream as it is.
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
    for (index, stream) in STREAMS.iter().enumerate() {
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
