//! Function calls that an expression needs.
//!
//! Evaluation itself never makes a call. When it reaches one that has no result yet, it records the call as wanted and gives no
//! value. The caller, if it may run the program, makes the call, stores the result here and evaluates the expression again. The
//! results of conditions are stored as well, so that each evaluation takes the same branches and no call is made twice.

use super::ir::Expression;
use crate::calls::Call;
use crate::values::Value;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};

/// Identifies a part of the expression by the offsets of its first byte and of the byte after it. No two calls have the same
/// offsets.
type Place = (usize, usize);

/// The calls of one expression.
#[derive(Debug, Default)]
pub struct Calls {
    made: RefCell<FxHashMap<Place, Value>>,
    /// Whether any call was begun.
    tried: Cell<bool>,
    decided: RefCell<FxHashMap<Place, bool>>,
    wanted: RefCell<Option<(Place, Call)>>,
    /// Returned Rust values that have to be dropped (their destructors run), in the order of their calls.
    temporaries: RefCell<Vec<Value>>,
}

impl Calls {
    /// The call that is needed next. If there is one, the value or error that the evaluation returned is meaningless.
    pub fn wanted(&self) -> Option<Call> {
        self.wanted.borrow().as_ref().map(|(_, call)| call.clone())
    }

    /// Notes that the wanted call is about to be made.
    pub fn begins(&self) {
        self.tried.set(true);
    }

    /// Whether any call was begun.
    pub fn were_made(&self) -> bool {
        self.tried.get()
    }

    /// Stores the value that the wanted call returned.
    pub fn made(&self, value: Value) {
        if let Some((place, call)) = self.wanted.take() {
            if call.drops {
                self.temporaries.borrow_mut().push(value.clone());
            }
            self.made.borrow_mut().insert(place, value);
        }
    }

    /// Whether any value has to be dropped at the end of the expression.
    pub fn has_temporaries(&self) -> bool {
        !self.temporaries.borrow().is_empty()
    }

    /// The values to drop at the end of the expression, in the order of the drops (Rust reference, "Destructors").
    pub fn take_temporaries(&self) -> Vec<Value> {
        let mut temporaries = self.temporaries.take();
        temporaries.reverse();
        temporaries
    }

    /// Keeps only the temporaries for which `is_dropped` returns `true`: those that have to be dropped.
    pub fn retain_temporaries(&self, is_dropped: impl FnMut(&Value) -> bool) {
        self.temporaries.borrow_mut().retain(is_dropped);
    }

    /// The value that a call returned, if it was made.
    pub(super) fn result(&self, call: &Expression) -> Option<Value> {
        self.made.borrow().get(&place(call)).cloned()
    }

    /// Whether a call is wanted, so that evaluation must not go on.
    pub(super) fn is_waiting(&self) -> bool {
        self.wanted.borrow().is_some()
    }

    /// Records that a call is needed.
    pub(super) fn want(&self, expression: &Expression, call: Call) {
        *self.wanted.borrow_mut() = Some((place(expression), call));
    }

    /// The stored result of a condition.
    pub(super) fn decided(&self, condition: &Expression) -> Option<bool> {
        self.decided.borrow().get(&place(condition)).copied()
    }

    /// Stores the result of a condition, unless it depends on a call that is still to be made.
    pub(super) fn decide(&self, condition: &Expression, holds: bool) {
        if !self.is_waiting() {
            self.decided.borrow_mut().insert(place(condition), holds);
        }
    }
}

fn place(expression: &Expression) -> Place {
    (expression.at, expression.end)
}
