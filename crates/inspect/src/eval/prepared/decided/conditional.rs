//! Choices between two values.

use super::integers::converted;
use super::value::{Int, Value, rounded};
use super::{Lower, Why};
use crate::eval::prepared::conditional::Conditional;
use crate::eval::prepared::{Node, Place};
use crate::eval::run::arithmetic::common_type;
use crate::values::Number;
use dapple_arch::decision::{Comparison, Real, RealOperation, Truth, Word};
use dapple_symbols::functions::Language;
use std::cell::Cell;

const NO_TYPE: Why = "it chooses between values that have no type in common";

/// Whether two values have the same type, in which they also are when one of them was chosen.
pub(in crate::eval::prepared) fn have_one_type(language: Language, yes: &Node, no: &Node) -> bool {
    let lower = Lower {
        own_id: Some(0),
        language,
        place: 0,
        nesting: Cell::new(0),
        varies: Cell::new(false),
    };
    let expanded = |node| lower.value(node).and_then(Value::expanded).ok();
    let (Some(yes), Some(no)) = (expanded(yes), expanded(no)) else {
        return false;
    };
    let is_fixed = !lower.varies.get() || yes.int().is_none();
    is_fixed && is_one_type(&yes, &no)
}

fn is_one_type(yes: &Value, no: &Value) -> bool {
    let is_zero = |value: &Value| matches!(value, Value::Integer(Word::Constant(0), _));
    match (yes, no) {
        (Value::Integer(_, x), Value::Integer(_, y)) => x == y && x.size >= 4,
        (Value::Real(_, x), Value::Real(_, y)) => x == y,
        (Value::Pointer(_), Value::Pointer(_)) => true,
        (Value::Pointer(_), value) | (value, Value::Pointer(_)) => is_zero(value),
        (yes, no) => yes.is_bool() && no.is_bool(),
    }
}

impl Lower {
    /// A number that is known if a location is.
    pub(super) fn known(&self, place: &Place, number: Number) -> Result<Value, Why> {
        let address = self.address(place)?.word();
        let known = Value::Constant(number).expanded()?;
        let (word, int) = known.integer()?;
        let word = Word::If(Box::new((evaluated(address), word)));
        Ok(Value::Integer(word, int))
    }

    pub(super) fn conditional(&self, it: &Conditional) -> Result<Value, Why> {
        let condition = self.value(&it.condition)?.truth();
        let (yes, no) = (self.value(&it.yes)?, self.value(&it.no)?);
        let (yes, no) = (yes.expanded()?.checked(), no.expanded()?.checked());
        let choice = |condition, yes, no| Word::Choice(Box::new((condition, yes, no)));
        if yes.is_bool() && no.is_bool() {
            let [yes, no] = [yes, no].map(|value| Word::Truth(Box::new(value.truth())));
            let sides = Box::new((choice(condition, yes, no), Word::Constant(0)));
            return Ok(Value::Bool(Truth::Words(Comparison::NotEqual, sides)));
        }
        if let (Value::Pointer(_), _) | (_, Value::Pointer(_)) = (&yes, &no) {
            if !is_one_type(&yes, &no) {
                return Err(NO_TYPE);
            }
            let ((yes, _), (no, _)) = (yes.into_address()?, no.into_address()?);
            return Ok(Value::Pointer(choice(condition, yes, no)));
        }
        let (yes, no) = (yes.promoted()?, no.promoted()?);
        // The type is that of both values, so the evaluator needs both.
        let condition = match it.has_one_type {
            true => condition,
            false => {
                let both = Truth::And(Box::new((has_value(&yes)?, has_value(&no)?)));
                Truth::And(Box::new((both, condition)))
            }
        };
        if let (Value::Integer(a, x), Value::Integer(b, y)) = (&yes, &no) {
            let (size, signed) = common_type((x.size, x.signed), (y.size, y.signed));
            let int = Int { size, signed };
            let (yes, no) = (converted(a.clone(), *x, int), converted(b.clone(), *y, int));
            return Ok(Value::Integer(choice(condition, yes, no), int));
        }
        let size = yes.real_size().max(no.real_size());
        let with_integer = yes.real_size() == 0 || no.real_size() == 0;
        let real = |value: Value| -> Result<Real, Why> {
            // Adding the integer's zero changes the sign of a zero.
            let adds = with_integer && value.real_size() != 0;
            let real = value.real(size)?;
            Ok(match adds {
                true => {
                    let sides = Box::new((real, Real::Constant(0.0)));
                    rounded(Real::Operation(RealOperation::Add, sides), size)
                }
                false => real,
            })
        };
        let parts = Box::new((condition, real(yes)?, real(no)?));
        Ok(Value::Real(Real::Choice(parts), size))
    }
}

/// A condition that is true, and asks where a word has no value.
fn evaluated(word: Word) -> Truth {
    let sides = Box::new((word, Word::Constant(0)));
    let either = Truth::Words(Comparison::Equal, sides);
    Truth::Or(Box::new((either, Truth::Constant(true))))
}

/// A condition that is true, and asks where a number has no value.
fn has_value(value: &Value) -> Result<Truth, Why> {
    match value {
        Value::Integer(word, _) => Ok(evaluated(word.clone())),
        Value::Real(real, _) => {
            let sides = Box::new((real.clone(), Real::Constant(0.0)));
            let either = Truth::Numbers(Comparison::Equal, sides);
            Ok(Truth::Or(Box::new((either, Truth::Constant(true)))))
        }
        _ => Err(NO_TYPE),
    }
}
