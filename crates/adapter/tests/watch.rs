//! Data breakpoints: what can be watched, which thread stops, and what the stop says.

use crate::support;
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

/// The answer to `dataBreakpointInfo` for `name` in the top frame.
fn info(session: &Session, at: &Stopped, name: &str) -> DataBreakpointInfoResponse {
    let arguments = DataBreakpointInfoArguments::new(name).with_frame_id(at.top.id);
    session.ok::<DataBreakpointInfoRequest>(arguments)
}

fn handle(session: &Session, at: &Stopped, name: &str) -> String {
    let info = info(session, at, name);
    info.data_id
        .unwrap_or_else(|| panic!("{name}: {}", info.description))
}

/// Sets data breakpoints, all of which must be verified. Returns their ids.
fn watch(session: &Session, wanted: &[(&str, DataBreakpointAccessType)]) -> Vec<i64> {
    let answers = set(session, wanted);
    let ids = answers.iter().map(|answer| {
        assert!(answer.verified, "{answer:?}");
        answer.id.expect("an id")
    });
    ids.collect()
}

fn set(session: &Session, wanted: &[(&str, DataBreakpointAccessType)]) -> Vec<Breakpoint> {
    let asked = wanted
        .iter()
        .map(|(id, access)| DataBreakpoint::new(*id).with_access_type(access.clone()));
    let arguments = SetDataBreakpointsArguments::new(asked.collect());
    let answers = session
        .ok::<SetDataBreakpointsRequest>(arguments)
        .breakpoints;
    assert_eq!(answers.len(), wanted.len());
    answers
}

const WRITE: DataBreakpointAccessType = DataBreakpointAccessType::Write;
const READ: DataBreakpointAccessType = DataBreakpointAccessType::Read;
const READ_WRITE: DataBreakpointAccessType = DataBreakpointAccessType::ReadWrite;

/// Runs to the next access. Returns the stop, its description, and the statement that made it.
fn accessed(session: &Session, thread: i64) -> (Stopped, String, String) {
    session.resume(thread);
    let stop = session.stopped(StoppedEventReason::DataBreakpoint);
    let description = stop.event.description.clone().expect("a description");
    let text = stop.event.text.clone().expect("a statement");
    (stop, description, text)
}

fn at(fixture: &Fixture, name: &str) -> String {
    format!("by the statement at watch.c:{}", fixture.line(name))
}

fn begin(fixture: &Fixture, args: &[&str]) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({"args": args}), &["begin"]);
    let stop = session.stopped_at(fixture, "begin", StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &[]);
    (session, stop)
}

#[test]
fn a_global_stops_each_time_its_value_changes_with_old_and_new() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    let found = info(&session, &stop, "total");
    assert_eq!(found.data_id.as_deref(), Some("static:c:change:4:total"));
    assert_eq!(found.can_persist, Some(true));
    assert!(
        found.description.starts_with("total: int (4 bytes at 0x"),
        "{}",
        found.description
    );
    let ids = watch(&session, &[("static:c:change:4:total", WRITE)]);
    for (old, new) in [(0, 1), (1, 3), (3, 6)] {
        let (hit, said, by) = accessed(&session, stop.thread);
        assert_eq!(said, format!("`total` changed from {old} to {new}"));
        assert_eq!(by, at(&fixture, "total"));
        assert_eq!(hit.event.hit_breakpoint_ids.as_deref(), Some(&ids[..]));
        assert_eq!(
            hit.top.line,
            fixture.line("add-end"),
            "the instruction is executed"
        );
        assert_eq!(session.evaluate(&hit.top, "total"), new.to_string());
    }
    // `total = total` changes nothing, so it doesn't stop.
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "6 6 7 2\n");
    session.disconnect();
}

#[test]
fn in_the_mode_for_it_a_write_of_the_same_value_counts() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    let arguments = DataBreakpointInfoArguments::new("total")
        .with_frame_id(stop.top.id)
        .with_mode("write");
    let id = session
        .ok::<DataBreakpointInfoRequest>(arguments)
        .data_id
        .expect("a handle");
    watch(&session, &[(&id, WRITE)]);
    for _ in 0..3 {
        accessed(&session, stop.thread);
    }
    let (_, said, by) = accessed(&session, stop.thread);
    assert_eq!(said, "`total` was written, and is still 6");
    assert_eq!(by, at(&fixture, "same"));
    session.disconnect();
}

