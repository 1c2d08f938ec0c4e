//! Signatures of functions: their parameters and results, and the member functions that a class declares.

use crate::dwarf::entries::{Chain, Entry, unsigned};
use crate::dwarf::enumerations::is_scoped;
use crate::dwarf::functions::{FunctionId, SourcePosition};
use crate::dwarf::results::FunctionResult;
use crate::dwarf::types::TypeId;
use crate::dwarf::{Dwarf, Unit};
use gimli::{AttributeValue, Operation, UnitOffset, constants as dw};

/// More member functions with one name than any class has.
const MOST_METHODS: usize = 1000;

/// The parameters and the result of a function.
#[derive(Debug, Clone)]
pub struct Signature {
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
    /// Whether more arguments may follow (`...`).
    pub variadic: bool,
    /// The result's type, and whether the function follows the platform's calling convention.
    pub result: FunctionResult,
}

/// A function's parameter.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// The name, if it has one.
    pub name: Option<String>,
    /// Its type.
    pub type_id: TypeId,
    /// Whether the compiler adds the parameter, such as C++'s `this`.
    pub artificial: bool,
}

/// A member function as declared in its class.
#[derive(Debug, Clone)]
pub struct Method {
    /// The linkage name, by which its code is found.
    pub linkage_name: Option<String>,
    /// The signature; the object is the first parameter, if there is one.
    pub signature: Signature,
    /// For a virtual function, its index in the virtual table.
    pub table_slot: Option<u64>,
}

impl<'a> Dwarf<'a> {
    pub(crate) fn signature_of(&self, id: FunctionId) -> Option<Signature> {
        let unit = self.unit(id.unit)?;
        let chain = self.chain(unit, UnitOffset(id.offset));
        self.signature(&chain)
    }

    fn signature(&self, chain: &Chain<'_, 'a>) -> Option<Signature> {
        let (unit, entry) = self.with_parameters(chain)?;
        let mut variadic = false;
        let mut parameters = Vec::new();
        for child in self.children(unit, entry) {
            match child.tag() {
                dw::DW_TAG_formal_parameter => parameters.push(self.parameter(unit, &child)?),
                dw::DW_TAG_unspecified_parameters => variadic = true,
                _ => {}
            }
        }
        // rustc's declarations of methods don't name their parameters; their definitions do.
        if let Some((unit, entry)) = chain.links.first().filter(|_| chain.links.len() > 1) {
            let own = self.children(unit, entry).into_iter();
            let own = own.filter(|child| child.tag() == dw::DW_TAG_formal_parameter);
            for (parameter, own) in parameters.iter_mut().zip(own) {
                let chain = self.chain(unit, own.offset());
                if let (None, Some(name)) =
                    (&parameter.name, self.chain_text(&chain, dw::DW_AT_name))
                {
                    parameter.name = Some(String::from_utf8_lossy(name).into_owned());
                }
            }
        }
        let convention = chain.attribute(dw::DW_AT_calling_convention);
        Some(Signature {
            parameters,
            variadic,
            result: FunctionResult {
                type_id: chain
                    .attribute(dw::DW_AT_type)
                    .and_then(|(unit, value)| self.type_id(unit, value)),
                unconventional: matches!(
                    convention,
                    Some((_, AttributeValue::CallingConvention(dw::DW_CC_nocall)))
                ),
            },
        })
    }

