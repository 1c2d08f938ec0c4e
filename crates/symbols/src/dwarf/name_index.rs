//! Finds the entries with a base name, which is the first step of every query by name.
//!
//! [`NameIndex`] is the interface. [`FullWalk`] implements it with one pass over each unit, made on first use and cached;
//! the stored index implements the same queries.

use crate::dwarf::enclosing::{OpenScopes, Scopes};
use crate::dwarf::{CHAIN_LIMIT, DEPTH_LIMIT, Dwarf, Reader, Unit};
use crate::names::base_of;
use gimli::{AttributeValue, UnitOffset, constants as dw};
use rustc_hash::FxHashMap;

/// What kind of named thing an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EntryKind {
    /// A function with code of its own.
    Function,
    /// A copy of a function inlined into another.
    InlinedCall,
    /// A variable of static storage, inside or outside of functions.
    Variable,
    /// A type with its definition, including typedefs and base types.
    Type,
    /// A type that is only declared.
    DeclaredType,
}

/// Identifies an entry: its unit and its offset in the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryPlace {
    pub unit: u32,
    pub offset: usize,
}

/// Finds entries by base name: the last component of a name, without generic arguments and parameters (see [`base_of`]).
/// All implementations for whole modules return the same results in the same order.
pub(crate) trait NameIndex {
    /// The entries with this kind and base name, by unit and offset.
    fn entries_named(&self, base: &[u8], kind: EntryKind) -> Vec<EntryPlace>;

    /// The base names of this kind for which `wanted` is true, each once, sorted.
    fn base_names(&self, kind: EntryKind, wanted: &mut dyn FnMut(&[u8]) -> bool) -> Vec<Vec<u8>>;
}

/// Uses the module's index if there is one, otherwise all units.
pub(crate) struct AnyIndex<'s, 'a>(pub &'s Dwarf<'a>);

impl NameIndex for AnyIndex<'_, '_> {
    fn entries_named(&self, base: &[u8], kind: EntryKind) -> Vec<EntryPlace> {
        let Self(dwarf) = self;
        let stored = dwarf.ask_index(|index| index.entries_named(dwarf, base, kind));
        stored.unwrap_or_else(|| FullWalk(dwarf).entries_named(base, kind))
    }

    fn base_names(&self, kind: EntryKind, wanted: &mut dyn FnMut(&[u8]) -> bool) -> Vec<Vec<u8>> {
        let Self(dwarf) = self;
        let stored = dwarf.ask_index(|index| index.base_names(kind, wanted));
        stored.unwrap_or_else(|| FullWalk(dwarf).base_names(kind, wanted))
    }
}

/// Walks all units.
pub(crate) struct FullWalk<'s, 'a>(pub &'s Dwarf<'a>);

impl<'s, 'a> FullWalk<'s, 'a> {
    /// All units in number order.
    fn units(&self) -> Vec<&'s Unit<'a>> {
        let units: Vec<&Unit> = self.0.all_units().collect();
        // Partial units made by `dwz` get their language from an importing unit, and qualified names depend on it.
        if units.iter().any(|unit| unit.is_partial()) {
            for unit in units.iter().filter(|unit| !unit.is_partial()) {
                self.0.with_imports(unit);
            }
        }
        units
    }
}

impl NameIndex for FullWalk<'_, '_> {
    fn entries_named(&self, base: &[u8], kind: EntryKind) -> Vec<EntryPlace> {
        let mut found = Vec::new();
        for unit in self.units() {
            let named = self.0.names(unit).named(base, kind);
            found.extend(named.iter().map(|entry| EntryPlace {
                unit: unit.index,
                offset: entry.offset,
            }));
        }
        found
    }

    fn base_names(&self, kind: EntryKind, wanted: &mut dyn FnMut(&[u8]) -> bool) -> Vec<Vec<u8>> {
        let mut found: Vec<&[u8]> = Vec::new();
        for unit in self.units() {
            let entries = &self.0.names(unit).entries;
            let mut last: &[u8] = &[];
            for entry in entries.iter().filter(|entry| entry.kind == kind) {
                if entry.base != last && wanted(entry.base) {
                    found.push(entry.base);
                }
                last = entry.base;
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(<[u8]>::to_vec).collect()
    }
}

pub(crate) struct OneUnit<'s, 'a>(pub &'s Dwarf<'a>, pub &'s Unit<'a>);

impl NameIndex for OneUnit<'_, '_> {
    fn entries_named(&self, base: &[u8], kind: EntryKind) -> Vec<EntryPlace> {
        let Self(dwarf, unit) = self;
        let named = dwarf.names(unit).named(base, kind).iter();
        let place = |entry: &NamedEntry<'_>| EntryPlace {
            unit: unit.index,
            offset: entry.offset,
        };
        named.map(place).collect()
    }

    fn base_names(&self, kind: EntryKind, wanted: &mut dyn FnMut(&[u8]) -> bool) -> Vec<Vec<u8>> {
        let Self(dwarf, unit) = self;
        let entries = dwarf.names(unit).entries.iter();
        let bases = entries.filter(|entry| entry.kind == kind);
        let mut found: Vec<&[u8]> = bases.map(|entry| entry.base).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|base| wanted(base));
        found.into_iter().map(<[u8]>::to_vec).collect()
    }
}

