//! Programs with sanitizers, by gcc (shared runtime libraries) and clang (statically linked runtimes): stops at reports, the texts of the
//! reports, and how the program ends afterwards.

use crate::support::{Fixture, Session, file_of};
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The program by each compiler that has the sanitizer's runtime. gcc always has it.
fn builds(sanitizer: &'static str, more: &[&'static str]) -> Vec<(&'static str, Fixture)> {
    let says = |compiler: &str, argument: &str| {
        let output = Command::new(compiler).arg(argument).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let (name, of_clang) = match sanitizer {
        "address" => ("asan", "asan"),
        "thread" => ("tsan", "tsan"),
        "undefined" => ("ubsan", "ubsan_standalone"),
        "leak" => ("lsan", "lsan"),
        other => panic!("no runtime of {other} is known"),
    };
    let of_gcc = says("gcc", &format!("-print-file-name=lib{name}.so")).expect("gcc runs");
    let mut compilers = Vec::new();
    if Path::new(&of_gcc).is_absolute() {
        compilers.extend(["gcc", "g++"]);
    }
    if let Ok(folder) = says("clang-22", "-print-resource-dir")
        && Path::new(&folder)
            .join(format!("lib/linux/libclang_rt.{of_clang}-x86_64.a"))
            .exists()
    {
        compilers.extend(["clang-22", "clang++-22"]);
    }
    assert!(!compilers.is_empty(), "gcc comes with its runtimes");
    let flag = format!("-fsanitize={sanitizer}");
    let compiled = compilers.into_iter().map(|compiler| {
        let mut flags = vec!["-g", "-O0", "-pthread", "-Wno-deprecated", &flag];
        if compiler.contains("++") {
            flags.extend(["-x", "c++"]);
        }
        flags.extend(more);
        (
            compiler,
            Fixture::compiled_with(compiler, "sanitized.c", &flags),
        )
    });
    compiled.collect()
}

fn launched(fixture: &Fixture, arguments: Value) -> Session {
    let session = Session::new();
    session.launch(fixture, arguments);
    session.configured();
    session
}

/// A stop at a sanitizer's report.
struct Reported {
    thread: i64,
    text: String,
    /// The mark of the line that an editor shows: that of the first frame whose source isn't deemphasized.
    shown: String,
    info: ExceptionInfoResponse,
}

fn reported(session: &Session, fixture: &Fixture) -> Reported {
    let stop = session.stopped(StoppedEventReason::Exception);
    let frames = session.stack(stop.thread);
    let is_shown = |frame: &&StackFrame| {
        let source = frame.source.as_ref();
        source.is_some_and(|source| {
            source.presentation_hint != Some(SourcePresentationHint::Deemphasize)
        })
    };
    let shown = frames.iter().find(is_shown).expect("a frame of the user's");
    assert_eq!(file_of(shown), Some(fixture.path()), "{frames:#?}");
    let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(stop.thread));
    let text = stop.event.text.unwrap_or_default();
    assert_eq!(info.description.as_ref(), Some(&text));
    Reported {
        thread: stop.thread,
        text,
        shown: fixture.mark_of(shown.line),
        info,
    }
}

fn stderr(session: &Session) -> String {
    session.output(OutputEventCategory::Stderr)
}

