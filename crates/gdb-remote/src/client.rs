//! A client: each command of the protocol that a debugger needs is a method, which checks the answer.
//!
//! The debuggee stands still while commands are sent, except between a resumption ([`Client::resume`]) and the stop that
//! [`Client::wait`] brings (all-stop mode). Methods are grouped by subject in the submodules.
//!
//! Each packet's answer has to come within [`Client::set_timeout`]; a command of several packets ends after ten times that. What stubs send is
//! bounded by the limits that methods name.

mod ahead;
mod breakpoints;
mod counter;
mod files;
mod memory;
mod processes;
mod registers;
mod running;
mod settings;
mod threads;
mod transfer;

pub use breakpoints::BreakpointKind;
pub use files::{File, FileStatus};
pub use processes::Launched;
pub use settings::Syscalls;

use crate::connection::{Address, Connection, Counts, Deadline, Handle, after};
use crate::error::{Error, Result, StubError, Support, shown};
use crate::features::{Feature, Features, OFFERED};
use crate::hex;
use crate::resume::Actions;
use crate::thread_id::ThreadId;
use std::time::Duration;

/// How long a stub may take to answer, unless it is changed: gdb's number is 2 seconds, but a simulator may be slow to start.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How much longer a command of several packets may take.
const WHOLE: u32 = 10;

/// A client of a stub.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    features: Features,
    timeout: Duration,
    actions: Option<Actions>,
    /// What `Hg` and `Hc` have chosen.
    general_thread: Option<ThreadId>,
    running_thread: Option<ThreadId>,
    /// Whether the stub has said that it does not know `X`.
    lacks_binary_write: bool,
    ahead: ahead::Ahead,
    /// The program counter that is yet to be written.
    counter: Option<counter::Counter>,
    /// Whether `c` with an address runs on there. `None`: the stub wasn't asked.
    continues_at_address: Option<bool>,
    /// Whether `P` has written a register.
    writes_single_registers: bool,
    /// The thread of the last stop.
    stopped_thread: Option<ThreadId>,
}

impl Client {
    /// Connects to a stub and begins a session ([`Client::start`]).
    ///
    /// # Errors
    ///
    /// Those of [`Connection::connect`] and [`Client::start`].
    pub fn connect(address: &Address) -> Result<Client> {
        Client::start(Connection::connect(address, TIMEOUT)?)
    }

    /// Begins a session: asks what the stub supports (`qSupported`, `vCont?`), and ends acknowledgements if that can be
    /// (`QStartNoAckMode`).
    ///
    /// # Errors
    ///
    /// Those of the connection, and [`Error::Unexpected`].
    pub fn start(connection: Connection) -> Result<Client> {
        Client::start_with(connection, TIMEOUT)
    }

    /// Like [`Client::start`], with another time for each answer.
    ///
    /// # Errors
    ///
    /// Those of [`Client::start`].
    pub fn start_with(connection: Connection, timeout: Duration) -> Result<Client> {
        let mut client = Client {
            connection,
            features: Features::default(),
            timeout,
            actions: None,
            general_thread: None,
            running_thread: None,
            lacks_binary_write: false,
            ahead: ahead::Ahead::default(),
            counter: None,
            continues_at_address: None,
            writes_single_registers: false,
            stopped_thread: None,
        };
        // As gdb does: a stub may wait for the acknowledgement of what it has sent to an earlier client.
        client.connection.send_raw(b"+", after(timeout))?;
        if let Some(answer) = client.query(format!("qSupported:{OFFERED}").as_bytes())? {
            client.features = Features::parse(&answer);
        }
        if client.has(Feature::NoAckMode) && client.command(b"QStartNoAckMode")? == Support::Done {
            client.connection.stop_acknowledging();
        }
        client.actions = client
            .query(b"vCont?")?
            .and_then(|answer| Actions::parse(&answer));
        Ok(client)
    }

    /// Changes how long the stub may take for each answer: 10 seconds at first.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// What the stub supports.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The actions of `vCont`, if the stub knows that packet.
    #[must_use]
    pub fn actions(&self) -> Option<&Actions> {
        self.actions.as_ref()
    }

