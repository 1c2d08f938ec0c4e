//! Lengths of texts and containers, where the evaluator answers them without calling the program.
//!
//! Of a container with nodes or a table, the evaluator walks through the entries. Here, only what the object itself says is checked.

use super::maker::{Made, Maker};
use super::texts::{Capacity, Counted};
use super::{Node, Place, variants};
use crate::eval::builtins::{self, Builtin};
use crate::eval::ir::{Expression, Scalar, Unary};
use crate::values::{Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{PointerKind, Type, TypeKind};

/// What has a length.
#[derive(Debug, Clone)]
pub(super) enum Measured {
    Text(Counted),
    /// Elements of so many bytes.
    Elements(Counted, u64),
    /// Elements of so many bytes, which may be nowhere if there are none (C++'s `span`).
    Viewed(Counted, u64),
    /// The elements between two pointers (C++'s `vector`).
    Between(Box<Between>),
    /// Entries in nodes or in a table.
    Entries(Box<Entries>),
}

/// A container with nodes or a table.
#[derive(Debug, Clone)]
pub(super) struct Entries {
    pub(super) object: Place,
    /// The offset in the object of the number of entries.
    pub(super) count: u64,
    /// That of a pointer to a node or to the table: if there are entries, it leads somewhere.
    pub(super) first: u64,
    /// Of a hash table of Rust: that of the number of its buckets less 1, which is a power of two less 1.
    pub(super) mask: Option<u64>,
}

/// The most entries that a container has, as in the display of values.
pub(super) const MOST_ENTRIES: u64 = 1 << 40;

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
            Language::Rust
                if matches!(
                    names::path_name(&type_.name),
                    "alloc::vec::Vec" | "alloc::collections::vec_deque::VecDeque"
                ) =>
            {
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
            Language::Rust => self.rust_entries(type_, object),
            Language::Cpp if type_.name.starts_with("std::") => self.cpp_container(type_, object),
            _ => None,
        }
    }

    fn rust_entries(&self, type_: &Type, object: Place) -> Option<Measured> {
        let (count, first, mask) = match names::path_name(&type_.name) {
            "std::collections::hash::map::HashMap" | "std::collections::hash::set::HashSet" => self
                .with_types(type_, |reader, whole, word| {
                    let table = reader.find(whole, "table")?;
                    let control = reader.find_pointer(&reader.find(&table, "ctrl")?)?;
                    let mask = word(&reader.find(&table, "bucket_mask")?)?;
                    let count = word(&reader.find(&table, "items")?)?;
                    Some((count, word(&control)?, Some(mask)))
                })?,
            "alloc::collections::btree::map::BTreeMap"
            | "alloc::collections::btree::set::BTreeSet" => {
                self.with_types(type_, |reader, whole, word| {
                    let count = word(&reader.find(whole, "length")?)?;
                    let root = self.rust_root(reader, &reader.find(whole, "root")?)?;
                    Some((count, root, None))
                })?
            }
            _ => return None,
        };
        Some(Measured::Entries(Box::new(Entries {
            object,
            count,
            first,
            mask,
        })))
    }

    /// The offset of the pointer to the root of a tree, in which null means that there is none.
    fn rust_root(&self, reader: &Reader<'_>, root: &Value) -> Option<u64> {
        let type_ = reader.resolve(root)?.type_;
        let part = variants::parts(&type_)?;
        let node = part.variants.iter().find(|it| &*it.name == "Some")?;
        let (offset, field) = self.variant_field(node, "0")?;
        let node = root.sibling(Some(field.type_id), root.contents.part(offset, 16));
        let pointer = reader.find_pointer(&reader.find(&node, "node")?)?;
        Some(pointer.contents.address()?.0)
    }

    fn cpp_container(&self, type_: &Type, object: Place) -> Option<Measured> {
        let (count, first) = match names::base_name(&type_.name) {
            "map" | "set" | "multimap" | "multiset" => ("_M_node_count", "_M_parent"),
            "unordered_map" | "unordered_set" | "unordered_multimap" | "unordered_multiset" => {
                ("_M_element_count", "_M_nxt")
            }
            "list" => ("_M_size", "_M_next"),
            "span" => return self.span(type_, object),
            _ => return None,
        };
        let (count, first) = self.with_types(type_, |reader, whole, word| {
            Some((
                word(&reader.find(whole, count)?)?,
                word(&reader.find(whole, first)?)?,
            ))
        })?;
        Some(Measured::Entries(Box::new(Entries {
            object,
            count,
            first,
            mask: None,
        })))
    }

    /// A `span` whose length isn't in its type.
    fn span(&self, type_: &Type, object: Place) -> Option<Measured> {
        let found = self.with_types(type_, |reader, whole, word| {
            let either = |names: [&str; 2]| names.iter().find_map(|name| reader.find(whole, name));
            let pointer = either(["_M_ptr", "__data_"])?;
            let TypeKind::Pointer(_, element) = reader.resolve(&pointer)?.type_.kind else {
                return None;
            };
            let length = word(&either(["_M_extent_value", "__size_"])?)?;
            Some((word(&pointer)?, length, element?))
        });
        let (data, length, element) = found?;
        let counted = Counted {
            object,
            data,
            length,
            capacity: Capacity::None,
        };
        let size = self.strip(element)?.size.filter(|size| *size > 0)?;
        Some(Measured::Viewed(counted, size))
    }
}
