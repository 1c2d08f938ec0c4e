//! How sessions begin: the order of requests, arguments of `launch`, and refused launches.

use crate::support;
use crate::support::{Fixture, Session, file, is_alive};
use dapple_adapter::{OwnStdin, ServeOptions};
use dapple_dap::server::path_to_uri;
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::{Value, json};

/// Checks that `launch` with these arguments is refused with a message that contains `part`, and that the session ends.
fn is_refused(arguments: Value, part: &str) {
    let session = Session::new();
    let failure = session.refused::<LaunchRequest>(launch_arguments(&arguments));
    assert!(
        failure.sentence.contains(part),
        "{arguments}: {}",
        failure.sentence
    );
    let shown = failure.error.and_then(|error| error.show_user);
    assert_eq!(shown, Some(true), "the user sees why");
    session.wait_for::<TerminatedEvent>();
    session.refused::<LaunchRequest>(launch_arguments(&arguments));
    session.disconnect();
}

#[test]
fn a_program_that_is_missing_is_named() {
    is_refused(json!({"program": "/nowhere/at-all"}), "/nowhere/at-all");
}

#[test]
fn a_launch_without_a_program_says_so() {
    is_refused(json!({}), "`program`");
}

#[test]
fn a_directory_is_no_program() {
    is_refused(json!({"program": "/tmp"}), "directory");
}

#[test]
fn a_script_is_told_from_a_program() {
    let script = file("a-script.sh", b"#!/bin/sh\necho hello\n", 0o755);
    is_refused(json!({"program": script}), "script");
}

#[test]
fn a_file_that_may_not_be_executed_is_refused() {
    let fixture = Fixture::new("exit.c");
    let bytes = std::fs::read(&fixture.binary).expect("the program");
    let plain = file("not-executable", &bytes, 0o644);
    is_refused(json!({"program": plain}), "not executable");
}

#[test]
fn a_32_bit_program_is_refused() {
    let mut header = vec![0_u8; 52];
    header[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 1, 1]);
    header[16] = 2; // ET_EXEC
    header[18] = 3; // EM_386
    header[20] = 1; // EV_CURRENT
    let program = file("program-32", &header, 0o755);
    is_refused(json!({"program": program}), "32-bit");
}

#[test]
fn a_truncated_program_is_refused() {
    let fixture = Fixture::new("exit.c");
    let bytes = std::fs::read(&fixture.binary).expect("the program");
    let truncated = file("part-of-a-program", &bytes[..40], 0o755);
    is_refused(json!({"program": truncated}), "cut off");
}

#[test]
fn an_empty_file_is_refused() {
    let empty = file("empty", b"", 0o755);
    is_refused(json!({"program": empty}), "empty");
}

#[test]
fn the_adapters_own_input_is_not_given_away() {
    let fixture = Fixture::new("exit.c");
    is_refused(
        json!({"program": fixture.program(), "stdin": "inherit"}),
        "`stdin`",
    );
}

#[test]
fn a_working_directory_that_is_missing_is_named() {
    let fixture = Fixture::new("exit.c");
    is_refused(
        json!({"program": fixture.program(), "cwd": "/nowhere/at-all"}),
        "/nowhere/at-all",
    );
}

#[test]
fn a_second_launch_is_refused_and_harms_nothing() {
    let fixture = Fixture::new("exit.c");
    let session = Session::new();
    session.launch(&fixture, json!({"args": ["5"]}));
    let failure =
        session.refused::<LaunchRequest>(launch_arguments(&json!({"program": "/bin/true"})));
    assert!(failure.sentence.contains("already"), "{}", failure.sentence);
    session.configured();
    assert_eq!(session.exit_code(), 5);
    session.disconnect();
}

