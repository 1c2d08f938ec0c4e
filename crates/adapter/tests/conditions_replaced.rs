//! Where the program decides conditions by itself, the user reads, writes, steps and moves in the program's own code.

use crate::conditions_unnoticed::{
    address_of, assert_jumps, begun, decided, end, ends_well, false_at, memory, pause, started,
    wait_for_jumps,
};
use crate::support::fixture::fixtures_folder;
use crate::support::{Fixture, PATIENCE, Session, Stopped};
use dapple_adapter::DecidedBreakpoint;
use dapple_dap::types::*;
use serde_json::json;

/// The text of bytes in base64.
fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, i| {
            word << 8 | u32::from(three.get(i).copied().unwrap_or(0))
        });
        for digit in 0..4 {
            let value = (word >> (18 - 6 * digit)) as usize & 63;
            let is_there = digit <= three.len();
            text.push(if is_there { DIGITS[value] as char } else { '=' });
        }
    }
    text
}

fn disassembled(session: &Session, address: u64, many: i64) -> Vec<(String, Option<String>)> {
    let arguments = DisassembleArguments::new(format!("{address:#x}"), many);
    let listed = session.ok::<DisassembleRequest>(arguments).instructions;
    { listed.into_iter() }
        .map(|it| (it.instruction, it.instruction_bytes))
        .collect()
}

#[test]
fn reads_of_any_part_of_a_replaced_place_give_the_programs_own_bytes() {
    let fixture = Fixture::new("unnoticed.c");
    let (session, stop) = begun(&fixture, &["nops"]);
    let start = address_of(&session, &stop.top, "nops");
    let bytes = memory(&session, start, 80);
    let site = bytes.windows(5).position(|five| five == [0x90; 5]);
    let site = site.expect("the instructions");
    let listed = |session: &Session| {
        let all = (0..8).map(|byte| disassembled(session, start + (site + byte) as u64, 10));
        (all.collect::<Vec<_>>(), disassembled(session, start, 20))
    };
    let before = listed(&session);
    session.set_source(&fixture, vec![false_at(&fixture, "first")]);
    session.resume(stop.thread);
    wait_for_jumps(&session, 1);
    let stop = pause(&session);
    assert_jumps(&session, 1);
    for offset in 0..40 {
        for length in 1..40 {
            let read = memory(&session, start + offset as u64, length as i64);
            assert_eq!(read, bytes[offset..offset + length], "{offset}, {length}");
        }
    }
    assert_eq!(listed(&session), before);
    assert_jumps(&session, 1);
    end(session, &stop);
}

/// Writes bytes over the instructions at `added_site`, from the offset on, while the place is replaced. The program then ends with this code.
#[track_caller]
fn ends_after_write(offset: i64, bytes: &[u8], code: i64) {
    let fixture = Fixture::new("unnoticed.c");
    let (session, stop) = begun(&fixture, &["added", "100000"]);
    let site = session.evaluate(&stop.top, "(unsigned long)places[3]");
    let site: u64 = site.parse().expect("an address");
    let at = InstructionBreakpoint::new(format!("{site:#x}")).with_condition("never == 1");
    let arguments = SetInstructionBreakpointsArguments::new(vec![at]);
    session.ok::<SetInstructionBreakpointsRequest>(arguments);
    session.set_source(&fixture, vec![fixture.breakpoint("added once")]);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "added once", StoppedEventReason::Breakpoint);
    assert_jumps(&session, 1);
    let from = site.wrapping_add_signed(offset);
    let write = WriteMemoryArguments::new(format!("{from:#x}"), encoded(bytes));
    session.ok::<WriteMemoryRequest>(write);
    assert_eq!(memory(&session, from, bytes.len() as i64), bytes);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), code, "{bytes:x?} at {offset}");
    session.disconnect();
}

