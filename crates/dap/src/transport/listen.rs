//! Listening, and who may connect.
//!
//! A [`TcpServer`] or [`UnixServer`] accepts connections one by one. [`serve_each`] gives each a thread of its own, and
//! [`Server::serve`](crate::Server::serve) a session. Messages are not read here.
//!
//! A debug adapter runs programs for its clients, so listening is loopback only unless [`Reach::Anywhere`] is given, and a peer
//! at a loopback address or a Unix socket must belong to the same user (or be root). For TCP the kernel's socket table gives the
//! owner of the other end; a Unix socket carries its peer's credentials.

mod sessions;

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use rustix::net::Shutdown;

use super::{Connection, Options};

pub use sessions::{Listener, serve_each};

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
    /// The peer belongs to another user. Its connection was refused; other peers can still connect.
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
            // These pass: a shortage, a connection that was gone before it was accepted, a signal, and network errors that were pending on the
            // new socket; see accept(2).
            Self::Io(error) => {
                self.is_shortage()
                    || matches!(
                        Errno::from_io_error(error),
                        Some(
                            Errno::CONNABORTED
                                | Errno::CONNRESET
                                | Errno::INTR
                                | Errno::NOTCONN
                                | Errno::NETDOWN
                                | Errno::PROTO
                                | Errno::NOPROTOOPT
                                | Errno::HOSTDOWN
                                | Errno::NONET
                                | Errno::HOSTUNREACH
                                | Errno::OPNOTSUPP
                                | Errno::NETUNREACH
                        )
                    )
            }
        }
    }

    /// True if the process or the system is out of descriptors or memory at the moment.
    fn is_shortage(&self) -> bool {
        matches!(self, Self::Io(error) if matches!(
            Errno::from_io_error(error),
            Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
        ))
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
pub enum Reach {
    /// From this machine only.
    #[default]
    Loopback,
    /// From anywhere. The user is checked only for peers at a loopback address: the users of other machines cannot be told apart.
    Anywhere,
}

/// Accepts connections over TCP.
#[derive(Debug)]
pub struct TcpServer {
    listener: TcpListener,
    stopped: AtomicBool,
}

impl TcpServer {
    /// Listens on an address. Port 0 picks a free one; see [`address`](Self::address).
    ///
    /// # Errors
    /// The address is not loopback though `reach` is [`Reach::Loopback`], or it is not available.
    pub fn bind(address: SocketAddr, reach: Reach) -> Result<Self, ListenError> {
        if reach == Reach::Loopback && !is_loopback(address.ip()) {
            return Err(ListenError::NotLoopback { address });
        }
        match TcpListener::bind(address) {
            Ok(listener) => Ok(Self {
                listener,
                stopped: AtomicBool::new(false),
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
        self.accept_if(options, tcp_owner)
    }

    /// Accepts a connection if its peer's user may connect. `owner` gets the peer's address and the local one.
    fn accept_if(
        &self,
        options: Options,
        owner: impl Fn(SocketAddr, SocketAddr) -> Option<u32>,
    ) -> Result<Connection, AcceptError> {
        let (stream, peer) = unless_stopped(&self.stopped, || self.listener.accept())?;
        if is_loopback(peer.ip()) {
            let local = stream.local_addr()?;
            check(owner(peer, local), own_user(), &peer.to_string())?;
        }
        Ok(options.of_adapter().tcp(stream)?)
    }

    /// Ends listening, whichever thread waits in [`accept`](Self::accept). Connections that were accepted stay open.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the threads that wait.
        rustix::net::shutdown(&self.listener, Shutdown::Both).ok();
    }
}

impl Listener for TcpServer {
    fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        self.accept(options)
    }
}

/// Accepts connections over a Unix socket. The socket's file is removed when this is dropped.
#[derive(Debug)]
pub struct UnixServer {
    listener: UnixListener,
    stopped: AtomicBool,
    path: PathBuf,
    /// The socket file's inode, by which to see whether another process has replaced the file.
    inode: Option<u64>,
}

impl UnixServer {
    /// Listens on a path. A socket left behind by a process that is gone is replaced. To find out whether a process still listens, this
    /// connects to the socket: such a server sees a client that disconnects at once. Only this process's user and root can connect.
    ///
    /// # Errors
    /// The path is in use, or cannot be created.
    pub fn bind(path: &Path) -> Result<Self, ListenError> {
        let address = || path.display().to_string();
        let mut bound = UnixListener::bind(path);
        if bound
            .as_ref()
            .is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
        {
            // Connecting to a file of another kind is refused, too; that file must not be removed.
            let is_socket =
                fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
            let refused = UnixStream::connect(path)
                .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
            if !(is_socket && refused) {
                return Err(ListenError::InUse { address: address() });
            }
            bound = fs::remove_file(path).and_then(|()| UnixListener::bind(path));
        }
        let listener = bound.map_err(|source| ListenError::Io {
            address: address(),
            source,
        })?;
        // Until the mode is set, another user can connect, but `accept` refuses that user by the peer's credentials.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(|source| {
            ListenError::Io {
                address: address(),
                source,
            }
        })?;
        let inode = fs::symlink_metadata(path).ok().map(|data| data.ino());
        Ok(Self {
            listener,
            stopped: AtomicBool::new(false),
            path: path.to_owned(),
            inode,
        })
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// Accepting failed, the peer was refused, or listening was stopped.
    pub fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        self.accept_if(options, unix_owner)
    }

    /// Accepts a connection if its peer's user may connect.
    fn accept_if(
        &self,
        options: Options,
        owner: impl Fn(&UnixStream) -> Option<u32>,
    ) -> Result<Connection, AcceptError> {
        let (stream, _) = unless_stopped(&self.stopped, || self.listener.accept())?;
        let peer = format!("a client of {}", self.path.display());
        check(owner(&stream), own_user(), &peer)?;
        Ok(options.of_adapter().unix(stream)?)
    }

    /// Ends listening, whichever thread waits in [`accept`](Self::accept). Connections that were accepted stay open. The socket's file
    /// stays until this is dropped.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the threads that wait.
        rustix::net::shutdown(&self.listener, Shutdown::Both).ok();
    }
}

