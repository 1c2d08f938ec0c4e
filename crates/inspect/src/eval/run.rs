//! Evaluates an expression's tree in a frame: names, members, elements, and computed values.

use super::Fault;
use super::calls::Calls;
use super::ir::{Expression, Kind, Scalar, TypeName, Unary};
use super::scope::Scope;
use crate::ThreadId;
use crate::eval::a_type;
use crate::frame::Frame;
use crate::modules::LoadedModule;
use crate::values::view::{LONG, View};
use crate::values::{Contents, Number, Reader, Value, number_of};
use dapple_symbols::functions::Language;
use dapple_symbols::scopes::Variable;
use dapple_symbols::types::{Type, TypeKind};
use std::sync::Arc;

pub(super) mod arithmetic;
pub(super) mod assign;
mod built;
mod builtins;
pub(in crate::eval) mod c_functions;
mod called;
mod convert;
mod cpp_members;
mod described;
mod elements;
mod errno;
mod formats;
mod in_scope;
mod member;
mod member_pointers;
mod names;
mod pointers;
mod registers;
pub(in crate::eval) mod rust_guards;
mod rust_library;
mod rust_methods;
mod rust_numbers;
mod scalar_names;
mod scoped;
mod slices;
mod texts;
mod types;

/// The most references, boxes and pointers followed to find a member or element.
const MAX_STEPS: usize = 16;

pub(super) use described::described;
pub(super) use formats::formatted;
pub(super) use names::absolute;
pub(super) use scoped::{changed_within, number_within, value_within};

pub(super) fn run(
    tree: &Expression,
    text: &str,
    frame: &Frame,
    reader: &Reader<'_>,
    calls: Option<&Calls>,
) -> Result<Value, Fault> {
    runner(text, frame, reader, calls)?.value(tree)
}

/// As [`run`], for `count` elements starting at the value or at its target.
pub(super) fn repeated(
    tree: &Expression,
    text: &str,
    count: u64,
    frame: &Frame,
    reader: &Reader<'_>,
    calls: Option<&Calls>,
) -> Result<Value, Fault> {
    let runner = runner(text, frame, reader, calls)?;
    let value = runner.value(tree)?;
    let mut first = runner.first(value, tree)?;
    first.repeated = Some(count);
    Ok(first)
}

/// As [`run`], but returns the number that the value stands for.
pub(super) fn number(
    tree: &Expression,
    text: &str,
    frame: &Frame,
    reader: &Reader<'_>,
    calls: Option<&Calls>,
) -> Result<Number, Fault> {
    runner(text, frame, reader, calls)?.number(tree)
}

fn runner<'a>(
    text: &'a str,
    frame: &'a Frame,
    reader: &'a Reader<'a>,
    calls: Option<&'a Calls>,
) -> Result<Runner<'a>, Fault> {
    let module = frame.physical.module.clone();
    let module = module.or_else(|| reader.modules.iter().next().cloned());
    let module = module.ok_or_else(|| Fault::new(0, "no module is loaded to evaluate in"))?;
    Ok(Runner {
        text,
        frame,
        reader,
        module,
        wanted: None,
        literals: None,
        scope: None,
        calls,
    })
}

/// The value in which elements and members are looked up if the viewed one has none: the target of a reference, or the contents of a cell
/// or lock.
fn seen_through(view: View) -> Option<Value> {
    match view {
        View::Alias(target) => Some(target),
        View::Record(record) => record.inside().cloned(),
        _ => None,
    }
}

/// Whether a literal with a suffix is too large by one for its signed type, so that it has wrapped to the minimum: the `128i8` of
/// `-128i8`.
pub(super) fn is_negative(kind: &Kind) -> bool {
    let Kind::Literal {
        number: Number::Integer { value, .. },
        untyped: false,
    } = kind
    else {
        return false;
    };
    *value < 0
}

struct Runner<'a> {
    text: &'a str,
    frame: &'a Frame,
    reader: &'a Reader<'a>,
    module: Arc<LoadedModule>,
    /// The type that the value is meant for, whose constants can be named without a path, as in `colour = RED`.
    wanted: Option<Arc<Type>>,
    /// The type of Rust literals without a suffix: size and sign.
    literals: Option<(u8, bool)>,
    /// Set when evaluating inside a value instead of in a frame.
    scope: Option<&'a Scope<'a>>,
    /// The results of calls, where calls are allowed.
    calls: Option<&'a Calls>,
}

