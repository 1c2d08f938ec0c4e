//! Files that are truncated or overwritten in place while they are debugged, as some rebuilds do. The session goes on with what it has
//! read, names the changed file, and a restart reads the new file.

use crate::support;
use crate::support::{Fixture, Session, Stopped, core_of, file_of};
use dapple_dap::types::*;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The program prints when it is ready to be attached to, and waits for a line of input before it continues.
const SOURCE: &str = r#"
#include <stdio.h>
struct point { int x, y; };
static int area(struct point at)
{
    return at.x * at.y;
}
int main(void)
{
    struct point at = {4, 5};
    puts("ready");
    fflush(stdout);
    getchar();
    int product = area(at);
    printf("area %d\n", product);
    return product;
}
"#;
const BODY: i64 = 6;
const PRINTS: i64 = 15;

/// A program in a folder of the test's own, with its debug information in `program.debug`.
struct Program {
    folder: PathBuf,
}

impl Program {
    fn new(name: &str) -> Program {
        let name = format!("changed-{name}-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let program = Program { folder };
        program.build(SOURCE);
        program
    }

    /// Installs a newly built program, and overwrites its debug information file in place.
    fn build(&self, source: &str) {
        std::fs::write(self.file("main.c"), source).expect("a source");
        self.run("gcc", &["-g", "-O0", "main.c", "-o", "whole"]);
        self.run("objcopy", &["--only-keep-debug", "whole", "whole.debug"]);
        let debug = std::fs::read(self.file("whole.debug")).expect("debug information");
        // Overwrites the file as `cp` does, so that the inode stays the same.
        let mut file = OpenOptions::new();
        let file = file.write(true).create(true).truncate(true);
        let mut file = file.open(self.debug()).expect("the old file");
        std::io::Write::write_all(&mut file, &debug).expect("it takes it");
        let link = "--add-gnu-debuglink=program.debug";
        self.run("objcopy", &["--strip-debug", link, "whole", "new"]);
        std::fs::rename(self.file("new"), self.file("program")).expect("a program");
    }

    fn run(&self, tool: &str, arguments: &[&str]) {
        let mut command = Command::new(tool);
        let status = command
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{tool}");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn debug(&self) -> PathBuf {
        self.file("program.debug")
    }

    fn source(&self) -> String {
        self.file("main.c").display().to_string()
    }
}

fn truncate(path: &Path) {
    let file = OpenOptions::new().write(true).open(path);
    file.and_then(|file| file.set_len(0)).expect("it is cut");
}

/// Waits for the message that the file has changed, and checks that it comes only once.
fn is_told(session: &Session, path: &Path) {
    session.wait_for_written(
        OutputEventCategory::Console,
        &format!(
            "warning: {}: changed on disk since it was loaded",
            path.display()
        ),
    );
}

fn line_of(stop: &Stopped) -> (Option<String>, i64) {
    (file_of(&stop.top), stop.top.line)
}

/// Runs to the end of the program, whose exit code shows that the program was not disturbed.
fn goes_on(session: Session, stop: &Stopped) {
    session.resume(stop.thread);
    session.wait_for_output("area 20");
    assert_eq!(session.exit_code(), 20);
    session.disconnect();
}

#[test]
fn debug_information_that_is_truncated_is_told_and_the_program_goes_on() {
    let program = Program::new("truncated");
    let session = Session::new();
    let launch = json!({"program": program.file("program"), "stdin": "/dev/null"});
    session.ok::<LaunchRequest>(serde_json::from_value(launch).expect("an object"));
    session.wait_for::<InitializedEvent>();
    session.set_lines(&program.source(), &[BODY, PRINTS]);
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(line_of(&stop), (Some(program.source()), BODY));
    truncate(&program.debug());
    // Each of these must read the truncated file: a type, a line of another unit, a name.
    let arguments = EvaluateArguments::new("sizeof(struct point)").with_frame_id(stop.top.id);
    session.refused::<EvaluateRequest>(arguments);
    is_told(&session, &program.debug());
    session.resume(stop.thread);
    // The program's breakpoints are still set.
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(stop.top.name, "main");
    goes_on(session, &stop);
}

#[test]
fn an_attached_program_survives_its_debug_information() {
    let program = Program::new("attached");
    let mut child: Child = Command::new(program.file("program"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut ready = [0; 6];
    let mut output = child.stdout.take().expect("its output");
    std::io::Read::read_exact(&mut output, &mut ready).expect("it says so");
    let session = Session::new();
    let attach = json!({"processId": child.id()});
    session.ok::<AttachRequest>(serde_json::from_value(attach).expect("an object"));
    session.wait_for::<InitializedEvent>();
    session.set_lines(&program.source(), &[BODY]);
    session.configured();
    truncate(&program.debug());
    drop(child.stdin.take());
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    is_told(&session, &program.debug());
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 20);
    session.disconnect();
    // The test and the session are in one process, so the session may have reaped the child already.
    let _ = child.wait();
}

#[test]
fn a_restart_reads_what_a_rebuild_has_written_over_the_old_file() {
    let program = Program::new("rebuilt");
    let session = Session::serving(
        dapple_adapter::ServeOptions::default(),
        support::initialize_arguments(),
    );
    let launch = json!({"program": program.file("program"), "stdin": "/dev/null"});
    session.ok::<LaunchRequest>(serde_json::from_value(launch).expect("an object"));
    session.wait_for::<InitializedEvent>();
    session.set_lines(&program.source(), &[BODY]);
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(stop.top.line, BODY);
    // Two more lines in front of the body, and a renamed member.
    let new = SOURCE
        .replace("static int area", "\n\nstatic int area")
        .replace("int x, y", "int width, y");
    program.build(&new.replace("at.x", "at.width"));
    is_told_in_time(&session, &stop, &program.debug());
    session.ok::<RestartRequest>(RestartArguments::new());
    session.set_lines(&program.source(), &[BODY + 2]);
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(line_of(&stop), (Some(program.source()), BODY + 2));
    assert_eq!(session.evaluate(&stop.top, "at.width"), "4");
    goes_on(session, &stop);
}

/// Evaluates until the session notices the change: it doesn't check the file on every request.
fn is_told_in_time(session: &Session, stop: &Stopped, path: &Path) {
    let told = format!("{}: changed on disk", path.display());
    while !session.output(OutputEventCategory::Console).contains(&told) {
        let mut arguments = EvaluateArguments::new("sizeof(struct point)");
        arguments.frame_id = Some(stop.top.id);
        let _ = session.request::<EvaluateRequest>(arguments);
    }
}

#[test]
fn a_core_file_that_the_next_crash_overwrites_gives_no_memory_of_that() {
    let fixture = Fixture::new("faults.c");
    let core = core_of(&fixture, "read_null");
    let session = Session::new();
    let attach = json!({"coreFile": core});
    session.ok::<AttachRequest>(serde_json::from_value(attach).expect("an object"));
    session.wait_for::<InitializedEvent>();
    session.configured();
    let stop = session.stopped_at(&fixture, "read_null", StoppedEventReason::Exception);
    let what = session.evaluate(&stop.top, "what");
    assert!(what.ends_with("\"read_null\""), "{what}");
    let length = std::fs::metadata(&core).expect("it is there").len();
    let other = vec![0x5a; usize::try_from(length).expect("a length")];
    std::fs::write(&core, other).expect("the next crash");
    let arguments = EvaluateArguments::new("argc + 1").with_frame_id(stop.top.id);
    let failure = session.refused::<EvaluateRequest>(arguments);
    assert!(failure.sentence.contains("read"), "{}", failure.sentence);
    is_told(&session, &core);
    session.disconnect();
}

#[test]
fn a_library_that_is_cut_ends_the_program_and_not_the_session() {
    let (host, library) = (Fixture::new("host.c"), Fixture::library("plugin.c"));
    let library = library.renamed("cut-library");
    let session = Session::new();
    session.launch(&host, json!({"args": [library.program()]}));
    session.set_lines(&library.path(), &[library.line("shout")]);
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    File::create(&library.binary).expect("it is cut");
    session.resume(stop.thread);
    // Truncation also removes the library's code from the program's mapping, so the kernel raises SIGBUS.
    let stop = session.stopped(StoppedEventReason::Exception);
    let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(stop.thread));
    assert_eq!(info.exception_id, "SIGBUS");
    is_told(&session, &library.binary);
    session.disconnect();
}
