//! Running backwards: searches that are given up and begin anew near their end, because they take long.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped};
use dapple_adapter::{
    GoToMomentArguments, GoToMomentRequest, Moment, NamedMoment, WhoArguments, WhoRequest,
};
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

/// A recorded session, stopped behind the computation.
fn computed(fixture: &Fixture) -> (Session, Stopped) {
    computed_with(fixture, json!({"record": true}))
}

fn computed_with(fixture: &Fixture, arguments: Value) -> (Session, Stopped) {
    let session = Session::started(fixture, arguments, &["last"]);
    let stop = session.stopped_at(fixture, "last", StoppedEventReason::Breakpoint);
    (session, stop)
}

#[test]
fn a_write_before_a_long_computation_is_found() {
    let fixture = Fixture::new("wrote_early.c");
    let (session, stop) = computed(&fixture);
    let write = session.ok::<WhoRequest>(WhoArguments {
        name: "early".into(),
        frame_id: Some(stop.top.id),
        ..WhoArguments::default()
    });
    let write = write.write.expect("a write");
    assert_eq!(write.before.as_deref(), Some("0"));
    assert_eq!(write.after, "1");
    assert_eq!(write.stack[0].line, fixture.line("writes"));
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn a_breakpoint_before_a_long_computation_is_found() {
    let fixture = Fixture::new("wrote_early.c");
    let (session, stop) = computed(&fixture);
    session.set_breakpoints(&fixture, &["writes", "last"]);
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
    let first = session.stopped_at(&fixture, "writes", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&first.top, "early"), "0");
    session.resume(first.thread);
    session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    session.disconnect();
}

#[test]
fn each_hit_of_a_breakpoint_between_long_computations_is_found() {
    let fixture = Fixture::new("parts.c");
    let (session, mut stop) = computed(&fixture);
    let write = session.ok::<WhoRequest>(WhoArguments {
        name: "part".into(),
        frame_id: Some(stop.top.id),
        ..WhoArguments::default()
    });
    let write = write.write.expect("a write");
    assert_eq!(
        (write.before.as_deref(), &*write.after),
        (Some("5"), "6"),
        "{write:?}"
    );
    session.set_breakpoints(&fixture, &["begins", "last"]);
    for part in (1..=6).rev() {
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
        stop = session.stopped_at(&fixture, "begins", StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&stop.top, "i"), part.to_string());
    }
    session.set_breakpoints(&fixture, &["last"]);
    session.resume(stop.thread);
    session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    session.disconnect();
}

#[test]
fn steps_back_lead_to_the_same_moments_with_and_without_moves_in_between() {
    let fixture = Fixture::new("writes_heap.c");
    let (session, stop) = computed(&fixture);
    let shown = |stop: &Stopped| (stop.top.line, session.evaluate(&stop.top, "i"));
    let back = || {
        session.ok::<StepBackRequest>(StepBackArguments::new(stop.thread));
        shown(&session.stopped(StoppedEventReason::Step))
    };
    // Behind the loop, there is no `i`.
    back();
    let moments: Vec<_> = (0..8).map(|_| back()).collect();
    let at = |moment: usize| (moments[moment].0, &*moments[moment].1);
    let writes = fixture.line("writes");
    assert_eq!(at(0), (writes, "99999999"), "{moments:?}");
    assert_eq!(at(5), (writes, "99999998"), "{moments:?}");
    for moment in moments[..7].iter().rev() {
        session.ok::<NextRequest>(NextArguments::new(stop.thread));
        let now = session.stopped(StoppedEventReason::Step);
        assert_eq!(shown(&now), *moment);
    }
    for moment in &moments[1..] {
        assert_eq!(back(), *moment);
        // This moves it there and back.
        session.ok::<NextRequest>(NextArguments::new(stop.thread));
        session.stopped(StoppedEventReason::Step);
        assert_eq!(back(), *moment);
    }
    session.disconnect();
}

