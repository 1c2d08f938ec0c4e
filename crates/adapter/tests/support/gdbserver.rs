//! Where gdbserver is: `DAPPLE_GDBSERVER` names it, and then it has to be there; else it is searched on PATH.

use std::process::Command;

/// gdbserver, if it is there; says so if not.
pub fn gdbserver() -> Option<String> {
    let named = std::env::var("DAPPLE_GDBSERVER").ok();
    let program = named.clone().unwrap_or_else(|| "gdbserver".to_owned());
    let output = Command::new(&program).arg("--version").output();
    let runs = output.is_ok_and(|output| output.status.success());
    assert!(runs || named.is_none(), "{program} does not run");
    if !runs {
        println!("skipped: there is no gdbserver");
    }
    runs.then_some(program)
}
