//! `goto` and `restartFrame` in C++ and Rust, also in optimized programs: their effect on the program, and the messages when they are
//! impossible.

use crate::support;
use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn stopped_at(fixture: &Fixture, name: &str) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({}), &[name]);
    let stop = session.stopped_at(fixture, name, StoppedEventReason::Breakpoint);
    session.set_breakpoints(fixture, &[]);
    (session, stop)
}

fn target(session: &Session, fixture: &Fixture, name: &str) -> i64 {
    let source = Source::new().with_path(fixture.path());
    let arguments = GotoTargetsArguments::new(source, fixture.line(name));
    session.ok::<GotoTargetsRequest>(arguments).targets[0].id
}

fn goto(session: &Session, fixture: &Fixture, thread: i64, name: &str) -> Stopped {
    let target = target(session, fixture, name);
    session.ok::<GotoRequest>(GotoArguments::new(thread, target));
    session.stopped_at(fixture, name, StoppedEventReason::Goto)
}

fn restart(session: &Session, frame: &StackFrame) -> Stopped {
    session.ok::<RestartFrameRequest>(RestartFrameArguments::new(frame.id));
    session.stopped(StoppedEventReason::Other("restart".into()))
}

fn refused(session: &Session, frame: &StackFrame) -> String {
    session
        .refused::<RestartFrameRequest>(RestartFrameArguments::new(frame.id))
        .sentence
}

#[track_caller]
fn ends(session: Session, thread: i64, begins: &str) {
    session.resume(thread);
    assert_eq!(session.exit_code(), 0);
    let output = session.output(OutputEventCategory::Stdout);
    assert!(output.starts_with(begins), "{output:?} and not {begins:?}");
    session.disconnect();
}

#[test]
fn going_past_a_constructor_and_out_of_a_block_leaves_out_what_lies_between() {
    let fixture = Fixture::new("moved.cpp");
    // Skips an addition.
    let (session, stop) = stopped_at(&fixture, "ten");
    let stop = goto(&session, &fixture, stop.thread, "hundred");
    ends(
        session,
        stop.thread,
        "+outer\n+inner\n-inner\n-outer\nscoped 1101\n",
    );
    // Leaves the block. Its destructor does not run.
    let (session, stop) = stopped_at(&fixture, "ten");
    let stop = goto(&session, &fixture, stop.thread, "thousand");
    ends(
        session,
        stop.thread,
        "+outer\n+inner\n-outer\nscoped 1001\n",
    );
    // Back to before the block: a second object is constructed over the first one.
    let (session, stop) = stopped_at(&fixture, "hundred");
    let stop = goto(&session, &fixture, stop.thread, "inner");
    ends(
        session,
        stop.thread,
        "+outer\n+inner\n+inner\n-inner\n-outer\nscoped 1121\n",
    );
}

#[test]
fn going_back_in_rust_does_again_what_lies_behind() {
    let fixture = Fixture::new("moved.rs");
    let (session, stop) = stopped_at(&fixture, "hundred");
    let stop = goto(&session, &fixture, stop.thread, "ten");
    ends(session, stop.thread, "-outer\nscoped 121\n");
    let (session, stop) = stopped_at(&fixture, "ten");
    let stop = goto(&session, &fixture, stop.thread, "scoped-end");
    ends(session, stop.thread, "-outer\nscoped 1\n");
}

#[test]
fn a_frame_that_is_left_runs_no_destructors_and_is_begun_again_whole() {
    let fixture = Fixture::new("moved.cpp");
    let (session, stop) = stopped_at(&fixture, "thousand");
    let again = restart(&session, &stop.top);
    assert_eq!(again.top.line, fixture.line("outer"));
    // The argument keeps its current value in memory, so the additions stay.
    assert_eq!(session.evaluate(&again.top, "value"), "111");
    ends(
        session,
        again.thread,
        "+outer\n+inner\n-inner\n+outer\n+inner\n-inner\n-outer\nscoped 1221\n",
    );

    let fixture = Fixture::new("moved.rs");
    let (session, stop) = stopped_at(&fixture, "summed");
    let again = restart(&session, &stop.top);
    ends(
        session,
        again.thread,
        "-outer\nscoped 111\nsummed abcd\nsum 10\n",
    );
}

#[test]
fn a_method_of_the_library_with_its_callers_frame_is_begun_again_from_outside() {
    let fixture = Fixture::new("moved.cpp");
    let (session, stop) = stopped_at(&fixture, "mixed");
    let stack = session.stack(stop.thread);
    assert_eq!(stack[1].name, "main");
    let again = restart(&session, &stack[1]);
    assert_eq!(again.top.name, "main");
    ends(
        session,
        again.thread,
        "+outer\n+inner\n-inner\n-outer\nscoped 1111\naround 11\nraises 2\n+outer\n+inner\n-inner\n-outer\nscoped 1111\n",
    );
}

