//! Messages of breakpoints that the program writes by itself: it records their values in a ring ([`dapple_arch::decision::Ring`]), and here
//! they become text.
//!
//! A thread writes its records in the order in which it comes to the breakpoints. What is in the ring belongs to the program, which may write
//! anything there; whatever it writes, no more than a ring's records are read at a time.

use super::log::RecordedMessage;
use super::options::BreakpointOptions;
use dapple_arch::decision::{RECORDS, Ring};
use dapple_symbols::functions::SourcePosition;
use dapple_target::linux::alarm::Alarm;
use dapple_target::written::{UnderWay, Written};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

/// How often the ring is read while the program runs.
const OFTEN: Duration = Duration::from_millis(5);

/// A ring, and what its records mean.
#[derive(Debug)]
pub(crate) struct LogRing {
    pub(crate) ring: Ring,
    /// The ring's memory.
    file: File,
    /// The number of the first record that wasn't read.
    next: u64,
    /// The numbers above `next` of those that were read: a record before them is not complete yet.
    ahead: BTreeSet<u64>,
    /// The limit in the ring.
    limit: u64,
    /// Who writes records, by id.
    writers: FxHashMap<u64, Writer>,
    last_id: u64,
    /// Room for the records that are looked at.
    buffer: Vec<u8>,
    /// Texts that the client hasn't got yet.
    under_way: Arc<UnderWay>,
    alarm: Alarm,
}

/// A breakpoint at one of its places.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) breakpoint: i64,
    pub(crate) options: BreakpointOptions,
    pub(crate) position: Option<SourcePosition>,
    pub(crate) message: RecordedMessage,
}

/// Messages, each with a line end.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) text: String,
    /// Which of them are whose.
    runs: Vec<Run>,
}

/// Consecutive messages of one breakpoint at one place.
#[derive(Debug)]
struct Run {
    /// Who has written them.
    id: u64,
    /// How many they are.
    count: u64,
    /// Where they end in the text.
    end: usize,
}

impl LogRing {
    pub(crate) fn new(ring: Ring, file: File) -> LogRing {
        let mut ring = LogRing {
            ring,
            file,
            next: 0,
            ahead: BTreeSet::new(),
            limit: 0,
            writers: FxHashMap::default(),
            last_id: 0,
            buffer: Vec::new(),
            under_way: Arc::default(),
            alarm: Alarm::default(),
        };
        ring.set_limit();
        ring
    }

    /// Has the debugger woken regularly from now on, or no longer.
    pub(crate) fn wake(&mut self, wakes: bool) {
        match wakes {
            true => drop(self.alarm.ring_every(OFTEN)),
            false => self.alarm.end(),
        }
    }

    /// Adds who writes records, and returns the id to write into them.
    pub(crate) fn add(&mut self, writer: Writer) -> u64 {
        self.last_id += 1;
        self.writers.insert(self.last_id, writer);
        self.last_id
    }

    /// Whether so much text is under way to the client that the program should wait.
    pub(crate) fn is_client_behind(&self) -> bool {
        self.under_way.is_full()
    }

    /// Counts a text as under way to the client.
    pub(crate) fn send(&self, text: String) -> Written {
        self.under_way.send(text.into_bytes())
    }

    /// Who has written which messages: how many, and where they end in the text.
    pub(crate) fn runs(&self, lines: &Lines) -> impl Iterator<Item = (&Writer, u64, usize)> {
        let runs = lines.runs.iter();
        runs.filter_map(|run| Some((self.writers.get(&run.id)?, run.count, run.end)))
    }

    /// Reads all complete records, and makes room for others.
    pub(crate) fn read(&mut self) -> Lines {
        let mut all = Lines::default();
        let mut used = [0; 8];
        let at = |ring: &Ring, address: dapple_arch::Address| address.0.wrapping_sub(ring.at.0);
        let place = at(&self.ring, self.ring.used());
        if self.file.read_exact_at(&mut used, place).is_err() {
            return all;
        }
        let end = u64::from_le_bytes(used).min(self.next.saturating_add(RECORDS));
        let mut from = self.next;
        while from < end {
            // To the end of the ring, and from its beginning.
            let to = end.min((from / RECORDS + 1).saturating_mul(RECORDS));
            let size = (to - from).saturating_mul(Ring::RECORD) as usize;
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.resize(size, 0);
            let place = at(&self.ring, self.ring.record(from));
            if self.file.read_exact_at(&mut buffer, place).is_ok() {
                for (number, record) in (from..to).zip(buffer.chunks(Ring::RECORD as usize)) {
                    self.take(number, record, &mut all);
                }
            }
            self.buffer = buffer;
            from = to;
        }
        while self.ahead.remove(&self.next) {
            self.next += 1;
        }
        self.set_limit();
        all
    }

    /// Takes a record, if it is complete and wasn't taken before.
    fn take(&mut self, number: u64, record: &[u8], all: &mut Lines) {
        let mut words = record.chunks_exact(8).map(|word| {
            let bytes = word.try_into().unwrap_or_default();
            u64::from_le_bytes(bytes)
        });
        if words.next() != Some(number.wrapping_add(1)) || self.ahead.contains(&number) {
            return;
        }
        self.ahead.insert(number);
        let id = words.next().unwrap_or_default();
        let Some(writer) = self.writers.get(&id) else {
            return;
        };
        writer.message.write(words, &mut all.text);
        all.text.push('\n');
        let end = all.text.len();
        match all.runs.last_mut() {
            Some(last) if last.id == id => {
                last.count += 1;
                last.end = end;
            }
            _ => all.runs.push(Run { id, count: 1, end }),
        }
    }

    /// Lets the program write as many records as there is room for.
    fn set_limit(&mut self) {
        let place = self.ring.limit().0.wrapping_sub(self.ring.at.0);
        let limit = self.next.saturating_add(RECORDS);
        if std::mem::replace(&mut self.limit, limit) == limit {
            return;
        }
        // Threads may read the word while it is written. Whatever mixture they see isn't above the old value, then not above the new one.
        for word in [0, limit] {
            let _ = self.file.write_all_at(&word.to_le_bytes(), place);
        }
    }

    /// Forgets who wrote records and doesn't any more. Call only when all records were read, and no thread is in a trampoline but of those
    /// with these ids.
    pub(crate) fn keep(&mut self, ids: impl Fn(u64) -> bool) {
        self.writers.retain(|id, _| ids(*id));
    }
}
