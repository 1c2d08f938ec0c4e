//! The index of a unit's entries, made in one pass that skips all but a few attributes: functions with code, variables of
//! static storage, complete types, and the scopes that qualify their names.

use crate::dwarf::enclosing::{OpenScopes, Scopes};
use crate::dwarf::function_lines::FunctionLines;
use crate::dwarf::functions::Function;
use crate::dwarf::{DEPTH_LIMIT, Dwarf, Reader, Unit};
use gimli::{Attribute, DwAt, constants as dw};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Offsets of entries by the unit and offset of the type they are made of; the key is `None` for `void`.
type MadeOf = FxHashMap<Option<(u32, usize)>, Vec<usize>>;

/// A unit's entries, by offset and by address.
#[derive(Debug, Default)]
pub(crate) struct Index<'a> {
    pub scopes: Scopes,
    pub functions: Vec<FunctionEntry>,
    /// Sorted by start.
    function_ranges: Vec<FunctionRange>,
    /// Offsets of variables with static storage outside functions.
    pub statics: Vec<usize>,
    /// Offsets of `DW_TAG_imported_unit` entries, which include another unit's entries in this one.
    pub imports: Vec<usize>,
    /// Offsets of structs, classes, unions and enums that have a definition.
    complete_types: Vec<usize>,
    definitions: OnceLock<FxHashMap<&'a [u8], Vec<usize>>>,
    /// Pointers, arrays and qualified types by their target type.
    derived_types: OnceLock<MadeOf>,
    /// Offsets of Rust function items; see [`Index::is_function_item`].
    function_items: OnceLock<FxHashSet<usize>>,
    /// Offsets of static members' definitions, by unit and offset of the declaration in the class.
    defined_statics: OnceLock<FxHashMap<(u32, usize), usize>>,
    /// See [`Dwarf::written_in`].
    pub function_lines: OnceLock<FunctionLines>,
}

/// A function with code.
#[derive(Debug)]
pub(crate) struct FunctionEntry {
    pub offset: usize,
    pub ranges: Vec<Range<u64>>,
    pub function: OnceLock<Arc<Function>>,
}

#[derive(Debug)]
struct FunctionRange {
    start: u64,
    end: u64,
    /// The largest end among this range and all before it. A backwards search stops at a range whose `reach` is too low.
    reach: u64,
    function: u32,
}

impl<'a> Index<'a> {
    pub fn build(dwarf: &Dwarf<'a>, unit: &Unit<'a>) -> Index<'a> {
        let mut index = Index::default();
        let mut walk = Walk::default();
        index.scopes = match walk.run(dwarf, unit, &mut index) {
            Ok(end) => walk.scopes.end(end),
            Err((offset, error)) => {
                dwarf.warn_unit(
                    unit,
                    gimli::UnitOffset(offset),
                    format!("the unit's entries from here on are left out: {error}"),
                );
                walk.scopes.broken()
            }
        };
        for (number, function) in index.functions.iter().enumerate() {
            for range in &function.ranges {
                let (start, end) = (range.start, range.end);
                index.function_ranges.push(FunctionRange {
                    start,
                    end,
                    reach: 0,
                    function: number as u32,
                });
            }
        }
        index
            .function_ranges
            .sort_by_key(|range| (range.start, range.end));
        let mut reach = 0;
        for range in &mut index.function_ranges {
            reach = range.end.max(reach);
            range.reach = reach;
        }
        index
    }

    /// The function at `address`. If ranges overlap, as in a broken unit: the function whose range starts last.
    pub fn function_at(&self, address: u64) -> Option<&FunctionEntry> {
        let after = self
            .function_ranges
            .partition_point(|range| range.start <= address);
        let mut before = self.function_ranges[..after]
            .iter()
            .rev()
            .take_while(|range| range.reach > address);
        let range = before.find(|range| address < range.end)?;
        self.functions.get(range.function as usize)
    }

    /// The offsets of complete types whose unqualified name is `name`. The names are read on first use.
    pub fn definitions(&self, dwarf: &Dwarf<'a>, unit: &Unit<'a>, name: &[u8]) -> &[usize] {
        let definitions = self.definitions.get_or_init(|| {
            let mut definitions: FxHashMap<&'a [u8], Vec<usize>> = FxHashMap::default();
            for &offset in &self.complete_types {
                // A nested type may be defined outside of the class that declares it; then the name is in the
                // declaration.
                let chain = dwarf.chain(unit, gimli::UnitOffset(offset));
                if let Some(name) = dwarf.chain_text(&chain, dw::DW_AT_name) {
                    definitions.entry(name).or_default().push(offset);
                }
            }
            definitions
        });
        definitions.get(name).map_or(&[], Vec::as_slice)
    }

    /// The offsets of pointers, arrays and qualified types that are made of a type. The first use walks all entries.
    pub fn derived_types(
        &self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        part: Option<(u32, usize)>,
    ) -> &[usize] {
        let derived_types = self.derived_types.get_or_init(|| {
            let mut found = MadeOf::default();
            let mut entries = unit.dw().entries();
            // Ends at an entry that can't be read; the entries behind it are ignored.
            while let Ok(Some(entry)) = entries.next_dfs() {
                let is_made = matches!(
                    entry.tag(),
                    dw::DW_TAG_pointer_type
                        | dw::DW_TAG_array_type
                        | dw::DW_TAG_const_type
                        | dw::DW_TAG_volatile_type
                );
                if !is_made {
                    continue;
                }
                let part = match entry.attr_value(dw::DW_AT_type) {
                    None => None,
                    Some(value) => match dwarf.resolve(unit, value) {
                        Some((unit, offset)) => Some((unit.index, offset.0)),
                        None => continue,
                    },
                };
                found.entry(part).or_default().push(entry.offset().0);
            }
            found
        });
        derived_types.get(&part).map_or(&[], Vec::as_slice)
    }

    /// Whether the entry at `offset`, a pointer to a function, is really a Rust function item: a zero-sized type that
    /// stands for one function. rustc describes both alike, but variables and fields of a function item have an alignment
    /// of one byte. The first use walks all entries.
    pub fn is_function_item(&self, dwarf: &Dwarf<'a>, unit: &Unit<'a>, offset: usize) -> bool {
        let items = self.function_items.get_or_init(|| {
            let mut found = FxHashSet::default();
            let mut entries = unit.dw().entries();
            while let Ok(Some(entry)) = entries.next_dfs() {
                let is_place = matches!(entry.tag(), dw::DW_TAG_variable | dw::DW_TAG_member);
                let alignment = || entry.attr_value(dw::DW_AT_alignment)?.udata_value();
                if is_place
                    && alignment() == Some(1)
                    && let Some(type_) = entry.attr_value(dw::DW_AT_type)
                    && let Some((of, offset)) = dwarf.resolve(unit, type_)
                    && of.index == unit.index
                    && let Some(type_) = dwarf.entry(unit, offset)
                    && type_.tag() == dw::DW_TAG_pointer_type
                {
                    found.insert(offset.0);
                }
            }
            found
        });
        items.contains(&offset)
    }

    /// The offset of the entry that defines a static member. Its `DW_AT_specification` refers to the declaration in the
    /// class, which is at `declaration` in the unit `declared_in`.
    pub fn defined_static(
        &self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        (declared_in, declaration): (u32, usize),
    ) -> Option<usize> {
        let defined = self.defined_statics.get_or_init(|| {
            let declared = |&offset: &usize| {
                let entry = dwarf.entry(unit, gimli::UnitOffset(offset))?;
                let declaration = entry.attr_value(dw::DW_AT_specification)?;
                let (unit, declaration) = dwarf.resolve(unit, declaration)?;
                Some(((unit.index, declaration.0), offset))
            };
            self.statics.iter().filter_map(declared).collect()
        });
        defined.get(&(declared_in, declaration)).copied()
    }

    /// The function whose entry is at `offset`.
    pub fn function_with_offset(&self, offset: usize) -> Option<&FunctionEntry> {
        // `functions` is sorted by offset, because the walk is in this order.
        let index = self
            .functions
            .binary_search_by_key(&offset, |function| function.offset)
            .ok()?;
        self.functions.get(index)
    }
}

