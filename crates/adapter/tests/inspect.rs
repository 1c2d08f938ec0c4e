//! Inspecting a stopped program: breakpoints' answers, scopes, paging, references, expressions.

use crate::support::{Fixture, Session, named};
use dapple_dap::types::*;
use serde_json::json;

#[test]
fn a_line_without_code_says_why() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let [beyond, zero] =
        <[Breakpoint; 2]>::try_from(session.set_lines(&fixture.path(), &[100_000, 0]))
            .expect("two answers");
    for breakpoint in [beyond, zero] {
        assert!(!breakpoint.verified, "{breakpoint:?}");
        assert_eq!(
            breakpoint.reason,
            Some(BreakpointReason::Failed),
            "{breakpoint:?}"
        );
        assert!(
            breakpoint
                .message
                .is_some_and(|message| message.contains("line"))
        );
    }
    let elsewhere = session.set_lines("/nowhere/tour.c", &[10]).remove(0);
    assert!(elsewhere.message.is_some_and(|message| !message.is_empty()));
    let unknown = session.set_lines("/nowhere/at-all.c", &[10]).remove(0);
    assert!(!unknown.verified, "{unknown:?}");
    assert_eq!(unknown.reason, Some(BreakpointReason::Pending));
    session.disconnect();
}

#[test]
fn breakpoints_keep_their_order_and_their_ids() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let ids = |breakpoints: Vec<Breakpoint>| -> Vec<i64> {
        breakpoints
            .iter()
            .map(|breakpoint| breakpoint.id.expect("an id"))
            .collect()
    };
    let first = ids(session.set_breakpoints(&fixture, &["end", "sum"]));
    let second = ids(session.set_breakpoints(&fixture, &["sum", "town", "end"]));
    assert_eq!([second[2], second[0]], [first[0], first[1]]);
    assert!(!first.contains(&second[1]));
    session.disconnect();
}

#[test]
fn what_was_never_offered_is_said_to_be_missing() {
    let fixture = Fixture::new("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let filters = SetExceptionBreakpointsArguments::new(vec!["uncaught".to_owned()]);
    let answers = session
        .ok::<SetExceptionBreakpointsRequest>(filters)
        .breakpoints;
    assert_eq!(answers.map(|answers| answers[0].verified), Some(false));
    session.disconnect();
}

#[test]
fn a_source_without_a_path_is_answered_line_by_line() {
    let session = Session::new();
    let arguments = SetBreakpointsArguments::new(Source::new()).with_lines(vec![1, 2]);
    let answers = session.ok::<SetBreakpointsRequest>(arguments).breakpoints;
    assert_eq!(
        answers
            .iter()
            .map(|answer| answer.verified)
            .collect::<Vec<_>>(),
        [false, false]
    );
    session.disconnect();
}

#[test]
fn the_first_scope_has_arguments_then_what_was_returned_then_locals() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({}), &["mean"]);
    let stop = session.stopped_at(&fixture, "mean", StoppedEventReason::Breakpoint);
    let expected = [("Locals", false), ("Statics", true), ("Registers", true)];
    let expected = expected.map(|(name, expensive)| (name.to_owned(), expensive));
    assert_eq!(session.scopes_of(&stop.top), expected);
    let names = |frame: &StackFrame| {
        let scope = session.scope(frame, "Locals");
        let variables = session.variables(scope.variables_reference);
        variables
            .into_iter()
            .map(|one| one.name)
            .collect::<Vec<_>>()
    };
    let inside = names(&stop.top);
    assert_eq!(inside[..2], ["values", "count"], "{inside:?}");
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    let behind = names(&stop.top);
    let arguments = behind.iter().position(|name| name == "returned by mean()");
    assert_eq!(arguments, Some(0), "{behind:?}");
    assert!(behind.len() > 1, "{behind:?}");
    session.disconnect();
}

