//! Sends results to the owner from background threads: indexing ([`super::indexing`]) and debuginfod requests ([`super::debuginfod`]). The
//! results come as commands, like those of the session.

use super::{Command, Owner};
use crossbeam_channel::Sender;
use dapple_target::linux::wait::Waker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sends commands to the owner until the session is over.
#[derive(Clone)]
pub(super) struct Back {
    commands: Sender<Command>,
    waker: Arc<Waker>,
    over: Arc<AtomicBool>,
}

/// Dropping it tells the background threads that the session is over ([`Back::is_over`]).
pub(super) struct Ending(Arc<AtomicBool>);

impl Back {
    pub(super) fn new(commands: Sender<Command>, waker: Arc<Waker>) -> (Back, Ending) {
        let over: Arc<AtomicBool> = Arc::default();
        let ending = Ending(Arc::clone(&over));
        let back = Back {
            commands,
            waker,
            over,
        };
        (back, ending)
    }

    pub(super) fn send(&self, command: impl FnOnce(&mut Owner) + Send + 'static) {
        // Refused only when the session is over.
        if self.commands.send(Box::new(command)).is_ok() {
            self.waker.wake();
        }
    }

    /// Whether the session is over, so that nobody needs the results.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
