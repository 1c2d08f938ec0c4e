//! Running the program, giving it input, and ending it.

use super::Session;
use crate::owner::Owner;
use crate::{Error, ThreadId};

impl Session {
    /// Runs all threads, from the entry or a stop.
    ///
    /// # Errors
    /// [`Error::Ended`]. Running already is no error.
    pub fn resume(&self) -> Result<(), Error> {
        self.ask(Owner::resume)
    }

    /// Runs one thread while the others stay stopped; threads that it starts stay stopped, too. If only some threads are running, it
    /// runs beside them. It is no lock: [`Session::resume`] lets all run at any time. Stacks and values of stopped threads can be asked
    /// for. When the last thread that runs has ended, that is a stop ([`crate::event::StopReason::LastRunnerEnded`]).
    ///
    /// # Errors
    /// [`Error::NoSuchThread`], [`Error::Ended`]. If all threads are running, nothing happens.
    pub fn resume_only(&self, thread: ThreadId) -> Result<(), Error> {
        self.ask(move |owner| owner.resume_only(thread))?
    }

    /// Stops all threads. The stop is reported for `thread`, if given. Does nothing if all are stopped.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn pause(&self, thread: Option<ThreadId>) -> Result<(), Error> {
        self.ask(move |owner| owner.pause(thread))
    }

    /// Asks the program to end: by SIGTERM or another signal (`kill -l`), which it may handle; it is resumed for that. The signal
    /// doesn't stop the program and is passed on, whatever [`Session::set_signals`] says.
    ///
    /// # Errors
    /// [`Error::Ended`], or what the system says.
    pub fn terminate(&self, signal: i32) -> Result<(), Error> {
        self.ask(move |owner| owner.terminate(signal))?
    }

    /// Sends bytes to the program's standard input, if that is [`Stdin::Sent`](dapple_target::launch::Stdin::Sent) or a terminal of its
    /// own; `None` ends the input. Does not wait for the program to read.
    ///
    /// # Errors
    /// [`Error::System`] if nothing reads the input, [`Error::Ended`].
    pub fn send_input(&self, bytes: Option<Vec<u8>>) -> Result<(), Error> {
        self.ask(move |owner| owner.send_input(bytes))?
    }

    /// Kills the program, running or stopped; its end comes as an event.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn kill(&self) -> Result<(), Error> {
        self.ask(|owner| owner.kill())?
    }
}
