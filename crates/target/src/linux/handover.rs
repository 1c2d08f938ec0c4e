//! Hands a traced child from one tracer to another, possibly in another process.
//!
//! The kernel can't do that in one step: between one tracer's PTRACE_DETACH and the other's PTRACE_SEIZE the child is untraced, and it must
//! not execute an instruction of the program meanwhile. So the first tracer makes it sleep in a system call, poll(2) without files, with
//! all signals blocked. The new tracer then restores the child's registers, signal mask and code. If the child is stopped after a system
//! call of its own, as after a fork, that `syscall` instruction is reused, and the child's code isn't changed.
//!
//! The alternatives have side effects. A stop by SIGSTOP is reported to the child's parent: in a test the parent got one more SIGCHLD, and
//! waitpid(2) with WUNTRACED returned. A SIGSTOP passed to PTRACE_DETACH has no effect if the child isn't in a signal-delivery stop, so that
//! the child runs on. An instruction that jumps to itself would keep a CPU busy, for ever if both tracers are killed. The poll ends after
//! `GAP`: the child then runs on behind the `syscall`, with all signals blocked and the registers of the poll.

use crate::linux::injected::{self, died, lost};
use crate::linux::memory::ProcessMemory;
use crate::linux::ptrace;
use crate::linux::{attach, wait};
use crate::{Address, ThreadId};
use dapple_arch::instructions::SYSCALL;
use dapple_arch::registers::user::{REGISTER_WORDS, UserRegisters};

/// How long a child may be without a tracer, in milliseconds.
const GAP: u64 = 60_000;

/// The state of a child before it was made to sleep.
#[derive(Debug, Clone, Copy)]
pub struct Parked {
    registers: UserRegisters,
    /// The signals that the child blocks.
    mask: u64,
    /// The address of the `syscall` instruction that it sleeps in.
    site: Address,
    /// The bytes that the `syscall` instruction replaced; `None` if the instruction is the program's own.
    under: Option<[u8; 2]>,
    /// The child had forbidden tracing (`PR_SET_DUMPABLE`).
    forbidden: bool,
    /// The child descends from a process that its first tracer has launched.
    pub of_launched: bool,
}

const WORDS: usize = REGISTER_WORDS + 3;
const FLAG_UNDER: u64 = 1 << 16;
const FLAG_FORBIDDEN: u64 = 1 << 17;
const FLAG_LAUNCHED: u64 = 1 << 18;

impl Parked {
    /// The length of [`Parked::to_bytes`].
    pub const BYTES: usize = WORDS * 8;

    /// Encodes the state, to be sent to another process of this program.
    pub fn to_bytes(self) -> Vec<u8> {
        let under = self
            .under
            .map_or(0, |bytes| u64::from(u16::from_le_bytes(bytes)) | FLAG_UNDER);
        let flag = |set: bool, flag| if set { flag } else { 0 };
        let flags =
            flag(self.forbidden, FLAG_FORBIDDEN) | flag(self.of_launched, FLAG_LAUNCHED) | under;
        let mut words = self.registers.to_words().to_vec();
        words.extend([self.mask, self.site.0, flags]);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Decodes [`Parked::to_bytes`].
    pub fn from_bytes(bytes: &[u8; Parked::BYTES]) -> Parked {
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.try_into().map_or(0, u64::from_le_bytes);
        }
        let mut registers = [0; REGISTER_WORDS];
        registers.copy_from_slice(&words[..REGISTER_WORDS]);
        let [mask, site, flags] = [0, 1, 2].map(|index| words[REGISTER_WORDS + index]);
        let under = [flags as u8, (flags >> 8) as u8];
        Parked {
            registers: UserRegisters::from_words(registers),
            mask,
            site: Address(site),
            under: (flags & FLAG_UNDER != 0).then_some(under),
            forbidden: flags & FLAG_FORBIDDEN != 0,
            of_launched: flags & FLAG_LAUNCHED != 0,
        }
    }
}

/// Puts a child to sleep and detaches it; the process `tracer` may trace it from now on. The child must be stopped at its start, or, if it is
/// a vfork child, at its exec.
///
/// # Errors
/// A sentence that says why not; the child is then still traced, with its own registers, signal mask and code, or dead.
pub fn park(child: ThreadId, tracer: i32, of_launched: bool) -> Result<Parked, String> {
    if attach::is_filtered(child) {
        return Err(
            "it runs under a filter of system calls (seccomp), with which it can't be handed over"
                .into(),
        );
    }
    to_boundary(child)?;
    let registers = ptrace::registers(child).map_err(lost)?;
    let mask = ptrace::signal_mask(child).map_err(lost)?;
    let memory = ProcessMemory::open(child).map_err(lost)?;
    let (site, under) = system_call_for(&memory, registers.pc())?;
    let mut parked = Parked {
        registers,
        mask,
        site,
        under,
        forbidden: false,
        of_launched,
    };
    match sleep(child, tracer, &mut parked) {
        Ok(()) => Ok(parked),
        Err(reason) => {
            let _ = put_back(child, &parked);
            Err(reason)
        }
    }
}

