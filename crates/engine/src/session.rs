//! The debugger's front door: a handle on the thread that owns the debuggee.

use crate::frame::{FrameId, Stack};
use crate::launch::LaunchOptions;
use crate::modules::ModuleInfo;
use crate::values::{NamedValue, Rendered, Value};
use crate::{Address, Error, Event, ThreadId};
use crossbeam_channel::Sender;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A debuggee under control. Methods block until the owner thread has answered, which it does at once: resuming
/// commands return when the debuggee runs, and its stop arrives as an [`Event`].
/// Dropping a session kills a launched debuggee.
#[derive(Debug)]
pub struct Session {
    // private: command sender, waker, join handle
}

/// What the user asked of a source line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineBreakpoint {
    /// 1-based.
    pub line: u32,
}

/// What has become of a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakpointState {
    /// Stable while the breakpoint is: the same file and requested line keep it when a file's list is set anew. From 1.
    pub id: i64,
    /// The file as requested.
    pub file: PathBuf,
    /// The line as requested.
    pub requested_line: u32,
    /// Where it is.
    pub resolution: Resolution,
}

/// Where a breakpoint is, or why nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Armed at these addresses.
    Resolved {
        /// The line that has the code.
        line: u32,
        /// Its column; 0 unknown.
        column: u32,
        /// Every location.
        addresses: Vec<Address>,
    },
    /// No module knows the file yet; one loaded later may. The text says what was looked for.
    Pending(String),
    /// It can't be: the text says why, and what is near.
    Failed(String),
}

/// What a step ends at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// The next line of this frame, or its caller's when it returns.
    Over,
    /// The next line, or the first of a function with source that the line calls.
    Into,
    /// After this frame has returned, in its caller.
    Out,
    /// One machine instruction, into calls.
    Instruction,
}

/// A thread as shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Its id.
    pub id: ThreadId,
    /// Its name (`/proc/PID/task/TID/comm`).
    pub name: String,
}

/// How to take leave of the debuggee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// Kill it.
    Kill,
    /// Let it run on, as if there had never been a debugger.
    Detach,
}

/// The process, as told at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its id.
    pub pid: i32,
    /// The executable, absolute.
    pub program: PathBuf,
}

impl Session {
    /// Starts a program and holds it at its entry, before any of its own code ran; its symbols can be asked.
    /// Events go to `events`, first of them the modules found.
    ///
    /// # Errors
    /// [`Error::Launch`] with a sentence the user can act on.
    pub fn launch(options: LaunchOptions, events: Sender<Event>) -> Result<Session, Error> {
        let _ = (options, events);
        unimplemented!()
    }
    /// The process.
    pub fn process(&self) -> &ProcessInfo {
        unimplemented!()
    }
    /// Replaces all line breakpoints of `file`; the answer has the same order and count. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_line_breakpoints(
        &self,
        file: &Path,
        wanted: Vec<LineBreakpoint>,
    ) -> Result<Vec<BreakpointState>, Error> {
        let _ = (file, wanted);
        unimplemented!()
    }
    /// Runs all threads, from the entry or a stop.
    ///
    /// # Errors
    /// [`Error::Ended`]. Running already is no error.
    pub fn resume(&self) -> Result<(), Error> {
        unimplemented!()
    }
    /// Steps a thread while the others run. Ends in an [`Event::Stopped`] or [`Event::Exited`].
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn step(&self, thread: ThreadId, kind: StepKind) -> Result<(), Error> {
        let _ = (thread, kind);
        unimplemented!()
    }
    /// Stops all threads; `thread` is reported where given. Harmless when stopped.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn pause(&self, thread: Option<ThreadId>) -> Result<(), Error> {
        let _ = thread;
        unimplemented!()
    }
    /// The live threads, oldest first. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn threads(&self) -> Result<Vec<ThreadInfo>, Error> {
        unimplemented!()
    }
    /// The modules. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn modules(&self) -> Result<Vec<ModuleInfo>, Error> {
        unimplemented!()
    }
    /// A window of a thread's frames. Unwinds no further than asked.
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn stack(&self, thread: ThreadId, window: Range<usize>) -> Result<Stack, Error> {
        let _ = (thread, window);
        unimplemented!()
    }
    /// Parameters and locals of a frame.
    ///
    /// # Errors
    /// [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn variables(&self, frame: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        let _ = frame;
        unimplemented!()
    }
    /// Statics of the frame's unit.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn statics(&self, frame: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        let _ = frame;
        unimplemented!()
    }
    /// The frame's registers: name, text.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn registers(&self, frame: FrameId) -> Result<Vec<(String, String)>, Error> {
        let _ = frame;
        unimplemented!()
    }
    /// Children of a value, by position: named first, then indexed.
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::Ended`].
    pub fn children(
        &self,
        value: &Value,
        expression: Option<&str>,
        range: Range<u64>,
    ) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        let _ = (value, expression, range);
        unimplemented!()
    }
    /// Evaluates an expression; without a frame, in the innermost frame of the thread that stopped.
    ///
    /// # Errors
    /// [`Error::Expression`] and as [`Session::variables`].
    pub fn evaluate(
        &self,
        text: &str,
        frame: Option<FrameId>,
    ) -> Result<(NamedValue, Rendered), Error> {
        let _ = (text, frame);
        unimplemented!()
    }
    /// Asks the program to end: SIGTERM, which it may handle; it runs for that.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn terminate(&self) -> Result<(), Error> {
        unimplemented!()
    }
    /// Ends the session. When this returns, the debuggee is gone or runs free of inserted bytes.
    pub fn leave(self, how: Leave) {
        let _ = how;
    }
}
