//! Breakpoints on data: what can be watched, what is asked for, what is told of it.

use super::options::BreakpointOptions;
use crate::{Address, ThreadId};
use dapple_inspect::frame::FrameId;
use dapple_inspect::values::{NamedValue, Value};
pub use dapple_symbols::functions::Language;
use dapple_symbols::functions::SourcePosition;

/// Which accesses to data are told. All of them are told after the instruction that has made them. What the kernel reads
/// and writes for the program (`read(2)`, `write(2)`) is seen by no processor, and so never told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// A write that changes the value.
    Change,
    /// Each write, also of the value that was there.
    Write,
    /// A read. The processor tells it from a write only by the value, so a write of the value that was there is one, too.
    Read,
    /// Each read and each write.
    ReadWrite,
}

/// How data is spoken of.
#[derive(Debug, Clone)]
pub enum DataPlace {
    /// A variable, field or element that was shown.
    Value(NamedValue),
    /// An expression in a frame; without one, in that of the thread that stopped.
    Expression(String, Option<FrameId>),
    /// An expression without any frame, of what is there as long as the program is.
    Static(String, Language),
    /// Memory.
    Address(Address),
}

/// Data that can be watched.
#[derive(Debug, Clone)]
pub struct DataTarget {
    /// The expression, or the address.
    pub name: String,
    /// Where it begins.
    pub address: Address,
    /// How many bytes it has.
    pub length: u64,
    /// What it is; `None`: bytes.
    pub value: Option<Value>,
    /// The type as people write it; empty for bytes.
    pub type_name: String,
    /// The frame that it is in: with that, it ends.
    pub frame: Option<FrameOnStack>,
    /// The compiler keeps the variable elsewhere in other parts of its function.
    pub moves: bool,
    /// The language in which `name` gives it again at any time, in a later session, too.
    pub persistent: Option<Language>,
}

/// A frame by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameOnStack {
    /// Whose stack.
    pub thread: ThreadId,
    /// Its canonical frame address.
    pub cfa: Address,
    /// Where it returns to.
    pub return_to: Address,
}

/// A breakpoint that is wanted on data.
#[derive(Debug, Clone)]
pub struct DataBreakpoint {
    /// What is watched.
    pub data: WatchedData,
    /// For what.
    pub access: Access,
    /// What it does besides stopping. A condition is evaluated in the innermost frame of the thread that has made the
    /// access, wherever that is; messages are not written.
    pub options: BreakpointOptions,
}

/// What a breakpoint on data watches.
#[derive(Debug, Clone)]
pub enum WatchedData {
    /// What [`Session::data_target`](crate::Session::data_target) has found.
    Target(Box<DataTarget>),
    /// A static, wherever the modules that are loaded have it.
    Static {
        /// The expression.
        name: String,
        /// Its language.
        language: Language,
        /// How many bytes; `None`: all.
        length: Option<u64>,
    },
}

/// What has become of a breakpoint on data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataBreakpointState {
    /// Stable while the breakpoint is; no other breakpoint has it.
    pub id: i64,
    /// What is watched, as people write it.
    pub name: String,
    /// Where.
    pub address: Option<Address>,
    /// Why it isn't watched; `None`: it is.
    pub refused: Option<DataRefusal>,
}

/// Why data isn't watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataRefusal {
    /// It isn't there yet; a module loaded later may have it.
    Pending(String),
    /// It can't be, for this reason.
    Failed(String),
    /// It is no more.
    Gone(String),
}

/// An access to data that is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataHit {
    /// The breakpoint.
    pub breakpoint: i64,
    /// What is watched, as people write it.
    pub name: String,
    /// For what it is watched.
    pub access: Access,
    /// The value before, where it has changed.
    pub old: Option<String>,
    /// The value now.
    pub new: String,
    /// Why the breakpoint's condition can't be evaluated.
    pub undecided: Option<String>,
    /// The statement that has the access; the thread may be at the next one already.
    pub position: Option<SourcePosition>,
}