#[test]
fn an_error_of_memory_stops_behind_its_report_in_the_users_frame() {
    for (compiler, fixture) in builds("address", &[]) {
        for (how, kind, begins, part) in [
            (
                "freed",
                "heap-use-after-free",
                "AddressSanitizer: heap-use-after-free on address 0x",
                "is located 4 bytes inside of 40-byte region",
            ),
            (
                "stack",
                "stack-buffer-overflow",
                "AddressSanitizer: stack-buffer-overflow on address 0x",
                "READ of size 4 at 0x",
            ),
            (
                "twice",
                "double-free",
                "AddressSanitizer: attempting double-free on 0x",
                "is located 0 bytes inside of 4-byte region",
            ),
        ] {
            let session = launched(&fixture, json!({"args": [how]}));
            let stop = reported(&session, &fixture);
            let case = format!("{compiler} {how}: {}", stop.text);
            assert!(stop.text.starts_with(begins), "{case}");
            assert!(stop.text.contains(part), "{case}");
            assert_eq!(stop.shown, how, "{case}");
            assert_eq!(stop.info.exception_id, kind, "{case}");
            assert_eq!(stop.info.break_mode, ExceptionBreakMode::Unhandled);
            let details = stop.info.details.expect("details");
            assert_eq!(details.type_name.as_deref(), Some("AddressSanitizer"));
            let whole = details.message.unwrap_or_default();
            assert!(whole.contains("SUMMARY: AddressSanitizer: "), "{whole}");
            assert!(whole.contains("allocated by thread") || how == "stack");
            let place = format!("{}:{}", fixture.path(), fixture.line(how));
            let stack = details.stack_trace.unwrap_or_default();
            assert!(stack.contains(&place), "{stack}");
            // The address in the report can be evaluated.
            let expression = details.evaluate_name.expect("an expression");
            let frames = session.stack(stop.thread);
            let address = session.evaluate(&frames[0], &expression);
            assert!(
                address.starts_with("0x") && stop.text.contains(&address),
                "{address} {case}"
            );
            session.wait_for_written(OutputEventCategory::Stderr, "SUMMARY: ");
            session.resume(stop.thread);
            assert_eq!(session.exit_code(), 1, "{case}");
            let written = stderr(&session);
            assert_eq!(written.matches("==ERROR: ").count(), 1, "{written}");
            assert!(written.contains("==ABORTING"), "{written}");
            session.disconnect();
        }
    }
}

#[test]
fn checks_of_undefined_behaviour_stop_each_time_and_the_program_goes_on() {
    for (compiler, fixture) in builds("undefined", &[]) {
        let session = launched(&fixture, json!({"args": ["undefined"]}));
        for (mark, kind, begins) in [
            (
                "overflow",
                "signed integer overflow",
                "UndefinedBehaviorSanitizer: signed integer overflow: 2147483647 + 1 cannot",
            ),
            (
                "shift",
                "shift out of bounds",
                "UndefinedBehaviorSanitizer: shift exponent 33 is too large",
            ),
        ] {
            let stop = reported(&session, &fixture);
            assert!(stop.text.starts_with(begins), "{compiler}: {}", stop.text);
            assert_eq!(stop.shown, mark, "{compiler}");
            assert_eq!(stop.info.exception_id, kind, "{compiler}");
            assert_eq!(stop.info.break_mode, ExceptionBreakMode::Always);
            session.resume(stop.thread);
        }
        assert_eq!(session.exit_code(), 2, "{compiler}");
        let written = stderr(&session);
        assert_eq!(written.matches("runtime error: ").count(), 2, "{written}");
        assert_eq!(session.output(OutputEventCategory::Stdout), "done\n");
        session.disconnect();
    }
}

#[test]
fn steps_from_a_report_begin_in_the_users_frame() {
    for (compiler, fixture) in builds("undefined", &[]) {
        let session = launched(&fixture, json!({"args": ["undefined"]}));
        let stop = reported(&session, &fixture);
        session.ok::<NextRequest>(NextArguments::new(stop.thread));
        let next = session.stopped(StoppedEventReason::Step).top;
        assert_eq!(file_of(&next), Some(fixture.path()), "{compiler}: {next:?}");
        // clang has no line row for the function's end when it returns there.
        let line = match compiler.starts_with("clang") {
            true => fixture.line("calls"),
            false => fixture.line("overflow") + 1,
        };
        assert_eq!(next.line, line, "{compiler}");
        session.resume(stop.thread);
        let stop = reported(&session, &fixture);
        session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
        let out = session.stopped(StoppedEventReason::Step).top;
        assert_eq!(out.name, "main", "{compiler}");
        assert_eq!(session.evaluate(&out, "argc"), "2", "{compiler}");
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 2, "{compiler}");
        session.disconnect();
    }
}

#[test]
fn a_check_that_ends_the_program_is_told_once_and_ends_it() {
    for (compiler, fixture) in builds("undefined", &["-fno-sanitize-recover=all"]) {
        let session = launched(&fixture, json!({"args": ["undefined"]}));
        let stop = reported(&session, &fixture);
        assert_eq!(stop.shown, "overflow", "{compiler}");
        assert_eq!(stop.info.exception_id, "signed integer overflow");
        assert_eq!(stop.info.break_mode, ExceptionBreakMode::Unhandled);
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 1, "{compiler}");
        assert_eq!(stderr(&session).matches("runtime error: ").count(), 1);
        session.disconnect();
    }
}

