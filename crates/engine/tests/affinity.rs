//! Threads that stop often are pinned to the tracer's processor between the stops. The program can't see this, and after some milliseconds
//! of being stopped or of running, the affinity is the thread's own again.

use crate::support::running::{kill, status};
use crate::support::{Debuggee, Fixture, fixture};
use dapple_engine::ThreadId;
use dapple_engine::event::{ExitStatus, StopReason};
use dapple_engine::session::breakpoints::WhereDecided;
use dapple_engine::session::{BreakpointOptions, Leave, LineBreakpoint, StepKind};

fn program() -> Fixture {
    fixture("processors.c", &["-pthread"])
}

/// Has the program often stop at a breakpoint whose condition is false.
fn pass_often(debuggee: &Debuggee<'_>) {
    let session = debuggee.session();
    session.set_decided(WhereDecided::AtStops).unwrap();
    let line = LineBreakpoint {
        line: debuggee.fixture.line("often"),
        options: BreakpointOptions {
            condition: Some("i < 0".into()),
            ..BreakpointOptions::default()
        },
        ..LineBreakpoint::default()
    };
    set(debuggee, vec![line]);
}

fn set(debuggee: &Debuggee<'_>, lines: Vec<LineBreakpoint>) {
    let source = &debuggee.fixture.source;
    debuggee
        .session()
        .set_line_breakpoints(source, lines)
        .unwrap();
}

fn allowed(process: i32) -> String {
    status(process, "Cpus_allowed_list")
}

/// Waits until the kernel's list of processors on which a running thread may run satisfies `is_right`.
fn wait_until(process: i32, is_right: impl Fn(&str) -> bool) {
    while !is_right(&allowed(process)) {
        std::thread::yield_now();
    }
}

#[test]
fn a_program_that_passes_a_breakpoint_often_sees_its_own_processors() {
    let program = program();
    let mut debuggee = program.launch();
    pass_often(&debuggee);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}

#[test]
fn a_program_that_is_stepped_through_sees_its_own_processors() {
    let program = program();
    let mut debuggee = program.launch();
    debuggee.break_at(&["known"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let own = allowed(thread.0);
    for kind in [StepKind::Over, StepKind::Instruction].repeat(200) {
        debuggee.session().step(thread, kind).unwrap();
        assert_eq!(debuggee.expect_stop()[0].reason, StopReason::Step);
    }
    wait_until(thread.0, |list| list == own);
    // Steps through every instruction of the function that queries the affinity, including its system call.
    debuggee.break_at(&["look"]);
    debuggee.run_to_breakpoint();
    for _ in 0..40 {
        debuggee
            .session()
            .step(thread, StepKind::Instruction)
            .unwrap();
        debuggee.expect_stop();
    }
    set(&debuggee, Vec::new());
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}

#[test]
fn a_thread_that_has_been_held_is_not_when_it_stays_stopped_or_runs_on_or_is_left() {
    let program = program();
    let own = allowed(std::process::id() as i32);
    if !own.contains(['-', ',']) {
        // Pinning can't be observed with a single processor.
        return;
    }
    let mut debuggee = program.launch_with(&["for ever"]);
    let process = debuggee.session().process().pid;
    for _ in 0..5 {
        pass_often(&debuggee);
        debuggee.resume();
        wait_until(process, |list| list != own);
        debuggee.session().pause(None).unwrap();
        assert_eq!(debuggee.expect_stop()[0].reason, StopReason::Pause);
        wait_until(process, |list| list == own);
        debuggee.resume();
        wait_until(process, |list| list != own);
        // The program makes no system call and reaches no breakpoint from here on.
        set(&debuggee, Vec::new());
        wait_until(process, |list| list == own);
        debuggee.session().pause(Some(ThreadId(process))).unwrap();
        debuggee.expect_stop();
    }
    pass_often(&debuggee);
    debuggee.resume();
    wait_until(process, |list| list != own);
    debuggee.take_session().leave(Leave::Detach);
    assert_eq!(allowed(process), own);
    kill("-KILL", process);
}
