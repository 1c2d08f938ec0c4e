//! The table of system calls against the kernel: real programs run from call to call, and every byte that a call has changed in the process's
//! private memory must be one that the table says is written.

mod snapshot;
mod traced;

use dapple_target::exit_status::ExitStatus;
use dapple_target::wait_event::What;
use std::path::{Path, PathBuf};
use std::process::Command;
use traced::Report;

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("target/fixtures");
    std::fs::create_dir_all(&folder).expect("a folder");
    let binary = folder.join(format!("target-{name}-{}", std::process::id()));
    let output = Command::new("cc")
        .args(["-g", "-w", "-D_GNU_SOURCE"])
        .arg(root.join("fixtures").join(name).with_extension("c"))
        .arg("-o")
        .arg(&binary)
        .args(["-lutil", "-lrt"])
        .output()
        .expect("the compiler runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    binary.canonicalize().expect("the program")
}

fn check(what: &str, report: &Report) {
    println!(
        "{what}: {} calls, {} compared, {} different, {} bytes changed",
        report.calls,
        report.compared,
        report.seen.len(),
        report.changed
    );
    assert!(report.wrong.is_empty(), "{what}: {:#?}", report.wrong);
    assert!(report.unknown.is_empty(), "{what}: {:#?}", report.unknown);
}

#[test]
fn every_byte_that_a_program_of_many_calls_gets_is_said() {
    let program = fixture("system_calls");
    let report = traced::run(&program, &[], false);
    std::fs::remove_file(&program).expect("removed");
    println!("{:#?}", report.seen);
    check("fixture", &report);
    assert_eq!(report.exit, Some(What::Exited(ExitStatus::Code(0))));
    assert!(report.compared > 900 && report.seen.len() > 190);
}
