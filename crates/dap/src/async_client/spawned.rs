//! The end of an adapter that was spawned.

#[cfg(unix)]
use rustix::process::Pid;
use tokio::process::Child;
use tokio::time::Instant;

#[cfg(unix)]
use crate::client::spawn;

/// Waits for the end of the adapter. If it has not ended by `until`, kills it and its descendants. Reaps it in any case.
#[cfg(unix)]
pub(super) async fn end(mut child: Child, until: Instant) {
    if let Some(leader) = process(&child) {
        // Not by `child.wait`, which would reap the child: its process id must not be reused until its group is killed.
        let left = until.saturating_duration_since(Instant::now());
        let ended = tokio::task::spawn_blocking(move || spawn::ends_within(leader, left));
        if !ended.await.unwrap_or(false) {
            spawn::kill_family(leader);
        }
        spawn::kill_group(leader);
        child.wait().await.ok();
    }
}

/// Kills the adapter and its descendants at once.
#[cfg(unix)]
pub(super) fn kill(child: &mut Child) {
    if let Some(leader) = process(child) {
        spawn::kill_family(leader);
        spawn::kill_group(leader);
    }
}

#[cfg(unix)]
fn process(child: &Child) -> Option<Pid> {
    child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw)
}

/// Waits for the end of the adapter. Kills it if it has not ended by `until`.
#[cfg(not(unix))]
pub(super) async fn end(mut child: Child, until: Instant) {
    if tokio::time::timeout_at(until, child.wait()).await.is_err() {
        child.kill().await.ok();
    }
}

/// Kills the adapter at once.
#[cfg(not(unix))]
pub(super) fn kill(child: &mut Child) {
    child.start_kill().ok();
}
