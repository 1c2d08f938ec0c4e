//! Finds where control lands when frames are left without a return: the landing pad of a C++ exception or a Rust panic, and the target of
//! a `longjmp`.
//!
//! The runtimes have functions that every throw and every jump passes just before it lands (the *landing hooks*): `_Unwind_SetIP`, whose
//! second argument is the landing pad, and the `longjmp` family, whose first argument is the `jmp_buf`. Steps and frames whose end has to be
//! noticed have sites there while needed, each under its own [`Reason`]; inferior calls have sites at the `longjmp` family only. This module
//! says what a thread at such a site is about to do.

use super::Owner;
use crate::breakpoints::site::Reason;
use crate::step::Landing;
use crate::{Address, ThreadId};
use dapple_arch::Machine;
use dapple_arch::abi::{POINTER_GUARD, jump_buffer};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::inspect::Inspect;

/// A throw or jump that is about to land.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leap {
    pub(super) how: Landing,
    /// The address at which the throw or jump lands. `None`: it can't be read, or (a jump) it is in no module.
    pub(super) to: Option<Address>,
}

impl Owner {
    /// Inserts sites at the landing hooks of all modules. `purpose` begins the warning if that fails ("... can't see exceptions and jumps").
    pub(super) fn insert_landing_hooks(&mut self, reason: Reason, purpose: &str) {
        let hooks = self.modules().iter().flat_map(|module| {
            let landing = module.landing_hook().into_iter();
            landing.chain(module.jump_hooks().iter().copied())
        });
        for hook in hooks.collect::<Vec<_>>() {
            if let Err(error) = self.insert_site(hook, reason) {
                tracing::warn!(%hook, %error, "{purpose} can't see exceptions and jumps");
            }
        }
    }

    /// The throw or jump that a thread with these registers is about to make. `None`: it is at no landing hook.
    pub(super) fn leap(&self, registers: &UserRegisters) -> Option<Leap> {
        let pc = registers.pc();
        if self.modules().iter().any(|m| m.landing_hook() == Some(pc)) {
            let to = match registers.machine() {
                Machine::Arm => Some(self.landing_pad_of_arm(registers)?),
                _ => registers.argument(1).map(Address),
            };
            return Some(Leap {
                how: Landing::Thrown,
                to,
            });
        }
        self.is_at_jump_hook(pc).then(|| Leap {
            how: Landing::Jumped,
            to: self.jump_target(registers),
        })
    }

    /// The landing pad that the program counter is set to. `None`: another register is set, or to where a frame returns, of each frame that the
    /// exception passes.
    fn landing_pad_of_arm(&self, registers: &UserRegisters) -> Option<Address> {
        /// `_UVRSC_CORE`: the general registers.
        const GENERAL: u64 = 0;
        let machine = registers.machine();
        let is_pc = registers.argument(1) == Some(GENERAL)
            && registers.argument(2) == Some(machine.pc().into());
        if !is_pc {
            return None;
        }
        // The fifth argument is on the stack.
        let memory = self.memory();
        let value = memory.read_address(Address(registers.sp())).ok()?;
        let target = machine.code_address(memory.read_address(Address(value)).ok()?);
        let module = self.modules().at(target)?;
        let file = module.to_file(target);
        let table = module.module.exception_table(file).ok()??;
        let pads = table.call_sites.iter();
        let mut pads = pads.filter_map(|site| site.landing_pad.as_ref());
        pads.any(|pad| module.module.machine().code_address(pad.address.0).0 == file.0)
            .then_some(target)
    }

    pub(super) fn is_at_jump_hook(&self, pc: Address) -> bool {
        self.modules().iter().any(|m| m.jump_hooks().contains(&pc))
    }

    /// The target address of a `longjmp` at whose first instruction a thread with these registers is. `None`: it can't be read, or is in no
    /// module.
    fn jump_target(&self, registers: &UserRegisters) -> Option<Address> {
        let fields = jump_buffer(registers.machine());
        let targets = self.jump_buffer(registers, fields.pc)?;
        let targets = targets.map(|target| registers.machine().code_address(target.0));
        let is_code = |target: &Address| self.modules().at(*target).is_some();
        targets.into_iter().find(is_code)
    }

    /// The stack pointer that a `longjmp` will set, at whose first instruction a thread with these registers is: two candidates, as from
    /// [`Owner::jump_buffer`].
    pub(super) fn jump_stacks(&self, registers: &UserRegisters) -> Option<[Address; 2]> {
        self.jump_buffer(registers, jump_buffer(registers.machine()).sp)
    }

    /// Two readings of the address in a field of the `jmp_buf` that `longjmp` was called with: decoded, for glibc, which encodes it
    /// (`PTR_MANGLE`); and as it is, for musl. `None`: memory can't be read.
    fn jump_buffer(&self, registers: &UserRegisters, field: i64) -> Option<[Address; 2]> {
        let buffer = Address(registers.argument(0)?);
        let kept = self.memory().read_address(buffer.offset(field)).ok()?;
        let decoded = match registers.machine() {
            Machine::X86_64 => {
                let block = Address(registers.to_dwarf().thread_pointer()?);
                let guard = self.memory().read_u64(block.offset(POINTER_GUARD)).ok()?;
                kept.rotate_right(17) ^ guard
            }
            // In a variable of the dynamic linker's, where addresses are encoded at all.
            _ => kept ^ self.pointer_guard().unwrap_or(0),
        };
        Some([decoded, kept].map(Address))
    }

    /// The value of the dynamic linker's variable with which glibc encodes addresses in a `jmp_buf` on aarch64.
    fn pointer_guard(&self) -> Option<u64> {
        let at = self.modules().iter().find_map(|module| {
            let symbol = module.module.symbol_named("__pointer_chk_guard")?;
            Some(module.to_process(symbol.address))
        });
        self.memory().read_address(at?).ok()
    }

    /// Called when a thread is at a landing hook. If the thread has frames whose end has to be noticed, inserts a site where it will land, to
    /// check there whether it has left them.
    pub(super) fn frames_left(&mut self, thread: ThreadId) {
        if !self.has_watched_frames(thread) {
            return;
        }
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let Some(address) = self.leap(&registers).and_then(|leap| leap.to) else {
            return;
        };
        if let Err(error) = self.insert_site(address, Reason::FrameEnd) {
            tracing::warn!(%address, %error, "the end of a frame can't be noticed");
        }
    }
}
