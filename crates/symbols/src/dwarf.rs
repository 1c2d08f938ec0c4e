//! The units of a module's DWARF, and which of them contains an address, a file, or a type signature.
//!
//! The headers of all units are read on first use (they are a chain of lengths: a fraction of a millisecond for thousands
//! of units). A unit's root entry, abbreviations and line-program header are read when the unit is first used, everything
//! else when it is first needed; all of it is cached. A unit that can't be read adds a warning to the module and is
//! otherwise ignored.
//!
//! A unit's entries may be in another file than its addresses and lines: those of a skeleton unit are in a split unit
//! ([`crate::dwarf::split`]), which is opened when an entry is first needed. Use [`Unit::own`] for addresses and lines,
//! and [`Unit::part`] for entries.

pub(crate) mod address_map;
pub(crate) mod array_lengths;
pub(crate) mod async_functions;
pub(crate) mod blocks;
pub(crate) mod breakpoint_locations;
pub(crate) mod call_sites;
pub(crate) mod compilation;
pub(crate) mod coroutines;
pub mod cpp_coroutines;
pub(crate) mod enclosing;
pub(crate) mod entries;
pub mod enumerations;
pub mod fixed_location;
pub(crate) mod function_lines;
pub mod functions;
pub(crate) mod hoisted_constants;
pub(crate) mod index;
pub(crate) mod jump_tables;
pub(crate) mod let_chains;
pub(crate) mod line_candidates;
pub(crate) mod line_entries;
pub(crate) mod line_lookup;
pub mod lines;
pub mod location;
pub mod lsda;
pub(crate) mod name_index;
pub(crate) mod prologues;
pub mod queries;
pub mod results;
pub(crate) mod roots;
pub mod scopes;
pub mod signatures;
pub mod source_copies;
pub(crate) mod split;
pub(crate) mod stray_rows;
pub mod summary;
pub(crate) mod supplementary;
pub(crate) mod thread_locals;
pub(crate) mod thread_statics;
pub(crate) mod trait_tables;
pub(crate) mod type_entries;
pub(crate) mod type_names;
pub mod types;

use crate::Error;
use crate::dwarf::address_map::AddressMap;
use crate::dwarf::blocks::Blocks;
use crate::dwarf::compilation::Compilation;
use crate::dwarf::enclosing::Scopes;
use crate::dwarf::functions::Language;
use crate::dwarf::index::Index;
use crate::dwarf::line_lookup::FilesCalled;
use crate::dwarf::lines::Lines;
use crate::dwarf::name_index::UnitNames;
use crate::dwarf::split::{SplitFiles, SplitObject, SplitUnit};
use crate::dwarf::thread_locals::ThreadLocals;
use crate::dwarf::trait_tables::TraitTables;
use crate::dwarf::types::Type;
use crate::files::Files;
use crate::indexing::IndexSlot;
use crate::instruction_sets::InstructionSets;
use crate::paths::join;
use gimli::{AttributeValue, EndianSlice, LittleEndian, Section, SectionId, UnitOffset};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// The maximum length of chains of `DW_AT_abstract_origin` and `DW_AT_specification`. Compilers make one or two links;
/// chains in broken files may be endless.
pub(crate) const CHAIN_LIMIT: usize = 32;
/// The maximum nesting of entries; deeper than any compiler makes.
pub(crate) const DEPTH_LIMIT: isize = 256;

