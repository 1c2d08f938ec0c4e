//! The calls of a line: what a step into could enter, for the user to select from.
//!
//! The line's code is disassembled from where the thread is, along every path that a step over could take. This finds the calls without
//! running anything. A call through a pointer is named as it is written in the source, since its target is only known when it is made.

use super::position::Position;
use super::spawned::{self, Found};
use super::{Context, Step, code, source};
use crate::Address;
use crate::step::options::{Callee, StepTarget};
use crate::step::options::{Pace, StepKind};
use dapple_arch::Machine;
use dapple_arch::code::{Flow, Instructions};
use dapple_arch::instructions::{
    GENERAL, INSTRUCTION_POINTER, LONGEST, decoder, is_kept_by_callees,
};
use dapple_symbols::functions::{InlinedCall, SourcePosition};
use dapple_symbols::module::demangle_short;
use dapple_symbols::names::{call_label, short_name};
use iced_x86::{
    Code, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// How many instructions of a line are read.
const INSTRUCTIONS: usize = 1 << 13;
/// How many jumps are followed from a call's target to the real callee.
const JUMPS: usize = 4;
/// Functions that compilers call on their own: nobody wants to step into them.
const UNWRITTEN: [&str; 10] = [
    "core::panicking::",
    "__stack_chk_fail",
    "__chk_fail",
    "_Unwind_",
    "__cxa_",
    "__gxx_personality",
    "__asan_",
    "__ubsan_",
    "__tsan_",
    "mcount",
];

/// The calls of the line at which the thread is stopped, sorted by address from there on, which mostly is the order of execution. The
/// thread has not entered the innermost `before` of the inlined calls there.
pub fn targets(cx: &Context<'_>, before: usize) -> Vec<StepTarget> {
    let step = Step::standing(StepKind::Over, cx, before, Pace::Usual);
    let Some(pc) = cx.registers.pc().filter(|_| step.line != 0) else {
        return Vec::new();
    };
    let mut walk = Walk {
        step: &step,
        cx,
        start: pc,
        seen: FxHashSet::default(),
        ways: vec![(pc, Known::of(cx))],
        found: Vec::new(),
    };
    while let Some((way, known)) = walk.ways.pop() {
        walk.follow(way, known);
    }
    // Code before `pc` is only reached by a jump back: it comes last.
    walk.found
        .sort_by_key(|found| (found.place < pc, found.place));
    spawned::merge(walk.found)
}

/// The values of general registers, as far as they are certain.
#[derive(Clone, Default)]
struct Known(FxHashMap<Register, u64>);

impl Known {
    /// The values where the thread is stopped.
    fn of(cx: &Context<'_>) -> Known {
        let named = GENERAL.iter().zip(0..);
        Known(
            named
                .filter_map(|(register, number)| Some((*register, cx.registers.get(number)?)))
                .collect(),
        )
    }

    fn of_register(&self, register: Register) -> Option<Address> {
        self.0.get(&register).copied().map(Address)
    }

    /// Applies an instruction: the registers that it changes are no longer known, except for one into which it loads the address `loaded`.
    fn after(&mut self, instruction: &Instruction, loaded: Option<Address>) {
        if matches!(
            instruction.flow_control(),
            FlowControl::Call | FlowControl::IndirectCall
        ) {
            return self.0.retain(|register, _| is_kept_by_callees(*register));
        }
        for used in InstructionInfoFactory::new()
            .info(instruction)
            .used_registers()
        {
            use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
            if matches!(used.access(), Write | CondWrite | ReadWrite | ReadCondWrite) {
                self.0.remove(&used.register().full_register());
            }
        }
        if let Some(loaded) = loaded {
            self.0.insert(instruction.op0_register(), loaded.0);
        }
    }
}

/// Where a call or a jump out of the function goes.
enum Goes {
    There(Address),
    /// Only known when it is made.
    Somewhere,
}

struct Walk<'a> {
    step: &'a Step,
    cx: &'a Context<'a>,
    start: Address,
    seen: FxHashSet<Address>,
    /// The paths yet to be followed: where each begins, with the registers known there.
    ways: Vec<(Address, Known)>,
    found: Vec<Found>,
}