#[test]
fn bytes_written_into_a_replaced_place_and_over_its_ends_take_effect() {
    // The instructions: nop, addq $3, %rax, addq $4, %rax.
    ends_after_write(4, &[5], 9);
    ends_after_write(3, &[0xc0, 6, 0x48], 10);
    ends_after_write(0, &[0x90, 0x48, 0x83, 0xc0, 7, 0x48, 0x83, 0xc0, 8], 15);
    // The first instruction's own byte, and the start of the second.
    ends_after_write(0, &[0x48, 0x83, 0xc0, 1, 0x90], 5);
    // Behind the replaced instructions.
    ends_after_write(8, &[9], 12);
}

#[test]
fn breakpoints_inside_of_a_replaced_place_are_hit() {
    let fixture = Fixture::new("unnoticed.c");
    let (session, stop) = begun(&fixture, &["nops", "3000"]);
    session.set_source(&fixture, vec![false_at(&fixture, "first")]);
    session.resume(stop.thread);
    wait_for_jumps(&session, 1);
    let inner = || fixture.breakpoint("third");
    // Set while the program runs.
    let both = vec![
        false_at(&fixture, "first"),
        inner().with_condition("i == 777"),
    ];
    session.set_source(&fixture, both);
    let stop = session.stopped_at(&fixture, "third", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "i"), "777");
    session.resume(stop.thread);
    // The second may be decided in the program now: a jump there is behind the first's `int3`.
    let stop = session.stopped_at(&fixture, "third", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "i"), "777");
    session.set_source(&fixture, vec![false_at(&fixture, "first")]);
    session.resume(stop.thread);
    wait_for_jumps(&session, 1);
    let stop = pause(&session);
    assert_jumps(&session, 1);
    let second = fixture.line("second");
    let targets = GotoTargetsArguments::new(Source::new().with_path(fixture.path()), second);
    let target = &session.ok::<GotoTargetsRequest>(targets).targets[0];
    let address = target.instruction_pointer_reference.clone();
    let at = InstructionBreakpoint::new(address.expect("an address"));
    let arguments = SetInstructionBreakpointsArguments::new(vec![at]);
    session.ok::<SetInstructionBreakpointsRequest>(arguments);
    session.resume(stop.thread);
    let mut stop = session.stopped(StoppedEventReason::InstructionBreakpoint);
    for _ in 0..100 {
        assert_eq!(stop.top.line, second);
        let i: i64 = session.evaluate(&stop.top, "i").parse().expect("a number");
        session.resume(stop.thread);
        stop = session.stopped(StoppedEventReason::InstructionBreakpoint);
        let next = session.evaluate(&stop.top, "i");
        assert_eq!(next, ((i + 1) % 3000).to_string());
    }
    session.ok::<SetInstructionBreakpointsRequest>(SetInstructionBreakpointsArguments::new(vec![]));
    end(session, &stop);
}

/// Runs until the jump is in place and a thread is at the line before it.
#[track_caller]
fn before_replaced(fixture: &Fixture) -> (Session, Stopped) {
    let (session, stop) = begun(fixture, &["nops", "100000"]);
    let wanted = vec![
        fixture.breakpoint("before").with_condition("i == 5000"),
        false_at(fixture, "first"),
    ];
    session.set_source(fixture, wanted);
    session.resume(stop.thread);
    let stop = session.stopped_at(fixture, "before", StoppedEventReason::Breakpoint);
    let is_in = |it: &DecidedBreakpoint| it.in_program == 1;
    assert!(decided(&session).iter().all(is_in));
    (session, stop)
}

