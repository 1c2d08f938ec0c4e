//! Notifies a loop of incoming items if it cannot wait for their channel.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type Callback = Box<dyn Fn() + Send + Sync>;

/// Calls a function after each incoming item. Clones share the function.
#[derive(Clone, Default)]
pub(super) struct IncomingNotifier(Arc<Mutex<Option<Arc<Callback>>>>);

impl fmt::Debug for IncomingNotifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IncomingNotifier")
    }
}

impl IncomingNotifier {
    /// Sets the function, and calls it once for the items received before.
    pub(super) fn set(&self, callback: impl Fn() + Send + Sync + 'static) {
        let callback: Callback = Box::new(callback);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(callback));
        self.notify();
    }

    /// Calls the function, if one is set.
    pub(super) fn notify(&self) {
        let callback = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(callback) = callback {
            callback();
        }
    }
}
