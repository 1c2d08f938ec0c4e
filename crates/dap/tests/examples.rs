//! The examples `calculator`, an adapter, and `stops`, a client, as processes.

mod built;

use std::path::{Path, PathBuf};
use std::process::Output;

use dapple_dap::Client;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::json;

use built::example;

fn sum() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/sum.calc")
}

fn calculator() -> TestClient {
    TestClient::from(Client::spawn(&mut example("calculator")).expect("it is built"))
}

fn of(program: &Path) -> LaunchRequestArguments {
    launch_arguments(&json!({"program": program}))
}

fn values(client: &TestClient) -> Vec<String> {
    let variables = client.locals(client.top_frame(1).id).into_iter();
    let values = variables.map(|variable| format!("{} = {}", variable.name, variable.value));
    values.collect()
}

/// What `stops` prints about a program under an adapter.
fn stops(launch: &serde_json::Value, places: &[String], adapter: &Path) -> Output {
    let mut stops = example("stops");
    stops.arg(launch.to_string()).args(places).arg("--");
    // With `RUST_BACKTRACE`, an error of `stops` has a backtrace.
    let stops = stops.arg(adapter).env("RUST_BACKTRACE", "0");
    stops.output().expect("it is built")
}

#[test]
fn a_breakpoint_is_hit_and_a_step_is_a_line() {
    let client = calculator();
    client.hit_breakpoint(of(&sum()), sum(), 2);
    assert_eq!(values(&client), ["x = 3"]);
    client.ok::<NextRequest>(NextArguments::new(1));
    client.assert_stopped_at("step", sum(), 3);
    assert_eq!(values(&client), ["sum = 7", "x = 3"]);
    client.ok::<NextRequest>(NextArguments::new(1));
    client.assert_stopped_at("step", sum(), 4);
    let value = client.ok::<EvaluateRequest>(EvaluateArguments::new("sum"));
    assert_eq!(value.result, "7");
    let unknown = client.fails::<EvaluateRequest>(EvaluateArguments::new("print"));
    assert_eq!(unknown, "there is no such variable");
    client.resume(1);
    client.assert_output("stdout", "8.5\n");
    assert_eq!(client.wait_for::<ExitedEvent>().exit_code, 0);
    client.wait_for::<TerminatedEvent>();
    client.disconnect();
    client.assert_no_violations();
}

#[test]
fn the_last_step_ends_the_program() {
    let client = calculator();
    client.hit_breakpoint(of(&sum()), sum(), 5);
    client.ok::<NextRequest>(NextArguments::new(1));
    client.wait_for::<TerminatedEvent>();
    client.disconnect();
    client.assert_no_violations();
}

#[test]
fn the_first_line_can_have_a_breakpoint_and_other_files_cannot() {
    let client = calculator();
    let launch = client.launch(of(&sum()));
    let set = client.set_breakpoints(sum(), &[1, 99]).breakpoints;
    assert_eq!([set[0].verified, set[1].verified], [true, false]);
    let other = client.set_breakpoints("/other.calc", &[2]).breakpoints;
    assert!(!other[0].verified);
    client.configured(launch);
    client.assert_stopped_at("breakpoint", sum(), 1);
    client.resume(1);
    client.wait_for::<TerminatedEvent>();
    client.disconnect();
    client.assert_no_violations();
}

#[test]
fn the_client_prints_each_stop() {
    let launch = json!({"program": sum(), "stopOnEntry": true});
    let places = [2, 4].map(|line| format!("{}:{line}", sum().display()));
    let output = stops(
        &launch,
        &places,
        example("calculator").get_program().as_ref(),
    );
    let printed = String::from_utf8_lossy(&output.stdout);
    let stopped = [
        "entry: main at line 1\n",
        "breakpoint: main at line 2\n  x = 3\n",
        "breakpoint: main at line 4\n  sum = 7\n  x = 3\n",
        "8.5\n",
    ];
    assert_eq!(printed, stopped.concat());
    assert!(output.status.success());
}

#[test]
fn the_client_ends_with_the_exit_code_of_the_program() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("three.calc");
    std::fs::write(&program, "exit = 1 + 2\n").expect("written");
    let calculator = example("calculator").get_program().to_owned();
    let output = stops(&json!({"program": program}), &[], calculator.as_ref());
    assert_eq!(output.status.code(), Some(3), "{output:?}");
}

#[test]
fn the_client_says_why_a_program_is_not_launched() {
    let calculator = example("calculator").get_program().to_owned();
    let output = stops(&json!({}), &[], calculator.as_ref());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error, "Error: `program` is missing\n");
    assert!(!output.status.success());

    let nowhere = json!({"program": "/nowhere.calc"});
    let output = stops(&nowhere, &[], calculator.as_ref());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.starts_with("Error: /nowhere.calc: No such file"),
        "{error}"
    );
}
