//! Programs that are left while a child runs in their memory (vfork), in what was inserted there and is no longer wanted.

mod support;

use dapple_engine::Address;
use dapple_engine::attach::AttachOptions;
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::Leave;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use support::running::{changed_text, kill, status};
use support::{Debuggee, Fixture, fixture};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

/// The arguments of `fixtures/lent.c`: what it is told by, and where it tells how its child has ended.
struct Files {
    fifo: PathBuf,
    result: PathBuf,
}

impl Files {
    fn new() -> Files {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = |what: &str| {
            std::env::temp_dir().join(format!("lent-{what}-{}-{number}", std::process::id()))
        };
        let (fifo, result) = (name("fifo"), name("result"));
        let made = Command::new("mkfifo").arg(&fifo).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo runs");
        std::fs::write(&result, "").expect("a file");
        Files { fifo, result }
    }

    fn args(&self) -> Vec<OsString> {
        [&self.fifo, &self.result].map(Into::into).into()
    }

    /// Lets the program, or its child, go on from where it waits.
    fn send(&self) {
        let mut fifo = std::fs::OpenOptions::new().write(true).open(&self.fifo);
        fifo.as_mut()
            .expect("the fifo")
            .write_all(b"x")
            .expect("it is read");
    }

    /// How the child has ended, as wait(2) tells.
    #[track_caller]
    fn result(&self) -> String {
        until("the child has not ended", || {
            let text = std::fs::read_to_string(&self.result).expect("the result");
            text.strip_suffix('\n').map(str::to_owned)
        })
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.fifo);
        let _ = std::fs::remove_file(&self.result);
    }
}

/// The child that a process has, in read(2), and where its instruction pointer is.
#[track_caller]
fn reading_child(process: i32) -> (i32, Address) {
    until("no child waits", || {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
        let children = tasks
            .flatten()
            .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let children: String = children.collect();
        let child = children.split_whitespace().next()?.parse().ok()?;
        Some((child, reading_at(child)?))
    })
}

/// Where a process that waits in read(2) is to go on.
fn reading_at(process: i32) -> Option<Address> {
    let call = std::fs::read_to_string(format!("/proc/{process}/syscall")).ok()?;
    let mut fields = call.split_whitespace();
    (fields.next()? == "0").then_some(())?;
    let pc = u64::from_str_radix(fields.next_back()?.strip_prefix("0x")?, 16);
    pc.ok().map(Address)
}

fn launch<'a>(fixture: &'a Fixture, files: &Files) -> Debuggee<'a> {
    let mut debuggee = fixture.launch_options(LaunchOptions {
        program: fixture.binary.clone(),
        args: files.args(),
        ..LaunchOptions::default()
    });
    debuggee.break_at(&["tick"]);
    debuggee.run_to_breakpoint();
    debuggee
}

/// From a stop at `tick`: a child runs that is in the copy of an instruction whose breakpoint is there no more, and all of the program is stopped
/// again. Who the child is, and where it would be without a debugger.
fn lend(debuggee: &mut Debuggee<'_>, files: &Files) -> (i32, Address) {
    let call = debuggee.symbol("wait_for");
    debuggee.break_at(&[]);
    debuggee
        .session()
        .set_address_breakpoints(vec![call])
        .unwrap();
    debuggee.resume();
    files.send();
    let (child, at) = reading_child(debuggee.session().process().pid);
    let behind = call.offset(2);
    assert_ne!(at, behind, "it is in no copy");
    debuggee
        .session()
        .set_address_breakpoints(Vec::new())
        .unwrap();
    debuggee.session().pause(None).unwrap();
    debuggee.expect_stop();
    (child, behind)
}

#[test]
fn a_child_in_a_copy_for_a_breakpoint_that_was_taken_out_is_left_as_it_was() {
    let fixture = fixture("lent.c", &[]);
    for (attached, how) in [
        (false, Leave::Detach),
        (false, Leave::Suspend),
        (true, Leave::Detach),
        (true, Leave::Suspend),
    ] {
        println!("attached: {attached}, {how:?}");
        let files = Files::new();
        let mut program = None;
        let mut debuggee = if attached {
            let started = Command::new(&fixture.binary).args(files.args()).spawn();
            let started = program.insert(started.expect("it starts"));
            let process = started.id() as i32;
            until("it is not ready", || reading_at(process));
            fixture.attach(AttachOptions {
                process,
                ..AttachOptions::default()
            })
        } else {
            launch(&fixture, &files)
        };
        let process = debuggee.session().process().pid;
        let (child, behind) = lend(&mut debuggee, &files);
        debuggee.take_session().leave(how);
        assert_eq!(changed_text(process), Vec::<String>::new());
        assert_eq!(status(child, "TracerPid"), "0");
        assert_eq!(
            until("the child waits no more", || reading_at(child)),
            behind
        );
        files.send();
        if how == Leave::Suspend {
            kill("-CONT", process);
        }
        assert_eq!(files.result(), "0x300");
        if let Some(mut program) = program {
            assert_eq!(program.wait().expect("its end").code(), Some(3));
        }
    }
}