/// All units.
pub(crate) struct Dwarf<'a> {
    pub files: &'a Files,
    source: Arc<Source<'a>>,
    /// The module's units, followed by those of its supplementary file.
    slots: Vec<Slot<'a>>,
    /// The number of slots that are the module's own units.
    own_count: usize,
    /// Units of files opened later; they are numbered after `slots`.
    companion_units: boxcar::Vec<Slot<'a>>,
    split: Arc<SplitFiles<'a>>,
    addresses: OnceLock<AddressMap>,
    /// What the method `files_called` has found, by base name.
    pub files_called: Mutex<FxHashMap<Vec<u8>, FilesCalled>>,
    /// The index of all units in `slots`, if there is one.
    pub index_slot: IndexSlot,
    signatures: OnceLock<FxHashMap<u64, (u32, usize)>>,
    /// By the offset of the line-number program.
    line_tables: Mutex<FxHashMap<usize, Arc<Lines>>>,
    package_types: Mutex<FxHashMap<u64, Option<(u32, usize)>>>,
    pub trait_tables: OnceLock<TraitTables>,
    /// See [`crate::indirect::own_code`].
    pub own_code: OnceLock<FxHashMap<u64, u64>>,
    /// The linkage names of thread-local variables.
    pub thread_locals: OnceLock<FxHashSet<&'a [u8]>>,
    /// Where those are whose entries don't say so.
    pub thread_locals_by_name: OnceLock<ThreadLocals>,
    /// Of a file of arm, which code is decoded how.
    instruction_sets: OnceLock<InstructionSets>,
}

/// The sections that units are read from.
pub(crate) struct Source<'a> {
    pub sections: gimli::Dwarf<Reader<'a>>,
    /// The file that the sections are in.
    pub path: &'a Path,
    /// The number of code ranges kept so far for its entries; see [`Dwarf::kept_code_ranges`].
    pub ranges_kept: AtomicUsize,
}

/// The set of units that a unit can refer to.
#[derive(Clone)]
pub(crate) enum Origin<'a> {
    /// All units of the module and its supplementary file.
    Module,
    /// All units of the same supplementary file.
    Supplementary,
    /// The type units of the same object file, and those of the module.
    SplitObject(Arc<SplitObject<'a>>),
    /// The type units of the same package.
    Package,
}

/// A unit in one file: a complete unit, a skeleton unit or a split unit.
pub(crate) struct Part<'a> {
    pub source: Arc<Source<'a>>,
    pub origin: Origin<'a>,
    pub dw: gimli::Unit<Reader<'a>>,
}

/// A unit's header, and the unit once it is read.
struct Slot<'a> {
    header: gimli::UnitHeader<Reader<'a>>,
    source: Arc<Source<'a>>,
    origin: Origin<'a>,
    unit: OnceLock<Option<Box<Unit<'a>>>>,
}

/// A unit with everything decoded from it so far.
pub(crate) struct Unit<'a> {
    pub index: u32,
    /// The part with the addresses and lines.
    pub own: Part<'a>,
    /// The split unit with the entries, if they are in another file.
    split: Option<SplitUnit<'a>>,
    pub directory: PathBuf,
    compilation: OnceLock<Compilation>,
    partial: bool,
    inherited_language: OnceLock<Language>,
    files: OnceLock<Vec<Arc<Path>>>,
    lines: OnceLock<Arc<Lines>>,
    entries: OnceLock<Index<'a>>,
    /// The scopes according to the module's index. `None`: the module has no index.
    scopes: OnceLock<Option<Scopes>>,
    names: OnceLock<UnitNames<'a>>,
    blocks: Mutex<FxHashMap<usize, Arc<Blocks>>>,
    pub types: Mutex<FxHashMap<usize, Arc<Type>>>,
}

