//! Logical frames: for each physical frame, one for its function and one for each inlined call in it.
//!
//! Responsible for names, positions and numbering; [`crate::unwind`] finds the physical frames. A [`StackCache`] looks each program counter
//! up once, so a recursion ten thousand deep costs a few look-ups.

use crate::modules::{LoadedModule, Modules};
use crate::pages::PageCache;
use crate::{Address, ThreadId, unwind};
use dapple_arch::registers::{Registers, Vectors};
use dapple_arch::{Machine, Memory};
pub use dapple_symbols::functions::Language;
use dapple_symbols::functions::SourcePosition;
use dapple_symbols::module::{DebugInfo, demangle};
use dapple_symbols::sources::is_library_source;
use dapple_symbols::types::TypeId;
use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A physical frame.
#[derive(Debug, Clone)]
pub struct PhysicalFrame {
    /// 0 is the innermost.
    pub level: usize,
    /// The instruction that the frame is at, or will return to.
    pub pc: Address,
    /// The address to look symbols up by: `pc`, or the byte before it in frames that wait for a call to return.
    pub lookup: Address,
    /// Its registers, as far as they can be recovered.
    pub registers: Registers,
    /// Its canonical frame address, which identifies the frame while it lives. `None`: nothing can be unwound from here.
    pub cfa: Option<Address>,
    /// The module of `lookup`.
    pub module: Option<Arc<LoadedModule>>,
    /// Whether it is the kernel's trampoline below a signal handler: its caller was interrupted and made no call.
    pub signal_trampoline: bool,
    /// The registers for floating-point numbers and vectors. Known only in the innermost frame, if the target provides them.
    pub vectors: Option<Arc<Vectors>>,
    /// For an outer frame: the contents of caller-saved registers that no inner frame has saved.
    pub unsaved: Option<Arc<CallerSaved>>,
}

impl PhysicalFrame {
    /// The mangled name of the frame's function.
    pub fn symbol(&self) -> Option<String> {
        let module = self.module.as_ref()?;
        let symbol = module.module.symbol_at(module.to_file(self.lookup))?;
        Some(symbol.name)
    }
}

/// A physical frame in an allocation that it shares with the frames found with it. In a long stack, an allocation for each frame would be
/// noticeably slower, as would freeing them when the program resumes.
#[derive(Clone)]
pub struct SharedFrame {
    found: Arc<Vec<PhysicalFrame>>,
    index: usize,
}

impl From<PhysicalFrame> for SharedFrame {
    fn from(frame: PhysicalFrame) -> SharedFrame {
        SharedFrame {
            found: Arc::new(vec![frame]),
            index: 0,
        }
    }
}

impl Deref for SharedFrame {
    type Target = PhysicalFrame;

    fn deref(&self) -> &PhysicalFrame {
        // Every constructor sets `index` to a frame of `found`.
        &self.found[self.index]
    }
}

impl fmt::Debug for SharedFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PhysicalFrame::fmt(self, f)
    }
}

/// The contents of caller-saved registers that no frame has saved. Each is the caller's value, or what a callee has written over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerSaved {
    /// The general-purpose registers.
    pub registers: Registers,
    /// The registers for floating-point numbers and vectors, as [`PhysicalFrame::vectors`].
    pub vectors: Option<Arc<Vectors>>,
}

/// Identifies a logical frame within a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameId {
    /// The stop that the frame belongs to; a resume makes the frame stale.
    pub stop: u64,
    /// The thread.
    pub thread: ThreadId,
    /// 0 is the innermost; inlined calls count.
    pub index: usize,
}

/// A logical frame.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Identifies it.
    pub id: FrameId,
    /// The physical frame.
    pub physical: SharedFrame,
    /// 0: the function itself; n: the n-th inlined call from outside.
    pub inline_depth: usize,
    /// The function's name for display; `None` if unknown.
    pub function: Option<String>,
    /// Where in the source it is. In a frame that has an inlined call inside, the call's position.
    pub position: Option<SourcePosition>,
    /// The language of expressions in this frame.
    pub language: Language,
    /// What the frame stands for.
    pub kind: FrameKind,
}

/// What a frame stands for.
#[derive(Debug, Clone)]
pub enum FrameKind {
    /// A call on a thread's stack.
    Call,
    /// A suspended future, whose variables are in its state. Registers don't belong to it.
    Suspended(Arc<Suspended>),
    /// Only a text between frames, in place of a function's name.
    Label,
}

/// A suspended future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suspended {
    /// The address of its state.
    pub state: Address,
    /// The state's type, of the frame's module.
    pub type_id: TypeId,
}

