//! Lengths of texts and of containers whose elements lie side by side, where the evaluator answers them without calling the program.

use super::maker::{Made, Maker};
use super::texts::{Capacity, Counted};
use super::{Node, Place};
use crate::eval::builtins::{self, Builtin};
use crate::eval::ir::{Expression, Scalar, Unary};
use crate::values::names;
use dapple_symbols::functions::Language;
use dapple_symbols::types::{PointerKind, Type, TypeKind};

/// What has a length.
#[derive(Debug, Clone)]
pub(super) enum Measured {
    Text(Counted),
    /// Elements of so many bytes.
    Elements(Counted, u64),
    /// The elements between two pointers (C++'s `vector`).
    Between(Box<Between>),
}

/// A C++ `vector`.
#[derive(Debug, Clone)]
pub(super) struct Between {
    pub(super) object: Place,
    /// The offsets in the object of pointers to the first element, behind the last one, and to the end of the room for elements.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) room: u64,
    /// The size of an element in bytes.
    pub(super) size: u64,
}

impl Maker<'_> {
    /// A length, or whether it is 0. `None`: another method, or not an object of a known form.
    pub(super) fn length(
        &self,
        base: &Expression,
        (name, arrow): (&str, bool),
        arguments: &[Expression],
    ) -> Option<Made> {
        let builtin = builtins::named(name, arguments.len())?;
        if !matches!(builtin, Builtin::Length | Builtin::IsEmpty) {
            return None;
        }
        let (object, type_) = match self.make(base)? {
            Made::Memory(place, type_) if !matches!(type_.kind, TypeKind::Pointer(..)) => {
                (!arrow).then_some((place, type_))?
            }
            made => {
                let (Made::Memory(_, type_) | Made::Value(_, type_)) = &made else {
                    return None;
                };
                let is_plain = matches!(type_.kind, TypeKind::Pointer(PointerKind::Pointer, _))
                    && !self.is_seen_through(type_);
                let (place, target, _) = self.follow(made)?;
                (arrow == is_plain).then_some((place, target))?
            }
        };
        let length = Node::Length(Box::new(self.measured(&type_, object)?));
        Some(Made::Number(match builtin {
            Builtin::Length => length,
            _ => Node::Unary(
                Unary::Not,
                Box::new(Node::Cast(Box::new(length), Scalar::Bool)),
            ),
        }))
    }

    fn measured(&self, type_: &Type, object: Place) -> Option<Measured> {
        if let Some(counted) = self.counted(type_, &object) {
            return Some(Measured::Text(counted));
        }
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        match type_.language {
            Language::Rust if names::path_name(&type_.name) == "alloc::vec::Vec" => {
                let element = self.strip(aggregate.type_arguments.first()?.1?)?;
                let offsets = self.with_types(type_, |reader, whole, word| {
                    let buffer = reader.field(whole, "buf")?;
                    let capacity = reader.find_integer(&reader.find(&buffer, "cap")?)?;
                    Some([
                        word(&reader.find_pointer(&buffer)?)?,
                        word(&reader.field(whole, "len")?)?,
                        word(&capacity)?,
                    ])
                });
                let [data, length, capacity] = offsets?;
                let counted = Counted {
                    object,
                    data,
                    length,
                    capacity: Capacity::At(capacity),
                };
                Some(Measured::Elements(counted, element.size?))
            }
            Language::Rust if names::pointee(&type_.name)?.starts_with('[') => {
                let found = self.with_types(type_, |reader, whole, word| {
                    let pointer = reader.field(whole, "data_ptr")?;
                    let TypeKind::Pointer(_, element) = reader.resolve(&pointer)?.type_.kind else {
                        return None;
                    };
                    let length = word(&reader.field(whole, "length")?)?;
                    Some((word(&pointer)?, length, element?))
                });
                let (data, length, element) = found?;
                let counted = Counted {
                    object,
                    data,
                    length,
                    capacity: Capacity::None,
                };
                Some(Measured::Elements(counted, self.strip(element)?.size?))
            }
            Language::Cpp
                if names::base_name(&type_.name) == "vector" && type_.name.starts_with("std::") =>
            {
                let found = self.with_types(type_, |reader, whole, word| {
                    let first = reader.find(whole, "_M_start")?;
                    let TypeKind::Pointer(_, element) = reader.resolve(&first)?.type_.kind else {
                        return None;
                    };
                    let end = word(&reader.find(whole, "_M_finish")?)?;
                    let room = word(&reader.find(whole, "_M_end_of_storage")?)?;
                    Some((word(&first)?, end, room, element?))
                });
                let (start, end, room, element) = found?;
                let size = self.strip(element)?.size.filter(|size| *size > 0)?;
                Some(Measured::Between(Box::new(Between {
                    object,
                    start,
                    end,
                    room,
                    size,
                })))
            }
            _ => None,
        }
    }
}