#[test]
fn scopes_are_arguments_locals_statics_and_registers_where_that_is_asked_for() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({"separateScopes": true}), &["mean"]);
    let stop = session.stopped_at(&fixture, "mean", StoppedEventReason::Breakpoint);
    let expected = [
        ("Arguments", false),
        ("Locals", false),
        ("Statics", true),
        ("Registers", true),
    ];
    let expected = expected.map(|(name, expensive)| (name.to_owned(), expensive));
    assert_eq!(session.scopes_of(&stop.top), expected);
    assert_eq!(session.variable(&stop.top, "Arguments", "count").value, "3");
    assert_eq!(session.variable(&stop.top, "Statics", "visits").value, "0");
    let general = session.variable(&stop.top, "Registers", "General");
    let general = session.variables(general.variables_reference);
    let pc = named(&general, "rip").value.clone();
    assert_eq!(
        Some(pc.trim_start_matches('0')),
        stop.top
            .instruction_pointer_reference
            .as_deref()
            .map(|text| text.trim_start_matches('0'))
    );
    session.disconnect();
}

#[test]
fn a_program_with_split_debug_information_stops_and_shows_its_locals() {
    for (name, mark, local) in [
        ("tour.c", "mean", "sum: double = 95.5"),
        ("tour.cpp", "total", "range: "),
    ] {
        let plain = shown_at(&Fixture::new(name), mark);
        let split = shown_at(&Fixture::split(name), mark);
        assert!(
            plain.iter().any(|shown| shown.starts_with(local)),
            "{plain:?}"
        );
        assert_eq!(plain, split, "{name}");
    }
}

#[test]
fn lost_debug_information_is_told_of_once_and_not_looked_for_at_launch() {
    let fixture = Fixture::with_missing_dwo("tour.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let said = || session.output(OutputEventCategory::Console);
    assert_eq!(said(), "");
    session.set_breakpoints(&fixture, &["mean"]);
    session.configured();
    for _ in 0..3 {
        let stop = session.stopped_at(&fixture, "mean", StoppedEventReason::Breakpoint);
        session.ok::<ScopesRequest>(ScopesArguments::new(stop.top.id));
        session.wait_for_written(OutputEventCategory::Console, ".dwo");
        session.resume(stop.thread);
    }
    session.exit_code();
    let said = said();
    let warnings: Vec<&str> = said.lines().filter(|line| line.contains(".dwo")).collect();
    assert_eq!(warnings.len(), 1, "{said}");
    let program = fixture.program();
    assert!(
        warnings[0].starts_with(&format!("warning: {program}: .debug_info at offset 0x")),
        "{said}"
    );
}

/// The frames' names, and the top frame's arguments and locals, at a mark.
fn shown_at(fixture: &Fixture, mark: &str) -> Vec<String> {
    let session = Session::started(fixture, json!({}), &[mark]);
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
    let stack = session.stack(stop.thread);
    let mut shown: Vec<String> = stack.into_iter().map(|frame| frame.name).collect();
    for scope in ["Arguments", "Locals"] {
        let scopes = session
            .ok::<ScopesRequest>(ScopesArguments::new(stop.top.id))
            .scopes;
        if !scopes.iter().any(|found| found.name == scope) {
            continue;
        }
        let scope = session.scope(&stop.top, scope).variables_reference;
        for variable in session.variables(scope) {
            let of = variable.r#type.unwrap_or_default();
            // Addresses differ from program to program.
            let value = match variable.value.contains("0x") {
                true => "at some address",
                false => &variable.value,
            };
            shown.push(format!("{}: {of} = {value}", variable.name));
        }
    }
    session.disconnect();
    shown
}

#[test]
fn a_large_array_comes_in_pages() {
    let fixture = Fixture::new("values.c");
    let session = Session::started(&fixture, json!({}), &[]);
    session.disconnect();
    let source = std::fs::read_to_string(&fixture.source).expect("the source");
    let line = source
        .lines()
        .position(|line| line.contains("large[999]; // stop:"))
        .expect("the marked line");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    session.set_lines(&fixture.path(), &[i64::try_from(line).expect("a line") + 1]);
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    let large = session.variable(&stop.top, "Locals", "large");
    assert_eq!(large.indexed_variables, Some(1000), "{large:?}");
    let page = |start: i64, count: i64, filter| {
        let arguments = VariablesArguments::new(large.variables_reference)
            .with_start(start)
            .with_count(count)
            .with_filter(filter);
        session.ok::<VariablesRequest>(arguments).variables
    };
    let middle = page(990, 20, VariablesArgumentsFilter::Indexed);
    assert_eq!(middle.len(), 10);
    assert_eq!(middle[9].name, "[999]");
    assert_eq!(page(5000, 20, VariablesArgumentsFilter::Indexed), []);
    assert_eq!(page(0, 20, VariablesArgumentsFilter::Named), []);
    let name = middle[9].evaluate_name.as_deref().expect("a way to say it");
    assert_eq!(session.evaluate(&stop.top, name), middle[9].value);
    session.disconnect();
}

#[test]
fn what_belonged_to_a_stop_is_gone_after_it() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({}), &["town"]);
    let stop = session.stopped_at(&fixture, "town", StoppedEventReason::Breakpoint);
    let scope = session.scope(&stop.top, "Locals").variables_reference;
    session.resume(stop.thread);
    let again = session.stopped_at(&fixture, "town", StoppedEventReason::Breakpoint);
    let stale = [
        session.refused::<ScopesRequest>(ScopesArguments::new(stop.top.id)),
        session.refused::<VariablesRequest>(VariablesArguments::new(scope)),
        session
            .refused::<EvaluateRequest>(EvaluateArguments::new("town").with_frame_id(stop.top.id)),
        session.refused::<VariablesRequest>(VariablesArguments::new(0)),
        session.refused::<ScopesRequest>(ScopesArguments::new(-1)),
    ];
    for failure in stale {
        assert!(
            failure.sentence.contains("any more"),
            "{}",
            failure.sentence
        );
    }
    assert_ne!(again.top.id, stop.top.id, "numbers are not used again");
    session.disconnect();
}

