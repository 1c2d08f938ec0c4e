//! Members: looked up through references, pointers, bases, anonymous members and the active variant.

use super::{Fault, MAX_STEPS, Runner, seen_through};
use crate::eval::a_type;
use crate::eval::builtins;
use crate::eval::ir::Expression;
use crate::natvis;
use crate::values::view::{LONG, View};
use crate::values::{Value, names, rust};
use dapple_symbols::types::TypeKind;
use dapple_target::suggest::nearest;

/// The deepest base class or anonymous member searched.
const MAX_BASES: usize = 16;
/// The most members looked at in one search.
const MAX_VISITS: usize = 10_000;

impl Runner<'_> {
    pub(super) fn member_of(
        &self,
        value: Value,
        base: &Expression,
        name: &str,
        name_at: usize,
        arrow: bool,
    ) -> Result<Value, Fault> {
        let object = value.clone();
        let mut value = value;
        let mut seen = Vec::new();
        let mut followed = false;
        for _ in 0..MAX_STEPS {
            if let Some(member) = self.own_member(&value, name) {
                if arrow && !followed {
                    return Err(self.fault(base, "is no pointer; use `.` instead of `->`"));
                }
                return Ok(member);
            }
            seen.push(value.clone());
            match self.reader.view(&value, LONG) {
                View::Alias(target) => {
                    // A Rust box or reference is a pointer as well.
                    followed |= self.is_pointer(&value) || self.is_optional(&value);
                    value = target;
                }
                View::Pointer { address: 0, .. } => {
                    return Err(self.fault(base, "is a null pointer"));
                }
                View::Pointer {
                    target: Some(target),
                    ..
                } => {
                    followed = true;
                    value = target;
                }
                view => {
                    match seen_through(view).or_else(|| natvis::pointer_in(self.reader, &value)) {
                        Some(inside) => value = inside,
                        None => break,
                    }
                }
            }
        }
        // The dynamic type of the object may have a member that the static type lacks.
        let wholes: Vec<Value> = seen.iter().filter_map(|it| self.whole_of(it)).collect();
        if let Some(member) = wholes.iter().find_map(|it| self.own_member(it, name)) {
            if arrow && !followed {
                return Err(self.fault(base, "is no pointer; use `.` instead of `->`"));
            }
            return Ok(member);
        }
        if let Some(constant) = self.constant_of_object(&object, name) {
            return Ok(constant);
        }
        let searched = seen.iter().chain(&wholes);
        let mut fault = self.no_member(searched, &value, base, (name, name_at))?;
        // Another value of the type may be in a variant that has the member.
        fault.is_unknown &= !seen
            .iter()
            .any(|value| self.is_in_other_variant(value, name));
        Err(fault)
    }

    /// Whether the value is an enum of which a variant has the member.
    fn is_in_other_variant(&self, value: &Value, name: &str) -> bool {
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        let Some(TypeKind::Aggregate(aggregate)) = type_.as_ref().map(|type_| &type_.kind) else {
            return false;
        };
        let mut variants = aggregate.variants.iter().flat_map(|part| &part.variants);
        variants.any(|variant| {
            let payload = self.reader.member(value, &variant.member);
            self.declared_member(&payload, name, 0, &mut 0).is_some()
        })
    }

    /// The fault for a missing member, which says which members there are instead. `last` is the value where the search ended. Fails if that
    /// value has no members because it is unavailable.
    fn no_member<'v>(
        &self,
        searched: impl Iterator<Item = &'v Value>,
        last: &Value,
        base: &Expression,
        (name, name_at): (&str, usize),
    ) -> Result<Fault, Fault> {
        let mut names = Vec::new();
        for value in searched {
            self.collect_names(value, &mut names);
        }
        if names.is_empty() {
            self.check_available(last, base)?;
            let type_name = self.type_of(last);
            let hint = match type_name.starts_with("void") || type_name.ends_with("()") {
                true => "; cast it first",
                false if builtins::named(name, 0).is_some() => &format!("; there is `{name}()`"),
                false => "",
            };
            let why = format!("has no members, it is {}{hint}", a_type(&type_name));
            let mut fault = self.fault(base, &why);
            fault.is_unknown = true;
            return Ok(fault);
        }
        let hint = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let more = if names.len() > 8 { ", …" } else { "" };
                names.truncate(8);
                format!("it has {}{more}", names.join(", "))
            }
        };
        let message = format!("`{}` has no member `{name}`; {hint}", self.source(base));
        Ok(Fault::unknown(name_at, message))
    }

    /// The member `name` of a value. If the value has none, the member of the value's target, if it is a reference or pointer, and so on
    /// for [`MAX_STEPS`] steps. `None`: none of these values has the member.
    pub(super) fn find_member(&self, value: &Value, name: &str) -> Option<Value> {
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            if let Some(member) = self.own_member(&value, name) {
                return Some(member);
            }
            value = self.reader.view(&value, LONG).target()?;
        }
        None
    }

    pub(super) fn is_pointer(&self, value: &Value) -> bool {
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        use dapple_symbols::types::PointerKind::Pointer;
        type_.is_some_and(|type_| matches!(type_.kind, TypeKind::Pointer(Pointer, _)))
    }

    /// A member that the type declares, or else a field that is displayed, such as one of the active variant. Doesn't follow pointers.
    pub(super) fn own_member(&self, value: &Value, name: &str) -> Option<Value> {
        let mut visits = 0;
        if let Some(member) = self.declared_member(value, name, 0, &mut visits) {
            return Some(member);
        }
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        // A pointer or a number has no fields, and viewing it would read memory, of a pointer also at its target.
        if type_
            .is_some_and(|type_| matches!(type_.kind, TypeKind::Pointer(..) | TypeKind::Base(_)))
        {
            return None;
        }
        match self.reader.view(value, LONG) {
            View::Record(record) => {
                // A variant's field is displayed as `0`, and called `__0` in the debug information.
                let index = rust::tuple_index(name).unwrap_or(name);
                let mut fields = record.fields.into_iter().filter(|field| !field.base);
                fields
                    .find(|field| field.name == name || field.name == index)
                    .map(|field| field.value)
            }
            _ => None,
        }
    }

    fn declared_member(
        &self,
        value: &Value,
        name: &str,
        depth: usize,
        visits: &mut usize,
    ) -> Option<Value> {
        let resolved = self.reader.resolve(value)?;
        let TypeKind::Aggregate(aggregate) = &resolved.type_.kind else {
            return None;
        };
        // `object.Class::member`, where `Class` is the object's own class.
        let name = match name.split_once("::") {
            Some((class, last)) if names::base_name(&resolved.type_.name) == class => last,
            _ => name,
        };
        let is_index = name.bytes().all(|byte| byte.is_ascii_digit());
        let mut inner = Vec::new();
        for member in &aggregate.members {
            *visits += 1;
            if *visits > MAX_VISITS {
                return None;
            }
            match &member.name {
                Some(own) if **own == *name => return Some(self.reader.member(value, member)),
                Some(own) if is_index && own.strip_prefix("__") == Some(name) => {
                    return Some(self.reader.member(value, member));
                }
                Some(_) if !member.base => {}
                _ => inner.push(member),
            }
        }
        if let Some(found) = aggregate.statics.iter().find(|one| *one.name == *name) {
            return Some(self.reader.static_member(value, found, Some(self.frame)));
        }
        if depth >= MAX_BASES {
            return None;
        }
        // `object.Base::member`.
        if let Some((base, last)) = name.split_once("::") {
            let is_meant = |part: &Value| {
                let type_ = self.reader.resolve(part).map(|resolved| resolved.type_);
                type_.is_some_and(|type_| names::base_name(&type_.name) == base)
            };
            let mut parts = inner
                .into_iter()
                .map(|base| self.reader.member(value, base));
            return parts.find_map(|part| {
                let name = if is_meant(&part) { last } else { name };
                self.declared_member(&part, name, depth + 1, visits)
            });
        }
        inner.into_iter().find_map(|member| {
            let part = self.reader.member(value, member);
            self.declared_member(&part, name, depth + 1, visits)
        })
    }

    pub(super) fn collect_names(&self, value: &Value, names: &mut Vec<String>) {
        let mut raw = value.clone();
        raw.raw = true;
        for value in [value, &raw] {
            if let View::Record(record) = self.reader.view(value, LONG) {
                let statics = record.statics.into_iter().map(|one| one.name);
                let fields = record
                    .fields
                    .into_iter()
                    .filter(|f| !f.artificial && !f.base);
                let new = fields.map(|field| field.name);
                names.extend(new.take(64).chain(statics.take(64)));
                names.dedup();
                return;
            }
        }
    }
}
