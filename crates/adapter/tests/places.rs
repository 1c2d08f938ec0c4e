//! Locations of breakpoints: columns, instructions, addresses, and libraries that are loaded and unloaded.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// The columns of the breakpoint locations on a marked line.
#[track_caller]
fn columns(session: &Session, fixture: &Fixture, name: &str) -> Vec<i64> {
    let source = Source::new().with_path(fixture.path());
    let line = fixture.line(name);
    let arguments = BreakpointLocationsArguments::new(source, line);
    let places = session
        .ok::<BreakpointLocationsRequest>(arguments)
        .breakpoints;
    assert!(places.iter().all(|place| place.line == line), "{places:?}");
    places.iter().filter_map(|place| place.column).collect()
}

#[track_caller]
fn set_instructions(session: &Session, wanted: Vec<InstructionBreakpoint>) -> Vec<Breakpoint> {
    let arguments = SetInstructionBreakpointsArguments::new(wanted);
    let answer = session.ok::<SetInstructionBreakpointsRequest>(arguments);
    answer.breakpoints
}

fn pc(stop: &Stopped) -> String {
    let reference = &stop.top.instruction_pointer_reference;
    reference.clone().expect("a reference")
}

#[test]
fn no_location_is_in_the_middle_of_a_word() {
    let fixture = Fixture::new("awaits.rs");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let text = std::fs::read_to_string(&fixture.source).unwrap();
    for name in ["worker", "several", "in measure"] {
        let line = text.lines().nth(fixture.line(name) as usize - 1).unwrap();
        let columns = columns(&session, &fixture, name);
        let places = columns
            .iter()
            .map(|column| line.get(*column as usize - 1..));
        let places: Vec<&str> = places
            .map(|rest| rest.expect("a place in the line"))
            .collect();
        assert!(
            places.iter().any(|rest| rest.starts_with("await")),
            "{places:?}"
        );
        let letters = ["t;", "t "];
        let within = places
            .iter()
            .find(|rest| letters.iter().any(|end| rest.starts_with(end)));
        assert_eq!(within, None, "{places:?}");
    }
}

