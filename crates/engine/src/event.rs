//! What the engine tells without being asked.

use crate::breakpoints::data::{DataBreakpointState, DataHit};
use crate::breakpoints::wanted::BreakpointState;
use crate::{Address, ThreadId};
use crossbeam_channel::Sender;
use dapple_inspect::exceptions::Runtimes;
use dapple_inspect::inspect::kept::KeptValue;
use dapple_inspect::modules::ModuleInfo;
pub use dapple_inspect::natvis::problem::PresentationProblem;
use dapple_symbols::functions::SourcePosition;
pub use dapple_target::exit_status::ExitStatus;
use dapple_target::linux::output::Taker;
use dapple_target::process_info::ProcessInfo;
pub use dapple_target::stream::Stream;
pub use dapple_target::written::Written;
use std::path::PathBuf;

/// Something happened to the debuggee. Sent in the order in which it happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// All threads are stopped; the first in the list caused it, others stopped for reasons of their own at once.
    Stopped(Vec<Stop>),
    /// A thread began.
    ThreadStarted(ThreadId),
    /// A thread ended.
    ThreadExited(ThreadId),
    /// A module was mapped.
    ModuleLoaded(ModuleInfo),
    /// A module got debug information that it did not have.
    ModuleChanged(ModuleInfo),
    /// A module was unmapped.
    ModuleUnloaded(ModuleInfo),
    /// A breakpoint was resolved, moved or lost outside of a command's own answer.
    BreakpointChanged(BreakpointState),
    /// A breakpoint wrote its message; the program went on.
    Logged(Logged),
    /// A breakpoint on data was found, moved or lost outside of a command's own answer. One that is gone
    /// ([`crate::breakpoints::data::DataRefusal::Gone`]) is forgotten.
    DataBreakpointChanged(DataBreakpointState),
    /// The program wrote.
    Output {
        /// Which stream.
        stream: Stream,
        /// What.
        bytes: Written,
    },
    /// A signal came that is told and doesn't stop.
    Signalled {
        /// The thread it came to.
        thread: ThreadId,
        /// Its number.
        number: i32,
        /// As in [`StopReason::Signal`].
        description: String,
    },
    /// Some debug information can't be used: sentences that name the file and say what is left out. Each comes once, when
    /// what it is about was first needed.
    DebugInfoWarnings(Vec<String>),
    /// What the user has said of how types are shown can't be used as it is. Each problem comes once.
    PresentationWarnings(Vec<PresentationProblem>),
    /// An index of a large module is being made, beside the session.
    Indexing {
        /// The module.
        module: PathBuf,
        /// How many bytes of its debug information are done.
        done: u64,
        /// Of how many.
        total: u64,
    },
    /// That has ended.
    Indexed {
        /// The module.
        module: PathBuf,
        /// It has an index now.
        made: bool,
    },
    /// Servers are asked for a module's debug information, or one of its sources, beside the session: see [`Session::stop_fetching`](crate::Session::stop_fetching).
    Fetching {
        /// The module.
        module: PathBuf,
        /// The source, as the debug information has it.
        source: Option<PathBuf>,
    },
    /// They have answered, or there is nobody to wait for any more.
    Fetched {
        /// The module.
        module: PathBuf,
    },
    /// A source that servers were asked for ([`Session::fetch_source`](crate::Session::fetch_source)) is here.
    SourceFetched {
        /// The build id of its module.
        build_id: Vec<u8>,
        /// What the debug information calls it.
        source: PathBuf,
        /// The file, which is not the user's to change.
        file: PathBuf,
    },
    /// The program has a child ([`FollowForks::Both`](dapple_target::follow_forks::FollowForks::Both)), which is held: see
    /// [`Session::hand_child_over`](crate::Session::hand_child_over).
    Forked {
        /// Its id.
        process: i32,
        /// Its name.
        name: String,
    },
    /// The session is about this child of the program from now on ([`FollowForks::Child`](dapple_target::follow_forks::FollowForks::Child)); the
    /// program itself was let go. Its threads are told of as ended.
    Followed(ProcessInfo),
    /// Which runtimes of languages the program has: once the libraries are known that it begins with, and when more come.
    RuntimesKnown(Runtimes),
    /// A sanitizer's runtime was about to look for leaks, which it can't in a program that is traced: it was kept from trying. Told once.
    LeaksNotLookedFor,
    /// The program called exec: modules and breakpoints have been resolved anew.
    Executed,
    /// The program ended. The last event.
    Exited(ExitStatus),
}

