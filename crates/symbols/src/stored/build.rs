//! Makes an index: reads each unit's entries and files once, on several threads, and merges the results in unit order.
//!
//! The units read for this are not cached. So memory is only needed for the index itself, for the units being read, and
//! for the results of units that wait to be merged after an earlier unit that takes longer.

use super::unit_place;
use crate::dwarf::Dwarf;
use crate::dwarf::address_map::AddressMap;
use crate::dwarf::enclosing::Scopes;
use crate::dwarf::name_index::UnitNames;
use crate::dwarf::roots::{NumberedFile, base_of_path};
use crate::index_file::keyed::{KeyedWriter, put};
use crate::index_file::{RANGE, UNIT, table};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

/// The number of low bits of a posting that encode the kind of entry.
pub(super) const KIND_BITS: u32 = 3;
pub(super) const KIND_MASK: u64 = (1 << KIND_BITS) - 1;

/// How many finished units the channel to the merging thread holds.
const WAITING: usize = 32;

/// Why there is no index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoIndex {
    /// The caller cancelled the work.
    Cancelled,
    /// There are partial units, whose names depend on the importing unit, or split units whose entries are not available.
    Unsuitable,
    /// A table would be larger than 4 GiB.
    TooLarge,
}

/// What one unit adds to the index.
struct Contribution<'a> {
    unit: u32,
    /// The unit's length, in bytes of debug information.
    size: u64,
    /// The length of the unit that has the entries: the split unit, if there is one.
    entries_length: u64,
    /// Each base name with the kinds of entries that have it (as bits), and the range of its postings in `bytes`.
    names: Vec<(&'a [u8], u8, Range<usize>)>,
    bytes: Vec<u8>,
    files: Vec<NumberedFile>,
    scopes: Vec<u8>,
}

/// The postings of a key collected so far.
#[derive(Default)]
struct List {
    last_unit: u32,
    kinds: u8,
    bytes: Vec<u8>,
}

impl List {
    fn begin_unit(&mut self, unit: u32) {
        put(&mut self.bytes, u64::from(unit - self.last_unit));
        self.last_unit = unit;
    }
}

/// Makes the tables of a module's index. `progress` receives the bytes of debug information done and the total; if it
/// returns false, the work is cancelled.
pub(crate) fn build(
    dwarf: &Dwarf<'_>,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Vec<Vec<u8>>, NoIndex> {
    let count = dwarf.all_unit_count();
    let size = |index| {
        let header = dwarf.header(index);
        header.map_or(0, |(header, ..)| header.length_including_self() as u64)
    };
    let total: u64 = (0..count).map(size).sum();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    let mut collected = Collected::default();
    std::thread::scope(|scope| {
        let (sender, results) = sync_channel(WAITING);
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(|| work(dwarf, &next, &stop, sender));
        }
        drop(sender);
        let mut early: BTreeMap<u32, Result<Contribution<'_>, NoIndex>> = BTreeMap::new();
        let mut wanted = 0;
        let mut done = 0;
        let mut result = Ok(());
        // Ends when all workers have ended. After an error the loop goes on: a full channel would block the workers.
        for (unit, contribution) in results {
            early.insert(unit, contribution);
            while let Some(contribution) = early.remove(&wanted).filter(|_| result.is_ok()) {
                wanted += 1;
                result = contribution.map(|contribution| {
                    done += contribution.size;
                    collected.add(contribution);
                });
                if result.is_ok() && !progress(done, total) {
                    result = Err(NoIndex::Cancelled);
                }
            }
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
                early.clear();
            }
        }
        result
    })?;
    let ranges = ranges(dwarf.address_map());
    collected.finish(dwarf, ranges).ok_or(NoIndex::TooLarge)
}

/// The main function of a worker thread: reads units that no other thread reads, until there are none or `stop` is set.
fn work<'a>(
    dwarf: &Dwarf<'a>,
    next: &AtomicU32,
    stop: &AtomicBool,
    sender: SyncSender<(u32, Result<Contribution<'a>, NoIndex>)>,
) {
    while !stop.load(Ordering::Relaxed) {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= dwarf.all_unit_count() {
            return;
        }
        let result = contribution(dwarf, index);
        if sender.send((index, result)).is_err() {
            return;
        }
    }
}

