//! Finds the bodies of Rust's `async fn`s.
//!
//! rustc makes two functions of each: `fetch`, which only makes the future, and `fetch::{async_fn#0}`, which runs the
//! body and is called again at each resumption. The latter begins with a jump to the suspension point. The first call
//! jumps to code that moves the arguments to their places in the body, and continues with the body. The future's type,
//! `fetch::{async_fn_env#0}`, is in the same namespace `fetch`. The body is compiled where the future is first polled,
//! which may be in another crate's unit than the function. Async blocks and closures are not handled here: they begin
//! where they are written.

use crate::FileAddress;
use crate::dwarf::entries::Chain;
use crate::dwarf::functions::{FunctionId, Language, file_range};
use crate::dwarf::lines::Row;
use crate::dwarf::name_index::{AnyIndex, EntryKind, NameIndex, OneUnit};
use crate::dwarf::queries::Instance;
use crate::dwarf::scopes::{Variable, VariableKind};
use crate::dwarf::types::TypeId;
use crate::dwarf::{Dwarf, Unit};
use crate::indexing::IndexState;
use dapple_arch::instructions::decoder;
use gimli::{UnitOffset, constants as dw};
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::path::Path;

const FUTURE: &str = "{async_fn_env#";
const BODY: &str = "{async_fn#";
/// How the functions are named that run coroutines' bodies.
const COROUTINES: &[u8] = b"{async_";
/// The number of the first state in which a coroutine is suspended. Those before: it has not begun, has returned, has panicked.
const FIRST_SUSPENSION: usize = 3;
/// How the types of coroutines' states are named.
const STATES: [&str; 3] = [FUTURE, "{async_block_env#", CLOSURE_STATE];
/// How the bodies of async closures are named.
const CLOSURE_BODY: &[u8] = b"{async_closure#";
/// The name of the argument with the waker, which the source doesn't have.
const CONTEXT: &str = "_task_context";
const CLOSURE_STATE: &str = "{async_closure_env#";

/// The base name of a body. The number counts within the `async fn`, which has one body.
pub(crate) const FIRST_BODY: &[u8] = b"{async_fn#0}";

/// The name of the `async fn` that the body of this name belongs to. In Rust's legacy mangling, a body is named like any
/// closure. `None`: the name is neither a body's nor a closure's.
pub(crate) fn written_name(body: &str) -> Option<&str> {
    ["::{async_fn#", "::{{closure}}"]
        .into_iter()
        .find_map(|mark| Some(&body[..body.rfind(mark)?]))
}

impl<'a> Dwarf<'a> {
    /// The type of the future that a function makes. `None`: the function isn't a Rust `async fn`.
    pub(crate) fn future_made(&self, chain: &Chain<'_, 'a>) -> Option<TypeId> {
        self.coroutine_made(chain, FUTURE)
    }

    /// The type that a Rust function returns, if its name starts with `start`.
    fn coroutine_made(&self, chain: &Chain<'_, 'a>, start: &str) -> Option<TypeId> {
        let (unit, _) = chain.links.last()?;
        if unit.language() != Language::Rust {
            return None;
        }
        let (unit, value) = chain.attribute(dw::DW_AT_type)?;
        let future = self.type_id(unit, value)?;
        let name = self.text_of_name(self.unit(future.unit)?, future.offset)?;
        name.starts_with(start.as_bytes()).then_some(future)
    }

    /// Whether the function at an address only makes the future of an `async fn` or async closure.
    pub(crate) fn makes_future(&self, address: u64) -> bool {
        let Some((unit, function)) = self.function_entry_at(address) else {
            return false;
        };
        let chain = self.chain(unit, UnitOffset(function.offset));
        let makes = |start| self.coroutine_made(&chain, start).is_some();
        makes(FUTURE) || makes(CLOSURE_STATE)
    }

