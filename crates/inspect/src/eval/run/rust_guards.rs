//! Reads what Rust's cells, locks, atomics, reference-counted pointers and durations contain, without running the program. Nothing is
//! borrowed or locked for that, so it also works while the stopped thread holds the lock.

use super::rust_methods::looked_up_in;
use super::{Fault, MAX_STEPS, Runner};
use crate::eval::ir::{Expression, Kind};
use crate::values::rust::{counts, is_poisoned};
use crate::values::view::{LONG, View};
use crate::values::{Number, Value, names};
use dapple_symbols::functions::Language;
use std::time::Duration;

/// What a method that gives access to the contents of a cell or lock returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guarded {
    /// A guard.
    Guard,
    /// A `Result` or an `Option` that contains a guard.
    Fallible,
}

/// The methods that return guards, or results with guards. The same names with the prefix `try_` exist as well.
const GUARDING: [&str; 5] = ["borrow", "borrow_mut", "lock", "read", "write"];

/// The supported cells and locks by the path of their type: what `method` returns, and the name of the field with the contents.
fn guarded_by(path: &str, method: &str) -> Option<(Guarded, &'static str)> {
    let is_tried = method.starts_with("try_");
    Some(match (path, method) {
        ("core::cell::RefCell", "borrow" | "borrow_mut") => (Guarded::Guard, "value"),
        ("core::cell::RefCell", "try_borrow" | "try_borrow_mut") => (Guarded::Fallible, "value"),
        ("std::sync::poison::mutex::Mutex", "lock" | "try_lock")
        | ("std::sync::poison::rwlock::RwLock", "read" | "write" | "try_read" | "try_write") => {
            (Guarded::Fallible, "data")
        }
        ("lock_api::mutex::Mutex", "lock" | "try_lock")
        | ("lock_api::rwlock::RwLock", "read" | "write" | "try_read" | "try_write") => {
            match is_tried {
                true => (Guarded::Fallible, "data"),
                false => (Guarded::Guard, "data"),
            }
        }
        _ => return None,
    })
}

/// The pointer type and function in a path such as `Rc::strong_count`.
fn counting(callee: &Expression) -> Option<(&str, &str)> {
    let Kind::Name(name) = &callee.kind else {
        return None;
    };
    let name = name.strip_prefix("std::").unwrap_or(name);
    let path = name.strip_prefix("rc::").or(name.strip_prefix("sync::"));
    let (owner, function) = path.unwrap_or(name).split_once("::")?;
    let is_one = matches!(owner, "Rc" | "Arc")
        && matches!(function, "strong_count" | "weak_count" | "ptr_eq");
    is_one.then_some((owner, function))
}

/// Whether a call of `callee` with this number of arguments is one of `Rc::strong_count` or the like, which is computed without running the
/// program.
pub(in crate::eval) fn is_count(callee: &Expression, arguments: usize) -> bool {
    counting(callee).is_some_and(|(_, function)| arguments == 1 + usize::from(function == "ptr_eq"))
}

