//! Handing a traced child from one tracer to another, which may be another process.
//!
//! The kernel has no way to do that at once: between the one's PTRACE_DETACH and the other's PTRACE_SEIZE nobody traces the child,
//! and it must not run an instruction of the program meanwhile. So it gets into a system call that sleeps, poll(2) without
//! files, with all signals blocked; the new tracer puts back everything. Its text stays as it is where it stands behind a system
//! call of its own, as after a fork, and that instruction is used again.
//!
//! What else could hold it has effects. A stop by SIGSTOP is told to the child's parent: tried, that got one SIGCHLD more, and
//! waitpid(2) with WUNTRACED answered; and a SIGSTOP given to PTRACE_DETACH is dropped where the child isn't stopped by a signal, so
//! that it runs away. An instruction that jumps to itself would keep a processor busy, for ever when both tracers are killed. The
//! call ends, after `GAP`: the child then runs on, with all signals blocked.

use crate::linux::memory::ProcessMemory;
use crate::linux::ptrace;
use crate::linux::{attach, wait};
use crate::{Address, ThreadId};
use dapple_arch::registers::user::{REGISTER_WORDS, UserRegisters};
use std::io;

/// How long a child may be without a tracer, in milliseconds.
const GAP: u64 = 60_000;

/// `syscall`.
const SYSTEM_CALL: [u8; 2] = [0x0f, 0x05];

/// More stops than come before a system call that a stopped thread is made to do.
const MOST_STOPS: usize = 64;

const ENDED: &str = "it has ended meanwhile";

/// What a child was like before it was made to sleep.
#[derive(Debug, Clone, Copy)]
pub struct Parked {
    registers: UserRegisters,
    /// The signals it blocks.
    mask: u64,
    /// Where the system call is.
    site: Address,
    /// What was there, if that isn't the program's own.
    under: Option<[u8; 2]>,
    /// It had forbidden to be traced (`PR_SET_DUMPABLE`).
    forbidden: bool,
    /// It descends from what its first tracer has launched.
    pub of_launched: bool,
}

const WORDS: usize = REGISTER_WORDS + 3;
const FLAG_UNDER: u64 = 1 << 16;
const FLAG_FORBIDDEN: u64 = 1 << 17;
const FLAG_LAUNCHED: u64 = 1 << 18;

impl Parked {
    /// How many bytes it is written as.
    pub const BYTES: usize = WORDS * 8;

    /// For another process of this program.
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

    /// The same back.
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

/// Makes a child sleep that waits at its first instruction, and ends tracing it; `tracer` may trace it from now on.
///
/// # Errors
/// A sentence; then it is still traced and as it was, or dead.
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
    // From here on nothing of the program runs, not even a handler.
    ptrace::set_signal_mask(child, u64::MAX).map_err(lost)?;
    let own = u64::from(std::process::id());
    if u64::try_from(tracer) != Ok(own) {
        // Refused where there's no Yama, and not needed there.
        prctl(child, parked, libc::PR_SET_PTRACER, tracer as u64)?;
    }
    if prctl(child, parked, libc::PR_GET_DUMPABLE, 0)? == NOT_DUMPABLE {
        parked.forbidden = prctl(child, parked, libc::PR_SET_DUMPABLE, 1)? == 0;
    }
    let mut asleep = parked.registers;
    asleep.set_call_at(parked.site, libc::SYS_poll, [0, 0, GAP]);
    ptrace::set_registers(child, &asleep).map_err(lost)?;
    ptrace::detach(child, 0).map_err(lost)
}

/// Undoes what [`park`] did to a child that this thread traces now, and that is stopped.
///
/// # Errors
/// It has died.
pub fn unpark(child: ThreadId, parked: &Parked) -> Result<(), String> {
    let now = ptrace::registers(child).map_err(lost)?;
    let behind = parked.site.offset(SYSTEM_CALL.len() as i64);
    let asleep = now.pc() == parked.site || now.pc() == behind && now.is_in_call(libc::SYS_poll);
    if !asleep {
        // Nobody came in time: it runs on where it was.
        tracing::warn!(%child, "a child that was to be followed has gone on meanwhile");
        return ptrace::set_signal_mask(child, parked.mask).map_err(lost);
    }
    if parked.forbidden {
        prctl(child, parked, libc::PR_SET_DUMPABLE, 0)?;
    }
    put_back(child, parked)
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

/// Brings a stopped child to where it would go on in the program: an exec or a birth may have to be left first, for the kernel
/// still writes registers on its way out of those.
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

/// A system call instruction for a child that goes on at `pc`: the one that it comes from, or one put there, with what it is put on.
fn system_call_for(
    memory: &ProcessMemory,
    pc: Address,
) -> Result<(Address, Option<[u8; 2]>), String> {
    let mut code = [0; 2];
    let before = pc.offset(-(SYSTEM_CALL.len() as i64));
    if memory.read(before, &mut code).is_ok() && code == SYSTEM_CALL {
        return Ok((before, None));
    }
    memory
        .read(pc, &mut code)
        .map_err(|_| format!("its code at {pc} can't be read"))?;
    memory.write(pc, &SYSTEM_CALL).map_err(lost)?;
    Ok((pc, Some(code)))
}

/// Has a parked child call prctl(2); its answer.
fn prctl(child: ThreadId, parked: &Parked, option: i32, argument: u64) -> Result<i64, String> {
    let mut registers = parked.registers;
    let arguments = [u64::from(option.cast_unsigned()), argument, 0];
    registers.set_call_at(parked.site, libc::SYS_prctl, arguments);
    ptrace::set_registers(child, &registers).map_err(lost)?;
    // Into the call, and out of it.
    to_system_call(child)?;
    to_system_call(child)?;
    let registers = ptrace::registers(child).map_err(lost)?;
    Ok(registers.answer())
}

fn to_system_call(child: ThreadId) -> Result<(), String> {
    let mut signal = 0;
    for _ in 0..MOST_STOPS {
        ptrace::to_system_call(child, signal).map_err(lost)?;
        let status = wait::raw_status_of(child);
        let Some(stop) = status.filter(|status| libc::WIFSTOPPED(*status)) else {
            return Err(died(child, status));
        };
        signal = match stop >> 16 {
            0 if libc::WSTOPSIG(stop) == libc::SIGTRAP | 0x80 => return Ok(()),
            // SIGSTOP, which can't be blocked: it holds the child when it is not traced any more.
            0 => libc::WSTOPSIG(stop),
            libc::PTRACE_EVENT_EXIT => return Err(died(child, status)),
            _ => 0,
        };
    }
    Err("it does not come to a system call".into())
}

/// A child was killed while it was worked on; its end is told by the next wait.
fn died(child: ThreadId, status: Option<i32>) -> String {
    if status.is_some_and(|status| libc::WIFSTOPPED(status)) {
        let _ = ptrace::cont(child, 0);
    }
    ENDED.into()
}

fn lost(error: io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ESRCH) => ENDED.into(),
        _ => error.to_string(),
    }
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