/// A physical frame in a module without a thread: it has no address and no registers.
pub(crate) fn nowhere(module: &Arc<LoadedModule>) -> PhysicalFrame {
    PhysicalFrame {
        level: 0,
        pc: Address(0),
        lookup: Address(0),
        registers: Registers::of(module.module.machine()),
        cfa: None,
        module: Some(Arc::clone(module)),
        signal_trampoline: false,
        vectors: None,
        unsaved: None,
    }
}

impl Frame {
    /// A frame that is in no stack, for locating and evaluating with a physical frame.
    pub fn detached(physical: PhysicalFrame, language: Language) -> Frame {
        Frame {
            id: FrameId {
                stop: 0,
                thread: ThreadId(0),
                index: 0,
            },
            physical: physical.into(),
            inline_depth: 0,
            function: None,
            position: None,
            language,
            kind: FrameKind::Call,
        }
    }

    /// Whether it is a call on a thread's stack.
    pub fn is_call(&self) -> bool {
        matches!(self.kind, FrameKind::Call)
    }

    /// Whether its source isn't a standard library's or the system's, and the file exists.
    pub fn is_users(&self) -> bool {
        let position = self.position.as_ref();
        position.is_some_and(|at| !is_library_source(&at.file) && at.file.is_file())
    }

    /// As [`Frame::is_users`], and its source isn't a dependency's either.
    pub fn is_own(&self) -> bool {
        self.is_users() && self.origin().is_none()
    }

    /// Whose code its source is, unless it is the user's: [`origin`](dapple_symbols::sources::origin). In a distribution's library whose debug
    /// information has relative paths, the library's name.
    pub fn origin(&self) -> Option<String> {
        let file = &self.position.as_ref()?.file;
        dapple_symbols::sources::origin(file).or_else(|| {
            let module = self.physical.module.as_ref()?;
            let is_library = file.is_relative() && module.is_distributions();
            let name = module.module.path().file_name().filter(|_| is_library)?;
            Some(name.to_string_lossy().into_owned())
        })
    }

    /// Whether its source belongs to a standard library or the system. The file may exist.
    pub fn in_library(&self) -> bool {
        let position = self.position.as_ref();
        position.is_some_and(|at| is_library_source(&at.file))
    }
}

/// A part of a thread's stack.
#[derive(Debug, Clone)]
pub struct Stack {
    /// The requested frames.
    pub frames: Vec<Frame>,
    /// How many there are in all; `None` when unwinding hasn't reached the end.
    pub total: Option<usize>,
}

/// If at most this many more frames are requested, their memory is read word by word. For more frames, whole pages are read.
const FEW: usize = 4;

/// The most physical frames that share an allocation.
const HELD_TOGETHER: usize = 64;

/// The name shown for the frame of a signal trampoline.
const SIGNAL_FRAME: &str = "<signal handler called>";

/// A window of a thread's frames, unwound from scratch. Use [`StackCache`] to keep what was found.
pub fn stack(
    thread: ThreadId,
    stop: u64,
    registers: Registers,
    modules: &Modules,
    memory: &dyn Memory,
    window: Range<usize>,
) -> Stack {
    StackCache::new(thread, stop, registers).window(modules, memory, window)
}

/// A thread's frames in one stop, as far as they were requested.
#[derive(Debug)]
pub struct StackCache {
    thread: ThreadId,
    stop: u64,
    registers: Registers,
    vectors: Option<Arc<Vectors>>,
    physical: Vec<SharedFrame>,
    /// The index of each physical frame's first logical one.
    starts: Vec<usize>,
    /// How many logical frames were found so far.
    count: usize,
    complete: bool,
    /// Frames of suspended futures, outside of all physical frames.
    suspended: Vec<Frame>,
    /// Frames that are shown among the thread's, from this index on.
    inserted: (usize, Vec<Frame>),
    /// How many inlined calls begin at the innermost frame's address and are not entered yet.
    not_entered: usize,
    /// The line to show for the innermost frame, where several lines have its address.
    line: Option<SourcePosition>,
    descriptions: FxHashMap<Address, Arc<[Description]>>,
}

/// What is shown of a frame, apart from its values.
#[derive(Debug, Clone)]
struct Description {
    inline_depth: usize,
    function: Option<String>,
    position: Option<SourcePosition>,
    language: Language,
}

impl StackCache {
    /// A cache without any frames yet.
    pub fn new(thread: ThreadId, stop: u64, registers: Registers) -> StackCache {
        StackCache {
            thread,
            stop,
            registers,
            vectors: None,
            physical: Vec::new(),
            starts: Vec::new(),
            count: 0,
            complete: false,
            suspended: Vec::new(),
            inserted: (0, Vec::new()),
            not_entered: 0,
            line: None,
            descriptions: FxHashMap::default(),
        }
    }