#[test]
fn an_inlined_frame_is_refused_and_the_one_around_it_named() {
    let fixture = Fixture::new("moved.cpp");
    let (session, stop) = stopped_at(&fixture, "twice");
    let sentence = refused(&session, &stop.top);
    assert!(
        sentence.contains("it was inlined; begin again the function around it"),
        "{sentence}"
    );
    ends(
        session,
        stop.thread,
        "+outer\n+inner\n-inner\n-outer\nscoped 1111\naround 11\n",
    );
}

#[test]
fn a_handler_between_is_a_reason_not_to_begin_what_it_interrupts() {
    let fixture = Fixture::new("moved.cpp");
    let (session, stop) = stopped_at(&fixture, "handler");
    let stack = session.stack(stop.thread);
    let raises = stack
        .iter()
        .find(|frame| frame.name.starts_with("raises"))
        .expect("who has raised it");
    let sentence = refused(&session, raises);
    assert!(
        sentence.contains("a signal's handler is in between"),
        "{sentence}"
    );
    // The handler's own frame can be restarted.
    let again = restart(&session, &stop.top);
    ends(
        session,
        again.thread,
        "+outer\n+inner\n-inner\n-outer\nscoped 1111\naround 11\nraises 2\n",
    );
}

#[test]
fn optimised_code_that_has_lost_its_arguments_says_so_and_goes_on_unharmed() {
    let output = "+outer\n+inner\n-inner\n-outer\nscoped 1111\naround 11\nraises 2\nmixed 18\n";
    let fixture = Fixture::built("moved.cpp", Optimization::Full, Linking::Pie);
    let (session, stop) = stopped_at(&fixture, "adding");
    let stack = session.stack(stop.thread);
    assert!(stack[0].name.starts_with("mixed"), "{}", stack[0].name);
    let sentence = refused(&session, &stack[0]);
    assert!(
        sentence.contains("arguments came in registers") && sentence.contains("they are lost"),
        "{sentence}"
    );
    ends(session, stop.thread, output);
}

#[test]
fn code_without_debug_information_is_refused_and_so_is_a_line_elsewhere() {
    let fixture = Fixture::new("moved.cpp");
    let (session, stop) = stopped_at(&fixture, "handler");
    let stack = session.stack(stop.thread);
    let library = stack
        .iter()
        .find(|frame| support::file_of(frame).is_none() && !frame.name.starts_with('<'))
        .unwrap_or_else(|| panic!("no library's frame in {stack:#?}"));
    let sentence = refused(&session, library);
    assert!(
        sentence.contains("handler is in between") || sentence.contains("no debug information"),
        "{sentence}"
    );
    let target = target(&session, &fixture, "ten");
    let refusal = session.refused::<GotoRequest>(GotoArguments::new(stop.thread, target));
    assert!(
        refusal.sentence.contains("it is in `scoped")
            && refusal.sentence.contains("is in `handler"),
        "{}",
        refusal.sentence
    );
    let other = GotoTargetsArguments::new(Source::new().with_path("/nowhere.cpp"), 3);
    let refusal = session.refused::<GotoTargetsRequest>(other);
    assert!(
        refusal.sentence.contains("/nowhere.cpp"),
        "{}",
        refusal.sentence
    );
    session.disconnect();
}

#[test]
fn registers_that_the_code_there_counts_on_are_told() {
    let fixture = Fixture::new("guide.rs");
    let session = Session::started(&fixture, json!({}), &["lent"]);
    let stop = session.stopped_at(&fixture, "lent", StoppedEventReason::Breakpoint);
    goto(&session, &fixture, stop.thread, "lend");
    let said = session.output(OutputEventCategory::Console);
    let told = "the code there uses what the code before it has left in registers (";
    assert!(said.contains(told), "{said:?}");
    session.disconnect();

    // gcc keeps all values in memory, so there is no warning.
    let fixture = Fixture::new("guide.cpp");
    let session = Session::started(&fixture, json!({}), &["sum"]);
    let stop = session.stopped_at(&fixture, "sum", StoppedEventReason::Breakpoint);
    goto(&session, &fixture, stop.thread, "job");
    let said = session.output(OutputEventCategory::Console);
    assert!(!said.contains(told), "{said:?}");
    session.disconnect();
}
