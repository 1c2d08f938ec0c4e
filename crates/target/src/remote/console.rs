//! What the process writes by way of the stub: it goes into a pipe, whose other end is read like the output of a process of this machine.
//!
//! Writing never waits: the thread that speaks to the stub may be the one for which the pipe's reader waits. What the pipe has no room for is
//! kept, and while that is much, no more is taken from the stub unless the process is to be stopped.

use std::io::{self, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// From how many kept bytes on no more is taken from the stub.
const FULL: usize = 1 << 20;
/// The most bytes that are kept: what comes then is dropped.
const MOST: usize = 64 << 20;

/// The writing end of the pipe.
#[derive(Debug)]
pub(super) struct Console {
    writer: PipeWriter,
    kept: Vec<u8>,
}

impl Console {
    /// A console with this pipe.
    ///
    /// # Errors
    /// The pipe can't be made non-blocking.
    pub(super) fn new(writer: PipeWriter) -> io::Result<Console> {
        rustix::io::ioctl_fionbio(&writer, true)?;
        Ok(Console {
            writer,
            kept: Vec::new(),
        })
    }

    /// Takes what the process has written.
    pub(super) fn take(&mut self, text: &[u8]) {
        let room = MOST.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&text[..text.len().min(room)]);
    }

    /// Passes on what was kept, as far as there is room.
    pub(super) fn pass_on(&mut self) {
        let mut done = 0;
        while let Some(rest) = self.kept.get(done..).filter(|rest| !rest.is_empty()) {
            match self.writer.write(rest) {
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Nobody reads it any more.
                Err(_) => done = self.kept.len(),
            }
        }
        self.kept.drain(..done);
    }

    /// Drops what was kept: the process's end is not to wait for it.
    pub(super) fn drop_kept(&mut self) {
        self.kept.clear();
    }

    /// Whether something is kept.
    pub(super) fn is_behind(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Whether so much is kept that no more is to be taken from the stub.
    pub(super) fn is_full(&self) -> bool {
        self.kept.len() >= FULL
    }

    /// What can be written to when there is room again.
    pub(super) fn output(&self) -> BorrowedFd<'_> {
        self.writer.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_the_pipe_has_no_room_for_is_kept_in_order() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let mut console = Console::new(writer).expect("a console");
        let text: Vec<u8> = (0..FULL + 70_000).map(|index| index as u8).collect();
        console.take(&text);
        assert!(console.is_full());
        let mut read = Vec::new();
        let mut piece = vec![0; 1 << 16];
        while read.len() < text.len() {
            console.pass_on();
            let count = reader.read(&mut piece).expect("something");
            read.extend_from_slice(&piece[..count]);
        }
        assert!(read == text && !console.is_behind());
        drop(reader);
        console.take(b"nobody reads this");
        console.pass_on();
        assert!(!console.is_behind());
    }
}
