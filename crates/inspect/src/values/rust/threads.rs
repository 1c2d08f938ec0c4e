//! Threads and synchronisation types: thread handles with name and result, barriers, `Once`.

use super::{Flaw, OrUnknownLayout, cells, payload, pointed_to, shown};
use crate::values::view::View;
use crate::values::{Reader, Value};

/// `Thread`: its id, and its name if it has one.
pub(super) fn thread(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let shared = pointed_to(reader, value)?;
    let inner = reader.field(&shared, "data").known()?;
    let mut fields = vec![("id", reader.field(&inner, "id").known()?)];
    if let Some(name) = payload(reader, &reader.field(&inner, "name").known()?) {
        fields.push(("name", reader.field(&name, "inner").unwrap_or(name)));
    }
    Ok(shown("Thread", fields))
}

/// `JoinHandle` and `ScopedJoinHandle`: the thread, and its result: `None` until it has finished, and after it was joined.
pub(super) fn handle(reader: &Reader<'_>, value: &Value, name: &str) -> Result<View, Flaw> {
    let thread = reader.find(value, "thread").known()?;
    let packet = reader.find(value, "packet").known()?;
    let packet = reader
        .field(&pointed_to(reader, &packet)?, "data")
        .known()?;
    let result = super::held(reader, reader.field(&packet, "result").known()?);
    Ok(shown(name, vec![("thread", thread), ("result", result)]))
}

/// `Barrier`: the numbers of waiting threads and of all threads.
pub(super) fn barrier(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let lock = reader.field(value, "lock").known()?;
    let waiting = reader.find(&lock, "count").known()?;
    let all = reader.field(value, "num_threads").known()?;
    Ok(shown(
        "Barrier",
        vec![("waiting", waiting), ("num_threads", all)],
    ))
}

/// `Once`: whether it has run.
pub(super) fn once(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let state = match cells::once(reader, value)? {
        cells::COMPLETE => "done",
        cells::RUNNING => "running",
        cells::POISONED => "poisoned",
        _ => "not run yet",
    };
    Ok(View::Text {
        text: format!("Once ({state})"),
        address: None,
    })
}
