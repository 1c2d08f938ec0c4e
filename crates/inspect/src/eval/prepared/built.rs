//! Comparisons with values written part by part, and with names of variants: `opt == Some(5)`, `shape == Shape::Empty`, `pair == (1, 2)`.

use super::maker::{Made, Maker};
use super::variants::{self, IsVariant};
use super::{Node, Place};
use crate::eval::ir::{Binary, Expression, Kind, Part, Unary};
use crate::eval::run::arithmetic::is_untyped;
use crate::values::Number;
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, Member, Type, TypeKind};
use std::sync::Arc;

/// The most parts of a value.
const MOST_PARTS: usize = 8;

/// Numbers that are compared with others of the same kind only.
#[derive(Debug, PartialEq, Eq)]
enum Class {
    Integer,
    Float,
    Bool,
    Char,
}

impl Maker<'_> {
    /// The comparison. `None`: it is another one, or not simple.
    pub(super) fn built_comparison(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
    ) -> Option<Node> {
        let equal = operator.asks_equality()?;
        if self.language() != Language::Rust {
            return None;
        }
        let is_it = match (&left.kind, &right.kind) {
            (_, Kind::Built { path, parts }) => self.is_built(self.object(left)?, path, parts)?,
            (Kind::Built { path, parts }, _) => self.is_built(self.object(right)?, path, parts)?,
            (_, Kind::Name(_)) if let Some(test) = self.is_named(left, right) => test,
            (Kind::Name(_), _) => self.is_named(right, left)?,
            _ => return None,
        };
        Some(match equal {
            true => is_it,
            false => Node::Unary(Unary::Not, Box::new(is_it)),
        })
    }

    /// A value in memory, behind references.
    fn object(&self, value: &Expression) -> Option<(Place, Arc<Type>)> {
        let made = self.make(value)?;
        if let Made::Memory(_, type_) | Made::Value(_, type_) = &made
            && matches!(type_.kind, TypeKind::Pointer(..))
            && !self.is_seen_through(type_)
        {
            return None;
        }
        let (place, type_, _) = self.follow(made)?;
        Some((place, type_))
    }

    /// Whether an enum is in the variant that a name means.
    fn is_named(&self, value: &Expression, name: &Expression) -> Option<Node> {
        let Kind::Name(path) = &name.kind else {
            return None;
        };
        let last = path.rsplit("::").next()?;
        if !last.starts_with(char::is_uppercase) || self.is_known(path) {
            return None;
        }
        let (place, type_) = self.object(value)?;
        if !variants::is_plain(&type_) || self.constant(name).is_some() {
            return None;
        }
        let test = self.is_in(place, &type_, last)?;
        Some(Node::Variant(Box::new(test)))
    }

    fn is_built(
        &self,
        (object, type_): (Place, Arc<Type>),
        path: &Option<String>,
        parts: &[Part],
    ) -> Option<Node> {
        if parts.len() > MOST_PARTS {
            return None;
        }
        let Some(found) = variants::parts(&type_) else {
            // Of other types, only tuples are sure to be shown as they are.
            let is_tuple = type_.name.starts_with('(') && path.is_none();
            let fields = is_tuple.then_some(type_)?;
            return self.have_parts(object, &fields, parts);
        };
        let name = path.as_deref()?.rsplit("::").next()?;
        let variant = found.variants.iter().find(|it| *it.name == *name)?;
        let test = self.is_in(object.clone(), &type_, name);
        let test = test.filter(|_| variants::is_plain(&type_))?;
        let fields = self.strip(variant.member.type_id)?;
        let place = Place::Part(Box::new(object), variant.member.offset);
        let same = self.have_parts(place, &fields, parts)?;
        Some(both(variant_node(test), same))
    }

    /// Whether all fields of an object are equal to the parts that are written for them.
    fn have_parts(&self, object: Place, type_: &Type, parts: &[Part]) -> Option<Node> {
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        let is_named = parts.iter().any(|part| part.name.is_some());
        let fields: Vec<&Member> = aggregate.members.iter().collect();
        if fields.len() != parts.len() || aggregate.variants.is_some() {
            return None;
        }
        let mut all: Option<Node> = None;
        for (index, field) in fields.into_iter().enumerate() {
            let mut named = parts
                .iter()
                .filter(|it| it.name.as_deref() == field.name.as_deref());
            let part = match is_named {
                true => named.next()?,
                false => parts.get(index)?,
            };
            if field.base || field.artificial || field.bits.is_some() {
                return None;
            }
            let place = Place::Part(Box::new(object.clone()), field.offset);
            let same = self.is_same(place, self.strip(field.type_id)?, &part.value)?;
            all = Some(match all {
                Some(before) => both(before, same),
                None => same,
            });
        }
        Some(all.unwrap_or(Node::Constant(Number::Bool(true))))
    }

    fn is_same(&self, place: Place, type_: Arc<Type>, expected: &Expression) -> Option<Node> {
        let made = Made::Memory(place, Arc::clone(&type_));
        if let Kind::Built { path, parts } = &expected.kind {
            if matches!(type_.kind, TypeKind::Pointer(..)) && !self.is_seen_through(&type_) {
                return None;
            }
            let (place, type_, _) = self.follow(made)?;
            return self.is_built((place, type_), path, parts);
        }
        if let Kind::Text(literal) = &expected.kind {
            return self.text_is(made, literal, true);
        }
        let class = class(&type_)?;
        let (number, is_same_class) = match &expected.kind {
            Kind::Literal { number, .. } => (Node::Constant(*number), class == class_of(*number)?),
            Kind::Unary {
                operator: Unary::Negate,
                operand,
            } if let Kind::Literal { number, .. } = &operand.kind => {
                let number = class_of(*number)?;
                (self.number(self.make(expected)?)?, class == number)
            }
            Kind::Name(_) => match self.make(expected)? {
                Made::Memory(other, own) if !self.is_seen_through(&own) => {
                    let is_same = self::class(&own)? == class;
                    (self.raw(Made::Memory(other, own))?, is_same)
                }
                Made::Value(node, own) => {
                    let is_same = self::class(&own)? == class;
                    (node, is_same)
                }
                _ => return None,
            },
            _ => return None,
        };
        is_same_class.then_some(())?;
        Some(Node::Binary {
            operator: Binary::Equal,
            untyped: (false, is_untyped(expected)),
            sides: Box::new((self.raw(made)?, number)),
        })
    }
}

fn variant_node(test: IsVariant) -> Node {
    Node::Variant(Box::new(test))
}

fn both(first: Node, second: Node) -> Node {
    Node::Binary {
        operator: Binary::And,
        untyped: (false, false),
        sides: Box::new((first, second)),
    }
}

fn class(type_: &Type) -> Option<Class> {
    match type_.kind {
        TypeKind::Base(Encoding::Signed | Encoding::Unsigned) => Some(Class::Integer),
        TypeKind::Base(Encoding::Float) => Some(Class::Float),
        TypeKind::Base(Encoding::Bool) => Some(Class::Bool),
        TypeKind::Base(Encoding::Utf) => Some(Class::Char),
        _ => None,
    }
}

fn class_of(number: Number) -> Option<Class> {
    match number {
        Number::Integer { .. } => Some(Class::Integer),
        Number::Float { .. } => Some(Class::Float),
        Number::Bool(_) => Some(Class::Bool),
        Number::Char(_) => Some(Class::Char),
        Number::Pointer { .. } => None,
    }
}