impl<'a> Unit<'a> {
    /// The part with the entries. Opens the split unit's file on first use; if that fails, this is the skeleton unit with
    /// its few entries.
    pub fn part(&self) -> &Part<'a> {
        let split = self.split.as_ref();
        split
            .and_then(|split| split.part(&self.own))
            .unwrap_or(&self.own)
    }

    /// The unit with the entries.
    pub fn dw(&self) -> &gimli::Unit<Reader<'a>> {
        &self.part().dw
    }

    /// The sections that the entries refer to.
    pub fn sections(&self) -> &gimli::Dwarf<Reader<'a>> {
        &self.part().source.sections
    }

    pub fn language(&self) -> Language {
        match self.compilation().language {
            Language::Other => self
                .inherited_language
                .get()
                .copied()
                .unwrap_or(Language::Other),
            known => known,
        }
    }

    /// Notes that `other` refers to this unit. The partial units that `dwz` makes have no language of their own; they get
    /// the language of the first unit with a known language that is noted here.
    pub fn inherit_language(&self, other: &Unit<'a>) {
        if self.partial && self.index != other.index && other.language() != Language::Other {
            self.inherited_language.get_or_init(|| other.language());
        }
    }

    /// Whether this is a partial unit. Other units import it; it shares their line table, and has no code of its own.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// Whether the unit is a skeleton unit: its entries are in another file, or should be if that file isn't found.
    pub fn is_split(&self) -> bool {
        self.split.is_some()
    }

    /// Whether the unit was compiled with optimisation, from the command line that gcc records. `None`: none is recorded.
    pub fn optimised(&self) -> Option<bool> {
        self.compilation().optimised
    }

    fn compilation(&self) -> &Compilation {
        self.compilation
            .get_or_init(|| Compilation::read(self.part()))
    }

    /// The blocks of a function; parsed once and cached.
    pub fn blocks(&self, function: usize, parse: impl FnOnce() -> Blocks) -> Arc<Blocks> {
        let kept = self
            .blocks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&function)
            .cloned();
        kept.unwrap_or_else(|| {
            let blocks = Arc::new(parse());
            self.blocks
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(function, blocks.clone());
            blocks
        })
    }
}

impl<'a> Dwarf<'a> {
    pub fn new(files: &'a Files) -> Dwarf<'a> {
        let load = |id: SectionId| -> Result<Reader<'a>, gimli::Error> {
            Ok(EndianSlice::new(
                files.debug_section(id.name()),
                LittleEndian,
            ))
        };
        let mut sections = gimli::Dwarf::load(load).unwrap_or_else(|_| {
            // `load` above never fails; without sections there are just no units.
            gimli::DwarfSections::<&[u8]>::default().borrow(|_| EndianSlice::new(&[], LittleEndian))
        });
        let supplementary = supplementary::open(files, &mut sections);
        let source = Arc::new(Source::new(sections, &files.with_dwarf().elf.path));
        let headers = read_unit_headers(files, &source);
        let mut slots: Vec<Slot> = headers
            .into_iter()
            .map(|header| Slot::new(header, source.clone(), Origin::Module))
            .collect();
        let own_count = slots.len();
        if let Some(source) = supplementary {
            for header in read_unit_headers(files, &source) {
                slots.push(Slot::new(header, source.clone(), Origin::Supplementary));
            }
        }
        Dwarf {
            files,
            source,
            slots,
            own_count,
            companion_units: boxcar::Vec::new(),
            split: Arc::new(SplitFiles::new(files)),
            addresses: OnceLock::new(),
            files_called: Mutex::default(),
            index_slot: IndexSlot::default(),
            signatures: OnceLock::new(),
            line_tables: Mutex::default(),
            package_types: Mutex::default(),
            trait_tables: OnceLock::new(),
            own_code: OnceLock::new(),
            thread_locals: OnceLock::new(),
            thread_locals_by_name: OnceLock::new(),
            instruction_sets: OnceLock::new(),
        }
    }

