//! The process of a session's host: its socket, and the clients that come.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};
use dapple_dap::transport::listen::{UnixServer, serve_each};
use dapple_dap::transport::{Connection, Incoming, Options};

use super::child::Debugger;
use super::host::{Asked, Host};
use super::wire::{Done, LONGEST_REQUEST, Reply, Request, State};

/// How many replies may wait for a client that doesn't read.
const MOST_WAITING: usize = 1 << 16;

/// Serves a session until it is over. Says a line on stdout when clients may come, and has no terminal from then on.
///
/// # Errors
/// The socket can't be made, or the debugger can't be started.
pub fn serve(
    socket: &Path,
    program: String,
    idle: Duration,
    arguments: &[OsString],
) -> anyhow::Result<()> {
    // So that neither Ctrl-C nor the end of the terminal of `start` ends it.
    let _ = rustix::process::setsid();
    let server = Arc::new(UnixServer::bind(socket)?);
    let debugger = Debugger::start(arguments, None)?;
    let (sender, asked) = unbounded();
    let accepting = Arc::clone(&server);
    let clients = thread::spawn(move || {
        let options = |_| Options::new().limit(LONGEST_REQUEST);
        serve_each(&*accepting, options, move |number, client| {
            attend(number, &client, &sender);
        })
    });
    let mut stdout = std::io::stdout();
    let _ = writeln!(stdout, "ready").and_then(|()| stdout.flush());
    Host::new(debugger, program, idle).run(&asked);
    // Whoever comes from now on finds nobody. Those who are there have been told.
    drop(asked);
    server.stop();
    let _ = clients.join();
    Ok(())
}

/// Serves a client until it leaves, or the session is over.
fn attend(number: u64, client: &Connection, host: &Sender<Asked>) {
    while let Ok(Incoming::Message(message)) = client.incoming.recv() {
        let (replies, answers) = bounded(MOST_WAITING);
        let sent = match serde_json::from_str::<Request>(message.text()) {
            Ok(request) => host.send(Asked::Request(number, request, replies)).is_ok(),
            Err(error) => {
                let refused = Some(format!("this is no request of a session: {error}"));
                replies
                    .send(Reply::Done(Done {
                        refused,
                        ..Done::default()
                    }))
                    .is_ok()
            }
        };
        if !sent || !pass(client, &answers) {
            break;
        }
    }
    let _ = host.send(Asked::Left(number));
}

/// Passes replies on. Returns whether the client may ask for more.
fn pass(client: &Connection, answers: &Receiver<Reply>) -> bool {
    loop {
        select! {
            recv(answers) -> reply => {
                let Ok(reply) = reply else {
                    return true;
                };
                let is_told = answer(client, &reply);
                match reply {
                    _ if !is_told => return false,
                    Reply::Done(done) => return done.state != State::Over,
                    Reply::Status(_) => return true,
                    Reply::Record(_) | Reply::Forgotten(_) => {}
                }
            }
            // It has left, or doesn't wait for the answer as it should.
            recv(client.incoming) -> _ => return false,
        }
    }
}

fn answer(client: &Connection, reply: &Reply) -> bool {
    let text = serde_json::to_string(reply);
    text.is_ok_and(|text| client.outgoing.send_text(&text).is_ok())
}
