//! Evaluates expressions inside a value, for Natvis: the value's members can be named directly, as in a method of its class.
//!
//! Other names are looked up in the debug information, which is expensive. So the results are cached, including that a name was not
//! found ([`Outside`]).

use super::{Assignment, Fault, Parsed, Statement, run};
use crate::Error;
use crate::frame::{self, Frame};
use crate::modules::LoadedModule;
use crate::values::{Number, Reader, Value};
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeId;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// What an expression inside a value can name.
pub(crate) struct Scope<'a> {
    /// The value whose members can be named.
    pub object: &'a Value,
    /// Variables, which hide members of the same name. The name of `$i` includes the `$`.
    pub variables: &'a RefCell<Vec<(Arc<str>, Value)>>,
    /// The class that the expression is for, `$T0`, and its arguments `$T1`, `$T2` and so on.
    pub arguments: &'a [Argument],
    /// A frame, for code that needs one: see [`nowhere`].
    pub frame: &'a Frame,
    /// The cache of other names.
    pub outside: &'a Outside,
    /// Whether no other names are known than those of members and types, so that a name that no member has costs no search.
    pub has_members_only: bool,
}

/// The match of one `*` in a type pattern.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    /// The text in the type's name.
    pub text: Arc<str>,
    /// The type that the text names. `None`: it names no known type. `None` as the type id is void.
    pub of: Option<(Arc<LoadedModule>, Option<TypeId>)>,
}

/// The type of a name, if it exists.
type FoundType = Option<(Arc<LoadedModule>, TypeId)>;

/// The id of a value's module, the value's type, and a name in an expression inside the value.
type Asker = (u64, Option<TypeId>, String);

/// Caches what names mean that are no members of a value.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Types, by the id of the module of the [`Scope`]'s object and the name that was looked up.
    types: Mutex<FxHashMap<(u64, String), FoundType>>,
    /// Values, by the object's module and type and the name that was looked up.
    names: Mutex<FxHashMap<Asker, Option<Value>>>,
}

/// Why an expression has no value.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// A message for the user.
    pub message: String,
    /// The expression names something that doesn't exist, so it fails for every value of the same type.
    pub is_unknown: bool,
}

impl Failure {
    /// The same without the place in the expression, which says nothing to those who don't know the expression.
    pub(crate) fn without_column(mut self) -> Failure {
        if let Some((column, what)) = self.message.split_once(": ")
            && column.starts_with("column ")
        {
            self.message = what.to_owned();
        }
        self
    }
}

