//! Calls: chooses the function and converts its arguments. The engine makes the call: see [`crate::eval::calls`].

mod callee;
mod closures;
mod named;
mod passed;

use super::{Fault, Runner};
use crate::Address;
use crate::calls::{Arguments, Call, Image, Returned};
use crate::eval::a_type;
use crate::eval::ir::{Expression, Kind, Scalar, TypeName};
use crate::modules::LoadedModule;
use crate::values::passing::{self, Passing};
use crate::values::rust::glue::{self, Drops};
use crate::values::{Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeId;
use std::iter::Copied;
use std::slice::Iter;
use std::sync::Arc;

/// The most functions named in a message about an ambiguous call.
const MOST_LISTED: usize = 8;

/// A function that the call may mean.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Its short name.
    name: String,
    language: Language,
    /// Its entry, or why it can't be called.
    code: Result<Address, String>,
    /// Its parameters and result. `None`: not known.
    known: Option<Known>,
    /// The object that it is called on, which is its first argument.
    object: Option<Object>,
}

/// A function's signature.
#[derive(Debug, Clone)]
struct Known {
    module: Arc<LoadedModule>,
    parameters: Vec<TypeId>,
    variadic: bool,
    result: Option<TypeId>,
}

/// An object that a method is called on.
#[derive(Debug, Clone)]
enum Object {
    /// Passed by address.
    Pointer(Image),
    /// Passed by value.
    Whole(Vec<u8>),
    /// A closure, passed by address. The signature doesn't include it.
    Environment(Image),
}

/// A function that accepts the arguments of a call.
struct Fitting {
    call: Call,
    /// How well each argument fits; lower is better.
    ranks: Vec<u8>,
}

/// A call of a candidate with a known signature, while its arguments are being put together.
struct Draft<'c> {
    candidate: &'c Candidate,
    known: &'c Known,
    callee: &'c Expression,
    /// The parameters that have no argument yet.
    unfilled: Copied<Iter<'c, TypeId>>,
    arguments: Arguments,
    ranks: Vec<u8>,
}

impl Candidate {
    fn refusal(&self, callee: &Expression, why: &str) -> Fault {
        Fault::new(callee.at, format!("`{}` can't be called: {why}", self.name))
    }
}

impl Draft<'_> {
    fn refusal(&self, why: &str) -> Fault {
        self.candidate.refusal(self.callee, why)
    }

    fn is_rust(&self) -> bool {
        self.candidate.language == Language::Rust
    }

    /// Determines how the result is returned. If it is returned in memory, adds space for it, whose address is the hidden first argument;
    /// the `bool` is `true` then.
    fn push_result_room(&mut self) -> Result<(Returned, bool), Fault> {
        let Some(id) = self.known.result else {
            return Ok((Returned::Nothing, false));
        };
        let module = &self.known.module;
        let passing = passing::passing(module, id, self.candidate.language);
        let passing = passing.map_err(|unsure| self.refusal(unsure.of_result()))?;
        let has_room = matches!(passing, Passing::Memory | Passing::Address);
        if has_room {
            let size = size_of(module, id).unwrap_or(0);
            let pushed = self.arguments.push_room(size);
            pushed.map_err(|why| self.refusal(&why))?;
        }
        let result = match passing {
            Passing::Nothing { size: None } => Returned::Nothing,
            _ => Returned::Value(Arc::clone(module), id),
        };
        Ok((result, has_room))
    }

    /// Whether the result has to be dropped. If so, it needs an address: adds space for it, unless it has some (`has_room`).
    fn keep_dropped_result(&mut self, has_room: bool) -> Result<bool, Fault> {
        let Some(id) = self.known.result.filter(|_| self.is_rust()) else {
            return Ok(false);
        };
        match glue::drops(&self.known.module, id) {
            Drops::No => return Ok(false),
            Drops::Yes => {}
            Drops::Unknown(owner) => {
                return Err(self.refusal(&format!(
                    "it returns {}, which would stay: the program has no code of its own to drop one",
                    a_type(owner)
                )));
            }
        }
        if !has_room {
            let size = size_of(&self.known.module, id);
            let kept = self.arguments.keep_result(size.unwrap_or(0));
            kept.map_err(|why| self.refusal(&why))?;
        }
        Ok(true)
    }

    /// Whether the last parameter is the hidden one that `#[track_caller]` adds, which isn't written in a call.
    fn takes_caller_place(&self, given: usize) -> bool {
        let last = self.known.parameters.last();
        let hidden = last.filter(|_| self.is_rust() && self.unfilled.len() == given + 1);
        hidden.is_some_and(|id| is_caller_place(&self.known.module, *id))
    }

    fn push_unknown_place(&mut self) -> Result<(), Fault> {
        let place = Image::pointing_to(UNKNOWN_PLACE.to_vec());
        let is_rust = self.is_rust();
        let word = passing::one_word(self.known.module.module.machine());
        let pushed = self.arguments.push(&place, &word, 8, is_rust);
        pushed.map_err(|why| self.refusal(&why))
    }
}

