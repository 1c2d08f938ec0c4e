//! `dapple dap --listen`: the address, and the loop that serves connections until the server ends.
//!
//! [`dapple_dap::transport::listen`] decides who may connect.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, after, never, select, unbounded};
use dapple_dap::transport::listen::{
    AcceptError, ListenError, Listener, Reach, TcpServer, UnixServer, serve_each,
};
use dapple_dap::transport::{Connection, Options};

/// An address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `ADDRESS:PORT`, with an IP address: `127.0.0.1:4711`, `[::1]:4711`
    Tcp(SocketAddr),
    /// `unix:PATH`
    Unix(PathBuf),
}

impl Address {
    /// Parses an address as the user types it. A path may contain any bytes.
    pub fn parse(text: OsString) -> Result<Self, String> {
        if let Some(path) = text.as_bytes().strip_prefix(b"unix:") {
            return match path {
                [] => Err("a path is missing behind `unix:`".to_owned()),
                path => Ok(Self::Unix(OsString::from_vec(path.to_vec()).into())),
            };
        }
        let address = text.to_str().and_then(|text| text.parse().ok());
        address.map(Self::Tcp).ok_or_else(|| {
            "neither an address with a port, as 127.0.0.1:4711, nor unix:PATH".to_owned()
        })
    }
}

/// A listening socket.
#[derive(Debug)]
pub enum Server {
    Tcp(TcpServer),
    Unix(UnixServer, PathBuf),
}

impl Server {
    /// Starts listening. `reach` applies to TCP only.
    pub fn bind(address: Address, reach: Reach) -> Result<Self, ListenError> {
        match address {
            Address::Tcp(address) => TcpServer::bind(address, reach).map(Self::Tcp),
            Address::Unix(path) => UnixServer::bind(&path).map(|server| Self::Unix(server, path)),
        }
    }

    fn stop(&self) {
        match self {
            Self::Tcp(server) => server.stop(),
            Self::Unix(server, _) => server.stop(),
        }
    }
}

/// The address in the form that `--listen` takes, or why it is unknown.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(server) => match server.address() {
                Ok(address) => address.fmt(f),
                Err(error) => write!(f, "an unknown port: {error}"),
            },
            Self::Unix(_, path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Listener for Server {
    fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        match self {
            Self::Tcp(server) => server.accept(options),
            Self::Unix(server, _) => server.accept(options),
        }
    }
}

/// What a session reports to the thread that stops the server.
enum Session {
    Begins,
    Ends,
}

/// Reports that a session begins and, when dropped, that it has ended: even if it ends by a panic.
struct Open<'a>(&'a Sender<Session>);

impl<'a> Open<'a> {
    fn new(sessions: &'a Sender<Session>) -> Self {
        sessions.send(Session::Begins).ok();
        Open(sessions)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send(Session::Ends).ok();
    }
}

/// Serves each connection on a thread of its own until `shutdown` closes, or until there has been no session for as long as
/// `idle`; then waits for the sessions to end.
pub fn serve(
    server: Server,
    options: impl FnMut(u64) -> Options,
    session: impl Fn(u64, Connection) + Send + Sync + 'static,
    idle: Option<Duration>,
    shutdown: &Receiver<Infallible>,
) -> anyhow::Result<()> {
    let server = Arc::new(server);
    let (sender, sessions) = unbounded();
    let stop = {
        let (server, shutdown) = (server.clone(), shutdown.clone());
        move || {
            wait_for_the_end(&sessions, idle, &shutdown);
            server.stop();
        }
    };
    let stopping = thread::Builder::new().name("stop".to_owned()).spawn(stop)?;
    let session = move |number, connection| {
        let _open = Open::new(&sender);
        session(number, connection);
    };
    let outcome = serve_each(&*server, options, session);
    // Waits, since the stopping thread has a reference to the server, and the last one to be dropped removes the file of a Unix socket.
    // The thread ends by now at the latest: `session`, which has the only sender, was dropped after the last session had ended.
    let _ = stopping.join();
    Ok(outcome?)
}

/// Returns when it is time for the server to accept no more connections.
fn wait_for_the_end(
    sessions: &Receiver<Session>,
    idle: Option<Duration>,
    shutdown: &Receiver<Infallible>,
) {
    let mut open = 0_u64;
    loop {
        let idle_for_too_long = match idle {
            Some(idle) if open == 0 => after(idle),
            _ => never(),
        };
        select! {
            recv(sessions) -> session => match session {
                Ok(Session::Begins) => open += 1,
                Ok(Session::Ends) => open = open.saturating_sub(1),
                Err(_) => return,
            },
            recv(idle_for_too_long) -> _ => return,
            // Nothing is ever sent here: the channel closes.
            recv(shutdown) -> _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_tcp_or_the_path_of_a_socket() {
        let parse = |text: &[u8]| Address::parse(OsString::from_vec(text.to_vec()));
        let port = "127.0.0.1:4711".parse().expect("an address");
        assert_eq!(parse(b"127.0.0.1:4711"), Ok(Address::Tcp(port)));
        let path = OsString::from_vec(b"a\xffb".to_vec());
        assert_eq!(parse(b"unix:a\xffb"), Ok(Address::Unix(path.into())));
        for wrong in [&b"unix:"[..], b"", b"4711", b"localhost", b"\xff:1"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
