//! Listening, and who may connect.
//!
//! A [`TcpServer`] or, on Unix, a `UnixServer` accepts connections one by one. [`serve_each`] gives each a thread of its own, and
//! [`Server::serve`](crate::Server::serve) a session. Messages are not read here.
//!
//! A debug adapter runs programs for its clients, so listening is loopback only unless [`Reach::Anywhere`] is given, and a peer
//! at a loopback address or a Unix socket must belong to the same user (or be root). How its user is found out:
//!
//! | | TCP from this machine | Unix socket |
//! | --- | --- | --- |
//! | Linux | the kernel's socket table | the socket's credentials (`SO_PEERCRED`) |
//! | macOS, BSD | unknown: [`TcpServer::bind`] refuses [`Reach::Loopback`] | getpeereid(3) |
//! | Windows | unknown: [`TcpServer::bind`] refuses [`Reach::Loopback`] | no such sockets here |
//!
//! Where the user is unknown, [`Reach::LoopbackAnyUser`] says explicitly that every user of the machine may connect.

mod accepting;
#[cfg(all(feature = "tokio", feature = "server"))]
mod asynchronous;
mod sessions;
#[cfg(unix)]
mod unix;
mod users;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};

use super::{Connection, Options};
use accepting::Accepting;

#[cfg(all(feature = "tokio", feature = "server"))]
pub use asynchronous::AsyncListener;
#[cfg(all(feature = "tokio", feature = "server"))]
pub(crate) use sessions::SHORTAGE;
pub use sessions::{Listener, serve_each};
#[cfg(unix)]
pub use unix::UnixServer;

/// Why a connection was not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// The system call failed.
    #[error("cannot accept connections: {0}")]
    Io(#[from] io::Error),
    /// The listener was stopped.
    #[error("no connections are accepted any more: listening was stopped")]
    Stopped,
    /// The peer belongs to another user. Its connection was refused; other peers can still connect. Only on Unix.
    #[error(
        "refused a connection from {peer}: it belongs to user {uid}, and only user {own} may connect"
    )]
    OtherUser {
        /// The peer's address.
        peer: String,
        /// The peer's user id.
        uid: u32,
        /// This process's user id.
        own: u32,
    },
    /// The kernel does not tell the peer's user. The connection was refused; other peers can still connect.
    #[error("refused a connection from {peer}: cannot tell which user it belongs to")]
    UnknownUser {
        /// The peer's address.
        peer: String,
    },
}

impl AcceptError {
    /// True if the error concerns only one connection or passes by itself, so that other peers can still connect.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::OtherUser { .. } | Self::UnknownUser { .. } => true,
            Self::Stopped => false,
            Self::Io(error) => accepting::passes(error) || accepting::is_shortage(error),
        }
    }

    /// True if the process or the system is out of descriptors or memory at the moment.
    pub(crate) fn is_shortage(&self) -> bool {
        matches!(self, Self::Io(error) if accepting::is_shortage(error))
    }
}

/// Why an address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address can be reached from other machines.
    #[error(
        "{address} can be reached from other machines, which could run programs here; listen on 127.0.0.1 or [::1], \
         or allow it explicitly"
    )]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// The system doesn't tell to which user a connection from this machine belongs.
    #[error(
        "{address} can be reached by every user of this machine, who could run programs as you: this system doesn't tell users apart; \
         use standard input and output or a Unix socket, or allow it explicitly"
    )]
    UnknownUsers {
        /// The address.
        address: SocketAddr,
    },
    /// The address is in use, usually by another process that listens on it.
    #[error("{address} is in use by another process")]
    InUse {
        /// The address or path.
        address: String,
    },
    /// The system call failed for another reason.
    #[error("cannot listen on {address}: {source}")]
    Io {
        /// The address or path.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
}

/// From where connections are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Reach {
    /// From this machine only, and only from this process's user and root. Only where the system tells a connection's user: on Linux.
    #[default]
    Loopback,
    /// From this machine only, whichever of its users connects.
    LoopbackAnyUser,
    /// From anywhere. The user is checked only for peers at a loopback address, and only where the system tells it: the users of other
    /// machines cannot be told apart.
    Anywhere,
}

