//! Signals and exceptions: what stops, and what a stop was about.

use crate::session::Session;
use crate::{Error, ThreadId};
use dapple_inspect::exceptions::{Exception, ExceptionFilters};
use dapple_target::signals::SignalTable;

impl Session {
    /// Says what becomes of signals. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_signals(&self, table: SignalTable) -> Result<(), Error> {
        self.ask(move |owner| owner.set_signals(table))
    }

    /// Says which exceptions of languages stop. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_exception_filters(&self, filters: ExceptionFilters) -> Result<(), Error> {
        self.ask(move |owner| owner.set_exception_filters(filters))
    }

    /// What a thread has stopped for, where that is an exception or a signal.
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn exception(&self, thread: ThreadId) -> Result<Option<Exception>, Error> {
        self.look(move |threads| threads.exception(thread))?
    }
}
