//! Packets that are sent before anybody waits for their answers, so that several go and come at once. Only where packets aren't acknowledged, since
//! an acknowledgement is waited for.
//!
//! A question is sent ahead where it will likely be asked. When it is, by a packet of the same bytes, the answer is there or on its way. Answers are
//! forgotten when the debuggee runs, and when a packet is sent that may change something.

use super::breakpoints::removal;
use super::{BreakpointKind, Client};
use crate::connection::Deadline;
use crate::error::Result;
use crate::features::Feature;
use std::collections::VecDeque;

/// The most packets that wait for their answers. What they take must fit the stub's and the system's buffers, because nobody reads meanwhile.
const MOST: usize = 16;

/// What was sent ahead.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Not answered yet, oldest first.
    awaited: VecDeque<Vec<u8>>,
    /// Packets and their answers, which nobody has asked for yet.
    answers: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Whether an answer that was given before a packet holds behind it.
fn holds(asked: &[u8], behind: &[u8]) -> bool {
    match behind {
        // It is no question: a removal is carried out once.
        _ if asked.starts_with(b"z") => false,
        [b'm' | b'x' | b'p' | b'g' | b'z' | b'Z', ..] => true,
        [b'q', ..] => !behind.starts_with(b"qRcmd"),
        // Registers.
        [b'G' | b'P', ..] => matches!(asked, [b'm' | b'x' | b'q', ..]),
        _ => behind.starts_with(b"vFile:"),
    }
}

impl Client {
    /// Whether packets can be sent ahead: not while they are acknowledged.
    #[must_use]
    pub fn sends_ahead(&self) -> bool {
        !self.connection.is_acknowledging()
    }

    /// Has a packet sent together with the next one. Its answer is taken when the same packet is asked for, or else dropped. `false`: packets are
    /// acknowledged, or too many have been sent ahead; it isn't sent.
    pub fn send_ahead(&mut self, body: &[u8]) -> bool {
        if self.ahead.awaited.len() >= MOST
            || !self.sends_ahead()
            || self.counter.is_some()
            || self.check_length(body).is_err()
        {
            return false;
        }
        self.connection.queue(body);
        self.ahead.awaited.push_back(body.to_vec());
        true
    }

    /// Has the registers of the chosen thread read ahead ([`Client::send_ahead`]).
    pub fn read_registers_ahead(&mut self) -> bool {
        self.send_ahead(b"g")
    }

    /// Has memory read ahead ([`Client::send_ahead`]), if it fits one packet.
    pub fn read_memory_ahead(&mut self, address: u64, length: usize) -> bool {
        let (asked, piece) = self.reading(address, length);
        piece == length && self.send_ahead(asked.as_bytes())
    }

    /// Has the list of threads read ahead ([`Client::send_ahead`]), if it fits one packet.
    pub fn read_threads_ahead(&mut self) -> bool {
        let asked = self.transferring("threads", "", 0);
        self.has(Feature::ReadThreads) && self.send_ahead(asked.as_bytes())
    }

    /// Has a breakpoint removed together with the next packet ([`Client::send_ahead`]). Whether it was there isn't told.
    pub fn remove_breakpoint_ahead(
        &mut self,
        kind: BreakpointKind,
        address: u64,
        size: u64,
    ) -> bool {
        self.send_ahead(removal(kind, address, size).as_bytes())
    }

    /// Sends a packet and takes its answer, or the one that has come ahead.
    pub(super) fn asked(&mut self, body: &[u8], deadline: Deadline) -> Result<Vec<u8>> {
        self.send_counter()?;
        if self.ahead.awaited.is_empty() && self.ahead.answers.is_empty() {
            return self.connection.request(body, deadline);
        }
        if let Some(answer) = self.answered_ahead(body, deadline)? {
            return Ok(answer);
        }
        self.connection.send(body, deadline)?;
        self.ahead.awaited.push_back(body.to_vec());
        self.settle(deadline)?;
        let (_, answer) = self.ahead.answers.pop().unwrap_or_default();
        self.ahead.answers.retain(|(asked, _)| holds(asked, body));
        Ok(answer)
    }

    fn answered_ahead(&mut self, body: &[u8], deadline: Deadline) -> Result<Option<Vec<u8>>> {
        loop {
            let mut answers = self.ahead.answers.iter();
            if let Some(index) = answers.position(|(asked, _)| asked == body) {
                return Ok(Some(self.ahead.answers.swap_remove(index).1));
            }
            if !self.ahead.awaited.iter().any(|asked| asked == body) {
                return Ok(None);
            }
            self.connection.flush(deadline)?;
            self.receive_ahead(deadline)?;
        }
    }

    /// Waits for all answers that are on their way.
    fn settle(&mut self, deadline: Deadline) -> Result<()> {
        while !self.ahead.awaited.is_empty() {
            self.receive_ahead(deadline)?;
        }
        Ok(())
    }

    /// Waits for the answer to the oldest packet that was sent ahead.
    fn receive_ahead(&mut self, deadline: Deadline) -> Result<()> {
        self.connection.skip_owed(deadline)?;
        if let Some(asked) = self.ahead.awaited.pop_front() {
            let answer = self.connection.answer(&asked, deadline)?;
            self.ahead.answers.push((asked, answer));
        }
        Ok(())
    }

    /// The debuggee was resumed behind the packets that were sent ahead: takes their answers before it stops.
    pub(super) fn drop_ahead(&mut self, deadline: Deadline) -> Result<()> {
        self.connection.flush(deadline)?;
        while !self.ahead.awaited.is_empty() {
            // A call that times out is made again.
            self.connection
                .receive("answer to an earlier packet", deadline)?;
            self.ahead.awaited.pop_front();
        }
        self.ahead.answers.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_hold_behind_packets_that_do_not_change_them() {
        let asked = [&b"m10,4"[..], b"qXfer:threads:read::0,10", b"g"];
        let hold = |behind: &[u8]| asked.map(|asked| holds(asked, behind));
        for behind in [&b"m10,4"[..], b"qfThreadInfo", b"z0,1,1", b"vFile:close:3"] {
            assert_eq!(hold(behind), [true; 3]);
        }
        for behind in [&b"M10,1:00"[..], b"qRcmd,00", b"vCont;c", b"Hg1", b""] {
            assert_eq!(hold(behind), [false; 3]);
        }
        assert_eq!(hold(b"P1=00"), [true, true, false]);
        assert_eq!(hold(b"G00"), [true, true, false]);
    }
}