#[test]
fn reads_are_told_from_writes_by_the_value() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    watch(&session, &[("static:c:change:4:total", READ)]);
    // Each call of `add` reads `total` once. Its write changes the value, so it isn't taken for a read.
    for value in [0, 1, 3] {
        let (hit, said, _) = accessed(&session, stop.thread);
        assert_eq!(said, format!("`total` was read: {value}"));
        assert_eq!(hit.top.name, "add");
    }
    session.disconnect();

    let (session, stop) = begin(&fixture, &[]);
    watch(&session, &[("static:c:change:4:total", READ_WRITE)]);
    let (_, said, _) = accessed(&session, stop.thread);
    assert_eq!(said, "`total` was read, or written unchanged: 0");
    let (_, said, _) = accessed(&session, stop.thread);
    assert_eq!(said, "`total` changed from 0 to 1");
    session.disconnect();
}

#[test]
fn fields_elements_structs_pointees_and_addresses_are_watched() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    let statics = session.scope(&stop.top, "Statics").variables_reference;
    let points = session.variable(&stop.top, "Statics", "points");
    let element = session.variables(points.variables_reference)[1].variables_reference;
    let of = |container: i64, name: &str| {
        let arguments = DataBreakpointInfoArguments::new(name).with_variables_reference(container);
        session
            .ok::<DataBreakpointInfoRequest>(arguments)
            .data_id
            .expect("a handle")
    };
    let y = of(element, "y");
    assert_eq!(y, "static:c:change:4:points[1].y");
    let wide = of(statics, "wide");
    let heap = handle(&session, &stop, "*heap");
    watch(&session, &[(&y, WRITE), (&wide, WRITE), (&heap, WRITE)]);
    // These take all four debug registers: one, two and one.
    let (_, said, _) = accessed(&session, stop.thread);
    assert!(said.starts_with("`*heap` changed from "), "{said}");
    let (_, said, by) = accessed(&session, stop.thread);
    assert_eq!(
        (said.as_str(), by),
        ("`points[1].y` changed from 0 to 5", at(&fixture, "y"))
    );
    let (_, said, by) = accessed(&session, stop.thread);
    assert!(said.contains("{a = 0, b = 0} to {a = 0, b = 7}"), "{said}");
    assert_eq!(by, at(&fixture, "wide"));
    let (_, said, by) = accessed(&session, stop.thread);
    assert_eq!(
        (said.as_str(), by),
        ("`*heap` changed from 1 to 2", at(&fixture, "heap"))
    );
    session.disconnect();
}

#[test]
fn a_whole_array_and_a_range_of_bytes_are_watched() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    let element = session.evaluate(&stop.top, "&packed[3]");
    let address = element
        .split_whitespace()
        .find(|word| word.starts_with("0x"))
        .expect("an address");
    let address = address.trim_end_matches(|c: char| !c.is_ascii_hexdigit());
    let arguments = DataBreakpointInfoArguments::new(address)
        .with_as_address(true)
        .with_bytes(5);
    let found = session.ok::<DataBreakpointInfoRequest>(arguments);
    assert_eq!(found.description, format!("5 bytes at {address}"));
    let range = found.data_id.expect("a handle");
    watch(
        &session,
        &[(&handle(&session, &stop, "packed"), WRITE), (&range, WRITE)],
    );
    session.resume(stop.thread);
    let hit = session.stopped(StoppedEventReason::DataBreakpoint);
    assert_eq!(hit.event.hit_breakpoint_ids.as_ref().map(Vec::len), Some(2));
    let said = hit.event.description.expect("a description");
    assert!(
        said.contains("from 00 00 00 00 00 to 00 00 01 00 00"),
        "{said}"
    );
    session.disconnect();
}

