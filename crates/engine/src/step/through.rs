//! Steps through library code to the user code that it calls: the comparison of a sort, the closure of an iterator's `map`.
//!
//! A step into that comes to a function without user source does not single-step through it, which may take millions of instructions.
//! Instead it disassembles that function, and the library functions that it calls, to find the *gates*: the entry of each user function
//! that one of these calls or that is passed in a register, the places where user code was inlined, and each call or jump whose target is
//! only known when it is made. The thread runs until it is at a gate, or has returned.

use super::Context;
use super::position::Position;
use crate::Address;
use dapple_arch::Machine;
use dapple_arch::code::{Flow, Instructions};
use dapple_arch::instructions::{INSTRUCTION_POINTER, decoder};
use dapple_arch::registers::Registers;
use dapple_inspect::modules::LoadedModule;
use dapple_symbols::FileAddress;
use iced_x86::{Mnemonic, OpKind, Register};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// How many functions are disassembled for one call into a library.
const FUNCTIONS: usize = 512;
/// The largest code range that is disassembled, in bytes.
const FUNCTION: u64 = 1 << 16;
/// A gate is removed after this many arrivals: none of them has led to user code.
const PATIENCE: u32 = 64;

/// What a gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// User code begins here.
    Users,
    /// A call or jump to the address in a register or in memory, or to a retpoline.
    Indirect,
}

/// The gates found so far.
#[derive(Debug, Default)]
pub(super) struct Gates {
    gates: FxHashMap<Address, (Gate, u32)>,
    seen: FxHashSet<Address>,
    /// Only the user's own code is wanted, not that of dependencies.
    own_only: bool,
}

impl Gates {
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    pub fn clear(&mut self) {
        self.gates.clear();
        self.seen.clear();
        self.own_only = false;
    }

    /// From here on, code of dependencies is like that of libraries.
    pub fn want_own_only(&mut self) {
        self.own_only = true;
    }

    /// Whether code at a place is wanted.
    pub fn want(&self, at: &Position) -> bool {
        at.in_users && (at.own || !self.own_only)
    }

    /// Whether a wanted function begins at an address.
    fn want_entry(&self, address: Address, cx: &Context<'_>) -> bool {
        is_users_entry(address, cx)
            && (!self.own_only || cx.places.at(address, cx.modules).is_some_and(|at| at.own))
    }

    pub fn addresses(&self) -> impl Iterator<Item = Address> {
        self.gates.keys().copied()
    }

    /// Adds user functions by their entry addresses.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = Address>) {
        let users = entries.into_iter().map(|entry| (entry, (Gate::Users, 0)));
        self.gates.extend(users);
    }

    /// Removes the gates that lead neither to coroutines' bodies nor to awaiters.
    pub fn retain_coroutines(&mut self, keeps_indirect: bool, cx: &Context<'_>) {
        self.gates.retain(|address, (gate, _)| match gate {
            Gate::Indirect => keeps_indirect,
            Gate::Users => {
                let at = cx.places.at(*address, cx.modules);
                at.is_some_and(|at| {
                    let mut names = at.names();
                    at.coroutine.is_some() || names.any(|name| name.ends_with("::await_suspend"))
                })
            }
        });
    }

    /// Counts an arrival at `address`, and returns the gate there.
    pub fn pass(&mut self, address: Address) -> Option<Gate> {
        let (gate, passed) = self.gates.get_mut(&address)?;
        let gate = *gate;
        *passed += 1;
        if *passed >= PATIENCE {
            self.gates.remove(&address);
        }
        Some(gate)
    }

    /// Adds the gates in the function at `start` of `module`, which is being executed or about to be, and in its callees in the same
    /// module. Also adds the user functions whose entries are in argument registers.
    pub fn explore(&mut self, module: &LoadedModule, start: Address, cx: &Context<'_>) {
        self.add_callbacks(cx);
        // A distribution's library has no instances of the user's templates, and its debug information takes long to read.
        let foreign = module.is_distributions() || module.is_vdso();
        let mut queue = if foreign { Vec::new() } else { vec![start] };
        while let Some(function) = queue.pop() {
            if self.seen.len() < FUNCTIONS && self.seen.insert(function) {
                self.read(function, cx, &mut queue);
            }
        }
    }

    /// Adds the user functions whose entries are in argument registers: a library without debug information calls back functions that were
    /// passed to it.
    pub fn add_callbacks(&mut self, cx: &Context<'_>) {
        for address in callbacks(&cx.registers) {
            if self.want_entry(address, cx) {
                self.gates.entry(address).or_insert((Gate::Users, 0));
            }
        }
    }

    fn read(&mut self, entry: Address, cx: &Context<'_>, queue: &mut Vec<Address>) {
        let Some(at) = cx.places.at(entry, cx.modules) else {
            return;
        };
        let ranges = code_of(&at);
        for range in &ranges {
            if range.end.0.saturating_sub(range.start.0) > FUNCTION {
                continue;
            }
            self.read_rows(&at, range, cx);
            let length = (range.end.0 - range.start.0) as usize;
            let bytes = at.module.code_in_file(range.start, length);
            let start = at.module.to_process(range.start);
            let mut before = 0;
            for instruction in Instructions::flows(cx.modules.instruction_set(start), bytes, start)
            {
                let from = instruction.address;
                let into = |address: Address| {
                    let offset = usize::try_from(address.0.wrapping_sub(start.0)).ok();
                    offset.and_then(|offset| bytes.get(offset..)).unwrap_or(&[])
                };
                let target = match instruction.flow {
                    Flow::Call(Some(target)) => Target::Known(target),
                    Flow::Jump(Some(target)) => {
                        let file = at.module.to_file(target);
                        match ranges.iter().any(|r| r.contains(&file)) {
                            true => Target::None,
                            false => Target::Known(target),
                        }
                    }
                    Flow::Call(None) => indirect(into(from), from, cx),
                    Flow::Jump(None) if !is_of_switch(into(Address(before)), cx) => {
                        indirect(into(from), from, cx)
                    }
                    _ => Target::None,
                };
                before = from.0;
                self.add(target, from, cx, queue);
            }
        }
    }

    fn add(&mut self, target: Target, from: Address, cx: &Context<'_>, queue: &mut Vec<Address>) {
        match target {
            Target::None => {}
            Target::Unknown => {
                self.gates.entry(from).or_insert((Gate::Indirect, 0));
            }
            Target::Known(target) if self.want_entry(target, cx) => {
                self.gates.entry(target).or_insert((Gate::Users, 0));
            }
            Target::Known(target) => {
                let Some(module) = cx.modules.at(target) else {
                    return;
                };
                // A linkage stub leads to another library, which knows user code only by its arguments.
                let here = cx.modules.at(from).is_some_and(|m| m.id == module.id);
                if super::code::is_retpoline(module, module.to_file(target)) {
                    self.gates.entry(from).or_insert((Gate::Indirect, 0));
                    return;
                }
                if here && !super::code::is_stub(module, module.to_file(target)) {
                    queue.push(target);
                }
            }
        }
    }

    /// Adds a gate where each stretch of user code that was inlined into the library's begins.
    fn read_rows(&mut self, at: &Position, range: &Range<FileAddress>, cx: &Context<'_>) {
        let mut users_before = false;
        for row in at.module.module.rows_in(range.clone()) {
            let users = row.line != 0
                && cx.places.is_users(&row.file)
                && cx
                    .places
                    .at(at.module.to_process(row.range.start), cx.modules)
                    .is_some_and(|at| at.users && self.want(&at));
            if users && row.is_stmt && !users_before {
                let address = at.module.to_process(row.range.start);
                self.gates.entry(address).or_insert((Gate::Users, 0));
            }
            users_before = users && (row.is_stmt || users_before);
        }
    }
}

