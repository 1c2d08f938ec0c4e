//! lldb-server, which connects to the client. `DAPPLE_LLDB_SERVER` names the program, which then has to be there.

use crate::programs::{
    COUNTS, LONG, Program, StubProcess, client, end, register, stop, stub_program, word,
};
use dapple_gdb_remote::client::BreakpointKind;
use dapple_gdb_remote::error::Support;
use dapple_gdb_remote::stop_reply::StopReply;
use dapple_gdb_remote::{Client, Connection};
use rustix::event::{PollFd, PollFlags, Timespec};
use std::net::TcpListener;
use std::process::{Command, Stdio};

fn start(program: &Program) -> Option<(StubProcess, Client)> {
    let stub = stub_program(
        "DAPPLE_LLDB_SERVER",
        &[
            "lldb-server-22",
            "/usr/lib/llvm-22/bin/lldb-server",
            "lldb-server",
        ],
        "version",
    )?;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let child = Command::new(stub)
        .args(["gdbserver", "--reverse-connect"])
        .arg(format!("127.0.0.1:{port}"))
        .arg("--")
        .arg(&program.path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let process = StubProcess(child);
    let mut polled = [PollFd::new(&listener, PollFlags::IN)];
    let limit = Timespec::try_from(LONG).unwrap();
    let count = rustix::event::poll(&mut polled, Some(&limit)).unwrap();
    assert_eq!(count, 1, "lldb-server does not connect");
    let (socket, _) = listener.accept().unwrap();
    Some((process, client(Connection::over_tcp(socket).unwrap())))
}

#[test]
fn lldb_server_stops_at_a_breakpoint_and_runs_to_the_end() {
    let program = Program::compile(COUNTS);
    let Some((_process, mut client)) = start(&program) else {
        return;
    };
    let StopReply::Stopped(first) = client.stop_reason().unwrap() else {
        panic!("not stopped")
    };
    let thread = first.thread.unwrap();
    assert_eq!(client.threads().unwrap().unwrap().len(), 1);
    let _ = client.choose_thread(thread).unwrap();
    let description = client.description().unwrap().unwrap();
    assert!(description.register("rip").is_some());
    let main = program.address("main", &mut client);
    let counter = program.address("counter", &mut client);
    let support = client.insert_breakpoint(BreakpointKind::Software, main, 1);
    assert_eq!(support.unwrap(), Support::Done);
    client.resume_all().unwrap();
    stop(&mut client);
    let _ = client.choose_thread(thread).unwrap();
    assert_eq!(register(&mut client, "rip"), main);
    assert_eq!(word(&mut client, counter), 0);
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