#[test]
fn a_stripped_program_runs_and_says_why_its_breakpoints_do_not_hold() {
    let fixture = Fixture::new("exit.c");
    let stripped = support::fixture::fixtures_folder().join("stripped");
    let strip = std::process::Command::new("strip")
        .arg("-o")
        .args([&stripped, &fixture.binary])
        .status();
    assert!(strip.is_ok_and(|status| status.success()), "strip runs");
    let session = Session::new();
    session.ok::<LaunchRequest>(launch_arguments(
        &json!({"program": stripped, "args": ["4"]}),
    ));
    let breakpoint = session
        .set_lines(&fixture.path(), &[fixture.line("main")])
        .remove(0);
    assert!(!breakpoint.verified);
    assert!(
        breakpoint
            .message
            .is_some_and(|message| !message.is_empty())
    );
    session.configured();
    assert_eq!(session.exit_code(), 4);
    session.disconnect();
}

#[test]
fn breakpoints_set_before_the_launch_are_hit_under_their_first_id() {
    let fixture = Fixture::new("exit.c");
    let session = Session::new();
    let early = session
        .set_lines(&fixture.path(), &[fixture.line("main")])
        .remove(0);
    assert!(!early.verified);
    assert_eq!(early.reason, Some(BreakpointReason::Pending));
    let id = early.id.expect("an id to be told by later");
    session.launch(&fixture, json!({}));
    let changed = session.wait_for::<BreakpointEvent>();
    assert_eq!(changed.reason, BreakpointEventReason::Changed);
    assert_eq!(
        (changed.breakpoint.id, changed.breakpoint.verified),
        (Some(id), true)
    );
    session.configured();
    let stop = session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    assert_eq!(stop.event.hit_breakpoint_ids, Some(vec![id]));
    session.disconnect();
}

#[test]
fn configuration_may_be_done_before_the_launch() {
    let fixture = Fixture::new("exit.c");
    let session = Session::new();
    session.set_lines(&fixture.path(), &[fixture.line("main")]);
    session.configured();
    session.launch(&fixture, json!({}));
    session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    session.disconnect();
}

#[test]
fn nothing_runs_before_the_configuration_is_done() {
    let fixture = Fixture::new("exit.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let process = session.process_id();
    let failure = session.refused::<ContinueRequest>(ContinueArguments::new(process));
    assert!(
        failure.sentence.contains("configurationDone"),
        "{}",
        failure.sentence
    );
    assert_eq!(session.output(OutputEventCategory::Stdout), "");
    session.configured();
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_stop_on_entry_comes_before_the_programs_own_code() {
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, json!({"stopOnEntry": true}), &["main"]);
    let entry = session.stopped(StoppedEventReason::Entry);
    assert_eq!(entry.thread, session.process_id());
    session.resume(entry.thread);
    session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    session.disconnect();
}

#[test]
fn without_debugging_breakpoints_are_not_armed() {
    let fixture = Fixture::new("exit.c");
    let session = Session::new();
    session.launch(
        &fixture,
        json!({"noDebug": true, "stopOnEntry": true, "args": ["6"]}),
    );
    let answer = session
        .set_lines(&fixture.path(), &[fixture.line("main")])
        .remove(0);
    assert!(!answer.verified);
    session.configured();
    assert_eq!(session.exit_code(), 6);
    session.disconnect();
}

#[test]
fn arguments_folder_and_environment_reach_the_program() {
    let session = Session::new();
    session.ok::<LaunchRequest>(launch_arguments(&json!({
        "program": "/bin/sh",
        "args": ["-c", "echo \"$1|$PWD|$NEW|${HOME-none}\"", "sh", "a  b"],
        "cwd": "/",
        "env": {"NEW": "new", "HOME": null},
    })));
    session.configured();
    assert_eq!(session.exit_code(), 0);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "a  b|/|new|none\n"
    );
    session.disconnect();
}

#[test]
fn standard_input_comes_from_nowhere_or_from_a_file() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::started(&fixture, json!({"args": ["read"]}), &[]);
    assert_eq!(session.exit_code(), 0);
    assert!(
        session
            .output(OutputEventCategory::Stdout)
            .contains("read 0 bytes")
    );
    session.disconnect();

    let input = file("input.txt", b"hello", 0o644);
    let session = Session::started(&fixture, json!({"args": ["read"], "stdin": input}), &[]);
    assert_eq!(session.exit_code(), 0);
    assert!(
        session
            .output(OutputEventCategory::Stdout)
            .contains("read 5 bytes: hello")
    );
    session.disconnect();
}

