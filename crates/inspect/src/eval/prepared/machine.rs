//! Evaluates a prepared expression for a thread at its location.

use super::members::BitField;
use super::{Node, Place, Shape, Thread};
use crate::eval::ir::Binary;
use crate::eval::run::arithmetic::{binary_on_numbers, compare_pointers, type_literals, unary};
use crate::eval::run::{cast, promoted};
use crate::values::{Number, number_of};
use crate::{Address, ThreadId};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, Type, TypeKind};
use std::cell::Cell;

mod conditional;
mod lengths;
mod texts;
mod variants;

/// The bytes read from memory at once. A block lies within a page.
const BLOCK: u64 = 64;

/// The state of a thread at the location.
pub(super) struct Machine<'a> {
    thread: Thread<'a>,
    language: Language,
    /// The block that was read last: values often lie side by side.
    block: Cell<Option<(u64, [u8; BLOCK as usize])>>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(language: Language, thread: Thread<'a>) -> Machine<'a> {
        Machine {
            thread,
            language,
            block: Cell::new(None),
        }
    }

    fn shaped(&self, shape: &Shape, bytes: &[u8]) -> Option<Number> {
        let number = number_of(&shape.type_, bytes)?;
        Some(promoted(self.language, number, shape.fits, false))
    }

    pub(super) fn number(&self, node: &Node) -> Option<Number> {
        match node {
            Node::Constant(number) => Some(*number),
            Node::Vector(register, shape) => {
                let vectors = (self.thread.vectors)()?;
                let bytes = vectors.get(usize::from(*register))?.to_le_bytes();
                self.shaped(shape, bytes.get(..usize::from(shape.size))?)
            }
            Node::Register(register, more, shape) => {
                let value = self.thread.registers.get(*register)?;
                let bytes = value.wrapping_add(*more).to_le_bytes();
                self.shaped(shape, bytes.get(..usize::from(shape.size))?)
            }
            Node::Load(place, shape) => {
                let mut bytes = [0; 16];
                let bytes = &mut bytes[..usize::from(shape.size)];
                self.read(self.address(place)?, bytes)?;
                self.shaped(shape, bytes)
            }
            Node::Variant(test) => self.variant(test),
            Node::Length(measured) => self.length(measured),
            Node::Text(comparison) => self.text_comparison(comparison),
            Node::Bits(object, field) => self.bits(self.address(object)?, field),
            Node::Known(place, number) => self.address(place).map(|_| *number),
            Node::Address(place) => Some(Number::Pointer {
                address: self.address(place)?,
                target: None,
            }),
            Node::Conditional(it) => self.conditional(it),
            Node::Unary(operator, operand) => {
                unary(self.language, *operator, self.number(operand)?, 0).ok()
            }
            Node::Binary {
                operator,
                untyped,
                sides,
            } => self.binary(*operator, *untyped, &sides.0, &sides.1),
            Node::Cast(operand, target) => {
                Some(cast(self.language, self.number(operand)?, *target))
            }
            Node::Thread => {
                let ThreadId(thread) = self.thread.id;
                Some(Number::integer(thread.into(), 4, true))
            }
            Node::Named(register) => {
                let value = self.thread.registers.get(*register)?;
                let machine = self.thread.registers.machine();
                let pointers = [machine.pc(), machine.sp(), machine.fp()];
                Some(match pointers.contains(register) {
                    true => Number::Pointer {
                        address: value,
                        target: None,
                    },
                    false => Number::integer(value.into(), 8, true),
                })
            }
        }
    }

    fn bits(&self, object: u64, field: &BitField) -> Option<Number> {
        let mut word = [0; 8];
        let part = &mut word[..usize::from(field.size)];
        self.read(object.wrapping_add(field.offset), part)?;
        let above = 64 - u32::from(field.count);
        let top = u64::from_le_bytes(word) << (above - u32::from(field.skip));
        let value = match is_signed(&field.shape.type_) {
            true => (top.cast_signed() >> above).cast_unsigned(),
            false => top >> above,
        };
        let size = usize::from(field.shape.size);
        let number = self.shaped(&field.shape, &value.to_le_bytes()[..size])?;
        Some(match number {
            Number::Integer { value, size, .. } if self.is_narrow(field.count, size) => {
                Number::integer(value, 4, true)
            }
            number => number,
        })
    }

    /// Whether a bit-field is promoted to an `int`, because all of its values fit it (C 2011 §6.3.1.1).
    fn is_narrow(&self, count: u8, size: u8) -> bool {
        count < 32 && size >= 4 && self.language != Language::Rust
    }

    fn binary(
        &self,
        operator: Binary,
        untyped: (bool, bool),
        left: &Node,
        right: &Node,
    ) -> Option<Number> {
        let first = self.number(left)?;
        match operator {
            Binary::And if !first.is_true() => return Some(Number::Bool(false)),
            Binary::Or if first.is_true() => return Some(Number::Bool(true)),
            Binary::And | Binary::Or => return Some(Number::Bool(self.number(right)?.is_true())),
            _ => {}
        }
        let second = self.number(right)?;
        combined(self.language, operator, untyped, first, second)
    }

    fn address(&self, place: &Place) -> Option<u64> {
        match place {
            Place::At(address) => Some(*address),
            Place::Near(register, offset) => {
                let base = self.thread.registers.get(*register)?;
                Some(base.wrapping_add_signed(*offset))
            }
            Place::Behind(pointer) => match self.number(pointer)? {
                Number::Pointer { address, .. } => (address != 0).then_some(address),
                _ => None,
            },
            Place::Element {
                first,
                index,
                count,
                size,
            } => {
                let Number::Integer { value, .. } = self.number(index)? else {
                    return None;
                };
                if let Some(count) = count
                    && !u64::try_from(value).is_ok_and(|index| index < *count)
                {
                    return None;
                }
                let offset = value.wrapping_mul(i128::from(*size)) as u64;
                Some(self.address(first)?.wrapping_add(offset))
            }
            Place::Guarded(test, place) => {
                let holds = self.variant(test)?.is_true();
                holds.then(|| self.address(place))?
            }
            Place::Part(whole, offset) => Some(self.address(whole)?.wrapping_add(*offset)),
        }
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
        let start = address / BLOCK * BLOCK;
        let offset = (address - start) as usize;
        if offset + bytes.len() > BLOCK as usize {
            return self.thread.memory.read(Address(address), bytes).ok();
        }
        let block = match self.block.get() {
            Some((known, block)) if known == start => block,
            _ => {
                let mut block = [0; BLOCK as usize];
                self.thread.memory.read(Address(start), &mut block).ok()?;
                self.block.set(Some((start, block)));
                block
            }
        };
        bytes.copy_from_slice(&block[offset..offset + bytes.len()]);
        Some(())
    }
}

/// Applies a binary operator that evaluates both operands. `untyped`: whether each operand is a Rust literal without a type suffix.
pub(super) fn combined(
    language: Language,
    operator: Binary,
    untyped: (bool, bool),
    first: Number,
    second: Number,
) -> Option<Number> {
    let (first, second) = match language {
        Language::Rust => type_literals((untyped.0, first), (untyped.1, second)),
        _ => (first, second),
    };
    if let (Number::Pointer { .. }, _) | (_, Number::Pointer { .. }) = (first, second) {
        return compare_pointers(operator, first, second).map(Number::Bool);
    }
    binary_on_numbers(language, operator, first, second, 0).ok()
}

/// Whether the bits of a field of this type are extended with its sign.
pub(super) fn is_signed(type_: &Type) -> bool {
    matches!(
        type_.kind,
        TypeKind::Base(Encoding::Signed | Encoding::SignedChar)
            | TypeKind::Enumeration { signed: true, .. }
    )
}
