//! Expressions of clients that call functions of the program.

use crate::support;
use crate::support::running::Running;
use crate::support::{Fixture, Session, Stopped, initialize_arguments};
use dapple_dap::client::ClientError;
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn begin(arguments: Value) -> (Fixture, Session, Stopped) {
    let fixture = Fixture::new("called.c");
    let client = initialize_arguments().with_supports_invalidated_event(true);
    let session = Session::serving(Default::default(), client);
    session.launch(&fixture, arguments);
    session.set_breakpoints(&fixture, &["ready", "crash", "after"]);
    session.configured();
    let stop = session.stopped_at(&fixture, "ready", StoppedEventReason::Breakpoint);
    (fixture, session, stop)
}

fn evaluated(
    session: &Session,
    frame: &StackFrame,
    expression: &str,
    context: EvaluateArgumentsContext,
) -> String {
    let arguments = EvaluateArguments::new(expression).with_frame_id(frame.id);
    match session.request::<EvaluateRequest>(arguments.with_context(context)) {
        Ok(answer) => answer.result,
        Err(ClientError::Failed(failure)) => format!("error: {failure}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_session_that_forbids_calls_makes_none_whatever_asks_for_them() {
    use EvaluateArgumentsContext::{Repl, Watch};
    const WHY: &str = "this session calls no functions of the program";
    let (fixture, session, stop) = begin(json!({"callThreads": "none"}));
    let main = &stop.top;
    for (text, context) in [
        ("add(1, 2)", Watch),
        ("add(1, 2)", Repl),
        ("count = add(1, 2)", Repl),
        ("set(&count, 7)", Repl),
    ] {
        let told = evaluated(&session, main, text, context);
        assert!(told.contains(WHY), "{text}: {told}");
    }
    let set = SetExpressionArguments::new("here.x", "table[1](4)").with_frame_id(main.id);
    let told = session.request::<SetExpressionRequest>(set);
    assert!(told.unwrap_err().to_string().contains(WHY));
    assert_eq!(evaluated(&session, main, "count + 1", Watch), "6");
    // A condition that can't be decided stops, and says why.
    let after = SourceBreakpoint::new(fixture.line("after")).with_condition("add(1, 2) == 4");
    let source = Source::new().with_path(fixture.path());
    session.ok::<SetBreakpointsRequest>(
        SetBreakpointsArguments::new(source).with_breakpoints(vec![after]),
    );
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
    let text = stop.event.text.unwrap_or_default();
    assert!(text.contains(WHY), "{text}");
    session.disconnect();
}

#[test]
fn functions_are_called_where_that_is_asked_for_and_only_there() {
    use EvaluateArgumentsContext::{Clipboard, Hover, Repl, Watch};
    let (fixture, session, stop) = begin(json!({}));
    let main = &stop.top;
    let of = |text: &str, context| evaluated(&session, main, text, context);
    assert_eq!(of("add(1, 2)", Watch), "3");
    assert_eq!(of("swap(here)", Clipboard), "{.x = 2, .y = 1}");
    let hovered = of("add(1, 2)", Hover);
    assert!(
        hovered.contains("functions are not called here"),
        "{hovered}"
    );
    let assigned = of("count = add(1, 2)", Watch);
    assert!(assigned.contains("assignments are refused"), "{assigned}");
    let count = session.scope(main, "Locals").variables_reference;
    let set = SetVariableArguments::new(count, "count", "add(count, 2)");
    assert_eq!(session.ok::<SetVariableRequest>(set).value, "7");
    session.wait_for::<InvalidatedEvent>();
    let set = SetExpressionArguments::new("here.x", "table[1](4)").with_frame_id(main.id);
    assert_eq!(session.ok::<SetExpressionRequest>(set).value, "16");
    session.wait_for::<InvalidatedEvent>();
    assert_eq!(
        of("set(&count, add(count, 1))", Repl),
        "<it returns nothing>"
    );
    session.wait_for::<InvalidatedEvent>();
    assert_eq!(of("swap(here)", Repl), "{x = 2, y = 16}");
    session.wait_for::<InvalidatedEvent>();
    let crashed = of("crash(0)", Repl);
    let line = fixture.line("crash");
    assert_eq!(
        crashed,
        format!(
            "error: `crash` ran into SIGSEGV: read of address 0x0, a null pointer at called.c:{line} in `crash`; the call was aborted: registers and stack are as before, what it has written to memory stays"
        )
    );
    session.wait_for::<InvalidatedEvent>();
    // The frame id is still valid, and the call was not reported as a stop: the next stop is the program's own.
    assert_eq!(of("count", Hover), "8");
    session.ok::<ContinueRequest>(ContinueArguments::new(stop.thread));
    let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
    session.ok::<ContinueRequest>(ContinueArguments::new(stop.thread));
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    assert!(output.contains("calls 3\ncount 8 jumped 0"), "{output}");
    session.disconnect();
}

#[test]
fn a_call_that_lasts_ends_with_its_time_or_its_request() {
    use EvaluateArgumentsContext::Repl;
    let (_, session, stop) = begin(json!({"callTimeout": 0.25}));
    let begun = Instant::now();
    let spun = evaluated(&session, &stop.top, "spin()", Repl);
    assert!(begun.elapsed() >= Duration::from_millis(250));
    assert!(
        spun.starts_with("error: `spin` has not returned within 0.25 seconds at called.c:"),
        "{spun}"
    );
    assert_eq!(evaluated(&session, &stop.top, "add(1, 2)", Repl), "3");
    session.disconnect();
    let (_, session, stop) = begin(json!({"callTimeout": 600}));
    let arguments = EvaluateArguments::new("spin()").with_frame_id(stop.top.id);
    let evaluating = session
        .send::<EvaluateRequest>(arguments.with_context(Repl))
        .expect("sent");
    let cancel = CancelArguments::new().with_request_id(evaluating.seq());
    session.ok::<CancelRequest>(cancel);
    let error = evaluating.wait().expect_err("it is cancelled");
    assert!(error.to_string().contains("cancelled"), "{error}");
    assert_eq!(evaluated(&session, &stop.top, "add(1, 2)", Repl), "3");
    session.disconnect();
}

#[test]
fn a_process_that_was_attached_to_takes_calls_as_long_as_it_is_told() {
    use EvaluateArgumentsContext::Repl;
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    let attach = json!({"pid": running.pid(), "stopOnEntry": true, "callTimeout": 0.25});
    let attach = serde_json::from_value(attach).expect("an object");
    session.ok::<AttachRequest>(attach);
    session.wait_for::<InitializedEvent>();
    session.configured();
    let stop = session.stopped(StoppedEventReason::Entry);
    let stack = session.stack(stop.thread);
    let main = stack.iter().find(|frame| frame.name == "main");
    let main = main.expect("it waits in main");
    let begun = Instant::now();
    let paused = evaluated(&session, main, "(int)pause()", Repl);
    assert!(begun.elapsed() >= Duration::from_millis(250));
    assert!(
        paused.contains("has not returned within 0.25 seconds"),
        "{paused}"
    );
    assert_eq!(
        evaluated(&session, main, "work()", Repl),
        "<it returns nothing>"
    );
    assert_eq!(evaluated(&session, main, "worked", Repl), "1");
    session.disconnect();
    // The program continues its read at the place where it was interrupted.
    assert_eq!(running.ask("work"), "worked 2");
}

#[test]
fn a_core_file_calls_nothing_and_says_so() {
    use EvaluateArgumentsContext::{Repl, Watch};
    let fixture = Fixture::new("called.c");
    let core = support::core_of(&fixture, "fault");
    let session = Session::new();
    let attach = serde_json::from_value(json!({"coreFile": core})).expect("an object");
    session.ok::<AttachRequest>(attach);
    session.configured();
    let stop = session.stopped_at(&fixture, "crash", StoppedEventReason::Exception);
    let main = &session.stack(stop.thread)[1];
    for context in [Repl, Watch] {
        let refused = evaluated(&session, main, "add(count, 2)", context);
        assert_eq!(
            refused,
            "error: `add` can't be called: there is no process to run it, only a core file"
        );
    }
    assert_eq!(evaluated(&session, main, "count + 2", Repl), "7");
    session.disconnect();
}
