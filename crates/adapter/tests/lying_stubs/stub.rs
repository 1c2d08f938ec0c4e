//! A stub that plays a recorded session, and lies once or from some packet on.

use super::lies::{Act, Asked, KINDS, Kind, Random, resumption};
use super::model::{Model, Script};
use super::recorded::INTERRUPT;
use super::wire::{Piece, Wire, framed};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

/// When a connection is closed, as seen from a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before,
    Within,
    Behind,
}

/// What is said in place of the truth.
#[derive(Clone, Copy)]
pub enum Untruth {
    /// Nothing: all is true.
    None,
    Close(Moment),
    /// Nothing is said any more.
    Silence,
    Kind(&'static Kind),
}

/// A lie.
#[derive(Clone, Copy)]
pub struct Lie {
    /// The index of the packet that it answers.
    pub at: usize,
    /// Whether all later packets that it fits are answered so, too.
    pub lasts: bool,
    pub untruth: Untruth,
    pub seed: u64,
}

impl std::fmt::Display for Lie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.untruth {
            Untruth::None => "the truth".to_owned(),
            Untruth::Close(moment) => format!("closed {moment:?}").to_lowercase(),
            Untruth::Silence => "silence".to_owned(),
            Untruth::Kind(kind) => format!("{} (seed {})", kind.name, self.seed),
        };
        let lasts = if self.lasts { " and later" } else { "" };
        write!(f, "{what} at packet {}{lasts}", self.at)
    }
}

/// All kinds of untruths that take no time.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter()
}

/// Waits for one debugger, and lies to it until it goes.
pub fn serve(listener: &UnixListener, script: &Script, lie: Lie, fifo: &str) {
    let Ok((stream, _)) = listener.accept() else {
        return;
    };
    let mut stub = Stub {
        model: Model::new(script),
        script,
        lie,
        random: Random::new(lie.seed),
        fifo,
        count: 0,
        acknowledges: true,
        runs: false,
        lied_to: Vec::new(),
    };
    let _ = stub.talk(&stream);
    let _ = stream.shutdown(std::net::Shutdown::Both);
}

struct Stub<'a> {
    model: Model<'a>,
    script: &'a Script,
    lie: Lie,
    random: Random,
    fifo: &'a str,
    /// How many packets have come.
    count: usize,
    acknowledges: bool,
    /// Whether the program runs.
    runs: bool,
    /// How the packets begin that are lied to.
    lied_to: Vec<u8>,
}

/// The connection is over.
struct Over;

impl From<std::io::Error> for Over {
    fn from(_: std::io::Error) -> Over {
        Over
    }
}

impl Stub<'_> {
    fn talk(&mut self, mut stream: &UnixStream) -> Result<(), Over> {
        let mut wire = Wire::default();
        let mut buffer = [0; 16 << 10];
        loop {
            let count = stream.read(&mut buffer)?;
            if count == 0 {
                return Err(Over);
            }
            for piece in wire.take(&buffer[..count]) {
                self.take(stream, piece)?;
            }
        }
    }

    fn take(&mut self, mut stream: &UnixStream, piece: Piece) -> Result<(), Over> {
        let asked = match piece {
            Piece::Packet(body) => {
                if self.acknowledges {
                    stream.write_all(b"+")?;
                }
                body
            }
            Piece::Interrupt if self.runs => INTERRUPT.to_vec(),
            Piece::Interrupt => return Ok(()),
        };
        let honest = self.model.answers(&asked);
        let index = self.count;
        self.count += 1;
        self.runs = self.runs || resumption(&asked);
        let acts = self.said(index, &asked, honest);
        for act in acts {
            self.act(stream, act)?;
        }
        // The answer to this packet is the last that is acknowledged.
        self.acknowledges &= asked != b"QStartNoAckMode";
        Ok(())
    }

    /// What is said to a packet.
    fn said(&mut self, index: usize, asked: &[u8], honest: Vec<Vec<u8>>) -> Vec<Act> {
        let truth = |honest: Vec<Vec<u8>>| honest.into_iter().map(Act::Packet).collect::<Vec<_>>();
        if index < self.lie.at {
            return truth(honest);
        }
        if index == self.lie.at {
            self.lied_to = beginning(asked).to_vec();
        }
        let again = index == self.lie.at || self.lie.lasts && self.is_lied_to(asked);
        match self.lie.untruth {
            Untruth::Kind(kind) if again && !honest.is_empty() => (kind.lie)(&mut Asked {
                text: asked,
                honest,
                random: &mut self.random,
                seed: self.lie.seed,
                exchanges: &self.script.exchanges,
                fifo: self.fifo,
            }),
            Untruth::Close(Moment::Before) => vec![Act::Close],
            Untruth::Close(Moment::Within) => {
                let bytes = framed(honest.first().map_or(&[][..], Vec::as_slice));
                vec![Act::Raw(bytes[..bytes.len() / 2].to_vec()), Act::Close]
            }
            Untruth::Close(Moment::Behind) => [truth(honest), vec![Act::Close]].concat(),
            Untruth::Silence => vec![Act::Mute],
            Untruth::None | Untruth::Kind(_) => truth(honest),
        }
    }

    fn is_lied_to(&self, asked: &[u8]) -> bool {
        match self.lie.untruth {
            Untruth::Kind(kind) => match (kind.fits)(b"") {
                true => beginning(asked) == self.lied_to,
                false => (kind.fits)(asked),
            },
            _ => false,
        }
    }

    fn act(&mut self, mut stream: &UnixStream, act: Act) -> Result<(), Over> {
        match act {
            Act::Packet(body) => {
                self.runs &= !matches!(body.first(), Some(b'T' | b'S' | b'W' | b'X' | b'N' | b'w'));
                stream.write_all(&framed(&body))?;
            }
            Act::Raw(bytes) => stream.write_all(&bytes)?,
            Act::Flood(bytes) => loop {
                stream.write_all(&bytes)?;
            },
            Act::Close => return Err(Over),
            Act::Mute => {
                let mut buffer = [0; 1 << 10];
                while stream.read(&mut buffer)? > 0 {}
            }
        }
        Ok(())
    }
}

/// What tells one kind of packet from another: its letter, or its name.
fn beginning(asked: &[u8]) -> &[u8] {
    let is_name = asked.first().is_some_and(|first| b"qQv".contains(first));
    let length = match is_name {
        true => {
            let mut parts = asked
                .iter()
                .enumerate()
                .filter(|(_, byte)| b":;,".contains(byte));
            let first = parts.next().map_or(asked.len(), |(at, _)| at);
            // `qXfer:OBJECT`, `vFile:OPERATION`.
            match asked.starts_with(b"qXfer") || asked.starts_with(b"vFile") {
                true => parts.next().map_or(asked.len(), |(at, _)| at),
                false => first,
            }
        }
        false => asked.len().min(1),
    };
    &asked[..length]
}