    /// The sections of the module's own units.
    pub fn sections(&self) -> &gimli::Dwarf<Reader<'a>> {
        &self.source.sections
    }

    /// The number of units of the module itself, including unreadable ones.
    pub fn unit_count(&self) -> u32 {
        self.own_count as u32
    }

    /// The number of units of the module and its supplementary file.
    pub fn all_unit_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// A unit of the module, or of a file that was opened for the module, by the unit's number.
    pub fn unit(&self, index: u32) -> Option<&Unit<'a>> {
        let number = index as usize;
        let slot = match self.slots.get(number) {
            Some(slot) => slot,
            None => self
                .companion_units
                .get(number.checked_sub(self.first_of_companions())?)?,
        };
        slot.unit
            .get_or_init(|| self.read_unit(index, slot))
            .as_deref()
    }

    pub fn units(&self) -> impl Iterator<Item = &Unit<'a>> {
        (0..self.unit_count()).filter_map(|index| self.unit(index))
    }

    /// The module's units and those of its supplementary file.
    pub fn all_units(&self) -> impl Iterator<Item = &Unit<'a>> {
        (0..self.slots.len() as u32).filter_map(|index| self.unit(index))
    }

    /// Adds a unit of another file and returns its number.
    fn add_unit(
        &self,
        header: gimli::UnitHeader<Reader<'a>>,
        source: Arc<Source<'a>>,
        origin: Origin<'a>,
    ) -> u32 {
        let index = self.companion_units.push(Slot::new(header, source, origin));
        (self.first_of_companions() + index) as u32
    }

    fn first_of_companions(&self) -> usize {
        self.slots.len() + self.files.reserved_unit_numbers
    }

    /// A unit's header, sections and origin, without reading the unit.
    pub fn header(
        &self,
        index: u32,
    ) -> Option<(gimli::UnitHeader<Reader<'a>>, Arc<Source<'a>>, Origin<'a>)> {
        let slot = self.slots.get(index as usize)?;
        Some((slot.header, slot.source.clone(), slot.origin.clone()))
    }

    /// Reads a unit without caching it, for a single pass over it.
    pub fn fresh_unit(&self, index: u32) -> Option<Box<Unit<'a>>> {
        self.read_unit(index, self.slots.get(index as usize)?)
    }

    fn read_unit(&self, index: u32, slot: &Slot<'a>) -> Option<Box<Unit<'a>>> {
        let own = match Part::read(slot.header, slot.source.clone(), slot.origin.clone()) {
            Ok(own) => own,
            Err(error) => {
                let reason = format!("this unit is left out: {error}");
                self.files.warn(slot.source.error(&slot.header, 0, reason));
                return None;
            }
        };
        let split = match slot.origin {
            Origin::Module => SplitUnit::of(&own, &self.split),
            _ => None,
        };
        let directory = match own.dw.comp_dir {
            Some(directory) => path_of(directory).to_owned(),
            None => PathBuf::new(),
        };
        Some(Box::new(Unit {
            index,
            partial: own.is_partial(),
            inherited_language: OnceLock::new(),
            own,
            split,
            directory,
            compilation: OnceLock::new(),
            files: OnceLock::new(),
            lines: OnceLock::new(),
            entries: OnceLock::new(),
            scopes: OnceLock::new(),
            names: OnceLock::new(),
            blocks: Mutex::default(),
            types: Mutex::default(),
        }))
    }

    /// The unit and the offset in that unit, for an offset in the section that has the entries of `unit`.
    fn referred_entry(
        &self,
        unit: &Unit<'a>,
        offset: gimli::DebugInfoOffset<usize>,
    ) -> Option<(&Unit<'a>, UnitOffset<usize>)> {
        let part = unit.part();
        match part.origin {
            Origin::Module => return self.unit_at_offset(offset),
            Origin::Supplementary => return self.supplementary_unit_at_offset(offset),
            _ => {}
        }
        Some((
            self.unit(unit.index)?,
            offset.to_unit_offset(&part.dw.header)?,
        ))
    }

    /// The module's unit that contains `offset` of `.debug_info`, and the offset inside that unit.
    pub fn unit_at_offset(
        &self,
        offset: gimli::DebugInfoOffset<usize>,
    ) -> Option<(&Unit<'a>, UnitOffset<usize>)> {
        self.unit_among(0..self.own_count, offset)
    }

    /// Like [`Dwarf::unit_at_offset`], but in the supplementary file.
    fn supplementary_unit_at_offset(
        &self,
        offset: gimli::DebugInfoOffset<usize>,
    ) -> Option<(&Unit<'a>, UnitOffset<usize>)> {
        self.unit_among(self.own_count..self.slots.len(), offset)
    }

    fn unit_among(
        &self,
        range: Range<usize>,
        offset: gimli::DebugInfoOffset<usize>,
    ) -> Option<(&Unit<'a>, UnitOffset<usize>)> {
        let start_of = |slot: &Slot| {
            slot.header
                .debug_info_offset()
                .map_or(usize::MAX, |start| start.0)
        };
        let slots = self.slots.get(range.clone())?;
        let after = slots.partition_point(|slot| start_of(slot) <= offset.0);
        let index = after.checked_sub(1)?;
        let inside = offset.to_unit_offset(&slots[index].header)?;
        Some((self.unit((range.start + index) as u32)?, inside))
    }

    /// The type entry for a type unit's signature, as seen from `unit`.
    pub fn type_with_signature(
        &self,
        unit: &Unit<'a>,
        signature: u64,
    ) -> Option<(&Unit<'a>, UnitOffset<usize>)> {
        let part = unit.part();
        let (unit, offset) = match &part.origin {
            Origin::Module | Origin::Supplementary => self.module_type(signature),
            Origin::SplitObject(object) => self
                .object_type(object, signature)
                .or_else(|| self.module_type(signature)),
            Origin::Package => self.package_type(signature),
        }?;
        Some((self.unit(unit)?, UnitOffset(offset)))
    }

    fn module_type(&self, signature: u64) -> Option<(u32, usize)> {
        let signatures = self.signatures.get_or_init(|| {
            let mut map = FxHashMap::default();
            for (index, slot) in self.slots.iter().enumerate() {
                if let Some((signature, offset)) = type_of_unit(&slot.header) {
                    map.entry(signature).or_insert((index as u32, offset));
                }
            }
            map
        });
        signatures.get(&signature).copied()
    }

    /// A type in an object file. The type units of the file are added on first use.
    fn object_type(&self, object: &Arc<SplitObject<'a>>, signature: u64) -> Option<(u32, usize)> {
        let types = object.types.get_or_init(|| {
            let mut types = FxHashMap::default();
            let source = &object.source;
            for header in read_unit_headers(self.files, source) {
                let Some((signature, offset)) = type_of_unit(&header) else {
                    continue;
                };
                types.entry(signature).or_insert_with(|| {
                    let origin = Origin::SplitObject(object.clone());
                    (self.add_unit(header, source.clone(), origin), offset)
                });
            }
            types
        });
        types.get(&signature).copied()
    }

    /// A type in the module's package.
    fn package_type(&self, signature: u64) -> Option<(u32, usize)> {
        let mut known = self
            .package_types
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *known.entry(signature).or_insert_with(|| {
            let source = self.split.package_type(signature, &self.source)?;
            let header = read_unit_headers(self.files, &source)
                .into_iter()
                .find(|header| type_of_unit(header).is_some_and(|(found, _)| found == signature))?;
            let (_, offset) = type_of_unit(&header)?;
            Some((self.add_unit(header, source, Origin::Package), offset))
        })
    }

    /// The units with code at `address`.
    pub fn units_at(&self, address: u64) -> impl Iterator<Item = &Unit<'a>> {
        self.units_in(address..address.saturating_add(1))
    }

    /// The units with code in `range`.
    pub fn units_in(&self, range: Range<u64>) -> impl Iterator<Item = &Unit<'a>> {
        let indexed = match self.addresses.get() {
            Some(_) => None,
            None => self.ask_index_if_there(|index| index.units_within(range.clone())),
        };
        indexed
            .unwrap_or_else(|| self.address_map().within(range))
            .into_iter()
            .filter_map(|index| self.unit(index))
    }

    /// The map from addresses to units, made without the module's index.
    pub fn address_map(&self) -> &AddressMap {
        self.addresses.get_or_init(|| AddressMap::build(self))
    }

    /// The entry that a reference attribute refers to.
    pub fn resolve(
        &self,
        unit: &Unit<'a>,
        value: AttributeValue<Reader<'a>>,
    ) -> Option<(&Unit<'a>, UnitOffset<usize>)> {
        let (found, offset) = match value {
            AttributeValue::UnitRef(offset) => return Some((self.unit(unit.index)?, offset)),
            AttributeValue::DebugInfoRef(offset) => self.referred_entry(unit, offset),
            AttributeValue::DebugInfoRefSup(offset) => self.supplementary_unit_at_offset(offset),
            AttributeValue::DebugTypesRef(signature) => self.type_with_signature(unit, signature.0),
            _ => None,
        }?;
        found.inherit_language(unit);
        Some((found, offset))
    }

    pub fn text(&self, unit: &Unit<'a>, value: AttributeValue<Reader<'a>>) -> Option<&'a [u8]> {
        let text = unit.sections().attr_string(unit.dw(), value);
        text.ok().map(|text| text.slice())
    }

    /// Adds a warning about a section.
    pub fn warn(&self, section: &'static str, offset: usize, reason: impl Into<String>) {
        self.files
            .warn(self.files.malformed(section, offset as u64, reason));
    }

    /// Adds a warning about a unit.
    pub fn warn_unit(&self, unit: &Unit<'a>, offset: UnitOffset<usize>, reason: impl Into<String>) {
        self.files.warn(self.unit_error(unit, offset, reason));
    }

    pub fn unit_error(
        &self,
        unit: &Unit<'a>,
        offset: UnitOffset<usize>,
        reason: impl Into<String>,
    ) -> Error {
        let part = unit.part();
        part.source.error(&part.dw.header, offset.0, reason)
    }

    /// The index of a unit's own entries.
    pub fn index<'s>(&'s self, unit: &'s Unit<'a>) -> &'s Index<'a> {
        unit.entries.get_or_init(|| Index::build(self, unit))
    }

    /// The offsets of the scopes around an entry, innermost first. Uses the unit's own index if it exists already or if
    /// the module has no index.
    pub fn scopes_around(&self, unit: &Unit<'a>, offset: usize) -> Vec<usize> {
        if let Some(index) = unit.entries.get() {
            return index.scopes.around(offset);
        }
        let indexed = unit.scopes.get_or_init(|| {
            let known = unit.index < self.all_unit_count();
            known
                .then(|| self.ask_index_if_there(|index| index.scopes(self, unit)))
                .flatten()
        });
        match indexed {
            Some(scopes) => scopes.around(offset),
            None => self.index(unit).scopes.around(offset),
        }
    }

    /// The base names of a unit's entries.
    pub fn names<'s>(&'s self, unit: &'s Unit<'a>) -> &'s UnitNames<'a> {
        unit.names.get_or_init(|| UnitNames::build(self, unit))
    }

    pub fn lines<'s>(&'s self, unit: &'s Unit<'a>) -> &'s Lines {
        unit.lines.get_or_init(|| {
            let Some(program) = &unit.own.dw.line_program else {
                return Arc::default();
            };
            // Units may share a line table. Compilers give each unit its own, but in a broken file thousands may refer to
            // one.
            let key = program.header().offset().0;
            let tables = || {
                self.line_tables
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
            };
            let known = tables().get(&key).cloned();
            known.unwrap_or_else(|| {
                let mut lines = Lines::decode(self, unit);
                stray_rows::correct(self, unit, &mut lines);
                hoisted_constants::correct(self, unit, &mut lines);
                let lines = Arc::new(lines);
                tables().entry(key).or_insert(lines).clone()
            })
        })
    }

    /// A unit's files by the numbers that its line table and entries use.
    pub fn unit_files<'s>(&'s self, unit: &'s Unit<'a>) -> &'s [Arc<Path>] {
        unit.files.get_or_init(|| {
            let Some(program) = &unit.own.dw.line_program else {
                return Vec::new();
            };
            let header = program.header();
            let first = if header.version() >= 5 { 0 } else { 1 };
            let mut paths: Vec<Arc<Path>> = Vec::with_capacity(header.file_names().len() + 1);
            if first == 1 {
                let name = unit.own.dw.name.map(path_of).unwrap_or(Path::new(""));
                paths.push(join(&[&unit.directory, name]).into());
            }
            for file in header.file_names() {
                paths.push(unit.own.file_path(file).into());
            }
            paths
        })
    }

    pub fn file_numbered(&self, unit: &Unit<'a>, number: u64) -> Option<Arc<Path>> {
        let number = usize::try_from(number).ok()?;
        // In DWARF 4, file 0 means that there is no file.
        if number == 0 && unit.own.dw.header.version() < 5 {
            return None;
        }
        self.unit_files(unit).get(number).cloned()
    }
}

