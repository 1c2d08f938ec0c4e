//! The index of a whole module: maps names to entries, files to units, and addresses to units.
//!
//! It is built once by a walk over all entries ([`build`]), written to a file of the user's cache if there is one
//! ([`crate::index_file::cache`]), and from then on used in place ([`crate::index_file`]), so that a program with
//! hundreds of megabytes of debug information answers as quickly as a small one. The index only says where to look: the
//! entries themselves are read from the debug information. If the index contradicts itself or the debug information, it
//! is given up, and queries read the units again.

pub(crate) mod build;

use crate::dwarf::address_map::UnitRange;
use crate::dwarf::enclosing::{Scope, Scopes};
use crate::dwarf::name_index::{EntryKind, EntryPlace};
use crate::dwarf::roots::{NumberedFile, base_of_path};
use crate::dwarf::{Dwarf, Unit, bytes_path, place};
use crate::index_file::keyed::{Keyed, Numbers};
use crate::index_file::{IndexError, IndexFile, RANGE, UNIT, table};
use std::ops::Range;

/// A flag in a recorded unit offset: the unit is in `.debug_types`.
const IN_TYPES: u64 = 1 << 63;

/// A module's index, whose list of units was found to be the same as the module's.
pub(crate) struct StoredIndex {
    file: IndexFile,
    names: Keyed,
    files: Keyed,
    units: u32,
}

impl StoredIndex {
    /// Uses the index in `file` if its units are those of `dwarf`.
    pub fn new(file: IndexFile, dwarf: &Dwarf<'_>) -> Result<StoredIndex, IndexError> {
        let count = dwarf.all_unit_count();
        let units = file.table(table::UNITS, 0..file.table_len(table::UNITS))?;
        let same = units.len() == count as usize * UNIT
            && units.chunks_exact(UNIT).enumerate().all(|(index, record)| {
                let known = dwarf.header(index as u32);
                known.is_some_and(|(header, ..)| record.starts_with(&unit_place(&header).concat()))
            });
        if !same {
            return Err(file.wrong("it is of other units".to_owned()));
        }
        Ok(StoredIndex {
            names: Keyed::new(&file, table::NAMES)?,
            files: Keyed::new(&file, table::FILES)?,
            units: count,
            file,
        })
    }

    /// Returns `answer`, or an error if the index file is known to have changed by now. Lost pages read as zeros, so the
    /// answer may then be wrong.
    pub fn still<T>(&self, answer: T) -> Result<T, IndexError> {
        self.file.check_whole().map(|()| answer)
    }

    pub fn bytes(&self) -> &[u8] {
        self.file.bytes()
    }

    /// As [`crate::dwarf::name_index::NameIndex::entries_named`].
    pub fn entries_named(
        &self,
        dwarf: &Dwarf<'_>,
        base: &[u8],
        kind: EntryKind,
    ) -> Result<Vec<EntryPlace>, IndexError> {
        let compare = |key: &[u8]| key.cmp(base);
        let Some(name) = self.names.find(&self.file, compare)? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut numbers = Numbers(self.names.postings(&self.file, name)?);
        let mut unit = 0_u64;
        while !numbers.is_empty() {
            let mut next = || numbers.next().ok_or_else(|| self.contradiction());
            unit = unit.saturating_add(next()?);
            let count = next()?;
            let mut offset = 0_u64;
            let before = found.len();
            for _ in 0..count {
                let word = next()?;
                offset = offset.saturating_add(word >> build::KIND_BITS);
                if word & build::KIND_MASK == kind as u64 {
                    found.push(EntryPlace {
                        unit: unit as u32,
                        offset: offset as usize,
                    });
                }
            }
            if unit >= u64::from(self.units) {
                return Err(self.contradiction());
            }
            if found.len() > before {
                self.check_split(dwarf, unit as u32)?;
            }
        }
        Ok(found)
    }

