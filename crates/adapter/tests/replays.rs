//! Recordings that were written to a file are debugged later.

use crate::support::project::{launch, refused};
use crate::support::{Fixture, PATIENCE, Session, Stopped};
use dapple_dap::types::*;
use dapple_engine::exit_status::ExitStatus;
use dapple_engine::launch::{LaunchOptions, Sink};
use dapple_engine::recording;
use serde_json::json;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

const SIGABRT: i32 = 6;

/// A file that is removed with the test.
struct Recorded(PathBuf);

impl Drop for Recorded {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Records a program to its end.
fn recorded(program: &Path, arguments: &[&str], status: ExitStatus) -> Recorded {
    let thread = std::thread::current().id();
    let name = format!("replays-{}-{thread:?}.recording", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let file = File::create(&path).expect("the target directory can be written");
    let options = LaunchOptions {
        program: program.to_owned(),
        args: arguments.iter().map(Into::into).collect(),
        stdout: Sink::Null,
        stderr: Sink::Null,
        ..LaunchOptions::default()
    };
    let recorded = recording::run(&options, file).expect("it runs");
    assert_eq!((recorded.status, recorded.gap), (status, None));
    Recorded(path)
}

/// A session that replays a recording, and stops at breakpoints.
fn replayed(recording: &Recorded, fixture: &Fixture, stops: &[&str]) -> Session {
    let session = Session::new();
    launch(&session, &json!({"replay": recording.0}));
    let can = session.wait_for::<CapabilitiesEvent>().capabilities;
    assert_eq!(can.supports_step_back, Some(true));
    session.wait_for::<InitializedEvent>();
    session.set_breakpoints(fixture, stops);
    session.configured();
    session
}

#[track_caller]
fn reverse(session: &Session, fixture: &Fixture, from: &Stopped, name: &str) -> Stopped {
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(from.thread));
    session.stopped_at(fixture, name, StoppedEventReason::Breakpoint)
}

/// Waits for the end of the recording.
#[track_caller]
fn at_end(session: &Session, how: &str) -> Stopped {
    let reason = StoppedEventReason::Other("end of the recording".into());
    let stop = session.stopped(reason);
    assert_eq!(stop.event.text.as_deref(), Some(how));
    stop
}

#[test]
fn a_recording_is_run_forwards_and_backwards() {
    let fixture = Fixture::new("travelled.c");
    let recording = recorded(&fixture.binary, &[], ExitStatus::Code(0));
    for _ in 0..2 {
        let session = replayed(&recording, &fixture, &["returned", "last"]);
        for result in ["9", "16"] {
            let stop = session.stopped_at(&fixture, "returned", StoppedEventReason::Breakpoint);
            assert_eq!(session.evaluate(&stop.top, "result"), result);
            session.resume(stop.thread);
        }
        let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&last.top, "table[7]"), "63");
        session.resume(last.thread);
        let end = at_end(&session, "the program exited with 0");
        // Nothing is behind the end.
        session.resume(end.thread);
        let end = at_end(&session, "the program exited with 0");
        let last = reverse(&session, &fixture, &end, "last");
        let stop = reverse(&session, &fixture, &last, "returned");
        assert_eq!(session.evaluate(&stop.top, "result"), "16");
        assert_eq!(session.evaluate(&stop.top, "table[7]"), "0");
        session.ok::<StepBackRequest>(StepBackArguments::new(stop.thread));
        let before = session.stopped(StoppedEventReason::Step);
        session.resume(before.thread);
        let stop = session.stopped_at(&fixture, "returned", StoppedEventReason::Breakpoint);
        let stop = reverse(&session, &fixture, &stop, "returned");
        assert_eq!(session.evaluate(&stop.top, "result"), "9");
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
        let beginning = session.stopped(StoppedEventReason::Entry);
        session.set_source(&fixture, vec![]);
        session.resume(beginning.thread);
        at_end(&session, "the program exited with 0");
        assert_eq!(session.output(OutputEventCategory::Stdout), "");
    }
}

#[test]
fn a_recording_is_not_changed_by_what_is_tried_out() {
    let fixture = Fixture::new("travelled.c");
    let recording = recorded(&fixture.binary, &[], ExitStatus::Code(0));
    let session = replayed(&recording, &fixture, &["sum"]);
    let stop = session.stopped_at(&fixture, "sum", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "square(5)"), "25");
    let assignment = SetExpressionArguments::new("steps", "7").with_frame_id(stop.top.id);
    session.ok::<SetExpressionRequest>(assignment);
    assert_eq!(session.evaluate(&stop.top, "steps"), "7");
    session.ok::<StepBackRequest>(StepBackArguments::new(stop.thread));
    let before = session.stopped(StoppedEventReason::Step);
    session.ok::<NextRequest>(NextArguments::new(before.thread));
    let again = session.stopped_at(&fixture, "sum", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&again.top, "steps"), "2");
    session.set_source(&fixture, vec![]);
    session.resume(again.thread);
    at_end(&session, "the program exited with 0");
}

#[test]
fn a_replay_is_started_again() {
    let fixture = Fixture::new("travelled.c");
    let recording = recorded(&fixture.binary, &[], ExitStatus::Code(0));
    let session = replayed(&recording, &fixture, &["sum"]);
    for _ in 0..2 {
        let stop = session.stopped_at(&fixture, "sum", StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&stop.top, "steps"), "2");
        session.resume(stop.thread);
        at_end(&session, "the program exited with 0");
        session.ok::<RestartRequest>(RestartArguments::default());
    }
    let stop = session.stopped_at(&fixture, "sum", StoppedEventReason::Breakpoint);
    session.ok::<StepBackRequest>(StepBackArguments::new(stop.thread));
    session.stopped(StoppedEventReason::Step);
}

