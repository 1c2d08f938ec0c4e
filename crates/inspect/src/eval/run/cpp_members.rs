//! What `.` and `->` lead to in C++: the object whose class is searched for a member, and the whole object that a base is part of.
//!
//! Only methods of the library's classes are answered without running the program. Where the rules of C++ lead to a class of the
//! user's, the method is that class's, whatever library class was passed on the way: `u->get()` of a `unique_ptr<W>` is `W::get`.

use super::{MAX_STEPS, Runner};
use crate::eval::Fault;
use crate::eval::ir::{Expression, Kind};
use crate::values::view::{LONG, View};
use crate::values::{Value, is_cpp_library};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Type, TypeKind};
use std::sync::Arc;

/// The operator that defines `->` for a class.
const ARROW: &str = "operator->";

impl Runner<'_> {
    /// The operand of `.` or `->`. If a user's class overloads `->`, this is the result of that operator, which is called, where calls are
    /// allowed.
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
        // Pointers are checked first: finding the receiver would read memory.
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

    /// The class object that `.` or `->` leads to. `None`: there is none, or the language is not C++.
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
                    // An arrow dereferences an `optional`, but not a reference.
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

    /// Whether an object's class is the user's and has a method of the name.
    pub(super) fn has_users_method(&self, object: &Value, name: &str) -> bool {
        let class = self.class_of(object);
        if !class.is_some_and(|class| class.language == Language::Cpp && !is_cpp_library(&class)) {
            return false;
        }
        let whole = || self.whole_of(object);
        !self.cpp_methods(object, name, 0).is_empty()
            || whole().is_some_and(|whole| !self.cpp_methods(&whole, name, 0).is_empty())
    }

    /// The complete object that a value is a base of, according to its virtual table. `None`: the value is complete, or it is unknown.
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

    /// As [`Runner::whole_of`], for the first such object behind pointers and references.
    pub(super) fn whole_behind(&self, value: &Value) -> Option<Value> {
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            if let Some(whole) = self.whole_of(&value) {
                return Some(whole);
            }
            value = self.reader.view(&value, LONG).target()?;
        }
        None
    }
}
