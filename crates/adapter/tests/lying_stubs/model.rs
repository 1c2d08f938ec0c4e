//! What an honest stub says: as it was recorded, in that order as long as the debugger asks the same, and else by the text of what is asked.

use super::recorded::{Exchange, INTERRUPT};
use std::collections::HashMap;

/// A recorded session, to be played again and again.
#[derive(Debug)]
pub struct Script {
    pub exchanges: Vec<Exchange>,
    /// Where each text was asked.
    places: HashMap<Vec<u8>, Vec<usize>>,
    /// The thread of the first stop.
    thread: Vec<u8>,
}

impl Script {
    pub fn new(exchanges: Vec<Exchange>) -> Script {
        let mut places = HashMap::<_, Vec<usize>>::new();
        for (index, exchange) in exchanges.iter().enumerate() {
            places
                .entry(exchange.asked.clone())
                .or_default()
                .push(index);
        }
        let stops = exchanges.iter().flat_map(|exchange| &exchange.answers);
        let threads = stops.filter_map(|answer| {
            let text = std::str::from_utf8(answer).ok()?.strip_prefix('T')?;
            let (thread, _) = text.split_once("thread:")?.1.split_once(';')?;
            Some(thread.as_bytes().to_vec())
        });
        let thread = threads.into_iter().next().expect("a stop names a thread");
        Script {
            exchanges,
            places,
            thread,
        }
    }
}

/// Where a replay is.
#[derive(Debug)]
pub struct Model<'a> {
    script: &'a Script,
    /// The exchange that comes next in the recording.
    next: usize,
}

impl<'a> Model<'a> {
    pub fn new(script: &'a Script) -> Model<'a> {
        Model { script, next: 0 }
    }

    /// The answers to what was asked.
    pub fn answers(&mut self, asked: &[u8]) -> Vec<Vec<u8>> {
        let places = self.script.places.get(asked).map_or(&[][..], Vec::as_slice);
        let ahead = places.iter().find(|place| **place >= self.next);
        if let Some(place) = ahead.or(places.last()).copied() {
            if place >= self.next {
                self.next = place + 1;
            }
            return self.script.exchanges[place].answers.clone();
        }
        vec![self.unrecorded(asked)]
    }

    /// What the recording has no answer for.
    fn unrecorded(&mut self, asked: &[u8]) -> Vec<u8> {
        if asked == INTERRUPT {
            return [b"T02thread:", &*self.script.thread, b";"].concat();
        }
        match asked {
            b"c" | b"s" => self.next_stop(),
            _ if asked.starts_with(b"vCont;") => self.next_stop(),
            [b'm' | b'x', ..] => b"E01".to_vec(),
            [
                b'Z' | b'z' | b'H' | b'P' | b'G' | b'X' | b'M' | b'D' | b'T',
                ..,
            ] => b"OK".to_vec(),
            _ if asked.starts_with(b"vKill") => b"OK".to_vec(),
            _ => Vec::new(),
        }
    }

    /// The next stop of the recording; the program's end behind the last one.
    fn next_stop(&mut self) -> Vec<u8> {
        let rest = self.script.exchanges.iter().enumerate().skip(self.next);
        let mut resumed = rest.filter(|(_, exchange)| exchange.asked.starts_with(b"vCont;"));
        let Some((place, exchange)) = resumed.next() else {
            return b"W00".to_vec();
        };
        self.next = place + 1;
        exchange.answers.last().cloned().unwrap_or_default()
    }
}
