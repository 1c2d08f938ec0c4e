//! From one frame to its caller.
//!
//! Responsible for recovering a caller's registers: by call frame information where a module has it, by inspecting the stack where it has
//! none. Not responsible for names or lines: that is [`crate::frame`]. Canonical frame addresses have to grow from frame to frame, which
//! prevents endless loops on garbage. The exception is a signal trampoline, whose handler may have run on an alternate stack.

use crate::Address;
use crate::frame::{CallerSaved, PhysicalFrame};
use crate::modules::{LoadedModule, Modules};
use dapple_arch::registers::Registers;
use dapple_arch::{Machine, Memory};
use dapple_symbols::cfi::{CfaRule, RegisterRule, UnwindRules};
use dapple_symbols::location::{LocationContext, evaluate_cfi};
use std::borrow::Cow;
use std::sync::Arc;

mod fallback;
mod tls;

/// The most frames that are unwound: as many as an 8 MiB stack has of the smallest recursive frames.
pub const MAX_FRAMES: usize = 300_000;

/// The innermost frame of a thread with these registers.
pub fn innermost(registers: Registers, modules: &Modules, memory: &dyn Memory) -> PhysicalFrame {
    let pc = registers.pc().unwrap_or_default();
    complete(0, registers, pc, pc, modules, memory)
}

/// The innermost frames of a thread with these registers, at most `most` of them.
pub fn frames(
    registers: Registers,
    modules: &Modules,
    memory: &dyn Memory,
    most: usize,
) -> Vec<PhysicalFrame> {
    let first = innermost(registers, modules, memory);
    let next = |frame: &PhysicalFrame| caller(frame, modules, memory);
    std::iter::successors(Some(first), next)
        .take(most)
        .collect()
}

