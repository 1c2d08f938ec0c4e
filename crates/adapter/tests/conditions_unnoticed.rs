//! Nobody can tell where the program decides conditions by itself: not the user, who reads, writes, pauses and steps there, and not the program.

use crate::support::{Fixture, Session, Stopped, named};
use dapple_adapter::{DecidedBreakpoint, DecidedRequest};
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use serde_json::json;

/// Launches the program, and sets breakpoints.
#[track_caller]
pub fn started(fixture: &Fixture, arguments: &[&str], wanted: Vec<SourceBreakpoint>) -> Session {
    let session = Session::new();
    session.launch(
        fixture,
        json!({"args": arguments, "conditionsInProgram": true}),
    );
    for breakpoint in session.set_source(fixture, wanted) {
        assert!(breakpoint.verified, "{breakpoint:?}");
    }
    session.configured();
    session
}

/// A breakpoint that never stops.
pub fn false_at(fixture: &Fixture, name: &str) -> SourceBreakpoint {
    fixture.breakpoint(name).with_condition("never == 1")
}

pub fn decided(session: &Session) -> Vec<DecidedBreakpoint> {
    session.ok::<DecidedRequest>(Empty).breakpoints
}

/// Waits until the program decides at so many places.
#[track_caller]
pub fn wait_for_jumps(session: &Session, many: usize) {
    let start = std::time::Instant::now();
    loop {
        let all = decided(session);
        if all.iter().map(|it| it.in_program).sum::<usize>() >= many {
            return;
        }
        assert!(start.elapsed() < crate::support::PATIENCE, "{all:?}");
        std::thread::yield_now();
    }
}

/// Checks that the program decides at so many places.
#[track_caller]
pub fn assert_jumps(session: &Session, many: usize) {
    let all = decided(session);
    let jumps = all.iter().map(|it| it.in_program).sum::<usize>();
    assert_eq!(jumps, many, "{all:?}");
}

#[track_caller]
pub fn pause(session: &Session) -> Stopped {
    let thread = session.ok::<ThreadsRequest>(Empty).threads[0].id;
    session.ok::<PauseRequest>(PauseArguments::new(thread));
    session.stopped(StoppedEventReason::Pause)
}

/// Ends the program, and checks that it has seen nothing.
#[track_caller]
pub fn ends_well(session: Session) {
    let code = session.exit_code();
    let output = session.output(OutputEventCategory::Stdout);
    assert_eq!((code, &*output), (0, ""));
    session.disconnect();
}

/// Lets an endless program end by itself.
#[track_caller]
pub fn end(session: Session, stop: &Stopped) {
    session.evaluate(&stop.top, "may_end = 1");
    session.resume(stop.thread);
    ends_well(session);
}

/// The address of a symbol.
#[track_caller]
pub fn address_of(session: &Session, frame: &StackFrame, symbol: &str) -> u64 {
    let value = session.evaluate(frame, &format!("(unsigned long)&{symbol}"));
    value
        .parse()
        .unwrap_or_else(|_| panic!("{symbol}: {value}"))
}

fn pc(stop: &Stopped) -> u64 {
    let text = stop.top.instruction_pointer_reference.clone();
    let text = text.expect("an address");
    let digits = text.trim_start_matches("0x");
    u64::from_str_radix(digits, 16).expect("a number")
}

