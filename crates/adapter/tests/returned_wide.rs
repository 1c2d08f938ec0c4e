//! Return values of C++ member functions and conversion operators, mostly 128-bit integers, equal what the program prints.

use crate::support;
use crate::support::{Session, fixture};
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The ways to compile the program: several optimization levels, also with the types in a separate section.
const WAYS: [(&str, &[&str]); 7] = [
    ("g++", &["-O0"]),
    ("g++", &["-O2"]),
    ("g++", &["-O2", "-fdebug-types-section"]),
    ("g++", &["-O1", "-gdwarf-4", "-fdebug-types-section"]),
    ("clang++-22", &["-O0"]),
    ("clang++-22", &["-O2"]),
    ("clang++-22", &["-O1", "-fdebug-types-section"]),
];

/// Compiles the program.
fn program(compiler: &str, flags: &[&str]) -> PathBuf {
    let name = format!("returned_wide-{}", std::process::id());
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = fixture::workspace().join("fixtures/returned_wide.cpp");
    let built = Command::new(compiler)
        .arg("-g")
        .args(flags)
        .arg("-o")
        .args([&program, &source])
        .status();
    let built = built.unwrap_or_else(|error| panic!("{compiler} is needed: {error}"));
    assert!(built.success(), "{compiler} {flags:?}");
    program
}

/// Calls whose values don't depend on the number of earlier calls, each with the 0-based line of its value in the program's output.
const CALLS: [(&str, usize); 7] = [
    ("Wide::of(-1234567890123456789, 1000000007)", 5),
    ("wide.through_thunk(3)", 7),
    ("wide.one(3)", 17),
    ("wide.two(4)", 18),
    ("Wide::two_static(5)", 19),
    ("wide.trailing(9)", 27),
    ("wide.defined_outside(2)", 31),
];

/// The values of the calls when they are evaluated at the start of the program.
fn called(program: &Path) -> Vec<String> {
    let session = Session::new();
    session.ok::<LaunchRequest>(launch_arguments(&json!({"program": program})));
    session.wait_for::<InitializedEvent>();
    let source = fixture::workspace().join("fixtures/returned_wide.cpp");
    let text = std::fs::read_to_string(&source).expect("the source");
    let line = text
        .lines()
        .position(|line| line.ends_with("// stop: called"));
    let line = line.expect("the mark") as i64 + 1;
    session.set_lines(&support::text(&source), &[line]);
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    let values = CALLS
        .iter()
        .map(|(call, _)| session.evaluate(&stop.top, call));
    let values = values.collect();
    session.disconnect();
    values
}

/// The name and value that a step out of each function shows as its return value.
fn returned(program: &Path, count: usize) -> Vec<(String, String)> {
    let session = Session::new();
    let arguments = json!({"program": program, "stdio": "null"});
    session.ok::<LaunchRequest>(launch_arguments(&arguments));
    session.wait_for::<InitializedEvent>();
    let touch = vec![FunctionBreakpoint::new("touch")];
    session.ok::<SetFunctionBreakpointsRequest>(SetFunctionBreakpointsArguments::new(touch));
    session.configured();
    let mut all = Vec::new();
    for _ in 0..count {
        let mut stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
        let mut function = String::new();
        for _ in 0..2 {
            session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
            function = stop.top.name;
            stop = session.stopped(StoppedEventReason::Step);
        }
        let locals = session.variables(session.scope(&stop.top, "Locals").variables_reference);
        let one = locals
            .iter()
            .find(|one| one.name.starts_with("returned by"));
        let value = one.map_or_else(|| "nothing".to_owned(), |one| one.value.clone());
        all.push((format!("{function}, {:?}", one.map(|one| &one.name)), value));
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    all
}

#[test]
fn what_a_function_has_returned_is_what_the_program_prints() {
    let mut wrong = String::new();
    for (compiler, flags) in WAYS {
        let program = program(compiler, flags);
        let printed = Command::new(&program).output().expect("it runs").stdout;
        let printed = String::from_utf8(printed).expect("digits");
        let printed: Vec<&str> = printed.lines().collect();
        assert_eq!(printed.len(), 33);
        let returned = returned(&program, printed.len());
        for (value, (call, line)) in called(&program).iter().zip(CALLS) {
            if value != printed[line] {
                wrong += &format!(
                    "{compiler} {flags:?} {call}: {value}, printed: {}\n",
                    printed[line]
                );
            }
        }
        std::fs::remove_file(program).expect("it was built");
        for ((name, value), printed) in returned.iter().zip(printed) {
            if value != printed {
                wrong += &format!("{compiler} {flags:?} {name}: {value}, printed: {printed}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
