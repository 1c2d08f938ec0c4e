//! The connection to a stub: packets over a stream, acknowledged and counted, with a deadline on every wait.
//!
//! One thread owns a [`Connection`]. Others have a [`Handle`], which ends its waits by a byte in a socket that each poll(2) watches that sleeps;
//! the owner then sends the interrupt itself, so that it is never in the middle of a packet.
//!
//! The protocol has no numbers that join answers with questions. So a [`Connection`] remembers an answer that did not come in time, and
//! skips it before it asks again. What a packet means is not known here.

mod stream;

pub use stream::Address;

use crate::error::{Error, shown};
use crate::packet::{self, Decoder, Event};
use rustix::event::{PollFd, PollFlags, Timespec};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stream::Stream;

/// The longest packet that is received, in bytes without escapes and repetitions.
pub const MAX_PACKET: usize = 16 << 20;

/// How often a packet is sent, or its being sent again is asked for.
const MAX_TRIES: u32 = 4;

/// How often is read what is there already when a wait's time is over: a stub that never stops sending would be listened to for ever.
const LATE_READS: u32 = 64;

/// How long after a packet its answer is waited for without sleeping, if the one before came as soon. To be woken takes as long as many answers
/// do.
const SOON: Duration = Duration::from_micros(500);

/// The most notifications that are kept until somebody asks for them.
const MAX_NOTIFICATIONS: usize = 64;

/// What has passed a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that were sent, without those that were sent again.
    pub packets_sent: u64,
    /// Packets that were received.
    pub packets_received: u64,
    /// All bytes that were sent.
    pub bytes_sent: u64,
    /// All bytes that were received.
    pub bytes_received: u64,
    /// Notifications that were dropped since nobody had asked for 64 earlier ones.
    pub notifications_dropped: u64,
}

/// Interrupts a connection's debuggee and ends its waits, on any thread.
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    interrupt: AtomicBool,
    cancel: AtomicBool,
    over: AtomicBool,
    waker: UnixStream,
}

impl Handle {
    /// Asks for the debuggee to be interrupted (0x03). The connection's thread sends the byte in its wait for a stop, now or when it next
    /// begins one. Most stubs then report a stop by SIGINT. A stop for another reason that comes first ends the request, too.
    pub fn interrupt(&self) {
        self.shared.interrupt.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Ends the current wait of the connection's thread, or its next one, with [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.shared.cancel.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Ends the current wait of the connection's thread, and all later ones, with [`Error::Cancelled`]: for whoever gives the connection up.
    pub fn give_up(&self) {
        self.shared.over.store(true, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        // A full buffer will wake it, too.
        let _ = (&self.shared.waker).write(&[0]);
    }
}

/// When a wait ends. `None` is a wait without limit, which a [`Handle`] can still end.
pub type Deadline = Option<Instant>;

/// The deadline after `time`.
#[must_use]
pub fn after(time: Duration) -> Deadline {
    Instant::now().checked_add(time)
}

/// A connection to a stub.
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
    decoder: Decoder,
    events: VecDeque<Event>,
    notifications: VecDeque<Vec<u8>>,
    acknowledged: bool,
    /// Whether acknowledgements go with the next packet.
    holds: bool,
    /// Whether one was held back.
    held: bool,
    /// Whether nothing more can be sent or received.
    closed: bool,
    /// What the stub's command has said in the end.
    said: String,
    /// Whether the answer to an earlier packet has yet to come.
    owed: bool,
    /// Packets that go with the next one.
    queued: Vec<u8>,
    /// How often was read since a wait's time was over.
    late_reads: u32,
    /// When something was sent last.
    sent: Instant,
    /// Whether the stub's last answer came within [`SOON`].
    answers_soon: bool,
    counts: Counts,
    shared: Arc<Shared>,
    woken: UnixStream,
}

impl Connection {
    /// Connects to a stub.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if there is none, [`Error::TimedOut`] if it doesn't accept in `time`. Looking up a host's name takes as long as the
    /// system's resolver allows.
    pub fn connect(address: &Address, time: Duration) -> Result<Connection, Error> {
        Connection::new(Stream::connect(address, time)?)
    }

