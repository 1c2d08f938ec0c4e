//! Running backwards behind a stub that replays a recording: QEMU's, of a board without an operating system.

use crate::bare_metal::{BOARDS, Board};
use crate::support::{Debuggee, Fixture, listing};
use dapple_engine::event::StopReason;
use dapple_engine::session::travel::StepBack;
use dapple_engine::session::watching::{Access, DataBreakpoint, WatchedData};
use dapple_engine::session::{BreakpointOptions, StepKind};
use dapple_engine::{Address, ThreadId};
use dapple_symbols::functions::Language;
use std::path::Path;

/// An empty disk of 1 MiB in QEMU's format (docs/interop/qcow2.txt in its sources), for the snapshot that a recording begins with.
fn disk() -> Vec<u8> {
    const CLUSTER: usize = 1 << 16;
    // The header, and a cluster each for the table of reference counts, its only block, and the disk's own table.
    let mut disk = vec![0; 4 * CLUSTER];
    let mut put = |at: usize, bytes: &[u8]| disk[at..at + bytes.len()].copy_from_slice(bytes);
    let cluster = |number: u64| (number * CLUSTER as u64).to_be_bytes();
    put(0, b"QFI\xfb");
    put(4, &3_u32.to_be_bytes());
    // The cluster's size as a power of two, and the disk's.
    put(20, &16_u32.to_be_bytes());
    put(24, &(1_u64 << 20).to_be_bytes());
    // The disk's table has one entry.
    put(36, &1_u32.to_be_bytes());
    put(40, &cluster(3));
    put(48, &cluster(1));
    put(56, &1_u32.to_be_bytes());
    // Counts have 16 bits; the header has 104 bytes.
    put(96, &4_u32.to_be_bytes());
    put(100, &104_u32.to_be_bytes());
    put(CLUSTER, &cluster(2));
    for cluster in 0..4 {
        put(2 * CLUSTER + 2 * cluster, &1_u16.to_be_bytes());
    }
    disk
}

fn arguments(folder: &Path, mode: &str) -> Vec<String> {
    let (disk, recording) = (folder.join("disk"), folder.join("recording"));
    vec![
        "-drive".into(),
        format!("file={},if=none,id=rr", disk.display()),
        "-icount".into(),
        format!(
            "shift=7,rr={mode},rrfile={},rrsnapshot=begin",
            recording.display()
        ),
    ]
}

/// Records the program up to its end.
fn record(board: &Board, fixture: &Fixture, folder: &Path) {
    std::fs::write(folder.join("disk"), disk()).expect("a file");
    let (mut qemu, mut debuggee) =
        board.connect_with(fixture, &arguments(folder, "record"), |it| it);
    debuggee.break_at(&["end"]);
    debuggee.run_to_breakpoint();
    debuggee.session().kill().expect("it is killed");
    // It writes the recording before it ends.
    qemu.0.wait().expect("QEMU ends");
}

fn step_back(debuggee: &mut Debuggee<'_>, thread: ThreadId, how: StepBack) -> String {
    debuggee.session().step_back(thread, how).expect("it runs");
    let stops = debuggee.expect_stop();
    assert_eq!(stops[0].reason, StopReason::Step, "{stops:?}");
    debuggee.place(thread)
}

/// Runs back to a stop, and tells where and why that is.
fn reverse(debuggee: &mut Debuggee<'_>, thread: ThreadId) -> String {
    debuggee.session().reverse(thread).expect("it runs");
    let stops = debuggee.expect_stop();
    match &stops[0].reason {
        StopReason::Breakpoint(_) => format!("breakpoint {}", debuggee.place(thread)),
        other => format!("{other:?}"),
    }
}

fn pc(debuggee: &Debuggee<'_>, thread: ThreadId) -> Address {
    let stack = debuggee.session().stack(thread, 0..1).expect("a stack");
    stack.frames[0].physical.pc
}

fn value(debuggee: &Debuggee<'_>, thread: ThreadId, name: &str) -> String {
    let frame = listing::innermost(debuggee.session(), thread);
    let (_, rendered) = { debuggee.session().evaluate(name, Some(frame)) }.expect("a value");
    rendered.text
}

