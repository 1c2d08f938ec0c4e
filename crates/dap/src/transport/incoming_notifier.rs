//! Notifies a loop that cannot wait for a channel of incoming items.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type Ring = Box<dyn Fn() + Send + Sync>;

/// Calls a function after each incoming item. Clones share the function.
#[derive(Clone, Default)]
pub(super) struct Bell(Arc<Mutex<Option<Arc<Ring>>>>);

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bell")
    }
}

impl Bell {
    /// Sets the function, and calls it once for the items received before.
    pub(super) fn answer(&self, ring: impl Fn() + Send + Sync + 'static) {
        let ring: Ring = Box::new(ring);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(ring));
        self.ring();
    }

    /// Calls the function, if one is set.
    pub(super) fn ring(&self) {
        let ring = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(ring) = ring {
            ring();
        }
    }
}
