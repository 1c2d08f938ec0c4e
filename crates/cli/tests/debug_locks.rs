//! `info locks` in the terminal.

use crate::support;
use crate::support::Run;

#[test]
fn threads_that_wait_for_locks_are_listed_with_their_holders_and_deadlocks() {
    let folder = support::scratch("locks");
    let program = folder.join(format!("locks-{}", std::process::id()));
    support::compile("locks.c", &program);
    let commands = ["run", "info locks", "info lo", "help info", "quit"];
    let commands = commands.iter().flat_map(|command| ["--ex", command]);
    let mut command = support::dapple();
    command.args(["debug", "--batch"]).args(commands);
    let run = Run::of(command.arg(&program).arg("broken"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    for part in [
        "  waiting for a mutex, mutexes",
        "  embraced  locks.c:",
        "waiting for a mutex, apart (0x…), held by thread N",
        "waiting for the end of a thread: thread N",
        "waiting for a condition variable, never (0x…)",
        "deadlock: these threads wait for each other: ",
        "`info locks` lists",
    ] {
        assert!(run.stdout.contains(part), "{part}: {run:#?}");
    }
}
