//! Reads units by their root entries alone: language, name, files, addresses.
//!
//! Finding the few relevant units means looking at all of them. What is read for that is not cached, and is little: of a
//! unit's abbreviations, which are often thousands of bytes, only that of the root entry.

use crate::dwarf::compilation::Compilation;
use crate::dwarf::functions::Language;
use crate::dwarf::{Dwarf, Part, Reader, bytes_path};
use crate::paths::join;
use gimli::{
    AttributeValue, DebugAbbrev, DebugAbbrevOffset, Reader as _, Section as _, constants as dw,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The minimum of units for each thread; less work isn't worth a thread.
const UNITS_PER_THREAD: usize = 64;

/// A file with its number in a unit's line table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NumberedFile {
    pub number: u32,
    pub path: PathBuf,
}

impl<'a> Dwarf<'a> {
    /// A unit's own part, with abbreviations for its root entry only: use nothing but the root entry and the line-program
    /// header. `None`, without a warning, if it can't be read: reading the whole unit adds the warning.
    pub fn root(&self, index: u32) -> Option<Part<'a>> {
        let (header, source, origin) = self.header(index)?;
        let abbreviations = root_abbreviations(&source.sections, &header)?;
        let unit =
            gimli::Unit::new_with_abbreviations(&source.sections, header, Arc::new(abbreviations));
        let dw = unit.ok()?;
        Some(Part { source, origin, dw })
    }

    /// The name of a unit, joined with its compilation directory, if the unit is in `language`.
    pub fn name_in(&self, index: u32, language: Language) -> Option<PathBuf> {
        let part = self.root(index)?;
        let split = match part.dw.dwo_id {
            // A skeleton unit has neither language nor name: its split unit has them.
            Some(_) => Some(self.unit(index)?),
            None => None,
        };
        let part = split.map_or(&part, |unit| unit.part());
        if Compilation::read(part).language != language {
            return None;
        }
        let root = part.dw.entry(part.dw.header.root_offset()).ok()?;
        let name = root.attr_value(dw::DW_AT_name)?;
        let name = part.source.sections.attr_string(&part.dw, name).ok()?;
        let directory = match split {
            Some(unit) => unit.directory.as_path(),
            None => bytes_path(part.dw.comp_dir.map_or(&[][..], |text| text.slice())),
        };
        Some(join(&[directory, bytes_path(name.slice())]))
    }

    /// Calls `each` with the numbers of all the module's units, on several threads. Returns the results by unit number.
    pub fn for_each_unit<T: Send>(&self, each: impl Fn(u32) -> T + Sync) -> Vec<T> {
        in_parallel(self.unit_count() as usize, &|index| each(index as u32))
    }
}

impl<'a> Part<'a> {
    /// The files of the line-program header whose base name is wanted. Empty for partial units, which share the line
    /// table of the importing units.
    pub fn files(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<NumberedFile> {
        let Some(program) = &self.dw.line_program else {
            return Vec::new();
        };
        let header = program.header();
        let first = if header.version() >= 5 { 0 } else { 1 };
        let mut files = Vec::new();
        for (index, file) in header.file_names().iter().enumerate() {
            if wanted(base_of_path(self.line_text(file.path_name()))) {
                files.push(NumberedFile {
                    number: index as u32 + first,
                    path: self.file_path(file),
                });
            }
        }
        if !files.is_empty() && self.is_partial() {
            files.clear();
        }
        files
    }

    /// The MD5 of a file in the line-program header.
    pub fn checksum(&self, number: u32) -> Option<[u8; 16]> {
        let header = self.dw.line_program.as_ref()?.header();
        let file = header.file(u64::from(number))?;
        // All zeros means no checksum, in a table in which other files have one.
        let has = header.file_has_md5() && *file.md5() != [0; 16];
        has.then(|| *file.md5())
    }

    /// The path of a file in the line-program header.
    pub fn file_path(&self, file: &gimli::FileEntry<Reader<'a>>) -> PathBuf {
        let program = self.dw.line_program.as_ref();
        let folder = program.and_then(|program| file.directory(program.header()));
        let directory = self.dw.comp_dir.map_or(&[][..], |text| text.slice());
        let folder = folder.map_or(&[][..], |folder| self.line_text(folder));
        join(&[directory, folder, self.line_text(file.path_name())].map(bytes_path))
    }

    /// The text of a string in the line-program header; empty if it can't be read.
    fn line_text(&self, value: AttributeValue<Reader<'a>>) -> &'a [u8] {
        let text = self.source.sections.attr_string(&self.dw, value);
        text.map(|text| text.slice()).unwrap_or(&[])
    }

    /// Whether this is a partial unit.
    pub fn is_partial(&self) -> bool {
        let root = self.dw.entry(self.dw.header.root_offset());
        root.is_ok_and(|root| root.tag() == dw::DW_TAG_partial_unit)
    }
}

/// The part of a path behind the last slash.
pub(crate) fn base_of_path(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// The abbreviations that a unit's root entry needs: only the first one if the root entry uses it, otherwise all.
fn root_abbreviations<'a>(
    sections: &gimli::Dwarf<Reader<'a>>,
    header: &gimli::UnitHeader<Reader<'a>>,
) -> Option<gimli::Abbreviations> {
    first_abbreviation(sections, header)
        .or_else(|| header.abbreviations(&sections.debug_abbrev).ok())
}

fn first_abbreviation<'a>(
    sections: &gimli::Dwarf<Reader<'a>>,
    header: &gimli::UnitHeader<Reader<'a>>,
) -> Option<gimli::Abbreviations> {
    let mut root = header.range_from(header.root_offset()..).ok()?;
    let wanted = root.read_uleb128().ok()?;
    let mut start = *sections.debug_abbrev.reader();
    start.skip(header.debug_abbrev_offset().0).ok()?;
    let mut input = start;
    if input.read_uleb128().ok()? != wanted {
        return None;
    }
    // Skip the abbreviation's tag, and its flag for children.
    input.skip_leb128().ok()?;
    input.skip(1).ok()?;
    loop {
        let (name, form) = (input.read_uleb128().ok()?, input.read_uleb128().ok()?);
        if form == u64::from(dw::DW_FORM_implicit_const.0) {
            input.skip_leb128().ok()?;
        }
        if (name, form) == (0, 0) {
            break;
        }
    }
    start.truncate(input.offset_from(start)).ok()?;
    let first = DebugAbbrev::from(start).abbreviations(DebugAbbrevOffset(0));
    first.ok()
}

/// Calls `each` with the numbers up to `count`. Uses at most one thread per processor, fewer for little work.
fn in_parallel<T: Send>(count: usize, each: &(impl Fn(usize) -> T + Sync)) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(count / UNITS_PER_THREAD);
    if threads < 2 {
        return (0..count).map(each).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let start = next.fetch_add(UNITS_PER_THREAD / 4, Ordering::Relaxed);
            if start >= count {
                return done;
            }
            let end = count.min(start + UNITS_PER_THREAD / 4);
            done.extend((start..end).map(|index| (index, each(index))));
        }
    };
    let mut found: Vec<(usize, T)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut found = work();
        for other in others {
            match other.join() {
                Ok(done) => found.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    });
    found.sort_by_key(|&(index, _)| index);
    found.into_iter().map(|(_, value)| value).collect()
}
