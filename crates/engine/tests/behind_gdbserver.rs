//! The same steps and values with gdbserver in between: this program's own tests again, whose programs gdbserver launches then.

use crate::support::behind_stub::VARIABLE;
use std::process::Command;

/// What runs behind gdbserver. Left out is what needs ptrace(2): attaching, what is left behind, recordings, input; and what a timer or a pause
/// interrupts more often than a packet is answered.
const RUN: [&str; 7] = [
    "stepping_tables::",
    "stepping_loops::",
    "stepping_lineless::",
    "stepping_callbacks::",
    "step_targets::",
    "values::",
    "temporary::",
];

#[test]
fn steps_and_values_are_the_same_behind_gdbserver() {
    let Some(server) = std::env::var_os("DAPPLE_GDBSERVER") else {
        eprintln!("DAPPLE_GDBSERVER doesn't say where gdbserver is: nothing was run");
        return;
    };
    let own = std::env::current_exe().expect("this program");
    let mut tests = Command::new(own);
    tests.args(RUN).args(["--test-threads", "2"]);
    // Not this one again.
    tests.args(["--skip", "behind_"]);
    let output = tests.env(VARIABLE, server).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "behind gdbserver:\n{text}");
    let passed = text.matches(" ... ok").count();
    assert!(passed > 60, "only {passed} have run:\n{text}");
}
