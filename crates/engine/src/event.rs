//! What the engine reports on its own.

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

/// Something that the session reports without being asked, about the debuggee or about work in the background. What happens to the
/// debuggee is sent in order, but its output may come later than other events, though before the next stop.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// All threads are stopped. The list has those that had a reason of their own to stop; the first is the one to show.
    Stopped(Vec<Stop>),
    /// A thread began, or was found when the debugger attached.
    ThreadStarted(ThreadId),
    /// A thread ended.
    ThreadExited(ThreadId),
    /// A module was mapped.
    ModuleLoaded(ModuleInfo),
    /// A module got debug information that it did not have.
    ModuleChanged(ModuleInfo),
    /// A module was unmapped, or was the former program's before exec.
    ModuleUnloaded(ModuleInfo),
    /// A breakpoint was resolved, moved or lost outside of a command's own answer.
    BreakpointChanged(BreakpointState),
    /// A breakpoint's message, or the remark that its condition or message calls a function of the program. It reports no stop.
    Logged(Logged),
    /// Messages of breakpoints that the program has written by itself.
    LoggedLines(LoggedLines),
    /// A data breakpoint was found, moved or lost outside of a command's own answer. One that is gone
    /// ([`crate::breakpoints::data::DataRefusal::Gone`]) is forgotten.
    DataBreakpointChanged(DataBreakpointState),
    /// The program wrote output.
    Output {
        /// Which stream.
        stream: Stream,
        /// The bytes.
        bytes: Written,
    },
    /// A signal came that is reported without stopping the program.
    Signalled {
        /// The thread it came to.
        thread: ThreadId,
        /// The signal's number.
        number: i32,
        /// As in [`StopReason::Signal`].
        description: String,
    },
    /// Some debug information, or a source that was fetched, can't be used: sentences that name the file and say what is wrong. Those
    /// about debug information come once, when it is first needed.
    DebugInfoWarnings(Vec<String>),
    /// Problems in the user's rules for how types are shown. Each comes once.
    PresentationWarnings(Vec<PresentationProblem>),
    /// Something is about to be changed in the past of a recorded process, or a function called there: that is done in a copy, which is thrown
    /// away when the program moves.
    PastDiverted,
    /// A function that was called in a copy has asked for system calls that would happen outside of it, and were not made: their names.
    SystemCallsRefused(Vec<String>),
    /// How far the making of a large module's index has come, in the background.
    Indexing {
        /// The module.
        module: PathBuf,
        /// How many bytes of its debug information are done.
        done: u64,
        /// How many bytes it has.
        total: u64,
    },
    /// Making an index has ended.
    Indexed {
        /// The module.
        module: PathBuf,
        /// Whether the module has an index now.
        made: bool,
    },
    /// Debuginfod servers are being asked in the background for a module's debug information, or for one of its sources: see
    /// [`Session::stop_fetching`](crate::Session::stop_fetching).
    Fetching {
        /// The module.
        module: PathBuf,
        /// The source's path in the debug information. `None`: the module's debug information is asked for.
        source: Option<PathBuf>,
    },
    /// The debuginfod servers have answered, or are no longer waited for.
    Fetched {
        /// The module.
        module: PathBuf,
    },
    /// A source that was asked for by [`Session::fetch_source`](crate::Session::fetch_source) has arrived.
    SourceFetched {
        /// The build id of the source's module.
        build_id: Vec<u8>,
        /// The source's path in the debug information.
        source: PathBuf,
        /// The local copy, which is not for editing.
        file: PathBuf,
    },
    /// The program has forked a child ([`FollowForks::Both`](dapple_target::follow_forks::FollowForks::Both)), which is kept stopped:
    /// see [`Session::hand_child_over`](crate::Session::hand_child_over).
    Forked {
        /// The child's process id.
        process: i32,
        /// The child's name, as the kernel has it.
        name: String,
    },
    /// The session debugs this child of the program from now on
    /// ([`FollowForks::Child`](dapple_target::follow_forks::FollowForks::Child)); the program itself was let go, and its threads were
    /// reported as ended before.
    Followed(ProcessInfo),
    /// Which runtimes of languages and sanitizers the program has: sent when the libraries that it starts with are known, and when a
    /// later one has another runtime.
    RuntimesKnown(Runtimes),
    /// A sanitizer's runtime was about to look for leaks, and was kept from trying, because it can't in a traced program. Sent once for
    /// each program that the process executes.
    LeaksNotLookedFor,
    /// The process runs another program (exec). The modules that exec maps were reported before; its libraries follow.
    Executed,
    /// The debugger can't reach the process any more: the end of a sentence that says why, for example that a stub has closed its connection.
    /// What has become of the process isn't known. The last event, in place of [`Event::Exited`].
    Lost(String),
    /// The program ended, or the engine can't debug it any longer. The last event.
    Exited(ExitStatus),
}

