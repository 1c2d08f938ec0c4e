//! Giving variables, registers and what lies in memory other values.

use super::Session;
use crate::frame::FrameId;
use crate::values::{NamedValue, Rendered};
use crate::{Address, Error};
use std::ops::Range;

/// What is to get another value.
#[derive(Debug, Clone)]
pub enum Target {
    /// A value that was shown. Boxed, being large.
    Value(Box<NamedValue>),
    /// A general register of the frame, by its name without `$`.
    Register(String),
    /// What an expression in the frame's language stands for.
    Expression(String),
}

/// What an assignment has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Ranges of memory.
    pub memory: Vec<Range<Address>>,
    /// Registers.
    pub registers: bool,
    /// The thread is at another instruction: its frames are others.
    pub moved: bool,
}

impl Session {
    /// Gives `target` the value of the expression `text`, both in a frame; without one, in the innermost of the thread
    /// that stopped. Whatever can't be done leaves all as it was.
    ///
    /// # Errors
    /// [`Error::Expression`] where the value is none for the target, or the target has no place, or one that is read-only;
    /// [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn assign(
        &self,
        target: Target,
        text: &str,
        frame: Option<FrameId>,
    ) -> Result<Changed, Error> {
        let text = text.to_owned();
        self.ask(move |owner| owner.assign(&target, &text, frame))?
    }

    /// As [`Session::evaluate`], but of an assignment (`x = 3`, `x += 1`) the value of its target afterwards, with what was
    /// changed.
    ///
    /// # Errors
    /// As [`Session::evaluate`] and [`Session::assign`].
    pub fn execute(
        &self,
        text: &str,
        frame: Option<FrameId>,
    ) -> Result<(NamedValue, Rendered, Changed), Error> {
        let text = text.to_owned();
        self.ask(move |owner| owner.execute(&text, frame))?
    }
}
