//! The `tracing` spans of requests: a request's log lines have its number and command, on any thread.

use std::io::Write;
use std::sync::Mutex;

use dapple_dap::testing::TestClient;
use dapple_dap::types::*;
use dapple_dap::{Responder, Server};

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().expect("no panic while logging").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_a_request_causes_is_logged_in_its_span_on_any_thread() {
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(|| Log)
        .init();
    let server = Server::builder()
        .on::<ThreadsRequest>(|_, _, _| {
            tracing::info!("counting");
            Ok(ThreadsResponse::new(vec![]))
        })
        .on_deferred::<EvaluateRequest>(
            |_: &mut (), _, responder: Responder<EvaluateRequest>, _| {
                std::thread::spawn(move || {
                    responder.span().in_scope(|| tracing::info!("thinking"));
                    responder.respond(EvaluateResponse::new("7", 0));
                });
            },
        )
        .build();
    let (client, session) = TestClient::of(&server, ());
    client.initialize();
    client.ok::<ThreadsRequest>(Empty);
    client.ok::<EvaluateRequest>(EvaluateArguments::new("x"));
    client.disconnect();
    session.join().expect("no panic");
    let log = LOG.lock().expect("no panic while logging").clone();
    let log = String::from_utf8_lossy(&log);
    for expected in [
        "request{seq=2 command=threads}: spans: counting",
        "request{seq=2 command=threads}: dapple_dap::server::outbox: answered success=true",
        "request{seq=3 command=evaluate}: spans: thinking",
        "request{seq=3 command=evaluate}: dapple_dap::server::outbox: answered success=true",
    ] {
        assert!(log.contains(expected), "no {expected:?} in\n{log}");
    }
}
