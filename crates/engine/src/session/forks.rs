//! Children of the program.

use super::{ProcessInfo, Session};
use crate::forks::HandedOver;
use crate::{Error, ThreadId};

impl Session {
    /// The session is about another process now, as [`Event::Followed`](crate::Event::Followed) has told.
    pub fn goes_on_with(&mut self, process: ProcessInfo) {
        self.process = process;
    }

    /// Lets a child run on that is held, as if there had never been a debugger. False when it has ended or been handed over.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn let_child_go(&self, child: i32) -> Result<bool, Error> {
        self.ask(move |owner| owner.let_child_go(ThreadId(child)))
    }

    /// Has a held child wait without a tracer, for a session in the process `tracer` to take it. What becomes of that has to be told
    /// by [`Session::child_was_taken`] or [`Session::take_child_back`].
    ///
    /// # Errors
    /// [`Error::Refused`]: it stays held, or is dead. [`Error::Ended`].
    pub fn hand_child_over(&self, child: i32, tracer: i32) -> Result<HandedOver, Error> {
        self.ask(move |owner| owner.hand_child_over(ThreadId(child), tracer))?
    }

    /// Another session has the child.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn child_was_taken(&self, child: i32) -> Result<(), Error> {
        self.ask(move |owner| owner.child_was_taken(ThreadId(child)))
    }

    /// Nobody has taken the child: it is let go.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn take_child_back(&self, child: i32, handed: HandedOver) -> Result<(), Error> {
        self.ask(move |owner| owner.take_child_back(ThreadId(child), &handed))
    }
}