impl Runner<'_> {
    fn value(&self, expression: &Expression) -> Result<Value, Fault> {
        let at = expression.at;
        if let Some(register) = self.register_meant(expression)? {
            return self.in_register(register, at);
        }
        match &expression.kind {
            Kind::Name(name) => self.name(name, at),
            Kind::Register(name) => self.register(name, at),
            Kind::CalledFrom(caller) => {
                let (modules, memory) = (self.reader.modules, self.reader.memory);
                let has_called = caller.has_called(self.frame, modules, memory);
                Ok(self.computed(Number::Bool(has_called)))
            }
            Kind::Literal { number, untyped } => self.literal(expression, *number, *untyped),
            Kind::Text(_) => Err(Fault::new(
                at,
                "a text can be assigned, compared and looked up only",
            )),
            Kind::Member {
                base,
                name,
                name_at,
                arrow,
            } => {
                let value = self.object_of(base, *name_at, *arrow)?;
                self.member_of(value, base, name, *name_at, *arrow)
            }
            Kind::PointedMember {
                base,
                pointer,
                arrow,
            } => self.pointed_member(base, pointer, *arrow),
            Kind::Index { base, index } => {
                let value = self.value(base)?;
                self.element(value, base, index)
            }
            Kind::Slice {
                base,
                from,
                to,
                inclusive,
            } => {
                let value = self.value(base)?;
                let ends = (from.as_deref(), to.as_deref());
                self.slice(value, base, ends, *inclusive)
            }
            Kind::Unary { operator, operand } => self.of_unary(*operator, operand, at),
            Kind::Binary {
                operator,
                left,
                right,
            } => match self.row_address(expression)? {
                Some(address) => Ok(address),
                None => {
                    let number = self.binary(*operator, left, right);
                    number.map(|number| self.computed(number))
                }
            },
            Kind::Cast { operand, target } => self.of_cast(operand, target),
            Kind::SizeOfType(target) => self.size_of_type(target).map(|n| self.computed(n)),
            Kind::SizeOf(operand) => self.size_of(operand).map(|n| self.computed(n)),
            Kind::AlignOfType(target) => self.align_of_type(target).map(|n| self.computed(n)),
            Kind::AlignOf(operand) => self.align_of(operand).map(|n| self.computed(n)),
            Kind::Conditional { condition, yes, no } => self.conditional(condition, yes, no),
            Kind::Method { .. } => self.as_option(expression, self.method(expression)),
            Kind::Call { callee, arguments } => {
                let answer = self.c_function(callee, arguments);
                match answer.or_else(|| self.reference_counts(callee, arguments)) {
                    Some(answer) => answer,
                    None => self.call(expression, callee, arguments, None),
                }
            }
            Kind::Built { .. } => Err(Fault::new(
                at,
                "a value written part by part can be assigned and compared only",
            )),
        }
    }

    fn literal(
        &self,
        expression: &Expression,
        number: Number,
        untyped: bool,
    ) -> Result<Value, Fault> {
        if let Number::Integer {
            value, size: ..16, ..
        } = number
            && is_negative(&expression.kind)
            && self.frame.language == Language::Rust
        {
            let name = number.type_name(Language::Rust);
            let why = format!("{} does not fit {}", value.unsigned_abs(), a_type(name));
            return Err(Fault::new(expression.at, why));
        }
        let typed = self.literals.filter(|_| untyped);
        let number = typed
            .and_then(|typed| arithmetic::typed_literal(number, typed))
            .unwrap_or(number);
        Ok(self.computed(number))
    }

    fn of_unary(&self, operator: Unary, operand: &Expression, at: usize) -> Result<Value, Fault> {
        match operator {
            Unary::Dereference if self.stands_for_target(operand) => self.value(operand),
            Unary::Dereference => match self.row(operand)? {
                Some(row) => Ok(row),
                None => self.dereference(self.value(operand)?, operand),
            },
            // A slice is available only as a reference.
            Unary::AddressOf if matches!(operand.kind, Kind::Slice { .. }) => self.value(operand),
            Unary::AddressOf => self.address_of(self.value(operand)?, operand),
            // The minimum of a type is written as a negated literal that is too large by one.
            Unary::Negate if is_negative(&operand.kind) => match operand.kind {
                Kind::Literal { number, .. } => Ok(self.computed(number)),
                _ => self.value(operand),
            },
            Unary::Negate | Unary::Plus | Unary::Not | Unary::Complement => {
                let number = self.number(operand)?;
                self.unary(operator, number, at).map(|n| self.computed(n))
            }
        }
    }

    /// The value of a cast. One in front of a call also gives the result's type, if the called function has no debug information.
    fn of_cast(&self, operand: &Expression, target: &TypeName) -> Result<Value, Fault> {
        if let Kind::Call { callee, arguments } = &operand.kind
            && !c_functions::is_known(callee, arguments.len())
        {
            self.call(operand, callee, arguments, Some(target))?;
        }
        self.cast_to(operand, target)
    }

    fn conditional(
        &self,
        condition: &Expression,
        yes: &Expression,
        no: &Expression,
    ) -> Result<Value, Fault> {
        let holds = self.holds(condition)?;
        let (taken, other) = if holds { (yes, no) } else { (no, yes) };
        match other.calls() {
            // The type of a call that isn't made is unknown, so there is no common type.
            true => self.value(taken),
            false => self.taken(taken, other),
        }
    }

    /// Answers a method by reading memory. Calls the program's own method instead if it is the user's, or if reading gives no answer. A
    /// look-up such as `get` gives the element that it found, in place of an `Option` with the element.
    fn method(&self, expression: &Expression) -> Result<Value, Fault> {
        let Kind::Method {
            base,
            name,
            name_at,
            arguments,
            arrow,
        } = &expression.kind
        else {
            return self.value(expression);
        };
        if let Some(number) = self.in_range(base, name, arguments)? {
            return Ok(self.computed(number));
        }
        if let Some(answer) = self.of_looked_up(base, name, arguments) {
            return answer;
        }
        if let Some(answer) = self.of_iterated(base, name, arguments)? {
            return Ok(answer);
        }
        if let Some(held) = self.guarded(expression) {
            return Ok(held);
        }
        let value = match &base.kind {
            Kind::Text(_) => self.value_or_text(base)?,
            _ => self.object_of(base, *name_at, *arrow)?,
        };
        let method = (name.as_str(), *name_at, *arrow);
        let receiver = self.receiver(&value, *arrow);
        let is_users = match &receiver {
            Some(receiver) => self.has_users_method(receiver, name),
            None => !self.users_methods(&value, name).is_empty(),
        };
        if is_users {
            let called = self.own_method(expression, base, method, arguments);
            let refused = || Err(self.unanswered(&value, base, name, *name_at)?);
            return called.unwrap_or_else(refused);
        }
        let asked = receiver.unwrap_or(value);
        match self.builtin(asked, base, (name, *name_at), arguments) {
            Err(fault) => {
                let called = self.own_method(expression, base, method, arguments);
                called.unwrap_or(Err(fault))
            }
            value => value,
        }
    }

    /// Whether a condition holds. The first result is stored, so that a later evaluation doesn't contradict it.
    fn holds(&self, condition: &Expression) -> Result<bool, Fault> {
        if let Some(decided) = self.calls.and_then(|calls| calls.decided(condition)) {
            return Ok(decided);
        }
        let holds = self.number(condition)?.is_true();
        if let Some(calls) = self.calls {
            calls.decide(condition, holds);
        }
        Ok(holds)
    }

    fn computed(&self, number: Number) -> Value {
        let module = Arc::clone(&self.module);
        Value::new(module, None, self.frame.language, Contents::Number(number))
    }

    /// The part of the text that an expression was parsed from, for messages.
    fn source(&self, expression: &Expression) -> &str {
        self.text
            .get(expression.at..expression.end)
            .unwrap_or(self.text)
            .trim()
    }

    fn fault(&self, expression: &Expression, what: &str) -> Fault {
        Fault::new(
            expression.at,
            format!("`{}` {what}", self.source(expression)),
        )
    }

    fn variable(&self, variable: &Variable, module: &Arc<LoadedModule>) -> Value {
        self.reader.variable(variable, module, self.frame).value
    }

    /// `$exception`, and `$exception1` for its cause. `None`: the name is a different one.
    fn exception(&self, name: &str, at: usize) -> Option<Result<Value, Fault>> {
        let cause = match name.strip_prefix("exception")? {
            "" => 0,
            cause => cause.parse().ok()?,
        };
        let Some(thrown) = self.reader.thrown else {
            let message = "there is no `$exception`: the thread did not stop at an exception or a memory fault";
            return Some(Err(Fault::new(at, message)));
        };
        let value = thrown.value(cause, self.frame, &self.module, self.reader);
        Some(value.map_err(|why| Fault::new(at, format!("`${name}` has no value: {why}"))))
    }

    /// The value of a `$` name that is not a register.
    fn register(&self, name: &str, at: usize) -> Result<Value, Fault> {
        if let Some(scope) = self.scope {
            return self.macro_in(scope, name, at);
        }
        if name == "thread" {
            let ThreadId(thread) = self.frame.id.thread;
            return Ok(self.computed(Number::integer(thread.into(), 4, true)));
        }
        self.exception(name, at).unwrap_or_else(|| {
            let why = format!("there is no register `${name}`");
            Err(Fault::new(at, why))
        })
    }

    // Numbers of values

    /// The number that an expression stands for.
    fn number(&self, expression: &Expression) -> Result<Number, Fault> {
        let value = self.value(expression)?;
        self.number_of(&value, expression)
    }

    fn number_of(&self, value: &Value, expression: &Expression) -> Result<Number, Fault> {
        let value = self.converted_to_address(value.clone());
        if let Contents::Number(number) = value.contents {
            return Ok(number);
        }
        if let Some(number) = self.stored_number(&value, expression) {
            return Ok(number);
        }
        self.check_available(&value, expression)?;
        Err(self.fault(
            expression,
            &format!("is no number, it is {}", a_type(self.type_of(&value))),
        ))
    }

    /// The value behind references. A pointer, and an array of C or C++, becomes the number of its address.
    fn converted_to_address(&self, mut value: Value) -> Value {
        for _ in 0..MAX_STEPS {
            if self.is_plain_number(&value) {
                break;
            }
            let pointer = match self.reader.view(&value, LONG) {
                View::Alias(target) => {
                    value = target;
                    continue;
                }
                View::Pointer {
                    address, target, ..
                } => Number::Pointer {
                    address,
                    target: target.and_then(|target| target.type_id),
                },
                View::Sequence(sequence) if !sequence.container => {
                    let address = value.contents.address();
                    let Some(address) =
                        address.filter(|_| self.language_of(&value) != Language::Rust)
                    else {
                        break;
                    };
                    Number::Pointer {
                        address: address.0,
                        target: sequence.element.type_id,
                    }
                }
                _ => break,
            };
            value.contents = Contents::Number(pointer);
            break;
        }
        value
    }

    /// The number that a value's bytes encode according to its type, promoted by the rules of the frame's language.
    fn stored_number(&self, value: &Value, expression: &Expression) -> Option<Number> {
        let type_ = self.reader.resolve(value)?.type_;
        if let TypeKind::Unspecified = type_.kind {
            // C++'s `nullptr_t` has only one value.
            return type_.name.contains("nullptr").then_some(Number::Pointer {
                address: 0,
                target: None,
            });
        }
        let size = type_.size.filter(|size| (1..=16).contains(size))?;
        let bytes = self.reader.bytes(&value.contents, size).ok()?;
        let number = number_of(&type_, &bytes)?;
        let is_constant = matches!(
            (&expression.kind, &value.contents),
            (Kind::Name(_), Contents::Bytes(_))
        );
        let language = self.frame.language;
        let number = match type_.kind {
            TypeKind::Enumeration { .. } => {
                promoted(language, number, is_int_alone(&type_), is_constant)
            }
            _ => number,
        };
        let is_narrow = value.bits.as_ref().is_some_and(|bits| bits.count < 32);
        // A bit-field that fits an `int` is promoted to one (C 2011 §6.3.1.1).
        match number {
            Number::Integer { value, size, .. }
                if is_narrow && size >= 4 && language != Language::Rust =>
            {
                Some(Number::integer(value, 4, true))
            }
            number => Some(number),
        }
    }

    /// Whether a value's own type is numeric, so that nothing behind it has to be looked at.
    fn is_plain_number(&self, value: &Value) -> bool {
        use TypeKind::{Base, Enumeration};
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        let is_number = |type_: Arc<Type>| matches!(type_.kind, Base(_) | Enumeration { .. });
        value.repeated.is_none() && type_.is_some_and(is_number)
    }

    /// Fails with the reason if a value is not available.
    fn check_available(&self, value: &Value, expression: &Expression) -> Result<(), Fault> {
        let size = self.reader.size_of(value).unwrap_or(0).min(16);
        match self.reader.bytes(&value.contents, size) {
            Ok(_) => Ok(()),
            Err(reason) => {
                let reason = self.reader.reason(&reason);
                let reason = reason.trim_matches(['<', '>']);
                Err(self.fault(expression, &format!("is not available: {reason}")))
            }
        }
    }

    fn language_of(&self, value: &Value) -> Language {
        match self.reader.resolve(value) {
            Some(resolved) => resolved.type_.language,
            None => value.language,
        }
    }

    fn type_of(&self, value: &Value) -> String {
        self.reader.type_name(value)
    }
}

