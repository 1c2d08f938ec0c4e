//! The same steps and values on other processors: this program's own tests again, built by cross compilers and executed by QEMU.

use crate::support::behind_qemu::{VARIABLE, is_there};
use std::process::Command;

/// What runs on other processors.
const RUN: [&str; 7] = [
    "conventions::",
    "stepping_tables::",
    "stepping_loops::",
    "stepping_callbacks::",
    "step_targets::",
    "values::",
    "temporary::",
];

/// What doesn't, and why.
const SKIP: [&str; 15] = [
    "behind_",
    // Compilers have options and make code for these that other processors' don't.
    "retpolines",
    "calls_at_o2",
    "closures_at_o2",
    "objects_at_o2",
    "more_targets_at_o2",
    "targets_in_rust_at_o2",
    "skipped_in_rust_at_o2",
    "rust_values_of_optimised_programs",
    // QEMU 7.2 dies of breakpoints that several threads run into, with any debugger.
    "events",
    "for_one_thread",
    "thread_end",
    "rust_channels_and_threads",
    // That compiler makes programs for this machine.
    "compiled_by_clang",
    // What memory that is not initialised has in it.
    "rust_wrappers_have",
];

/// What doesn't on arm: optimised, the line of one of these loops has code only within the loop.
const SKIP_ON_ARM: [&str; 2] = ["loops_in_rust_at_o2", "millions_of_turns"];

fn are_the_same_on(machine: &str) {
    if !is_there(machine) {
        return;
    }
    let own = std::env::current_exe().expect("this program");
    let mut tests = Command::new(own);
    tests.args(RUN).args(["--test-threads", "2"]);
    let more = match machine {
        "arm" => &SKIP_ON_ARM[..],
        _ => &[],
    };
    for name in SKIP.iter().chain(more) {
        tests.args(["--skip", name]);
    }
    if !has_rust(machine) {
        eprintln!("Rust's library for {machine} isn't installed: its programs are left out");
        tests.args(["--skip", "rust", "--skip", "closures"]);
    }
    let output = tests.env(VARIABLE, machine).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "on {machine}:\n{text}");
    let passed = text.matches(" ... ok").count();
    assert!(passed > 30, "only {passed} have run:\n{text}");
}

/// Whether Rust's standard library for the processor is installed.
fn has_rust(machine: &str) -> bool {
    let target = crate::support::behind_qemu::rust_target(machine);
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", &target]);
    let output = rustc.output().expect("rustc runs");
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    std::path::Path::new(&folder).exists()
}

#[test]
fn steps_and_values_are_the_same_on_aarch64() {
    are_the_same_on("aarch64");
}

#[test]
fn steps_and_values_are_the_same_on_riscv64() {
    are_the_same_on("riscv64");
}

#[test]
fn steps_and_values_are_the_same_on_arm() {
    are_the_same_on("arm");
}
