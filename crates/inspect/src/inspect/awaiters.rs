//! The C++ coroutines that wait for the one that a thread runs. The thread's stack has only who resumed it, which is the program's scheduler.
//! So those that await it, directly and through others, are shown behind its frame, and then who resumed it.

use super::Inspect;
use crate::ThreadId;
use crate::frame::{Frame, FrameId, FrameKind, nowhere};
use crate::values::coroutines::{Activation, suspended};
use dapple_symbols::functions::Language;
use rustc_hash::FxHashSet;

/// In how many of a thread's innermost frames a coroutine is looked for.
const MOST_FRAMES: usize = 12;
/// The most coroutines that are shown.
const MOST_AWAITERS: usize = 1000;
/// The text before the coroutines that wait.
const AWAITED: &str = "awaited by:";
/// The text behind them.
const RESUMED: &str = "resumed by:";

/// Adds the frames of waiting coroutines to a thread's requested stack.
pub(super) fn add<I: Inspect + ?Sized>(threads: &mut I, thread: ThreadId) {
    let stacks = threads.stacks();
    let Some(stack) = stacks.requested.get_mut(&thread) else {
        return;
    };
    let innermost = stack.frame(stacks.modules, stacks.memory, 0);
    if innermost.is_none_or(|frame| frame.language != Language::Cpp) {
        return;
    }
    let frames = stack
        .window(stacks.modules, stacks.memory, 0..MOST_FRAMES)
        .frames;
    let Some((behind, awaiters)) = awaiters(threads, &frames, thread) else {
        return;
    };
    if let Some(stack) = threads.stacks().requested.get_mut(&thread) {
        stack.insert(behind, awaiters);
    }
}

/// The frames of the coroutines that wait for the outermost one that runs, with the index from which on they are shown.
fn awaiters<I: Inspect + ?Sized>(
    threads: &mut I,
    frames: &[Frame],
    thread: ThreadId,
) -> Option<(usize, Vec<Frame>)> {
    let reader = threads.reader();
    let running = { frames.iter().enumerate() }
        .filter(|(_, frame)| frame.language == Language::Cpp)
        .filter_map(|(index, frame)| Some((index, Activation::of_frame(&reader, frame)?)));
    let running: Vec<(usize, Activation)> = running.collect();
    let (index, outermost) = running.last()?;
    let mut seen: FxHashSet<u64> = running.iter().map(|(_, of)| of.state.0).collect();
    let stop = threads.stop_number();
    let at = |index: usize| FrameId {
        stop,
        thread,
        index,
    };
    let module = frames.get(*index)?.physical.module.clone()?;
    let label = |text: &str, index: usize| Frame {
        id: at(index),
        function: Some(text.to_owned()),
        kind: FrameKind::Label,
        ..Frame::detached(nowhere(&module), Language::Cpp)
    };
    let behind = index + 1;
    let mut found = vec![label(AWAITED, behind)];
    let mut next = outermost.continuation(&reader);
    while let Some(coroutine) = next.filter(|it| seen.insert(it.state.0))
        && found.len() <= MOST_AWAITERS
        && let Some(frame) = suspended::frame(&reader, &coroutine, at(behind + found.len()))
    {
        found.push(frame);
        next = coroutine.continuation(&reader);
    }
    if found.len() == 1 {
        return None;
    }
    found.push(label(RESUMED, behind + found.len()));
    Some((behind, found))
}
