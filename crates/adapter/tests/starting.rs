//! How programs are started, as they see it: all kinds of arguments, their addresses in memory, and files that are deleted while the
//! program runs.

use crate::support::{Fixture, PATIENCE, Session};
use dapple_adapter::{ServeOptions, serve};
use dapple_dap::testing::launch_arguments;
use dapple_dap::transport::{Connection, Incoming};
use dapple_dap::types::*;
use serde_json::{Value, json};

fn written(arguments: Value) -> String {
    let session = Session::new();
    session.ok::<LaunchRequest>(launch_arguments(&arguments));
    session.configured();
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    session.disconnect();
    output
}

#[test]
fn arguments_and_variables_arrive_as_they_are_whatever_is_in_them() {
    let texts = [
        "",
        " ",
        "a b",
        "a\tb",
        "two\nlines",
        "'single'",
        "\"double\"",
        "back\\slash",
        "$HOME",
        "*",
        "ä€😀",
        "--flag=",
        "-",
        "%s%n",
    ];
    let mut args = vec!["-c", "for a; do printf '[%s]' \"$a\"; done", "sh"];
    args.extend(texts);
    let expected: String = texts.iter().map(|text| format!("[{text}]")).collect();
    assert_eq!(
        written(json!({"program": "/bin/sh", "args": args})),
        expected
    );
    let long = "x".repeat(100_000);
    let args = ["-c", "printf %s \"${#1}\"", "sh", long.as_str()];
    assert_eq!(
        written(json!({"program": "/bin/sh", "args": args})),
        "100000"
    );
    for text in texts {
        let args = ["-c", "printf '[%s]' \"$ODD\""];
        let env = json!({"ODD": text});
        let output = written(json!({"program": "/bin/sh", "args": args, "env": env}));
        assert_eq!(output, format!("[{text}]"));
    }
}

#[test]
fn what_no_program_can_be_given_is_refused_with_its_name() {
    for (arguments, part) in [
        (json!({"args": ["a\u{0}b"]}), "args[0]"),
        (json!({"args": ["a", 3]}), "args[1]"),
        (json!({"args": "'open"}), "args"),
        (json!({"env": {"A=B": "c"}}), "A=B"),
        (json!({"env": {"A": "b\u{0}"}}), "env.A"),
        (json!({"env": 3}), "env"),
        (
            json!({"envFile": "/nowhere/at-all.env"}),
            "/nowhere/at-all.env",
        ),
        (json!({"stdin": "/nowhere/at-all"}), "/nowhere/at-all"),
        (json!({"stdin": "/tmp"}), "/tmp"),
        (json!({"stdout": "/tmp"}), "/tmp"),
        (json!({"stderr": {"file": "/tmp", "append": true}}), "/tmp"),
        (json!({"cwd": "/etc/passwd"}), "/etc/passwd"),
        (json!({"args": ["x".repeat(3_000_000)]}), "too long"),
    ] {
        let session = Session::new();
        let mut all = arguments.clone();
        all["program"] = json!("/bin/true");
        let failure = session.refused::<LaunchRequest>(launch_arguments(&all));
        let mut shown = arguments.to_string();
        shown.truncate(100);
        assert!(
            failure.sentence.contains(part),
            "{shown}: {}",
            failure.sentence
        );
        session.wait_for::<TerminatedEvent>();
        session.disconnect();
    }
}

#[test]
fn text_that_is_no_text_is_refused_with_its_place() {
    for (arguments, part) in [
        (
            r#""program":"/bin/true","args":["x","\ud800y"]"#,
            "`args`: `[1]`",
        ),
        (
            r#""program":"/bin/true","env":{"A":"\udc80"}"#,
            "`env`: `A`",
        ),
        (r#""program":"/bin/\ud800""#, "`program`"),
    ] {
        let (ours, theirs) = Connection::memory();
        let serving = std::thread::spawn(move || serve(theirs, ServeOptions::default()));
        for request in [
            r#""seq":1,"command":"initialize","arguments":{"adapterID":"dapple"}"#.to_owned(),
            format!(r#""seq":2,"command":"launch","arguments":{{{arguments}}}"#),
        ] {
            let request = format!(r#"{{"type":"request",{request}}}"#);
            ours.outgoing.send_text(&request).expect("sent");
        }
        let answer = loop {
            match ours.incoming.recv_timeout(PATIENCE).expect("an answer") {
                Incoming::Message(message) if message.text().contains(r#""request_seq":2"#) => {
                    break message.text().to_owned();
                }
                Incoming::Message(_) => {}
                other => panic!("no answer to {arguments}: {other:?}"),
            }
        };
        assert!(answer.contains(part), "{arguments}: {answer}");
        drop(ours);
        assert!(serving.join().is_ok(), "the adapter ends in order");
    }
}

/// The addresses of `main` and of its local variable.
fn addresses(arguments: Value) -> (String, String) {
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, arguments, &["main"]);
    let stop = session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    let code = stop.top.instruction_pointer_reference.expect("an address");
    let stack = session.evaluate(&session.stack(stop.thread)[0], "$rsp");
    session.disconnect();
    (code, stack)
}

#[test]
fn addresses_repeat_unless_they_are_to_be_random() {
    let first = addresses(json!({}));
    assert_eq!(first, addresses(json!({})));
    assert_eq!(first, addresses(json!({"disableASLR": true})));
    let random = addresses(json!({"randomize": true}));
    // The same argument under lldb-dap's name.
    let again = addresses(json!({"disableASLR": false}));
    let system = std::fs::read_to_string("/proc/sys/kernel/randomize_va_space");
    // If the system disables address randomization for all programs, the debugger can't enable it.
    let is_random = system.is_ok_and(|text| text.trim() != "0");
    assert_eq!(
        random.0 != again.0 && random.1 != again.1,
        is_random,
        "{random:?} {again:?}"
    );
}

#[test]
fn a_program_whose_file_is_removed_while_it_runs_goes_on_and_stops() {
    let fixture = Fixture::new("server.c").renamed("removed-while-it-runs");
    let session = Session::started(&fixture, json!({"stdin": "console"}), &[]);
    session.wait_for_output("ready");
    std::fs::remove_file(&fixture.binary).expect("the copy is there");
    session.set_breakpoints(&fixture, &["work"]);
    let typed = |text: &str| {
        let arguments = EvaluateArguments::new(text).with_context(EvaluateArgumentsContext::Repl);
        session.ok::<EvaluateRequest>(arguments);
    };
    typed(">work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "worked"), "0");
    session.resume(stop.thread);
    session.wait_for_output("worked 1");
    // The program can't be started again.
    let failure = session.refused::<RestartRequest>(RestartArguments::new());
    assert!(
        failure.sentence.contains("there is no such file"),
        "{}",
        failure.sentence
    );
    typed(">quit 4");
    assert_eq!(session.exit_code(), 4);
    session.disconnect();
}

#[test]
fn without_debugging_a_program_is_as_it_would_be_alone() {
    let fixture = Fixture::new("signals.c");
    for (how, code) in [("", 0), ("kill", 137), ("segv", 139), ("nested", 0)] {
        let session = Session::new();
        session.launch(&fixture, json!({"noDebug": true, "args": [how]}));
        session.configured();
        assert_eq!(session.exit_code(), code, "{how}");
        let output = session.output(OutputEventCategory::Stdout);
        assert!(output.starts_with("signals: "), "{output}");
        session.disconnect();
    }
}