impl Outside {
    /// Empties the cache. Call when the set of modules or of Natvis files has changed.
    pub(crate) fn forget(&self) {
        lock(&self.types).clear();
        lock(&self.names).clear();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A frame without a thread, for evaluating in a module.
pub(crate) fn nowhere(module: &Arc<LoadedModule>) -> Frame {
    Frame::detached(frame::nowhere(module), Language::Cpp)
}

impl Scope<'_> {
    /// The type of an argument: `name` is `$T0`, `$T1` and so on. `None`: the argument is not a known type, or `name` is another name.
    /// `None` as the type id is void.
    pub(super) fn argument(
        &self,
        name: &str,
    ) -> Option<Option<(Arc<LoadedModule>, Option<TypeId>)>> {
        let argument = self.numbered(name.strip_prefix("$T")?)?;
        argument.of.clone().map(Some)
    }

    fn numbered(&self, number: &str) -> Option<&Argument> {
        let number: usize = number.parse().ok()?;
        self.arguments.get(number)
    }

    /// The text of an argument, whose name is given without the `$`: `T1`.
    pub(super) fn argument_text(&self, name: &str) -> Option<&str> {
        Some(&self.numbered(name.strip_prefix('T')?)?.text)
    }

    /// Replaces `$T1` and so on in a name.
    fn with_arguments(&self, name: &str) -> String {
        let mut text = String::with_capacity(name.len());
        let mut rest = name;
        while let Some((before, behind)) = rest.split_once("$T") {
            text.push_str(before);
            let digits = behind.find(|c: char| !c.is_ascii_digit());
            let (number, after) = behind.split_at(digits.unwrap_or(behind.len()));
            match self.numbered(number) {
                Some(argument) => text.push_str(&argument.text),
                None => text.push_str(&format!("$T{number}")),
            }
            rest = after;
        }
        text.push_str(rest);
        text
    }

    /// A type by its name, which may contain arguments.
    pub(super) fn type_named(&self, name: &str, find: impl FnOnce(&str) -> FoundType) -> FoundType {
        let name = self.with_arguments(name);
        let key = (self.object.module.id, name);
        if let Some(found) = lock(&self.outside.types).get(&key) {
            return found.clone();
        }
        let found = find(&key.1);
        lock(&self.outside.types).insert(key, found.clone());
        found
    }

    /// The value of a name that is not a member. `find` looks it up if the cache doesn't have it.
    pub(super) fn outside(
        &self,
        name: &str,
        find: impl FnOnce(&str) -> Option<Value>,
    ) -> Option<Value> {
        if self.has_members_only {
            return None;
        }
        let key = (self.object.module.id, self.object.type_id, name.to_owned());
        if let Some(found) = lock(&self.outside.names).get(&key) {
            return found.clone();
        }
        let found = find(name);
        lock(&self.outside.names).insert(key, found.clone());
        found
    }

    /// The variable of that name.
    pub(super) fn variable(&self, name: &str) -> Option<Value> {
        let variables = self.variables.borrow();
        let found = variables.iter().rev().find(|(own, _)| **own == *name);
        found.map(|(_, value)| value.clone())
    }
}

impl Parsed {
    /// The expression's value inside another value, by the rules of C++.
    pub(crate) fn value_within(
        &self,
        scope: &Scope<'_>,
        reader: &Reader<'_>,
    ) -> Result<Value, Failure> {
        let value = run::value_within(&self.tree, &self.text, scope, reader);
        value.map_err(|fault| fault.failure(&self.text))
    }

    /// As [`Parsed::value_within`], converted to a number.
    pub(crate) fn number_within(
        &self,
        scope: &Scope<'_>,
        reader: &Reader<'_>,
    ) -> Result<Number, Failure> {
        let number = run::number_within(&self.tree, &self.text, scope, reader);
        number.map_err(|fault| fault.failure(&self.text))
    }

    /// Whether the expression is a name, or names joined by `.`. If such names mean members of the object, and none of them is followed as
    /// a pointer or reference, the last member has the same offset in all objects of a type.
    pub(crate) fn is_plain_member(&self) -> bool {
        use super::ir::{Expression, Kind};
        fn is_plain(expression: &Expression) -> bool {
            match &expression.kind {
                Kind::Name(name) => name != "this",
                Kind::Member { base, arrow, .. } => !arrow && is_plain(base),
                _ => false,
            }
        }
        is_plain(&self.tree)
    }
}

impl Fault {
    fn failure(&self, text: &str) -> Failure {
        Failure {
            message: self.sentence(text),
            is_unknown: self.is_unknown,
        }
    }
}

/// An assignment to one of the variables of a [`Scope`].
#[derive(Debug, Clone)]
pub(crate) struct Change(Assignment);

impl Change {
    /// Reads `i = i + 1`, `i++` and the like.
    ///
    /// # Errors
    /// As [`super::evaluate`]. Fails as well if the text is not an assignment.
    pub(crate) fn new(text: &str) -> Result<Change, Error> {
        match Statement::new(text, Language::Cpp)? {
            Statement::Assignment(assignment) => Ok(Change(assignment)),
            Statement::Value(_) => {
                let why = "an assignment to a variable was expected here";
                Err(Error::Expression(why.to_owned()))
            }
        }
    }

    /// The variable's name.
    pub(crate) fn variable(&self) -> &str {
        self.0.target()
    }

    /// The variable's new value.
    pub(crate) fn value_within(
        &self,
        scope: &Scope<'_>,
        reader: &Reader<'_>,
    ) -> Result<Value, Failure> {
        let Assignment {
            text,
            target,
            operator,
            source,
            ..
        } = &self.0;
        let value = run::changed_within((target, *operator, source), text, scope, reader);
        value.map_err(|fault| fault.failure(text))
    }
}
