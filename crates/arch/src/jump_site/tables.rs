//! Jump tables: where a function's indirect jumps lead, if that is certain.
//!
//! A compiled `switch` compares its index with the table's length, and jumps elsewhere if the index is too large (`cmp`, `ja`). What follows
//! is straight code up to the indirect jump. It is executed here with symbols for what isn't known: registers and stack slots have a symbol,
//! the address of a table, an entry of a table or the sum of such an entry and an address. The jump is understood if its operand is an entry
//! whose index was compared in the same straight code. Anything else, such as a tail call by a pointer, isn't: then nothing is known of the
//! function. gcc, clang and rustc make such code at all levels of optimisation.
//!
//! An index in a stack slot is compared there and read again by code that isn't optimised; nothing in between writes the slot, and no other
//! thread is expected to.

#[cfg(test)]
mod tests;

use super::{Code, direct_target};
use crate::Address;
use crate::instructions::{decoder, is_high};
use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
    RflagsBits,
};
use std::collections::{BTreeSet, HashMap};

/// How many instructions in front of a jump are looked at.
const WINDOW: usize = 32;
/// The most entries of a table.
const MOST_ENTRIES: u64 = 1 << 12;

/// Reads constant memory of the program: `false` if it isn't constant, or can't be read.
pub type Constants<'a> = &'a dyn Fn(Address, &mut [u8]) -> bool;

/// What a register or stack slot has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// The symbol.
    Full(u32),
    /// The symbol's lower half, extended with zeros.
    Zeros(u32),
    /// The symbol's lower half below bits that aren't known.
    Low(u32),
    /// An address.
    Address(u64),
    /// An index of at most `last`, times the size of an entry.
    Scaled { last: u64, by: u64 },
    /// An entry of 4 bytes of a table of `last + 1` entries, extended with zeros.
    Raw { table: u64, last: u64 },
    /// The same, extended with its sign.
    Entry { table: u64, last: u64 },
    /// The sum of an entry and an address.
    Target { table: u64, last: u64, base: u64 },
}

/// A place in the stack frame: base register, displacement.
type Slot = (Register, u64);

/// The state in front of an instruction.
struct State {
    registers: HashMap<Register, Value>,
    slots: HashMap<Slot, (Value, usize)>,
    /// The largest value of a symbol's lowest bytes: 1, 4 or 8.
    most: HashMap<(u32, usize), u64>,
    /// What was compared last, how many of its bytes, and with what.
    compared: Option<(Value, usize, u64)>,
    symbols: u32,
    /// The first instruction whose comparison was used.
    since: u64,
}

