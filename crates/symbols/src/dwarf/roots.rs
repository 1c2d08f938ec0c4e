//! Units by their root entries alone: who compiled what, which files, which addresses.
//!
//! To find the few units that matter, all have to be looked at. What is read for that is dropped again, and it is not
//! much: of a unit's abbreviations, mostly thousands of bytes, only the root's.

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

/// Fewer units than this for each thread are not worth one.
const UNITS_PER_THREAD: usize = 64;

/// A file as a unit's line table numbers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NumberedFile {
    pub number: u32,
    pub path: PathBuf,
}

impl<'a> Dwarf<'a> {
    /// The part of a unit that has addresses and lines, good for its root entry and line-program header only.
    /// `None` for one that can't be read, without a word: who needs all of it meets the error.
    pub fn root(&self, index: u32) -> Option<Part<'a>> {
        let (header, source, origin) = self.header(index)?;
        let abbreviations = root_abbreviations(&source.sections, &header)?;
        let unit =
            gimli::Unit::new_with_abbreviations(&source.sections, header, Arc::new(abbreviations));
        let dw = unit.ok()?;
        Some(Part { source, origin, dw })
    }

    /// The name of a unit in a language, with its compilation directory.
    pub fn name_in(&self, index: u32, language: Language) -> Option<PathBuf> {
        let part = self.root(index)?;
        let split = match part.dw.dwo_id {
            // A skeleton says neither.
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

    /// Calls `each` for the numbers of all the module's units, on several threads; what it returned, by number.
    pub fn for_each_unit<T: Send>(&self, each: impl Fn(u32) -> T + Sync) -> Vec<T> {
        in_parallel(self.unit_count() as usize, &|index| each(index as u32))
    }
}

impl<'a> Part<'a> {
    /// The files of its line-program header whose base name is wanted. What is a part of other units has none: it has
    /// the table of those.
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

    /// The MD5 that its line-program header has of a file.
    pub fn checksum(&self, number: u32) -> Option<[u8; 16]> {
        let header = self.dw.line_program.as_ref()?.header();
        let file = header.file(u64::from(number))?;
        // All zero stands for none in a table where others have one.
        let has = header.file_has_md5() && *file.md5() != [0; 16];
        has.then(|| *file.md5())
    }

    /// One file of its line-program header.
    pub fn file_path(&self, file: &gimli::FileEntry<Reader<'a>>) -> PathBuf {
        let program = self.dw.line_program.as_ref();
        let folder = program.and_then(|program| file.directory(program.header()));
        let directory = self.dw.comp_dir.map_or(&[][..], |text| text.slice());
        let folder = folder.map_or(&[][..], |folder| self.line_text(folder));
        join(&[directory, folder, self.line_text(file.path_name())].map(bytes_path))
    }

    /// The text of a value in its line-program header; empty where it can't be read.
    fn line_text(&self, value: AttributeValue<Reader<'a>>) -> &'a [u8] {
        let text = self.source.sections.attr_string(&self.dw, value);
        text.map(|text| text.slice()).unwrap_or(&[])
    }

    /// Whether it is a part of other units.
    pub fn is_partial(&self) -> bool {
        let root = self.dw.entry(self.dw.header.root_offset());
        root.is_ok_and(|root| root.tag() == dw::DW_TAG_partial_unit)
    }
}

/// What is behind the last slash.
pub(crate) fn base_of_path(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// The abbreviations that a unit's root entry needs: the first, if it is that one, or else all.
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
    // Its tag, and whether it has children.
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

/// Calls `each` for the numbers up to `count`, on as many threads as the machine has and the work is worth.
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
