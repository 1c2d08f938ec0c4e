//! Breakpoints that are there until a thread has stopped at them: for running to a place.

use super::{BreakpointOptions, Session};
use crate::frame::FrameId;
use crate::owner::Owner;
use crate::{Address, Error, ThreadId};
use dapple_symbols::functions::SourcePosition;
use std::path::PathBuf;

/// Where a temporary breakpoint is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemporaryPlace {
    /// A line: see [`super::LineBreakpoint`].
    Line {
        /// The file.
        file: PathBuf,
        /// 1-based.
        line: u32,
        /// 1-based, in bytes.
        column: Option<u32>,
    },
    /// A function: see [`super::FunctionBreakpoint`].
    Function {
        /// Its name.
        name: String,
    },
    /// An instruction.
    Address(Address),
}

/// A breakpoint that is gone with the first stop that has its id.
///
/// Until then it stays, whatever stops meanwhile: who runs to a place and is stopped elsewhere takes it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryBreakpoint {
    /// Where it is.
    pub place: TemporaryPlace,
    /// On what condition and at which hit it stops. With a message it never does, and stays.
    pub options: BreakpointOptions,
    /// Only this thread is stopped.
    pub thread: Option<ThreadId>,
    /// Only the frame's thread is stopped: in the frame or one that called it, not in what it calls; and where the frame
    /// returns to, or an exception, a panic or longjmp(3) takes it that leaves the frame, if it is not stopped before. It is
    /// gone with its thread.
    pub frame: Option<FrameId>,
}

impl TemporaryBreakpoint {
    /// One that stops any thread that comes there.
    pub fn at(place: TemporaryPlace) -> TemporaryBreakpoint {
        TemporaryBreakpoint {
            place,
            options: BreakpointOptions::default(),
            thread: None,
            frame: None,
        }
    }
}

/// A temporary breakpoint that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporarySet {
    /// No other breakpoint has it. The stop has it as it has those of other breakpoints.
    pub id: i64,
    /// The source at the first place.
    pub position: Option<SourcePosition>,
    /// Every place.
    pub addresses: Vec<Address>,
}

impl Session {
    /// Sets a temporary breakpoint beside all others. Works while running, but for one in a frame.
    ///
    /// # Errors
    /// [`Error::Refused`] where it can't be: why; [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn set_temporary_breakpoint(
        &self,
        wanted: TemporaryBreakpoint,
    ) -> Result<TemporarySet, Error> {
        self.ask(move |owner: &mut Owner| owner.set_temporary(wanted))?
    }

    /// Takes a temporary breakpoint back; harmless when it is gone.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn remove_temporary_breakpoint(&self, id: i64) -> Result<(), Error> {
        self.ask(move |owner: &mut Owner| owner.remove_temporaries(|other| other == id))
    }
}
