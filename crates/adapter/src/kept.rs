//! References to values in the debug console, which can be expanded after the program has run on: results of expressions, and values in
//! messages of logpoints.
//!
//! Their numbers are above those of all other `variablesReference`s. When there are too many, the oldest are removed. Whether a value still
//! exists is the engine's to say.

use dapple_dap::server::{Exhausted, Failure, References};
use dapple_engine::session::values::KeptValue;
use std::collections::VecDeque;
use std::rc::Rc;

/// The first number. Those below are valid only until the program runs on.
pub const FIRST: i64 = 1 << 30;
/// The first number of logpoint messages.
const FIRST_LOGGED: i64 = FIRST + (1 << 29);
/// The most values that are kept. A response has fewer children, so they can't remove each other.
const MOST_VALUES: usize = 20_000;
/// The most bytes, roughly, that all values take together; the messages have the same limit. The newest entry stays even if it is larger.
const MOST_BYTES: usize = 64 << 20;
/// The most logpoint messages that are kept.
const MOST_LOGGED: usize = 1000;

/// The target of a lasting reference.
#[derive(Debug, Clone)]
pub enum Lasting {
    /// A value with children.
    Value(KeptValue),
    /// A logpoint message.
    Message(Rc<Logged>),
    /// The values in a logpoint message.
    Values(Rc<Logged>),
}

/// A logpoint message with values that can be expanded.
#[derive(Debug)]
pub struct Logged {
    /// The message.
    pub text: String,
    /// The values.
    pub values: Vec<KeptValue>,
}

/// A bounded table that removes its oldest entries.
#[derive(Debug)]
struct Table {
    references: References<(Lasting, usize)>,
    order: VecDeque<i64>,
    bytes: usize,
    most: usize,
}

impl Table {
    fn insert(&mut self, lasting: Lasting) -> Result<i64, Exhausted> {
        let size = match &lasting {
            Lasting::Value(value) => value.size(),
            Lasting::Message(logged) | Lasting::Values(logged) => {
                let values = logged.values.iter().map(KeptValue::size);
                values.sum::<usize>() + logged.text.len()
            }
        };
        let reference = self.references.insert_lasting((lasting, size))?;
        self.order.push_back(reference);
        self.bytes += size;
        // The newest entry stays, however large it is.
        while self.order.len() > self.most || (self.bytes > MOST_BYTES && self.order.len() > 1) {
            let oldest = self.order.pop_front();
            let forgotten = oldest.and_then(|oldest| self.references.remove(oldest));
            self.bytes -= forgotten.map_or(0, |(_, size)| size);
        }
        Ok(reference)
    }

    fn clear(&mut self) {
        for reference in self.order.drain(..) {
            self.references.remove(reference);
        }
        self.bytes = 0;
    }
}

/// All lasting references.
#[derive(Debug)]
pub struct KeptReferences {
    values: Table,
    logged: Table,
    /// The last numbers of values and messages that `end` has removed, and why.
    ended: Option<(i64, i64, &'static str)>,
}

impl Default for KeptReferences {
    fn default() -> Self {
        let table = |numbers, most| Table {
            references: References::within(numbers),
            order: VecDeque::new(),
            bytes: 0,
            most,
        };
        KeptReferences {
            values: table(FIRST..=FIRST_LOGGED - 1, MOST_VALUES),
            logged: table(FIRST_LOGGED..=i64::MAX, MOST_LOGGED),
            ended: None,
        }
    }
}

impl KeptReferences {
    /// Keeps a value.
    ///
    /// # Errors
    /// The session has used up its numbers.
    pub fn insert(&mut self, value: KeptValue) -> Result<i64, Exhausted> {
        self.values.insert(Lasting::Value(value))
    }

    /// Keeps a logpoint message.
    ///
    /// # Errors
    /// The session has used up its numbers.
    pub fn insert_logged(&mut self, logged: Lasting) -> Result<i64, Exhausted> {
        self.logged.insert(logged)
    }

    /// Whether a number is in the range of lasting references, even if its target was removed.
    pub fn has_number(&self, reference: i64) -> bool {
        reference >= FIRST
    }

    /// The target of a reference.
    ///
    /// # Errors
    /// The target was removed, or there was none.
    pub fn get(&self, reference: i64) -> Result<Lasting, Failure> {
        let (table, what) = match self.logged.references.has_number(reference) {
            true => (&self.logged, "messages of breakpoints"),
            false => (&self.values, "values of the console"),
        };
        if let Ok((lasting, _)) = table.references.get(reference) {
            return Ok(lasting.clone());
        }
        let has_ended = |(value, logged, _): &(i64, i64, _)| match reference >= FIRST_LOGGED {
            true => reference <= *logged,
            false => reference <= *value,
        };
        Err(match self.ended.filter(has_ended) {
            Some((_, _, why)) => Failure::new(why),
            None => Failure::new(format!(
                "there are no variables {reference} any more: only the last {} {what} are kept",
                table.most
            )),
        })
    }

    /// Removes everything, because the program was replaced by another or started again. `why` is the error for later requests.
    pub fn end(&mut self, why: &'static str) {
        let last = |table: &Table, before: i64| table.order.back().copied().unwrap_or(before);
        let (values, logged, _) = self.ended.unwrap_or_default();
        self.ended = Some((last(&self.values, values), last(&self.logged, logged), why));
        self.values.clear();
        self.logged.clear();
    }
}
