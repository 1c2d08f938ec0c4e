//! Bad input through a real socket: it gets an error that says what was wrong, and the session goes on where the next message
//! can be found. `memory.rs` measures the memory that bad input costs.

mod wire;

use std::io::Write;
use std::sync::{Mutex, Once};

use dapple_dap::types::*;
use dapple_dap::{Failure, Server};
use wire::{INITIALIZE, Wire, frame, request};

/// An adapter with one thread that accepts all breakpoints.
fn adapter() -> Server<()> {
    Server::builder()
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, "main")])))
        .on::<LaunchRequest>(|_, arguments, _| {
            let program = arguments
                .other
                .get("program")
                .ok_or(Failure::new("`program` is missing"))?;
            program.decode::<String>()?;
            Ok(Empty)
        })
        .on::<SetBreakpointsRequest>(|_, arguments, _| {
            let asked = arguments.breakpoints.unwrap_or_default();
            let set = asked.iter().map(|_| Breakpoint::new(true)).collect();
            Ok(SetBreakpointsResponse::new(set))
        })
        .build()
}

fn wire() -> Wire<()> {
    Wire::initialized(adapter(), ())
}

const ALIVE: &str = r#"99: threads ok {"threads":[{"id":1,"name":"main"}]}"#;

/// Asserts that the session still answers.
#[track_caller]
fn assert_alive(wire: &mut Wire<()>) {
    assert_eq!(wire.say(&request(99, "threads", "{}")), ALIVE);
}

/// The log of `tracing`. Sessions have threads of their own, so this is the log of the whole process.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().expect("no panic while logging").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Collects warnings in [`LOG`] from now on.
fn keep_warnings() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(|| Log)
            .init();
    });
}

#[track_caller]
fn assert_warned(text: &str) {
    let log = LOG.lock().expect("no panic while logging").clone();
    let log = String::from_utf8_lossy(&log);
    assert!(log.contains(text), "no {text:?} in the log:\n{log}");
}

/// Asserts that skipped input is reported to the user.
#[track_caller]
fn assert_told(wire: &mut Wire<()>) {
    assert_eq!(wire.read(), "event output");
}

#[test]
fn a_line_that_is_no_header_is_reported_and_skipped() {
    keep_warnings();
    let mut wire = wire();
    wire.bytes(b"Segmentation fault?\r\n");
    assert_told(&mut wire);
    assert_alive(&mut wire);
    assert_warned("found `Segmentation fault?`; the line is skipped");
}

#[test]
fn a_length_that_is_no_length_is_told_and_skipped() {
    keep_warnings();
    for value in ["-1", "ten", "1e9", "99999999999999999999999", ""] {
        let mut wire = wire();
        wire.bytes(format!("Content-Length: {value}\r\n\r\n{{\"seq\": 2}}").as_bytes());
        assert_told(&mut wire);
        assert_alive(&mut wire);
        assert_warned(&format!("must be a number of bytes, found `{value}`"));
    }
}

#[test]
fn a_length_of_ten_gigabytes_is_not_waited_for_in_memory() {
    keep_warnings();
    let mut wire = wire();
    wire.bytes(b"Content-Length: 10000000000\r\n\r\n{\"seq\":2,");
    let (left, ()) = wire.end();
    assert_eq!(left, [""; 0]);
    assert_warned("a message of 10000000000 bytes is over the limit of 67108864");
}

#[test]
fn a_message_over_the_limit_ends_the_session_without_a_byte_of_it() {
    let mut wire = wire();
    let length = (64 << 20) + 1;
    wire.bytes(format!("Content-Length: {length}\r\n\r\n").as_bytes());
    assert_eq!(wire.read(), "the end");
}

#[test]
fn what_is_not_utf8_is_reported_and_skipped() {
    keep_warnings();
    let mut wire = wire();
    wire.bytes(b"Content-Length: 12\r\n\r\n{\"seq\":\"\xc3\x28\"}");
    assert_told(&mut wire);
    assert_alive(&mut wire);
    assert_warned("not UTF-8 from byte 8 on; it is skipped");
}

