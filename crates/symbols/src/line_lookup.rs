//! From lines to addresses: where breakpoints go.
//!
//! Only line-program headers are read to find the units that name a file, by comparing raw base names before
//! any path is built; then only those units' line programs run.

use crate::dwarf::{Dwarf, Unit};
use crate::lines::{LineLocation, LineLookup, Lines};
use crate::paths::{common_suffix, normalise};
use crate::{FileAddress, Module};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A unit that names the wanted file, and the numbers it has there.
struct NamedBy<'s, 'a> {
    unit: &'s Unit<'a>,
    path: Arc<Path>,
    numbers: Vec<u32>,
}

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
        let mut found: Vec<NamedBy> = Vec::new();
        for (unit, number, path) in self.files_called(base) {
            let score = match path == file {
                true => usize::MAX,
                false => common_suffix(&path, &file),
            };
            if score < best {
                continue;
            }
            if score > best {
                found.clear();
                best = score;
            }
            match found
                .iter_mut()
                .find(|named| named.unit.index == unit.index && *named.path == *path)
            {
                Some(named) => named.numbers.push(number),
                None => found.push(NamedBy {
                    unit,
                    path: path.into(),
                    numbers: vec![number],
                }),
            }
        }
        found
    }

    /// Every file of that base name in the line-program headers.
    fn files_called(&self, base: &[u8]) -> Vec<(&Unit<'a>, u32, PathBuf)> {
        let mut found = Vec::new();
        for unit in self.units() {
            let Some(program) = &unit.dw.line_program else {
                continue;
            };
            let header = program.header();
            let first = if header.version() >= 5 { 0 } else { 1 };
            for (index, file) in header.file_names().iter().enumerate() {
                let name = self.text(unit, file.path_name()).unwrap_or(&[]);
                if name.rsplit(|&byte| byte == b'/').next() == Some(base) {
                    found.push((unit, index as u32 + first, self.file_path(unit, file)));
                }
            }
        }
        found
    }

    fn lookup_line(&self, file: &Path, line: u32) -> LineLookup {
        let named = self.units_naming(file);
        if named.is_empty() {
            return LineLookup::NoFile {
                similar: self.similar_files(file),
            };
        }
        let mut found = Vec::new();
        let (mut before, mut after) = (None, None);
        for named in &named {
            let lines = self.lines(named.unit);
            self.locations_in(named, lines, line, &mut found);
            for row in lines
                .rows
                .iter()
                .filter(|row| row.is_stmt && row.line != 0 && named.numbers.contains(&row.file))
            {
                if row.line < line {
                    before = before.max(Some(row.line));
                } else if row.line > line {
                    after = Some(after.map_or(row.line, |after: u32| after.min(row.line)));
                }
            }
        }
        if found.is_empty() {
            return LineLookup::NoCode { before, after };
        }
        LineLookup::Found(found)
    }

    fn locations_in(
        &self,
        named: &NamedBy<'_, 'a>,
        lines: &Lines,
        line: u32,
        found: &mut Vec<LineLocation>,
    ) {
        for sequence in &lines.sequences {
            let row = lines.rows[sequence.rows.clone()]
                .iter()
                .find(|row| row.is_stmt && row.line == line && named.numbers.contains(&row.file));
            if let Some(row) = row {
                found.push(LineLocation {
                    address: FileAddress(self.after_prologue(row.address)),
                    file: named.path.clone(),
                    line,
                    column: row.column,
                });
            }
        }
    }

    fn similar_files(&self, file: &Path) -> Vec<PathBuf> {
        /// "At most a few".
        const LIMIT: usize = 5;
        let base = file.file_name().map(OsStrExt::as_bytes).unwrap_or(&[]);
        let mut similar: Vec<PathBuf> = self
            .files_called(base)
            .into_iter()
            .map(|(_, _, path)| path)
            .collect();
        similar.sort();
        similar.dedup();
        similar.truncate(LIMIT);
        similar
    }

    fn after_prologue(&self, entry: u64) -> u64 {
        entry
    }
}

impl Module {
    /// Every place where `line` (1-based) of `file` starts. `file` is matched whole first, then, where nothing
    /// matches, by its longest common path suffix (at least the base name when `file` is relative, and the folder, too, when absolute).
    /// Decodes only the units whose line-program header names the file.
    pub fn lookup_line(&self, file: &Path, line: u32) -> LineLookup {
        self.dwarf(|dwarf| dwarf.lookup_line(file, line))
    }

    /// Where a function that starts at `entry` has set up its frame: `prologue_end`, or the second line row, or `entry`.
    pub fn after_prologue(&self, entry: FileAddress) -> FileAddress {
        self.dwarf(|dwarf| FileAddress(dwarf.after_prologue(entry.0)))
    }
}