#[test]
fn steps_end_inside_of_a_replaced_place_and_go_over_it_and_out_of_it() {
    let fixture = Fixture::new("unnoticed.c");
    let (session, mut stop) = before_replaced(&fixture);
    for line in ["first", "second", "third", "fourth", "fifth", "sixth"] {
        stop = session.next(&stop, &fixture, line);
    }
    assert_eq!(session.evaluate(&stop.top, "sum"), "5000");
    end(session, &stop);

    let (session, stop) = before_replaced(&fixture);
    let stop = session.step_out(&stop, &fixture, "caller");
    let is_in = |it: &DecidedBreakpoint| it.in_program == 1;
    assert!(decided(&session).iter().any(is_in));
    session.set_source(&fixture, vec![false_at(&fixture, "first")]);
    let mut stop = stop;
    while stop.top.line != fixture.line("second") {
        session.ok::<StepInRequest>(StepInArguments::new(stop.thread));
        stop = session.stopped(StoppedEventReason::Step);
    }
    let stop = session.step_out(&stop, &fixture, "caller");
    session.resume(stop.thread);
    wait_for_jumps(&session, 1);
    session.set_source(
        &fixture,
        vec![
            fixture.breakpoint("caller").with_condition("i == 9000"),
            false_at(&fixture, "first"),
        ],
    );
    let mut stop = session.stopped_at(&fixture, "caller", StoppedEventReason::Breakpoint);
    for i in 9001..9010 {
        loop {
            session.ok::<NextRequest>(NextArguments::new(stop.thread));
            stop = session.stopped(StoppedEventReason::Step);
            assert_eq!(stop.top.name, "many_nops");
            if stop.top.line == fixture.line("caller") {
                break;
            }
        }
        assert_eq!(session.evaluate(&stop.top, "i"), i.to_string());
    }
    end(session, &stop);
}

#[track_caller]
fn goto(session: &Session, fixture: &Fixture, stop: &Stopped, name: &str) -> Stopped {
    let source = Source::new().with_path(fixture.path());
    let arguments = GotoTargetsArguments::new(source, fixture.line(name));
    let target = session.ok::<GotoTargetsRequest>(arguments).targets[0].id;
    session.ok::<GotoRequest>(GotoArguments::new(stop.thread, target));
    session.stopped_at(fixture, name, StoppedEventReason::Goto)
}

#[test]
fn a_thread_can_be_moved_into_a_replaced_place_and_back_and_its_frame_restarted() {
    let fixture = Fixture::new("unnoticed.c");
    let lines = ["first", "second", "third", "fourth", "fifth", "sixth"];
    for line in lines {
        let (session, stop) = before_replaced(&fixture);
        let stop = goto(&session, &fixture, &stop, line);
        let stop = goto(&session, &fixture, &stop, "before");
        let stop = session.next(&stop, &fixture, "first");
        let stop = goto(&session, &fixture, &stop, line);
        end(session, &stop);
    }
    for line in lines {
        let (session, stop) = before_replaced(&fixture);
        let stop = session.next(&stop, &fixture, "first");
        let stop = match line {
            "first" => stop,
            line => goto(&session, &fixture, &stop, line),
        };
        session.set_source(&fixture, vec![false_at(&fixture, "first")]);
        session.ok::<RestartFrameRequest>(RestartFrameArguments::new(stop.top.id));
        let stop = session.stopped(StoppedEventReason::Other("restart".into()));
        end(session, &stop);
    }
}