impl<'a> Slot<'a> {
    fn new(
        header: gimli::UnitHeader<Reader<'a>>,
        source: Arc<Source<'a>>,
        origin: Origin<'a>,
    ) -> Slot<'a> {
        Slot {
            header,
            source,
            origin,
            unit: OnceLock::new(),
        }
    }
}

impl<'a> Part<'a> {
    /// Reads a unit's root entry and abbreviations.
    pub fn read(
        header: gimli::UnitHeader<Reader<'a>>,
        source: Arc<Source<'a>>,
        origin: Origin<'a>,
    ) -> Result<Part<'a>, gimli::Error> {
        let dw = source.sections.unit(header)?;
        Ok(Part { source, origin, dw })
    }
}

impl<'a> Source<'a> {
    pub fn new(sections: gimli::Dwarf<Reader<'a>>, path: &'a Path) -> Source<'a> {
        Source {
            sections,
            path,
            ranges_kept: AtomicUsize::new(0),
        }
    }

    /// The size of the range lists, in bytes.
    pub fn range_bytes(&self) -> usize {
        let ranges = &self.sections.ranges;
        ranges.debug_ranges().reader().slice().len()
            + ranges.debug_rnglists().reader().slice().len()
    }

    pub fn error(
        &self,
        header: &gimli::UnitHeader<Reader<'a>>,
        offset: usize,
        reason: impl Into<String>,
    ) -> Error {
        let (section, start) = place(header);
        self.malformed(section, start.saturating_add(offset), reason)
    }

    fn malformed(&self, section: &'static str, offset: usize, reason: impl Into<String>) -> Error {
        Error::Malformed {
            path: self.path.to_owned(),
            section,
            offset: offset as u64,
            reason: reason.into(),
        }
    }
}

