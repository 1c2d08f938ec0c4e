//! Expressions that are evaluated each time a thread reaches a breakpoint: conditions, and values in log messages.
//!
//! An expression is parsed once for each address, in the language of the code there, and again after modules were loaded or unloaded. It is
//! evaluated in the thread's innermost frame: no frame is unwound, no other thread is stopped. Simple expressions are prepared
//! ([`Prepared`]), so that nothing is looked up again. An expression that has to call a function of the program is left to
//! `owner::breakpoint_calls`. [`super::options`] decides what follows from a condition's value.

use crate::{Address, Error, ThreadId};
use dapple_arch::Memory;
use dapple_arch::decision::{Recorded, Truth};
use dapple_arch::registers::{Registers, Vectors};
use dapple_inspect::eval::Parsed;
use dapple_inspect::eval::calls::Calls;
use dapple_inspect::eval::prepared::{self, Kind, Prepared};
use dapple_inspect::frame::{Frame, StackCache};
use dapple_inspect::live::Live;
use dapple_inspect::modules::Modules;
use dapple_inspect::own_ids;
use dapple_inspect::values::known::Known;
use dapple_inspect::values::{NamedValue, Number, Reader};
use dapple_symbols::functions::Language;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::sync::Arc;

/// A stopped thread, and what evaluating an expression in its innermost frame needs.
pub(crate) struct Here<'a> {
    pub(crate) thread: ThreadId,
    pub(crate) registers: Registers,
    /// Reads the thread's SSE registers. Called only when the frame is made.
    pub(crate) vectors: &'a dyn Fn() -> Option<Arc<Vectors>>,
    /// Gives those of the thread's registers that a [`Frame`] doesn't store.
    pub(crate) live: &'a dyn Live,
    /// How many of the inlined calls at the thread's address count as not entered yet.
    pub(crate) not_entered: usize,
    pub(crate) modules: &'a Modules,
    pub(crate) known: &'a Known,
    pub(crate) memory: &'a dyn Memory,
    /// The innermost frame, made when an expression first needs it.
    pub(crate) frame: OnceCell<Option<Frame>>,
}

impl Here<'_> {
    fn address(&self) -> Address {
        self.registers.pc().unwrap_or_default()
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        self.known.presentation().begin();
        Reader {
            live: Some(self.live),
            ..Reader::new(self.memory, self.modules, self.known)
        }
    }

    fn prepared(&self) -> prepared::Thread<'_> {
        prepared::Thread {
            id: self.thread,
            registers: &self.registers,
            vectors: self.vectors,
            memory: self.memory,
        }
    }

    fn language(&self) -> Language {
        language_at(self.modules, self.address())
    }

    /// How many inlined calls the innermost frame is inside of. 0: the frame is the function's own.
    fn inline_depth(&self) -> usize {
        let calls = self.modules.at(self.address()).map_or(0, |module| {
            let lookup = module.to_file(self.address());
            module.module.inlined_at(lookup).len()
        });
        calls.saturating_sub(self.not_entered)
    }

    /// The innermost frame.
    fn frame(&self) -> Result<&Frame, Error> {
        let frame = self.frame.get_or_init(|| {
            StackCache::new(self.thread, 0, self.registers)
                .with_vectors((self.vectors)())
                .before_calls(self.not_entered)
                .frame(self.modules, self.memory, 0)
        });
        frame.as_ref().ok_or(Error::NoSuchThread(self.thread))
    }
}

/// The language of the code at an address.
pub(crate) fn language_at(modules: &Modules, address: Address) -> Language {
    modules.at(address).map_or(Language::Other, |module| {
        module.module.language_at(module.to_file(address))
    })
}

/// An expression that the user wrote, with its parsed form for each address at which it was evaluated.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    text: Arc<str>,
    ready: FxHashMap<Address, Result<Ready, Error>>,
}

/// An expression, parsed for one address.
#[derive(Debug, Clone)]
struct Ready {
    parsed: Parsed,
    /// The form that is evaluated without looking up names. `None`: the expression is not simple enough for it.
    quick: Option<Prepared>,
}

/// If an expression depends on the thread's id: how far from the thread pointer threads have theirs, if that is known.
fn own_id(quick: &Prepared, here: &Here<'_>) -> Option<u64> {
    match quick.names_thread() {
        true => own_ids::distance(here.modules, here.memory),
        false => None,
    }
}