/// Sends an event for each piece of output. If nobody receives the events, the pieces are discarded: the program must not block on output.
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
    /// The thread that reached it.
    pub thread: ThreadId,
    /// The source position where the thread reached it.
    pub position: Option<SourcePosition>,
    /// The message; no line end is added.
    pub text: String,
    /// The values in the message that have children.
    pub values: Vec<KeptValue>,
}

/// Messages of breakpoints, written by any threads. Those of each thread are in its order.
#[derive(Debug, Clone)]
pub struct LoggedLines {
    /// The messages in UTF-8, each with a line end. While too many are under way, the program waits.
    pub text: Written,
    /// Which of them are whose, in order.
    pub runs: Vec<LoggedRun>,
}

/// Consecutive messages of one breakpoint at one place.
#[derive(Debug, Clone)]
pub struct LoggedRun {
    /// The breakpoint's id.
    pub breakpoint: i64,
    /// The source position where the threads reached it.
    pub position: Option<SourcePosition>,
    /// Where the messages end in the text, in bytes.
    pub end: usize,
}

impl StopReason {
    /// The ids of the user's breakpoints at which the thread stopped, except data breakpoints whose data was accessed: [`DataHit`] has
    /// those.
    pub fn breakpoints(&self) -> &[i64] {
        match self {
            StopReason::Breakpoint(breakpoints)
            | StopReason::Undecided { breakpoints, .. }
            | StopReason::Exception { breakpoints, .. }
            | StopReason::DataGone { breakpoints, .. } => breakpoints,
            _ => &[],
        }
    }

    /// The data breakpoints whose data was accessed.
    pub fn data_hits(&self) -> &[DataHit] {
        match self {
            StopReason::Data(hits) => hits,
            _ => &[],
        }
    }

    /// Whether the user asked for a stop at this place: at a breakpoint (on data, too), or at the end of a step or of a move (goto, restart).
    /// Other stops happen wherever the thread is.
    pub fn is_arrival(&self) -> bool {
        match self {
            StopReason::Entry
            | StopReason::Pause
            | StopReason::Signal { .. }
            | StopReason::Trap
            | StopReason::Exception { .. }
            | StopReason::LastRunnerEnded
            | StopReason::Beginning
            | StopReason::Present
            | StopReason::NotReplayed { .. }
            | StopReason::RecordingEnds { .. }
            | StopReason::DataGone { .. } => false,
            StopReason::Breakpoint(_)
            | StopReason::Undecided { .. }
            | StopReason::Step
            | StopReason::FutureDropped { .. }
            | StopReason::CoroutineDestroyed { .. }
            | StopReason::NotAwaited
            | StopReason::Goto
            | StopReason::Restarted
            | StopReason::Bookmark(_)
            | StopReason::Data(_) => true,
        }
    }

    /// Whether the thread stopped in a runtime that has told of an error: for a sanitizer's report or a Rust panic.
    pub fn is_in_runtime(&self) -> bool {
        use ExceptionKind::{Panic, Report};
        matches!(
            self,
            StopReason::Exception {
                kind: Panic | Report,
                ..
            }
        )
    }
}

