//! Work beside a session that comes back to it: what a thread of its own, or a client's answer, has found out.

use crate::adapter::Adapter;
use crossbeam_channel::{Receiver, Sender, unbounded};
use dapple_dap::server::{ClientConventions, Outbox};
use dapple_engine::session::Waker;
use std::sync::Arc;

/// What is done on the session's thread, between two messages.
pub type Job = Box<dyn FnOnce(&mut Adapter, &Outbox, &ClientConventions) + Send>;

/// Takes jobs for a session, from any thread.
#[derive(Clone)]
pub struct Later {
    jobs: Sender<Job>,
    waker: Arc<Waker>,
}

impl Later {
    /// The way to a session, and the session's end of it; `waker` wakes its thread.
    pub fn channel(waker: Arc<Waker>) -> (Later, Receiver<Job>) {
        let (jobs, receiver) = unbounded();
        (Later { jobs, waker }, receiver)
    }

    /// Does something on the session's thread; nothing when the session is over.
    pub fn run(
        &self,
        job: impl FnOnce(&mut Adapter, &Outbox, &ClientConventions) + Send + 'static,
    ) {
        if self.jobs.send(Box::new(job)).is_ok() {
            self.waker.wake();
        }
    }
}
