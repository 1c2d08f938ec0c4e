//! Processes: what was attached to, starting, attaching, detaching and ending; and the stub's own commands (`monitor` in gdb).

use super::running::stop_reply;
use super::{Client, judged, not_supported};
use crate::connection::{Deadline, after};
use crate::error::{Error, Result, Support, shown};
use crate::features::Feature;
use crate::hex;
use crate::stop_reply::StopReply;
use std::time::Duration;

/// The longest output of a stub's command, in bytes.
const MAX_OUTPUT: usize = 4 << 20;
/// The most symbols that are asked for in a row.
const MAX_SYMBOLS: usize = 1000;

/// How long a stub may take to end after `k`, which has no answer.
const END: Duration = Duration::from_secs(1);

/// How a debuggee came under the stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launched {
    /// The stub has started it, so it is ended with the session.
    ByStub,
    /// The stub has attached to it, so it is detached from.
    Before,
}

impl Client {
    /// How a process, or the only one, came under the stub (`qAttached`). `None` if it doesn't tell that.
    ///
    /// # Errors
    ///
    /// Those of [`Client::query`], and [`Error::Unexpected`].
    pub fn launched(&mut self, process: Option<u64>) -> Result<Option<Launched>> {
        let asked = match process {
            Some(process) => format!("qAttached:{process:x}"),
            None => "qAttached".to_owned(),
        };
        match self.query(asked.as_bytes())?.as_deref() {
            None => Ok(None),
            Some(b"0") => Ok(Some(Launched::ByStub)),
            Some(b"1") => Ok(Some(Launched::Before)),
            Some(other) => Err(Error::unexpected(asked.as_bytes(), other)),
        }
    }

