//! Capabilities that have no test file of their own: frame names in the client's format, exception options for a path in a tree, additional
//! columns of modules, and evaluation without a context.

use crate::support;
use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use dapple_dap::{Request, types};
use serde_json::{Value, json};

/// The names of a thread's stack frames in a format.
fn names(session: &Session, thread: i64, format: StackFrameFormat) -> Vec<String> {
    let arguments = StackTraceArguments::new(thread).with_format(format);
    let frames = session.ok::<StackTraceRequest>(arguments).stack_frames;
    frames.into_iter().map(|frame| frame.name).collect()
}

#[test]
fn names_of_frames_have_what_the_client_asks_for() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({}), &["mean"]);
    let stop = session.stopped_at(&fixture, "mean", StoppedEventReason::Breakpoint);
    let first = |format: StackFrameFormat| names(&session, stop.thread, format).remove(0);
    let format = StackFrameFormat::new;
    let all = || {
        format()
            .with_parameters(true)
            .with_parameter_types(true)
            .with_parameter_names(true)
    };
    let line = fixture.line("mean");
    let program = std::path::PathBuf::from(fixture.program());
    let module = program
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let values = session.evaluate(&stop.top, "values");
    for (format, expected) in [
        (format(), "mean".to_owned()),
        (format().with_parameters(true), "mean(values, count)".into()),
        (
            format().with_parameters(false).with_parameter_names(true),
            "mean".into(),
        ),
        (
            format().with_parameter_types(true),
            "mean(const double *, int)".into(),
        ),
        (all(), "mean(const double * values, int count)".into()),
        (
            all().with_parameter_values(true).with_hex(true),
            format!("mean(const double * values = {values}, int count = 0x3)"),
        ),
        (
            format().with_parameter_values(true),
            format!("mean({values}, 3)"),
        ),
        (format().with_line(true), format!("mean Line {line}")),
        (
            format()
                .with_module(true)
                .with_line(true)
                .with_parameters(true),
            format!("{module}!mean(values, count) Line {line}"),
        ),
    ] {
        assert_eq!(first(format.clone()), expected, "{format:?}");
    }
    let all = names(&session, stop.thread, format().with_parameters(true));
    assert_eq!(all[1], "main()", "{all:?}");
    // A function without debug information has no known parameters.
    assert_eq!(all.last().map(String::as_str), Some("_start"), "{all:?}");
    session.disconnect();

    let fixture = Fixture::new("tour.rs");
    let session = Session::started(&fixture, json!({}), &["discount"]);
    let stop = session.stopped_at(&fixture, "discount", StoppedEventReason::Breakpoint);
    let asked = all_of_parameters();
    let name = names(&session, stop.thread, asked).remove(0);
    let rest = name.strip_prefix("tour::total(items: &[tour::Item] = ");
    assert!(
        rest.is_some_and(
            |rest| rest.contains(", discount: core::option::Option<u32> = Some(")
                || rest.contains(", discount: Option<u32> = Some(")
        ),
        "{name}"
    );
    session.disconnect();
}

fn all_of_parameters() -> StackFrameFormat {
    StackFrameFormat::new()
        .with_parameter_types(true)
        .with_parameter_names(true)
        .with_parameter_values(true)
}

#[test]
fn frames_of_libraries_are_not_set_aside_where_all_are_wanted() {
    let fixture = Fixture::new("throws.cpp");
    let session = Session::started(&fixture, json!({"args": ["future"]}), &["own"]);
    let stop = session.stopped_at(&fixture, "own", StoppedEventReason::Breakpoint);
    let aside = |format: StackFrameFormat| {
        let arguments = StackTraceArguments::new(stop.thread).with_format(format);
        let frames = session.ok::<StackTraceRequest>(arguments).stack_frames;
        let hint = |frame: &StackFrame| frame.source.as_ref()?.presentation_hint.clone();
        let there = frames.iter().filter(|frame| {
            let path = support::file_of(frame);
            path.is_some_and(|path| std::path::Path::new(&path).is_file())
        });
        let aside = there.filter(|frame| hint(frame) == Some(SourcePresentationHint::Deemphasize));
        (aside.count(), frames.len())
    };
    let (usually, count) = aside(StackFrameFormat::new());
    let (with_all, same) = aside(StackFrameFormat::new().with_include_all(true));
    assert!(usually > 0, "headers of the library are on this machine");
    assert_eq!((with_all, count), (0, same));
    session.disconnect();
}

