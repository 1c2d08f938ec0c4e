//! Signals and exceptions: which of them stop the program, and which one a thread has stopped for.

use crate::session::Session;
use crate::{Error, ThreadId};
use dapple_inspect::exceptions::{Exception, ExceptionFilters};
use dapple_target::signals::SignalTable;

impl Session {
    /// Sets for each signal whether it stops the program, is passed to it, and is reported. Works
    /// while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_signals(&self, table: SignalTable) -> Result<(), Error> {
        self.ask(move |owner| owner.set_signals(table))
    }

    /// Sets which language exceptions stop the program. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_exception_filters(&self, filters: ExceptionFilters) -> Result<(), Error> {
        self.ask(move |owner| owner.set_exception_filters(filters))
    }

    /// The exception or signal that a thread has stopped for, if any.
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn exception(&self, thread: ThreadId) -> Result<Option<Exception>, Error> {
        self.look(move |threads| threads.exception(thread))?
    }
}
