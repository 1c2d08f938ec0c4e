//! Many short sessions with programs whose threads start, end, fork, send signals and exec, launched or attached to, with breakpoints,
//! conditions, data breakpoints, steps and pauses in random order. Each program must end as it does without a debugger, or as it was left,
//! and leave no process.
//!
//! The seed determines what a session does. A session that hangs is reported with its actions and the state of its threads.
//! `DAPPLE_STRESS_SESSIONS` is the number of sessions, `DAPPLE_STRESS_SEED` the first session's seed.

use crate::support::{Fixture, fixture};
use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use dapple_engine::attach::AttachOptions;
use dapple_engine::event::{ExitStatus, Stop, StopReason, Stream};
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::watching::{Access, DataBreakpoint, WatchedData};
use dapple_engine::session::{BreakpointOptions, Leave, LineBreakpoint, StepKind};
use dapple_engine::{Error, Event, Session, ThreadId};
use dapple_symbols::functions::Language;
use std::collections::HashMap;
use std::fmt::Write;
use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The default number of sessions.
const SESSIONS: u64 = 200;
/// The number of concurrent sessions: more than processors, so that they disturb each other.
const AT_ONCE: usize = 4;
/// The number of different programs, which the argument selects.
const PROGRAMS: u64 = 12;
/// How long a session may send no event.
const PATIENCE: Duration = Duration::from_secs(60);

/// The output and exit code of each program without a debugger.
type Expected = HashMap<u64, (String, i32)>;

fn number(variable: &str, otherwise: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn sessions_under_stress_lose_no_stop_hang_nowhere_and_leave_nothing() {
    let fixture = fixture("busy.c", &[]);
    let expected: Expected = (0..PROGRAMS)
        .map(|program| (program, alone(&fixture, program)))
        .collect();
    let (first, count) = (
        number("DAPPLE_STRESS_SEED", 1),
        number("DAPPLE_STRESS_SESSIONS", SESSIONS),
    );
    let next = AtomicU64::new(first);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    let done = run(&fixture, seed, &expected);
                    tally.lock().expect("nobody has failed").add(&done);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("nobody has failed");
    println!("{count} sessions: {tally:?}");
    assert!(
        tally.breakpoints > count && tally.steps > count / 2,
        "{tally:?}"
    );
    assert!(tally.pauses > count / 10, "{tally:?}");
    assert!(
        tally.accesses > count / 10 && tally.attached > count / 20,
        "{tally:?}"
    );
}

/// Counts of the sessions' actions.
#[derive(Debug, Default)]
struct Tally {
    breakpoints: u64,
    steps: u64,
    pauses: u64,
    accesses: u64,
    attached: u64,
    ended: u64,
    left: u64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.breakpoints += other.breakpoints;
        self.steps += other.steps;
        self.pauses += other.pauses;
        self.accesses += other.accesses;
        self.attached += other.attached;
        self.ended += other.ended;
        self.left += other.left;
    }
}

/// The program's output and exit code without a debugger.
fn alone(fixture: &Fixture, program: u64) -> (String, i32) {
    let output = Command::new(&fixture.binary)
        .arg(program.to_string())
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("a number");
    (text, output.status.code().expect("it exits"))
}

/// Pseudorandom numbers (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides
    }
}

/// A running session.
struct Run<'a> {
    fixture: &'a Fixture,
    seed: u64,
    dice: Dice,
    session: Option<Session>,
    /// The program, if it wasn't launched by the session.
    child: Option<Child>,
    process: i32,
    events: Receiver<Event>,
    output: String,
    log: Vec<String>,
    tally: Tally,
}

fn run(fixture: &Fixture, seed: u64, expected: &Expected) -> Tally {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let program = dice.roll(PROGRAMS);
    let (sender, events) = unbounded();
    let attaches = dice.roll(6) == 0;
    let mut child = attaches.then(|| begin(fixture, program));
    let session = match &child {
        Some(child) => Session::attach(
            AttachOptions {
                process: child.id() as i32,
                ..AttachOptions::default()
            },
            sender,
        ),
        None => Session::launch(
            LaunchOptions {
                program: fixture.binary.clone(),
                args: vec![program.to_string().into()],
                ..LaunchOptions::default()
            },
            sender,
        ),
    };
    let session = session.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let input = child.as_mut().and_then(|child| child.stdin.take());
    let mut run = Run {
        fixture,
        seed,
        dice,
        process: session.process().pid,
        session: Some(session),
        child,
        events,
        output: String::new(),
        log: vec![format!("program {program}, attached: {attaches}")],
        tally: Tally::default(),
    };
    if let Some(mut input) = input {
        run.tally.attached += 1;
        assert!(matches!(run.next(), Outcome::Stopped(_)), "{}", run.state());
        writeln!(input, "go").expect("it waits for that");
    }
    let end = run.play();
    match end {
        Some(status) => {
            if let Some(stdout) = run.child.as_mut().and_then(|child| child.stdout.as_mut()) {
                let read = stdout.read_to_string(&mut run.output);
                assert!(read.is_ok(), "{}", run.state());
            }
            let (text, code) = &expected[&program];
            assert_eq!(
                (status, run.output.as_str()),
                (ExitStatus::Code(*code), text.as_str()),
                "{}",
                run.state()
            );
            run.tally.ended += 1;
        }
        None => run.tally.left += 1,
    }
    run.expect_nothing_left();
    run.tally
}

