//! The bytes of a file: mapped, or owned where they came from elsewhere.
//!
//! The one place of this crate with `unsafe`. The mapping is private and read-only; a program rebuilt
//! by a linker that replaces the file (as all common ones do) leaves the mapped old one intact.

use crate::Error;
use memmap2::Mmap;
use std::fs::File;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bytes that stay put.
pub(crate) enum Bytes {
    Mapped(Mmap, Stamp),
    Owned(Box<[u8]>),
}

/// Which file it was, and when it was last changed: device, inode, seconds, nanoseconds.
pub(crate) type Stamp = [u64; 4];

impl Bytes {
    /// Maps a regular file.
    pub(crate) fn open(path: &Path) -> Result<Bytes, Error> {
        let open_error = |error: std::io::Error| Error::Open {
            path: path.to_owned(),
            reason: plain_reason(&error),
        };
        // Asked before opening: a path from debug information may lead to a pipe, and opening that would wait.
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
        // SAFETY: the map is read-only and private and lives as long as `Bytes`. Another process could still
        // truncate or overwrite the file in place, which no debugger can exclude; linkers write a new file instead.
        let map = unsafe { Mmap::map(&file) }.map_err(open_error)?;
        let metadata = file.metadata().map_err(open_error)?;
        let stamp = [
            metadata.dev(),
            metadata.ino(),
            metadata.mtime() as u64,
            metadata.mtime_nsec() as u64,
        ];
        Ok(Bytes::Mapped(map, stamp))
    }

    /// Of the file that was mapped; zeros for what was none.
    pub(crate) fn stamp(&self) -> Stamp {
        match self {
            Bytes::Mapped(_, stamp) => *stamp,
            Bytes::Owned(_) => [0; 4],
        }
    }
}

/// The system's words for an error, without Rust's "(os error 2)".
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
            Bytes::Mapped(map, _) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}
