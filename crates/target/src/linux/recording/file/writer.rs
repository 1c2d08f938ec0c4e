//! Writes a recording's file while the program runs.

use super::chunks::{CHUNK, ChunkWriter};
use super::identity::Identity;
use super::records::{Beginning, Bytes, Record, RecordedFile};
use super::{MOST_CONTENTS, MOST_ENTRIES};
use crate::exit_status::ExitStatus;
use crate::linux::recording::journal::{Again, Drained, Entry, Journal, MappedFile};
use rustc_hash::FxHashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How much of the contents is kept for the end.
const FOR_THE_END: u64 = 1 << 16;
/// How long what is recorded may wait before it is written.
const LATEST: Duration = Duration::from_millis(200);

/// Writes a recording.
#[derive(Debug)]
pub struct RecordingWriter {
    chunks: ChunkWriter,
    /// What is to be written.
    pending: Vec<u8>,
    contents: u64,
    entries: u64,
    files: FxHashSet<PathBuf>,
    written: Instant,
    /// Nothing more is taken from the journal.
    is_full: bool,
}

/// Why a recording can't be written any further.
#[derive(Debug)]
pub enum Unwritten {
    /// What the file would have isn't recorded any more. The end of a sentence.
    Ends(String),
    /// The file can't be written.
    Failed(io::Error),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Unwritten {
        Unwritten::Failed(error)
    }
}

impl RecordingWriter {
    /// Begins an empty file.
    ///
    /// # Errors
    /// It can't be written, or a file that the program maps can't be read.
    pub fn new(file: File, beginning: &Beginning) -> io::Result<RecordingWriter> {
        let mut writer = RecordingWriter {
            chunks: ChunkWriter::new(file)?,
            pending: Vec::new(),
            contents: 0,
            entries: 0,
            files: FxHashSet::default(),
            written: Instant::now(),
            is_full: false,
        };
        writer.add(&Record::Beginning(Box::new(beginning.clone())))?;
        for mapping in &beginning.mappings {
            let path = Path::new(&mapping.name);
            if path.is_absolute() && !writer.files.contains(path) {
                writer.add_file(path)?;
            }
        }
        writer.flush()?;
        Ok(writer)
    }

    /// Takes what was recorded from a journal, and writes some of it.
    ///
    /// # Errors
    /// The recording has to end, or the file can't be written. Nothing more is taken after that.
    pub fn take(&mut self, journal: &Journal) -> Result<(), Unwritten> {
        let drained = journal.drain();
        if self.is_full {
            return Ok(());
        }
        let added = self.add_drained(drained);
        self.is_full = added.is_err();
        added
    }

    fn add_drained(&mut self, drained: Drained) -> Result<(), Unwritten> {
        let Drained { entries, mapped } = drained;
        if !mapped.is_empty() {
            self.add(&Record::Mapped(mapped))?;
        }
        for (thread, entry) in entries {
            self.add_entry(thread, entry)?;
        }
        if !self.pending.is_empty() && self.written.elapsed() > LATEST {
            self.flush()?;
        }
        Ok(())
    }

    fn add_entry(
        &mut self,
        thread: crate::ThreadId,
        entry: std::sync::Arc<Entry>,
    ) -> Result<(), Unwritten> {
        if let Entry::Call(call) = entry.as_ref()
            && let Again::Map(file) = &call.again
        {
            self.add_mapped(file)?;
        }
        let entry = std::sync::Arc::into_inner(entry);
        let entry = entry.ok_or_else(|| Unwritten::Ends("it is used elsewhere".into()))?;
        let bytes = encoded(&Record::Entry(thread, entry))?;
        let contents = self.contents + bytes.len() as u64 + FOR_THE_END;
        if contents > MOST_CONTENTS || self.entries >= MOST_ENTRIES {
            return Err(Unwritten::Ends("its file would be too large".into()));
        }
        self.entries += 1;
        Ok(self.append(&bytes)?)
    }

    /// A file was mapped.
    fn add_mapped(&mut self, file: &MappedFile) -> Result<(), Unwritten> {
        let ends = |what: String| Unwritten::Ends(format!("{}{what}", file.path.display()));
        let now = MappedFile::of(file.path.clone()).map_err(Unwritten::Ends)?;
        if now != *file {
            return Err(ends(", which it has mapped, has changed".into()));
        }
        if !self.files.contains(&file.path) {
            let added = self.add_file(&file.path);
            added.map_err(|error| ends(format!(", which it has mapped: {error}")))?;
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path) -> io::Result<()> {
        let identity = Identity::of(path)?;
        self.files.insert(path.to_owned());
        self.add(&Record::File(RecordedFile {
            path: Bytes::of(path),
            identity,
        }))
    }

    fn add(&mut self, record: &Record) -> io::Result<()> {
        let bytes = encoded(record)?;
        self.append(&bytes)
    }

    fn append(&mut self, record: &[u8]) -> io::Result<()> {
        self.contents += record.len() as u64;
        self.pending.extend((record.len() as u32).to_le_bytes());
        self.pending.extend(record);
        let whole = self.pending.len() / CHUNK * CHUNK;
        for chunk in self.pending[..whole].chunks(CHUNK) {
            self.chunks.write(chunk)?;
        }
        self.pending.drain(..whole);
        Ok(())
    }

    /// Writes all that was taken.
    fn flush(&mut self) -> io::Result<()> {
        self.written = Instant::now();
        if !self.pending.is_empty() {
            self.chunks.write(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }

    /// Writes the rest. `gap`: why nothing was recorded any more, as the end of a sentence.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn finish(mut self, gap: Option<String>, status: ExitStatus) -> io::Result<u64> {
        if let Some(gap) = gap {
            self.add(&Record::Gap(gap))?;
        }
        let entries = self.entries;
        self.add(&Record::End { entries, status })?;
        self.flush()?;
        self.chunks.finish()?;
        Ok(entries)
    }
}

fn encoded(record: &Record) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(record).map_err(io::Error::other)
}
