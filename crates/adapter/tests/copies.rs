//! Breakpoints in all copies of a source: the same file under several paths.

use crate::support::fixture::fixtures_folder;
use crate::support::{Session, file_of, text};
use dapple_dap::types::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

const MAIN: &str = "int first(int), second(int), other(int);
int main(void)
{
    return first(1) + second(2) + other(3) - 9;
}
";
const PART: &str = "static int part(int n)
{
    return n + 1;
}
";
/// A different file with the same base name.
const OTHER: &str = "static int part(int n)
{
    return n + 0 + 1;
}
";

/// A program of three compilation units, each with its own `part.h`. The first two of these headers are copies of each other.
struct Parts {
    root: PathBuf,
    program: PathBuf,
}

impl Parts {
    fn new(name: &str, compiler: &str, flags: &[&str]) -> Parts {
        let root = fixtures_folder().join(format!("copies-{name}-{}", std::process::id()));
        // An earlier run of the tests may have had the same process id.
        let _ = std::fs::remove_dir_all(&root);
        let write = |path: PathBuf, content: &str| std::fs::write(path, content).expect("a source");
        for (unit, header) in [("first", PART), ("second", PART), ("other", OTHER)] {
            std::fs::create_dir_all(root.join(unit)).expect("a folder");
            write(root.join(unit).join("part.h"), header);
            let source = format!("#include \"part.h\"\nint {unit}(int n) {{ return part(n); }}\n");
            write(root.join(unit).join("unit.c"), &source);
        }
        write(root.join("main.c"), MAIN);
        let program = root.join("program");
        let compiled = Command::new(compiler)
            .args(flags)
            .args(["main.c", "first/unit.c", "second/unit.c", "other/unit.c"])
            .args(["-g", "-o", "program"])
            .current_dir(&root)
            .status();
        assert!(compiled.expect("the compiler runs").success());
        Parts { root, program }
    }

    fn header(&self, unit: &str) -> PathBuf {
        self.root.join(unit).join("part.h")
    }

    fn launched(&self) -> Session {
        let session = Session::new();
        let arguments = json!({ "program": text(&self.program) });
        session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&arguments));
        session.wait_for::<InitializedEvent>();
        session
    }

    /// The units whose header stops the program, in the order of the stops.
    fn stops(&self, session: &Session) -> Vec<String> {
        session.configured();
        let mut units = Vec::new();
        while session.ends_or_stops() {
            let stop = session.stopped(StoppedEventReason::Breakpoint);
            let top = stop.top;
            assert_eq!((top.name.as_str(), top.line), ("part", 3));
            let file = PathBuf::from(file_of(&top).expect("a file"));
            let unit = file.parent().and_then(Path::file_name);
            units.push(unit.expect("a folder").to_string_lossy().into_owned());
            session.resume(stop.thread);
        }
        assert_eq!(session.exit_code(), 0);
        units
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// Sets a breakpoint on the header's line that has code.
fn set(session: &Session, file: &Path, mode: Option<&str>) -> Breakpoint {
    let mut wanted = SourceBreakpoint::new(3);
    wanted.mode = mode.map(str::to_owned);
    let arguments = SetBreakpointsArguments::new(Source::new().with_path(text(file)))
        .with_breakpoints(vec![wanted]);
    let mut set = session.ok::<SetBreakpointsRequest>(arguments).breakpoints;
    assert_eq!(set.len(), 1);
    set.remove(0)
}

#[test]
fn in_the_mode_for_it_a_line_stops_in_all_copies_of_its_file() {
    let modes = Session::new().capabilities().breakpoint_modes.clone();
    let modes = modes.expect("there are modes");
    let of_lines = modes.iter().filter(|mode| {
        let source = BreakpointModeApplicability::Source;
        mode.applies_to.contains(&source)
    });
    let names: Vec<&str> = of_lines.map(|mode| mode.mode.as_str()).collect();
    assert_eq!(names, ["path", "file"], "the first is the default");
    for mode in [None, Some("path")] {
        let parts = Parts::new("one", "gcc", &[]);
        let session = parts.launched();
        let set = set(&session, &parts.header("second"), mode);
        assert_eq!((set.verified, set.message), (true, None));
        assert_eq!(parts.stops(&session), ["second"]);
        session.disconnect();
    }
    let parts = Parts::new("all", "gcc", &[]);
    let session = parts.launched();
    let set = set(&session, &parts.header("second"), Some("file"));
    let copy = parts.header("first");
    let message = format!("also in copies of the file: {}", copy.display());
    assert_eq!((set.verified, set.message), (true, Some(message)));
    assert_eq!(parts.stops(&session), ["first", "second"]);
    session.disconnect();
}

#[test]
fn copies_are_told_by_the_checksums_where_the_compiler_notes_them() {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let Some(clang) = ["clang-22", "clang"].into_iter().find(runs) else {
        return;
    };
    let parts = Parts::new("sums", clang, &["-gdwarf-5"]);
    // Overwrites the files, so that only the checksums in the debug information show which are copies.
    for unit in ["first", "second", "other"] {
        std::fs::write(parts.header(unit), unit).expect("the header is there");
    }
    let session = parts.launched();
    set(&session, &parts.header("first"), Some("file"));
    assert_eq!(parts.stops(&session), ["first", "second"]);
    session.disconnect();
}

#[test]
fn a_copy_that_was_not_compiled_stands_for_those_that_were() {
    let parts = Parts::new("third", "gcc", &[]);
    let third = parts.root.join("elsewhere");
    std::fs::create_dir_all(&third).expect("a folder");
    let third = third.join("part.h");
    std::fs::write(&third, PART).expect("a source");
    let session = parts.launched();
    assert!(!set(&session, &third, None).verified);
    assert!(set(&session, &third, Some("file")).verified);
    assert_eq!(parts.stops(&session), ["first", "second"]);
    session.disconnect();
}

#[test]
fn a_mode_that_there_is_not_is_refused_for_its_breakpoint_alone() {
    let parts = Parts::new("refused", "gcc", &[]);
    let session = parts.launched();
    let mut odd = SourceBreakpoint::new(3);
    odd.mode = Some("hardware".to_owned());
    let wanted = vec![odd, SourceBreakpoint::new(3)];
    let source = Source::new().with_path(text(&parts.header("first")));
    let arguments = SetBreakpointsArguments::new(source).with_breakpoints(wanted);
    let set = session.ok::<SetBreakpointsRequest>(arguments).breakpoints;
    let verified: Vec<bool> = set.iter().map(|one| one.verified).collect();
    assert_eq!(verified, [false, true]);
    let message =
        "there is no mode `hardware` for breakpoints on lines; there are `path` and `file`";
    assert_eq!(set[0].message.as_deref(), Some(message));
    session.disconnect();
}
