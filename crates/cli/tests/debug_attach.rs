//! `dapple debug --attach`.

use crate::support;
use crate::support::Run;
use dapple_dap::client::Client;
use dapple_dap::message::Raw;
use dapple_dap::types::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

#[test]
fn a_process_that_is_stopped_survives_a_debugger_that_is_killed() {
    let program = support::scratch("attach").join(format!("survivor-{}", std::process::id()));
    let source = support::root().join("fixtures/server.c");
    support::compile("server.c", &program);
    let mut server = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = server.stdin.take().expect("its input");
    let mut output = BufReader::new(server.stdout.take().expect("its output"));
    let mut line = || {
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        line
    };
    assert_eq!(line(), "ready\n");
    let client = Client::spawn(support::dapple().arg("dap")).expect("dapple runs");
    client
        .request::<InitializeRequest>(InitializeRequestArguments::new("dapple"))
        .expect("initialized");
    let mut arguments = AttachRequestArguments::new();
    let pid = Raw::new(&server.id()).expect("a number");
    arguments.other.insert("pid".to_owned(), pid);
    client
        .request::<AttachRequest>(arguments)
        .expect("attached");
    let text = std::fs::read_to_string(&source).expect("the source");
    let at = text
        .lines()
        .position(|line| line.ends_with("// stop: work"));
    let wanted = SourceBreakpoint::new(at.expect("the line") as i64 + 1);
    let place = Source::new().with_path(source.display().to_string());
    let breakpoints = SetBreakpointsArguments::new(place).with_breakpoints(vec![wanted]);
    client
        .request::<SetBreakpointsRequest>(breakpoints)
        .expect("set");
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .expect("running");
    for round in 0..2 {
        writeln!(input, "work").expect("it reads");
        let stop = client
            .wait_for::<StoppedEvent>(std::time::Duration::from_secs(60), |_| true)
            .expect("a stop");
        if round == 0 {
            let thread = ContinueArguments::new(stop.thread_id.expect("a thread"));
            client.request::<ContinueRequest>(thread).expect("running");
            assert_eq!(line(), "worked 1\n");
        }
    }
    let adapter = client.process_id().expect("a process").to_string();
    let killed = Command::new("kill").args(["-KILL", &adapter]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    assert_eq!(line(), "worked 2\n");
    writeln!(input, "work").expect("it reads");
    assert_eq!(line(), "worked 3\n");
    drop(input);
    assert_eq!(server.wait().expect("its end").code(), Some(0));
}

#[test]
fn a_process_is_looked_at_and_goes_on() {
    let program = support::scratch("attach").join(format!("server-{}", std::process::id()));
    support::compile("server.c", &program);
    let mut server = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut output = BufReader::new(server.stdout.take().expect("its output"));
    let mut line = || {
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        line
    };
    assert_eq!(line(), "ready\n");
    for target in [server.id().to_string(), program.display().to_string()] {
        let mut command = support::dapple();
        command.args(["debug", "--batch", "--ex", "bt", "--ex", "quit"]);
        let run = Run::of(command.args(["--attach", &target]));
        assert!(
            run.stdout.ends_with("\ndetached from the program\n"),
            "{run:#?}"
        );
        assert!(run.stdout.contains("main at fixtures/server.c"), "{run:#?}");
    }
    let mut input = server.stdin.take().expect("its input");
    writeln!(input, "work").expect("it reads");
    assert_eq!(line(), "worked 1\n");
    drop(input);
    assert_eq!(server.wait().expect("its end").code(), Some(0));

    let mut command = support::dapple();
    let run = Run::of(command.args(["debug", "--batch", "--attach", "no-such-name"]));
    assert_eq!(run.code, Some(126));
    assert!(
        run.stderr.contains("no process is called `no-such-name`"),
        "{run:#?}"
    );
}
