//! Makes a process ready to be recorded: nothing but system calls, signals and trapping instructions tell it anything from outside.

use crate::linux::injected::{self, lost};
use crate::linux::memory::ProcessMemory;
use crate::linux::{process, ptrace, wait};
use crate::{Address, ThreadId};

/// Makes a process ready that has just executed its program and is stopped there. Afterwards it is stopped behind the system call that has
/// executed the program.
///
/// # Errors
/// The end of a sentence that says why it can't be recorded.
pub fn prepare(thread: ThreadId) -> Result<(), String> {
    ptrace::cont_to_system_call(thread, 0).map_err(lost)?;
    if !wait::until_stopped(thread) {
        return Err("it has ended".into());
    }
    hide_vdso(thread)?;
    trap_time(thread)
}

/// Makes instructions trap that read the processor's time, in a stopped thread and those that it makes.
///
/// # Errors
/// The end of a sentence that says why that can't be.
pub fn trap_time(thread: ThreadId) -> Result<(), String> {
    set_time(thread, libc::PR_TSC_SIGSEGV)
}

/// Lets instructions read the processor's time again in a stopped thread: a child that was forked and isn't recorded.
///
/// # Errors
/// The end of a sentence that says why that can't be.
pub fn untrap_time(thread: ThreadId) -> Result<(), String> {
    set_time(thread, libc::PR_TSC_ENABLE)
}

fn set_time(thread: ThreadId, how: i32) -> Result<(), String> {
    let arguments = [libc::PR_SET_TSC as u64, how as u64, 0, 0, 0, 0];
    match injected::call(thread, libc::SYS_prctl, arguments, None)? {
        0 => Ok(()),
        answer => Err(format!(
            "the processor's time can't be kept from it: {}",
            injected::refused(answer)
        )),
    }
}

/// The processor's time.
pub(super) fn time() -> u64 {
    // SAFETY: all processors of this architecture have the instruction, which only writes registers.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Takes the vDSO out of the auxiliary vector that the program finds on its stack (getauxval(3)): its functions would read clocks without
/// system calls.
fn hide_vdso(thread: ThreadId) -> Result<(), String> {
    let memory = ProcessMemory::open(thread).map_err(lost)?;
    let bytes = process::auxiliary_bytes(thread).map_err(|error| error.to_string())?;
    let found = bytes
        .chunks_exact(16)
        .position(|entry| entry[..8] == libc::AT_SYSINFO_EHDR.to_le_bytes());
    let Some(index) = found else {
        return Ok(());
    };
    let vector = vector_on_stack(thread, &memory, &bytes)?;
    let key = vector.offset(16 * index as i64);
    memory
        .write(key, &libc::AT_IGNORE.to_le_bytes())
        .map_err(|error| error.to_string())
}

/// `rdtsc`, and `rdtscp`, which also reads the processor's number.
const TIME: [u8; 2] = [0x0f, 0x31];
const TIME_AND_PROCESSOR: [u8; 3] = [0x0f, 0x01, 0xf9];

/// If a thread has trapped because it reads the processor's time: does that for it. Returns the time, and the processor's number if that was
/// asked for.
pub(super) fn read_time(thread: ThreadId, memory: &ProcessMemory) -> Option<(u64, Option<u32>)> {
    let mut registers = ptrace::registers(thread).ok()?;
    let info = ptrace::signal_info(thread).ok()?;
    let mut code = [0; 3];
    let length = memory.read_some(registers.pc(), &mut code);
    if info.code != libc::SI_KERNEL {
        return None;
    }
    let processor = match &code[..length] {
        [a, b, ..] if [*a, *b] == TIME => None,
        code if *code == TIME_AND_PROCESSOR => Some(0),
        _ => return None,
    };
    let now = time();
    registers.set_time(now, processor);
    ptrace::set_registers(thread, &registers).ok()?;
    Some((now, processor))
}

/// Where the auxiliary vector is: behind the environment (ABI §3.4.1).
fn vector_on_stack(
    thread: ThreadId,
    memory: &ProcessMemory,
    vector: &[u8],
) -> Result<Address, String> {
    /// The most words of arguments and environment.
    const MOST: usize = 1 << 20;
    let sp = Address(ptrace::registers(thread).map_err(lost)?.sp());
    let mut at = sp;
    let mut ends = 0;
    for _ in 0..MOST {
        let mut word = [0; 8];
        at = at.offset(8);
        memory
            .read(at, &mut word)
            .map_err(|at| format!("its stack can't be read at {at}"))?;
        if word == [0; 8] {
            ends += 1;
        }
        if ends == 2 {
            let mut found = vec![0; vector.len()];
            let at = at.offset(8);
            let is_read = memory.read(at, &mut found).is_ok();
            return match is_read && found == vector {
                true => Ok(at),
                false => Err("its auxiliary vector is elsewhere".into()),
            };
        }
    }
    Err("its environment is too large".into())
}
