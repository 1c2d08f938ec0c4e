//! Recordings on disk: what [`super::Recorder`] has kept of a program, with how it began, so that it can be run again later and elsewhere.
//!
//! A file is written while the program runs ([`RecordingWriter`]): if the recorder is killed, what was written so far can be replayed. What
//! [`Recording::open`] reads is bounded and checked, because a file may be damaged; but the program runs in a replay, with the memory that the
//! file says: that is to be trusted as the program is.

mod chunks;
pub(super) mod identity;
pub(super) mod records;
mod writer;

pub use records::Beginning;
pub use writer::{RecordingWriter, Unwritten};

use self::chunks::ChunkReader;
use self::identity::Identity;
use self::records::{Record, RecordedFile};
use super::journal::{Again, Entry, Journal, MappedFile};
use crate::exit_status::ExitStatus;
use crate::{Address, ThreadId, signals};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The most entries that a file may have.
pub const MOST_ENTRIES: u64 = 16 << 20;
/// How much a file may have, in bytes, before it is compressed.
pub const MOST_CONTENTS: u64 = 1 << 30;
/// The system call that maps a file.
const MMAP: u64 = libc::SYS_mmap as u64;
/// The size of a record's size.
const SIZE: usize = 4;
/// Ids of recorded threads are shown above this number: the kernel has at most 2^22, so that none is another process's.
const THREADS_FROM: i32 = 10_000_000;

/// A recording that was read.
#[derive(Debug)]
pub struct Recording {
    pub(super) beginning: Beginning,
    files: Vec<RecordedFile>,
    entries: Vec<(ThreadId, Entry)>,
    mapped: Vec<(u64, u64)>,
    gap: Option<String>,
    status: Option<ExitStatus>,
}

/// Why a file isn't read.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It can't be read.
    #[error("it can't be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It is something else.
    #[error("it is no recording of Dapple")]
    NoRecording,
    /// Its first bytes were changed.
    #[error("it is damaged: its header has another checksum")]
    Header,
    /// Another version of Dapple has written it: the file's version, and ours.
    #[error("it has version {0} of the format, and this Dapple reads version {1}")]
    Version(u32, u32),
    /// A chunk was changed.
    #[error("it is damaged: chunk {0} has another checksum or size")]
    Chunk(u32),
    /// It is shorter than it was.
    #[error("it is damaged: its end is missing")]
    Cut,
    /// It has something after its end.
    #[error("it is damaged: something follows its end")]
    Longer,
    /// It has more than may be.
    #[error("it has too much: at most {MOST_ENTRIES} events, and {MOST_CONTENTS} bytes")]
    TooMuch,
    /// What it has makes no sense.
    #[error("it is damaged: {0}")]
    Wrong(String),
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// Why it can't be read or is no recording.
    pub fn open(path: &Path) -> Result<Recording, Damage> {
        // Opening a pipe would wait for whoever writes it.
        let mut options = File::options();
        let options = options.read(true).custom_flags(libc::O_NONBLOCK);
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(Damage::NoRecording);
        }
        Recording::read(BufReader::new(file))
    }

    /// Reads what a file has.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn read(from: impl Read) -> Result<Recording, Damage> {
        let mut reader = ChunkReader::new(from)?;
        let mut contents = 0;
        let first = next_record(&mut reader, &mut contents)?;
        let Some(Record::Beginning(beginning)) = first else {
            return Err(Damage::Wrong("it has no beginning".into()));
        };
        let mut recording = Recording {
            beginning: *beginning,
            files: Vec::new(),
            entries: Vec::new(),
            mapped: Vec::new(),
            gap: None,
            status: None,
        };
        while let Some(record) = next_record(&mut reader, &mut contents)? {
            if recording.status.is_some() {
                return Err(Damage::Longer);
            }
            recording.add(record)?;
        }
        if reader.is_finished && recording.status.is_none() {
            return Err(Damage::Cut);
        }
        recording.drop_unplaced_end();
        Ok(recording)
    }

    fn add(&mut self, record: Record) -> Result<(), Damage> {
        let wrong = |what: &str| Err(Damage::Wrong(what.to_owned()));
        match record {
            Record::Beginning(_) => return wrong("it begins twice"),
            Record::File(file) => self.files.push(file),
            Record::Entry(thread, entry) => {
                if self.entries.len() as u64 >= MOST_ENTRIES {
                    return Err(Damage::TooMuch);
                }
                check(thread, &entry).map_err(Damage::Wrong)?;
                self.entries.push((thread, entry));
            }
            Record::Mapped(ranges) => {
                if ranges.iter().any(|(start, end)| start > end) {
                    return wrong("a mapping ends before it begins");
                }
                self.mapped.extend(ranges);
            }
            Record::Gap(reason) => {
                self.gap.get_or_insert(reason);
            }
            Record::End { entries, status } => {
                if entries != self.entries.len() as u64 {
                    return wrong("it has another number of events than it says");
                }
                self.status = Some(status);
            }
        }
        Ok(())
    }

    /// Where a process is killed isn't known: what was recorded ends before.
    fn drop_unplaced_end(&mut self) {
        if let Some((_, Entry::End(ExitStatus::Signal(libc::SIGKILL)))) = self.entries.last() {
            self.entries.pop();
        }
    }

    /// How the program has begun.
    pub fn beginning(&self) -> &Beginning {
        &self.beginning
    }

    /// How many things came from outside.
    pub fn events(&self) -> usize {
        self.entries.len()
    }

    /// How the program has ended, or why the recording does, as a sentence without a subject: what follows "the end of the recording:".
    pub fn end(&self) -> String {
        match (&self.gap, self.status) {
            (Some(gap), _) => format!("nothing more was recorded: {gap}"),
            (None, Some(ExitStatus::Code(code))) => format!("the program exited with {code}"),
            (None, Some(ExitStatus::Signal(signal))) => {
                let name = signals::name(signal);
                format!("the program was killed by {name}")
            }
            (None, None) => "nothing more was recorded: the recorder was ended".into(),
        }
    }

    /// Checks that all files that were mapped are the same here.
    ///
    /// # Errors
    /// The end of a sentence that names a file, and says what it has and had.
    pub fn check_files(&self) -> Result<(), String> {
        for file in &self.files {
            let path = file.path.to_path();
            let shown = path.display();
            let now = Identity::of(&path);
            let now = now.map_err(|error| format!("{shown} can't be read: {error}"))?;
            if now != file.identity {
                let then = &file.identity;
                return Err(format!(
                    "{shown} has changed: it has {now}, and had {then} when it was recorded"
                ));
            }
        }
        Ok(())
    }

    /// The journal, for a process that stands for the recorded one. Takes the entries.
    ///
    /// # Errors
    /// The end of a sentence that says which file can't be read.
    pub(super) fn take_journal(&mut self, process: ThreadId) -> Result<Journal, String> {
        let recorded = self.beginning.process;
        let shown = |thread: ThreadId| match thread == recorded {
            true => process,
            false => ThreadId(THREADS_FROM.saturating_add(thread.0)),
        };
        let journal = Journal::default();
        for (thread, mut entry) in std::mem::take(&mut self.entries) {
            if let Entry::Call(call) = &mut entry {
                call.thread = call.thread.map(shown);
                if let Again::Map(file) = &mut call.again {
                    let path = file.path.clone();
                    if !self.files.iter().any(|known| known.path.to_path() == path) {
                        return Err(format!("{} isn't known by anything", path.display()));
                    }
                    *file = MappedFile::of(path)?;
                }
            }
            journal.note(shown(thread), entry);
        }
        for (start, end) in &self.mapped {
            journal.maps(Address(*start)..Address(*end));
        }
        Ok(journal)
    }

    /// The path of the program.
    pub fn program(&self) -> PathBuf {
        self.beginning.program()
    }
}