impl Reach {
    /// Whether a peer's user is to be checked.
    fn checks(self, peer: SocketAddr) -> bool {
        is_loopback(peer.ip()) && self != Self::LoopbackAnyUser
    }
}

/// Accepts connections over TCP.
#[derive(Debug)]
pub struct TcpServer {
    listener: TcpListener,
    accepting: Accepting,
    reach: Reach,
}

impl TcpServer {
    /// Listens on an address. Port 0 picks a free one; see [`address`](Self::address).
    ///
    /// # Errors
    /// `reach` doesn't allow the address: it is not loopback, or the system doesn't tell the users of connections. Or the address is not
    /// available.
    pub fn bind(address: SocketAddr, reach: Reach) -> Result<Self, ListenError> {
        allow(address, reach, users::KNOWN_OVER_TCP)?;
        match TcpListener::bind(address) {
            Ok(listener) => Ok(Self {
                listener,
                accepting: Accepting::default(),
                reach,
            }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(ListenError::InUse {
                address: address.to_string(),
            }),
            Err(source) => Err(ListenError::Io {
                address: address.to_string(),
                source,
            }),
        }
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// The system call failed.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// Accepting failed, the peer was refused, or listening was stopped.
    pub fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        self.accept_if(options, users::check_tcp)
    }

    /// Accepts a connection if its peer may connect. `check` gets the peer's address and the local one.
    fn accept_if(
        &self,
        options: Options,
        check: impl Fn(SocketAddr, SocketAddr) -> Result<(), AcceptError>,
    ) -> Result<Connection, AcceptError> {
        let (stream, peer) = self.accepting.accept(|| self.listener.accept())?;
        if self.reach.checks(peer) {
            check(peer, stream.local_addr()?)?;
        }
        Ok(options.of_adapter().tcp(stream)?)
    }

    /// Ends listening, whichever thread waits in [`accept`](Self::accept). Connections that were accepted stay open.
    pub fn stop(&self) {
        let waiting = self.accepting.stop();
        #[cfg(target_os = "linux")]
        accepting::wake(&self.listener, waiting);
        #[cfg(not(target_os = "linux"))]
        if let Ok(address) = self.listener.local_addr() {
            accepting::wake_tcp(address, waiting);
        }
    }
}

impl Listener for TcpServer {
    fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        self.accept(options)
    }
}

/// Checks that a connection from this machine belongs to this process's user or root, for listeners of one's own. Peers on other machines pass: their
/// users cannot be told apart. So does everybody where the system doesn't tell the users of TCP connections.
///
/// # Errors
/// It belongs to another user, or its end is not known any more.
pub fn check_tcp_peer(stream: &TcpStream) -> Result<(), AcceptError> {
    let peer = stream.peer_addr()?;
    match is_loopback(peer.ip()) {
        true => users::check_tcp(peer, stream.local_addr()?),
        false => Ok(()),
    }
}

/// Checks that a Unix socket's peer belongs to this process's user or root, for listeners of one's own.
///
/// # Errors
/// It belongs to another user, or the system doesn't tell.
#[cfg(unix)]
pub fn check_unix_peer(stream: &std::os::unix::net::UnixStream) -> Result<(), AcceptError> {
    users::check(users::unix_owner(stream), users::own_user(), "a socket")
}

