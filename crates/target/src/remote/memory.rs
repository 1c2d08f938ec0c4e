//! The memory behind a stub, read in blocks that are kept until a thread runs.
//!
//! A stub without an operating system may have memory whose reading does something: registers of devices. There, only what is asked for is
//! read, unless the stub's memory map says that it is ordinary memory.
//!
//! A condition that is decided a thousand times a second uses a few bytes of a block each time. If no more than that was used of it at the stop before,
//! only these bytes are read, and the whole block with the first use of others.

use dapple_gdb_remote::documents::{MemoryKind, MemoryRegion};
use std::collections::BTreeMap;
use std::ops::Range;

/// The largest block, in bytes: a page. A page is readable as a whole or not at all.
const PAGE: u64 = 4096;
/// The most blocks that are kept.
const MOST_BLOCKS: usize = 4096;
/// The largest part of a block that is read instead of the block, in bytes.
const LARGEST_PART: usize = 64;

/// What was read since a thread ran.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Each block by its address. A shorter one ends where memory does.
    read: BTreeMap<u64, Vec<u8>>,
    /// Parts of other blocks, by the parts' addresses.
    parts: BTreeMap<u64, Vec<u8>>,
    /// What was used of each block since a thread ran, from the first byte to the last.
    used: BTreeMap<u64, Range<u64>>,
    /// The same of the stop before.
    used_before: BTreeMap<u64, Range<u64>>,
    reads_parts: bool,
    size: u64,
    /// Where blocks may be read. `None`: everywhere.
    ordinary: Option<Vec<Range<u64>>>,
}

impl Blocks {
    /// Blocks for a stub whose packets have room for `room` bytes of memory. `reads_parts`: whether parts are read where these will do. `ordinary`:
    /// where blocks may be read; `None`: everywhere.
    pub(super) fn new(room: usize, reads_parts: bool, ordinary: Option<Vec<Range<u64>>>) -> Blocks {
        let size = match room {
            4096.. => PAGE,
            1024.. => 1024,
            512.. => 512,
            _ => 128,
        };
        Blocks {
            read: BTreeMap::new(),
            parts: BTreeMap::new(),
            used: BTreeMap::new(),
            used_before: BTreeMap::new(),
            reads_parts,
            size,
            ordinary,
        }
    }

    /// The size of a block, in bytes.
    pub(super) fn size(&self) -> usize {
        self.size as usize
    }

    /// Forgets what was read.
    pub(super) fn forget(&mut self) {
        self.read.clear();
        self.parts.clear();
        if !self.used.is_empty() {
            self.used_before = std::mem::take(&mut self.used);
        }
    }

    fn is_ordinary(&self, address: u64) -> bool {
        let end = address.saturating_add(self.size);
        self.ordinary
            .as_ref()
            .is_none_or(|all| all.iter().any(|it| it.start <= address && end <= it.end))
    }

    /// Whether these are whole blocks, whose reading does nothing else.
    pub(super) fn are_ordinary(&self, address: u64, size: usize) -> bool {
        let end = address.saturating_add(size as u64);
        let mut blocks = (address..end).step_by(self.size());
        let is_whole = address.is_multiple_of(self.size) && end.is_multiple_of(self.size);
        is_whole && blocks.all(|block| self.is_ordinary(block))
    }

