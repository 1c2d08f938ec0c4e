//! `$called_from("NAME")`: whether a function is among the callers of a frame, anywhere up its stack.
//!
//! The symbols cache what unwinding looks up, a few entries for each frame. This module caches the comparison: whether one of the
//! functions at an address matches.

use super::Fault;
use crate::Address;
use crate::frame::{self, Frame};
use crate::modules::Modules;
use crate::pages::PageCache;
use dapple_arch::Memory;
use dapple_symbols::names::{NameExpression, NamePattern};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// Callers further away are not looked at.
const MOST_CALLERS: usize = 1000;

/// The function to search for.
#[derive(Debug)]
pub(super) struct Caller {
    text: String,
    name: Name,
    /// Results by address. They are valid while the set of modules stays the same, like everything prepared for a location.
    known: Mutex<FxHashMap<Address, bool>>,
}

#[derive(Debug)]
enum Name {
    Pattern(NamePattern),
    Expression(NameExpression),
}

impl PartialEq for Caller {
    fn eq(&self, other: &Caller) -> bool {
        self.text == other.text
    }
}

impl Caller {
    /// Reads a function's name in the syntax of function breakpoints; `at` is its offset in the expression.
    pub(super) fn new(text: &str, at: usize) -> Result<Caller, Fault> {
        let name = match NameExpression::read(text) {
            Some(expression) => Name::Expression(expression.map_err(|why| Fault::new(at, why))?),
            None => {
                let pattern = NamePattern::new(text);
                if let Some(problem) = pattern.problem() {
                    return Err(Fault::new(at, problem));
                }
                Name::Pattern(pattern)
            }
        };
        Ok(Caller {
            text: text.to_owned(),
            name,
            known: Mutex::default(),
        })
    }

    fn is_meant(&self, function: &str) -> bool {
        match &self.name {
            Name::Pattern(pattern) => pattern.matches(function),
            Name::Expression(expression) => expression.matches(function, || None),
        }
    }

    /// Whether the function is among the frame's callers, including the functions that the frame is inlined into.
    pub(super) fn has_called(&self, frame: &Frame, modules: &Modules, memory: &dyn Memory) -> bool {
        let around = frame::functions_around(frame);
        if around.iter().any(|function| self.is_meant(function)) {
            return true;
        }
        // Frames lie close together in memory, so whole pages are cached.
        let memory = &PageCache::new(memory);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        frame::callers(frame, modules, memory)
            .take(MOST_CALLERS)
            .any(|caller| {
                *known.entry(caller.lookup).or_insert_with(|| {
                    let functions = frame::functions_in(&caller);
                    functions.iter().any(|function| self.is_meant(function))
                })
            })
    }
}
