//! Lengths of arrays that are only known at run time: C's variable-length arrays (DWARF 5 §5.13, §2.19).

use crate::dwarf::entries::{Entry, signed, unsigned};
use crate::dwarf::location::{EntryInFrame, LocationContext, Place};
use crate::dwarf::scopes::Variable;
use crate::dwarf::types::TypeKind;
use crate::dwarf::{Dwarf, Reader, Unit};
use gimli::{AttributeValue, UnitOffset, constants as dw};

/// More elements than an array on a stack can have. A larger value means that the length isn't computed yet.
const LONGEST: u64 = 1 << 40;

/// The variable and frame for which lengths are needed.
pub(crate) struct Frame<'c> {
    pub variable: &'c Variable,
    pub address: u64,
    pub context: &'c dyn LocationContext,
}

impl<'a> Dwarf<'a> {
    pub(crate) fn array_lengths(&self, frame: &Frame<'_>) -> Vec<Option<u64>> {
        let array = frame.variable.type_id;
        let array = array.and_then(|id| self.strip_aliases(id).ok()?);
        let Some(array) = array.filter(|found| matches!(found.kind, TypeKind::Array { .. })) else {
            return Vec::new();
        };
        let entry = self.unit(array.id.unit).and_then(|unit| {
            let entry = self.entry(unit, UnitOffset(array.id.offset))?;
            Some((unit, entry))
        });
        let Some((unit, entry)) = entry else {
            return Vec::new();
        };
        let children = self.children(unit, &entry);
        let dimensions = children
            .iter()
            .filter(|child| child.tag() == dw::DW_TAG_subrange_type);
        dimensions
            .map(|dimension| self.length(unit, dimension, frame))
            .collect()
    }

    fn length(&self, unit: &Unit<'a>, dimension: &Entry<'a>, frame: &Frame<'_>) -> Option<u64> {
        let number = |name| self.bound(unit, dimension.attr_value(name)?, frame);
        let length = number(dw::DW_AT_count).or_else(|| {
            let upper = number(dw::DW_AT_upper_bound)?;
            let lower = number(dw::DW_AT_lower_bound).unwrap_or(0);
            Some(upper.wrapping_sub(lower).wrapping_add(1))
        });
        length.filter(|length| *length <= LONGEST)
    }

    /// The number that a bound is: a constant, the result of an expression, or the value of a variable.
    fn bound(
        &self,
        unit: &Unit<'a>,
        value: AttributeValue<Reader<'a>>,
        frame: &Frame<'_>,
    ) -> Option<u64> {
        let function = frame.variable.function;
        if let AttributeValue::Exprloc(expression) = value {
            return self
                .computed(unit, expression, function, frame.address, frame.context)
                .ok();
        }
        let Some((unit, offset)) = self.resolve(unit, value) else {
            return unsigned(&value).or(signed(&value).map(|value| value as u64));
        };
        let entry = self.entry(unit, offset)?;
        let size = entry
            .attr_value(dw::DW_AT_type)
            .and_then(|value| self.type_id(unit, value))
            .and_then(|id| self.type_size(id));
        let variable = EntryInFrame::new(unit.index, offset.0, function);
        let pieces = self.locate(variable, size, frame.address, frame.context);
        let [piece] = &pieces.ok()?[..] else {
            return None;
        };
        let mut bytes = [0; 8];
        let size = usize::try_from(size.unwrap_or_else(|| self.machine().address_size())).ok()?;
        match &piece.place {
            Place::Memory(address) => {
                let wanted = bytes.get_mut(..size)?;
                frame.context.read(*address, wanted).ok()?;
            }
            Place::Register {
                register,
                bit_offset: 0,
            } => bytes = frame.context.register(*register)?.to_le_bytes(),
            Place::Bytes(found) => {
                let size = found.len().min(8);
                bytes[..size].copy_from_slice(&found[..size]);
            }
            _ => return None,
        }
        bytes.get_mut(size..)?.fill(0);
        Some(u64::from_le_bytes(bytes))
    }
}