/// Tells of each piece of output that it takes. Where nobody listens any more it is taken all the same: the program must not block on it.
pub(crate) fn output_to(events: &Sender<Event>) -> Taker {
    let events = events.clone();
    Taker::new(move |stream, bytes| {
        let _ = events.send(Event::Output { stream, bytes });
    })
}

/// A breakpoint's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The breakpoint's id.
    pub breakpoint: i64,
    /// The thread that came to it.
    pub thread: ThreadId,
    /// Where that is in the source.
    pub position: Option<SourcePosition>,
    /// What it wrote, without an end of line.
    pub text: String,
    /// Those of the values in it that have children.
    pub values: Vec<KeptValue>,
}

impl StopReason {
    /// The user's breakpoints that it stopped at, by id; those on data that was accessed are with the accesses.
    pub fn breakpoints(&self) -> &[i64] {
        match self {
            StopReason::Breakpoint(breakpoints)
            | StopReason::Undecided { breakpoints, .. }
            | StopReason::Exception { breakpoints, .. }
            | StopReason::DataGone { breakpoints, .. } => breakpoints,
            _ => &[],
        }
    }

    /// Whether the user wanted it there: at a breakpoint, or where a step or a move has led. The rest happened wherever the thread was.
    pub fn is_arrival(&self) -> bool {
        match self {
            StopReason::Entry
            | StopReason::Pause
            | StopReason::Signal { .. }
            | StopReason::Trap
            | StopReason::Exception { .. }
            | StopReason::LastRunnerEnded
            | StopReason::DataGone { .. } => false,
            StopReason::Breakpoint(_)
            | StopReason::Undecided { .. }
            | StopReason::Step
            | StopReason::Goto
            | StopReason::Restarted
            | StopReason::Data(_) => true,
        }
    }

    /// Whether it is a sanitizer's report.
    pub fn is_report(&self) -> bool {
        let report = ExceptionKind::Report;
        matches!(self, StopReason::Exception { kind, .. } if *kind == report)
    }
}

/// A thread's stop.
#[derive(Debug, Clone)]
pub struct Stop {
    /// The thread.
    pub thread: ThreadId,
    /// Where it is.
    pub address: Address,
    /// Why.
    pub reason: StopReason,
}

/// What happens to an exception at a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExceptionKind {
    /// It is thrown.
    Throw,
    /// It is thrown again.
    Rethrow,
    /// It is thrown, and nothing will catch it.
    Uncaught,
    /// It is caught.
    Catch,
    /// A Rust panic.
    Panic,
    /// A sanitizer's report.
    Report,
}

/// Why a thread stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// Held at the program's first instruction.
    Entry,
    /// User breakpoints, by id.
    Breakpoint(Vec<i64>),
    /// User breakpoints of which one has a condition that can't be evaluated.
    Undecided {
        /// All that stop here, by id.
        breakpoints: Vec<i64>,
        /// A sentence for the user.
        why: String,
    },
    /// A step is complete.
    Step,
    /// A pause was asked for.
    Pause,
    /// A signal is about to be delivered; it will be on resume.
    Signal {
        /// Its number.
        number: i32,
        /// For faults: the address that was accessed (`si_addr`).
        fault: Option<Address>,
        /// A sentence for the user: `SIGSEGV: read of address 0x0, a null pointer`.
        description: String,
    },
    /// The program executed a trap instruction of its own.
    Trap,
    /// An exception or a panic.
    Exception {
        /// What happens to it.
        kind: ExceptionKind,
        /// A sentence for the user: what it is, what it says, who catches it.
        description: String,
        /// The user's breakpoints at the place where exceptions of this kind pass, by id.
        breakpoints: Vec<i64>,
    },
    /// The only threads that were let run have ended; the others are still held.
    LastRunnerEnded,
    /// It was moved within its function.
    Goto,
    /// It is at the beginning of a function again.
    Restarted,
    /// Data was accessed that is watched, by the instruction before.
    Data(Vec<DataHit>),
    /// A function has returned, or was left by an exception or a jump, that had watched data in its frame; that isn't watched any more.
    DataGone {
        /// The breakpoints.
        breakpoints: Vec<i64>,
        /// What was watched, as people write it.
        names: Vec<String>,
    },
}

impl StopReason {
    /// Whether a breakpoint at the place wants the thread to stop there.
    pub(crate) fn is_about_place(&self) -> bool {
        matches!(
            self,
            StopReason::Breakpoint(_) | StopReason::Undecided { .. }
        )
    }
}
