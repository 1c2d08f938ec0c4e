//! Reads the program's output: one pipe per stream, or its pseudoterminal, which is treated like a pipe.
//!
//! A reader thread waits on each pipe. The owner thread also empties the pipes before it reports a stop or the end, so that output written
//! before a stop is reported before the stop. A pipe is read and its output forwarded under one lock, so its pieces keep their order. Nothing
//! waits for the end of a pipe, because a grandchild may keep it open for ever.
//!
//! Output is forwarded at once. When piece follows piece without a pause (a flood), the reader polls only a few hundred times a second and
//! forwards what has gathered in the pipe as one large piece. The reader reads no faster than the consumer does ([`UnderWay`]).

use crate::linux::untraced::before_exec;
use crate::linux::wait::Waker;
use crate::stream::Stream;
use crate::written::{UnderWay, Written};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// About how many bytes one drain reads at most: a grandchild that writes for ever must not hold up the debugger.
const DRAIN_LIMIT: usize = 4 << 20;

/// About the size of the largest piece of output, in bytes.
const PIECE: usize = 256 << 10;

/// How many bytes one system call reads.
const BUFFER: usize = 64 << 10;

/// The capacity of a pipe, in bytes: how much gathers while its reader doesn't poll. This is the most that an unprivileged process may set
/// by default (pipe(7)).
const PIPE_SIZE: i32 = 1 << 20;

/// More than [`FLOOD`] pieces in a row, each within this time of the one before, are a flood.
const CLOSE: Duration = Duration::from_millis(20);
const FLOOD: u32 = 32;

/// How long the reader lets a flood gather, in milliseconds.
const GATHER: i32 = 4;

/// A consumer of output, called with each piece, in order for each stream.
#[derive(Clone)]
pub struct Taker(Arc<dyn Fn(Stream, Written) + Send + Sync>);

impl Taker {
    /// Wraps a function.
    pub fn new(take: impl Fn(Stream, Written) + Send + Sync + 'static) -> Taker {
        Taker(Arc::new(take))
    }
}

impl std::fmt::Debug for Taker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Taker")
    }
}

/// The readers of a program's output pipes.
#[derive(Debug)]
pub struct Output {
    pipes: Vec<Arc<Pipe>>,
    under_way: Arc<UnderWay>,
    /// Dropping this write end tells the readers to end.
    hang_up: Option<OwnedFd>,
}

impl Output {
    /// Starts a reader thread for each pipe. `take` is called with each piece, by the reader thread or by whoever calls [`Output::drain`].
    /// After each piece, a reader thread also calls [`Waker::wake`] of `wakes`.
    pub fn start(
        read_ends: Vec<(Stream, OwnedFd)>,
        take: &Taker,
        wakes: Option<&Arc<Waker>>,
    ) -> io::Result<Output> {
        let (hung_up, hang_up) = io::pipe()?;
        let hung_up = Arc::new(OwnedFd::from(hung_up));
        let under_way = Arc::new(UnderWay::default());
        let mut pipes = Vec::new();
        for (stream, read_end) in read_ends {
            pipes.push(Pipe::start(
                stream,
                read_end,
                Arc::clone(&hung_up),
                Arc::clone(&under_way),
                take.clone(),
                wakes.cloned(),
            )?);
        }
        Ok(Output {
            pipes,
            under_way,
            hang_up: Some(hang_up.into()),
        })
    }

    /// Forwards the output that has been written so far, at most about 4 MiB of each pipe.
    pub fn drain(&self) {
        for pipe in &self.pipes {
            pipe.drain();
        }
    }

    /// For a program that runs on without the debugger. Its output must still be read and discarded for as long as any process writes, or a
    /// writer would die of SIGPIPE. This starts a new process for each pipe that does the reading, also after this process has ended.
    pub fn let_go(&mut self) {
        let Some(hang_up) = self.hang_up.take() else {
            return;
        };
        let mut pipes = self.pipes.iter();
        if let Err(error) = pipes.try_for_each(|pipe| pipe.read_elsewhere()) {
            tracing::warn!(%error, "what the program writes is read as long as this process lives");
            // Keeps the write end open, so that the reader threads continue.
            let _ = hang_up.into_raw_fd();
        }
    }

    /// Forwards the output that has been written so far, as [`Output::drain`] does, and nothing that is written later.
    pub fn finish(&self) {
        self.under_way.end();
        for pipe in &self.pipes {
            pipe.drain();
            let _reading = pipe.lock();
            pipe.closed.store(true, Ordering::SeqCst);
        }
    }

    /// As [`Output::finish`], but for a program whose processes still write and are no longer traced: their output is read and discarded,
    /// or they would die of SIGPIPE.
    pub fn finish_and_discard(&mut self) {
        for pipe in &self.pipes {
            pipe.discards.store(true, Ordering::SeqCst);
        }
        self.finish();
        self.let_go();
    }
}

/// One stream's pipe.
#[derive(Debug)]
struct Pipe {
    stream: Stream,
    reading: Mutex<Reading>,
    closed: AtomicBool,
    /// Whether output is still read, and discarded, once `closed` is set.
    discards: AtomicBool,
    under_way: Arc<UnderWay>,
    take: Taker,
    wakes: Option<Arc<Waker>>,
}

/// Detects a flood: many pieces in close succession.
#[derive(Debug, Default)]
struct Flood {
    /// How many pieces in a row have closely followed the one before.
    close: u32,
}

impl Flood {
    /// Records a piece that arrived `since` after the one before. Returns whether the piece is part of a flood.
    fn rises(&mut self, since: Duration) -> bool {
        self.close = match since < CLOSE {
            true => self.close.saturating_add(1),
            false => 0,
        };
        self.close > FLOOD
    }
}