impl Listener for UnixServer {
    fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        self.accept(options)
    }
}

impl Drop for UnixServer {
    fn drop(&mut self) {
        let now = fs::symlink_metadata(&self.path).ok().map(|data| data.ino());
        if now.is_some() && now == self.inode {
            fs::remove_file(&self.path).ok();
        }
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Calls `accept`. Once the listener is stopped, any error becomes [`AcceptError::Stopped`].
fn unless_stopped<T>(
    stopped: &AtomicBool,
    accept: impl FnOnce() -> io::Result<T>,
) -> Result<T, AcceptError> {
    accept().map_err(|error| match stopped.load(Ordering::SeqCst) {
        true => AcceptError::Stopped,
        false => AcceptError::Io(error),
    })
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Checks that the peer's `owner` is root or this process's user.
fn check(owner: Option<u32>, own: u32, peer: &str) -> Result<(), AcceptError> {
    let peer = peer.to_owned();
    match owner {
        None => Err(AcceptError::UnknownUser { peer }),
        Some(uid) if uid == own || uid == 0 => Ok(()),
        Some(uid) => Err(AcceptError::OtherUser { peer, uid, own }),
    }
}

/// The user of the process that connected; `None` if the kernel doesn't tell.
fn unix_owner(stream: &UnixStream) -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    Some(peer.uid.as_raw())
}

/// The user who owns the peer's end: the socket on this machine whose local address is `peer` and whose remote address is `local`.
fn tcp_owner(peer: SocketAddr, local: SocketAddr) -> Option<u32> {
    // An IPv4 connection made through an IPv6 socket is in the second table.
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .find_map(|table| owner_in_table(&table, peer, local))
}

/// Finds a connection in the text of `/proc/net/tcp` or `/proc/net/tcp6`; its columns are in proc_pid_net(5).
fn owner_in_table(table: &str, peer: SocketAddr, local: SocketAddr) -> Option<u32> {
    const STATE_TIME_WAIT: &str = "06";
    let same = |text: &str, address: SocketAddr| {
        table_address(text).is_some_and(|(ip, port)| {
            ip.to_canonical() == address.ip().to_canonical() && port == address.port()
        })
    };
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let (own, remote, state) = (columns.next()?, columns.next()?, columns.next()?);
        let found = same(own, peer) && same(remote, local) && state != STATE_TIME_WAIT;
        if !found {
            return None;
        }
        // After the state: queues, timer, retransmits, then the user id.
        columns.nth(3)?.parse().ok()
    })
}

