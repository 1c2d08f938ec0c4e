//! Runs a program and its children from system call to system call, and compares what each call has changed in memory with what the table says
//! that it writes.
//!
//! Only calls of processes with one thread are compared: other threads change memory meanwhile.

use super::snapshot::Snapshot;
use dapple_target::launch::{LaunchOptions, Sink, Stdin};
use dapple_target::linux::memory::ProcessMemory;
use dapple_target::linux::system_calls::{Call, Effects, Kind, Unknown};
use dapple_target::linux::wait::Waker;
use dapple_target::linux::{launch, process, ptrace, wait};
use dapple_target::process::Waited;
use dapple_target::wait_event::{WaitEvent, What};
use dapple_target::{Address, ThreadId};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Time limit of a program.
const PATIENCE: Duration = Duration::from_secs(120);
/// The kernel continues the call through restart_syscall(2).
const RESTART_BLOCK: i64 = -516;
/// The most bytes that a call may be said to write beyond its result, without having changed one.
const MOST_IN_VAIN: u64 = 70_000;

/// What was seen of a program's calls.
#[derive(Default, Debug)]
pub struct Report {
    pub calls: usize,
    pub compared: usize,
    pub changed: usize,
    /// How often each call, or command of one, was compared, and how many bytes it has changed.
    pub seen: BTreeMap<&'static str, (usize, usize)>,
    /// What the table doesn't say, or says wrongly.
    pub wrong: Vec<String>,
    pub unknown: Vec<String>,
    pub exit: Option<What>,
}

struct Thread {
    process: ThreadId,
    entered: Option<(Call, Option<Snapshot>)>,
    interrupted: Option<Call>,
    rseq: Range<Address>,
}

struct Tracer {
    threads: HashMap<ThreadId, Thread>,
    report: Report,
}

/// Runs a program to its end.
pub fn run(program: &Path, args: &[&str], terminal: bool) -> Report {
    let options = LaunchOptions {
        program: program.to_owned(),
        args: args.iter().map(Into::into).collect(),
        stdin: Stdin::Null,
        stdout: if terminal { Sink::Events } else { Sink::Null },
        stderr: if terminal { Sink::Events } else { Sink::Null },
        terminal,
        randomize: true,
        ..LaunchOptions::default()
    };
    let launched = launch::launch(&options).expect("launched");
    let main = launched.process;
    let (done, ended) = mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = process::signal(main, libc::SIGKILL);
        }
    });
    let mut tracer = Tracer {
        threads: HashMap::new(),
        report: Report::default(),
    };
    tracer.begin(main, main, 0..0);
    // The exit of its exec is the first stop.
    tracer.threads.get_mut(&main).expect("it").entered = Some((exec(), None));
    let _ = ptrace::cont_to_system_call(main, 0);
    let waker = Arc::new(Waker::default());
    waker.adopt_current_thread();
    loop {
        match wait::wait(&waker, None).expect("waiting") {
            Waited::Event(event) => tracer.event(event, main),
            Waited::Woken => {}
            Waited::NoThreads => break,
        }
    }
    drop(done);
    watchdog.join().expect("the watchdog");
    tracer.report
}

fn exec() -> Call {
    Call::entered(libc::SYS_execve as u64, [0; 6], &|_, _| false)
}

fn memory_of(process: ThreadId) -> impl Fn(Address, &mut [u8]) -> bool {
    let memory = ProcessMemory::open(process);
    move |address, buffer| {
        let memory = memory.as_ref();
        memory.is_ok_and(|memory| memory.read(address, buffer).is_ok())
    }
}

impl Tracer {
    fn begin(&mut self, thread: ThreadId, process: ThreadId, rseq: Range<u64>) {
        let begun = Thread {
            process,
            entered: None,
            interrupted: None,
            rseq: Address(rseq.start)..Address(rseq.end),
        };
        self.threads.entry(thread).or_insert(begun);
    }

    fn event(&mut self, event: WaitEvent, main: ThreadId) {
        let WaitEvent { thread, what } = event;
        let mut signal = 0;
        match what {
            What::Exited(_) => {
                self.threads.remove(&thread);
                if thread == main {
                    self.report.exit = Some(what);
                }
                return;
            }
            What::Signal(number) => signal = number,
            What::Group(_) => {
                let _ = ptrace::listen(thread);
                return;
            }
            What::NewThread(child) => {
                let process = self.threads[&thread].process;
                self.begin(child, process, 0..0);
            }
            What::NewProcess { child, .. } => {
                // A child has the registered area of its parent.
                let rseq = self.threads[&thread].rseq.clone();
                self.begin(child, child, rseq.start.0..rseq.end.0);
            }
            What::Executed { former } => {
                self.threads.remove(&former);
                self.threads.remove(&thread);
                self.begin(thread, thread, 0..0);
                self.threads.get_mut(&thread).expect("it").entered = Some((exec(), None));
            }
            What::SystemCall => self.system_call(thread),
            What::Exiting | What::Interrupted { .. } | What::Other => {}
        }
        let _ = ptrace::cont_to_system_call(thread, signal);
    }

