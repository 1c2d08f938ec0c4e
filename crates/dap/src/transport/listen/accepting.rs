//! Accepting until a listener is stopped, and which errors of accepting pass.
//!
//! On Linux, shutting a listening socket down wakes all threads that wait for a connection. Elsewhere each of them is woken by a
//! connection from this process; so the waiting threads are counted.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::AcceptError;

/// The threads that accept connections on one listener.
#[derive(Debug, Default)]
pub(super) struct Accepting {
    stopped: AtomicBool,
    waiting: AtomicUsize,
}

impl Accepting {
    /// Calls `accept` unless the listener is stopped. A connection that comes with the stop may be the one that wakes the thread: it is
    /// dropped.
    pub(super) fn accept<T>(
        &self,
        accept: impl FnOnce() -> io::Result<T>,
    ) -> Result<T, AcceptError> {
        // Counted first: either this thread sees that the listener is stopped, or `stop` sees this thread.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let accepted = match self.stopped.load(Ordering::SeqCst) {
            true => Err(AcceptError::Stopped),
            false => accept().map_err(AcceptError::Io),
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        match self.stopped.load(Ordering::SeqCst) {
            true => Err(AcceptError::Stopped),
            false => accepted,
        }
    }

    /// Waits until this many threads are about to accept.
    #[cfg(test)]
    pub(super) fn wait_for(&self, threads: usize) {
        while self.waiting.load(Ordering::SeqCst) < threads {
            std::thread::yield_now();
        }
    }

    /// Stops accepting. Returns how many threads may be waiting, to be woken by the caller.
    pub(super) fn stop(&self) -> usize {
        self.stopped.store(true, Ordering::SeqCst);
        self.waiting.load(Ordering::SeqCst)
    }
}

/// Wakes all threads that wait for a connection.
#[cfg(target_os = "linux")]
pub(super) fn wake(listener: impl std::os::fd::AsFd, _waiting: usize) {
    rustix::net::shutdown(listener, rustix::net::Shutdown::Both).ok();
}

/// Wakes this many threads that wait for a connection to a TCP address of this machine.
#[cfg(any(not(target_os = "linux"), test))]
pub(super) fn wake_tcp(mut address: std::net::SocketAddr, waiting: usize) {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpStream};
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    for _ in 0..waiting {
        TcpStream::connect_timeout(&address, std::time::Duration::from_secs(1)).ok();
    }
}

/// Wakes this many threads that wait for a connection to a Unix socket.
#[cfg(all(unix, any(not(target_os = "linux"), test)))]
pub(super) fn wake_unix(path: &std::path::Path, waiting: usize) {
    for _ in 0..waiting {
        std::os::unix::net::UnixStream::connect(path).ok();
    }
}

/// True for a connection that was gone before it was accepted, a signal, and network errors that were pending on the new socket; see
/// accept(2).
#[cfg(unix)]
pub(super) fn passes(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let Some(error) = Errno::from_io_error(error) else {
        return false;
    };
    #[cfg(target_os = "linux")]
    if error == Errno::NONET {
        return true;
    }
    matches!(
        error,
        Errno::CONNABORTED
            | Errno::CONNRESET
            | Errno::INTR
            | Errno::NOTCONN
            | Errno::NETDOWN
            | Errno::PROTO
            | Errno::NOPROTOOPT
            | Errno::HOSTDOWN
            | Errno::HOSTUNREACH
            | Errno::OPNOTSUPP
            | Errno::NETUNREACH
    )
}

/// True if the process or the system is out of descriptors or memory at the moment.
#[cfg(unix)]
pub(super) fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
    )
}

/// True for a connection that was gone before it was accepted, and network errors.
#[cfg(not(unix))]
pub(super) fn passes(error: &io::Error) -> bool {
    use io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::Interrupted
            | ErrorKind::NetworkDown
            | ErrorKind::NetworkUnreachable
            | ErrorKind::HostUnreachable
    )
}

/// True if the process or the system is out of sockets or memory at the moment.
#[cfg(not(unix))]
pub(super) fn is_shortage(error: &io::Error) -> bool {
    // WSAEMFILE and WSAENOBUFS.
    error.kind() == io::ErrorKind::OutOfMemory
        || matches!(error.raw_os_error(), Some(10024 | 10055))
}
