//! Core files: they show the same as the live process did.

use crate::support;
use crate::support::{Fixture, Outcome, fixture, listing};
use dapple_engine::event::StopReason;
use dapple_engine::postmortem::CoreOptions;
use dapple_engine::session::memory::PartialWrite;
use dapple_engine::session::{LineBreakpoint, StepKind};
use dapple_engine::{Error, Event, Session, ThreadId};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The function and line of each stack frame, by thread.
fn stacks(session: &Session) -> Vec<(ThreadId, Vec<String>)> {
    let mut stacks: Vec<_> = session
        .threads()
        .expect("threads")
        .iter()
        .map(|thread| {
            let frames = session.stack(thread.id, 0..100).expect("a stack").frames;
            let lines = frames.iter().map(|frame| {
                let line = frame.position.as_ref().map(|at| at.line);
                format!("{} {:?} {line:?}", frame.physical.pc, frame.function)
            });
            (thread.id, lines.collect())
        })
        .collect();
    stacks.sort_by_key(|(thread, _)| thread.0);
    stacks
}

fn reason(events: &[Event]) -> (ThreadId, StopReason) {
    let stop = events.iter().find_map(|event| match event {
        Event::Stopped(stops) => Some(stops[0].clone()),
        _ => None,
    });
    let stop = stop.unwrap_or_else(|| panic!("no stop in {events:?}"));
    (stop.thread, stop.reason)
}

