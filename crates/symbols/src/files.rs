//! The files of a module: the loaded file, the separate file with its debug information if there is one, and companions
//! that are opened later. Gives access to sections' bytes, inflates compressed sections, and notices when a file changes
//! on disk.

use crate::Error;
use crate::bus_errors;
use crate::companions::{Companion, Outcome, Search};
use crate::elf::{Elf, Section, word_of};
use crate::error::CHANGED;
use crate::index_file::cache::IndexCache;
use crate::mapping::Bytes;
use crate::mini_debug_info;
use object::elf;
use object::read::{CompressedData, CompressionFormat};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One file with its headers read.
pub(crate) struct ElfFile {
    pub bytes: Bytes,
    pub elf: Elf,
    /// By section index: the inflated bytes of a compressed section after the first use, or the reason why inflating
    /// failed. While one thread inflates a section, others that need it wait.
    inflated: Vec<OnceLock<Result<Vec<u8>, String>>>,
    /// The number of compressed sections, largest first, that [`ElfFile::inflate`] has started to inflate.
    begun: AtomicUsize,
    /// The concatenated bytes of sections that share a name, after the first use.
    joined: boxcar::Vec<(&'static str, Vec<u8>)>,
}

impl ElfFile {
    pub fn new(bytes: Bytes, elf: Elf) -> ElfFile {
        let inflated = elf.sections.iter().map(|_| OnceLock::new()).collect();
        ElfFile {
            bytes,
            elf,
            inflated,
            begun: AtomicUsize::new(0),
            joined: boxcar::Vec::new(),
        }
    }

    /// The headers of a file that has changed on disk; its sections have no bytes.
    fn without_bytes(&self) -> ElfFile {
        let mut elf = self.elf.clone();
        for section in &mut elf.sections {
            section.file = 0..0;
        }
        ElfFile::new(Bytes::Owned(Box::default()), elf)
    }

    /// Compares the file on disk with the mapped one and returns whether it has changed. If only the time differs, the
    /// file is the same if it still has the same build id.
    pub fn check_for_change(&self) -> bool {
        self.bytes.check_for_change(|| {
            let now = Elf::parse_companion(&self.elf.path, &self.bytes);
            now.is_ok_and(|now| now.build_id.is_some() && now.build_id == self.elf.build_id)
        })
    }

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

    /// The size of a section in the file (compressed, if it is), in bytes; 0 if there is no such section.
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

    /// Like [`ElfFile::data`], but for all sections of that name: an object file has one section for each type unit.
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
            // In a broken file, all these sections may be the same bytes; the sum is limited to the file's size.
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
        let is_new = section.flags & elf::SHF_COMPRESSED.0 != 0;
        if !is_new && !section.name.starts_with(OLD_PREFIX) {
            return Ok(raw);
        }
        let inflated = self.inflated[index].get_or_init(|| {
            let compressed = match is_new {
                true => Compressed::with_header(raw, self.elf.word_size()),
                false => Compressed::with_old_header(raw),
            };
            compressed.and_then(Compressed::inflate)
        });
        match inflated {
            Ok(data) => Ok(data),
            Err(reason) => Err(Error::Malformed {
                path: self.elf.path.clone(),
                section: name,
                offset: 0,
                reason: reason.clone(),
            }),
        }
    }

    /// The headers of the compressed debug sections, largest first, with their section indexes.
    fn compressed(&self) -> Vec<(usize, Compressed<'_>)> {
        let sections = self.elf.sections.iter().enumerate();
        let header = |(index, section): (usize, &Section)| {
            let raw = self.bytes.get(section.file.clone())?;
            let is_old = section.name.starts_with(OLD_PREFIX);
            let is_new = section.flags & elf::SHF_COMPRESSED.0 != 0;
            let header = match (is_new, is_old) {
                (true, _) if section.name.starts_with(".debug_") => {
                    Compressed::with_header(raw, self.elf.word_size())
                }
                (false, true) => Compressed::with_old_header(raw),
                _ => return None,
            };
            Some((index, header.ok()?))
        };
        let mut found: Vec<_> = sections.filter_map(header).collect();
        found.sort_by_key(|(_, header)| std::cmp::Reverse(header.size));
        found
    }

    /// The total inflated size of the compressed debug sections, according to their headers, in bytes.
    pub fn compressed_size(&self) -> u64 {
        let sizes = self.compressed().into_iter().map(|(_, header)| header.size);
        sizes.fold(0, u64::saturating_add)
    }

