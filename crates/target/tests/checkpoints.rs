//! A checkpoint goes on as its original does.

use crate::support::compiled;
use dapple_target::ThreadId;
use dapple_target::exit_status::ExitStatus;
use dapple_target::launch::LaunchOptions;
use dapple_target::linux::checkpoint::{Checkpoint, Original};
use dapple_target::linux::launch;
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::wait::Waker;
use dapple_target::process::{Process, Resume, Waited};
use dapple_target::wait_event::What;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A process that this thread traces.
struct Traced {
    process: LiveProcess,
    threads: BTreeSet<ThreadId>,
}

impl Traced {
    /// Launches a program, stopped at its start.
    fn launched(program: PathBuf) -> Traced {
        let waker = Arc::new(Waker::default());
        waker.adopt_current_thread();
        let options = LaunchOptions {
            program,
            ..LaunchOptions::default()
        };
        let launched = launch::launch(&options).expect("launched");
        Traced {
            process: LiveProcess::open(launched.process, waker).expect("its memory"),
            threads: BTreeSet::from([launched.process]),
        }
    }

    /// Runs all threads until one traps. Returns that one; all others run on.
    fn until_trap(&mut self) -> ThreadId {
        let first = self.process.id();
        self.resume(first);
        loop {
            let (thread, what) = self.next();
            match what {
                What::Signal(libc::SIGTRAP) => return thread,
                What::NewThread(new) => {
                    self.threads.insert(new);
                    self.resume(thread);
                }
                What::Interrupted { .. } => self.resume(thread),
                other => panic!("{thread}: {other:?}"),
            }
        }
    }

    /// Stops all threads but one, which has stopped.
    fn stop_others(&mut self, stopped: ThreadId) {
        let mut running = self.threads.clone();
        running.remove(&stopped);
        for thread in &running {
            self.process.interrupt(*thread).expect("it runs");
        }
        while !running.is_empty() {
            let (thread, what) = self.next();
            assert!(matches!(what, What::Interrupted { .. }), "{what:?}");
            running.remove(&thread);
        }
    }

    fn next(&self) -> (ThreadId, What) {
        loop {
            match self.process.next_event(None).expect("an event") {
                Waited::Event(event) => return (event.thread, event.what),
                Waited::Woken => {}
                Waited::NoThreads => panic!("nothing is traced any more"),
            }
        }
    }

    fn resume(&self, thread: ThreadId) {
        let resumed = self.process.resume(thread, Resume::Continue, 0);
        resumed.expect("it is stopped");
    }

    /// Runs stopped threads, which are all of a process, to its end.
    fn to_end(&self, process: ThreadId, threads: &[ThreadId]) -> ExitStatus {
        for thread in threads {
            self.resume(*thread);
        }
        loop {
            let (thread, what) = self.next();
            match what {
                What::Exited(status) if thread == process => return status,
                What::Exited(_) => {}
                What::Signal(signal) => {
                    let delivered = self.process.resume(thread, Resume::Continue, signal);
                    delivered.expect("it is stopped");
                }
                _ => self.resume(thread),
            }
        }
    }
}

fn exists(process: ThreadId) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

fn file_count(process: ThreadId) -> usize {
    let files = std::fs::read_dir(format!("/proc/{process}/fd"));
    files.expect("its files").count()
}

/// The process, stopped in the middle of its threads' work, and its threads: first the one that has trapped.
fn at_work() -> (Traced, Vec<Original>) {
    let mut traced = Traced::launched(compiled("checkpointed"));
    let first = traced.until_trap();
    traced.stop_others(first);
    let others = traced.threads.iter().filter(|thread| **thread != first);
    let threads = [first].into_iter().chain(others.copied());
    let originals = threads.map(|thread| {
        let registers = traced.process.registers(thread).expect("registers");
        match registers.restarts_system_call() {
            // It can't be asked. It is waited for, so the address matters: glibc has it in the thread's control block.
            true => Original {
                thread,
                cleared: cleared_by_glibc(&traced, thread),
                alternate: None,
            },
            false => Original::ask(thread).expect("asked"),
        }
    });
    let originals = originals.collect();
    (traced, originals)
}

/// Finds the address that is cleared when a thread ends by what is there: the thread's id.
fn cleared_by_glibc(traced: &Traced, thread: ThreadId) -> u64 {
    use dapple_target::linux::ptrace;
    let base = ptrace::registers(thread).expect("registers").segments();
    let base = base.iter().find(|(name, _)| *name == "fs_base");
    let base = base.expect("a thread pointer").1;
    let is_id = |at: &u64| {
        let mut bytes = [0; 4];
        let read =
            dapple_arch::Memory::read(&traced.process, dapple_target::Address(*at), &mut bytes);
        read.is_ok() && i32::from_le_bytes(bytes) == thread.0
    };
    let found = (0..256).map(|word| base + 4 * word).find(is_id);
    found.expect("the thread's id")
}

#[test]
fn the_copy_and_then_the_original_compute_what_is_right() {
    let (traced, originals) = at_work();
    let copy = Checkpoint::take(&originals, originals[0].thread).expect("a copy");
    let again = Checkpoint::take(&originals, originals[0].thread).expect("another copy");
    assert_eq!(copy.threads().len(), originals.len());
    assert_eq!(file_count(copy.process()), 0);
    for (original, made) in copy.threads().iter().chain(again.threads()) {
        let state = |thread| {
            let mut registers = traced.process.registers(thread).expect("registers");
            registers.call_again();
            registers.forget_system_call();
            let vectors = traced.process.extended_state(thread).expect("vectors");
            let mask = traced.process.signal_mask(thread).expect("a mask");
            (registers.to_words(), vectors, mask)
        };
        assert_eq!(state(*original), state(*made));
    }
    let made = copy.threads().iter().map(|(_, made)| *made);
    let ended = traced.to_end(copy.process(), &made.collect::<Vec<_>>());
    assert_eq!(ended, ExitStatus::Code(0));
    let process = again.process();
    drop(again);
    assert!(!exists(process) && !exists(copy.process()));
    let threads: Vec<ThreadId> = traced.threads.iter().copied().collect();
    let ended = traced.to_end(traced.process.id(), &threads);
    assert_eq!(ended, ExitStatus::Code(0));
}
