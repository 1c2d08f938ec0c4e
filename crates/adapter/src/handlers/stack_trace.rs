//! The `stackTrace` request, and the ids of frames.

mod frame_format;

use crate::adapter::Adapter;
use crate::shown_frame::ShownFrame;
use crate::to_dap::{Located, OrFail};
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{StackTraceArguments, StackTraceResponse};
use dapple_engine::frame::FrameId;
use std::path::Path;
use std::sync::Arc;

/// Lists a window of a stack. While the stack's depth is unknown, `totalFrames` is one more than the frames so far, so that the client
/// asks for more.
pub fn stack_trace(
    adapter: &mut Adapter,
    arguments: StackTraceArguments,
    context: &mut Context,
) -> Result<StackTraceResponse, Failure> {
    let thread = from_dap::thread(arguments.thread_id)?;
    let window = from_dap::frames(arguments.start_frame, arguments.levels);
    let stack = adapter
        .partly_stopped()?
        .stack(thread, window.clone())
        .or_fail()?;
    let seen = window.start.saturating_add(stack.frames.len());
    let total = stack.total.unwrap_or(seen.saturating_add(1));
    let format = arguments.format.as_ref();
    let sets_aside = format.is_none_or(|format| format.include_all != Some(true));
    let names = frame_format::names(format, adapter.function_names);
    let mut frames = Vec::with_capacity(stack.frames.len());
    // Locates each file once: a stack's frames are in few files, and neighbours often in the same one.
    let mut located: Vec<(Arc<Path>, Located)> = Vec::new();
    let mut last = 0;
    for frame in stack.frames {
        let found = frame.position.as_ref().map(|at| {
            let file = &at.file;
            let is_it = |(known, _): &(Arc<Path>, _)| Arc::ptr_eq(known, file);
            if !located.get(last).is_some_and(is_it) {
                last = located.iter().position(is_it).unwrap_or_else(|| {
                    let (path, is_here) = adapter.locate(file);
                    let origin = adapter.origin(file, is_here, frame.origin());
                    let found = Located {
                        path,
                        is_here,
                        origin,
                        reference: adapter.source_reference(file),
                    };
                    located.push((Arc::clone(file), found));
                    located.len() - 1
                });
            }
            &located[last].1
        });
        let arrived = frame.id.index == 0 && adapter.arrived.contains(&frame.id.thread);
        let is_others = found.is_some_and(|found| found.origin.is_some());
        let aside = sets_aside && is_others && !arrived;
        let is_here = found.map(|found| found.is_here);
        let mut shown = to_dap::frame(&frame, 0, aside, found, names, context.conventions());
        adapter.open_frame(&frame, is_here, &mut shown, context)?;
        if let Some(format) = format {
            shown.name = frame_format::written(adapter, &frame, shown.name, format)?;
        }
        shown.id = adapter.frames.insert(ShownFrame::of(&frame))?;
        frames.push(shown);
    }
    let total = to_dap::saturated(total.try_into().unwrap_or(u64::MAX));
    Ok(StackTraceResponse::new(frames).with_total_frames(total))
}

/// The frame that a client's id stands for.
///
/// # Errors
/// All threads run, or the frame is of an earlier stop.
pub(super) fn frame(adapter: &Adapter, id: i64) -> Result<FrameId, Failure> {
    adapter.partly_stopped()?;
    match adapter.frames.get(id) {
        Ok(frame) => Ok(frame.id),
        Err(_) => Err(Failure::new(format!(
            "there is no frame {id} any more; frames are good until the program runs on"
        ))),
    }
}
