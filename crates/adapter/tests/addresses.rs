//! Instruction breakpoints and function breakpoints on addresses: where no code is mapped, and where code is mapped and unmapped later.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// The address at which `jit.c` maps its code.
const PLACE: &str = "0x10000000";

#[track_caller]
fn function(session: &Session, name: &str) -> Breakpoint {
    let wanted = vec![FunctionBreakpoint::new(name)];
    let arguments = SetFunctionBreakpointsArguments::new(wanted);
    let answer = session.ok::<SetFunctionBreakpointsRequest>(arguments);
    answer.breakpoints.into_iter().next().expect("one answer")
}

#[track_caller]
fn instruction(session: &Session, reference: &str) -> Breakpoint {
    let wanted = vec![InstructionBreakpoint::new(reference)];
    let arguments = SetInstructionBreakpointsArguments::new(wanted);
    let answer = session.ok::<SetInstructionBreakpointsRequest>(arguments);
    answer.breakpoints.into_iter().next().expect("one answer")
}

/// The breakpoint of the next `breakpoint` event, which must have the id `id`.
#[track_caller]
fn next_change(session: &Session, id: Option<i64>) -> Breakpoint {
    let event = session.wait_for::<BreakpointEvent>();
    assert_eq!(event.reason, BreakpointEventReason::Changed);
    assert_eq!(event.breakpoint.id, id, "{event:?}");
    event.breakpoint
}

#[track_caller]
fn is_unverified(breakpoint: &Breakpoint, reason: BreakpointReason, part: &str) {
    assert!(!breakpoint.verified, "{breakpoint:?}");
    assert_eq!(breakpoint.reason, Some(reason), "{breakpoint:?}");
    let message = breakpoint.message.as_deref().unwrap_or_default();
    assert!(message.contains(part), "{message}");
}

fn number(reference: &str) -> u64 {
    u64::from_str_radix(reference.trim_start_matches("0x"), 16).expect("an address")
}

#[test]
fn code_that_a_program_makes_is_met_each_time_it_is_there() {
    let fixture = Fixture::new("jit.c");
    for by_name in [true, false] {
        let stops = ["mapped", "written", "call", "gone"];
        let session = Session::started(
            &fixture,
            json!({}),
            &["unmapped", "mapped", "written", "call", "gone"],
        );
        let mut stop = session.stopped_at(&fixture, "unmapped", StoppedEventReason::Breakpoint);
        let set = match by_name {
            true => function(&session, &format!("*{PLACE}")),
            false => instruction(&session, PLACE),
        };
        is_unverified(
            &set,
            BreakpointReason::Pending,
            "there is no memory at 0x10000000 yet",
        );
        // The change to the mapping is reported at the next stop, before the program runs on.
        for round in 0..2 {
            if round > 0 {
                session.resume(stop.thread);
                stop = session.stopped_at(&fixture, "unmapped", StoppedEventReason::Breakpoint);
            }
            for mark in stops {
                session.resume(stop.thread);
                match mark {
                    "mapped" => is_unverified(
                        &next_change(&session, set.id),
                        BreakpointReason::Failed,
                        "the memory at 0x10000000 is data, and not executed",
                    ),
                    "call" => assert!(next_change(&session, set.id).verified),
                    "gone" => {
                        let hit = session.stopped(match by_name {
                            true => StoppedEventReason::FunctionBreakpoint,
                            false => StoppedEventReason::InstructionBreakpoint,
                        });
                        assert_eq!(hit.event.hit_breakpoint_ids, set.id.map(|id| vec![id]));
                        let at = hit.top.instruction_pointer_reference;
                        assert_eq!(at.as_deref().map(number), Some(number(PLACE)));
                        session.resume(hit.thread);
                        is_unverified(
                            &next_change(&session, set.id),
                            BreakpointReason::Pending,
                            "no memory at",
                        );
                    }
                    _ => {}
                }
                stop = session.stopped_at(&fixture, mark, StoppedEventReason::Breakpoint);
            }
        }
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 0);
        assert_eq!(session.output(OutputEventCategory::Stdout), "7 8\n");
        session.disconnect();
    }
}

