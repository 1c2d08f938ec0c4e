//! Types that contain one of several values, or several values: optionals, variants, tuples.

use super::{base, bases, find, integer, nonsense};
use crate::values::view::{Field, Record, Style, View};
use crate::values::{Reader, Value, names};
use dapple_symbols::types::{Aggregate, TypeKind};

/// The most elements of a tuple.
const MAX_ELEMENTS: usize = 256;

pub(super) fn optional(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let engaged = find(reader, value, &["_M_engaged", "__engaged_"])?;
    let held = find(reader, value, &["_M_value", "__val_"])?;
    Some(match reader.bytes(&engaged.contents, 1).ok()?.first()? {
        0 => View::Leaf("nullopt".to_owned()),
        1 => View::Alias(held),
        other => nonsense(&format!("whether it has a value is {other}")),
    })
}

/// `expected` and `unexpected`: the value, or the error.
pub(super) fn expected(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let error = || find(reader, value, &["_M_unex", "__unex_"]);
    let failed = |error| {
        Some(listed(
            Some("unexpected"),
            vec![("error".to_owned(), error)],
        ))
    };
    let Some(state) = find(reader, value, &["_M_has_value", "__has_val_"]) else {
        return failed(error()?);
    };
    match reader.bytes(&state.contents, 1).ok()?.first()? {
        0 => failed(error()?),
        1 => Some(match find(reader, value, &["_M_val", "__val_"]) {
            Some(held) => View::Alias(held),
            None => View::Leaf("void".to_owned()),
        }),
        other => Some(nonsense(&format!("whether it has a value is {other}"))),
    }
}

/// The current alternative of a `variant`. Each level of the nested union has one alternative and the union of the rest.
pub(super) fn variant(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<View> {
    // In libc++, a variant's members are in the last of several nested bases, one for each special member function.
    let part = |names: [&str; 2]| {
        reader.search(value, 16, &|name, _| {
            name.is_some_and(|name| names.contains(&name))
        })
    };
    let index = part(["_M_index", "__index"])?;
    let size = reader.size_of(&index)?;
    let index = integer(reader, &index)?;
    let none = u64::MAX >> (64 - 8 * size.clamp(1, 8));
    if index == none {
        return Some(View::Leaf("valueless".to_owned()));
    }
    let count = aggregate.type_arguments.len() as u64;
    if count > 0 && index >= count {
        let why = format!("it holds alternative {index} of {count}");
        return Some(nonsense(&why));
    }
    let mut union = part(["_M_u", "__data"])?;
    for _ in 0..index {
        union = direct(reader, &union, &["_M_rest", "__tail"])?;
    }
    let held = direct(reader, &union, &["_M_first", "__head"])?;
    if let Some(held) = reader.field(&held, "__value") {
        return Some(View::Alias(held));
    }
    let resolved = reader.resolve(&held)?;
    let TypeKind::Aggregate(inner) = &resolved.type_.kind else {
        return None;
    };
    if names::base_name(&resolved.type_.name) != "_Uninitialized" {
        return None;
    }
    let type_ = inner.type_arguments.first()?.1;
    Some(View::Alias(held.sibling(type_, held.contents.clone())))
}

fn direct(reader: &Reader<'_>, value: &Value, names: &[&str]) -> Option<Value> {
    names.iter().find_map(|name| reader.field(value, name))
}

/// A `tuple`. libstdc++ has each element in a base of its own, the last element in the innermost base; libc++ has the bases side by side.
/// If an element is of an empty class, its base has no member for it, but is derived from that class.
pub(super) fn tuple(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<View> {
    let elements = elements(reader, value, aggregate)?;
    let fields = elements.into_iter().enumerate();
    let fields = fields.map(|(position, value)| (position.to_string(), value));
    Some(listed(None, fields.collect()))
}

/// Values in parentheses, after an optional name.
pub(super) fn listed(name: Option<&str>, values: Vec<(String, Value)>) -> View {
    let fields = values.into_iter().map(|(name, value)| Field {
        name,
        value,
        base: false,
        artificial: false,
    });
    View::Record(Record {
        name: name.map(str::to_owned),
        style: Style::Tuple,
        fields: fields.collect(),
        raw: true,
        statics: Vec::new(),
        reachable: false,
        whole: None,
    })
}

/// A tuple's elements, in order.
pub(super) fn elements(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
) -> Option<Vec<Value>> {
    let mut elements = Vec::new();
    if let Some(all) = reader.field(value, "__base_") {
        let type_ = reader.resolve(&all)?.type_;
        let TypeKind::Aggregate(all_of) = &type_.kind else {
            return None;
        };
        for leaf in bases(reader, &all, all_of, "__tuple_leaf").take(MAX_ELEMENTS) {
            let inner = reader.field(&leaf, "__value_");
            elements.push(inner.or_else(|| held_as_base(reader, &leaf))?);
        }
    } else if let Some(mut at) = base(reader, value, aggregate, "_Tuple_impl") {
        loop {
            let type_ = reader.resolve(&at)?.type_;
            let TypeKind::Aggregate(inner) = &type_.kind else {
                return None;
            };
            let head = base(reader, &at, inner, "_Head_base")?;
            let element = reader.field(&head, "_M_head_impl");
            elements.push(element.or_else(|| held_as_base(reader, &head))?);
            match base(reader, &at, inner, "_Tuple_impl") {
                Some(next) if elements.len() < MAX_ELEMENTS => at = next,
                _ => break,
            }
        }
    } else if !aggregate.members.is_empty() {
        return None;
    }
    Some(elements)
}

/// The empty class that a wrapper is derived from.
fn held_as_base(reader: &Reader<'_>, wrapper: &Value) -> Option<Value> {
    let type_ = reader.resolve(wrapper)?.type_;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    let member = aggregate.members.iter().find(|member| member.base)?;
    Some(reader.member(wrapper, member))
}
