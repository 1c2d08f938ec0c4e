//! Finds the unscoped enumerations of a unit's namespaces, whose constants are in the namespace, too. This includes
//! enumerations without a name, which no index has. Those in classes and functions are left out.

use crate::dwarf::entries::Entry;
use crate::dwarf::types::TypeId;
use crate::dwarf::{Dwarf, Unit};
use gimli::{AttributeValue, constants as dw};

/// More namespaces than any unit has.
const MOST_NAMESPACES: usize = 10_000;

/// An unscoped enumeration, and the namespace of its constants.
#[derive(Debug, Clone)]
pub struct FreeEnumeration {
    /// Identifies it in the module.
    pub id: TypeId,
    /// The path of its namespace, without anonymous namespaces; empty for the global one.
    pub namespace: String,
}

impl<'a> Dwarf<'a> {
    pub(crate) fn free_enumerations(&self, unit: &Unit<'a>) -> Vec<FreeEnumeration> {
        let root = unit.dw().entries_tree(None);
        let root = root.and_then(|mut tree| Ok(tree.root()?.entry().clone()));
        let Ok(root) = root else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut namespaces = vec![(root, String::new())];
        let mut next = 0;
        while let Some((entry, path)) = namespaces.get(next).cloned() {
            next += 1;
            for child in self.children(unit, &entry) {
                match child.tag() {
                    dw::DW_TAG_enumeration_type if !is_scoped(&child) => {
                        found.push(FreeEnumeration {
                            id: TypeId {
                                unit: unit.index,
                                offset: child.offset().0,
                            },
                            namespace: path.clone(),
                        });
                    }
                    dw::DW_TAG_namespace if namespaces.len() < MOST_NAMESPACES => {
                        let path = self.namespace_inside(unit, &child, &path);
                        namespaces.push((child, path));
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn namespace_inside(&self, unit: &Unit<'a>, entry: &Entry<'a>, path: &str) -> String {
        let name = entry
            .attr_value(dw::DW_AT_name)
            .and_then(|name| self.text(unit, name))
            .map(|name| String::from_utf8_lossy(name).into_owned());
        match name {
            None => path.to_owned(),
            Some(name) if path.is_empty() => name,
            Some(name) => format!("{path}::{name}"),
        }
    }
}

/// Whether an enumeration's constants need its name as a prefix: C++'s `enum class`.
pub(crate) fn is_scoped(enumeration: &Entry<'_>) -> bool {
    let scoped = enumeration.attr_value(dw::DW_AT_enum_class);
    matches!(scoped, Some(AttributeValue::Flag(true)))
}
