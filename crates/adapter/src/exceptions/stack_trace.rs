//! The stack of an exception as a text: the frames in the user's own sources, and behind them how many others there are.
//!
//! Clients make links of what looks like `FILE:LINE`, so only what can be opened looks like that.

use crate::source_map::SourceMap;
use dapple_engine::exceptions::{StackTrace, TraceFrame};
use std::path::PathBuf;

/// The text, a line for each frame. Where none is in the user's own sources, all of them.
pub fn text(trace: &StackTrace, sources: &SourceMap) -> String {
    let frames: Vec<(&TraceFrame, Option<PathBuf>)> = trace
        .frames
        .iter()
        .map(|frame| (frame, openable(frame, sources)))
        .collect();
    let is_users =
        |(frame, file): &&(&TraceFrame, Option<PathBuf>)| file.is_some() && !frame.in_library;
    let users = frames.iter().filter(is_users).count();
    let mut lines: Vec<String> = match users {
        0 => frames.iter().map(line).collect(),
        _ => frames.iter().filter(is_users).map(line).collect(),
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

/// The file that a frame's source is here.
fn openable(frame: &TraceFrame, sources: &SourceMap) -> Option<PathBuf> {
    let (file, _) = frame.position.as_ref()?;
    let (here, exists) = sources.locate(file);
    exists.then_some(here)
}

fn line((frame, here): &(&TraceFrame, Option<PathBuf>)) -> String {
    let name = &frame.function;
    match (&frame.position, here, &frame.module) {
        (Some((_, line)), Some(here), _) => format!("{name} at {}:{line}", here.display()),
        (_, _, Some(module)) => format!("{name} in {module}"),
        (..) => name.clone(),
    }
}