fn step(names: &[&str]) -> ExceptionPathSegment {
    ExceptionPathSegment::new(names.iter().map(|name| (*name).to_owned()).collect())
}

fn option(path: &[ExceptionPathSegment], mode: ExceptionBreakMode) -> ExceptionOptions {
    ExceptionOptions::new(mode).with_path(path.to_vec())
}

/// Launches a program with only these exception options. Returns the session and the answers.
fn with_options(
    fixture: &Fixture,
    arguments: Value,
    options: &[ExceptionOptions],
) -> (Session, Vec<Breakpoint>) {
    let session = Session::new();
    session.launch(fixture, arguments);
    let arguments =
        SetExceptionBreakpointsArguments::new(Vec::new()).with_exception_options(options.to_vec());
    let answer = session.ok::<SetExceptionBreakpointsRequest>(arguments);
    session.configured();
    (
        session,
        answer.breakpoints.expect("one answer for each option"),
    )
}

/// The exceptions that the program stops for until it ends.
fn stops(session: &Session) -> Vec<(String, ExceptionBreakMode)> {
    let mut stops = Vec::new();
    while session.ends_or_stops() {
        let stop = session.stopped(StoppedEventReason::Exception);
        let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(stop.thread));
        stops.push((info.exception_id, info.break_mode));
        session.resume(stop.thread);
    }
    stops
}

#[test]
fn exception_options_choose_when_types_of_a_tree_stop() {
    use ExceptionBreakMode::{Always, Never, Unhandled};
    let fixture = Fixture::new("throws.cpp");
    let cpp = || step(&["C++ Exceptions"]);
    let caught = json!({"args": ["again"]});
    let refused = |mode: ExceptionBreakMode| ("my::Refused".to_owned(), mode);
    for (options, expected) in [
        (vec![], vec![]),
        (
            vec![ExceptionOptions::new(Always)],
            vec![refused(Always); 2],
        ),
        (vec![option(&[cpp()], Always)], vec![refused(Always); 2]),
        (vec![option(&[cpp()], Unhandled)], vec![]),
        (
            vec![option(&[cpp(), step(&["my"]), step(&["Refused"])], Always)],
            vec![refused(Always); 2],
        ),
        (
            vec![option(&[cpp(), step(&["std::out_of_range"])], Always)],
            vec![],
        ),
        // A base class also covers its derived classes. The last option that matches wins.
        (
            vec![
                option(&[cpp()], Always),
                option(&[cpp(), step(&["std::runtime_error"])], Never),
            ],
            vec![],
        ),
        (
            vec![option(
                &[cpp(), step(&["std::runtime_error"]).with_negate(true)],
                Always,
            )],
            vec![],
        ),
        (vec![option(&[step(&["Rust", "Signals"])], Always)], vec![]),
    ] {
        let (session, answers) = with_options(&fixture, caught.clone(), &options);
        assert!(answers.iter().all(|answer| answer.verified), "{answers:?}");
        assert_eq!(stops(&session), expected, "{options:?}");
        session.disconnect();
    }
    let nothing_catches = json!({"args": ["x", "y"]});
    for (mode, expected) in [
        (Never, vec![]),
        (Unhandled, vec![("my::Error".to_owned(), Unhandled)]),
    ] {
        let options = [option(&[cpp()], mode)];
        let (session, _) = with_options(&fixture, nothing_catches.clone(), &options);
        let stops: Vec<_> = stops(&session)
            .into_iter()
            .filter(|(id, _)| id != "SIGABRT")
            .collect();
        assert_eq!(stops, expected, "{options:?}");
        session.disconnect();
    }
    let wrong = [option(&[step(&["Java"])], Always), option(&[cpp()], Never)];
    let (session, answers) = with_options(&fixture, caught, &wrong);
    assert!(!answers[0].verified && answers[1].verified, "{answers:?}");
    let message = answers[0].message.as_deref().unwrap_or_default();
    assert!(
        message.contains("`Java`") && message.contains("C++"),
        "{message}"
    );
    session.disconnect();
}

