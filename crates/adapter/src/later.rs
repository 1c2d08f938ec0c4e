//! Work beside a session that comes back to it: what a thread of its own, or a client's answer, has found out.

use crate::adapter::Adapter;
use crossbeam_channel::{Receiver, Sender, unbounded};
use dapple_dap::server::{ClientConventions, Outbox};

/// What is done on the session's thread, between two messages.
pub type Job = Box<dyn FnOnce(&mut Adapter, &Outbox, &ClientConventions) + Send>;

/// Takes jobs for a session, from any thread.
#[derive(Clone)]
pub struct Later(Sender<Job>);

impl Later {
    /// The way to a session, and the session's end of it.
    pub fn channel() -> (Later, Receiver<Job>) {
        let (sender, receiver) = unbounded();
        (Later(sender), receiver)
    }

    /// Does something on the session's thread; nothing when the session is over.
    pub fn run(
        &self,
        job: impl FnOnce(&mut Adapter, &Outbox, &ClientConventions) + Send + 'static,
    ) {
        let _ = self.0.send(Box::new(job));
    }
}
