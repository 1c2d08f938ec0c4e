//! Data breakpoints: what can be watched, what the user asks for, what is reported.

use super::options::BreakpointOptions;
use crate::{Address, ThreadId};
use dapple_inspect::frame::FrameId;
use dapple_inspect::values::{NamedValue, Value};
pub use dapple_symbols::functions::Language;
use dapple_symbols::functions::SourcePosition;

/// Which accesses to data are reported. All are reported after the instruction that made them. Accesses that the kernel makes for the
/// program (`read(2)`, `write(2)`) do not trigger the processor's watchpoints, and are not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// A write that changes the value.
    Change,
    /// Each write, even if it doesn't change the value.
    Write,
    /// A read. The processor doesn't distinguish reads from writes here, so a write that doesn't change the value counts as one, too.
    Read,
    /// Each read and each write.
    ReadWrite,
}

/// How the user names data.
#[derive(Debug, Clone)]
pub enum DataPlace {
    /// A variable, field or element that was shown.
    Value(NamedValue),
    /// An expression in a frame; without one, in the innermost frame of the thread that stopped.
    Expression(String, Option<FrameId>),
    /// An expression that needs no frame: its data exists as long as the program.
    Static(String, Language),
    /// Memory.
    Address(Address),
}

/// Data that can be watched.
#[derive(Debug, Clone)]
pub struct DataTarget {
    /// The expression, or the address.
    pub name: String,
    /// Where the data begins.
    pub address: Address,
    /// Its size in bytes.
    pub length: u64,
    /// Its value; `None`: plain bytes.
    pub value: Option<Value>,
    /// The type, as shown to the user; empty for plain bytes.
    pub type_name: String,
    /// The frame that the data is in, and with which it ends. `None`: it is in no frame.
    pub frame: Option<FrameOnStack>,
    /// Whether the compiler keeps the variable elsewhere in other parts of its function.
    pub moves: bool,
    /// The language in which `name` means the data at any time, also in a later session. `None`: it doesn't.
    pub persistent: Option<Language>,
}

/// A frame, identified by its place on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameOnStack {
    /// The thread.
    pub thread: ThreadId,
    /// Its canonical frame address.
    pub cfa: Address,
    /// Its return address.
    pub return_to: Address,
}

/// A data breakpoint, as the user asks for it.
#[derive(Debug, Clone)]
pub struct DataBreakpoint {
    /// What is watched.
    pub data: WatchedData,
    /// Which accesses are reported.
    pub access: Access,
    /// Its condition and hit condition. The condition is evaluated in the innermost frame of the thread that made the access, whatever
    /// function that is. Leave the message out: it is not written, but may keep an access from stopping the thread.
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
        /// Its language.
        language: Language,
        /// How many bytes; `None`: all.
        length: Option<u64>,
    },
}

/// The state of a data breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataBreakpointState {
    /// Stable while the breakpoint exists; no other breakpoint has it.
    pub id: i64,
    /// What is watched, as shown to the user.
    pub name: String,
    /// The address of the data. `None`: it doesn't exist.
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
    /// The breakpoint.
    pub breakpoint: i64,
    /// What is watched, as shown to the user.
    pub name: String,
    /// Which accesses the breakpoint reports.
    pub access: Access,
    /// The value before, if it has changed.
    pub old: Option<String>,
    /// The value now.
    pub new: String,
    /// Why the breakpoint's condition can't be evaluated.
    pub undecided: Option<String>,
    /// The statement that made the access; the thread may be at the next one already.
    pub position: Option<SourcePosition>,
}
