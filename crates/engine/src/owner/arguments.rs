//! What a function's prologue leaves in the registers that pass arguments, and which registers code reads before it has written them. Both
//! are needed to move a thread within its function ([`super::restart_frame`], [`super::goto`]).
//!
//! A frame is restarted after its function's prologue, with its arguments where the prologue has stored them. Code that is not optimised may
//! still read an argument from its register there, for example for its first call. So the prologue is interpreted without running it. The
//! value of such a register is then read from the stack slot in which the prologue has stored it. If the prologue has set the register to
//! an address in the frame, that address is computed.

use super::Owner;
use crate::{Address, eval};
use dapple_arch::instructions::{
    CHANGED_BY_CALLS, GIVEN, INTEGER_ARGUMENTS, STACK_POINTER, decoder,
};
use dapple_inspect::frame::Frame;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_inspect::values::Contents;
use dapple_symbols::FileAddress;
use dapple_symbols::scopes::VariableKind;
use iced_x86::{
    Code, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use rustc_hash::FxHashMap;

/// The longest prologue that is interpreted, in bytes.
const LONGEST: u64 = 512;
/// How many instructions are searched at most for registers that they read.
const MOST_INSTRUCTIONS: usize = 256;

/// What a register or a stack slot has, as far as a prologue has been interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    /// The value that this register had at the function's entry.
    Argument(Register),
    /// The canonical frame address plus this offset.
    Frame(i64),
}

/// The state of interpreting a prologue.
struct Prologue {
    registers: FxHashMap<Register, Held>,
    /// Stack slots by their offset from the canonical frame address: the stored value and its size in bytes. Slots with other values are left
    /// out.
    kept: FxHashMap<i64, (Held, usize)>,
}

impl Prologue {
    fn new() -> Prologue {
        let arguments = GIVEN.map(|register| (register, Held::Argument(register)));
        let mut registers: FxHashMap<_, _> = arguments.into_iter().collect();
        // At the entry, the stack pointer is at the return address, just below the canonical frame address.
        registers.insert(STACK_POINTER, Held::Frame(-8));
        Prologue {
            registers,
            kept: FxHashMap::default(),
        }
    }

    fn place(&self, instruction: &Instruction) -> Option<i64> {
        if instruction.memory_index() != Register::None {
            return None;
        }
        match self.registers.get(&instruction.memory_base()) {
            Some(Held::Frame(offset)) => {
                Some(offset.wrapping_add(instruction.memory_displacement64().cast_signed()))
            }
            _ => None,
        }
    }

    fn set(&mut self, register: Register, held: Option<Held>) {
        match held {
            Some(held) => self.registers.insert(register.full_register(), held),
            None => self.registers.remove(&register.full_register()),
        };
    }

