//! Runs a program and its children from system call to system call, and compares what each call has changed in memory with what the table says
//! that it writes.
//!
//! Of a process's threads, one runs at a time, and others only if they wait in a call that may block: memory doesn't change in other ways
//! during a call. They take turns after each call, and when the one that runs makes no call for a while: another may hold the lock that it spins for. If
//! it is within a call for long, another runs beside it, and the calls meanwhile are not compared.

use super::report::Report;
use super::snapshot::Snapshot;
use dapple_target::launch::{LaunchOptions, Sink, Stdin};
use dapple_target::linux::memory::ProcessMemory;
use dapple_target::linux::system_calls::{Call, Kind};
use dapple_target::linux::wait::Waker;
use dapple_target::linux::{launch, process, ptrace, wait};
use dapple_target::process::Waited;
use dapple_target::wait_event::{WaitEvent, What};
use dapple_target::{Address, ThreadId};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Time limit of a program, in ticks.
const PATIENCE: usize = 6000;
/// How long nothing has to happen before another thread may run, too.
const TICK: Duration = Duration::from_millis(20);
/// After how many turns a thread that spins has one.
const TURNS: usize = 100;
/// The kernel continues the call through restart_syscall(2).
const RESTART_BLOCK: i64 = -516;

struct Thread {
    process: ThreadId,
    at: At,
    /// It has been preempted, and has made no call since.
    spins: bool,
    /// The call before, which a signal has interrupted.
    interrupted: Option<Call>,
    /// Where the kernel writes when the thread runs on, and when it ends.
    rseq: Range<Address>,
    cleared: Range<Address>,
}

/// Where a thread is.
enum At {
    Outside,
    /// At the entry of a call.
    Entry,
    Call(Box<Call>, Option<Before>),
}

/// What is known from right before a call.
struct Before {
    snapshot: Snapshot,
    /// How many times threads of the process had been resumed.
    resumed: usize,
}

#[derive(Default)]
struct Process {
    /// Stopped threads, and the signals to deliver to them.
    ready: VecDeque<(ThreadId, i32)>,
    running: BTreeSet<ThreadId>,
    /// Children that run in its memory.
    vfork_children: BTreeSet<ThreadId>,
    resumed: usize,
}

struct Tracer {
    threads: HashMap<ThreadId, Thread>,
    processes: HashMap<ThreadId, Process>,
    report: Report,
}

/// Runs a program to its end.
pub fn run(program: &Path, args: &[&str], terminal: bool) -> Report {
    let sink = || if terminal { Sink::Events } else { Sink::Null };
    let options = LaunchOptions {
        program: program.to_owned(),
        args: args.iter().map(Into::into).collect(),
        stdin: Stdin::Null,
        stdout: sink(),
        stderr: sink(),
        terminal,
        randomize: true,
        ..LaunchOptions::default()
    };
    let launched = launch::launch(&options).expect("launched");
    let main = launched.process;
    let waker = Arc::new(Waker::default());
    waker.adopt_current_thread();
    let (done, ended) = mpsc::channel::<()>();
    let clock = {
        let waker = Arc::clone(&waker);
        std::thread::spawn(move || {
            for _ in 0..PATIENCE {
                if ended.recv_timeout(TICK) != Err(mpsc::RecvTimeoutError::Timeout) {
                    return;
                }
                waker.wake();
            }
            let _ = process::signal(main, libc::SIGKILL);
        })
    };
    let mut tracer = Tracer {
        threads: HashMap::new(),
        processes: HashMap::new(),
        report: Report::default(),
    };
    tracer.begin(main, main);
    tracer.executed(main);
    tracer.ready(main, 0);
    let mut is_quiet = false;
    loop {
        match wait::wait(&waker, None).expect("waiting") {
            Waited::Event(event) => {
                is_quiet = false;
                tracer.event(event, main);
            }
            Waited::Woken => {
                waker.take();
                if std::mem::replace(&mut is_quiet, true) {
                    tracer.run_others();
                }
            }
            Waited::NoThreads => break,
        }
    }
    drop(done);
    clock.join().expect("the clock");
    tracer.report
}

fn memory_of(process: ThreadId) -> impl Fn(Address, &mut [u8]) -> bool {
    let memory = ProcessMemory::open(process);
    move |address, buffer| {
        let memory = memory.as_ref();
        memory.is_ok_and(|memory| memory.read(address, buffer).is_ok())
    }
}