    /// Lets a process run without a debugger (`D`). Its number is needed with the multiprocess extensions.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn detach(&mut self, process: Option<u64>) -> Result<Support> {
        self.general_thread = None;
        match process.filter(|_| self.has(Feature::Multiprocess)) {
            Some(process) => self.command(format!("D;{process:x}").as_bytes()),
            None => self.command(b"D"),
        }
    }

    /// Ends a process: by `vKill` with its number if the stub knows that, else by `k`, which ends all that there is, and which many stubs answer by closing
    /// the connection.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`]. That the connection is closed is none.
    pub fn kill(&mut self, process: Option<u64>) -> Result<()> {
        self.general_thread = None;
        self.counter = None;
        if let Some(process) = process {
            match self.command(format!("vKill;{process:x}").as_bytes()) {
                // A stub that ends with its process may not come to answer.
                Ok(Support::Done) | Err(Error::Closed { .. }) => return Ok(()),
                Ok(Support::NotSupported) => {}
                Err(error) => return Err(error),
            }
        }
        let deadline = self.deadline();
        self.connection.skip_owed(deadline)?;
        self.drop_ahead(deadline)?;
        let sent = self.connection.send(b"k", deadline);
        let deadline = after(self.timeout.min(END));
        // gdbserver and QEMU answer with `X09` or `W00` at times, others not at all; what comes ends with the connection.
        match sent.and_then(|()| self.connection.receive("end after `k`", deadline)) {
            Ok(_) | Err(Error::Closed { .. } | Error::TimedOut { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Keeps the stub's session when the debuggee ends, so that others can be started and attached to (`!`, the extended mode).
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn extend(&mut self) -> Result<Support> {
        self.command(b"!")
    }

    /// Starts the debuggee again (`R`), in extended mode. No answer comes: ask for [`Client::stop_reason`].
    ///
    /// # Errors
    ///
    /// Those of the connection.
    pub fn restart(&mut self) -> Result<()> {
        self.run(b"R00")
    }

    /// Starts a program of the stub's machine (`vRun`), in extended mode. An empty path is the last program again. It may take until `deadline`.
    ///
    /// # Errors
    ///
    /// [`Error::Stub`], [`Error::NotSupported`], [`Error::Unexpected`]; else those of the connection.
    pub fn start_program(
        &mut self,
        path: &[u8],
        arguments: &[&[u8]],
        deadline: Deadline,
    ) -> Result<StopReply> {
        let mut packet = format!("vRun;{}", hex::encode(path));
        for argument in arguments {
            packet.push(';');
            packet.push_str(&hex::encode(argument));
        }
        self.stop_of(packet.as_bytes(), deadline)
    }

    /// Attaches to a process of the stub's machine (`vAttach`), in extended mode. It may take until `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`Client::start_program`].
    pub fn attach(&mut self, process: u64, deadline: Deadline) -> Result<StopReply> {
        self.stop_of(format!("vAttach;{process:x}").as_bytes(), deadline)
    }

    /// Sends a packet that is answered by a stop reply.
    fn stop_of(&mut self, packet: &[u8], deadline: Deadline) -> Result<StopReply> {
        self.run(packet)?;
        self.drop_ahead(deadline)?;
        let answer = self.connection.answer(packet, deadline)?;
        let answer = judged(packet, answer)?.ok_or_else(|| not_supported(packet))?;
        stop_reply(packet, &answer)
    }

    /// Runs a command of the stub itself (`qRcmd`, gdb's `monitor`), and gives its output: 4 MiB at most. `None` if the stub has no commands.
    ///
    /// # Errors
    ///
    /// [`Error::Stub`] if the command failed, [`Error::TooLong`], [`Error::Unexpected`]; else those of the connection.
    pub fn monitor(&mut self, command: &[u8]) -> Result<Option<Vec<u8>>> {
        self.monitor_until(command, self.whole_deadline())
    }

    /// Like [`Client::monitor`], for a command that takes until `whole` at most.
    ///
    /// # Errors
    ///
    /// Those of [`Client::monitor`].
    pub fn monitor_until(&mut self, command: &[u8], whole: Deadline) -> Result<Option<Vec<u8>>> {
        let packet = format!("qRcmd,{}", hex::encode(command));
        let packet = packet.as_bytes();
        let mut answer = self.query_until(packet, whole)?;
        let mut output = Vec::new();
        let mut packets = 0;
        loop {
            let text = match answer.as_deref() {
                None => return Ok(output_or_none(output)),
                Some(b"OK") => return Ok(Some(output)),
                Some([b'O', text @ ..]) => hex::decode(text),
                // The output as the answer itself, after which none comes.
                Some(text) => {
                    let text = hex::decode(text).ok_or_else(|| Error::unexpected(packet, text))?;
                    output.extend(text);
                    return Ok(Some(output));
                }
            };
            let Some(text) = text else {
                return Err(Error::unexpected(
                    packet,
                    answer.as_deref().unwrap_or_default(),
                ));
            };
            output.extend(text);
            packets += 1;
            // Those without text count, too.
            if output.len().max(packets) > MAX_OUTPUT {
                return Err(Error::TooLong {
                    what: format!("output of {}", shown(packet)),
                    limit: MAX_OUTPUT,
                });
            }
            let next = self.connection.answer(packet, whole)?;
            answer = judged(packet, next)?;
        }
    }

    /// Offers symbols to the stub (`qSymbol`): `find` knows the address of one, or not. gdbserver looks for those of the library for threads, and the
    /// servers of debug probes for those of systems whose threads they know.
    ///
    /// # Errors
    ///
    /// Those of [`Client::query`]; [`Error::Unexpected`], also for more than 1000 questions.
    pub fn offer_symbols(&mut self, mut find: impl FnMut(&[u8]) -> Option<u64>) -> Result<Support> {
        let whole = self.whole_deadline();
        let mut packet = b"qSymbol::".to_vec();
        for _ in 0..MAX_SYMBOLS {
            let deadline = self.next_deadline(whole);
            let Some(answer) = self.query_until(&packet, deadline)? else {
                return Ok(Support::NotSupported);
            };
            if answer == b"OK" {
                return Ok(Support::Done);
            }
            let Some(name) = answer.strip_prefix(b"qSymbol:") else {
                return Err(Error::unexpected(&packet, &answer));
            };
            let found = hex::decode(name).and_then(|name| find(&name));
            let address = found.map_or(String::new(), |address| format!("{address:x}"));
            packet = [b"qSymbol:", address.as_bytes(), b":", name].concat();
        }
        Err(Error::wrong(
            b"qSymbol::",
            format!("more than {MAX_SYMBOLS} questions"),
        ))
    }
}

/// An empty answer after output ends it; before, it says that there are no commands.
fn output_or_none(output: Vec<u8>) -> Option<Vec<u8>> {
    (!output.is_empty()).then_some(output)
}