/// Where a call or a jump goes.
enum Target {
    /// Nowhere of interest: it is no call or jump, or stays within its function.
    None,
    /// To this address.
    Known(Address),
    /// Only known when it is made.
    Unknown,
}

/// Whether a jump by a register belongs to a `switch`: the instruction before it has added up the address. On aarch64 and riscv64, any is taken for
/// one.
fn is_of_switch(before: &[u8], cx: &Context<'_>) -> bool {
    match cx.modules.machine() {
        Machine::X86_64 => decoder(before, 0).decode().mnemonic() == Mnemonic::Add,
        _ => true,
    }
}

/// Where a call or a jump goes whose target isn't in the instruction, with which `code` begins.
fn indirect(code: &[u8], at: Address, cx: &Context<'_>) -> Target {
    if cx.modules.machine() != Machine::X86_64 {
        return Target::Unknown;
    }
    let instruction = decoder(code, at.0).decode();
    if instruction.op0_kind() != OpKind::Memory {
        return Target::Unknown;
    }
    if instruction.memory_base() == INSTRUCTION_POINTER {
        // Usually a slot of the global offset table, which the dynamic linker has filled; or a static function pointer, whose current value
        // is taken. A slot that is zero or unreadable says nothing.
        let slot = Address(instruction.ip_rel_memory_address());
        return match cx.memory.read_address(slot) {
            Ok(target) if target != 0 => Target::Known(Address(target)),
            _ => Target::Unknown,
        };
    }
    match instruction.memory_index() {
        Register::None => Target::Unknown,
        // The jump table of a `switch`.
        _ => Target::None,
    }
}

/// The code of the function at `at`, from debug information or the symbol table.
fn code_of(at: &Position) -> Vec<Range<FileAddress>> {
    if let Some(function) = &at.function {
        return function.ranges.clone();
    }
    match at.module.module.symbol_at(at.address) {
        Some(symbol) if symbol.size > 0 => {
            let end = FileAddress(symbol.address.0.saturating_add(symbol.size));
            vec![symbol.address..end]
        }
        _ => Vec::new(),
    }
}

fn callbacks(registers: &Registers) -> impl Iterator<Item = Address> + '_ {
    let arguments = registers.machine().arguments().iter();
    let values = arguments.filter_map(|number| registers.get(*number));
    values.map(|value| registers.machine().code_address(value))
}

pub(super) fn is_users_entry(address: Address, cx: &Context<'_>) -> bool {
    if cx.modules.at(address).is_none_or(|m| m.is_distributions()) {
        return false;
    }
    let at = cx.places.at(address, cx.modules);
    at.is_some_and(|at| at.is_entry() && at.row.is_some() && at.in_users)
}
