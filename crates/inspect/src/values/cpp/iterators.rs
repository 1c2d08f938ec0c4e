//! Iterators: the element that they refer to.
//!
//! A past-the-end iterator is recognised in lists, trees and hash tables, where the end node differs from an element.

use super::blocks::libcxx_block;
use super::end_nodes::{LIBCXX, LIBSTDCXX, TreeLinks, is_list};
use super::nodes::{self, Element};
use super::{integer, library_path, word};
use crate::Address;
use crate::values::view::{Limit, Shows, View};
use crate::values::{Contents, Number, Reader, Value, names};
use dapple_symbols::types::{PointerKind, TypeKind};

/// Which element to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The one that the iterator refers to.
    Here,
    /// The one before.
    Back,
}

/// The view of an iterator; `None`: it isn't one.
pub(super) fn view(reader: &Reader<'_>, value: &Value, path: &str, limit: Limit) -> Option<View> {
    of_library(reader, value, path, Step::Here, limit)
}

/// The view of the element at an iterator, or before it. The iterator may be a pointer.
pub(super) fn at(reader: &Reader<'_>, iterator: &Value, step: Step, limit: Limit) -> Option<View> {
    let type_ = reader.resolve(iterator)?.type_;
    match type_.kind {
        TypeKind::Pointer(PointerKind::Pointer, _) => plain(reader, iterator, step, limit),
        _ => of_library(reader, iterator, library_path(&type_.name)?, step, limit),
    }
}

fn of_library(
    reader: &Reader<'_>,
    value: &Value,
    path: &str,
    step: Step,
    limit: Limit,
) -> Option<View> {
    // Iterators with a pointer to the element itself.
    match path {
        "__gnu_cxx::__normal_iterator" => {
            return plain(reader, &reader.field(value, "_M_current")?, step, limit);
        }
        "__wrap_iter" => return plain(reader, &reader.field(value, "__i_")?, step, limit),
        "_Deque_iterator" | "__deque_iterator" => return in_blocks(reader, value, step, limit),
        "_Bit_iterator" | "_Bit_const_iterator" | "__bit_iterator" => {
            return bit(reader, value, step);
        }
        "_Bit_reference" | "__bit_reference" | "__bit_const_reference" => {
            return masked_bit(reader, value);
        }
        _ => {}
    }
    let size = reader.address_size();
    let (header, links) = match path {
        "_List_iterator" | "_List_const_iterator" => (2 * size, Links::List { next: 0, back: 1 }),
        "__list_iterator" | "__list_const_iterator" => (2 * size, Links::List { next: 1, back: 0 }),
        "_Fwd_list_iterator" | "_Fwd_list_const_iterator" => (size, Links::Single),
        "__forward_list_iterator" | "__forward_list_const_iterator" => (size, Links::Single),
        "__detail::_Node_iterator" | "__detail::_Node_const_iterator" => (size, Links::Single),
        "__hash_iterator" | "__hash_const_iterator" => (2 * size, Links::Single),
        "__hash_map_iterator" | "__hash_map_const_iterator" => (2 * size, Links::Single),
        "_Rb_tree_iterator" | "_Rb_tree_const_iterator" => (4 * size, Links::Tree(&LIBSTDCXX)),
        "__tree_iterator" | "__tree_const_iterator" => {
            (nodes::libcxx_tree(size), Links::Tree(&LIBCXX))
        }
        "__map_iterator" | "__map_const_iterator" => {
            (nodes::libcxx_tree(size), Links::Tree(&LIBCXX))
        }
        _ => return None,
    };
    let mut node = word(reader, value, &["_M_node", "_M_cur", "__ptr_", "__node_"])?;
    let target = element(reader, value)?;
    let element = Element::alone(reader, target);
    if step == Step::Back {
        node = match &links {
            _ if node == 0 => 0,
            Links::List { back, .. } => reader.words::<2>(node).ok()?[*back],
            Links::Tree(tree) => tree.before(reader, node)?,
            Links::Single => return None,
        };
    }
    let is_end = match &links {
        Links::Tree(tree) => node != 0 && tree.is_header(reader, node),
        Links::List { next, back } => node != 0 && is_list(reader, node, *next, *back),
        Links::Single => node == 0,
    };
    if is_end {
        return Some(View::Leaf("end".to_owned()));
    }
    let address = match node {
        0 => 0,
        node => node.checked_add(element.behind(header))?,
    };
    Some(View::Pointer {
        address,
        target: (address != 0).then(|| element.whole(address)),
        note: None,
        shows: Shows::Target,
    })
}

