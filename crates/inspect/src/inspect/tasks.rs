//! Tasks of asynchronous executors among the threads.

use super::Inspect;
use crate::frame::StackCache;
use crate::pages::PageCache;
use crate::tasks::threads::{self as scan, Seen};
use crate::tasks::{Process, TaskFrames, TaskPage};
use crate::{Error, ThreadId};
use std::ops::Range;

/// Calls `ask` with the stopped process.
fn asked<I: Inspect + ?Sized, T>(
    threads: &I,
    waits: bool,
    ask: impl FnOnce(&Process<'_>) -> T,
) -> T {
    let pages = PageCache::of_request(threads.memory());
    let reader = threads.reader().over(&pages);
    let pointers = |most: usize| threads.live().thread_pointers(most);
    ask(&Process {
        reader: &reader,
        stop: threads.stop_number(),
        waits,
        now: threads.live().monotonic_time(),
        threads: &pointers,
    })
}

/// Finds what the threads' frames tell of executors, before tasks are listed.
fn prepare<I: Inspect + ?Sized>(threads: &mut I, waits: bool) {
    let wanted = asked(threads, waits, |process| {
        threads.task_table().wants_threads(process)
    });
    if !wanted {
        return;
    }
    let mut seen = Seen::default();
    for thread in { threads.threads() }.into_iter().take(scan::MOST_THREADS) {
        let Ok(stack) = threads.stack(thread.id, 0..scan::MOST_FRAMES) else {
            continue;
        };
        seen.add(&threads.reader(), &stack.frames);
    }
    let reader = threads.reader();
    threads.task_table().add_threads(&reader, seen);
}

/// A page of the tasks.
pub(super) fn page<I: Inspect + ?Sized>(
    threads: &mut I,
    range: Range<usize>,
    waits: bool,
) -> TaskPage {
    prepare(threads, waits);
    asked(threads, waits, |process| {
        threads.task_table().page(process, range)
    })
}

/// The thread that polls a task.
pub(super) fn polling_thread<I: Inspect + ?Sized>(
    threads: &mut I,
    task: ThreadId,
) -> Result<Option<ThreadId>, Error> {
    prepare(threads, true);
    let frames = asked(threads, true, |process| {
        threads.task_table().frames(process, task)
    });
    match frames.ok_or(Error::NoSuchThread(task))? {
        TaskFrames::OfThread(thread) => Ok(Some(thread)),
        TaskFrames::Suspended(_) | TaskFrames::None(_) => Ok(None),
    }
}

/// Adds a task's frames to the requested stacks.
pub(super) fn follow<I: Inspect + ?Sized>(threads: &mut I, task: ThreadId) -> Result<(), Error> {
    threads.require_some_stopped()?;
    if threads.stacks().requested.contains_key(&task) {
        return Ok(());
    }
    prepare(threads, true);
    let frames = asked(threads, true, |process| {
        threads.task_table().frames(process, task)
    });
    let stack = match frames.ok_or(Error::NoSuchThread(task))? {
        TaskFrames::Suspended(frames) => {
            StackCache::of_suspended(task, threads.stop_number(), frames)
        }
        TaskFrames::OfThread(thread) => {
            let stack = threads.new_stack(thread);
            stack.ok_or(Error::NoSuchThread(thread))?.of_task(task)
        }
        TaskFrames::None(why) => {
            return Err(Error::Refused(format!("this task has no frames: {why}")));
        }
    };
    threads.stacks().requested.insert(task, stack);
    Ok(())
}
