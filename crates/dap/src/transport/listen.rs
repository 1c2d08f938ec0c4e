//! Who may connect.
//!
//! A debug adapter runs programs for whoever talks to it, so listening is loopback only unless told otherwise, and a peer
//! on the same machine must belong to the same user (or be root). For TCP the kernel's socket table says whose the
//! other end is; a Unix socket carries its peer's credentials.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use super::{Connection, Options};

/// Why a connection was not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// The system call failed. If this repeats, stop listening.
    #[error("cannot accept connections: {0}")]
    Io(#[from] io::Error),
    /// The peer is of another user. It was turned away; others can still connect.
    #[error(
        "refused a connection from {peer}: it belongs to user {uid}, and only user {own} may connect"
    )]
    OtherUser {
        /// Where it came from.
        peer: String,
        /// Its user id.
        uid: u32,
        /// This process's user id.
        own: u32,
    },
    /// The kernel does not say whose the peer is. It was turned away; others can still connect.
    #[error("refused a connection from {peer}: cannot tell which user it belongs to")]
    UnknownUser {
        /// Where it came from.
        peer: String,
    },
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
    /// Another process listens there.
    #[error("{address} is in use by another process")]
    InUse {
        /// The address or path.
        address: String,
    },
    /// Something else.
    #[error("cannot listen on {address}: {source}")]
    Io {
        /// The address or path.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
}

/// From where connections are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// From this machine only.
    #[default]
    Loopback,
    /// From anywhere. Peers on other machines cannot be checked.
    Anywhere,
}

/// Takes connections over TCP.
#[derive(Debug)]
pub struct TcpServer {
    listener: TcpListener,
}

impl TcpServer {
    /// Listens on an address. Port 0 picks a free one; see [`address`](Self::address).
    ///
    /// # Errors
    /// The address is not loopback while `reach` is, or is not available.
    pub fn bind(address: SocketAddr, reach: Reach) -> Result<Self, ListenError> {
        if reach == Reach::Loopback && !is_loopback(address.ip()) {
            return Err(ListenError::NotLoopback { address });
        }
        match TcpListener::bind(address) {
            Ok(listener) => Ok(Self { listener }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(ListenError::InUse {
                address: address.to_string(),
            }),
            Err(source) => Err(ListenError::Io {
                address: address.to_string(),
                source,
            }),
        }
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// Accepting failed, or the peer was refused.
    pub fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        let (stream, peer) = self.listener.accept()?;
        if is_loopback(peer.ip()) {
            let local = stream.local_addr()?;
            check(tcp_owner(peer, local), &peer.to_string())?;
        }
        Ok(options.tcp(stream)?)
    }
}

/// Takes connections over a Unix socket. The socket's file is removed when this is dropped.
#[derive(Debug)]
pub struct UnixServer {
    listener: UnixListener,
    path: PathBuf,
    /// Which file it is: somebody may have put another in its place.
    inode: Option<u64>,
}

impl UnixServer {
    /// Listens on a path. A socket left behind by a process that is gone is replaced; whether it is gone is tried out by
    /// connecting, so a server sees a client that leaves at once.
    ///
    /// # Errors
    /// The path is taken, or cannot be created.
    pub fn bind(path: &Path) -> Result<Self, ListenError> {
        let address = || path.display().to_string();
        let mut bound = UnixListener::bind(path);
        if bound
            .as_ref()
            .is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
        {
            let abandoned = std::os::unix::net::UnixStream::connect(path)
                .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
            if !abandoned {
                return Err(ListenError::InUse { address: address() });
            }
            bound = fs::remove_file(path).and_then(|()| UnixListener::bind(path));
        }
        let listener = bound.map_err(|source| ListenError::Io {
            address: address(),
            source,
        })?;
        let inode = fs::symlink_metadata(path).ok().map(|data| data.ino());
        Ok(Self {
            listener,
            path: path.to_owned(),
            inode,
        })
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// Accepting failed, or the peer was refused.
    pub fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        let (stream, _) = self.listener.accept()?;
        let owner = rustix::net::sockopt::socket_peercred(&stream)
            .ok()
            .map(|peer| peer.uid.as_raw());
        check(owner, &format!("a client of {}", self.path.display()))?;
        Ok(options.unix(stream)?)
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

/// Root and the own user may connect.
fn check(owner: Option<u32>, peer: &str) -> Result<(), AcceptError> {
    let peer = peer.to_owned();
    let own = rustix::process::geteuid().as_raw();
    match owner {
        None => Err(AcceptError::UnknownUser { peer }),
        Some(uid) if uid == own || uid == 0 => Ok(()),
        Some(uid) => Err(AcceptError::OtherUser { peer, uid, own }),
    }
}

/// The user of the socket on this machine whose own end is `peer` and whose other end is `local`.
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
        // Behind the state: queues, timer, retransmits.
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
    fn a_peer_of_another_user_is_refused_and_one_of_nobody_knows_too() {
        let own = rustix::process::geteuid().as_raw();
        check(Some(own), "here").expect("the own user");
        assert!(matches!(
            check(Some(own + 1), "there"),
            Err(AcceptError::OtherUser { .. })
        ));
        assert!(matches!(
            check(None, "there"),
            Err(AcceptError::UnknownUser { .. })
        ));
    }
}
