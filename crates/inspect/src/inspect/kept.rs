//! Values that are inspected after the program has resumed.
//!
//! A value is a location and a type, and both outlive a stop; the object there may not. So a kept value records what it lies in (a call's
//! frame, a module's image, the heap) and its rendered text. Before its children are read in a later stop, both are compared with the
//! present state. If the object is gone, the answer is the reason. A value in registers, or one that leads elsewhere, such as a pointer or
//! an owner, is kept as bytes: its children then belong to the text that was shown.
//!
//! A later call of the same function from the same place with its frame at the same address can't be distinguished from the original
//! call. In that case, only a changed text shows the difference.

use super::{Inspect, Shown, render};
use crate::frame::{Frame, FrameId, PhysicalFrame, SharedFrame, callers};
use crate::modules::Modules;
use crate::pages::PageCache;
use crate::values::{Contents, Format, NamedValue, Reader, Rendered, Value};
use crate::{Address, Error, ThreadId};
use dapple_arch::Memory;
use std::ops::Range;
use std::sync::Arc;

/// The largest plausible extent of a stack above the stack pointer, in bytes.
const LARGEST_STACK: u64 = 64 << 20;
/// The most frames to search for the one that contains an address.
const MOST_FRAMES: usize = 100_000;
/// As [`MOST_FRAMES`], for a thread that is stopped at a logpoint and continues at once.
const FEW_FRAMES: usize = 64;

/// A value that is kept beyond its stop.
#[derive(Debug, Clone)]
pub struct KeptValue(Arc<Kept>);

impl PartialEq for KeptValue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for KeptValue {}

#[derive(Debug)]
pub(crate) struct Kept {
    /// The value as it was found.
    named: NamedValue,
    /// The value whose children are read in later stops.
    lasting: Value,
    /// The frame in which the value was found.
    frame: FrameId,
    /// The addresses of its memory, and of the memory that it leads to.
    addresses: Vec<Address>,
    storage: Vec<Storage>,
    rendered: Rendered,
    /// Whether `rendered` was made with pointees and with marks of freed memory.
    is_full: bool,
    /// Whether its memory was already freed when it was kept.
    freed: bool,
    /// The number of the stop; `None`: it was logged while the program ran.
    stop: Option<u64>,
}

/// What a value's memory belongs to, and ceases to exist with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Storage {
    /// The frame of a function's call.
    Call(Call),
    /// The image of the module with this id.
    Module(u64),
}

/// A call of a function, identified by its frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    thread: ThreadId,
    cfa: Address,
    /// The id of the function's module, and the function's entry in it.
    function: Option<(u64, u64)>,
    /// The function's name.
    name: Option<String>,
    return_address: Option<u64>,
}

impl Call {
    fn of(thread: ThreadId, frame: &PhysicalFrame, memory: &dyn Memory) -> Option<Call> {
        let cfa = frame.cfa?;
        let found = frame.module.as_ref().and_then(|loaded| {
            let function = loaded.module.function_at(loaded.to_file(frame.lookup))?;
            let start = function.entry.0;
            Some(((loaded.id, start), function.name.clone()))
        });
        let (function, name) = found.unzip();
        Some(Call {
            thread,
            cfa,
            function,
            name,
            return_address: memory.read_u64(cfa.offset(-8)).ok(),
        })
    }
}

/// The children of a kept value.
#[derive(Debug)]
pub struct Opened {
    /// The children; those that have children themselves are kept as well.
    pub children: Vec<(NamedValue, Rendered, Option<KeptValue>)>,
    /// The frame in which the value was found. `None`: the stop of that frame is over.
    pub frame: Option<FrameId>,
    /// The value's text now, if it has changed.
    pub now: Option<String>,
}

impl KeptValue {
    /// The value as it was found.
    pub fn named(&self) -> &NamedValue {
        &self.0.named
    }

    /// Its text when it was found.
    pub fn rendered(&self) -> &Rendered {
        &self.0.rendered
    }