/// All addresses that the indirect jumps of a function lead to. `None`: not all of them are understood. `function` has all ranges of the
/// function; `is_entered` says of an address whether something that `function` doesn't tell begins there.
pub fn jump_tables(
    function: &[Code<'_>],
    read: Constants<'_>,
    is_entered: &dyn Fn(Address) -> bool,
) -> Option<BTreeSet<Address>> {
    let ranges: Vec<Vec<Instruction>> = { function.iter() }
        .map(|range| decoder(range.bytes, range.start.0).iter().collect())
        .collect();
    let all = || ranges.iter().flatten();
    let direct: BTreeSet<u64> = all()
        .filter_map(direct_target)
        .map(|target| target.0)
        .collect();
    let mut targets = BTreeSet::new();
    let mut windows = Vec::new();
    for range in &ranges {
        for (index, jump) in range.iter().enumerate() {
            if jump.flow_control() != FlowControl::IndirectBranch {
                continue;
            }
            let first = window(range, index, &direct);
            let mut state = State::new(range.get(first)?.ip());
            for instruction in range.get(first..index)? {
                state.execute(instruction)?;
            }
            let starts = function.iter().map(|range| range.start);
            let lengths = function.iter().map(|range| range.bytes.len() as u64);
            let ranges: Vec<_> = starts.zip(lengths).collect();
            let inside = |to: u64| {
                let mut ranges = ranges.iter();
                ranges.any(|(start, length)| to.wrapping_sub(start.0) < *length)
            };
            for target in state.targets(jump, read)? {
                inside(target).then_some(())?;
                targets.insert(Address(target));
            }
            windows.push((state.since, jump.ip()));
        }
    }
    // Nothing leads in between a comparison and its jump.
    let mut windows = windows.into_iter();
    let is_straight = windows.all(|(since, jump)| {
        let mut inner = (since + 1..=jump).map(Address);
        !inner.any(|at| targets.contains(&at) || is_entered(at) || direct.contains(&at.0))
    });
    is_straight.then_some(targets)
}

/// The first instruction of the straight code in front of a jump: no branch leads behind it, and none ends in it.
fn window(range: &[Instruction], jump: usize, direct: &BTreeSet<u64>) -> usize {
    let mut first = jump;
    while first > 0 && jump - first < WINDOW {
        let before = &range[first - 1];
        let goes_on = matches!(
            before.flow_control(),
            FlowControl::Next | FlowControl::ConditionalBranch
        );
        if !goes_on || before.is_invalid() || direct.contains(&range[first].ip()) {
            break;
        }
        first -= 1;
    }
    first
}

impl State {
    fn new(start: u64) -> State {
        State {
            registers: HashMap::new(),
            slots: HashMap::new(),
            most: HashMap::new(),
            compared: None,
            symbols: 0,
            since: start,
        }
    }

    fn symbol(&mut self) -> u32 {
        self.symbols += 1;
        self.symbols
    }

    /// The value of a whole register.
    fn register(&mut self, register: Register) -> Value {
        let whole = register.full_register();
        if let Some(value) = self.registers.get(&whole) {
            return *value;
        }
        let value = Value::Full(self.symbol());
        self.registers.insert(whole, value);
        value
    }

    /// Sets a register of 4 or 8 bytes. A write of 4 bytes clears the others.
    fn set(&mut self, register: Register, value: Value) {
        if register.size() >= 4 {
            self.registers.insert(register.full_register(), value);
        } else {
            self.registers.remove(&register.full_register());
        }
    }

    /// The lower half of a value, as a register has it that was written by 4 bytes.
    fn lower(&mut self, value: Value) -> Value {
        match value {
            Value::Full(id) | Value::Low(id) | Value::Zeros(id) => Value::Zeros(id),
            Value::Raw { .. } => value,
            _ => Value::Zeros(self.symbol()),
        }
    }

    /// The largest value, as an integer of 8 bytes.
    fn most(&self, value: Value) -> Option<u64> {
        match value {
            Value::Zeros(id) => self.most.get(&(id, 4)).copied(),
            Value::Full(id) => self.most.get(&(id, 8)).copied(),
            _ => None,
        }
    }

    /// The slot that an operand is.
    fn slot(instruction: &Instruction) -> Option<Slot> {
        let base = instruction.memory_base();
        let is_slot = matches!(base, Register::RSP | Register::RBP)
            && instruction.memory_index() == Register::None
            && instruction.segment_prefix() == Register::None;
        is_slot.then(|| (base, instruction.memory_displacement64()))
    }

    /// What a slot has, read by `size` bytes.
    fn load(&mut self, slot: Slot, size: usize) -> Value {
        match self.slots.get(&slot) {
            Some((value, known)) if *known == size => *value,
            Some((value @ (Value::Full(_) | Value::Zeros(_)), known)) if *known > size => *value,
            _ => {
                let id = self.symbol();
                let value = if size == 8 {
                    Value::Full(id)
                } else {
                    Value::Low(id)
                };
                self.store(slot, value, size);
                value
            }
        }
    }

    fn store(&mut self, slot: Slot, value: Value, size: usize) {
        let overlaps = |(base, at): &Slot, known: usize| {
            *base != slot.0
                || slot.1.wrapping_sub(*at) < known as u64
                || at.wrapping_sub(slot.1) < size as u64
        };
        self.slots.retain(|at, (_, known)| !overlaps(at, *known));
        self.slots.insert(slot, (value, size));
    }

    /// The entry of a table that an operand is: the table's address and its last index. `size`: that of an entry.
    fn entry(&mut self, instruction: &Instruction, size: u64) -> Option<(u64, u64)> {
        let displacement = instruction.memory_displacement64();
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        let scale = u64::from(instruction.memory_index_scale());
        let is_plain = instruction.segment_prefix() == Register::None
            && [base, index]
                .iter()
                .all(|it| *it == Register::None || it.size() == 8);
        if !is_plain || index == Register::None || instruction.is_ip_rel_memory_operand() {
            return None;
        }
        let index = self.register(index);
        let base = match base {
            Register::None => Value::Address(0),
            base => self.register(base),
        };
        let (table, last) = match (base, index) {
            (Value::Address(table), Value::Scaled { last, by }) if scale * by == size => {
                (table, last)
            }
            (Value::Scaled { last, by }, Value::Address(table)) if scale == 1 && by == size => {
                (table, last)
            }
            (Value::Address(table), index) if scale == size => (table, self.most(index)?),
            _ => return None,
        };
        Some((table.wrapping_add(displacement), last))
    }

    /// Executes an instruction. `None`: the code is not straight.
    fn execute(&mut self, instruction: &Instruction) -> Option<()> {
        if instruction.flow_control() == FlowControl::ConditionalBranch {
            self.goes_on(instruction);
            // `loop` counts.
            self.forget(instruction);
            return Some(());
        }
        if self.is_known(instruction) {
            return Some(());
        }
        self.forget(instruction);
        Some(())
    }

    /// Notes what is known behind a branch that isn't taken.
    fn goes_on(&mut self, branch: &Instruction) {
        let Some((value, size, with)) = self.compared else {
            return;
        };
        let most = match branch.mnemonic() {
            Mnemonic::Ja => Some(with),
            Mnemonic::Jae => with.checked_sub(1),
            _ => None,
        };
        let (Some(most), Value::Full(id) | Value::Zeros(id) | Value::Low(id)) = (most, value)
        else {
            return;
        };
        let size = match (value, size) {
            (Value::Low(_), 8) => return,
            // Of the symbol, the upper half isn't known.
            (Value::Zeros(_), 8) => 4,
            (_, size) => size,
        };
        let known = self.most.entry((id, size)).or_insert(most);
        *known = most.min(*known);
        // The lower half of such a value is all of it.
        if size == 8 && matches!(value, Value::Full(_)) && most <= u64::from(u32::MAX) {
            self.most.insert((id, 4), most);
        }
    }

    /// Executes an instruction of those that belong to jumps by tables. `false`: it is another.
    fn is_known(&mut self, it: &Instruction) -> bool {
        let (to, from) = (it.op0_register(), it.op1_register());
        let is_register = |kind| kind == OpKind::Register;
        let to_register = it.op_count() > 0 && is_register(it.op0_kind()) && to.is_gpr();
        let from_register = it.op_count() > 1 && is_register(it.op1_kind()) && from.is_gpr();
        let from_memory = it.op_count() > 1 && it.op1_kind() == OpKind::Memory;
        match it.mnemonic() {
            Mnemonic::Mov if to_register && to.size() >= 4 && from_register => {
                let value = self.register(from);
                let value = if to.size() == 8 {
                    value
                } else {
                    self.lower(value)
                };
                self.set(to, value);
            }
            Mnemonic::Mov if to_register && to.size() >= 4 && from_memory => {
                let value = if let Some(slot) = Self::slot(it) {
                    let value = self.load(slot, to.size());
                    if to.size() == 8 {
                        value
                    } else {
                        self.lower(value)
                    }
                } else if to.size() == 4
                    && let Some((table, last)) = self.entry(it, 4)
                {
                    Value::Raw { table, last }
                } else {
                    return false;
                };
                self.set(to, value);
            }
            Mnemonic::Mov if it.op0_kind() == OpKind::Memory && from_register => {
                let Some(slot) = Self::slot(it).filter(|_| from.size() >= 4) else {
                    return false;
                };
                let value = self.register(from);
                let value = match (from.size(), value) {
                    (8, value) => value,
                    (_, Value::Full(id) | Value::Zeros(id) | Value::Low(id)) => Value::Low(id),
                    _ => Value::Low(self.symbol()),
                };
                self.store(slot, value, from.size());
            }
            Mnemonic::Mov if to_register && to.size() >= 4 && it.op_count() > 1 => {
                self.set(to, Value::Address(it.immediate(1)));
            }
            Mnemonic::Movzx if to_register && to.size() >= 4 => return self.extends_zeros(it),
            Mnemonic::Movsxd | Mnemonic::Cdqe => return self.extends_sign(it),
            Mnemonic::Lea if to_register && to.size() == 8 => return self.lea(it),
            Mnemonic::Add if to_register && to.size() == 8 && from_register => {
                let (one, other) = (self.register(to), self.register(from));
                let ((Value::Entry { table, last }, Value::Address(base))
                | (Value::Address(base), Value::Entry { table, last })) = (one, other)
                else {
                    return false;
                };
                self.compared = None;
                self.set(to, Value::Target { table, last, base });
            }
            Mnemonic::Cmp => return self.compare(it),
            Mnemonic::Sub if to_register && to.size() >= 4 && !from_register && !from_memory => {
                self.subtract(it);
            }
            Mnemonic::And if to_register && to.size() == 4 && !from_register && !from_memory => {
                let id = self.symbol();
                self.most
                    .insert((id, 4), it.immediate(1) & u64::from(u32::MAX));
                self.set(to, Value::Zeros(id));
                self.compared = None;
            }
            Mnemonic::Nop | Mnemonic::Endbr64 => {}
            _ => return false,
        }
        true
    }

    /// `sub` of a constant compares as `cmp` does. Afterwards, the register has another value.
    fn subtract(&mut self, it: &Instruction) {
        let to = it.op0_register();
        let value = self.register(to);
        let size = to.size();
        let with = immediate(it, size);
        let id = self.symbol();
        let rest = if size == 8 {
            Value::Full(id)
        } else {
            Value::Zeros(id)
        };
        self.set(to, rest);
        self.compared = Some((value, size, with));
    }

    fn extends_zeros(&mut self, it: &Instruction) -> bool {
        let (size, id) = match it.op1_kind() {
            OpKind::Register => {
                let from = it.op1_register();
                let is_low = !matches!(
                    from,
                    Register::AH | Register::BH | Register::CH | Register::DH
                );
                let id = match self.register(from) {
                    Value::Full(id) | Value::Zeros(id) | Value::Low(id) if is_low => Some(id),
                    _ => None,
                };
                (from.size(), id)
            }
            _ => (it.memory_size().size(), None),
        };
        if !matches!(size, 1 | 2) {
            return false;
        }
        let all = (1 << (8 * size as u64)) - 1;
        let known = id.and_then(|id| self.most.get(&(id, size)).copied());
        let id = self.symbol();
        self.most.insert((id, 4), known.unwrap_or(all).min(all));
        self.set(it.op0_register(), Value::Zeros(id));
        true
    }

    fn extends_sign(&mut self, it: &Instruction) -> bool {
        let to = match it.mnemonic() {
            Mnemonic::Cdqe => Register::RAX,
            _ => it.op0_register(),
        };
        if to.size() != 8 {
            return false;
        }
        let is_memory = it.op_count() > 1 && it.op1_kind() == OpKind::Memory;
        let value = match is_memory {
            true => match Self::slot(it) {
                Some(slot) => {
                    let value = self.load(slot, 4);
                    self.lower(value)
                }
                None => match self.entry(it, 4) {
                    Some((table, last)) => Value::Raw { table, last },
                    None => return false,
                },
            },
            false => {
                let from = match it.mnemonic() {
                    Mnemonic::Cdqe => Register::EAX,
                    _ => it.op1_register(),
                };
                let value = self.register(from);
                self.lower(value)
            }
        };
        let value = match value {
            Value::Raw { table, last } => Value::Entry { table, last },
            value if self.most(value).is_some_and(|most| most <= 0x7fff_ffff) => value,
            _ => Value::Full(self.symbol()),
        };
        self.set(to, value);
        true
    }

    fn lea(&mut self, it: &Instruction) -> bool {
        let displacement = it.memory_displacement64();
        let value = match (it.memory_base(), it.memory_index()) {
            _ if it.is_ip_rel_memory_operand() => Value::Address(it.ip_rel_memory_address()),
            (Register::None, index) if index.size() == 8 && displacement == 0 => {
                let index = self.register(index);
                let Some(last) = self.most(index) else {
                    return false;
                };
                let by = it.memory_index_scale().into();
                Value::Scaled { last, by }
            }
            _ => return false,
        };
        self.set(it.op0_register(), value);
        true
    }

    fn compare(&mut self, it: &Instruction) -> bool {
        let is_immediate = !matches!(it.op1_kind(), OpKind::Register | OpKind::Memory);
        if !is_immediate {
            return false;
        }
        let (value, size) = match it.op0_kind() {
            OpKind::Register => {
                let register = it.op0_register();
                if is_high(register) {
                    return false;
                }
                (self.register(register), register.size())
            }
            _ => {
                let size = it.memory_size().size();
                let Some(slot) = Self::slot(it).filter(|_| matches!(size, 4 | 8)) else {
                    return false;
                };
                (self.load(slot, size), size)
            }
        };
        self.compared = Some((value, size, immediate(it, size)));
        true
    }

    /// Executes any other instruction: what it writes isn't known.
    fn forget(&mut self, it: &Instruction) {
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(it);
        let writes = |access| {
            matches!(
                access,
                OpAccess::Write
                    | OpAccess::CondWrite
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
            )
        };
        for used in info.used_registers() {
            if writes(used.access()) {
                let whole = used.register().full_register();
                self.registers.remove(&whole);
                self.slots.retain(|(base, _), _| *base != whole);
            }
        }
        if info.used_memory().iter().any(|used| writes(used.access())) {
            self.slots.clear();
        }
        let flags = it.rflags_modified();
        if flags & (RflagsBits::CF | RflagsBits::ZF) != 0 {
            self.compared = None;
        }
    }

    /// Where an indirect jump leads.
    fn targets(&mut self, jump: &Instruction, read: Constants<'_>) -> Option<Vec<u64>> {
        let (table, last, base) = match jump.op0_kind() {
            OpKind::Register => match self.register(jump.op0_register()) {
                Value::Target { table, last, base } => (table, last, Some(base)),
                _ => return None,
            },
            OpKind::Memory => {
                let (table, last) = self.entry(jump, 8)?;
                (table, last, None)
            }
            _ => return None,
        };
        if last >= MOST_ENTRIES {
            return None;
        }
        let size = if base.is_some() { 4 } else { 8 };
        let mut bytes = vec![0; usize::try_from((last + 1) * size).ok()?];
        read(Address(table), &mut bytes).then_some(())?;
        let entries = bytes.chunks_exact(size as usize);
        let targets = entries.map(|entry| match (base, entry) {
            (Some(base), [a, b, c, d]) => {
                let distance = i32::from_le_bytes([*a, *b, *c, *d]);
                Some(base.wrapping_add_signed(distance.into()))
            }
            (_, entry) => Some(u64::from_le_bytes(entry.try_into().ok()?)),
        });
        targets.collect()
    }
}

/// An immediate operand, as an unsigned integer of `size` bytes.
fn immediate(it: &Instruction, size: usize) -> u64 {
    let value = it.immediate(1);
    match size {
        8.. => value,
        size => value & ((1 << (8 * size as u64)) - 1),
    }
}
