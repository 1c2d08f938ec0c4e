//! Pointers into freed memory show `<freed>`, and pointers into live memory never do.

use crate::support;
use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped, named};
use dapple_dap::types::*;
use serde_json::json;

/// The locals whose values show `<freed>`.
#[track_caller]
fn freed(session: &Session, stop: &Stopped) -> Vec<(String, String)> {
    let locals = session.variables(session.scope(&stop.top, "Locals").variables_reference);
    let told = locals
        .into_iter()
        .filter(|one| one.value.contains("<freed>"));
    told.map(|one| (one.name, one.value)).collect()
}

/// The names of the locals in [`freed`].
#[track_caller]
fn names(session: &Session, stop: &Stopped) -> Vec<String> {
    freed(session, stop)
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

/// The locals of `freed.cpp` that point into freed memory.
const FREED_IN_CPP: [&str; 9] = [
    "dangling",
    "inside_of",
    "inside",
    "text",
    "last",
    "vector",
    "string",
    "owner",
    "pointers",
];

#[test]
fn dangling_pointers_and_owners_of_cpp_say_so() {
    for linking in [Linking::Pie, Linking::Fixed, Linking::Static] {
        let fixture = Fixture::built("freed.cpp", Optimization::None, linking);
        let session = Session::started(&fixture, json!({}), &["before", "after"]);
        let stop = session.stopped_at(&fixture, "before", StoppedEventReason::Breakpoint);
        assert_eq!(names(&session, &stop), Vec::<String>::new(), "{linking:?}");
        session.resume(stop.thread);
        let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
        assert_eq!(names(&session, &stop), FREED_IN_CPP, "{linking:?}");
        let text = session.evaluate(&stop.top, "text");
        assert!(text.ends_with(" <freed>"), "{text}");
        let owner = session.evaluate(&stop.top, "owner");
        assert!(owner.ends_with(" <freed>"), "{owner}");
        let vector = session.evaluate(&stop.top, "*vector");
        assert_eq!(vector, "len = 100 <freed>");
        assert_eq!(session.evaluate(&stop.top, "*string"), "<freed>");
        // Only the pointer into freed memory is marked, not the others in the vector.
        let pointers = session.variable(&stop.top, "Locals", "pointers");
        let pointers = session.variables(pointers.variables_reference);
        assert!(!named(&pointers, "[0]").value.contains("freed"));
        assert!(named(&pointers, "[1]").value.ends_with("<freed>"));
        // Freed memory can still be expanded.
        let dangling = session.variable(&stop.top, "Locals", "dangling");
        let fields = session.variables(dangling.variables_reference);
        assert_eq!(fields.len(), 2, "{fields:?}");
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
    }
}

#[test]
fn a_core_file_tells_what_was_freed() {
    let fixture = Fixture::new("freed.cpp");
    let core = support::core_of(&fixture, "fault");
    let session = Session::new();
    let arguments = serde_json::from_value(json!({"coreFile": core})).expect("an object");
    session.ok::<AttachRequest>(arguments);
    session.wait_for::<InitializedEvent>();
    session.configured();
    let stop = session.stopped_at(&fixture, "fault", StoppedEventReason::Exception);
    assert_eq!(names(&session, &stop), FREED_IN_CPP);
    session.disconnect();
}

#[test]
fn moved_and_dropped_values_of_rust_say_so() {
    let fixture = Fixture::new("freed.rs");
    let session = Session::started(&fixture, json!({}), &["before", "after"]);
    let stop = session.stopped_at(&fixture, "before", StoppedEventReason::Breakpoint);
    assert_eq!(freed(&session, &stop), []);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
    let told = names(&session, &stop);
    assert_eq!(told, ["numbers", "text", "boxed", "map", "tree", "raw"]);
    assert_eq!(session.evaluate(&stop.top, "numbers"), "len = 50 <freed>");
    assert_eq!(session.evaluate(&stop.top, "text"), "<freed>");
    assert_eq!(session.evaluate(&stop.top, "boxed"), "<freed>");
    // `keep` was moved, not freed. `other` still shares its value.
    assert_eq!(session.evaluate(&stop.top, "keep"), "len = 3 [1, 2, 3]");
    assert_eq!(
        session.evaluate(&stop.top, "other"),
        "\"shared text\" (strong 1, weak 0)"
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

/// The program's and the debugger's view of one slot.
#[derive(Debug)]
struct Slot {
    alive: bool,
    start: u64,
    size: u64,
    freed: bool,
}

/// All slots of `heap.c`.
fn slots(session: &Session, stop: &Stopped) -> Vec<Slot> {
    let whole = EvaluateArguments::new("slots").with_frame_id(stop.top.id);
    let whole = session.ok::<EvaluateRequest>(whole);
    let slots = session.variables(whole.variables_reference);
    let slot = |slot: &Variable| {
        let fields = session.variables(slot.variables_reference);
        let number = |name| named(&fields, name).value.parse().expect("a number");
        let memory = &named(&fields, "memory").value;
        let address = memory
            .split(' ')
            .next()
            .and_then(|text| text.strip_prefix("0x"));
        let start = address.and_then(|text| u64::from_str_radix(text, 16).ok());
        Slot {
            alive: number("alive") == 1,
            start: start.expect("an address"),
            size: number("size"),
            freed: memory.ends_with("<freed>"),
        }
    };
    slots.iter().map(slot).collect()
}

/// Checks the slots of one stop. Returns how many freed slots the debugger recognizes, and how many freed slots there are.
fn check(slots: &[Slot]) -> (usize, usize) {
    let mut told = (0, 0);
    for slot in slots.iter().filter(|slot| slot.start != 0) {
        assert!(!(slot.alive && slot.freed), "{slot:?} is alive");
        let is_reused = slots.iter().any(|other| {
            other.alive
                && slot.start < other.start + other.size.max(24)
                && other.start < slot.start + 16
        });
        assert!(!(is_reused && slot.freed), "{slot:?} is another's");
        if !slot.alive && !is_reused {
            told.0 += usize::from(slot.freed);
            told.1 += 1;
        }
    }
    told
}

#[test]
fn live_memory_is_never_said_to_be_freed_however_many_threads_allocate() {
    let fixture = Fixture::new("heap.c");
    let session = Session::started(&fixture, json!({}), &["round"]);
    let mut told = (0, 0);
    let mut add = |(some, all)| told = (told.0 + some, told.1 + all);
    for _ in 0..4 {
        let stop = session.stopped_at(&fixture, "round", StoppedEventReason::Breakpoint);
        add(check(&slots(&session, &stop)));
        session.resume(stop.thread);
    }
    let stop = session.stopped_at(&fixture, "round", StoppedEventReason::Breakpoint);
    session.set_lines(&fixture.path(), &[]);
    session.resume(stop.thread);
    // The threads stop anywhere, also inside `malloc`.
    for _ in 0..8 {
        session.ok::<PauseRequest>(PauseArguments::new(stop.thread));
        let stop = session.stopped(StoppedEventReason::Pause);
        add(check(&slots(&session, &stop)));
        session.resume(stop.thread);
    }
    let (some, all) = told;
    println!("{some} of {all} are told");
    assert!(
        all > 100 && some * 10 >= all * 8,
        "{some} of {all} are told"
    );
    session.disconnect();
}