fn contribution<'a>(dwarf: &Dwarf<'a>, index: u32) -> Result<Contribution<'a>, NoIndex> {
    let mut found = Contribution {
        unit: index,
        size: 0,
        entries_length: 0,
        names: Vec::new(),
        bytes: Vec::new(),
        files: Vec::new(),
        scopes: Vec::new(),
    };
    // A unit that can't be read adds nothing, as in a walk without an index.
    let Some(unit) = dwarf.fresh_unit(index) else {
        return Ok(found);
    };
    if unit.is_partial() || (unit.is_split() && std::ptr::eq(unit.part(), &unit.own)) {
        return Err(NoIndex::Unsuitable);
    }
    found.size = unit.own.dw.header.length_including_self() as u64;
    found.entries_length = unit.dw().header.length_including_self() as u64;
    if index < dwarf.unit_count() {
        found.files = unit.own.files(|_| true);
    }
    let (names, scopes) = UnitNames::with_scopes(dwarf, &unit);
    found.scopes = encode(&scopes);
    for group in names.by_base() {
        let mut postings: Vec<(usize, u64)> = group
            .iter()
            .map(|entry| (entry.offset, entry.kind as u64))
            .collect();
        postings.sort_unstable();
        let start = found.bytes.len();
        put(&mut found.bytes, postings.len() as u64);
        let (mut last, mut kinds) = (0, 0);
        for (offset, kind) in postings {
            put(
                &mut found.bytes,
                ((offset - last) as u64) << KIND_BITS | kind,
            );
            last = offset;
            kinds |= 1 << kind;
        }
        let base = group.first().map_or(&[][..], |entry| entry.base);
        found.names.push((base, kinds, start..found.bytes.len()));
    }
    Ok(found)
}

/// Encodes a unit's scopes for [`StoredIndex::scopes`](super::StoredIndex::scopes).
fn encode(scopes: &Scopes) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for (index, scope) in scopes.0.iter().enumerate() {
        put(&mut bytes, (scope.start - last) as u64);
        last = scope.start;
        let size = match scope.end {
            usize::MAX => 0,
            end => end - scope.start,
        };
        put(&mut bytes, size as u64);
        let up = scope.parent.map_or(0, |parent| index - parent as usize);
        put(&mut bytes, up as u64);
    }
    bytes
}

/// The merged contributions of all units so far.
#[derive(Default)]
struct Collected<'a> {
    names: FxHashMap<&'a [u8], List>,
    files: FxHashMap<PathBuf, List>,
    entries_lengths: Vec<u64>,
    scopes: Vec<u8>,
    /// The end of each unit's scopes in `scopes`.
    scope_ends: Vec<usize>,
}

impl<'a> Collected<'a> {
    fn add(&mut self, unit: Contribution<'a>) {
        self.entries_lengths.push(unit.entries_length);
        self.scopes.extend_from_slice(&unit.scopes);
        self.scope_ends.push(self.scopes.len());
        for (base, kinds, postings) in unit.names {
            let list = self.names.entry(base).or_default();
            list.kinds |= kinds;
            list.begin_unit(unit.unit);
            list.bytes.extend_from_slice(&unit.bytes[postings]);
        }
        for file in unit.files {
            let list = self.files.entry(file.path).or_default();
            list.begin_unit(unit.unit);
            put(&mut list.bytes, u64::from(file.number));
        }
    }

    /// The tables in order of their numbers ([`table`]); `None` if one would be too large.
    fn finish(self, dwarf: &Dwarf<'_>, ranges: Vec<u8>) -> Option<Vec<Vec<u8>>> {
        let mut units = Vec::with_capacity(self.entries_lengths.len() * UNIT);
        for (index, length) in self.entries_lengths.into_iter().enumerate() {
            let (header, ..) = dwarf.header(index as u32)?;
            units.extend_from_slice(&unit_place(&header).concat());
            units.extend_from_slice(&length.to_le_bytes());
        }
        let mut names: Vec<(&[u8], List)> = self.names.into_iter().collect();
        names.sort_unstable_by_key(|(base, _)| *base);
        let kinds = names.iter().map(|(_, list)| list.kinds).collect();
        let mut name_tables = KeyedWriter::default();
        for (base, list) in names {
            name_tables.add(base, &list.bytes)?;
        }
        let mut files: Vec<(PathBuf, List)> = self.files.into_iter().collect();
        files.sort_unstable_by(|(one, _), (other, _)| {
            let (one, other) = (one.as_os_str().as_bytes(), other.as_os_str().as_bytes());
            (base_of_path(one), one).cmp(&(base_of_path(other), other))
        });
        let mut file_tables = KeyedWriter::default();
        for (path, list) in files {
            file_tables.add(path.as_os_str().as_bytes(), &list.bytes)?;
        }
        let mut tables = vec![units, ranges];
        debug_assert_eq!(tables.len(), table::NAMES);
        tables.extend(name_tables.finish());
        tables.push(kinds);
        tables.extend(file_tables.finish());
        let program = dwarf.files.main.elf.path.as_path();
        let program = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
        tables.push(program.into_os_string().into_encoded_bytes());
        let mut scope_ends = Vec::with_capacity(self.scope_ends.len() * 4);
        for end in self.scope_ends {
            scope_ends.extend_from_slice(&u32::try_from(end).ok()?.to_le_bytes());
        }
        tables.push(scope_ends);
        tables.push(self.scopes);
        debug_assert_eq!(tables.len(), table::COUNT);
        Some(tables)
    }
}

fn ranges(map: &AddressMap) -> Vec<u8> {
    let mut table = Vec::with_capacity(map.ranges.len() * RANGE);
    for range in &map.ranges {
        for number in [range.start, range.end, range.reach, u64::from(range.unit)] {
            table.extend_from_slice(&number.to_le_bytes());
        }
    }
    table
}
