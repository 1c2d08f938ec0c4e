//! Places whose instructions can be replaced by a jump out of the function, and the code that then does what they did.
//!
//! A jump with a 32-bit distance takes 5 bytes, so it can replace several instructions. That is sound only if nothing but the first of them
//! is ever entered: no branch of the function leads behind it, no thread is there, and what the code itself doesn't tell (landing pads of
//! exceptions, return addresses, jump tables, signal frames, other breakpoints) is asked of the caller.
//!
//! iced's `BlockEncoder` is not used: it makes a branch to one of the moved instructions lead to the moved one. Here, a branch back to the
//! first must come to the jump again. So instructions are moved byte for byte: only distances differ, and where a branch's distance may
//! have become too long, its form.
//!
//! A moved call pushes the return address that the original would push, and then jumps. With user shadow stacks (Intel SDM, volume 1,
//! §17.2) the callee's return would fault: there, a place whose [`JumpSite::ends_in_call`] must not be replaced.

mod flags;
mod relocated;
mod tables;
#[cfg(test)]
mod tests;
mod unfit;

pub use flags::flags_are_dead;
pub use relocated::{Position, Relocated};
pub use tables::{Constants, jump_tables};
pub use unfit::Unfit;

use crate::Address;
use crate::instructions::{LONGEST, decoder, enters_kernel};
use iced_x86::{Code as Opcode, Decoder, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::ops::Range;

/// The length in bytes of the jump that replaces instructions: `jmp rel32`.
pub const JUMP: usize = 5;

/// The most bytes of the instructions that a jump replaces: all but one of its own, and one more instruction.
pub const MOST_REPLACED: usize = JUMP - 1 + LONGEST;

/// A range of a function's code. A function has several if the compiler split cold code off.
#[derive(Debug, Clone, Copy)]
pub struct Code<'c> {
    /// Where it starts.
    pub start: Address,
    /// All its bytes, as the compiler made them: without breakpoints.
    pub bytes: &'c [u8],
}

impl<'c> Code<'c> {
    /// The bytes from an address on; `None` if the range doesn't have the address.
    fn from(&self, address: Address) -> Option<&'c [u8]> {
        let offset = usize::try_from(address.0.wrapping_sub(self.start.0)).ok()?;
        self.bytes.get(offset..).filter(|bytes| !bytes.is_empty())
    }
}

/// What is known of where a function's indirect jumps lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indirect {
    /// Nothing: they may lead to any instruction of the function.
    Unknown,
    /// All: `is_entered` says `true` of each address that they lead to.
    Known,
}

/// A place whose instructions can be replaced by a jump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JumpSite {
    /// Where the jump goes: the address of the first replaced instruction.
    pub site: Address,
    /// How many bytes the replaced instructions take: at least [`JUMP`], unless it is a short one ([`plan_short`]). Those behind the jump are
    /// never executed.
    pub length: u64,
    displaced: Vec<Displaced>,
    /// The first bytes of the instruction behind a short one, which are the last of the jump's distance.
    behind: Vec<u8>,
}

impl JumpSite {
    /// The address behind the replaced instructions.
    pub fn end(&self) -> Address {
        Address(self.site.0.wrapping_add(self.length))
    }

    /// How many bytes the jump takes, and the replaced instructions, whichever are more.
    pub fn covered(&self) -> u64 {
        self.length.max(JUMP as u64)
    }

    /// Where the jump may lead, if the instruction behind a short one has a part in its distance; the end isn't part of it.
    pub fn targets(&self) -> Option<Range<Address>> {
        let fixed = (!self.behind.is_empty()).then_some(&self.behind)?;
        let end = self.site.offset(JUMP as i64);
        let farthest = |free: u8| {
            let mut distance = [free; 4];
            let (_, last) = distance.split_at_mut_checked(4 - fixed.len())?;
            last.copy_from_slice(fixed);
            Some(end.offset(i32::from_le_bytes(distance).into()))
        };
        Some(farthest(0)?..farthest(u8::MAX)?.offset(1))
    }

