//! Rust futures that were made and haven't begun to run. Such a future has no fixed address: it is moved into the function that spawns it,
//! and from there into the memory of its task. What stays is what it has captured: its arguments. So a future is recognised by its type and
//! by the bytes of these. Two futures of one function with the same arguments do the same. A future in a `Box` stays where it is.

use super::{aggregate, pointee};
use crate::Address;
use crate::frame::{Frame, PhysicalFrame};
use crate::modules::LoadedModule;
use crate::values::rust::captures;
use crate::values::{Contents, Reader, Value, VariableKind};
use dapple_arch::Machine;
use dapple_arch::Memory;
use dapple_arch::registers::Registers;
use dapple_symbols::FileAddress;
use dapple_symbols::functions::{Function, Language};
use dapple_symbols::scopes::Variable;
use dapple_symbols::types::{TypeId, TypeKind};
use std::ops::Range;
use std::sync::Arc;

/// The most bytes of what a future has captured that are compared.
const MOST_BYTES: u64 = 1 << 12;
/// The most parts of what a future has captured that are compared.
const MOST_PARTS: usize = 256;
/// The deepest nesting of these parts.
const MOST_DEPTH: usize = 8;
/// The largest result that a Rust function returns in registers, in bytes. A larger one is written to where the first argument points.
const MOST_IN_REGISTERS: u64 = 16;

/// A parameter of a function by which a future is passed to it.
#[derive(Debug)]
pub struct FutureParameter {
    /// The parameter's number among those of the function.
    pub index: usize,
    /// The function that runs the future's body.
    pub body: Arc<Function>,
    variable: Variable,
    /// The type of the future's state.
    state_type: TypeId,
    is_boxed: bool,
}

/// A future that was made.
#[derive(Debug)]
pub struct MadeFuture {
    /// The address of the function that runs its body.
    pub entry: Address,
    /// The register in which that function gets the address of the state, by its DWARF number.
    register: u16,
    /// Parts of the state: what the future has captured, and the number that says that it hasn't begun.
    parts: Vec<(Range<u64>, Vec<u8>)>,
    /// The address of its state, if it is in a `Box`.
    state: Option<u64>,
}

/// The parameters of the function at `entry` by which it gets futures of `async` functions, blocks and closures. Those whose body has no
/// function of its own are left out.
pub fn future_parameters(loaded: &LoadedModule, entry: FileAddress) -> Vec<FutureParameter> {
    let module = &loaded.module;
    let variables = module.variables_at(module.after_prologue(entry), 0);
    let parameters = { variables }
        .into_iter()
        .filter(|variable| variable.kind == VariableKind::Parameter);
    let of_future = |(index, variable): (usize, Variable)| {
        let type_id = variable.type_id?;
        let boxed = boxed(loaded, type_id);
        let state_type = boxed.unwrap_or(type_id);
        let is_future = captures::is_future(&module.type_of(state_type).ok()?.name);
        let body = is_future
            .then(|| module.body_of_future(state_type))
            .flatten()?;
        Some(FutureParameter {
            index,
            body,
            variable,
            state_type,
            is_boxed: boxed.is_some(),
        })
    };
    parameters.enumerate().filter_map(of_future).collect()
}

/// What a `Box` or a pinned `Box` contains. `None`: the type is another.
fn boxed(loaded: &LoadedModule, type_id: TypeId) -> Option<TypeId> {
    let type_ = loaded.module.type_of(type_id).ok()?;
    let pinned = type_.name.strip_prefix("core::pin::Pin<");
    if !pinned
        .unwrap_or(&type_.name)
        .starts_with("alloc::boxed::Box<")
    {
        return None;
    }
    if pinned.is_some() {
        return pointee(loaded, type_id);
    }
    match type_.kind {
        TypeKind::Pointer(_, target) => target,
        _ => None,
    }
}

