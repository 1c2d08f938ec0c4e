//! `dapple debug` with an adapter that has fewer capabilities than Dapple's own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use crate::support::{Run, dapple};

const CAPABILITY: &[u8] = br#""supportsFunctionBreakpoints":true"#;
/// As long as `CAPABILITY`, so that the message's `Content-Length` stays right.
const WITHHELD: &[u8] = br#""unknownFunctionBreakpoints0":true"#;

/// Serves one client with Dapple's adapter, whose support for function breakpoints is hidden. Returns the shell command that connects to
/// it.
fn adapter_without_functions() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let port = listener.local_addr().expect("its address").port();
    thread::spawn(move || {
        let (client, _) = listener.accept().expect("the client connects");
        serve(client);
    });
    format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & exec cat >&3'")
}

fn serve(client: TcpStream) {
    let mut adapter = Command::new(env!("CARGO_BIN_EXE_dapple"))
        .arg("dap")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the adapter starts");
    let mut to_adapter = adapter.stdin.take().expect("a pipe");
    let mut from_adapter = adapter.stdout.take().expect("a pipe");
    let mut from_client = client.try_clone().expect("a second handle");
    thread::spawn(move || forward(&mut from_client, &mut to_adapter));
    let mut to_client = client;
    // The first message contains the capabilities.
    let mut first = Vec::new();
    let at = loop {
        let mut byte = [0];
        from_adapter.read_exact(&mut byte).expect("an answer");
        first.push(byte[0]);
        if first.ends_with(CAPABILITY) {
            break first.len() - CAPABILITY.len();
        }
    };
    first[at..].copy_from_slice(WITHHELD);
    to_client.write_all(&first).expect("the client is there");
    forward(&mut from_adapter, &mut to_client);
    let _ = to_client.shutdown(std::net::Shutdown::Both);
    let _ = adapter.wait();
}

/// Forwards data until either end is closed.
fn forward(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = [0; 4096];
    while let Ok(count) = from.read(&mut buffer)
        && count > 0
        && to.write_all(&buffer[..count]).is_ok()
    {}
}

#[test]
fn a_function_is_looked_up_in_the_source_where_the_adapter_takes_no_names() {
    assert_eq!(CAPABILITY.len(), WITHHELD.len());
    let mut command = dapple();
    command.args([
        "debug",
        "--batch",
        "--adapter",
        &adapter_without_functions(),
    ]);
    for line in ["b mean", "run", "b nowhere"] {
        command.args(["--ex", line]);
    }
    let run = Run::of(command.arg("fixtures/tour.c"));
    assert!(
        run.stdout.contains("breakpoint 1 at fixtures/tour.c:20 (a function begins on line 19; moved to line 20, where its arguments are in place)\n")
            && run.stdout.contains("\nmean at fixtures/tour.c:20"),
        "{run:#?}"
    );
    run.assert_fails(
        "dapple: fixtures/tour.c defines no function `nowhere`, and this adapter can't look for it elsewhere; use FILE:LINE\n",
    );
}
