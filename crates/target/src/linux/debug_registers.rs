//! The debug registers of one thread (Intel SDM volume 3, chapter 19.2). The kernel gives a new thread or process empty ones, and clears
//! them at exec. It doesn't clear them at detach, so the debugger must.

use crate::ThreadId;
use dapple_arch::watch_slots::{HITS, SLOTS, Slot};
use std::io;

const STATUS: usize = 6;
const CONTROL: usize = 7;

fn offset(register: usize) -> usize {
    std::mem::offset_of!(libc::user, u_debugreg) + register * size_of::<u64>()
}

fn poke(thread: ThreadId, register: usize, value: u64) -> io::Result<()> {
    // SAFETY: PTRACE_POKEUSER takes an offset and a word, both plain numbers.
    let result = unsafe { libc::ptrace(libc::PTRACE_POKEUSER, thread.0, offset(register), value) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The status register of a stopped thread: which slots were hit since the last call, as bits from the lowest, and whether the thread has
/// executed a single step. Clears the register if a slot was hit.
pub fn take_status(thread: ThreadId) -> io::Result<u64> {
    // SAFETY: PTRACE_PEEKUSER takes an offset; glibc's wrapper gives the word as its result.
    let status = unsafe { libc::ptrace(libc::PTRACE_PEEKUSER, thread.0, offset(STATUS), 0) };
    if status == -1 {
        // The register's upper half is always clear, so its value is never -1.
        return Err(io::Error::last_os_error());
    }
    let status = status.cast_unsigned();
    if status & HITS != 0 {
        poke(thread, STATUS, 0)?;
    }
    Ok(status)
}

/// Whether any slot of a stopped thread is enabled; `false` if that can't be read.
pub fn are_in_use(thread: ThreadId) -> bool {
    // SAFETY: as in `take_status`. A word of ones is an error.
    let control = unsafe { libc::ptrace(libc::PTRACE_PEEKUSER, thread.0, offset(CONTROL), 0) };
    control != -1 && control & 0xff != 0
}

/// Makes a stopped thread trap after accesses to these slots, and disables all others.
pub fn set(thread: ThreadId, slots: &[Option<Slot>; SLOTS]) -> io::Result<()> {
    // When an address is set, the kernel checks it against the control register, so all slots are disabled meanwhile.
    poke(thread, CONTROL, 0)?;
    let mut control = 0;
    for (index, slot) in slots.iter().enumerate() {
        let Some(slot) = slot else { continue };
        poke(thread, index, slot.address)?;
        let kind: u64 = if slot.reads { 0b11 } else { 0b01 };
        let length: u64 = match slot.length {
            1 => 0b00,
            2 => 0b01,
            4 => 0b11,
            _ => 0b10,
        };
        control |= 1 << (2 * index) | (kind | length << 2) << (16 + 4 * index);
    }
    match control {
        0 => Ok(()),
        control => poke(thread, CONTROL, control),
    }
}
