//! The methods of `TestClient` on an adapter for an invented program. Each message is checked against the protocol's definition.

use std::collections::BTreeMap;
use std::thread::JoinHandle;

use dapple_dap::server::Progress;
use dapple_dap::testing::{Place, Recorder, TestClient, attach_arguments, launch_arguments};
use dapple_dap::types::*;
use dapple_dap::{Connection, Failure, Outbox, Responder, Server};
use dapple_schema::validate::Validator;

/// A program of ten lines that prints one word on each.
#[derive(Default)]
struct Program {
    launch: Option<Responder<LaunchRequest>>,
    breakpoints: Vec<i64>,
    line: i64,
}

const PATH: &str = "/src/words.txt";

impl Program {
    /// Runs to the next breakpoint, or to the end.
    fn run(&mut self, outbox: &Outbox) {
        while self.line < 10 {
            self.line += 1;
            let word = format!("word {}\n", self.line);
            let category = OutputEventCategory::Stdout;
            outbox.event::<OutputEvent>(OutputEventBody::new(word).with_category(category));
            if self.breakpoints.contains(&self.line) {
                let stopped =
                    StoppedEventBody::new(StoppedEventReason::Breakpoint).with_thread_id(1);
                return outbox.event::<StoppedEvent>(stopped.with_all_threads_stopped(true));
            }
        }
        outbox.event::<ExitedEvent>(ExitedEventBody::new(0));
        outbox.event::<TerminatedEvent>(TerminatedEventBody::new());
    }
}

fn words() -> Server<Program> {
    Server::builder()
        .on_deferred::<LaunchRequest>(|program: &mut Program, arguments, responder, context| {
            if !arguments.other.contains_key("program") {
                return responder.fail(Failure::new("`program` is missing"));
            }
            let mut progress = Progress::start_cancellable(context.outbox(), "Reading words");
            for percent in 0..100 {
                progress.update(None, Some(f64::from(percent)));
            }
            progress.finish("read");
            context.outbox().event::<InitializedEvent>(Empty);
            program.launch = Some(responder);
        })
        .on::<SetBreakpointsRequest>(|program, arguments, _| {
            let lines: Vec<_> = arguments
                .breakpoints
                .into_iter()
                .flatten()
                .map(|asked| asked.line)
                .collect();
            let breakpoints = lines.iter().map(|line| {
                let breakpoint = Breakpoint::new((1..=10).contains(line)).with_line(*line);
                if breakpoint.verified {
                    breakpoint
                } else {
                    breakpoint.with_message("there are ten lines")
                }
            });
            let response = SetBreakpointsResponse::new(breakpoints.collect());
            program.breakpoints = lines;
            Ok(response)
        })
        .on::<ConfigurationDoneRequest>(|program, _, context| {
            let launch = program
                .launch
                .take()
                .ok_or(Failure::new("nothing is launched"))?;
            launch.respond(Empty);
            program.run(context.outbox());
            Ok(Empty)
        })
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, "main")])))
        .on::<StackTraceRequest>(|program, _, context| {
            let source = Source::new().with_path(PATH);
            let line = context.conventions().line_to_client(program.line);
            Ok(StackTraceResponse::new(vec![
                StackFrame::new(1, "word", line, 1).with_source(source),
            ]))
        })
        .on::<ScopesRequest>(|_, _, _| {
            Ok(ScopesResponse::new(vec![
                Scope::new("Registers", 1, true),
                Scope::new("Locals", 2, false),
            ]))
        })
        .on::<VariablesRequest>(
            |program, arguments, _| match arguments.variables_reference {
                2 => Ok(VariablesResponse::new(vec![Variable::new(
                    "line",
                    program.line.to_string(),
                    0,
                )])),
                other => Err(Failure::new(format!("there is no reference {other}"))),
            },
        )
        .on::<ContinueRequest>(|program, _, context| {
            program.run(context.outbox());
            Ok(ContinueResponse::new().with_all_threads_continued(true))
        })
        .build()
}

fn start(connection: Connection) -> JoinHandle<()> {
    std::thread::spawn(move || words().start(&connection).run(&mut Program::default()))
}

fn program() -> LaunchRequestArguments {
    launch_arguments(&BTreeMap::from([("program", "words")]))
}