#[test]
fn an_expression_that_is_wrong_says_what_and_the_session_goes_on() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({}), &["town"]);
    let stop = session.stopped_at(&fixture, "town", StoppedEventReason::Breakpoint);
    for (expression, part) in [
        ("nothing_here", "nothing_here"),
        ("town->nothing", "nothing"),
        ("town->", ""),
        ("", ""),
    ] {
        let arguments = EvaluateArguments::new(expression).with_frame_id(stop.top.id);
        let failure = session.refused::<EvaluateRequest>(arguments);
        assert!(
            !failure.sentence.is_empty() && failure.sentence.contains(part),
            "{expression}: {}",
            failure.sentence
        );
    }
    // Without a frame id, the expression is evaluated in the innermost frame of the thread that stopped.
    let value = session
        .ok::<EvaluateRequest>(EvaluateArguments::new("town->celsius[0]"))
        .result;
    assert_eq!(value, "31.0");
    session.disconnect();
}

#[test]
fn what_is_no_plain_data_says_what_it_is() {
    use VariablePresentationHintAttributes::{ReadOnly, Static};
    let hints = |variable: &Variable| {
        let hint = variable.presentation_hint.clone().unwrap_or_default();
        (hint.kind, hint.attributes.unwrap_or_default())
    };
    let fixture = Fixture::new("values.rs");
    let session = Session::started(&fixture, json!({}), &["texts"]);
    let stop = session.stopped_at(&fixture, "texts", StoppedEventReason::Breakpoint);
    let owned = session.variable(&stop.top, "Locals", "owned");
    assert_eq!(hints(&owned), (None, vec![]));
    let raw = session.variables(owned.variables_reference);
    let raw = named(&raw, "[raw]");
    let made_up = VariablePresentationHintKind::Virtual;
    assert_eq!(hints(raw), (Some(made_up), vec![ReadOnly]));
    let fields = session.variables(raw.variables_reference);
    assert_eq!(hints(named(&fields, "vec")), (None, vec![]));
    let greeting = session.variable(&stop.top, "Statics", "values::GREETING");
    assert_eq!(hints(&greeting), (None, vec![Static]));
    session.disconnect();

    let fixture = Fixture::new("values.cpp");
    let session = Session::started(&fixture, json!({}), &["language"]);
    let stop = session.stopped_at(&fixture, "language", StoppedEventReason::Breakpoint);
    let derived = session.variable(&stop.top, "Locals", "derived");
    let parts = session.variables(derived.variables_reference);
    let base = VariablePresentationHintKind::BaseClass;
    assert_eq!(hints(named(&parts, "Base")), (Some(base), vec![]));
    session.disconnect();
}

