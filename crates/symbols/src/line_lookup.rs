//! From lines to addresses: where breakpoints go.
//!
//! Only line-program headers are read to find the units that name a file, by comparing raw base names before
//! any path is built; then only those units' line programs run.

use crate::dwarf::{Dwarf, Unit};
use crate::files::Files;
use crate::functions::Language;
use crate::indexing::is_large;
use crate::lines::{LineLocation, LineLookup, Lines, Row};
use crate::paths::{common_suffix, normalise};
use crate::roots::NumberedFile;
use crate::{FileAddress, Module};
use gimli::UnitOffset;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// A unit that names the wanted file, and the numbers it has there.
struct NamedBy<'s, 'a> {
    unit: &'s Unit<'a>,
    path: Arc<Path>,
    numbers: Vec<u32>,
}

/// A row of the wanted file.
struct Candidate<'n, 'a> {
    named: &'n NamedBy<'n, 'a>,
    row: &'n Row,
    /// Its index in the unit's rows.
    index: usize,
    /// The row before it is another line's.
    begins_run: bool,
    /// Where its sequence starts.
    sequence: u64,
}

/// What gets one location for a line.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Instance {
    /// A function, or an inlined call in it, by their entries' offsets.
    Code {
        unit: u32,
        function: usize,
        inlined: Option<usize>,
    },
    /// Code without a known function (assembler), by its sequence's start.
    Sequence(u64),
}

/// Whether a run of a line is another copy of what the lowest run is, and as good a place for a breakpoint.
/// rustc drops what a block owns at its closing brace, once where the block ends and once for each way a panic
/// leaves it. The latter may come first, before code of the block's lines; what a line does when its own
/// arithmetic panics comes later, and is none. A brace has one column (a function's returns from the one
/// behind it), parts of a statement have several.
fn is_copy(lowest: &Candidate<'_, '_>, run: &Candidate<'_, '_>, lines: &Lines) -> bool {
    if !run.begins_run || run.named.unit.language() != Language::Rust {
        return false;
    }
    let Some(sequence) = lines.sequence_at(run.row.address) else {
        return false;
    };
    let rows = lines.rows.get(sequence.rows.clone()).unwrap_or(&[]);
    let this = |row: &&Row| row.line == run.row.line && row.file == run.row.file;
    let columns = rows.iter().filter(this).map(|row| row.column);
    let Some((first, last)) = columns.clone().min().zip(columns.max()) else {
        return false;
    };
    if first == 0 || last - first > 1 {
        return false;
    }
    // The function's own line is no evidence: unwinding resumes there.
    let opening = rows.first().map_or(0, |row| row.line);
    let body =
        |row: &Row| row.line > opening && row.line < run.row.line && row.file == run.row.file;
    lines
        .rows
        .get(lowest.index..run.index)
        .unwrap_or(&[])
        .iter()
        .any(body)
}

/// The files of a base name with their units, by unit.
pub(crate) type FilesCalled = Arc<Vec<(u32, NumberedFile)>>;

/// Base names whose files are kept.
const FILES_KEPT: usize = 64;

/// How many lines with code are tried for a line without: those further down are in other functions.
const SLIDE_LIMIT: usize = 200;

impl<'a> Dwarf<'a> {
    /// The units whose line table names `file` best: the whole path, or the longest common end.
    fn units_naming(&self, file: &Path) -> Vec<NamedBy<'_, 'a>> {
        let file = normalise(file);
        let Some(base) = file.file_name().map(OsStrExt::as_bytes) else {
            return Vec::new();
        };
        let mut best = match file.is_absolute() {
            // Without the same folder, an absolute path is more likely another file of the same name.
            true => file.components().count().saturating_sub(1).min(2),
            false => 1,
        };
        let mut found: Vec<(u32, &Path, Vec<u32>)> = Vec::new();
        let called = self.files_called(base);
        for (unit, NumberedFile { number, path }) in called.iter() {
            let score = match *path == file {
                true => usize::MAX,
                false => common_suffix(path, &file),
            };
            if score < best {
                continue;
            }
            if score > best {
                found.clear();
                best = score;
            }
            // They come by unit.
            match found
                .iter_mut()
                .rev()
                .take_while(|(known, ..)| known == unit)
                .find(|(_, known, _)| known == path)
            {
                Some((.., numbers)) => numbers.push(*number),
                None => found.push((*unit, path, vec![*number])),
            }
        }
        let named = found.into_iter().filter_map(|(unit, path, numbers)| {
            Some(NamedBy {
                unit: self.unit(unit)?,
                path: path.into(),
                numbers,
            })
        });
        named.collect()
    }

