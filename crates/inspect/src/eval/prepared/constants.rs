//! What is known from types alone: sizes, alignments, and constants of enumerations.
//!
//! The full evaluator says it, in a frame of the location that has no registers and no memory.

use super::maker::{Made, Maker, Nothing};
use super::{Node, Place};
use crate::ThreadId;
use crate::eval::ir::{Expression, Kind, TypeName};
use crate::eval::run;
use crate::frame::{Frame, StackCache};
use crate::values::known::Known;
use crate::values::{Number, Reader, Value};
use dapple_arch::registers::Registers;
use dapple_symbols::functions::Language;
use dapple_symbols::types::{PointerKind, TypeKind};

impl Maker<'_> {
    /// The value of an expression that needs neither registers nor memory.
    pub(super) fn constant(&self, expression: &Expression) -> Option<Made> {
        let number =
            self.statically(|frame, reader| run::number(expression, "", frame, reader, None).ok())?;
        Some(Made::Number(Node::Constant(number)))
    }

    /// Zero, cast to a type.
    pub(super) fn cast_zero(&self, target: &TypeName) -> Option<Value> {
        let zero = Kind::Literal {
            number: Number::integer(0, 8, true),
            untyped: false,
        };
        let part = |kind| Expression {
            at: target.at,
            end: target.at,
            kind,
        };
        let cast = part(Kind::Cast {
            operand: Box::new(part(zero)),
            target: target.clone(),
        });
        self.statically(|frame, reader| run::run(&cast, "", frame, reader, None).ok())
    }

    fn statically<T>(&self, ask: impl FnOnce(&Frame, &Reader<'_>) -> Option<T>) -> Option<T> {
        let mut registers = Registers::of(self.module.module.machine());
        registers.set_pc(Some(self.address.0));
        let lookup = self.module.to_file(self.address);
        let calls = self.module.module.inlined_at(lookup).len();
        let frame = StackCache::new(ThreadId(0), 0, registers)
            .before_calls(calls.checked_sub(self.inline_depth)?)
            .frame(self.modules, &Nothing, 0)?;
        let known = Known::default();
        let reader = Reader::new(&Nothing, self.modules, &known);
        ask(&frame, &reader)
    }

    /// The value of a name that is no variable: a constant of an enumeration.
    pub(super) fn named_constant(&self, expression: &Expression, name: &str) -> Option<Made> {
        // A member of `this`, or what the object is displayed with.
        let is_member = !name.contains("::") && self.has_this();
        let is_constant = self.language() != Language::Rust && !is_member && !self.is_known(name);
        is_constant.then(|| self.constant(expression))?
    }

    /// The size of an expression's type. The evaluator gives it only where the expression has a value.
    pub(super) fn size_of(&self, whole: &Expression, operand: &Expression) -> Option<Made> {
        if let Kind::Text(_) = operand.kind {
            return self.constant(whole);
        }
        let (place, type_) = match self.make(operand) {
            Some(Made::Memory(place, type_)) => (Some(place), type_),
            Some(Made::Value(_, type_)) => (None, type_),
            Some(Made::Number(_) | Made::Pointer(..)) => return None,
            None => {
                let name = match &operand.kind {
                    Kind::Name(name) if !self.is_known(name) => whole,
                    _ => return None,
                };
                return self.constant(name);
            }
        };
        if let TypeKind::Pointer(PointerKind::Reference | PointerKind::RvalueReference, _) =
            type_.kind
        {
            return None;
        }
        let size = Number::integer(type_.size?.into(), 8, false);
        Some(Made::Number(match place {
            Some(place) if !place.is_known() => Node::Known(Box::new(place), size),
            _ => Node::Constant(size),
        }))
    }
}

impl Place {
    /// Whether it is somewhere, in each thread at the location.
    fn is_known(&self) -> bool {
        match self {
            Place::At(_) | Place::Near(..) => true,
            Place::Part(whole, _) => whole.is_known(),
            Place::Behind(_) | Place::Element { .. } | Place::Guarded(..) => false,
        }
    }
}
