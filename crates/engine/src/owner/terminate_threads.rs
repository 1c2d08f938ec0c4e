//! Ends single threads, each by a system call of its own: the kernel has no way to end one thread from outside.

use super::Owner;
use super::queries::no_such_thread;
use crate::stops::Mode;
use crate::{Address, Error, ThreadId};
use dapple_arch::instructions::SYSCALL;
use dapple_inspect::inspect::Inspect;
use dapple_target::process::Resume;
use dapple_target::wait_event::What;

/// The most stops that a thread may make on its way to its end.
const MOST_STOPS: usize = 64;

impl Owner {
    pub(crate) fn end_threads(&mut self, threads: &[ThreadId]) -> Result<(), Error> {
        for &thread in threads {
            if !self.is_live(thread) {
                return Err(no_such_thread(thread));
            }
            if thread == self.process().id() {
                return Err(Error::Refused(format!(
                    "thread {thread} is the program's first, with which it would end; terminate the program instead"
                )));
            }
        }
        if let Some(thread) = threads
            .iter()
            .find(|&&thread| self.waits_for_vfork_child(thread))
        {
            return Err(Error::Refused(format!(
                "thread {thread} waits for its child (vfork), which has its memory; it can be ended when the child has ended or runs a program"
            )));
        }
        self.threads.end_at_stop(threads);
        match self.mode() {
            Mode::Stopped => self.end_requested_threads(),
            Mode::Running => self.stop_all(),
            Mode::Stopping => {}
        }
        Ok(())
    }

    /// While all threads are stopped: makes each thread that was asked to end call exit(2) itself. Its destructors don't run, and its
    /// locks stay held. Threads that wait for a vfork child end at a later stop; a thread that can't make the call runs on.
    pub(super) fn end_requested_threads(&mut self) {
        let ending = self.threads.take_ending();
        if ending.is_empty() {
            return;
        }
        // A thread may have called vfork after it was asked to end. It can't run before it has its memory back, so it ends at a later stop.
        let (lent, threads) = ending
            .into_iter()
            .partition::<Vec<_>, _>(|thread| self.waits_for_vfork_child(*thread));
        for thread in lent.iter().chain(&threads) {
            self.stops.wait_after_vfork(*thread, lent.contains(thread));
        }
        self.threads.end_at_stop(&lent);
        let Some(call) = self.system_call() else {
            return;
        };
        for thread in threads {
            if !self.is_live(thread) {
                continue;
            }
            // Otherwise the kernel would write the result of the unfinished system call over the number of the exit call.
            if self.finish_system_call(thread).is_err() {
                continue;
            }
            let Some(mut registers) = self.registers(thread) else {
                continue;
            };
            registers.forget_system_call();
            registers.set_pc(call);
            registers.set_call(libc::SYS_exit.cast_unsigned(), 0);
            self.set_registers(thread, registers);
            self.unwatch(thread);
            // The process's other threads handle its signals from now on.
            let _ = self.process().set_signal_mask(thread, u64::MAX);
            let signal = std::mem::take(&mut self.control(thread).signal);
            if signal != 0 {
                self.process().hand_back_signal(thread, signal);
            }
            for _ in 0..MOST_STOPS {
                if self.process().resume(thread, Resume::Continue, 0).is_err() {
                    break;
                }
                match self.next_of(thread) {
                    Some(event) if matches!(event.what, What::Exiting | What::Exited(_)) => {
                        self.handle_stop(event);
                        break;
                    }
                    Some(_) => {}
                    None => break,
                }
            }
        }
    }

    /// The address of a system-call instruction in the program's code. The vDSO, which has one, is searched first.
    fn system_call(&self) -> Option<Address> {
        let modules = self.modules().iter();
        let mut vdso_first: Vec<_> = modules.collect();
        vdso_first.sort_by_key(|module| !module.is_vdso());
        vdso_first.into_iter().find_map(|module| {
            let mut segments = module.module.segments().iter().filter(|s| s.executable);
            segments.find_map(|segment| {
                let mut code = vec![0; segment.size.min(1 << 22) as usize];
                let start = module.to_process(segment.address);
                let length = self.memory().read_some(start, &mut code);
                let at = code[..length]
                    .windows(2)
                    .position(|bytes| bytes == SYSCALL)?;
                Some(start.offset(at as i64))
            })
        })
    }
}
