//! valgrind, through vgdb on its standard input and output. `DAPPLE_VGDB` names vgdb, which then has to be there, with valgrind on the path.

use crate::programs::{COUNTS, LONG, Program, StubProcess, client, stop, stub_program, word};
use dapple_gdb_remote::client::BreakpointKind;
use dapple_gdb_remote::error::Support;
use dapple_gdb_remote::stop_reply::StopReply;
use dapple_gdb_remote::{Address, Client, Connection};
use std::process::{Command, Stdio};

fn start(program: &Program) -> Option<(StubProcess, Client)> {
    let vgdb = stub_program("DAPPLE_VGDB", &["vgdb"], "--help")?;
    let vgdb = vgdb.into_string().unwrap();
    let prefix = program.path.with_extension("pipe");
    let child = Command::new("valgrind")
        .args(["--vgdb=yes", "--vgdb-error=0", "--quiet"])
        .arg(format!("--vgdb-prefix={}", prefix.display()))
        .arg(&program.path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let id = child.id();
    let process = StubProcess(child);
    let command = format!(
        "exec {vgdb} --wait=50 --pid={id} --vgdb-prefix={} 2>/dev/null",
        prefix.display()
    );
    let connection = Connection::connect(&Address::Command(command), LONG).unwrap();
    Some((process, client(connection)))
}

#[test]
fn valgrind_stops_at_a_breakpoint() {
    let program = Program::compile(COUNTS);
    let Some((_process, mut client)) = start(&program) else {
        return;
    };
    assert!(matches!(
        client.stop_reason().unwrap(),
        StopReply::Stopped(_)
    ));
    let main = program.address("main", &mut client);
    let counter = program.address("counter", &mut client);
    let support = client.insert_breakpoint(BreakpointKind::Software, main, 1);
    assert_eq!(support.unwrap(), Support::Done);
    client.resume_all().unwrap();
    stop(&mut client);
    assert_eq!(word(&mut client, counter), 0);
    let description = client.description().unwrap().unwrap();
    let all = client.read_registers().unwrap();
    let rip = description.register("rip").unwrap();
    assert_eq!(rip.value_in(&all).unwrap(), main.to_le_bytes());
    let version = client.monitor(b"v.info scheduler").unwrap().unwrap();
    assert!(!version.is_empty());
    client.kill(None).unwrap();
}
