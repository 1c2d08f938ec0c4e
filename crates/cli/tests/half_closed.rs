//! Clients that close only one direction of the connection, and clients that don't read: no process is left behind, and answers overtake
//! output.

use crate::support;
use crate::support::raw::Raw;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// A session with `fixtures/flood.c`, and its process id.
fn start(arguments: &[&str], log_point: bool) -> (Raw, i64) {
    let program =
        support::scratch("half-closed").join(format!("flood-{:?}", std::thread::current().id()));
    support::compile("flood.c", &program);
    let mut raw = Raw::start();
    raw.request("initialize", &json!({"adapterID": "raw"}));
    raw.answer();
    raw.request("launch", &json!({"program": program, "args": arguments}));
    let (mut process, mut is_ready) = (None, false);
    while process.is_none() || !is_ready {
        let message = raw.message().expect("a start");
        is_ready |= message["event"] == "initialized";
        if message["event"] == "process" {
            process = message["body"]["systemProcessId"].as_i64();
        }
    }
    if log_point {
        let line = support::line("flood.c", "counting");
        raw.request(
            "setBreakpoints",
            &json!({
                "source": {"path": support::root().join("fixtures/flood.c")},
                "breakpoints": [{"line": line, "logMessage": "counted {counted}"}],
            }),
        );
        let (answer, _) = raw.answer();
        assert_eq!(
            answer["body"]["breakpoints"][0]["verified"], true,
            "{answer}"
        );
    }
    raw.request("configurationDone", &Value::Null);
    (raw, process.expect("a process"))
}

/// Waits until the program is blocked because the client doesn't read: it has written more than the adapter buffers, and neither it nor the
/// adapter can continue. Returns the adapter's process id.
fn wait_for_the_flood(process: i64) -> String {
    const MUCH: u64 = 9 << 20;
    let written = || -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{process}/io")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("wchar: "))?;
        line.parse().ok()
    };
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let adapter = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:\t"));
    let adapter = adapter.expect("a line").to_owned();
    while written().expect("it runs") < MUCH || !all_are(process, 'S') {
        std::thread::yield_now();
    }
    wait_for_idle(&adapter);
    adapter
}

/// Waits until a process is idle, that is, until all of its threads sleep at the same moment. One look isn't enough, since a thread that
/// was seen asleep may have been woken by a thread that is looked at later. So no thread may have run between two looks.
fn wait_for_idle(process: &str) {
    let mut before = None;
    loop {
        let now = all_are(process, 'S').then(|| switches(process));
        if now.is_some() && now == before {
            return;
        }
        before = now;
        std::thread::yield_now();
    }
}

/// The number of context switches of each thread of a process (proc_pid_status(5)).
fn switches(process: &str) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let status = |thread: std::fs::DirEntry| {
        let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
        lines.collect::<String>()
    };
    threads.map_or_else(|_| Vec::new(), |all| all.flatten().map(status).collect())
}

/// Whether all threads of a process are in this state (proc_pid_stat(5)). True if the process is gone.
fn all_are(process: impl std::fmt::Display, state: char) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return true;
    };
    threads.flatten().all(|thread| {
        let status = std::fs::read_to_string(thread.path().join("stat"));
        status.is_ok_and(|status| status.contains(&format!(") {state} ")))
    })
}

/// Checks that the adapter ends by itself without an error, and the program with it.
fn both_end(mut raw: Raw, process: i64) {
    assert_eq!(raw.child.wait().expect("its end").code(), Some(0));
    assert!(!Path::new(&format!("/proc/{process}")).exists());
}

#[test]
fn an_adapter_that_nobody_hears_ends_and_its_program_with_it() {
    for arguments in [&["silent"][..], &[]] {
        let (mut raw, process) = start(arguments, false);
        drop(raw.output.take());
        both_end(raw, process);
    }
}

#[test]
fn a_client_that_closes_its_writing_end_and_reads_nothing_is_gone() {
    let (mut raw, process) = start(&[], false);
    wait_for_the_flood(process);
    drop(raw.child.stdin.take());
    both_end(raw, process);
}

/// Checks that the answer to a request comes soon, although the client hasn't read the flood of output before it.
fn answered_soon(raw: &mut Raw, command: &str) {
    raw.request(command, &json!({"threadId": 1}));
    let before = raw.read;
    let (answer, _) = raw.answer();
    assert_eq!(answer["success"], true, "{answer}");
    let read = raw.read - before;
    assert!(
        read < 1 << 20,
        "{command}: {read} bytes came before the answer"
    );
}

