//! Values of the console's, which are opened when the program has run on: what was evaluated there, and what breakpoints have written.
//!
//! Their references are numbers of their own, above all others. The oldest are forgotten when there are many. The engine says what has become
//! of the values themselves.

use dapple_dap::server::{Exhausted, Failure, References};
use dapple_engine::session::kept::KeptValue;
use std::collections::VecDeque;
use std::rc::Rc;

/// The first number; those below are of the suspended state.
pub const FIRST: i64 = 1 << 30;
/// The first number of what breakpoints have written.
const FIRST_LOGGED: i64 = FIRST + (1 << 29);
/// How many values are kept: more than one request has children.
const MOST_VALUES: usize = 20_000;
/// How many bytes they take, about.
const MOST_BYTES: usize = 64 << 20;
/// How many messages of breakpoints are kept.
const MOST_LOGGED: usize = 1000;

/// What a lasting reference names.
#[derive(Debug, Clone)]
pub enum Lasting {
    /// A value with children.
    Value(KeptValue),
    /// A message of a breakpoint's.
    Message(Rc<Logged>),
    /// The values in one.
    Values(Rc<Logged>),
}

/// A message of a breakpoint's that has values to be opened.
#[derive(Debug)]
pub struct Logged {
    /// The message.
    pub text: String,
    /// The values.
    pub values: Vec<KeptValue>,
}

/// Things under numbers, the oldest of which are forgotten.
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
        // The newest stays, however large it is.
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

/// All that is kept.
#[derive(Debug)]
pub struct KeptReferences {
    values: Table,
    logged: Table,
    /// Up to which numbers all has ended, and why.
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

    /// Keeps what a breakpoint has written.
    ///
    /// # Errors
    /// The session has used up its numbers.
    pub fn insert_logged(&mut self, logged: Lasting) -> Result<i64, Exhausted> {
        self.logged.insert(logged)
    }

    /// Whether a number is one for what lasts.
    pub fn has_number(&self, reference: i64) -> bool {
        reference >= FIRST
    }

    /// What a reference names.
    ///
    /// # Errors
    /// Why it names nothing any more.
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

    /// Forgets all: the program that it was of has ended. `why` is a sentence for those who ask.
    pub fn end(&mut self, why: &'static str) {
        let last = |table: &Table, before: i64| table.order.back().copied().unwrap_or(before);
        let (values, logged, _) = self.ended.unwrap_or_default();
        self.ended = Some((last(&self.values, values), last(&self.logged, logged), why));
        self.values.clear();
        self.logged.clear();
    }
}