    /// As [`crate::dwarf::name_index::NameIndex::base_names`].
    pub fn base_names(
        &self,
        kind: EntryKind,
        wanted: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<Vec<Vec<u8>>, IndexError> {
        let kinds = self.file.table(table::KINDS, 0..self.names.len())?;
        let mut found = Vec::new();
        for (name, kinds) in kinds.iter().enumerate() {
            if kinds & (1 << kind as u8) != 0 {
                let key = self.names.key(&self.file, name)?;
                if wanted(key) {
                    found.push(key.to_vec());
                }
            }
        }
        Ok(found)
    }

    /// The files with this base name, each with the index of a unit that names it, in unit order.
    pub fn files_called(&self, base: &[u8]) -> Result<Vec<(u32, NumberedFile)>, IndexError> {
        let first = self
            .files
            .partition_point(&self.file, |path| base_of_path(path) < base)?;
        let mut found = Vec::new();
        for file in first..self.files.len() {
            let path = self.files.key(&self.file, file)?;
            if base_of_path(path) != base {
                break;
            }
            let mut numbers = Numbers(self.files.postings(&self.file, file)?);
            let mut unit = 0_u64;
            while !numbers.is_empty() {
                let mut next = || numbers.next().ok_or_else(|| self.contradiction());
                unit = unit.saturating_add(next()?);
                let number = u32::try_from(next()?).map_err(|_| self.contradiction())?;
                if unit >= u64::from(self.units) {
                    return Err(self.contradiction());
                }
                let path = bytes_path(path).to_owned();
                found.push((unit as u32, NumberedFile { number, path }));
            }
        }
        // Sort in unit order, the order of the same query without an index.
        found.sort_by_key(|(unit, file)| (*unit, file.number));
        Ok(found)
    }

    /// As [`crate::dwarf::address_map::AddressMap::within`].
    pub fn units_within(&self, wanted: Range<u64>) -> Result<Vec<u32>, IndexError> {
        let count = self.file.table_len(table::RANGES) / RANGE;
        let range = |index: usize| -> Result<UnitRange, IndexError> {
            let bytes = self
                .file
                .table(table::RANGES, index * RANGE..(index + 1) * RANGE)?;
            let number = |at: usize| {
                let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
                u64::from_le_bytes(bytes.copied().unwrap_or_default())
            };
            Ok(UnitRange {
                start: number(0),
                end: number(8),
                reach: number(16),
                unit: number(24) as u32,
            })
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            match range(middle)?.start < wanted.end {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let mut units = Vec::new();
        for index in (0..low).rev() {
            let range = range(index)?;
            if range.reach <= wanted.start {
                break;
            }
            if wanted.start < range.end && !units.contains(&range.unit) {
                if range.unit >= self.units {
                    return Err(self.contradiction());
                }
                units.push(range.unit);
            }
        }
        Ok(units)
    }

    pub fn scopes(&self, dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> Result<Scopes, IndexError> {
        self.check_split(dwarf, unit.index)?;
        let end_of = |unit: usize| -> Result<usize, IndexError> {
            let bytes = self.file.table(table::SCOPE_ENDS, unit * 4..unit * 4 + 4)?;
            Ok(u32::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default()) as usize)
        };
        let number = unit.index as usize;
        let start = match number {
            0 => 0,
            _ => end_of(number - 1)?,
        };
        let mut numbers = Numbers(self.file.table(table::SCOPES, start..end_of(number)?)?);
        let mut scopes: Vec<Scope> = Vec::new();
        let mut start = 0_usize;
        while !numbers.is_empty() {
            let mut next = || {
                let number = numbers.next().ok_or_else(|| self.contradiction())?;
                usize::try_from(number).map_err(|_| self.contradiction())
            };
            let (distance, size, up) = (next()?, next()?, next()?);
            start = start.saturating_add(distance);
            let parent = match up {
                0 => None,
                _ => Some(
                    scopes
                        .len()
                        .checked_sub(up)
                        .ok_or_else(|| self.contradiction())? as u32,
                ),
            };
            let end = match size {
                0 => usize::MAX,
                size => start.saturating_add(size),
            };
            scopes.push(Scope { start, end, parent });
        }
        Ok(Scopes(scopes))
    }

    /// An error if the unit is a split unit and has another length than the index recorded: the entries of a split unit are
    /// in a file of their own, which may have been replaced or removed.
    fn check_split(&self, dwarf: &Dwarf<'_>, unit: u32) -> Result<(), IndexError> {
        let at = unit as usize * UNIT + 16;
        let recorded = self.file.table(table::UNITS, at..at + 8)?;
        let Some(unit) = dwarf.unit(unit) else {
            return Err(self.contradiction());
        };
        let now = unit.dw().header.length_including_self() as u64;
        match unit.is_split() && recorded != now.to_le_bytes() {
            true => Err(self.file.wrong("a split unit is another one".to_owned())),
            false => Ok(()),
        }
    }

    fn contradiction(&self) -> IndexError {
        self.file.wrong("it contradicts itself".to_owned())
    }
}

/// A unit's offset (with [`IN_TYPES`]) and length.
fn unit_place(header: &gimli::UnitHeader<crate::dwarf::Reader<'_>>) -> [[u8; 8]; 2] {
    let (section, offset) = place(header);
    let types = if section == ".debug_types" {
        IN_TYPES
    } else {
        0
    };
    [
        (offset as u64 | types).to_le_bytes(),
        (header.length_including_self() as u64).to_le_bytes(),
    ]
}
