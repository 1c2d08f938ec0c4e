//! Conditions, hit conditions and log messages of breakpoints on lines and functions, by their effects on the program.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// Launches the program and sets the breakpoints. The program runs.
#[track_caller]
fn started(fixture: &Fixture, wanted: Vec<SourceBreakpoint>) -> (Session, Vec<Breakpoint>) {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let set = session.set_source(fixture, wanted);
    for breakpoint in &set {
        assert!(breakpoint.verified, "{breakpoint:?}");
    }
    session.configured();
    (session, set)
}

/// Waits for a stop at the marked line, at these breakpoints.
#[track_caller]
fn stopped(session: &Session, fixture: &Fixture, name: &str, hit: &[&Breakpoint]) -> Stopped {
    let stop = session.stopped_at(fixture, name, StoppedEventReason::Breakpoint);
    let ids = hit.iter().filter_map(|breakpoint| breakpoint.id);
    assert_eq!(stop.event.hit_breakpoint_ids, Some(ids.collect()));
    stop
}

/// All lines that log points have written so far.
fn logged(session: &Session) -> Vec<String> {
    let text = session.output(OutputEventCategory::Console);
    let lines = text.lines().filter(|line| !is_end(line));
    lines.map(str::to_owned).collect()
}

/// Whether a line reports the program's end.
fn is_end(line: &str) -> bool {
    line.starts_with("program exited with code ")
}

#[test]
fn conditions_are_offered() {
    let session = Session::new();
    let offered = session.capabilities();
    assert_eq!(offered.supports_conditional_breakpoints, Some(true));
    assert_eq!(offered.supports_hit_conditional_breakpoints, Some(true));
    assert_eq!(offered.supports_log_points, Some(true));
    session.disconnect();
}

