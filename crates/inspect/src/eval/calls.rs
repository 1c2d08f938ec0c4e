//! Calls of the program's functions that expressions want made.
//!
//! Evaluating changes nothing, so it makes no call either. An expression that comes to one says which, and has no value; whoever may
//! run the program makes it, notes what came back, and has the expression evaluated again. What conditions have
//! decided meanwhile stays decided, so that no second way is taken through the expression, and no call is made twice.

use super::ir::Expression;
use crate::calls::Call;
use crate::values::Value;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};

/// Where in the text a part of an expression is: its first byte and the one behind it. No two calls have the same.
type Place = (usize, usize);

/// The calls of one expression.
#[derive(Debug, Default)]
pub struct Calls {
    made: RefCell<FxHashMap<Place, Value>>,
    /// One was tried at least.
    tried: Cell<bool>,
    decided: RefCell<FxHashMap<Place, bool>>,
    wanted: RefCell<Option<(Place, Call)>>,
    /// What was given back and has to be dropped, the latest last.
    temporaries: RefCell<Vec<Value>>,
}

impl Calls {
    /// The call that is wanted next. What the expression has come to without it means nothing.
    pub fn wanted(&self) -> Option<Call> {
        self.wanted.borrow().as_ref().map(|(_, call)| call.clone())
    }

    /// The call that is wanted is about to be made.
    pub fn begins(&self) {
        self.tried.set(true);
    }

    /// Whether any was.
    pub fn were_made(&self) -> bool {
        self.tried.get()
    }

    /// The call that was wanted was made; what it gave back.
    pub fn made(&self, value: Value) {
        if let Some((place, call)) = self.wanted.take() {
            if call.drops {
                self.temporaries.borrow_mut().push(value.clone());
            }
            self.made.borrow_mut().insert(place, value);
        }
    }

    /// Whether something has to be dropped at the end of the expression.
    pub fn has_temporaries(&self) -> bool {
        !self.temporaries.borrow().is_empty()
    }

    /// What has to be dropped at the end of the expression, in that order (Rust reference, "Destructors").
    pub fn take_temporaries(&self) -> Vec<Value> {
        let mut temporaries = self.temporaries.take();
        temporaries.reverse();
        temporaries
    }

    /// Forgets the temporaries that are not to be dropped.
    pub fn retain_temporaries(&self, is_dropped: impl FnMut(&Value) -> bool) {
        self.temporaries.borrow_mut().retain(is_dropped);
    }

    /// What a call gave back, if it was made.
    pub(super) fn result(&self, call: &Expression) -> Option<Value> {
        self.made.borrow().get(&place(call)).cloned()
    }

    /// Whether one is wanted, so that nothing more is to be evaluated.
    pub(super) fn is_waiting(&self) -> bool {
        self.wanted.borrow().is_some()
    }

    /// Asks for a call.
    pub(super) fn want(&self, expression: &Expression, call: Call) {
        *self.wanted.borrow_mut() = Some((place(expression), call));
    }

    /// What a condition has come to before.
    pub(super) fn decided(&self, condition: &Expression) -> Option<bool> {
        self.decided.borrow().get(&place(condition)).copied()
    }

    /// What it has come to.
    pub(super) fn decide(&self, condition: &Expression, holds: bool) {
        if !self.is_waiting() {
            self.decided.borrow_mut().insert(place(condition), holds);
        }
    }
}

fn place(expression: &Expression) -> Place {
    (expression.at, expression.end)
}