/// Waits until an engine's session has a jump.
fn wait_for_jump(session: &dapple_engine::Session) {
    loop {
        let decided = session.decisions().expect("breakpoints").breakpoints;
        if decided.iter().any(|breakpoint| breakpoint.in_program > 0) {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_core_file_that_is_written_while_a_place_is_replaced_has_the_programs_own_code() {
    let fixture = Fixture::new("unnoticed.c");
    let (session, stop) = begun(&fixture, &["nops"]);
    let start = address_of(&session, &stop.top, "nops");
    let own = memory(&session, start, 80);
    end(session, &stop);

    let core = fixtures_folder().join(format!("core-of-unnoticed-{}", std::process::id()));
    let _ = std::fs::remove_file(&core);
    let options = dapple_engine::launch::LaunchOptions {
        program: fixture.binary.clone(),
        args: vec!["nops".into()],
        ..dapple_engine::launch::LaunchOptions::default()
    };
    let (events, told) = crossbeam_channel::unbounded();
    let session = dapple_engine::Session::launch(options, events).expect("launched");
    let decided = dapple_engine::session::breakpoints::WhereDecided::InProgram;
    session.set_decided(decided).expect("it lives");
    let wanted = dapple_engine::session::LineBreakpoint {
        line: u32::try_from(fixture.line("first")).expect("a line"),
        options: dapple_engine::session::BreakpointOptions {
            condition: Some("never == 1".into()),
            ..Default::default()
        },
        ..Default::default()
    };
    let set = session.set_line_breakpoints(&fixture.source, vec![wanted]);
    assert!(set.is_ok_and(|set| set.len() == 1));
    session.resume().expect("it runs");
    wait_for_jump(&session);
    session.pause(None).expect("it runs");
    let is_stop = |event: &dapple_engine::Event| matches!(event, dapple_engine::Event::Stopped(_));
    while !is_stop(&told.recv_timeout(PATIENCE).expect("a stop")) {}
    wait_for_jump(&session);
    session.write_core(&core).expect("a core file");
    drop(session);

    let session = Session::new();
    let arguments = serde_json::from_value(json!({"coreFile": core})).expect("an object");
    session.ok::<AttachRequest>(arguments);
    session.wait_for::<InitializedEvent>();
    session.configured();
    assert_eq!(memory(&session, start, 80), own);
    session.disconnect();
    let _ = std::fs::remove_file(&core);
}

/// The most arenas of a process, each of so many bytes.
const MOST_ARENAS: usize = 16;
const ARENA: u64 = 64 << 10;

#[test]
fn the_memory_for_deciding_is_bounded_and_the_rest_is_decided_at_stops() {
    let fixture = Fixture::new("unnoticed.c");
    let arguments = ["sites", "100"];
    let breakpoints = vec![fixture.breakpoint("mode"), fixture.breakpoint("sites done")];
    let session = started(&fixture, &arguments, breakpoints);
    let process = session.process_id();
    let stop = session.stopped_at(&fixture, "mode", StoppedEventReason::Breakpoint);
    let start = session.evaluate(&stop.top, "(unsigned long)places[4]");
    let start: u64 = start.parse().expect("an address");
    // Each takes almost the most room that a condition may take.
    let condition = |number: u64| {
        let group = |start: u64| {
            let terms = (start..start + 40).map(|term| format!("never=={}", 1000 * number + term));
            format!("({})", terms.collect::<Vec<_>>().join("||"))
        };
        [1, 41, 81, 121].map(group).join("||")
    };
    let wanted = (0..340).map(|number| {
        let at = InstructionBreakpoint::new(format!("{:#x}", start + 5 * number));
        at.with_condition(condition(number))
    });
    let arguments = SetInstructionBreakpointsArguments::new(wanted.collect());
    let set = session.ok::<SetInstructionBreakpointsRequest>(arguments);
    assert!(set.breakpoints.iter().all(|it| it.verified), "{set:?}");
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "sites done", StoppedEventReason::Breakpoint);
    let all = decided(&session);
    let jumps = all.iter().filter(|it| it.in_program == 1).count();
    assert!((200..=320).contains(&jumps), "{jumps}");
    for breakpoint in all.iter().filter(|it| it.in_program == 0) {
        let reason = "the memory for deciding in the program is used up";
        assert_eq!(breakpoint.by_stops, [reason]);
    }
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).expect("it lives");
    let arenas = maps.lines().filter_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let is_code = rest.starts_with("r-xp 00000000 00:00 0 ") && rest.trim_end().ends_with(" 0");
        is_code.then(|| Some(number(end)? - number(start)?))?
    });
    let sizes: Vec<u64> = arenas.collect();
    let total: u64 = sizes.iter().sum();
    assert_eq!(total, MOST_ARENAS as u64 * ARENA, "{sizes:?}");
    session.resume(stop.thread);
    ends_well(session);
}