/// Launches the program, with a breakpoint with this condition among the registers' patterns. Returns the addresses there: the start of the
/// patterns, the breakpoint, and the end of the patterns.
fn started_in_pattern(
    fixture: &Fixture,
    arguments: &[&str],
    wanted: impl Fn(InstructionBreakpoint) -> InstructionBreakpoint,
) -> (Session, [u64; 3]) {
    let stops = ["mode", "sampling"].map(|name| fixture.breakpoint(name));
    let session = started(fixture, arguments, stops.to_vec());
    let stop = session.stopped_at(fixture, "mode", StoppedEventReason::Breakpoint);
    let place = |index: u64| {
        let value = session.evaluate(&stop.top, &format!("(unsigned long)places[{index}]"));
        value.parse().unwrap_or_else(|_| panic!("{value}"))
    };
    let places = [0, 1, 2].map(place);
    let at = wanted(InstructionBreakpoint::new(format!("{:#x}", places[1])));
    let set = SetInstructionBreakpointsArguments::new(vec![at]);
    let set = session.ok::<SetInstructionBreakpointsRequest>(set);
    assert!(set.breakpoints[0].verified, "{set:?}");
    session.resume(stop.thread);
    match arguments {
        ["registers"] => wait_for_jumps(&session, 1),
        _ => {
            let stop = session.stopped_at(fixture, "sampling", StoppedEventReason::Breakpoint);
            assert_jumps(&session, 1);
            session.resume(stop.thread);
        }
    }
    (session, places)
}

/// The offsets of the instructions from the start of the patterns.
const OFFSETS: [u64; 6] = [0, 1, 2, 3, 7, 11];