impl Runner<'_> {
    /// The contents of the cell or lock that `cell.borrow()` or `mutex.lock().unwrap()` gives access to. `None`: it is another expression,
    /// the contents can't be read, or the lock is poisoned.
    pub(super) fn guarded(&self, expression: &Expression) -> Option<Value> {
        if self.frame.language != Language::Rust {
            return None;
        }
        match expression.as_method()? {
            (base, "unwrap", []) | (base, "expect", [_]) => match base.as_method()? {
                (holder, name, []) => self.held_by(holder, name, Guarded::Fallible),
                _ => None,
            },
            (holder, name, []) => self.held_by(holder, name, Guarded::Guard),
            _ => None,
        }
    }

    fn held_by(&self, holder: &Expression, method: &str, gives: Guarded) -> Option<Value> {
        if !GUARDING.contains(&method.trim_start_matches("try_")) {
            return None;
        }
        let mut value = self.value(holder).ok()?;
        for _ in 0..MAX_STEPS {
            if let Some(resolved) = self.reader.resolve(&value)
                && let Some((given, field)) =
                    guarded_by(names::path_name(&resolved.type_.name), method)
            {
                // A poisoned lock returns an error, and `unwrap` panics.
                let gives_error = gives == Guarded::Fallible && is_poisoned(self.reader, &value);
                let cell = self
                    .reader
                    .field(&value, field)
                    .filter(|_| given == gives && !gives_error)?;
                return match self.reader.view(&cell, LONG) {
                    View::Alias(held) => Some(held),
                    _ => None,
                };
            }
            value = self.reader.view(&value, LONG).target()?;
        }
        None
    }

    /// Whether the result of a Rust expression is a reference, but is represented here by its target: the value of `v.last().unwrap()` is
    /// the element, and `*` leaves it as it is.
    pub(super) fn stands_for_target(&self, expression: &Expression) -> bool {
        if self.frame.language != Language::Rust {
            return false;
        }
        let choice = match expression.as_method() {
            Some((base, "unwrap", []) | (base, "expect", [_])) => Some(base),
            Some(_) => None,
            None => return false,
        };
        let leads_to_target = choice.is_some_and(|choice| match choice.as_method() {
            Some((_, "as_ref" | "as_mut", [])) => true,
            Some((_, "copied" | "cloned", _)) | None => false,
            Some(_) => {
                looked_up_in(choice).is_some_and(|container| self.element_type(container).is_some())
            }
        });
        leads_to_target || self.guarded(expression).is_some()
    }

    /// The result of an atomic's `load(…)`. `None`: it is another method or object.
    pub(super) fn of_atomic(
        &self,
        value: &Value,
        name: &str,
        arguments: &[Expression],
    ) -> Option<Value> {
        let path = |value: &Value| {
            let type_ = self.reader.resolve(value)?.type_;
            let path = names::path_name(&type_.name);
            path.starts_with("core::sync::atomic::Atomic").then_some(())
        };
        if name != "load" || arguments.len() != 1 {
            return None;
        }
        path(value)?;
        if let View::Leaf(text) = self.reader.view(value, LONG)
            && let "true" | "false" = text.as_str()
        {
            return Some(self.computed(Number::Bool(text == "true")));
        }
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, LONG) {
                View::Alias(target) => value = target,
                _ => break,
            }
        }
        Some(value)
    }

    /// The result of `as_millis()` and similar methods of a `Duration`. `None`: it is another method or object.
    pub(super) fn of_duration(&self, value: &Value, name: &str) -> Option<Value> {
        let type_ = self.reader.resolve(value)?.type_;
        if names::path_name(&type_.name) != "core::time::Duration" {
            return None;
        }
        let part = |name: &str| {
            let part = self.reader.find(value, name)?;
            let part = self.reader.find_integer(&part)?;
            let size = self.reader.size_of(&part)?.min(8);
            let mut word = [0; 8];
            let bytes = self.reader.bytes(&part.contents, size).ok()?;
            word.get_mut(..bytes.len())?.copy_from_slice(&bytes);
            Some(u64::from_le_bytes(word))
        };
        let nanoseconds = u32::try_from(part("nanos")?).ok()?;
        if nanoseconds >= 1_000_000_000 {
            return None;
        }
        let duration = Duration::new(part("secs")?, nanoseconds);
        let integer = |number: u128, size| Number::integer(number as i128, size, false);
        Some(self.computed(match name {
            "as_secs" => integer(duration.as_secs().into(), 8),
            "as_millis" => integer(duration.as_millis(), 16),
            "as_micros" => integer(duration.as_micros(), 16),
            "as_nanos" => integer(duration.as_nanos(), 16),
            "subsec_millis" => integer(duration.subsec_millis().into(), 4),
            "subsec_micros" => integer(duration.subsec_micros().into(), 4),
            "subsec_nanos" => integer(duration.subsec_nanos().into(), 4),
            "as_secs_f64" => Number::Float {
                value: duration.as_secs_f64(),
                size: 8,
            },
            "as_secs_f32" => Number::Float {
                value: duration.as_secs_f32().into(),
                size: 4,
            },
            "is_zero" => Number::Bool(duration.is_zero()),
            _ => return None,
        }))
    }

    /// The result of `Rc::strong_count(&rc)` and similar functions. `None`: it is another function, or an argument is no readable `Rc` or
    /// `Arc`.
    pub(super) fn reference_counts(
        &self,
        callee: &Expression,
        arguments: &[Expression],
    ) -> Option<Result<Value, Fault>> {
        let (owner, function) = counting(callee)?;
        let is_owner = |name: &str| match owner {
            "Rc" => name.starts_with("alloc::rc::Rc<"),
            "Arc" => name.starts_with("alloc::sync::Arc<"),
            _ => false,
        };
        if self.frame.language != Language::Rust {
            return None;
        }
        let owners = |argument: &Expression| {
            let mut value = match self.value(super::builtins::behind_reference(argument)) {
                Ok(value) => value,
                Err(fault) => return Some(Err(fault)),
            };
            for _ in 0..MAX_STEPS {
                if is_owner(&self.reader.resolve(&value)?.type_.name) {
                    return Some(Ok(value));
                }
                match self.reader.view(&value, LONG) {
                    View::Alias(target) => value = target,
                    _ => return None,
                }
            }
            None
        };
        let pointer = |value: &Value| {
            let pointer = self.reader.find_pointer(value)?;
            self.reader.word(&pointer.contents).ok()
        };
        match (function, arguments) {
            ("strong_count" | "weak_count", [argument]) => {
                let value = match owners(argument)? {
                    Ok(value) => value,
                    Err(fault) => return Some(Err(fault)),
                };
                let (strong, weak) = counts(self.reader, &value)?;
                Some(Ok(self.length(match function {
                    "strong_count" => strong,
                    _ => weak,
                })))
            }
            ("ptr_eq", [one, other]) => {
                let (one, other) = match (owners(one)?, owners(other)?) {
                    (Ok(one), Ok(other)) => (pointer(&one)?, pointer(&other)?),
                    (Err(fault), _) | (_, Err(fault)) => return Some(Err(fault)),
                };
                Some(Ok(self.computed(Number::Bool(one == other))))
            }
            _ => None,
        }
    }
}
