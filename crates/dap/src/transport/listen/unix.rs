//! Listening on a Unix socket.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use super::accepting::{self, Accepting};
use super::sessions::Listener;
use super::{AcceptError, ListenError, users};
use crate::transport::{Connection, Options};

/// Accepts connections over a Unix socket. The socket's file is removed when this is dropped.
#[derive(Debug)]
pub struct UnixServer {
    pub(super) listener: UnixListener,
    accepting: Accepting,
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
            accepting: Accepting::default(),
            path: path.to_owned(),
            inode,
        })
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// Accepting failed, the peer was refused, or listening was stopped.
    pub fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        self.accept_if(options, users::unix_owner)
    }

    /// Accepts a connection if its peer's user may connect.
    fn accept_if(
        &self,
        options: Options,
        owner: impl Fn(&UnixStream) -> Option<u32>,
    ) -> Result<Connection, AcceptError> {
        let (stream, _) = self.accepting.accept(|| self.listener.accept())?;
        self.check(owner(&stream))?;
        Ok(options.of_adapter().unix(stream)?)
    }

    /// Checks that a client belongs to this process's user or root.
    pub(super) fn check(&self, owner: Option<u32>) -> Result<(), AcceptError> {
        let peer = format!("a client of {}", self.path.display());
        users::check(owner, users::own_user(), &peer)
    }

    /// Ends listening, whichever thread waits in [`accept`](Self::accept). Connections that were accepted stay open. The socket's file
    /// stays until this is dropped. On other systems than Linux, a thread that waits is woken through that file: it must still be there.
    pub fn stop(&self) {
        let waiting = self.accepting.stop();
        #[cfg(target_os = "linux")]
        accepting::wake(&self.listener, waiting);
        #[cfg(not(target_os = "linux"))]
        accepting::wake_unix(&self.path, waiting);
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

#[cfg(test)]
mod tests {
    use super::super::tests::assert_turned_away;
    use super::users::own_user;
    use super::*;
    use std::sync::Arc;

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

    #[test]
    fn threads_that_wait_are_woken_by_connections_too() {
        let path = std::env::temp_dir().join(format!("dap-stop-{}", std::process::id()));
        let server = Arc::new(UnixServer::bind(&path).expect("a socket"));
        super::super::tests::assert_stops(&server, |server| {
            server.accepting.wait_for(3);
            accepting::wake_unix(&server.path, server.accepting.stop());
        });
    }
}
