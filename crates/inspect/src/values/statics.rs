//! Static members of C++ classes: shown among an object's children, although they aren't part of it.

use super::layout::Elsewhere;
use super::view::{MAX_NESTING, Record};
use super::{Contents, NamedValue, Reader, Value, names};
use crate::frame::Frame;
use crate::modules::LoadedModule;
use dapple_symbols::location::Unavailable;
use dapple_symbols::scopes::{Variable, VariableKind};
use dapple_symbols::types::{Aggregate, StaticMember, TypeKind};
use std::sync::Arc;

/// The most static members that are shown of one class.
const MOST: usize = 1000;

/// A static member in a record.
#[derive(Debug, Clone)]
pub(crate) struct Static {
    /// The name that is shown. It is qualified if the member is from a base class that isn't shown itself.
    pub name: String,
    pub member: StaticMember,
}

/// A class's own static members.
pub(super) fn own(aggregate: &Aggregate) -> impl Iterator<Item = Static> + '_ {
    aggregate.statics.iter().take(MOST).map(|member| Static {
        name: member.name.to_string(),
        member: member.clone(),
    })
}

impl Reader<'_> {
    /// Adds to `found` the static members of a base without fields, which isn't shown itself, and those of the base's bases.
    pub(super) fn statics_of_base(&self, base: &Value, nesting: usize, found: &mut Vec<Static>) {
        let Some(type_) = self.resolve(base).map(|resolved| resolved.type_) else {
            return;
        };
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return;
        };
        let of = names::shorten(names::base_name(&type_.name), type_.language);
        for mut one in own(aggregate) {
            one.name = format!("{of}::{}", one.name);
            found.push(one);
        }
        for inner in aggregate.members.iter().filter(|member| member.base) {
            if nesting < MAX_NESTING && found.len() < MOST {
                let inner = base.sibling(Some(inner.type_id), base.contents.clone());
                self.statics_of_base(&inner, nesting + 1, found);
            }
        }
    }

    /// The definition of a static member of a class in `module`, and the module that has the definition. `None`: neither `module` nor
    /// another one has it; the distribution's libraries aren't searched.
    fn definition_of_static(
        &self,
        module: &Arc<LoadedModule>,
        member: &StaticMember,
    ) -> Option<(Variable, Arc<LoadedModule>)> {
        if let Some(variable) = module.module.static_member(member) {
            return Some((variable, Arc::clone(module)));
        }
        let name = module.module.static_member_name(member)?;
        let others = self.modules.iter();
        let mut others = others.filter(|other| other.id != module.id && !other.is_distributions());
        others.find_map(|other| {
            let found = other.module.statics_named(&format!("::{name}"));
            let variable = found.into_iter().find(|found| found.name == name)?;
            Some((variable, Arc::clone(other)))
        })
    }

    /// A static member's value. A thread-local one is unavailable without a frame.
    pub(crate) fn static_member(
        &self,
        object: &Value,
        member: &StaticMember,
        frame: Option<&Frame>,
    ) -> Value {
        let Some((variable, module)) = self.definition_of_static(&object.module, member) else {
            let why = "the program has no definition of it";
            let contents = Contents::Unavailable(Unavailable::Unsupported(why.into()));
            return object.sibling(Some(member.type_id), contents);
        };
        if let Some(frame) = frame {
            let mut value = self.variable(&variable, &module, frame).value;
            value.language = object.language;
            return value;
        }
        let context = Elsewhere::new(self.memory, module.bias);
        let place = dapple_symbols::FileAddress(0);
        let contents = match module.module.locate(&variable, place, &context) {
            _ if context.wants_thread() => {
                let why = "each thread has its own; evaluate its name";
                Contents::Unavailable(Unavailable::Unsupported(why.into()))
            }
            Ok(pieces) => Contents::of_static(pieces),
            Err(reason) => Contents::Unavailable(reason),
        };
        let type_id = variable.type_id;
        Value {
            format: object.format,
            ..Value::new(module, type_id, object.language, contents)
        }
    }

    /// The children for a record's static members. `prefix` is put before a member's name in expressions.
    pub(super) fn static_children(
        &self,
        object: &Value,
        record: &Record,
        prefix: Option<&str>,
    ) -> Vec<NamedValue> {
        let child = |one: &Static| NamedValue {
            name: one.name.clone(),
            value: self.static_member(object, &one.member, None),
            expression: prefix
                .filter(|_| !one.name.contains('<'))
                .map(|prefix| format!("{prefix}{}", one.name)),
            kind: Some(VariableKind::Static),
        };
        record.statics.iter().map(child).collect()
    }
}
