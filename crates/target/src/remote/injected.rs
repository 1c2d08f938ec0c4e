//! A system call that a stopped thread behind a stub is made to call for the debugger.
//!
//! The thread is moved to a `syscall` instruction that is in its memory anyway, makes one step, and is put back. No code of the program runs
//! meanwhile. All other threads stand still.

use super::process::RemoteProcess;
use crate::memory_map::Mapping;
use crate::process::{Process, Resume};
use crate::wait_event::What;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use dapple_arch::instructions::SYSCALL;
use std::io;

/// How many bytes of all mappings together are searched for a `syscall` instruction: the vDSO has some.
const SEARCHED: u64 = 256 << 10;

/// Makes a stopped thread map `size` bytes of new memory for code at `address`. `from`: where a `syscall` instruction is, if it shouldn't be
/// looked for.
///
/// # Errors
/// The end of a sentence that says why not.
pub(super) fn map_code(
    process: &RemoteProcess,
    thread: ThreadId,
    address: Address,
    size: u64,
    from: Option<Address>,
) -> Result<(), String> {
    if process.link().replays() {
        return Err("the stub replays a recording".into());
    }
    let status = process.proc_file("status");
    let status = status.ok_or("the stub doesn't tell whether it may make system calls")?;
    let status = String::from_utf8_lossy(&status);
    let filter = status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp:"));
    if filter.is_some_and(|mode| mode.trim() != "0") {
        return Err("it runs under a filter of system calls (seccomp)".into());
    }
    let site = from.or_else(|| in_code(process));
    let site = site.ok_or("it has no `syscall` instruction in its memory")?;
    let word = |number: i32| i64::from(number).cast_unsigned();
    let protection = word(libc::PROT_READ | libc::PROT_EXEC);
    let flags = word(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE);
    let mapping = [address.0, size, protection, flags, word(-1), 0];
    let answer = call_from(process, thread, libc::SYS_mmap, mapping, site)?;
    match u64::try_from(answer) {
        Ok(at) if at == address.0 => Ok(()),
        // A kernel before 4.17 doesn't know the flag, and has chosen another place.
        Ok(elsewhere) => {
            let unmapping = [elsewhere, size, 0, 0, 0, 0];
            call_from(process, thread, libc::SYS_munmap, unmapping, site)?;
            Err(format!("there is no room at {address}"))
        }
        Err(_) => Err(io::Error::from_raw_os_error(-(answer as i32)).to_string()),
    }
}

/// Where a `syscall` instruction is in the program's code.
fn in_code(process: &RemoteProcess) -> Option<Address> {
    let mut code = process.mappings();
    code.retain(|mapping| mapping.execute && mapping.read);
    // First the smallest, which is the vDSO's.
    let size = |mapping: &Mapping| mapping.end.saturating_sub(mapping.start);
    code.sort_by_key(size);
    let mut left = SEARCHED;
    code.iter().find_map(|mapping| {
        let size = size(mapping).min(left);
        left -= size;
        let mut bytes = vec![0; size as usize];
        let count = process.read_some(Address(mapping.start), &mut bytes);
        let mut places = bytes[..count].windows(SYSCALL.len());
        let offset = places.position(|place| place == SYSCALL)?;
        Some(Address(mapping.start + offset as u64))
    })
}

/// Makes a stopped thread call a system call at a `syscall` instruction. Returns the kernel's answer: the result, or an error's number negated.
fn call_from(
    process: &RemoteProcess,
    thread: ThreadId,
    number: i64,
    arguments: [u64; 6],
    site: Address,
) -> Result<i64, String> {
    let lost = |error: io::Error| format!("the thread can't be moved: {error}");
    let registers = process.registers(thread).map_err(lost)?;
    let mut calling = registers;
    calling.set_call_at(site, number, arguments);
    process.set_registers(thread, &calling).map_err(lost)?;
    let answer = stepped(process, thread);
    process.set_registers(thread, &registers).map_err(lost)?;
    answer
}

/// Lets a thread make one step, and returns what is in `rax` then.
fn stepped(process: &RemoteProcess, thread: ThreadId) -> Result<i64, String> {
    let resumed = process.resume(thread, Resume::Step, 0);
    resumed.map_err(|_| "it has ended meanwhile")?;
    // Anything else than the step's end stays for whoever handles events.
    process
        .peek_event_of(thread)
        .ok_or("it has ended meanwhile")?;
    if !process.link().has_stepped(thread) {
        return Err("it was interrupted meanwhile".into());
    }
    match process.take_event(thread).map(|event| event.what) {
        Some(What::Signal(libc::SIGTRAP)) => {}
        _ => return Err("it has ended meanwhile".into()),
    }
    let registers = process
        .registers(thread)
        .map_err(|error| error.to_string())?;
    let answer = registers.to_dwarf().get(0);
    Ok(answer.unwrap_or_default().cast_signed())
}
