//! Functions of the program that expressions call.

mod support;

use dapple_engine::calls::CallOptions;
use dapple_engine::event::{ExitStatus, Stream};
use dapple_engine::frame::FrameId;
use dapple_engine::session::assigning::Changed;
use dapple_engine::{Event, Session, ThreadId};
use std::time::Duration;
use support::{Debuggee, Fixture, fixture, listing};

/// What an expression comes to, or the error.
fn called(session: &Session, frame: FrameId, expression: &str) -> String {
    called_with(session, frame, expression, &CallOptions::default())
}

fn called_with(
    session: &Session,
    frame: FrameId,
    expression: &str,
    options: &CallOptions,
) -> String {
    match session.evaluate_calling(expression, Some(frame), options).0 {
        Ok((_, rendered)) => listing::mask(&rendered.text),
        Err(error) => format!("error: {error}"),
    }
}

/// Stops at a marked line and evaluates each expression; `expression → text` or the error.
fn check(debuggee: &mut Debuggee<'_>, stop: &str, expected: &[(&str, &str)]) -> ThreadId {
    debuggee.break_at(&[stop]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let mut wrong = Vec::new();
    for (expression, text) in expected {
        let found = called(session, frame, expression);
        if found != *text {
            wrong.push(format!(
                "{expression}\n  is       {found}\n  expected {text}"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    thread
}

/// Waits until the program has written what ends in `last`.
fn read_output<'d>(debuggee: &'d mut Debuggee<'_>, last: &str) -> &'d str {
    while !debuggee.stdout.contains(last) {
        let event = debuggee.events.recv_timeout(Duration::from_secs(60));
        match event.expect("the program writes on") {
            Event::Output {
                stream: Stream::Stdout,
                bytes,
            } => debuggee.stdout.push_str(&String::from_utf8_lossy(&bytes)),
            event => debuggee.seen.push(event),
        }
    }
    &debuggee.stdout
}

/// Each line that the program has written is an expression and its value; the debugger has the same.
fn same_as_written(fixture: &Fixture, last: &str) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["ready"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let table = read_output(&mut debuggee, last).to_owned();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in table.lines().filter(|line| line.contains(" = ")) {
        let split = match line.find(" = {") {
            Some(at) => at,
            None => line.rfind(" = ").expect("an equals sign"),
        };
        let (expression, text) = (&line[..split], &line[split + 3..]);
        let found = called(session, frame, expression);
        count += 1;
        if found != text {
            wrong.push(format!(
                "{expression}\n  is       {found}\n  expected {text}"
            ));
        }
    }
    assert!(count > 10, "{table}");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn c_functions_return_to_the_debugger_what_they_return_to_the_program() {
    same_as_written(&fixture("called.c", &[]), "stays() =");
}

/// All registers as they are shown, and the stack around its pointer.
fn state(session: &Session, frame: FrameId) -> (String, Vec<u8>) {
    let registers = session.registers(frame).unwrap();
    let sp = session.evaluate("$rsp", Some(frame)).unwrap().1.text;
    let sp = match sp.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
        None => sp.parse().unwrap(),
    };
    // With what a function may keep below its stack pointer.
    let memory = session
        .read_memory(dapple_engine::Address(sp - 128), 2048)
        .unwrap();
    (format!("{registers:#?}"), memory.bytes)
}

#[test]
fn a_thread_is_afterwards_as_before() {
    for flags in [&[][..], &["-O2"]] {
        let fixture = fixture("called.c", flags);
        let mut debuggee = fixture.launch();
        debuggee.break_at(&["registers", "after"]);
        let (thread, _) = debuggee.run_to_breakpoint();
        let session = debuggee.session();
        let frame = listing::innermost(session, thread);
        let before = state(session, frame);
        for (expression, text) in [
            ("scale(1.5, 2.0f, 3)", "9.0"),
            ("ten(1,2,3,4,5,6,7,8,9,10)", "1126.0"),
            ("precise(1.5) == 4.5", "true"),
            ("add(20, 3)", "23"),
            ("length(\"a text\")", "6"),
            (
                "crash(0)",
                "error: `crash` ran into SIGSEGV: read of address 0x0, a null pointer at called.c:96 in `crash`; the call was given up, and all is as before but for what it has written to memory",
            ),
        ] {
            let found = called(session, frame, expression);
            let found = found.replace(&fixture.line("crash").to_string(), "96");
            assert_eq!(found, text, "{expression}");
            assert!(state(session, frame) == before, "{expression} changed it");
            // The frame is still the one that it was.
            assert_eq!(listing::innermost(session, thread), frame);
        }
        let (_, place) = debuggee.run_to_breakpoint();
        assert_eq!(place, "after");
        debuggee.resume();
        assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
        let stdout = &debuggee.stdout;
        assert!(stdout.contains("kept 65432.0\ncalls 1\n"), "{stdout}");
    }
}

#[test]
fn calls_are_told_by_nothing_but_their_values() {
    let fixture = fixture("called.c", &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["ready", "crash", "after"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    // Breakpoints in what is called are passed over.
    let frame = listing::innermost(debuggee.session(), thread);
    assert_eq!(called(debuggee.session(), frame, "crash(&count)"), "5");
    assert_eq!(
        called(debuggee.session(), frame, "add(1, crash(numbers))"),
        "4"
    );
    let session = debuggee.session();
    let (done, changed) = session.execute(
        "count = add(count, 1)",
        Some(frame),
        &CallOptions::default(),
    );
    assert_eq!(done.unwrap().1.text, "6");
    assert!(changed.called && !changed.memory.is_empty() && !changed.moved);
    let (done, changed) = session.execute(
        "*pick(&count, 0) += add(1, 2)",
        Some(frame),
        &CallOptions::default(),
    );
    assert_eq!(done.unwrap().1.text, "9");
    assert!(changed.called);
    assert_eq!(
        called(session, frame, "set(&count, 42)"),
        "<it returns nothing>"
    );
    assert_eq!(called(session, frame, "count"), "42");
    let (done, changed) = session.evaluate_calling("count", Some(frame), &CallOptions::default());
    assert!(done.is_ok() && changed == Changed::default());
    let stops: Vec<_> = debuggee
        .events
        .try_iter()
        .filter(|event| !matches!(event, Event::Output { .. }))
        .collect();
    assert!(stops.is_empty(), "{stops:?}");
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "after");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    assert!(
        debuggee.stdout.contains("calls 3\ncount 42 jumped 0"),
        "{}",
        debuggee.stdout
    );
}

#[test]
fn what_is_no_call_says_why() {
    let fixture = fixture("called.c", &[]);
    let mut debuggee = fixture.launch();
    check(
        &mut debuggee,
        "ready",
        &[
            (
                "add(1)",
                "error: `add(int, int)` takes 2 arguments, and 1 is given",
            ),
            (
                "add(1, 2, 3)",
                "error: `add(int, int)` takes 2 arguments, and 3 are given",
            ),
            (
                "sum_of()",
                "error: `sum_of(int, ...)` takes 1 argument or more, and 0 are given",
            ),
            (
                "add(1, \"two\")",
                "error: column 8: `\"two\"` is a text, and a `int` is taken",
            ),
            (
                "add(1, here)",
                "error: column 8: `here` is no number, it is a `struct point`",
            ),
            (
                "add(1, 5000000000)",
                "error: column 8: 5000000000 does not fit a `int`, which holds -2147483648 to 2147483647",
            ),
            (
                "swap(count)",
                "error: column 6: it takes a `struct point`, and this is a `int`",
            ),
            (
                "length(numbers)",
                "error: column 8: `numbers` is a `int [5]`, and a `const char *` is taken; cast it",
            ),
            ("length((char *)numbers) > 0", "true"),
            ("addd(1, 2)", "error: `addd` is no function that is known"),
            ("count(1)", "error: `count` is no function, it is a `int`"),
            (
                "here.x(1)",
                "error: column 6: `here` has no function `x` that is known, it is a `struct point`",
            ),
            ("table[2 - 2](4)", "8"),
            ("(long)strtol(\"12\", 0, 10) + 1", "13"),
            ("(double)strtod(\"2.5\", 0)", "2.5"),
            (
                "bare(3, 4)",
                "error: nothing says what `bare` takes and returns, as it has no debug information; say what it returns: `(int)bare(…)`",
            ),
            ("(int)bare(3, 4) * 2", "14"),
            ("(void *)bare(4096, 0)", "0x1000"),
            ("(struct point *)bare(0, 0)", "0x0"),
            (
                "(struct large)bare(0, 0)",
                "error: column 9: a `large` can't be had without debug information",
            ),
            ("(char *)strchr(text, 't')", "0x… \"text\""),
            ("count ? add(1, 1) : jump()", "2"),
            ("count == 5 || spin()", "true"),
            (
                "sizeof(add(1, 2))",
                "error: column 7: functions are not called to be measured",
            ),
        ],
    );
    let session = debuggee.session();
    let frame = listing::innermost(session, session.threads().unwrap()[0].id);
    let pure = session.evaluate("add(1, 2)", Some(frame));
    let pure = pure.expect_err("nothing is called").to_string();
    assert!(
        pure.contains("column 4: functions are not called here"),
        "{pure}"
    );
}
