//! A thread for each connection that a listener accepts.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::AcceptError;
use crate::transport::{Connection, Options};

/// Accepts connections: [`TcpServer`](super::TcpServer), on Unix `UnixServer`, or a type of your own.
pub trait Listener {
    /// Waits for the next connection.
    ///
    /// # Errors
    /// The connection was [lost or refused](AcceptError::is_passing), or no more can be accepted.
    fn accept(&self, options: Options) -> Result<Connection, AcceptError>;
}

/// How long to wait before the next try when the process has no descriptors or threads left. A session that ends ends the wait too.
/// The kernel queues connections meanwhile.
pub(crate) const SHORTAGE: Duration = Duration::from_millis(100);

/// Wakes the accepting thread when a session has ended, even by a panic.
struct Wake(thread::Thread);

impl Drop for Wake {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

/// Accepts connections until the listener is stopped, and calls `session` with each on a thread of its own. Sessions are numbered
/// from 1; `options` gives the options of a session's connection.
///
/// Refused or lost connections are logged and skipped. A session that panics does not affect the others. Returns when no more
/// connections are accepted and all sessions have ended. [`Server::serve`](crate::Server::serve) does this for a server's sessions.
///
/// # Errors
/// Accepting failed in a way that does not pass.
pub fn serve_each(
    listener: &impl Listener,
    mut options: impl FnMut(u64) -> Options,
    session: impl Fn(u64, Connection) + Send + Sync + 'static,
) -> Result<(), AcceptError> {
    let session = Arc::new(session);
    let mut running: Vec<thread::JoinHandle<()>> = Vec::new();
    let mut number = 1;
    let outcome = loop {
        let connection = match listener.accept(options(number)) {
            Ok(connection) => connection,
            Err(AcceptError::Stopped) => break Ok(()),
            Err(error) if error.is_passing() => {
                tracing::warn!(%error, "a connection was not accepted");
                if error.is_shortage() {
                    thread::park_timeout(SHORTAGE);
                }
                continue;
            }
            Err(error) => {
                tracing::error!(%error, "no more connections are accepted");
                break Err(error);
            }
        };
        running.retain(|session| !session.is_finished());
        let (session, wake) = (session.clone(), Wake(thread::current()));
        let started = thread::Builder::new()
            .name(format!("session-{number}"))
            .spawn(move || {
                let _wake = wake;
                session(number, connection);
            });
        match started {
            Ok(thread) => running.push(thread),
            Err(error) => {
                tracing::warn!(%error, "a connection was closed: there is no thread for its session");
                thread::park_timeout(SHORTAGE);
            }
        }
        number += 1;
    };
    for session in running {
        // A session that panicked has already reported it on stderr.
        session.join().ok();
    }
    outcome
}
