//! A module's queries about line rows and source files.

use super::Module;
use crate::FileAddress;
use crate::dwarf::breakpoint_locations::BreakpointLocation;
use crate::dwarf::line_lookup::may_name;
use crate::dwarf::lines::LineLocation;
use crate::dwarf::lines::LineLookup;
use crate::dwarf::lines::LineRow;
use crate::dwarf::source_copies::{Contents, MOST_COPIES};
use crate::sources::Source;
use std::collections::BTreeMap;
use std::ops::Range;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

impl Module {
    /// The row that covers `address`.
    pub fn row_at(&self, address: FileAddress) -> Option<LineRow> {
        self.dwarf(|dwarf| dwarf.row_at(address.0))
    }

    /// The row that covers `address`, if it has a line. If it has line 0, its address range is returned with the line of the
    /// nearest preceding row of the same function that has one, and with `is_stmt` cleared; `None` if none of the rows
    /// shortly before has a line. If that preceding row belongs to an inlined call that has ended, the line is the call's.
    ///
    /// LLVM gives no line to register reloads at the start of a block, which may be at a return address. The preceding row
    /// in memory is the last executed one only if the thread has returned from a call or runs straight on, so stepping
    /// doesn't use this for code that it jumps to.
    pub fn row_with_line(&self, address: FileAddress) -> Option<LineRow> {
        self.dwarf(|dwarf| dwarf.row_with_line(address.0))
    }

    /// The rows that intersect `range`, sorted by address. A row whose range is empty has the address of the next row.
    pub fn rows_in(&self, range: Range<FileAddress>) -> Vec<LineRow> {
        self.dwarf(|dwarf| dwarf.rows_in(range.start.0..range.end.0))
    }

    /// The source files in the line tables' headers, each once, sorted.
    pub fn source_files(&self) -> Vec<Arc<Path>> {
        self.dwarf(|dwarf| {
            let mut files: Vec<Arc<Path>> = dwarf
                .units()
                .flat_map(|unit| dwarf.unit_files(unit).iter().cloned())
                .collect();
            files.sort();
            files.dedup();
            files
        })
    }

    /// Every place where `line` (1-based) of `file` starts. If `line` has no code, every place where the next line with code
    /// in the same function starts. First looks for a source whose whole path equals `file`. If there is none, the longest
    /// common path suffix decides: at least the base name, and for an absolute `file` also the folder.
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

    /// The source files, at most a few, whose names differ from that of `file` only in their extension or in case. Always
    /// empty for large modules, because the search reads the headers of all line tables.
    pub fn files_nearly_called(&self, file: &Path) -> Vec<PathBuf> {
        self.dwarf(|dwarf| dwarf.files_nearly_called(file))
    }

    /// Every place where code of `line` of `file` starts at `column` (1-based) or, if none does, at the nearest earlier column
    /// where code starts. Empty if no code of the line starts further left: use [`Module::lookup_line`] then.
    pub fn lookup_column(&self, file: &Path, line: u32, column: u32) -> Vec<LineLocation> {
        self.dwarf(|dwarf| dwarf.lookup_column(file, line, column))
    }

    /// Every position in `lines` (1-based) of `file` that has code, by line and column. `file` is found as by
    /// [`Module::lookup_line`]; a file that isn't in this module has none.
    pub fn breakpoint_locations(
        &self,
        file: &Path,
        lines: RangeInclusive<u32>,
    ) -> Vec<BreakpointLocation> {
        self.dwarf(|dwarf| dwarf.breakpoint_locations(file, &lines))
    }

    /// The address at which the function that starts at `entry` has set up its frame and stored its arguments: the row marked
    /// `prologue_end` (or a later one, where the frame or the arguments are not ready there). Without such a mark, gcc's second line row, or
    /// `entry` in optimised code. `entry` also if no debug information covers it.
    pub fn after_prologue(&self, entry: FileAddress) -> FileAddress {
        self.dwarf(|dwarf| FileAddress(dwarf.after_prologue(entry.0)))
    }

    /// The MD5s of the sources that were compiled as `file`. The path is compared as in [`Module::lookup_line`].
    pub(crate) fn compiled_as(&self, file: &Path) -> Vec<[u8; 16]> {
        self.dwarf(|dwarf| {
            let named = dwarf.units_with_file(file);
            let sum = |unit: u32, numbers: &[u32]| {
                let root = dwarf.root(unit)?;
                numbers.iter().find_map(|number| root.checksum(*number))
            };
            let sums = named
                .iter()
                .filter_map(|named| sum(named.unit.index, &named.numbers));
            sums.collect()
        })
    }

    /// The paths, at most a few dozen, of other sources with the same file name as `file` whose contents are among
    /// `contents`. Reads a source from disk if the line tables have no checksum of it.
    pub fn copies(&self, file: &Path, contents: &Contents) -> Vec<PathBuf> {
        let Some(base) = file.file_name().map(OsStrExt::as_bytes) else {
            return Vec::new();
        };
        let called = self.dwarf(|dwarf| match dwarf.may_name(file) {
            true => dwarf.sources_called(base),
            false => Vec::new(),
        });
        let others = called.iter().filter(|source| *source.path != *file);
        let copies = others.filter(|source| contents.have(source));
        let paths = copies.map(|source| source.path.to_path_buf());
        paths.take(MOST_COPIES).collect()
    }

    /// The source files in the line tables' headers, each path once, sorted, with its checksum if a unit has one.
    pub fn sources(&self) -> Vec<Source> {
        self.dwarf(|dwarf| {
            let mut sources: BTreeMap<Arc<Path>, Option<[u8; 16]>> = BTreeMap::new();
            for unit in dwarf.units() {
                let Some(program) = &unit.own.dw.line_program else {
                    continue;
                };
                let header = program.header();
                let first = if header.version() >= 5 { 0 } else { 1 };
                let paths = dwarf.unit_files(unit);
                for number in 0..header.file_names().len() {
                    let Some(path) = paths.get(number + first) else {
                        continue;
                    };
                    let name = path.file_name().map(std::ffi::OsStr::as_encoded_bytes);
                    // `<built-in>` and `<artificial>` are not files.
                    if name.is_none_or(|name| name.starts_with(b"<") && name.ends_with(b">")) {
                        continue;
                    }
                    let known = sources.entry(path.clone()).or_default();
                    *known = known.or_else(|| unit.own.checksum((number + first) as u32));
                }
            }
            let source = |(path, checksum)| Source { path, checksum };
            sources.into_iter().map(source).collect()
        })
    }
}

impl Contents {
    /// Adds the MD5s of what was compiled as `file` in a module.
    pub fn add_compiled(&mut self, module: &Module, file: &Path) {
        self.0.extend(module.compiled_as(file));
    }
}
