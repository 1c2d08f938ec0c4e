//! `dapple replay` with recorded sessions of the protocol.

use crate::support::{Run, dapple};
use crate::trace::{client_of, folder, recorded};
use dapple_dap::types::*;
use serde_json::json;

#[test]
fn an_editor_gets_what_the_adapter_said_then() {
    let (mut child, client) = client_of(dapple().arg("replay").arg(recorded("tiny")));
    let program = dapple_dap::testing::launch_arguments(&json!({"program": "/is/not/here"}));
    let source = "/home/me/orders/countdown.tiny";
    client.launch_with_breakpoints(program, source, &[11, 1]);
    let stopped = client.wait_for::<StoppedEvent>();
    assert_eq!(stopped.reason, StoppedEventReason::Breakpoint);
    assert_eq!(client.top_frame(1).line, 2);
    client.ok::<ContinueRequest>(ContinueArguments::new(1));
    client.wait_for::<StoppedEvent>();
    let frame = client.top_frame(1);
    assert_eq!((frame.name.as_str(), frame.line), ("report", 11));
    let unknown = EvaluateArguments::new("n + 1");
    let refused = client.fails::<EvaluateRequest>(unknown);
    assert!(
        refused.contains("the recording has no `evaluate` with these arguments"),
        "{refused}"
    );
    client.disconnect();
    drop(client);
    assert_eq!(child.wait().expect("its end").code(), Some(0));
}

#[test]
fn an_adapter_that_says_something_else_is_told_and_fails() {
    // The adapter is a session that is played, in which a value differs.
    let folder = folder("differs");
    let other = folder.join("other.ndjson");
    let text = std::fs::read_to_string(recorded("tiny")).expect("the recording");
    let changed = text.replacen("\"value\":\"9\"", "\"value\":\"10\"", 1);
    assert_ne!(text, changed);
    std::fs::write(&other, changed).expect("written");
    let replay = |adapter: &std::path::Path, options: &[&str]| {
        let mut command = dapple();
        command
            .args(["replay", "--as", "client"])
            .args(options)
            .arg(recorded("tiny"));
        command
            .args(["--", env!("CARGO_BIN_EXE_dapple"), "replay"])
            .arg(adapter);
        Run::of(&mut command)
    };
    let same = replay(&recorded("tiny"), &[]);
    assert_eq!(same.code, Some(0), "{same:#?}");
    let run = replay(&other, &[]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(
        run.stdout
            .contains("value` is \"9\" in A and \"10\" in B\n"),
        "{run:#?}"
    );
    assert_eq!(replay(&other, &["--ignore", "value"]).code, Some(0));
}

#[test]
fn a_session_is_cut_down_offline_and_with_the_adapter() {
    let out = folder("minimize").join("shortest.ndjson");
    let mut command = dapple();
    command
        .args(["replay", "--minimize", "-o"])
        .arg(&out)
        .arg(recorded("lldb-dap"));
    let run = Run::of(&mut command);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(
        run.stderr.contains("\n5 of 57 messages are left\n"),
        "{run:#?}"
    );
    let shown = Run::of(dapple().arg("trace").arg(&out));
    assert!(
        shown.stdout.contains("~ advice, redundant-continued: "),
        "{shown:#?}"
    );
    // The adapter, which is played, breaks the rule whenever the program is continued.
    let mut command = dapple();
    command
        .args(["replay", "--minimize", "--timeout", "1", "-o"])
        .arg(&out);
    command.arg(recorded("lldb-dap")).arg("--");
    command
        .args([env!("CARGO_BIN_EXE_dapple"), "replay"])
        .arg(recorded("lldb-dap"));
    let run = Run::of(&mut command);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let shown = Run::of(dapple().args(["trace", "--only", "requests"]).arg(&out));
    let names: Vec<_> = shown
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().nth(3))
        .collect();
    assert_eq!(names, ["initialize", "continue"], "{shown:#?}");
    let mut command = dapple();
    command
        .args(["replay", "--minimize", "--violation", "shape"])
        .arg(recorded("lldb-dap"));
    Run::of(&mut command).assert_fails(
        "dapple: the session doesn't break the rule `shape`; it breaks: redundant-continued\n",
    );
}

#[test]
fn options_of_the_other_kind_of_file_are_refused() {
    let session = recorded("tiny");
    let name = session.display();
    Run::of(dapple().args(["replay", "--batch"]).arg(&session)).assert_fails(&format!(
        "dapple: --batch is for recorded programs, and {name} is a recorded session of the protocol\n"
    ));
    Run::of(dapple().args(["replay", "--minimize", "README.md"])).assert_fails(
        "dapple: --minimize is for recorded sessions of the protocol, and README.md is none\n",
    );
    Run::of(dapple().args(["replay", "--as", "client"]).arg(&session)).assert_fails(
        "dapple: --as client needs the adapter to drive: `dapple replay FILE --as client -- COMMAND`\n",
    );
}
