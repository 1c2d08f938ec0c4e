//! Dereferences pointers, and takes addresses.

use super::{Fault, MAX_STEPS, Runner};
use crate::eval::a_type;
use crate::eval::ir::{Expression, Kind};
use crate::natvis;
use crate::values::view::{LONG, View};
use crate::values::{Contents, Number, Value};
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeKind;

impl Runner<'_> {
    pub(super) fn dereference(&self, value: Value, operand: &Expression) -> Result<Value, Fault> {
        let mut value = value;
        let is_rust = self.language_of(&value) == Language::Rust;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, LONG) {
                // In C++, `*` on a reference dereferences the reference's target. In Rust, it dereferences the reference itself.
                View::Alias(target)
                    if is_rust || self.is_pointer(&value) || self.is_optional(&value) =>
                {
                    return Ok(target);
                }
                View::Alias(target) => value = target,
                View::Pointer {
                    target: Some(target),
                    ..
                } => return Ok(target),
                View::Pointer { target: None, .. } => {
                    let why = "points to something of unknown type; cast it first";
                    return Err(self.fault(operand, why));
                }
                View::Sequence(sequence)
                    if !sequence.container && sequence.length > 0 && !is_rust =>
                {
                    return Ok(sequence.at(0));
                }
                _ => match natvis::pointer_in(self.reader, &value) {
                    Some(pointer) => value = pointer,
                    None => break,
                },
            }
        }
        // In Rust, `*text` and `*vector` are unsized. They are shown as the string or vector itself.
        if is_rust
            && matches!(
                self.reader.view(&value, LONG),
                View::Text { .. } | View::Sequence(_)
            )
        {
            return Ok(value);
        }
        self.check_available(&value, operand)?;
        Err(self.fault(
            operand,
            &format!("is no pointer, it is {}", a_type(self.type_of(&value))),
        ))
    }

    pub(super) fn address_of(&self, value: Value, operand: &Expression) -> Result<Value, Fault> {
        // A function's name already is its address (C 2011 §6.3.2.1).
        let is_address = matches!(value.contents, Contents::Number(Number::Pointer { .. }));
        if is_address && self.scope.is_none() && matches!(operand.kind, Kind::Name(_)) {
            return Ok(value);
        }
        let mut value = value;
        // A reference's address is that of its target. An object has an address of its own, even if it is shown as what it contains.
        let type_ = self.reader.resolve(&value).map(|resolved| resolved.type_);
        let is_object = type_.is_some_and(|type_| matches!(type_.kind, TypeKind::Aggregate(_)));
        if self.language_of(&value) != Language::Rust
            && !is_object
            && let View::Alias(target) = self.reader.view(&value, LONG)
        {
            value = target;
        }
        let address = value
            .contents
            .address()
            .ok_or_else(|| self.fault(operand, "is not in memory, so it has no address"))?;
        let mut pointer = value.sibling(
            None,
            Contents::Number(Number::Pointer {
                address: address.0,
                target: value.type_id,
            }),
        );
        pointer.language = self.frame.language;
        Ok(pointer)
    }
}
