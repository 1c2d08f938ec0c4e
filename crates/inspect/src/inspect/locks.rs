//! Threads that wait for locks and for each other.

use super::Inspect;
use crate::frame::Frame;
use crate::locks::guards::{self, Guard};
use crate::locks::{self, Evidence, Holder, Locks, ThreadWait, WaitKind};
use crate::pages::PageCache;
use crate::{Address, ThreadId};
use dapple_symbols::sources;

/// The most threads that are looked at.
const MOST_THREADS: usize = 512;
/// The most frames of a thread that are looked at.
const MOST_FRAMES: usize = 100;
/// The size of a mutex of the C library. Those of Rust are smaller.
const SMALLEST_LOCK: u64 = 40;
/// The size of a read-write lock of the C library.
const LARGEST_LOCK: u64 = 56;
/// The most holders of one lock.
const MOST_HOLDERS: usize = 16;

/// The threads that wait, and for whom.
pub(super) fn locks<I: Inspect + ?Sized>(threads: &mut I) -> Locks {
    let all = threads.threads();
    let mut found = Locks {
        skipped: all.len().saturating_sub(MOST_THREADS),
        ..Locks::default()
    };
    let exists = |id: ThreadId| all.iter().any(|thread| thread.id == id);
    for thread in all.iter().take(MOST_THREADS) {
        if threads.require_thread_stopped(thread.id).is_err() {
            found.skipped += 1;
            continue;
        }
        let registers = threads.live().of(thread.id);
        let Some(at) = registers.and_then(|(registers, _)| locks::waits_at(&registers)) else {
            continue;
        };
        let Ok(stack) = threads.stack(thread.id, 0..MOST_FRAMES) else {
            continue;
        };
        let wait = wait_of(threads, thread.id, &stack.frames, at, &exists);
        found.waits.extend(wait.map(|wait| ThreadWait {
            name: thread.name.clone(),
            ..wait
        }));
    }
    let is_unknown =
        |wait: &ThreadWait| matches!(wait.kind, WaitKind::RustMutex | WaitKind::RustLock);
    if found.waits.iter().any(is_unknown) {
        let mut held = Vec::new();
        for thread in all.iter().take(MOST_THREADS) {
            let Ok(stack) = threads.stack(thread.id, 0..MOST_FRAMES) else {
                continue;
            };
            let pages = PageCache::of_request(threads.memory());
            let reader = threads.reader().over(&pages);
            let guards = guards::held(&reader, &stack.frames);
            held.extend(guards.into_iter().map(|guard| (thread.id, guard)));
        }
        for wait in found.waits.iter_mut().filter(|wait| is_unknown(wait)) {
            wait.holders = by_guards(wait, &held);
        }
    }
    found.deadlocks = locks::deadlocks(&found.waits);
    found
}

/// What a thread with these frames waits for at an address.
fn wait_of<I: Inspect + ?Sized>(
    threads: &I,
    thread: ThreadId,
    frames: &[Frame],
    at: Address,
    exists: &dyn Fn(ThreadId) -> bool,
) -> Option<ThreadWait> {
    let (kind, function) = locks::waited(frames)?;
    let is_parking = function
        .function
        .as_deref()
        .is_some_and(|name| name.starts_with("parking_lot::"));
    let lock = match is_parking {
        true => guards::lock_of_method(&threads.reader(), function),
        false => Some(at),
    };
    let lock = lock.filter(|_| kind.is_lock() || kind == WaitKind::Condition);
    let own = { frames.iter() }.find(|frame| {
        let position = frame.position.as_ref();
        position.is_some_and(|at| at.file.is_absolute() && sources::origin(&at.file).is_none())
    });
    let stored = locks::stored_holder(threads.memory(), kind, at);
    let evidence = match kind {
        WaitKind::Join => Evidence::Joined,
        _ => Evidence::Owner,
    };
    Some(ThreadWait {
        thread,
        name: String::new(),
        kind,
        lock,
        variable: lock.and_then(|lock| variable_at(threads, lock)),
        function: own.and_then(|frame| frame.function.clone()),
        place: own.and_then(|frame| frame.position.clone()),
        holders: { stored.into_iter() }
            .map(|thread| Holder {
                thread,
                exists: exists(thread),
                evidence: evidence.clone(),
            })
            .collect(),
    })
}

/// The static variable at an address.
fn variable_at<I: Inspect + ?Sized>(threads: &I, at: Address) -> Option<String> {
    let module = threads.modules().at(at)?;
    let symbol = module.module.symbol_at(module.to_file(at))?;
    let is_variable = !symbol.function && symbol.size > 0;
    let name = is_variable.then(|| dapple_symbols::module::demangle(&symbol.name))?;
    // The word that threads wait at may be anywhere in the lock. What is behind its end is another part, as in an array of locks.
    let inside = module.to_file(at).0.checked_sub(symbol.address.0)?;
    Some(match inside {
        0..SMALLEST_LOCK => name,
        _ if symbol.size <= LARGEST_LOCK => name,
        inside => format!("{name}+{inside}"),
    })
}

/// The threads with a guard of the awaited lock. A thread's own guard counts only if no other thread has one.
fn by_guards(wait: &ThreadWait, held: &[(ThreadId, Guard)]) -> Vec<Holder> {
    let Some(lock) = wait.lock else {
        return Vec::new();
    };
    let mut holders: Vec<Holder> = Vec::new();
    for (thread, guard) in held.iter().filter(|(_, guard)| guard.is_of(lock)) {
        if holders.iter().all(|known| known.thread != *thread) {
            holders.push(Holder {
                thread: *thread,
                exists: true,
                evidence: Evidence::Guard(guard.function.clone()),
            });
        }
    }
    if holders.len() > 1 {
        holders.retain(|holder| holder.thread != wait.thread);
    }
    holders.truncate(MOST_HOLDERS);
    holders
}