impl Expression {
    /// Parses nothing yet: the language is known only where a thread stops.
    pub(crate) fn new(text: &str) -> Expression {
        Expression {
            text: text.trim().into(),
            ready: FxHashMap::default(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Checks that the expression can be parsed in `language`.
    ///
    /// # Errors
    /// What is wrong with the expression, and where in its text.
    pub(crate) fn check(&self, language: Language) -> Result<(), Error> {
        Parsed::calling(&self.text, language).map(|_| ())
    }

    /// Forgets the parsed forms. Call after modules were loaded or unloaded.
    pub(crate) fn forget(&mut self) {
        self.ready.clear();
    }

    fn ready(&mut self, here: &Here<'_>) -> Result<&Ready, Error> {
        if !self.ready.contains_key(&here.address()) {
            let parsed = Parsed::calling(&self.text, here.language());
            let ready = parsed.map(|parsed| {
                let quick =
                    Prepared::new(&parsed, here.modules, here.address(), here.inline_depth());
                Ready { parsed, quick }
            });
            self.ready.insert(here.address(), ready);
        }
        self.ready[&here.address()].as_ref().map_err(Clone::clone)
    }

    /// Whether the expression's value counts as true. `Ok(None)`: not known, since evaluating it would call a function of the program.
    ///
    /// # Errors
    /// Why the expression has no value.
    pub(crate) fn holds(&mut self, here: &Here<'_>) -> Result<Option<bool>, Error> {
        if let Some(number) = self.quick_number(here) {
            return Ok(Some(number.is_true()));
        }
        let calls = Calls::default();
        let ready = self.ready(here)?;
        let number = (ready.parsed).number_with(here.frame()?, &here.reader(), Some(&calls));
        match calls.wanted() {
            Some(_) => Ok(None),
            None => Ok(Some(number?.is_true())),
        }
    }

    /// "The value counts as true" as a decision that can be made in the program.
    ///
    /// # Errors
    /// Why there is none, as a clause.
    pub(crate) fn decision(&mut self, here: &Here<'_>) -> Result<(Truth, Option<u64>), String> {
        let ready = self.ready(here).map_err(|error| error.to_string())?;
        let quick = ready.quick.as_ref();
        let quick = quick.ok_or("its condition needs the whole evaluator")?;
        let own_id = own_id(quick, here);
        Ok((quick.decision(own_id)?, own_id))
    }

    /// The expression's value as the program can record it, and as with [`Expression::decision`] where threads have their ids. `as_digits`:
    /// as for [`Prepared::recorded`].
    ///
    /// # Errors
    /// Why it can't, as a clause.
    pub(crate) fn recorded(
        &mut self,
        here: &Here<'_>,
        as_digits: bool,
    ) -> Result<(Recorded, Kind, Option<u64>), String> {
        let ready = self.ready(here).map_err(|error| error.to_string())?;
        let quick = ready.quick.as_ref();
        let quick = quick.ok_or("a value in its message needs the whole evaluator")?;
        let own_id = own_id(quick, here);
        let (recorded, kind) = quick.recorded(as_digits, own_id)?;
        Ok((recorded, kind, own_id))
    }

    /// The expression's value as a number, by its quick form. `None`: there is no quick form, or it gives no value here.
    pub(crate) fn quick_number(&mut self, here: &Here<'_>) -> Option<Number> {
        let quick = self.ready(here).ok()?.quick.as_ref()?;
        quick.number(here.prepared())
    }

    /// The expression's value as text, by its quick form. `None`: there is no quick form, or it gives no value here.
    pub(crate) fn quick_text(&mut self, here: &Here<'_>) -> Option<String> {
        let quick = self.ready(here).ok()?.quick.as_ref()?;
        quick.text(here.prepared())
    }

    /// What `show` makes of the expression's value. `Ok(None)`: no value, since evaluating it would call a function of the program.
    ///
    /// # Errors
    /// Why the expression has no value.
    pub(crate) fn shown<T>(
        &mut self,
        here: &Here<'_>,
        show: impl FnOnce(NamedValue, &Frame, &Reader<'_>) -> T,
    ) -> Result<Option<T>, Error> {
        let calls = Calls::default();
        let ready = self.ready(here)?;
        let (frame, reader) = (here.frame()?, here.reader());
        let named = ready.parsed.value_with(frame, &reader, Some(&calls));
        match calls.wanted() {
            Some(_) => Ok(None),
            None => Ok(Some(show(named?, frame, &reader))),
        }
    }
}
