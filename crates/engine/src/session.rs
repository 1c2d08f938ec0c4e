//! The debugger's interface: a handle on the thread that owns the debuggee.

pub mod assigning;
mod breakpoint_locations;
mod core_file;
pub mod declarations;
mod ends;
mod exceptions;
mod forks;
pub mod goto;
mod keeper;
pub mod kept;
pub mod memory;
mod presentation;
pub mod readable;
mod single_thread;
mod sources;
pub mod stepping;
pub mod temporary_breakpoints;
pub mod watching;

use crate::attach::AttachOptions;
pub use crate::breakpoints::options::BreakpointOptions;
pub use crate::breakpoints::wanted::{
    Asked, BreakpointState, FunctionBreakpoint, InstructionBreakpoint, LineBreakpoint, Resolution,
};
use crate::debug_info::DebugInfoOptions;
use crate::owner::Owner;
pub use crate::owner::commands::Leave;
pub use crate::step::options::{Pace, StepKind, StepOptions, StepUnit};
use crate::{Address, Error, Event, ThreadId};
use crossbeam_channel::Sender;
use dapple_arch::registers::shown::ShownRegister;
use dapple_inspect::eval::Completions;
use dapple_inspect::frame::{FrameId, Stack};
use dapple_inspect::inspect::Inspect;
pub use dapple_inspect::inspect::threads::ThreadInfo;
use dapple_inspect::modules::{ModuleDetails, ModuleInfo};
use dapple_inspect::values::{Format, NamedValue, Rendered, Value};
pub use dapple_symbols::functions::SourcePosition;
use dapple_target::launch::LaunchOptions;
pub use dapple_target::linux::wait::Waker;
pub use dapple_target::process_info::{ProcessInfo, Start};
pub use keeper::Keep;
use keeper::Keeper;
pub use sources::{SourceFile, SourcesOf};
use std::ops::Range;
use std::path::Path;

/// A debuggee under control. Methods block until the owner thread has answered, which it does at once: resuming commands return when
/// the debuggee runs, and its stop arrives as an [`Event`]. Dropping a session kills a launched debuggee, or a child of one, and
/// detaches from one that was attached to.
#[derive(Debug)]
pub struct Session {
    keeper: Keeper,
    process: ProcessInfo,
}

impl Session {
    /// Starts a program and stops it at its entry, before any of its own code has run. Its symbols are available. Events go to
    /// `events`, first of them the modules found.
    ///
    /// # Errors
    /// [`Error::Launch`] with a sentence the user can act on.
    pub fn launch(options: LaunchOptions, events: Sender<Event>) -> Result<Session, Error> {
        Session::launch_kept(options, DebugInfoOptions::default(), events, Keep::Apart)
    }

    /// As [`Session::launch`], with options for debug information, and on a thread of the caller's choice.
    ///
    /// # Errors
    /// As [`Session::launch`].
    pub fn launch_kept(
        options: LaunchOptions,
        debug_info: DebugInfoOptions,
        events: Sender<Event>,
        keep: Keep,
    ) -> Result<Session, Error> {
        let program = options.program.clone();
        let failed = move || Error::Launch {
            program,
            reason: "the debugger failed while starting it".into(),
        };
        let (keeper, process) = Keeper::begin(keep, failed, move |queue| {
            Owner::launch(&options, debug_info, events, queue)
        })?;
        Ok(Session { keeper, process })
    }

    /// Attaches to a running process, and stops all its threads. Its symbols are available. Events go to `events`, first of them the
    /// modules found. Dropping the session lets the process go on.
    ///
    /// # Errors
    /// [`Error::Attach`] with a sentence the user can act on.
    pub fn attach(options: AttachOptions, events: Sender<Event>) -> Result<Session, Error> {
        Session::attach_kept(options, events, Keep::Apart)
    }

    /// As [`Session::attach`], on a thread of the caller's choice.
    ///
    /// # Errors
    /// As [`Session::attach`].
    pub fn attach_kept(
        options: AttachOptions,
        events: Sender<Event>,
        keep: Keep,
    ) -> Result<Session, Error> {
        let process = options.process;
        let failed = move || Error::Attach {
            process,
            reason: "the debugger failed meanwhile".into(),
        };
        let (keeper, process) = Keeper::begin(keep, failed, move |queue| {
            Owner::attach(&options, events, queue)
        })?;
        Ok(Session { keeper, process })
    }

    /// For a session with [`Keep::Here`]: waits until the debuggee has an event, which is handled, or the waker is called, which is for
    /// the caller to handle. `false` if there is nothing to wait for any more, or the debuggee has a thread of its own.
    pub fn attend(&self) -> bool {
        self.keeper.attend()
    }

    /// For a session with [`Keep::Here`]: whether all threads of the debuggee are stopped, so that nothing happens before the user
    /// resumes it.
    pub fn is_held(&self) -> bool {
        self.keeper.is_held()
    }

