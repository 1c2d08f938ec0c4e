//! How a forked child is handed over from one session to another.
//!
//! With [`FollowForks::Both`], a child stays stopped at its start (after vfork(2): at its exec) in the session that has its parent. Another
//! session, perhaps in another process, takes it over. They meet at a Unix socket in a folder that only this user can enter. The first
//! session gets the child into a state in which it waits without a tracer, and sends the child's former state. The other session attaches to
//! the child and confirms. Without a confirmation, the first session takes the child back and lets it go.

pub use dapple_target::follow_forks::FollowForks;
use dapple_target::linux::handover::Parked;
use dapple_target::linux::launcher::{self, own_user, peer};
use dapple_target::private_folder::PrivateFolder;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The interval between checks for a connection.
const TICK: Duration = Duration::from_millis(5);
/// How long each session waits for the other's answer once they are connected.
const PATIENCE: Duration = Duration::from_secs(10);

const PARKED: u8 = 1;
const REFUSED: u8 = 0;
const TAKEN: u8 = 1;
/// The longest refusal that is read, in bytes.
const MOST_BYTES: u64 = 4096;

/// The socket at which the session that has a child waits for the session that takes the child over. Dropping it removes its folder.
#[derive(Debug)]
pub struct Meeting {
    folder: PrivateFolder,
    listener: UnixListener,
}

/// A connected session that takes over a child.
#[derive(Debug)]
pub struct Successor {
    socket: UnixStream,
    /// The process that runs this session.
    pub process: i32,
}

/// The former state of a child that waits without a tracer.
#[derive(Debug, Clone)]
pub struct HandedOver(pub(crate) Box<Parked>);

impl Meeting {
    /// Opens the socket.
    ///
    /// # Errors
    /// The folder or the socket can't be made.
    pub fn open() -> io::Result<Meeting> {
        let folder = PrivateFolder::new()?;
        let listener = UnixListener::bind(folder.path().join("fork")).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        Ok(Meeting {
            folder,
            listener: listener?,
        })
    }

    /// The socket's path, for the other session: [`AttachOptions::handed_over`](crate::attach::AttachOptions::handed_over).
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("fork")
    }

    /// Waits until the other session connects. Between two checks, `pause` is called: it lets the given time pass, or returns why the wait
    /// is given up.
    ///
    /// # Errors
    /// The reason from `pause`, or what is wrong with the socket.
    pub fn wait(
        &self,
        mut pause: impl FnMut(Duration) -> Result<(), String>,
    ) -> Result<Successor, String> {
        let failed = |e: io::Error| format!("the session for it can't be waited for: {e}");
        loop {
            match self.listener.accept() {
                Ok((socket, _)) => match peer(&socket) {
                    Ok(peer) if peer.user == own_user() => {
                        socket.set_nonblocking(false).map_err(failed)?;
                        socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
                        return Ok(Successor {
                            socket,
                            process: peer.process,
                        });
                    }
                    _ => {}
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => pause(TICK)?,
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

impl Successor {
    /// Tells the other session that the child can be taken over, and sends it the child's former state.
    ///
    /// # Errors
    /// The socket can't be written to, as when the other session is gone.
    pub fn give(&mut self, child: &HandedOver) -> io::Result<()> {
        let mut bytes = vec![PARKED];
        bytes.extend(child.0.to_bytes());
        self.socket.write_all(&bytes)
    }

    /// Tells the other session why the child can't be taken over.
    pub fn refuse(&mut self, reason: &str) {
        let mut bytes = vec![REFUSED];
        bytes.extend(reason.as_bytes());
        // A session that is gone needs no answer.
        let _ = self.socket.write_all(&bytes);
    }

    /// Waits until the other session traces the child. `false`: the other session failed, or didn't confirm in time.
    pub fn has_taken(&mut self) -> bool {
        let mut answer = [0];
        self.socket.read_exact(&mut answer).is_ok() && answer[0] == TAKEN
    }
}

/// The connection as seen by the session that takes over a child.
pub(crate) struct Arrival {
    socket: UnixStream,
    pub(crate) parked: Parked,
}

impl Arrival {
    /// Connects to the session that has the child, at the socket `place`, and waits until the child can be taken over. The error says why
    /// it can't.
    pub(crate) fn at(place: &Path) -> Result<Arrival, String> {
        let gone = |e: io::Error| format!("the session that holds it can't be reached: {e}");
        let mut socket = UnixStream::connect(place).map_err(gone)?;
        let peer = launcher::peer(&socket).map_err(gone)?;
        if peer.user != own_user() {
            return Err("another user's session holds it".into());
        }
        socket.set_read_timeout(Some(PATIENCE)).map_err(gone)?;
        let mut answer = [0];
        socket.read_exact(&mut answer).map_err(gone)?;
        if answer[0] != PARKED {
            let mut reason = String::new();
            let _ = socket.take(MOST_BYTES).read_to_string(&mut reason);
            return Err(reason);
        }
        let mut bytes = [0; Parked::BYTES];
        socket.read_exact(&mut bytes).map_err(gone)?;
        Ok(Arrival {
            socket,
            parked: Parked::from_bytes(&bytes),
        })
    }

    /// Tells the other session that the child is traced here now.
    pub(crate) fn confirm(mut self) {
        // A session that is gone needs no answer.
        let _ = self.socket.write_all(&[TAKEN]);
    }
}
