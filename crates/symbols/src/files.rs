//! The files a module is made of: the one that is loaded and, where the distribution keeps debug information
//! apart, the one that has it. Hands out sections' bytes, inflated where they are compressed.

use crate::Error;
use crate::companions::{Companion, Outcome, Search};
use crate::elf::{Elf, Section};
use crate::indexing::IndexCache;
use crate::mapping::Bytes;
use crate::mini_debug_info;
use object::elf;
use object::read::{CompressedData, CompressionFormat};
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One file with its headers read.
pub(crate) struct ElfFile {
    pub bytes: Bytes,
    pub elf: Elf,
    /// By section index: the inflated bytes of compressed ones, once they were asked for.
    inflated: Vec<OnceLock<Vec<u8>>>,
    /// The bytes of sections that share a name, one behind the other, once they were asked for.
    joined: boxcar::Vec<(&'static str, Vec<u8>)>,
}

impl ElfFile {
    pub fn new(bytes: Bytes, elf: Elf) -> ElfFile {
        let inflated = elf.sections.iter().map(|_| OnceLock::new()).collect();
        ElfFile {
            bytes,
            elf,
            inflated,
            joined: boxcar::Vec::new(),
        }
    }

    /// Opens a file that goes with another.
    pub fn open_companion(path: &Path) -> Result<ElfFile, Outcome> {
        if !path.exists() {
            return Err(Outcome::Missing);
        }
        let unusable = |error: Error| {
            let text = error.to_string();
            let reason = text.strip_prefix(&format!("{}: ", path.display()));
            Outcome::Unusable(reason.unwrap_or(&text).to_owned())
        };
        let bytes = Bytes::open(path).map_err(unusable)?;
        let elf = Elf::parse_companion(path, &bytes).map_err(unusable)?;
        Ok(ElfFile::new(bytes, elf))
    }

    fn find(&self, name: &str) -> Option<(usize, &Section)> {
        self.elf
            .sections
            .iter()
            .enumerate()
            .find(|(_, section)| is_called(section, name))
    }

    /// The size of a section as it is in the file, in bytes; 0 where it has none.
    pub fn size_of(&self, name: &str) -> u64 {
        self.find(name)
            .map_or(0, |(_, section)| section.file.len() as u64)
    }

    /// Whether a section of that name has bytes in this file.
    pub fn has(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|(_, section)| !section.file.is_empty())
    }

    pub fn data(&self, name: &'static str) -> Result<&[u8], Error> {
        match self.find(name) {
            Some((index, section)) => self.section_data(name, index, section),
            None => Ok(&[]),
        }
    }

    /// As [`ElfFile::data`], of all sections of that name: an object file has one for each of its type units.
    fn joined_data(&self, name: &'static str) -> Result<&[u8], Error> {
        let sections = self.elf.sections.iter().enumerate();
        let same: Vec<_> = sections
            .filter(|(_, section)| is_called(section, name))
            .collect();
        let [_, _, ..] = same[..] else {
            return self.data(name);
        };
        if let Some((_, (_, known))) = self.joined.iter().find(|(_, (of, _))| *of == name) {
            return Ok(known);
        }
        let mut joined = Vec::new();
        let mut left = self.bytes.len();
        for (index, section) in same {
            // Sections of a broken file may all be the same bytes.
            let Some(rest) = left.checked_sub(section.file.len()) else {
                break;
            };
            left = rest;
            joined.extend_from_slice(self.section_data(name, index, section)?);
        }
        let index = self.joined.push((name, joined));
        Ok(self.joined.get(index).map_or(&[], |(_, data)| data))
    }

    fn section_data(
        &self,
        name: &'static str,
        index: usize,
        section: &Section,
    ) -> Result<&[u8], Error> {
        let raw = self.bytes.get(section.file.clone()).unwrap_or(&[]);
        let format = match section.flags & elf::SHF_COMPRESSED.0 {
            0 if !section.name.starts_with(OLD_PREFIX) => return Ok(raw),
            0 => Compressed::with_old_header,
            _ => Compressed::with_header,
        };
        if let Some(done) = self.inflated[index].get() {
            return Ok(done);
        }
        let inflated = format(raw)
            .and_then(Compressed::inflate)
            .map_err(|reason| Error::Malformed {
                path: self.elf.path.clone(),
                section: name,
                offset: 0,
                reason,
            })?;
        Ok(self.inflated[index].get_or_init(|| inflated))
    }
}