    /// Whether the last of the replaced instructions is a call.
    pub fn ends_in_call(&self) -> bool {
        let last = self.displaced.last();
        last.is_some_and(|last| matches!(last.kind, Kind::Call | Kind::IndirectCall))
    }
}

/// An instruction to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Displaced {
    instruction: Instruction,
    bytes: Vec<u8>,
    /// The offset in `bytes` of a displacement that is relative to the instruction pointer.
    relative: Option<usize>,
    kind: Kind,
}

/// How an instruction is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As it is, but for a relative displacement. String instructions with a repeat prefix are among these: they can be interrupted in
    /// their middle, but how far they came is in registers, so the program counter still says all.
    Plain,
    /// `jcc`.
    Conditional,
    /// `loop`, `loope`, `loopne`, `jrcxz`, `jecxz`: they have only an 8-bit distance.
    Counted,
    /// `jmp` to an address.
    Jump,
    /// `jmp` to what a register or memory has.
    IndirectJump,
    /// `call` of an address.
    Call,
    /// `call` of what a register or memory has.
    IndirectCall,
}

/// Finds out whether the instructions at `site` can be replaced by a jump. `function` has all ranges of the function that `site` is in.
/// `is_entered` says of an address within the instructions to be replaced whether anything that `function` doesn't tell begins there: another
/// breakpoint, an exception's landing pad, a return address, a signal frame's program counter, a jump from another function.
///
/// # Errors
///
/// Why they can't be replaced.
pub fn plan(
    site: Address,
    function: &[Code<'_>],
    indirect: Indirect,
    is_entered: &dyn Fn(Address) -> bool,
) -> Result<JumpSite, Unfit> {
    let range = function.iter().find(|range| range.from(site).is_some());
    let range = range.ok_or(Unfit::Outside)?;
    if !arrives(range.start, site, range)? {
        return Err(Unfit::NotAnInstruction);
    }
    let code = range.from(site).ok_or(Unfit::Outside)?;
    let displaced = displaced(site, code)?;
    let length = displaced.iter().map(|one| one.bytes.len() as u64).sum();
    let planned = JumpSite {
        site,
        length,
        displaced,
        behind: Vec::new(),
    };
    let mut has_indirect_jump = false;
    for one in function {
        for instruction in &mut decoder(one.bytes, one.start.0) {
            if instruction.is_invalid() {
                return Err(Unfit::InvalidCode(Address(instruction.ip())));
            }
            has_indirect_jump |= instruction.flow_control() == FlowControl::IndirectBranch;
            planned.check_operands(&instruction, range)?;
        }
    }
    if has_indirect_jump && indirect == Indirect::Unknown && planned.displaced.len() > 1 {
        return Err(Unfit::IndirectJump);
    }
    for inner in (1..length).map(|offset| Address(site.0.wrapping_add(offset))) {
        if is_entered(inner) {
            return Err(Unfit::Entered(planned.number(inner)));
        }
    }
    Ok(planned)
}

/// Finds out whether a single instruction of 3 or 4 bytes can be replaced by a jump whose last bytes are the first of the instruction behind it.
/// They stay as they are, so that one may be entered by whatever leads there. The jump reaches only [`JumpSite::targets`]. `code`: the bytes
/// there, at least [`JUMP`].
///
/// # Errors
///
/// Why it can't be replaced.
pub fn plan_short(site: Address, code: &[u8]) -> Result<JumpSite, Unfit> {
    /// A shorter one leaves less than a page to lead to.
    const SHORTEST: usize = 3;
    let one = moved(&mut decoder(code, site.0), code)?;
    let behind = code.get(one.bytes.len()..JUMP).unwrap_or_default();
    if behind.is_empty() || one.bytes.len() < SHORTEST {
        return Err(Unfit::TooShort);
    }
    if matches!(one.kind, Kind::Call | Kind::IndirectCall) {
        // Its return address is in the jump.
        return Err(Unfit::ShortCall);
    }
    Ok(JumpSite {
        site,
        length: one.bytes.len() as u64,
        behind: behind.to_vec(),
        displaced: vec![one],
    })
}

/// How many bytes a jump at an instruction would replace, if nothing but the instruction and those behind it matter. `code`: the bytes there,
/// to the end of the function or [`MOST_REPLACED`].
///
/// # Errors
///
/// Why they can't be replaced.
pub fn replaced_length(site: Address, code: &[u8]) -> Result<u64, Unfit> {
    let displaced = displaced(site, code)?;
    Ok(displaced.iter().map(|one| one.bytes.len() as u64).sum())
}

/// Whether decoding from `from` on comes to an instruction at `site`; both are in `range`.
fn arrives(from: Address, site: Address, range: &Code<'_>) -> Result<bool, Unfit> {
    let code = range.from(from).ok_or(Unfit::Outside)?;
    let mut decoder = decoder(code, from.0);
    let distance = site.0.wrapping_sub(from.0);
    while decoder.ip().wrapping_sub(from.0) < distance {
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return Err(Unfit::InvalidCode(Address(instruction.ip())));
        }
    }
    Ok(decoder.ip() == site.0)
}