#[test]
fn a_column_picks_the_statement_of_a_line() {
    let fixture = Fixture::new("conditions.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let columns = columns(&session, &fixture, "head");
    let text = std::fs::read_to_string(&fixture.source).unwrap();
    let line = text.lines().nth(fixture.line("head") as usize - 1).unwrap();
    let step = line.find("i++").unwrap() as i64 + 1;
    let first = line.find("i = 0").unwrap() as i64 + 1;
    let near = |wanted: i64| {
        // gcc and clang give slightly different columns for `i++` and `int i = 0`.
        let mut found = columns
            .iter()
            .filter(|column| (wanted..wanted + 3).contains(*column));
        *found
            .next()
            .unwrap_or_else(|| panic!("none near {wanted} of {columns:?}"))
    };
    let (step, first) = (near(step), near(first));
    let at = |column: i64| SourceBreakpoint::new(fixture.line("head")).with_column(column);
    let set = session.set_source(
        &fixture,
        vec![
            at(step).with_condition("i == 4"),
            at(first).with_log_message("begins"),
            // Editors send column 1 for the whole line.
            at(1).with_log_message("the line"),
        ],
    );
    assert!(set.iter().all(|breakpoint| breakpoint.verified), "{set:?}");
    assert_eq!(set[0].column, Some(step));
    session.configured();
    let stop = session.stopped_at(&fixture, "head", StoppedEventReason::Breakpoint);
    assert_eq!(stop.event.hit_breakpoint_ids, set[0].id.map(|id| vec![id]));
    assert_eq!(stop.top.column, step);
    assert_eq!(session.evaluate(&stop.top, "total"), "10");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let said = session.output(OutputEventCategory::Console);
    assert_eq!(said, "begins\nthe line\nprogram exited with code 0\n");
    session.disconnect();
}

#[test]
fn places_are_of_the_stretch_that_is_asked_for() {
    let fixture = Fixture::new("conditions.c");
    let session = Session::new();
    let source = Source::new().with_path(fixture.path());
    let (from, to) = (fixture.line("visit"), fixture.line("loop"));
    let arguments = || BreakpointLocationsArguments::new(source.clone(), from).with_end_line(to);
    let early = session.ok::<BreakpointLocationsRequest>(arguments());
    assert!(early.breakpoints.is_empty(), "there is no program yet");
    session.launch(&fixture, json!({}));
    let places = session
        .ok::<BreakpointLocationsRequest>(arguments())
        .breakpoints;
    let lines: Vec<i64> = places.iter().map(|place| place.line).collect();
    assert!(
        lines.is_sorted() && lines.contains(&from) && lines.contains(&to),
        "{lines:?}"
    );
    assert!(lines.iter().all(|line| (from..=to).contains(line)));
    let nothing = BreakpointLocationsArguments::new(Source::new().with_path("/no/such.c"), 1);
    let nothing = session.ok::<BreakpointLocationsRequest>(nothing);
    assert!(nothing.breakpoints.is_empty());
    session.disconnect();
}

#[test]
fn an_instruction_has_a_breakpoint_with_offset_condition_and_hits() {
    let fixture = Fixture::new("conditions.c");
    let session = Session::started(&fixture, json!({}), &["visit"]);
    assert_eq!(
        session.capabilities().supports_instruction_breakpoints,
        Some(true)
    );
    let stop = session.stopped_at(&fixture, "visit", StoppedEventReason::Breakpoint);
    let here = pc(&stop);
    session.set_source(&fixture, Vec::new());
    let at = || InstructionBreakpoint::new(&*here);
    let behind = u64::from_str_radix(here.trim_start_matches("0x"), 16).unwrap() + 7;
    let wanted = vec![
        InstructionBreakpoint::new(format!("{behind:#x}"))
            .with_offset(-7)
            .with_condition("i == 5"),
        at().with_hit_condition("3"),
        at().with_condition("i =="),
        InstructionBreakpoint::new("here"),
        InstructionBreakpoint::new("0x10"),
    ];
    let set = set_instructions(&session, wanted.clone());
    let verified: Vec<bool> = set.iter().map(|breakpoint| breakpoint.verified).collect();
    assert_eq!(verified, [true, true, false, false, false], "{set:?}");
    assert_eq!(set[0].line, Some(fixture.line("visit")));
    assert_eq!(set[0].instruction_reference.as_ref(), Some(&here));
    let message = |index: usize| set[index].message.clone().unwrap_or_default();
    assert!(message(2).contains("column 5"), "{}", message(2));
    assert_eq!(message(3), "`here` is no reference to an instruction");
    assert!(message(4).contains("no memory at 0x10"), "{}", message(4));
    // The instruction is reached three more times, with `i` = 1, 2, 3.
    for (i, hit) in [("3", 1), ("5", 0)] {
        session.resume(stop.thread);
        let stop = session.stopped(StoppedEventReason::InstructionBreakpoint);
        assert_eq!(
            (pc(&stop), session.evaluate(&stop.top, "i")),
            (here.clone(), i.to_owned())
        );
        assert_eq!(
            stop.event.hit_breakpoint_ids,
            set[hit].id.map(|id| vec![id])
        );
    }
    let again = set_instructions(&session, wanted[..1].to_vec());
    assert_eq!(again[0].id, set[0].id);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_function_is_named_by_its_address() {
    let fixture = Fixture::new("conditions.c");
    let session = Session::started(&fixture, json!({}), &["visit"]);
    let stop = session.stopped_at(&fixture, "visit", StoppedEventReason::Breakpoint);
    let here = pc(&stop);
    session.set_source(&fixture, Vec::new());
    let wanted = vec![
        FunctionBreakpoint::new(format!("*{here}")).with_condition("i == 9"),
        FunctionBreakpoint::new("*0x8"),
    ];
    let arguments = SetFunctionBreakpointsArguments::new(wanted);
    let set = session
        .ok::<SetFunctionBreakpointsRequest>(arguments)
        .breakpoints;
    assert!(set[0].verified && !set[1].verified, "{set:?}");
    assert_eq!(set[0].line, Some(fixture.line("visit")));
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "visit", StoppedEventReason::FunctionBreakpoint);
    assert_eq!(session.evaluate(&stop.top, "i"), "9");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn conditions_and_counts_outlive_the_library_they_are_in() {
    let (host, library) = (Fixture::new("host.c"), Fixture::library("plugin.c"));
    let session = Session::new();
    session.launch(&host, json!({ "args": [library.program()] }));
    let at = |name: &str| SourceBreakpoint::new(library.line(name));
    let wanted = vec![
        at("greet").with_hit_condition("2"),
        at("shout").with_log_message("loud as {volume}"),
        at("shout").with_condition("volume > 20"),
        at("shout").with_condition("volume >"),
    ];
    let pending = session.set_source(&library, wanted);
    assert!(pending.iter().all(|breakpoint| !breakpoint.verified));
    session.configured();
    let stop = session.stopped_at(&library, "greet", StoppedEventReason::Breakpoint);
    assert_eq!(
        stop.event.hit_breakpoint_ids,
        pending[0].id.map(|id| vec![id])
    );
    session.wait_for_written(OutputEventCategory::Console, "loud as 20\n");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 42);
    let said = session.output(OutputEventCategory::Console);
    assert_eq!(
        said,
        "loud as 20\nloud as 20\nprogram exited with code 42\n"
    );
    session.disconnect();
}

#[test]
fn an_instructions_breakpoint_stays_when_the_program_starts_again() {
    let fixture = Fixture::new("conditions.c");
    let session = Session::started(&fixture, json!({}), &["visit"]);
    let stop = session.stopped_at(&fixture, "visit", StoppedEventReason::Breakpoint);
    let wanted = InstructionBreakpoint::new(pc(&stop)).with_hit_condition("2");
    let ours = set_instructions(&session, vec![wanted]).remove(0);
    session.set_source(&fixture, Vec::new());
    session.ok::<RestartRequest>(RestartArguments::new());
    let stop = session.stopped(StoppedEventReason::InstructionBreakpoint);
    assert_eq!(stop.event.hit_breakpoint_ids, ours.id.map(|id| vec![id]));
    assert_eq!(session.evaluate(&stop.top, "i"), "1");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn the_last_line_of_a_file_is_its_functions_and_not_what_makes_its_objects() {
    let fixture = Fixture::new("initialised.cpp");
    let session = Session::started(&fixture, json!({}), &["end", "made"]);
    let stop = session.stopped_at(&fixture, "made", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    assert_eq!(stop.top.name, "main");
    assert_eq!(session.evaluate(&stop.top, "text"), "\"hello\"");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 3);
    session.disconnect();
}