#[test]
fn what_cannot_be_watched_is_refused_with_the_reason() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    for (name, why) in [
        ("huge", "has 40 bytes, and the processor can watch 32"),
        ("points[2].high", "bit-field"),
        ("total + 1", "computed"),
        ("$rax", "computed"),
        ("nothing", "no variable `nothing`"),
        ("total +", ""),
        ("add", "computed"),
    ] {
        let found = info(&session, &stop, name);
        assert_eq!(found.data_id, None, "{name}");
        assert!(
            found.description.contains(why),
            "{name}: {}",
            found.description
        );
    }
    let registers = session.scope(&stop.top, "Registers").variables_reference;
    let groups = session.ok::<VariablesRequest>(VariablesArguments::new(registers));
    let general = groups.variables[0].variables_reference;
    let arguments = DataBreakpointInfoArguments::new("rax").with_variables_reference(general);
    let found = session.ok::<DataBreakpointInfoRequest>(arguments);
    assert!(found.data_id.is_none() && found.description.contains("register"));
    for (address, bytes, why) in [
        ("0xffffffffff600000", 8, "no address of a program"),
        ("0xfffffffffffffffe", 8, "no address of a program"),
        ("16", 4, "no 4 bytes of memory"),
        ("0x10000", 0, "no bytes"),
        ("zzz", 4, "no address"),
    ] {
        let arguments = DataBreakpointInfoArguments::new(address)
            .with_as_address(true)
            .with_bytes(bytes);
        let found = session.ok::<DataBreakpointInfoRequest>(arguments);
        assert_eq!(found.data_id, None, "{address}");
        assert!(
            found.description.contains(why),
            "{address}: {}",
            found.description
        );
    }
    let unknown = info(&session, &stop, "total");
    assert!(unknown.data_id.is_some());
    let arguments = DataBreakpointInfoArguments::new("total").with_mode("sometimes");
    let found = session.ok::<DataBreakpointInfoRequest>(arguments);
    assert!(
        found.description.contains("no mode `sometimes`"),
        "{}",
        found.description
    );
    let answers = set(&session, &[("nonsense", WRITE)]);
    assert!(!answers[0].verified && answers[0].message.is_some());
    session.disconnect();
}

#[test]
fn more_than_the_processor_has_registers_for_is_refused_with_how_many_are_free() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    let of = |name: &str| handle(&session, &stop, name);
    let (wide, many, total, seen, y) = (
        of("wide"),
        of("many[0]"),
        of("total"),
        of("seen"),
        of("points[1].y"),
    );
    let answers = set(
        &session,
        &[
            (&many, WRITE),
            (&total, WRITE),
            (&seen, WRITE),
            (&wide, WRITE),
            (&y, WRITE),
        ],
    );
    let taken: Vec<bool> = answers.iter().map(|answer| answer.verified).collect();
    assert_eq!(taken, [true, true, true, false, true]);
    let why = answers[3].message.as_deref().expect("a reason");
    assert_eq!(
        why,
        "`wide` needs 2 of the processor's 4 debug registers, and 1 is free"
    );
    // Two breakpoints on the same data share a register.
    let answers = set(
        &session,
        &[(&wide, WRITE), (&wide, WRITE), (&total, WRITE), (&y, WRITE)],
    );
    assert!(answers.iter().all(|answer| answer.verified), "{answers:?}");
    session.disconnect();
}

