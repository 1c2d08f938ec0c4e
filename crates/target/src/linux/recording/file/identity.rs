//! How a mapped file is known again, on whichever machine.

use crate::core_file;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// In how many bytes of a file its build id is looked for.
const BEGINNING: u64 = 1 << 16;

/// What a file is known by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::linux::recording) enum Identity {
    /// The build id that its linker gave it.
    BuildId(Vec<u8>),
    /// Of files without one: the SHA-256 sum of what they have.
    Sum([u8; 32]),
}

impl Identity {
    /// Reads it from a file.
    ///
    /// # Errors
    /// The file can't be read, or isn't a regular one.
    pub(in crate::linux::recording) fn of(path: &Path) -> io::Result<Identity> {
        // Opening a pipe would wait for whoever writes it.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut file = File::open(path)?;
        let beginning = beginning_of(&file)?;
        if let Some(id) = build_id(&beginning) {
            return Ok(Identity::BuildId(id));
        }
        let mut sum = Sha256::new();
        sum.update(&beginning);
        let mut block = vec![0; 1 << 16];
        loop {
            match file.read(&mut block) {
                Ok(0) => return Ok(Identity::Sum(sum.finalize().into())),
                Ok(length) => sum.update(&block[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Identity {
    /// Whether a file has a build id.
    pub(in crate::linux::recording) fn has_build_id(path: &Path) -> bool {
        let beginning = File::open(path).and_then(|file| beginning_of(&file));
        beginning.is_ok_and(|beginning| build_id(&beginning).is_some())
    }
}

fn beginning_of(file: &File) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    file.take(BEGINNING).read_to_end(&mut beginning)?;
    Ok(beginning)
}

fn build_id(beginning: &[u8]) -> Option<Vec<u8>> {
    core_file::build_id(beginning).filter(|id| !id.is_empty())
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, bytes) = match self {
            Identity::BuildId(id) => ("build id", id.as_slice()),
            Identity::Sum(sum) => ("SHA-256 sum", sum.as_slice()),
        };
        write!(f, "{what} ")?;
        bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
