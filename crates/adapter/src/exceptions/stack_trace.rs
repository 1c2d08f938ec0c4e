//! The stack of an exception as text: the frames in the user's sources, and the number of other frames.
//!
//! Clients turn `FILE:LINE` into links, so that form is used only for files that can be opened.

use crate::function_names::FunctionNames;
use crate::source_map::SourceMap;
use dapple_engine::exceptions::{StackTrace, TraceFrame};
use std::path::PathBuf;

/// The text, with a line for each frame. Has all frames if none is in the user's sources.
pub fn text(trace: &StackTrace, sources: &SourceMap, names: FunctionNames) -> String {
    let frames: Vec<(&TraceFrame, Option<PathBuf>)> = trace
        .frames
        .iter()
        .map(|frame| (frame, openable(frame, sources)))
        .collect();
    let is_users =
        |(frame, file): &&(&TraceFrame, Option<PathBuf>)| file.is_some() && !frame.is_others;
    let users = frames.iter().filter(is_users).count();
    let mut lines: Vec<String> = match users {
        0 => frames.iter().map(|frame| line(frame, names)).collect(),
        _ => {
            let users = frames.iter().filter(is_users);
            users.map(|frame| line(frame, names)).collect()
        }
    };
    let folded = frames.len() - lines.len();
    let more = if trace.complete { "" } else { " or more" };
    match (folded, trace.complete) {
        (0, true) => {}
        (0, false) => lines.push("…".to_owned()),
        (1, true) => {
            lines.push("1 frame of a library or without a source: see the call stack".to_owned())
        }
        (count, _) => lines.push(format!(
            "{count}{more} frames of libraries or without a source: see the call stack"
        )),
    }
    lines.join("\n")
}

/// The file on this machine of a frame's source, if it exists.
fn openable(frame: &TraceFrame, sources: &SourceMap) -> Option<PathBuf> {
    let (file, _) = frame.position.as_ref()?;
    let (here, exists) = sources.locate(file);
    exists.then_some(here)
}

fn line((frame, here): &(&TraceFrame, Option<PathBuf>), names: FunctionNames) -> String {
    let name = names.name(&frame.function);
    match (&frame.position, here, &frame.module) {
        (Some((_, line)), Some(here), _) => format!("{name} at {}:{line}", here.display()),
        (_, _, Some(module)) => format!("{name} in {module}"),
        (..) => name,
    }
}