#[test]
fn a_check_that_only_traps_says_which_it_is() {
    let reasons: [&[&str]; 2] = [&[], &["-fno-sanitize-debug-trap-reasons"]];
    for (number, more) in reasons.into_iter().enumerate() {
        let flags = [&["-fsanitize-trap=all"], more].concat();
        let builds = builds("undefined", &["-Wno-unused"]);
        for (compiler, _) in builds.iter().filter(|(name, _)| name.starts_with("clang")) {
            let mut all = vec!["-g", "-O0", "-pthread", "-fsanitize=undefined"];
            all.extend(&flags);
            let language = if compiler.contains("++") { "c++" } else { "c" };
            all.extend(["-x", language]);
            let fixture = Fixture::compiled_with(compiler, "sanitized.c", &all);
            let session = launched(&fixture, json!({"args": ["undefined"]}));
            let stop = reported(&session, &fixture);
            let check = [
                "signed integer addition overflow",
                "integer overflow of an addition",
            ];
            let begins = format!(
                "SIGILL: a check of UndefinedBehaviorSanitizer has failed: {}",
                check[number]
            );
            assert!(stop.text.starts_with(&begins), "{compiler}: {}", stop.text);
            assert_eq!(stop.shown, "overflow", "{compiler}");
            session.resume(stop.thread);
            assert_eq!(session.exit_code(), 128 + 4, "{compiler}");
            session.disconnect();
        }
    }
}

#[test]
fn a_race_stops_the_thread_that_came_second() {
    for (compiler, fixture) in builds("thread", &[]) {
        let session = launched(&fixture, json!({"args": ["race"]}));
        let stop = reported(&session, &fixture);
        let case = format!("{compiler}: {}", stop.text);
        assert!(
            stop.text.starts_with("ThreadSanitizer: data race\n"),
            "{case}"
        );
        for part in [
            " of size 4 at 0x",
            "\nPrevious write of size 4",
            "'shared' of size 4",
        ] {
            assert!(stop.text.contains(part), "{case}");
        }
        assert_eq!(stop.shown, "race", "{case}");
        assert_eq!(stop.info.exception_id, "data race", "{case}");
        assert_eq!(stop.info.break_mode, ExceptionBreakMode::Always);
        let frames = session.stack(stop.thread);
        let address = session.evaluate(&frames[0], "$exception");
        let shared = session.evaluate(&frames[0], "&shared");
        assert!(shared.starts_with(&address), "{address} {shared}");
        session.resume(stop.thread);
        // ThreadSanitizer's own exit code for a program with data races.
        assert_eq!(session.exit_code(), 66, "{case}");
        assert_eq!(
            stderr(&session).matches("WARNING: ThreadSanitizer").count(),
            1
        );
        session.disconnect();
    }
}

#[test]
fn leaks_are_not_looked_for_while_debugging_and_the_program_ends_in_its_own_way() {
    for (sanitizer, code) in [("address", 1), ("leak", 23)] {
        for (compiler, fixture) in builds(sanitizer, &[]) {
            let session = launched(&fixture, json!({"args": ["leak"]}));
            assert!(!session.ends_or_stops(), "{compiler}");
            assert_eq!(session.exit_code(), 3, "{compiler} {sanitizer}");
            assert_eq!(stderr(&session), "", "{compiler} {sanitizer}");
            let said = session.output(OutputEventCategory::Console);
            assert_eq!(said.matches("can't look for leaks").count(), 1, "{said}");
            session.disconnect();

            // No message if the user has disabled the leak check.
            let environment =
                json!({"ASAN_OPTIONS": "detect_leaks=0", "LSAN_OPTIONS": "detect_leaks=0"});
            let session = launched(&fixture, json!({"args": ["leak"], "env": environment}));
            assert_eq!(session.exit_code(), 3, "{compiler} {sanitizer}");
            let said = session.output(OutputEventCategory::Console);
            assert!(!said.contains("leaks"), "{said}");
            session.disconnect();

            // The alternative that the message recommends works.
            let session = Session::new();
            let mut arguments = json!({"args": ["leak"], "noDebug": true});
            arguments["program"] = json!(fixture.program());
            let arguments = dapple_dap::testing::launch_arguments(&arguments);
            session.ok::<LaunchRequest>(arguments);
            session.configured();
            assert_eq!(session.exit_code(), code, "{compiler} {sanitizer}");
            let written = stderr(&session);
            assert!(written.contains("17 byte(s) leaked"), "{written}");
            session.disconnect();
        }
    }
}