    /// Its approximate memory use in bytes.
    pub fn size(&self) -> usize {
        let bytes = |value: &Value| match &value.contents {
            Contents::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        let kept = &*self.0;
        size_of::<Kept>()
            + bytes(&kept.named.value)
            + bytes(&kept.lasting)
            + kept.rendered.text.len()
    }

    /// Keeps a value that a logpoint has written; `None`: it has no children.
    pub fn logged(
        named: NamedValue,
        rendered: Rendered,
        frame: &Frame,
        reader: &Reader<'_>,
    ) -> Option<KeptValue> {
        if !has_children(&rendered) {
            return None;
        }
        let thread = frame.id.thread;
        let call = |address: Address| {
            if !is_on_stack(address, &frame.physical) {
                return None;
            }
            let inner = std::iter::once(PhysicalFrame::clone(&frame.physical));
            let outer = callers(frame, reader.modules, reader.memory);
            let mut all = inner.chain(outer).take(FEW_FRAMES);
            let found = all.find(|one| has(one, address))?;
            Call::of(thread, &found, reader.memory)
        };
        let lasting = lasting(&named.value, reader);
        let addresses = addresses(&lasting, &rendered, reader.memory);
        Some(KeptValue(Arc::new(Kept {
            storage: storage_of(&addresses, reader.modules, call),
            named,
            lasting,
            frame: frame.id,
            addresses,
            rendered,
            is_full: false,
            freed: false,
            stop: None,
        })))
    }
}

fn has_children(rendered: &Rendered) -> bool {
    rendered.named > 0 || rendered.indexed > 0
}

/// Whether an address can be on the stack of the thread with this innermost frame.
fn is_on_stack(address: Address, innermost: &PhysicalFrame) -> bool {
    let pointer = innermost.registers.sp().unwrap_or_default().0;
    let lowest = pointer.saturating_sub(innermost.registers.machine().red_zone());
    (lowest..pointer.saturating_add(LARGEST_STACK)).contains(&address.0)
}

/// Whether an address on the stack belongs to `frame` or to a frame inside it, one that `frame` has called.
fn has(frame: &PhysicalFrame, address: Address) -> bool {
    frame.cfa.is_some_and(|cfa| cfa > address)
}

/// The value to read children from after the program has resumed. Of a value that is in registers or leads elsewhere, a copy of its bytes;
/// any other value is returned unchanged.
fn lasting(value: &Value, reader: &Reader<'_>) -> Value {
    let stands_for_another = || reader.leads_elsewhere(value);
    let is_kept = match &value.contents {
        Contents::Pieces(..) => true,
        Contents::Memory(_) => stands_for_another(),
        _ => false,
    };
    let bytes = is_kept.then(|| reader.all_bytes(value)).flatten();
    match bytes {
        Some(bytes) => Value {
            contents: Contents::Bytes(bytes.into()),
            ..value.clone()
        },
        None => value.clone(),
    }
}

/// What the memory at these addresses belongs to.
fn storage_of(
    addresses: &[Address],
    modules: &Modules,
    mut call: impl FnMut(Address) -> Option<Call>,
) -> Vec<Storage> {
    let mut storage = Vec::new();
    for address in addresses {
        let module = modules
            .at(*address)
            .map(|module| Storage::Module(module.id));
        let part = module.or_else(|| call(*address).map(Storage::Call));
        storage.extend(part.filter(|part| !storage.contains(part)));
    }
    storage
}

/// The readable addresses of a value's memory, and of the memory that it leads to.
fn addresses(value: &Value, rendered: &Rendered, memory: &dyn Memory) -> Vec<Address> {
    let own = value.contents.address();
    let other = rendered.memory.filter(|to| Some(*to) != own);
    let all = own.into_iter().chain(other);
    all.filter(|address| memory.read(*address, &mut [0]).is_ok())
        .collect()
}

/// The state of an earlier call in a later stop.
enum Found {
    Alive,
    Ended,
    /// The stack can't be unwound that far.
    Unknown,
}

/// Keeping values, and reading the children of kept values.
pub trait Keeping: Inspect {
    /// Keeps the value of an expression in a frame; `None`: it has no children.
    fn keep(
        &mut self,
        named: NamedValue,
        rendered: Rendered,
        frame: Option<FrameId>,
    ) -> Result<Option<KeptValue>, Error> {
        let frame = self.frame_or_current(frame)?;
        Ok(self.keep_in(named, rendered, frame.id))
    }

    /// As [`Keeping::keep`], for a value of the frame with this id.
    fn keep_in(
        &mut self,
        named: NamedValue,
        rendered: Rendered,
        frame: FrameId,
    ) -> Option<KeptValue> {
        if !has_children(&rendered) {
            return None;
        }
        let reader = self.reader();
        let lasting = lasting(&named.value, &reader);
        let addresses = addresses(&lasting, &rendered, self.memory());
        let freed = self.is_any_freed(&addresses);
        let mut storage = Vec::new();
        for address in &addresses {
            let module = self.modules().at(*address).map(|module| module.id);
            let part = match module {
                Some(module) => Some(Storage::Module(module)),
                None => self.call_with(frame.thread, *address).map(Storage::Call),
            };
            storage.extend(part.filter(|part| !storage.contains(part)));
        }
        Some(KeptValue(Arc::new(Kept {
            named,
            lasting,
            frame,
            addresses,
            storage,
            rendered,
            is_full: true,
            freed,
            stop: Some(self.stop_number()),
        })))
    }

