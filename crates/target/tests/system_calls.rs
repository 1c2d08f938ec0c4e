//! The table of system calls against the kernel: real programs run from call to call, and every byte that a call has changed in the process's
//! private memory must be one that the table says is written.

mod report;
mod snapshot;
mod traced;

use crate::support::compiled;
use dapple_target::exit_status::ExitStatus;
use dapple_target::wait_event::What;
use report::Report;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

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
    if !report.slow.is_empty() {
        println!("{what}: waited long in {:?}", report.slow);
    }
}

#[test]
fn every_byte_that_a_program_of_many_calls_gets_is_said() {
    let program = compiled("system_calls");
    let report = traced::run(&program, &[], false);
    check("fixture", &report);
    assert_eq!(report.exit, Some(What::Exited(ExitStatus::Code(0))));
    assert!(report.compared > 900 && report.seen.len() > 190);
}

#[test]
fn every_byte_that_threads_get_is_said() {
    let program = compiled("system_calls_threads");
    let report = traced::run(&program, &[], false);
    check("threads", &report);
    assert_eq!(report.exit, Some(What::Exited(ExitStatus::Code(0))));
    assert!(report.compared > 300, "{report:#?}");
}

/// Programs that are installed, with arguments.
const PROGRAMS: [(&str, &[&str]); 24] = [
    ("ls", &["-l", "/usr/bin"]),
    ("date", &[]),
    ("cat", &["/etc/passwd"]),
    ("sort", &["/etc/passwd"]),
    ("find", &["/etc"]),
    ("grep", &["-r", "root", "/etc/ssl"]),
    (
        "bash",
        &[
            "-c",
            "ls /etc | sort | wc -l; (echo x | cat); for i in 1 2; do id -u & done; wait",
        ],
    ),
    ("perl", &["-e", "print join(',', sort keys %ENV), `date`"]),
    ("tar", &["cf", "/dev/null", "/etc/ssl"]),
    ("gzip", &["-c", "/etc/passwd"]),
    ("xz", &["-c", "-T1", "/etc/passwd"]),
    ("ps", &["aux"]),
    ("id", &[]),
    ("df", &[]),
    ("mount", &[]),
    ("getent", &["passwd", "root"]),
    ("timeout", &["5", "sleep", "0.01"]),
    (
        "sqlite3",
        &[
            ":memory:",
            "create table t(a); insert into t values(1); select * from t",
        ],
    ),
    ("openssl", &["rand", "-hex", "20"]),
    ("vim", &["-es", "-c", "%p", "-c", "q", "/etc/passwd"]),
    ("git", &["--version"]),
    (
        "/usr/bin/python3",
        &[
            "-c",
            "import json, os, socket, subprocess; subprocess.run(['true']); print(os.listdir('/'))",
        ],
    ),
    ("gcc", &["--print-search-dirs"]),
    ("curl", &["--version"]),
];

#[test]
fn every_byte_that_installed_programs_get_is_said() {
    let mut names = BTreeSet::new();
    let mut compared = 0;
    for (name, args) in PROGRAMS {
        let Some(program) = installed(name) else {
            println!("{name} is not installed: left out");
            continue;
        };
        let report = traced::run(&program, args, false);
        check(name, &report);
        compared += report.compared;
        names.extend(report.seen.into_keys());
    }
    println!("{compared} calls compared, {} different", names.len());
    assert!(compared > 5000 && names.len() > 60);
}

#[test]
fn every_byte_that_programs_on_a_terminal_get_is_said() {
    for (name, args) in [
        ("stty", &["-a"][..]),
        ("bash", &["--norc", "-ic", "stty size; exit"]),
    ] {
        let program = installed(name).expect("everywhere");
        check(name, &traced::run(&program, args, true));
    }
}

fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    // Some are scripts in front of the program.
    let is_program = |path: &PathBuf| {
        let mut head = [0; 4];
        let file = std::fs::File::open(path);
        let read = file.and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && head == *b"\x7fELF"
    };
    places.find(is_program)
}