/// Checks the registers of a thread that is between the patterns' start and end. Returns whether it is there.
#[track_caller]
fn has_pattern(session: &Session, stop: &Stopped, places: [u64; 3]) -> bool {
    let pc = pc(stop);
    if !(places[0]..places[2]).contains(&pc) {
        return false;
    }
    let offset = pc - places[0];
    assert!(OFFSETS.contains(&offset), "no instruction is at {offset}");
    let names: Vec<String> = { session.stack(stop.thread).into_iter() }
        .map(|frame| frame.name)
        .collect();
    assert_eq!(names[..3], ["patterned", "many_patterned", "main"]);
    let scope = session.scope(&stop.top, "Registers");
    let groups = session.variables(scope.variables_reference);
    let group = |name: &str| session.variables(named(&groups, name).variables_reference);
    let general = group("General");
    let order = [
        "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    ];
    for (name, number) in order.iter().zip(1..) {
        let mut expected = number * 0x1111_0000_0000_0000_u64;
        if *name == "rax" && offset == 7 {
            expected += 16;
        }
        let value = &named(&general, name).value;
        assert_eq!(*value, format!("{expected:#x}"), "{name} at {offset}");
    }
    assert_eq!(named(&general, "r15").value, "0x8000000000000000");
    let flags = group("Flags");
    let flags = &named(&flags, "eflags").value;
    let is_same = flags.ends_with("[CF PF AF SF IF OF]");
    assert!(is_same, "{flags} at {offset}");
    let vectors = group("SSE");
    for n in 0..16 {
        let expected = format!("0x{n:02x}0e0d0c0b0a0908{n:02x}060504030201{n:02x}");
        let value = &named(&vectors, &format!("xmm{n}")).value;
        assert_eq!(*value, expected, "xmm{n} at {offset}");
    }
    let rounding = &named(&vectors, "mxcsr").value;
    assert!(rounding.starts_with("0x1f80 "), "{rounding} at {offset}");
    true
}

/// How long the thread has run so far, in nanoseconds.
fn time_run(process: i64) -> u64 {
    let path = format!("/proc/{process}/schedstat");
    let text = std::fs::read_to_string(path).expect("the thread's times");
    let first = text.split(' ').next().unwrap_or_default();
    first.parse().expect("a number")
}

/// Lets the thread run. On a busy machine, a pause that follows at once may come before the thread's first instruction, time after time.
fn run_a_little(session: &Session, process: i64, stop: &Stopped) {
    let before = time_run(process);
    session.resume(stop.thread);
    while time_run(process) == before {
        std::thread::yield_now();
    }
}

/// Pauses the thread until it was often among the patterns. It has the patterns' registers there, also after steps.
fn paused_often(wanted: impl Fn(InstructionBreakpoint) -> InstructionBreakpoint) {
    let fixture = Fixture::new("unnoticed.c");
    let (session, places) = started_in_pattern(&fixture, &["registers"], wanted);
    let process = session.process_id();
    let mut inside = 0;
    let mut number = 0;
    let stop = loop {
        let mut stop = pause(&session);
        number += 1;
        if has_pattern(&session, &stop, places) {
            inside += 1;
            for _ in 0..number % 4 {
                let before = pc(&stop);
                let step = StepInArguments::new(stop.thread);
                let step = step.with_granularity(SteppingGranularity::Instruction);
                session.ok::<StepInRequest>(step);
                stop = session.stopped(StoppedEventReason::Step);
                let next = OFFSETS.iter().position(|it| places[0] + it == before);
                let Some(next) = next else { break };
                let behind = OFFSETS.get(next + 1).map(|it| places[0] + it);
                assert_eq!(pc(&stop), behind.unwrap_or(places[2]));
                has_pattern(&session, &stop, places);
            }
        }
        if inside >= 30 {
            break stop;
        }
        run_a_little(&session, process, &stop);
        if number % 10 == 0 {
            wait_for_jumps(&session, 1);
        }
    };
    end(session, &stop);
}

#[test]
fn a_thread_that_is_paused_while_it_decides_has_the_registers_that_the_program_has_set() {
    paused_often(|at| at.with_condition("never == 1"));
    paused_often(|at| at.with_condition("reals[0] * reals[1] > reals[2] || never / most == 1"));
}

#[test]
fn a_thread_that_is_paused_while_its_hit_is_counted_has_the_registers_that_the_program_has_set() {
    paused_often(|at| at.with_hit_condition("> 1000000000"));
    paused_often(|at| {
        at.with_condition("reals[0] * reals[1] == reals[2]")
            .with_hit_condition("% 1000000000")
    });
}

#[test]
fn a_signal_handler_sees_the_programs_own_code_and_registers() {
    let fixture = Fixture::new("unnoticed.c");
    for mode in ["samples", "profile"] {
        let arguments = [mode, "30"];
        let (session, _) = started_in_pattern(&fixture, &arguments, |at| {
            at.with_condition("reals[0] * reals[1] > reals[2]")
        });
        ends_well(session);
        let (session, _) = started_in_pattern(&fixture, &arguments, |at| {
            at.with_hit_condition("% 1000000000")
        });
        ends_well(session);
    }
}

#[test]
fn a_signal_that_stops_the_thread_stops_it_in_the_programs_own_code() {
    let fixture = Fixture::new("unnoticed.c");
    let (session, places) = started_in_pattern(&fixture, &["samples", "1000000"], |at| {
        at.with_condition("reals[0] * reals[1] > reals[2]")
    });
    let filter = ExceptionFilterOptions::new("signals").with_condition("SIGALRM");
    let filters = |all| SetExceptionBreakpointsArguments::new(vec![]).with_filter_options(all);
    session.ok::<SetExceptionBreakpointsRequest>(filters(vec![filter]));
    let mut inside = 0;
    while inside < 20 {
        let stop = session.stopped(StoppedEventReason::Exception);
        inside += usize::from(has_pattern(&session, &stop, places));
        session.resume(stop.thread);
    }
    let stop = session.stopped(StoppedEventReason::Exception);
    session.ok::<SetExceptionBreakpointsRequest>(filters(vec![]));
    session.evaluate(&stop.top, "inside = 1000000");
    session.resume(stop.thread);
    ends_well(session);
}

/// Runs to a place where no jump is yet, with this mode, and gives the stop there.
#[track_caller]
pub fn begun(fixture: &Fixture, arguments: &[&str]) -> (Session, Stopped) {
    let session = started(fixture, arguments, vec![fixture.breakpoint("mode")]);
    let stop = session.stopped_at(fixture, "mode", StoppedEventReason::Breakpoint);
    session.set_source(fixture, vec![]);
    (session, stop)
}

pub fn memory(session: &Session, address: u64, count: i64) -> Vec<u8> {
    let arguments = ReadMemoryArguments::new(format!("{address:#x}"), count);
    let data = session.ok::<ReadMemoryRequest>(arguments).data;
    decoded(&data.expect("memory"))
}

/// The bytes of a text in base64.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.bytes().filter(|byte| *byte != b'=') {
        let value = DIGITS.iter().position(|it| *it == digit).expect("a digit");
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

#[test]
fn a_replaced_call_returns_to_the_programs_own_code() {
    let fixture = Fixture::new("unnoticed.c");
    let wanted = vec![false_at(&fixture, "call"), fixture.breakpoint("called")];
    let session = started(&fixture, &["calls", "100000"], wanted);
    let stop = session.stopped_at(&fixture, "called", StoppedEventReason::Breakpoint);
    assert_jumps(&session, 1);
    session.resume(stop.thread);
    ends_well(session);
}

#[test]
fn moved_instructions_that_fault_and_moved_calls_that_throw_are_the_programs_own() {
    let flags = ["-g", "-O0", "-fnon-call-exceptions"];
    let fixture = Fixture::compiled_with("g++", "unnoticed.cpp", &flags);
    for in_program in [true, false] {
        let session = Session::new();
        session.launch(
            &fixture,
            json!({"args": ["2000"], "conditionsInProgram": in_program}),
        );
        let wanted = ["call", "divides", "loads"].map(|name| false_at(&fixture, name));
        let wanted = wanted.into_iter().chain([fixture.breakpoint("round")]);
        session.set_source(&fixture, wanted.collect());
        let no_faults = SetExceptionBreakpointsArguments::new(vec![]);
        session.ok::<SetExceptionBreakpointsRequest>(no_faults);
        session.configured();
        for round in 0..3 {
            let stop = session.stopped_at(&fixture, "round", StoppedEventReason::Breakpoint);
            let decided = decided(&session).into_iter();
            for breakpoint in decided.filter(|_| in_program) {
                // As long as the debugger doesn't know that an exception has left the handler.
                let may_return = "a signal handler may return right behind";
                let is_waiting = round > 0 && breakpoint.by_stops == [may_return];
                assert!(breakpoint.in_program == 1 || is_waiting, "{breakpoint:?}");
            }
            session.resume(stop.thread);
        }
        ends_well(session);
    }
}

#[test]
fn a_child_that_is_debugged_in_the_parents_place_has_the_breakpoint_too() {
    let fixture = Fixture::new("unnoticed.c");
    let session = Session::new();
    session.launch(
        &fixture,
        json!({"args": ["forks on", "100000"], "conditionsInProgram": true, "followForks": "child"}),
    );
    let wanted = fixture.breakpoint("first").with_condition("i == 99999");
    session.set_source(&fixture, vec![wanted]);
    session.configured();
    for _ in 0..2 {
        let stop = session.stopped_at(&fixture, "first", StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&stop.top, "i"), "99999");
        assert_jumps(&session, 1);
        session.resume(stop.thread);
    }
    ends_well(session);
}