    fn follow(&mut self, instruction: &Instruction, info: &mut InstructionInfoFactory) {
        let register = |operand: u32| {
            (instruction.op_kind(operand) == OpKind::Register)
                .then(|| instruction.op_register(operand))
                .filter(|r| r.is_gpr())
        };
        let held =
            |prologue: &Prologue, r: Register| prologue.registers.get(&r.full_register()).copied();
        match (instruction.mnemonic(), register(0), register(1)) {
            (Mnemonic::Mov, Some(to), Some(from)) if to.size() >= 4 => {
                let value = held(self, from);
                self.set(to, value);
            }
            (Mnemonic::Mov, None, Some(from)) => {
                if let Some(place) = self.place(instruction) {
                    match held(self, from) {
                        Some(value) => self.kept.insert(place, (value, from.size())),
                        None => self.kept.remove(&place),
                    };
                }
            }
            (Mnemonic::Mov, Some(to), None)
                if instruction.op1_kind() == OpKind::Memory && to.size() >= 4 =>
            {
                let kept = self
                    .place(instruction)
                    .and_then(|place| self.kept.get(&place));
                let value = kept
                    .filter(|(_, size)| *size == to.size())
                    .map(|(held, _)| *held);
                self.set(to, value);
            }
            (Mnemonic::Lea, Some(to), None) => {
                let place = self.place(instruction).map(Held::Frame);
                self.set(to, place);
            }
            (Mnemonic::Push, from, _) => {
                let value = from.and_then(|from| held(self, from));
                if let Some(Held::Frame(offset)) = self.registers.get(&STACK_POINTER).copied() {
                    self.set(STACK_POINTER, Some(Held::Frame(offset - 8)));
                    if let Some(value) = value {
                        self.kept.insert(offset - 8, (value, 8));
                    }
                }
            }
            (Mnemonic::Sub | Mnemonic::Add, Some(STACK_POINTER), None)
                if instruction.op1_kind() != OpKind::Memory =>
            {
                let by = instruction.immediate(1).cast_signed();
                let by = match instruction.mnemonic() {
                    Mnemonic::Sub => -by,
                    _ => by,
                };
                if let Some(Held::Frame(offset)) = self.registers.get(&STACK_POINTER).copied() {
                    self.set(STACK_POINTER, Some(Held::Frame(offset + by)));
                }
            }
            _ => {
                let info = info.info(instruction);
                for used in info.used_registers() {
                    if !matches!(
                        used.access(),
                        OpAccess::Read | OpAccess::CondRead | OpAccess::None
                    ) {
                        self.set(used.register(), None);
                    }
                }
            }
        }
    }
}

impl Owner {
    /// The values of argument registers after the prologue, in the frame with the canonical frame address `cfa`. A register is included if
    /// the prologue has stored its value in the frame (the value in memory now counts), or if it is an address in the frame. Empty if the
    /// prologue has a jump or call, or can't be decoded.
    pub(super) fn behind_prologue(
        &self,
        module: &LoadedModule,
        entry: FileAddress,
        body: FileAddress,
        cfa: Address,
    ) -> Vec<(Register, u64)> {
        let start = module.to_process(entry);
        let length = body.0.saturating_sub(entry.0).min(LONGEST) as usize;
        let mut code = vec![0; length];
        let length = self.memory().read_some(start, &mut code);
        let decoder = decoder(&code[..length], start.0);
        let mut info = InstructionInfoFactory::new();
        let mut prologue = Prologue::new();
        for instruction in decoder {
            if instruction.code() == Code::INVALID
                || instruction.flow_control() != FlowControl::Next
            {
                return Vec::new();
            }
            prologue.follow(&instruction, &mut info);
        }
        let value = |register: &Register| match prologue.registers.get(register)? {
            Held::Frame(offset) => Some(cfa.offset(*offset).0),
            argument => {
                let same = prologue
                    .kept
                    .iter()
                    .filter(|(_, (held, _))| held == argument);
                let (place, (_, size)) = same.max_by_key(|(_, (_, size))| *size)?;
                let mut bytes = [0; 8];
                let bytes_kept = bytes.get_mut(..*size)?;
                self.memory().read(cfa.offset(*place), bytes_kept).ok()?;
                Some(u64::from_le_bytes(bytes))
            }
        };
        let known = GIVEN.iter().filter_map(|r| Some((*r, value(r)?)));
        known.collect()
    }

    /// Whether all parameters of the frame's function are in memory as long as the function runs, as in code that is not optimised.
    pub(super) fn keeps_arguments_in_memory(&self, frame: &Frame) -> bool {
        let Some(module) = &frame.physical.module else {
            return false;
        };
        let at = module.to_file(frame.physical.lookup);
        let variables = module.module.variables_at(at, frame.inline_depth);
        let reader = self.reader();
        variables
            .iter()
            .filter(|variable| variable.kind == VariableKind::Parameter)
            .all(|variable| {
                let value = eval::evaluate(&variable.name, frame, &reader);
                let in_memory =
                    value.is_ok_and(|named| matches!(named.value.contents, Contents::Memory(_)));
                in_memory && !module.module.has_location_list(variable)
            })
    }