    /// The units whose line table names `file` best, each with the numbers that it has there.
    pub(crate) fn units_with_file(&self, file: &Path) -> Vec<(&Unit<'a>, Vec<u32>)> {
        if !may_name(self.files, file) {
            return Vec::new();
        }
        let named = self.units_naming(file).into_iter();
        named.map(|named| (named.unit, named.numbers)).collect()
    }

    /// Every file of that base name in the line-program headers, by unit. Kept: the breakpoints of a file are asked for again
    /// and again.
    fn files_called(&self, base: &[u8]) -> FilesCalled {
        let known = |files: &FxHashMap<Vec<u8>, FilesCalled>| files.get(base).cloned();
        if let Some(found) = known(
            &self
                .files_called
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        ) {
            return found;
        }
        let indexed = self.ask_index_if_there(|index| index.files_called(base));
        let found: FilesCalled = Arc::new(indexed.unwrap_or_else(|| {
            let files = self.for_each_unit(|unit| {
                let part = self.root(unit);
                part.map_or(Vec::new(), |part| part.files(|name| name == base))
            });
            let numbered = files.into_iter().enumerate();
            numbered
                .flat_map(|(unit, files)| files.into_iter().map(move |file| (unit as u32, file)))
                .collect()
        }));
        let mut kept = self
            .files_called
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= FILES_KEPT {
            kept.clear();
        }
        kept.insert(base.to_vec(), found.clone());
        found
    }

    fn lookup_line(&self, file: &Path, line: u32) -> LineLookup {
        let named = self.units_naming(file);
        if named.is_empty() {
            return LineLookup::NoFile {
                similar: self.similar_files(file),
            };
        }
        let mut exact = Vec::new();
        let mut later: BTreeMap<u32, Vec<Candidate>> = BTreeMap::new();
        let mut before = None;
        for named in &named {
            for candidate in self.candidates(named) {
                match candidate.row.line {
                    row if row < line => before = before.max(Some(row)),
                    row if row == line => exact.push(candidate),
                    row => later.entry(row).or_default().push(candidate),
                }
            }
        }
        if !exact.is_empty() {
            return LineLookup::Found(self.one_per_instance(exact, line));
        }
        let after = later.keys().next().copied();
        for (next, candidates) in later.into_iter().take(SLIDE_LIMIT) {
            let same_function = candidates
                .into_iter()
                .filter(|candidate| self.declared_by(candidate, line))
                .collect();
            let found = self.one_per_instance(same_function, next);
            if !found.is_empty() {
                return LineLookup::Found(found);
            }
        }
        LineLookup::NoCode { before, after }
    }

