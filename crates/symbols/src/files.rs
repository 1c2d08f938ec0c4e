//! The files a module is made of: the one that is loaded and, where the distribution keeps debug information
//! apart, the one that has it. Hands out sections' bytes, inflated where they are compressed.

use crate::Error;
use crate::elf::{Elf, Section};
use crate::mapping::Bytes;
use object::elf;
use object::read::{CompressedData, CompressionFormat};
use std::sync::{Mutex, OnceLock, PoisonError};

/// One file with its headers read.
pub(crate) struct ElfFile {
    pub bytes: Bytes,
    pub elf: Elf,
    /// By section index: the inflated bytes of compressed ones, once they were asked for.
    inflated: Vec<OnceLock<Vec<u8>>>,
}

impl ElfFile {
    pub fn new(bytes: Bytes, elf: Elf) -> ElfFile {
        let inflated = elf.sections.iter().map(|_| OnceLock::new()).collect();
        ElfFile {
            bytes,
            elf,
            inflated,
        }
    }

    fn find(&self, name: &str) -> Option<(usize, &Section)> {
        self.elf
            .sections
            .iter()
            .enumerate()
            .find(|(_, section)| section.name == name)
    }

    /// Whether a section of that name has bytes in this file.
    pub fn has(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|(_, section)| !section.file.is_empty())
    }

    fn data(&self, name: &'static str) -> Result<&[u8], Error> {
        let Some((index, section)) = self.find(name) else {
            return Ok(&[]);
        };
        let raw = self.bytes.get(section.file.clone()).unwrap_or(&[]);
        if section.flags & elf::SHF_COMPRESSED.0 == 0 {
            return Ok(raw);
        }
        if let Some(done) = self.inflated[index].get() {
            return Ok(done);
        }
        let inflated = inflate(raw).map_err(|reason| Error::Malformed {
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
    warnings: Mutex<Vec<Error>>,
}

/// More than that many problems are not worth keeping.
const WARNINGS_LIMIT: usize = 200;

impl Files {
    pub fn new(main: ElfFile, debug: Option<ElfFile>) -> Files {
        let warnings = Mutex::new(main.elf.problems.clone());
        Files {
            main,
            debug,
            warnings,
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

    /// The bytes of a loaded section.
    pub fn loaded_section(&self, name: &'static str) -> Option<(&Section, &[u8])> {
        let (_, section) = self.main.find(name)?;
        Some((
            section,
            self.main.bytes.get(section.file.clone()).unwrap_or(&[]),
        ))
    }

    /// Notes a problem, once.
    pub fn warn(&self, error: Error) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let text = error.to_string();
        if warnings.len() < WARNINGS_LIMIT
            && !warnings.iter().any(|known| known.to_string() == text)
        {
            warnings.push(error);
        }
    }

    pub fn warnings(&self) -> Vec<Error> {
        self.warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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

/// Inflates a section that starts with an `Elf64_Chdr`.
fn inflate(raw: &[u8]) -> Result<Vec<u8>, String> {
    let (Some(header), Some(data)) = (raw.get(..24), raw.get(24..)) else {
        return Err("the compressed section ends in its header".to_owned());
    };
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let size = u64::from(word(8)) | u64::from(word(12)) << 32;
    let (format, ratio) = match word(0) {
        // Deflate can't do better than 1032 to 1.
        kind if kind == elf::ELFCOMPRESS_ZLIB.0 => (CompressionFormat::Zlib, 1040),
        kind if kind == elf::ELFCOMPRESS_ZSTD.0 => (CompressionFormat::Zstandard, 20_000),
        other => return Err(format!("compression type {other} is not known")),
    };
    if size
        > (data.len() as u64)
            .saturating_mul(ratio)
            .saturating_add(1 << 16)
    {
        return Err(format!(
            "{} compressed bytes can't hold the {size} claimed",
            data.len()
        ));
    }
    CompressedData {
        format,
        data,
        uncompressed_size: size,
    }
    .decompress()
    .map(std::borrow::Cow::into_owned)
    .map_err(|error| error.to_string())
}