/// Whether a type is an enumeration whose constants all fit an `int`.
pub(super) fn is_int_alone(type_: &Type) -> bool {
    let TypeKind::Enumeration { values, .. } = &type_.kind else {
        return false;
    };
    values
        .iter()
        .all(|(_, value)| i32::try_from(*value).is_ok())
}

/// Promotes an enumeration's number: in C its constants are of type `int` (C 2011 §6.4.4.3), in C++ all values of a type that `int`
/// can represent (C++20 §7.3.7). `fits` is the result of [`is_int_alone`] for its type.
pub(super) fn promoted(
    language: Language,
    number: Number,
    fits: bool,
    is_constant: bool,
) -> Number {
    let promotes = match language {
        Language::C => is_constant,
        Language::Cpp => fits,
        _ => false,
    };
    match number {
        Number::Integer { value, size: 4, .. } if promotes && i32::try_from(value).is_ok() => {
            Number::integer(value, 4, true)
        }
        number => number,
    }
}

/// Converts a number to another type, by the rules of a language.
pub(super) fn cast(language: Language, number: Number, target: Scalar) -> Number {
    let is_rust = language == Language::Rust;
    let integer = match number {
        Number::Integer { value, .. } => value,
        // Saturates, as Rust does; in C the result is undefined.
        Number::Float { value, .. } => value as i128,
        Number::Bool(value) => value.into(),
        Number::Char(value) => value.into(),
        Number::Pointer { address, .. } => address.into(),
    };
    match target {
        Scalar::Integer {
            size: 16,
            signed: false,
        } if is_rust && matches!(number, Number::Float { .. }) => {
            let Number::Float { value, .. } = number else {
                return number;
            };
            Number::integer((value as u128).cast_signed(), 16, false)
        }
        Scalar::Integer { size, signed } => {
            let saturates = is_rust && size < 16 && matches!(number, Number::Float { .. });
            let bits = 8 * u32::from(size.clamp(1, 16)) - u32::from(signed);
            let most = match saturates {
                true => (1i128 << bits) - 1,
                false => i128::MAX,
            };
            let least = match (saturates, signed) {
                (true, true) => -most - 1,
                (true, false) => 0,
                (false, _) => i128::MIN,
            };
            Number::integer(integer.clamp(least, most), size, signed)
        }
        Scalar::Float { size } => {
            let value = arithmetic::as_float(number, size);
            let value = if size == 4 {
                f64::from(value as f32)
            } else {
                value
            };
            Number::Float { value, size }
        }
        Scalar::Bool => Number::Bool(number.is_true()),
        Scalar::Char => match integer as u8 {
            // C's plain `char` is signed.
            code @ 128.. if !is_rust => Number::integer(code.into(), 1, true),
            code => Number::Char(code.into()),
        },
    }
}