/// The state of the pass over the entries.
#[derive(Default)]
struct Walk<'a> {
    scopes: OpenScopes,
    /// The depth of the outermost enclosing function.
    function: Option<isize>,
    attributes: Vec<Attribute<Reader<'a>>>,
}

impl<'a> Walk<'a> {
    fn run(
        &mut self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        index: &mut Index<'a>,
    ) -> Result<usize, (usize, String)> {
        let mut raw = unit
            .dw()
            .entries_raw(None)
            .map_err(|error| (0, error.to_string()))?;
        while !raw.is_empty() {
            let (offset, depth) = (raw.next_offset().0, raw.next_depth());
            if depth > DEPTH_LIMIT {
                return Err((offset, "entries are nested too deeply".to_owned()));
            }
            let broken = |error: gimli::Error| (offset, error.to_string());
            let Some(abbreviation) = raw.read_abbreviation().map_err(broken)? else {
                continue;
            };
            let specs = abbreviation.attributes();
            let tag = abbreviation.tag();
            self.scopes
                .enter(offset, depth, tag, abbreviation.has_children());
            if self.function.is_some_and(|function| function >= depth) {
                self.function = None;
            }
            let says = |name: DwAt| specs.iter().any(|spec| spec.name() == name);
            match tag {
                dw::DW_TAG_subprogram => {
                    if says(dw::DW_AT_low_pc) || says(dw::DW_AT_ranges) {
                        raw.read_attributes(specs, &mut self.attributes)
                            .map_err(broken)?;
                        let ranges = dwarf.kept_code_ranges(unit.part(), &self.attributes);
                        if !ranges.is_empty() {
                            let function = OnceLock::new();
                            index.functions.push(FunctionEntry {
                                offset,
                                ranges,
                                function,
                            });
                        }
                    } else {
                        raw.skip_attributes(specs).map_err(broken)?;
                    }
                    if abbreviation.has_children() {
                        self.function.get_or_insert(depth);
                    }
                }
                dw::DW_TAG_variable => {
                    raw.skip_attributes(specs).map_err(broken)?;
                    let placed = says(dw::DW_AT_location) || says(dw::DW_AT_const_value);
                    let by_symbol =
                        || !says(dw::DW_AT_declaration) && dwarf.may_be_thread_local(unit, offset);
                    if self.function.is_none() && (placed || by_symbol()) {
                        index.statics.push(offset);
                    }
                }
                dw::DW_TAG_imported_unit => {
                    raw.skip_attributes(specs).map_err(broken)?;
                    index.imports.push(offset);
                }
                dw::DW_TAG_structure_type
                | dw::DW_TAG_class_type
                | dw::DW_TAG_union_type
                | dw::DW_TAG_enumeration_type => {
                    raw.skip_attributes(specs).map_err(broken)?;
                    if !says(dw::DW_AT_declaration) {
                        index.complete_types.push(offset);
                    }
                }
                _ => raw.skip_attributes(specs).map_err(broken)?,
            }
        }
        Ok(raw.next_offset().0)
    }
}
