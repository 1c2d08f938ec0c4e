//! A recorded program runs again from its beginning as it has run, as often as one likes.

use crate::support::compiled;
use dapple_arch::abi::RED_ZONE;
use dapple_target::exit_status::ExitStatus;
use dapple_target::launch::{LaunchOptions, Sink};
use dapple_target::linux::checkpoint::{Checkpoint, Original};
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::recording::replayer::Divergence;
use dapple_target::linux::recording::{Journal, Recorder, Replayer, start};
use dapple_target::linux::wait::Waker;
use dapple_target::linux::{launch, process, ptrace};
use dapple_target::process::{Process, Resume, Waited};
use dapple_target::wait_event::{WaitEvent, What};
use dapple_target::{Address, ThreadId};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

/// A program that was run to its end.
struct Recording {
    journal: Journal,
    beginning: Checkpoint,
    /// What its writable memory had in the end.
    memory: u64,
    process: LiveProcess,
    waker: Arc<Waker>,
}

fn next(process: &LiveProcess, waker: &Waker) -> WaitEvent {
    loop {
        match process.next_event(None).expect("an event") {
            Waited::Event(event) => return event,
            Waited::Woken => {
                waker.take();
            }
            Waited::NoThreads => panic!("nothing is traced any more"),
        }
    }
}

/// A number that stands for all writable memory of a process, but for what is below its first thread's stack.
fn memory_of(id: ThreadId, process: &LiveProcess) -> u64 {
    let memory = process.reopen(id).expect("its memory");
    let stack = ptrace::registers(id).expect("it is stopped").sp() - RED_ZONE;
    let mut hasher = DefaultHasher::new();
    for mapping in process::mappings(id).iter().filter(|it| it.write) {
        let is_stack = (mapping.start..mapping.end).contains(&stack);
        let mut page = [0; 4096];
        hasher.write_u64(mapping.start);
        for at in (mapping.start..mapping.end).step_by(page.len()) {
            if memory.read(Address(at), &mut page).is_ok() {
                // There, what is left of signals' frames tells of the debugger's stops and of whether the processor has saved registers.
                let unused = if is_stack {
                    stack.saturating_sub(at).min(4096)
                } else {
                    0
                };
                hasher.write(&page[unused as usize..]);
            }
        }
    }
    hasher.finish()
}

fn recorded(program: &str, arguments: &[&str]) -> Recording {
    recorded_as(program, arguments, 0, false).0
}

/// Runs a program: the first so many instructions one by one. Also returns how many of them were not told.
fn recorded_stepping(program: &str, arguments: &[&str], steps: usize) -> (Recording, usize) {
    recorded_as(program, arguments, steps, false)
}

/// As [`recorded_stepping`]. `new_first`: new threads run before their maker is told of them.
fn recorded_as(
    program: &str,
    arguments: &[&str],
    mut steps: usize,
    new_first: bool,
) -> (Recording, usize) {
    let waker = Arc::new(Waker::default());
    waker.adopt_current_thread();
    let options = LaunchOptions {
        program: program.into(),
        args: arguments.iter().map(OsString::from).collect(),
        stdout: Sink::Null,
        stderr: Sink::Null,
        ..LaunchOptions::default()
    };
    let thread = launch::launch(&options).expect("launched").process;
    let process = LiveProcess::open(thread, Arc::clone(&waker)).expect("its memory");
    start::prepare(thread).expect("prepared");
    let original = Original::ask(thread).expect("asked");
    let beginning = Checkpoint::take(&[original], thread).expect("a copy");
    let process = process.recorded(Recorder::new(thread).expect("a recorder"));
    let mut memory = 0;
    let is_recorded = |it: ThreadId| process.recorder().is_some_and(|recorder| recorder.has(it));
    let resume = |thread, steps, signal| {
        let how = if steps > 0 {
            Resume::Step
        } else {
            Resume::Continue
        };
        process.resume(thread, how, signal).expect("it is stopped");
    };
    resume(thread, steps, 0);
    // Threads and processes that have stopped before their maker has told of them.
    let mut early = BTreeSet::new();
    loop {
        let event = next(&process, &waker);
        let signal = match event.what {
            What::Exited(_) if event.thread == thread => break,
            What::Exited(_) => continue,
            What::Interrupted { .. } if !is_recorded(event.thread) => {
                early.insert(event.thread);
                continue;
            }
            _ if !is_recorded(event.thread) => {
                ptrace::cont(event.thread, 0).expect("it is stopped");
                continue;
            }
            What::NewThread(made) => {
                if early.remove(&made) || new_first && process.wait_until_stopped(made) {
                    resume(made, steps, 0);
                }
                if new_first && let Some(mut recorder) = process.recorder() {
                    recorder.give_turn(made);
                }
                0
            }
            What::NewProcess { child, .. } => {
                assert!(early.remove(&child) || process.wait_until_stopped(child));
                start::untrap_time(child).expect("it is stopped");
                ptrace::detach(child, 0).expect("it is stopped");
                0
            }
            What::Exiting => {
                if event.thread == thread {
                    memory = memory_of(thread, &process);
                }
                0
            }
            What::Signal(libc::SIGTRAP) if steps > 0 => {
                steps -= 1;
                0
            }
            What::Signal(signal) => signal,
            _ => 0,
        };
        resume(event.thread, steps, signal);
    }
    let journal = process.recorder().expect("recorded").journal().clone();
    let recording = Recording {
        journal,
        beginning,
        memory,
        process,
        waker,
    };
    (recording, steps)
}

