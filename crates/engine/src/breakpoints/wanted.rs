//! What the user asks of breakpoints, and what has become of them.

use super::options::BreakpointOptions;
use crate::{Address, ThreadId};
use dapple_inspect::frame::FrameId;
use dapple_symbols::functions::SourcePosition;
use std::path::PathBuf;

/// What the user asked of a source line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineBreakpoint {
    /// 1-based.
    pub line: u32,
    /// 1-based, in bytes: of several statements on the line the one that it is in; before the second, or `None`: where the
    /// line begins.
    pub column: Option<u32>,
    /// In copies of the source, too: those that have its base name and its content, by the MD5s of the debug information or
    /// by the files themselves.
    pub copies: bool,
    /// What it does besides stopping.
    pub options: BreakpointOptions,
}

/// What the user asked of an instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstructionBreakpoint {
    /// Where it begins.
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

/// What the user asked of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionBreakpoint {
    /// The function, or several: see [`dapple_symbols::names::NamePattern`]. All of a name's overloads, instances and
    /// inlined copies are meant. `*0x401136` is an address. Functions that only a symbol table has are taken where no other is of that name;
    /// `main` is the program's own, in Rust `CRATE::main`.
    pub name: String,
    /// What it does besides stopping.
    pub options: BreakpointOptions,
}

/// What has become of a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakpointState {
    /// Stable while the breakpoint is: what is asked for again keeps it when a list is set anew. From 1.
    pub id: i64,
    /// What it was asked for on.
    pub asked: Asked,
    /// Where it is.
    pub resolution: Resolution,
    /// Of a line in a file that no module names: files that may be meant, of the same name in another folder, or of nearly the same
    /// name. At most a few.
    pub similar: Vec<PathBuf>,
}

impl BreakpointState {
    /// Why it isn't set; `None`: it is.
    pub fn problem(&self) -> Option<&str> {
        match &self.resolution {
            Resolution::Resolved { .. } => None,
            Resolution::Pending(why) | Resolution::Failed(why) => Some(why),
        }
    }
}

/// What a breakpoint was asked for on.
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
        /// The source at the first location: for a line, the one that has the code, in the file as requested. A
        /// function may have none.
        position: Option<SourcePosition>,
        /// Every location.
        addresses: Vec<Address>,
        /// The functions that a name has led to: short names, in C and C++ with their parameters; each once, the first
        /// few of a module.
        functions: Vec<String>,
        /// That it isn't where it was asked for: a line without code has it on the next one of its function. Or that it is not
        /// in all places where it should be, or that others have functions of the name, too.
        remark: Option<String>,
    },
    /// No module knows the file or the function yet, or there is no memory at the address; one loaded later may. The text says what
    /// was looked for.
    Pending(String),
    /// It can't be: the text says why, and what is near.
    Failed(String),
}

/// Where a temporary breakpoint is to be.
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