    /// A connection over a socket that is connected already.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the system has no more descriptors.
    pub fn over_unix(socket: UnixStream) -> Result<Connection, Error> {
        Connection::new(Stream::unix(socket)?)
    }

    /// A connection over a socket that is connected already, such as that of a stub that connects to its client.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the system has no more descriptors.
    pub fn over_tcp(socket: std::net::TcpStream) -> Result<Connection, Error> {
        Connection::new(Stream::tcp(socket)?)
    }

    fn new(stream: Stream) -> Result<Connection, Error> {
        let (waker, woken) = UnixStream::pair().map_err(Error::io("make a pair of sockets"))?;
        for end in [&waker, &woken] {
            end.set_nonblocking(true)
                .map_err(Error::io("make a socket non-blocking"))?;
        }
        Ok(Connection {
            stream,
            decoder: Decoder::new(MAX_PACKET),
            events: VecDeque::new(),
            notifications: VecDeque::new(),
            acknowledged: true,
            holds: false,
            held: false,
            closed: false,
            said: String::new(),
            owed: false,
            queued: Vec::new(),
            late_reads: 0,
            sent: Instant::now(),
            answers_soon: false,
            counts: Counts::default(),
            shared: Arc::new(Shared {
                interrupt: AtomicBool::new(false),
                cancel: AtomicBool::new(false),
                over: AtomicBool::new(false),
                waker,
            }),
            woken,
        })
    }