    /// The frames of a suspended task, which no thread has.
    pub(crate) fn of_suspended(task: ThreadId, stop: u64, frames: Vec<Frame>) -> StackCache {
        StackCache {
            complete: true,
            suspended: frames,
            ..StackCache::new(task, stop, Registers::of(Machine::default()))
        }
    }

    /// Shows frames among the thread's, from an index on. The frames have the ids that belong there.
    pub(crate) fn insert(&mut self, index: usize, frames: Vec<Frame>) {
        self.inserted = (index, frames);
    }

    /// Gives the frames to the task that the thread polls.
    pub(crate) fn of_task(self, task: ThreadId) -> StackCache {
        StackCache {
            thread: task,
            ..self
        }
    }

    /// Sets the innermost frame's [`PhysicalFrame::vectors`].
    pub fn with_vectors(self, vectors: Option<Arc<Vectors>>) -> StackCache {
        StackCache { vectors, ..self }
    }

    /// Hides the frames of the innermost `count` inlined calls: the thread is at their first instruction and is shown before the calls.
    pub fn before_calls(self, count: usize) -> StackCache {
        StackCache {
            not_entered: count,
            ..self
        }
    }

    /// Sets the line shown for the innermost frame: an optimiser may attribute one instruction to several lines.
    pub fn at_line(self, line: Option<SourcePosition>) -> StackCache {
        StackCache { line, ..self }
    }

    /// The frames of `window`; if the stack ends within it, fewer. Unwinds no further than requested.
    pub fn window(
        &mut self,
        modules: &Modules,
        memory: &dyn Memory,
        window: Range<usize>,
    ) -> Stack {
        self.reach(modules, memory, window.end);
        let inserted = self.inserted.1.len();
        let count = match self.complete {
            true => self.count + self.suspended.len() + inserted,
            false => self.count + inserted,
        };
        let frames = (window.start..window.end.min(count))
            .filter_map(|index| self.logical(index))
            .collect();
        Stack {
            frames,
            total: self.complete.then_some(count),
        }
    }

    /// The frame at `index`; inlined calls count.
    pub fn frame(&mut self, modules: &Modules, memory: &dyn Memory, index: usize) -> Option<Frame> {
        self.reach(modules, memory, index.saturating_add(1));
        self.logical(index)
    }

    /// The physical frames found so far, innermost first.
    pub fn physical(&self) -> &[SharedFrame] {
        &self.physical
    }

    /// The physical frame at `level`.
    pub(crate) fn physical_at(
        &mut self,
        level: usize,
        modules: &Modules,
        memory: &dyn Memory,
    ) -> Option<SharedFrame> {
        while !self.complete && self.physical.len() <= level {
            self.reach(modules, memory, self.count + 1);
        }
        self.physical.get(level).cloned()
    }

    fn reach(&mut self, modules: &Modules, memory: &dyn Memory, count: usize) {
        if count.saturating_sub(self.count) > FEW {
            // Frames lie close together, and so do their functions: read whole pages.
            self.walk(modules, &PageCache::new(memory), count);
        } else {
            self.walk(modules, memory, count);
        }
    }

    fn walk(&mut self, modules: &Modules, memory: &dyn Memory, count: usize) {
        if self.complete || self.count >= count {
            return;
        }
        let missing = count.saturating_sub(self.count);
        let none = || Vec::with_capacity(missing.min(HELD_TOGETHER));
        let mut found = none();
        while !self.complete && self.count < count {
            let last = found.last().or(self.physical.last().map(|last| &**last));
            let next = match last {
                None => Some(PhysicalFrame {
                    vectors: self.vectors.clone(),
                    ..unwind::innermost(self.registers, modules, memory)
                }),
                Some(last) => unwind::caller(last, modules, memory),
            };
            let Some(next) = next else {
                self.complete = true;
                break;
            };
            let described = self
                .descriptions
                .entry(next.lookup)
                .or_insert_with(|| describe(&next));
            self.starts.push(self.count);
            let level = self.starts.len() - 1;
            self.count += described.len() - hidden(level, self.not_entered, described);
            found.push(next);
            if found.len() == HELD_TOGETHER {
                self.hold(std::mem::replace(&mut found, none()));
            }
        }
        self.hold(found);
    }

    fn hold(&mut self, found: Vec<PhysicalFrame>) {
        let found = Arc::new(found);
        self.physical
            .extend((0..found.len()).map(|index| SharedFrame {
                found: Arc::clone(&found),
                index,
            }));
    }