fn sleep(child: ThreadId, tracer: i32, parked: &mut Parked) -> Result<(), String> {
    const NOT_DUMPABLE: i64 = 0;
    // From here on no code of the program runs, not even a signal handler.
    ptrace::set_signal_mask(child, u64::MAX).map_err(lost)?;
    let own = u64::from(std::process::id());
    if u64::try_from(tracer) != Ok(own) {
        // Without Yama, the kernel refuses this option. It isn't needed then, so the result is ignored.
        prctl(child, parked, libc::PR_SET_PTRACER, tracer as u64)?;
    }
    if prctl(child, parked, libc::PR_GET_DUMPABLE, 0)? == NOT_DUMPABLE {
        parked.forbidden = prctl(child, parked, libc::PR_SET_DUMPABLE, 1)? == 0;
    }
    let mut asleep = parked.registers;
    asleep.set_call_at(parked.site, libc::SYS_poll, [0, 0, GAP, 0, 0, 0]);
    ptrace::set_registers(child, &asleep).map_err(lost)?;
    ptrace::detach(child, 0).map_err(lost)
}

/// Undoes [`park`] for a stopped child that this thread now traces. If the poll has ended meanwhile, only restores the signal mask.
///
/// # Errors
/// The child has died, or can't be restored.
pub fn unpark(child: ThreadId, parked: &Parked) -> Result<(), String> {
    let now = ptrace::registers(child).map_err(lost)?;
    let behind = parked.site.offset(SYSCALL.len() as i64);
    let asleep = now.pc() == parked.site || now.pc() == behind && now.is_in_call(libc::SYS_poll);
    if !asleep {
        // The poll timed out, and the child has run on behind the `syscall`.
        tracing::warn!(%child, "a child that was to be followed has gone on meanwhile");
        return ptrace::set_signal_mask(child, parked.mask).map_err(lost);
    }
    if parked.forbidden {
        prctl(child, parked, libc::PR_SET_DUMPABLE, 0)?;
    }
    put_back(child, parked)
}

/// Undoes [`park`] for a child that no tracer has taken over, and lets it run without one.
pub fn take_back(child: ThreadId, parked: &Parked) {
    let taken = ptrace::seize(child, 0).and_then(|()| ptrace::interrupt(child));
    match taken {
        Ok(()) if wait::until_stopped(child) => {
            if let Err(reason) = unpark(child, parked) {
                tracing::warn!(%child, reason, "a child can't be let go");
            }
            let _ = ptrace::detach(child, 0);
        }
        Ok(()) => {}
        // The child has died, or another tracer has it.
        Err(error) => tracing::debug!(%child, %error, "a child is not taken back"),
    }
}

fn put_back(child: ThreadId, parked: &Parked) -> Result<(), String> {
    if let Some(under) = parked.under {
        let memory = ProcessMemory::open(child).map_err(lost)?;
        memory.write(parked.site, &under).map_err(lost)?;
    }
    let mut registers = parked.registers;
    registers.forget_system_call();
    ptrace::set_registers(child, &registers).map_err(lost)?;
    ptrace::set_signal_mask(child, parked.mask).map_err(lost)
}

/// Lets a stopped child run to its return to user space. After the stop of an exec or of a child's start, the kernel still writes registers
/// on the way there.
fn to_boundary(child: ThreadId) -> Result<(), String> {
    ptrace::interrupt(child).map_err(lost)?;
    ptrace::cont(child, 0).map_err(lost)?;
    match wait::raw_status_of(child) {
        Some(status) if libc::WIFSTOPPED(status) && status >> 16 == libc::PTRACE_EVENT_STOP => {
            Ok(())
        }
        status => Err(died(child, status)),
    }
}

/// The address of a `syscall` instruction for a child that continues at `pc`: the one right before `pc`, if there is one. If not, writes one
/// at `pc`, and also returns the bytes that it replaces.
fn system_call_for(
    memory: &ProcessMemory,
    pc: Address,
) -> Result<(Address, Option<[u8; 2]>), String> {
    let mut code = [0; 2];
    let before = pc.offset(-(SYSCALL.len() as i64));
    if memory.read(before, &mut code).is_ok() && code == SYSCALL {
        return Ok((before, None));
    }
    memory
        .read(pc, &mut code)
        .map_err(|_| format!("its code at {pc} can't be read"))?;
    memory.write(pc, &SYSCALL).map_err(lost)?;
    Ok((pc, Some(code)))
}

/// Makes a child that is about to be parked or unparked call prctl(2), and returns the result.
fn prctl(child: ThreadId, parked: &Parked, option: i32, argument: u64) -> Result<i64, String> {
    let mut registers = parked.registers;
    let arguments = [u64::from(option.cast_unsigned()), argument, 0, 0, 0, 0];
    registers.set_call_at(parked.site, libc::SYS_prctl, arguments);
    ptrace::set_registers(child, &registers).map_err(lost)?;
    injected::run_call(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_child_was_like_survives_the_way_to_another_process() {
        let mut words = [0; REGISTER_WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            *word = index as u64 | 0xabcd_0000_0000_0000;
        }
        for (under, forbidden, of_launched) in [
            (None, false, true),
            (Some([0x90, 0xcc]), true, false),
            (Some([0, 0]), true, true),
        ] {
            let parked = Parked {
                registers: UserRegisters::from_words(words),
                mask: 1 << 63 | 5,
                site: Address(0x7fff_1234),
                under,
                forbidden,
                of_launched,
            };
            let bytes = parked.to_bytes();
            let bytes: &[u8; Parked::BYTES] = bytes.as_slice().try_into().expect("that many");
            let back = Parked::from_bytes(bytes);
            assert_eq!(back.registers.to_words(), words);
            assert_eq!((back.mask, back.site), (parked.mask, parked.site));
            assert_eq!(
                (back.under, back.forbidden, back.of_launched),
                (under, forbidden, of_launched)
            );
        }
    }
}
