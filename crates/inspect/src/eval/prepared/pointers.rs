//! Addresses of objects, and casts to types that only the debug information knows: in C and C++, whose rules are simple.

use super::Node;
use super::maker::{Made, Maker};
use crate::eval::ir::{Expression, Form, Scalar, TypeName};
use crate::values::{Contents, Number};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, PointerKind, Type, TypeId, TypeKind};

impl Maker<'_> {
    fn is_c_or_cpp(&self) -> bool {
        matches!(self.language(), Language::C | Language::Cpp)
    }

    /// `&object`.
    pub(super) fn address_of(&self, operand: &Expression) -> Option<Made> {
        match self.make(operand)? {
            Made::Memory(place, type_) if self.is_c_or_cpp() && !self.is_seen_through(&type_) => {
                let address = Node::Address(Box::new(place));
                Some(Made::Pointer(address, Some(type_.id)))
            }
            _ => None,
        }
    }

    /// A cast to a pointer, an enumeration or a type that has another name.
    pub(super) fn cast(&self, operand: &Expression, target: &TypeName) -> Option<Made> {
        if !self.is_c_or_cpp() || target.form != Form::Plain {
            return None;
        }
        let made = self.make(operand)?;
        let zero = self.cast_zero(target)?;
        if zero.module.id != self.module.id {
            return None;
        }
        if let Contents::Number(Number::Pointer {
            target: pointee, ..
        }) = zero.contents
        {
            return self.pointed(made, pointee);
        }
        let type_ = self.strip(zero.type_id?)?;
        let size = u8::try_from(type_.size?).ok()?;
        let scalar = match type_.kind {
            TypeKind::Base(Encoding::Signed) => Scalar::Integer { size, signed: true },
            TypeKind::Base(Encoding::Unsigned) => Scalar::Integer {
                size,
                signed: false,
            },
            TypeKind::Base(Encoding::Float) if size <= 8 => Scalar::Float { size },
            // Its promotion depends on the value.
            TypeKind::Enumeration { signed, .. } if self.language() == Language::C => {
                Scalar::Integer { size, signed }
            }
            _ => return None,
        };
        let operand = Box::new(self.number(made)?);
        Some(Made::Number(Node::Cast(operand, scalar)))
    }

    /// A pointer as one to another type. In C++, a pointer to another class may have another address.
    fn pointed(&self, made: Made, pointee: Option<TypeId>) -> Option<Made> {
        let from = match &made {
            Made::Memory(_, type_) | Made::Value(_, type_) => match type_.kind {
                TypeKind::Pointer(PointerKind::Pointer, from) => from,
                _ => return None,
            },
            Made::Pointer(_, from) => *from,
            Made::Number(_) => return None,
        };
        let has_bases = |type_: &Type| match &type_.kind {
            TypeKind::Aggregate(aggregate) => aggregate.members.iter().any(|it| it.base),
            _ => false,
        };
        let may_move = |id: TypeId| self.strip(id).is_none_or(|type_| has_bases(&type_));
        if let (Some(from), Some(to)) = (from, pointee)
            && (may_move(from) || may_move(to))
        {
            return None;
        }
        Some(Made::Pointer(self.raw(made)?, pointee))
    }
}
