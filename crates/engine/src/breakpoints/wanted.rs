//! What the user asks of breakpoints, and the state that results.

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
    /// 1-based, in bytes. If the line has several statements, it selects the one that it is in. `None`, or a column before the second
    /// statement: where the line begins.
    pub column: Option<u32>,
    /// Set it in copies of the source, too: in files with its base name and its content, by the MD5s of the debug information or of the
    /// files themselves.
    pub copies: bool,
    /// What it does besides stopping.
    pub options: BreakpointOptions,
}

/// A breakpoint on an instruction, as the user asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstructionBreakpoint {
    /// The address at which the instruction begins.
    pub address: Address,
    /// What the breakpoint does besides stopping.
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
    /// What it does besides stopping.
    pub options: BreakpointOptions,
}

/// The state of a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakpointState {
    /// Stable while the breakpoint exists: when a list is set anew, a breakpoint that is in it again keeps its id. From 1.
    pub id: i64,
    /// What it was set on.
    pub asked: Asked,
    /// Where it is.
    pub resolution: Resolution,
    /// For a line in a file that no module names: files that may be meant, of the same name in another folder, or of nearly the same
    /// name. At most a few.
    pub similar: Vec<PathBuf>,
}

impl BreakpointState {
    /// Why it isn't set; `None` if it is.
    pub fn problem(&self) -> Option<&str> {
        match &self.resolution {
            Resolution::Resolved { .. } => None,
            Resolution::Pending(why) | Resolution::Failed(why) => Some(why),
        }
    }
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
    /// Armed at these addresses.
    Resolved {
        /// The source position of the first location: for a line, the one that has the code, in the file as requested. A function may
        /// have none.
        position: Option<SourcePosition>,
        /// Every location at which it is armed.
        addresses: Vec<Address>,
        /// The functions that a name means: short names, in C and C++ with their parameters; each once, the first few of a module.
        functions: Vec<String>,
        /// How the breakpoint differs from what was asked for: it was moved to another line, couldn't be inserted at all locations,
        /// libraries have functions of the name, too, an expression matches too many functions, or it is in copies of the file, too.
        remark: Option<String>,
    },
    /// No module has the file or the function, or there is no memory at the address; a module that is loaded later may. Or no IFUNC
    /// resolver has yet chosen the function's code. The text says what was looked for.
    Pending(String),
    /// It can't be set: the text says why, and what is near.
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
    /// Where it is.
    pub place: TemporaryPlace,
    /// Its condition, and the hits at which it stops. With a message it stops only if its condition can't be evaluated, and so stays.
    pub options: BreakpointOptions,
    /// Only this thread is stopped.
    pub thread: Option<ThreadId>,
    /// Only the frame's thread is stopped, and only in the frame or its callers, not in its callees. If it isn't stopped before, it is
    /// stopped when it leaves the frame: at the return address, where `options` count, too, or where an exception, a panic or longjmp(3)
    /// takes it. The breakpoint is removed when that thread ends.
    pub frame: Option<FrameId>,
}

impl TemporaryBreakpoint {
    /// One that stops any thread that reaches the place.
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
    /// Its id, which no other breakpoint has. A stop reports it like the ids of other breakpoints.
    pub id: i64,
    /// The source position of the first location.
    pub position: Option<SourcePosition>,
    /// Every location.
    pub addresses: Vec<Address>,
}