/// The number of lines with `hit` in the debugger's own output.
fn hits(session: &Session) -> usize {
    let text = session.output(OutputEventCategory::Console);
    text.lines().filter(|line| *line == "hit").count()
}

#[test]
fn hits_of_a_vfork_child_do_not_count() {
    let fixture = Fixture::new("unnoticed.c");
    let counted = fixture.breakpoint("first").with_hit_condition("% 100");
    let wanted = vec![
        counted.with_log_message("hit"),
        fixture.breakpoint("vforking"),
        fixture.breakpoint("vforked"),
    ];
    let session = started(&fixture, &["vforks", "2050"], wanted);
    let stop = session.stopped_at(&fixture, "vforking", StoppedEventReason::Breakpoint);
    assert_jumps(&session, 1);
    assert_eq!(decided(&session)[0].hits, 2050);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "vforked", StoppedEventReason::Breakpoint);
    assert_eq!(decided(&session)[0].hits, 2050);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(hits(&session), 41);
    session.disconnect();
}

#[test]
fn programs_are_started_while_another_thread_is_at_a_replaced_place() {
    let fixture = Fixture::new("unnoticed.c");
    let wanted = vec![false_at(&fixture, "first"), fixture.breakpoint("spawned")];
    let session = started(&fixture, &["spawns"], wanted);
    let stop = session.stopped_at(&fixture, "spawned", StoppedEventReason::Breakpoint);
    assert_jumps(&session, 1);
    session.resume(stop.thread);
    ends_well(session);
}