/// Whether an address is this machine's own.
pub fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Whether listening on an address is safe. `known_users`: the system tells to which user a connection from this machine belongs.
fn allow(address: SocketAddr, reach: Reach, known_users: bool) -> Result<(), ListenError> {
    if reach != Reach::Anywhere && !is_loopback(address.ip()) {
        return Err(ListenError::NotLoopback { address });
    }
    if reach == Reach::Loopback && !known_users {
        return Err(ListenError::UnknownUsers { address });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use std::io::Read;
    use std::sync::Arc;

    #[test]
    fn listening_for_other_machines_must_be_asked_for() {
        let address = "0.0.0.0:0".parse().expect("an address");
        let refused = TcpServer::bind(address, Reach::Loopback).expect_err("not loopback");
        assert!(
            matches!(refused, ListenError::NotLoopback { .. }),
            "{refused}"
        );
        TcpServer::bind(address, Reach::Anywhere).expect("asked for");
    }

    /// Asserts that the peer was refused and sees the end of its connection.
    #[cfg(unix)]
    pub(super) fn assert_turned_away(
        refused: Result<Connection, AcceptError>,
        mut peer: impl Read,
    ) {
        let error = refused.expect_err("a stranger");
        assert!(
            matches!(error, AcceptError::OtherUser { uid, own, .. } if uid == own + 1),
            "{error}"
        );
        assert!(error.is_passing());
        assert_eq!(peer.read(&mut [0]).expect("the end"), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_stranger_is_turned_away_and_the_next_is_let_in() {
        let server = TcpServer::bind("127.0.0.1:0".parse().expect("an address"), Reach::Loopback)
            .expect("a port");
        let address = server.address().expect("its address");
        let peer = TcpStream::connect(address).expect("connected");
        let (at_peer, at_ours) = (peer.local_addr().expect("bound"), address);
        let refused = server.accept_if(Options::new(), |peer, local| {
            assert_eq!((peer, local), (at_peer, at_ours));
            users::check(Some(users::own_user() + 1), users::own_user(), "it")
        });
        assert_turned_away(refused, peer);
        let _peer = TcpStream::connect(address).expect("connected");
        server.accept(Options::new()).expect("the own user");
    }

    /// Asserts that three threads that wait in `accept` end when the listener is stopped by `stop`, and that later calls end at once.
    pub(super) fn assert_stops<L: Listener + Send + Sync + 'static>(
        server: &Arc<L>,
        stop: impl Fn(&L),
    ) {
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let server = server.clone();
                std::thread::spawn(move || server.accept(Options::new()))
            })
            .collect();
        stop(server);
        for thread in waiting {
            let ended = thread.join().expect("no panic");
            assert!(matches!(ended, Err(AcceptError::Stopped)), "{ended:?}");
        }
        let ended = server.accept(Options::new());
        assert!(matches!(ended, Err(AcceptError::Stopped)), "{ended:?}");
    }

    #[test]
    fn threads_that_wait_are_woken_by_connections_too() {
        for address in ["127.0.0.1:0", "[::]:0"] {
            let address = address.parse().expect("an address");
            let server = TcpServer::bind(address, Reach::Anywhere).expect("a port");
            assert_stops(&Arc::new(server), |server| {
                server.accepting.wait_for(3);
                let address = server.address().expect("its address");
                accepting::wake_tcp(address, server.accepting.stop());
            });
        }
    }

    #[test]
    fn where_users_are_unknown_other_users_of_the_machine_must_be_allowed() {
        let address = "127.0.0.1:0".parse().expect("an address");
        let refused = allow(address, Reach::Loopback, false).expect_err("unknown users");
        assert!(
            matches!(refused, ListenError::UnknownUsers { .. }),
            "{refused}"
        );
        for (reach, known) in [
            (Reach::Loopback, true),
            (Reach::LoopbackAnyUser, false),
            (Reach::Anywhere, false),
        ] {
            allow(address, reach, known).expect("allowed");
        }
        let other = "192.0.2.1:0".parse().expect("an address");
        let refused = allow(other, Reach::LoopbackAnyUser, true).expect_err("not loopback");
        assert!(
            matches!(refused, ListenError::NotLoopback { .. }),
            "{refused}"
        );
    }

    #[test]
    fn any_user_of_the_machine_is_let_in_where_that_is_allowed() {
        let address = "127.0.0.1:0".parse().expect("an address");
        let server = TcpServer::bind(address, Reach::LoopbackAnyUser).expect("a port");
        let _peer = TcpStream::connect(server.address().expect("its address")).expect("connected");
        let refuse = |peer: SocketAddr, _| {
            Err(AcceptError::UnknownUser {
                peer: peer.to_string(),
            })
        };
        server.accept_if(Options::new(), refuse).expect("any user");
    }
}