fn runs_backwards(board: &Board) {
    if !board.is_there() {
        return;
    }
    let fixture = board.program();
    let folder = tempfile::tempdir().expect("a folder");
    record(board, &fixture, folder.path());
    let (_qemu, mut debuggee) =
        board.connect_with(&fixture, &arguments(folder.path(), "replay"), |it| it);
    assert!(debuggee.session().runs_backwards());
    debuggee.break_at(&["fib"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    assert_eq!(value(&debuggee, thread, "counter"), "3");
    // Line by line: `for` is come to once more than its body.
    for expected in ["for", "count", "call", "for", "count"] {
        assert_eq!(step_back(&mut debuggee, thread, StepBack::Line), expected);
    }
    assert_eq!(value(&debuggee, thread, "i"), "1");
    assert_eq!(value(&debuggee, thread, "counter"), "1");
    // To a breakpoint, and from the function to its call.
    debuggee.break_at(&["twice"]);
    assert_eq!(reverse(&mut debuggee, thread), "breakpoint twice");
    assert_eq!(value(&debuggee, thread, "a"), "1");
    assert_eq!(step_back(&mut debuggee, thread, StepBack::Out), "call");
    // Over the call, forwards and back by instructions.
    debuggee.break_at(&[]);
    assert_eq!(debuggee.step(thread, StepKind::Over), "count");
    let begins = pc(&debuggee, thread);
    while debuggee.place(thread) != "call" {
        step_back(&mut debuggee, thread, StepBack::Instruction);
    }
    assert_eq!(value(&debuggee, thread, "i"), "1");
    assert_eq!(debuggee.step(thread, StepKind::Over), "count");
    assert_eq!(pc(&debuggee, thread), begins);
    // To the write of data, behind which the thread is shown, as forwards.
    let watched = DataBreakpoint {
        data: WatchedData::Static {
            name: "counter".to_owned(),
            language: Language::C,
            length: None,
        },
        access: Access::Change,
        options: BreakpointOptions::default(),
    };
    let set = debuggee.session().set_data_breakpoints(vec![watched]);
    set.expect("watched");
    assert!(reverse(&mut debuggee, thread).starts_with("Data"));
    assert_eq!(value(&debuggee, thread, "counter"), "1");
    assert_eq!(step_back(&mut debuggee, thread, StepBack::Line), "count");
    assert_eq!(value(&debuggee, thread, "counter"), "0");
    // Nothing is before the beginning.
    assert_eq!(reverse(&mut debuggee, thread), "Beginning");
    assert_eq!(reverse(&mut debuggee, thread), "Beginning");
    debuggee
        .session()
        .set_data_breakpoints(Vec::new())
        .expect("none");
    // In a function that calls itself, a step back stays in its call.
    debuggee.break_at(&["leaf"]);
    for _ in 0..3 {
        debuggee.run_to_breakpoint();
    }
    debuggee.break_at(&[]);
    let again = "return fib(n - 1) + fib(n - 2);";
    assert_eq!(value(&debuggee, thread, "n"), "1");
    assert!(debuggee.step(thread, StepKind::Out).ends_with(again));
    assert_eq!(value(&debuggee, thread, "n"), "3");
    // To the beginning of the line, then to the one before, then to the call.
    for (line, n) in [(again, "3"), ("if (n < 2)", "3"), (again, "4")] {
        let place = step_back(&mut debuggee, thread, StepBack::Line);
        assert!(place.ends_with(line), "{place}");
        assert_eq!(value(&debuggee, thread, "n"), n);
    }
    // What can't be says so, and leaves all as it is.
    let refused = debuggee.session().step_back(thread, StepBack::Into);
    let refused = refused.expect_err("it is refused").to_string();
    assert!(refused.contains("doesn't enter functions"), "{refused}");
    // Back to another function, and forwards again.
    debuggee.break_at(&["call", "fib"]);
    assert_eq!(reverse(&mut debuggee, thread), "breakpoint fib");
    assert_eq!(reverse(&mut debuggee, thread), "breakpoint call");
    assert_eq!(value(&debuggee, thread, "i"), "2");
    assert_eq!(debuggee.run_to_breakpoint().1, "fib");
    assert_eq!(value(&debuggee, thread, "total"), "6");
}

#[test]
fn a_board_that_is_replayed_runs_backwards_on_aarch64() {
    runs_backwards(&BOARDS[0]);
}

#[test]
fn a_board_that_is_replayed_runs_backwards_on_riscv64() {
    runs_backwards(&BOARDS[1]);
}

#[test]
fn a_board_that_is_replayed_runs_backwards_on_arm() {
    runs_backwards(&BOARDS[2]);
}
