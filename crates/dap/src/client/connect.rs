//! Connecting to an adapter, which may still be starting.

use std::fmt::Display;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
#[cfg(unix)]
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The pause between two tries. The kernel does not notify when a process starts to listen.
pub(crate) const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Connects to the first of a name's addresses that accepts. `patience` is the time for each address.
pub(super) fn tcp(address: impl ToSocketAddrs, patience: Duration) -> io::Result<TcpStream> {
    let mut refused = None;
    for address in address.to_socket_addrs()? {
        // `connect_timeout` refuses a timeout of zero.
        match TcpStream::connect_timeout(&address, patience.max(Duration::from_millis(1))) {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = Some(cannot_connect(address, &error)),
        }
    }
    Err(refused.unwrap_or_else(no_address))
}

#[cfg(unix)]
pub(super) fn unix(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path).map_err(|error| cannot_connect(path.display(), &error))
}

/// Retries `connect` while it fails with an error that [passes once an adapter listens](may_be_starting), until the time is over. Each
/// try gets the time that is left.
pub(super) fn retried<T>(
    patience: Duration,
    mut connect: impl FnMut(Duration) -> io::Result<T>,
) -> io::Result<T> {
    let start = Instant::now();
    loop {
        let error = match connect(patience.saturating_sub(start.elapsed())) {
            Err(error) if may_be_starting(&error) => error,
            outcome => return outcome,
        };
        let left = patience.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(timed_out(&error, patience));
        }
        thread::park_timeout(RETRY_INTERVAL.min(left));
    }
}

/// True if nothing listens on the address, or the socket's file does not exist. Both change once an adapter listens.
pub(crate) fn may_be_starting(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
    )
}

pub(crate) fn cannot_connect(place: impl Display, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot connect to {place}: {error}"))
}

pub(crate) fn no_address() -> io::Error {
    io::Error::other("cannot connect: the name has no address")
}

pub(crate) fn timed_out(error: &io::Error, patience: Duration) -> io::Error {
    io::Error::new(error.kind(), format!("{error}; tried for {patience:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use io::ErrorKind::{ConnectionRefused, NotFound, PermissionDenied};

    /// The outcome of tries that fail with `failures` and then succeed, and how many were needed.
    fn tries(failures: &[io::ErrorKind], patience: Duration) -> (io::Result<&'static str>, usize) {
        let mut count = 0;
        let outcome = retried(patience, |left| {
            assert!(left <= patience);
            count += 1;
            match failures.get(count - 1) {
                Some(&kind) => Err(cannot_connect("there", &kind.into())),
                None => Ok("connected"),
            }
        });
        (outcome, count)
    }

    #[test]
    fn nobody_there_passes() {
        let patience = Duration::from_secs(60);
        let (outcome, count) = tries(&[NotFound, ConnectionRefused, ConnectionRefused], patience);
        assert_eq!((outcome.expect("connected"), count), ("connected", 4));
    }

    #[test]
    fn what_does_not_pass_is_told_at_once() {
        let (outcome, count) = tries(&[NotFound, PermissionDenied], Duration::from_secs(60));
        let error = outcome.expect_err("it is not permitted");
        assert_eq!((error.kind(), count), (PermissionDenied, 2));
        assert_eq!(
            error.to_string(),
            "cannot connect to there: permission denied"
        );
    }

    #[test]
    fn nobody_there_for_too_long_is_told_with_the_time() {
        let (outcome, count) = tries(&[NotFound; 1000], Duration::ZERO);
        let error = outcome.expect_err("nobody is there");
        assert_eq!((error.kind(), count), (NotFound, 1));
        let (outcome, count) = tries(&[ConnectionRefused; 1000], Duration::from_millis(25));
        let error = outcome.expect_err("nobody is there");
        assert!((2..100).contains(&count), "{count} tries");
        assert_eq!(
            error.to_string(),
            "cannot connect to there: connection refused; tried for 25ms"
        );
    }
}