#[test]
fn a_client_that_has_the_terminal_may_share_its_input() {
    let fixture = Fixture::new("exit.c");
    let options = ServeOptions {
        own_stdin: OwnStdin::Free,
        ..ServeOptions::default()
    };
    let session = Session::serving(options, support::initialize_arguments());
    session.launch(&fixture, json!({"stdin": "inherit"}));
    session.configured();
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_misspelt_argument_is_pointed_out() {
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, json!({"stopOnEnty": true}), &[]);
    assert_eq!(session.exit_code(), 0);
    let said = session.output(OutputEventCategory::Console);
    assert!(
        said.contains("`stopOnEnty`") && said.contains("`stopOnEntry`"),
        "{said}"
    );
    session.disconnect();
}

#[test]
fn a_client_that_counts_from_zero_and_speaks_in_uris_is_understood() {
    let fixture = Fixture::new("exit.c");
    let arguments = support::initialize_arguments()
        .with_lines_start_at1(false)
        .with_columns_start_at1(false)
        .with_path_format(InitializeRequestArgumentsPathFormat::Uri);
    let session = Session::serving(ServeOptions::default(), arguments);
    session.launch(&fixture, json!({}));
    let uri = path_to_uri(&fixture.source);
    let line = fixture.line("main") - 1;
    let breakpoint = session.set_lines(&uri, &[line]).remove(0);
    assert_eq!((breakpoint.verified, breakpoint.line), (true, Some(line)));
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(
        (stop.top.line, support::file_of(&stop.top)),
        (line, Some(uri))
    );
    session.disconnect();
}

#[test]
fn numbers_that_no_line_has_are_refused_as_they_were_sent() {
    let fixture = Fixture::new("exit.c");
    for (from_one, range) in [(true, "1 to 2147483647"), (false, "0 to 2147483646")] {
        let arguments = support::initialize_arguments().with_lines_start_at1(from_one);
        let session = Session::serving(ServeOptions::default(), arguments);
        session.launch(&fixture, json!({}));
        let good = fixture.line("main") - i64::from(!from_one);
        let behind = (1 << 31) - i64::from(!from_one);
        let mut bad = vec![behind, i64::from(u32::MAX), (1 << 53) - 1];
        if from_one {
            bad.push(0);
        }
        let refusal =
            |line: i64| format!("{line} is not the number of a line: those go from {range}");
        let mut lines = bad.clone();
        lines.insert(1, good);
        let set = session.set_lines(&fixture.path(), &lines);
        for (line, set) in lines.iter().zip(&set) {
            let message = (*line != good).then(|| refusal(*line));
            assert_eq!((set.line, &set.message), (Some(*line), &message));
            assert_eq!(set.verified, *line == good, "{set:?}");
        }
        assert_eq!(set.len(), lines.len());
        session.configured();
        assert_eq!(
            session.stopped(StoppedEventReason::Breakpoint).top.line,
            good
        );
        let targets = |line: i64| {
            let source = Source::new().with_path(fixture.path());
            let arguments = GotoTargetsArguments::new(source, line);
            session.refused::<GotoTargetsRequest>(arguments).sentence
        };
        for line in bad {
            assert_eq!(targets(line), refusal(line));
        }
        assert_eq!(
            targets(5000),
            format!("no code on line 5000 of {} to go to", fixture.path())
        );
        session.disconnect();
    }
}

#[test]
fn the_process_is_told_and_lives() {
    let fixture = Fixture::new("exit.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let process = session.wait_for::<ProcessEvent>();
    assert_eq!(process.start_method, Some(ProcessEventStartMethod::Launch));
    let id = process.system_process_id.expect("its id");
    assert!(is_alive(id));
    let module = session.wait_for::<ModuleEvent>().module;
    assert_eq!(
        module.path,
        Some(fixture.program()),
        "the program is the first module"
    );
    session.disconnect();
    assert!(!is_alive(id));
}