#[test]
fn a_local_is_watched_until_its_own_frame_returns() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    session.set_breakpoints(&fixture, &["local"]);
    session.resume(stop.thread);
    session.stopped_at(&fixture, "local", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    let inner = session.stopped_at(&fixture, "local", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    assert_eq!(session.evaluate(&inner.top, "n"), "1");
    let found = info(&session, &inner, "local");
    assert_eq!(found.can_persist, Some(false));
    assert!(
        found.description.ends_with("until its function returns"),
        "{}",
        found.description
    );
    let local = found.data_id.expect("a handle");
    let ids = watch(&session, &[(&local, WRITE)]);
    let (hit, said, by) = accessed(&session, inner.thread);
    assert!(said.ends_with(" to 1"), "{said}");
    assert_eq!(
        (hit.top.name.as_str(), by),
        ("depth", at(&fixture, "local"))
    );
    // The inner call has its own local, and `1 + 0` doesn't change this one. Then the frame of this one returns.
    session.resume(hit.thread);
    let gone = session.stopped(StoppedEventReason::DataBreakpoint);
    assert_eq!(
        gone.event.text.as_deref(),
        Some("the function was left whose frame had `local`")
    );
    assert_eq!(gone.event.hit_breakpoint_ids.as_deref(), Some(&ids[..]));
    assert_eq!(session.evaluate(&gone.top, "n"), "2");
    let removed = session.wait_for::<BreakpointEvent>();
    assert_eq!(
        (removed.reason, removed.breakpoint.id),
        (BreakpointEventReason::Removed, Some(ids[0]))
    );
    // The local can't be watched again after its frame has returned.
    let answers = set(&session, &[(&local, WRITE)]);
    assert!(
        answers[0]
            .message
            .as_deref()
            .is_some_and(|why| why.contains("its function has returned")),
        "{answers:?}"
    );
    session.resume(gone.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn what_was_in_main_is_told_to_be_gone_without_a_stop_behind_it() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    let heap = handle(&session, &stop, "heap");
    let ids = watch(&session, &[(&heap, WRITE)]);
    session.resume(stop.thread);
    let removed = session.wait_for::<BreakpointEvent>();
    assert_eq!(
        (removed.reason, removed.breakpoint.id),
        (BreakpointEventReason::Removed, Some(ids[0]))
    );
    assert_eq!(session.exit_code(), 0);
    let told = session.output(OutputEventCategory::Console);
    assert!(
        told.contains("`heap` is gone: its function has returned"),
        "{told}"
    );
    session.disconnect();
}

#[test]
fn a_step_out_of_the_frame_with_a_watched_local_is_the_stop() {
    let fixture = Fixture::new("watch.c");
    for steps in ["out", "next", "instructions"] {
        let (session, stop) = begin(&fixture, &[]);
        session.set_breakpoints(&fixture, &["add-end"]);
        session.resume(stop.thread);
        let stop = session.stopped_at(&fixture, "add-end", StoppedEventReason::Breakpoint);
        session.set_breakpoints(&fixture, &[]);
        let sum = handle(&session, &stop, "sum");
        watch(&session, &[(&sum, WRITE)]);
        match steps {
            "out" => {
                session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
            }
            _ => {
                session.ok::<NextRequest>(NextArguments::new(stop.thread));
                session.stopped(StoppedEventReason::Step);
                session.ok::<NextRequest>(NextArguments::new(stop.thread));
            }
        }
        let end = session.stopped(StoppedEventReason::Step);
        assert_eq!(end.top.name, "main", "{steps}");
        let removed = session.wait_for::<BreakpointEvent>();
        assert_eq!(removed.reason, BreakpointEventReason::Removed);
        session.resume(end.thread);
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
    }
}

#[test]
fn a_frame_left_by_a_jump_is_noticed_where_that_goes() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    session.set_breakpoints(&fixture, &["lost-set"]);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "lost-set", StoppedEventReason::Breakpoint);
    session.set_breakpoints(&fixture, &[]);
    let lost = handle(&session, &stop, "lost");
    watch(&session, &[(&lost, WRITE)]);
    let (_, said, _) = accessed(&session, stop.thread);
    assert_eq!(said, "`lost` changed from 3 to 4");
    session.resume(stop.thread);
    let gone = session.stopped(StoppedEventReason::DataBreakpoint);
    assert_eq!(
        gone.event.text.as_deref(),
        Some("the function was left whose frame had `lost`")
    );
    assert_eq!(gone.top.name, "main", "`longjmp` has come there");
    assert_eq!(session.evaluate(&gone.top, "seen"), "6");
    session.resume(gone.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_step_over_a_call_stops_at_the_access_in_it() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &[]);
    watch(&session, &[("static:c:change:4:total", WRITE)]);
    let stop = session.next(&stop, &fixture, "begin-loop");
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    let hit = session.stopped_at(&fixture, "call", StoppedEventReason::Step);
    session.ok::<NextRequest>(NextArguments::new(hit.thread));
    let hit = session.stopped_at(&fixture, "add-end", StoppedEventReason::DataBreakpoint);
    assert_eq!(
        hit.event.description.as_deref(),
        Some("`total` changed from 0 to 1")
    );
    session.disconnect();
}

#[test]
fn a_thread_that_begins_later_is_watched_and_a_forked_child_is_not() {
    let fixture = Fixture::new("watch.c");
    let (session, stop) = begin(&fixture, &["threads"]);
    watch(&session, &[("static:c:change:4:total", WRITE)]);
    for _ in 0..3 {
        accessed(&session, stop.thread);
    }
    let (other, said, by) = accessed(&session, stop.thread);
    assert_ne!(other.thread, stop.thread);
    assert_eq!(
        (said.as_str(), by),
        ("`total` changed from 6 to 1000", at(&fixture, "other"))
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();

    let (session, stop) = begin(&fixture, &["fork"]);
    watch(&session, &[("static:c:change:4:total", WRITE)]);
    for _ in 0..3 {
        accessed(&session, stop.thread);
    }
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "child 77\n6 6 7 2\n"
    );
    session.disconnect();
}