impl JumpSite {
    /// Whether an address is within the replaced bytes, but not their first.
    fn has_inside(&self, address: Address) -> bool {
        (1..self.length).contains(&address.0.wrapping_sub(self.site.0))
    }

    /// Which of the replaced instructions an address is in, counted from 1.
    fn number(&self, address: Address) -> usize {
        let before = |one: &&Displaced| {
            let start = one.instruction.ip().wrapping_sub(self.site.0);
            start <= address.0.wrapping_sub(self.site.0)
        };
        self.displaced.iter().filter(before).count()
    }

    /// Checks that an instruction of the function neither leads into the replaced instructions nor has an operand in them.
    fn check_operands(&self, instruction: &Instruction, range: &Code<'_>) -> Result<(), Unfit> {
        if let Some(target) = direct_target(instruction) {
            if self.has_inside(target) {
                return Err(Unfit::JumpedTo(self.number(target)));
            }
            // A branch behind a prefix (`lock`) leads to other instructions than those decoded so far; they must not reach over the site.
            let before = self.site.0.wrapping_sub(target.0);
            let close = (1..LONGEST as u64).contains(&before) && range.from(target).is_some();
            if close && !arrives(target, self.site, range)? {
                return Err(Unfit::JumpedTo(1));
            }
        }
        let operand = instruction
            .is_ip_rel_memory_operand()
            .then(|| Address(instruction.ip_rel_memory_address()));
        match operand {
            Some(operand) if self.has_inside(operand) => {
                Err(Unfit::Addressed(self.number(operand)))
            }
            _ => Ok(()),
        }
    }
}

/// The address that an instruction leads to, if that is part of it: of a jump, a call, or the start of a transaction.
fn direct_target(instruction: &Instruction) -> Option<Address> {
    let near = [
        OpKind::NearBranch16,
        OpKind::NearBranch32,
        OpKind::NearBranch64,
    ];
    let is_near = near.contains(&instruction.op0_kind());
    is_near.then(|| Address(instruction.near_branch_target()))
}

/// The whole instructions at the start of `code` that have the first [`JUMP`] bytes.
fn displaced(site: Address, code: &[u8]) -> Result<Vec<Displaced>, Unfit> {
    let mut decoder = decoder(code, site.0);
    let mut displaced: Vec<Displaced> = Vec::new();
    while decoder.position() < JUMP {
        match displaced.last().map(|last| last.kind) {
            Some(Kind::Jump | Kind::IndirectJump) => return Err(Unfit::ShortJump),
            Some(Kind::Call | Kind::IndirectCall) => return Err(Unfit::ShortCall),
            _ if !decoder.can_decode() => return Err(Unfit::TooShort),
            _ => {}
        }
        let next = match moved(&mut decoder, code) {
            // An indirect branch may lead to it.
            Err(Unfit::EndBranch) if !displaced.is_empty() => {
                return Err(Unfit::Entered(displaced.len() + 1));
            }
            next => next?,
        };
        displaced.push(next);
    }
    Ok(displaced)
}