    /// Inflates the compressed debug sections that are not inflated yet. Several threads may call this; each takes the
    /// next section that none has started. Returns the number of bytes that this call has inflated.
    pub fn inflate(&self) -> u64 {
        let mut inflated = 0;
        for (place, (index, header)) in self.compressed().into_iter().enumerate() {
            let next =
                self.begun
                    .compare_exchange(place, place + 1, Ordering::Relaxed, Ordering::Relaxed);
            if next.is_ok() {
                self.inflated[index].get_or_init(|| {
                    let data = header.inflate();
                    inflated += data.as_ref().map_or(0, |data| data.len() as u64);
                    data
                });
            }
        }
        inflated
    }
}

/// The files of a module, with the problems found in them.
pub(crate) struct Files {
    pub main: Arc<ElfFile>,
    pub debug: Option<Arc<ElfFile>>,
    /// The MiniDebugInfo file inside the loaded one, after the first use.
    mini: OnceLock<Option<ElfFile>>,
    /// Companions that were opened on demand.
    opened: boxcar::Vec<ElfFile>,
    /// Files that have changed on disk since they were opened; these are not opened again.
    gone: FxHashSet<PathBuf>,
    changes: Changes,
    /// The count of unit numbers reserved for companions before the last change on disk; these numbers are not reused.
    pub reserved_unit_numbers: usize,
    searches: Mutex<Vec<Search>>,
    warnings: Mutex<Warnings>,
    /// The cache for the module's index, if one is used.
    pub index_cache: OnceLock<Arc<IndexCache>>,
}

/// When the files were last compared with the disk, and the result.
#[derive(Default)]
struct Changes {
    seen: AtomicBool,
    /// In nanoseconds of a monotonic clock; 0 for never.
    looked: AtomicU64,
    /// The value of [`bus_errors::replaced_so_far`] at that time.
    replaced: AtomicU32,
}

impl Changes {
    fn check_for_change(&self, check: impl FnOnce() -> bool) -> bool {
        if self.seen.load(Ordering::Relaxed) {
            return true;
        }
        let (now, replaced) = (coarse_now(), bus_errors::replaced_so_far());
        let looked = self.looked.load(Ordering::Relaxed);
        if now.saturating_sub(looked) < LOOK_EACH
            && self.replaced.load(Ordering::Relaxed) == replaced
        {
            return false;
        }
        self.looked.store(now, Ordering::Relaxed);
        self.replaced.store(replaced, Ordering::Relaxed);
        let changed = check();
        if changed {
            self.seen.store(true, Ordering::Relaxed);
        }
        changed
    }

    /// Makes the next look access the disk, however recent the last one was.
    fn check_now(&self) {
        self.looked.store(0, Ordering::Relaxed);
    }
}

/// More units than the companions of any module have.
const MOST_UNITS_OF_COMPANIONS: usize = 1 << 22;

/// How long the result of a look at the disk is reused, in nanoseconds. A look takes a microsecond a file, and stepping
/// makes thousands of queries a second; a rebuild takes longer than this.
const LOOK_EACH: u64 = 20_000_000;

/// Nanoseconds of the coarse monotonic clock, whose resolution is a few milliseconds.
fn coarse_now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The problems found so far, without duplicates.
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

/// Further problems are ignored.
const WARNINGS_LIMIT: usize = 200;

impl Files {
    pub fn new(main: ElfFile, debug: Option<ElfFile>, searches: Vec<Search>) -> Files {
        let mut warnings = Warnings::default();
        for problem in &main.elf.problems {
            warnings.add(problem.clone());
        }
        Files {
            main: Arc::new(main),
            debug: debug.map(Arc::new),
            mini: OnceLock::new(),
            opened: boxcar::Vec::new(),
            gone: FxHashSet::default(),
            changes: Changes::default(),
            reserved_unit_numbers: 0,
            searches: Mutex::new(searches),
            warnings: Mutex::new(warnings),
            index_cache: OnceLock::new(),
        }
    }

    /// Whether one of the files has changed on disk since it was opened. Cheap: accesses the disk at most once per
    /// [`LOOK_EACH`], unless a mapping has lost pages.
    pub fn have_changed(&self) -> bool {
        self.changes.check_for_change(|| {
            let opened = self.opened.iter().map(|(_, file)| file);
            // Looks at every file even after one has changed, so that all changes are known together.
            let looks = self
                .main_and_debug()
                .chain(opened)
                .map(ElfFile::check_for_change);
            looks.fold(false, |any, changed| any | changed)
        })
    }

    /// Like [`Files::have_changed`], but always accesses the disk.
    pub fn have_changed_by_now(&self) -> bool {
        self.changes.check_now();
        self.have_changed()
    }

    fn main_and_debug(&self) -> impl Iterator<Item = &ElfFile> {
        std::iter::once(&*self.main).chain(self.debug.as_deref())
    }

