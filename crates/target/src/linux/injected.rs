//! System calls that a stopped thread is made to call for the debugger.
//!
//! The thread is moved to a `syscall` instruction that is in its memory anyway, runs this one instruction with all signals blocked, and is put
//! back. No code of the program runs meanwhile.

use crate::linux::memory::ProcessMemory;
use crate::linux::{attach, process, ptrace, wait};
use crate::memory_map::Mapping;
use crate::{Address, ThreadId};
use dapple_arch::instructions::SYSCALL;
use rustix::fs::{SealFlags, fcntl_add_seals};
use std::ffi::CStr;
use std::fs::File;
use std::io;

/// The most stops that a thread may report on its way to the entry or the exit of a system call.
const MOST_STOPS: usize = 64;
/// How many bytes of a mapping are searched for a `syscall` instruction.
const SEARCHED: u64 = 1 << 20;

/// What the memory map calls memory that [`share`] has made.
pub(super) const SHARED: &str = "/memfd: (deleted)";

const ENDED: &str = "it has ended meanwhile";

/// Makes a stopped thread map `size` bytes of new memory for code at `address`, where there is none. `writable`: the code may write it. `from`: where
/// a `syscall` instruction is, if it shouldn't be looked for.
///
/// # Errors
/// The end of a sentence that says why not.
pub fn map_code(
    thread: ThreadId,
    address: Address,
    size: u64,
    writable: bool,
    from: Option<Address>,
) -> Result<(), String> {
    let write = if writable { libc::PROT_WRITE } else { 0 };
    let protection = libc::PROT_READ | libc::PROT_EXEC | write;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let no_file = word(-1);
    let arguments = [address.0, size, word(protection), word(flags), no_file, 0];
    let answer = call(thread, libc::SYS_mmap, arguments, from)?;
    match u64::try_from(answer) {
        Ok(at) if at == address.0 => Ok(()),
        // A kernel before 4.17 doesn't know the flag, and has chosen another place.
        Ok(elsewhere) => {
            let arguments = [elsewhere, size, 0, 0, 0, 0];
            call(thread, libc::SYS_munmap, arguments, from)?;
            Err(format!("there is no room at {address}"))
        }
        Err(_) => Err(refused(answer)),
    }
}

pub(super) fn word(number: i32) -> u64 {
    i64::from(number).cast_unsigned()
}

pub(super) fn refused(answer: i64) -> String {
    io::Error::from_raw_os_error(-(answer as i32)).to_string()
}

