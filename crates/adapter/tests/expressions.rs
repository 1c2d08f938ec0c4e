//! Expressions of clients: number formats, the word under the pointer, and completions.

use crate::support::{Fixture, Session, named};
use dapple_dap::types::*;
use serde_json::json;

#[test]
fn numbers_are_hexadecimal_where_that_is_asked_for() {
    let fixture = Fixture::new("assigned.c");
    let session = Session::started(&fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(&fixture, "inner", StoppedEventReason::Breakpoint);
    let hex = || ValueFormat::new().with_hex(true);
    let frames = session
        .ok::<StackTraceRequest>(StackTraceArguments::new(stop.thread))
        .stack_frames;
    let main = &frames[1];
    let evaluate = |text: &str| {
        let arguments = EvaluateArguments::new(text).with_frame_id(main.id);
        session.ok::<EvaluateRequest>(arguments.with_format(hex()))
    };
    assert_eq!(evaluate("numbers").result, "{0x1, 0x2, 0x3, 0x4}");
    assert_eq!(evaluate("little - 5").result, "0xfffffffe");
    assert_eq!(evaluate("numbers[3],d").result, "4");
    assert_eq!(evaluate("real").result, "1.5");
    let scope = session.scope(main, "Locals").variables_reference;
    let listed = |reference: i64, format: ValueFormat| {
        let arguments = VariablesArguments::new(reference).with_format(format);
        session.ok::<VariablesRequest>(arguments).variables
    };
    let locals = listed(scope, hex());
    assert_eq!(named(&locals, "byte").value, "0x2");
    assert_eq!(named(&locals, "other").value, "{x = 0x1e, y = 0x28}");
    let other = named(&locals, "other").variables_reference;
    assert_eq!(named(&listed(other, hex()), "y").value, "0x28");
    let plain = listed(scope, ValueFormat::new());
    assert_eq!(named(&plain, "other").value, "{x = 30, y = 40}");
    let set = SetVariableArguments::new(scope, "little", "255").with_format(hex());
    assert_eq!(session.ok::<SetVariableRequest>(set).value, "0xff");
    let set = SetExpressionArguments::new("point.x", "little + 1").with_frame_id(main.id);
    let set = session.ok::<SetExpressionRequest>(set.with_format(hex()));
    assert_eq!(set.value, "0x100");
    session.disconnect();
}

/// The completions at the end of a text, with the start and length of the text that they replace.
fn completions(session: &Session, frame: &StackFrame, text: &str) -> (Vec<String>, i64, i64) {
    let column = text.encode_utf16().count() as i64 + 1;
    let arguments = CompletionsArguments::new(text, column).with_frame_id(frame.id);
    let targets = session.ok::<CompletionsRequest>(arguments).targets;
    let place = targets.first().map_or((0, 0), |first| {
        (first.start.unwrap_or(0), first.length.unwrap_or(0))
    });
    assert!(
        targets
            .iter()
            .all(|one| (one.start, one.length) == (Some(place.0), Some(place.1)))
    );
    let labels = targets.into_iter().map(|one| one.label).collect();
    (labels, place.0, place.1)
}

/// Checks that the completions at the end of a text include these.
#[track_caller]
fn offers(session: &Session, frame: &StackFrame, text: &str, wanted: &[&str]) {
    let all = completions(session, frame, text).0;
    for one in wanted {
        assert!(all.iter().any(|it| it == one), "{text}: {one} in {all:?}");
    }
}

#[test]
fn what_clients_evaluate_by_themselves_fails_in_its_place_and_not_in_a_dialog() {
    let fixture = Fixture::new("assigned.c");
    let session = Session::started(&fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(&fixture, "inner", StoppedEventReason::Breakpoint);
    for context in [
        EvaluateArgumentsContext::Hover,
        EvaluateArgumentsContext::Watch,
        EvaluateArgumentsContext::Repl,
    ] {
        let arguments = EvaluateArguments::new("not_there")
            .with_frame_id(stop.top.id)
            .with_context(context.clone());
        let failure = session.refused::<EvaluateRequest>(arguments);
        assert_eq!(failure.sentence, "no variable `not_there` here");
        let shown = failure.error.and_then(|error| error.show_user);
        assert_eq!(shown, None, "{context:?}");
    }
    let commanded = SetExpressionArguments::new("not_there", "1").with_frame_id(stop.top.id);
    let failure = session.refused::<SetExpressionRequest>(commanded);
    let shown = failure.error.and_then(|error| error.show_user);
    assert_eq!(shown, Some(true), "{}", failure.sentence);
    session.disconnect();
}

#[test]
fn what_is_typed_is_completed_by_what_there_is() {
    let fixture = Fixture::new("assigned.c");
    let session = Session::started(&fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(&fixture, "inner", StoppedEventReason::Breakpoint);
    let frames = session
        .ok::<StackTraceRequest>(StackTraceArguments::new(stop.thread))
        .stack_frames;
    let main = &frames[1];
    let of = |text: &str| completions(&session, main, text);
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("point."), (names(&["x", "y"]), 7, 0));
    assert_eq!(of("\"ß🦀\" == points[1].x"), (names(&["x"]), 20, 1));
    assert_eq!(of("(&other)->"), (names(&["x", "y"]), 11, 0));
    assert_eq!(of("point . "), (names(&["x", "y"]), 9, 0));
    assert_eq!(of("(&other) -> y").0, names(&["y"]));
    assert_eq!(of("1 + nu"), (names(&["numbers", "number"]), 5, 2));
    assert_eq!(of("cou"), (names(&["counter"]), 1, 3));
    assert_eq!(of("colour == GR").0, names(&["GREEN"]));
    assert_eq!(
        of("$r1").0,
        names(&["r10", "r11", "r12", "r13", "r14", "r15"])
    );
    assert_eq!(of("$ri"), (names(&["rip"]), 2, 2));
    assert_eq!(of("$eflags").0, names(&["eflags"]));
    assert_eq!(of("1 + $xmm3.f"), (names(&["f32", "f64"]), 11, 1));
    assert!(of("").0.contains(&"little".to_owned()));
    assert!(of("nothing.").0.is_empty());
    assert!(of("inner(1).").0.is_empty());
    assert!(of("3.").0.is_empty());
    // Only the text in front of the caret, in the caret's line, counts.
    let arguments = CompletionsArguments::new("x\npoint.y", 7).with_line(2);
    let arguments = arguments.with_frame_id(main.id);
    let targets = session.ok::<CompletionsRequest>(arguments).targets;
    assert_eq!(targets.len(), 2, "{targets:?}");
    assert_eq!(targets[0].detail.as_deref(), Some("int"));
    session.disconnect();
}

#[test]
fn methods_that_are_answered_and_paths_are_completed() {
    let fixture = Fixture::new("assigned_library.cpp");
    let session = Session::started(&fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(&fixture, "inner", StoppedEventReason::Breakpoint);
    let frames = session.stack(stop.thread);
    let has = |text: &str, wanted: &[&str]| offers(&session, &frames[1], text, wanted);
    has("queue.", &["size()", "front()", "back()", "at("]);
    has("ages.co", &["count(", "contains("]);
    has("maybe.", &["has_value()", "value()"]);
    has("words[0].", &["c_str()", "length()"]);
    has("owned.ge", &["get()"]);
    has("owned->", &["low", "kind"]);
    has("Count::", &["all", "own", "Few", "Many"]);
    has("deep::", &["counter"]);
    assert!(
        !completions(&session, &frames[1], "grid.")
            .0
            .contains(&"size()".to_owned())
    );
    session.disconnect();
    let fixture = Fixture::new("assigned_library.rs");
    let session = Session::started(&fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(&fixture, "inner", StoppedEventReason::Breakpoint);
    let frames = session.stack(stop.thread);
    let has = |text: &str, wanted: &[&str]| offers(&session, &frames[1], text, wanted);
    has("queue.", &["len()", "first()", "get(", "contains("]);
    has("ages.", &["contains_key(", "get("]);
    has("maybe.", &["is_some()", "unwrap()"]);
    has("result.", &["is_ok()", "unwrap_err()"]);
    has("crate::", &["PLAIN", "FLAG", "Shape"]);
    has("self::", &["PLAIN", "Shape"]);
    has("crate::Shape::", &["Circle", "Line"]);
    session.disconnect();
}

#[test]
fn members_of_cpp_and_rust_are_completed() {
    let fixture = Fixture::new("assigned.cpp");
    let session = Session::started(&fixture, json!({}), &["method"]);
    let stop = session.stopped_at(&fixture, "method", StoppedEventReason::Breakpoint);
    for (text, wanted) in [
        ("und", "under"),
        ("this->", "touched"),
        ("this->un", "under"),
        ("Colour::", "Green"),
    ] {
        offers(&session, &stop.top, text, &[wanted]);
    }
    session.disconnect();
    let fixture = Fixture::new("assigned.rs");
    let session = Session::started(&fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(&fixture, "inner", StoppedEventReason::Breakpoint);
    let frames = session
        .ok::<StackTraceRequest>(StackTraceArguments::new(stop.thread))
        .stack_frames;
    for (text, wanted) in [
        ("pair.", "left"),
        ("tuple.", "0"),
        ("items.l", "len()"),
        ("maybe.", "is_some()"),
        ("Colour::", "Blue"),
        ("Shape::", "Circle"),
        ("boxe", "boxed"),
    ] {
        offers(&session, &frames[1], text, &[wanted]);
    }
    let of_a_number = completions(&session, &frames[1], "left.").0;
    assert_eq!(of_a_number, Vec::<String>::new());
    session.disconnect();
}

#[test]
fn what_is_under_the_pointer_is_read_off_the_source() {
    let fixture = Fixture::new("assigned.c");
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    let text = std::fs::read_to_string(fixture.path()).expect("the source");
    let hover = |line_with: &str, name: &str| {
        let (number, line) = (1..)
            .zip(text.lines())
            .find(|(_, line)| line.contains(line_with))
            .expect("a line");
        let column = line.find(name).expect("a name") as i64 + 1;
        let arguments = EvaluateArguments::new("")
            .with_context(EvaluateArgumentsContext::Hover)
            .with_frame_id(stop.top.id)
            .with_source(Source::new().with_path(fixture.path()))
            .with_line(number)
            .with_column(column);
        match session.request::<EvaluateRequest>(arguments) {
            Ok(answer) => answer.result,
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(hover("printf(\"points", "y, got"), "4");
    assert_eq!(
        hover("printf(\"points", "points[1]"),
        "{{x = 1, y = 2}, {x = 3, y = 4}}"
    );
    assert_eq!(hover("printf(\"bits", "wide, bits.flag"), "3");
    assert_eq!(hover("int got", "counter"), "1");
    assert!(
        hover("int got", ";").contains("no name"),
        "{}",
        hover("int got", ";")
    );
    session.disconnect();
}

#[test]
fn static_members_are_marked_and_can_be_set() {
    let fixture = Fixture::new("statics.cpp");
    let session = Session::started(&fixture, json!({}), &["statics"]);
    let stop = session.stopped_at(&fixture, "statics", StoppedEventReason::Breakpoint);
    let main = session
        .ok::<StackTraceRequest>(StackTraceArguments::new(stop.thread))
        .stack_frames
        .swap_remove(0);
    let evaluate = EvaluateArguments::new("other").with_frame_id(main.id);
    let other = session.ok::<EvaluateRequest>(evaluate);
    assert_eq!(other.result, "{Base = {own = 1}, item = 0}");
    let children = session.variables(other.variables_reference);
    let is_static = |name: &str| {
        let hint = named(&children, name).presentation_hint.clone();
        hint.and_then(|hint| hint.attributes) == Some(vec!["static".into()])
    };
    assert!(is_static("shared") && is_static("Counted::alive"));
    assert!(!is_static("item") && !is_static("Base"));
    assert_eq!(
        named(&children, "shared").evaluate_name.as_deref(),
        Some("other.shared")
    );
    let set = SetVariableArguments::new(other.variables_reference, "shared", "41");
    assert_eq!(session.ok::<SetVariableRequest>(set).value, "41");
    let base = named(&children, "Base").variables_reference;
    let set = SetVariableArguments::new(base, "made", "30");
    assert_eq!(session.ok::<SetVariableRequest>(set).value, "30");
    let constant = SetVariableArguments::new(base, "limit", "1");
    let refused = session.request::<SetVariableRequest>(constant);
    let refused = refused.expect_err("a constant").to_string();
    assert!(refused.contains("no place in the program"), "{refused}");
    session.set_breakpoints(&fixture, &[]);
    session.ok::<ContinueRequest>(ContinueArguments::new(stop.thread));
    assert_eq!(session.exit_code(), 0);
    let written = session.output(OutputEventCategory::Stdout);
    assert!(written.contains("made 30 shared 41\n"), "{written}");
    session.disconnect();
}