#[test]
fn a_library_that_is_unloaded_takes_its_replaced_place_along() {
    let fixture = Fixture::new("unnoticed.c");
    let library = Fixture::library("unnoticed_library.c");
    let path = library.program();
    let session = Session::new();
    session.launch(
        &fixture,
        json!({"args": ["library", path], "conditionsInProgram": true}),
    );
    session.set_breakpoints(&fixture, &["unloaded"]);
    let counted = || {
        let counted = library.breakpoint("library").with_hit_condition("% 1000");
        let counted = counted.with_log_message("hit");
        vec![counted, library.breakpoint("counted")]
    };
    session.set_source(&library, counted());
    let wanted = |hits: &str| {
        let stop = library.breakpoint("library").with_condition("i == 19000");
        let counted = library.breakpoint("library").with_hit_condition(hits);
        vec![stop, counted.with_log_message("hit")]
    };
    session.configured();
    for round in 1..5 {
        let stop = session.stopped_at(&library, "counted", StoppedEventReason::Breakpoint);
        assert_jumps(&session, 1);
        session.resume(stop.thread);
        let stop = session.stopped_at(&fixture, "unloaded", StoppedEventReason::Breakpoint);
        assert_eq!(hits(&session), 20 * round);
        // Breakpoints are set anew while something else is there.
        if round == 2 {
            session.set_source(&library, wanted("% 1000"));
            session.set_source(&library, vec![]);
        }
        if round > 1 {
            session.set_source(&library, counted());
        }
        session.resume(stop.thread);
    }
    ends_well(session);
}

/// Runs a program until it has rewritten a replaced place.
#[track_caller]
fn rewrote(fixture: &Fixture) -> (Session, i64, Stopped) {
    let wanted = vec![
        false_at(fixture, "rewritten"),
        fixture.breakpoint("rewriting"),
        fixture.breakpoint("rewrote"),
    ];
    let session = started(fixture, &["rewrites", "2000"], wanted);
    let process = session.process_id();
    let stop = session.stopped_at(fixture, "rewriting", StoppedEventReason::Breakpoint);
    assert_jumps(&session, 1);
    session.resume(stop.thread);
    let stop = session.stopped_at(fixture, "rewrote", StoppedEventReason::Breakpoint);
    (session, process, stop)
}

#[test]
fn a_program_that_rewrites_its_code_runs_the_new_code() {
    let fixture = Fixture::new("unnoticed.c");
    let (session, _, stop) = rewrote(&fixture);
    session.set_source(&fixture, vec![]);
    end(session, &stop);

    let (session, _, mut stop) = rewrote(&fixture);
    for _ in 0..500 {
        session.resume(stop.thread);
        stop = pause(&session);
    }
    end(session, &stop);

    let (session, _, mut stop) = rewrote(&fixture);
    session.watch(&stop.top, &["never"]);
    session.resume(stop.thread);
    stop = pause(&session);
    end(session, &stop);

    let (session, process, stop) = rewrote(&fixture);
    let rounds = address_of(&session, &stop.top, "rounds");
    let wrong = address_of(&session, &stop.top, "wrong");
    let leave = DisconnectArguments::new().with_terminate_debuggee(false);
    session.ok::<DisconnectRequest>(leave);
    runs_on(process, rounds);
    assert_eq!(memory_of(process, wrong, 8), [0; 8]);
    kill(process);
}