/// The section and offset of a unit's header.
pub(crate) fn place(header: &gimli::UnitHeader<Reader<'_>>) -> (&'static str, usize) {
    match (header.debug_info_offset(), header.debug_types_offset()) {
        (Some(offset), _) => (".debug_info", offset.0),
        (None, Some(offset)) => (".debug_types", offset.0),
        (None, None) => (".debug_info", 0),
    }
}

/// The signature of a type unit, and the offset of the type in the unit.
fn type_of_unit(header: &gimli::UnitHeader<Reader<'_>>) -> Option<(u64, usize)> {
    match header.type_() {
        gimli::UnitType::Type {
            type_signature,
            type_offset,
        }
        | gimli::UnitType::SplitType {
            type_signature,
            type_offset,
        } => Some((type_signature.0, type_offset.0)),
        _ => None,
    }
}

/// The headers of all units; stops, with a warning, at the first that can't be read.
pub(crate) fn read_unit_headers<'a>(
    files: &Files,
    source: &Source<'a>,
) -> Vec<gimli::UnitHeader<Reader<'a>>> {
    let mut headers = Vec::new();
    let mut units = source.sections.units();
    loop {
        match units.next() {
            Ok(Some(header)) => headers.push(header),
            Ok(None) => break,
            Err(error) => {
                let reason = format!("the units from here on are left out: {error}");
                files.warn(source.malformed(".debug_info", 0, reason));
                break;
            }
        }
    }
    let mut units = source.sections.type_units();
    loop {
        match units.next() {
            Ok(Some(header)) => headers.push(header),
            Ok(None) => break,
            Err(error) => {
                let reason = format!("the type units from here on are left out: {error}");
                files.warn(source.malformed(".debug_types", 0, reason));
                break;
            }
        }
    }
    headers
}

pub(crate) fn bytes_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

fn path_of(text: Reader<'_>) -> &Path {
    bytes_path(text.slice())
}
