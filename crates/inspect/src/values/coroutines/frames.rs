//! The frames of C++20's coroutines: the memory with a coroutine's promise, parameters and locals, and with where it is suspended. All
//! compilers begin a frame with the addresses of two functions: one resumes the coroutine, the other destroys it. The first is null at the
//! final suspension.
//!
//! Who awaits a coroutine is known to the library alone. As a rule, a promise has a `std::coroutine_handle` of the coroutine to go on with,
//! or a pointer to that coroutine's promise.

use super::{Activation, Suspension};
use crate::Address;
use crate::frame::Frame;
use crate::modules::LoadedModule;
use crate::values::{Contents, Reader, Value};
use dapple_arch::Memory;
use dapple_symbols::cpp_coroutines::{CoroutinePart, CppCoroutine};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Aggregate, TypeId, TypeKind};
use std::sync::Arc;

/// How many classes are looked through for a handle, with those of their members.
const MOST_CLASSES: usize = 256;
/// How many members deep.
const DEEPEST: u32 = 8;

/// What is known of a coroutine's frame, beside what it has in common with a Rust future.
#[derive(Debug, Clone)]
pub struct CppFrame {
    /// The function that resumes it, which has its body; null if it is at its final suspension.
    pub resume: Address,
    /// The function that destroys it.
    pub destroy: Address,
    module: Arc<LoadedModule>,
    promise: Option<(u64, TypeId)>,
    /// Whether an odd number in the frame says that the coroutine is being destroyed.
    has_odd_numbers: bool,
    /// Whether resuming it reads that number.
    has_dispatch: bool,
}

impl CppFrame {
    /// The module of its functions.
    pub(super) fn module(&self) -> &Arc<LoadedModule> {
        &self.module
    }

    /// Whether the frame still is the coroutine's, and the coroutine isn't at its end. The coroutine itself may be running. `false` also if
    /// the memory can't be read.
    pub fn is_resumable(&self, frame: Address, memory: &dyn Memory) -> bool {
        // Memory that was freed has other contents: the allocator's own.
        self.resume.0 != 0 && memory.read_address(frame) == Ok(self.resume.0)
    }
}

impl Activation {
    /// The activation of the coroutine that a frame on the stack runs.
    pub(super) fn of_cpp_frame(
        reader: &Reader<'_>,
        loaded: &Arc<LoadedModule>,
        frame: &Frame,
    ) -> Option<Activation> {
        let lookup = loaded.to_file(frame.physical.lookup);
        let coroutine = loaded.module.cpp_coroutine_at(lookup)?;
        if frame.inline_depth > 0 || !coroutine.has_body() {
            return None;
        }
        let variable = coroutine.frame.as_ref()?;
        let value = reader.variable(variable, loaded, frame).value;
        let state = match coroutine.points_to_frame {
            true => Address(reader.word(&value.contents).ok()?),
            false => value.contents.address()?,
        };
        Activation::of_coroutine(reader, state)
    }

    /// The activation of the C++ coroutine whose frame is at an address, suspended or running: its function, where it is suspended, who
    /// awaits it ([`Activation::continuation`]). `None`: no frame is known to be there.
    pub fn of_coroutine(reader: &Reader<'_>, frame: Address) -> Option<Activation> {
        let [resume, destroy] = reader.words(frame.0).ok()?;
        // At its final suspension, a coroutine is known by what destroys it.
        let (known, part) = match resume {
            0 => (destroy, CoroutinePart::Destroyer),
            _ => (resume, CoroutinePart::Body),
        };
        let loaded = reader.modules.at(Address(known))?;
        let entry = loaded.to_file(Address(known));
        let function = loaded.module.function_at(entry)?;
        let coroutine = loaded.module.cpp_coroutine_at(entry)?;
        if function.entry != entry || coroutine.part != part {
            return None;
        }
        let index = coroutine.index.clone()?;
        Some(Activation {
            state: frame,
            function: function.name.clone(),
            discriminant: frame.offset(i64::try_from(index.start).ok()?),
            size: index.end.checked_sub(index.start)?,
            opening: coroutine.opening.clone(),
            suspensions: suspensions(&coroutine),
            frame: Some(CppFrame {
                resume: Address(resume),
                destroy: Address(destroy),
                module: Arc::clone(loaded),
                promise: coroutine.promise,
                has_odd_numbers: coroutine.has_odd_numbers,
                has_dispatch: coroutine.has_dispatch(),
            }),
        })
    }