/// The loaded file and the one with its debug information, with the problems met in either.
pub(crate) struct Files {
    pub main: ElfFile,
    pub debug: Option<ElfFile>,
    /// The file inside the loaded one, once it was asked for.
    mini: OnceLock<Option<ElfFile>>,
    /// Files opened later, when something in them was needed.
    opened: boxcar::Vec<ElfFile>,
    searches: Mutex<Vec<Search>>,
    warnings: Mutex<Warnings>,
    /// Where the module's index is kept, if it is.
    pub index_cache: OnceLock<Arc<IndexCache>>,
}

/// Problems met, each once.
#[derive(Default)]
struct Warnings {
    all: Vec<Error>,
    texts: FxHashSet<String>,
}

impl Warnings {
    fn add(&mut self, error: Error) {
        if self.all.len() < WARNINGS_LIMIT && self.texts.insert(error.to_string()) {
            self.all.push(error);
        }
    }
}

/// More than that many problems are not worth keeping.
const WARNINGS_LIMIT: usize = 200;

impl Files {
    pub fn new(main: ElfFile, debug: Option<ElfFile>, searches: Vec<Search>) -> Files {
        let mut warnings = Warnings::default();
        for problem in &main.elf.problems {
            warnings.add(problem.clone());
        }
        Files {
            main,
            debug,
            mini: OnceLock::new(),
            opened: boxcar::Vec::new(),
            searches: Mutex::new(searches),
            warnings: Mutex::new(warnings),
            index_cache: OnceLock::new(),
        }
    }

    /// The file that has DWARF, or else the loaded one.
    pub fn with_dwarf(&self) -> &ElfFile {
        match &self.debug {
            Some(debug) if !self.main.has(".debug_info") => debug,
            _ => &self.main,
        }
    }

    /// The bytes of a debug section; empty, with a warning, where they can't be had.
    pub fn debug_section(&self, name: &'static str) -> &[u8] {
        let file = self.with_dwarf();
        match file.data(name) {
            Ok(data) => data,
            Err(error) => {
                self.warn(error);
                &[]
            }
        }
    }

    /// The file with symbols that is compressed inside the loaded one.
    pub fn mini(&self) -> Option<&ElfFile> {
        let read = || {
            let (found, outcome) = match mini_debug_info::read(&self.main) {
                Ok(None) => return None,
                Ok(found) => (found, Outcome::Found),
                Err(reason) => {
                    self.warn(Error::Malformed {
                        path: self.main.elf.path.clone(),
                        section: mini_debug_info::SECTION,
                        offset: 0,
                        reason: reason.clone(),
                    });
                    (None, Outcome::Unusable(reason))
                }
            };
            self.note(Companion::MiniDebugInfo, &self.main.elf.path, outcome);
            found
        };
        self.mini.get_or_init(read).as_ref()
    }

    /// The bytes of a loaded section.
    pub fn loaded_section(&self, name: &'static str) -> Option<(&Section, &[u8])> {
        let (_, section) = self.main.find(name)?;
        Some((
            section,
            self.main.bytes.get(section.file.clone()).unwrap_or(&[]),
        ))
    }

    /// Opens another file, which is kept as long as these.
    pub fn open(&self, path: &Path) -> Result<&ElfFile, Outcome> {
        let file = ElfFile::open_companion(path)?;
        let index = self.opened.push(file);
        let unusable = || Outcome::Unusable("too many files".to_owned());
        self.opened.get(index).ok_or_else(unusable)
    }

    /// The bytes of all sections of a name in one of those files; empty, with a warning, where they can't be had.
    pub fn companion_section<'f>(&self, file: &'f ElfFile, name: &'static str) -> &'f [u8] {
        match file.joined_data(name) {
            Ok(data) => data,
            Err(error) => {
                self.warn(error);
                &[]
            }
        }
    }

    /// Notes a place that was looked at.
    pub fn note(&self, what: Companion, path: &Path, outcome: Outcome) {
        let path = path.to_owned();
        let mut searches = self.searches.lock().unwrap_or_else(PoisonError::into_inner);
        searches.push(Search {
            what,
            path,
            outcome,
        });
    }

