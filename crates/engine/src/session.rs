//! The debugger's interface: a handle on the thread that owns the debuggee.

pub mod assigning;
pub mod breakpoints;
mod core_file;
mod exceptions;
mod forks;
pub mod goto;
mod keeper;
pub mod memory;
pub mod names;
mod running;
mod sources;
pub mod stepping;
pub mod travel;
pub mod values;
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
use crate::{Error, Event, ThreadId};
use crossbeam_channel::Sender;
use dapple_inspect::frame::Stack;
use dapple_inspect::inspect::Inspect;
pub use dapple_inspect::inspect::threads::ThreadInfo;
use dapple_inspect::locks::Locks;
use dapple_inspect::modules::{ModuleDetails, ModuleInfo};
use dapple_inspect::tasks::TaskPage;
pub use dapple_symbols::functions::SourcePosition;
use dapple_target::launch::LaunchOptions;
pub use dapple_target::linux::readable;
pub use dapple_target::linux::wait::Waker;
pub use dapple_target::process_info::{ProcessInfo, Start};
pub use dapple_target::remote::{GivingUp, RemoteOptions, RemoteStart, StubAddress};
pub use keeper::Keep;
use keeper::Keeper;
pub use sources::{SourceFile, SourcesOf};
use std::ops::Range;

/// A debuggee under control. Methods block until the owner thread has answered. Its answers don't wait for the debuggee, except when an
/// expression calls functions of the program: resuming commands return when the debuggee runs, and its stop arrives as an [`Event`].
/// Methods that need a live process fail with [`Error::PostMortem`] for a core file. Dropping a session kills a launched debuggee, or a
/// child of one, and detaches from one that was attached to.
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
    /// modules found. Dropping the session lets the process go on, unless it is a child of a launched program.
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

    /// Connects to a stub of gdb's remote protocol, whose process is stopped then. Its symbols are available. Events go to `events`, first of
    /// them the modules found. Dropping the session lets the process go on. `giving_up` ends this.
    ///
    /// # Errors
    /// [`Error::Connect`] with a sentence the user can act on.
    pub fn connect_kept(
        options: RemoteOptions,
        giving_up: GivingUp,
        debug_info: DebugInfoOptions,
        events: Sender<Event>,
        keep: Keep,
    ) -> Result<Session, Error> {
        let address = options.address.to_string();
        let failed = move || Error::Connect {
            address,
            reason: "the debugger failed meanwhile".into(),
        };
        let (keeper, process) = Keeper::begin(keep, failed, move |queue| {
            Owner::connect(&options, &giving_up, debug_info, events, queue)
        })?;
        Ok(Session { keeper, process })
    }

    /// For a session with [`Keep::Here`]: waits until the debuggee has an event, and handles it, or until the waker is called; the
    /// caller then does what it was called for. `false` if there is nothing to wait for any more, or the debuggee has a thread of its
    /// own.
    pub fn attend(&self) -> bool {
        self.keeper.attend()
    }

    /// For a session with [`Keep::Here`]: whether all threads of the debuggee are stopped, so that nothing happens before the user
    /// resumes it.
    pub fn is_held(&self) -> bool {
        self.keeper.is_held()
    }

    /// For a session with [`Keep::Here`]: whether a running thread is expected to stop at once, because it did so lately. If it doesn't
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

    /// Runs `look`, which changes nothing, on the thread that owns the debuggee, or for a core file.
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

    /// The live threads, oldest first. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn threads(&self) -> Result<Vec<ThreadInfo>, Error> {
        self.look(|threads| threads.threads())
    }

    /// The tasks of asynchronous executors in `range`. Their ids can be used like those of threads to look at their frames. If the program's
    /// names aren't indexed yet, waits until they are.
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::Ended`].
    pub fn tasks(&self, range: Range<usize>) -> Result<TaskPage, Error> {
        self.look(move |threads| threads.tasks(range))?
    }

    /// As [`Session::tasks`], but doesn't wait: [`TaskPage::is_early`] then says that the executors can't be found yet.
    ///
    /// # Errors
    /// As [`Session::tasks`].
    pub fn tasks_soon(&self, range: Range<usize>) -> Result<TaskPage, Error> {
        self.look(move |threads| threads.tasks_soon(range))?
    }

    /// The threads that wait for locks or for each other.
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::Ended`].
    pub fn locks(&self) -> Result<Locks, Error> {
        self.look(|threads| threads.locks())?
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
