//! What a recording's file has: a sequence of records.

use super::identity::Identity;
use crate::ThreadId;
use crate::exit_status::ExitStatus;
use crate::linux::recording::journal::Entry;
use dapple_arch::processor::Processor;
use dapple_arch::registers::user::UserRegisters;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// One record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Record {
    /// How the program has begun. The first record, and only that.
    Beginning(Box<Beginning>),
    /// A file that was mapped; what follows names it by its path.
    File(RecordedFile),
    /// What came to a thread from outside.
    Entry(ThreadId, Entry),
    /// All memory that was ever mapped since the record of this kind before: ends by beginnings.
    Mapped(Vec<(u64, u64)>),
    /// Why nothing was recorded any more.
    Gap(String),
    /// How the program has ended. The last record of a finished recording.
    End {
        /// How many entries there are.
        entries: u64,
        status: ExitStatus,
    },
}

/// A program that has been executed, before its first instruction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Beginning {
    pub(crate) program: Bytes,
    /// Those behind the program's name.
    pub(crate) arguments: Vec<Bytes>,
    /// Each as `NAME=value`.
    pub(crate) environment: Vec<Bytes>,
    /// Its working directory.
    pub(crate) folder: Bytes,
    /// Its process.
    pub(crate) process: ThreadId,
    pub(crate) registers: UserRegisters,
    /// What the stack has, from the stack pointer to its end.
    pub(crate) stack: Vec<u8>,
    pub(crate) mappings: Vec<RecordedMapping>,
    pub(crate) processor: Processor,
}

/// A mapping of the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedMapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Whether it is readable, writable and executable.
    pub(crate) rights: [bool; 3],
    pub(crate) offset: u64,
    /// The file's path, or what else the kernel calls it.
    pub(crate) name: String,
}

/// A file that was mapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedFile {
    pub(super) path: Bytes,
    pub(super) identity: Identity,
}

/// Bytes that needn't be text: a path, an argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn of(text: impl AsRef<std::ffi::OsStr>) -> Bytes {
        Bytes(text.as_ref().as_bytes().to_vec())
    }

    pub(crate) fn to_text(&self) -> OsString {
        OsString::from_vec(self.0.clone())
    }

    pub(crate) fn to_path(&self) -> PathBuf {
        self.to_text().into()
    }
}

impl Beginning {
    /// The program that was recorded.
    pub fn program(&self) -> PathBuf {
        self.program.to_path()
    }

    /// Its arguments, without the program's name.
    pub fn arguments(&self) -> Vec<OsString> {
        self.arguments.iter().map(Bytes::to_text).collect()
    }
}

/// Writes a path as bytes.
pub(in crate::linux::recording) fn serialize_path<S: serde::Serializer>(
    path: &Path,
    to: S,
) -> Result<S::Ok, S::Error> {
    Bytes::of(path).serialize(to)
}

/// Reads a path that was written by [`serialize_path`].
pub(in crate::linux::recording) fn deserialize_path<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<PathBuf, D::Error> {
    Ok(Bytes::deserialize(from)?.to_path())
}
