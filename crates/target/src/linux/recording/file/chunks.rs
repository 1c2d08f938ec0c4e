//! The outer form of a recording's file: a header, then compressed chunks with checksums.
//!
//! The header says whether the recording was finished. A finished file has all its chunks, and ends behind the last one. The file of a recorder
//! that was killed has none too many, and may end within one, which is ignored.

use super::Damage;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;

/// What the file begins with.
const MAGIC: [u8; 8] = *b"\x7fDapple\n";
/// The version of all that follows.
const VERSION: u32 = 1;
/// The states of a file. They differ in every byte, so that damage doesn't make one of the other.
const UNFINISHED: [u8; 8] = *b"unended.";
const FINISHED: [u8; 8] = *b"COMPLETE";
/// Magic, version, state and checksum.
const HEADER: usize = 24;
/// How many bytes a chunk has at most, before it is compressed.
pub(super) const CHUNK: usize = 1 << 20;
/// Size, uncompressed size and checksum.
const CHUNK_HEADER: usize = 12;

/// Writes a file of chunks.
#[derive(Debug)]
pub(super) struct ChunkWriter {
    file: File,
    chunks: u32,
}

impl ChunkWriter {
    /// Begins an empty file.
    pub(super) fn new(mut file: File) -> io::Result<ChunkWriter> {
        file.write_all(&header(UNFINISHED))?;
        Ok(ChunkWriter { file, chunks: 0 })
    }

    /// Writes a chunk, of at most [`CHUNK`] bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let packed = lz4_flex::block::compress(bytes);
        let sizes = [packed.len() as u32, bytes.len() as u32];
        let mut chunk = Vec::with_capacity(CHUNK_HEADER + packed.len());
        chunk.extend(sizes[0].to_le_bytes());
        chunk.extend(sizes[1].to_le_bytes());
        chunk.extend(checksum(self.chunks, sizes, &packed).to_le_bytes());
        chunk.extend(packed);
        self.chunks += 1;
        self.file.write_all(&chunk)
    }

    /// Notes that the file has all that it will have.
    pub(super) fn finish(self) -> io::Result<()> {
        self.file.write_all_at(&header(FINISHED), 0)
    }
}

/// Reads a file of chunks as what they contain.
#[derive(Debug)]
pub(super) struct ChunkReader<R> {
    from: R,
    chunks: u32,
    /// Contents that weren't read yet.
    contents: Vec<u8>,
    at: usize,
    /// Whether the recording was finished.
    pub(super) is_finished: bool,
}

impl<R: Read> ChunkReader<R> {
    /// Begins to read.
    pub(super) fn new(mut from: R) -> Result<ChunkReader<R>, Damage> {
        let mut bytes = [0; HEADER];
        let length = fill(&mut from, &mut bytes)?;
        if length < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
            return Err(Damage::NoRecording);
        }
        let (version, state) = (word(&bytes[8..]), &bytes[12..20]);
        let is_finished = state == FINISHED;
        if length < HEADER || word(&bytes[20..]) != crc32fast::hash(&bytes[..20]) {
            return Err(Damage::Header);
        }
        if version != VERSION {
            return Err(Damage::Version(version, VERSION));
        }
        if !is_finished && state != UNFINISHED {
            return Err(Damage::Header);
        }
        Ok(ChunkReader {
            from,
            chunks: 0,
            contents: Vec::new(),
            at: 0,
            is_finished,
        })
    }

    /// Adds `length` bytes to `buffer`. `false`: the file ends here; or, if it wasn't finished, earlier.
    pub(super) fn read(&mut self, length: usize, buffer: &mut Vec<u8>) -> Result<bool, Damage> {
        let wanted = buffer.len() + length;
        while buffer.len() < wanted {
            if self.at == self.contents.len() && !self.next_chunk()? {
                let is_between = buffer.len() + length == wanted;
                return match is_between || !self.is_finished {
                    true => Ok(false),
                    false => Err(Damage::Cut),
                };
            }
            let rest = &self.contents[self.at..];
            let piece = &rest[..rest.len().min(wanted - buffer.len())];
            buffer.extend(piece);
            self.at += piece.len();
        }
        Ok(true)
    }

    fn next_chunk(&mut self) -> Result<bool, Damage> {
        let mut head = [0; CHUNK_HEADER];
        let length = fill(&mut self.from, &mut head)?;
        if length == 0 {
            return Ok(false);
        }
        if length < CHUNK_HEADER {
            return self.ends_within();
        }
        let sizes = [word(&head), word(&head[4..])];
        let damaged = || Damage::Chunk(self.chunks);
        let [packed, size] = sizes.map(|size| size as usize);
        if size == 0 || size > CHUNK || packed > lz4_flex::block::get_maximum_output_size(CHUNK) {
            return Err(damaged());
        }
        let mut bytes = vec![0; packed];
        if fill(&mut self.from, &mut bytes)? < packed {
            return self.ends_within();
        }
        if checksum(self.chunks, sizes, &bytes) != word(&head[8..]) {
            return Err(damaged());
        }
        self.contents.resize(size, 0);
        match lz4_flex::block::decompress_into(&bytes, &mut self.contents) {
            Ok(done) if done == size => {}
            _ => return Err(damaged()),
        }
        (self.chunks, self.at) = (self.chunks + 1, 0);
        Ok(true)
    }

    /// The file ends within a chunk.
    fn ends_within(&self) -> Result<bool, Damage> {
        match self.is_finished {
            true => Err(Damage::Cut),
            false => Ok(false),
        }
    }
}

fn header(state: [u8; 8]) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..20].copy_from_slice(&state);
    let sum = crc32fast::hash(&bytes[..20]);
    bytes[20..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The checksum of a chunk, which holds only at its place.
fn checksum(index: u32, sizes: [u32; 2], packed: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for number in [index, sizes[0], sizes[1]] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(packed);
    hasher.finalize()
}

fn word(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[..4]);
    u32::from_le_bytes(word)
}

/// Reads up to the end of the buffer, or of the file. Returns how many bytes.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match from.read(&mut buffer[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
