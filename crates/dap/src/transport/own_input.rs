//! Reading on the thread that handles the messages, instead of the reader thread.
//!
//! Handing a message to another thread costs a switch between threads, more than most requests take. A loop that can wait
//! for a descriptor itself takes over the reading, on Linux. The reader thread pauses meanwhile and resumes when the loop gives the reading
//! back. Both share the decoder, which holds the bytes of an incomplete message.

use std::fmt;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::nonblocking::Source;
use super::{Closed, Reader};
use crate::codec::Decoder;

/// How many bytes are read in one call.
const PIECE: usize = 64 << 10;

/// The input that the reader thread and a loop share.
pub(super) struct Shared {
    source: Source,
    intake: Mutex<Intake>,
    /// Whether a loop has taken over.
    taken: Mutex<bool>,
    given_back: Condvar,
}

/// The decoder, with the bytes of an incomplete message, and the receiver of whole messages.
struct Intake {
    decoder: Decoder,
    piece: Vec<u8>,
    /// Whole messages are left in the decoder.
    undelivered: bool,
    /// `None` after the end of the input.
    reader: Option<Reader>,
}

/// How messages are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    /// From the reader thread: waits while too much is read ahead, and notifies the loop for each message.
    Waiting,
    /// From the thread that handles the messages: as many as there is room for.
    AtOnce,
}

/// Whether all messages in a decoder were passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivered {
    /// All whole messages were passed on.
    All,
    /// There was no room for more.
    Full,
}

impl Shared {
    pub(super) fn new(source: Source, reader: Reader, decoder: Decoder) -> Arc<Self> {
        let intake = Intake {
            decoder,
            piece: vec![0; PIECE],
            undelivered: false,
            reader: Some(reader),
        };
        Arc::new(Self {
            source,
            intake: Mutex::new(intake),
            taken: Mutex::new(false),
            given_back: Condvar::new(),
        })
    }

    /// Runs the reader thread.
    pub(super) fn run(&self) {
        loop {
            self.wait_until_given_back();
            let (ended, undelivered) = {
                let intake = self.intake();
                (intake.reader.is_none(), intake.undelivered)
            };
            if ended {
                return;
            }
            if undelivered || self.source.wait() {
                self.intake().take_in(&self.source, Passing::Waiting);
            }
        }
    }

    /// Reads pending input while the loop that reads is busy, and notifies the loop. For handlers that check whether a `cancel` has
    /// arrived.
    pub(super) fn read_pending(&self) {
        if !*self.taken.lock().unwrap_or_else(PoisonError::into_inner) {
            return;
        }
        if let Ok(mut intake) = self.intake.try_lock()
            && intake.take_in(&self.source, Passing::AtOnce)
            && let Some(reader) = &intake.reader
        {
            reader.notifier.notify();
        }
    }

    /// Whether the peer has closed its sending end.
    pub(super) fn has_closed(&self) -> bool {
        self.source.has_closed()
    }

    fn intake(&self) -> MutexGuard<'_, Intake> {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no loop has taken over the reading.
    fn wait_until_given_back(&self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken {
            taken = self
                .given_back
                .wait(taken)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn hand_over(&self, to_loop: bool) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = to_loop;
        match to_loop {
            true => self.source.nudge(),
            false => self.given_back.notify_all(),
        }
    }
}

impl Intake {
    /// Passes on whole messages: those left in the decoder or, if none are left, those in up to [`PIECE`] bytes that it reads. `false`:
    /// nothing was left, and there is nothing to read.
    fn take_in(&mut self, source: &Source, passing: Passing) -> bool {
        let Some(reader) = &self.reader else {
            return false;
        };
        let read = match self.undelivered {
            true => Ok(None),
            false => source.read(&mut self.piece),
        };
        let delivered = match read {
            Ok(None) if !self.undelivered => return false,
            Ok(None) => reader.deliver(&mut self.decoder, passing),
            Ok(Some(0)) => Err(Some(Closed::at_end_of(&self.decoder))),
            Ok(Some(length)) => {
                self.decoder.push(&self.piece[..length]);
                reader.deliver(&mut self.decoder, passing)
            }
            Err(error) => Err(Some(Closed::Broken(error.to_string()))),
        };
        match delivered {
            Ok(delivered) => self.undelivered = delivered == Delivered::Full,
            Err(closed) => {
                if let Some(closed) = closed {
                    reader.close(closed, passing);
                }
                self.reader = None;
            }
        }
        true
    }
}

/// The reading of a connection's input, taken over by the thread that handles the messages.
///
/// As long as this lives, [`Connection::incoming`](super::Connection::incoming) gets the messages that [`OwnInput::read`] reads, and
/// those that a [`CancelToken`](crate::CancelToken) reads to look for a `cancel`. (At first, the connection's own thread may finish a
/// read.) Dropping it gives the reading back to the connection's own thread.
pub struct OwnInput(Arc<Shared>);

impl fmt::Debug for OwnInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnInput").field(&self.0.source).finish()
    }
}

impl OwnInput {
    pub(super) fn take(shared: &Arc<Shared>) -> Self {
        shared.hand_over(true);
        Self(shared.clone())
    }