#[track_caller]
fn assert_valid(recorder: &Recorder) {
    let validator = Validator::protocol().expect("the definition is readable");
    for message in recorder.messages() {
        let json = serde_json::from_str(&message.text).expect("JSON");
        let problems: Vec<_> = validator
            .message(&json)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(problems.is_empty(), "{}: {problems:?}", message.text);
    }
}

#[test]
fn a_whole_session_keeps_the_definition_and_the_rules() {
    let recorder = Recorder::new();
    let (client, adapter) = recorder.options().memory();
    let thread = start(adapter);
    let client = TestClient::new(client);
    let stopped = client.hit_breakpoint(program(), PATH, 3);
    assert_eq!(stopped.all_threads_stopped, Some(true));
    client.assert_output("stdout", "word 2\nword 3");
    assert_eq!(client.locals(1)[0].value, "3");
    assert_eq!(
        client.fails::<VariablesRequest>(VariablesArguments::new(99)),
        "there is no reference 99"
    );
    client.set_breakpoints(PATH, &[7, 11]);
    client.resume(1);
    let (_, frame) = client.assert_stopped_at("breakpoint", "words.txt", 7);
    assert_eq!(client.stack(1), [frame]);
    client.resume(1);
    assert_eq!(client.wait_for::<ExitedEvent>().exit_code, 0);
    client.wait_for::<TerminatedEvent>();
    client.disconnect();
    client.assert_no_violations();
    thread.join().expect("no panic");
    assert_valid(&recorder);
    let texts: Vec<_> = recorder
        .messages()
        .into_iter()
        .map(|message| message.text)
        .collect();
    let count = |text: &str| {
        texts
            .iter()
            .filter(|message| message.contains(text))
            .count()
    };
    assert_eq!(
        (count("\"progressStart\""), count("\"progressEnd\"")),
        (1, 1)
    );
    assert!(
        (1..20).contains(&count("\"progressUpdate\"")),
        "updates are held back: {texts:?}"
    );
    assert!(
        texts.iter().any(|text| text.contains("\"percentage\":99")),
        "but the last leaves"
    );
}

#[test]
fn errors_of_all_kinds_keep_the_definition() {
    let recorder = Recorder::new();
    let (client, adapter) = recorder.options().memory();
    let thread = start(adapter);
    let client = TestClient::new(client);
    client.initialize();
    assert_eq!(
        client.fails::<LaunchRequest>(LaunchRequestArguments::new()),
        "`program` is missing"
    );
    assert_eq!(
        client.fails::<PauseRequest>(PauseArguments::new(1)),
        "the request `pause` is not supported here"
    );
    assert_eq!(
        client.fails::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new()),
        "nothing is launched"
    );
    drop(client);
    thread.join().expect("the session ends with the client");
    assert_valid(&recorder);
}

/// The message of a method that panics.
fn complaint(verb: impl FnOnce(&TestClient) + std::panic::UnwindSafe) -> String {
    let outcome = std::panic::catch_unwind(|| {
        let (client, adapter) = Connection::memory();
        let _thread = start(adapter);
        verb(&TestClient::new(client).with_timeout(std::time::Duration::from_millis(200)));
    });
    *outcome
        .expect_err("it was to panic")
        .downcast::<String>()
        .expect("a text")
}

#[test]
fn a_verb_that_fails_says_what_it_saw() {
    let elsewhere = complaint(|client| {
        client.launch_with_breakpoints(program(), PATH, &[3]);
        client.assert_stopped_at("breakpoint", PATH, 4);
    });
    assert!(
        elsewhere.starts_with("stopped at /src/words.txt:3 in word, not at"),
        "{elsewhere}"
    );
    let not_found = complaint(|client| drop(client.hit_breakpoint(program(), PATH, 12)));
    assert!(
        not_found.contains("no breakpoint at /src/words.txt:12: Some(\"there are ten lines\")"),
        "{not_found}"
    );
    let failed = complaint(|client| drop(client.launch(LaunchRequestArguments::new())));
    assert!(
        failed.starts_with("waiting for `initialized`: `program` is missing"),
        "{failed}"
    );
    let silent = complaint(|client| {
        client.launch_with_breakpoints(program(), PATH, &[3]);
        client.assert_output("stdout", "word 4");
    });
    assert!(
        silent.contains("it was \"word 1\\nword 2\\nword 3\\n\""),
        "{silent}"
    );
    let late = complaint(|client| {
        client.initialize();
        client.wait_for::<StoppedEvent>();
    });
    assert!(
        late.starts_with("waiting for `stopped`: `stopped` did not come within 200ms"),
        "{late}"
    );
}

