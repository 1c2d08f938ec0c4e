//! The virtual tables of Rust's trait objects: the concrete type that each was made for.
//!
//! rustc describes a table by a variable `<T as Trait>::{vtable}`, whose type refers to T by `DW_AT_containing_type`.

use crate::dwarf::name_index::{EntryKind, FullWalk, NameIndex, OneUnit};
use crate::dwarf::types::TypeId;
use crate::dwarf::{Dwarf, Unit};
use crate::indexing::IndexState;
use gimli::{UnitOffset, constants as dw};
use rustc_hash::FxHashMap;

/// The base name of these variables.
const NAME: &[u8] = b"{vtable}";

/// The concrete types of a module's tables, by table address.
pub(crate) type TraitTables = FxHashMap<u64, TypeId>;

impl<'a> Dwarf<'a> {
    /// The concrete type of the table at `address`; `None` if unknown. `near` is a type of the unit to search first. In a
    /// large module without an index, no other unit is searched.
    pub(crate) fn type_of_table(&self, address: u64, near: TypeId) -> Option<TypeId> {
        if let Some(tables) = self.trait_tables.get() {
            return tables.get(&address).copied();
        }
        let near = self.unit(near.unit).and_then(|unit| {
            let places = OneUnit(self, unit).entries_named(NAME, EntryKind::Variable);
            let mut tables = places
                .into_iter()
                .filter_map(|place| self.table(unit, place.offset));
            tables.find(|(table, _)| *table == address)
        });
        if let Some((_, found)) = near {
            return Some(found);
        }
        let places = match self.index_state() {
            IndexState::Missing | IndexState::Cancelled => return None,
            IndexState::Used => self
                .ask_index_if_there(|index| index.entries_named(self, NAME, EntryKind::Variable))?,
            IndexState::Unneeded => FullWalk(self).entries_named(NAME, EntryKind::Variable),
        };
        let all = self.trait_tables.get_or_init(|| {
            let table = |unit: u32, offset| self.table(self.unit(unit)?, offset);
            let tables = places.into_iter();
            tables
                .filter_map(|place| table(place.unit, place.offset))
                .collect()
        });
        all.get(&address).copied()
    }

    /// A table's address and its concrete type.
    fn table(&self, unit: &Unit<'a>, offset: usize) -> Option<(u64, TypeId)> {
        let address = self.static_address(unit, offset)?;
        let entry = self.entry(unit, UnitOffset(offset))?;
        let (unit, offset) = self.resolve(unit, entry.attr_value(dw::DW_AT_type)?)?;
        let type_ = self.entry(unit, offset)?;
        let concrete = type_.attr_value(dw::DW_AT_containing_type)?;
        Some((address, self.type_id(unit, concrete)?))
    }
}
