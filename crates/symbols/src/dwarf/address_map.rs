//! Maps addresses to the units that cover them.

use crate::dwarf::Dwarf;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The address ranges of all units.
pub(crate) struct AddressMap {
    /// Sorted by start.
    pub ranges: Vec<UnitRange>,
}

pub(crate) struct UnitRange {
    pub start: u64,
    pub end: u64,
    /// The largest end among this range and all before it. A backwards search stops at a range whose `reach` is too
    /// low.
    pub reach: u64,
    pub unit: u32,
}

impl AddressMap {
    /// Uses `.debug_aranges` for the units listed there (the list of a unit is complete), and the root entries of all
    /// others: rustc writes no `.debug_aranges`, but libraries linked to its code may have them.
    pub fn build(dwarf: &Dwarf<'_>) -> AddressMap {
        let mut ranges = Vec::new();
        let mut add = |start: u64, end: u64, unit: u32| {
            if start < end && dwarf.files.main.elf.is_code(start) {
                ranges.push(UnitRange {
                    start,
                    end,
                    reach: 0,
                    unit,
                });
            }
        };
        let mut listed = vec![false; dwarf.unit_count() as usize];
        let by_offset: FxHashMap<usize, u32> = (0..dwarf.unit_count())
            .filter_map(|index| Some((dwarf.header(index)?.0.debug_info_offset()?.0, index)))
            .collect();
        let mut headers = dwarf.sections().debug_aranges.headers();
        while let Ok(Some(header)) = headers.next() {
            let Some(&unit) = by_offset.get(&header.debug_info_offset().0) else {
                continue;
            };
            let mut entries = header.entries();
            while let Ok(Some(entry)) = entries.next() {
                listed[unit as usize] = true;
                add(
                    entry.address(),
                    entry.address().saturating_add(entry.length()),
                    unit,
                );
            }
        }
        let roots = dwarf.for_each_unit(|index| {
            if listed[index as usize] {
                return Vec::new();
            }
            let ranges = dwarf.root(index).and_then(|part| {
                let root = part.dw.entry(part.dw.header.root_offset()).ok()?;
                Some(dwarf.code_ranges(&part, root.attrs()))
            });
            ranges.unwrap_or_default()
        });
        for (index, unit) in roots.into_iter().enumerate() {
            for range in unit {
                add(range.start, range.end, index as u32);
            }
        }
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut reach = 0;
        for range in &mut ranges {
            reach = range.end.max(reach);
            range.reach = reach;
        }
        AddressMap { ranges }
    }

    /// The units with code in `wanted`, ordered by the starts of their ranges, the highest first.
    pub fn within(&self, wanted: Range<u64>) -> Vec<u32> {
        let after = self
            .ranges
            .partition_point(|range| range.start < wanted.end);
        let mut units: Vec<u32> = Vec::new();
        for range in self.ranges[..after].iter().rev() {
            if range.reach <= wanted.start {
                break;
            }
            if wanted.start < range.end && !units.contains(&range.unit) {
                units.push(range.unit);
            }
        }
        units
    }
}