    /// The same files without the changed ones, which are added to the warnings.
    pub fn without_changed(&self) -> Files {
        let mut gone = self.gone.clone();
        let mut keep = |file: &Arc<ElfFile>| match file.bytes.have_changed() {
            false => file.clone(),
            true => {
                gone.insert(file.elf.path.clone());
                Arc::new(file.without_bytes())
            }
        };
        let main = keep(&self.main);
        let debug = self.debug.as_ref().map(&mut keep);
        let opened = self.opened.iter().map(|(_, file)| file);
        let changed = opened.filter(|file| file.bytes.have_changed());
        gone.extend(changed.map(|file| file.elf.path.clone()));
        let files = Files {
            main,
            debug,
            mini: OnceLock::new(),
            opened: boxcar::Vec::new(),
            changes: Changes::default(),
            reserved_unit_numbers: self.reserved_unit_numbers + MOST_UNITS_OF_COMPANIONS,
            searches: Mutex::new(self.searches()),
            warnings: Mutex::new(Warnings::default()),
            index_cache: self.index_cache.clone(),
            gone,
        };
        let new = files.gone.difference(&self.gone);
        let changed = new.map(|path| Error::Changed { path: path.clone() });
        for problem in self.warnings().into_iter().chain(changed) {
            files.warn(problem);
        }
        files
    }

    /// The file with the module's DWARF: the separate file if there is one and the loaded file has no DWARF, otherwise
    /// the loaded file.
    pub fn with_dwarf(&self) -> &ElfFile {
        match &self.debug {
            Some(debug) if !self.main.has(".debug_info") => debug,
            _ => &self.main,
        }
    }

    /// The bytes of a debug section; empty, with a warning, if they can't be read.
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

    /// The MiniDebugInfo file, compressed inside the loaded one.
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

    /// Opens a companion, which stays open as long as `self`.
    pub fn open(&self, path: &Path) -> Result<&ElfFile, Outcome> {
        if self.gone.contains(path) {
            return Err(Outcome::Unusable(CHANGED.to_owned()));
        }
        let file = ElfFile::open_companion(path)?;
        let index = self.opened.push(file);
        let unusable = || Outcome::Unusable("too many files".to_owned());
        self.opened.get(index).ok_or_else(unusable)
    }

    /// The bytes of all sections of this name in a companion; empty, with a warning, if they can't be read.
    pub fn companion_section<'f>(&self, file: &'f ElfFile, name: &'static str) -> &'f [u8] {
        match file.joined_data(name) {
            Ok(data) => data,
            Err(error) => {
                self.warn(error);
                &[]
            }
        }
    }

    /// Records a path that was tried.
    pub fn note(&self, what: Companion, path: &Path, outcome: Outcome) {
        let path = path.to_owned();
        let mut searches = self.searches.lock().unwrap_or_else(PoisonError::into_inner);
        searches.push(Search {
            what,
            path,
            outcome,
        });
    }

    /// Adds a warning for each file that was skipped because it belongs to another build.
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

    /// Adds a warning, unless there is an equal one.
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

    /// An error about a section of the file with DWARF (for `.eh_frame` and `.eh_frame_hdr`, of the loaded file).
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

/// The prefix of sections that are compressed in GNU's old format.
const OLD_PREFIX: &str = ".zdebug_";

/// Whether a section has this name, or the corresponding name of GNU's old compressed format: `.zdebug_info` is
/// `.debug_info`.
fn is_called(section: &Section, name: &str) -> bool {
    section.name == name
        || section
            .name
            .strip_prefix(OLD_PREFIX)
            .is_some_and(|rest| name.strip_prefix(".debug_") == Some(rest))
}

/// A compressed section with its decoded header.
struct Compressed<'a> {
    format: CompressionFormat,
    data: &'a [u8],
    size: u64,
    /// The maximum of bytes that one compressed byte can become.
    ratio: u64,
}

/// Deflate's maximum is 1032 to 1.
const ZLIB_RATIO: u64 = 1040;
/// A zstd block has 128 KiB at most, and takes at least four bytes even if all its bytes are the same.
const ZSTD_RATIO: u64 = 33_000;

impl<'a> Compressed<'a> {
    /// A section that starts with an `Elf32_Chdr` or `Elf64_Chdr`: type, size, alignment, each of which takes as much as an address.
    fn with_header(raw: &'a [u8], word: usize) -> Result<Compressed<'a>, String> {
        let (Some(header), Some(data)) = (raw.get(..3 * word), raw.get(3 * word..)) else {
            return Err("the compressed section ends in its header".to_owned());
        };
        let size = word_of(&header[word..2 * word]);
        // `Elf64_Chdr` has four unused bytes behind the type.
        let (format, ratio) = match word_of(&header[..4]) as u32 {
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

    /// A section that starts with `ZLIB` and the big-endian size: GNU's format before the standard one.
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

    /// The inflated content. Sizes that the data could not possibly inflate to are rejected before allocating.
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