    /// The children of a kept value, in its own stop or a later one.
    fn open_kept(
        &mut self,
        kept: &KeptValue,
        range: Range<u64>,
        format: Option<Format>,
    ) -> Result<Opened, Error> {
        self.require_some_stopped()?;
        let it = &*kept.0;
        let is_same_stop = it.stop == Some(self.stop_number());
        let (value, now) = match is_same_stop {
            true => (&it.named.value, None),
            false => {
                self.require_alive(it)?;
                (&it.lasting, self.line_now(it))
            }
        };
        let mut value = value.clone();
        if let Some(format) = format
            && value.format == Format::Natural
        {
            value.format = format;
        }
        let children = match is_same_stop {
            true => self.children(value, it.named.expression.as_deref(), range)?,
            false => self.children_as_they_are(&value, range),
        };
        let keep = |(named, rendered): (NamedValue, Rendered)| {
            let kept = match has_children(&rendered) {
                true => self.keep_in(named.clone(), rendered.clone(), it.frame),
                false => None,
            };
            (named, rendered, kept)
        };
        Ok(Opened {
            frame: is_same_stop.then_some(it.frame),
            children: children.into_iter().map(keep).collect(),
            now,
        })
    }
}

impl<T: Inspect + ?Sized> Keeping for T {}

/// Finding kept objects again.
trait KeptLookup: Inspect {
    /// The call whose frame contains an address.
    fn call_with(&mut self, thread: ThreadId, address: Address) -> Option<Call> {
        self.follow(thread).ok()?;
        for level in 0..MOST_FRAMES {
            let frame = self.physical_frame(thread, level)?;
            if level == 0 && !is_on_stack(address, &frame) {
                return None;
            }
            if has(&frame, address) {
                return Call::of(thread, &frame, self.memory());
            }
        }
        None
    }

    fn physical_frame(&mut self, thread: ThreadId, level: usize) -> Option<SharedFrame> {
        let stacks = self.stacks();
        let stack = stacks.requested.get_mut(&thread)?;
        stack.physical_at(level, stacks.modules, stacks.memory)
    }

    /// Whether any of the addresses is in freed memory.
    fn is_any_freed(&self, addresses: &[Address]) -> bool {
        let reader = self.reader();
        addresses.iter().any(|address| reader.is_freed(address.0))
    }

    /// The children of a value. Unlike [`Inspect::children`], takes registers from the frame in the value, not from the frame as it is now.
    fn children_as_they_are(&self, value: &Value, range: Range<u64>) -> Shown {
        let pages = PageCache::of_request(self.memory());
        let reader = self.reader().over(&pages);
        let children = reader.children(value, None, range);
        render(&reader, children)
    }

    /// The value's text now, if it has changed.
    fn line_now(&self, kept: &Kept) -> Option<String> {
        let full = self.reader();
        let reader = Reader {
            has_pointees: kept.is_full && full.has_pointees,
            looks_at_heap: kept.is_full,
            ..full
        };
        let now = reader.render(&kept.lasting).text;
        (now != kept.rendered.text).then_some(now)
    }

    /// Checks that a value's object still exists, as far as can be known.
    ///
    /// # Errors
    /// Why it doesn't.
    fn require_alive(&mut self, kept: &Kept) -> Result<(), Error> {
        for part in &kept.storage {
            match part {
                Storage::Module(id) => {
                    if !self.modules().iter().any(|module| module.id == *id) {
                        return Err(Error::Refused(
                            "the library that has this value was unloaded".into(),
                        ));
                    }
                }
                Storage::Call(call) => self.require_call(call)?,
            }
        }
        for address in &kept.addresses {
            if self.memory().read(*address, &mut [0]).is_err() {
                return Err(Error::Refused(format!(
                    "this value is no longer readable at {address}"
                )));
            }
        }
        if !kept.freed && self.is_any_freed(&kept.addresses) {
            return Err(Error::Refused(
                "the memory of this value has been freed since it was shown".into(),
            ));
        }
        Ok(())
    }

    fn require_call(&mut self, call: &Call) -> Result<(), Error> {
        match self.follow(call.thread) {
            Ok(()) => {}
            Err(Error::NoSuchThread(thread)) => {
                return Err(Error::Refused(format!(
                    "this value was in a frame of thread {thread}, which has ended"
                )));
            }
            Err(error) => return Err(error),
        }
        match self.find_call(call) {
            Found::Alive | Found::Unknown => Ok(()),
            Found::Ended => Err(Error::Refused(match &call.name {
                Some(name) => format!("the frame of this value has ended: `{name}` has returned"),
                None => "the frame of this value has ended".to_owned(),
            })),
        }
    }

    fn find_call(&mut self, call: &Call) -> Found {
        for level in 0..MOST_FRAMES {
            let Some(frame) = self.physical_frame(call.thread, level) else {
                // No frame has the call's CFA. That no frame has a greater one doesn't matter: the outermost may have no CFA.
                return Found::Ended;
            };
            match frame.cfa {
                Some(cfa) if cfa > call.cfa => return Found::Ended,
                Some(cfa) if cfa == call.cfa => {
                    let now = Call::of(call.thread, &frame, self.memory());
                    return match now.as_ref() == Some(call) {
                        true => Found::Alive,
                        false => Found::Ended,
                    };
                }
                _ => {}
            }
        }
        Found::Unknown
    }
}

impl<T: Inspect + ?Sized> KeptLookup for T {}
