//! Programs that fork: which process is debugged from then on, and how a child gets from one session to another.
//!
//! A child that is followed beside its parent waits at its start with the session that has its parent; another session takes it
//! over, which may be in another process. The two meet at a Unix socket in a folder that only this user can enter. The first
//! gets the child into a state in which it waits without a tracer, says how it was before, and the other takes it from there and
//! confirms. If that does not come, the first takes the child back and lets it go.

pub use dapple_target::follow_forks::FollowForks;
use dapple_target::linux::handover::Parked;
use dapple_target::linux::launcher::{self, own_user, peer};
use dapple_target::private_folder::PrivateFolder;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often is looked whether somebody has come.
const TICK: Duration = Duration::from_millis(5);
/// How long each side may take for its part, once they have met.
const PATIENCE: Duration = Duration::from_secs(10);

const PARKED: u8 = 1;
const REFUSED: u8 = 0;
const TAKEN: u8 = 1;
/// The longest sentence that is read.
const MOST_BYTES: u64 = 4096;

/// Where a session is waited for that takes over a child. Its folder goes when it is dropped.
#[derive(Debug)]
pub struct Meeting {
    folder: PrivateFolder,
    listener: UnixListener,
}

/// A session that has come for a child.
#[derive(Debug)]
pub struct Successor {
    socket: UnixStream,
    /// Its process.
    pub process: i32,
}

/// What a child was like that waits without a tracer.
#[derive(Debug, Clone)]
pub struct HandedOver(pub(crate) Box<Parked>);

impl Meeting {
    /// Makes a place.
    ///
    /// # Errors
    /// There's no room for it.
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

    /// What the other session is to be told: [`AttachOptions::handed_over`](crate::attach::AttachOptions::handed_over).
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("fork")
    }

    /// Waits for the other session. `pause` is called between two looks: it lets the given time pass, or says why the wait is given up.
    ///
    /// # Errors
    /// That, or what went wrong.
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
    /// Tells that the child waits for it.
    ///
    /// # Errors
    /// It has gone away.
    pub fn give(&mut self, child: &HandedOver) -> io::Result<()> {
        let mut bytes = vec![PARKED];
        bytes.extend(child.0.to_bytes());
        self.socket.write_all(&bytes)
    }

    /// Tells why it can't have the child.
    pub fn refuse(&mut self, reason: &str) {
        let mut bytes = vec![REFUSED];
        bytes.extend(reason.as_bytes());
        // Gone, it needs no answer.
        let _ = self.socket.write_all(&bytes);
    }

    /// Waits until it has the child; false when it has not.
    pub fn has_taken(&mut self) -> bool {
        let mut answer = [0];
        self.socket.read_exact(&mut answer).is_ok() && answer[0] == TAKEN
    }
}

/// A session's end of it.
pub(crate) struct Arrival {
    socket: UnixStream,
    pub(crate) parked: Parked,
}

impl Arrival {
    /// Comes for a child.
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

    /// Says that the child is traced here now.
    pub(crate) fn confirm(mut self) {
        // Gone, the other needs no answer.
        let _ = self.socket.write_all(&[TAKEN]);
    }
}
