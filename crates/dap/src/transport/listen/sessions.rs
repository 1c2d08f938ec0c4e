//! A thread for each connection that a listener takes.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::AcceptError;
use crate::transport::{Connection, Options};

/// Takes connections: [`TcpServer`](super::TcpServer), [`UnixServer`](super::UnixServer), or one of your own.
pub trait Listener {
    /// Waits for the next connection.
    ///
    /// # Errors
    /// There is none: [this one](AcceptError::is_passing) was lost or refused, or no more can come.
    fn accept(&self, options: Options) -> Result<Connection, AcceptError>;
}

/// How long a process that has no descriptors or threads left waits for some to be freed, if no session ends before.
/// Connections wait in line meanwhile.
const SHORTAGE: Duration = Duration::from_millis(100);

/// Wakes the thread that accepts when a session has ended, in whatever way.
struct Wake(thread::Thread);

impl Drop for Wake {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

/// Takes connections until the listener is stopped, and calls `session` with each on a thread of its own. Sessions are numbered
/// from 1; `options` says how the connection of one is to be made.
///
/// Connections that are refused or lost are reported and skipped. A session that panics ends alone. Returns when no more
/// connections come and all sessions have ended. [`Server::serve`](crate::Server::serve) is this for the sessions of a server.
///
/// # Errors
/// The system gives no more connections.
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
        // One that panicked has said so on stderr.
        session.join().ok();
    }
    outcome
}