#[derive(Debug, Default)]
pub(crate) struct UnitNames<'a> {
    /// Sorted by base name, kind and offset.
    entries: Vec<NamedEntry<'a>>,
}

#[derive(Debug)]
pub(crate) struct NamedEntry<'a> {
    pub base: &'a [u8],
    pub kind: EntryKind,
    pub offset: usize,
}

impl<'a> UnitNames<'a> {
    /// Makes one pass over the unit. In a broken unit, keeps the entries before the error; [`crate::dwarf::index`] warns
    /// about it.
    pub fn build(dwarf: &Dwarf<'a>, unit: &Unit<'a>) -> UnitNames<'a> {
        UnitNames::with_scopes(dwarf, unit).0
    }

    /// Like [`UnitNames::build`], with the scopes that qualify the entries' names.
    pub fn with_scopes(dwarf: &Dwarf<'a>, unit: &Unit<'a>) -> (UnitNames<'a>, Scopes) {
        let mut walk = Walk::default();
        let end = walk.run(dwarf, unit);
        let scopes = std::mem::take(&mut walk.scopes);
        let scopes = match end {
            Ok(Some(end)) => scopes.end(end),
            // No warning: the unit's `Index` meets the same error and warns.
            Ok(None) | Err(_) => scopes.broken(),
        };
        let mut entries: Vec<NamedEntry> = walk
            .found
            .iter()
            .filter_map(|&(offset, kind)| {
                let name = walk.name_of(dwarf, unit, offset)?;
                Some(NamedEntry {
                    base: base_bytes(name),
                    kind,
                    offset,
                })
            })
            .filter(|entry| !entry.base.is_empty())
            .collect();
        entries.sort_by(|one, other| {
            (one.base, one.kind, one.offset).cmp(&(other.base, other.kind, other.offset))
        });
        (UnitNames { entries }, scopes)
    }

    /// The entries grouped by base name, sorted by name; each group sorted by kind and offset.
    pub fn by_base(&self) -> impl Iterator<Item = &[NamedEntry<'a>]> {
        self.entries.chunk_by(|one, other| one.base == other.base)
    }

    fn named(&self, base: &[u8], kind: EntryKind) -> &[NamedEntry<'a>] {
        let key = (base, kind);
        let start = self
            .entries
            .partition_point(|entry| (entry.base, entry.kind) < key);
        let end = self
            .entries
            .partition_point(|entry| (entry.base, entry.kind) <= key);
        &self.entries[start..end]
    }
}

fn base_bytes(name: &[u8]) -> &[u8] {
    std::str::from_utf8(name).map_or(name, |name| base_of(name).as_bytes())
}

/// An entry's own information about its name.
#[derive(Clone, Copy)]
enum Named<'a> {
    Name(&'a [u8]),
    /// The name is that of the entry at this offset of the unit.
    As(usize),
    /// The name is in an entry of another unit.
    Elsewhere,
}

#[derive(Default)]
struct Walk<'a> {
    scopes: OpenScopes,
    found: Vec<(usize, EntryKind)>,
    names: FxHashMap<usize, Named<'a>>,
}