    fn text_of_name(&self, unit: &Unit<'a>, offset: usize) -> Option<&'a [u8]> {
        let entry = self.entry(unit, UnitOffset(offset))?;
        self.text(unit, entry.attr_value(dw::DW_AT_name)?)
    }

    /// The bodies of the `async fn` that makes `future`, and the bodies' copies inlined into other functions. Without an
    /// index, searches first the future's own unit. If it has no body, searches the other units that name `file`, in
    /// which the function is written.
    pub(crate) fn bodies(&self, future: TypeId, file: Option<&Path>) -> Vec<Body> {
        let Some(unit) = self.unit(future.unit) else {
            return Vec::new();
        };
        if self.index_state() != IndexState::Missing {
            return self.bodies_among(&AnyIndex(self), unit, future);
        }
        let own = self.bodies_among(&OneUnit(self, unit), unit, future);
        if !own.is_empty() {
            return own;
        }
        let named = file.map(|file| self.units_with_file(file));
        named
            .unwrap_or_default()
            .iter()
            .filter(|named| named.unit.index != unit.index)
            .flat_map(|named| self.bodies_among(&OneUnit(self, named.unit), unit, future))
            .collect()
    }

    /// The bodies that are found in `index`.
    fn bodies_among(&self, index: &dyn NameIndex, unit: &Unit<'a>, future: TypeId) -> Vec<Body> {
        let name = self.text_of_name(unit, future.offset).unwrap_or_default();
        let name = String::from_utf8_lossy(name).replacen(FUTURE, BODY, 1);
        let scopes = self.scope_names(unit, future.offset);
        let base = crate::names::base_of(&name).as_bytes();
        let mut bodies = Vec::new();
        for kind in [EntryKind::Function, EntryKind::InlinedCall] {
            for place in index.entries_named(base, kind) {
                let Some(unit) = self.unit(place.unit) else {
                    continue;
                };
                let chain = self.chain(unit, UnitOffset(place.offset));
                let is_body = self.chain_text(&chain, dw::DW_AT_name) == Some(name.as_bytes())
                    && chain.links.last().is_some_and(|(unit, entry)| {
                        self.scope_names(unit, entry.offset().0) == scopes
                    });
                let body = is_body.then(|| self.body(unit, &chain, kind)).flatten();
                bodies.extend(body);
            }
        }
        bodies
    }

    /// The names of the scopes around an entry, innermost first.
    fn scope_names(&self, unit: &Unit<'a>, offset: usize) -> Vec<Option<&'a [u8]>> {
        let scopes = self.scopes_around(unit, offset);
        let names = scopes.iter().map(|&scope| self.text_of_name(unit, scope));
        names.collect()
    }

    fn body(&self, unit: &Unit<'a>, chain: &Chain<'_, 'a>, kind: EntryKind) -> Option<Body> {
        let (_, own) = chain.links.first()?;
        let ranges = self.code_ranges(unit.part(), own.attrs());
        let start = ranges.first()?.start;
        let (instance, entry, breakpoint) = match kind {
            EntryKind::InlinedCall => {
                let entry = self.inlined_entry(unit, own.attrs(), &ranges)?;
                (self.inlined_instance(chain, start), entry, entry)
            }
            _ => {
                let id = FunctionId {
                    unit: unit.index,
                    offset: own.offset().0,
                };
                (Instance::Function(id), start, self.body_start(start))
            }
        };
        Some(Body {
            name: self.function_name(chain),
            instance,
            entry: FileAddress(entry),
            breakpoint: FileAddress(breakpoint),
            ranges: ranges.iter().map(file_range).collect(),
        })
    }

    /// The address for a breakpoint on the function that starts at `entry`: behind its prologue, and in the body of an
    /// `async fn` also behind the code that moves its arguments. In optimised code, which mixes that code with the body,
    /// the address may be in the middle of it.
    pub(crate) fn body_start(&self, entry: u64) -> u64 {
        let after_prologue = self.after_prologue(entry);
        self.async_body_start(entry, after_prologue)
            .unwrap_or(after_prologue)
    }

    /// The start of the body, behind the code that moves the arguments. `None` if the function is not the body of an
    /// `async fn`, or no such row is found. The row at the end of the prologue has the position of the body's opening
    /// brace, and the rows of the code that moves arguments have positions before it. The first row behind the brace is
    /// taken, by address.
    fn async_body_start(&self, entry: u64, after_prologue: u64) -> Option<u64> {
        let (unit, function) = self.function_entry_at(entry)?;
        let is_body = unit.language() == Language::Rust
            && unit.optimised() != Some(true)
            && self.is_async_body(unit, function.offset);
        let code = function.ranges.first().filter(|_| is_body)?;
        let lines = self.lines(unit);
        let first = lines.row_at(after_prologue)?;
        let (brace, rest) = lines.rows.get(first..)?.split_first()?;
        let is_in_body = |row: &&Row| {
            row.line != 0
                && (row.file != brace.file || (row.line, row.column) > (brace.line, brace.column))
        };
        let rows = rest.iter().take_while(|row| code.contains(&row.address));
        let start = { rows }.find(is_in_body)?;
        Some(start.address)
    }

    /// Whether the function of this entry is the body of an `async fn`.
    pub(crate) fn is_async_body(&self, unit: &Unit<'a>, function: usize) -> bool {
        let chain = self.chain(unit, UnitOffset(function));
        let name = self.chain_text(&chain, dw::DW_AT_name);
        name.is_some_and(|name| name.starts_with(BODY.as_bytes()))
    }

    /// The jumps at the beginning of an unoptimised coroutine's body. `None`: it is another function, or its code isn't understood.
    pub(crate) fn coroutine_dispatch(&self, unit: &Unit<'a>, function: usize) -> Option<Dispatch> {
        let is_coroutine = || {
            let chain = self.chain(unit, UnitOffset(function));
            let name = self.chain_text(&chain, dw::DW_AT_name);
            name.is_some_and(|name| name.starts_with(COROUTINES))
        };
        if unit.language() != Language::Rust || self.is_optimised(unit, function) || !is_coroutine()
        {
            return None;
        }
        let entry = self.index(unit).function_with_offset(function)?;
        let range = entry.ranges.first()?;
        let targets = self.first_jump_table(range.start, self.code(range));
        let resumed = targets.iter().skip(FIRST_SUSPENSION);
        let block = |target: &u64| *target..self.end_of_block(*target, range.end);
        Some(Dispatch {
            begin: *targets.first()?,
            resumptions: resumed.map(block).collect(),
        })
    }

    /// Whether control may come from where the coroutine's body goes on in `state` to `address` without a write to a part of its stack. `base`
    /// has the values of the registers by which the body addresses its stack. `false` if that isn't known.
    pub(crate) fn is_unwritten_since_resumption(
        &self,
        address: u64,
        state: usize,
        slot: &Range<u64>,
        base: &dyn Fn(Register) -> Option<u64>,
    ) -> bool {
        let Some((unit, function)) = self.function_entry_at(address) else {
            return false;
        };
        let dispatch = self.coroutine_dispatch(unit, function.offset);
        let resumed = dispatch.and_then(|dispatch| {
            let block = dispatch
                .resumptions
                .get(state.checked_sub(FIRST_SUSPENSION)?)?;
            Some(block.start)
        });
        let (Some(resumed), Some(range)) = (resumed, function.ranges.first()) else {
            return false;
        };
        let mut unwritten = Unwritten {
            code: (range.start, self.code(range)),
            slot,
            base,
            factory: InstructionInfoFactory::new(),
        };
        unwritten.reaches(resumed, address)
    }

    /// The end of the straight code that begins at an address.
    fn end_of_block(&self, start: u64, limit: u64) -> u64 {
        let mut decoder = decoder(self.code(&(start..limit)), start);
        while decoder.can_decode() {
            if decoder.decode().flow_control() != FlowControl::Next {
                break;
            }
        }
        decoder.ip().min(limit)
    }

    /// The argument of a coroutine's body (that of an `async fn`, an async block or closure) with the pinned reference to its state. The
    /// compiler gives it no name. `None` in any other function.
    pub(crate) fn coroutine_argument(&self, address: u64, inline_depth: usize) -> Option<Variable> {
        let (unit, function) = self.function_entry_at(address)?;
        if unit.language() != Language::Rust {
            return None;
        }
        let blocks = self.blocks(unit, function.offset);
        let &block = blocks.of_frame(address, inline_depth)?.blocks.first()?;
        let arguments = blocks.variables.iter();
        let first = { arguments }.find(|argument| argument.block == block && argument.parameter)?;
        let chain = self.chain(unit, UnitOffset(first.offset));
        let (type_unit, value) = chain.attribute(dw::DW_AT_type)?;
        let type_id = self.type_id(type_unit, value)?;
        let type_name = self.text_of_name(self.unit(type_id.unit)?, type_id.offset)?;
        let type_name = std::str::from_utf8(type_name).ok()?;
        if self.chain_text(&chain, dw::DW_AT_name).is_some() || !is_pinned_coroutine(type_name) {
            return None;
        }
        Some(Variable {
            name: "self".to_owned(),
            type_id: Some(type_id),
            kind: VariableKind::Parameter,
            declaration: None,
            depth: 0,
            artificial: true,
            dropped: false,
            unit: unit.index,
            offset: first.offset,
            function: Some(FunctionId {
                unit: unit.index,
                offset: function.offset,
            }),
        })
    }

    /// Whether a function is the body of an `async fn` or async closure, which moves the arguments before all else.
    fn moves_arguments(&self, unit: &Unit<'a>, function: usize) -> bool {
        let chain = self.chain(unit, UnitOffset(function));
        let name = self.chain_text(&chain, dw::DW_AT_name);
        name.is_some_and(|name| name.starts_with(BODY.as_bytes()) || name.starts_with(CLOSURE_BODY))
    }

    /// In the body of an `async fn` or async closure, removes the variables for the arguments' former places in the future, and unnamed
    /// arguments that a pattern destructures. `block` is the entry of the function or of its inlined copy.
    pub(crate) fn remove_moved_arguments(
        &self,
        unit: &Unit<'a>,
        block: usize,
        variables: &mut Vec<Variable>,
    ) {
        for variable in variables.iter_mut() {
            variable.artificial |= variable.name == CONTEXT;
        }
        let outermost = variables.partition_point(|variable| variable.depth == 0);
        let is_moved: Vec<bool> = variables
            .iter()
            .enumerate()
            .map(|(at, variable)| {
                let inner = || variables.get(outermost..).unwrap_or(&[]).iter();
                is_pattern(&variable.name)
                    || at < outermost && inner().any(|inner| inner.name == variable.name)
            })
            .collect();
        if is_moved.contains(&true) && self.moves_arguments(unit, block) {
            let mut moved = is_moved.into_iter();
            variables.retain(|_| moved.next() != Some(true));
        }
    }
}

/// Whether this is the type of a pinned reference to a coroutine's state.
fn is_pinned_coroutine(type_name: &str) -> bool {
    let state = type_name
        .strip_prefix("Pin<&mut ")
        .or_else(|| type_name.strip_prefix("core::pin::Pin<&mut "));
    state.is_some_and(|state| {
        let base = crate::names::base_of(state.strip_suffix('>').unwrap_or(state));
        STATES.iter().any(|start| base.starts_with(start))
    })
}

/// Whether this is rustc's name for an argument that is a pattern.
fn is_pattern(name: &str) -> bool {
    let number = name.strip_prefix("__arg");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// A walk along a body's control flow, on the paths that don't write a part of its stack.
struct Unwritten<'w> {
    code: (u64, &'w [u8]),
    slot: &'w Range<u64>,
    base: &'w dyn Fn(Register) -> Option<u64>,
    factory: InstructionInfoFactory,
}

impl Unwritten<'_> {
    fn reaches(&mut self, from: u64, to: u64) -> bool {
        let mut seen = FxHashSet::default();
        let mut queue = vec![from];
        let (start, code) = self.code;
        while let Some(at) = queue.pop() {
            let distance = at
                .checked_sub(start)
                .and_then(|by| usize::try_from(by).ok());
            let Some(rest) = distance.and_then(|distance| code.get(distance..)) else {
                continue;
            };
            let mut decoder = decoder(rest, at);
            while decoder.can_decode() {
                let instruction = decoder.decode();
                let here = instruction.ip()..instruction.next_ip();
                if here.contains(&to) {
                    return true;
                }
                if instruction.is_invalid() || !seen.insert(here.start) || self.writes(&instruction)
                {
                    break;
                }
                match instruction.flow_control() {
                    FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {}
                    FlowControl::ConditionalBranch => queue.push(instruction.near_branch_target()),
                    FlowControl::UnconditionalBranch => {
                        queue.push(instruction.near_branch_target());
                        break;
                    }
                    // A jump through a table: nothing is claimed of what is behind it.
                    _ => break,
                }
            }
        }
        false
    }

    /// Whether an instruction writes a part of the stack, or takes its address, as for a call that writes it.
    fn writes(&mut self, instruction: &Instruction) -> bool {
        let overlaps = |base: Register, displacement: u64, size: u64| {
            let start = (self.base)(base).map(|base| base.wrapping_add(displacement));
            start.is_some_and(|start| {
                start < self.slot.end && self.slot.start < start.saturating_add(size.max(1))
            })
        };
        if instruction.mnemonic() == Mnemonic::Lea {
            return overlaps(
                instruction.memory_base(),
                instruction.memory_displacement64(),
                1,
            );
        }
        let info = self.factory.info(instruction);
        let mut used = info.used_memory().iter();
        used.any(|memory| {
            let writes = !matches!(memory.access(), OpAccess::Read | OpAccess::CondRead);
            let size = memory.memory_size().size() as u64;
            writes && overlaps(memory.base(), memory.displacement(), size)
        })
    }
}

/// Where the jump at the beginning of a coroutine's body leads.
pub(crate) struct Dispatch {
    /// The code that runs when the future is polled for the first time.
    pub begin: u64,
    /// The code at which a suspended future goes on, before what it awaits is polled. It has the lines of the `await`s, and usually lower
    /// addresses than these lines' other code.
    pub resumptions: Vec<Range<u64>>,
}

/// A function or inlined copy with the body of an `async fn`.
pub(crate) struct Body {
    pub name: String,
    pub instance: Instance,
    pub entry: FileAddress,
    pub breakpoint: FileAddress,
    pub ranges: Vec<Range<FileAddress>>,
}
