//! What a guardian does for a process whose debugger has ended.

use crate::support::compiled;
use crate::support::guarded::is_guarded;
use crate::support::running::{Running, kill, status};
use dapple_target::ThreadId;
use dapple_target::linux::guardian::Guardian;
use dapple_target::linux::{injected, ptrace, wait};

/// The number that debug information has for `rbx`.
const RBX: u16 = 3;
/// How often the program counts after it has its registers again, before its debugger ends.
const TURNS: u64 = 100_000;

/// Stops the program, whose turns are in `rbx`.
fn stopped(process: ThreadId) -> u64 {
    ptrace::interrupt(process).expect("it runs");
    assert!(wait::until_stopped(process));
    let registers = ptrace::registers(process).expect("it is stopped");
    registers.to_dwarf().get(RBX).expect("a value")
}

/// Traces the program as a debugger does that has made it call the system, is about to tell the guardian that the program has its registers
/// again, and is killed.
fn is_killed_behind_a_call(process: ThreadId) {
    ptrace::seize(process, 0).expect("it can be traced");
    let guardian = Guardian::start(process).expect("a guardian");
    let begun = stopped(process);
    let registers = ptrace::registers(process).expect("it is stopped");
    let mask = ptrace::signal_mask(process).expect("it is stopped");
    let calls = injected::place_of_calls(process).expect("a system call's instruction");
    guardian.lend(process, mask, Some((calls, &registers)));
    // The kernel lets a tracer's threads go one by one, and the guardian comes later.
    while {
        ptrace::cont(process, 0).expect("it is stopped");
        stopped(process) < begun + TURNS
    } {}
    std::mem::forget(guardian);
}

#[test]
fn a_thread_that_has_its_registers_again_keeps_them() {
    let mut running = Running::start(&compiled("same_count"), &[]);
    let process = ThreadId(running.pid());
    let debugger = std::thread::spawn(move || is_killed_behind_a_call(process));
    debugger.join().expect("it traces the program");
    while status(running.pid(), "TracerPid") != "0" || is_guarded(running.pid()) {
        std::thread::yield_now();
    }
    kill("-USR1", running.pid());
    let ended = running.child.wait().expect("its end");
    assert!(ended.success(), "instructions were executed twice: {ended}");
}