    /// The statements of the named file in a unit.
    fn candidates<'n>(
        &'n self,
        named: &'n NamedBy<'n, 'a>,
    ) -> impl Iterator<Item = Candidate<'n, 'a>> {
        let lines = self.lines(named.unit);
        lines.sequences.iter().flat_map(move |sequence| {
            sequence.rows.clone().filter_map(move |index| {
                let row = &lines.rows[index];
                let wanted = row.is_stmt && row.line != 0 && named.numbers.contains(&row.file);
                let before = (index > sequence.rows.start).then(|| &lines.rows[index - 1]);
                let continues = |before: &Row| before.line == row.line && before.file == row.file;
                wanted.then(|| Candidate {
                    named,
                    row,
                    index,
                    begins_run: !before.is_some_and(continues),
                    sequence: sequence.start,
                })
            })
        })
    }

    /// The function instance or inlined copy that a statement is in.
    fn instance_of(&self, candidate: &Candidate<'_, 'a>) -> Instance {
        let unit = candidate.named.unit;
        let Some(function) = self.index(unit).function_at(candidate.row.address) else {
            return Instance::Sequence(candidate.sequence);
        };
        let blocks = self.blocks(unit, function.offset);
        let inlined = blocks
            .inlined(candidate.row.address)
            .pop()
            .map(|block| blocks.blocks[block as usize].offset);
        Instance::Code {
            unit: unit.index,
            function: function.offset,
            inlined,
        }
    }

    /// Whether the function that a statement is written in begins at or before `line` in the same file. The address
    /// may be in several, inlined into each other; rows without code of their own stand at another's.
    fn declared_by(&self, candidate: &Candidate<'_, 'a>, line: u32) -> bool {
        let unit = candidate.named.unit;
        let Some(function) = self.index(unit).function_at(candidate.row.address) else {
            return false;
        };
        let blocks = self.blocks(unit, function.offset);
        let inlined = blocks.inlined(candidate.row.address).into_iter();
        let inlined = inlined.map(|block| blocks.blocks[block as usize].offset);
        let declared = std::iter::once(function.offset)
            .chain(inlined)
            .filter_map(|offset| {
                let declaration = self.declaration(&self.chain(unit, UnitOffset(offset)))?;
                let here = declaration.file == candidate.named.path
                    && declaration.line <= candidate.row.line;
                here.then_some(declaration.line)
            });
        declared.max().is_some_and(|declared| declared <= line)
    }

    /// A line's code is often in several runs (the parts of a `for` statement), but a breakpoint should stop once on
    /// entering the line: the lowest address in each function instance, past the prologue on its opening line.
    fn one_per_instance(&self, candidates: Vec<Candidate<'_, 'a>>, line: u32) -> Vec<LineLocation> {
        let mut instances: BTreeMap<Instance, Vec<Candidate>> = BTreeMap::new();
        for candidate in candidates {
            instances
                .entry(self.instance_of(&candidate))
                .or_default()
                .push(candidate);
        }
        let mut found = Vec::new();
        for (instance, candidates) in instances {
            let Some(lowest) = candidates
                .iter()
                .min_by_key(|candidate| candidate.row.address)
            else {
                continue;
            };
            let lines = self.lines(lowest.named.unit);
            for candidate in &candidates {
                if std::ptr::eq(candidate, lowest) || is_copy(lowest, candidate, lines) {
                    let address = self.past_prologue(&instance, candidate.row.address);
                    let (stop_line, column) = self.stop_at(candidate, address);
                    found.push(LineLocation {
                        address: FileAddress(address),
                        file: candidate.named.path.clone(),
                        line,
                        stop_line,
                        column,
                    });
                }
            }
        }
        found.sort_by_key(|location| location.address);
        found.dedup_by_key(|location| location.address);
        found
    }

    /// The line and column at `address`, where the candidate's prologue ends.
    fn stop_at(&self, candidate: &Candidate<'_, 'a>, address: u64) -> (u32, u32) {
        let lines = self.lines(candidate.named.unit);
        let moved = (address != candidate.row.address)
            .then(|| lines.row_at(address).map(|index| &lines.rows[index]))
            .flatten()
            .filter(|row| row.line != 0);
        let row = moved.unwrap_or(candidate.row);
        (row.line, row.column)
    }

    /// The address, or where the prologue it is in ends.
    fn past_prologue(&self, instance: &Instance, address: u64) -> u64 {
        let &Instance::Code {
            unit,
            function,
            inlined: None,
        } = instance
        else {
            return address;
        };
        let entry = self.unit(unit).and_then(|unit| {
            let function = self.index(unit).function_with_offset(function)?;
            let first = function.ranges.first()?;
            first.contains(&address).then_some(first.start)
        });
        match entry {
            Some(entry) => self.after_prologue(entry).max(address),
            None => address,
        }
    }

    /// Where the function's frame is set up. LLVM marks that row. gcc doesn't: without optimisation its second row
    /// starts after the prologue (DWARF 4 and 5 alike, as gdb assumes); with optimisation there's no such
    /// place, but location lists hold from the entry on.
    pub(crate) fn after_prologue(&self, entry: u64) -> u64 {
        let found = self.function_entry_at(entry);
        let unit = found
            .map(|(unit, _)| unit)
            .or_else(|| self.units_at(entry).next());
        let Some((unit, lines)) = unit.map(|unit| (unit, self.lines(unit))) else {
            return entry;
        };
        let Some(sequence) = lines.sequence_at(entry) else {
            return entry;
        };
        // Where the debug information has lines but no functions, a sequence that starts here is one.
        let code = match found {
            Some((_, function)) => function
                .ranges
                .iter()
                .find(|range| range.contains(&entry))
                .cloned(),
            None => Some(sequence.start..sequence.end).filter(|code| code.start == entry),
        };
        let Some(code) = code else {
            return entry;
        };
        let rows = &lines.rows[sequence.rows.clone()];
        let first = rows.partition_point(|row| row.address < entry);
        let end = rows.partition_point(|row| row.address < code.end);
        let rows = rows.get(first..end).unwrap_or(&[]);
        if let Some(marked) = rows.iter().find(|row| row.prologue_end) {
            return marked.address;
        }
        let optimised = unit
            .optimised()
            .unwrap_or_else(|| !self.sets_up_frame_pointer(entry));
        if optimised {
            return entry;
        }
        rows.iter()
            .find(|row| row.address > entry && row.line != 0)
            .map_or(entry, |row| row.address)
    }

    /// Whether the code at a function's entry is `push rbp; mov rbp, rsp`.
    fn sets_up_frame_pointer(&self, entry: u64) -> bool {
        const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
        let main = &self.files.main;
        let code = main.elf.bytes_at(&main.bytes, entry, 8);
        let code = code.strip_prefix(&ENDBR64).unwrap_or(code);
        code.starts_with(&[0x55, 0x48, 0x89, 0xe5]) || code.starts_with(&[0x55, 0x48, 0x8b, 0xec])
    }

    fn similar_files(&self, file: &Path) -> Vec<PathBuf> {
        /// "At most a few".
        const LIMIT: usize = 5;
        let base = file.file_name().map(OsStrExt::as_bytes).unwrap_or(&[]);
        let mut similar: Vec<PathBuf> = self
            .files_called(base)
            .iter()
            .map(|(_, file)| file.path.clone())
            .collect();
        similar.sort();
        similar.dedup();
        similar.truncate(LIMIT);
        similar
    }
}

