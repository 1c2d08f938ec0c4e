//! The tasks of a session, which run the futures of its asynchronous handlers.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How many futures of handlers a session runs at a time. With that many, no further request is started until one is done.
const LIMIT: usize = 1024;

/// The futures of a session's handlers, each on a task of its own. They are dropped with this.
#[derive(Debug)]
pub(crate) struct Tasks {
    running: Mutex<JoinSet<()>>,
    count: Arc<Count>,
}

/// How many futures are not done.
#[derive(Debug)]
struct Count {
    futures: AtomicUsize,
    /// Notified when one is done.
    done: Arc<Notify>,
}

/// Counts a future until it is done or dropped, also by a panic.
struct Counted(Arc<Count>);

impl Counted {
    fn new(count: &Arc<Count>) -> Self {
        count.futures.fetch_add(1, Ordering::AcqRel);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.futures.fetch_sub(1, Ordering::AcqRel);
        self.0.done.notify_one();
    }
}

impl Tasks {
    pub(crate) fn new(done: Arc<Notify>) -> Self {
        let futures = AtomicUsize::new(0);
        Self {
            running: Mutex::default(),
            count: Arc::new(Count { futures, done }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let counted = Counted::new(&self.count);
        let mut running = self.lock();
        // Forgets the tasks that are done.
        while running.try_join_next().is_some() {}
        running.spawn(async move {
            let _counted = counted;
            future.await;
        });
    }

    /// Whether another future may be run.
    pub(crate) fn has_room(&self) -> bool {
        self.count.futures.load(Ordering::Acquire) < LIMIT
    }

    /// Drops the futures, and waits until all have been, no longer than `patience`: a future may block its thread.
    pub(crate) async fn end(&self, patience: Duration) {
        let mut running = std::mem::take(&mut *self.lock());
        timeout(patience, running.shutdown()).await.ok();
    }
}
