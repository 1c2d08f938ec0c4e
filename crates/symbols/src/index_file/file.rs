//! The format of an index file: numbered tables of bytes, verified chunk by chunk.
//!
//! All numbers are little-endian. The header says what the file is an index of, where the tables are, and the CRC-32 of
//! each chunk of the body; the header has a checksum of its own. The body is padded to whole chunks. Opening reads only
//! the header. A chunk is verified when it is first accessed, so a file of a hundred megabytes costs only what is
//! accessed, and a flipped bit is an error, never a wrong answer. This module doesn't know the content of the tables.

use crate::error::CHANGED;
use crate::mapping::Bytes;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The first bytes of an index file.
const MAGIC: [u8; 8] = *b"DAPPLEIX";
/// Increase with each change of the format or of a table's content.
const VERSION: u32 = 1;
/// The unit of verification, in bytes.
const CHUNK: usize = 64 << 10;
/// The size of the header before the key: magic, version, sizes of the header and the key, numbers of tables and chunks,
/// chunk size, checksum of the rest of the header.
const FIXED: usize = 40;
/// The size of a table's entry in the directory: start and length.
const ENTRY: usize = 16;

/// Why an index file can't be used. The index must be made again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the index {}: {reason}", path.display())]
pub(crate) struct IndexError {
    pub path: PathBuf,
    pub reason: String,
}

/// An index file, mapped.
pub(crate) struct IndexFile {
    path: PathBuf,
    bytes: Bytes,
    /// The range of each table in the body.
    tables: Vec<Range<usize>>,
    /// Offsets in the file: the chunks' checksums are at `sums`, the first chunk is at `body`.
    sums: usize,
    body: usize,
    /// One bit for each chunk, set once the chunk is verified.
    verified: Vec<AtomicU64>,
}

/// Calls `each` with the chunks of the body; the last one is padded with zeros.
fn each_chunk(
    tables: &[Vec<u8>],
    each: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut add = |mut bytes: &[u8], each: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK - chunk.len()));
            chunk.extend_from_slice(now);
            bytes = later;
            if chunk.len() == CHUNK {
                each(&chunk)?;
                chunk.clear();
            }
        }
        Ok::<usize, io::Error>(chunk.len())
    };
    for table in tables {
        add(table, each)?;
        add(
            &[0; 8][..table.len().next_multiple_of(8) - table.len()],
            each,
        )?;
    }
    let left = add(&[], each)?;
    if left > 0 {
        add(&vec![0; CHUNK - left], each)?;
    }
    Ok(())
}

