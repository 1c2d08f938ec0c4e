//! A file that memory is read from: a core file, or a program or library that supplies memory that a core file leaves out.
//!
//! If the file is overwritten in place, by the next crash or by a rebuild, its bytes are no longer those of the process. So each read
//! checks whether the file has changed, which costs a fraction of the read.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The message for a file that was modified.
pub const CHANGED: &str =
    "changed on disk since it was loaded, so no memory is read from it any more";

/// A file that memory is read from.
#[derive(Debug)]
pub struct MemoryFile {
    pub(super) file: File,
    pub(super) path: PathBuf,
    stamp: Stamp,
    changed: AtomicBool,
}

/// The length, and the modification time in seconds and nanoseconds.
type Stamp = (u64, i64, i64);

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

impl MemoryFile {
    /// Opens a file, and remembers its length and modification time.
    pub fn open(path: &Path) -> io::Result<MemoryFile> {
        let file = File::open(path)?;
        let stamp = stamp(&file.metadata()?);
        Ok(MemoryFile {
            file,
            path: path.to_owned(),
            stamp,
            changed: AtomicBool::new(false),
        })
    }

    /// Whether a read has found the file modified.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Reads as much as the file has, at most `room` bytes, and returns the count; 0 if the file was modified.
    pub(super) fn read_at(&self, offset: u64, room: u64, buffer: &mut [u8]) -> usize {
        let length = usize::try_from(room)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let mut done = 0;
        while done < length {
            let at = offset.saturating_add(done as u64);
            match self.file.read_at(&mut buffer[done..length], at) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        // The check follows the read: if the file is unchanged now, it was unchanged during the read.
        let now = self.file.metadata();
        if now.is_ok_and(|now| stamp(&now) != self.stamp) {
            self.changed.store(true, Ordering::Relaxed);
        }
        match self.has_changed() {
            false => done,
            true => 0,
        }
    }
}