    /// Passes pending messages on to `incoming`, without blocking. Call it when `incoming` is empty, again and again until it returns
    /// `false`: there is nothing to read, or another thread is reading at this moment.
    pub fn read(&self) -> bool {
        // Another thread that holds the lock passes the messages on, and notifies the loop.
        let Ok(mut intake) = self.0.intake.try_lock() else {
            return false;
        };
        intake.take_in(&self.0.source, Passing::AtOnce)
    }
}

/// Becomes readable when there is something to read.
#[cfg(target_os = "linux")]
impl AsFd for OwnInput {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.source.as_fd()
    }
}

impl Drop for OwnInput {
    fn drop(&mut self) {
        self.0.hand_over(false);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::{Connection, Incoming, Options, READ_AHEAD};
    use super::*;
    use crate::cancel::CancelToken;
    use rustix::event::{PollFd, PollFlags, poll};
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    fn pair() -> (Connection, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Connection::unix(ours).unwrap(), theirs)
    }

    fn framed(json: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{json}", json.len())
    }

    /// Waits for input, like a loop that waits for nothing else.
    fn wait(input: &OwnInput) {
        poll(&mut [PollFd::new(input, PollFlags::IN)], None).unwrap();
    }

    fn text(incoming: Incoming) -> String {
        match incoming {
            Incoming::Message(message) => message.into_text(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn half_a_message_goes_from_the_thread_to_the_loop_and_back() {
        let (ours, mut theirs) = pair();
        let whole = framed("{\"first\":1}");
        let (begin, rest) = whole.split_at(30);
        for _ in 0..100 {
            theirs.write_all(begin.as_bytes()).unwrap();
            let input = ours.take_input().unwrap();
            theirs.write_all(rest.as_bytes()).unwrap();
            theirs.write_all(begin.as_bytes()).unwrap();
            while ours.incoming.is_empty() {
                input.read();
            }
            assert_eq!(text(ours.incoming.recv().unwrap()), "{\"first\":1}");
            drop(input);
            theirs.write_all(rest.as_bytes()).unwrap();
            assert_eq!(text(ours.incoming.recv().unwrap()), "{\"first\":1}");
        }
    }

    #[test]
    fn nothing_is_read_while_the_loop_has_other_things_to_do() {
        let (ours, mut theirs) = pair();
        let input = ours.take_input().unwrap();
        // The reader thread may still finish the read that it was about to do when the loop took over.
        theirs.write_all(framed("{}").as_bytes()).unwrap();
        wait(&input);
        while ours.incoming.is_empty() {
            input.read();
        }
        theirs.write_all(framed("[]").as_bytes()).unwrap();
        wait(&input);
        assert_eq!(ours.incoming.len(), 1);
        assert!(input.read());
        assert!(!input.read());
        assert_eq!(ours.incoming.len(), 2);
    }

    #[test]
    fn more_than_there_is_room_for_stays_where_it_is() {
        let (ours, mut theirs) = pair();
        let input = ours.take_input().unwrap();
        // Bodies that are not UTF-8: each is an item of its own.
        let bad = b"Content-Length: 1\r\n\r\n\xff".repeat(3 * READ_AHEAD);
        let writing = std::thread::spawn(move || theirs.write_all(&bad));
        let mut malformed = 0;
        loop {
            while !input.read() && ours.incoming.is_empty() {
                wait(&input);
            }
            match ours.incoming.recv().unwrap() {
                Incoming::Malformed(_) => malformed += 1,
                Incoming::Closed(_) => break,
                other => panic!("{other:?}"),
            }
        }
        writing.join().unwrap().unwrap();
        assert_eq!(malformed, 3 * READ_AHEAD);
        assert!(!input.read(), "nothing comes behind the end");
    }

    #[test]
    fn the_end_comes_by_either_way() {
        let (ours, theirs) = pair();
        let input = ours.take_input().unwrap();
        drop(theirs);
        wait(&input);
        assert!(input.read());
        assert!(matches!(
            ours.incoming.recv(),
            Ok(Incoming::Closed(Closed::ByPeer))
        ));
        drop(input);
        assert!(ours.incoming.recv().is_err(), "the reader thread has ended");

        let (ours, theirs) = pair();
        drop(ours.take_input());
        drop(theirs);
        assert!(matches!(
            ours.incoming.recv(),
            Ok(Incoming::Closed(Closed::ByPeer))
        ));
    }

    #[test]
    fn a_busy_handler_learns_that_it_is_cancelled() {
        let (ours, mut theirs) = pair();
        let input = ours.take_input().unwrap();
        let token: CancelToken = ours.cancellations.begin(1);
        assert!(!token.is_cancelled());
        let cancel = r#"{"seq":2,"type":"request","command":"cancel","arguments":{"requestId":1}}"#;
        theirs.write_all(framed(cancel).as_bytes()).unwrap();
        wait(&input);
        assert!(token.is_cancelled(), "nobody has called read");
        assert_eq!(text(ours.incoming.recv().unwrap()), cancel);
    }

    #[test]
    fn a_connection_in_memory_has_no_input_to_take() {
        let (ours, _theirs) = Options::new().memory();
        assert!(ours.take_input().is_none());
    }
}