/// A thread's stop.
#[derive(Debug, Clone)]
pub struct Stop {
    /// The thread.
    pub thread: ThreadId,
    /// The thread's pc.
    pub address: Address,
    /// Why the thread stopped.
    pub reason: StopReason,
}

/// What is happening to an exception at a stop; or that the stop is for a panic or a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExceptionKind {
    /// It is thrown.
    Throw,
    /// It is thrown again.
    Rethrow,
    /// The exception isn't caught: it is being thrown and has no handler, or the runtime is about to end the program because of it.
    Uncaught,
    /// It is caught.
    Catch,
    /// A Rust panic.
    Panic,
    /// A Rust future is dropped before its end.
    Cancelled,
    /// A sanitizer's report.
    Report,
}

/// Why a thread stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The first stop: the program has not executed an instruction yet, or was attached to.
    Entry,
    /// User breakpoints, by id.
    Breakpoint(Vec<i64>),
    /// User breakpoints, one of which has a condition that can't be evaluated.
    Undecided {
        /// All breakpoints that stop here, by id.
        breakpoints: Vec<i64>,
        /// A sentence for the user.
        why: String,
    },
    /// A step is complete.
    Step,
    /// A step in an asynchronous function has ended because its future was dropped while it was suspended. The thread is in the user's code
    /// that drops it, or, if there is none, in the destructor.
    FutureDropped {
        /// The asynchronous function.
        function: String,
        /// Where it was suspended.
        place: SourcePosition,
    },
    /// As [`StopReason::FutureDropped`], for a C++ coroutine.
    CoroutineDestroyed {
        /// The coroutine.
        function: String,
        /// Where it was suspended.
        place: SourcePosition,
    },
    /// A step in an asynchronous function has ended because its future is suspended, and no debug register is free to notice when it is
    /// resumed.
    NotAwaited,
    /// A pause was asked for, by a command or by Ctrl+C in a terminal. In a pseudoterminal that the debugger made for the program, Ctrl+C is
    /// a [`StopReason::Signal`]. Also the reason of stops that have no other: after exec
    /// in an inferior call, and in a core file without a signal.
    Pause,
    /// A signal is about to be delivered; it is delivered on resume, unless the signal table keeps it from the program. In a core file: the
    /// signal that ended the process.
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
    /// An exception, a panic or a sanitizer's report.
    Exception {
        /// What happens to the exception.
        kind: ExceptionKind,
        /// A sentence for the user: the exception, its message, and what catches it.
        description: String,
        /// User breakpoints at the same address, by id.
        breakpoints: Vec<i64>,
    },
    /// The only threads that were allowed to run have ended; the others are still stopped.
    LastRunnerEnded,
    /// The thread was moved within its function.
    Goto,
    /// The thread is at the beginning of a function again.
    Restarted,
    /// The beginning of the recording: there is nothing before.
    Beginning,
    /// A bookmark, with this number.
    Bookmark(u32),
    /// Where the program was when it was first run backwards.
    Present,
    /// The end of a recording that was read from a file: there is nothing behind.
    RecordingEnds {
        /// How it ends: the program's end, or why nothing more was recorded.
        why: String,
    },
    /// The past can't be shown, and the thread is where it was.
    NotReplayed {
        /// A sentence for the user.
        why: String,
    },
    /// Watched data was accessed by the instruction that the thread has just executed.
    Data(Vec<DataHit>),
    /// A function with watched data in its frame has returned, or was left by an exception or a jump; the data isn't watched any more.
    DataGone {
        /// The breakpoints.
        breakpoints: Vec<i64>,
        /// What was watched, as shown to the user.
        names: Vec<String>,
    },
}

impl StopReason {
    /// Whether the thread stopped because of a breakpoint at its address.
    pub(crate) fn is_about_place(&self) -> bool {
        matches!(
            self,
            StopReason::Breakpoint(_) | StopReason::Undecided { .. }
        )
    }
}