    fn logical(&self, shown: usize) -> Option<Frame> {
        let (first, inserted) = &self.inserted;
        let index = match shown.checked_sub(*first) {
            Some(among) if among < inserted.len() => return inserted.get(among).cloned(),
            Some(_) => shown - inserted.len(),
            None => shown,
        };
        if self.complete && index >= self.count {
            return self.suspended.get(index - self.count).cloned();
        }
        let level = self
            .starts
            .partition_point(|start| *start <= index)
            .checked_sub(1)?;
        let physical = self.physical.get(level)?;
        let described = self.descriptions.get(&physical.lookup)?;
        let hidden = hidden(level, self.not_entered, described);
        let mut description = described.get(index - self.starts[level] + hidden)?.clone();
        if let (0, Some(asked), Some(shown)) = (index, &self.line, &mut description.position)
            && (asked.line, &asked.file) != (shown.line, &shown.file)
        {
            shown.clone_from(asked);
        }
        Some(Frame {
            id: FrameId {
                stop: self.stop,
                thread: self.thread,
                index: shown,
            },
            physical: physical.clone(),
            inline_depth: description.inline_depth,
            function: description.function,
            position: description.position,
            language: description.language,
            kind: FrameKind::Call,
        })
    }
}

/// How many logical frames of the physical one at `level` are hidden; at least one is always shown.
fn hidden(level: usize, not_entered: usize, described: &[Description]) -> usize {
    match level {
        0 => not_entered.min(described.len().saturating_sub(1)),
        _ => 0,
    }
}

/// The functions that `frame`'s inlined function is inlined into.
pub(crate) fn functions_around(frame: &Frame) -> Vec<String> {
    let described = describe(&frame.physical);
    let around = described
        .iter()
        .filter(|one| one.inline_depth < frame.inline_depth);
    around.filter_map(|one| one.function.clone()).collect()
}

/// The functions of a physical frame: its own, also by the symbol's name, and those inlined into it.
pub(crate) fn functions_in(frame: &PhysicalFrame) -> Vec<String> {
    let described = describe(frame);
    let functions = described.iter().filter_map(|one| one.function.clone());
    // Lambdas have no name in the debug information.
    let linkers = frame.symbol().map(|symbol| demangle(&symbol));
    functions.chain(linkers).collect()
}

/// The physical frames outside of `frame`, nearest first, unwound lazily.
pub(crate) fn callers<'a>(
    frame: &Frame,
    modules: &'a Modules,
    memory: &'a dyn Memory,
) -> impl Iterator<Item = PhysicalFrame> + use<'a> {
    let first = unwind::caller(&frame.physical, modules, memory);
    std::iter::successors(first, move |last| unwind::caller(last, modules, memory))
}

/// The logical frames of a physical one, innermost first; never empty.
fn describe(frame: &PhysicalFrame) -> Arc<[Description]> {
    let unknown = |function: Option<String>| -> Arc<[Description]> {
        Arc::new([Description {
            inline_depth: 0,
            function,
            position: None,
            language: Language::Other,
        }])
    };
    if frame.signal_trampoline {
        return unknown(Some(SIGNAL_FRAME.to_owned()));
    }
    let Some(loaded) = &frame.module else {
        return unknown(None);
    };
    let module = &loaded.module;
    let lookup = loaded.to_file(frame.lookup);
    let symbol = || {
        module
            .symbol_at(lookup)
            .map(|symbol| demangle(&symbol.name))
    };
    if module.debug_info() != DebugInfo::Dwarf {
        return unknown(symbol());
    }
    let name = module
        .function_at(lookup)
        .map(|function| function.name.clone());
    let name = name.or_else(symbol);
    let language = module.language_at(lookup);
    // The instruction at which a thread has stopped may have no line; then the line of the row before it is shown. For a return address
    // without a line, none is shown.
    let row = match frame.lookup == frame.pc {
        true => module.row_with_line(lookup),
        false => module.row_at(lookup).filter(|row| row.line != 0),
    };
    let mut position = row.map(|row| SourcePosition {
        file: row.file,
        line: row.line,
        column: row.column,
    });
    let inlined = module.inlined_at(lookup);
    let mut described = Vec::with_capacity(inlined.len() + 1);
    for (depth, call) in inlined.into_iter().enumerate().rev() {
        described.push(Description {
            inline_depth: depth + 1,
            function: Some(call.name),
            position: std::mem::replace(&mut position, call.call_site),
            language,
        });
    }
    described.push(Description {
        inline_depth: 0,
        function: name,
        position,
        language,
    });
    described.into()
}