    fn system_call(&mut self, thread: ThreadId) {
        let Ok(registers) = ptrace::registers(thread) else {
            return;
        };
        // A new child can be at its first entry before its parent's event has come.
        self.begin(thread, thread, 0..0);
        let process = self.threads[&thread].process;
        let threads = self.threads.values();
        let is_alone = threads.filter(|other| other.process == process).count() == 1;
        let state = self.threads.get_mut(&thread).expect("it");
        let memory = memory_of(process);
        match state.entered.take() {
            None => {
                let (number, arguments) = registers.call();
                let call = Call::entered(number, arguments, &memory);
                let before = is_alone.then(|| Snapshot::take(process));
                state.entered = Some((call, before));
            }
            Some((call, before)) => {
                let result = registers.answer();
                let resumed = state.interrupted.take();
                let call = match resumed {
                    Some(interrupted) if call.continues_interrupted() => interrupted,
                    _ => call,
                };
                let effects = call.effects(result, &memory);
                if let Ok(Effects {
                    what: Kind::Rseq(range),
                    ..
                }) = &effects
                {
                    state.rseq = range.clone();
                }
                if result == RESTART_BLOCK {
                    state.interrupted = Some(call.clone());
                }
                let rseq = state.rseq.clone();
                let after = before
                    .filter(|_| is_alone)
                    .map(|before| (before, Snapshot::take(process)));
                self.report
                    .judge(&call, result, effects, after.as_ref(), rseq);
            }
        }
    }
}

impl Report {
    fn judge(
        &mut self,
        call: &Call,
        result: i64,
        effects: Result<Effects, Unknown>,
        snapshots: Option<&(Snapshot, Snapshot)>,
        rseq: Range<Address>,
    ) {
        self.calls += 1;
        let name = call.name().unwrap_or("?");
        let Effects { written, what } = match effects {
            Ok(effects) => effects,
            Err(unknown) => {
                self.unknown.push(unknown.to_string());
                return;
            }
        };
        let (Some((before, after)), Some(replaced)) = (snapshots, replaced(&what)) else {
            return;
        };
        let covered: Vec<_> = written.iter().cloned().chain([replaced, rseq]).collect();
        let changed = before.changes(after);
        let wrong = changed
            .iter()
            .filter(|at| !covered.iter().any(|range| range.contains(&Address(**at))));
        let wrong: Vec<u64> = wrong.copied().collect();
        self.compared += 1;
        self.changed += changed.len();
        let seen = self.seen.entry(name).or_default();
        *seen = (seen.0 + 1, seen.1 + changed.len());
        if let Some(first) = wrong.first() {
            self.wrong.push(format!(
                "{name}{:x?} = {result} has written {} bytes from {first:#x} on, not {written:?}",
                call.arguments(),
                wrong.len(),
            ));
        }
        let said: u64 = written
            .iter()
            .map(|range| range.end.0 - range.start.0)
            .sum();
        let largest = u64::try_from(result).unwrap_or(0) + MOST_IN_VAIN;
        if said > largest && changed.is_empty() {
            self.wrong.push(format!(
                "{name}{:x?} = {result} is said to write {said} bytes, and has changed none",
                call.arguments(),
            ));
        }
    }
}

/// Memory whose contents the call has replaced by changing mappings. `None`: it can't be compared, because another process has run in it.
fn replaced(what: &Kind) -> Option<Range<Address>> {
    let nothing = Address(0)..Address(0);
    match what {
        Kind::Maps(mapped) => Some(mapped.range.clone()),
        Kind::Moves { to, .. } => Some(to.clone()),
        Kind::Unmaps(range) | Kind::Protects { range, .. } | Kind::Advises { range, .. } => {
            Some(range.clone())
        }
        Kind::MakesProcess(created) if created.flags & libc::CLONE_VM as u64 != 0 => None,
        Kind::Executes | Kind::MakesThread(_) => None,
        _ => Some(nothing),
    }
}