    /// The entry in a function's chain that has the parameters. The entry of a copy may omit unused parameters, while
    /// its origin has all. However, g++ declares a method without parameters if its class is in a type unit
    /// (`-fdebug-types-section`).
    pub(crate) fn with_parameters<'c, 's>(
        &self,
        chain: &'c Chain<'s, 'a>,
    ) -> Option<&'c (&'s Unit<'a>, Entry<'a>)> {
        let is_parameter = |child: &Entry<'_>| {
            let tag = child.tag();
            tag == dw::DW_TAG_formal_parameter || tag == dw::DW_TAG_unspecified_parameters
        };
        let has_some = |(unit, entry): &&(&Unit<'a>, Entry<'a>)| {
            self.children(unit, entry).iter().any(is_parameter)
        };
        let links = chain.links.iter().rev();
        links.clone().find(has_some).or(chain.links.last())
    }

    fn parameter(&self, unit: &Unit<'a>, entry: &Entry<'a>) -> Option<Parameter> {
        let name = self.own_name(unit, entry).map(|name| name.to_string());
        Some(Parameter {
            name,
            type_id: self.type_id(unit, entry.attr_value(dw::DW_AT_type)?)?,
            artificial: entry.attr_value(dw::DW_AT_artificial) == Some(AttributeValue::Flag(true)),
        })
    }

    pub(crate) fn enumerations_in(&self, class: TypeId) -> Vec<TypeId> {
        let Some(unit) = self.unit(class.unit) else {
            return Vec::new();
        };
        let Some(entry) = self.entry(unit, UnitOffset(class.offset)) else {
            return Vec::new();
        };
        let children = self.children(unit, &entry).into_iter();
        children
            .filter(|child| child.tag() == dw::DW_TAG_enumeration_type && !is_scoped(child))
            .map(|child| TypeId {
                offset: child.offset().0,
                ..class
            })
            .collect()
    }

    pub(crate) fn methods_of(&self, class: TypeId, name: &str) -> Vec<Method> {
        let Some(unit) = self.unit(class.unit) else {
            return Vec::new();
        };
        let Some(entry) = self.entry(unit, UnitOffset(class.offset)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for child in self.children(unit, &entry) {
            if child.tag() != dw::DW_TAG_subprogram || found.len() >= MOST_METHODS {
                continue;
            }
            let own = self.own_name(unit, &child);
            let is_meant = own.is_some_and(|own| {
                *own == *name || own.split_once('<').is_some_and(|(base, _)| base == name)
            });
            if !is_meant {
                continue;
            }
            let chain = self.chain(unit, child.offset());
            let Some(signature) = self.signature(&chain) else {
                continue;
            };
            let is_virtual = matches!(
                child.attr_value(dw::DW_AT_virtuality),
                Some(AttributeValue::Virtuality(virtuality)) if virtuality != dw::DW_VIRTUALITY_none
            );
            found.push(Method {
                linkage_name: self.linkage_name(&chain),
                signature,
                table_slot: table_slot(unit, &child).filter(|_| is_virtual),
            });
        }
        found
    }
}

impl<'a> Dwarf<'a> {
    pub(crate) fn virtual_function(&self, class: TypeId, slot: u64) -> Option<String> {
        let unit = self.unit(class.unit)?;
        let entry = self.entry(unit, UnitOffset(class.offset))?;
        let children = self.children(unit, &entry);
        let method = children.iter().find(|child| {
            child.tag() == dw::DW_TAG_subprogram && table_slot(unit, child) == Some(slot)
        })?;
        Some(self.own_name(unit, method)?.to_string())
    }

    pub(crate) fn class_of_function(&self, address: u64) -> Option<TypeId> {
        let (unit, function) = self.function_entry_at(address)?;
        let chain = self.chain(unit, UnitOffset(function.offset));
        // For a function defined outside of its class, the declaration is in the class.
        let (unit, entry) = chain.links.last()?;
        let scope = UnitOffset(*self.scopes_around(unit, entry.offset().0).first()?);
        let is_class = matches!(
            self.entry(unit, scope)?.tag(),
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type
        );
        is_class.then_some(TypeId {
            unit: unit.index,
            offset: scope.0,
        })
    }

    pub(crate) fn type_declaration(&self, id: TypeId) -> Option<SourcePosition> {
        let unit = self.unit(id.unit)?;
        let chain = self.chain(unit, UnitOffset(id.offset));
        self.declaration(&chain)
    }
}

/// The value of `DW_AT_vtable_elem_location`: a constant, usually as an expression (DWARF 5 §5.7.8).
fn table_slot(unit: &Unit<'_>, entry: &Entry<'_>) -> Option<u64> {
    let value = entry.attr_value(dw::DW_AT_vtable_elem_location)?;
    let AttributeValue::Exprloc(expression) = value else {
        return unsigned(&value);
    };
    let mut operations = expression.operations(unit.dw().encoding());
    match operations.next().ok()?? {
        Operation::UnsignedConstant { value } => Some(value),
        Operation::SignedConstant { value } => u64::try_from(value).ok(),
        _ => None,
    }
}
