//! The bodies of Rust's coroutines: of `async fn`s, async blocks and async closures. They begin with a jump to the place
//! where the coroutine was suspended, by the number that tells its state. Variables that are used behind an `await` are
//! kept in the state, the others on the stack of the moment.

use crate::dwarf::async_functions::{BODY, FUTURE};
use crate::dwarf::functions::{FunctionId, Language};
use crate::dwarf::scopes::{Variable, VariableKind};
use crate::dwarf::{Dwarf, Unit};
use dapple_arch::instructions::decoder;
use gimli::{UnitOffset, constants as dw};
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register};
use std::ops::Range;

/// How the functions are named that run coroutines' bodies. The second name is that of an async closure's body that owns what the closure has
/// captured.
const COROUTINES: [&str; 2] = ["{async_", "{synthetic#"];
/// How the bodies of async closures are named.
const CLOSURE_BODY: &str = "{async_closure#";
/// How the types of async closures' states are named.
pub(crate) const CLOSURE_STATE: &str = "{async_closure_env#";
/// How the types of coroutines' states are named.
const STATES: [&str; 3] = [FUTURE, "{async_block_env#", CLOSURE_STATE];
/// The number of the first state in which a coroutine is suspended. Those before: it has not begun, has returned, has
/// panicked.
const FIRST_SUSPENSION: usize = 3;
/// The name of the argument with the waker, which the source doesn't have.
const CONTEXT: &str = "_task_context";

/// Where the jump at the beginning of a coroutine's body leads.
#[derive(Debug, Clone)]
pub(crate) struct Dispatch {
    /// The code up to the jump. It has the line on which the body opens, and runs each time the future is polled.
    pub head: Range<u64>,
    /// The code that runs when the future is polled for the first time.
    pub begin: u64,
    /// The code at which a suspended future goes on, before what it awaits is polled. It has the lines of the `await`s, and
    /// usually lower addresses than these lines' other code.
    pub resumptions: Vec<Range<u64>>,
}

impl<'a> Dwarf<'a> {
    /// The jumps at the beginning of an unoptimised coroutine's body. `None`: it is another function, or its code isn't
    /// understood. Cached with the function's blocks.
    pub(crate) fn coroutine_dispatch(&self, unit: &Unit<'a>, function: usize) -> Option<Dispatch> {
        if unit.language() != Language::Rust || !self.is_called(unit, function, &COROUTINES) {
            return None;
        }
        let blocks = self.blocks(unit, function);
        let found = || self.find_dispatch(unit, function);
        blocks.dispatch.get_or_init(found).clone()
    }

    fn find_dispatch(&self, unit: &Unit<'a>, function: usize) -> Option<Dispatch> {
        if self.is_optimised(unit, function) {
            return None;
        }
        let entry = self.index(unit).function_with_offset(function)?;
        let range = entry.ranges.first()?;
        let targets = self.first_jump_table(range.start, self.x86_code(range));
        let resumed = targets.iter().skip(FIRST_SUSPENSION);
        let block = |target: &u64| *target..self.end_of_block(*target, range.end);
        Some(Dispatch {
            head: range.start..self.end_of_block(range.start, range.end),
            begin: *targets.first()?,
            resumptions: resumed.map(block).collect(),
        })
    }

    /// Whether control may come from where the coroutine's body goes on in `state` to `address` without a write to a part
    /// of its stack. `base` has the values of the registers by which the body addresses its stack. `false` if that isn't
    /// known.
    pub(crate) fn is_unwritten_since_resumption(
        &self,
        address: u64,
        state: usize,
        slot: &Range<u64>,
        base: &dyn Fn(Register) -> Option<u64>,
    ) -> bool {
        let Some((_, function)) = self.function_entry_at(address) else {
            return false;
        };
        let writes = |instruction: &Instruction| writes(instruction, slot, base);
        self.resumption(address, state)
            .is_some_and(|resumed| self.leads_to(&function.ranges, resumed.start, address, &writes))
    }

    /// The code at which the coroutine whose body is at `address` goes on in `state`. `None` if that isn't known.
    pub(crate) fn resumption(&self, address: u64, state: usize) -> Option<Range<u64>> {
        let (unit, function) = self.function_entry_at(address)?;
        let dispatch = self.coroutine_dispatch(unit, function.offset)?;
        let suspension = state.checked_sub(FIRST_SUSPENSION)?;
        dispatch.resumptions.get(suspension).cloned()
    }

    /// The end of the straight code that begins at an address.
    fn end_of_block(&self, start: u64, limit: u64) -> u64 {
        let mut decoder = decoder(self.x86_code(&(start..limit)), start);
        while decoder.can_decode() {
            if decoder.decode().flow_control() != FlowControl::Next {
                break;
            }
        }
        decoder.ip().min(limit)
    }

    /// The argument of a coroutine's body with the pinned reference to its state. The compiler gives it no name. `None` in
    /// any other function.
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

    /// In the body of an `async fn` or async closure, which moves its arguments before all else, removes the variables for
    /// their former places in the future, and unnamed arguments that a pattern destructures. `block` is the entry of the
    /// function or of its inlined copy.
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
        if is_moved.contains(&true) && self.is_called(unit, block, &[BODY, CLOSURE_BODY]) {
            let mut moved = is_moved.into_iter();
            variables.retain(|_| moved.next() != Some(true));
        }
    }
}

/// Whether an instruction writes a part of the stack, or takes its address, as for a call that writes it.
fn writes(
    instruction: &Instruction,
    slot: &Range<u64>,
    base: &dyn Fn(Register) -> Option<u64>,
) -> bool {
    let overlaps = |register: Register, displacement: u64, size: u64| {
        let start = base(register).map(|base| base.wrapping_add(displacement));
        start
            .is_some_and(|start| start < slot.end && slot.start < start.saturating_add(size.max(1)))
    };
    if instruction.mnemonic() == Mnemonic::Lea {
        let (register, displacement) = (
            instruction.memory_base(),
            instruction.memory_displacement64(),
        );
        return overlaps(register, displacement, 1);
    }
    let mut factory = InstructionInfoFactory::new();
    let mut used = factory.info(instruction).used_memory().iter();
    used.any(|memory| {
        let writes = !matches!(memory.access(), OpAccess::Read | OpAccess::CondRead);
        let size = memory.memory_size().size() as u64;
        writes && overlaps(memory.base(), memory.displacement(), size)
    })
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
