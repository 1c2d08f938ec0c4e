//! Frames as people see them: a physical frame, once for its function and once for each inlined call in it.

use crate::modules::LoadedModule;
use crate::registers::Registers;
use crate::{Address, ThreadId};
use dapple_symbols::functions::{Language, SourcePosition};
use std::sync::Arc;

/// A frame on the machine's stack.
#[derive(Debug, Clone)]
pub struct PhysicalFrame {
    /// 0 is the innermost.
    pub level: usize,
    /// The instruction it is at, or will return to.
    pub pc: Address,
    /// The address to look symbols up by: `pc`, or the byte before it in frames that wait for a call to return.
    pub lookup: Address,
    /// Its registers, as far as they can be recovered.
    pub registers: Registers,
    /// Its canonical frame address: identifies it while it lives.
    pub cfa: Option<Address>,
    /// The module of `lookup`.
    pub module: Option<Arc<LoadedModule>>,
}

/// Identifies a logical frame within a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameId {
    /// The stop it belongs to; one resume makes it stale.
    pub stop: u64,
    /// The thread.
    pub thread: ThreadId,
    /// 0 is the innermost, inlined calls counted.
    pub index: usize,
}

/// A logical frame.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Identifies it.
    pub id: FrameId,
    /// The machine's frame.
    pub physical: Arc<PhysicalFrame>,
    /// 0: the function itself; n: the n-th inlined call from outside.
    pub inline_depth: usize,
    /// The function's name for people; `None` when nothing is known.
    pub function: Option<String>,
    /// Where in the source it is; for outer frames of an inlined call: the call.
    pub position: Option<SourcePosition>,
    /// The language to speak here.
    pub language: Language,
}

/// A part of a thread's stack.
#[derive(Debug, Clone)]
pub struct Stack {
    /// The frames asked for.
    pub frames: Vec<Frame>,
    /// How many there are in all; `None` when unwinding hasn't reached the end.
    pub total: Option<usize>,
}
