//! Measures what `dapple trace` adds to a round trip: `threads` requests to the example adapter `tiny`, directly and through the trace,
//! which records and shows what goes by.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::bail;
use dapple_dap::Client;
use dapple_dap::types::{Empty, InitializeRequest, InitializeRequestArguments, ThreadsRequest};

use super::{PATIENCE, build, cargo, median};

/// How often the two are measured, in turn.
const ROUNDS: usize = 7;
/// How many requests are measured in a round.
const REQUESTS: usize = 3000;
/// What the trace may add at the median.
const GOAL: Duration = Duration::from_micros(100);

/// Builds, measures and prints.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let dapple = build(root)?;
    let arguments = [
        "build",
        "--release",
        "-p",
        "dapple-dap",
        "--example",
        "tiny",
    ];
    if !cargo(root).args(arguments).status()?.success() {
        bail!("the example adapter doesn't build");
    }
    let folder = dapple.with_file_name("examples");
    let adapter = folder.join("tiny");
    let recording = folder.join("bench-trace.ndjson");
    let mut direct = Vec::new();
    let mut traced = Vec::new();
    for _ in 0..ROUNDS {
        direct.extend(round_trips(&mut Command::new(&adapter))?);
        // It would be appended to.
        std::fs::remove_file(&recording).ok();
        let mut command = Command::new(&dapple);
        command.args(["trace", "-o"]).arg(&recording);
        command.arg("--").arg(&adapter).stderr(Stdio::null());
        traced.extend(round_trips(&mut command)?);
    }
    std::fs::remove_file(&recording).ok();
    let count = direct.len();
    println!("`threads` to the example adapter `tiny`, median of {count} round trips");
    let [direct, traced] = [direct, traced].map(median);
    let added = traced.saturating_sub(direct);
    for (what, time) in [
        ("directly", direct),
        ("through the trace", traced),
        ("added", added),
    ] {
        println!("  {what:20} {:8.1} µs", time.as_secs_f64() * 1e6);
    }
    println!("  {:20} {:8.1} µs", "goal", GOAL.as_secs_f64() * 1e6);
    Ok(match added < GOAL {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The time of each round trip of one session.
fn round_trips(adapter: &mut Command) -> anyhow::Result<Vec<Duration>> {
    let client = Client::spawn(adapter)?.with_timeout(PATIENCE);
    client.request::<InitializeRequest>(InitializeRequestArguments::new("bench"))?;
    let mut times = Vec::with_capacity(REQUESTS);
    for _ in 0..REQUESTS {
        let begin = Instant::now();
        client.request::<ThreadsRequest>(Empty)?;
        times.push(begin.elapsed());
    }
    Ok(times)
}
