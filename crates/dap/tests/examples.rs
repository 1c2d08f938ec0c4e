//! The examples `brainfuck`, an adapter, and `stops`, a client, as processes.

mod built;

use std::path::{Path, PathBuf};

use dapple_dap::Client;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::json;

use built::example;

/// Counts to 65 in a loop, and prints it as a letter.
fn letter() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/letter.bf")
}

fn client() -> TestClient {
    TestClient::from(Client::spawn(&mut example("brainfuck")).expect("it is built"))
}

fn of(program: &Path) -> LaunchRequestArguments {
    launch_arguments(&json!({"program": program}))
}

/// A program for one test.
fn written(name: &str, code: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("dapple-{name}-{}.bf", std::process::id()));
    std::fs::write(&path, code).expect("a file for the test");
    path
}

#[test]
fn breakpoints_are_hit_in_each_turn_and_a_step_is_a_line() {
    let client = client();
    client.hit_breakpoint(of(&letter()), letter(), 4);
    let values = || -> Vec<String> {
        let tape = client.locals(client.top_frame(1).id);
        tape.into_iter().map(|cell| cell.value).collect()
    };
    assert_eq!(values(), ["8", "8 ←"]);
    client.ok::<NextRequest>(NextArguments::new(1));
    client.assert_stopped_at("step", letter(), 5);
    assert_eq!(values(), ["7 ←", "8"]);
    client.resume(1);
    client.assert_stopped_at("breakpoint", letter(), 4);
    assert_eq!(values(), ["7", "16 ←"]);
    let nothing = client.set_breakpoints(letter(), &[99]);
    assert!(!nothing.breakpoints[0].verified);
    client.resume(1);
    client.assert_output("stdout", "A");
    assert_eq!(client.wait_for::<ExitedEvent>().exit_code, 0);
    client.wait_for::<TerminatedEvent>();
    client.disconnect();
    client.assert_no_violations();
}

#[test]
fn an_endless_program_is_paused() {
    let endless = written("endless", "+\n[\n]\n");
    let client = client();
    let launch = client.launch(of(&endless));
    client.configured(launch);
    client.ok::<PauseRequest>(PauseArguments::new(1));
    client.assert_stopped_at("pause", &endless, client.top_frame(1).line);
    client.disconnect();
    client.assert_no_violations();
    std::fs::remove_file(endless).expect("it is there");
}

#[test]
fn a_bracket_without_its_partner_fails_the_launch() {
    let wrong = written("wrong", "+\n]");
    let client = client();
    client.initialize();
    let sentence = client.fails::<LaunchRequest>(of(&wrong));
    assert!(sentence.ends_with(":2: `]` without `[`"), "{sentence}");
    std::fs::remove_file(wrong).expect("it is there");
}

#[test]
fn the_client_prints_each_stop() {
    let mut stops = example("stops");
    stops.arg(json!({"program": letter()}).to_string());
    stops.arg(format!("{}:4", letter().display()));
    stops.arg(example("brainfuck").get_program());
    let output = stops.output().expect("it is built");
    let printed = String::from_utf8_lossy(&output.stdout);
    let stop = |turn| {
        format!(
            "stopped: breakpoint\n  program at line 4\n    0 = {}\n    1 = {} ←\n",
            9 - turn,
            8 * turn
        )
    };
    let stops: String = (1..=8).map(stop).collect();
    assert!(printed.ends_with(&format!("{stops}A")), "{printed}");
    assert!(output.status.success());
}