    /// Whether a C++ coroutine is at its end: at its final suspension, or its frame is gone.
    pub fn has_ended(&self, memory: &dyn Memory) -> bool {
        self.frame.is_some() && !self.is_suspended(memory)
    }

    /// Whether the number in a C++ coroutine's frame says that the coroutine is being destroyed.
    pub fn is_being_destroyed(&self, memory: &dyn Memory) -> bool {
        let has_odd_numbers = self.frame.as_ref().is_some_and(|it| it.has_odd_numbers);
        has_odd_numbers && self.number(memory).is_some_and(|number| number % 2 == 1)
    }

    /// The C++ coroutine that goes on when this one ends: the first in the members of its promise, and of what these point to, that a handle
    /// names.
    pub fn continuation(&self, reader: &Reader<'_>) -> Option<Activation> {
        let frame = self.frame.as_ref()?;
        let (offset, promise) = frame.promise?;
        let address = Address(self.state.0.checked_add(offset)?);
        let promise = Value::new(
            Arc::clone(&frame.module),
            Some(promise),
            Language::Cpp,
            Contents::Memory(address),
        );
        let mut search = Search {
            reader,
            of: self,
            left: MOST_CLASSES,
            pointers: Vec::new(),
        };
        let own = search.handle_in(&promise, 0);
        own.or_else(|| {
            let pointers = std::mem::take(&mut search.pointers);
            pointers
                .iter()
                .find_map(|target| search.handle_in(target, 0))
        })
    }

    /// Whether resuming the future reads its number before all else.
    pub fn is_read_first(&self) -> bool {
        self.frame.as_ref().is_none_or(|frame| frame.has_dispatch)
    }
}

fn suspensions(coroutine: &CppCoroutine) -> Arc<[Suspension]> {
    let places = coroutine.suspensions.iter();
    let places = places.map(|suspension| Suspension {
        discriminants: vec![(u128::from(suspension.number), u128::from(suspension.number))],
        place: Some(suspension.place.clone()),
        code: Some(suspension.address),
    });
    places.collect()
}

/// A search for the handle of another coroutine.
struct Search<'a> {
    reader: &'a Reader<'a>,
    of: &'a Activation,
    left: usize,
    /// What members point to.
    pointers: Vec<Value>,
}

impl Search<'_> {
    /// The first other coroutine that a handle in a value names.
    fn handle_in(&mut self, value: &Value, depth: u32) -> Option<Activation> {
        self.left = self.left.checked_sub(1)?;
        let resolved = self.reader.resolve(value).filter(|_| depth <= DEEPEST)?;
        let TypeKind::Aggregate(Aggregate { members, .. }) = &resolved.type_.kind else {
            if let TypeKind::Pointer(_, Some(target)) = resolved.type_.kind
                && let Ok(address) = self.reader.word(&value.contents)
                && address != 0
                && depth > 0
            {
                let contents = Contents::Memory(Address(address));
                self.pointers.push(value.sibling(Some(target), contents));
            }
            return None;
        };
        let name = &*resolved.type_.name;
        if name.contains("coroutine_handle<") {
            let frame = self.reader.word(&value.contents).ok()?;
            let is_own = frame == self.of.state.0;
            let other = (frame != 0 && !is_own).then_some(Address(frame))?;
            return Activation::of_coroutine(self.reader, other)
                .filter(|found| found.is_suspended(self.reader.memory));
        }
        let parts: Vec<Value> = members
            .iter()
            .map(|member| self.reader.member(value, member))
            .collect();
        parts
            .iter()
            .find_map(|part| self.handle_in(part, depth + 1))
    }
}