/// The message of a panic.
fn panic_of(run: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("it panics");
    *panic.downcast::<String>().expect("a text")
}

/// An adapter whose program is its own source's lines: each step goes one on.
fn walker(path: &'static str) -> Server<i64> {
    let stop = |context: &mut dapple_dap::Context, reason: StoppedEventReason| {
        let stopped = StoppedEventBody::new(reason).with_thread_id(1);
        context.outbox().event::<StoppedEvent>(stopped);
    };
    Server::builder()
        .on::<AttachRequest>(|_, _, context| {
            context.outbox().event::<InitializedEvent>(Empty);
            Ok(Empty)
        })
        .on::<LaunchRequest>(|_, _, context| {
            context.outbox().event::<InitializedEvent>(Empty);
            Ok(Empty)
        })
        .on::<SetBreakpointsRequest>(|line, arguments, _| {
            // Breakpoints are moved to the next even line.
            let asked = arguments.breakpoints.unwrap_or_default();
            *line = asked[0].line + asked[0].line % 2;
            let breakpoint = Breakpoint::new(true).with_line(*line).with_column(5);
            Ok(SetBreakpointsResponse::new(vec![breakpoint; asked.len()]))
        })
        .on::<ConfigurationDoneRequest>(move |_, _, context| {
            stop(context, StoppedEventReason::Breakpoint);
            Ok(Empty)
        })
        .on::<StackTraceRequest>(move |line, _, _| {
            let source = Source::new().with_path(path);
            let frame = StackFrame::new(1, "main", *line, 5).with_source(source);
            Ok(StackTraceResponse::new(vec![frame]))
        })
        .on::<NextRequest>(move |line, _, context| {
            *line += 1;
            stop(context, StoppedEventReason::Step);
            Ok(Empty)
        })
        .on::<ScopesRequest>(|_, _, _| {
            let scopes = [("Statics", 2, true), ("Locals", 1, false)];
            let scopes =
                scopes.map(|(name, reference, expensive)| Scope::new(name, reference, expensive));
            Ok(ScopesResponse::new(scopes.into()))
        })
        .on::<VariablesRequest>(|_, arguments, _| {
            let all = match arguments.variables_reference {
                1 => vec![Variable::new("points", "", 3)],
                2 => vec![Variable::new("points", "a static", 0)],
                3 => vec![Variable::new("[0]", "", 0), Variable::new("[1]", "", 4)],
                _ => vec![Variable::new("x", "7", 0)],
            };
            Ok(VariablesResponse::new(all))
        })
        .build()
}

#[test]
fn places_are_lines_columns_or_texts() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tiny/countdown.tiny");
    let (client, session) = TestClient::of(&walker(path), 0);
    let stop = client.hit_source_breakpoint(
        LaunchRequestArguments::new(),
        path,
        SourceBreakpoint::new(3).with_condition("n"),
        &Place::text(path, "call report").column(5),
    );
    assert_eq!(stop.thread_id, Some(1));
    let next = Place::line("tiny/countdown.tiny", 5).column(5);
    let frame = client.resume_to::<NextRequest>(1, "step", &next);
    assert_eq!(client.variable(frame.id, "points[1].x").value, "7");
    let elsewhere = panic_of(|| {
        client.resume_to::<NextRequest>(1, "step", &next);
    });
    assert!(elsewhere.starts_with("stopped at "), "{elsewhere}");
    assert!(
        elsewhere.ends_with("countdown.tiny:6:5 in main, not at tiny/countdown.tiny:5:5"),
        "{elsewhere}"
    );
    let missing = panic_of(|| {
        client.variable(frame.id, "points[2]");
    });
    assert_eq!(missing, "`points` has no `2`; there are [\"[0]\", \"[1]\"]");
    let twice = panic_of(|| {
        Place::text(path, "goto");
    });
    assert!(
        twice.ends_with(" has \"goto\" in the lines [6, 7, 15]"),
        "{twice}"
    );
    client.disconnect();
    session.join().expect("no panic");
}

#[test]
fn a_session_begins_with_attach_too() {
    let (client, session) = TestClient::of(&walker("/a"), 6);
    let attach = client.attach(attach_arguments(&std::collections::BTreeMap::from([(
        "pid", 1,
    )])));
    client.configured(attach);
    client.assert_stopped("breakpoint", &Place::line("/a", 6));
    client.disconnect();
    session.join().expect("no panic");
}
