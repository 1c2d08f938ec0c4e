//! Between an editor and an adapter: bytes are passed on as they are, and looked at afterwards.
//!
//! [`forward`] moves the bytes of one direction and puts a copy into a [`Backlog`]; an [`Observer`] makes messages of the copies, on
//! another thread. So neither what is said nor when depends on whether it can be read.

use std::io::{self, Read, Write};
use std::time::Duration;

use dapple_dap::codec::Decoder;
use dapple_dap::lifecycle::Side;
use dapple_dap::testing::Entry;

use crate::backlog::{Backlog, Chunk};
use crate::input::Item;

/// How many bytes are moved at once.
const BUFFER: usize = 128 << 10;

/// The longest message that is looked at, in bytes. The peers' own limits are lower.
const LONGEST: usize = 256 << 20;

/// Passes on all bytes of `input`, each piece as soon as it was read, until its end. `moved` is called for each piece:
/// with `true` when it has arrived, with `false` when it is passed on.
///
/// # Errors
/// Reading or writing failed. What was read until then is in the backlog.
pub fn forward(
    from: Side,
    input: &mut impl Read,
    output: &mut impl Write,
    backlog: &Backlog,
    moved: impl Fn(bool),
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        moved(true);
        // Copied first, so that nothing that this causes is before it in the backlog; looked at only after it was passed on.
        backlog.push(from, &buffer[..count]);
        let written = output
            .write_all(&buffer[..count])
            .and_then(|()| output.flush());
        backlog.wake();
        moved(false);
        written?;
    }
}

/// Makes messages of the bytes of both directions.
#[derive(Debug)]
pub struct Observer {
    decoders: [Decoder; 2],
    /// The time of the first bytes.
    start: Option<Duration>,
    last: Duration,
}

impl Default for Observer {
    fn default() -> Self {
        Self::new()
    }
}

impl Observer {
    /// An observer at the beginning of a session.
    pub fn new() -> Self {
        Self {
            decoders: [(); 2].map(|()| Decoder::with_limit(LONGEST)),
            start: None,
            last: Duration::ZERO,
        }
    }

    /// Takes the next bytes, and calls `found` for each message and each error that ends in them. Times count from the first bytes.
    pub fn chunk(&mut self, chunk: &Chunk, mut found: impl FnMut(Item)) {
        let from = chunk.from;
        let time = chunk
            .time
            .saturating_sub(*self.start.get_or_insert(chunk.time));
        self.last = time;
        let decoder = &mut self.decoders[from as usize];
        if chunk.lost > 0 {
            *decoder = Decoder::with_limit(LONGEST);
            let lost = chunk.lost;
            let reason = format!(
                "{lost} bytes were passed on but neither shown nor recorded, for want of room"
            );
            found(Item::Malformed { time, from, reason });
        }
        decoder.push(&chunk.bytes);
        loop {
            match decoder.next() {
                Ok(Some(text)) => found(Item::Message(Entry { time, from, text })),
                Ok(None) => return,
                Err(error) => {
                    let reason = error.to_string();
                    found(Item::Malformed { time, from, reason });
                }
            }
        }
    }

    /// Calls `found` for each direction that has ended within a message.
    pub fn end(&self, mut found: impl FnMut(Item)) {
        for from in [Side::Client, Side::Adapter] {
            let decoder = &self.decoders[from as usize];
            if !decoder.is_between_messages() && !decoder.is_lost() {
                found(Item::Malformed {
                    time: self.last,
                    from,
                    reason: "the stream ends within a message".to_owned(),
                });
            }
        }
    }
}