#[test]
fn a_fault_is_told_as_the_signal_alone() {
    for (compiler, fixture) in builds("address", &[]) {
        let session = launched(&fixture, json!({"args": ["null"]}));
        let stop = reported(&session, &fixture);
        assert!(
            stop.text.starts_with("SIGSEGV: "),
            "{compiler}: {}",
            stop.text
        );
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 1, "{compiler}");
        assert!(stderr(&session).contains("AddressSanitizer: SEGV"));
        session.disconnect();

        // With the filter for faults off, the sanitizer's report is the only stop.
        let session = Session::new();
        session.launch(&fixture, json!({"args": ["null"]}));
        let filters = SetExceptionBreakpointsArguments::new(vec!["sanitizers".to_owned()]);
        session.ok::<SetExceptionBreakpointsRequest>(filters);
        session.configured();
        let stop = reported(&session, &fixture);
        assert!(
            stop.text
                .starts_with("AddressSanitizer: SEGV on unknown address 0x"),
            "{compiler}: {}",
            stop.text
        );
        assert_eq!(
            (stop.info.exception_id.as_str(), stop.shown.as_str()),
            ("SEGV", "null")
        );
        session.disconnect();
    }
}

#[test]
fn conditions_and_options_choose_reports() {
    let fixture = builds("address", &[]).remove(0).1;
    let with = |condition: Option<&str>, options: Vec<ExceptionOptions>| {
        let session = Session::new();
        session.launch(&fixture, json!({"args": ["freed"]}));
        let filters = condition
            .map(|condition| ExceptionFilterOptions::new("sanitizers").with_condition(condition));
        let arguments = SetExceptionBreakpointsArguments::new(Vec::new())
            .with_filter_options(filters.into_iter().collect())
            .with_exception_options(options);
        let answer = session.ok::<SetExceptionBreakpointsRequest>(arguments);
        assert!(
            answer
                .breakpoints
                .into_iter()
                .flatten()
                .all(|answer| answer.verified)
        );
        session.configured();
        let stops = session.ends_or_stops();
        if stops {
            session.resume(session.stopped(StoppedEventReason::Exception).thread);
        }
        assert_eq!(session.exit_code(), 1);
        session.disconnect();
        stops
    };
    for (condition, stops) in [
        (None, false),
        (Some(""), true),
        (Some("heap-use-after-free"), true),
        (Some("AddressSanitizer, !data race"), true),
        (Some("data race"), false),
        (Some("!heap-*"), false),
        (Some("if kept == numbers"), true),
        (Some("heap-use-after-free if kept != numbers"), false),
    ] {
        assert_eq!(with(condition, Vec::new()), stops, "{condition:?}");
    }
    let step = |name: &str| ExceptionPathSegment::new(vec![name.to_owned()]);
    for (kind, mode, stops) in [
        ("heap-use-after-free", ExceptionBreakMode::Always, true),
        ("heap-use-after-free", ExceptionBreakMode::Never, false),
        ("double-free", ExceptionBreakMode::Always, false),
    ] {
        let path = vec![step("Sanitizers"), step(kind)];
        let option = ExceptionOptions::new(mode.clone()).with_path(path);
        assert_eq!(with(None, vec![option]), stops, "{kind} {mode:?}");
    }
}

#[test]
fn an_exception_is_met_once_where_the_runtime_has_a_throw_of_its_own() {
    for compiler in ["g++", "clang++-22"] {
        let is_built = |(name, _): &(&str, Fixture)| *name == compiler;
        if !builds("address", &[]).iter().any(is_built) {
            continue;
        }
        let flags = ["-g", "-O0", "-fsanitize=address"];
        let fixture = Fixture::compiled_with(compiler, "throws.cpp", &flags);
        let session = Session::new();
        session.launch(&fixture, json!({"args": ["own"]}));
        let filters = SetExceptionBreakpointsArguments::new(vec!["cpp_throw".to_owned()]);
        session.ok::<SetExceptionBreakpointsRequest>(filters);
        session.configured();
        let mut texts = Vec::new();
        while session.ends_or_stops() {
            let stop = session.stopped(StoppedEventReason::Exception);
            texts.extend(stop.event.text);
            session.resume(stop.thread);
        }
        assert_eq!(texts.len(), 1, "{compiler}: {texts:?}");
        session.disconnect();
    }
}
