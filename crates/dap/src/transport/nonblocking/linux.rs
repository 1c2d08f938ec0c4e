//! Linux: a descriptor is waited for by poll(2), together with an eventfd that wakes the thread for another reason.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
#[cfg(feature = "client")]
use std::process::ChildStdin;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::OFlags;
use rustix::net::RecvFlags;

use super::{Direct, Ends};

impl Ends {
    /// Of this process's standard input and output.
    pub(in crate::transport) fn of_stdio() -> Self {
        let stdout = io::stdout();
        Self {
            source: Source::of(io::stdin().as_fd()),
            direct: Direct::of(stdout.as_fd()),
            watched: Watched::of(stdout.as_fd()),
        }
    }

    pub(in crate::transport) fn of_socket(socket: &impl AsFd) -> Self {
        Self {
            source: Source::of(socket.as_fd()),
            direct: Direct::of(socket.as_fd()),
            watched: None,
        }
    }

    /// Of a child process: only its input is written without blocking.
    #[cfg(feature = "client")]
    pub(in crate::transport) fn of_child(input: &ChildStdin) -> Self {
        Self {
            direct: Direct::of(input.as_fd()),
            ..Self::default()
        }
    }
}

/// Wakes a thread that waits in poll(2): an eventfd.
#[derive(Debug)]
pub(in crate::transport) struct Nudge(OwnedFd);

impl Nudge {
    /// `None` if the process has no descriptors left.
    pub(in crate::transport) fn new() -> Option<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        eventfd(0, flags).ok().map(Self)
    }

    pub(in crate::transport) fn wake(&self) {
        rustix::io::write(&self.0, &1_u64.to_ne_bytes()).ok();
    }

    /// Lets the next poll(2) wait again.
    fn reset(&self) {
        rustix::io::read(&self.0, &mut [0; 8]).ok();
    }
}

impl AsFd for Nudge {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// An input that can be read without blocking.
#[derive(Debug)]
pub(in crate::transport) struct Source {
    kind: Kind,
    /// Wakes the reader thread from poll(2).
    nudge: Nudge,
}

#[derive(Debug)]
enum Kind {
    /// A pipe, opened again with `O_NONBLOCK`: that flag belongs to the open file description, which other processes may share.
    Pipe(File),
    /// A socket: `MSG_DONTWAIT` makes a single call nonblocking.
    Socket(OwnedFd),
}

impl Source {
    /// For the pipe or the socket that is open as `fd`. `None` if `fd` is neither, or if the pipe may not be opened again.
    pub(in crate::transport) fn of(fd: BorrowedFd<'_>) -> Option<Self> {
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let file_type = std::fs::metadata(&path).ok()?.file_type();
        let kind = if file_type.is_socket() {
            Kind::Socket(fd.try_clone_to_owned().ok()?)
        } else if file_type.is_fifo() {
            let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
            let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
            Kind::Pipe(opened.ok()?)
        } else {
            return None;
        };
        let nudge = Nudge::new()?;
        Some(Self { kind, nudge })
    }

    /// Reads the available bytes and returns their number: `None` if there are none yet, 0 at the end of the stream.
    pub(in crate::transport) fn read(&self, piece: &mut [u8]) -> io::Result<Option<usize>> {
        let read = match &self.kind {
            Kind::Pipe(pipe) => (&*pipe).read(piece),
            Kind::Socket(socket) => rustix::net::recv(socket, piece, RecvFlags::DONTWAIT)
                .map(|(length, _)| length)
                .map_err(io::Error::from),
        };
        match read {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            // A signal: the next call reads the bytes.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the peer has closed its sending end. Unread bytes may be left.
    pub(in crate::transport) fn has_closed(&self) -> bool {
        let mut ready = [PollFd::new(self, PollFlags::RDHUP)];
        let at_once = Timespec::default();
        let closed = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
        poll(&mut ready, Some(&at_once)).is_ok() && ready[0].revents().intersects(closed)
    }

    /// Waits for something to read. `false` if the thread was woken for another reason.
    pub(in crate::transport) fn wait(&self) -> bool {
        let mut ready = [
            PollFd::new(self, PollFlags::IN),
            PollFd::new(&self.nudge, PollFlags::IN),
        ];
        if poll(&mut ready, None).is_err() {
            return false;
        }
        if ready[1].revents().is_empty() {
            return true;
        }
        self.nudge.reset();
        false
    }

    /// Wakes the thread that waits.
    pub(in crate::transport) fn nudge(&self) {
        self.nudge.wake();
    }
}

impl AsFd for Source {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Pipe(pipe) => pipe.as_fd(),
            Kind::Socket(socket) => socket.as_fd(),
        }
    }
}

/// An output on which poll(2) reports that the peer has closed its reading end: a pipe or a socket.
pub(in crate::transport) struct Watched(OwnedFd);

impl Watched {
    /// A duplicate of `fd`, if it is a pipe or a socket.
    pub(in crate::transport) fn of(fd: BorrowedFd<'_>) -> Option<Self> {
        let file = File::from(fd.try_clone_to_owned().ok()?);
        let file_type = file.metadata().ok()?.file_type();
        (file_type.is_fifo() || file_type.is_socket()).then(|| Self(file.into()))
    }

    /// Waits until `nudge` wakes the thread or the peer has closed its reading end; `true` if it has.
    pub(in crate::transport) fn wait(&self, nudge: &Nudge) -> bool {
        let mut ready = [
            // No events are requested: poll(2) reports POLLERR and POLLHUP in any case.
            PollFd::new(&self.0, PollFlags::empty()),
            PollFd::new(nudge, PollFlags::IN),
        ];
        let polled = poll(&mut ready, None);
        nudge.reset();
        polled.is_ok() && !ready[0].revents().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_pipe_can_be_taken_over_and_a_file_not() {
        let (read, mut write) = io::pipe().unwrap();
        let source = Source::of(read.as_fd()).unwrap();
        let mut piece = [0; 4];
        assert_eq!(source.read(&mut piece).unwrap(), None);
        write.write_all(b"ab").unwrap();
        assert_eq!(source.read(&mut piece).unwrap(), Some(2));
        drop(write);
        assert_eq!(source.read(&mut piece).unwrap(), Some(0));
        assert!(Source::of(File::open("/dev/null").unwrap().as_fd()).is_none());
    }
}
