//! What `.` and `->` lead to in C++: the object whose class is asked for a member, and the whole object that it is a part of.
//!
//! Answers that are given without running the program are of the library's classes. Where the language's way ends at a class of the user's,
//! the method is that class's own, whatever the library has on the way: `u->get()` of a `unique_ptr<W>` is `W::get`.

use super::{MAX_STEPS, Runner};
use crate::eval::Fault;
use crate::eval::ir::{Expression, Kind};
use crate::values::view::{LONG, View};
use crate::values::{Value, is_cpp_library};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Type, TypeKind};
use std::sync::Arc;

/// What `->` is defined by in a class.
const ARROW: &str = "operator->";

impl Runner<'_> {
    /// What is in front of `.` or `->`: where that is an arrow, and a class of the user's has one of its own, what that gives, which is called.
    pub(super) fn object_of(
        &self,
        base: &Expression,
        name_at: usize,
        arrow: bool,
    ) -> Result<Value, Fault> {
        let value = self.value(base)?;
        if !arrow || self.calls.is_none() || self.frame.language != Language::Cpp {
            return Ok(value);
        }
        // Asked first: to look for what it leads to is to read it.
        if self.is_pointer(&value) {
            return Ok(value);
        }
        match self.receiver(&value, false) {
            Some(object) if self.has_users_method(&object, ARROW) => {
                let call = Expression {
                    at: base.end,
                    end: name_at,
                    kind: Kind::Call {
                        callee: Box::new(base.clone()),
                        arguments: Vec::new(),
                    },
                };
                let candidates = self.methods_called(object, base, (ARROW, base.end), false)?;
                self.made(&call, || self.chosen(&candidates, base, &[], None))
            }
            _ => Ok(value),
        }
    }

    /// The object of a class that `.` or `->` leads to; `None`: there is none, or another language has its own rules.
    pub(super) fn receiver(&self, value: &Value, arrow: bool) -> Option<Value> {
        if self.frame.language != Language::Cpp {
            return None;
        }
        let mut arrow = arrow;
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            let class = self.class_of(&value);
            if class.is_some() && !arrow {
                return Some(value);
            }
            value = match self.reader.view(&value, LONG) {
                View::Alias(target) => {
                    // An optional is looked behind by an arrow, a reference is not.
                    arrow &= class.is_none();
                    target
                }
                View::Pointer {
                    target: Some(target),
                    ..
                } => {
                    arrow = false;
                    target
                }
                _ => return None,
            };
        }
        None
    }

    fn class_of(&self, value: &Value) -> Option<Arc<Type>> {
        let type_ = self.reader.resolve(value)?.type_;
        matches!(type_.kind, TypeKind::Aggregate(_)).then_some(type_)
    }

    /// Whether an object's class is the user's, and has such a method.
    pub(super) fn has_users_method(&self, object: &Value, name: &str) -> bool {
        let class = self.class_of(object);
        if !class.is_some_and(|class| class.language == Language::Cpp && !is_cpp_library(&class)) {
            return false;
        }
        let whole = || self.whole_of(object);
        !self.cpp_methods(object, name, 0).is_empty()
            || whole().is_some_and(|whole| !self.cpp_methods(&whole, name, 0).is_empty())
    }

    /// The object that a value is a base of, by what the object says of itself; `None`: it is all there is, or says nothing.
    pub(super) fn whole_of(&self, value: &Value) -> Option<Value> {
        let type_ = self.class_of(value)?;
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        if type_.language != Language::Cpp {
            return None;
        }
        let whole = self.reader.whole_object(value, aggregate)?;
        let is_other =
            whole.type_id != value.type_id || whole.contents.address() != value.contents.address();
        is_other.then_some(whole)
    }

    /// As [`Runner::whole_of`], of the first object behind pointers and references.
    pub(super) fn whole_behind(&self, value: &Value) -> Option<Value> {
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            if let Some(whole) = self.whole_of(&value) {
                return Some(whole);
            }
            value = match self.reader.view(&value, LONG) {
                View::Alias(target) => target,
                View::Pointer {
                    target: Some(target),
                    ..
                } => target,
                _ => return None,
            };
        }
        None
    }
}