#[test]
fn a_program_that_filters_system_calls_keeps_its_traps() {
    let fixture = Fixture::new("unnoticed.c");
    let wanted = vec![false_at(&fixture, "first"), fixture.breakpoint("filtered")];
    let session = started(&fixture, &["filtered", "2000"], wanted);
    let stop = session.stopped_at(&fixture, "filtered", StoppedEventReason::Breakpoint);
    let decided = decided(&session);
    assert_eq!(decided[0].in_program, 0);
    assert!(decided[0].by_stops[0].contains("seccomp"), "{decided:?}");
    session.resume(stop.thread);
    ends_well(session);
}

#[test]
fn threads_with_little_stack_pass_a_replaced_place() {
    let fixture = Fixture::new("unnoticed.c");
    let wanted = vec![
        fixture
            .breakpoint("first")
            .with_condition("never / most == 1 && reals[0] * most > 5"),
        fixture.breakpoint("stacks"),
    ];
    let session = started(&fixture, &["stacks", "300"], wanted);
    let stop = session.stopped_at(&fixture, "stacks", StoppedEventReason::Breakpoint);
    assert_jumps(&session, 1);
    session.resume(stop.thread);
    ends_well(session);
}

/// The bytes at an address in a process that nobody debugs.
fn memory_of(process: i64, address: u64, count: usize) -> Vec<u8> {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::open(format!("/proc/{process}/mem")).expect("its memory");
    let mut bytes = vec![0; count];
    file.read_exact_at(&mut bytes, address)
        .expect("it is mapped");
    bytes
}

/// Waits until a program that nobody debugs has done some rounds more. `rounds`: where it counts them.
fn runs_on(process: i64, rounds: u64) {
    for _ in 0..3 {
        let before = memory_of(process, rounds, 8);
        while memory_of(process, rounds, 8) == before {
            std::thread::yield_now();
        }
    }
}

