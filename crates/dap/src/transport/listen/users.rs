//! To which user a peer belongs, and whether that user may connect.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(unix)]
use std::os::unix::net::UnixStream;

use super::AcceptError;

#[cfg(target_os = "linux")]
pub(super) use linux::check_tcp;

/// Whether the system tells to which user a TCP connection from this machine belongs.
pub(super) const KNOWN_OVER_TCP: bool = cfg!(target_os = "linux");

/// Lets every peer in: its user is unknown. Listening where this matters was [refused](super::TcpServer::bind).
#[cfg(not(target_os = "linux"))]
pub(super) fn check_tcp(
    _peer: std::net::SocketAddr,
    _local: std::net::SocketAddr,
) -> Result<(), AcceptError> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Checks that the peer's `owner` is root or this process's user.
#[cfg(unix)]
pub(super) fn check(owner: Option<u32>, own: u32, peer: &str) -> Result<(), AcceptError> {
    let peer = peer.to_owned();
    match owner {
        None => Err(AcceptError::UnknownUser { peer }),
        Some(uid) if uid == own || uid == 0 => Ok(()),
        Some(uid) => Err(AcceptError::OtherUser { peer, uid, own }),
    }
}

/// The user of the process that connected; `None` if the kernel doesn't tell.
#[cfg(target_os = "linux")]
pub(super) fn unix_owner(stream: &UnixStream) -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    Some(peer.uid.as_raw())
}

/// The effective user of the process that connected; `None` if the kernel doesn't tell.
#[cfg(any(
    target_vendor = "apple",
    target_os = "dragonfly",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
))]
pub(super) fn unix_owner(stream: &UnixStream) -> Option<u32> {
    let (user, _) = nix::unistd::getpeereid(stream).ok()?;
    Some(user.as_raw())
}

/// Unknown, so that nobody may connect.
#[cfg(all(
    unix,
    not(any(
        target_os = "linux",
        target_vendor = "apple",
        target_os = "dragonfly",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd"
    ))
))]
pub(super) fn unix_owner(_: &UnixStream) -> Option<u32> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

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
}
