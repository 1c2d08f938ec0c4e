//! Where the project's own definition came from: which version of the official schema, and how a file compares with that.
//!
//! The record is the file `UPSTREAM`, read at compile time. The official schema itself is not part of the project, so a file is compared
//! with it by checksum, and with the project's own definition (which has its structure) by [`diff`](crate::diff). A schema doesn't name
//! its version: whether a file is older or newer is judged by which of the two has more.

use crate::diff::{Difference, Extent, diff};
use crate::{Model, PROTOCOL, SchemaError};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

const RECORD: &str = include_str!("../UPSTREAM");

/// The record of the official schema that the project's own definition was written from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upstream {
    /// The web page of the official schema.
    pub source: &'static str,
    /// The address of the newest official schema as a file.
    pub download: &'static str,
    /// The protocol's version, such as `1.71`.
    pub version: &'static str,
    /// When that version was published, as far as it is known.
    pub published: &'static str,
    /// When the file was taken.
    pub taken: &'static str,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: &'static str,
    /// How the project's own definition differs from the file.
    pub differs: &'static str,
    /// The SHA-256 of the project's own definition.
    pub own_sha256: &'static str,
}

/// What a file is, next to the recorded official schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The recorded file, to the byte.
    Same,
    /// The project's own definition, to the byte.
    Own,
    /// Another file. The structural differences are those of the file (first) from the project's own definition (second).
    Other {
        /// What the file has more or less.
        age: Age,
        /// The structural differences; empty if only texts, order or layout differ.
        differences: Vec<Difference>,
    },
}

/// What the differences tell about a file's age. A guess: schemas have no version in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// The structure is the same.
    Equal,
    /// It only has more, as a later version would.
    Newer,
    /// It only has less, as an earlier version would.
    Older,
    /// It has more and less, or something is defined differently.
    Unclear,
}

impl Upstream {
    /// The record of this build.
    pub fn recorded() -> Upstream {
        Upstream {
            source: entry("source"),
            download: entry("download"),
            version: entry("version"),
            published: entry("published"),
            taken: entry("taken"),
            sha256: entry("sha256"),
            differs: entry("differs"),
            own_sha256: entry("protocol.json"),
        }
    }

    /// Compares a definition file with the recorded one.
    ///
    /// # Errors
    /// The file is neither, and can't be read as a definition.
    pub fn compare(&self, file: &str) -> Result<Verdict, SchemaError> {
        if sha256(file.as_bytes()) == self.sha256 {
            return Ok(Verdict::Same);
        }
        if file == PROTOCOL {
            return Ok(Verdict::Own);
        }
        let differences = diff(&Model::parse(file)?, &Model::protocol()?);
        let has = |extent| differences.iter().any(|one| one.extent() == extent);
        let age = match (has(Extent::More), has(Extent::Less), has(Extent::Other)) {
            (false, false, false) => Age::Equal,
            (true, false, false) => Age::Newer,
            (false, true, false) => Age::Older,
            _ => Age::Unclear,
        };
        Ok(Verdict::Other { age, differences })
    }
}

/// The value of an entry; empty if there is none, which this crate's tests rule out.
fn entry(name: &str) -> &'static str {
    RECORD
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(key, _)| *key == name)
        .map_or("", |(_, value)| value.trim())
}

/// The SHA-256 of a file, in hexadecimal digits.
pub fn sha256(file: &[u8]) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(file) {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