/// A pipe's read end, with a buffer.
#[derive(Debug)]
struct Reading {
    file: File,
    buffer: Box<[u8]>,
}

impl Pipe {
    fn start(
        stream: Stream,
        read_end: OwnedFd,
        hung_up: Arc<OwnedFd>,
        under_way: Arc<UnderWay>,
        take: Taker,
        wakes: Option<Arc<Waker>>,
    ) -> io::Result<Arc<Pipe>> {
        // SAFETY: sets a flag of a descriptor that we own.
        if unsafe { libc::fcntl(read_end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above. If the kernel refuses, the pipe keeps its size.
        unsafe { libc::fcntl(read_end.as_raw_fd(), libc::F_SETPIPE_SZ, PIPE_SIZE) };
        let raw = read_end.as_raw_fd();
        let pipe = Arc::new(Pipe {
            stream,
            reading: Mutex::new(Reading {
                file: File::from(read_end),
                buffer: vec![0; BUFFER].into(),
            }),
            closed: AtomicBool::new(false),
            discards: AtomicBool::new(false),
            under_way,
            take,
            wakes,
        });
        let reader = Arc::clone(&pipe);
        std::thread::Builder::new()
            .name(format!("{stream:?} reader"))
            .spawn(move || reader.read(raw, &hung_up))?;
        Ok(pipe)
    }

    /// The reader thread's main function: reads to the end of the pipe, or until the thread should end.
    fn read(&self, raw: RawFd, hung_up: &OwnedFd) {
        let mut last = Instant::now();
        let mut flood = Flood::default();
        while readable(raw, hung_up) {
            if flood.rises(last.elapsed()) {
                gather(hung_up);
            }
            self.under_way.wait();
            let more = self.drain();
            if let Some(waker) = &self.wakes {
                waker.wake();
            }
            if !more {
                return;
            }
            last = Instant::now();
        }
    }

    /// Starts another process that reads the pipe to its end and discards what it reads.
    fn read_elsewhere(&self) -> io::Result<()> {
        let input = self.lock().file.try_clone()?;
        // SAFETY: sets the flags of a descriptor that we own.
        if unsafe { libc::fcntl(input.as_raw_fd(), libc::F_SETFL, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
        let mut command = Command::new("cat");
        command.stdin(input).current_dir("/");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        before_exec(&mut command, true, None);
        let mut reader = command.spawn()?;
        // Reaps the new process if the debugger outlives it.
        std::thread::Builder::new()
            .name("drain".to_owned())
            .spawn(move || reader.wait())?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads and forwards what is in the pipe. Once the pipe is `closed`, forwards nothing, and reads only if it `discards`. Returns `false` at
    /// the end of the pipe, or if nothing is to be read any more.
    fn drain(&self) -> bool {
        let mut reading = self.lock();
        if self.closed.load(Ordering::SeqCst) {
            return self.discards.load(Ordering::SeqCst) && reading.discard();
        }
        let mut total = 0;
        while total < DRAIN_LIMIT {
            let mut piece = Vec::new();
            let end = reading.fill(&mut piece);
            total += piece.len();
            if !piece.is_empty() {
                let bytes = self.under_way.send(piece);
                (self.take.0)(self.stream, bytes);
            }
            match end {
                Filled::More => {}
                Filled::Empty => return true,
                Filled::End => return false,
            }
        }
        true
    }
}

/// What follows a piece of output.
enum Filled {
    /// Possibly more data.
    More,
    /// No data at the moment.
    Empty,
    /// The end of the pipe.
    End,
}

impl Reading {
    /// Reads and discards what is in the pipe. Returns `false` at the end of the pipe.
    fn discard(&mut self) -> bool {
        loop {
            match self.file.read(&mut self.buffer) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return e.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }

    /// Appends what is in the pipe to `piece`, up to about [`PIECE`] bytes, and returns what follows.
    fn fill(&mut self, piece: &mut Vec<u8>) -> Filled {
        while piece.len() < PIECE {
            match self.file.read(&mut self.buffer) {
                Ok(0) => return Filled::End,
                Ok(count) => piece.extend_from_slice(&self.buffer[..count]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Filled::Empty,
                Err(_) => return Filled::End,
            }
        }
        Filled::More
    }
}

/// Lets output gather in the pipe for [`GATHER`] milliseconds, or until the reader should end.
fn gather(hung_up: &OwnedFd) {
    let mut fds = [libc::pollfd {
        fd: hung_up.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }];
    // SAFETY: `fds` is valid for the call; the descriptor is borrowed. An interruption only shortens the wait.
    unsafe { libc::poll(fds.as_mut_ptr(), 1, GATHER) };
}

/// Waits until the pipe is readable. Returns `false` if the reader should end.
fn readable(pipe: RawFd, hung_up: &OwnedFd) -> bool {
    let poll = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut fds = [poll(pipe), poll(hung_up.as_raw_fd())];
    loop {
        // SAFETY: `fds` is valid for the call, and the reader that calls this keeps both descriptors open.
        let result = unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) };
        if result == -1 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        return result > 0 && fds[1].revents == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_keep_following_each_other_are_a_flood_until_a_pause() {
        let mut flood = Flood::default();
        let close = Duration::from_millis(1);
        for piece in 0..FLOOD {
            assert!(!flood.rises(close), "piece {piece} goes at once");
        }
        for _ in 0..1000 {
            assert!(flood.rises(close));
        }
        assert!(!flood.rises(CLOSE), "what comes after a pause goes at once");
        assert!(!flood.rises(close));
    }
}