/// The proportional set sizes (`Pss`, proc(5)) of a fixture's processes together, in megabytes.
fn memory_of(fixture: &Fixture) -> u64 {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let processes = all.map(|entry| entry.path()).filter(|process| {
        std::fs::read_link(process.join("exe")).is_ok_and(|exe| exe == fixture.binary)
    });
    let kilobytes = processes.filter_map(|process| {
        let text = std::fs::read_to_string(process.join("smaps_rollup")).ok()?;
        let pss = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        pss.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    kilobytes.sum::<u64>() / 1024
}

/// The most memory that a fixture's processes take while something is done.
fn most_memory(fixture: &Fixture, act: impl FnOnce()) -> u64 {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let most = scope.spawn(|| {
            let mut most = 0;
            while !is_done.load(Ordering::Relaxed) {
                most = most.max(memory_of(fixture));
            }
            most.max(memory_of(fixture))
        });
        act();
        is_done.store(true, Ordering::Relaxed);
        most.join().expect("it only reads")
    })
}

#[test]
fn searches_keep_to_the_memory_that_checkpoints_may_take() {
    // What the program has of its own, each process that runs, and a checkpoint that was just taken.
    const HEAP: u64 = 32;
    const ALLOWED: u64 = 128;
    const MOST: u64 = ALLOWED + 4 * HEAP;
    // A binary of its own: all processes that run it count.
    let fixture = Fixture::built("writes_heap.c", Optimization::None, Linking::Fixed);
    let arguments = json!({"record": true, "checkpointMemory": ALLOWED});
    let (session, stop) = computed_with(&fixture, arguments);
    let memory = most_memory(&fixture, || {
        for name in ["writes", "shifts"] {
            session.set_breakpoints(&fixture, &[name]);
            session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
            session.stopped_at(&fixture, name, StoppedEventReason::Breakpoint);
        }
    });
    assert!(memory <= MOST, "runs backwards took {memory} MB");
    session.set_breakpoints(&fixture, &["begin"]);
    let memory = most_memory(&fixture, || {
        session.ok::<StepBackRequest>(StepBackArguments::new(stop.thread));
        session.stopped(StoppedEventReason::Step);
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
        session.stopped_at(&fixture, "begin", StoppedEventReason::Breakpoint);
    });
    assert!(memory <= MOST, "the way to the beginning took {memory} MB");
    session.disconnect();
}

#[test]
fn a_short_instruction_that_is_passed_often_is_found_again() {
    let fixture = Fixture::new("loop_line.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true}));
    session.set_breakpoints(&fixture, &["late", "end"]);
    session.configured();
    let late = session.stopped_at(&fixture, "late", StoppedEventReason::Breakpoint);
    session.resume(late.thread);
    session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    // In the past, no checkpoint is taken at a stop.
    for expected in ["late", "beginning"] {
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(late.thread));
        match expected {
            "beginning" => session.stopped(StoppedEventReason::Entry),
            place => session.stopped_at(&fixture, place, StoppedEventReason::Breakpoint),
        };
    }
    session.resume(late.thread);
    let late = session.stopped_at(&fixture, "late", StoppedEventReason::Breakpoint);
    let i = |stop: &Stopped| session.evaluate(&stop.top, "i");
    session.ok::<NextRequest>(NextArguments::new(late.thread));
    let line = session.stopped_at(&fixture, "loop", StoppedEventReason::Step);
    assert_eq!(i(&line), "45000000");
    for (place, number) in [
        ("late", "45000000"),
        ("asks", "45000000"),
        ("body", "45000000"),
        ("loop", "44999999"),
    ] {
        session.ok::<StepBackRequest>(StepBackArguments::new(late.thread));
        let back = session.stopped_at(&fixture, place, StoppedEventReason::Step);
        assert_eq!(i(&back), number);
    }
}

