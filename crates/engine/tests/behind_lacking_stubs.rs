//! The same steps behind stubs that have less than gdbserver and QEMU: no single steps, as on 32-bit Arm, or no packets for breakpoints. This
//! program's own tests again, some of them, with a thread in between that takes these out ([`lacking_stub`](crate::support::lacking_stub)).

use crate::support::{behind_qemu, behind_stub, fixture, lacking_stub};
use dapple_engine::session::{
    LineBreakpoint, RemoteOptions, RemoteStart, Resolution, StepKind, StubAddress,
};
use std::process::Command;

/// Runs tests with a stub that lacks something. Returns how many have passed.
fn passed(lacking: &str, stub: (&str, &str), tests: &[&str]) -> usize {
    let own = std::env::current_exe().expect("this program");
    let mut command = Command::new(own);
    command.args(tests).args(["--skip", "behind_"]);
    command
        .env(lacking_stub::VARIABLE, lacking)
        .env(stub.0, stub.1);
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "without {lacking}, {stub:?}:\n{text}"
    );
    text.matches(" ... ok").count()
}

fn gdbserver() -> Option<String> {
    let server = std::env::var("DAPPLE_GDBSERVER").ok();
    if server.is_none() {
        eprintln!("DAPPLE_GDBSERVER doesn't say where gdbserver is: nothing was run");
    }
    server
}

#[test]
fn steps_are_the_same_without_single_steps() {
    let Some(server) = gdbserver() else { return };
    let tests = [
        "tables::events",
        "tables::calls",
        "tables::thread_end",
        "statements_in_rust",
    ];
    let passed = passed("steps", (behind_stub::VARIABLE, &server), &tests);
    assert!(passed >= 8, "only {passed} have run");
}

#[test]
fn steps_are_the_same_without_single_steps_on_other_processors() {
    for machine in ["aarch64", "riscv64", "arm"] {
        if behind_qemu::is_there(machine) {
            let tests = [
                "tables::calls_at_o0",
                "tables::objects_at_o0",
                "statements_at",
            ];
            let passed = passed("steps", (behind_qemu::VARIABLE, machine), &tests);
            assert!(passed >= 4, "only {passed} have run on {machine}");
        }
    }
}

#[test]
fn steps_are_the_same_without_breakpoints_of_the_stub() {
    let Some(server) = gdbserver() else { return };
    let tests = [
        "tables::events",
        "tables::calls_at_o0",
        "stepping_callbacks::",
    ];
    let passed = passed("breakpoints", (behind_stub::VARIABLE, &server), &tests);
    assert!(passed >= 4, "only {passed} have run");
}

#[test]
fn breakpoints_in_flash_are_the_processors_and_say_when_none_is_left() {
    let Some(server) = gdbserver() else { return };
    let fixture = fixture("steps_back.c", &["-O0", "-static", "-no-pie"]);
    let program = fixture.binary.display();
    let real = StubAddress::Command(format!("exec {server} --once - {program} 2>/dev/null"));
    let mut debuggee = fixture.connect(RemoteOptions {
        address: lacking_stub::without("software breakpoints".to_owned(), real),
        start: RemoteStart::Present,
        program: Some(fixture.binary.clone()),
        sysroot: None,
    });
    let [begin, last] = ["begin", "last"].map(|name| fixture.line(name));
    let lines = [begin, last - 2, last - 1, last, last + 1];
    let wanted = lines.map(|line| LineBreakpoint {
        line,
        ..LineBreakpoint::default()
    });
    let source = &fixture.source;
    let states = debuggee
        .session()
        .set_line_breakpoints(source, wanted.into());
    let states = states.expect("an answer");
    let failures = states.iter().filter_map(|state| match &state.resolution {
        Resolution::Failed(why) => Some(why.as_str()),
        _ => None,
    });
    let failures: Vec<&str> = failures.collect();
    // x86-64 has four.
    assert_eq!(failures.len(), 1, "{states:#?}");
    assert!(
        failures[0].contains("no hardware breakpoint left"),
        "{failures:?}"
    );
    let (thread, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "begin");
    assert_eq!(debuggee.step(thread, StepKind::Over), "nested");
    assert_eq!(debuggee.step(thread, StepKind::Over), "breakpoint pointer");
}
