//! What the program writes: one pipe a stream, read as it comes.
//!
//! A reader thread waits on each pipe. The owner thread empties the pipes, too, before it tells of a stop or of the end,
//! so that what was written before is told before. Reading and sending happen under one lock, so pieces keep their
//! order. The end of a pipe is never waited for: a grandchild may hold it open for ever.
//!
//! What comes is sent at once, but a flood is sent in large pieces: when piece follows piece without a pause, the reader
//! looks a few hundred times a second only, at whatever has gathered in the pipe by then. And it reads no faster than its
//! reader takes ([`UnderWay`]).

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

/// How much one drain reads at most: a grandchild that writes for ever must not hold up the debugger.
const DRAIN_LIMIT: usize = 4 << 20;

/// How large a piece of output is at most.
const PIECE: usize = 256 << 10;

/// How much is read by one system call.
const BUFFER: usize = 64 << 10;

/// How much a pipe is to hold: what gathers while its reader doesn't look. The most that anybody may ask for by default (pipe(7)).
const PIPE_SIZE: i32 = 1 << 20;

/// Pieces that follow each other within this time are a flood, when there are [`FLOOD`] of them.
const CLOSE: Duration = Duration::from_millis(20);
const FLOOD: u32 = 32;

/// How long a flood gathers, in milliseconds.
const GATHER: i32 = 4;

/// Takes each piece of output, in order for each stream.
#[derive(Clone)]
pub struct Taker(Arc<dyn Fn(Stream, Written) + Send + Sync>);

impl Taker {
    /// One that calls a function.
    pub fn new(take: impl Fn(Stream, Written) + Send + Sync + 'static) -> Taker {
        Taker(Arc::new(take))
    }
}

impl std::fmt::Debug for Taker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Taker")
    }
}

/// The pipes of a program.
#[derive(Debug)]
pub struct Output {
    pipes: Vec<Arc<Pipe>>,
    under_way: Arc<UnderWay>,
    /// Dropping it ends the readers.
    hang_up: Option<OwnedFd>,
}

impl Output {
    /// Starts to read the given pipes. `take` gets what comes, on a thread of each pipe; `wakes` is woken behind it.
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

    /// Sends all that has been written by now.
    pub fn drain(&self) {
        for pipe in &self.pipes {
            pipe.drain();
        }
    }

    /// The program runs on without us. What it writes is read and dropped as long as anybody writes, or it would die of SIGPIPE:
    /// in other processes, which stay when this one ends.
    pub fn let_go(&mut self) {
        let Some(hang_up) = self.hang_up.take() else {
            return;
        };
        let mut pipes = self.pipes.iter();
        if let Err(error) = pipes.try_for_each(|pipe| pipe.read_elsewhere()) {
            tracing::warn!(%error, "what the program writes is read as long as this process lives");
            // The readers go on.
            let _ = hang_up.into_raw_fd();
        }
    }

    /// Sends all that has been written by now, and nothing more after that.
    pub fn finish(&self) {
        self.under_way.end();
        for pipe in &self.pipes {
            pipe.drain();
            let _reading = pipe.lock();
            pipe.closed.store(true, Ordering::SeqCst);
        }
    }

    /// As [`Output::finish`], but others still write that are none of ours any more: what they write is read and dropped, or they
    /// would die of SIGPIPE.
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
    /// Reading goes on when it is closed.
    discards: AtomicBool,
    under_way: Arc<UnderWay>,
    take: Taker,
    wakes: Option<Arc<Waker>>,
}

/// Tells a flood of pieces from pieces.
#[derive(Debug, Default)]
struct Flood {
    /// How many pieces in a row have followed another closely.
    close: u32,
}

impl Flood {
    /// A piece has come this long after the one before: whether it's one of a flood.
    fn rises(&mut self, since: Duration) -> bool {
        self.close = match since < CLOSE {
            true => self.close.saturating_add(1),
            false => 0,
        };
        self.close > FLOOD
    }
}

/// A pipe's read end, with room to read into.
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
        // SAFETY: as above. Refused, the pipe stays as small as it is.
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

    /// Reads until nothing will come any more.
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

    /// Has another process read what comes, to the end, and drop it.
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
        // Only to be waited for where this process lives on.
        std::thread::Builder::new()
            .name("drain".to_owned())
            .spawn(move || reader.wait())?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is there and sends it; false when nothing will come any more.
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

/// What is behind a piece.
enum Filled {
    /// Perhaps more.
    More,
    /// Nothing for now.
    Empty,
    /// Nothing ever.
    End,
}

impl Reading {
    /// Reads what is there and drops it; false when nothing will come any more.
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

    /// Reads a piece, as far as there is something to read.
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

/// Lets output gather in the pipe for a while, or until the reader should end.
fn gather(hung_up: &OwnedFd) {
    let mut fds = [libc::pollfd {
        fd: hung_up.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }];
    // SAFETY: `fds` is valid for the call; the descriptor is borrowed. Interrupted, it has gathered for less.
    unsafe { libc::poll(fds.as_mut_ptr(), 1, GATHER) };
}

/// Waits until there's something to read; false when the reader should end.
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
