//! Breakpoints on lines, functions and addresses, temporary ones, and where breakpoints can be.

use super::{BreakpointState, FunctionBreakpoint, InstructionBreakpoint, LineBreakpoint, Session};
pub use crate::breakpoints::trampolines::WhereDecided;
pub use crate::breakpoints::wanted::{
    Decided, Decisions, TemporaryBreakpoint, TemporaryPlace, TemporarySet,
};
use crate::{Address, Error};
use std::ops::RangeInclusive;
use std::path::Path;

impl Session {
    /// Sets where conditions of breakpoints are decided and hits counted. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_decided(&self, decided: WhereDecided) -> Result<(), Error> {
        self.ask(move |owner| owner.set_decided(decided))
    }

    /// Replaces all line breakpoints of `file`; the answer has one entry for each, in order. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_line_breakpoints(
        &self,
        file: &Path,
        wanted: Vec<LineBreakpoint>,
    ) -> Result<Vec<BreakpointState>, Error> {
        let file = file.to_owned();
        self.ask(move |owner| owner.set_line_breakpoints(&file, &wanted))
    }

    /// Replaces all breakpoints on functions; the answer has one entry for each, in order. Works while running. Each loaded module is
    /// searched once for each name, which takes a while for a large one.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_function_breakpoints(
        &self,
        wanted: Vec<FunctionBreakpoint>,
    ) -> Result<Vec<BreakpointState>, Error> {
        self.ask(move |owner| owner.set_function_breakpoints(&wanted))
    }

    /// Replaces all breakpoints on addresses; the answer has one entry for each, in order. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_address_breakpoints(
        &self,
        wanted: Vec<Address>,
    ) -> Result<Vec<BreakpointState>, Error> {
        self.set_instruction_breakpoints(wanted.into_iter().map(Into::into).collect())
    }

    /// As [`Session::set_address_breakpoints`], with options.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_instruction_breakpoints(
        &self,
        wanted: Vec<InstructionBreakpoint>,
    ) -> Result<Vec<BreakpointState>, Error> {
        self.ask(move |owner| owner.set_address_breakpoints(&wanted))
    }

    /// The statements in `lines` (1-based) of `file` where a breakpoint can be, each once and in order: line and column, both
    /// 1-based. The column counts bytes; 0 is an unknown one. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn breakpoint_places(
        &self,
        file: &Path,
        lines: RangeInclusive<u32>,
    ) -> Result<Vec<(u32, u32)>, Error> {
        let file = file.to_owned();
        self.ask(move |owner| owner.breakpoint_places(&file, lines))
    }

    /// How it is decided whether breakpoints act that have a condition, a hit condition or a message. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn decisions(&self) -> Result<Decisions, Error> {
        self.ask(|owner| owner.decisions())
    }

    /// Sets a temporary breakpoint, in addition to all others. Works while running, except for one in a frame.
    ///
    /// # Errors
    /// [`Error::Refused`] with the reason why it can't be set; [`Error::NoSuchThread`], [`Error::StaleFrame`], [`Error::NotStopped`],
    /// [`Error::Ended`].
    pub fn set_temporary_breakpoint(
        &self,
        wanted: TemporaryBreakpoint,
    ) -> Result<TemporarySet, Error> {
        self.ask(move |owner| owner.set_temporary(wanted))?
    }

    /// Removes a temporary breakpoint; harmless when it is gone.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn remove_temporary_breakpoint(&self, id: i64) -> Result<(), Error> {
        self.ask(move |owner| owner.remove_temporaries(|other| other == id))
    }
}