/// Whether the bytes of a file's base name are in any section that can have file names: a program's breakpoints are
/// asked of all its libraries, and for most this is the whole answer, before a unit is read.
fn may_name(files: &Files, file: &Path) -> bool {
    let Some(base) = file.file_name().map(OsStrExt::as_bytes) else {
        return false;
    };
    // There, the units' headers are less to read than all strings.
    if is_large(files) {
        return true;
    }
    let finder = memchr::memmem::Finder::new(base);
    let terminated = |section: &[u8]| {
        finder
            .find_iter(section)
            .any(|at| section.get(at + base.len()) == Some(&0))
    };
    [".debug_line", ".debug_line_str", ".debug_str"]
        .iter()
        .any(|name| terminated(files.debug_section(name)))
}

impl Module {
    /// Every place where `line` (1-based) of `file` starts. `file` is matched whole first, then, where nothing
    /// matches, by its longest common path suffix (at least the base name when `file` is relative, and the folder, too, when absolute).
    /// Decodes only the units whose line-program header names the file.
    pub fn lookup_line(&self, file: &Path, line: u32) -> LineLookup {
        self.decoded(|decoded| {
            if !may_name(decoded.files(), file) {
                return LineLookup::NoFile {
                    similar: Vec::new(),
                };
            }
            decoded.dwarf().lookup_line(file, line)
        })
    }

    /// Where a function that starts at `entry` has set up its frame: `prologue_end`, or the second line row, or `entry`.
    pub fn after_prologue(&self, entry: FileAddress) -> FileAddress {
        self.dwarf(|dwarf| FileAddress(dwarf.after_prologue(entry.0)))
    }
}
