//! Evaluating inside a value: its members have their bare names there, as in a method of its class.
//!
//! What isn't the value's is looked for outside it, in the debug information, and that is dear. So what was found there, or
//! wasn't, is kept ([`Outside`]).

use super::{Assignment, Fault, Parsed, Statement, run};
use crate::frame::{Frame, FrameId, HeldFrame, PhysicalFrame};
use crate::modules::LoadedModule;
use crate::values::{Number, Reader, Value};
use crate::{Address, Error, ThreadId};
use dapple_arch::registers::Registers;
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeId;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// What an expression inside a value can name.
pub(crate) struct Scope<'a> {
    /// The value.
    pub object: &'a Value,
    /// Variables, which come before members of their names; `$i` with its `$`.
    pub variables: &'a RefCell<Vec<(Arc<str>, Value)>>,
    /// `$T1` and on.
    pub arguments: &'a [Argument],
    /// The frame to speak of where there is none: see [`nowhere`].
    pub frame: &'a Frame,
    /// What is known of the rest.
    pub outside: &'a Outside,
}

/// What a pattern for types has found for one of its `*`.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    /// As the type's name has it.
    pub text: Arc<str>,
    /// The type, where it is one and known; `None` in it is void.
    pub of: Option<(Arc<LoadedModule>, Option<TypeId>)>,
}

/// A type, where there is one of the name.
type FoundType = Option<(Arc<LoadedModule>, TypeId)>;

/// A module, a type and a name that it has.
type Asker = (u64, Option<TypeId>, String);

/// What names stand for outside of values.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// By the module that asks.
    types: Mutex<FxHashMap<(u64, String), FoundType>>,
    /// By the module and the type that ask.
    names: Mutex<FxHashMap<Asker, Option<Value>>>,
}

/// Why an expression has no value.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// A sentence.
    pub message: String,
    /// It names what there isn't, so it has a value nowhere.
    pub is_unknown: bool,
}

impl Outside {
    /// Other modules are loaded now.
    pub(crate) fn forget(&self) {
        lock(&self.types).clear();
        lock(&self.names).clear();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A frame of no thread, for evaluating in a module.
pub(crate) fn nowhere(module: &Arc<LoadedModule>) -> Frame {
    Frame {
        id: FrameId {
            stop: 0,
            thread: ThreadId(0),
            index: 0,
        },
        physical: HeldFrame::from(PhysicalFrame {
            level: 0,
            pc: Address(0),
            lookup: Address(0),
            registers: Registers::default(),
            cfa: None,
            module: Some(Arc::clone(module)),
            signal_trampoline: false,
            vectors: None,
            unsaved: None,
        }),
        inline_depth: 0,
        function: None,
        position: None,
        language: Language::Cpp,
    }
}

impl Scope<'_> {
    /// The type that `$T1` stands for; `None`: it stands for none, or it is another name.
    pub(super) fn argument(
        &self,
        name: &str,
    ) -> Option<Option<(Arc<LoadedModule>, Option<TypeId>)>> {
        let argument = self.numbered(name.strip_prefix("$T")?)?;
        argument.of.clone().map(Some)
    }

    fn numbered(&self, number: &str) -> Option<&Argument> {
        let number: usize = number.parse().ok()?;
        self.arguments.get(number.checked_sub(1)?)
    }

    /// The text of an argument: `T1`.
    pub(super) fn argument_text(&self, name: &str) -> Option<&str> {
        Some(&self.numbered(name.strip_prefix('T')?)?.text)
    }

    /// Names with what is put for `$T1` in them.
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

    /// A type by its name, with the arguments' names in it.
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

    /// What a name stands for that isn't the value's own.
    pub(super) fn outside(
        &self,
        name: &str,
        find: impl FnOnce(&str) -> Option<Value>,
    ) -> Option<Value> {
        let key = (self.object.module.id, self.object.type_id, name.to_owned());
        if let Some(found) = lock(&self.outside.names).get(&key) {
            return found.clone();
        }
        let found = find(name);
        lock(&self.outside.names).insert(key, found.clone());
        found
    }

    /// The variable of a name.
    pub(super) fn variable(&self, name: &str) -> Option<Value> {
        let variables = self.variables.borrow();
        let found = variables.iter().rev().find(|(own, _)| **own == *name);
        found.map(|(_, value)| value.clone())
    }
}

impl Parsed {
    /// Its value inside another, as C++ has it.
    pub(crate) fn value_within(
        &self,
        scope: &Scope<'_>,
        reader: &Reader<'_>,
    ) -> Result<Value, Failure> {
        let value = run::value_within(&self.tree, &self.text, scope, reader);
        value.map_err(|fault| fault.failure(&self.text))
    }

    /// As [`Parsed::value_within`], as a number.
    pub(crate) fn number_within(
        &self,
        scope: &Scope<'_>,
        reader: &Reader<'_>,
    ) -> Result<Number, Failure> {
        let number = run::number_within(&self.tree, &self.text, scope, reader);
        number.map_err(|fault| fault.failure(&self.text))
    }

    /// Whether it is a member, or a member of one, and nothing is followed on the way: it is at the same place in all objects of a type.
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

/// A change of one of the variables of a [`Scope`].
#[derive(Debug, Clone)]
pub(crate) struct Change(Assignment);

impl Change {
    /// Reads `i = i + 1`, `i++` and the like.
    ///
    /// # Errors
    /// As [`super::evaluate`], or it changes nothing.
    pub(crate) fn new(text: &str) -> Result<Change, Error> {
        match Statement::new(text, Language::Cpp)? {
            Statement::Assignment(assignment) => Ok(Change(assignment)),
            Statement::Value(_) => {
                let why = "an assignment to a variable was expected here";
                Err(Error::Expression(why.to_owned()))
            }
        }
    }

    /// The variable.
    pub(crate) fn variable(&self) -> &str {
        self.0.target()
    }

    /// What it is to be.
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