/// Reads messages up to an event.
fn event(raw: &mut Raw, name: &str) {
    while raw.message().expect("more")["event"] != name {}
}

#[test]
fn a_pause_overtakes_output_and_no_output_is_lost() {
    let (mut raw, process) = start(&[], false);
    let adapter = wait_for_the_flood(process);
    raw.request("pause", &json!({"threadId": process}));
    while !all_are(process, 't') {
        std::thread::yield_now();
    }
    wait_for_idle(&adapter);
    let (before, mut stopped, mut text) = (raw.read, false, String::new());
    // Output that the program wrote before the stop comes after the stopped event.
    while !stopped || raw.read - before < 9 << 20 {
        let message = raw.message().expect("more");
        if message["body"]["category"] == "stdout" {
            text += message["body"]["output"].as_str().expect("a text");
        }
        if message["event"] == "stopped" {
            let read = raw.read - before;
            assert!(read < 1 << 20, "{read} bytes came before the stop");
            stopped = true;
        }
    }
    let mut expected: Option<u64> = None;
    for line in text.lines().take(text.lines().count() - 1) {
        let number = line
            .split(':')
            .next()
            .and_then(|number| number.parse().ok());
        let number: u64 = number.expect("a whole line");
        assert_eq!(number, expected.unwrap_or(number));
        expected = Some(number + 1);
    }
    raw.request("disconnect", &json!({}));
    raw.answer();
    both_end(raw, process);
}

#[test]
fn at_the_end_the_oldest_output_is_left_out_and_counted() {
    let (mut raw, process) = start(&[], false);
    let mut ends = 0;
    let adapter = wait_for_the_flood(process);
    // A client that reads nothing for 250 ms counts as not reading. This wait is for the time itself, because no event marks it.
    let (_keep, nothing) = std::sync::mpsc::channel::<()>();
    assert!(nothing.recv_timeout(Duration::from_millis(400)).is_err());
    raw.request("terminate", &json!({}));
    while Path::new(&format!("/proc/{process}")).exists() {
        std::thread::yield_now();
    }
    wait_for_idle(&adapter);
    let (mut answered, mut left_out, mut last) = (None, None, String::new());
    let begin = raw.read;
    loop {
        let message = raw.message().expect("more");
        if message["request_seq"] == raw.seq {
            answered = Some(raw.read - begin);
        }
        if message["event"] == "terminated" {
            break;
        }
        let Some(text) = message["body"]["output"].as_str() else {
            continue;
        };
        if message["body"]["category"] == "stdout" {
            ends += text.matches('\n').count();
            last += text;
            last = last.split_off(last.rfind('\n').map_or(0, |end| {
                last[..end].rfind('\n').map_or(0, |start| start + 1)
            }));
        } else if let Some((count, _)) = text.split_once(" lines of output were left out") {
            assert_eq!(left_out, None, "told once");
            left_out = count.parse::<usize>().ok();
        }
    }
    assert!(answered.expect("an answer") < 1 << 20);
    assert!(
        raw.read - begin < 1 << 20,
        "{} bytes came before the end",
        raw.read - begin
    );
    let number: usize = last
        .split(':')
        .next()
        .and_then(|number| number.parse().ok())
        .expect("a whole line");
    assert_eq!(ends + left_out.expect("a notice"), number + 1, "{last}");
    answered_soon(&mut raw, "disconnect");
    both_end(raw, process);
}

#[test]
fn a_hot_log_point_that_nobody_reads_holds_up_nothing() {
    for command in ["pause", "terminate", "disconnect"] {
        let (mut raw, process) = start(&["silent"], true);
        let before = raw.read;
        event(&mut raw, "output");
        // The pipe is full, and more messages are queued.
        assert!(raw.read > before);
        raw.request(command, &json!({"threadId": process}));
        let read = raw.read;
        raw.answer();
        match command {
            "pause" => event(&mut raw, "stopped"),
            "terminate" => event(&mut raw, "terminated"),
            _ => {}
        }
        assert!(
            raw.read - read < 1 << 20,
            "{command}: {} bytes",
            raw.read - read
        );
        if command != "disconnect" {
            answered_soon(&mut raw, "disconnect");
        }
        both_end(raw, process);
    }
}
