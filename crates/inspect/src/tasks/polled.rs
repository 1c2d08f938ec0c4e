//! The task that a thread polls, by the thread's frames. Unlike the executor's own variables, it is found without an index of names.

use super::parts;
use crate::frame::Frame;
use crate::values::{Reader, names};

/// The type of tokio whose function `poll` polls a task's future.
const CORE: &str = "tokio::runtime::task::core::Core";

/// tokio's number of the task that the thread with these frames, innermost first, polls. `None`: none, or its frame doesn't tell.
pub fn number(reader: &Reader<'_>, frames: impl Iterator<Item = Frame>) -> Option<u64> {
    let is_poll = |frame: &Frame| {
        let name = frame.function.as_deref().unwrap_or_default();
        let method = name.rsplit_once(">::poll").map(|(_, behind)| behind);
        names::path_name(name) == CORE
            && method.is_some_and(|rest| rest.is_empty() || rest.starts_with('<'))
    };
    let frame = { frames }.find(is_poll)?;
    let variables = reader.variables(&frame);
    let core = { variables.iter() }.find(|variable| variable.name == "self")?;
    let core = parts::pointee(reader, &core.value)?;
    let id = reader.find_integer(&reader.find(&core, "task_id")?)?;
    reader.word(&id.contents).ok()
}
