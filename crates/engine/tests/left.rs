//! Detaching from programs in all kinds of situations: they continue as if they had never been traced.

use crate::support::running::{self, changed_text, kill, status};
use crate::support::{Debuggee, Fixture, fixture};
use dapple_engine::ThreadId;
use dapple_engine::attach::AttachOptions;
use dapple_engine::frame::FrameId;
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::watching::{Access, DataBreakpoint, DataPlace, WatchedData};
use dapple_engine::session::{
    BreakpointOptions, FunctionBreakpoint, Leave, LineBreakpoint, StepKind,
};
use std::cell::OnceCell;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The program's modes.
const MODES: [&str; 5] = ["plain", "forks", "vforks", "mayflies", "execs"];

/// Time limit of every wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// Brings about a situation, starting with a stopped program.
type Begin = fn(&mut Debuggee<'_>);

/// What is going on when the session detaches.
const SITUATIONS: [(&str, Begin); 16] = [
    ("nothing", |_| {}),
    ("runs", |debuggee| debuggee.resume()),
    ("stopped at a breakpoint", |debuggee| {
        stop(debuggee);
    }),
    ("runs into breakpoints that do not stop", |debuggee| {
        set(debuggee, "*what == -1", "", "");
        run_until_progress(debuggee);
    }),
    ("runs into log points", |debuggee| {
        set(debuggee, "", "", "{*what}");
        run_until_progress(debuggee);
    }),
    ("runs into breakpoints that count", |debuggee| {
        set(debuggee, "", "100000000", "");
        run_until_progress(debuggee);
    }),
    ("paused among such", |debuggee| {
        set(debuggee, "*what == -1", "", "");
        run_until_progress(debuggee);
        debuggee.session().pause(None).unwrap();
        debuggee.expect_stop();
    }),
    ("breakpoints that are there no more", |debuggee| {
        set(debuggee, "*what == -1", "", "");
        run_until_progress(debuggee);
        debuggee
            .session()
            .set_line_breakpoints(&debuggee.fixture.source, Vec::new())
            .unwrap();
        debuggee.session().pause(None).unwrap();
        debuggee.expect_stop();
    }),
    ("stepping", |debuggee| {
        let thread = stop(debuggee);
        clear(debuggee);
        for kind in [StepKind::Over, StepKind::Out, StepKind::Into] {
            debuggee.session().step(thread, kind).unwrap();
            debuggee.wait();
        }
    }),
    ("in the middle of a step", |debuggee| {
        let thread = stop(debuggee);
        set(debuggee, "*what == -1", "", "");
        debuggee.session().step(thread, StepKind::Out).unwrap();
    }),
    ("by instructions", |debuggee| {
        let thread = stop(debuggee);
        clear(debuggee);
        for _ in 0..3 {
            let step = StepKind::Instruction;
            debuggee.session().step(thread, step).unwrap();
            debuggee.wait();
        }
    }),
    ("data is watched", |debuggee| {
        watch(debuggee, "");
        debuggee.resume();
        debuggee.wait();
    }),
    ("data is watched by those who run", |debuggee| {
        watch(debuggee, "watched == -1");
        run_until_progress(debuggee);
    }),
    ("functions, and a thread that was moved", |debuggee| {
        let thread = stop(debuggee);
        let names = ["work", "twice", "usleep", "waitpid", "fork_one"];
        let wanted = names.map(|name| FunctionBreakpoint {
            name: name.to_owned(),
            options: BreakpointOptions::default(),
        });
        debuggee
            .session()
            .set_function_breakpoints(wanted.into())
            .unwrap();
        let line = debuggee.fixture.line("work") - 1;
        let targets = debuggee
            .session()
            .goto_targets(&debuggee.fixture.source, line)
            .unwrap();
        debuggee.session().goto(thread, targets[0].address).unwrap();
        debuggee.expect_stop();
    }),
    ("a function was begun again", |debuggee| {
        let thread = stop(debuggee);
        let stack = debuggee.session().stack(thread, 0..2).unwrap();
        let frame: FrameId = stack.frames[0].id;
        debuggee
            .session()
            .evaluate("*what + 1", Some(frame))
            .unwrap();
        debuggee.session().restart_frame(frame).unwrap();
        debuggee.expect_stop();
    }),
    ("one thread alone", |debuggee| {
        let thread = stop(debuggee);
        set(debuggee, "*what == -1", "", "");
        debuggee.session().resume_only(thread).unwrap();
    }),
];

/// Runs to a stop in `work`. Returns the thread.
fn stop(debuggee: &mut Debuggee<'_>) -> ThreadId {
    debuggee.break_at(&["work"]);
    debuggee.resume();
    debuggee.expect_stop()[0].thread
}

fn clear(debuggee: &Debuggee<'_>) {
    let file = &debuggee.fixture.source;
    debuggee
        .session()
        .set_line_breakpoints(file, Vec::new())
        .unwrap();
}

/// Sets breakpoints on all marked lines, with these options.
fn set(debuggee: &Debuggee<'_>, condition: &str, hits: &str, log: &str) {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let wanted = [
        "work", "twice", "toil", "mayfly", "fork", "child", "turn", "rest",
    ]
    .into_iter()
    .map(|name| {
        let named = name == "work" || name == "twice";
        LineBreakpoint {
            line: debuggee.fixture.line(name),
            options: BreakpointOptions {
                condition: match named {
                    true => given(condition),
                    false => given(condition).map(|_| "watched == -1".to_owned()),
                },
                hits: given(hits),
                log: match named {
                    true => given(log),
                    false => given(log).map(|_| "{watched}".to_owned()),
                },
            },
            ..LineBreakpoint::default()
        }
    });
    debuggee
        .session()
        .set_line_breakpoints(&debuggee.fixture.source, wanted.collect())
        .unwrap();
}

