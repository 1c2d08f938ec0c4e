//! Programs that nobody here wrote are recorded and run again: each time, they come to the same places in the same states.
//!
//! `DAPPLE_ROUNDS=20` runs each of them 20 times again.

use crate::support::fixture::fixtures_folder;
use crate::support::package::built;
use crate::support::snapshot::{Snapshot, writable};
use crate::support::{Session, Stopped};
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::json;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How often programs are run again.
fn rounds() -> usize {
    let given = std::env::var("DAPPLE_ROUNDS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Where the system has a command. Not elsewhere: what is in other folders may be a script.
#[track_caller]
fn program(command: &str) -> PathBuf {
    let path = Path::new("/usr/bin").join(command);
    assert!(
        path.is_file(),
        "`{command}` is not here: .ci/run installs it"
    );
    path
}

/// A folder with files for a program to work on.
fn folder(name: &str) -> PathBuf {
    let folder = fixtures_folder().join(format!("travelled-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("texts")).expect("a folder");
    let mut text = String::new();
    for line in 0..4000_u32 {
        let number = line.wrapping_mul(2_654_435_761) >> 7;
        let _ = writeln!(text, "line {line} has the number {number}");
    }
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("a file of the tests");
    };
    write("text", &text);
    for number in 0..6 {
        write(&format!("texts/{number}"), &text[..1000 * (number + 1)]);
    }
    folder
}

/// A session with a recorded program, which has not begun.
struct Recorded {
    session: Session,
    process: i64,
}

impl Recorded {
    #[track_caller]
    fn launched(program: &Path, arguments: &[&str], folder: &Path) -> Recorded {
        let session = Session::new();
        let arguments = json!({
            "program": program, "args": arguments, "cwd": folder, "record": true, "stdio": [null, "null", "null"],
        });
        session.ok::<LaunchRequest>(launch_arguments(&arguments));
        session.wait_for::<InitializedEvent>();
        let wanted = ["exit", "_exit"].map(FunctionBreakpoint::new);
        let arguments = SetFunctionBreakpointsArguments::new(wanted.into());
        session.ok::<SetFunctionBreakpointsRequest>(arguments);
        session.configured();
        let process = session.process_id();
        Recorded { session, process }
    }

    #[track_caller]
    fn stop(&self) -> Stopped {
        let stop = self.session.stopped(StoppedEventReason::FunctionBreakpoint);
        assert!(stop.top.name.ends_with("exit"), "{}", stop.top.name);
        stop
    }

    #[track_caller]
    fn is_as(&self, stop: &Stopped, then: &State, about: &str) {
        assert_eq!(stop.top.name, then.function, "{about}");
        let now = Snapshot::of(&self.session, stop, &then.writable);
        assert_eq!(now.differences(&then.snapshot), "", "{about}");
    }

    #[track_caller]
    fn forward(&self, from: &Stopped) -> Stopped {
        self.session.resume(from.thread);
        self.stop()
    }

    #[track_caller]
    fn back(&self, from: &Stopped) {
        let arguments = ReverseContinueArguments::new(from.thread);
        self.session.ok::<ReverseContinueRequest>(arguments);
    }
}

/// A state to which the program comes again.
struct State {
    function: String,
    writable: Vec<Range<u64>>,
    snapshot: Snapshot,
}

/// Records a program, and runs it again.
#[track_caller]
fn runs_again(name: &str, program: &Path, arguments: &[&str], folder: &Path) {
    let begin = Instant::now();
    let recorded = Recorded::launched(program, arguments, folder);
    let mut stop = recorded.stop();
    let mut states = Vec::new();
    loop {
        let writable = writable(recorded.process);
        let snapshot = Snapshot::of(&recorded.session, &stop, &writable);
        let function = stop.top.name.clone();
        states.push(State {
            function,
            writable,
            snapshot,
        });
        if stop.top.name == "_exit" {
            break;
        }
        stop = recorded.forward(&stop);
    }
    let took = begin.elapsed();
    let begin = Instant::now();
    for round in 0..rounds() {
        let about = format!("{name}, round {round}");
        for then in states.iter().rev().skip(1) {
            recorded.back(&stop);
            stop = recorded.stop();
            recorded.is_as(&stop, then, &about);
        }
        recorded.back(&stop);
        stop = recorded.session.stopped(StoppedEventReason::Entry);
        for then in &states {
            stop = recorded.forward(&stop);
            recorded.is_as(&stop, then, &about);
        }
    }
    recorded.session.resume(stop.thread);
    assert_eq!(recorded.session.exit_code(), 0, "{name}");
    println!(
        "{name}: recorded in {took:?}, {} rounds in {:?}",
        rounds(),
        begin.elapsed()
    );
}

#[test]
fn a_database_runs_again() {
    let folder = folder("sqlite3");
    let script = "create table numbers(n integer, t text);\n\
        with recursive c(n) as (select 1 union all select n + 1 from c where n < 2000) insert into numbers select n, hex(randomblob(8)) from c;\n\
        create index by_text on numbers(t); select count(*), sum(n), max(t), datetime('now') from numbers where t > '8';\n";
    std::fs::write(folder.join("script.sql"), script).expect("a script");
    runs_again(
        "sqlite3",
        &program("sqlite3"),
        &["new.db", ".read script.sql"],
        &folder,
    );
}

#[test]
fn compressors_run_again() {
    let folder = folder("compressors");
    runs_again(
        "xz",
        &program("xz"),
        &["-T2", "--block-size=65536", "-kf", "text"],
        &folder,
    );
    runs_again(
        "zstd",
        &program("zstd"),
        &["-T2", "-kf", "text", "-o", "text.zst"],
        &folder,
    );
    runs_again("bzip2", &program("bzip2"), &["-kf", "text"], &folder);
}

#[test]
fn searches_and_sorts_of_text_run_again() {
    let folder = folder("searches");
    runs_again(
        "grep",
        &program("grep"),
        &["-rc", "line 7", "texts"],
        &folder,
    );
    runs_again(
        "sort",
        &program("sort"),
        &["--parallel=2", "-S1M", "-r", "text", "-o", "sorted"],
        &folder,
    );
    runs_again(
        "mawk",
        &program("mawk"),
        &[
            "{ n += length($0) } END { print n, srand(), rand() }",
            "text",
        ],
        &folder,
    );
    runs_again(
        "openssl",
        &program("openssl"),
        &["dgst", "-sha256", "text"],
        &folder,
    );
    runs_again("git", &program("git"), &["hash-object", "text"], &folder);
}

#[test]
fn a_compiler_runs_again() {
    let folder = folder("cc1");
    let mut code = String::from("extern int printf(const char *, ...);\n");
    for number in 0..20 {
        let _ = writeln!(
            code,
            "static long sum{number}(long end) {{ long sum = {number}; for (long i = 0; i < end; i++) sum += i * i; return sum; }}"
        );
    }
    code += "int main(void) { return printf(\"%ld\", sum3(100) + sum7(50)) == 0; }\n";
    std::fs::write(folder.join("program.c"), code).expect("a program");
    let output = std::process::Command::new("gcc")
        .arg("-print-prog-name=cc1")
        .output();
    let found = String::from_utf8(output.expect("gcc").stdout).expect("a path");
    runs_again(
        "cc1",
        Path::new(found.trim()),
        &["-quiet", "-O2", "program.c", "-o", "program.s"],
        &folder,
    );
}

#[test]
fn interpreters_run_again() {
    let folder = folder("interpreters");
    let script = "import random, threading, time\nsums = [0, 0]\ndef work(n):\n    for i in range(20000):\n        sums[n] += random.randrange(9)\n\
        threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]\nfor t in threads: t.start()\nfor t in threads: t.join()\nprint(sums, time.time())\n";
    std::fs::write(folder.join("script.py"), script).expect("a script");
    runs_again("python3", &program("python3"), &["script.py"], &folder);
    let script = "my %n; $n{int rand 50}++ for 1 .. 20000; local $SIG{ALRM} = sub { $a++ }; alarm 1; select undef, undef, undef, 1.2; print join(',', map { \"$_=$n{$_}\" } sort keys %n), time, $a";
    std::fs::write(folder.join("script.pl"), script).expect("a script");
    runs_again("perl", &program("perl"), &["script.pl"], &folder);
    runs_again(
        "bash",
        &program("bash"),
        &[
            "-c",
            "for i in 1 2 3; do echo $RANDOM | cat; done; echo $SECONDS",
        ],
        &folder,
    );
}

#[test]
fn a_reader_of_json_runs_again() {
    let folder = folder("jq");
    let data: Vec<String> = (0..500)
        .map(|n| format!("{{\"a\": {n}, \"b\": \"{}\"}}", n * 7))
        .collect();
    std::fs::write(folder.join("data.json"), format!("[{}]", data.join(","))).expect("data");
    runs_again(
        "jq",
        &program("jq"),
        &["-c", "[.[] | .a * 2] | add, now", "data.json"],
        &folder,
    );
}

#[test]
fn a_server_of_tokio_with_its_clients_runs_again() {
    let program = built("executors", false).join("recorded_loopback");
    runs_again("tokio", &program, &[], &folder("tokio"));
}

#[test]
fn a_computation_with_rayon_runs_again() {
    let program = built("executors", false).join("recorded_rayon");
    runs_again("rayon", &program, &[], &folder("rayon"));
}
