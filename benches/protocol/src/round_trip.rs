//! Measures how many `threads` requests per second a client gets answered, each sent after the answer to the one before.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use dapple_dap::types::*;
use dapple_dap::{Client, Connection, Server};

/// For how long the rate is measured.
const TIME: Duration = Duration::from_secs(2);

/// An adapter that only answers `threads`.
pub fn serve(connection: Connection) {
    let server = Server::<()>::builder()
        .on::<ThreadsRequest>(|(), _, _| {
            Ok(ThreadsResponse::new(vec![
                Thread::new(1, "main"),
                Thread::new(2, "worker"),
            ]))
        })
        .build();
    server.start(&connection).run(&mut ());
}

/// The rate with a child process, over its stdin and stdout.
pub fn over_stdio() -> Result<f64> {
    let mut command = Command::new(std::env::current_exe()?);
    rate(&Client::spawn(command.arg("serve"))?)
}

/// The rate with a thread of this process.
pub fn in_memory() -> Result<f64> {
    let (client, adapter) = Connection::memory();
    let server = thread::spawn(move || serve(adapter));
    let client = Client::new(client);
    let rate = rate(&client);
    drop(client);
    server.join().ok();
    rate
}

fn rate(client: &Client) -> Result<f64> {
    client.request::<InitializeRequest>(InitializeRequestArguments::new("bench"))?;
    let begin = Instant::now();
    let mut requests = 0_u32;
    while begin.elapsed() < TIME {
        let response = client.request::<ThreadsRequest>(Empty)?;
        anyhow::ensure!(response.threads.len() == 2, "the wrong answer");
        requests += 1;
    }
    Ok(f64::from(requests) / begin.elapsed().as_secs_f64())
}
