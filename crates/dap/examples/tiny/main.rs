//! A complete debug adapter for a tiny language.
//!
//!     cargo run -p dapple-dap --example tiny                                  # for one client, on stdin and stdout
//!     cargo run -p dapple-dap --example tiny -- --listen 127.0.0.1:0          # for many, on a socket
//!
//! `launch` takes `program`, a file such as `countdown.tiny` here, and `stopOnEntry`. `language.rs` is the interpreter; its only
//! support for debugging is that it runs a single line. The rest is in `adapter.rs`.

mod adapter;
mod language;

use std::process::ExitCode;

use dapple_dap::Connection;
use dapple_dap::transport::Options;
use dapple_dap::transport::listen::{Reach, TcpServer, serve_each};

fn main() -> ExitCode {
    // Standard output carries the protocol, so the library's log goes to standard error.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing::Level::WARN)
        .init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [] | ["--stdio"] => {
            adapter::serve(&Connection::stdio());
            Ok(())
        }
        ["--listen", address] => listen(address),
        _ => Err("usage: tiny [--stdio | --listen ADDRESS:PORT]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves each client on a thread of its own, from this machine and this user only.
fn listen(address: &str) -> Result<(), Box<dyn std::error::Error>> {
    let server = TcpServer::bind(address.parse()?, Reach::Loopback)?;
    eprintln!("listening on {}", server.address()?);
    serve_each(
        &server,
        |_| Options::new(),
        |_, connection| adapter::serve(&connection),
    )?;
    Ok(())
}