impl MadeFuture {
    /// The future that the function at `frame`, which has just begun, was given by its parameter of this number. `None`: it has none there,
    /// or that can't be read.
    pub fn given(
        reader: &Reader<'_>,
        frame: PhysicalFrame,
        parameter: usize,
    ) -> Option<MadeFuture> {
        let loaded = Arc::clone(frame.module.as_ref()?);
        let function = loaded.module.function_at(loaded.to_file(frame.lookup))?;
        let parameters = future_parameters(&loaded, function.entry);
        let found = { parameters }
            .into_iter()
            .find(|it| it.index == parameter)?;
        let frame = Frame::detached(frame, Language::Rust);
        let mut value = reader.variable(&found.variable, &loaded, &frame).value;
        let mut state = None;
        if found.is_boxed {
            let address = reader.word(&value.contents).ok()?;
            value = value.sibling(Some(found.state_type), Contents::Memory(Address(address)));
            state = Some(address);
        }
        let result = loaded.module.result_of(found.body.id);
        let result = result.and_then(|result| loaded.module.strip_aliases(result.type_id?).ok()?);
        let is_large = result.and_then(|result| result.size) > Some(MOST_IN_REGISTERS);
        // The place of a large result is passed like an argument, but on aarch64.
        let machine = loaded.module.machine();
        let is_first = !is_large || machine == Machine::Aarch64;
        Some(MadeFuture {
            entry: loaded.to_process(found.body.entry),
            register: machine.arguments()[usize::from(!is_first)],
            parts: parts(reader, &value)?,
            state,
        })
    }

    /// Whether the function at [`MadeFuture::entry`], which a thread with these registers is about to execute, runs this future.
    pub fn is_begun(&self, registers: &Registers, memory: &dyn Memory) -> bool {
        let Some(state) = registers.get(self.register) else {
            return false;
        };
        if self.state.is_some_and(|own| own != state) {
            return false;
        }
        self.parts.iter().all(|(place, wanted)| {
            let mut bytes = vec![0; wanted.len()];
            let start = Address(state.wrapping_add(place.start));
            memory.read(start, &mut bytes).is_ok() && bytes == *wanted
        })
    }
}

/// The parts of a state that identify the future, with their contents. `None`: the state can't be read, or the future has begun.
fn parts(reader: &Reader<'_>, state: &Value) -> Option<Vec<(Range<u64>, Vec<u8>)>> {
    let type_ = reader.resolve(state)?.type_;
    let coroutine = aggregate(&type_)?.variants.as_ref()?;
    // The places are those in a state at address 0.
    let placed = state.sibling(state.type_id, Contents::Memory(Address(0)));
    let mut places = Vec::new();
    let unresumed = coroutine.variants.first()?;
    let captured = reader.member(&placed, &unresumed.member);
    collect(reader, &captured, MOST_DEPTH, &mut places);
    places.sort_by_key(|place| place.start);
    let mut left = MOST_BYTES;
    places.retain(|place| {
        let length = place.end - place.start;
        let fits = length <= left;
        left -= if fits { length } else { 0 };
        fits
    });
    let number = reader.member(&placed, coroutine.discriminant.as_ref()?);
    let start = number.contents.address()?.0;
    let size = reader.size_of(&number).filter(|size| *size <= 8)?;
    places.push(start..start.checked_add(size)?);
    let whole = match state.contents.address() {
        Some(_) => Vec::new(),
        None => reader.bytes(&state.contents, reader.size_of(state)?).ok()?,
    };
    let read = |place: Range<u64>| {
        let bytes = match state.contents.address() {
            Some(base) => {
                let at = Contents::Memory(Address(base.0.checked_add(place.start)?));
                reader.bytes(&at, place.end - place.start).ok()?
            }
            None => {
                let place = usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?;
                whole.get(place)?.to_vec()
            }
        };
        Some((place, bytes))
    };
    places.into_iter().map(read).collect()
}

/// Adds the places of a value's parts, without the bytes between them, which nothing keeps.
fn collect(reader: &Reader<'_>, value: &Value, depth: usize, places: &mut Vec<Range<u64>>) {
    let Some(resolved) = reader.resolve(value).filter(|_| places.len() < MOST_PARTS) else {
        return;
    };
    if let TypeKind::Aggregate(parts) = &resolved.type_.kind
        && parts.variants.is_none()
        && let Some(depth) = depth.checked_sub(1)
    {
        for member in &parts.members {
            collect(reader, &reader.member(value, member), depth, places);
        }
        return;
    }
    let start = value.contents.address();
    let place = start.zip(reader.size_of(value));
    let place = place.and_then(|(start, size)| Some(start.0..start.0.checked_add(size)?));
    places.extend(place.filter(|place| !place.is_empty()));
}

/// The name of the function that makes the future whose body has this name: `one::leaf::{async_fn#0}<T>` → `one::leaf`. `None`: it is the
/// body of a block.
pub fn maker_of(body: &str) -> Option<&str> {
    const MARK: &str = "::{async_fn#";
    let (maker, rest) = body.split_at(body.rfind(MARK)?);
    // Behind the mark are the number, and generic arguments.
    let (_, behind) = rest[MARK.len()..].split_once('}')?;
    (behind.is_empty() || behind.starts_with('<')).then_some(maker)
}