    /// For a session with [`Keep::Here`]: whether a running thread is expected to stop at once, as the last ones did. If none has
    /// within a few milliseconds, [`Session::attend`] returns.
    pub fn stops_soon(&self) -> bool {
        self.keeper.stops_soon()
    }

    /// Runs `command` on the thread that owns the debuggee, and waits for its answer.
    fn ask<R: Send + 'static>(
        &self,
        command: impl FnOnce(&mut Owner) -> R + Send + 'static,
    ) -> Result<R, Error> {
        self.keeper.ask(command)
    }

    /// Looks at stopped threads, on the thread that owns the debuggee.
    fn look<R: Send + 'static>(
        &self,
        look: impl FnOnce(&mut dyn Inspect) -> R + Send + 'static,
    ) -> Result<R, Error> {
        self.keeper.look(look)
    }

    /// The process.
    pub fn process(&self) -> &ProcessInfo {
        &self.process
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
        let file = file.to_owned();
        self.ask(move |owner| owner.set_line_breakpoints(&file, &wanted))
    }
    /// Replaces all breakpoints on functions; the answer has the same order and count. Works while running. Each loaded module is
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
    /// Replaces all breakpoints on addresses; the answer has the same order and count. Works while running.
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
    /// Runs all threads, from the entry or a stop.
    ///
    /// # Errors
    /// [`Error::Ended`]. Running already is no error.
    pub fn resume(&self) -> Result<(), Error> {
        self.ask(Owner::resume)
    }
    /// Stops all threads; `thread` is reported, if given. Harmless when stopped.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn pause(&self, thread: Option<ThreadId>) -> Result<(), Error> {
        self.ask(move |owner| owner.pause(thread))
    }
    /// The live threads, oldest first. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn threads(&self) -> Result<Vec<ThreadInfo>, Error> {
        self.look(|threads| threads.threads())
    }
    /// The modules. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn modules(&self) -> Result<Vec<ModuleInfo>, Error> {
        self.look(|threads| threads.module_infos())
    }
    /// Details of the modules in `range`, and how many modules there are in all. Reads compilation units of their debug information.
    /// Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn module_details(
        &self,
        range: Range<usize>,
    ) -> Result<(Vec<ModuleDetails>, usize), Error> {
        self.look(|threads| threads.module_details(range))
    }
    /// A window of a thread's frames. Unwinds no further than asked.
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn stack(&self, thread: ThreadId, window: Range<usize>) -> Result<Stack, Error> {
        self.look(move |threads| threads.stack(thread, window))?
    }
    /// Parameters and locals of a frame.
    ///
    /// # Errors
    /// [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn variables(&self, frame: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.variables(frame))?
    }
    /// The parameters of a frame's function, in a format.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn parameters(
        &self,
        frame: FrameId,
        format: Format,
    ) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.parameters(frame, format))?
    }
    /// Static variables of the frame's compilation unit.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn statics(&self, frame: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.statics(frame))?
    }
    /// The frame's registers in groups.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn registers(&self, frame: FrameId) -> Result<Vec<ShownRegister>, Error> {
        self.look(move |threads| threads.frame_registers(frame))?
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
        let value = value.clone();
        let expression = expression.map(str::to_owned);
        self.look(move |threads| threads.children(value, expression.as_deref(), range))?
    }
    /// The completions of the word at the end of `line`: members, variables, types, registers. Names are those of the frame; without
    /// one, as in [`Session::evaluate`].
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn completions(&self, line: &str, frame: Option<FrameId>) -> Result<Completions, Error> {
        let line = line.to_owned();
        self.look(move |threads| threads.completions(&line, frame))?
    }
    /// Values rendered with their numbers in a format, nested ones too, unless a value has a format already.
    ///
    /// # Errors
    /// As [`Session::children`].
    pub fn shown_as(
        &self,
        values: Vec<NamedValue>,
        format: Format,
    ) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.shown_as(values, format))?
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
        let text = text.to_owned();
        self.look(move |threads| threads.evaluate(&text, frame))?
    }

    /// Describes a name that is no variable: a type with its parts (`struct Point {int x; int y;} (8 bytes)`), or a function with its
    /// parameters. `None` if it is neither.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn described(&self, name: &str, frame: Option<FrameId>) -> Result<Option<String>, Error> {
        let name = name.to_owned();
        self.look(move |threads| threads.described(&name, frame))?
    }

    /// Asks the program to end: by SIGTERM or another signal (`kill -l`), which it may handle; it is resumed for that. The signal
    /// doesn't stop the program and is passed on, whatever [`Session::set_signals`] says.
    ///
    /// # Errors
    /// [`Error::Ended`], or what the system says.
    pub fn terminate(&self, signal: i32) -> Result<(), Error> {
        self.ask(move |owner| owner.terminate(signal))?
    }
    /// Ends the session. When this returns, the debuggee is gone or free of inserted bytes.
    pub fn leave(mut self, how: Leave) {
        self.keeper.end(how);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.keeper.end(match self.process.of_launched {
            true => Leave::Kill,
            false => Leave::Detach,
        });
    }
}
