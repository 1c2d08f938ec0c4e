//! Iterators: the element that they are at.
//!
//! One behind the last element is told where the container's end can be told from an element: in trees and tables.

use super::nodes::{self, Element};
use super::{integer, word};
use crate::Address;
use crate::values::view::{Limit, Shows, View};
use crate::values::{Contents, Number, Reader, Value, names};
use dapple_symbols::types::{Aggregate, TypeKind};

/// The view of an iterator; `None`: it isn't one.
pub(super) fn view(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
    limit: Limit,
) -> Option<View> {
    // The members that point to the element itself.
    let plain = match path {
        "__gnu_cxx::__normal_iterator" => Some("_M_current"),
        "__wrap_iter" => Some("__i_"),
        "_Deque_iterator" => Some("_M_cur"),
        "__deque_iterator" => Some("__ptr_"),
        _ => None,
    };
    if let Some(plain) = plain {
        let pointer = reader.field(value, plain)?;
        return match reader.view(&pointer, limit) {
            View::Pointer {
                address,
                target,
                note,
                ..
            } => Some(View::Pointer {
                address,
                target,
                note: note.filter(|note| note.starts_with('<')),
                shows: Shows::Target,
            }),
            _ => None,
        };
    }
    if matches!(
        path,
        "_Bit_iterator" | "_Bit_const_iterator" | "__bit_iterator"
    ) {
        let at = word(reader, value, &["_M_p", "__seg_"])?;
        let offset = integer(
            reader,
            &super::find(reader, value, &["_M_offset", "__ctz_"])?,
        )?;
        let at = at.checked_add(offset / 8)?;
        let byte = reader.bytes(&Contents::Memory(Address(at)), 1).ok()?;
        let bit = byte.first()? >> (offset % 8) & 1 == 1;
        let bit = Contents::Number(Number::Bool(bit));
        return Some(View::Alias(value.sibling(None, bit)));
    }
    let (header, is_tree) = match path {
        "_List_iterator" | "_List_const_iterator" => (16, false),
        "__list_iterator" | "__list_const_iterator" => (16, false),
        "_Fwd_list_iterator" | "_Fwd_list_const_iterator" => (8, false),
        "__forward_list_iterator" | "__forward_list_const_iterator" => (8, false),
        "__detail::_Node_iterator" | "__detail::_Node_const_iterator" => (8, false),
        "__hash_iterator" | "__hash_const_iterator" => (16, false),
        "__hash_map_iterator" | "__hash_map_const_iterator" => (16, false),
        "_Rb_tree_iterator" | "_Rb_tree_const_iterator" => (32, true),
        "__tree_iterator" | "__tree_const_iterator" => (nodes::LIBCXX_TREE, true),
        "__map_iterator" | "__map_const_iterator" => (nodes::LIBCXX_TREE, true),
        _ => return None,
    };
    let node = word(reader, value, &["_M_node", "_M_cur", "__ptr_", "__node_"])?;
    let target = element(reader, value, aggregate)?;
    let element = Element::alone(reader, target);
    if is_tree && node != 0 && is_end(reader, node, header == nodes::LIBCXX_TREE) {
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

/// Whether a tree's iterator is at the header, behind the last element.
fn is_end(reader: &Reader<'_>, node: u64, is_libcxx: bool) -> bool {
    let Ok(words) = reader.words::<4>(node) else {
        return false;
    };
    if is_libcxx {
        // The header has nothing but the link to the root.
        let parent = reader.words::<2>(words[2]);
        return !parent.is_ok_and(|links| links.contains(&node));
    }
    // The header is red, and its parent's parent; so is the root its parent's, but black.
    let is_red = words[0] & 0xffff_ffff == 0;
    let grandparent = reader.words::<2>(words[1]).map(|parent| parent[1]);
    is_red && (words[1] == 0 || grandparent == Ok(node))
}

/// What an iterator's type is of: what a node that it names holds, or its own first argument.
fn element(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<Value> {
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

/// The first argument by its name: gcc sometimes tells no more of it.
fn named(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let type_ = reader.resolve(value)?.type_;
    let name = names::arguments(&type_.name).first()?.clone();
    let (module, id) = reader.type_named(&name, type_.language, &value.module)?;
    let contents = Contents::Memory(Address(0));
    Some(Value::new(module, Some(id), value.language, contents))
}
