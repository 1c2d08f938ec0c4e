//! Debug information from debuginfod servers, through the `debuginfod-find` client.

use crate::support;
use dapple_dap::client::Client;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{dapple, scratch};

const SOURCE: &str = "static int twice(int x) {
    return x + x;
}
int main(int argc, char **argv) {
    return twice(argc);
}
";

fn run(folder: &Path, tool: &str, arguments: &[&str]) -> String {
    let output = Command::new(tool)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("{tool} is needed: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A stripped program whose debug information is in `program.debug`. Returns its folder and its build id.
fn stripped(name: &str) -> (PathBuf, String) {
    let folder = scratch(name);
    std::fs::write(folder.join("main.c"), SOURCE).expect("the folder is there");
    run(
        &folder,
        "gcc",
        &["-g", "-Wl,--build-id", "main.c", "-o", "program"],
    );
    run(
        &folder,
        "objcopy",
        &["--only-keep-debug", "program", "program.debug"],
    );
    run(&folder, "objcopy", &["--strip-all", "program"]);
    let id = build_id(&folder);
    (folder, id)
}

/// The build id of the program in a folder.
fn build_id(folder: &Path) -> String {
    let notes = run(folder, "readelf", &["-n", "program"]);
    let id = notes
        .lines()
        .find_map(|line| line.trim().strip_prefix("Build ID: "));
    id.expect("a build id").to_owned()
}

/// Writes a `debuginfod-find` script into the folder that returns `file` for this build id, and fails for all others.
fn client(folder: &Path, id: &str, file: &Path) {
    let script = format!(
        "#!/bin/sh\n[ \"$1 $2\" = \"debuginfo {id}\" ] && echo '{}'\n",
        file.display()
    );
    support::script(&folder.join("debuginfod-find"), &script);
}

/// A session whose program is launched and stopped, with a breakpoint in `twice`.
fn held(folder: &Path, path: &str, arguments: serde_json::Value) -> (TestClient, Breakpoint) {
    let adapter = Client::spawn(dapple().arg("dap").env("PATH", path)).expect("dapple runs");
    let adapter = TestClient::from(adapter);
    adapter.initialize();
    let mut arguments = arguments;
    arguments["program"] = json!(folder.join("program"));
    adapter.ok::<LaunchRequest>(launch_arguments(&arguments));
    adapter.wait_for::<InitializedEvent>();
    let source = Source::new().with_path(folder.join("main.c").to_string_lossy());
    let lines =
        SetBreakpointsArguments::new(source).with_breakpoints(vec![SourceBreakpoint::new(2)]);
    let set = adapter.ok::<SetBreakpointsRequest>(lines);
    (adapter, set.breakpoints[0].clone())
}

fn path_with(folder: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", folder.display())
}

#[test]
fn what_a_server_has_makes_breakpoints_work_and_the_launch_does_not_wait() {
    let (folder, id) = stripped("debuginfod-found");
    client(&folder, &id, &folder.join("program.debug"));
    comes(&folder, json!({"debuginfod": true}));
    // cpptools' form of the argument.
    comes(&folder, json!({"debuginfod": {"enabled": true}}));
}

/// Debugs the program with the server's debug information.
fn comes(folder: &Path, arguments: serde_json::Value) {
    let (adapter, _) = held(folder, &path_with(folder), arguments);
    // Debug information may arrive before or after the breakpoint is set. The module event comes in both cases.
    loop {
        let module = adapter.wait_for::<ModuleEvent>();
        if module.reason == ModuleEventReason::Changed {
            assert_eq!(module.module.name, "program");
            break;
        }
    }
    adapter.ok::<ConfigurationDoneRequest>(Default::default());
    let stop = adapter.wait_for::<StoppedEvent>();
    let thread = stop.thread_id.expect("a thread");
    let stack = adapter.ok::<StackTraceRequest>(StackTraceArguments::new(thread));
    let top = &stack.stack_frames[0];
    assert_eq!((top.name.as_str(), top.line), ("twice", 2));
    adapter.disconnect();
}

#[test]
fn nothing_is_asked_for_unless_the_user_wants_it() {
    let (folder, id) = stripped("debuginfod-unwanted");
    client(&folder, &id, &folder.join("program.debug"));
    let script = std::fs::read_to_string(folder.join("debuginfod-find")).expect("the script");
    let witness = folder.join("asked");
    std::fs::remove_file(&witness).ok();
    let script = script.replace(
        "#!/bin/sh",
        &format!("#!/bin/sh\ntouch '{}'", witness.display()),
    );
    support::script(&folder.join("debuginfod-find"), &script);
    for arguments in [json!({}), json!({"debuginfod": {"enabled": false}})] {
        let (adapter, breakpoint) = held(&folder, &path_with(&folder), arguments);
        assert!(!breakpoint.verified);
        adapter.ok::<ConfigurationDoneRequest>(Default::default());
        assert_eq!(adapter.wait_for::<ExitedEvent>().exit_code, 2);
        adapter.disconnect();
        assert!(!witness.exists(), "a server was asked");
    }
}

#[test]
fn another_builds_file_and_a_missing_client_are_told_of() {
    let (folder, id) = stripped("debuginfod-wrong");
    let (other, _) = stripped("debuginfod-other");
    std::fs::write(other.join("main.c"), SOURCE.replace("x + x", "x * 3")).expect("a source");
    run(
        &other,
        "gcc",
        &["-g", "-Wl,--build-id", "main.c", "-o", "other"],
    );
    client(&folder, &id, &other.join("other"));
    let (adapter, _) = held(&folder, &path_with(&folder), json!({"debuginfod": true}));
    let said = adapter.wait_for::<OutputEvent>();
    assert!(said.output.contains("of another build"), "{said:?}");
    adapter.disconnect();

    let (adapter, _) = held(&folder, "/nowhere", json!({"debuginfod": true}));
    let said = adapter.wait_for::<OutputEvent>();
    assert!(said.output.contains("debuginfod-find"), "{said:?}");
    adapter.ok::<ConfigurationDoneRequest>(Default::default());
    assert_eq!(adapter.wait_for::<ExitedEvent>().exit_code, 2);
    adapter.disconnect();
}

#[test]
fn a_server_that_takes_long_is_shown_and_can_be_done_without() {
    let (folder, id) = stripped("debuginfod-slow");
    client(&folder, &id, &folder.join("program.debug"));
    let path = folder.join("debuginfod-find");
    let script = std::fs::read_to_string(&path).expect("the script");
    // The client never answers, because nothing opens the FIFO's other end.
    let script = script.replace(
        "#!/bin/sh",
        "#!/bin/sh\n[ -p never ] || mkfifo never\nread x < never",
    );
    support::script(&path, &script);
    let mut dapple = dapple();
    let dapple = dapple.arg("dap").env("PATH", path_with(&folder));
    let adapter = Client::spawn(dapple.current_dir(&folder)).expect("dapple runs");
    let adapter = TestClient::from(adapter);
    let arguments =
        InitializeRequestArguments::new("dapple").with_supports_progress_reporting(true);
    adapter.ok::<InitializeRequest>(arguments);
    let arguments =
        json!({"program": folder.join("program"), "debuginfod": true, "stopOnEntry": true});
    adapter.ok::<LaunchRequest>(launch_arguments(&arguments));
    adapter.ok::<ConfigurationDoneRequest>(Default::default());
    let shown = adapter.wait_for::<ProgressStartEvent>();
    assert_eq!(shown.title, "Fetching debug information of program");
    assert_eq!(shown.cancellable, Some(true));
    let cancel = CancelArguments::new().with_progress_id(shown.progress_id.clone());
    adapter.ok::<CancelRequest>(cancel);
    let ended = adapter.wait_for::<ProgressEndEvent>();
    assert_eq!(ended.progress_id, shown.progress_id);
    let stop = adapter.wait_for::<StoppedEvent>();
    adapter.resume(stop.thread_id.expect("a thread"));
    assert_eq!(adapter.wait_for::<ExitedEvent>().exit_code, 2);
    adapter.disconnect();
}

/// The source text of a program whose source file is deleted.
const GONE: &str = "static int twice(int x) {
    x = x + 1;
    return x + x;
}
int main(int argc, char **argv) {
    int two = twice(argc);
    return two;
}
";

/// A program whose source was deleted. Returns its folder and its build id.
fn without_source(name: &str) -> (PathBuf, String) {
    let folder = scratch(name);
    std::fs::write(folder.join("gone.c"), GONE).expect("the folder is there");
    let flags = ["-g", "-gdwarf-5", "-Wl,--build-id", "gone.c", "-o"];
    // Only clang writes the checksums of sources.
    let arguments = [&flags[..], &["program"]].concat();
    run(&folder, "clang-22", &arguments);
    std::fs::remove_file(folder.join("gone.c")).expect("it was there");
    let id = build_id(&folder);
    (folder, id)
}

/// Writes a `debuginfod-find` script into the folder that records each request, and returns `file` for the source once the FIFO `go` was
/// written to.
fn source_client(folder: &Path, id: &str, file: &Path) {
    let (source, file) = (folder.join("gone.c"), file.display());
    let script = format!(
        "#!/bin/sh\ncd '{}'\necho \"$@\" >> asked\n[ \"$1 $2 $3\" = 'source {id} {}' ] || exit 1\nread x < go\necho '{file}'\n",
        folder.display(),
        source.display()
    );
    support::script(&folder.join("debuginfod-find"), &script);
    let _ = std::fs::remove_file(folder.join("go"));
    let _ = std::fs::remove_file(folder.join("asked"));
    run(folder, "mkfifo", &["go"]);
}

/// Makes the client of [`source_client`] continue, even if it only reads the FIFO later. Keep the file open until then.
#[must_use]
fn go(folder: &Path) -> File {
    let mut file = File::options()
        .read(true)
        .write(true)
        .open(folder.join("go"))
        .expect("a FIFO");
    file.write_all(b"go\n").expect("there is room");
    file
}

/// Debugs the program up to `twice`, with a client that supports `invalidated`.
fn in_twice(folder: &Path, arguments: serde_json::Value) -> (TestClient, i64) {
    let adapter = Client::spawn(dapple().arg("dap").env("PATH", path_with(folder)));
    let adapter = TestClient::from(adapter.expect("dapple runs"));
    let client = InitializeRequestArguments::new("dapple").with_supports_invalidated_event(true);
    adapter.ok::<InitializeRequest>(client);
    let mut arguments = arguments;
    arguments["program"] = json!(folder.join("program"));
    adapter.ok::<LaunchRequest>(launch_arguments(&arguments));
    adapter.wait_for::<InitializedEvent>();
    let wanted = vec![FunctionBreakpoint::new("twice")];
    adapter.ok::<SetFunctionBreakpointsRequest>(SetFunctionBreakpointsArguments::new(wanted));
    adapter.ok::<ConfigurationDoneRequest>(Default::default());
    let stop = adapter.wait_for::<StoppedEvent>();
    (adapter, stop.thread_id.expect("a thread"))
}

fn top(adapter: &TestClient, thread: i64) -> StackFrame {
    let stack = adapter.ok::<StackTraceRequest>(StackTraceArguments::new(thread));
    stack.stack_frames.into_iter().next().expect("a frame")
}

#[track_caller]
fn is_disassembly(frame: &StackFrame) {
    let source = frame.source.as_ref().expect("a source");
    let name = source.name.as_deref();
    assert_eq!(name, Some("twice (disassembly)"), "{frame:?}");
}

#[test]
fn a_source_that_is_not_here_comes_from_a_server_and_no_stop_waits_for_it() {
    let (folder, id) = without_source("debuginfod-source");
    let kept = folder.join("kept");
    std::fs::write(&kept, GONE).expect("a source");
    source_client(&folder, &id, &kept);
    let (adapter, thread) = in_twice(&folder, json!({"debuginfod": true}));
    is_disassembly(&top(&adapter, thread));
    let _going = go(&folder);
    let told = adapter.wait_for::<InvalidatedEvent>();
    assert_eq!(told.areas, Some(vec![InvalidatedAreas::Stacks]));
    let frame = top(&adapter, thread);
    let source = frame.source.clone().expect("a source");
    assert_eq!((source.name.as_deref(), frame.line), (Some("gone.c"), 2));
    assert_eq!(source.path, None);
    let reference = source.source_reference.expect("a reference");
    assert!(reference > 0);
    let text =
        adapter.ok::<SourceRequest>(SourceArguments::new(reference).with_source(source.clone()));
    assert_eq!(text.content, GONE);
    // Breakpoints and steps use the source's lines.
    let lines = SetBreakpointsArguments::new(source.clone());
    let lines = lines.with_breakpoints(vec![SourceBreakpoint::new(7)]);
    let set = adapter
        .ok::<SetBreakpointsRequest>(lines)
        .breakpoints
        .remove(0);
    assert!(set.verified, "{set:?}");
    assert_eq!(
        set.source.and_then(|it| it.source_reference),
        Some(reference)
    );
    adapter.ok::<NextRequest>(NextArguments::new(thread));
    adapter.wait_for::<StoppedEvent>();
    assert_eq!(top(&adapter, thread).line, 3);
    adapter.resume(thread);
    let stop = adapter.wait_for::<StoppedEvent>();
    assert_eq!(stop.hit_breakpoint_ids, Some(vec![set.id.expect("an id")]));
    let frame = top(&adapter, thread);
    assert_eq!((frame.name.as_str(), frame.line), ("main", 7));
    assert_eq!(
        frame.source.and_then(|it| it.source_reference),
        Some(reference)
    );
    adapter.resume(thread);
    assert_eq!(adapter.wait_for::<ExitedEvent>().exit_code, 4);
    adapter.disconnect();
    let asked = std::fs::read_to_string(folder.join("asked")).expect("it was asked");
    let sources = asked.lines().filter(|line| line.starts_with("source "));
    assert_eq!(sources.count(), 1, "{asked}");
}

#[test]
fn a_source_is_shown_only_if_it_is_what_was_compiled_and_nobody_elses_to_write() {
    let (folder, id) = without_source("debuginfod-bad-source");
    let file = folder.join("given");
    let large = || {
        let file = File::create(&file).expect("a file");
        file.set_len((16 << 20) + 1).expect("a hole");
    };
    let mode = |mode: u32| {
        std::fs::write(&file, GONE).expect("a source");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode))
            .expect("it is ours");
    };
    let other = || std::fs::write(&file, GONE.replace("x + x", "x * 3")).expect("a source");
    let nothing = || std::fs::remove_file(&file).expect("it was there");
    let cases: [(&dyn Fn(), &str); 4] = [
        (&large, "has more than 16777216 bytes"),
        (&|| mode(0o666), "others can write"),
        (&|| (mode(0o600), other()).1, "checksum"),
        (&nothing, "No such file"),
    ];
    for (prepare, why) in cases {
        prepare();
        source_client(&folder, &id, &file);
        let (adapter, thread) = in_twice(&folder, json!({"debuginfod": true}));
        is_disassembly(&top(&adapter, thread));
        let _going = go(&folder);
        let said = loop {
            let said = adapter.wait_for::<OutputEvent>().output;
            if said.contains("gone.c") {
                break said;
            }
        };
        assert!(said.contains(why), "{said} for {why}");
        is_disassembly(&top(&adapter, thread));
        adapter.disconnect();
    }
    // If it isn't enabled, or the server doesn't have the source, the disassembly is shown.
    source_client(&folder, "none", &file);
    let (adapter, thread) = in_twice(&folder, json!({}));
    is_disassembly(&top(&adapter, thread));
    adapter.disconnect();
    assert!(!folder.join("asked").exists(), "a server was asked");
}