impl Walk<'_> {
    /// Reads on from `pc` to the end of the line, or to code that was read before.
    fn follow(&mut self, mut pc: Address, mut known: Known) {
        let machine = self.cx.modules.machine();
        let mut last = None;
        let mut before = Mnemonic::INVALID;
        while self.seen.len() < INSTRUCTIONS && self.seen.insert(pc) {
            let Some(at) = self.cx.places.at(pc, self.cx.modules) else {
                return;
            };
            if at.function_id() != self.step.function || (pc != self.start && !self.belongs(&at)) {
                return;
            }
            let outer = self.common(&at);
            self.note_inlined(&at, outer);
            let mut buffer = Vec::new();
            let bytes = code::bytes_at(pc, LONGEST, &mut buffer, self.cx.modules, self.cx.memory);
            let Some(decoded) = code::decode_behind(last, pc, self.cx.modules, self.cx.memory)
            else {
                return;
            };
            last = Some(pc);
            // What x86-64's instructions do besides is known.
            let instruction = match machine {
                Machine::X86_64 => decoder(bytes, pc.0).decode(),
                _ => Instruction::default(),
            };
            match decoded.flow {
                Flow::Next | Flow::Kernel => {}
                Flow::Call(Some(target)) => self.note_call(&at, outer, pc, Goes::There(target)),
                Flow::Call(None) => {
                    let goes = self.indirect(&instruction, &known);
                    self.note_call(&at, outer, pc, goes);
                }
                Flow::Branch(target) if self.is_own(target) => {
                    self.ways.push((target, known.clone()));
                }
                Flow::Branch(target) => {
                    self.note_call(&at, outer, pc, Goes::There(target));
                }
                Flow::Jump(Some(target)) if self.is_own(target) => {
                    pc = target;
                    continue;
                }
                Flow::Jump(Some(target)) => {
                    return self.note_call(&at, outer, pc, Goes::There(target));
                }
                Flow::Jump(None) | Flow::Return if decoded.is_conditional => {}
                Flow::Jump(None) if machine != Machine::X86_64 => return,
                Flow::Jump(None) => {
                    // A jump to an address that was just added up, or to an indexed one, belongs to a `switch`.
                    let chosen = before == Mnemonic::Add
                        || instruction.memory_index() != Register::None
                        || (instruction.op0_kind() == OpKind::Register && has_notrack(bytes));
                    if !chosen {
                        let goes = self.indirect(&instruction, &known);
                        self.note_call(&at, outer, pc, goes);
                    }
                    return;
                }
                Flow::Other
                    if matches!(
                        instruction.flow_control(),
                        FlowControl::XbeginXabortXend | FlowControl::Interrupt
                    ) => {}
                Flow::Return | Flow::Other => return,
            }
            before = instruction.mnemonic();
            if machine == Machine::X86_64 {
                known.after(&instruction, self.loaded(&instruction));
            }
            pc = decoded.next();
        }
    }

    /// How many of the inlined calls around the line are also around a place.
    fn common(&self, at: &Position) -> usize {
        let pairs = self.step.inlined.iter().zip(&at.inlined);
        pairs.take_while(|(a, b)| a.ranges == b.ranges).count()
    }

    /// Whether a step over the line would not stop at a place.
    fn belongs(&self, at: &Position) -> bool {
        let outer = self.common(at);
        if outer < self.step.inlined.len() {
            return false;
        }
        if let Some(call) = at.inlined.get(outer) {
            return self.is_of_line(call) || !begins(call, at);
        }
        !at.begins_statement()
            || !(at.users || self.step.any_source)
            || at.row.as_ref().is_some_and(|row| {
                row.line == self.step.line && Some(&row.file) == self.step.file.as_ref()
            })
    }

    fn is_of_line(&self, call: &InlinedCall) -> bool {
        call.call_site.as_ref().is_some_and(|site| {
            site.line == self.step.line && Some(&site.file) == self.step.file.as_ref()
        })
    }

    fn is_own(&self, target: Address) -> bool {
        let at = self.cx.places.at(target, self.cx.modules);
        at.is_some_and(|at| at.function_id() == self.step.function)
    }

    /// Notes the inlined calls of the line that a place is in: the one that is written on the line, and if that is a library's, the first
    /// inside it that is the user's.
    fn note_inlined(&mut self, at: &Position, outer: usize) {
        if outer < self.step.inlined.len()
            || !at
                .inlined
                .get(outer)
                .is_some_and(|call| self.is_of_line(call))
        {
            return;
        }
        let mut users = false;
        for depth in outer..at.inlined.len() {
            let call = &at.inlined[depth];
            let Some(code) = call.ranges.first().filter(|_| !users) else {
                return;
            };
            users = match at.inlined.get(depth + 1).map(|inner| &inner.call_site) {
                Some(Some(site)) => self.cx.places.is_users(&site.file),
                Some(None) => false,
                None => at.users,
            };
            if depth > outer && !users {
                continue;
            }
            let into = Callee::Inlined {
                start: at.module.to_process(code.start),
                depth,
            };
            // The thread is in it already.
            let begun = code.start < at.module.to_file(self.start)
                && call
                    .ranges
                    .iter()
                    .any(|r| r.contains(&at.module.to_file(self.start)))
                && self.cx.position().is_some_and(|here| {
                    here.inlined
                        .get(depth)
                        .is_some_and(|c| c.ranges == call.ranges)
                });
            let known = self.found.iter().any(|found| found.target.into == into);
            if !known && !begun {
                let target = target(into, short_name(&call.name), call.call_site.clone());
                self.found.push(Found {
                    place: at.module.to_process(at.address),
                    target,
                    function: call.name.clone(),
                });
            }
        }
    }

    /// Notes a call if the line itself makes it, or if library code inlined into the line makes it to user code.
    fn note_call(&mut self, at: &Position, outer: usize, pc: Address, goes: Goes) {
        let within = at.inlined.get(outer);
        let own = within.is_none()
            && at.row.as_ref().is_some_and(|row| {
                row.line == self.step.line && Some(&row.file) == self.step.file.as_ref()
            });
        let from_library =
            within.is_some_and(|call| self.is_of_line(call)) && !at.users && !self.step.any_source;
        if !own && !from_library {
            return;
        }
        let position = at.row.as_ref().map(|row| SourcePosition {
            file: Arc::clone(&row.file),
            line: row.line,
            column: row.column,
        });
        let called = match goes {
            Goes::There(target) => self.called(target),
            Goes::Somewhere => None,
        };
        let mut entry = None;
        let name = match called {
            Some((address, name)) => {
                entry = Some(address);
                if UNWRITTEN.iter().any(|start| name.starts_with(start))
                    || (!own && !super::through::is_users_entry(address, self.cx))
                {
                    return;
                }
                name
            }
            None if !own => return,
            None => position
                .as_ref()
                .and_then(source::called_at)
                .unwrap_or_else(|| "a function by its address".to_owned()),
        };
        let position = match own {
            true => position,
            false => within.and_then(|call| call.call_site.clone()),
        };
        let into = Callee::Called { from: pc };
        let target = target(into, name, position);
        let module = entry.and_then(|entry| Some((entry, self.cx.modules.at(entry)?)));
        let module = module.filter(|(_, module)| !module.is_distributions());
        let passed = module.map(|(entry, module)| spawned::passed(pc, entry, &target, module));
        let function = module.and_then(|(entry, module)| {
            let function = module.module.function_at(module.to_file(entry))?;
            Some(function.name.clone())
        });
        self.found.push(Found {
            place: pc,
            target,
            function: function.unwrap_or_default(),
        });
        self.found.extend(passed.into_iter().flatten());
    }

    /// The target of an indirect call, as far as it is known already.
    fn indirect(&self, instruction: &Instruction, known: &Known) -> Goes {
        let target = match instruction.op0_kind() {
            OpKind::Register => known.of_register(instruction.op0_register()),
            OpKind::Memory => self.in_table(instruction),
            _ => None,
        };
        let code = target.filter(|target| self.cx.modules.at(*target).is_some());
        code.map_or(Goes::Somewhere, Goes::There)
    }

    /// The address in the entry of the global offset table that an instruction reads, if it reads one that is filled.
    fn in_table(&self, instruction: &Instruction) -> Option<Address> {
        if instruction.memory_base() != INSTRUCTION_POINTER {
            return None;
        }
        let slot = Address(instruction.ip_rel_memory_address());
        let module = self.cx.modules.at(slot)?;
        let section = module.module.section_at(module.to_file(slot))?;
        let target = self
            .cx
            .memory
            .read_address(slot)
            .ok()
            .filter(|target| *target != 0);
        target.filter(|_| section.starts_with(".got")).map(Address)
    }

    /// The address that an instruction loads from the global offset table, or computes relative to the instruction pointer.
    fn loaded(&self, instruction: &Instruction) -> Option<Address> {
        match instruction.code() {
            Code::Mov_r64_rm64 if instruction.op1_kind() == OpKind::Memory => {
                self.in_table(instruction)
            }
            Code::Lea_r64_m if instruction.memory_base() == INSTRUCTION_POINTER => {
                Some(Address(instruction.ip_rel_memory_address()))
            }
            _ => None,
        }
    }

    /// The function that a call goes to, and its name; `None` if that is only known when the call is made.
    fn called(&self, mut target: Address) -> Option<(Address, String)> {
        for _ in 0..JUMPS {
            let Some(module) = self.cx.modules.at(target) else {
                break;
            };
            let file = module.to_file(target);
            if code::is_retpoline(module, file) {
                return None;
            }
            if code::is_linkage_stub(module, file)
                && let Some(symbol) = module.module.symbol_at(file)
            {
                let name = symbol.name.split('@').next().unwrap_or(&symbol.name);
                return Some((target, demangle_short(name)));
            }
            if !code::is_stub(module, file) {
                break;
            }
            // A thunk: it adjusts an argument, and jumps.
            let bytes = module.code_in_file(file, 4 * LONGEST);
            let code = Instructions::flows(self.cx.modules.instruction_set(target), bytes, target);
            let jump = { code.map(|it| it.flow) }.find_map(|flow| match flow {
                Flow::Jump(target) => target,
                _ => None,
            });
            match jump {
                Some(jump) => target = jump,
                None => break,
            }
        }
        let unnamed = || (target, target.to_string());
        let Some(module) = self.cx.modules.at(target) else {
            return Some(unnamed());
        };
        let file = module.to_file(target);
        if module.is_distributions() {
            // Its debug information takes long to read.
            let symbol = module.module.symbol_at(file);
            return Some(symbol.map_or_else(unnamed, |s| (target, demangle_short(&s.name))));
        }
        if let Some(function) = module.module.function_at(file) {
            return Some((target, short_name(&function.name)));
        }
        let symbol = module.module.symbol_at(file);
        Some(symbol.map_or_else(unnamed, |s| (target, demangle_short(&s.name))))
    }
}

fn target(into: Callee, name: String, position: Option<SourcePosition>) -> StepTarget {
    let end = position.as_ref();
    StepTarget {
        into,
        end: end.and_then(|position| source::call_end(position, &name)),
        name: call_label(&name),
        position,
    }
}

/// Whether `call` begins at a place.
pub(super) fn begins(call: &InlinedCall, at: &Position) -> bool {
    at.begins_statement()
        && call
            .ranges
            .first()
            .is_some_and(|code| code.start == at.address)
}

/// gcc gives the jumps of a `switch` this prefix where other jumps have to go to an `endbr64` (Intel SDM, volume 1, §17.3.8).
fn has_notrack(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x3e)
}
