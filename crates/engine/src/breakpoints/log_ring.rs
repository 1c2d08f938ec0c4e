//! Messages of breakpoints that the program writes by itself: it records their values in a ring ([`dapple_arch::decision::Ring`]), and here
//! they become text.
//!
//! A thread writes its records in the order in which it comes to the breakpoints. What is in the ring belongs to the program, which may write
//! anything there; whatever it writes, no more than a ring's records are read at a time.

use super::log::RecordedMessage;
use super::options::BreakpointOptions;
use crate::Address;
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
    /// Room for two copies of the records that are looked at.
    buffers: [Vec<u8>; 2],
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

/// A word of a record.
fn word(record: &[u8], index: usize) -> u64 {
    let bytes = record.get(8 * index..8 * index + 8);
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    u64::from_le_bytes(bytes.unwrap_or_default())
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
            buffers: Default::default(),
            under_way: Arc::default(),
            alarm: Alarm::default(),
        };
        ring.set_limit();
        ring
    }

    /// Has the debugger woken regularly from now on, or no longer. Returns `false` if the system refuses.
    pub(crate) fn wake(&mut self, wakes: bool) -> bool {
        if wakes {
            return self.alarm.ring_every(OFTEN);
        }
        self.alarm.end();
        true
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

    /// How many numbers of records were taken.
    fn used(&self) -> Option<u64> {
        let mut used = [0; 8];
        let place = self.offset(self.ring.used());
        self.file.read_exact_at(&mut used, place).ok()?;
        Some(u64::from_le_bytes(used))
    }

    fn offset(&self, address: Address) -> u64 {
        address.0.wrapping_sub(self.ring.at.0)
    }

    /// Whether a thread can write a record now.
    pub(crate) fn has_room(&self) -> bool {
        self.used().is_some_and(|used| used < self.limit)
    }

    /// Gives up records that aren't complete. Call when all were read, and no thread writes any.
    pub(crate) fn give_up_rest(&mut self) {
        if let Some(used) = self.used().filter(|used| *used > self.next) {
            self.next = used;
            self.ahead.clear();
            self.set_limit();
        }
    }

    /// Reads all complete records, and makes room for others unless the client is behind.
    pub(crate) fn read(&mut self) -> Lines {
        let mut all = Lines::default();
        let Some(used) = self.used() else {
            return all;
        };
        let end = used.min(self.next.saturating_add(RECORDS));
        let mut from = self.next;
        while from < end {
            // To the end of the ring, and from its beginning.
            let to = end.min((from / RECORDS + 1).saturating_mul(RECORDS));
            let size = (to - from).saturating_mul(Ring::RECORD) as usize;
            let place = self.offset(self.ring.record(from));
            let mut buffers = std::mem::take(&mut self.buffers);
            // What is complete in the first copy has all its values in the second.
            let copied = { buffers.iter_mut() }.all(|buffer| {
                buffer.resize(size, 0);
                self.file.read_exact_at(buffer, place).is_ok()
            });
            let [marks, values] = buffers
                .each_ref()
                .map(|it| it.chunks(Ring::RECORD as usize));
            for (number, (mark, values)) in (from..to).zip(marks.zip(values)) {
                if copied && word(mark, 0) == number.wrapping_add(1) {
                    self.take(number, values, &mut all);
                }
            }
            self.buffers = buffers;
            from = to;
        }
        while self.ahead.remove(&self.next) {
            self.next += 1;
        }
        if !self.is_client_behind() {
            self.set_limit();
        }
        all
    }

    /// Takes a complete record, if it wasn't taken before.
    fn take(&mut self, number: u64, record: &[u8], all: &mut Lines) {
        if !self.ahead.insert(number) {
            return;
        }
        let id = word(record, 1);
        let words = (2..).map(|index| word(record, index));
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
        let place = self.offset(self.ring.limit());
        let limit = self.next.saturating_add(RECORDS);
        // Threads trap that come while it is changed: so it isn't changed often.
        if limit < self.limit.saturating_add(RECORDS / 2) {
            return;
        }
        self.limit = limit;
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
