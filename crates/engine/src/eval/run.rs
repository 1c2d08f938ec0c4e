//! Running an expression's tree against a frame: names, members, elements, and what is computed from them.

use super::Fault;
use super::calls::Calls;
use super::ir::{Expression, Kind, Scalar, Unary};
use super::scope::Scope;
use super::suggest::nearest;
use crate::Address;
use crate::frame::Frame;
use crate::modules::LoadedModule;
use crate::natvis;
use crate::values::view::{ALL, LONG, View};
use crate::values::{Contents, Number, Reader, Value, number_of};
use dapple_symbols::functions::Language;
use dapple_symbols::scopes::Variable;
use dapple_symbols::types::{Type, TypeKind};
use std::sync::Arc;

pub(super) mod arithmetic;
pub(super) mod assign;
mod built;
mod builtins;
mod called;
mod convert;
mod member;
mod registers;
mod scoped;
mod slices;
mod texts;
mod types;

/// How many references, boxes and pointers a member or index is looked for behind.
const MAX_STEPS: usize = 16;

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

/// As [`run`], for as many elements as `count` from where it is or points to.
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

/// As [`run`], but gives the number that the value stands for.
pub(super) fn number(
    tree: &Expression,
    text: &str,
    frame: &Frame,
    reader: &Reader<'_>,
) -> Result<Number, Fault> {
    runner(text, frame, reader, None)?.number(tree)
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

/// What elements and members are looked for in, where a value has none of its own: behind a reference, in a cell or lock.
fn seen_through(view: View) -> Option<Value> {
    match view {
        View::Alias(target) => Some(target),
        View::Record(record) => record.inside().cloned(),
        _ => None,
    }
}

/// Whether a function is a class's constructor that was found by the class's name.
fn is_hidden(path: &str, name: &str) -> bool {
    let class = path
        .strip_suffix(name)
        .and_then(|path| path.strip_suffix("::"));
    class.is_some_and(|class| class == name || class.ends_with(&format!("::{name}")))
}

struct Runner<'a> {
    text: &'a str,
    frame: &'a Frame,
    reader: &'a Reader<'a>,
    module: Arc<LoadedModule>,
    /// What the value is for: its names are known, as in `colour = RED`.
    wanted: Option<Arc<Type>>,
    /// The type of Rust's literals that have none of their own: size and sign.
    literals: Option<(u8, bool)>,
    /// It is evaluated inside a value, not in a frame.
    scope: Option<&'a Scope<'a>>,
    /// The calls that were made for it, where any may be.
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
            Kind::Literal { number, untyped } => {
                let typed = self.literals.filter(|_| *untyped);
                let number = typed
                    .and_then(|typed| arithmetic::typed_literal(*number, typed))
                    .unwrap_or(*number);
                Ok(self.computed(number))
            }
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
                let value = self.value(base)?;
                self.member_of(value, base, name, *name_at, *arrow)
            }
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
            Kind::Unary { operator, operand } => match operator {
                Unary::Dereference => self.dereference(self.value(operand)?, operand),
                // What a slice is can be had as a reference only.
                Unary::AddressOf if matches!(operand.kind, Kind::Slice { .. }) => {
                    self.value(operand)
                }
                Unary::AddressOf => self.address_of(self.value(operand)?, operand),
                Unary::Negate | Unary::Plus | Unary::Not | Unary::Complement => {
                    let number = self.number(operand)?;
                    self.unary(*operator, number, at).map(|n| self.computed(n))
                }
            },
            Kind::Binary {
                operator,
                left,
                right,
            } => self
                .binary(*operator, left, right)
                .map(|n| self.computed(n)),
            Kind::Cast { operand, target } => match &operand.kind {
                Kind::Call { callee, arguments } => {
                    self.call(operand, callee, arguments, Some(target))?;
                    self.cast_to(operand, target)
                }
                _ => self.cast_to(operand, target),
            },
            Kind::SizeOfType(target) => self.size_of_type(target).map(|n| self.computed(n)),
            Kind::SizeOf(operand) => self.size_of(operand).map(|n| self.computed(n)),
            Kind::Conditional { condition, yes, no } => {
                let holds = self.holds(condition)?;
                let (taken, other) = if holds { (yes, no) } else { (no, yes) };
                match other.calls() {
                    // What isn't called has no type to be told of.
                    true => self.value(taken),
                    false => self.taken(taken, other),
                }
            }
            Kind::Method {
                base,
                name,
                name_at,
                arguments,
            } => {
                let value = self.value(base)?;
                match self.builtin(value, base, (name, *name_at), arguments) {
                    Err(fault) => {
                        let method = (name.as_str(), *name_at);
                        let called = self.own_method(expression, base, method, arguments);
                        called.unwrap_or(Err(fault))
                    }
                    value => value,
                }
            }
            Kind::Call { callee, arguments } => self.call(expression, callee, arguments, None),
            Kind::Built { .. } => Err(Fault::new(
                at,
                "a value written part by part can be assigned and compared only",
            )),
        }
    }

    /// What a condition comes to, which is decided once.
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

    /// The part of the text an expression was read from, for messages.
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

    // Names

    fn name(&self, name: &str, at: usize) -> Result<Value, Fault> {
        if let Some(scope) = self.scope {
            return self.name_in(scope, name, at);
        }
        let locals = self.locals();
        let global = name.strip_prefix("::");
        if let Some(found) = self.variable_called(name, &locals) {
            return Ok(found);
        }
        if let Some(number) = self
            .wanted
            .as_deref()
            .and_then(|type_| convert::named(type_, name))
        {
            return Ok(self.computed(number));
        }
        for module in self.reader.modules.iter() {
            let found = module.module.statics_named(name);
            let is_meant = |found: &&Variable| global.is_none_or(|name| found.name == name);
            if let Some(found) = found.iter().find(is_meant) {
                return Ok(self.variable(found, module));
            }
        }
        for module in self.reader.modules.iter() {
            let functions = module.module.functions_named(name);
            if let Some(function) = functions.iter().find(|it| !is_hidden(&it.name, name)) {
                let address = module.to_process(function.entry).0;
                return Ok(self.computed(Number::Pointer {
                    address,
                    target: None,
                }));
            }
        }
        if let Some(value) = self.enumeration_constant(name) {
            return Ok(value);
        }
        if let Some(value) = self.static_of_class(name) {
            return Ok(value);
        }
        let statics = self.statics();
        let known = locals
            .iter()
            .rev()
            .chain(&statics)
            .map(|known| known.name.as_str());
        Err(Fault::unknown(
            at,
            match nearest(name, known) {
                Some(near) => format!("no variable `{name}` here; did you mean `{near}`?"),
                None => format!("no variable `{name}` here"),
            },
        ))
    }

    /// A variable that is visible here: a local, a member of `this`, a static of the unit.
    fn variable_called(&self, name: &str, locals: &[Variable]) -> Option<Value> {
        if let Some(local) = locals.iter().rev().find(|local| local.name == name) {
            return Some(self.variable(local, &self.module));
        }
        if let Some(this) = locals.iter().find(|local| local.name == "this") {
            let this = self.variable(this, &self.module);
            if let Some(member) = self.find_member(&this, name) {
                return Some(member);
            }
        }
        // `::counter` is the one outside all namespaces.
        let global = name.strip_prefix("::");
        let statics = self.statics();
        let is_named = |variable: &&Variable| {
            variable.name == name
                || variable
                    .name
                    .strip_suffix(name)
                    .is_some_and(|head| head.ends_with("::"))
        };
        let found = statics
            .iter()
            .find(|variable| variable.name == global.unwrap_or(name))
            .or_else(|| statics.iter().find(is_named));
        found.map(|found| self.variable(found, &self.module))
    }

    fn statics(&self) -> Vec<Variable> {
        let lookup = self.module.to_file(self.frame.physical.lookup);
        self.module.module.statics_at(lookup)
    }

    fn locals(&self) -> Vec<Variable> {
        let lookup = self.module.to_file(self.frame.physical.lookup);
        self.module
            .module
            .variables_at(lookup, self.frame.inline_depth)
    }

    fn variable(&self, variable: &Variable, module: &Arc<LoadedModule>) -> Value {
        self.reader.variable(variable, module, self.frame).value
    }

    /// `$exception`, and `$exception1` for what that was thrown for; `None`: the name is another.
    fn exception(&self, name: &str, at: usize) -> Option<Result<Value, Fault>> {
        let cause = match name.strip_prefix("exception")? {
            "" => 0,
            cause => cause.parse().ok()?,
        };
        let Some(thrown) = self.reader.thrown else {
            let message = "there is no `$exception`: the thread has stopped for nothing that was thrown, and for no fault with an address";
            return Some(Err(Fault::new(at, message)));
        };
        let value = thrown.value(cause, self.frame, &self.module, self.reader);
        Some(value.map_err(|why| Fault::new(at, format!("`${name}` has no value: {why}"))))
    }

    /// What is behind a `$` and no register.
    fn register(&self, name: &str, at: usize) -> Result<Value, Fault> {
        if let Some(scope) = self.scope {
            return self.macro_in(scope, name, at);
        }
        self.exception(name, at).unwrap_or_else(|| {
            let why = format!("there is no register `${name}`");
            Err(Fault::new(at, why))
        })
    }

    // Pointers

    fn dereference(&self, value: Value, operand: &Expression) -> Result<Value, Fault> {
        let mut value = value;
        let is_rust = self.language_of(&value) == Language::Rust;
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, LONG) {
                // In C++ a reference is its target, in Rust it is something to look behind.
                View::Alias(target)
                    if is_rust || self.is_pointer(&value) || self.is_optional(&value) =>
                {
                    return Ok(target);
                }
                View::Alias(target) => value = target,
                View::Pointer {
                    target: Some(target),
                    ..
                } => return Ok(target),
                View::Pointer { target: None, .. } => {
                    return Err(self.fault(operand, "points to something of unknown type"));
                }
                View::Sequence(sequence)
                    if !sequence.container && sequence.length > 0 && !is_rust =>
                {
                    return Ok(sequence.at(0));
                }
                _ => match natvis::pointer_in(self.reader, &value) {
                    Some(pointer) => value = pointer,
                    None => break,
                },
            }
        }
        self.check_available(&value, operand)?;
        Err(self.fault(
            operand,
            &format!("is no pointer, it is a `{}`", self.type_of(&value)),
        ))
    }

    fn address_of(&self, value: Value, operand: &Expression) -> Result<Value, Fault> {
        // A function's name is its address already (C 2011 §6.3.2.1).
        let is_address = matches!(value.contents, Contents::Number(Number::Pointer { .. }));
        if is_address && self.scope.is_none() && matches!(operand.kind, Kind::Name(_)) {
            return Ok(value);
        }
        let mut value = value;
        if self.language_of(&value) != Language::Rust
            && let View::Alias(target) = self.reader.view(&value, LONG)
        {
            value = target;
        }
        let address = value
            .contents
            .address()
            .ok_or_else(|| self.fault(operand, "is not in memory, so it has no address"))?;
        let mut pointer = value.sibling(
            None,
            Contents::Number(Number::Pointer {
                address: address.0,
                target: value.type_id,
            }),
        );
        pointer.language = self.frame.language;
        Ok(pointer)
    }

    fn element(&self, value: Value, base: &Expression, index: &Expression) -> Result<Value, Fault> {
        if let Some(found) = self.keyed(&value, base, index)? {
            return Ok(found);
        }
        let position = match self.number(index)? {
            Number::Integer { value, .. } => value,
            Number::Bool(value) => i128::from(value),
            Number::Char(value) if self.frame.language != Language::Rust => i128::from(value),
            _ => return Err(self.fault(index, "is no index: it is not an integer")),
        };
        let (whole, mut value) = (value.clone(), value);
        let wanted = u64::try_from(position).unwrap_or(u64::MAX);
        let limit = ALL.page(wanted, wanted.saturating_add(1));
        for _ in 0..MAX_STEPS {
            match self.reader.view(&value, limit) {
                View::Sequence(sequence) => {
                    let has_bounds = sequence.container || self.has_bounds(&value);
                    let index_value = u64::try_from(position).ok();
                    return match index_value {
                        Some(at) if at < sequence.length || !has_bounds => Ok(sequence.at(at)),
                        _ => Err(Fault::new(
                            index.at,
                            match sequence.length {
                                0 => format!(
                                    "index {position} is out of bounds: `{}` is empty",
                                    self.source(base)
                                ),
                                length => format!(
                                    "index {position} is out of bounds: `{}` has elements 0 to {}",
                                    self.source(base),
                                    length - 1
                                ),
                            },
                        )),
                    };
                }
                View::Entries(entries) if !entries.has_keys => {
                    let found = entries.at(wanted).map(|entry| entry.value.clone());
                    return found.ok_or_else(|| {
                        let broken = entries.broken.as_ref();
                        let why = match broken.filter(|_| wanted < entries.length) {
                            Some(reason) => format!(
                                "element {position} of `{}` can't be had: {}",
                                self.source(base),
                                self.reader.reason(reason)
                            ),
                            None => format!(
                                "index {position} is out of bounds: `{}` has {} elements",
                                self.source(base),
                                entries.length
                            ),
                        };
                        Fault::new(index.at, why)
                    });
                }
                View::Pointer {
                    address,
                    target: Some(target),
                    ..
                } => return self.behind_pointer(address, target, position, base),
                View::Presented(presented) => {
                    if let Some(found) = self.reader.element_of(&presented, wanted) {
                        return Ok(found);
                    }
                    match natvis::pointer_in(self.reader, &value) {
                        Some(pointer) => value = pointer,
                        None => break,
                    }
                }
                view => match seen_through(view) {
                    Some(inside) => value = inside,
                    None => break,
                },
            }
        }
        if let Some(units) = self.reader.find(&value, "_M_p")
            && let View::Pointer {
                address,
                target: Some(target),
                ..
            } = self.reader.view(&units, LONG)
        {
            return self.behind_pointer(address, target, position, base);
        }
        self.check_available(&value, base)?;
        Err(self.fault(
            base,
            &format!("has no elements, it is a `{}`", self.type_of(&whole)),
        ))
    }

    fn behind_pointer(
        &self,
        address: u64,
        target: Value,
        position: i128,
        base: &Expression,
    ) -> Result<Value, Fault> {
        let size = self
            .reader
            .size_of(&target)
            .ok_or_else(|| self.fault(base, "points to something of unknown size"))?;
        let offset = position.wrapping_mul(size.into()) as u64;
        let mut element = target;
        element.contents = Contents::Memory(Address(address.wrapping_add(offset)));
        Ok(element)
    }

    fn has_bounds(&self, value: &Value) -> bool {
        match self.reader.resolve(value).map(|resolved| resolved.type_) {
            Some(type_) => match &type_.kind {
                TypeKind::Array { dimensions, .. } => value
                    .lengths
                    .as_deref()
                    .unwrap_or(dimensions)
                    .get(usize::from(value.dimension))
                    .is_some_and(Option::is_some),
                _ => true,
            },
            None => true,
        }
    }

    // What values are

    /// An expression's value as a number, whatever stands for it.
    fn number(&self, expression: &Expression) -> Result<Number, Fault> {
        let value = self.value(expression)?;
        self.number_of(&value, expression)
    }

    fn number_of(&self, value: &Value, expression: &Expression) -> Result<Number, Fault> {
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            if self.is_plain_number(&value) {
                break;
            }
            match self.reader.view(&value, LONG) {
                View::Alias(target) => value = target,
                View::Pointer {
                    address, target, ..
                } => {
                    return Ok(Number::Pointer {
                        address,
                        target: target.and_then(|target| target.type_id),
                    });
                }
                View::Sequence(sequence) if !sequence.container => {
                    // An array is its address, as in C.
                    let address = value.contents.address();
                    if let Some(address) = address
                        && self.language_of(&value) != Language::Rust
                    {
                        return Ok(Number::Pointer {
                            address: address.0,
                            target: sequence.element.type_id,
                        });
                    }
                    break;
                }
                _ => break,
            }
        }
        if let Contents::Number(number) = value.contents {
            return Ok(number);
        }
        let number = self.reader.resolve(&value).and_then(|resolved| {
            if let TypeKind::Unspecified = resolved.type_.kind {
                // C++'s `nullptr_t` has one value.
                return resolved
                    .type_
                    .name
                    .contains("nullptr")
                    .then_some(Number::Pointer {
                        address: 0,
                        target: None,
                    });
            }
            let size = resolved.type_.size.filter(|size| (1..=16).contains(size))?;
            let bytes = self.reader.bytes(&value.contents, size).ok()?;
            let number = number_of(&resolved.type_, &bytes)?;
            let is_narrow = value.bits.as_ref().is_some_and(|bits| bits.count < 32);
            // A bit-field that an `int` holds is one when it is computed with (C 2011 §6.3.1.1).
            match number {
                Number::Integer { value, size, .. }
                    if is_narrow && size >= 4 && self.frame.language != Language::Rust =>
                {
                    Some(Number::integer(value, 4, true))
                }
                number => Some(number),
            }
        });
        if let Some(number) = number {
            return Ok(number);
        }
        self.check_available(&value, expression)?;
        Err(self.fault(
            expression,
            &format!("is no number, it is a `{}`", self.type_of(&value)),
        ))
    }

    /// Whether a value is a number by its type, with nothing to be looked for behind it.
    fn is_plain_number(&self, value: &Value) -> bool {
        use TypeKind::{Base, Enumeration};
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        let is_number = |type_: Arc<Type>| matches!(type_.kind, Base(_) | Enumeration { .. });
        value.repeated.is_none() && type_.is_some_and(is_number)
    }

    /// A fault that says why a value can't be had, if it can't.
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

/// A number as another type, by the rules of a language.
pub(super) fn cast(language: Language, number: Number, target: Scalar) -> Number {
    let is_rust = language == Language::Rust;
    let integer = match number {
        Number::Integer { value, .. } => value,
        // Saturating, as in Rust; C leaves it open.
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
            // C's plain `char` has a sign.
            code @ 128.. if !is_rust => Number::integer(code.into(), 1, true),
            code => Number::Char(code.into()),
        },
    }
}
