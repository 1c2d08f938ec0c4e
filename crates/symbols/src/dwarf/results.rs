//! What functions return, and whether classes are passed by reference.

use crate::dwarf::entries::{Entry, unsigned};
use crate::dwarf::functions::FunctionId;
use crate::dwarf::types::{PointerKind, TypeId, TypeKind};
use crate::dwarf::{Dwarf, Unit};
use gimli::{AttributeValue, UnitOffset, constants as dw};

/// How deep members and base classes are examined.
pub(crate) const DEEPEST: usize = 16;

/// The result of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionResult {
    /// The type; `None` for `void`.
    pub type_id: Option<TypeId>,
    /// Whether the compiler marks the function as not following the platform's calling convention (`DW_CC_nocall`).
    pub unconventional: bool,
}

impl<'a> Dwarf<'a> {
    pub(crate) fn result_of(&self, id: FunctionId) -> Option<FunctionResult> {
        let unit = self.unit(id.unit)?;
        let chain = self.chain(unit, UnitOffset(id.offset));
        chain.links.first()?;
        let convention = chain.attribute(dw::DW_AT_calling_convention);
        Some(FunctionResult {
            type_id: chain
                .attribute(dw::DW_AT_type)
                .and_then(|(unit, value)| self.type_id(unit, value)),
            unconventional: matches!(
                convention,
                Some((_, AttributeValue::CallingConvention(dw::DW_CC_nocall)))
            ),
        })
    }

    pub(crate) fn is_passed_by_reference(&self, id: TypeId, depth: usize) -> bool {
        let Some(unit) = self.unit(id.unit).filter(|_| depth > 0) else {
            return false;
        };
        let Some(entry) = self.entry(unit, UnitOffset(id.offset)) else {
            return false;
        };
        match entry.attr_value(dw::DW_AT_calling_convention) {
            Some(AttributeValue::CallingConvention(dw::DW_CC_pass_by_reference)) => return true,
            Some(AttributeValue::CallingConvention(dw::DW_CC_pass_by_value)) => return false,
            _ => {}
        }
        // gcc writes the calling convention of few classes; the others are judged by their members.
        let class = self.own_name(unit, &entry).unwrap_or_else(|| "".into());
        let class = class.split('<').next().unwrap_or_default();
        self.children(unit, &entry)
            .iter()
            .any(|child| match child.tag() {
                dw::DW_TAG_subprogram => self.is_nontrivial_method(unit, child, class, id),
                dw::DW_TAG_member if !is_static(child) => {
                    self.has_difficult_type(unit, child, depth)
                }
                dw::DW_TAG_inheritance => {
                    is_virtual(child) || self.has_difficult_type(unit, child, depth)
                }
                _ => false,
            })
    }

    fn has_difficult_type(&self, unit: &Unit<'a>, entry: &Entry<'a>, depth: usize) -> bool {
        let type_id = entry
            .attr_value(dw::DW_AT_type)
            .and_then(|value| self.type_id(unit, value));
        let type_ = type_id.and_then(|id| self.strip_aliases(id).ok().flatten());
        type_.is_some_and(|type_| match &type_.kind {
            TypeKind::Aggregate(_) => self.is_passed_by_reference(type_.id, depth - 1),
            TypeKind::Array { element, .. } => {
                let element = self.strip_aliases(*element).ok().flatten();
                element.is_some_and(|e| self.is_passed_by_reference(e.id, depth - 1))
            }
            _ => false,
        })
    }

    /// Whether a method makes the class non-trivial to copy or destroy: a destructor, a copy or move constructor, or any
    /// virtual method.
    fn is_nontrivial_method(
        &self,
        unit: &Unit<'a>,
        method: &Entry<'a>,
        class: &str,
        id: TypeId,
    ) -> bool {
        if is_virtual(method) {
            return true;
        }
        let flag = |name| method.attr_value(name) == Some(AttributeValue::Flag(true));
        let defaulted = method
            .attr_value(dw::DW_AT_defaulted)
            .and_then(|v| unsigned(&v))
            == Some(u64::from(dw::DW_DEFAULTED_in_class.0));
        if defaulted || flag(dw::DW_AT_artificial) || flag(dw::DW_AT_deleted) {
            return false;
        }
        let name = self.own_name(unit, method).unwrap_or_else(|| "".into());
        if name.starts_with('~') {
            return true;
        }
        if name.split('<').next() != Some(class) {
            return false;
        }
        let own = |parameter: TypeId| {
            let reference = self.type_of(parameter).ok();
            let target = reference.and_then(|reference| match reference.kind {
                TypeKind::Pointer(PointerKind::Reference | PointerKind::RvalueReference, to) => to,
                _ => None,
            });
            let of = target.and_then(|target| self.strip_aliases(target).ok().flatten());
            of.is_some_and(|of| of.id == id)
        };
        let mut parameters = self.parameters(unit, method).into_iter();
        parameters.any(|(parameter, artificial)| !artificial && own(parameter))
    }
}

fn is_virtual(entry: &Entry<'_>) -> bool {
    matches!(
        entry.attr_value(dw::DW_AT_virtuality),
        Some(AttributeValue::Virtuality(virtuality)) if virtuality != dw::DW_VIRTUALITY_none
    )
}

fn is_static(entry: &Entry<'_>) -> bool {
    [dw::DW_AT_external, dw::DW_AT_declaration]
        .into_iter()
        .any(|name| entry.attr_value(name) == Some(AttributeValue::Flag(true)))
}
