//! Tells that something has come in, to who can't wait for a channel.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type Ring = Box<dyn Fn() + Send + Sync>;

/// Rung after each thing that came in. Clones are one bell.
#[derive(Clone, Default)]
pub(super) struct Bell(Arc<Mutex<Option<Arc<Ring>>>>);

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bell")
    }
}

impl Bell {
    /// From now on, and once for what came before.
    pub(super) fn answer(&self, ring: impl Fn() + Send + Sync + 'static) {
        let ring: Ring = Box::new(ring);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(ring));
        self.ring();
    }

    /// Tells, if anybody wants to know.
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