/// Makes a stopped thread map `size` bytes of new memory that the debugger shares: zeros at first. Returns where they are, and the file of
/// memory that has them. Children of the process that are forked don't have the memory. `from`: as in [`map_code`].
///
/// # Errors
/// The end of a sentence that says why not.
pub fn share(
    thread: ThreadId,
    size: u64,
    from: Option<Address>,
) -> Result<(Address, File), String> {
    let answered = |number, arguments| answered(thread, number, arguments, from);
    // A larger file would end the process (setrlimit(2)).
    if process::most_file_size(thread).is_some_and(|most| most < size) {
        return Err("its files may not be so large (RLIMIT_FSIZE)".into());
    }
    let name = in_code(thread, &[0]).ok_or("it has no zero in its memory")?;
    let flags = u64::from(libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
    let file = answered(libc::SYS_memfd_create, [name.0, flags, 0, 0, 0, 0])?;
    let mapped = (|| {
        answered(libc::SYS_ftruncate, [file, size, 0, 0, 0, 0])?;
        let ours = format!("/proc/{}/fd/{file}", thread.0);
        let ours = File::options().read(true).write(true).open(ours);
        let ours = ours.map_err(|error| error.to_string())?;
        // The debugger must be able to rely on the memory.
        fcntl_add_seals(&ours, SealFlags::SHRINK).map_err(|error| error.to_string())?;
        let protection = word(libc::PROT_READ | libc::PROT_WRITE);
        let arguments = [0, size, protection, word(libc::MAP_SHARED), file, 0];
        let at = answered(libc::SYS_mmap, arguments)?;
        let alone = [at, size, word(libc::MADV_DONTFORK), 0, 0, 0];
        answered(libc::SYS_madvise, alone)?;
        Ok((Address(at), ours))
    })();
    answered(libc::SYS_close, [file, 0, 0, 0, 0, 0])?;
    mapped
}

/// Makes a stopped thread open a file for reading. Returns the descriptor.
pub(super) fn open(thread: ThreadId, path: &CStr) -> Result<u64, String> {
    let answered = |number, arguments| answered(thread, number, arguments, None);
    let path = path.to_bytes_with_nul();
    let size = path.len() as u64;
    let protection = word(libc::PROT_READ | libc::PROT_WRITE);
    let flags = word(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let room = answered(libc::SYS_mmap, [0, size, protection, flags, word(-1), 0])?;
    let written = ProcessMemory::open(thread).and_then(|it| it.write(Address(room), path));
    let opened = written.map_err(lost).and_then(|()| {
        let flags = word(libc::O_RDONLY | libc::O_CLOEXEC);
        let arguments = [word(libc::AT_FDCWD), room, flags, 0, 0, 0];
        answered(libc::SYS_openat, arguments)
    });
    answered(libc::SYS_munmap, [room, size, 0, 0, 0, 0])?;
    opened
}

/// As [`call`], but an error's number is an error.
pub(super) fn answered(
    thread: ThreadId,
    number: i64,
    arguments: [u64; 6],
    from: Option<Address>,
) -> Result<u64, String> {
    let answer = call(thread, number, arguments, from)?;
    u64::try_from(answer).map_err(|_| refused(answer))
}

/// Makes a stopped thread call a system call. Returns the kernel's answer: the result, or an error's number negated.
pub(super) fn call(
    thread: ThreadId,
    number: i64,
    arguments: [u64; 6],
    from: Option<Address>,
) -> Result<i64, String> {
    Ok(call_making(thread, number, arguments, from)?.0)
}

/// Where a thread can be made to call, without a look at its memory.
pub fn place_of_calls(thread: ThreadId) -> Option<Address> {
    in_code(thread, &SYSCALL)
}

/// As [`call`]. Also returns the thread or process that the call has made, which is traced.
pub(super) fn call_making(
    thread: ThreadId,
    number: i64,
    arguments: [u64; 6],
    from: Option<Address>,
) -> Result<(i64, Option<ThreadId>), String> {
    if attach::has_own_filter(thread) {
        return Err("it runs under a filter of system calls (seccomp)".into());
    }
    let site = from.or_else(|| in_code(thread, &SYSCALL));
    let site = site.ok_or("it has no `syscall` instruction in its memory")?;
    call_from(thread, number, arguments, site)
}

/// As [`call_making`], where a `syscall` instruction is at `site`. Takes no memory of its own, unless it fails.
pub(super) fn call_from(
    thread: ThreadId,
    number: i64,
    arguments: [u64; 6],
    site: Address,
) -> Result<(i64, Option<ThreadId>), String> {
    let registers = ptrace::registers(thread).map_err(lost)?;
    let mask = ptrace::signal_mask(thread).map_err(lost)?;
    ptrace::set_signal_mask(thread, u64::MAX).map_err(lost)?;
    let mut calling = registers;
    calling.set_call_at(site, number, arguments);
    let answer = ptrace::set_registers(thread, &calling)
        .map_err(lost)
        .and_then(|()| run_making(thread));
    ptrace::set_registers(thread, &registers).map_err(lost)?;
    if registers.restarts_system_call() {
        stop_again(thread)?;
    }
    ptrace::set_signal_mask(thread, mask).map_err(lost)?;
    answer
}

/// Stops a thread, which is at the exit of a system call, where the kernel looks for signals: only behind such a stop it restarts the system call
/// that the thread's registers tell of.
fn stop_again(thread: ThreadId) -> Result<(), String> {
    ptrace::interrupt(thread).map_err(lost)?;
    for _ in 0..MOST_STOPS {
        ptrace::cont(thread, 0).map_err(lost)?;
        let status = wait::raw_status_of(thread);
        let Some(stop) = status.filter(|status| libc::WIFSTOPPED(*status)) else {
            return Err(died(thread, status));
        };
        match stop >> 16 {
            libc::PTRACE_EVENT_STOP => return Ok(()),
            libc::PTRACE_EVENT_EXIT => return Err(died(thread, status)),
            _ => {}
        }
    }
    Err("it does not stop".into())
}

/// The address of these bytes: in the vDSO, or else in any code.
fn in_code(thread: ThreadId, bytes: &[u8]) -> Option<Address> {
    let memory = ProcessMemory::open(thread).ok()?;
    let mut mappings = process::mappings(thread);
    mappings.retain(|mapping| mapping.read && mapping.execute && mapping.name != "[vsyscall]");
    mappings.sort_by_key(|mapping| mapping.name != "[vdso]");
    let within = |mapping: Mapping| {
        let mut code = vec![0; (mapping.end - mapping.start).min(SEARCHED) as usize];
        memory.read(Address(mapping.start), &mut code).ok()?;
        let found = code.windows(bytes.len()).position(|some| some == bytes)?;
        Some(Address(mapping.start + found as u64))
    };
    mappings.into_iter().find_map(within)
}

/// Lets a thread run to the exit of the system call that it is in, in which it has stopped because it has made a process or a thread, or has
/// executed a program. No instruction of it runs. `false`: it isn't in such a stop.
///
/// # Errors
/// The end of a sentence that says why not.
pub fn end_call(thread: ThreadId) -> Result<bool, String> {
    let is_within = ptrace::is_within_system_call(thread);
    if is_within {
        to_system_call(thread)?;
    }
    Ok(is_within)
}

/// Runs the system call that a thread is about to call, and returns its answer.
pub(super) fn run_call(thread: ThreadId) -> Result<i64, String> {
    Ok(run_making(thread)?.0)
}

fn run_making(thread: ThreadId) -> Result<(i64, Option<ThreadId>), String> {
    // To the entry of the call, and to its exit.
    to_system_call(thread)?;
    let made = to_system_call(thread)?;
    let registers = ptrace::registers(thread).map_err(lost)?;
    Ok((registers.answer(), made))
}

/// Lets a thread run to the entry or the exit of a system call. Returns the thread or process that it makes meanwhile.
pub(super) fn to_system_call(thread: ThreadId) -> Result<Option<ThreadId>, String> {
    let mut signal = 0;
    let mut made = None;
    for _ in 0..MOST_STOPS {
        ptrace::cont_to_system_call(thread, signal).map_err(lost)?;
        let status = wait::raw_status_of(thread);
        let Some(stop) = status.filter(|status| libc::WIFSTOPPED(*status)) else {
            return Err(died(thread, status));
        };
        signal = match stop >> 16 {
            0 if libc::WSTOPSIG(stop) == libc::SIGTRAP | 0x80 => return Ok(made),
            // SIGSTOP, which can't be blocked, is delivered; the stop takes effect when the thread isn't traced any more.
            0 => libc::WSTOPSIG(stop),
            libc::PTRACE_EVENT_EXIT => return Err(died(thread, status)),
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK => {
                let id = ptrace::event_message(thread).map_err(lost)?;
                made = Some(ThreadId(id as i32));
                0
            }
            _ => 0,
        };
    }
    Err("it does not come to a system call".into())
}

/// The error for a thread that was killed meanwhile; the next wait reports its end.
pub(super) fn died(thread: ThreadId, status: Option<i32>) -> String {
    if status.is_some_and(|status| libc::WIFSTOPPED(status)) {
        let _ = ptrace::cont(thread, 0);
    }
    ENDED.into()
}

pub(super) fn lost(error: io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ESRCH) => ENDED.into(),
        _ => error.to_string(),
    }
}