/// Starts the program from outside: a shell waits for a line of input, and then execs the program.
fn begin(fixture: &Fixture, program: u64) -> Child {
    let command = format!("read go; exec {} {program}", fixture.binary.display());
    Command::new("/bin/sh")
        .args(["-c", &command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("it starts")
}

impl Run<'_> {
    fn session(&self) -> &Session {
        self.session.as_ref().expect("it is not left yet")
    }

    /// Acts randomly until the program has ended, or was left.
    fn play(&mut self) -> Option<ExitStatus> {
        self.set_breakpoints();
        let mut stops_left = 10 + self.dice.roll(30);
        self.go();
        loop {
            // A pause may be requested at any moment, before or after the awaited event.
            if stops_left > 0 && self.dice.roll(4) == 0 {
                self.log.push("pause".to_owned());
                self.tally.pauses += 1;
                // An error means that the program has ended, and the exit event follows.
                let _ = self.session().pause(None);
            }
            let stops = match self.next() {
                Outcome::Stopped(stops) => stops,
                Outcome::Exited(status) => return Some(status),
            };
            self.look(&stops);
            stops_left = stops_left.saturating_sub(1);
            if stops_left == 0 {
                match self.dice.roll(8) {
                    0 => return self.leave(Leave::Kill),
                    1 => return self.leave(Leave::Detach),
                    _ => {}
                }
                self.clear_breakpoints();
            } else if self.dice.roll(6) == 0 {
                self.set_breakpoints();
            }
            let thread = stops[0].thread;
            match self.dice.roll(8) {
                0 => self.step(thread, StepKind::Over),
                1 => self.step(thread, StepKind::Into),
                2 => self.step(thread, StepKind::Out),
                3 => self.step(thread, StepKind::Instruction),
                _ => self.go(),
            }
        }
    }

    fn set_breakpoints(&mut self) {
        const PLACES: [&str; 8] = [
            "work", "worked", "handler", "brief", "fork", "round", "end", "again",
        ];
        let chosen: Vec<&str> = PLACES
            .into_iter()
            .filter(|_| self.dice.roll(3) == 0)
            .collect();
        self.log.push(format!("break at {chosen:?}"));
        let conditions = [
            ("work", "number % 5 == 3", None),
            ("worked", "result > 40000", None),
            ("work", "number >= 0", Some("% 7")),
        ];
        let mut lines: Vec<LineBreakpoint> = chosen
            .iter()
            .map(|name| LineBreakpoint {
                line: self.fixture.line(name),
                ..LineBreakpoint::default()
            })
            .collect();
        for (name, condition, hits) in conditions {
            if !chosen.contains(&name) && self.dice.roll(4) == 0 {
                self.log.push(format!("break at {name} if {condition}"));
                lines.push(LineBreakpoint {
                    line: self.fixture.line(name),
                    options: BreakpointOptions {
                        condition: Some(condition.to_owned()),
                        hits: hits.map(str::to_owned),
                        log: None,
                    },
                    ..LineBreakpoint::default()
                });
            }
        }
        self.set_lines(lines);
        self.watch();
    }

    /// Sets a data breakpoint on what a few or all threads write, or none.
    fn watch(&mut self) {
        let (name, hits) = match self.dice.roll(8) {
            0 => ("handled", None),
            1 => ("sum", Some("% 50".to_owned())),
            2 => ("begun", None),
            _ => ("", None),
        };
        self.log.push(format!("watch `{name}`"));
        self.set_watched(name, hits);
    }

    fn set_watched(&mut self, name: &str, hits: Option<String>) {
        let wanted = DataBreakpoint {
            data: WatchedData::Static {
                name: name.to_owned(),
                language: Language::C,
                length: None,
            },
            access: Access::Change,
            options: BreakpointOptions {
                hits,
                ..BreakpointOptions::default()
            },
        };
        let wanted = if name.is_empty() {
            vec![]
        } else {
            vec![wanted]
        };
        let set = self.session().set_data_breakpoints(wanted);
        assert!(
            set.is_ok() || matches!(set, Err(Error::Ended)),
            "{}",
            self.state()
        );
    }

    fn clear_breakpoints(&mut self) {
        self.log.push("break nowhere".to_owned());
        self.set_lines(Vec::new());
        self.set_watched("", None);
    }

    fn set_lines(&mut self, lines: Vec<LineBreakpoint>) {
        let set = self
            .session()
            .set_line_breakpoints(&self.fixture.source, lines);
        assert!(
            set.is_ok() || matches!(set, Err(Error::Ended)),
            "{}",
            self.state()
        );
    }

    fn go(&mut self) {
        self.log.push("go".to_owned());
        let done = self.session().resume();
        assert!(
            done.is_ok() || matches!(done, Err(Error::Ended)),
            "{}",
            self.state()
        );
    }

    fn step(&mut self, thread: ThreadId, kind: StepKind) {
        self.log.push(format!("step {kind:?} {thread}"));
        self.tally.steps += 1;
        let done = self.session().step(thread, kind);
        // The program may have been killed. Any other error is a failure.
        assert!(
            done.is_ok() || matches!(done, Err(Error::Ended)),
            "{done:?} {}",
            self.state()
        );
    }

    /// Checks that the reported stops are true.
    fn look(&mut self, stops: &[Stop]) {
        let text: Vec<String> = stops
            .iter()
            .map(|stop| format!("{} {:?} at {}", stop.thread, stop.reason, stop.address))
            .collect();
        self.log.push(format!("stopped: {}", text.join(", ")));
        for stop in stops {
            match &stop.reason {
                StopReason::Breakpoint(ids) => {
                    assert!(!ids.is_empty());
                    self.tally.breakpoints += 1;
                }
                StopReason::Data(hits) => {
                    assert!(!hits.is_empty());
                    self.tally.accesses += 1;
                }
                StopReason::Step | StopReason::Pause => {}
                other => panic!("{other:?} {}", self.state()),
            }
        }
        if self.dice.roll(4) == 0 {
            let threads = self.session().threads();
            let live = threads.is_ok_and(|threads| threads.iter().any(|t| t.id == stops[0].thread));
            assert!(live, "{}", self.state());
            let stack = self.session().stack(stops[0].thread, 0..20);
            let found = stack.is_ok_and(|stack| !stack.frames.is_empty());
            assert!(found, "{}", self.state());
        }
    }

    fn next(&mut self) -> Outcome {
        loop {
            match self.events.recv_timeout(PATIENCE) {
                Ok(Event::Stopped(stops)) => return Outcome::Stopped(stops),
                Ok(Event::Exited(status)) => {
                    self.log.push(format!("ended: {status:?}"));
                    return Outcome::Exited(status);
                }
                Ok(Event::Output { stream, bytes }) => {
                    assert_eq!(stream, Stream::Stdout, "{}", self.state());
                    self.output.push_str(&String::from_utf8_lossy(&bytes));
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => panic!("it hangs: {}", self.state()),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the engine is gone: {}", self.state())
                }
            }
        }
    }

    fn leave(&mut self, how: Leave) -> Option<ExitStatus> {
        self.log.push(format!("leave: {how:?}"));
        self.session.take().expect("it is left once").leave(how);
        None
    }

    /// Checks that no process of the program's group is left when its work is done.
    fn expect_nothing_left(&mut self) {
        drop(self.session.take());
        // Reaps the child, unless the session has done so: for the kernel, both are the same parent process.
        let _ = self.child.take().map(Child::wait_with_output);
        let begin = Instant::now();
        while !members(self.process).is_empty() {
            assert!(begin.elapsed() < PATIENCE, "it is left: {}", self.state());
            std::thread::yield_now();
        }
    }

    /// The description of a failed session.
    fn state(&self) -> String {
        let mut text = format!("seed {}\n{}\n", self.seed, self.log.join("\n"));
        for process in members(self.process) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "process {process}:");
            let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
            for task in tasks.into_iter().flatten().flatten() {
                let read = |name: &str| {
                    let text = std::fs::read_to_string(task.path().join(name));
                    text.unwrap_or_default().trim().to_owned()
                };
                let status = read("status");
                let lines = status.lines().filter(|line| {
                    ["State", "TracerPid", "SigPnd", "ShdPnd"]
                        .iter()
                        .any(|field| line.starts_with(field))
                });
                let lines: Vec<&str> = lines.collect();
                let _ = writeln!(
                    text,
                    "  {:?}: {} {}",
                    task.file_name(),
                    lines.join(" "),
                    read("syscall")
                );
            }
        }
        text
    }
}

enum Outcome {
    Stopped(Vec<Stop>),
    Exited(ExitStatus),
}

/// The processes of a group that aren't zombies.
fn members(group: i32) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|process| {
            let stat =
                std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"));
            // The fields are `pid (name) state parent group …`, proc_pid_stat(5).
            let stat = stat.unwrap_or_default();
            let mut fields = stat
                .rsplit(')')
                .next()
                .unwrap_or_default()
                .split_whitespace();
            let state = fields.next();
            let its = fields.nth(1).and_then(|field| field.parse().ok());
            its == Some(group) && state != Some("Z") && state != Some("X")
        })
        .collect()
}