#[test]
fn a_static_asked_for_before_the_launch_is_watched_from_the_first_instruction() {
    let fixture = Fixture::new("watch.c");
    let session = Session::new();
    let answers = set(
        &session,
        &[
            ("static:c:change:4:total", WRITE),
            ("static:c:change:4:absent", WRITE),
        ],
    );
    assert!(answers.iter().all(|answer| !answer.verified), "{answers:?}");
    session.launch(&fixture, json!({}));
    let told = session.wait_for::<BreakpointEvent>();
    assert!(
        told.breakpoint.verified && told.breakpoint.id == answers[0].id,
        "{told:?}"
    );
    let told = session.wait_for::<BreakpointEvent>();
    assert!(
        !told.breakpoint.verified && told.breakpoint.id == answers[1].id,
        "{told:?}"
    );
    session.configured();
    let hit = session.stopped(StoppedEventReason::DataBreakpoint);
    assert_eq!(
        hit.event.description.as_deref(),
        Some("`total` changed from 0 to 1")
    );
    assert_eq!(
        hit.event.hit_breakpoint_ids,
        Some(vec![answers[0].id.expect("an id")])
    );
    session.disconnect();
}

#[test]
fn a_watch_set_while_the_program_runs_stops_it_and_one_taken_away_does_not() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::started(&fixture, json!({}), &[]);
    session.wait_for_output("awake");
    for _ in 0..3 {
        let answers = set(&session, &[("static:c:change:8:turns", WRITE)]);
        assert!(answers[0].verified, "{answers:?}");
        let hit = session.stopped(StoppedEventReason::DataBreakpoint);
        session.resume(hit.thread);
        session.stopped(StoppedEventReason::DataBreakpoint);
        session.resume(hit.thread);
        set(&session, &[]);
        // One more stop may have been pending.
        session.ok::<PauseRequest>(PauseArguments::new(hit.thread));
        let stop = session.wait_for::<StoppedEvent>();
        session.resume(hit.thread);
        if stop.reason != StoppedEventReason::Pause {
            session.ok::<PauseRequest>(PauseArguments::new(hit.thread));
            session.stopped(StoppedEventReason::Pause);
            session.resume(hit.thread);
        }
    }
    session.disconnect();
}

#[test]
fn conditions_and_hit_counts_decide_which_accesses_stop() {
    let fixture = Fixture::new("watch.c");
    let asked = |condition: Option<&str>, hits: Option<&str>| {
        let mut wanted = DataBreakpoint::new("static:c:change:4:total");
        wanted.condition = condition.map(str::to_owned);
        wanted.hit_condition = hits.map(str::to_owned);
        SetDataBreakpointsArguments::new(vec![wanted])
    };
    for (condition, hits, to) in [
        (Some("total > 2"), None, 3),
        (Some("amount == 3"), None, 6),
        (None, Some("2"), 3),
        (Some("total > 0"), Some("% 3"), 6),
    ] {
        let (session, stop) = begin(&fixture, &[]);
        session.ok::<SetDataBreakpointsRequest>(asked(condition, hits));
        let (_, said, _) = accessed(&session, stop.thread);
        assert!(
            said.ends_with(&format!(" to {to}")),
            "{condition:?} {hits:?}: {said}"
        );
        session.disconnect();
    }
    let (session, stop) = begin(&fixture, &[]);
    session.ok::<SetDataBreakpointsRequest>(asked(Some("total > 100"), None));
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();

    let (session, _) = begin(&fixture, &[]);
    let answer = session.ok::<SetDataBreakpointsRequest>(asked(None, Some("many")));
    let answer = &answer.breakpoints[0];
    assert!(
        !answer.verified
            && answer
                .message
                .as_deref()
                .is_some_and(|m| m.contains("`many`")),
        "{answer:?}"
    );
    let answer = session.ok::<SetDataBreakpointsRequest>(asked(Some("total >"), None));
    assert!(!answer.breakpoints[0].verified, "{answer:?}");
    session.disconnect();
}

#[test]
fn a_program_that_is_left_is_not_watched_any_more() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::started(&fixture, json!({}), &[]);
    session.wait_for_output("awake");
    let process = session.process_id();
    set(&session, &[("static:c:change:8:turns", WRITE)]);
    session.stopped(StoppedEventReason::DataBreakpoint);
    session.ok::<DisconnectRequest>(DisconnectArguments::new().with_terminate_debuggee(false));
    // An unexpected trap would have killed the program long before it reached this amount of CPU time.
    let worked = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let fields = stat
            .rsplit(')')
            .next()
            .map(str::to_owned)
            .unwrap_or_default();
        let mut fields = fields.split_whitespace();
        fields.nth(11).and_then(|ticks| ticks.parse::<u64>().ok())
    };
    let before = worked().expect("it is there");
    while worked().expect("it is there") < before + 10 {
        assert!(support::is_alive(process), "it was killed");
        std::thread::yield_now();
    }
    let killed = std::process::Command::new("kill")
        .args(["-9", &process.to_string()])
        .status();
    assert!(killed.is_ok_and(|status| status.success()));
}