/// An address as the table writes it: 32-bit words in the machine's byte order, in hexadecimal, then the port.
fn table_address(text: &str) -> Option<(IpAddr, u16)> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |index: usize| -> Option<[u8; 4]> {
        let digits = ip.get(index * 8..index * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip = match ip.len() {
        8 => IpAddr::from(word(0)?),
        32 => {
            let mut bytes = [0; 16];
            for (index, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(index)?);
            }
            IpAddr::from(bytes)
        }
        _ => return None,
    };
    Some((ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpStream;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
        0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1\n   \
        1: 0100007F:B0A2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1234        0 2 1\n   \
        2: 0100007F:1F90 0100007F:B0A2 01 00000000:00000000 00:00000000 00000000  1000        0 3 1\n";

    #[test]
    fn the_owner_is_that_of_the_peers_end_not_of_ours() {
        let [peer, local] = ["127.0.0.1:45218", "127.0.0.1:8080"]
            .map(|text| text.parse::<SocketAddr>().expect("an address"));
        assert_eq!(owner_in_table(TABLE, peer, local), Some(1234));
        assert_eq!(owner_in_table(TABLE, local, peer), Some(1000));
        assert_eq!(owner_in_table(TABLE, peer, peer), None);
        assert_eq!(owner_in_table("", peer, local), None);
    }

    #[test]
    fn an_ipv4_peer_is_found_behind_an_ipv6_socket() {
        let (ip, port) =
            table_address("0000000000000000FFFF00000100007F:B0A2").expect("a mapped address");
        assert_eq!(
            (ip.to_canonical(), port),
            ("127.0.0.1".parse().expect("an address"), 45218)
        );
        assert_eq!(table_address("01:2"), None);
        assert_eq!(table_address("zz00007F:1F90"), None);
    }

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

    #[test]
    fn the_own_user_and_root_may_connect_and_nobody_else() {
        for (owner, own, may) in [
            (Some(1000), 1000, true),
            (Some(0), 1000, true),
            (Some(0), 0, true),
            (Some(1001), 1000, false),
            (Some(1000), 0, false),
            (None, 1000, false),
            (None, 0, false),
        ] {
            let checked = check(owner, own, "a peer");
            assert_eq!(checked.is_ok(), may, "{owner:?} to {own}: {checked:?}");
        }
    }

    /// Asserts that the peer was refused and sees the end of its connection.
    fn assert_turned_away(refused: Result<Connection, AcceptError>, mut peer: impl Read) {
        let error = refused.expect_err("a stranger");
        assert!(
            matches!(error, AcceptError::OtherUser { uid, own, .. } if uid == own + 1),
            "{error}"
        );
        assert!(error.is_passing());
        assert_eq!(peer.read(&mut [0]).expect("the end"), 0);
    }

    #[test]
    fn a_stranger_is_turned_away_and_the_next_is_let_in() {
        let server = TcpServer::bind("127.0.0.1:0".parse().expect("an address"), Reach::Loopback)
            .expect("a port");
        let address = server.address().expect("its address");
        let peer = TcpStream::connect(address).expect("connected");
        let (at_peer, at_ours) = (peer.local_addr().expect("bound"), address);
        let refused = server.accept_if(Options::new(), |peer, local| {
            assert_eq!((peer, local), (at_peer, at_ours));
            Some(own_user() + 1)
        });
        assert_turned_away(refused, peer);
        let _peer = TcpStream::connect(address).expect("connected");
        server.accept(Options::new()).expect("the own user");
    }

    #[test]
    fn a_file_that_is_no_socket_is_not_replaced() {
        let path = std::env::temp_dir().join(format!("dapple-no-socket-{}", std::process::id()));
        fs::write(&path, "precious").expect("written");
        let refused = UnixServer::bind(&path).expect_err("a file is there");
        assert!(matches!(refused, ListenError::InUse { .. }), "{refused}");
        assert_eq!(fs::read_to_string(&path).expect("still there"), "precious");
        fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn a_stranger_at_a_unix_socket_is_turned_away_and_the_next_is_let_in() {
        let path = std::env::temp_dir().join(format!("dap-listen-{}", std::process::id()));
        let server = UnixServer::bind(&path).expect("a socket");
        let peer = UnixStream::connect(&path).expect("connected");
        assert_turned_away(
            server.accept_if(Options::new(), |_| Some(own_user() + 1)),
            peer,
        );
        let _peer = UnixStream::connect(&path).expect("connected");
        server.accept(Options::new()).expect("the own user");
    }
}
