//! What the program writes: one pipe a stream, read as it comes.
//!
//! A reader thread waits on each pipe. The owner thread empties the pipes, too, before it tells of a stop or of the end,
//! so that what was written before is told before. Reading and sending happen under one lock, so pieces keep their
//! order. The end of a pipe is never waited for: a grandchild may hold it open for ever.

use crate::Event;
use crate::event::Stream;
use crossbeam_channel::Sender;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much one drain reads at most: a grandchild that writes for ever must not hold up the debugger.
const DRAIN_LIMIT: usize = 4 << 20;

/// The pipes of a program.
#[derive(Debug)]
pub(crate) struct Output {
    pipes: Vec<Arc<Pipe>>,
    /// Dropping it ends the readers.
    hang_up: Option<OwnedFd>,
}

impl Output {
    /// Starts to read the given pipes.
    pub(crate) fn start(
        read_ends: Vec<(Stream, OwnedFd)>,
        events: &Sender<Event>,
    ) -> io::Result<Output> {
        let (hung_up, hang_up) = io::pipe()?;
        let hung_up = Arc::new(OwnedFd::from(hung_up));
        let mut pipes = Vec::new();
        for (stream, read_end) in read_ends {
            pipes.push(Pipe::start(
                stream,
                read_end,
                Arc::clone(&hung_up),
                events.clone(),
            )?);
        }
        Ok(Output {
            pipes,
            hang_up: Some(hang_up.into()),
        })
    }

    /// Sends all that has been written by now.
    pub(crate) fn drain(&self) {
        for pipe in &self.pipes {
            pipe.drain();
        }
    }

    /// The program runs on without us: reading goes on as long as anybody writes, or it would die of SIGPIPE.
    pub(crate) fn let_go(&mut self) {
        if let Some(hang_up) = self.hang_up.take() {
            let _ = hang_up.into_raw_fd();
        }
    }

    /// Sends all that has been written by now, and nothing more after that.
    pub(crate) fn finish(&self) {
        for pipe in &self.pipes {
            pipe.drain();
            let _reading = pipe.lock();
            pipe.closed.store(true, Ordering::SeqCst);
        }
    }
}

/// One stream's pipe.
#[derive(Debug)]
struct Pipe {
    stream: Stream,
    file: Mutex<File>,
    closed: AtomicBool,
    events: Sender<Event>,
}

impl Pipe {
    fn start(
        stream: Stream,
        read_end: OwnedFd,
        hung_up: Arc<OwnedFd>,
        events: Sender<Event>,
    ) -> io::Result<Arc<Pipe>> {
        // SAFETY: sets a flag of a descriptor that we own.
        if unsafe { libc::fcntl(read_end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } == -1 {
            return Err(io::Error::last_os_error());
        }
        let raw = read_end.as_raw_fd();
        let pipe = Arc::new(Pipe {
            stream,
            file: Mutex::new(File::from(read_end)),
            closed: AtomicBool::new(false),
            events,
        });
        let reader = Arc::clone(&pipe);
        std::thread::Builder::new()
            .name(format!("{stream:?} reader"))
            .spawn(move || while readable(raw, &hung_up) && reader.drain() {})?;
        Ok(pipe)
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is there and sends it; false when nothing will come any more.
    fn drain(&self) -> bool {
        let mut pipe = self.lock();
        if self.closed.load(Ordering::SeqCst) {
            return false;
        }
        let mut buffer = [0; 1 << 16];
        let mut total = 0;
        while total < DRAIN_LIMIT {
            match pipe.read(&mut buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    let bytes = buffer[..count].to_vec();
                    // Nobody listens any more: the pipe is still emptied, the program must not block on it.
                    let _ = self.events.send(Event::Output {
                        stream: self.stream,
                        bytes,
                    });
                    total += count;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return e.kind() == io::ErrorKind::WouldBlock,
            }
        }
        true
    }
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