#[test]
fn a_failed_assertion_leads_back_to_its_cause() {
    let fixture = Fixture::new("overrun.c");
    let recording = recorded(&fixture.binary, &[], ExitStatus::Signal(SIGABRT));
    let session = replayed(&recording, &fixture, &[]);
    let end = at_end(&session, "the program was killed by SIGABRT");
    let used = { session.stack(end.thread).into_iter() }.find(|frame| frame.name == "used");
    let used = used.expect("the frame of the assertion");
    assert_eq!(session.evaluate(&used, "settings.limit"), "0");
    session.watch(&used, &["settings.limit"]);
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(end.thread));
    let stop = session.stopped(StoppedEventReason::DataBreakpoint);
    let text = stop.event.description.clone().unwrap_or_default();
    assert!(text.contains("from 10 to 0"), "{text}");
    let names = { session.stack(stop.thread).into_iter() }.map(|frame| frame.name);
    assert!(names.collect::<Vec<_>>().contains(&"rename_to".to_owned()));
}

#[test]
fn threads_are_where_they_were() {
    let fixture = Fixture::new("travelled_threads.c");
    let recording = recorded(&fixture.binary, &[], ExitStatus::Code(0));
    let mut runs = Vec::new();
    for _ in 0..2 {
        let session = replayed(&recording, &fixture, &["added"]);
        let seen = |stop: &Stopped| {
            let values = ["total", "turn", "own", "round"];
            let values = values.map(|value| session.evaluate(&stop.top, value));
            let threads = session
                .ok::<ThreadsRequest>(dapple_dap::message::Empty)
                .threads;
            (stop.thread, values, threads.len())
        };
        let mut states = Vec::new();
        let mut stop = session.stopped_at(&fixture, "added", StoppedEventReason::Breakpoint);
        while states.len() < 10 {
            states.push(seen(&stop));
            session.resume(stop.thread);
            stop = session.stopped_at(&fixture, "added", StoppedEventReason::Breakpoint);
        }
        for state in states.iter().rev() {
            stop = reverse(&session, &fixture, &stop, "added");
            assert_eq!(seen(&stop), *state);
        }
        session.set_source(&fixture, vec![]);
        session.resume(stop.thread);
        let end = at_end(&session, "the program exited with 0");
        session.set_breakpoints(&fixture, &["joined"]);
        reverse(&session, &fixture, &end, "joined");
        runs.push(states);
    }
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn a_changed_program_is_refused_by_its_name() {
    let fixture = Fixture::new("travelled.c");
    let program = fixture.binary.with_extension("to-change");
    std::fs::copy(&fixture.binary, &program).expect("a copy");
    let recording = recorded(&program, &[], ExitStatus::Code(0));
    let other = Fixture::new("overrun.c");
    std::fs::remove_file(&program).expect("it is there");
    std::fs::copy(&other.binary, &program).expect("a copy");
    let sentence = refused(&Session::new(), &json!({"replay": recording.0}));
    let name = program.file_name().expect("a name").to_string_lossy();
    assert!(sentence.contains(&*name), "{sentence}");
    assert_eq!(sentence.matches("build id ").count(), 2, "{sentence}");
    std::fs::remove_file(&program).expect("it is there");
    let sentence = refused(&Session::new(), &json!({"replay": recording.0}));
    assert!(sentence.contains(&*name), "{sentence}");
}

#[test]
fn what_is_no_recording_and_what_it_has_no_room_for_is_refused() {
    let fixture = Fixture::new("travelled.c");
    let sentence = refused(&Session::new(), &json!({"replay": fixture.binary}));
    assert!(sentence.contains("no recording"), "{sentence}");
    let sentence = refused(&Session::new(), &json!({"replay": "/nowhere.recording"}));
    assert!(sentence.contains("/nowhere.recording"), "{sentence}");
    let both = json!({"replay": "/nowhere", "program": fixture.binary});
    let sentence = refused(&Session::new(), &both);
    assert!(sentence.contains("`program`"), "{sentence}");
    let sentence = refused(&Session::new(), &json!({"replay": "/n", "noDebug": true}));
    assert!(sentence.contains("`noDebug`"), "{sentence}");
}

/// The processes whose executable is this file.
fn processes_of(program: &Path) -> usize {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    all.filter(|entry| std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program))
        .count()
}

#[test]
fn nothing_of_a_replay_is_left_whichever_way_it_ends() {
    let fixture = Fixture::new("travelled.c");
    // Another program than the other tests run at the same time.
    let program = fixture.binary.with_extension("left");
    std::fs::copy(&fixture.binary, &program).expect("a copy");
    let recording = recorded(&program, &[], ExitStatus::Code(0));
    type End = fn(Session);
    let ends: [End; 3] = [
        |session| session.disconnect(),
        |session| {
            session.ok::<TerminateRequest>(TerminateArguments::new());
            session.wait_for::<TerminatedEvent>();
        },
        |session| {
            let arguments = DisconnectArguments::new().with_terminate_debuggee(false);
            session.ok::<DisconnectRequest>(arguments);
        },
    ];
    for end in ends {
        let session = replayed(&recording, &fixture, &["sum"]);
        session.stopped_at(&fixture, "sum", StoppedEventReason::Breakpoint);
        assert!(processes_of(&program) >= 2);
        end(session);
        let begin = Instant::now();
        while processes_of(&program) > 0 {
            assert!(begin.elapsed() < PATIENCE);
            std::thread::yield_now();
        }
    }
}