    /// Reads memory, up to where it ends, by `read`, which reads from the stub. Returns how many bytes were read.
    pub(super) fn read(
        &mut self,
        address: u64,
        buffer: &mut [u8],
        mut read: impl FnMut(u64, &mut [u8]) -> usize,
    ) -> usize {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) = address.checked_add(done as u64) else {
                break;
            };
            let start = at - at % self.size;
            let within = (at - start) as usize;
            if !self.is_ordinary(start) {
                let room = rest.len().min(self.size as usize - within);
                let count = read(at, &mut rest[..room]).min(room);
                done += count;
                if count < room {
                    break;
                }
                continue;
            }
            if self.reads_parts && within + rest.len() <= self.size as usize {
                self.note_use(start, at..at.saturating_add(rest.len() as u64));
                if self.read_part(start, at, rest, &mut read) {
                    return buffer.len();
                }
            }
            let wanted = (within + rest.len()).div_ceil(self.size as usize);
            self.fill(start, wanted, &mut read);
            let block = self.read.get(&start).map_or(&[][..], Vec::as_slice);
            let there = block.get(within..).unwrap_or_default();
            let count = there.len().min(rest.len());
            rest[..count].copy_from_slice(&there[..count]);
            done += count;
            if block.len() < self.size as usize {
                break;
            }
        }
        done
    }

    /// Notes that memory of the block at `start` is used.
    fn note_use(&mut self, start: u64, memory: Range<u64>) {
        let used = self.used.entry(start).or_insert_with(|| memory.clone());
        *used = used.start.min(memory.start)..used.end.max(memory.end);
    }

    /// Takes memory at `at` from a part of the block at `start`, if that is what was used of the block at the stop before. Returns whether it has; else the
    /// whole block is to be read.
    fn read_part(
        &mut self,
        start: u64,
        at: u64,
        buffer: &mut [u8],
        read: &mut impl FnMut(u64, &mut [u8]) -> usize,
    ) -> bool {
        let end = at.saturating_add(buffer.len() as u64);
        let Some(part) = self.used_before.get(&start).cloned() else {
            return false;
        };
        let length = (part.end - part.start) as usize;
        let is_within = part.start <= at && end <= part.end;
        if !is_within || length > LARGEST_PART || self.read.contains_key(&start) {
            return false;
        }
        let bytes = self.parts.entry(part.start).or_insert_with(|| {
            let mut bytes = vec![0; length];
            let there = read(part.start, &mut bytes);
            bytes.truncate(there);
            bytes
        });
        let from = (at - part.start) as usize;
        let there = bytes.get(from..).and_then(|it| it.get(..buffer.len()));
        if let Some(there) = there {
            buffer.copy_from_slice(there);
        }
        there.is_some()
    }

    /// Reads the block at `start`, and those behind it up to `count` that aren't there either, at once.
    fn fill(&mut self, start: u64, count: usize, read: &mut impl FnMut(u64, &mut [u8]) -> usize) {
        /// The most blocks that are read at once.
        const AT_ONCE: usize = 64;
        if self.read.contains_key(&start) {
            return;
        }
        if self.read.len() >= MOST_BLOCKS {
            self.forget();
        }
        let size = self.size;
        let missing = (0..count.min(AT_ONCE) as u64).map_while(|index| {
            let at = start.checked_add(index * size)?;
            (!self.read.contains_key(&at) && self.is_ordinary(at)).then_some(at)
        });
        let missing: Vec<u64> = missing.collect();
        let mut bytes = vec![0; missing.len().max(1) * size as usize];
        let there = read(start, &mut bytes);
        bytes.truncate(there);
        for (index, at) in missing.iter().enumerate() {
            let from = index * size as usize;
            let block = bytes.get(from..).unwrap_or_default();
            // Where memory has ended before a block, nothing is known of that block.
            if index > 0 && block.is_empty() {
                break;
            }
            let block = &block[..block.len().min(size as usize)];
            self.read.insert(*at, block.to_vec());
        }
    }

    /// Notes what was written.
    pub(super) fn written(&mut self, address: u64, bytes: &[u8]) {
        let end = address.saturating_add(bytes.len() as u64);
        let first = address.saturating_sub(self.size - 1);
        let blocks = self.read.range_mut(first..end);
        for (at, block) in blocks.chain(self.parts.range_mut(first..end)) {
            for (index, byte) in block.iter_mut().enumerate() {
                let offset = (at + index as u64).checked_sub(address);
                if let Some(new) = offset.and_then(|offset| bytes.get(offset as usize)) {
                    *byte = *new;
                }
            }
        }
    }
}

/// Where reading memory does nothing else, as a stub's memory map has it.
pub(super) fn ordinary(map: &[MemoryRegion]) -> Vec<Range<u64>> {
    ranges(map, |kind| {
        matches!(
            kind,
            MemoryKind::Ram | MemoryKind::Rom | MemoryKind::Flash { .. }
        )
    })
}

/// Where memory can't be written as usual.
pub(super) fn fixed(map: &[MemoryRegion]) -> Vec<Range<u64>> {
    ranges(map, |kind| {
        matches!(kind, MemoryKind::Rom | MemoryKind::Flash { .. })
    })
}