#[test]
fn what_only_a_library_catches_is_not_handled_by_the_user() {
    use ExceptionBreakMode::{Unhandled, UserUnhandled};
    let fixture = Fixture::built("throws.cpp", Optimization::None, Linking::Pie);
    let user = [option(&[step(&["C++"])], UserUnhandled)];
    for (argument, expected) in [
        // The library catches the exception and stores it in the future for a later `get`.
        ("future", vec![("my::Error".to_owned(), UserUnhandled)]),
        ("own", vec![]),
        ("again", vec![]),
    ] {
        let (session, _) = with_options(&fixture, json!({"args": [argument]}), &user);
        assert_eq!(stops(&session), expected, "{argument}");
        session.disconnect();
    }
    let nobody = [option(&[step(&["C++"])], Unhandled)];
    let (session, _) = with_options(&fixture, json!({"args": ["future"]}), &nobody);
    assert_eq!(stops(&session), [], "the library catches it");
    session.disconnect();
}

#[test]
fn exception_options_choose_panics_and_signals() {
    use ExceptionBreakMode::{Always, Never};
    let fixture = Fixture::new("signals.c");
    let usr1 = || [step(&["Signals"]), step(&["SIGUSR1"])];
    for (mode, stops) in [(Always, true), (Never, false)] {
        let session = Session::new();
        session.launch(&fixture, json!({"args": ["here", "index"]}));
        let arguments = SetExceptionBreakpointsArguments::new(Vec::new())
            .with_exception_options(vec![option(&usr1(), mode.clone())]);
        session.ok::<SetExceptionBreakpointsRequest>(arguments);
        session.configured();
        assert_eq!(session.ends_or_stops(), stops, "{mode:?}");
        session.disconnect();
    }
    let fixture = Fixture::new("panics.rs");
    for (path, is_meant) in [
        (vec![step(&["Rust"])], true),
        (vec![step(&["Rust"]), step(&["no such text"])], false),
    ] {
        let session = Session::new();
        session.launch(&fixture, json!({"args": ["here", "index"]}));
        let arguments = SetExceptionBreakpointsArguments::new(Vec::new())
            .with_exception_options(vec![option(&path, Always)]);
        session.ok::<SetExceptionBreakpointsRequest>(arguments);
        session.configured();
        assert_eq!(session.ends_or_stops(), is_meant, "{path:?}");
        session.disconnect();
    }
}

/// The `modules` request with all fields of the response.
struct WholeModules;

impl Request for WholeModules {
    const COMMAND: &'static str = types::ModulesRequest::COMMAND;
    type Arguments = ModulesArguments;
    type Response = Value;
}

#[test]
fn modules_have_a_value_in_each_column_that_is_offered() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({}), &["town"]);
    session.stopped_at(&fixture, "town", StoppedEventReason::Breakpoint);
    let listed = session.ok::<WholeModules>(ModulesArguments::new());
    let modules = listed["modules"].as_array().expect("modules");
    assert_eq!(listed["totalModules"], modules.len());
    let program = &modules[0];
    assert_eq!(program["path"], fixture.program());
    assert_eq!(program["symbolFilePath"], fixture.program());
    assert_eq!(program["debugInfoFrom"], "the file itself");
    assert_eq!(program["language"], "C");
    assert_eq!(program["index"], "not needed");
    let compiler = program["compiler"].as_str().expect("a compiler");
    assert!(
        compiler.contains("GNU C") || compiler.contains("clang"),
        "{compiler}"
    );
    assert!(program["debugInfoSize"].as_u64() > Some(500), "{program}");
    let notes = std::process::Command::new("readelf")
        .args(["-n", &fixture.program()])
        .output()
        .expect("readelf");
    let notes = String::from_utf8_lossy(&notes.stdout).into_owned();
    let id = program["buildId"].as_str().expect("a build id");
    assert!(id.len() >= 16 && notes.contains(id), "{id} in {notes}");
    let page = ModulesArguments::new()
        .with_start_module(1)
        .with_module_count(1);
    let page = session.ok::<WholeModules>(page);
    assert_eq!(page["modules"].as_array().map(Vec::len), Some(1));
    assert_eq!(page["modules"][0]["path"], modules[1]["path"]);
    session.disconnect();
}

#[test]
fn what_comes_without_a_context_was_typed_by_a_person() {
    let fixture = Fixture::new("called.c");
    let session = Session::started(&fixture, json!({}), &["ready"]);
    let stop = session.stopped_at(&fixture, "ready", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "add(40, 2)"), "42");
    assert_eq!(session.evaluate(&stop.top, "count = 17"), "17");
    assert_eq!(session.evaluate(&stop.top, "add(count, 1)"), "18");
    session.disconnect();
}
