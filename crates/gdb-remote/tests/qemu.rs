//! QEMU's user-mode emulation. `DAPPLE_QEMU_USER` names the program for x86-64, which then has to be there.

use crate::programs::{
    COUNTS, LONG, Program, StubProcess, client, end, register, stop, stub_program, word,
};
use dapple_gdb_remote::client::BreakpointKind;
use dapple_gdb_remote::error::Support;
use dapple_gdb_remote::features::Feature;
use dapple_gdb_remote::stop_reply::{Reason, StopReply};
use dapple_gdb_remote::{Address, Client, Connection};
use std::process::{Command, Stdio};
use std::time::Instant;

/// QEMU listens on a Unix socket, which it does not say: so it is tried until it is there.
fn start(program: &Program) -> Option<(StubProcess, Client)> {
    let qemu = stub_program("DAPPLE_QEMU_USER", &["qemu-x86_64"], "--version")?;
    let socket = program.path.with_extension("socket");
    let mut child = Command::new(qemu)
        .arg("-g")
        .args([&socket, &program.path])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let address = Address::Unix(socket);
    let started = Instant::now();
    let connection = loop {
        match Connection::connect(&address, LONG) {
            Ok(connection) => break connection,
            Err(error) => assert!(started.elapsed() < LONG, "{error}"),
        }
        assert!(child.try_wait().unwrap().is_none(), "QEMU has ended");
        std::thread::yield_now();
    };
    Some((StubProcess(child), client(connection)))
}

#[test]
fn qemu_stops_at_a_breakpoint_and_runs_to_the_end() {
    let program = Program::compile(COUNTS);
    let Some((_process, mut client)) = start(&program) else {
        return;
    };
    assert!(client.features().has(Feature::ReadFeatures));
    let StopReply::Stopped(first) = client.stop_reason().unwrap() else {
        panic!("not stopped")
    };
    let thread = first.thread.unwrap();
    assert_eq!(client.threads().unwrap().unwrap()[0].id, thread);
    assert_eq!(client.svr_libraries().unwrap(), None);
    let _ = client.choose_thread(thread).unwrap();
    let description = client.description().unwrap().unwrap();
    let all = client.read_registers().unwrap();
    let rip = description.register("rip").unwrap();
    let one = client.read_register(rip.number).unwrap().unwrap();
    let one: Option<Vec<u8>> = one.into_iter().collect();
    assert_eq!(one, rip.value_in(&all));
    let last = description.registers.last().unwrap();
    let value = client.read_described_register(last, &all).unwrap();
    assert_eq!(value.map(|it| it.len()), Some(last.size()));
    let support = client.write_register(rip.number, &one.unwrap());
    assert_eq!(support.unwrap(), Support::Done);
    assert_eq!(description.architecture.as_deref(), Some("i386:x86-64"));
    let main = program.address("main", &mut client);
    let counter = program.address("counter", &mut client);
    let support = client.insert_breakpoint(BreakpointKind::Software, main, 1);
    assert_eq!(support.unwrap(), Support::Done);
    client.resume_all().unwrap();
    let hit = stop(&mut client);
    assert!(matches!(
        hit.reason,
        None | Some(Reason::SoftwareBreakpoint)
    ));
    let _ = client.choose_thread(hit.thread.unwrap_or(thread)).unwrap();
    assert_eq!(register(&mut client, "rip"), main);
    assert_eq!(word(&mut client, counter), 0);
    assert_eq!(client.write_memory(counter, &[7, 0, 0, 0]).unwrap(), 4);
    assert_eq!(word(&mut client, counter), 7);
    let support = client.remove_breakpoint(BreakpointKind::Software, main, 1);
    assert_eq!(support.unwrap(), Support::Done);
    client.step(thread).unwrap();
    stop(&mut client);
    client.resume_all().unwrap();
    assert!(matches!(
        end(&mut client),
        StopReply::Exited { status: 3, .. }
    ));
}

/// The first call of `count` returns at once, by the debugger's hand. That the second one comes with the counter still at 0 shows that QEMU runs on
/// at the address that comes with `c`.
#[test]
fn qemu_runs_on_at_a_program_counter_that_comes_with_the_resumption() {
    let program = Program::compile(COUNTS);
    let Some((_process, mut client)) = start(&program) else {
        return;
    };
    client.stop_reason().unwrap();
    let description = client.description().unwrap().unwrap();
    let number = |name: &str| description.register(name).unwrap().number;
    let [count, main] = ["count", "main"].map(|name| program.address(name, &mut client));
    let counter = program.address("counter", &mut client);
    for address in [main, count] {
        let support = client.insert_breakpoint(BreakpointKind::Software, address, 1);
        assert_eq!(support.unwrap(), Support::Done);
    }
    let go = |client: &mut Client, expected: u64| {
        client.resume_all().unwrap();
        stop(client);
        assert_eq!(register(client, "rip"), expected);
    };
    go(&mut client, main);
    let support = client.remove_breakpoint(BreakpointKind::Software, main, 1);
    assert_eq!(support.unwrap(), Support::Done);
    let written = client.write_program_counter(number("rip"), main);
    assert_eq!(written.unwrap(), Support::Done);
    go(&mut client, count);
    let top = register(&mut client, "rsp");
    let mut returns = [0; 8];
    assert_eq!(client.read_memory(top, &mut returns).unwrap(), 8);
    let written = client.write_register(number("rsp"), &(top + 8).to_le_bytes());
    assert_eq!(written.unwrap(), Support::Done);
    // Whether the stub is QEMU is asked once.
    let returns = u64::from_le_bytes(returns);
    let first = client.write_program_counter(number("rip"), returns);
    assert_eq!(first.unwrap(), Support::Done);
    let before = client.counts().packets_sent;
    let again = client.write_program_counter(number("rip"), returns);
    assert_eq!(again.unwrap(), Support::Done);
    client.resume_all().unwrap();
    assert_eq!(client.counts().packets_sent - before, 1);
    stop(&mut client);
    assert_eq!(register(&mut client, "rip"), count);
    assert_eq!(word(&mut client, counter), 0);
    let support = client.remove_breakpoint(BreakpointKind::Software, count, 1);
    assert_eq!(support.unwrap(), Support::Done);
    client.resume_all().unwrap();
    assert!(matches!(
        end(&mut client),
        StopReply::Exited { status: 3, .. }
    ));
}
