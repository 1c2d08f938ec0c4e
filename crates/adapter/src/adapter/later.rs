//! Brings results back to the session's thread, from other threads and from responses to reverse requests.

use crate::adapter::Adapter;
use crossbeam_channel::{Receiver, Sender, unbounded};
use dapple_dap::server::{ClientConventions, Outbox};
use dapple_engine::session::Waker;
use std::sync::Arc;

/// Runs on the session's thread, between two messages.
pub type Job = Box<dyn FnOnce(&mut Adapter, &Outbox, &ClientConventions) + Send>;

/// Sends jobs to a session, from any thread.
#[derive(Clone)]
pub struct Later {
    jobs: Sender<Job>,
    waker: Arc<Waker>,
}

impl Later {
    /// The two ends of the channel; `waker` wakes the session's thread.
    pub fn channel(waker: Arc<Waker>) -> (Later, Receiver<Job>) {
        let (jobs, receiver) = unbounded();
        (Later { jobs, waker }, receiver)
    }

    /// Has the session's thread run a job, and returns at once. If the session is over, the job is discarded.
    pub fn run(
        &self,
        job: impl FnOnce(&mut Adapter, &Outbox, &ClientConventions) + Send + 'static,
    ) {
        if self.jobs.send(Box::new(job)).is_ok() {
            self.waker.wake();
        }
    }
}