/// The regions of some kinds.
fn ranges(map: &[MemoryRegion], are_meant: fn(&MemoryKind) -> bool) -> Vec<Range<u64>> {
    let regions = map.iter().filter(|region| are_meant(&region.kind));
    regions
        .map(|region| region.start..region.start.saturating_add(region.length))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory from 0x1000 to 0x3800, each byte of which has the low byte of its address. Counts the readings.
    fn reader(count: &mut Vec<(u64, usize)>) -> impl FnMut(u64, &mut [u8]) -> usize {
        |address, buffer| {
            count.push((address, buffer.len()));
            let is_there = |at: u64| (0x1000..0x3800).contains(&at);
            let bytes = (address..).take_while(|at| is_there(*at));
            let places = buffer.iter_mut().zip(bytes);
            places.map(|(to, at)| *to = at as u8).count()
        }
    }

    #[test]
    fn blocks_are_read_once_and_end_where_memory_does() {
        let mut readings = Vec::new();
        let mut blocks = Blocks::new(4096, false, None);
        let mut buffer = [0; 8];
        assert_eq!(blocks.read(0x1ffc, &mut buffer, reader(&mut readings)), 8);
        assert_eq!(buffer, [0xfc, 0xfd, 0xfe, 0xff, 0, 1, 2, 3]);
        assert_eq!(blocks.read(0x1000, &mut buffer, reader(&mut readings)), 8);
        assert_eq!(blocks.read(0x37fc, &mut buffer, reader(&mut readings)), 4);
        assert_eq!(blocks.read(0x3900, &mut buffer, reader(&mut readings)), 0);
        assert_eq!(blocks.read(0x5000, &mut buffer, reader(&mut readings)), 0);
        assert_eq!(readings, [(0x1000, 8192), (0x3000, 4096), (0x5000, 4096)]);
        blocks.written(0x1ffe, &[7, 8, 9]);
        assert_eq!(blocks.read(0x1ffc, &mut buffer, reader(&mut readings)), 8);
        assert_eq!(buffer, [0xfc, 0xfd, 7, 8, 9, 1, 2, 3]);
        blocks.forget();
        assert_eq!(blocks.read(0x1ffc, &mut buffer, reader(&mut readings)), 8);
        assert_eq!((readings.len(), buffer[2]), (4, 0xfe));
    }

    #[test]
    fn registers_of_devices_are_read_as_they_are_asked_for() {
        let mut readings = Vec::new();
        let mut blocks = Blocks::new(512, true, Some(vec![0x1000..0x2000, 0..0x10]));
        let mut buffer = [0; 4];
        assert_eq!(blocks.read(0x2010, &mut buffer, reader(&mut readings)), 4);
        assert_eq!(blocks.read(0x2010, &mut buffer, reader(&mut readings)), 4);
        assert_eq!(blocks.read(0x1010, &mut buffer, reader(&mut readings)), 4);
        assert_eq!(readings, [(0x2010, 4), (0x2010, 4), (0x1000, 512)]);
    }

    #[test]
    fn a_part_is_read_where_no_more_of_the_block_was_used_before() {
        let mut readings = Vec::new();
        let mut blocks = Blocks::new(1024, true, None);
        let mut buffer = [0; 8];
        let mut used = |blocks: &mut Blocks, addresses: &[u64]| {
            blocks.forget();
            for address in addresses {
                assert_eq!(blocks.read(*address, &mut buffer, reader(&mut readings)), 8);
                let expected = (*address..).map(|at| at as u8);
                assert!(buffer.iter().copied().eq(expected.take(8)));
            }
            std::mem::take(&mut readings)
        };
        assert_eq!(used(&mut blocks, &[0x1410, 0x1420]), [(0x1400, 1024)]);
        assert_eq!(used(&mut blocks, &[0x1420, 0x1410]), [(0x1410, 24)]);
        // One of them, and others: as soon as there is one, the block is read.
        assert_eq!(used(&mut blocks, &[0x1418]), [(0x1410, 24)]);
        let both = [(0x1418, 8), (0x1400, 1024)];
        assert_eq!(used(&mut blocks, &[0x1418, 0x1700, 0x1420]), both);
        // Too far from each other for a part.
        assert_eq!(used(&mut blocks, &[0x1700]), [(0x1400, 1024)]);
        assert_eq!(used(&mut blocks, &[0x1700]), [(0x1700, 8)]);
        // A thread has run and nothing was read.
        blocks.forget();
        assert_eq!(used(&mut blocks, &[0x1700]), [(0x1700, 8)]);
        blocks.written(0x1702, &[9]);
        let mut changed = [0; 8];
        assert_eq!(blocks.read(0x1700, &mut changed, |_, _| 0), 8);
        assert_eq!(changed[..4], [0, 1, 9, 3]);
        // Two blocks at once.
        assert_eq!(used(&mut blocks, &[0x17fc]), [(0x1400, 2048)]);
    }

    #[test]
    fn a_memory_map_says_what_is_ordinary() {
        let region = |kind, start| MemoryRegion {
            kind,
            start,
            length: 0x100,
        };
        let map = [
            region(MemoryKind::Ram, 0),
            region(MemoryKind::Other("io".into()), 0x100),
            region(MemoryKind::Flash { block: 16 }, 0x200),
        ];
        assert_eq!(ordinary(&map), [0..0x100, 0x200..0x300]);
        assert_eq!(
            fixed(&map),
            [Range {
                start: 0x200,
                end: 0x300
            }]
        );
    }
}
