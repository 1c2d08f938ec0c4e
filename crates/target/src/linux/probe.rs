//! Processes forked for a check, and the operations tried on them. Call on a thread that traces nothing else.

use crate::linux::{attach, debug_registers, ptrace, wait};
use crate::{Error, ThreadId};
use dapple_arch::watch_slots::Slot;
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that a subject writes to, at the same address as in this process.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// A process that waits for a byte in a pipe, or for the pipe's end, which comes when this value is dropped. Then the process writes to
/// [`WRITTEN`] and ends.
struct Subject {
    process: ThreadId,
    go: PipeWriter,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kin {
    /// A child of the calling process.
    Child,
    /// A process whose parent has ended.
    Stranger,
}

impl Subject {
    fn start(kin: Kin) -> io::Result<Subject> {
        let (go_read, go) = io::pipe()?;
        let (mut told, tell) = io::pipe()?;
        let ends = (go_read.as_raw_fd(), go.as_raw_fd(), tell.as_raw_fd());
        // SAFETY: the child makes system calls on open descriptors, and ends in _exit.
        let child = unsafe { libc::fork() };
        match child {
            -1 => return Err(io::Error::last_os_error()),
            0 => run(kin, ends),
            _ => drop((go_read, tell)),
        }
        if kin == Kin::Stranger {
            wait::exit_code(ThreadId(child));
        }
        let mut id = [0; 4];
        told.read_exact(&mut id)?;
        let process = ThreadId(i32::from_le_bytes(id));
        Ok(Subject { process, go })
    }
}

/// The subject's main function, from its fork on.
fn run(kin: Kin, (go, go_write, tell): (i32, i32, i32)) -> ! {
    // SAFETY: system calls on open descriptors and local memory; no allocation, no locks.
    unsafe {
        if kin == Kin::Stranger && libc::fork() != 0 {
            libc::_exit(0);
        }
        libc::close(go_write);
        let id = libc::getpid().to_le_bytes();
        libc::write(tell, id.as_ptr().cast(), id.len());
        let mut byte = 0_u8;
        while libc::read(go, (&raw mut byte).cast(), 1) == -1
            && *libc::__errno_location() == libc::EINTR
        {}
        WRITTEN.store(1, Ordering::SeqCst);
        libc::_exit(0)
    }
}

fn subject(kin: Kin) -> Result<Subject, String> {
    Subject::start(kin).map_err(|e| format!("there is no process to try it on: {e}"))
}

/// Tries to trace and stop a child.
pub fn child() -> Result<(), String> {
    let subject = subject(Kin::Child)?;
    let stopped = stop(subject.process);
    wait::abandon(subject.process);
    stopped
}

fn stop(child: ThreadId) -> Result<(), String> {
    ptrace::seize(child, ptrace::OPTIONS | libc::PTRACE_O_EXITKILL)
        .map_err(|e| attach::why_not_launched(child, &e))?;
    ptrace::interrupt(child).map_err(|e| format!("it can't be stopped: {e}"))?;
    match wait::until_stopped(child) {
        true => Ok(()),
        false => Err("it has ended instead of stopping".into()),
    }
}

/// Tries to trace a process that isn't a child.
pub fn stranger() -> Result<(), String> {
    let subject = subject(Kin::Stranger)?;
    match attach::seize(subject.process, attach::AtDebuggersEnd::Survives) {
        Ok(_) => {
            wait::abandon(subject.process);
            Ok(())
        }
        Err(Error::Attach { reason, .. }) => Err(reason),
        Err(error) => Err(error.to_string()),
    }
}

/// Makes a child write to memory that a debug register watches.
pub fn watching() -> Result<(), String> {
    let subject = subject(Kin::Child)?;
    let seen = watched(&subject);
    wait::abandon(subject.process);
    seen
}

fn watched(subject: &Subject) -> Result<(), String> {
    let child = subject.process;
    stop(child)?;
    let slot = Slot {
        address: (&raw const WRITTEN).addr() as u64,
        length: size_of_val(&WRITTEN) as u64,
        reads: false,
    };
    debug_registers::set(child, &[Some(slot), None, None, None])
        .map_err(|e| format!("the system does not give the processor's debug registers: {e}"))?;
    let run = ptrace::cont(child, 0).and_then(|()| (&subject.go).write_all(&[1]));
    run.map_err(|e| format!("it can't be let run: {e}"))?;
    loop {
        let Some(status) = wait::raw_status_of(child) else {
            return Err("it is gone".into());
        };
        if libc::WIFSTOPPED(status) && status >> 16 == 0 && libc::WSTOPSIG(status) == libc::SIGTRAP
        {
            return match debug_registers::take_status(child) {
                Ok(hits) if hits & dapple_arch::watch_slots::HITS != 0 => Ok(()),
                Ok(_) => Err("it has stopped, and no debug register says why".into()),
                Err(e) => Err(format!(
                    "the processor's debug registers can't be read: {e}"
                )),
            };
        }
        if !libc::WIFSTOPPED(status) || status >> 16 == libc::PTRACE_EVENT_EXIT {
            return Err(
                "the processor's debug registers are set and do nothing, as in some virtual machines"
                    .into(),
            );
        }
        let _ = ptrace::cont(child, 0);
    }
}

/// Makes a child turn off address-space randomisation, as debuggees do.
pub fn fixed_addresses() -> Result<(), String> {
    // SAFETY: the child makes system calls that take numbers only, and ends in _exit.
    let child = unsafe {
        match libc::fork() {
            0 => {
                let persona = libc::personality(0xffff_ffff);
                let wanted = (persona | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong;
                let done = persona != -1 && libc::personality(wanted) != -1;
                libc::_exit(if done { 0 } else { *libc::__errno_location() })
            }
            child => child,
        }
    };
    if child == -1 {
        return Err(format!(
            "there is no process to try it on: {}",
            io::Error::last_os_error()
        ));
    }
    match wait::exit_code(ThreadId(child)) {
        Some(0) => Ok(()),
        Some(errno) => Err(format!(
            "the system refuses it ({}), so a program's addresses change from run to run; a container needs \
             `--security-opt seccomp=unconfined`",
            io::Error::from_raw_os_error(errno)
        )),
        None => Err("the process that tried it was killed".into()),
    }
}