fn refusal(core: &Path, program: Option<&Path>) -> String {
    let (events, _told) = crossbeam_channel::unbounded();
    let options = CoreOptions {
        core: core.to_owned(),
        program: program.map(Path::to_owned),
        ..CoreOptions::default()
    };
    match Session::open_core(&options, events) {
        Ok(_) => panic!("{} was opened", core.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_fault_is_told_as_it_was_when_the_process_lived() {
    let fixture = fixture("faults.c", &[]);
    for fault in ["wild", "read_null", "write_constant", "assert"] {
        is_told_as_it_was(&fixture, fault);
    }
}

fn is_told_as_it_was(fixture: &Fixture, fault: &str) {
    let mut debuggee = fixture.launch_with(&[fault]);
    debuggee.resume();
    let stops = debuggee.expect_stop();
    let thread = stops[0].thread;
    let live = debuggee.session();
    let core = listing::core_of(live);
    let (remains, told) = listing::post_mortem(&core, None);
    assert_eq!(reason(&told), (thread, stops[0].reason.clone()));
    assert_eq!(stacks(&remains), stacks(live));
    let exception = remains.exception(thread).expect("asked").expect("one");
    let was = live.exception(thread).expect("asked").expect("one");
    assert_eq!(exception.description, was.description);
    assert_eq!(exception.stack_trace, was.stack_trace);
    for expression in ["place", "constant", "sink", "constant[2] + 4", "function"] {
        let frame = |session| listing::innermost(session, thread);
        assert_eq!(
            listing::value(&remains, frame(&remains), expression, 1),
            listing::value(live, frame(live), expression, 1)
        );
    }
    let registers = |session: &Session| session.registers(listing::innermost(session, thread));
    assert_eq!(
        registers(&remains).expect("registers"),
        registers(live).expect("registers")
    );
    let at = place(&remains, thread);
    assert_eq!(
        remains.read_memory(at, 64).expect("memory"),
        live.read_memory(at, 64).expect("memory")
    );
    assert_eq!(told_modules(&told), live.modules().expect("modules").len());
}

/// The instruction pointer of a thread.
fn place(session: &Session, thread: ThreadId) -> dapple_engine::Address {
    session.stack(thread, 0..1).expect("a stack").frames[0]
        .physical
        .pc
}

fn told_modules(told: &[Event]) -> usize {
    let modules = told
        .iter()
        .filter(|event| matches!(event, Event::ModuleLoaded(_)));
    modules.count()
}

#[test]
fn all_threads_have_their_stacks_and_their_own_variables() {
    let fixture = fixture("threads.c", &["-pthread"]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["hit"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let live = debuggee.session();
    let core = listing::core_of(live);
    let (remains, told) = listing::post_mortem(&core, None);
    assert_eq!(reason(&told), (thread, StopReason::Pause));
    assert!(stacks(live).len() > 1);
    assert_eq!(stacks(&remains), stacks(live));
    assert_eq!(
        remains.threads().expect("threads").len(),
        told.iter()
            .filter(|event| matches!(event, Event::ThreadStarted(_)))
            .count()
    );
}

#[test]
fn threads_keep_their_names() {
    let fixture = fixture("named.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["begun"]);
    debuggee.run_to_breakpoint();
    let live = debuggee.session();
    let (remains, _) = listing::post_mortem(&listing::core_of(live), None);
    let names = |session: &Session| -> BTreeSet<(i32, String)> {
        let threads = session.threads().expect("threads");
        let pairs = threads.into_iter().map(|thread| (thread.id.0, thread.name));
        pairs.collect()
    };
    let was = names(live);
    assert!(was.iter().any(|(_, name)| name == "worker 1"), "{was:?}");
    assert_eq!(names(&remains), was);
}

#[test]
fn what_needs_a_live_process_is_refused() {
    let fixture = fixture("values.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["scalars"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let core = listing::core_of(debuggee.session());
    let (remains, _) = listing::post_mortem(&core, None);
    let at = place(&remains, thread);
    let line = LineBreakpoint {
        line: 1,
        ..LineBreakpoint::default()
    };
    let refused = [
        remains.resume(),
        remains.step(thread, StepKind::Over),
        remains.pause(None),
        remains.terminate(libc::SIGTERM),
        remains
            .write_memory(at, vec![0], PartialWrite::Refused)
            .map(drop),
        remains
            .set_line_breakpoints(&fixture.source, vec![line])
            .map(drop),
        remains.write_core(&core.with_extension("again")),
    ];
    for answer in refused {
        assert!(matches!(answer, Err(Error::PostMortem)), "{answer:?}");
    }
    assert!(matches!(
        remains.stack(ThreadId(1), 0..1),
        Err(Error::NoSuchThread(ThreadId(1)))
    ));
}

#[test]
fn a_core_file_of_another_build_is_not_read_with_this_one() {
    let fixture = fixture("values.c", &[]);
    let other = support::inline("other.c", "int main(void) { return 0; }\n", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["scalars"]);
    debuggee.run_to_breakpoint();
    let core = listing::core_of(debuggee.session());
    let said = refusal(&core, Some(&other.binary));
    assert!(
        said.contains("is another build than the one that ran: its build id is"),
        "{said}"
    );
    let said = refusal(&core, Some(Path::new("/nowhere/at/all")));
    assert!(said.contains("/nowhere/at/all"), "{said}");
    // The program's name alone is enough: it is found at its recorded path.
    let name = Path::new(fixture.binary.file_name().expect("a name"));
    let (remains, _) = listing::post_mortem(&core, Some(name));
    assert_eq!(remains.process().program, fixture.binary);
    let said = refusal(&core, Some(Path::new("no-such-program")));
    assert!(
        said.contains("no program `no-such-program` is here"),
        "{said}"
    );
    // A copy of the program works, too.
    let copy = folder("core-copy").join("elsewhere");
    std::fs::copy(&fixture.binary, &copy).expect("a copy");
    let (remains, _) = listing::post_mortem(&core, Some(&copy));
    assert_eq!(remains.process().program, copy);
    assert!(
        stacks(&remains)[0].1[0].contains("scalars"),
        "{:?}",
        stacks(&remains)
    );
}

/// Programs are rebuilt while their core files are inspected, and are copied elsewhere together with them.
#[test]
fn a_program_that_is_no_longer_where_it_was_is_found_by_its_build() {
    let fixture = fixture("faults.c", &[]);
    let folder = folder("core-moved");
    let (binary, core) = (folder.join("moved"), folder.join("core"));
    std::fs::copy(&fixture.binary, &binary).expect("a copy");
    let copy = Fixture::of(binary.clone());
    let mut debuggee = copy.launch_with(&["wild"]);
    debuggee.resume();
    debuggee.expect_stop();
    // The kernel appends ` (deleted)` to the path in the process's maps from now on.
    std::fs::remove_file(&binary).expect("removed");
    debuggee.session().write_core(&core).expect("a core file");
    let found = |core: &Path| {
        let (remains, told) = listing::post_mortem(core, None);
        let (thread, _) = reason(&told);
        let stack = remains.stack(thread, 0..1).expect("a stack");
        let function = stack.frames[0].function.clone();
        let warned = told.into_iter().find_map(|event| match event {
            Event::DebugInfoWarnings(said) => Some(said.join("\n")),
            _ => None,
        });
        let program = remains.process().program.clone();
        (program, function.as_deref() == Some("wild"), warned)
    };
    let (_, is_known, warned) = found(&core);
    let warned = warned.expect("a warning");
    assert!(!is_known && warned.contains("(`program`)"), "{warned}");
    // The same build is at the recorded path again.
    std::fs::copy(&fixture.binary, &binary).expect("a copy");
    assert_eq!(found(&core), (binary.clone(), true, None));
    // Another build is at the recorded path.
    let other = support::inline("other.c", "int main(void) { return 0; }\n", &[]);
    std::fs::copy(&other.binary, &binary).expect("a copy");
    let (_, is_known, warned) = found(&core);
    let warned = warned.expect("a warning");
    assert!(!is_known && warned.contains("another build"), "{warned}");
    // The original program is beside the core file.
    let sent = folder.join("sent");
    std::fs::create_dir(&sent).expect("a folder");
    std::fs::copy(&core, sent.join("core")).expect("a copy");
    std::fs::copy(&fixture.binary, sent.join("moved")).expect("a copy");
    assert_eq!(found(&sent.join("core")), (sent.join("moved"), true, None));
}

#[test]
fn what_is_no_core_file_is_refused_by_name_and_reason() {
    let folder = folder("no-core");
    let text = folder.join("text");
    std::fs::write(&text, "no core file at all").expect("written");
    let fixture = fixture("values.c", &[]);
    for (path, reason) in [
        (folder.join("missing"), "No such file"),
        (folder.clone(), "this is no file"),
        (text, "no ELF file"),
        (fixture.binary, "but no core file"),
    ] {
        let said = refusal(&path, None);
        let name = path.display().to_string();
        assert!(said.contains(&name) && said.contains(reason), "{said}");
    }
}

#[test]
fn a_file_that_was_cut_short_or_damaged_gives_what_it_has_and_never_fails() {
    let fixture = fixture("values.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["aggregates"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let core = listing::core_of(debuggee.session());
    let whole = std::fs::read(&core).expect("bytes");
    let (opened, warned) = (Cell::new(0), Cell::new(0));
    let look = |bytes: &[u8]| {
        std::fs::write(&core, bytes).expect("written");
        let (events, told) = crossbeam_channel::unbounded();
        let options = CoreOptions {
            core: core.clone(),
            program: Some(fixture.binary.clone()),
            ..CoreOptions::default()
        };
        let Ok(remains) = Session::open_core(&options, events) else {
            return;
        };
        opened.set(opened.get() + 1);
        let is_warned = told.try_iter().any(|event| match event {
            Event::DebugInfoWarnings(said) => said.iter().any(|one| one.contains("was cut short")),
            _ => false,
        });
        warned.set(warned.get() + usize::from(is_warned));
        // Whatever the result, there is neither a panic nor a hang.
        if let Ok(stack) = remains.stack(thread, 0..50)
            && let Some(frame) = stack.frames.first()
        {
            let _ = remains.variables(frame.id);
        }
    };
    for part in 0..16 {
        look(&whole[..whole.len() * part / 16]);
    }
    let (opened, warned) = (opened.get(), warned.get());
    assert!(opened > 5 && warned > 5, "{opened} opened, {warned} warned");
    // Random bytes are changed in the headers and notes.
    let mut random = 1_u64;
    for _ in 0..60 {
        let mut bytes = whole.clone();
        for _ in 0..8 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = (random >> 33) as usize % bytes.len().min(6000);
            bytes[at] = (random >> 20) as u8;
        }
        look(&bytes);
    }
}

/// The kernel's core file for a crash, if `core_pattern` puts it in the program's folder. `None` otherwise.
fn kernels_core(fixture: &Fixture, argument: &str) -> Option<PathBuf> {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.trim().is_empty() || pattern.starts_with(['|', '/', '@']) {
        eprintln!("the kernel gives core files to another program here");
        return None;
    }
    let folder = folder("kernels-core");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -c unlimited; exec \"$0\" \"$1\""]);
    shell
        .arg(&fixture.binary)
        .arg(argument)
        .current_dir(&folder);
    shell.status().expect("it runs");
    let mut files = std::fs::read_dir(&folder).expect("a folder");
    Some(files.next().expect("a core file").expect("an entry").path())
}

/// Has gdb run a program until a signal or a line, and write a core file. `None` without gdb.
fn gdbs_core(
    fixture: &Fixture,
    name: &str,
    line: Option<u32>,
    arguments: &[&str],
) -> Option<PathBuf> {
    let core = folder(&format!("gdbs-core-{name}")).join("core");
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-iex", "set debuginfod enabled off"]);
    if let Some(line) = line {
        let file = fixture
            .source
            .file_name()
            .expect("a name")
            .to_string_lossy();
        gdb.args(["-ex", &format!("tbreak {file}:{line}")]);
    }
    let write = format!("generate-core-file {}", core.display());
    gdb.args(["-ex", "run", "-ex", &write, "-ex", "kill", "--args"]);
    let output = gdb.arg(&fixture.binary).args(arguments).output();
    let output = match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.expect("it runs"),
    };
    assert!(
        core.exists(),
        "gdb has written nothing: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Some(core)
}

/// Core files of other writers, of which at least one must be available.
#[test]
fn core_files_of_the_kernel_and_of_gdb_are_read() {
    let fixture = fixture("faults.c", &[]);
    let mut debuggee = fixture.launch_with(&["wild"]);
    debuggee.resume();
    let Outcome::Stopped(stops) = debuggee.wait() else {
        panic!("it has not stopped");
    };
    let cores = [
        kernels_core(&fixture, "wild"),
        gdbs_core(&fixture, "fault", None, &["wild"]),
    ];
    let cores: Vec<PathBuf> = cores.into_iter().flatten().collect();
    assert!(
        !cores.is_empty(),
        "nobody writes core files here: install gdb, or write `core` into /proc/sys/kernel/core_pattern"
    );
    let live = debuggee.session();
    for core in cores {
        let (remains, told) = listing::post_mortem(&core, None);
        let (thread, why) = reason(&told);
        assert_eq!(why, stops[0].reason, "{}", core.display());
        let look = |session: &Session, thread| -> (Vec<_>, String) {
            let frames = session.stack(thread, 0..20).expect("a stack").frames;
            let value = listing::value(session, frames[0].id, "constant", 1);
            let lines = frames.into_iter().map(|frame| {
                let line = frame.position.map(|at| at.line);
                (frame.function, line)
            });
            (lines.collect(), value)
        };
        let was = look(live, stops[0].thread);
        assert_eq!(look(&remains, thread), was, "{}", core.display());
    }
}

/// Core files of other writers show the same values as live processes.
#[test]
fn values_in_core_files_of_gdb_are_as_live() {
    let cases = [
        (
            "values.c",
            "aggregates",
            2,
            include_str!("values/c_aggregates.txt"),
        ),
        (
            "values.cpp",
            "containers",
            1,
            include_str!("values/cpp_containers.txt"),
        ),
        (
            "values.rs",
            "shared",
            1,
            include_str!("values/rust_shared_values.txt"),
        ),
    ];
    for (source, stop, depth, expected) in cases {
        let fixture = fixture(source, &[]);
        let name = source.replace('.', "-");
        let Some(core) = gdbs_core(&fixture, &name, Some(fixture.line(stop)), &[]) else {
            return println!("there is no gdb here");
        };
        let (remains, told) = listing::post_mortem(&core, None);
        let frame = listing::innermost(&remains, reason(&told).0);
        let shown = listing::locals(&remains, frame, depth);
        assert_eq!(shown, expected, "{source}");
    }
}
