//! `dapple trace` between a client and adapters, and with recordings.

use crate::support::{self, Run, compile, dapple, root, scratch};
use dapple_dap::Connection;
use dapple_dap::lifecycle::Side;
use dapple_dap::testing::{Recording, TestClient, launch_arguments};
use dapple_dap::transport::Options;
use dapple_dap::types::*;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder for a test's files, empty.
pub fn folder(name: &str) -> PathBuf {
    let folder = scratch("trace").join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

/// A recorded session of the repository.
pub fn recorded(adapter: &str) -> PathBuf {
    let path = format!("crates/trace/tests/recordings/{adapter}.ndjson");
    root().join(path)
}

/// Runs `dapple trace` with an adapter that is a shell script, and this input. Returns also the output's bytes.
fn traced(options: &[&str], script: &str, input: &[u8]) -> (Run, Vec<u8>) {
    let mut command = dapple();
    command
        .arg("trace")
        .args(options)
        .args(["--", "sh", "-c", script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("dapple starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let bytes = input.to_vec();
    let writing = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().expect("its end");
    // An adapter that ends early takes no input.
    let _ = writing.join().expect("the thread");
    let run = Run {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    };
    (run, output.stdout)
}

fn framed(json: &serde_json::Value) -> Vec<u8> {
    let text = json.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

#[test]
fn every_byte_is_passed_on_and_what_is_no_message_is_shown_as_that() {
    let file = folder("bytes").join("session.ndjson");
    let mut input =
        b"X-Own: 1\r\nContent-Length: 2\r\n\r\n{}noise\r\nContent-Length: x\r\n\r\n".to_vec();
    input.extend(framed(
        &json!({"seq": 1, "type": "request", "command": "threads"}),
    ));
    input.extend((0..=255).cycle().take(300_000));
    let path = file.display().to_string();
    let (run, output) = traced(&["-o", &path], "cat", &input);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(output == input, "the bytes came back as they were sent");
    assert!(run.stderr.contains("→   1 threads"), "{run:#?}");
    assert!(
        run.stderr
            .contains("no message: `Content-Length` must be a number"),
        "{run:#?}"
    );
    let mode = std::fs::metadata(&file)
        .expect("the recording")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    // Other readers of recordings leave out what is no message.
    let text = std::fs::read_to_string(&file).expect("the recording");
    let recording = Recording::parse(&text).expect("a recording");
    let sent = recording
        .entries
        .iter()
        .filter(|entry| entry.from == Side::Client);
    assert_eq!(sent.count(), 2);
    let shown = Run::of(dapple().arg("trace").arg(&file));
    assert!(
        shown
            .stdout
            .contains("no message: `Content-Length` must be"),
        "{shown:#?}"
    );
}

#[test]
fn much_data_is_recorded_whole() {
    let file = folder("much").join("session.ndjson");
    let mut input = Vec::new();
    for seq in 1..=3000 {
        let text = "x".repeat(10_000);
        input.extend(framed(
            &json!({"seq": seq, "type": "request", "command": "evaluate", "arguments": {"expression": text}}),
        ));
    }
    let path = file.display().to_string();
    let (run, _) = traced(&["-q", "-o", &path], "cat >/dev/null", &input);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let text = std::fs::read_to_string(&file).expect("the recording");
    assert_eq!(Recording::parse(&text).expect("whole").entries.len(), 3000);
}

#[test]
fn the_adapters_exit_code_and_stderr_are_passed_on() {
    let (run, _) = traced(&[], "echo from the adapter >&2; exit 7", b"");
    assert_eq!(run.code, Some(7), "{run:#?}");
    assert!(run.stderr.contains("from the adapter\n"), "{run:#?}");
    let (run, _) = traced(&[], "kill -9 $$", b"");
    assert_eq!(run.code, Some(137), "{run:#?}");
    // A process that the adapter leaves behind holds its output open.
    let (run, _) = traced(
        &[],
        "printf over; (trap '' HUP; exec sleep 300) & exit 3",
        b"",
    );
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(3), "over"),
        "{run:#?}"
    );
    Run::of(dapple().args(["trace", "--", "/no/such/adapter"])).assert_fails(
        "dapple: cannot start the adapter /no/such/adapter: No such file or directory (os error 2)\n",
    );
    let run = Run::of(dapple().arg("trace"));
    assert!(
        run.stderr
            .starts_with("dapple: nothing to trace: give the adapter's command"),
        "{run:#?}"
    );
}

#[test]
fn an_editor_that_reads_slowly_gets_all_that_an_adapter_said_before_its_end() {
    let mut command = dapple();
    command.args([
        "trace",
        "--",
        "sh",
        "-c",
        "head -c 1000000 /dev/zero; exit 4",
    ]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("dapple starts");
    let mut output = child.stdout.take().expect("a pipe");
    let mut first = vec![0; 900_000];
    output.read_exact(&mut first).expect("the output");
    // The rest is in pipes and the trace: the adapter ends meanwhile.
    support::pass(Duration::from_millis(2500));
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).expect("the output");
    assert_eq!(rest.len(), 100_000);
    assert_eq!(child.wait().expect("its end").code(), Some(4));
}

/// The processes whose command line has a word.
fn processes_with(word: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc");
    let command = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(entry.ok()?.path().join("cmdline")).ok()
    };
    entries
        .filter_map(command)
        .filter(|line| line.contains(word))
        .collect()
}

#[test]
fn a_signal_is_passed_on_and_no_process_is_left_behind() {
    let word = format!("left-{}", std::process::id());
    // The first ends by the signal; the second doesn't listen, and starts another process.
    for (script, code) in [
        (
            "trap 'exit 5' TERM; echo ready >&2; while :; do read line || sleep 0.05; done",
            5,
        ),
        (
            "trap '' TERM; sh -c 'trap \"\" TERM; sleep 300; : WORD' & echo ready >&2; exec sleep 301",
            137,
        ),
    ] {
        let script = script.replace("WORD", &word);
        let mut command = dapple();
        command.args(["trace", "--", "sh", "-c", &script]);
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("dapple starts");
        let mut ready = String::new();
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        stderr.read_line(&mut ready).expect("a line");
        assert_eq!(ready, "ready\n");
        let process = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).expect("it runs");
        assert_eq!(
            child.wait().expect("its end").code(),
            Some(code),
            "{script}"
        );
        assert_eq!(processes_with(&word), [""; 0]);
    }
}

/// A client of a program that speaks the protocol on its standard input and output.
pub fn client_of(command: &mut Command) -> (Child, TestClient) {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let input = child.stdin.take().expect("a pipe");
    let output = child.stdout.take().expect("a pipe");
    let connection = Options::new().streams(output, input, || {});
    (child, TestClient::new(connection).with_timeout(PATIENCE))
}

/// A session that stops at a line of a source, looks at the stack and goes on to the end.
fn tour(client: &TestClient, launch: &serde_json::Value, source: &Path, line: i64) {
    client.launch_with_breakpoints(launch_arguments(launch), source, &[line]);
    let thread = client
        .wait_for::<StoppedEvent>()
        .thread_id
        .expect("a thread");
    let frame = client.top_frame(thread);
    client.scopes(frame.id);
    client.set_breakpoints(source, &[]);
    client.ok::<ContinueRequest>(ContinueArguments::new(thread));
    client.wait_for::<TerminatedEvent>();
    client.disconnect();
}

/// Records a session with an adapter for C at `file`, and returns the shown lines.
fn record(file: &Path, program: &Path, adapter: &[&str]) -> String {
    let launch = json!({"program": program});
    let source = root().join("fixtures/tour.c");
    record_of(
        file,
        &launch,
        &source,
        support::line("tour.c", "mean"),
        adapter,
    )
}

fn record_of(
    file: &Path,
    launch: &serde_json::Value,
    source: &Path,
    line: i64,
    adapter: &[&str],
) -> String {
    let mut command = dapple();
    command
        .args(["trace", "-o"])
        .arg(file)
        .arg("--")
        .args(adapter);
    let (mut child, client) = client_of(command.stderr(Stdio::piped()));
    let mut stderr = child.stderr.take().expect("a pipe");
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    tour(&client, launch, source, line);
    drop(client);
    assert_eq!(child.wait().expect("its end").code(), Some(0));
    reading.join().expect("the thread").expect("text")
}

#[test]
fn a_session_is_shown_recorded_compared_and_replayed() {
    let folder = folder("session");
    let program = folder.join("tour");
    compile("tour.c", &program);
    let (first, second) = (folder.join("first.ndjson"), folder.join("second.ndjson"));
    let adapter = [env!("CARGO_BIN_EXE_dapple"), "dap"];
    let lines = record(&first, &program, &adapter);
    let shown = Run::of(dapple().arg("trace").arg(&first));
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    // What was shown live is what the recording shows.
    assert_eq!(support::normalised(&lines), shown.stdout);
    for part in [
        "setBreakpoints tour.c: 23\n",
        "s  23 verified\n",
        "stopped breakpoint thread",
        ": mean at tour.c:23\n",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {shown:#?}");
    }
    assert!(!shown.stdout.contains(" ! "), "no violation: {shown:#?}");
    let only = Run::of(
        dapple()
            .args(["trace", "--only", "stopped,scopes", "--from", "client"])
            .arg(&first),
    );
    assert!(
        only.stdout.lines().all(|line| line.contains("scopes")),
        "{only:#?}"
    );
    assert_eq!(only.stdout.lines().count(), 1, "{only:#?}");
    record(&second, &program, &adapter);
    let same = Run::of(dapple().args(["trace", "--diff"]).args([&first, &second]));
    assert_eq!(
        (same.code, same.stdout.as_str()),
        (Some(0), "no difference\n"),
        "{same:#?}"
    );
    let mut command = dapple();
    command
        .args(["replay", "--as", "client"])
        .arg(&first)
        .arg("--")
        .args(adapter);
    let again = Run::of(&mut command);
    assert_eq!(again.code, Some(0), "{again:#?}");
    assert!(
        again.stdout.starts_with("the adapter says the same"),
        "{again:#?}"
    );
}

/// Plays the recorded client to an adapter, which has to say the same.
fn assert_says_the_same(file: &Path, adapter: &[&str]) {
    let mut command = dapple();
    command
        .args(["replay", "--as", "client"])
        .arg(file)
        .arg("--")
        .args(adapter);
    let again = Run::of(&mut command);
    assert_eq!(again.code, Some(0), "{again:#?}");
}

#[test]
fn lldb_dap_says_the_same_again() {
    let Some(lldb) = std::env::var_os("DAPPLE_LLDB_DAP") else {
        println!("skipped: DAPPLE_LLDB_DAP names no lldb-dap");
        return;
    };
    let folder = folder("lldb");
    let (program, file) = (folder.join("tour"), folder.join("session.ndjson"));
    compile("tour.c", &program);
    let adapter = [lldb.to_str().expect("a name")];
    let lines = record(&file, &program, &adapter);
    assert!(lines.contains("~ advice, redundant-continued: "), "{lines}");
    assert_says_the_same(&file, &adapter);
}

#[test]
fn debugpy_says_the_same_again() {
    let Some(python) = std::env::var_os("DAPPLE_DEBUGPY") else {
        println!("skipped: DAPPLE_DEBUGPY names no Python with debugpy");
        return;
    };
    let folder = folder("debugpy");
    let (source, file) = (folder.join("sum.py"), folder.join("session.ndjson"));
    let text = "def total(n):\n    return sum(range(n))\n\nprint(total(4))\n";
    std::fs::write(&source, text).expect("written");
    let python = python.to_str().expect("a name");
    let launch = json!({"program": source, "console": "internalConsole", "python": [python]});
    let adapter = [python, "-m", "debugpy.adapter"];
    let lines = record_of(&file, &launch, &source, 2, &adapter);
    assert!(lines.contains("stopped breakpoint thread 1"), "{lines}");
    assert_says_the_same(&file, &adapter);
}

#[test]
fn both_ends_may_be_sockets() {
    let listening = |arguments: &[&str]| {
        let mut command = dapple();
        let command = command.args(arguments).args(["--listen", "127.0.0.1:0"]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        stderr.read_line(&mut line).expect("a line");
        let address = line
            .trim_end()
            .strip_prefix("listening on ")
            .expect("its address")
            .to_owned();
        (child, address)
    };
    let (mut adapter, address) = listening(&["replay", &recorded("tiny").display().to_string()]);
    let (trace, address) = listening(&["trace", "--once", "--connect", &address]);
    let stream = std::net::TcpStream::connect(address).expect("it listens");
    let client = TestClient::new(Connection::tcp(stream).expect("a socket")).with_timeout(PATIENCE);
    client.initialize();
    client.disconnect();
    drop(client);
    let output = trace.wait_with_output().expect("its end");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{lines}");
    assert!(
        lines.contains("←   1 initialize ok") && lines.contains("disconnect ok"),
        "{lines}"
    );
    adapter.kill().expect("it runs");
    adapter.wait().expect("its end");
}

#[test]
fn a_listener_of_another_machine_must_be_asked_for() {
    let run = Run::of(dapple().args(["trace", "--listen", "0.0.0.0:0", "--", "true"]));
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stderr.contains("--allow-remote"), "{run:#?}");
}

#[test]
fn recordings_that_are_none_and_cut_ones() {
    let folder = folder("damaged");
    let file = folder.join("file");
    let trace = |text: &[u8]| {
        std::fs::write(&file, text).expect("written");
        Run::of(dapple().arg("trace").arg(&file))
    };
    let name = file.display();
    trace(b"\x7fELF\x00").assert_fails(&format!(
        "dapple: {name} is no recorded session: line 1: not JSON: expected value at line 1 column 1; expected a message of the protocol or an entry of a recording\n"
    ));
    trace(b"").assert_fails(&format!(
        "dapple: {name} is no recorded session: there is no message in it\n"
    ));
    // A plain log, cut off at its end, with nesting that no reader takes.
    let mut text = framed_lines(&[json!({"seq": 1, "type": "request", "command": "threads"})]);
    text += &format!(
        "{{\"seq\":2,\"type\":\"event\",\"event\":\"x\",\"body\":{}",
        "[".repeat(100_000)
    );
    let run = trace(text.as_bytes());
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(
        run.stdout
            .contains("! unanswered: the client's request 1 (`threads`)"),
        "{run:#?}"
    );
}

fn framed_lines(messages: &[serde_json::Value]) -> String {
    messages
        .iter()
        .map(|message| format!("{message}\n"))
        .collect()
}

#[test]
fn the_sessions_of_a_file_are_told_apart() {
    let file = folder("several").join("session.ndjson");
    let text = |adapter: &str, name: &str| {
        let text = std::fs::read_to_string(recorded(adapter)).expect("the recording");
        text.replace("\"session\":\"1000-1\"", &format!("\"session\":\"{name}\""))
    };
    let (tiny, debugpy) = (text("tiny", "one"), text("debugpy", "two"));
    // As two adapters write them at the same time.
    let mut lines = [tiny.lines(), debugpy.lines()];
    let mut mixed = String::new();
    for _ in 0..100 {
        for line in lines.iter_mut().filter_map(Iterator::next) {
            mixed += &format!("{line}\n");
        }
    }
    std::fs::write(&file, mixed).expect("written");
    let run = Run::of(dapple().arg("trace").arg(&file));
    let heads: Vec<_> = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("──"))
        .collect();
    let counts = [tiny.lines().count(), debugpy.lines().count()];
    assert_eq!(
        heads,
        [
            format!("── session 1 (one): {} messages ──", counts[0]),
            format!("── session 2 (two): {} messages ──", counts[1]),
        ]
    );
    assert_eq!(run.stdout.matches("initialize ok").count(), 2, "{run:#?}");
}

#[test]
fn an_adapter_that_listens_is_started_and_ended() {
    let address = folder("starts").join("socket");
    let address = format!("unix:{}", address.display());
    let recording = recorded("tiny").display().to_string();
    let mut command = dapple();
    command.args([
        "trace",
        "--connect",
        &address,
        "--",
        env!("CARGO_BIN_EXE_dapple"),
    ]);
    command.args(["replay", &recording, "--listen", &address]);
    let (mut child, client) = client_of(command.stderr(Stdio::null()));
    client.initialize();
    client.disconnect();
    drop(client);
    assert_eq!(child.wait().expect("its end").code(), Some(0));
    assert_eq!(processes_with(&address), [""; 0]);
}

#[test]
fn differences_are_lines_and_exit_code_1() {
    let run = Run::of(
        dapple()
            .arg("trace")
            .arg("--diff")
            .args([recorded("tiny"), recorded("debugpy")]),
    );
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stderr.contains(" differences: A is "), "{run:#?}");
    assert!(run.stdout.contains("\n-   "), "{run:#?}");
}

#[test]
fn questions_that_one_editor_asked_count_on_request() {
    let compared = |options: &[&str]| {
        let mut command = dapple();
        command.arg("trace").args(options).arg("--diff");
        Run::of(command.args([recorded("vscode"), recorded("vscode-again")]))
    };
    let run = compared(&[]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(run.stdout, "no difference\n");
    assert_eq!(
        run.stderr,
        "1 question asked by only one of the clients (see --questions)\n"
    );
    let run = compared(&["--questions"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert_eq!(run.stdout, "-   23       → threads\n");
}

#[test]
fn a_page_is_written_for_its_user_only() {
    let page = folder("page").join("page.html");
    let run = Run::of(
        dapple()
            .args(["trace", "--html", "-o"])
            .arg(&page)
            .arg(recorded("lldb-dap")),
    );
    assert_eq!(run.code, Some(0), "{run:#?}");
    let mode = std::fs::metadata(&page).expect("the page").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&page).expect("the page");
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>\n"));
}