/// Reads a record. `None`: the file ends here.
fn next_record(
    reader: &mut ChunkReader<impl Read>,
    contents: &mut u64,
) -> Result<Option<Record>, Damage> {
    let mut size = Vec::new();
    if !reader.read(SIZE, &mut size)? {
        return Ok(None);
    }
    let size = { size.first_chunk::<SIZE>() }.map_or(0, |size| u32::from_le_bytes(*size));
    *contents += u64::from(size);
    if *contents > MOST_CONTENTS {
        return Err(Damage::TooMuch);
    }
    let mut bytes = Vec::new();
    if !reader.read(size as usize, &mut bytes)? {
        return match reader.is_finished {
            true => Err(Damage::Cut),
            false => Ok(None),
        };
    }
    let record = postcard::take_from_bytes(&bytes);
    let wrong = |what: &str| Damage::Wrong(format!("a record {what}"));
    match record {
        Ok((record, [])) => Ok(Some(record)),
        Ok(_) => Err(wrong("is longer than what it has")),
        Err(error) => Err(wrong(&format!("can't be read ({error})"))),
    }
}

/// Checks that an entry is one that a recorder makes.
fn check(thread: ThreadId, entry: &Entry) -> Result<(), String> {
    let is_id = |thread: &ThreadId| (1..THREADS_FROM).contains(&thread.0);
    if !is_id(&thread) {
        return Err(format!("a thread has the id {thread}"));
    }
    match entry {
        Entry::Call(call) => {
            if call.thread.is_some_and(|made| !is_id(&made)) {
                return Err("a new thread has an impossible id".into());
            }
            match &call.again {
                Again::All if !call.changes_only_the_copy() => {
                    Err(format!("system call {} would be made again", call.number))
                }
                Again::Map(_) | Again::Contents if call.number != MMAP => {
                    Err(format!("system call {} would map a file", call.number))
                }
                Again::Map(file) if !file.path.is_absolute() => {
                    Err("a file that is mapped has no absolute path".into())
                }
                _ => Ok(()),
            }
        }
        Entry::Signal(signal) if !(1..=64).contains(&signal.whole.number()) => {
            Err(format!("there is no signal {}", signal.whole.number()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
