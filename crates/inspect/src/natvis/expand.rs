//! The children of a value according to its entry: named ones, and groups of elements. Only the requested page of elements is made.

use super::evaluate::{Evaluator, Wanted, failure, reason, sequence};
use super::model::{Array, Choice, Expand, Item, ItemKind, Part, Place};
use super::present::Presented;
use super::{custom, nodes};
use crate::eval::scope::Failure;
use crate::values::entries::{Entries, Entry, Page};
use crate::values::view::{Field, Limit, Sequence, View};
use crate::values::{Contents, Number, Reader, Value};
use std::sync::Arc;

/// The most dimensions of an array.
const MAX_RANK: u64 = 8;
/// The most named children.
const MAX_FIELDS: usize = 4096;

/// A value's children.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub fields: Vec<Field>,
    pub groups: Vec<Group>,
    /// Whether the value without presentation is offered as a child.
    pub raw: bool,
    /// The first place in the file that refers to an unknown name, with the message.
    pub unknown: Option<(Place, String)>,
}

/// A group of elements.
#[derive(Debug)]
pub(crate) struct Group {
    pub elements: Elements,
    /// The lengths of its dimensions, if there are several, and whether the first one varies fastest.
    dimensions: Option<(Vec<u64>, bool)>,
    /// The index of the first element, in each dimension.
    lower: i128,
}

#[derive(Debug)]
pub(crate) enum Elements {
    Together(Sequence),
    Apart(Entries),
}

impl Group {
    pub(super) fn apart(entries: Entries) -> Group {
        Group {
            elements: Elements::Apart(entries),
            dimensions: None,
            lower: 0,
        }
    }

    fn together(sequence: Sequence) -> Group {
        Group {
            elements: Elements::Together(sequence),
            dimensions: None,
            lower: 0,
        }
    }

    /// The number of elements.
    pub(crate) fn length(&self) -> u64 {
        match &self.elements {
            Elements::Together(sequence) => sequence.length,
            Elements::Apart(entries) => entries.length,
        }
    }

    /// The displayed index of the element at a position.
    pub(crate) fn index(&self, position: u64) -> String {
        let Some((lengths, first_is_fastest)) = &self.dimensions else {
            return (i128::from(position).saturating_add(self.lower)).to_string();
        };
        let mut rest = position;
        let mut indices = Vec::new();
        let mut split = |length: &u64| {
            let length = (*length).max(1);
            indices.push((i128::from(rest % length) + self.lower).to_string());
            rest /= length;
        };
        match first_is_fastest {
            true => lengths.iter().for_each(&mut split),
            false => lengths.iter().rev().for_each(&mut split),
        }
        if !first_is_fastest {
            indices.reverse();
        }
        indices.join(",")
    }
}

impl Parts {
    fn field(&mut self, name: String, value: Value) {
        if self.fields.len() < MAX_FIELDS {
            self.fields.push(Field {
                name,
                value,
                base: true,
                artificial: false,
            });
        }
    }

    /// Adds a child that shows why something is missing.
    fn lacks(&mut self, name: &str, place: &Place, failed: Failure, object: &Value) {
        self.field(name.to_owned(), reason(object, &failed.message));
        if failed.is_unknown && self.unknown.is_none() {
            self.unknown = Some((place.clone(), failed.message));
        }
    }

    /// The number of elements so far.
    pub(crate) fn elements(&self) -> u64 {
        let lengths = self.groups.iter().map(Group::length);
        lengths.fold(0, u64::saturating_add)
    }

    /// The limit for the next group: the part of the requested page that comes after the elements of the groups so far.
    fn page(&self, limit: Limit) -> Limit {
        let before = self.elements();
        let end = limit.first.saturating_add(limit.entries as u64);
        limit.page(
            limit.first.saturating_sub(before),
            end.saturating_sub(before),
        )
    }

    /// The group that contains an element, and the element's position in it.
    pub(crate) fn group_of(&self, index: u64) -> Option<(&Group, u64)> {
        let mut rest = index;
        for group in &self.groups {
            match rest.checked_sub(group.length()) {
                Some(less) => rest = less,
                None => return Some((group, rest)),
            }
        }
        None
    }
}