    /// What interrupts the debuggee, and ends waits, from other threads.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.connection.handle()
    }

    /// What has passed the connection so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.connection.counts()
    }

    /// The connection, for packets that have no method here.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Sends an acknowledgement that was held back ([`Connection::hold_acknowledgements`]), and holds back none from now on.
    ///
    /// # Errors
    ///
    /// Those of the connection.
    pub fn acknowledge(&mut self) -> Result<()> {
        self.connection.acknowledge(self.deadline())
    }

    fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    fn deadline(&self) -> Deadline {
        after(self.timeout)
    }

    /// The deadline of a command of several packets.
    fn whole_deadline(&self) -> Deadline {
        after(self.timeout.saturating_mul(WHOLE))
    }

    /// The deadline of one packet of a command of several.
    fn next_deadline(&self, whole: Deadline) -> Deadline {
        match (self.deadline(), whole) {
            (Some(one), Some(whole)) => Some(one.min(whole)),
            (one, whole) => one.or(whole),
        }
    }

    /// The longest body that may be sent, in bytes with escapes. Older versions of gdb's manual count the frame in, so it is left room for.
    fn room(&self) -> usize {
        self.features.packet_size().saturating_sub(4)
    }

    /// Sends a packet that asks something. `None` if the stub doesn't know it. This is for packets that have no method.
    ///
    /// # Errors
    ///
    /// [`Error::Stub`] if the answer is `ENN` or `E.TEXT`, [`Error::TooLong`] if the packet is longer than the stub takes; else those of the
    /// connection.
    pub fn query(&mut self, body: &[u8]) -> Result<Option<Vec<u8>>> {
        self.query_until(body, self.deadline())
    }

    fn query_until(&mut self, body: &[u8], deadline: Deadline) -> Result<Option<Vec<u8>>> {
        self.check_length(body)?;
        let answer = self.asked(body, deadline)?;
        judged(body, answer)
    }

    /// Sends a packet that is answered by `OK`.
    ///
    /// # Errors
    ///
    /// [`Error::Unexpected`] for another answer; else those of [`Client::query`].
    pub fn command(&mut self, body: &[u8]) -> Result<Support> {
        match self.query(body)? {
            None => Ok(Support::NotSupported),
            Some(answer) if answer == b"OK" => Ok(Support::Done),
            Some(answer) => Err(Error::unexpected(body, &answer)),
        }
    }

    fn check_length(&self, body: &[u8]) -> Result<()> {
        let length: usize = body
            .iter()
            .map(|byte| crate::packet::encoded_length(*byte))
            .sum();
        let limit = self.room();
        match length > limit {
            true => Err(Error::TooLong {
                what: shown(body),
                limit,
            }),
            false => Ok(()),
        }
    }
}

/// Counts the answers that bring an object: a stub that gives a byte with each would never come to the end.
#[derive(Debug, Default)]
struct Pieces(usize);

impl Pieces {
    /// Another answer has come, and all of them have brought `bytes` so far.
    fn another(&mut self, asked: &[u8], bytes: usize) -> Result<()> {
        /// How many bytes each has to bring, but for the first [`SHORT`].
        const LEAST: usize = 16;
        /// How many answers may be shorter.
        const SHORT: usize = 1000;
        self.0 += 1;
        match self.0 > SHORT + bytes / LEAST {
            true => Err(Error::wrong(
                asked,
                format!("{bytes} bytes in {} answers", self.0),
            )),
            false => Ok(()),
        }
    }
}

/// Tells errors and what is not supported from other answers.
fn judged(asked: &[u8], answer: Vec<u8>) -> Result<Option<Vec<u8>>> {
    let error = match answer.as_slice() {
        [] => return Ok(None),
        [b'E', first, second] => match hex::decode(&[*first, *second]).as_deref() {
            Some([number]) => StubError::Number(*number),
            _ => return Ok(Some(answer)),
        },
        // lldb-server's text behind a number, in hexadecimal.
        [b'E', first, second, b';', text @ ..] => {
            match (
                hex::decode(&[*first, *second]).as_deref(),
                hex::decode(text),
            ) {
                (Some(_), Some(text)) => {
                    StubError::Text(String::from_utf8_lossy(&text).into_owned())
                }
                _ => return Ok(Some(answer)),
            }
        }
        [b'E', b'.', text @ ..] => StubError::Text(String::from_utf8_lossy(text).into_owned()),
        _ => return Ok(Some(answer)),
    };
    Err(Error::Stub {
        asked: shown(asked),
        error,
    })
}

fn not_supported(asked: &[u8]) -> Error {
    Error::NotSupported {
        asked: shown(asked),
    }
}
