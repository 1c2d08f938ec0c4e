//! The breakpoints that the user asks for, and their state.

use super::options::BreakpointOptions;
use crate::{Address, ThreadId};
use dapple_inspect::frame::FrameId;
use dapple_symbols::functions::SourcePosition;
use std::path::PathBuf;

/// A breakpoint on a source line, as the user asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineBreakpoint {
    /// 1-based.
    pub line: u32,
    /// 1-based, in bytes. Selects the statement at this column, if the line has several. `None`, or a column before the second statement:
    /// the beginning of the line.
    pub column: Option<u32>,
    /// Whether the breakpoint is set in copies of the source, too: in files with the same base name and content. Contents are compared by
    /// their MD5s, which the debug information has or which are computed from the files.
    pub copies: bool,
    /// The breakpoint's condition, hit condition and message.
    pub options: BreakpointOptions,
}

/// A breakpoint on an instruction, as the user asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstructionBreakpoint {
    /// The address at which the instruction begins.
    pub address: Address,
    /// The breakpoint's condition, hit condition and message.
    pub options: BreakpointOptions,
}

impl From<Address> for InstructionBreakpoint {
    fn from(address: Address) -> Self {
        InstructionBreakpoint {
            address,
            options: BreakpointOptions::default(),
        }
    }
}

/// A breakpoint on a function, as the user asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionBreakpoint {
    /// The name of a function, or of several: see [`dapple_symbols::names::NamePattern`]. All overloads, instances and inlined copies
    /// of a name are meant. `*0x401136` is an address, `/re EXPRESSION` a regular expression. A name without a path means the user's own
    /// functions, or libraries' if there are none. Functions that are only in a symbol table are used if no other has the name. `main` is
    /// the program's own, in Rust `CRATE::main`.
    pub name: String,
    /// The breakpoint's condition, hit condition and message.
    pub options: BreakpointOptions,
}

/// The state of a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakpointState {
    /// Stable while the breakpoint exists: when a list is set anew, a breakpoint that is in it again keeps its id. From 1.
    pub id: i64,
    /// What the breakpoint was set on.
    pub asked: Asked,
    /// Where the breakpoint is, or why nowhere.
    pub resolution: Resolution,
    /// For a line in a file that no module names: files that may be meant, of the same name in another folder, or of nearly the same
    /// name. At most a few.
    pub similar: Vec<PathBuf>,
}

impl BreakpointState {
    /// Why the breakpoint isn't set. `None`: it is set.
    pub fn problem(&self) -> Option<&str> {
        match &self.resolution {
            Resolution::Resolved { .. } => None,
            Resolution::Pending(why) | Resolution::Failed(why) => Some(why),
        }
    }
}

/// How it is decided whether a breakpoint acts on a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The breakpoint.
    pub id: i64,
    /// At how many of its places the program decides by itself.
    pub in_program: usize,
    /// At how many of its places a stub decides whether to stop a thread.
    pub by_stub: usize,
    /// Why each hit stops the thread at the other places: clauses, each once. Empty also if no thread has come there often.
    pub by_stops: Vec<String>,
    /// How often its condition has held so far.
    pub hits: u64,
    /// How many hits come before the next on which it acts. `None`: it acts on no other.
    pub skips: Option<u64>,
}

/// How it is decided whether breakpoints act on hits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    /// The breakpoints that don't just stop.
    pub breakpoints: Vec<Decided>,
    /// How many bytes of code, counters and messages the debugger has added to the program's memory for that.
    pub memory: u64,
}

/// What a breakpoint was set on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A line.
    Line {
        /// The file as requested.
        file: PathBuf,
        /// The line as requested.
        line: u32,
    },
    /// A function.
    Function {
        /// The name as requested.
        name: String,
    },
    /// An address.
    Address(Address),
}

/// Where a breakpoint is, or why nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// The breakpoint is inserted at these addresses.
    Resolved {
        /// The source position at which the breakpoint stops a thread. For a line, its file is the requested one, but its line may be
        /// another. For a function, it is that of the first location. `None`: that location has no source position.
        position: Option<SourcePosition>,
        /// Every location at which the breakpoint is inserted.
        addresses: Vec<Address>,
        /// The functions that the requested name means: names for display, in C and C++ with their parameters. Of each module only the first few.
        functions: Vec<String>,
        /// How the breakpoint differs from what was asked for: it was moved to another line; it couldn't be inserted at all locations;
        /// libraries have more functions of the name; the regular expression matches too many functions; it is in copies of the file, too.
        remark: Option<String>,
    },
    /// No module has the file or the function, or there is no memory at the address; a module that is loaded later may. Or no IFUNC
    /// resolver has yet chosen the function's code. The text says what was looked for.
    Pending(String),
    /// The breakpoint can't be set. The text says why; for a line without code, it has the nearest lines with code.
    Failed(String),
}

/// Where a temporary breakpoint is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemporaryPlace {
    /// A line: see [`LineBreakpoint`].
    Line {
        /// The file.
        file: PathBuf,
        /// 1-based.
        line: u32,
        /// 1-based, in bytes.
        column: Option<u32>,
    },
    /// A function: see [`FunctionBreakpoint`].
    Function {
        /// Its name.
        name: String,
    },
    /// An instruction.
    Address(Address),
}

/// A breakpoint that is removed by the first stop that it causes.
///
/// Until then it stays, whatever other stops there are. A client that runs to a place and is stopped elsewhere removes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryBreakpoint {
    /// Where the breakpoint is set.
    pub place: TemporaryPlace,
    /// The condition, and the hits at which the breakpoint stops. With a message it stops only if its condition can't be evaluated; until
    /// then it stays.
    pub options: BreakpointOptions,
    /// Only this thread is stopped. `None`: any thread is.
    pub thread: Option<ThreadId>,
    /// Only the frame's thread is stopped, and only in the frame or its callers, not in its callees. If the thread leaves the frame before
    /// that, it is stopped then: at the return address, where `options` apply, too, or where an exception, a panic or longjmp(3)
    /// takes it. The breakpoint is removed when that thread ends.
    pub frame: Option<FrameId>,
}

impl TemporaryBreakpoint {
    /// A temporary breakpoint that stops any thread that reaches `place`.
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
    /// The breakpoint's id, which no other breakpoint has. A stop reports it like the ids of other breakpoints.
    pub id: i64,
    /// As in [`Resolution::Resolved`].
    pub position: Option<SourcePosition>,
    /// Every location at which the breakpoint is inserted.
    pub addresses: Vec<Address>,
}