#[test]
fn what_is_no_functions_name_is_told_what_it_is() {
    let fixture = Fixture::new("jit.c");
    let session = Session::new();
    session.launch(&fixture, json!({}));
    for (name, message) in [
        (
            "0x401136",
            "0x401136 is no name; an address is written *0x401136",
        ),
        ("jit.c:12", "jit.c:12 is a line and not a function"),
        ("12:5", "12:5 is a line and not a function"),
        ("23", "23 is no name; an address is written *23"),
        ("23 if", "23 if is no function's name"),
        ("+1", "+1 is no function's name"),
        (
            "main if x > 3",
            "a condition is a breakpoint's own, beside the name",
        ),
        ("fork.c", "fork.c is a file and not a function"),
    ] {
        let set = function(&session, name);
        is_unverified(&set, BreakpointReason::Failed, message);
    }
    session.disconnect();
}

#[test]
fn data_and_the_middle_of_an_instruction_are_refused_and_stay_as_they_are() {
    let fixture = Fixture::new("jit.c");
    let session = Session::started(&fixture, json!({}), &["call"]);
    let stop = session.stopped_at(&fixture, "call", StoppedEventReason::Breakpoint);
    let data = session.evaluate(&stop.top, "&data");
    let data = data.split_whitespace().find(|word| word.starts_with("0x"));
    let data = data.expect("an address").to_owned();
    let pc = stop
        .top
        .instruction_pointer_reference
        .clone()
        .expect("a reference");
    let inside = format!("{:#x}", number(&pc) + 1);
    for (reference, part) in [
        (&data, "is data, and not executed"),
        (
            &inside,
            &*format!("is inside of an instruction: one begins at {pc}"),
        ),
    ] {
        let set = instruction(&session, reference);
        is_unverified(&set, BreakpointReason::Failed, part);
        assert_eq!(set.instruction_reference.as_ref(), Some(reference));
        let set = function(&session, &format!("*{reference}"));
        is_unverified(&set, BreakpointReason::Failed, part);
    }
    session.set_lines(&fixture.path(), &[]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "7 8\n");
    session.disconnect();
}

#[test]
fn an_address_in_a_library_is_pending_until_that_is_loaded_there() {
    let (host, library) = (Fixture::new("host.c"), Fixture::library("plugin.c"));
    let arguments = || json!({ "args": [library.program()] });
    let session = Session::new();
    session.launch(&host, arguments());
    session.set_lines(&library.path(), &[library.line("shout")]);
    session.configured();
    let stop = session.stopped_at(&library, "shout", StoppedEventReason::Breakpoint);
    let place = stop.top.instruction_pointer_reference.expect("a reference");
    session.disconnect();

    // Set before the launch. The library is loaded at the same address in each run.
    let session = Session::new();
    let early = instruction(&session, &place);
    is_unverified(&early, BreakpointReason::Pending, "no program is running");
    session.launch(&host, arguments());
    is_unverified(
        &next_change(&session, early.id),
        BreakpointReason::Pending,
        "no memory at",
    );
    session.configured();
    for _ in 0..2 {
        // While libraries are loaded, other code may be at the address for a moment.
        let found = loop {
            let found = next_change(&session, early.id);
            if found.verified {
                break found;
            }
        };
        assert_eq!(
            (found.verified, found.line),
            (true, Some(library.line("shout")))
        );
        let stop = session.stopped_at(&library, "shout", StoppedEventReason::InstructionBreakpoint);
        assert_eq!(stop.event.hit_breakpoint_ids, early.id.map(|id| vec![id]));
        session.resume(stop.thread);
        assert!(!next_change(&session, early.id).verified);
    }
    assert_eq!(session.exit_code(), 42);
    session.disconnect();
}