/// Where the nodes that an iterator moves along have their links.
enum Links {
    Single,
    /// Which of the first two words points to the next node, and which to the previous one.
    List {
        next: usize,
        back: usize,
    },
    Tree(&'static TreeLinks),
}

/// The view of an iterator that is a pointer to an element: of that element, or for [`Step::Back`] of the element before.
fn plain(reader: &Reader<'_>, pointer: &Value, step: Step, limit: Limit) -> Option<View> {
    let View::Pointer {
        address,
        target,
        note,
        ..
    } = reader.view(pointer, limit)
    else {
        return None;
    };
    if step == Step::Here || address == 0 {
        return Some(View::Pointer {
            address,
            target,
            note: note.filter(|note| note.starts_with('<')),
            shows: Shows::Target,
        });
    }
    let mut target = target?;
    let address = address.checked_sub(reader.size_of(&target)?)?;
    target.contents = Contents::Memory(Address(address));
    Some(View::Pointer {
        address,
        target: Some(target),
        note: None,
        shows: Shows::Target,
    })
}

/// A deque's iterator. The element before a block's first one is the last one of the previous block.
fn in_blocks(reader: &Reader<'_>, value: &Value, step: Step, limit: Limit) -> Option<View> {
    let pointer = super::find(reader, value, &["_M_cur", "__ptr_"])?;
    if step == Step::Here {
        return plain(reader, &pointer, step, limit);
    }
    let TypeKind::Pointer(_, element) = reader.resolve(&pointer)?.type_.kind else {
        return None;
    };
    let mut target = value.sibling(element, Contents::Memory(Address(0)));
    let size = reader.size_of(&target).filter(|size| *size > 0)?;
    let at = reader.word(&pointer.contents).ok()?;
    let (slot, block) = match word(reader, value, &["_M_node"]) {
        Some(slot) => {
            let first = word(reader, value, &["_M_first"])?;
            (slot, word(reader, value, &["_M_last"])?.checked_sub(first)?)
        }
        None => (
            word(reader, value, &["__m_iter_"])?,
            libcxx_block(size).checked_mul(size)?,
        ),
    };
    let [first] = reader.words(slot).ok()?;
    let address = match at == first {
        true => {
            let [before] = reader
                .words(slot.checked_sub(reader.address_size())?)
                .ok()?;
            before.checked_add(block)?.checked_sub(size)?
        }
        false => at.checked_sub(size)?,
    };
    target.contents = Contents::Memory(Address(address));
    Some(View::Pointer {
        address,
        target: Some(target),
        note: None,
        shows: Shows::Target,
    })
}

/// The view of an iterator of bits: a word's address and the bit's position.
fn bit(reader: &Reader<'_>, value: &Value, step: Step) -> Option<View> {
    let at = word(reader, value, &["_M_p", "__seg_"])?;
    let offset = integer(
        reader,
        &super::find(reader, value, &["_M_offset", "__ctz_"])?,
    )?;
    let offset = match step {
        Step::Here => i64::try_from(offset).ok()?,
        Step::Back => i64::try_from(offset).ok()?.checked_sub(1)?,
    };
    let at = at.checked_add_signed(offset.div_euclid(8))?;
    let byte = reader.bytes(&Contents::Memory(Address(at)), 1).ok()?;
    let bit = byte.first()? >> offset.rem_euclid(8) & 1 == 1;
    let bit = Contents::Number(Number::Bool(bit));
    Some(View::Alias(value.sibling(None, bit)))
}

/// The view of a reference to a bit: the word's address and a mask.
fn masked_bit(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let at = word(reader, value, &["_M_p", "__seg_"])?;
    let mask = word(reader, value, &["_M_mask", "__mask_"])?;
    let [bits] = reader.words(at).ok()?;
    let bit = Contents::Number(Number::Bool(bits & mask != 0));
    mask.is_power_of_two()
        .then(|| View::Alias(value.sibling(None, bit)))
}

/// The element type of an iterator. If one of its template arguments is a node's type, it is that node's; else it is the first argument.
fn element(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let type_ = reader.resolve(value)?.type_;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    let typed = |id| value.sibling(id, Contents::Memory(Address(0)));
    let mut arguments = aggregate.type_arguments.clone();
    for _ in 0..4 {
        for (_, argument) in &arguments {
            let type_ = reader.resolve(&typed(*argument)).map(|it| it.type_);
            if let Some(type_) = type_
                && let TypeKind::Pointer(_, node) = type_.kind
                && names::base_name(&type_.name).ends_with("_node")
            {
                let node = typed(node);
                if let Some(held) = reader.find(&node, "__value_") {
                    return Some(held);
                }
                let TypeKind::Aggregate(inner) = &reader.resolve(&node)?.type_.kind else {
                    return None;
                };
                return Some(typed(inner.type_arguments.first()?.1));
            }
        }
        let Some((_, first)) = arguments.first() else {
            return named(reader, value);
        };
        let first = typed(*first);
        let type_ = reader.resolve(&first)?.type_;
        match &type_.kind {
            TypeKind::Aggregate(inner) if names::base_name(&type_.name).ends_with("_iterator") => {
                arguments = inner.type_arguments.clone();
            }
            _ => return Some(first),
        }
    }
    None
}

/// The type that the first template argument means, by its text in the name of the iterator's type: gcc sometimes gives no more.
fn named(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let type_ = reader.resolve(value)?.type_;
    let name = names::arguments(&type_.name).first()?.clone();
    let (module, id) = reader.type_named(&name, type_.language, &value.module)?;
    let contents = Contents::Memory(Address(0));
    Some(Value::new(module, Some(id), value.language, contents))
}
