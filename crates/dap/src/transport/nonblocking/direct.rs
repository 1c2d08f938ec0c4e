//! Writing to a peer without blocking, on the thread that sends.
//!
//! Handing a message to the writing thread costs two switches between threads, which is more than the writing itself. So the
//! sending thread writes the bytes that the kernel takes at once, and leaves the rest to the writing thread. Nothing here
//! blocks.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use rustix::fs::OFlags;
use rustix::net::SendFlags;

/// An output that can be written without blocking.
#[derive(Debug)]
pub(in crate::transport) enum Direct {
    /// A pipe, opened again with `O_NONBLOCK`: that flag belongs to the open file description, which other processes may share.
    Pipe(File),
    /// A socket: `MSG_DONTWAIT` makes a single call nonblocking.
    Socket(OwnedFd),
}

impl Direct {
    /// For the pipe or the socket that is open as `fd`. `None` if `fd` is neither, or if the pipe may not be opened again.
    pub(in crate::transport) fn of(fd: BorrowedFd<'_>) -> Option<Self> {
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let file_type = std::fs::metadata(&path).ok()?.file_type();
        if file_type.is_socket() {
            return fd.try_clone_to_owned().ok().map(Self::Socket);
        }
        if !file_type.is_fifo() {
            return None;
        }
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
        let opened = OpenOptions::new()
            .write(true)
            .custom_flags(flags)
            .open(path);
        opened.ok().map(Self::Pipe)
    }

    /// Writes as many bytes as there is room for and returns their number. An error counts as no room: the writing thread gets it too.
    pub(in crate::transport) fn write(&mut self, bytes: &[u8]) -> usize {
        match self {
            Self::Pipe(pipe) => pipe.write(bytes).unwrap_or(0),
            Self::Socket(socket) => {
                let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                rustix::net::send(socket, bytes, flags).unwrap_or(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_full_pipe_takes_what_it_can_and_nobody_waits() {
        let (mut read, write) = std::io::pipe().unwrap();
        let mut direct = Direct::of(write.as_fd()).unwrap();
        let much = vec![b'x'; 1 << 20];
        let taken = direct.write(&much);
        assert!(taken > 0 && taken < much.len(), "{taken}");
        assert_eq!(direct.write(b"more"), 0);
        // The pipe's original descriptor is still blocking.
        drop((write, direct));
        let mut all = Vec::new();
        read.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), taken);
    }

    #[test]
    fn a_full_socket_takes_what_it_can_and_nobody_waits() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut direct = Direct::of(ours.as_fd()).unwrap();
        let much = vec![b'x'; 16 << 20];
        let taken = direct.write(&much);
        assert!(taken > 0 && taken < much.len(), "{taken}");
        drop(theirs);
        assert_eq!(direct.write(b"more"), 0, "no signal, and no success");
    }

    #[test]
    fn a_file_is_written_by_waiting() {
        let file = File::open("/dev/null").unwrap();
        assert!(Direct::of(file.as_fd()).is_none());
    }
}