/// A recorded program that copies large blocks, where it begins.
fn copies(arguments: &[&str]) -> (Fixture, Session, Stopped) {
    let fixture = Fixture::new("travelled_copies.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true, "args": arguments}));
    session.set_breakpoints(&fixture, &["begins", "joined"]);
    session.configured();
    let begins = session.stopped_at(&fixture, "begins", StoppedEventReason::Breakpoint);
    (fixture, session, begins)
}

#[test]
fn a_thread_that_was_interrupted_amid_a_repeated_instruction_is_found_again() {
    let (fixture, session, mut stop) = copies(&[]);
    for _ in 0..5 {
        // Nearly all of its time, it is amid a copy.
        loop {
            session.resume(stop.thread);
            session.ok::<PauseRequest>(PauseArguments::new(stop.thread));
            stop = session.stopped(StoppedEventReason::Pause);
            if stop.top.name == "copy" {
                break;
            }
        }
        let left = session.evaluate(&stop.top, "$rcx");
        is_written_amid(&session, &stop, left.parse().expect("a number"));
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
        session.stopped_at(&fixture, "begins", StoppedEventReason::Breakpoint);
        session.ok::<GoToMomentRequest>(GoToMomentArguments {
            to: Moment::Named(NamedMoment::Present),
        });
        stop = session.stopped(StoppedEventReason::Goto);
        assert_eq!(session.evaluate(&stop.top, "$rcx"), left);
    }
    session.resume(stop.thread);
    session.stopped_at(&fixture, "joined", StoppedEventReason::Breakpoint);
    session.disconnect();
}

/// Who wrote a byte of the copy that a thread is amid: that copy, if it has come so far.
fn is_written_amid(session: &Session, stop: &Stopped, left: u64) {
    const SIZE: u64 = 8 << 20;
    const BEFORE: u64 = 100;
    let Some(index) = (SIZE - left).checked_sub(BEFORE) else {
        return;
    };
    let write = session.ok::<WhoRequest>(WhoArguments {
        name: format!("copies[0][{index}]"),
        frame_id: Some(stop.top.id),
        ..WhoArguments::default()
    });
    let bookmark = write.write.and_then(|write| write.bookmark);
    let bookmark = bookmark.expect("a write");
    session.ok::<GoToMomentRequest>(GoToMomentArguments {
        to: Moment::Bookmark(bookmark),
    });
    let there = session.stopped(StoppedEventReason::Goto);
    let left_there = session.evaluate(&there.top, "$rcx");
    assert_eq!(left_there, (left + BEFORE - 1).to_string());
}

#[test]
fn turns_that_ended_amid_a_repeated_instruction_end_there_again() {
    let (fixture, session, begins) = copies(&["two"]);
    session.resume(begins.thread);
    let joined = session.stopped_at(&fixture, "joined", StoppedEventReason::Breakpoint);
    let sums = |stop: &Stopped| ["sums[0]", "sums[1]"].map(|sum| session.evaluate(&stop.top, sum));
    let known = sums(&joined);
    session.set_breakpoints(&fixture, &["begins", "copied", "joined"]);
    for _ in 0..2 {
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(joined.thread));
        session.stopped_at(&fixture, "copied", StoppedEventReason::Breakpoint);
    }
    session.set_breakpoints(&fixture, &["begins", "joined"]);
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(joined.thread));
    session.stopped_at(&fixture, "begins", StoppedEventReason::Breakpoint);
    session.resume(joined.thread);
    let again = session.stopped_at(&fixture, "joined", StoppedEventReason::Breakpoint);
    assert_eq!(sums(&again), known);
    session.set_breakpoints(&fixture, &[]);
    session.resume(joined.thread);
    assert_eq!(session.exit_code(), 0);
}

/// No jump fits at the return of a function behind which another begins, so a search that ended there would stop at each pass.
#[test]
fn a_search_from_a_pause_in_a_small_function_comes_to_its_end() {
    let fixture = Fixture::new("small_returns.c");
    let session = Session::started(&fixture, json!({"record": true}), &["begins"]);
    let begins = session.stopped_at(&fixture, "begins", StoppedEventReason::Breakpoint);
    for _ in 0..6 {
        session.set_breakpoints(&fixture, &[]);
        session.resume(begins.thread);
        session.assert_output("stdout", "turn\nturn\n");
        session.ok::<PauseRequest>(PauseArguments::new(begins.thread));
        session.stopped(StoppedEventReason::Pause);
        session.ok::<StepBackRequest>(StepBackArguments::new(begins.thread));
        session.stopped(StoppedEventReason::Step);
    }
    session.disconnect();
}
