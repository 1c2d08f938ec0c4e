//! The bytes of a file: mapped, or owned if they are not from a file.
//!
//! The mapping is private and read-only. A linker that writes a new file and renames it leaves the mapped file intact.
//! Truncating or writing the file in place is handled here: [`crate::bus_errors`] keeps the process alive when pages are
//! lost, and [`Bytes::check_for_change`] compares the file with the one that was mapped.

use crate::Error;
use crate::bus_errors::Guard;
use memmap2::Mmap;
use std::fs::{File, Metadata};
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that do not move in memory.
pub(crate) enum Bytes {
    Mapped(Box<Mapped>),
    Owned(Box<[u8]>),
}

pub(crate) struct Mapped {
    /// Declared before `map`, so it is dropped first: a range is no longer guarded when it is unmapped.
    guard: Guard,
    map: Mmap,
    path: PathBuf,
    stamp: Stamp,
    /// Whether the file was seen to differ from the one that was mapped.
    rewritten: AtomicBool,
}

/// Identifies a file and its last change: device, inode, and modification time in seconds and nanoseconds.
pub(crate) type Stamp = [u64; 4];

fn stamp_of(metadata: &Metadata) -> Stamp {
    [
        metadata.dev(),
        metadata.ino(),
        metadata.mtime() as u64,
        metadata.mtime_nsec() as u64,
    ]
}

impl Bytes {
    /// Maps a regular file.
    pub(crate) fn open(path: &Path) -> Result<Bytes, Error> {
        let open_error = |error: std::io::Error| Error::Open {
            path: path.to_owned(),
            reason: plain_reason(&error),
        };
        // Check the type before opening: a path from debug information may be a pipe, and opening a pipe blocks.
        let metadata = std::fs::metadata(path).map_err(open_error)?;
        let unsupported = |reason: &str| {
            Err(Error::Unsupported {
                path: path.to_owned(),
                reason: reason.to_owned(),
            })
        };
        if metadata.is_dir() {
            return unsupported("is a directory, not a program");
        }
        if !metadata.is_file() {
            return unsupported("is not a regular file");
        }
        if metadata.len() == 0 {
            return unsupported("is empty");
        }
        let file = File::open(path).map_err(open_error)?;
        // SAFETY: the map is read-only and private and lives as long as `Bytes`. If another process truncates or
        // overwrites the file in place, the bytes change under us: every reader takes them for untrusted input, lost
        // pages are replaced by zeros (`guard`), and `check_for_change` reports that the file is no longer the one that was mapped.
        let map = unsafe { Mmap::map(&file) }.map_err(open_error)?;
        let metadata = file.metadata().map_err(open_error)?;
        Ok(Bytes::Mapped(Box::new(Mapped {
            guard: Guard::new(&map),
            map,
            path: path.to_owned(),
            stamp: stamp_of(&metadata),
            rewritten: AtomicBool::new(false),
        })))
    }

    /// The stamp of the mapped file; zeros for owned bytes.
    pub(crate) fn stamp(&self) -> Stamp {
        match self {
            Bytes::Mapped(mapped) => mapped.stamp,
            Bytes::Owned(_) => [0; 4],
        }
    }

    /// Whether a change of the file has been noticed so far. Does not access the disk.
    pub(crate) fn have_changed(&self) -> bool {
        match self {
            Bytes::Mapped(mapped) => {
                mapped.guard.has_lost_pages() || mapped.rewritten.load(Ordering::Relaxed)
            }
            Bytes::Owned(_) => false,
        }
    }

    /// Whether the file's size or modification time shows that it was written to since it was mapped, or whether it has
    /// lost pages. If the path now names another file or none, that is no change: the mapped file stays as it was.
    ///
    /// `is_same` is called if only the time differs, as after `touch`: it says whether the contents are still the same.
    pub(crate) fn check_for_change(&self, is_same: impl FnOnce() -> bool) -> bool {
        let Bytes::Mapped(mapped) = self else {
            return false;
        };
        if self.have_changed() {
            return true;
        }
        let Ok(metadata) = std::fs::metadata(&mapped.path) else {
            return false;
        };
        let stamp = stamp_of(&metadata);
        if stamp[..2] != mapped.stamp[..2] || stamp == mapped.stamp {
            return false;
        }
        let changed = metadata.len() != mapped.map.len() as u64 || !is_same();
        mapped.rewritten.store(changed, Ordering::Relaxed);
        changed
    }
}

/// The reason in an I/O error, for a message: without Rust's "(os error 2)".
fn plain_reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            match text.find(" (os error") {
                Some(end) => text[..end].to_owned(),
                None => text,
            }
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(mapped) => &mapped.map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}
