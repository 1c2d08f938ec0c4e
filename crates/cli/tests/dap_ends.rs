//! When `dapple dap` ends, and when it doesn't: unreadable input, and signals.

use crate::support;
use crate::support::raw::Raw;
use dapple_dap::client::Client;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::io::Read;
use std::process::Command;

#[test]
fn input_that_is_no_message_is_skipped_and_told_in_the_console() {
    let garbage: [(&[u8], &str); 6] = [
        (
            b"starting the adapter...\r\n",
            "found `starting the adapter...`",
        ),
        (b"Content-Length: many\r\n\r\n{\"seq\":1}", "found `many`"),
        (
            b"Content-Type: json\r\n\r\n{\"seq\":1}",
            "without `Content-Length`",
        ),
        (
            b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n{}",
            "given twice, as 3 and as 4",
        ),
        (&[b'#'; 20_000], "bytes of headers"),
        (b"Content-Length: 2\r\n\r\n\"\xff", "is not UTF-8"),
    ];
    // Before `initialize`.
    let mut raw = Raw::start();
    raw.send(garbage[1].0);
    raw.request("initialize", &json!({"adapterID": "raw"}));
    let (answer, _) = raw.answer();
    assert_eq!(answer["success"], true);
    let mut expected = Vec::from([garbage[1].1]);
    for (bytes, told) in garbage {
        raw.send(bytes);
        expected.push(told);
        raw.request("threads", &Value::Null);
        let (answer, console) = raw.answer();
        assert_eq!(answer["success"], true, "{answer}");
        for told in expected.drain(..) {
            assert!(console.contains(told), "{told}: {console}");
        }
    }
    raw.request("disconnect", &json!({}));
    assert_eq!(raw.answer().0["success"], true);
    assert_eq!(raw.child.wait().expect("its end").code(), Some(0));
}

#[test]
fn a_length_beyond_the_limit_ends_the_adapter_at_once_with_an_error() {
    let mut raw = Raw::start();
    raw.request("initialize", &json!({"adapterID": "raw"}));
    raw.answer();
    // None of these bytes is ever sent, and the input stays open.
    raw.send(b"Content-Length: 99999999999\r\n\r\n");
    while raw.message().is_some() {}
    assert_eq!(raw.child.wait().expect("its end").code(), Some(1));
    let mut said = String::new();
    let mut stderr = raw.child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut said).expect("text");
    assert!(
        said.contains("a message of 99999999999 bytes is over the limit"),
        "{said}"
    );
}

#[test]
fn signals_end_the_session_with_terminated() {
    for signal in ["-INT", "-TERM"] {
        let program = support::scratch("signalled").join(format!("program-{}", std::process::id()));
        support::compile("sleepless.c", &program);
        let client = Client::spawn(support::dapple().arg("dap")).expect("dapple runs");
        let client = TestClient::from(client);
        client.initialize();
        client.ok::<LaunchRequest>(launch_arguments(&json!({ "program": program })));
        client.ok::<ConfigurationDoneRequest>(Default::default());
        let process = client.wait_for::<ProcessEvent>();
        let process = process.system_process_id.expect("a process");
        let adapter = client.process_id().expect("a process").to_string();
        let sent = Command::new("kill").args([signal, &adapter]).status();
        assert!(sent.expect("kill runs").success());
        client.wait_for::<TerminatedEvent>();
        // The launched program ends with the session.
        while std::path::Path::new(&format!("/proc/{process}")).exists() {
            std::thread::yield_now();
        }
    }
}
