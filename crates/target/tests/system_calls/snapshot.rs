//! What a process's private writable memory has, before and after a system call.
//!
//! Pages of anonymous memory that the process has not used yet are not read: they are zeros (`/proc/PID/pagemap`, proc(5)).

use dapple_target::linux::memory::ProcessMemory;
use dapple_target::linux::process;
use dapple_target::{Address, ThreadId};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;
/// Mappings above this size that the process doesn't use are common (reserved heaps); their page table is read in pieces.
const PIECE: u64 = 1 << 30;

/// The pages of a process's private writable mappings, by address.
pub struct Snapshot {
    mappings: Vec<Range<u64>>,
    pages: BTreeMap<u64, Box<[u8; PAGE as usize]>>,
}

impl Snapshot {
    pub fn take(process: ThreadId) -> Snapshot {
        let mut snapshot = Snapshot {
            mappings: Vec::new(),
            pages: BTreeMap::new(),
        };
        let (Ok(memory), Ok(table)) = (
            ProcessMemory::open(process),
            File::open(process::folder(process).join("pagemap")),
        ) else {
            return snapshot;
        };
        for (range, is_anonymous) in private_writable(process) {
            snapshot.mappings.push(range.clone());
            for page in used(&table, range, !is_anonymous) {
                let mut bytes = Box::new([0; PAGE as usize]);
                if memory.read(Address(page), &mut bytes[..]).is_ok() {
                    snapshot.pages.insert(page, bytes);
                }
            }
        }
        snapshot
    }

    /// The addresses of the bytes that are others in `after`, in mappings that both have.
    pub fn changes(&self, after: &Snapshot) -> Vec<u64> {
        let zeros = Box::new([0; PAGE as usize]);
        let mut changed = Vec::new();
        for (page, now) in &after.pages {
            let is_old = self.mappings.iter().any(|range| range.contains(page));
            let before = self.pages.get(page).unwrap_or(&zeros);
            if is_old && before != now {
                let bytes = (*page..).zip(before.iter().zip(now.iter()));
                changed.extend(bytes.filter(|(_, (a, b))| a != b).map(|(at, _)| at));
            }
        }
        changed
    }
}

/// The pages of a mapping that may have other bytes than zeros.
fn used(table: &File, range: Range<u64>, all: bool) -> Vec<u64> {
    const PRESENT_OR_SWAPPED: u64 = 3 << 62;
    if all {
        return range.step_by(PAGE as usize).collect();
    }
    let mut used = Vec::new();
    for start in range.clone().step_by(PIECE as usize) {
        let end = range.end.min(start + PIECE);
        let mut entries = vec![0; ((end - start) / PAGE * 8) as usize];
        let length = table.read_at(&mut entries, start / PAGE * 8).unwrap_or(0);
        for (index, entry) in (0..).zip(entries[..length].chunks_exact(8)) {
            let entry = u64::from_le_bytes(entry.try_into().expect("8 bytes"));
            if entry & PRESENT_OR_SWAPPED != 0 {
                used.push(start + index * PAGE);
            }
        }
    }
    used
}

/// The private writable mappings, and whether they are anonymous.
fn private_writable(process: ThreadId) -> Vec<(Range<u64>, bool)> {
    let maps = std::fs::read_to_string(process::folder(process).join("maps")).unwrap_or_default();
    let parsed = maps.lines().filter_map(|line| {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let rights = fields.next()?;
        let (start, end) = (
            u64::from_str_radix(start, 16).ok()?,
            u64::from_str_radix(end, 16).ok()?,
        );
        let inode = fields.nth(2)?;
        let is_wanted = rights.starts_with("rw") && rights.ends_with('p');
        is_wanted.then_some((start..end, inode == "0"))
    });
    parsed.collect()
}