impl Tracer {
    fn begin(&mut self, thread: ThreadId, process: ThreadId) {
        let nowhere = Address(0)..Address(0);
        let begun = Thread {
            process,
            at: At::Outside,
            spins: false,
            interrupted: None,
            rseq: nowhere.clone(),
            cleared: nowhere,
        };
        self.threads.entry(thread).or_insert(begun);
        self.processes.entry(process).or_default();
    }

    /// A thread is at its exec; the exit of that call is its next stop.
    fn executed(&mut self, thread: ThreadId) {
        let exec = Call::entered(libc::SYS_execve as u64, [0; 6], &|_, _| false);
        let state = self.threads.get_mut(&thread).expect("begun");
        state.at = At::Call(Box::new(exec), None);
    }

    fn event(&mut self, event: WaitEvent, main: ThreadId) {
        let WaitEvent { thread, what } = event;
        // A new child can stop before its parent's event has come.
        let process = self.threads.get(&thread).map(|thread| thread.process);
        let Some(process) = process.or_else(|| process_of(thread)) else {
            return;
        };
        self.begin(thread, process);
        self.group(process).running.remove(&thread);
        let mut signal = 0;
        match what {
            What::Exited(_) => {
                self.gone(thread);
                if thread == main {
                    self.report.exit = Some(what);
                }
                return self.schedule(process);
            }
            What::ReplayEnds | What::TurnAhead | What::KernelWrote => panic!("nothing is replayed"),
            What::Signal(number) => signal = number,
            What::Group(_) => {
                let _ = ptrace::listen(thread);
                return self.schedule(process);
            }
            What::NewThread(child) => self.begin(child, process),
            What::NewProcess {
                child,
                shares_memory,
            } => {
                self.begin(child, child);
                // A child has the registered area of its parent.
                let rseq = self.threads[&thread].rseq.clone();
                self.threads.get_mut(&child).expect("begun").rseq = rseq;
                if shares_memory {
                    self.group(process).vfork_children.insert(child);
                }
            }
            What::Executed { former } => {
                self.gone(former);
                self.gone(thread);
                self.processes.insert(thread, Process::default());
                self.begin(thread, thread);
                self.executed(thread);
            }
            What::SystemCall => self.system_call(thread),
            What::Exiting => {
                // It makes no calls any more.
                let _ = ptrace::cont(thread, 0);
                return self.schedule(process);
            }
            What::Interrupted { .. } | What::Other => {}
        }
        self.ready(thread, signal);
    }

    fn group(&mut self, process: ThreadId) -> &mut Process {
        self.processes.entry(process).or_default()
    }

    fn gone(&mut self, thread: ThreadId) {
        self.threads.remove(&thread);
        for process in self.processes.values_mut() {
            process.vfork_children.remove(&thread);
            process.running.remove(&thread);
            process.ready.retain(|(ready, _)| *ready != thread);
        }
    }

    fn system_call(&mut self, thread: ThreadId) {
        let Ok(registers) = ptrace::registers(thread) else {
            return;
        };
        let state = self.threads.get_mut(&thread).expect("begun");
        state.spins = false;
        match std::mem::replace(&mut state.at, At::Outside) {
            At::Outside | At::Entry => state.at = At::Entry,
            At::Call(call, before) => {
                let process = state.process;
                self.exit(thread, *call, before, registers.answer());
                // What this call has written shows in the memory around other threads' calls.
                self.group(process).resumed += 1;
            }
        }
    }

    fn exit(&mut self, thread: ThreadId, call: Call, before: Option<Before>, result: i64) {
        let state = self.threads.get_mut(&thread).expect("begun");
        let (process, interrupted) = (state.process, state.interrupted.take());
        let call = match interrupted {
            Some(interrupted) if call.continues_interrupted() => interrupted,
            _ => call,
        };
        let memory = memory_of(process);
        let effects = call.effects(result, &memory);
        let mut covered = Vec::new();
        match effects.as_ref().map(|effects| &effects.what) {
            Ok(Kind::Rseq(range)) => state.rseq = range.clone(),
            Ok(Kind::ClearsAtEnd(word)) => state.cleared = *word..word.offset(4),
            Ok(Kind::MakesThread(created)) => {
                let word = created.child_id;
                let child = self.threads.get_mut(&ThreadId(created.id as i32));
                if let Some(child) = child {
                    child.cleared = word..word.offset(4);
                }
                covered.push(word..word.offset(4));
            }
            _ => {}
        }
        if result == RESTART_BLOCK {
            let state = self.threads.get_mut(&thread).expect("begun");
            state.interrupted = Some(call.clone());
        }
        let group = self.group(process);
        let resumed = group.resumed;
        let is_alone = group.vfork_children.is_empty();
        let before = before.filter(|before| is_alone && before.resumed == resumed);
        let snapshots = before.map(|before| (before.snapshot, Snapshot::take(process)));
        for other in self.threads.values().filter(|it| it.process == process) {
            covered.extend([other.rseq.clone(), other.cleared.clone()]);
            // A call that another thread waits in may end now.
            if let At::Call(call, _) = &other.at {
                let most = call.effects(i64::MAX, &memory);
                covered.extend(most.into_iter().flat_map(|effects| effects.written));
            }
        }
        self.report
            .judge(&call, result, effects, snapshots.as_ref(), covered);
    }