#[test]
fn a_condition_stops_where_it_holds_and_nowhere_else() {
    let fixture = Fixture::new("conditions.c");
    let wanted = fixture
        .breakpoint("loop")
        .with_condition("i == 7 || point.many[0] == 256");
    let (session, set) = started(&fixture, vec![wanted]);
    for i in [7, 16, 17, 18, 19] {
        let stop = stopped(&session, &fixture, "loop", &[&set[0]]);
        assert_eq!(session.evaluate(&stop.top, "i"), i.to_string());
        assert_eq!(
            session.evaluate(&stop.top, "total"),
            (i * (i - 1) / 2).to_string()
        );
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_function_has_a_condition_over_its_parameters() {
    let fixture = Fixture::new("conditions.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let wanted = vec![
        FunctionBreakpoint::new("visit").with_condition("point->x == 3 && i == 3"),
        FunctionBreakpoint::new("sum").with_hit_condition("2"),
    ];
    let set = session
        .ok::<SetFunctionBreakpointsRequest>(SetFunctionBreakpointsArguments::new(wanted))
        .breakpoints;
    session.configured();
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    assert_eq!(stop.top.name, "visit");
    assert_eq!(session.evaluate(&stop.top, "i"), "3");
    assert_eq!(stop.event.hit_breakpoint_ids, set[0].id.map(|id| vec![id]));
    session.resume(stop.thread);
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    assert_eq!(session.evaluate(&stop.top, "count"), "2");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_hit_counts_when_the_condition_holds() {
    let fixture = Fixture::new("conditions.c");
    let stops = |condition: Option<&str>, hits: &str| {
        let mut wanted = fixture.breakpoint("loop").with_hit_condition(hits);
        wanted.condition = condition.map(str::to_owned);
        let (session, set) = started(&fixture, vec![wanted]);
        let mut stops = Vec::new();
        while session.ends_or_stops() {
            let stop = stopped(&session, &fixture, "loop", &[&set[0]]);
            stops.push(session.evaluate(&stop.top, "i"));
            session.resume(stop.thread);
        }
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
        stops.join(" ")
    };
    assert_eq!(stops(None, "5"), "4");
    assert_eq!(stops(None, "% 6"), "5 11 17");
    assert_eq!(stops(None, ">= 18"), "17 18 19");
    assert_eq!(stops(None, "< 3"), "0 1");
    assert_eq!(stops(Some("i % 2 == 1"), "% 3"), "5 11 17");
    assert_eq!(stops(Some("i % 2 == 1"), "> 8"), "17 19");
}

#[test]
fn functions_of_string_h_are_answered_without_a_call() {
    let fixture = Fixture::new("conditions.c");
    let conditions = [
        r#"strcmp(point->name, "first") == 0 && i == 0"#,
        r#"strcmp(point->name, point->next->name) < 0 && i == 1"#,
        r#"strlen(point->name) == 5 && i == 2"#,
        r#"strstr(point->name, "irs") == point->name + 1 && i == 3"#,
        r#"!strncmp(point->next->name, "lake", 2) && i == 4"#,
        r#"!memcmp(point->name, "first", 6) && i == 5"#,
        r#"*strchr(point->name, 's') == 's' && strrchr(point->name, 's') && i == 6"#,
        r#"strcasecmp(point->name, "FIRST") == 0 && i == 7"#,
        r#"strncasecmp(point->name, "FIx", 2) == 0 && i == 8"#,
        r#"(int)strlen(point->name) - 5 == 0 && !strchr(point->name, 'x') && i == 9"#,
    ];
    let not = [
        r#"strcmp(point->name, "last") == 0"#,
        r#"strncmp(point->name, "fin", 3) == 0"#,
        r#"strstr(point->name, "sir")"#,
    ];
    let wanted = conditions.iter().chain(&not).enumerate();
    let wanted = wanted.map(|(index, condition)| {
        fixture
            .breakpoint("visit")
            .with_condition(*condition)
            .with_log_message(format!("{index} at {{i}}"))
    });
    let (session, _) = started(&fixture, wanted.collect());
    assert_eq!(session.exit_code(), 0);
    let expected: Vec<String> = (0..10).map(|i| format!("{i} at {i}")).collect();
    assert_eq!(logged(&session), expected);
    session.disconnect();

    let wanted = vec![
        fixture
            .breakpoint("visit")
            .with_condition("strlen((char *)8) == i"),
    ];
    let (session, set) = started(&fixture, wanted);
    let stop = stopped(&session, &fixture, "visit", &[&set[0]]);
    assert_eq!(
        stop.event.text.as_deref(),
        Some(
            "the breakpoint's condition `strlen((char *)8) == i` can't be evaluated: column 8: `(char *)8` can't be read at 0x8"
        )
    );
    session.disconnect();
}

#[test]
fn a_log_message_is_written_and_the_program_goes_on() {
    let fixture = Fixture::new("conditions.c");
    let message =
        "i={i} {{x}}={point.x:#x} {letter:c} {point.name:s} {point.inner.ratio:.1} {point.color}";
    let wanted = fixture
        .breakpoint("loop")
        .with_log_message(message)
        .with_condition("i < 3")
        .with_hit_condition("> 1");
    let (session, _) = started(&fixture, vec![wanted]);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(
        logged(&session),
        [
            "i=1 {x}=0x1 b first 0.2 GREEN",
            "i=2 {x}=0x2 c first 0.5 BLUE",
        ]
    );
    session.disconnect();
}

#[test]
fn a_log_message_names_its_place() {
    let fixture = Fixture::new("conditions.c");
    let session = Session::new();
    let output = session.subscribe();
    session.launch(&fixture, json!({}));
    let wanted = fixture
        .breakpoint("loop")
        .with_log_message("{i}")
        .with_hit_condition("1");
    session.set_source(&fixture, vec![wanted]);
    session.configured();
    assert_eq!(session.exit_code(), 0);
    let bodies = output
        .try_iter()
        .filter_map(|event| event.body::<OutputEvent>());
    let ours: Vec<OutputEventBody> = bodies
        .filter(|body| body.category == Some(OutputEventCategory::Console))
        .filter(|body| !is_end(&body.output))
        .collect();
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert_eq!(ours[0].output, "0\n");
    assert_eq!(ours[0].line, Some(fixture.line("loop")));
    let source = ours[0]
        .source
        .as_ref()
        .and_then(|source| source.path.clone());
    assert_eq!(source, Some(fixture.path()));
    session.disconnect();
}

#[test]
fn all_that_is_logged_arrives_before_the_stop_behind_it() {
    let fixture = Fixture::new("conditions.c");
    let wanted = vec![
        fixture.breakpoint("loop").with_log_message("{i} {total}"),
        fixture
            .breakpoint("visit")
            .with_log_message(r"\tvisit {point->x}"),
        fixture.breakpoint("print"),
    ];
    let (session, set) = started(&fixture, wanted);
    let stop = stopped(&session, &fixture, "print", &[&set[2]]);
    let mut expected = Vec::new();
    for i in 0..20 {
        expected.push(format!("{i} {}", i * (i - 1) / 2));
        expected.push(format!("\tvisit {i}"));
    }
    assert_eq!(logged(&session), expected);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn what_a_log_message_cannot_show_says_why_in_its_place() {
    let fixture = Fixture::new("conditions.c");
    let wanted = fixture
        .breakpoint("loop")
        .with_log_message("{nothing->x} {mising} {i}")
        .with_hit_condition("2");
    let (session, _) = started(&fixture, vec![wanted]);
    assert_eq!(session.exit_code(), 0);
    let lines = logged(&session);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(
        lines[0],
        "<`nothing` is a null pointer> <no variable `mising` here> 1"
    );
    session.disconnect();
}

#[test]
fn a_condition_that_cannot_be_evaluated_stops_and_says_why() {
    let fixture = Fixture::new("conditions.c");
    let wanted = vec![
        fixture
            .breakpoint("loop")
            .with_condition("i == 2 && nothing->x == 1"),
        fixture.breakpoint("print").with_condition("totals > 1"),
    ];
    let (session, set) = started(&fixture, wanted);
    let stop = stopped(&session, &fixture, "loop", &[&set[0]]);
    assert_eq!(session.evaluate(&stop.top, "i"), "2");
    let text = stop.event.text.clone().unwrap_or_default();
    assert_eq!(
        text,
        "the breakpoint's condition `i == 2 && nothing->x == 1` can't be evaluated: column 11: `nothing` is a null pointer"
    );
    session.wait_for_written(OutputEventCategory::Console, &text);
    session.resume(stop.thread);
    let stop = stopped(&session, &fixture, "print", &[&set[1]]);
    let text = stop.event.text.clone().unwrap_or_default();
    assert!(
        text.contains("no variable `totals` here; did you mean `total`?"),
        "{text}"
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn what_cannot_be_read_is_refused_with_what_and_where() {
    let fixture = Fixture::new("conditions.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let wanted = vec![
        fixture.breakpoint("loop").with_condition("i >"),
        fixture.breakpoint("loop").with_condition("i = 3"),
        fixture.breakpoint("loop").with_hit_condition("often"),
        fixture.breakpoint("loop").with_log_message("i is {i"),
        fixture
            .breakpoint("loop")
            .with_log_message("i is {i +} here"),
        fixture
            .breakpoint("loop")
            .with_condition("  ")
            .with_hit_condition("20"),
    ];
    let set = session.set_source(&fixture, wanted);
    let messages: Vec<&str> = set
        .iter()
        .map(|b| b.message.as_deref().unwrap_or(""))
        .collect();
    assert_eq!(
        messages,
        [
            "the condition `i >` can't be read: column 4: the expression ends too early",
            "the condition `i = 3` can't be read: column 3: evaluating must not change the program: assignments are refused",
            "the hit condition `often` is not understood: write a number, or one of == != >= > <= < % and a number",
            "column 6 of the log message has a `{` without its `}`; write `{{` for a brace",
            "`i +` in column 7 of the log message can't be read: column 4: the expression ends too early",
            "",
        ]
    );
    for refused in &set[..5] {
        assert!(!refused.verified, "{refused:?}");
        assert_eq!(refused.reason, Some(BreakpointReason::Failed));
        assert_eq!(refused.line, Some(fixture.line("loop")));
    }
    assert!(set[5].verified);
    session.configured();
    let stop = stopped(&session, &fixture, "loop", &[&set[5]]);
    assert_eq!(session.evaluate(&stop.top, "i"), "19");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn one_place_has_breakpoints_with_conditions_of_their_own() {
    let fixture = Fixture::new("conditions.c");
    let wanted = vec![
        fixture.breakpoint("loop").with_condition("i == 3"),
        fixture.breakpoint("loop").with_condition("i >= 3 && i < 5"),
        fixture
            .breakpoint("loop")
            .with_condition("i == 4")
            .with_log_message("four"),
    ];
    let (session, set) = started(&fixture, wanted);
    let stop = stopped(&session, &fixture, "loop", &[&set[0], &set[1]]);
    session.resume(stop.thread);
    let stop = stopped(&session, &fixture, "loop", &[&set[1]]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(logged(&session), ["four"]);
    session.disconnect();
}

#[test]
fn a_step_passes_breakpoints_that_do_not_hold_and_stops_at_one_that_does() {
    let fixture = Fixture::new("conditions.c");
    let wanted = vec![
        fixture.breakpoint("loop").with_hit_condition("1"),
        fixture.breakpoint("visit").with_condition("i == 1"),
    ];
    let (session, set) = started(&fixture, wanted);
    let stop = stopped(&session, &fixture, "loop", &[&set[0]]);
    // Steps over the call on the next line, which runs `visit` with `i == 0`, and back to the loop's head.
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    assert_eq!(stop.top.name, "main");
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    assert_eq!(
        (
            stop.top.name.as_str(),
            session.evaluate(&stop.top, "i").as_str()
        ),
        ("main", "0")
    );
    session.resume(stop.thread);
    let stop = stopped(&session, &fixture, "visit", &[&set[1]]);
    assert_eq!(session.evaluate(&stop.top, "i"), "1");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn another_message_keeps_the_count_and_another_condition_begins_anew() {
    let fixture = Fixture::new("conditions.c");
    let (session, set_first) = started(
        &fixture,
        vec![
            fixture.breakpoint("loop").with_hit_condition("% 5"),
            fixture.breakpoint("visit").with_condition("i == 6"),
        ],
    );
    let stop = stopped(&session, &fixture, "loop", &[&set_first[0]]);
    assert_eq!(session.evaluate(&stop.top, "i"), "4");
    session.resume(stop.thread);
    let stop = stopped(&session, &fixture, "visit", &[&set_first[1]]);
    // There were seven hits. Setting the breakpoint again keeps the count, so the tenth hit still stops.
    let again = session.set_source(
        &fixture,
        vec![
            fixture
                .breakpoint("loop")
                .with_hit_condition("% 5")
                .with_log_message("{i}"),
        ],
    );
    assert_eq!(again[0].id, set_first[0].id);
    let again = session.set_source(
        &fixture,
        vec![fixture.breakpoint("loop").with_hit_condition("% 5")],
    );
    assert_eq!(again[0].id, set_first[0].id);
    session.resume(stop.thread);
    let stop = stopped(&session, &fixture, "loop", &[&again[0]]);
    assert_eq!(session.evaluate(&stop.top, "i"), "9");
    let again = session.set_source(
        &fixture,
        vec![fixture.breakpoint("loop").with_hit_condition("% 4")],
    );
    assert_eq!(again[0].id, set_first[0].id);
    session.resume(stop.thread);
    let stop = stopped(&session, &fixture, "loop", &[&again[0]]);
    assert_eq!(session.evaluate(&stop.top, "i"), "13");
    session.set_source(&fixture, Vec::new());
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn what_was_asked_before_the_launch_holds_after_it() {
    let fixture = Fixture::new("conditions.c");
    let session = Session::new();
    let early = session.set_source(
        &fixture,
        vec![
            fixture.breakpoint("loop").with_condition("i == 4"),
            fixture
                .breakpoint("visit")
                .with_log_message("seen {i}")
                .with_condition("i > 17"),
        ],
    );
    assert!(early.iter().all(|breakpoint| !breakpoint.verified));
    session.launch(&fixture, json!({}));
    session.configured();
    let stop = stopped(&session, &fixture, "loop", &[&early[0]]);
    assert_eq!(session.evaluate(&stop.top, "i"), "4");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(logged(&session), ["seen 18", "seen 19"]);
    session.disconnect();
}