/// Resumes, and waits until all threads have made progress.
fn run_until_progress(debuggee: &mut Debuggee<'_>) {
    let process = debuggee.session().process().pid;
    debuggee.resume();
    let before = Counts::of(process);
    until(process, || !Counts::of(process).is_stuck_since(&before));
}

/// Waits until `done` returns true.
#[track_caller]
fn until(process: i32, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        let state = status(process, "State");
        if state.is_empty() || state.starts_with('Z') {
            // The last field of a zombie's line (proc_pid_stat(5)) is its exit status in the form of wait(2).
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
            panic!("it has ended: {stat:?}");
        }
        if start.elapsed() > PATIENCE {
            panic!("its threads are {:?}", threads(process));
        }
        std::thread::yield_now();
    }
}

/// The state, the tracer, and the kernel function where it waits, of each thread of a process.
fn threads(process: i32) -> Vec<[String; 4]> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let tell = |task: std::fs::DirEntry| {
        let id = task.file_name().into_string().unwrap_or_default();
        let number = id.parse().unwrap_or(0);
        let place = std::fs::read_to_string(task.path().join("syscall")).unwrap_or_default();
        [
            id,
            status(number, "State"),
            status(number, "TracerPid"),
            place,
        ]
    };
    tasks.map(tell).collect()
}

fn watch(debuggee: &mut Debuggee<'_>, condition: &str) {
    let thread = stop(debuggee);
    clear(debuggee);
    let frame = debuggee.session().stack(thread, 0..1).unwrap().frames[0].id;
    let place = DataPlace::Expression("watched".into(), Some(frame));
    let target = debuggee.session().data_target(place, None).unwrap();
    let condition = (!condition.is_empty()).then(|| condition.to_owned());
    let wanted = DataBreakpoint {
        data: WatchedData::Target(Box::new(target)),
        access: Access::Write,
        options: BreakpointOptions {
            condition,
            ..BreakpointOptions::default()
        },
    };
    let set = debuggee
        .session()
        .set_data_breakpoints(vec![wanted])
        .unwrap();
    assert_eq!(set[0].refused, None);
}

/// The file in which the program counts.
fn counts_file(process: i32) -> PathBuf {
    let path = || {
        let arguments = std::fs::read(format!("/proc/{process}/cmdline")).expect("it lives");
        let path = arguments.split(|byte| *byte == 0).nth(1)?;
        let path = PathBuf::from(String::from_utf8_lossy(path).into_owned());
        path.is_file().then_some(path)
    };
    // In the middle of an exec, the command line is missing or incomplete.
    let found = OnceCell::new();
    until(process, || {
        path().is_some_and(|path| found.set(path).is_ok())
    });
    found.into_inner().expect("it was found")
}

#[derive(Debug)]
struct Counts([u64; 5]);

impl Counts {
    fn read(path: &std::path::Path) -> Counts {
        let bytes = std::fs::read(path).expect("its file");
        let mut counts = [0; 5];
        for (count, word) in counts.iter_mut().zip(bytes.chunks_exact(8)) {
            *count = u64::from_le_bytes(word.try_into().expect("eight bytes"));
        }
        Counts(counts)
    }

    fn of(process: i32) -> Counts {
        Counts::read(&counts_file(process))
    }

