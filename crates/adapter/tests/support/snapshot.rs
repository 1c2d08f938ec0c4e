//! The state of a whole debuggee as the client sees it: its threads, the registers of the one that stopped, and its writable memory.

use super::{Session, Stopped};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

/// The bytes below a stack pointer that are a function's own (x86-64 ABI §3.2.2).
const RED_ZONE: u64 = 128;
/// How many bytes are hashed together.
const PIECE: u64 = 4096;
/// How many bytes are hashed of the beginning and of the end of a large mapping: all bytes pass through the protocol.
const MOST: u64 = 64 * PIECE;
/// How far below a stack pointer its stack may reach, in bytes.
const STACK: u64 = 8 << 20;

/// A state. Two are equal if nothing that is seen tells them apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The thread that has stopped.
    pub thread: i64,
    /// Where each thread is on its stack.
    pub threads: BTreeMap<i64, String>,
    /// The registers of the thread that has stopped, by group and name.
    pub registers: BTreeMap<String, String>,
    /// A number that stands for the content of each piece of memory, by address.
    pub memory: BTreeMap<u64, u64>,
}

/// The writable memory of a process, as the system tells.
pub fn writable(process: i64) -> Vec<Range<u64>> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).expect("it lives");
    let mut all = Vec::new();
    for line in maps.lines() {
        let mut fields = line.split_whitespace();
        let (Some(range), Some(flags)) = (fields.next(), fields.next()) else {
            continue;
        };
        if flags.starts_with("rw") {
            let (start, end) = range.split_once('-').expect("a range");
            let [start, end] = [start, end].map(|it| u64::from_str_radix(it, 16).expect("hex"));
            all.push(start..end);
        }
    }
    all
}

impl Snapshot {
    /// The state at a stop. `writable`: the memory that counts.
    #[track_caller]
    pub fn of(session: &Session, stop: &Stopped, writable: &[Range<u64>]) -> Snapshot {
        let registers = registers(session, &stop.top);
        let all = session.ok::<ThreadsRequest>(Empty).threads;
        let threads: BTreeMap<i64, String> = { all.iter() }
            .map(|thread| (thread.id, stack_pointer(session, thread.id)))
            .collect();
        let stacks: Vec<u64> = { threads.values() }
            .map(|sp| u64::from_str_radix(sp.trim_start_matches("0x"), 16).expect("an address"))
            .collect();
        let mut memory = BTreeMap::new();
        for range in writable {
            // Below its own bytes, nothing of a stack counts.
            let unused = { stacks.iter() }
                .filter(|sp| range.contains(sp))
                .map(|sp| sp.saturating_sub(STACK)..(sp - RED_ZONE));
            let unused: Vec<Range<u64>> = unused.collect();
            for piece in pieces(range) {
                if unused
                    .iter()
                    .any(|it| it.start <= piece.start && piece.end <= it.end)
                {
                    continue;
                }
                let mut bytes = read(session, &piece);
                if bytes.is_empty() {
                    // It wasn't mapped yet, or isn't any more.
                    continue;
                }
                for unused in &unused {
                    let from = unused.start.clamp(piece.start, piece.end) - piece.start;
                    let to = unused.end.clamp(piece.start, piece.end) - piece.start;
                    let to = (to as usize).min(bytes.len());
                    bytes[(from as usize).min(to)..to].fill(0);
                }
                let mut hasher = DefaultHasher::new();
                hasher.write(&bytes);
                memory.insert(piece.start, hasher.finish());
            }
        }
        Snapshot {
            thread: stop.thread,
            threads,
            registers,
            memory,
        }
    }

    /// What is different in another state, as a text for the reader of a failed test. Empty: nothing.
    pub fn differences(&self, other: &Snapshot) -> String {
        let mut all = Vec::new();
        if self.thread != other.thread {
            all.push(format!("thread {} and {}", self.thread, other.thread));
        }
        if self.threads != other.threads {
            all.push(format!(
                "threads {:?} and {:?}",
                self.threads, other.threads
            ));
        }
        for (name, value) in &self.registers {
            let theirs = other.registers.get(name);
            if theirs != Some(value) {
                all.push(format!("{name}: {value} and {theirs:?}"));
            }
        }
        for (at, number) in &self.memory {
            if other.memory.get(at) != Some(number) {
                all.push(format!("memory at {at:#x}"));
            }
        }
        let lacks = { other.memory.keys() }.filter(|at| !self.memory.contains_key(at));
        all.extend(lacks.map(|at| format!("no memory at {at:#x}")));
        all.truncate(20);
        all.join(", ")
    }
}

/// Pieces of a range: of a large one, those of its beginning and its end.
fn pieces(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let Range { start, end } = *range;
    let starts = (start..end).step_by(PIECE as usize);
    starts
        .filter(move |at| at - start < MOST || end - at <= MOST)
        .map(move |at| at..end.min(at + PIECE))
}

fn read(session: &Session, range: &Range<u64>) -> Vec<u8> {
    let count = (range.end - range.start).cast_signed();
    let arguments = ReadMemoryArguments::new(format!("{:#x}", range.start), count);
    let answer = session.ok::<ReadMemoryRequest>(arguments);
    let data = answer.data.unwrap_or_default();
    BASE64.decode(data).expect("base64")
}

fn registers(session: &Session, frame: &StackFrame) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let groups = session.variables(session.scope(frame, "Registers").variables_reference);
    for group in groups {
        for register in session.variables(group.variables_reference) {
            all.insert(format!("{}/{}", group.name, register.name), register.value);
        }
    }
    all
}

fn stack_pointer(session: &Session, thread: i64) -> String {
    let top = session.stack(thread).remove(0);
    let general = session.variables(session.scope(&top, "Registers").variables_reference);
    let general = session.variables(super::named(&general, "General").variables_reference);
    super::named(&general, "rsp").value.clone()
}