impl IndexFile {
    /// Writes an index file; `key` identifies the build that was indexed.
    pub fn write(out: &mut impl Write, key: &[u8], tables: &[Vec<u8>]) -> io::Result<()> {
        let mut directory = Vec::with_capacity(tables.len() * ENTRY);
        let mut end = 0_u64;
        for table in tables {
            // Align tables, because records may have eight-byte numbers.
            let start = end.next_multiple_of(8);
            directory.extend_from_slice(&start.to_le_bytes());
            directory.extend_from_slice(&(table.len() as u64).to_le_bytes());
            end = start + table.len() as u64;
        }
        let size = usize::try_from(end).map_err(io::Error::other)?;
        let chunks = size.div_ceil(CHUNK);
        let mut sums = Vec::with_capacity(chunks * 4);
        let mut sum = |chunk: &[u8]| -> io::Result<()> {
            sums.extend_from_slice(&crc32fast::hash(chunk).to_le_bytes());
            Ok(())
        };
        each_chunk(tables, &mut sum)?;

        let mut rest = Vec::new();
        rest.extend_from_slice(key);
        rest.extend_from_slice(&directory);
        rest.extend_from_slice(&sums);
        let number = |count: usize| {
            u32::try_from(count)
                .map(u32::to_le_bytes)
                .map_err(io::Error::other)
        };
        let mut head = Vec::with_capacity(FIXED);
        head.extend_from_slice(&MAGIC);
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&number(FIXED + rest.len())?);
        head.extend_from_slice(&number(key.len())?);
        head.extend_from_slice(&number(tables.len())?);
        head.extend_from_slice(&number(chunks)?);
        head.extend_from_slice(&(CHUNK as u64).to_le_bytes());
        let mut check = crc32fast::Hasher::new();
        check.update(&head);
        check.update(&rest);
        head.extend_from_slice(&check.finalize().to_le_bytes());
        out.write_all(&head)?;
        out.write_all(&rest)?;
        each_chunk(tables, &mut |chunk| out.write_all(chunk))
    }

    /// Opens a file and, if `key` is given, checks that the file was written with this key.
    pub fn open(path: &Path, key: Option<&[u8]>) -> Result<Self, IndexError> {
        let bytes = Bytes::open(path).map_err(|error| IndexError {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        Self::from_bytes(path, bytes, key)
    }

    pub fn from_bytes(path: &Path, bytes: Bytes, key: Option<&[u8]>) -> Result<Self, IndexError> {
        let wrong = |reason: &str| IndexError {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        let too_short = || wrong("it ends in its head");
        if bytes.get(..8) != Some(&MAGIC) {
            return Err(wrong("this is no index"));
        }
        if u32_at(&bytes, 8).ok_or_else(too_short)? != VERSION {
            return Err(wrong("it is of another version"));
        }
        let count = |at| Some(u32_at(&bytes, at)? as usize);
        let [size, key_size, table_count, chunks] = [12, 16, 20, 24].map(count);
        let (Some(size), Some(key_size), Some(table_count), Some(chunks)) =
            (size, key_size, table_count, chunks)
        else {
            return Err(too_short());
        };
        let fixed = bytes.get(..FIXED - 4).ok_or_else(too_short)?;
        let rest = bytes.get(FIXED..size).ok_or_else(too_short)?;
        let mut check = crc32fast::Hasher::new();
        check.update(fixed);
        check.update(rest);
        if u32_at(&bytes, FIXED - 4) != Some(check.finalize()) {
            return Err(wrong("its head is damaged"));
        }
        if u64_at(&bytes, 28) != Some(CHUNK as u64) {
            return Err(wrong("its chunks have another size"));
        }
        // The checksum only shows that the header is as it was written; what was written may still be wrong.
        let directory = FIXED.checked_add(key_size).ok_or_else(too_short)?;
        let sums = table_count
            .checked_mul(ENTRY)
            .and_then(|size| directory.checked_add(size));
        let sums = sums.ok_or_else(too_short)?;
        let expected = chunks
            .checked_mul(4)
            .and_then(|size| sums.checked_add(size));
        if expected != Some(size) {
            return Err(wrong("its head contradicts itself"));
        }
        if key.is_some_and(|key| bytes.get(FIXED..directory) != Some(key)) {
            return Err(wrong("it is of another program, or of another build of it"));
        }
        let body_size = chunks.checked_mul(CHUNK);
        if body_size.and_then(|body| size.checked_add(body)) != Some(bytes.len()) {
            return Err(wrong("it has not the length that its head says"));
        }
        let table = |index: usize| {
            let at = directory + index * ENTRY;
            let start = usize::try_from(u64_at(&bytes, at)?).ok()?;
            let length = usize::try_from(u64_at(&bytes, at + 8)?).ok()?;
            let end = start.checked_add(length)?;
            (end <= body_size?).then_some(start..end)
        };
        let tables = (0..table_count)
            .map(table)
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| wrong("a table is outside of it"))?;
        let verified = (0..chunks.div_ceil(64))
            .map(|_| AtomicU64::new(0))
            .collect();
        Ok(Self {
            path: path.to_owned(),
            bytes,
            tables,
            sums,
            body: size,
            verified,
        })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// An error if the file is known to have changed, or to have lost pages because it was truncated. Doesn't access the disk.
    pub fn check_whole(&self) -> Result<(), IndexError> {
        match self.bytes.have_changed() {
            false => Ok(()),
            true => Err(self.wrong(CHANGED.to_owned())),
        }
    }

    /// The length of a table in bytes; 0 for a table that the file doesn't have.
    pub fn table_len(&self, table: usize) -> usize {
        self.tables.get(table).map_or(0, Range::len)
    }

    /// A range of a table's bytes; an error if the table doesn't have the range, or if a chunk with a part of the range is
    /// damaged.
    pub fn table(&self, table: usize, range: Range<usize>) -> Result<&[u8], IndexError> {
        let place = self.tables.get(table).and_then(|place| {
            let start = place.start.checked_add(range.start)?;
            let end = place.start.checked_add(range.end)?;
            (start <= end && end <= place.end).then_some(start..end)
        });
        let Some(place) = place else {
            return Err(self.wrong(format!(
                "table {table} has nothing at {}..{}",
                range.start, range.end
            )));
        };
        self.verify(&place)?;
        Ok(&self.bytes[self.body + place.start..self.body + place.end])
    }

    /// Verifies those chunks of a range of the body that are not verified yet.
    fn verify(&self, range: &Range<usize>) -> Result<(), IndexError> {
        if range.is_empty() {
            return Ok(());
        }
        for chunk in range.start / CHUNK..=(range.end - 1) / CHUNK {
            let (word, bit) = (&self.verified[chunk / 64], 1 << (chunk % 64));
            if word.load(Ordering::Relaxed) & bit != 0 {
                continue;
            }
            let start = self.body + chunk * CHUNK;
            let sum = u32_at(&self.bytes, self.sums + chunk * 4);
            if sum != Some(crc32fast::hash(&self.bytes[start..start + CHUNK])) {
                return Err(self.wrong(format!("it is damaged at byte {start} or behind it")));
            }
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    pub fn wrong(&self, reason: String) -> IndexError {
        IndexError {
            path: self.path.clone(),
            reason,
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = b"a build";

    fn tables() -> Vec<Vec<u8>> {
        let long: Vec<u8> = (0..3 * CHUNK + 5).map(|at| (at % 251) as u8).collect();
        vec![b"first".to_vec(), Vec::new(), long, vec![7; 8]]
    }

    fn file() -> Vec<u8> {
        let mut bytes = Vec::new();
        IndexFile::write(&mut bytes, KEY, &tables()).expect("memory takes it");
        bytes
    }

    fn open(bytes: Vec<u8>) -> Result<IndexFile, IndexError> {
        IndexFile::from_bytes(Path::new("x"), Bytes::Owned(bytes.into()), Some(KEY))
    }

    /// Reads all tables; `None` if the file can't be used.
    fn read(bytes: Vec<u8>) -> Option<Vec<Vec<u8>>> {
        let file = open(bytes).ok()?;
        (0..4)
            .map(|table| {
                let all = file.table(table, 0..file.table_len(table));
                all.ok().map(<[u8]>::to_vec)
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(read(file()), Some(tables()));
        let file = open(file()).expect("it was just written");
        assert_eq!(file.table(0, 1..3), Ok(&b"ir"[..]));
        assert_eq!(file.table(2, CHUNK - 8..CHUNK + 8).map(<[u8]>::len), Ok(16));
        assert_eq!(file.table_len(9), 0);
        for (table, range) in [
            (0, 4..6),
            (0, 6..6),
            (1, 0..1),
            (9, 0..0),
            (0, usize::MAX - 1..usize::MAX),
        ] {
            let error = file.table(table, range.clone()).unwrap_err().to_string();
            let said = format!(
                "table {table} has nothing at {}..{}",
                range.start, range.end
            );
            assert_eq!(error, format!("the index x: {said}"));
        }
        let mut empty = Vec::new();
        IndexFile::write(&mut empty, KEY, &[]).expect("memory takes it");
        assert!(open(empty).is_ok());
    }

    #[test]
    fn another_key_and_what_is_no_index_are_told_apart() {
        let reason = |bytes: Vec<u8>, key: &[u8]| {
            let opened =
                IndexFile::from_bytes(Path::new("x"), Bytes::Owned(bytes.into()), Some(key));
            opened.err().map(|error| error.reason)
        };
        assert_eq!(
            reason(file(), b"b build").as_deref(),
            Some("it is of another program, or of another build of it")
        );
        assert_eq!(reason(Vec::new(), KEY).as_deref(), Some("this is no index"));
        assert_eq!(
            reason(file()[..20].to_vec(), KEY).as_deref(),
            Some("it ends in its head")
        );
        let mut newer = file();
        newer[8] += 1;
        assert_eq!(
            reason(newer, KEY).as_deref(),
            Some("it is of another version")
        );
    }

    #[test]
    fn each_shorter_and_each_longer_file_is_refused() {
        let whole = file();
        let head = whole.len() % CHUNK;
        for length in (0..head + 20).chain(whole.len() - 300..whole.len()) {
            assert!(open(whole[..length].to_vec()).is_err(), "{length}");
        }
        assert!(open([whole, vec![0]].concat()).is_err());
    }

    #[test]
    fn no_flipped_bit_gives_another_answer() {
        let whole = file();
        let head = whole.len() % CHUNK;
        let steps = (head..whole.len()).step_by(997);
        for at in (0..head).chain(steps) {
            for bit in [0, 3, 7] {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert_eq!(read(damaged), None, "bit {bit} of byte {at}");
            }
        }
    }
}
