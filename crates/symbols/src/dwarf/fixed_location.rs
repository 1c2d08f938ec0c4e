//! Locations of variables that are simple enough to be reused: unoptimised code has them for nearly all variables.
//!
//! A caller that reads the same variable at the same address thousands of times a second looks up its location once.

use crate::FileAddress;
use crate::dwarf::location::Surroundings;
use crate::dwarf::scopes::Variable;
use crate::dwarf::{Dwarf, Reader, Unit};
use gimli::{Expression, Operation, UnitOffset, constants as dw};

/// The location of a variable, valid in every frame at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedLocation {
    /// In memory, at an address in file coordinates.
    Address(FileAddress),
    /// In memory, at an offset from the canonical frame address.
    FrameOffset(i64),
    /// In memory, at an offset from the value of a register (DWARF number).
    RegisterOffset(u16, i64),
    /// In a register (DWARF number).
    Register(u16),
    /// Nowhere, but the value is known: a register's value (DWARF number), or 0, plus a number. The variable has the lowest bytes of it.
    Sum(Option<u16>, u64),
    /// In memory, at an offset from the start of the module's thread-local storage.
    ThreadLocal(u64),
}

impl<'a> Dwarf<'a> {
    pub(crate) fn fixed_location(
        &self,
        variable: &Variable,
        address: u64,
    ) -> Option<FixedLocation> {
        let unit = self.unit(variable.unit)?;
        let chain = self.chain(unit, UnitOffset(variable.offset));
        if let Some(offset) = self.thread_local_by_symbol(unit, &chain) {
            return Some(FixedLocation::ThreadLocal(offset));
        }
        let (unit, value) = chain.attribute(dw::DW_AT_location)?;
        let around = Surroundings {
            dwarf: self,
            unit,
            function: variable.function,
            address,
        };
        let expression = around.expression(value).ok()?;
        if let Some(offset) = thread_local(expression, unit) {
            let is_dropped = self.is_dropped_thread_local(&chain, unit, expression);
            return (!is_dropped).then_some(FixedLocation::ThreadLocal(offset));
        }
        if let Some((register, more)) = sum(expression, unit) {
            return Some(FixedLocation::Sum(register, more));
        }
        match only_operation(expression, unit)? {
            Operation::Address { address } => self.at_address(address),
            Operation::AddressIndex { index } => {
                self.at_address(unit.sections().address(unit.dw(), index).ok()?)
            }
            Operation::FrameOffset { offset } => self.near_frame_base(variable, address, offset),
            Operation::RegisterOffset {
                register,
                offset,
                base_type: UnitOffset(0),
            } => Some(FixedLocation::RegisterOffset(register.0, offset)),
            // A part of a register.
            Operation::Register { register }
                if self.machine().register_around(register.0).is_some() =>
            {
                None
            }
            Operation::Register { register } => Some(FixedLocation::Register(register.0)),
            _ => None,
        }
    }

    fn at_address(&self, address: u64) -> Option<FixedLocation> {
        let at = self
            .may_be_variable(address)
            .then_some(FileAddress(address));
        at.map(FixedLocation::Address)
    }

    fn near_frame_base(
        &self,
        variable: &Variable,
        address: u64,
        offset: i64,
    ) -> Option<FixedLocation> {
        let function = variable.function?;
        let unit = self.unit(function.unit)?;
        let entry = self.entry(unit, UnitOffset(function.offset))?;
        let around = Surroundings {
            dwarf: self,
            unit,
            function: Some(function),
            address,
        };
        let base = around.expression(entry.attr_value(dw::DW_AT_frame_base)?);
        match only_operation(base.ok()?, unit)? {
            Operation::CallFrameCFA => Some(FixedLocation::FrameOffset(offset)),
            Operation::Register { register } => {
                Some(FixedLocation::RegisterOffset(register.0, offset))
            }
            Operation::RegisterOffset {
                register,
                offset: base,
                base_type: UnitOffset(0),
            } => Some(FixedLocation::RegisterOffset(
                register.0,
                base.checked_add(offset)?,
            )),
            _ => None,
        }
    }
}

/// The offset in the thread-local storage, if an expression is only that.
fn thread_local(expression: Expression<Reader<'_>>, unit: &Unit<'_>) -> Option<u64> {
    let mut operations = expression.operations(unit.dw().header.encoding());
    let Operation::UnsignedConstant { value } = operations.next().ok()?? else {
        return None;
    };
    let is_only = matches!(operations.next(), Ok(Some(Operation::TLS)))
        && matches!(operations.next(), Ok(None));
    is_only.then_some(value)
}

/// A register, if any, and what is added to it, if that is an expression's value.
fn sum(expression: Expression<Reader<'_>>, unit: &Unit<'_>) -> Option<(Option<u16>, u64)> {
    let mut operations = expression.operations(unit.dw().header.encoding());
    let found = match operations.next().ok()?? {
        Operation::ImplicitValue { data } => {
            let bytes = data.slice();
            let mut word = [0; 8];
            word.get_mut(..bytes.len())?.copy_from_slice(bytes);
            let is_only = matches!(operations.next(), Ok(None));
            return is_only.then_some((None, u64::from_le_bytes(word)));
        }
        Operation::UnsignedConstant { value } => (None, value),
        Operation::SignedConstant { value } => (None, value.cast_unsigned()),
        Operation::RegisterOffset {
            register,
            offset,
            base_type: UnitOffset(0),
        } => (Some(register.0), offset.cast_unsigned()),
        _ => return None,
    };
    let is_only = matches!(operations.next(), Ok(Some(Operation::StackValue)))
        && matches!(operations.next(), Ok(None));
    is_only.then_some(found)
}

/// The operation of an expression that has exactly one.
fn only_operation<'a>(
    expression: Expression<Reader<'a>>,
    unit: &Unit<'_>,
) -> Option<Operation<Reader<'a>>> {
    let mut operations = expression.operations(unit.dw().header.encoding());
    let first = operations.next().ok()??;
    matches!(operations.next(), Ok(None)).then_some(first)
}
