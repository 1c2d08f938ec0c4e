//! What a module tells of types.

use super::Module;
use crate::Error;
use crate::address::FileAddress;
use crate::dwarf::enumerations::FreeEnumeration;
use crate::dwarf::types::Type;
use crate::dwarf::types::TypeId;
use std::sync::Arc;

impl Module {
    /// The type's one level. Decoded once and kept. A declaration comes back as its definition, where the module has it.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the entry contradicts itself.
    pub fn type_of(&self, id: TypeId) -> Result<Arc<Type>, Error> {
        self.dwarf(|dwarf| dwarf.type_of(id))
    }

    /// The pointers, arrays and qualified types that are made of a type, or of nothing, as `void *`: those of its unit, and of the one
    /// that covers `beside`.
    pub fn types_made_of(&self, part: Option<TypeId>, beside: FileAddress) -> Vec<TypeId> {
        self.dwarf(|dwarf| {
            let own = part.and_then(|part| dwarf.unit(part.unit));
            let mut units: Vec<_> = own.into_iter().chain(dwarf.units_at(beside.0)).collect();
            units.dedup_by_key(|unit| unit.index);
            let part = part.map(|part| (part.unit, part.offset));
            let found = units.into_iter().flat_map(|unit| {
                let made = dwarf.index(unit).made_of(dwarf, unit, part).iter();
                made.map(|&offset| TypeId {
                    unit: unit.index,
                    offset,
                })
            });
            found.collect()
        })
    }

    /// Whether a pointer to a function of a Rust type is none: a value of it has no bytes, and stands for one function, which isn't named.
    pub fn is_function_item(&self, id: TypeId) -> bool {
        self.dwarf(|dwarf| {
            let unit = dwarf.unit(id.unit);
            unit.is_some_and(|unit| dwarf.index(unit).is_function_item(dwarf, unit, id.offset))
        })
    }

    /// The type with typedefs and qualifiers removed; `None`: void.
    ///
    /// # Errors
    /// As [`Module::type_of`]; alias chains longer than a limit are malformed.
    pub fn strip_aliases(&self, id: TypeId) -> Result<Option<Arc<Type>>, Error> {
        self.dwarf(|dwarf| dwarf.strip_aliases(id))
    }

    /// The enumerations of the unit with the code at an address that are in no class and no function, but for C++'s
    /// `enum class`. No other unit is looked at.
    pub fn free_enumerations_near(&self, address: FileAddress) -> Vec<FreeEnumeration> {
        self.dwarf(|dwarf| {
            let unit = dwarf.units_at(address.0).next();
            unit.map_or_else(Vec::new, |unit| dwarf.free_enumerations(unit))
        })
    }

    /// The type that a trait object's table was made for, by the table's address. `near` is a type of a unit that may well have
    /// made the table. In a large module that has no index yet, only tables of that unit are known.
    pub fn type_of_trait_table(&self, table: FileAddress, near: TypeId) -> Option<TypeId> {
        self.dwarf(|dwarf| dwarf.type_of_table(table.0, near))
    }
}
