//! Makes a process ready to be recorded that has run already.
//!
//! What [`start::prepare`] keeps from a program at its beginning, this one has already: the vDSO's functions, whose addresses libraries have looked
//! up, and memory in which the kernel writes the processor's number (rseq(2)).

use super::start;
use crate::linux::injected::{self, lost};
use crate::linux::memory::ProcessMemory;
use crate::linux::{process, ptrace, wait};
use crate::memory_map::Mapping;
use crate::{Address, ThreadId};
use object::{Object, ObjectSymbol};

/// The functions of the vDSO (vdso(7)), and the system calls that do the same.
const FUNCTIONS: [(&str, i64); 6] = [
    ("__vdso_clock_gettime", libc::SYS_clock_gettime),
    ("__vdso_gettimeofday", libc::SYS_gettimeofday),
    ("__vdso_time", libc::SYS_time),
    ("__vdso_clock_getres", libc::SYS_clock_getres),
    ("__vdso_getcpu", libc::SYS_getcpu),
    ("__vdso_getrandom", libc::SYS_getrandom),
];
/// The most instructions that a thread executes before it leaves the vDSO.
const MOST_STEPS: usize = 10_000;
/// `RSEQ_FLAG_UNREGISTER` (rseq(2)).
const UNREGISTER: u64 = 1;

/// Makes a process ready whose threads are all stopped, and not before the delivery of a signal.
///
/// # Errors
/// The end of a sentence that says why it can't be recorded. It runs on as before, but for slower clocks.
pub fn prepare(process: ThreadId, threads: &[ThreadId]) -> Result<(), String> {
    check_memory(process)?;
    for thread in threads {
        // It may be in a call in which it has made a process.
        injected::end_call(*thread)?;
    }
    let vdso = process::mappings(process)
        .into_iter()
        .find(|mapping| mapping.name == "[vdso]");
    if let Some(vdso) = &vdso {
        for thread in threads {
            leave(*thread, vdso)?;
        }
        replace_functions(process, vdso)?;
    }
    for (index, thread) in threads.iter().enumerate() {
        let made = unregister_rseq(*thread).and_then(|()| start::trap_time(*thread));
        made.inspect_err(|_| {
            for before in threads.iter().take(index) {
                // If it has died, nothing traps there.
                let _ = start::untrap_time(*before);
            }
        })?;
    }
    Ok(())
}

/// Checks that copies of the process get all its memory, and that nobody else writes there.
fn check_memory(process: ThreadId) -> Result<(), String> {
    let all = process::kinds_of_memory(process).map_err(lost)?;
    for (mapping, kind) in all {
        // Memory of the debugger, which the program knows nothing of.
        if kind.is_shared && kind.is_not_copied && mapping.name == injected::SHARED {
            continue;
        }
        let has_path = mapping.name.starts_with('/') && !mapping.name.ends_with(" (deleted)");
        if kind.is_shared && (mapping.write || !has_path) {
            return Err(format!(
                "it shares memory with others (at {:#x})",
                mapping.start
            ));
        }
        if kind.is_not_copied || kind.is_wiped {
            return Err(format!(
                "a copy would not have its memory at {:#x} (madvise)",
                mapping.start
            ));
        }
    }
    Ok(())
}

/// Lets a thread run until it is outside of the vDSO, with all signals blocked.
fn leave(thread: ThreadId, vdso: &Mapping) -> Result<(), String> {
    let is_in = || {
        let registers = ptrace::registers(thread).map_err(lost)?;
        Ok::<_, String>((vdso.start..vdso.end).contains(&registers.pc().0))
    };
    if !is_in()? {
        return Ok(());
    }
    let mask = ptrace::signal_mask(thread).map_err(lost)?;
    ptrace::set_signal_mask(thread, u64::MAX).map_err(lost)?;
    let mut left = MOST_STEPS;
    while left > 0 && is_in()? {
        left -= 1;
        ptrace::step(thread, 0).map_err(lost)?;
        let status = wait::raw_status_of(thread);
        if !status.is_some_and(|status| libc::WIFSTOPPED(status)) {
            return Err(injected::died(thread, status));
        }
    }
    ptrace::set_signal_mask(thread, mask).map_err(lost)?;
    match left {
        0 => Err("a thread doesn't leave the kernel's code that reads clocks".into()),
        _ => Ok(()),
    }
}

/// Makes the vDSO's functions make system calls.
fn replace_functions(process: ThreadId, vdso: &Mapping) -> Result<(), String> {
    let memory = ProcessMemory::open(process).map_err(lost)?;
    let mut bytes = vec![0; (vdso.end - vdso.start) as usize];
    let length = memory.read_some(Address(vdso.start), &mut bytes);
    bytes.truncate(length);
    let unread = |error: &dyn std::fmt::Display| format!("its vDSO can't be read: {error}");
    let file = object::File::parse(bytes.as_slice()).map_err(|error| unread(&error))?;
    for symbol in file.dynamic_symbols() {
        let name = symbol.name().map_err(|error| unread(&error))?;
        let Some((_, number)) = FUNCTIONS.iter().find(|(function, _)| *function == name) else {
            continue;
        };
        let code = call_of(*number);
        if symbol.size() < code.len() as u64 {
            return Err(format!("its vDSO's {name} is too short"));
        }
        let at = Address(vdso.start.saturating_add(symbol.address()));
        let written = memory.write(at, &code);
        written.map_err(|error| format!("its vDSO can't be changed: {error}"))?;
    }
    Ok(())
}

/// The code of a function that makes a system call with its own arguments.
fn call_of(number: i64) -> Vec<u8> {
    /// `cmp r8, -1`, and a jump over what follows unless that is so: the caller asks how large the state is that the function works with. It is told
    /// that there is no such function.
    const REFUSE_STATE: &[u8] = &[0x49, 0x83, 0xf8, 0xff, 0x75, 0x08];
    /// `mov rax, -ENOSYS; ret`
    const REFUSE: &[u8] = &[0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, 0xc3];
    let mut code = Vec::new();
    if number == libc::SYS_getrandom {
        code.extend_from_slice(REFUSE_STATE);
        code.extend_from_slice(REFUSE);
    }
    // `mov eax, number; syscall; ret`
    code.push(0xb8);
    code.extend_from_slice(&(number as u32).to_le_bytes());
    code.extend_from_slice(&[0x0f, 0x05, 0xc3]);
    code
}

/// Makes the kernel write the processor's number no more.
fn unregister_rseq(thread: ThreadId) -> Result<(), String> {
    let Some(rseq) = ptrace::rseq(thread) else {
        return Ok(());
    };
    let [at, size, signature] = rseq;
    let arguments = [at, size, UNREGISTER, signature, 0, 0];
    match injected::call(thread, libc::SYS_rseq, arguments, None)? {
        0 => Ok(()),
        answer => Err(format!(
            "the processor's number can't be kept from it: {}",
            injected::refused(answer)
        )),
    }
}