/// The caller's frame; `None` at the end of the stack, or where unwinding fails. Following callers always ends, because the CFA has to
/// grow, and there are no more than [`MAX_FRAMES`].
pub fn caller(
    frame: &PhysicalFrame,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<PhysicalFrame> {
    if frame.level + 1 >= MAX_FRAMES {
        return None;
    }
    let cfa = frame.cfa?;
    let (registers, unsaved) = match rules_of(frame, modules, memory) {
        Some(rules) => (
            by_rules(frame, cfa, &rules, modules, memory)?,
            unsaved_by(frame, &rules),
        ),
        None => (fallback::find(frame, modules, memory)?.1, None),
    };
    let pc = registers.pc().filter(|pc| pc.0 != 0)?;
    // No call leads to a trampoline: the handler returns to its first instruction, so the byte before that instruction belongs to other
    // code.
    let interrupted = frame.signal_trampoline;
    let trampoline = is_trampoline(registers.machine(), pc, modules, memory);
    let lookup = if interrupted || trampoline {
        pc
    } else {
        pc.offset(-1)
    };
    let mut next = complete(frame.level + 1, registers, pc, lookup, modules, memory);
    next.unsaved = unsaved;
    // A trampoline's CFA is the stack pointer of the interrupted code, which may be on another stack.
    let other_stack = interrupted || next.signal_trampoline;
    if !other_stack && next.cfa.is_some_and(|next| next <= cfa) {
        // The return address is valid, but there is nothing to unwind from here.
        next.cfa = None;
    }
    Some(next)
}

/// Where signal handlers that are on a thread's stack return to: each with the stack pointer there. `None` if the stack can't be unwound to
/// its outermost frame, each frame by rules, within `most` frames: then there may be others.
pub fn interrupted(
    registers: Registers,
    modules: &Modules,
    memory: &dyn Memory,
    most: usize,
) -> Option<Vec<(Address, u64)>> {
    let mut found = Vec::new();
    let mut frame = innermost(registers, modules, memory);
    for _ in 0..most {
        match find_rules(frame.lookup, modules) {
            Some(rules) if rules.is_outermost() => return Some(found),
            // The kernel's frame says all.
            None if !frame.signal_trampoline => return None,
            _ => {}
        }
        let next = caller(&frame, modules, memory)?;
        if frame.signal_trampoline {
            found.push((next.pc, next.registers.sp()?.0));
        }
        frame = next;
    }
    None
}

fn complete(
    level: usize,
    registers: Registers,
    pc: Address,
    lookup: Address,
    modules: &Modules,
    memory: &dyn Memory,
) -> PhysicalFrame {
    let machine = registers.machine();
    let mut frame = PhysicalFrame {
        level,
        pc,
        lookup,
        registers,
        cfa: None,
        module: modules.at(lookup).cloned(),
        vectors: None,
        unsaved: None,
        signal_trampoline: false,
    };
    let rules = rules_of(&frame, modules, memory);
    frame.signal_trampoline = rules.as_ref().is_some_and(|r| r.signal_frame)
        || (rules.is_none() && fallback::is_sigreturn(machine, pc, memory));
    frame.cfa = match &rules {
        Some(rules) => cfa_by_rules(&frame, rules, modules, memory),
        None => fallback::find(&frame, modules, memory).map(|(cfa, _)| cfa),
    };
    frame
}

fn find_rules(lookup: Address, modules: &Modules) -> Option<Arc<UnwindRules>> {
    let module = modules.at(lookup)?;
    module
        .module
        .unwind_rules(module.to_file(lookup))
        .ok()
        .flatten()
}

/// The rules for a frame. `None`: there are none, or they don't hold where it is.
fn rules_of(
    frame: &PhysicalFrame,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<Arc<UnwindRules>> {
    let rules = find_rules(frame.lookup, modules)?;
    let calls = frame.pc != frame.lookup;
    if !rules.only_at_calls || rules.signal_frame || calls {
        return Some(rules);
    }
    let module = modules.at(frame.lookup)?;
    let start = module.to_process(rules.range.start);
    (!fallback::is_before_frame(frame, start, modules, memory)).then_some(rules)
}

fn is_trampoline(machine: Machine, pc: Address, modules: &Modules, memory: &dyn Memory) -> bool {
    match find_rules(pc, modules) {
        Some(rules) => rules.signal_frame,
        None => fallback::is_sigreturn(machine, pc, memory),
    }
}

fn cfa_by_rules(
    frame: &PhysicalFrame,
    rules: &UnwindRules,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<Address> {
    let cfa = match &rules.cfa {
        CfaRule::RegisterOffset(register, offset) => frame
            .registers
            .get(*register)
            .map(|value| value.wrapping_add_signed(*offset)),
        CfaRule::Expression(expression) => {
            let context = FrameContext::new(frame, modules, memory);
            evaluate_cfi(expression, None, &context).ok()
        }
    };
    cfa.filter(|cfa| *cfa != 0).map(Address)
}

/// The values that a frame leaves in caller-saved registers. `None` for a signal trampoline, which restores all registers. Frames with the
/// same values, as in a deep recursion, share one `CallerSaved`.
fn unsaved_by(frame: &PhysicalFrame, rules: &UnwindRules) -> Option<Arc<CallerSaved>> {
    if frame.signal_trampoline {
        return None;
    }
    let before = frame.unsaved.as_ref();
    let machine = frame.registers.machine();
    let mut registers = Registers::of(machine);
    let is_lost = |register: &u16| *register != machine.sp() && !machine.is_callee_saved(*register);
    for register in machine.general().filter(is_lost) {
        let saved = |(number, rule): &(u16, RegisterRule)| {
            *number == register && *rule != RegisterRule::SameValue
        };
        if !rules.registers.iter().any(saved) {
            let kept = frame.registers.get(register);
            registers.set(register, kept.or_else(|| before?.registers.get(register)));
        }
    }
    let vectors = frame.vectors.clone();
    let vectors = vectors.or_else(|| before?.vectors.clone());
    match before {
        Some(before) if before.registers == registers && frame.vectors.is_none() => {
            Some(Arc::clone(before))
        }
        _ => Some(Arc::new(CallerSaved { registers, vectors })),
    }
}

fn by_rules(
    frame: &PhysicalFrame,
    cfa: Address,
    rules: &UnwindRules,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<Registers> {
    let context = FrameContext::new(frame, modules, memory);
    let load = |address: u64| memory.read_address(Address(address)).ok();
    let recover = |rule: &RegisterRule, register: u16| match rule {
        RegisterRule::Undefined => None,
        RegisterRule::SameValue => frame.registers.get(register),
        RegisterRule::Offset(offset) => load(cfa.0.wrapping_add_signed(*offset)),
        RegisterRule::ValueOffset(offset) => Some(cfa.0.wrapping_add_signed(*offset)),
        RegisterRule::Register(other) => frame.registers.get(*other),
        RegisterRule::Expression(expression) => evaluate_cfi(expression, Some(cfa.0), &context)
            .ok()
            .and_then(load),
        RegisterRule::ValueExpression(expression) => {
            evaluate_cfi(expression, Some(cfa.0), &context).ok()
        }
    };

    let machine = frame.registers.machine();
    let mut registers = Registers::of(machine);
    for register in machine.callee_saved() {
        registers.set(register, frame.registers.get(register));
    }
    registers.set_sp(Some(cfa.0));
    registers.set_thread_pointer(frame.registers.thread_pointer());
    let mut return_address = None;
    for (register, rule) in &rules.registers {
        let value = recover(rule, *register);
        if *register == rules.return_address {
            return_address = value;
        }
        if machine.general().contains(register) {
            registers.set(*register, value);
        }
    }
    registers.set_pc(Some(machine.code_address(return_address?).0));
    Some(registers)
}

/// Where a register of a frame's caller is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavedAt {
    /// In this register of the frame: the same one or another.
    Register(u16),
    /// In memory.
    Memory(Address),
    /// Nowhere: it is computed or lost, or the frame has no unwind rules that say it.
    Nowhere,
}

/// Where `frame` stores the value that `register` has in its caller.
pub fn saved_at(
    frame: &PhysicalFrame,
    register: u16,
    modules: &Modules,
    memory: &dyn Memory,
) -> SavedAt {
    let (Some(cfa), Some(rules)) = (frame.cfa, find_rules(frame.lookup, modules)) else {
        return SavedAt::Nowhere;
    };
    let rule = rules
        .registers
        .iter()
        .find(|(number, _)| *number == register);
    match rule.map(|(_, rule)| rule) {
        None if frame.registers.machine().is_callee_saved(register) => SavedAt::Register(register),
        Some(RegisterRule::SameValue) => SavedAt::Register(register),
        Some(RegisterRule::Register(other)) => SavedAt::Register(*other),
        Some(RegisterRule::Offset(offset)) => {
            SavedAt::Memory(Address(cfa.0.wrapping_add_signed(*offset)))
        }
        Some(RegisterRule::Expression(expression)) => {
            let context = FrameContext::new(frame, modules, memory);
            match evaluate_cfi(expression, Some(cfa.0), &context) {
                Ok(address) => SavedAt::Memory(Address(address)),
                Err(_) => SavedAt::Nowhere,
            }
        }
        _ => SavedAt::Nowhere,
    }
}

/// The context of a physical frame for evaluating location expressions.
pub struct FrameContext<'a> {
    frame: Cow<'a, PhysicalFrame>,
    /// The module that the expressions are from.
    module: Option<Arc<LoadedModule>>,
    modules: &'a Modules,
    memory: &'a dyn Memory,
    thread_pointer: Option<u64>,
}

impl<'a> FrameContext<'a> {
    /// The context of `frame`.
    pub fn new(frame: &'a PhysicalFrame, modules: &'a Modules, memory: &'a dyn Memory) -> Self {
        FrameContext {
            frame: Cow::Borrowed(frame),
            module: frame.module.clone(),
            modules,
            memory,
            thread_pointer: frame.registers.thread_pointer(),
        }
    }

    /// The context of `frame` for expressions of `module`, such as the location of a static of another module.
    pub fn of_module(
        frame: &'a PhysicalFrame,
        module: &Arc<LoadedModule>,
        modules: &'a Modules,
        memory: &'a dyn Memory,
    ) -> Self {
        FrameContext {
            module: Some(Arc::clone(module)),
            ..FrameContext::new(frame, modules, memory)
        }
    }
}

impl LocationContext for FrameContext<'_> {
    fn address_size(&self) -> u8 {
        self.memory.address_size() as u8
    }

    fn register(&self, register: u16) -> Option<u64> {
        match (
            &self.frame.vectors,
            self.frame.registers.machine().vector_index(register),
        ) {
            (Some(vectors), Some(index)) => Some(vectors[index] as u64),
            _ => self.frame.registers.get(register),
        }
    }

    fn unsaved_register(&self, register: u16) -> Option<u128> {
        let unsaved = self.frame.unsaved.as_ref()?;
        match self.frame.registers.machine().vector_index(register) {
            Some(index) => Some(unsaved.vectors.as_ref()?[index]),
            None => unsaved.registers.get(register).map(u128::from),
        }
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), u64> {
        self.memory.read(Address(address), buffer).map_err(|a| a.0)
    }

    fn cfa(&self) -> Option<u64> {
        self.frame.cfa.map(|cfa| cfa.0)
    }

    fn load_bias(&self) -> u64 {
        self.module.as_ref().map_or(0, |module| module.bias)
    }

    fn thread_local(&self, offset: u64) -> Result<u64, &'static str> {
        let module = self.module.as_deref().ok_or("no module has it")?;
        let thread = self
            .thread_pointer
            .ok_or("the thread's registers are not known")?;
        let address = tls::address(module, thread, offset, self.modules, self.memory)?;
        Ok(address.0)
    }

    fn caller(&self) -> Option<Box<dyn LocationContext + '_>> {
        let caller = caller(&self.frame, self.modules, self.memory)?;
        Some(Box::new(FrameContext {
            module: caller.module.clone(),
            frame: Cow::Owned(caller),
            modules: self.modules,
            memory: self.memory,
            thread_pointer: self.thread_pointer,
        }))
    }
}

#[cfg(test)]
mod tests;