    /// Warns of files that were passed over.
    pub fn warn_of_mismatches(&self) {
        for search in self.searches() {
            if let Outcome::Mismatched(reason) = search.outcome {
                let path = search.path;
                let reason = format!("is passed over as debug information: {reason}");
                self.warn(Error::Unsupported { path, reason });
            }
        }
    }

    pub fn searches(&self) -> Vec<Search> {
        let searches = self.searches.lock();
        searches.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a problem, once.
    pub fn warn(&self, error: Error) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.add(error);
    }

    pub fn warning_count(&self) -> usize {
        let warnings = self.warnings.lock();
        warnings.unwrap_or_else(PoisonError::into_inner).all.len()
    }

    pub fn warnings(&self) -> Vec<Error> {
        self.warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .all
            .clone()
    }

    /// An error about the file that has DWARF.
    pub fn malformed(
        &self,
        section: &'static str,
        offset: u64,
        reason: impl Into<String>,
    ) -> Error {
        let file = match section {
            ".eh_frame" | ".eh_frame_hdr" => &self.main,
            _ => self.with_dwarf(),
        };
        Error::Malformed {
            path: file.elf.path.clone(),
            section,
            offset,
            reason: reason.into(),
        }
    }
}

/// What the names of sections compressed in the old way start with.
const OLD_PREFIX: &str = ".zdebug_";

/// Whether a section has that name, or the one for its old compressed form: `.zdebug_info` is `.debug_info`.
fn is_called(section: &Section, name: &str) -> bool {
    section.name == name
        || section
            .name
            .strip_prefix(OLD_PREFIX)
            .is_some_and(|rest| name.strip_prefix(".debug_") == Some(rest))
}

/// A compressed section with what its header says.
struct Compressed<'a> {
    format: CompressionFormat,
    data: &'a [u8],
    size: u64,
    /// How many bytes one can become at best.
    ratio: u64,
}

/// Deflate can't do better than 1032 to 1.
const ZLIB_RATIO: u64 = 1040;
/// A block of zstd has 128 KiB at most, and takes four bytes at least if they are all the same.
const ZSTD_RATIO: u64 = 33_000;

impl<'a> Compressed<'a> {
    /// One that starts with an `Elf64_Chdr`.
    fn with_header(raw: &'a [u8]) -> Result<Compressed<'a>, String> {
        let (Some(header), Some(data)) = (raw.get(..24), raw.get(24..)) else {
            return Err("the compressed section ends in its header".to_owned());
        };
        let word = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let size = u64::from(word(8)) | u64::from(word(12)) << 32;
        let (format, ratio) = match word(0) {
            kind if kind == elf::ELFCOMPRESS_ZLIB.0 => (CompressionFormat::Zlib, ZLIB_RATIO),
            kind if kind == elf::ELFCOMPRESS_ZSTD.0 => (CompressionFormat::Zstandard, ZSTD_RATIO),
            other => return Err(format!("compression type {other} is not known")),
        };
        Ok(Compressed {
            format,
            data,
            size,
            ratio,
        })
    }

    /// One that starts with `ZLIB` and its size, big-endian: GNU's form before there was a standard.
    fn with_old_header(raw: &'a [u8]) -> Result<Compressed<'a>, String> {
        let data = raw.strip_prefix(b"ZLIB");
        let parts = data.and_then(|data| data.split_first_chunk::<8>());
        let Some((size, data)) = parts else {
            return Err("the compressed section does not start with `ZLIB` and a size".to_owned());
        };
        Ok(Compressed {
            format: CompressionFormat::Zlib,
            data,
            size: u64::from_be_bytes(*size),
            ratio: ZLIB_RATIO,
        })
    }

    /// Its contents. The claimed size is believed as far as the data can bear it out.
    fn inflate(self) -> Result<Vec<u8>, String> {
        let most = (self.data.len() as u64).saturating_mul(self.ratio);
        if self.size > most.saturating_add(1 << 16) {
            return Err(format!(
                "{} compressed bytes can't hold the {} claimed",
                self.data.len(),
                self.size
            ));
        }
        CompressedData {
            format: self.format,
            data: self.data,
            uncompressed_size: self.size,
        }
        .decompress()
        .map(std::borrow::Cow::into_owned)
        .map_err(|error| error.to_string())
    }
}
