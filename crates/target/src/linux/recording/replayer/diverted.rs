//! A copy in which something new is done: a function is called, a variable is set. It isn't replayed any further, and is thrown away afterwards.
//!
//! Its threads run as whoever runs them says, several at a time. Of what they ask of the kernel, calls that concern only their memory, clocks and
//! locks are made, and what they write to standard output and error is kept. Anything else is refused (`ENOSYS`), and noted by its name:
//! it would happen outside of the copy, and the copy has not the files that the process had open.

use super::{Replayer, Then};
use crate::linux::injected::lost;
use crate::linux::recording::journal::call_name;
use crate::linux::recording::start;
use crate::linux::recording::turns::{INTERRUPTED, Place};
use crate::linux::{process, ptrace};
use crate::process::Resume;
use crate::wait_event::What;
use crate::{Address, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The most names of system calls that are kept.
const MOST_NAMES: usize = 8;
/// The most bytes of output that are kept.
const MOST_WRITTEN: usize = 1 << 20;
/// The most pieces that one call writes (`IOV_MAX`).
const MOST_PIECES: u64 = 1024;

/// What the threads of such a copy have asked for that nobody outside was asked for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tried {
    /// The names of the system calls that were refused.
    pub refused: BTreeSet<String>,
    /// What was written to standard output.
    pub output: Vec<u8>,
    /// What was written to standard error.
    pub errors: Vec<u8>,
}

/// What is kept of such a copy.
#[derive(Debug, Default)]
pub(super) struct Diverted {
    /// The system calls that threads are in: the registers at the entry, and the answer, unless the kernel gives one.
    within: FxHashMap<ThreadId, (UserRegisters, Option<i64>)>,
    tried: Tried,
}

impl Replayer {
    /// Ends the replay: from now on, something new is done.
    pub fn divert(&mut self) {
        self.diverted.get_or_insert_with(Diverted::default);
    }

    /// What was asked for since the last time, in a copy in which something new is done.
    pub fn take_tried(&mut self) -> Tried {
        let tried = self.diverted.as_mut().map(|it| &mut it.tried);
        tried.map(std::mem::take).unwrap_or_default()
    }

    /// Lets all threads run that are to, but for those that wait in a system call.
    pub(super) fn run_diverted(&mut self) {
        let threads: Vec<ThreadId> = self.turns.threads().collect();
        for thread in threads {
            if let Some(Place::Ready(how, _)) = self.turns.place(thread)
                && !self.waits_in_call(thread)
            {
                self.turns.set(thread, Place::Runs);
                self.begin_diverted(thread, how);
            }
        }
    }

    fn begin_diverted(&mut self, thread: ThreadId, how: Resume) {
        let Some(replayed) = self.threads.get_mut(&thread) else {
            return;
        };
        replayed.feigned_step = false;
        // If it has died, the next event says so.
        let _ = match how {
            Resume::Step => ptrace::step(replayed.copy, 0),
            Resume::Continue | Resume::UntilSystemCall => {
                ptrace::cont_to_system_call(replayed.copy, 0)
            }
        };
    }

    /// Whether a thread is in a system call that was not over, and nobody has sent it elsewhere.
    pub(super) fn waits_in_call(&self, thread: ThreadId) -> bool {
        let Some(replayed) = self.threads.get(&thread) else {
            return false;
        };
        let within = replayed.within.filter(|_| replayed.is_behind);
        within.is_some_and(|within| {
            let now = ptrace::registers(replayed.copy);
            now.is_ok_and(|now| {
                now.pc() == within.registers.pc() && now.sp() == within.registers.sp()
            })
        })
    }

    /// What follows from an event of a thread.
    pub(super) fn happens_diverted(
        &mut self,
        thread: ThreadId,
        what: What,
    ) -> Result<Then, String> {
        let is_to_stop = self.threads.get(&thread).is_some_and(|it| it.is_to_stop);
        match what {
            What::SystemCall => match self.calls_diverted(thread)? {
                Then::Goes if is_to_stop => Ok(Then::Stops(INTERRUPTED)),
                then => Ok(then),
            },
            What::Signal(libc::SIGSEGV) if self.gives_time(thread) => {
                let how = self.threads.get(&thread).map(|it| it.how);
                match how {
                    Some(Resume::Step) => {
                        self.feigns_step(thread);
                        Ok(Then::Stops(What::Signal(libc::SIGTRAP)))
                    }
                    _ => {
                        self.begin_diverted(thread, Resume::Continue);
                        Ok(Then::Goes)
                    }
                }
            }
            what => Ok(Then::Stops(what)),
        }
    }