impl<'a> Walk<'a> {
    /// Finds the named entries and scopes of the unit. Returns the unit's end offset. `Ok(None)`: the entries are nested
    /// too deeply.
    fn run(&mut self, dwarf: &Dwarf<'a>, unit: &Unit<'a>) -> Result<Option<usize>, gimli::Error> {
        let mut raw = unit.dw().entries_raw(None)?;
        let mut attributes = Vec::new();
        // The depth of the outermost enclosing function.
        let mut function: Option<isize> = None;
        while !raw.is_empty() {
            let (offset, depth) = (raw.next_offset().0, raw.next_depth());
            if depth > DEPTH_LIMIT {
                return Ok(None);
            }
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            let specs = abbreviation.attributes();
            let tag = abbreviation.tag();
            self.scopes
                .enter(offset, depth, tag, abbreviation.has_children());
            if function.is_some_and(|function| function >= depth) {
                function = None;
            }
            if tag == dw::DW_TAG_subprogram && abbreviation.has_children() {
                function.get_or_insert(depth);
            }
            if !is_nameable(tag) {
                raw.skip_attributes(specs)?;
                continue;
            }
            raw.read_attributes(specs, &mut attributes)?;
            let attribute = |name| {
                let found = attributes.iter().find(|found| found.name() == name);
                found.map(gimli::Attribute::value)
            };
            let origin = || {
                attribute(dw::DW_AT_abstract_origin).or_else(|| attribute(dw::DW_AT_specification))
            };
            let name = attribute(dw::DW_AT_name).and_then(|name| dwarf.text(unit, name));
            let named = match (name, origin()) {
                (Some(name), _) => Named::Name(name),
                (None, Some(AttributeValue::UnitRef(origin))) => Named::As(origin.0),
                (None, Some(_)) => Named::Elsewhere,
                (None, None) => continue,
            };
            self.names.insert(offset, named);
            let has_code =
                || attribute(dw::DW_AT_low_pc).is_some() || attribute(dw::DW_AT_ranges).is_some();
            let declared = || {
                matches!(
                    attribute(dw::DW_AT_declaration),
                    Some(AttributeValue::Flag(true))
                )
            };
            let kind = match tag {
                dw::DW_TAG_subprogram => has_code().then_some(EntryKind::Function),
                dw::DW_TAG_inlined_subroutine => has_code().then_some(EntryKind::InlinedCall),
                dw::DW_TAG_variable => {
                    let location = attribute(dw::DW_AT_location);
                    let constant = attribute(dw::DW_AT_const_value).is_some() && function.is_none();
                    let by_symbol = || {
                        location.is_none() && !declared() && dwarf.may_be_thread_local(unit, offset)
                    };
                    (is_static(location, constant) || by_symbol()).then_some(EntryKind::Variable)
                }
                _ if declared() => Some(EntryKind::DeclaredType),
                _ => Some(EntryKind::Type),
            };
            self.found.extend(kind.map(|kind| (offset, kind)));
        }
        Ok(Some(raw.next_offset().0))
    }

    fn name_of(&self, dwarf: &Dwarf<'a>, unit: &Unit<'a>, offset: usize) -> Option<&'a [u8]> {
        let mut at = offset;
        for _ in 0..CHAIN_LIMIT {
            match self.names.get(&at) {
                Some(&Named::Name(name)) => return Some(name),
                Some(&Named::As(origin)) => at = origin,
                Some(Named::Elsewhere) | None => break,
            }
        }
        let chain = dwarf.chain(unit, UnitOffset(offset));
        dwarf.chain_text(&chain, dw::DW_AT_name)
    }
}

fn is_nameable(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_subprogram
            | dw::DW_TAG_inlined_subroutine
            | dw::DW_TAG_variable
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_enumeration_type
            | dw::DW_TAG_typedef
            | dw::DW_TAG_template_alias
            | dw::DW_TAG_base_type
            | dw::DW_TAG_unspecified_type
    )
}

/// Whether a variable has static storage: its location starts with an address, or ends with an operation for
/// thread-locals. `constant` is the result for variables without a location.
fn is_static(location: Option<AttributeValue<Reader<'_>>>, constant: bool) -> bool {
    let expression = match location {
        Some(AttributeValue::Exprloc(expression)) => expression.0,
        // DWARF 3 and earlier use blocks.
        Some(AttributeValue::Block(expression)) => expression,
        Some(_) => return false,
        None => return constant,
    };
    let code = |byte: Option<&u8>| byte.map(|&code| gimli::DwOp(code));
    let bytes = expression.slice();
    let (first, last) = (code(bytes.first()), code(bytes.last()));
    let thread_local = matches!(
        last,
        Some(dw::DW_OP_form_tls_address | dw::DW_OP_GNU_push_tls_address)
    );
    let addressed = matches!(
        first,
        Some(dw::DW_OP_addr | dw::DW_OP_addrx | dw::DW_OP_GNU_addr_index)
    );
    // A local variable whose value is the address of a static (`DW_OP_stack_value`) isn't static itself.
    thread_local || (addressed && last != Some(dw::DW_OP_stack_value))
}