    /// False only if the main thread and both other threads have made progress.
    fn is_stuck_since(&self, before: &Counts) -> bool {
        (0..3).any(|index| self.0[index] == before.0[index])
    }
}

fn new_file() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("left-{}-{number}", std::process::id()));
    std::fs::write(&path, [0; 4096]).expect("a file");
    path
}

fn registers(process: i32) -> Vec<(u64, bool, u64)> {
    running::registers(&fixture("registers.c", &[]).binary, process)
}

/// Checks that a process that was left has no breakpoints, isn't traced, and goes on in all its threads.
fn is_clean(process: i32, suspended: bool) {
    let file = counts_file(process);
    // Stops the process, so that no thread begins or ends. Repeated, because the kernel drops a pending group stop when an exec ends the
    // other threads.
    until(process, || {
        if !suspended {
            kill("-STOP", process);
        }
        status(process, "State").starts_with('T')
    });
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("it lives");
    for task in tasks {
        let thread = task.expect("a thread").file_name();
        let thread = thread
            .to_str()
            .and_then(|id| id.parse().ok())
            .expect("an id");
        assert_eq!(status(thread, "TracerPid"), "0");
    }
    assert_eq!(changed_text(process), Vec::<String>::new());
    let memory = std::fs::File::open(format!("/proc/{process}/mem")).expect("its memory");
    for (control, trap, pc) in registers(process) {
        let mut code = [0; 8];
        memory.read_exact_at(&mut code, pc).expect("its code");
        assert_eq!(
            (control, trap, code == [0; 8]),
            (0, false, false),
            "at {pc:#x}"
        );
    }
    kill("-CONT", process);
    for _ in 0..3 {
        let before = Counts::read(&file);
        until(process, || !Counts::read(&file).is_stuck_since(&before));
    }
    // Children that were forked earlier have not failed either.
    assert_eq!(Counts::read(&file).0[4], 0, "children have failed");
    kill("-KILL", process);
    std::fs::remove_file(file).expect("its file");
}

fn leave(fixture: &Fixture, mode: &str, row: usize, attached: bool, how: Leave) {
    let (situation, begin) = SITUATIONS[row];
    println!("{situation}, {mode}, attached: {attached}, {how:?}");
    let file = new_file();
    let args = [file.clone().into_os_string(), mode.into()];
    let mut child = None;
    let mut debuggee = if attached {
        let program = Command::new(&fixture.binary)
            .args(&args)
            .spawn()
            .expect("it starts");
        let process = program.id() as i32;
        child = Some(program);
        until(process, || !Counts::read(&file).0[..3].contains(&0));
        fixture.attach(AttachOptions {
            process,
            ..AttachOptions::default()
        })
    } else {
        let mut debuggee = fixture.launch_options(LaunchOptions {
            program: fixture.binary.clone(),
            args: args.to_vec(),
            ..LaunchOptions::default()
        });
        debuggee.break_at(&["turn"]);
        debuggee.run_to_breakpoint();
        clear(&debuggee);
        debuggee
    };
    let process = debuggee.session().process().pid;
    begin(&mut debuggee);
    debuggee.take_session().leave(how);
    is_clean(process, how == Leave::Suspend);
    if let Some(mut child) = child {
        child.wait().expect("its end");
    }
}

/// Tests all situations, each with two of the four kinds of detaching. Which two depends on the mode.
fn table(mode: &str) {
    let fixture = fixture("left.c", &[]);
    let ends = [
        (true, Leave::Detach),
        (false, Leave::Detach),
        (true, Leave::Suspend),
        (false, Leave::Suspend),
    ];
    let shift = MODES.iter().position(|d| *d == mode).expect("a mode");
    // An exec ends the stepping thread, and with it the step, without a report.
    let steps = |row: usize| ["stepping", "by instructions"].contains(&SITUATIONS[row].0);
    let rows = (0..SITUATIONS.len()).filter(|row| mode != "execs" || !steps(*row));
    for row in rows {
        for (index, (attached, how)) in ends.into_iter().enumerate() {
            if (row + index + shift) % 2 == 0 {
                leave(&fixture, mode, row, attached, how);
            }
        }
    }
}

#[test]
fn a_program_is_left_as_it_was() {
    table("plain");
}

#[test]
fn a_program_that_forks_is_left_as_it_was() {
    table("forks");
}

#[test]
fn a_program_that_forks_in_its_own_memory_is_left_as_it_was() {
    table("vforks");
}

#[test]
fn a_program_whose_threads_come_and_go_is_left_as_it_was() {
    table("mayflies");
}

#[test]
fn a_program_that_becomes_another_is_left_as_it_was() {
    table("execs");
}