#[test]
fn truncated_json_is_reported_and_skipped() {
    keep_warnings();
    let mut wire = wire();
    let whole = request(7, "launch", r#"{"program":"/bin/true"}"#);
    for end in 0..whole.len() {
        wire.write(&whole[..end]);
    }
    assert_alive(&mut wire);
    assert_warned("not a JSON object: EOF while parsing");
}

#[test]
fn a_stream_that_ends_within_a_message_ends_the_session() {
    keep_warnings();
    let mut wire = wire();
    wire.bytes(b"Content-Length: 100\r\n\r\n{\"seq\":2");
    assert_eq!(wire.end().0, [""; 0]);
    assert_warned("closed in the middle of a message");
}

#[test]
fn nesting_a_hundred_thousand_deep_is_read_or_refused_like_anything_else() {
    let mut wire = wire();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    let sources = format!(
        r#"{}{{}}{}"#,
        r#"{"sources":["#.repeat(100_000),
        "]}".repeat(100_000)
    );
    // Fields that the handler does not read do no harm.
    assert_eq!(
        wire.say(&request(2, "threads", &deep)),
        r#"2: threads ok {"threads":[{"id":1,"name":"main"}]}"#
    );
    let launch = format!(r#"{{"program":"/bin/true","extra":{deep},"more":{objects}}}"#);
    assert_eq!(wire.say(&request(3, "launch", &launch)), "3: launch ok");
    // Fields that the handler reads have the wrong type, or are nested too deeply.
    let program = wire.say(&request(4, "launch", &format!(r#"{{"program":{deep}}}"#)));
    assert!(program.starts_with("4: launch failed: "), "{program}");
    let lines = format!(r#"{{"source":{{}},"breakpoints":{deep}}}"#);
    let lines = wire.say(&request(5, "setBreakpoints", &lines));
    assert!(
        lines.starts_with(
            "5: setBreakpoints failed: bad arguments for `setBreakpoints`: `breakpoints[0]`"
        ),
        "{lines}"
    );
    let sources = format!(r#"{{"source":{sources}}}"#);
    let sources = wire.say(&request(6, "setBreakpoints", &sources));
    assert!(
        sources.contains("recursion limit exceeded") && sources.len() < 10_000,
        "{sources}"
    );
    // The same as whole messages.
    wire.write(&deep);
    wire.write(&objects);
    assert_alive(&mut wire);
}

#[test]
fn a_field_of_the_wrong_type_is_named() {
    let mut wire = wire();
    for (command, arguments, expected) in [
        (
            "setBreakpoints",
            r#"{"source":{"path":7}}"#,
            "`source.path`: invalid type: integer `7`, expected a string",
        ),
        (
            "setBreakpoints",
            r#"{"source":{},"breakpoints":[{"line":1},{"line":"2"}]}"#,
            "`breakpoints[1].line`: invalid type: string \"2\", expected i64",
        ),
        ("setBreakpoints", "{}", "missing field `source`"),
        (
            "setBreakpoints",
            "[]",
            "invalid type: sequence, expected an object",
        ),
    ] {
        assert_eq!(
            wire.say(&request(7, command, arguments)),
            format!("7: {command} failed: bad arguments for `{command}`: {expected}")
        );
    }
    assert_alive(&mut wire);
}

#[test]
fn an_unknown_command_is_answered() {
    let mut wire = wire();
    assert_eq!(
        wire.say(&request(2, "fly", "{}")),
        "2: fly failed: the request `fly` is not supported here"
    );
    let long = "x".repeat(100_000);
    let answer = wire.say(&request(3, &long, "{}"));
    // The response has to repeat the command; the sentence shows only its start.
    let sentence = answer.strip_prefix(&format!("3: {long} failed: "));
    let shown = sentence.expect("the request failed");
    assert!(shown.starts_with("the request `xxx"), "{shown}");
    assert!(shown.ends_with("xxx…` is not supported here"), "{shown}");
    assert!(shown.len() < 200, "{shown}");
    assert_alive(&mut wire);
}

#[test]
fn a_request_before_initialize_and_a_second_initialize_are_errors() {
    let mut wire = Wire::new(adapter(), ());
    assert_eq!(
        wire.say(&request(1, "threads", "{}")),
        "1: threads failed: `threads` came before `initialize`; the first request must be `initialize`"
    );
    let long = "x".repeat(100_000);
    let answer = wire.say(&request(1, &long, "{}"));
    assert!(answer.len() < long.len() + 200, "{answer}");
    assert!(wire.say(INITIALIZE).starts_with("1: initialize ok"));
    assert_eq!(
        wire.say(INITIALIZE),
        "1: initialize failed: `initialize` may be sent only once in a session"
    );
    assert_alive(&mut wire);
}

#[test]
fn a_response_to_nothing_and_an_event_of_the_client_are_reported() {
    keep_warnings();
    let mut wire = wire();
    wire.write(r#"{"seq":2,"type":"response","request_seq":77,"success":true,"command":"x"}"#);
    wire.write(r#"{"seq":3,"type":"event","event":"stopped"}"#);
    assert_alive(&mut wire);
    assert_warned("a response to request 77 (`x`), which is not waiting for one");
    assert_warned("the client sent the event `stopped`; only the adapter sends events");
}

#[test]
fn a_number_that_is_used_twice_is_reported_and_both_are_answered() {
    keep_warnings();
    let mut wire = wire();
    assert_eq!(
        wire.say(&request(2, "fly", "{}")),
        "2: fly failed: the request `fly` is not supported here"
    );
    assert_eq!(
        wire.say(&request(2, "threads", "{}")),
        ALIVE.replace("99", "2")
    );
    assert_alive(&mut wire);
    assert_warned("`seq` is 2, expected 3");
}

#[test]
fn one_byte_at_a_time_is_a_stream_like_any() {
    let mut wire = wire();
    for byte in frame(&request(99, "threads", "{}")) {
        wire.bytes(&[byte]);
    }
    assert_eq!(wire.read(), ALIVE);
}

#[test]
fn ten_thousand_pipelined_requests_are_answered_in_order() {
    let mut wire = wire();
    let mut socket = wire.socket.try_clone().expect("a socket");
    // Another thread writes, since the session stops reading while its responses are not read.
    let writer = std::thread::spawn(move || {
        for seq in 2..10_002 {
            socket
                .write_all(&frame(&request(seq, "threads", "{}")))
                .expect("the session reads");
        }
    });
    for seq in 2..10_002 {
        assert_eq!(wire.read(), ALIVE.replace("99", &seq.to_string()));
    }
    writer.join().expect("no panic");
}