fn size_of(module: &LoadedModule, id: TypeId) -> Option<u64> {
    let type_ = module.module.strip_aliases(id).ok().flatten();
    type_.and_then(|type_| type_.size)
}

/// A `core::panic::Location` without a file: an empty string, line 1, column 1.
const UNKNOWN_PLACE: [u8; 24] = {
    let mut bytes = [0; 24];
    bytes[0] = 1;
    bytes[16] = 1;
    bytes[20] = 1;
    bytes
};

/// Whether a parameter has the type of the hidden one that `#[track_caller]` adds.
fn is_caller_place(module: &LoadedModule, id: TypeId) -> bool {
    let type_ = module.module.strip_aliases(id).ok().flatten();
    type_.is_some_and(|type_| type_.name.ends_with("core::panic::location::Location"))
}

impl Runner<'_> {
    /// The result of a call, if it was made. Otherwise the call is recorded as wanted, and a fault ends the evaluation. `cast` is the type
    /// written in front of the call.
    pub(super) fn call(
        &self,
        expression: &Expression,
        callee: &Expression,
        arguments: &[Expression],
        cast: Option<&TypeName>,
    ) -> Result<Value, Fault> {
        self.made(expression, || {
            let candidates = self.callee(callee)?;
            self.chosen(&candidates, callee, arguments, cast)
        })
    }

    /// As [`Runner::call`], for a method whose name is also that of a method answered without calling the program. `None`: the object
    /// doesn't have the method, or calls are not allowed.
    pub(super) fn own_method(
        &self,
        expression: &Expression,
        base: &Expression,
        (name, name_at, arrow): (&str, usize, bool),
        arguments: &[Expression],
    ) -> Option<Result<Value, Fault>> {
        self.calls?;
        // Rust has no arrow, and looks for a method at each dereference.
        let arrow = arrow && self.frame.language != Language::Rust;
        let found = |runner: &Self| {
            let value = runner.object_of(base, name_at, arrow)?;
            runner.methods_called(value, base, (name, name_at), arrow)
        };
        let candidates = found(self).ok()?;
        Some(self.made(expression, || {
            self.chosen(&candidates, base, arguments, None)
        }))
    }

    /// The result of the call at `expression`, if it was made. Otherwise `wanted` prepares the call, which is recorded, and a fault ends the
    /// evaluation.
    pub(super) fn made(
        &self,
        expression: &Expression,
        wanted: impl FnOnce() -> Result<Call, Fault>,
    ) -> Result<Value, Fault> {
        let waiting = |what: &str| Err(Fault::new(expression.at, what));
        let Some(calls) = self.calls else {
            return waiting("functions are not called here");
        };
        if let Some(value) = calls.result(expression) {
            return Ok(value);
        }
        if !calls.is_waiting() {
            let call = wanted()?;
            // Preparing the call may have found that an argument's call has to be made first.
            if !calls.is_waiting() {
                calls.want(expression, call);
            }
        }
        waiting("a call has to be made before")
    }

    /// A call of the candidate whose parameters fit the arguments best (a simplified C++20 §12.2.4).
    pub(super) fn chosen(
        &self,
        candidates: &[Candidate],
        callee: &Expression,
        arguments: &[Expression],
        cast: Option<&TypeName>,
    ) -> Result<Call, Fault> {
        let mut fitting: Vec<(&Candidate, Fitting)> = Vec::new();
        let mut faults = Vec::new();
        for candidate in candidates {
            match self.prepared(candidate, callee, arguments, cast) {
                Ok(call) => fitting.push((candidate, call)),
                Err(fault) => faults.push(fault),
            }
        }
        let is_best = |one: &Fitting| {
            fitting.iter().all(|(_, other)| {
                let pairs = one.ranks.iter().zip(&other.ranks);
                std::ptr::eq(one, other)
                    || (pairs.clone().all(|(one, other)| one <= other)
                        && pairs.clone().any(|(one, other)| one < other))
            })
        };
        if let Some((_, best)) = fitting.iter().find(|(_, one)| is_best(one)) {
            return Ok(best.call.clone());
        }
        let mut faults = faults.into_iter();
        match (fitting.is_empty(), faults.next()) {
            (true, Some(fault)) if candidates.len() == 1 => Err(fault),
            (true, _) => {
                let all = self.listed(candidates.iter());
                Err(self.fault(callee, &format!("takes no such arguments; there are {all}")))
            }
            (false, _) => {
                let all = self.listed(fitting.iter().map(|(candidate, _)| *candidate));
                Err(self.fault(callee, &format!("may mean several: {all}")))
            }
        }
    }

    fn listed<'c>(&self, candidates: impl Iterator<Item = &'c Candidate>) -> String {
        let mut all: Vec<String> = candidates
            .map(|candidate| format!("`{}`", self.shown(candidate)))
            .collect();
        all.dedup();
        if all.len() > MOST_LISTED {
            all.truncate(MOST_LISTED);
            all.push("…".to_owned());
        }
        all.join(", ")
    }

    /// A function's declaration, for messages.
    fn shown(&self, candidate: &Candidate) -> String {
        let Some(known) = &candidate.known else {
            return candidate.name.clone();
        };
        let name_of = |id: &TypeId| match known.module.module.type_of(*id) {
            Ok(type_) => names::shorten(&type_.name, type_.language),
            Err(_) => "?".to_owned(),
        };
        let skipped = match candidate.object {
            Some(Object::Pointer(_) | Object::Whole(_)) => 1,
            Some(Object::Environment(_)) | None => 0,
        };
        let mut parameters: Vec<String> =
            known.parameters.iter().skip(skipped).map(name_of).collect();
        if known.variadic {
            parameters.push("...".to_owned());
        }
        format!("{}({})", candidate.name, parameters.join(", "))
    }

    /// Prepares a call of one candidate.
    fn prepared(
        &self,
        candidate: &Candidate,
        callee: &Expression,
        given: &[Expression],
        cast: Option<&TypeName>,
    ) -> Result<Fitting, Fault> {
        let code = candidate.code.clone();
        let code = code.map_err(|why| candidate.refusal(callee, &why))?;
        let Some(known) = &candidate.known else {
            return self.prepared_by_cast((candidate, code), callee, given, cast);
        };
        let mut draft = Draft {
            candidate,
            known,
            callee,
            unfilled: known.parameters.iter().copied(),
            arguments: Arguments::of(self.reader.modules.machine()),
            ranks: Vec::new(),
        };
        let (result, has_room) = draft.push_result_room()?;
        let drops = draft.keep_dropped_result(has_room)?;
        self.push_object(&mut draft)?;
        let is_tracked = draft.takes_caller_place(given.len());
        let wanted = draft.unfilled.len() - usize::from(is_tracked);
        self.check_count(&draft, wanted, given.len())?;
        self.push_given(&mut draft, given)?;
        if is_tracked {
            draft.push_unknown_place()?;
        }
        Ok(Fitting {
            call: Call {
                name: candidate.name.clone(),
                code,
                arguments: draft.arguments,
                result,
                drops,
            },
            ranks: draft.ranks,
        })
    }

    /// Prepares a call of a function without debug information, whose result has the type of the cast in front of the call.
    fn prepared_by_cast(
        &self,
        (candidate, code): (&Candidate, Address),
        callee: &Expression,
        given: &[Expression],
        cast: Option<&TypeName>,
    ) -> Result<Fitting, Fault> {
        let result = self.returned_as(candidate, cast, callee)?;
        let mut arguments = Arguments::of(self.reader.modules.machine());
        for argument in given {
            self.push_promoted(&mut arguments, argument)?;
        }
        Ok(Fitting {
            call: Call {
                name: candidate.name.clone(),
                code,
                arguments,
                result,
                drops: false,
            },
            ranks: Vec::new(),
        })
    }

    /// Pushes the object that a method is called on.
    fn push_object(&self, draft: &mut Draft<'_>) -> Result<(), Fault> {
        let Some(object) = &draft.candidate.object else {
            return Ok(());
        };
        let module = &draft.known.module;
        let parameter = match object {
            Object::Environment(_) => None,
            Object::Pointer(_) | Object::Whole(_) => draft.unfilled.next(),
        };
        let pushed = match (object, parameter) {
            (Object::Pointer(image) | Object::Environment(image), _) => {
                let word = passing::one_word(module.module.machine());
                draft.arguments.push(image, &word, 8, false)
            }
            (Object::Whole(bytes), Some(id)) => {
                let passing = passing::passing(module, id, draft.candidate.language);
                let passing = passing.map_err(|unsure| draft.refusal(unsure.of_argument()))?;
                let image = Image::of(bytes.clone());
                let is_rust = draft.is_rust();
                draft.arguments.push(&image, &passing, 8, is_rust)
            }
            (Object::Whole(_), None) => Ok(()),
        };
        pushed.map_err(|why| draft.refusal(&why))?;
        draft.ranks.push(match parameter {
            Some(id) if self.points_to_const(module, id) => 1,
            _ => 0,
        });
        Ok(())
    }

    /// Fails if a function that takes `wanted` arguments is given another number of them.
    fn check_count(&self, draft: &Draft<'_>, wanted: usize, given: usize) -> Result<(), Fault> {
        let is_variadic = draft.known.variadic;
        if given == wanted || (is_variadic && given > wanted) {
            return Ok(());
        }
        let takes = match (wanted, is_variadic) {
            (1, false) => "1 argument".to_owned(),
            (1, true) => "1 argument or more".to_owned(),
            (count, false) => format!("{count} arguments"),
            (count, true) => format!("{count} arguments or more"),
        };
        let are = match given {
            1 => "1 is",
            _ => &format!("{given} are"),
        };
        let hint = match draft.candidate.language {
            Language::Cpp if given < wanted => " (defaults are not known, they have to be written)",
            _ => "",
        };
        let why = format!(
            "`{}` takes {takes}, and {are} given{hint}",
            self.shown(draft.candidate)
        );
        Err(Fault::new(draft.callee.at, why))
    }

    /// Pushes the arguments that are written in the call.
    fn push_given(&self, draft: &mut Draft<'_>, given: &[Expression]) -> Result<(), Fault> {
        let is_rust = draft.is_rust();
        let (module, language) = (&draft.known.module, draft.candidate.language);
        for argument in given {
            match draft.unfilled.next() {
                Some(id) => {
                    let passed = self.passed(module, id, language, argument)?;
                    let (image, passing) = (&passed.image, &passed.passing);
                    draft
                        .arguments
                        .push(image, passing, passed.alignment, is_rust)
                        .map_err(|why| self.fault(argument, &format!("can't be passed: {why}")))?;
                    draft.ranks.push(passed.rank);
                }
                None => self.push_promoted(&mut draft.arguments, argument)?,
            }
        }
        Ok(())
    }

    /// The result of a function without debug information, as the cast in front of the call gives it.
    fn returned_as(
        &self,
        candidate: &Candidate,
        cast: Option<&TypeName>,
        callee: &Expression,
    ) -> Result<Returned, Fault> {
        let name = &candidate.name;
        let Some(target) = cast else {
            let example = match self.frame.language {
                Language::Rust => format!("`{name}(…) as i32`"),
                _ => format!("`(int){name}(…)`"),
            };
            return Err(Fault::new(
                callee.at,
                format!(
                    "nothing says what `{name}` takes and returns, as it has no debug information; say what it returns: {example}"
                ),
            ));
        };
        match self.sized(target, target.plain_scalar()) {
            Some(Scalar::Integer { size, signed }) => return Ok(Returned::Integer(size, signed)),
            Some(Scalar::Float {
                size: size @ (4 | 8),
            }) => return Ok(Returned::Float(size)),
            Some(Scalar::Bool) => return Ok(Returned::Integer(1, false)),
            Some(Scalar::Char) => return Ok(Returned::Integer(1, true)),
            Some(Scalar::Float { .. }) | None => {}
        }
        let (module, id) = self.find_type(target)?;
        match (target.pointers, id) {
            (0, Some(id)) => match passing::passing(&module, id, Language::C) {
                Ok(Passing::Parts { .. } | Passing::Extended) => Ok(Returned::Value(module, id)),
                _ => {
                    let why = format!(
                        "{} can't be had without debug information",
                        a_type(&target.name)
                    );
                    Err(Fault::new(target.at, why))
                }
            },
            (0, None) => Ok(Returned::Nothing),
            (1, id) => Ok(Returned::Pointer(module, id)),
            _ => Ok(Returned::Pointer(module, None)),
        }
    }

    /// The callee's name, if it is a plain name.
    fn is_name(callee: &Expression) -> Option<&str> {
        match &callee.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }
}