impl Reader<'_> {
    /// The children of a value according to its entry.
    pub(crate) fn parts(&self, presented: &Presented) -> Parts {
        let mut parts = Parts::default();
        let object = &presented.object;
        let evaluator = Evaluator::new(self, object, &presented.arguments, presented.view.clone());
        match presented.by.expand() {
            Some(expand) => {
                parts.raw = !expand.hides_raw && !presented.by.is_synthetic();
                evaluator.expand(object, expand, presented, &mut parts);
            }
            None if presented.by.is_synthetic() => {}
            None => {
                let view = evaluator.reader.view(object, presented.limit);
                parts.raw = !matches!(view, View::Record(_));
                evaluator.merge(object, view, presented.limit, &mut parts);
            }
        }
        parts
    }
}

impl Evaluator<'_> {
    fn expand(&self, object: &Value, expand: &Expand, by: &Presented, parts: &mut Parts) {
        for item in &expand.items {
            if self.applies(object, &item.guard) {
                self.item(object, item, by, parts);
            }
        }
    }

    fn item(&self, object: &Value, item: &Item, by: &Presented, parts: &mut Parts) {
        let optional = item.guard.optional;
        let done = match &item.kind {
            ItemKind::Single { name, value } => {
                let name = self.name(object, name, by.limit);
                match self.value(object, value) {
                    Err(_) if optional => {}
                    Err(failed) => parts.lacks(&name, &value.place, failed, object),
                    Ok(value) => parts.field(name, value),
                }
                return;
            }
            ItemKind::Synthetic(synthetic) => {
                let name = self.name(object, &synthetic.name, by.limit);
                let wanted = Wanted::Synthetic(Arc::clone(synthetic), Arc::clone(&by.arguments));
                let value = Value {
                    natvis_format: Some(Arc::new(wanted)),
                    ..object.clone()
                };
                parts.field(name, value);
                return;
            }
            ItemKind::Expanded(code) => {
                let limit = parts.page(by.limit);
                match self.value(object, code) {
                    Ok(value) => {
                        let view = match self.is_itself(object, &value) {
                            // An entry that expands the object itself shows the object's usual view, without Natvis.
                            true => self.reader.view(&value, limit),
                            false => self.shown.view(&value, limit),
                        };
                        self.merge(&value, view, limit, parts);
                        Ok(None)
                    }
                    Err(failed) => Err(failed),
                }
            }
            ItemKind::Array(array) => self.array(object, array).map(Some),
            ItemKind::Indexed { size, values } => {
                let limit = parts.page(by.limit);
                self.indexed(object, size, values, limit).map(Some)
            }
            ItemKind::List(list) => nodes::list(self, object, list, parts.page(by.limit)).map(Some),
            ItemKind::Tree(tree) => nodes::tree(self, object, tree, parts.page(by.limit)).map(Some),
            ItemKind::Custom(custom) => {
                custom::elements(self, object, custom, parts.page(by.limit)).map(Some)
            }
        };
        match done {
            Ok(Some(group)) => parts.groups.push(group),
            Ok(None) => {}
            Err(_) if optional => {}
            Err(failed) => parts.lacks("[elements]", &item.place, failed, object),
        }
    }

    /// Whether a value is the object itself, with no special presentation.
    fn is_itself(&self, object: &Value, value: &Value) -> bool {
        let at = object.contents.address();
        let is_same = at.is_some() && at == value.contents.address();
        is_same && value.type_id == object.type_id && value.natvis_format.is_none()
    }

    pub(super) fn name(&self, object: &Value, parts: &[Part], limit: Limit) -> String {
        match self.text(object, parts, limit, false) {
            Ok(name) => name,
            Err(failed) => format!("<{}>", failed.message),
        }
    }

    /// Adds the children of a view.
    fn merge(&self, value: &Value, view: View, limit: Limit, parts: &mut Parts) {
        match view {
            View::Record(record) => {
                for field in record.fields {
                    parts.fields.push(field);
                }
            }
            View::Sequence(sequence) => parts.groups.push(Group::together(sequence)),
            View::Entries(entries) => parts.groups.push(Group::apart(entries)),
            View::Presented(presented) => {
                let inner = self.shown.parts(&presented);
                parts.fields.extend(inner.fields);
                parts.groups.extend(inner.groups);
                if parts.unknown.is_none() {
                    parts.unknown = inner.unknown;
                }
            }
            View::Alias(target)
            | View::Pointer {
                address: 1..,
                target: Some(target),
                ..
            } => match self.shown.view(&target, limit) {
                View::Alias(_) | View::Pointer { .. } | View::Leaf(_) | View::Missing(_) => {
                    parts.field("*".to_owned(), target);
                }
                view => self.merge(&target, view, limit, parts),
            },
            View::Broken(_) => parts.field(
                "[raw]".to_owned(),
                Value {
                    raw: true,
                    ..value.clone()
                },
            ),
            View::Leaf(_) | View::Missing(_) | View::Text { .. } | View::Pointer { .. } => {}
        }
    }

    fn array(&self, object: &Value, array: &Array) -> Result<Group, Failure> {
        let pointer = self
            .chosen(object, &array.pointer)?
            .ok_or_else(|| failure("no `<ValuePointer>` applies"))?;
        let rank = match &array.rank {
            Some(code) => self.count(object, code)?,
            None => 1,
        };
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(failure(format!(
                "an array can't have {rank} dimensions here"
            )));
        }
        let mut lengths = Vec::new();
        for dimension in 0..rank {
            let length = self.numbered(dimension, || self.size(object, &array.size))?;
            lengths.push(length.ok_or_else(|| failure("no `<Size>` applies"))?);
        }
        let length = lengths.iter().try_fold(1u64, |all, one| {
            let all = all.checked_mul(*one);
            all.filter(|all| *all <= super::evaluate::MAX_LENGTH)
        });
        let length = length.ok_or_else(|| {
            failure("not initialised or corrupt: it would have more elements than memory")
        })?;
        let lower = match &array.lower {
            None => 0,
            Some(code) => match self.number(object, code)? {
                Number::Integer { value, .. } => value,
                _ => return Err(failure("a bound was expected")),
            },
        };
        let mut value = self.value(object, pointer)?;
        let element = match self.target_of_elements(&mut value)? {
            Some(element) => element,
            None if length == 0 => reason(object, "a null pointer"),
            None => return Err(failure(format!("a null pointer, for {length} elements"))),
        };
        let size = self.reader.size_of(&element).unwrap_or(0);
        if size == 0 && length > 0 {
            return Err(failure("the size of its elements is not known"));
        }
        Ok(Group {
            elements: Elements::Together(sequence(element, size, length)),
            dimensions: (rank > 1).then_some((lengths, array.first_is_fastest)),
            lower,
        })
    }

    /// A pointer's target or an array's first element, in the requested format.
    fn target_of_elements(&self, value: &mut Value) -> Result<Option<Value>, Failure> {
        value.repeated = None;
        let (format, natvis_format, raw) = (value.format, value.natvis_format.take(), value.raw);
        let first = match self.reader.view(value, crate::values::view::SHORT) {
            View::Sequence(sequence) => Some(sequence.at(0)),
            _ => self.target(value.clone())?,
        };
        Ok(first.map(|first| Value {
            format,
            natvis_format,
            raw,
            ..first
        }))
    }

    /// Evaluates with `$i` set to a number.
    pub(super) fn numbered<R>(&self, index: u64, evaluate: impl FnOnce() -> R) -> R {
        let number = Number::integer(index.into(), 8, false);
        let Some(module) = self.frame.physical.module.clone() else {
            return evaluate();
        };
        let language = self.frame.language;
        let value = Value::new(module, None, language, Contents::Number(number));
        self.variables.borrow_mut().push(("$i".into(), value));
        let result = evaluate();
        self.variables.borrow_mut().pop();
        result
    }

    fn indexed(
        &self,
        object: &Value,
        size: &[Choice],
        values: &[Choice],
        limit: Limit,
    ) -> Result<Group, Failure> {
        let length = self.size(object, size)?;
        let length = length.ok_or_else(|| failure("no `<Size>` applies"))?;
        let mut page = Page::new(limit, false);
        page.skip(page.before().min(length));
        while !page.is_full(length) {
            let index = page.position();
            let value = self.numbered(index, || match self.chosen(object, values)? {
                Some(code) => self.value(object, code).map(Some),
                None => Ok(None),
            });
            let value = match value {
                Ok(Some(value)) => value,
                Ok(None) => reason(object, "no `<ValueNode>` applies"),
                Err(failed) if failed.is_unknown => return Err(failed),
                Err(failed) => reason(object, &failed.message),
            };
            let _ = page.next(|| Some(Entry { key: None, value }));
        }
        let mut entries = page.of(length);
        entries.is_list = true;
        Ok(Group::apart(entries))
    }
}