/// The instruction that is next in `code`, which is decoded.
fn moved(decoder: &mut Decoder<'_>, code: &[u8]) -> Result<Displaced, Unfit> {
    let start = decoder.position();
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        return Err(Unfit::InvalidCode(Address(instruction.ip())));
    }
    let kind = kind(&instruction)?;
    let relative = instruction
        .is_ip_rel_memory_operand()
        .then(|| decoder.get_constant_offsets(&instruction))
        .filter(|offsets| offsets.displacement_size() == 4)
        .map(|offsets| offsets.displacement_offset());
    Ok(Displaced {
        instruction,
        bytes: code[start..decoder.position()].to_vec(),
        relative,
        kind,
    })
}

/// How an instruction is moved; an error if it can't be.
fn kind(instruction: &Instruction) -> Result<Kind, Unfit> {
    let code = instruction.code();
    if enters_kernel(code) {
        return Err(Unfit::SystemCall);
    }
    match instruction.mnemonic() {
        Mnemonic::Endbr64 | Mnemonic::Endbr32 => return Err(Unfit::EndBranch),
        Mnemonic::Hlt => return Err(Unfit::Trap),
        // Gives the program the address of the next instruction.
        Mnemonic::Enclu | Mnemonic::Encls | Mnemonic::Enclv => return Err(Unfit::Unmovable),
        Mnemonic::Retf => return Err(Unfit::FarTransfer),
        Mnemonic::Xbegin | Mnemonic::Xabort | Mnemonic::Xend => return Err(Unfit::Transaction),
        _ => {}
    }
    if code.is_jmp_far_indirect() || code.is_call_far_indirect() {
        return Err(Unfit::FarTransfer);
    }
    match instruction.flow_control() {
        FlowControl::Next => Ok(Kind::Plain),
        FlowControl::ConditionalBranch if code.is_jcc_short_or_near() => Ok(Kind::Conditional),
        FlowControl::ConditionalBranch if code.is_loop() || code.is_loopcc() => Ok(Kind::Counted),
        FlowControl::ConditionalBranch if code.is_jcx_short() => Ok(Kind::Counted),
        FlowControl::UnconditionalBranch
            if matches!(code, Opcode::Jmp_rel8_64 | Opcode::Jmp_rel32_64) =>
        {
            Ok(Kind::Jump)
        }
        FlowControl::IndirectBranch if code == Opcode::Jmp_rm64 => Ok(Kind::IndirectJump),
        FlowControl::Call if code == Opcode::Call_rel32_64 => Ok(Kind::Call),
        FlowControl::IndirectCall if code == Opcode::Call_rm64 => {
            if takes_its_target_from_the_stack_below(instruction) {
                return Err(Unfit::Unmovable);
            }
            Ok(Kind::IndirectCall)
        }
        FlowControl::Return => Err(Unfit::Return),
        FlowControl::Interrupt | FlowControl::Exception => Err(Unfit::Trap),
        _ => Err(Unfit::Unmovable),
    }
}

/// Whether a call's target is changed by pushing the return address first: it is the stack pointer, or in memory below of it.
fn takes_its_target_from_the_stack_below(call: &Instruction) -> bool {
    if call.op0_kind() == OpKind::Register {
        return call.op0_register() == Register::RSP;
    }
    let below = call.memory_displacement64().cast_signed() < 0;
    match call.memory_base() {
        Register::RSP => below,
        // Addresses of 32 bits wrap around.
        Register::ESP => true,
        _ => false,
    }
}

/// The jump at `from` that leads to `to`. `None`: it is out of reach.
pub fn jump(from: Address, to: Address) -> Option<[u8; JUMP]> {
    let [a, b, c, d] = distance(from.offset(JUMP as i64), to)?.to_le_bytes();
    Some([0xe9, a, b, c, d])
}

/// The distance from the end of an instruction to an address. `None`: it is out of reach.
fn distance(end: Address, to: Address) -> Option<i32> {
    i32::try_from(to.0.wrapping_sub(end.0).cast_signed()).ok()
}