    /// A thread can run on.
    fn ready(&mut self, thread: ThreadId, signal: i32) {
        let state = &self.threads[&thread];
        let (process, is_within) = (state.process, matches!(state.at, At::Call(..)));
        let ready = &mut self.group(process).ready;
        if is_within {
            // At an event of its call.
            ready.push_front((thread, signal));
        } else {
            ready.push_back((thread, signal));
        }
        for running in self.group(process).running.clone() {
            let state = self.threads.get(&running);
            if state.is_some_and(|state| state.spins && matches!(state.at, At::Outside)) {
                let _ = ptrace::interrupt(running);
            }
        }
        self.schedule(process);
    }

    /// Lets threads run until one of them does so outside of calls that may block.
    fn schedule(&mut self, process: ThreadId) {
        while self.group(process).running.is_empty() {
            let Some((thread, signal)) = self.next(process) else {
                return;
            };
            self.resume(thread, signal);
        }
    }

    fn preempt(&mut self, thread: ThreadId) {
        if let Some(state) = self.threads.get_mut(&thread) {
            state.spins = true;
            let _ = ptrace::interrupt(thread);
        }
    }

    /// The next thread to run. One that spins waits for the others, but not forever: they may wait for it.
    fn next(&mut self, process: ThreadId) -> Option<(ThreadId, i32)> {
        let group = self.processes.get_mut(&process)?;
        let spins = |thread: &ThreadId| self.threads.get(thread).is_some_and(|thread| thread.spins);
        let mut ready = group.ready.iter();
        let place = match group.resumed % TURNS {
            0 => None,
            _ => ready.position(|(thread, _)| !spins(thread)),
        };
        group.ready.remove(place.unwrap_or(0))
    }

    /// Where nothing has happened for a while, gives other threads their turn. A thread in a call is left there: to be interrupted would change
    /// the call's result.
    fn run_others(&mut self) {
        let processes: Vec<ThreadId> = self.processes.keys().copied().collect();
        for process in processes {
            let group = self.group(process);
            if group.ready.is_empty() {
                continue;
            }
            let mut is_within = false;
            for thread in group.running.clone() {
                match self.threads.get(&thread).map(|thread| &thread.at) {
                    Some(At::Call(call, _)) => {
                        is_within = true;
                        self.report.slow.extend(call.name());
                    }
                    _ => self.preempt(thread),
                }
            }
            if is_within && let Some((thread, signal)) = self.group(process).ready.pop_front() {
                self.resume(thread, signal);
            }
        }
    }

    fn resume(&mut self, thread: ThreadId, signal: i32) {
        let Some(state) = self.threads.get_mut(&thread) else {
            return;
        };
        let process = state.process;
        let group = self.processes.entry(process).or_default();
        group.resumed += 1;
        if let At::Call(_, Some(before)) = &mut state.at
            && before.resumed + 1 == group.resumed
        {
            before.resumed += 1;
        }
        if matches!(state.at, At::Entry)
            && let Ok(registers) = ptrace::registers(thread)
        {
            let (number, arguments) = registers.system_call();
            let call = Call::entered(number, arguments, &memory_of(process));
            let before = group.running.is_empty().then(|| Before {
                snapshot: Snapshot::take(process),
                resumed: group.resumed,
            });
            state.at = At::Call(Box::new(call), before);
        }
        let may_wait = matches!(&state.at, At::Call(call, _) if call.may_block());
        if !may_wait {
            group.running.insert(thread);
        }
        let _ = ptrace::cont_to_system_call(thread, signal);
    }
}

/// The process that a thread is of (`Tgid` in `/proc/ID/status`).
fn process_of(thread: ThreadId) -> Option<ThreadId> {
    let status = std::fs::read_to_string(process::folder(thread).join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok().map(ThreadId)
}