fn kill(process: i64) {
    let mut kill = std::process::Command::new("kill");
    let killed = kill.args(["-9", &process.to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
}

#[test]
fn a_program_that_is_left_has_its_own_code_and_runs_on() {
    let fixture = Fixture::new("unnoticed.c");
    for is_running in [false, true] {
        let session = Session::new();
        session.launch(
            &fixture,
            json!({"args": ["threads"], "conditionsInProgram": true}),
        );
        session.set_breakpoints(&fixture, &["mode"]);
        session.configured();
        let process = session.process_id();
        let stop = session.stopped_at(&fixture, "mode", StoppedEventReason::Breakpoint);
        let start = address_of(&session, &stop.top, "nops");
        let rounds = address_of(&session, &stop.top, "rounds");
        let own = memory(&session, start, 80);
        session.set_source(&fixture, vec![false_at(&fixture, "first")]);
        session.resume(stop.thread);
        wait_for_jumps(&session, 1);
        assert_ne!(memory_of(process, start, 80), own);
        if !is_running {
            pause(&session);
            assert_jumps(&session, 1);
        }
        let leave = DisconnectArguments::new().with_terminate_debuggee(false);
        session.ok::<DisconnectRequest>(leave);
        assert_eq!(memory_of(process, start, 80), own);
        runs_on(process, rounds);
        kill(process);
    }
}

#[test]
fn code_of_any_kind_is_right_where_it_was_replaced() {
    const KINDS: [&[&str]; 7] = [
        &["-O2", "-fcf-protection"],
        &["-O0", "-fcf-protection", "-fstack-protector-all"],
        &["-O0", "-static"],
        &["-O0", "-no-pie", "-fno-pie"],
        &["-O0", "-mcmodel=large", "-no-pie", "-fno-pie"],
        &["-O1", "-fPIE", "-pie", "-fomit-frame-pointer"],
        &["-O3", "-fno-plt"],
    ];
    for flags in KINDS {
        let flags = [&["-g", "-pthread"], flags].concat();
        let fixture = Fixture::compiled_with("gcc", "unnoticed.c", &flags);
        let (session, _) = started_in_pattern(&fixture, &["samples", "20"], |at| {
            at.with_condition("reals[0] * reals[1] > reals[2]")
        });
        ends_well(session);
        let wanted = ["call", "first", "called"].map(|name| false_at(&fixture, name));
        let session = started(&fixture, &["calls", "20000"], wanted.to_vec());
        ends_well(session);
    }
}

#[test]
fn hits_of_functions_that_the_user_calls_count_as_ever() {
    let fixture = Fixture::new("unnoticed.c");
    let hits_of = |in_program: bool| {
        let session = Session::new();
        session.launch(
            &fixture,
            json!({"args": ["nops", "2000"], "conditionsInProgram": in_program}),
        );
        let counted = fixture.breakpoint("first").with_hit_condition("% 1000000");
        session.set_source(&fixture, vec![counted, fixture.breakpoint("many")]);
        session.configured();
        let stop = session.stopped_at(&fixture, "many", StoppedEventReason::Breakpoint);
        assert_jumps(&session, usize::from(in_program));
        let mut hits = Vec::new();
        for _ in 0..3 {
            assert_eq!(session.evaluate(&stop.top, "many_nops(1000)"), "999000");
            hits.push(decided(&session)[0].hits);
        }
        session.set_source(&fixture, vec![]);
        end(session, &stop);
        hits
    };
    let hits = hits_of(false);
    assert_eq!(hits_of(true), hits);
}

#[test]
fn messages_of_functions_that_the_user_calls_and_of_a_vfork_child_are_as_ever() {
    let fixture = Fixture::new("unnoticed.c");
    let logged = |mode: &str, last: &str, call: Option<&str>, in_program: bool| {
        let session = Session::new();
        session.launch(
            &fixture,
            json!({"args": [mode, "2000"], "conditionsInProgram": in_program}),
        );
        let logging = fixture.breakpoint("first").with_log_message("hit");
        session.set_source(&fixture, vec![logging, fixture.breakpoint(last)]);
        session.configured();
        let stop = session.stopped_at(&fixture, last, StoppedEventReason::Breakpoint);
        if let Some(call) = call {
            assert_eq!(session.evaluate(&stop.top, call), "999000");
        }
        session.set_source(&fixture, vec![]);
        session.evaluate(&stop.top, "may_end = 1");
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 0);
        let hits = hits(&session);
        session.disconnect();
        hits
    };
    for in_program in [false, true] {
        let call = Some("many_nops(1000)");
        assert_eq!(logged("nops", "many", call, in_program), 2000);
        assert_eq!(logged("vforks", "vforked", None, in_program), 2000);
    }
}

#[test]
fn a_pause_never_shows_a_call_as_half_made() {
    let fixture = Fixture::new("calls_below_mark.c");
    let session = started(&fixture, &[], vec![fixture.breakpoint("begin")]);
    let stop = session.stopped_at(&fixture, "begin", StoppedEventReason::Breakpoint);
    let calls = [0, 1].map(|index| address_of(&session, &stop.top, &format!("*calls[{index}]")));
    let wanted =
        calls.map(|at| InstructionBreakpoint::new(format!("{at:#x}")).with_condition("never == 1"));
    let arguments = SetInstructionBreakpointsArguments::new(wanted.to_vec());
    session.ok::<SetInstructionBreakpointsRequest>(arguments);
    session.resume(stop.thread);
    wait_for_jumps(&session, calls.len());
    for _ in 0..300 {
        let stop = pause(&session);
        if calls.contains(&pc(&stop)) {
            let mark = session.evaluate(&stop.top, "*(long *)($rsp - 8)");
            assert_eq!(mark, "1", "at {:#x}", pc(&stop));
        }
        session.resume(stop.thread);
    }
    let stop = pause(&session);
    end(session, &stop);
}
