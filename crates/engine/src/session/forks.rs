//! Child processes of the program.

use super::{ProcessInfo, Session};
use crate::forks::HandedOver;
use crate::{Error, ThreadId};

impl Session {
    /// The session debugs another process now, as [`Event::Followed`](crate::Event::Followed) has reported.
    pub fn goes_on_with(&mut self, process: ProcessInfo) {
        self.process = process;
    }

    /// Releases a child that was kept stopped, as if there had never been a debugger. `false` if it has ended, or another session has it.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn let_child_go(&self, child: i32) -> Result<bool, Error> {
        self.ask(move |owner| owner.let_child_go(ThreadId(child)))
    }

    /// Makes a kept child wait without a tracer, for a session in the process `tracer` to take it over. The caller has to report the
    /// outcome by [`Session::child_was_taken`] or [`Session::take_child_back`].
    ///
    /// # Errors
    /// [`Error::Refused`]: the child stays stopped here, or is dead. [`Error::Ended`].
    pub fn hand_child_over(&self, child: i32, tracer: i32) -> Result<HandedOver, Error> {
        self.ask(move |owner| owner.hand_child_over(ThreadId(child), tracer))?
    }

    /// Another session has taken over the child.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn child_was_taken(&self, child: i32) -> Result<(), Error> {
        self.ask(move |owner| owner.child_was_taken(ThreadId(child)))
    }

    /// No session has taken the child: it is released.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn take_child_back(&self, child: i32, handed: HandedOver) -> Result<(), Error> {
        self.ask(move |owner| owner.take_child_back(ThreadId(child), &handed))
    }
}