impl Recording {
    /// Runs it again. Returns what its memory has in the end.
    fn again(&self) -> Result<u64, Divergence> {
        self.again_as(Resume::Continue)
    }

    /// As [`Recording::again`], but threads are asked to stop within each system call if they run up to these.
    fn again_as(&self, how: Resume) -> Result<u64, Divergence> {
        let copy = self.beginning.copy().expect("a copy");
        let replayer = Replayer::new(copy, self.journal.clone(), 0);
        let mut replayer = replayer.expect("a replayer");
        replayer.resume(self.process.id(), how).expect("it runs");
        loop {
            replayer.schedule();
            let made_up = replayer.take_made_up(None);
            let event = made_up.or_else(|| replayer.event(next(&self.process, &self.waker)));
            match event.map(|event| (event.thread, event.what)) {
                None | Some((_, What::Exited(_))) => {}
                Some((_, What::ReplayEnds)) => match replayer.parted() {
                    Some(parted) => return Err(parted.clone()),
                    None => return Ok(memory_of(replayer.process(), &self.process)),
                },
                Some((thread, what)) => {
                    if what == What::SystemCall {
                        replayer.interrupt(thread).expect("it is stopped");
                    }
                    // A signal is about to be delivered, or a thread was made.
                    replayer.resume(thread, how).expect("it runs");
                }
            }
        }
    }
}

#[track_caller]
fn runs_again(program: &str, arguments: &[&str]) {
    is_as_recorded(&recorded(program, arguments), program, arguments);
}

#[track_caller]
fn is_as_recorded(recording: &Recording, program: &str, arguments: &[&str]) {
    let about = format!("{program} {arguments:?}");
    assert_eq!(recording.journal.gap(), None, "{about}");
    assert_eq!(
        recording.journal.end(),
        Some(ExitStatus::Code(0)),
        "{about}"
    );
    for round in 0..20 {
        let memory = recording.again();
        let memory = memory.unwrap_or_else(|it| panic!("{about}, round {round}: {it}"));
        assert_eq!(memory, recording.memory, "{about}, round {round}");
    }
}

#[test]
fn programs_of_the_system_run_again() {
    runs_again("/bin/ls", &["-l", "/usr/lib"]);
    runs_again("/bin/date", &[]);
    runs_again("/usr/bin/sort", &["/etc/passwd"]);
    runs_again("/bin/grep", &["-r", "root", "/etc/passwd", "/etc/group"]);
    let script =
        "set -e -o pipefail; for i in 1 2 3; do echo $RANDOM $i | cat; done; date; echo done";
    runs_again("/bin/bash", &["-c", script]);
    let script =
        "$SIG{ALRM} = sub { $n++ }; alarm 1; select(undef, undef, undef, 2); print time, $n, rand";
    runs_again("/usr/bin/perl", &["-e", script]);
}

#[test]
fn signals_and_times_come_where_they_came() {
    let program = compiled("recorded");
    runs_again(&program.display().to_string(), &["alone"]);
    runs_again(&program.display().to_string(), &["waits"]);
}

#[test]
fn signals_come_in_calls_that_wait_with_a_mask_of_their_own() {
    let program = compiled("recorded_masks").display().to_string();
    for what in ["suspend", "ppoll", "pselect", "epoll", "default"] {
        runs_again(&program, &[what, "alone"]);
        runs_again(&program, &[what, "threads"]);
    }
}

#[test]
fn a_program_that_makes_many_calls_may_use_all_its_processors() {
    runs_again(&compiled("recorded_affinity").display().to_string(), &[]);
}