    /// Whether the code from `from` on reads an argument register that it hasn't written and that isn't among `known`, the registers whose
    /// values can be restored. Searches up to the first unconditional jump or call; `true` if the code can't be decoded. The first call
    /// counts as such a read if it may pass on an argument in the register in which it came. `all_kept`: no call does that, because all
    /// parameters are in memory.
    pub(super) fn expects_arguments(
        &self,
        module: &LoadedModule,
        from: FileAddress,
        known: &[(Register, u64)],
        all_kept: bool,
    ) -> bool {
        let start = module.to_process(from);
        let mut code = vec![0; MOST_INSTRUCTIONS * 4];
        let length = self.memory().read_some(start, &mut code);
        let decoder = decoder(&code[..length], start.0);
        let mut info = InstructionInfoFactory::new();
        let mut written: Vec<Register> = known.iter().map(|(register, _)| *register).collect();
        for instruction in decoder.into_iter().take(MOST_INSTRUCTIONS) {
            if instruction.is_invalid() {
                return true;
            }
            let cleared = clears(&instruction);
            for used in info.info(&instruction).used_registers() {
                let register = used.register().full_register();
                let is_argument = GIVEN.contains(&register) || is_vector_argument(register);
                if !is_argument || written.contains(&register) || cleared {
                    continue;
                }
                let reads = matches!(
                    used.access(),
                    OpAccess::Read
                        | OpAccess::CondRead
                        | OpAccess::ReadWrite
                        | OpAccess::ReadCondWrite
                );
                if reads {
                    return true;
                }
            }
            for used in info.info(&instruction).used_registers() {
                if matches!(used.access(), OpAccess::Write | OpAccess::ReadWrite) {
                    written.push(used.register().full_register());
                }
            }
            match instruction.flow_control() {
                FlowControl::Next | FlowControl::ConditionalBranch => {}
                FlowControl::Call | FlowControl::IndirectCall if !all_kept => {
                    // Which argument registers the called function reads is unknown here. If it reads any, it mostly reads the first.
                    return !written.contains(&INTEGER_ARGUMENTS[0]);
                }
                _ => return false,
            }
        }
        false
    }
}

impl Owner {
    /// The names of the registers that the code from `from` on reads before it writes them, up to its first jump, call or return. Earlier
    /// code of the function has to set these registers. Callee-saved registers are left out.
    pub(super) fn expected_registers(&self, from: Address) -> Vec<&'static str> {
        let mut code = vec![0; MOST_INSTRUCTIONS * 4];
        let length = self.memory().read_some(from, &mut code);
        let decoder = decoder(&code[..length], from.0);
        let mut info = InstructionInfoFactory::new();
        let mut written = Vec::new();
        let mut expected = Vec::new();
        for instruction in decoder.into_iter().take(MOST_INSTRUCTIONS) {
            if instruction.is_invalid() {
                break;
            }
            let used = info.info(&instruction).used_registers();
            // What calls and returns read by convention doesn't come from the lines that are skipped.
            let is_next = instruction.flow_control() == FlowControl::Next;
            for one in used.iter().filter(|_| is_next && !clears(&instruction)) {
                let register = one.register().full_register();
                let named = CHANGED_BY_CALLS.iter().find(|(it, _)| *it == register);
                let reads = !matches!(
                    one.access(),
                    OpAccess::Write | OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess
                );
                if let Some((_, name)) = named.filter(|_| reads && !written.contains(&register))
                    && !expected.contains(name)
                {
                    expected.push(*name);
                }
            }
            for one in used {
                if matches!(one.access(), OpAccess::Write | OpAccess::ReadWrite) {
                    written.push(one.register().full_register());
                }
            }
            if !is_next {
                break;
            }
        }
        expected
    }
}

/// Whether an instruction sets a register to 0 whatever its value is, like `xor eax, eax`.
fn clears(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Xor | Mnemonic::Sub | Mnemonic::Xorps | Mnemonic::Xorpd | Mnemonic::Pxor
    ) && instruction.op_count() == 2
        && instruction.op0_register() == instruction.op1_register()
        && instruction.op0_register() != Register::None
}

fn is_vector_argument(register: Register) -> bool {
    register.is_vector_register() && register.number() < 8
}
