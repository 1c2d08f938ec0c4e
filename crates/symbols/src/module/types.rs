//! A module's queries about types.

use super::Module;
use crate::Error;
use crate::address::FileAddress;
use crate::dwarf::enumerations::FreeEnumeration;
use crate::dwarf::types::Type;
use crate::dwarf::types::TypeId;
use gimli::UnitOffset;
use std::sync::Arc;

impl Module {
    /// One level of the type: other types that it refers to are ids. Decoded once and cached. For a declaration, returns its
    /// definition if the module has it.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the entry contradicts itself.
    pub fn type_of(&self, id: TypeId) -> Result<Arc<Type>, Error> {
        self.dwarf(|dwarf| dwarf.type_of(id))
    }

    /// The pointers, arrays and qualified types made of the type `part` (of `void` if `None`, as `void *` is): those in the
    /// unit of `part`, and in the unit that covers `beside`.
    pub fn types_made_of(&self, part: Option<TypeId>, beside: FileAddress) -> Vec<TypeId> {
        self.dwarf(|dwarf| {
            let own = part.and_then(|part| dwarf.unit(part.unit));
            let mut units: Vec<_> = own.into_iter().chain(dwarf.units_at(beside.0)).collect();
            units.dedup_by_key(|unit| unit.index);
            let part = part.map(|part| (part.unit, part.offset));
            let found = units.into_iter().flat_map(|unit| {
                let made = dwarf.index(unit).derived_types(dwarf, unit, part).iter();
                made.map(|&offset| TypeId {
                    unit: unit.index,
                    offset,
                })
            });
            found.collect()
        })
    }

    /// A C++ type's name without the inline namespaces of its path, which users may omit (C++20 §9.8.2). `None`: its path has no inline
    /// namespace.
    pub fn type_name_without_inline_namespaces(&self, id: TypeId) -> Option<String> {
        self.dwarf(|dwarf| {
            let chain = dwarf.chain(dwarf.unit(id.unit)?, UnitOffset(id.offset));
            dwarf.name_without_inline_namespaces(&chain)
        })
    }

    /// Whether this is the zero-sized type of one Rust function (a function item), as opposed to a function pointer. The
    /// debug information doesn't say which function a value of the type stands for.
    pub fn is_function_item(&self, id: TypeId) -> bool {
        self.dwarf(|dwarf| {
            let unit = dwarf.unit(id.unit);
            unit.is_some_and(|unit| dwarf.index(unit).is_function_item(dwarf, unit, id.offset))
        })
    }

    /// The type with typedefs and qualifiers removed; `None` for void.
    ///
    /// # Errors
    /// As [`Module::type_of`]; alias chains longer than a limit are malformed.
    pub fn strip_aliases(&self, id: TypeId) -> Result<Option<Arc<Type>>, Error> {
        self.dwarf(|dwarf| dwarf.strip_aliases(id))
    }

    /// The enumerations that the unit that covers `address` declares outside of classes and functions, without C++'s `enum
    /// class`. Reads no other unit.
    pub fn free_enumerations_near(&self, address: FileAddress) -> Vec<FreeEnumeration> {
        self.dwarf(|dwarf| {
            let unit = dwarf.units_at(address.0).next();
            unit.map_or_else(Vec::new, |unit| dwarf.free_enumerations(unit))
        })
    }

    /// The concrete type of a trait object whose virtual table is at `table`; `None` if unknown. The unit of the type `near`
    /// is searched first. In a large module without an index, no other unit is searched.
    pub fn type_of_trait_table(&self, table: FileAddress, near: TypeId) -> Option<TypeId> {
        self.dwarf(|dwarf| dwarf.type_of_table(table.0, near))
    }
}