#[test]
fn steps_are_recorded_too() {
    let (recording, untold) = recorded_stepping("/bin/date", &[], 40_000);
    assert_eq!(untold, 0);
    is_as_recorded(&recording, "/bin/date", &[]);
    let calls = recording.journal.len();
    assert!(calls > 50, "{calls}");
}

#[test]
fn threads_run_again_in_the_order_in_which_they_ran() {
    let program = compiled("recorded_threads").display().to_string();
    for what in [
        "locks", "turns", "pipe", "socket", "heap", "spins", "more", "signals",
    ] {
        runs_again(&program, &[what]);
    }
}

#[test]
fn threads_that_are_asked_to_stop_while_they_make_others_make_them_all_the_same() {
    let program = compiled("recorded_threads").display().to_string();
    let recording = recorded(&program, &["locks"]);
    let memory = recording.again_as(Resume::UntilSystemCall);
    assert_eq!(memory, Ok(recording.memory));
}

#[test]
fn threads_that_run_before_their_maker_is_told_of_them_run_again() {
    let program = compiled("recorded_threads").display().to_string();
    let (recording, _) = recorded_as(&program, &["locks"], 0, true);
    is_as_recorded(&recording, &program, &["locks"]);
    let memory = recording.again_as(Resume::UntilSystemCall);
    assert_eq!(memory, Ok(recording.memory));
}

#[test]
fn a_turn_that_ends_in_front_of_a_call_that_is_made_again_leaves_no_note() {
    let waker = Arc::new(Waker::default());
    waker.adopt_current_thread();
    let options = LaunchOptions {
        program: compiled("travelled_endless"),
        ..LaunchOptions::default()
    };
    let main = launch::launch(&options).expect("launched").process;
    start::prepare(main).expect("prepared");
    let original = Original::ask(main).expect("asked");
    let beginning = Checkpoint::take(&[original], main).expect("a copy");
    let process = LiveProcess::open(main, Arc::clone(&waker)).expect("its memory");
    let process = process.recorded(Recorder::new(main).expect("a recorder"));
    let recorder = || process.recorder().expect("recorded");
    let runs = |thread| {
        let resumed = process.resume(thread, Resume::Continue, 0);
        resumed.expect("it is stopped");
    };
    runs(main);
    let mut made = 0;
    while made < 2 {
        let event = next(&process, &waker);
        if let What::NewThread(thread) = event.what {
            assert!(process.wait_until_stopped(thread));
            made += 1;
            runs(thread);
        }
        runs(event.thread);
    }
    // Lets them run until the journal has so many entries more.
    let go_on = |count: usize| {
        let end = recorder().journal().len() + count;
        while recorder().journal().len() < end {
            recorder().tick();
            assert!(process.pending_event().is_none(), "nobody is asked to stop");
        }
    };
    go_on(30);
    // It waits for a thread that never ends.
    process.interrupt(main).expect("it lives");
    let stop = process.event_of(main).expect("it lives");
    assert!(matches!(stop.what, What::Interrupted { .. }), "{stop:?}");
    assert!(ptrace::registers(main).is_ok_and(|it| it.restarts_system_call()));
    // It gets the turn, and is stopped again before it has executed anything.
    ptrace::interrupt(main).expect("it is stopped");
    runs(main);
    let stop = process.event_of(main).expect("it lives");
    assert!(matches!(stop.what, What::Interrupted { .. }), "{stop:?}");
    let from = recorder().journal().len();
    go_on(4);
    let journal = recorder().journal().clone();
    for position in from..journal.len() {
        let copy = beginning.copy().expect("a copy");
        let replayer = Replayer::new(copy, journal.clone(), position).expect("a replayer");
        let ends = replayer.turn_end().map(|(thread, _)| thread);
        assert_ne!(ends, Some(main), "at {position}");
    }
    process.kill_after_failure();
}

#[test]
fn another_run_is_told_from_the_recorded_one() {
    let first = recorded("/bin/ls", &["-l", "/usr"]);
    let second = recorded("/bin/ls", &["-a", "/usr"]);
    let mut copy = second.beginning.copy().expect("a copy");
    copy.name_as(&first.beginning);
    let mixed = Recording {
        beginning: copy,
        ..first
    };
    let parted = mixed.again().expect_err("another run");
    assert!(
        parted.after > 0 && parted.after < mixed.journal.len(),
        "{parted}"
    );
    assert!(parted.what.starts_with("it calls "), "{parted}");
}