    /// A thread is at the entry of a system call, or behind it.
    fn calls_diverted(&mut self, thread: ThreadId) -> Result<Then, String> {
        let copy = self.copy_of(thread).ok_or("a thread is gone")?;
        let registers = ptrace::registers(copy).map_err(lost)?;
        let Some(diverted) = &mut self.diverted else {
            return Ok(Then::Goes);
        };
        if let Some((entry, answer)) = diverted.within.remove(&thread) {
            if let Some(answer) = answer {
                let (number, arguments) = entry.system_call();
                let mut answered = registers;
                answered.set_arguments(arguments);
                answered.set_answer(answer, number);
                answered.forget_system_call();
                ptrace::set_registers(copy, &answered).map_err(lost)?;
            }
            if self.threads.get(&thread).map(|it| it.how) == Some(Resume::UntilSystemCall) {
                return Ok(Then::Stops(What::SystemCall));
            }
        } else {
            let answer = self.answer(thread, registers);
            if answer.is_some() {
                let mut skipped = registers;
                skipped.forget_system_call();
                ptrace::set_registers(copy, &skipped).map_err(lost)?;
            }
            if let Some(diverted) = &mut self.diverted {
                diverted.within.insert(thread, (registers, answer));
            }
        }
        ptrace::cont_to_system_call(copy, 0).map_err(lost)?;
        Ok(Then::Goes)
    }

    /// The answer to a system call. `None`: the kernel gives it.
    fn answer(&mut self, thread: ThreadId, registers: UserRegisters) -> Option<i64> {
        let (number, arguments) = registers.system_call();
        let copy = self.copy_of(thread)?;
        let process = self.original_of(self.process()).unwrap_or(thread);
        let own = |id: ThreadId| i64::from(id.0);
        let sends = |signal: u64| {
            let sent = process::signal_thread(copy, signal as i32);
            Some(if sent.is_ok() {
                0
            } else {
                -i64::from(libc::ESRCH)
            })
        };
        let is = |argument: u64, id: ThreadId| argument as i32 == id.0;
        match number.cast_signed() {
            libc::SYS_getpid => Some(own(process)),
            libc::SYS_gettid => Some(own(thread)),
            libc::SYS_tgkill if is(arguments[1], thread) => sends(arguments[2]),
            libc::SYS_tkill if is(arguments[0], thread) => sends(arguments[1]),
            libc::SYS_kill if is(arguments[0], process) => sends(arguments[1]),
            libc::SYS_write if matches!(arguments[0], 1 | 2) => {
                Some(self.writes(arguments[0], &[(arguments[1], arguments[2])]))
            }
            libc::SYS_writev if matches!(arguments[0], 1 | 2) => {
                let pieces = self.pieces(arguments[1], arguments[2]);
                Some(self.writes(arguments[0], &pieces))
            }
            // The C library asks what kind of file it writes to.
            libc::SYS_fstat | libc::SYS_newfstatat if arguments[0] <= 2 => {
                Some(-i64::from(libc::EBADF))
            }
            libc::SYS_ioctl if arguments[0] <= 2 => Some(-i64::from(libc::ENOTTY)),
            libc::SYS_mmap if arguments[3] & libc::MAP_ANONYMOUS as u64 != 0 => None,
            call if HARMLESS.contains(&call) => None,
            _ => {
                let refused = self.diverted.as_mut().map(|it| &mut it.tried.refused);
                if let Some(refused) = refused.filter(|refused| refused.len() < MOST_NAMES) {
                    refused.insert(call_name(number));
                }
                Some(-i64::from(libc::ENOSYS))
            }
        }
    }

    /// The pieces of a `writev`: addresses and sizes.
    fn pieces(&self, at: u64, count: u64) -> Vec<(u64, u64)> {
        let mut bytes = vec![0; 16 * count.min(MOST_PIECES) as usize];
        let length = self.memory.read_some(Address(at), &mut bytes);
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let pieces = bytes[..length].chunks_exact(16);
        let pieces = pieces.map(|piece| (word(&piece[..8]), word(&piece[8..])));
        pieces.collect()
    }

    /// Keeps what is written to standard output (1) or error. Returns how much that is.
    fn writes(&mut self, descriptor: u64, pieces: &[(u64, u64)]) -> i64 {
        let Some(diverted) = &mut self.diverted else {
            return 0;
        };
        let kept = match descriptor {
            1 => &mut diverted.tried.output,
            _ => &mut diverted.tried.errors,
        };
        let mut written = 0;
        for (at, size) in pieces {
            let room = MOST_WRITTEN.saturating_sub(kept.len());
            let mut bytes = vec![0; room.min(*size as usize)];
            let length = self.memory.read_some(Address(*at), &mut bytes);
            kept.extend_from_slice(&bytes[..length]);
            written += size.cast_signed();
        }
        written
    }

    /// If a thread has trapped because it reads the processor's time: does that for it.
    fn gives_time(&self, thread: ThreadId) -> bool {
        let copy = self.copy_of(thread);
        copy.is_some_and(|copy| start::read_time(copy, &self.memory).is_some())
    }
}

/// System calls that concern only the memory, the clocks and the locks of a process.
const HARMLESS: [i64; 37] = [
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_arch_prctl,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_times,
    libc::SYS_getrusage,
    libc::SYS_getrandom,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getcwd,
    libc::SYS_uname,
    libc::SYS_sysinfo,
];