#[test]
fn an_expressions_value_can_be_opened() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({}), &["town"]);
    let stop = session.stopped_at(&fixture, "town", StoppedEventReason::Breakpoint);
    let arguments = EvaluateArguments::new("*town").with_frame_id(stop.top.id);
    let town = session.ok::<EvaluateRequest>(arguments);
    assert_eq!(town.r#type.as_deref(), Some("struct town"));
    let fields = session.variables(town.variables_reference);
    let celsius = session.variables(named(&fields, "celsius").variables_reference);
    assert_eq!(
        celsius
            .iter()
            .map(|value| &*value.value)
            .collect::<Vec<_>>(),
        ["31.0", "35.5", "29.0"]
    );
    session.disconnect();
}

#[test]
fn modules_are_listed_with_the_program_first() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({}), &["town"]);
    session.stopped_at(&fixture, "town", StoppedEventReason::Breakpoint);
    let modules = session.ok::<ModulesRequest>(Default::default());
    assert_eq!(modules.modules[0].path, Some(fixture.program()));
    assert!(
        modules
            .modules
            .iter()
            .any(|module| module.name.starts_with("libc.")),
        "{modules:?}"
    );
    session.disconnect();
}

#[test]
fn what_a_function_has_returned_is_shown_right_after_a_step_out_of_it() {
    let fixture = Fixture::new("stepping/returns.cpp");
    let session = Session::started(
        &fixture,
        json!({"separateScopes": true}),
        &["mixed", "nothing"],
    );
    let stop = session.stopped_at(&fixture, "mixed", StoppedEventReason::Breakpoint);
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    let scope = session.scopes(stop.top.id).remove(0);
    assert_eq!(scope.name, "Return Value");
    assert_eq!(
        scope.presentation_hint,
        Some(ScopePresentationHint::ReturnValue)
    );
    let variables = session.variables(scope.variables_reference);
    assert_eq!(variables.len(), 1);
    let returned = named(&variables, "mixed()");
    assert_eq!(returned.value, "{x = 0.5, n = 4}");
    let members = session.variables(returned.variables_reference);
    assert_eq!(named(&members, "n").value, "4");

    // The scope is gone after another step, and absent for a function that returns nothing.
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    assert_ne!(session.scopes(stop.top.id)[0].name, "Return Value");
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "nothing", StoppedEventReason::Breakpoint);
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    assert_ne!(session.scopes(stop.top.id)[0].name, "Return Value");
    session.disconnect();
}

#[test]
fn each_thread_shows_its_own_thread_locals() {
    let fixture = Fixture::new("own.c");
    let session = Session::started(&fixture, json!({}), &["set", "joined"]);
    let stop = session.stopped_at(&fixture, "set", StoppedEventReason::Breakpoint);
    assert_eq!(session.variable(&stop.top, "Statics", "mine").value, "7");
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    let other = threads.iter().find(|thread| thread.id != stop.thread);
    let stack = session.stack(other.expect("the first thread").id);
    let main = stack.iter().find(|frame| frame.name == "main");
    let main = main.expect("it is in main");
    assert_eq!(session.variable(main, "Statics", "mine").value, "5");
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "joined", StoppedEventReason::Breakpoint);
    assert_eq!(session.variable(&stop.top, "Statics", "mine").value, "5");
    session.disconnect();
}