    /// What interrupts the debuggee from other threads.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle {
            shared: Arc::clone(&self.shared),
        }
    }

    /// What has passed so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Changes the longest packet that is received, [`MAX_PACKET`] at first. Call it before anything is received.
    pub fn set_max_packet(&mut self, bytes: usize) {
        self.decoder = Decoder::new(bytes);
    }

    /// Ends acknowledgements, after the stub has agreed to `QStartNoAckMode`. Checksums are ignored from then on, as gdb does.
    pub fn stop_acknowledging(&mut self) {
        self.acknowledged = false;
        self.decoder.ignore_checksums();
    }

    /// Has a packet's acknowledgement sent together with the next packet, or before the next wait of this connection: the stub is woken once
    /// for both. Only for as long as packets follow each other at once, since stubs wait for it: [`Connection::acknowledge`] ends it.
    pub fn hold_acknowledgements(&mut self) {
        self.holds = true;
    }

    /// Sends an acknowledgement that was held back, and holds back none from now on.
    ///
    /// # Errors
    ///
    /// Those of the connection.
    pub fn acknowledge(&mut self, deadline: Deadline) -> Result<(), Error> {
        self.holds = false;
        self.write(&[], deadline, &|| "room to send".to_owned())
    }

    /// The oldest notification that was not asked for yet.
    pub fn take_notification(&mut self) -> Option<Vec<u8>> {
        self.notifications.pop_front()
    }

    /// Whether nothing more can be sent or received.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// What becomes readable when the stub sends something, for callers that wait for other things, too. Bytes that have been read already are
    /// not seen there: [`Connection::receive_running`] with a deadline that has passed takes those first.
    #[must_use]
    pub fn input(&self) -> BorrowedFd<'_> {
        self.stream.input()
    }

    /// Sends a packet and waits for its acknowledgement, but for no answer.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the stub asks for it again and again; else those of the connection.
    pub fn send(&mut self, body: &[u8], deadline: Deadline) -> Result<(), Error> {
        let what = || format!("acknowledgement of {}", shown(body));
        let mut bytes = std::mem::take(&mut self.queued);
        bytes.extend(packet::encode(body));
        self.counts.packets_sent += 1;
        for _ in 0..MAX_TRIES {
            self.write(&bytes, deadline, &what)?;
            if !self.acknowledged {
                return Ok(());
            }
            loop {
                match self.next_event(deadline, &what, Interrupts::Kept)? {
                    Event::Ack => return Ok(()),
                    Event::Nak => break,
                    // An earlier answer, whose acknowledgement the stub has not seen: gdb ignores it, too.
                    Event::Packet(_) => self.write(&[packet::ACK], deadline, &what)?,
                    _ => {}
                }
            }
        }
        Err(Error::Refused {
            asked: shown(body),
            times: MAX_TRIES,
        })
    }

    /// Sends bytes that are no packet, such as the `+` with which gdb begins.
    ///
    /// # Errors
    ///
    /// Those of the connection.
    pub fn send_raw(&mut self, bytes: &[u8], deadline: Deadline) -> Result<(), Error> {
        self.write(bytes, deadline, &|| "room to send".to_owned())
    }

    /// Whether packets are acknowledged.
    pub(crate) fn is_acknowledging(&self) -> bool {
        self.acknowledged
    }

    /// Has a packet sent with the next one. Only where packets aren't acknowledged.
    pub(crate) fn queue(&mut self, body: &[u8]) {
        self.counts.packets_sent += 1;
        self.queued.extend(packet::encode(body));
    }

    /// Sends the packets that wait for the next one.
    pub(crate) fn flush(&mut self, deadline: Deadline) -> Result<(), Error> {
        let queued = std::mem::take(&mut self.queued);
        self.write(&queued, deadline, &|| "room to send".to_owned())
    }

    /// Waits for a packet, and acknowledges it. `what` is named by errors.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if it comes with a wrong checksum each time, [`Error::TooLong`]; else those of the connection.
    pub fn receive(&mut self, what: &str, deadline: Deadline) -> Result<Vec<u8>, Error> {
        self.receive_packet(&|| what.to_owned(), deadline, Interrupts::Kept)
    }

    /// Waits for a packet while the debuggee runs. Sends the interrupts that a [`Handle`] has asked for, but no second one before
    /// something has come.
    ///
    /// # Errors
    ///
    /// Those of [`Connection::receive`].
    pub fn receive_running(&mut self, deadline: Deadline) -> Result<Vec<u8>, Error> {
        self.receive_packet(&|| "stop".to_owned(), deadline, Interrupts::Sent)
    }

    /// Sends a packet and waits for the answer.
    ///
    /// # Errors
    ///
    /// Those of [`Connection::send`] and [`Connection::receive`].
    pub fn request(&mut self, body: &[u8], deadline: Deadline) -> Result<Vec<u8>, Error> {
        self.skip_owed(deadline)?;
        self.send(body, deadline)?;
        self.answer(body, deadline)
    }

    /// Waits for another packet of the answer to `body`.
    ///
    /// # Errors
    ///
    /// Those of [`Connection::receive`].
    pub fn answer(&mut self, body: &[u8], deadline: Deadline) -> Result<Vec<u8>, Error> {
        let what = || format!("answer to {}", shown(body));
        let answer = self.receive_packet(&what, deadline, Interrupts::Kept);
        self.owed |= matches!(
            answer,
            Err(Error::TimedOut { .. } | Error::Cancelled { .. })
        );
        answer
    }

    /// Drops what an interrupt that was asked for would do. Call it when the debuggee has stopped.
    pub fn forget_interrupt(&mut self) {
        self.shared.interrupt.store(false, Ordering::SeqCst);
    }

    /// Skips the answer to an earlier packet, which did not come in time.
    pub(crate) fn skip_owed(&mut self, deadline: Deadline) -> Result<(), Error> {
        while self.owed {
            let what = || "late answer to an earlier packet".to_owned();
            let late = self.receive_packet(&what, deadline, Interrupts::Kept)?;
            // Console output comes before an answer.
            let output = late.starts_with(b"O") && late != b"OK";
            if output && is_over(deadline) {
                return Err(Error::TimedOut { what: what() });
            }
            self.owed = output;
        }
        Ok(())
    }

    fn receive_packet(
        &mut self,
        what: &dyn Fn() -> String,
        deadline: Deadline,
        interrupts: Interrupts,
    ) -> Result<Vec<u8>, Error> {
        let mut damaged = 0;
        loop {
            match self.next_event(deadline, what, interrupts)? {
                Event::Packet(body) => {
                    self.late_reads = 0;
                    self.counts.packets_received += 1;
                    if self.acknowledged {
                        self.write(&[], deadline, what)?;
                        self.held = true;
                        if !self.holds {
                            self.write(&[], deadline, what)?;
                        }
                    }
                    return Ok(body);
                }
                Event::Damaged => {
                    damaged += 1;
                    if damaged >= MAX_TRIES || !self.acknowledged {
                        return Err(Error::Damaged {
                            what: what(),
                            times: damaged,
                        });
                    }
                    self.write(&[packet::NAK], deadline, what)?;
                }
                _ => {}
            }
        }
    }

    /// Waits for the next event that is no notification.
    fn next_event(
        &mut self,
        deadline: Deadline,
        what: &dyn Fn() -> String,
        interrupts: Interrupts,
    ) -> Result<Event, Error> {
        loop {
            match self.events.pop_front() {
                Some(Event::Notification(body)) => self.keep_notification(body),
                Some(Event::TooLong) => {
                    self.closed = true;
                    return Err(Error::TooLong {
                        what: what(),
                        limit: self.decoder.limit(),
                    });
                }
                Some(event) => return Ok(event),
                None => self.read(deadline, what, interrupts)?,
            }
        }
    }

    /// If the stub's last answer came within half a millisecond, waits that long without sleeping for the answer to what was sent
    /// last. A [`Handle`] does not end this wait, but the one behind it. Returns whether something can be read.
    #[must_use]
    pub fn await_soon(&self) -> bool {
        if !self.answers_soon {
            return false;
        }
        loop {
            let mut polled = [PollFd::from_borrowed_fd(self.stream.input(), PollFlags::IN)];
            match rustix::event::poll(&mut polled, Some(&Timespec::default())) {
                Ok(0) if self.sent.elapsed() < SOON => std::thread::yield_now(),
                answer => return answer == Ok(1),
            }
        }
    }

    fn keep_notification(&mut self, body: Vec<u8>) {
        if self.notifications.len() == MAX_NOTIFICATIONS {
            self.notifications.pop_front();
            self.counts.notifications_dropped += 1;
        }
        self.notifications.push_back(body);
    }

    /// Reads what there is, or waits for it.
    fn read(
        &mut self,
        deadline: Deadline,
        what: &dyn Fn() -> String,
        interrupts: Interrupts,
    ) -> Result<(), Error> {
        if self.closed {
            return self.fail(what);
        }
        if interrupts == Interrupts::Sent && self.shared.interrupt.swap(false, Ordering::SeqCst) {
            self.write(&[packet::INTERRUPT], deadline, what)?;
        }
        self.late_reads = match is_over(deadline) {
            true if self.late_reads == LATE_READS => {
                self.late_reads = 0;
                return Err(Error::TimedOut { what: what() });
            }
            true => self.late_reads + 1,
            false => 0,
        };
        self.write(&[], deadline, what)?;
        self.wait(Direction::In, deadline, what)?;
        let mut buffer = [0; 16 << 10];
        match rustix::io::read(self.stream.input(), &mut buffer) {
            Ok(0) => self.fail(what),
            Ok(count) => {
                self.answers_soon = self.sent.elapsed() < SOON;
                self.counts.bytes_received += count as u64;
                self.decoder.decode(&buffer[..count], &mut self.events);
                Ok(())
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(()),
            Err(rustix::io::Errno::CONNRESET) => self.fail(what),
            Err(error) => self.fail_by(error, "receive"),
        }
    }

    /// Sends the acknowledgement that was held back, if there is one, and all of the bytes.
    fn write(
        &mut self,
        bytes: &[u8],
        deadline: Deadline,
        what: &dyn Fn() -> String,
    ) -> Result<(), Error> {
        match std::mem::take(&mut self.held) {
            true => self.write_all(&[&[packet::ACK], bytes].concat(), deadline, what),
            false => self.write_all(bytes, deadline, what),
        }
    }

    fn write_all(
        &mut self,
        mut bytes: &[u8],
        deadline: Deadline,
        what: &dyn Fn() -> String,
    ) -> Result<(), Error> {
        while !bytes.is_empty() {
            if self.closed {
                return self.fail(what);
            }
            match self.stream.write(bytes) {
                Ok(count) => {
                    self.sent = Instant::now();
                    self.counts.bytes_sent += count as u64;
                    bytes = bytes.get(count..).unwrap_or_default();
                }
                Err(rustix::io::Errno::AGAIN) => {
                    if let Err(error) = self.wait(Direction::Out, deadline, what) {
                        // The stub would take the next packet for the rest of this one.
                        self.closed = true;
                        return Err(error);
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => {
                    return self.fail(what);
                }
                Err(error) => return self.fail_by(error, "send"),
            }
        }
        Ok(())
    }

    fn fail(&mut self, what: &dyn Fn() -> String) -> Result<(), Error> {
        if !std::mem::replace(&mut self.closed, true) {
            self.said = self.stream.last_words();
        }
        let (what, said) = (what(), self.said.clone());
        Err(Error::Closed { what, said })
    }

    fn fail_by(&mut self, error: rustix::io::Errno, what: &str) -> Result<(), Error> {
        self.closed = true;
        Err(Error::io(what)(io::Error::from(error)))
    }

    /// Waits until the stream is ready, or a handle wants something. The caller tries again in both cases.
    fn wait(
        &self,
        direction: Direction,
        deadline: Deadline,
        what: &dyn Fn() -> String,
    ) -> Result<(), Error> {
        if self.is_cancelled() {
            return Err(Error::Cancelled { what: what() });
        }
        if matches!(direction, Direction::In) && self.await_soon() {
            return Ok(());
        }
        let (stream, flags) = match direction {
            Direction::In => (self.stream.input(), PollFlags::IN),
            Direction::Out => (self.stream.output(), PollFlags::OUT),
        };
        if !ready(stream, flags, self.woken.as_fd(), deadline)? {
            return Err(Error::TimedOut { what: what() });
        }
        let mut buffer = [0; 64];
        while matches!((&self.woken).read(&mut buffer), Ok(count) if count > 0) {}
        match self.is_cancelled() {
            true => Err(Error::Cancelled { what: what() }),
            false => Ok(()),
        }
    }

    /// Whether a handle has ended the wait.
    fn is_cancelled(&self) -> bool {
        let cancelled = self.shared.cancel.swap(false, Ordering::SeqCst);
        cancelled || self.shared.over.load(Ordering::SeqCst)
    }
}

/// Whether a wait sends the interrupts that handles ask for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interrupts {
    Sent,
    Kept,
}

#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

fn is_over(deadline: Deadline) -> bool {
    deadline.is_some_and(|end| Instant::now() >= end)
}

/// Whether one of the two was ready before the deadline.
fn ready(
    stream: BorrowedFd<'_>,
    flags: PollFlags,
    woken: BorrowedFd<'_>,
    deadline: Deadline,
) -> Result<bool, Error> {
    let mut polled = [
        PollFd::from_borrowed_fd(stream, flags),
        PollFd::from_borrowed_fd(woken, PollFlags::IN),
    ];
    loop {
        let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
        // More than a system can wait is no limit.
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match rustix::event::poll(&mut polled, left.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Error::io("wait for the stub")(error.into())),
        }
    }
}
