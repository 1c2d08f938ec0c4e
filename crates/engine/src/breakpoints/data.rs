//! Data breakpoints: which data can be watched, what the user asks for, and what is reported.

use super::options::BreakpointOptions;
use crate::{Address, ThreadId};
use dapple_inspect::frame::FrameId;
use dapple_inspect::values::{NamedValue, Value};
pub use dapple_symbols::functions::Language;
use dapple_symbols::functions::SourcePosition;
use std::ops::Range;

/// Which accesses to data are reported. All are reported after the instruction that made them. Accesses that the kernel makes for the
/// program (`read(2)`, `write(2)`) do not trigger the processor's watchpoints, and are not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// A write that changes the value.
    Change,
    /// Each write, even if it doesn't change the value.
    Write,
    /// A read. The processor has no watchpoint for reads alone, so a write that doesn't change the value is reported as a read, too.
    Read,
    /// Each read and each write.
    ReadWrite,
}

/// How the user names data.
#[derive(Debug, Clone)]
pub enum DataPlace {
    /// A variable, field or element that was shown.
    Value(NamedValue),
    /// An expression, and the frame to evaluate it in. `None`: the innermost frame of the thread that stopped.
    Expression(String, Option<FrameId>),
    /// An expression for static data, which needs no frame, and its language.
    Static(String, Language),
    /// The memory from this address on, without a type.
    Address(Address),
}

/// Data that can be watched.
#[derive(Debug, Clone)]
pub struct DataTarget {
    /// The expression, or the address.
    pub name: String,
    /// Where the data begins.
    pub address: Address,
    /// The data's size in bytes.
    pub length: u64,
    /// The data's value. `None`: the data are plain bytes, without a type.
    pub value: Option<Value>,
    /// The type, as shown to the user; empty for plain bytes.
    pub type_name: String,
    /// The frame that the data is in: once the frame has ended, the data no longer exists. `None`: the data is in no frame.
    pub frame: Option<FrameOnStack>,
    /// Whether the data is a variable that is at another address or in a register in other parts of its function.
    pub moves: bool,
    /// The language of `name`, if `name` means this data at any time, also in a later session. `None`: it doesn't.
    pub persistent: Option<Language>,
}

impl DataTarget {
    /// Its memory: from its first byte to behind its last one.
    pub(crate) fn range(&self) -> Range<u64> {
        self.address.0..self.address.0.saturating_add(self.length)
    }
}

/// A frame, identified by its place on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameOnStack {
    /// The thread.
    pub thread: ThreadId,
    /// The frame's canonical frame address.
    pub cfa: Address,
    /// The frame's return address.
    pub return_to: Address,
}

/// A data breakpoint, as the user asks for it.
#[derive(Debug, Clone)]
pub struct DataBreakpoint {
    /// What is watched.
    pub data: WatchedData,
    /// Which accesses are reported.
    pub access: Access,
    /// The condition and the hit condition. The condition is evaluated in the innermost frame of the thread that made the access, whatever
    /// function that is. Give no log message: it is not written, but may keep an access from stopping the thread.
    pub options: BreakpointOptions,
}

/// What a data breakpoint watches.
#[derive(Debug, Clone)]
pub enum WatchedData {
    /// What [`Session::data_target`](crate::Session::data_target) has found.
    Target(Box<DataTarget>),
    /// A static variable, in whichever loaded modules have it.
    Static {
        /// The expression.
        name: String,
        /// The language of the expression.
        language: Language,
        /// How many bytes are watched. `None`: the whole variable.
        length: Option<u64>,
    },
}

/// The state of a data breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataBreakpointState {
    /// The breakpoint's id, which stays the same while the breakpoint exists. No other breakpoint has it.
    pub id: i64,
    /// What is watched, as shown to the user.
    pub name: String,
    /// The address of the data. `None`: the data doesn't exist.
    pub address: Option<Address>,
    /// Why the data isn't watched; `None` if it is.
    pub refused: Option<DataRefusal>,
}

/// Why data isn't watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataRefusal {
    /// The data doesn't exist yet; a module that is loaded later may have it.
    Pending(String),
    /// The data can't be watched, or the breakpoint's options are wrong, for this reason.
    Failed(String),
    /// The data no longer exists.
    Gone(String),
}

/// An access to data that is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataHit {
    /// The breakpoint's id.
    pub breakpoint: i64,
    /// What is watched, as shown to the user.
    pub name: String,
    /// Which accesses the breakpoint reports.
    pub access: Access,
    /// The value before the access. `None`: the access didn't change it.
    pub old: Option<String>,
    /// The value after the access.
    pub new: String,
    /// Why the breakpoint's condition can't be evaluated. `None`: it can be, or there is none.
    pub undecided: Option<String>,
    /// The statement that made the access; the thread may be at the next one already.
    pub position: Option<SourcePosition>,
}
