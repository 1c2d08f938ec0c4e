//! Types by name: casts, sizes, and constants of enumerations.

use super::scalar_names::{is_of_a_word, names_of, names_of_long, names_of_long_long};
use super::{Fault, MAX_STEPS, Runner, cast};
use crate::Address;
use crate::eval::ir::{Expression, Form, Kind, Scalar, TypeName};
use crate::eval::{ANONYMOUS_NAMESPACE, a_type};
use crate::modules::LoadedModule;
use crate::values::view::{LONG, View};
use crate::values::{Contents, Number, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::FoundType;
use dapple_symbols::types::{AliasKind, Encoding, PointerKind, Type, TypeId, TypeKind};
use dapple_target::suggest::nearest;
use std::sync::Arc;

/// The deepest base class searched.
const MAX_BASES: usize = 8;
/// The most types of a unit searched for a constant.
const MAX_TYPES: usize = 20_000;

impl Runner<'_> {
    /// The type called `name`. Its template or generic arguments may be written as the compiler writes them, or in the short form.
    pub(super) fn type_named(&self, name: &str) -> Option<(Arc<LoadedModule>, TypeId)> {
        match self.scope {
            Some(scope) => scope.type_named(name, |name| self.type_of_name(name)),
            None => self.type_of_name(name),
        }
    }

    fn type_of_name(&self, name: &str) -> Option<(Arc<LoadedModule>, TypeId)> {
        let relative = || {
            let mut paths = self.absolute(name).into_iter();
            paths.find_map(|path| self.type_meant(&path, &path))
        };
        self.type_meant(name, name).or_else(relative).or_else(|| {
            let (base, arguments) = name.split_once('<')?;
            // Of a type inside a template's instance, the name follows the arguments: `Box<int>::Node`.
            let (_, last) = arguments.rsplit_once(">::").unwrap_or_default();
            let base = if last.is_empty() { base } else { last };
            self.type_meant(name, base)
        })
    }

    /// The type called `name`. `pattern` is what the indexes are searched for: `name` itself, or its base name without arguments, in which
    /// case only types that also have the arguments of `name` count. Searches the frame's unit, then its module, then the other modules.
    fn type_meant(&self, name: &str, pattern: &str) -> Option<(Arc<LoadedModule>, TypeId)> {
        let by_base = pattern != name;
        let plain = |name: &str| name.replace(' ', "");
        let is_meant = |found: &FoundType| {
            let short = names::shorten(&found.name, found.language);
            !by_base
                || [&found.short_name, &short]
                    .iter()
                    .any(|known| plain(known) == plain(name.trim_start_matches("::")))
                || (!name.contains("::") && plain(&without_paths(&short)) == plain(name))
        };
        let pattern = NamePattern::new(pattern);
        let is_rust = self.frame.language == Language::Rust;
        let best = |found: Vec<FoundType>| {
            let mut found: Vec<FoundType> = found
                .into_iter()
                .filter(|found| {
                    let is_spoken = (found.language == Language::Rust) == is_rust;
                    (is_spoken || self.scope.is_some()) && is_meant(found)
                })
                .collect();
            found.sort_by_key(|found| (found.only_declared, found.name != name));
            found.first().map(|found| found.id)
        };
        let lookup = self.module.to_file(self.frame.physical.lookup);
        let near = best(self.module.module.find_types_near(lookup, &pattern));
        if let Some(found) = near {
            return Some((Arc::clone(&self.module), found));
        }
        let others = self
            .reader
            .modules
            .iter()
            .filter(|m| m.id != self.module.id);
        [&self.module].into_iter().chain(others).find_map(|module| {
            let found = best(module.module.find_types(&pattern))?;
            Some((Arc::clone(module), found))
        })
    }

    fn no_type(&self, target: &TypeName) -> Fault {
        // Natvis tries many types and discards the messages, so no suggestion is searched for.
        if self.scope.is_some() {
            return Fault::unknown(target.at, format!("there is no type `{}`", target.name));
        }
        let lookup = self.module.to_file(self.frame.physical.lookup);
        let all = NamePattern::new("*");
        let near = self.module.module.find_types_near(lookup, &all);
        let known = near.iter().map(|found| {
            let name = names::base_name(&found.name);
            name.rsplit(' ').next().unwrap_or(name)
        });
        let template = target.name.split_once('<').map(|(base, _)| base);
        let mut instances = near.iter().map(|found| &found.short_name).filter(|name| {
            let base = name.split_once('<').map(|(base, _)| base);
            base.is_some_and(|base| Some(names::base_name(base)) == template.map(names::base_name))
        });
        let hint = match (instances.next(), template) {
            (Some(instance), _) => format!("; there is `{instance}`"),
            (None, Some(_)) => String::new(),
            (None, None) => nearest(names::base_name(&target.name), known)
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?")),
        };
        let message = format!("there is no type `{}`{hint}", target.name);
        Fault::unknown(target.at, message)
    }

    /// The scalar that a type's name stands for where an address has the size that it has here: the parser takes it for 8 bytes.
    pub(super) fn sized(&self, target: &TypeName, scalar: Option<Scalar>) -> Option<Scalar> {
        let is_other = self.word_size() != 8 && is_of_a_word(&target.name);
        match scalar {
            Some(Scalar::Integer { signed, .. }) if is_other => Some(Scalar::Integer {
                size: self.word_size(),
                signed,
            }),
            scalar => scalar,
        }
    }

    /// The program's type for a scalar.
    pub(super) fn scalar_type(&self, scalar: Scalar) -> Option<(Arc<LoadedModule>, TypeId)> {
        let rust = match (self.frame.language, scalar) {
            (Language::Rust, Scalar::Integer { size, signed }) => {
                Some(Number::integer(0, size, signed).type_name(Language::Rust))
            }
            _ => None,
        };
        let mut names = rust.into_iter().chain(names_of(scalar).iter().copied());
        names.find_map(|name| self.type_named(name))
    }

    /// The type that a type name means, with its module. `None` as the type is void.
    pub(super) fn find_type(
        &self,
        target: &TypeName,
    ) -> Result<(Arc<LoadedModule>, Option<TypeId>), Fault> {
        if target.name == "void" || target.name == "()" {
            return Ok((Arc::clone(&self.module), None));
        }
        if let Some(argument) = self.scope.and_then(|scope| scope.argument(&target.name)) {
            return argument.ok_or_else(|| self.no_type(target));
        }
        let scalar = self.sized(target, target.scalar);
        let known = match (scalar, self.word_size()) {
            (Some(Scalar::Integer { size: 4, signed }), 4) if is_of_a_word(&target.name) => {
                names_of_long(signed)
            }
            // `long long` before `long`.
            (Some(Scalar::Integer { size: 8, signed }), 4) => names_of_long_long(signed),
            _ => scalar.map(names_of).unwrap_or_default(),
        };
        let names = [target.name.as_str()]
            .into_iter()
            .chain(known.iter().copied());
        let mut found = names.filter_map(|name| self.type_named(name));
        let (module, id) = found.next().ok_or_else(|| self.no_type(target))?;
        Ok((module, Some(id)))
    }

    pub(super) fn cast_to(&self, operand: &Expression, target: &TypeName) -> Result<Value, Fault> {
        if let Some(scalar) = self.sized(target, target.plain_scalar()) {
            let number = self.number(operand)?;
            return Ok(self.computed(cast(self.frame.language, number, scalar)));
        }
        if target.form == Form::Function {
            let number = self.pointer_itself(&self.value(operand)?, operand)?;
            let address = match number {
                Number::Pointer { address, .. } => address,
                Number::Integer { value, .. } => value as u64,
                _ => return Err(self.fault(operand, "is no address")),
            };
            let target = None;
            return Ok(self.computed(Number::Pointer { address, target }));
        }
        let (module, id) = self.find_type(target)?;
        let language = self.frame.language;
        if target.pointers > 0 {
            let id = self.pointee(target, &module, id)?;
            if target.form == Form::Reference {
                let why = "a cast to a reference to a pointer is not supported; cast its address";
                return Err(Fault::new(target.at, why));
            }
            let number = match target.form {
                Form::Checked => self.checked(operand, &module, id)?,
                _ => self.pointed(operand, &module, id)?,
            };
            return Ok(Value::new(module, None, language, Contents::Number(number)));
        }
        if target.form == Form::Reference {
            let address = self.address_of(self.value(operand)?, operand)?;
            let Number::Pointer { address, .. } =
                self.pointed_value(address, operand, &module, id)?
            else {
                return Err(self.fault(operand, "is not in memory"));
            };
            let contents = Contents::Memory(crate::Address(address));
            return Ok(Value::new(module, id, language, contents));
        }
        if target.form == Form::Checked {
            let why = "a `dynamic_cast` is to a pointer";
            return Err(Fault::new(target.at, why));
        }
        let type_ = id.and_then(|id| module.module.strip_aliases(id).ok().flatten());
        let type_ = type_.ok_or_else(|| self.no_type(target))?;
        let scalar = match (&type_.kind, type_.size) {
            (TypeKind::Pointer(_, pointee), _) => {
                let number = self.pointed(operand, &module, *pointee)?;
                return Ok(Value::new(module, None, language, Contents::Number(number)));
            }
            (kind, Some(size @ 1..=16)) => scalar_of(kind, size as u8),
            _ => None,
        };
        let scalar = scalar.ok_or_else(|| {
            let why = format!("nothing can be cast to {}", a_type(&target.name));
            Fault::new(target.at, why)
        })?;
        let mut bytes = cast(language, self.number(operand)?, scalar).to_bytes();
        bytes.resize(type_.size.unwrap_or(0).min(16) as usize, 0);
        Ok(Value::new(
            module,
            id,
            language,
            Contents::Bytes(bytes.into()),
        ))
    }

    /// An operand as a pointer to the type `target`. The address of an object is adjusted if `target` is a base class of the object's
    /// class, or a class derived from it.
    fn pointed(
        &self,
        operand: &Expression,
        module: &Arc<LoadedModule>,
        target: Option<TypeId>,
    ) -> Result<Number, Fault> {
        self.pointed_value(self.value(operand)?, operand, module, target)
    }

    /// As [`Runner::pointed`], where `value` is the operand's value.
    fn pointed_value(
        &self,
        value: Value,
        operand: &Expression,
        module: &Arc<LoadedModule>,
        target: Option<TypeId>,
    ) -> Result<Number, Fault> {
        let number = self.pointer_itself(&value, operand)?;
        let (address, from) = match number {
            Number::Pointer { address, target } => (address, target),
            Number::Integer { value, .. } => (value as u64, None),
            _ => return Err(self.fault(operand, "is no address")),
        };
        let moved = match (from, target) {
            (Some(from), Some(to)) if address != 0 && value.module.id == module.id => {
                let object = Contents::Memory(Address(address));
                let object = Value::new(Arc::clone(module), Some(from), value.language, object);
                match self.base_in(&object, to, 0) {
                    Some(base) => base.0,
                    None => {
                        let up = base_offset(module, to, from, 0).unwrap_or(0);
                        address.wrapping_sub(up)
                    }
                }
            }
            _ => address,
        };
        Ok(Number::Pointer {
            address: moved,
            target,
        })
    }

    /// The target type of a written pointer type: `T *` for `T **`. The program must have that type.
    fn pointee(
        &self,
        target: &TypeName,
        module: &Arc<LoadedModule>,
        id: Option<TypeId>,
    ) -> Result<Option<TypeId>, Fault> {
        let place = self.module.to_file(self.frame.physical.lookup);
        let made_of = |part| module.module.types_made_of(part, place);
        let type_of = |id: &TypeId| module.module.type_of(*id).ok();
        let first = |part, is_meant: &dyn Fn(&Type) -> bool| {
            let found: Vec<TypeId> = made_of(part)
                .into_iter()
                .filter(|id| type_of(id).is_some_and(|type_| is_meant(&type_)))
                .collect();
            // In Rust, raw pointers take precedence over references.
            let is_named = |id: &&TypeId| type_of(id).is_some_and(|it| it.name.starts_with('*'));
            found.iter().find(is_named).or(found.first()).copied()
        };
        let made = |part: Option<TypeId>, is_meant: &dyn Fn(&Type) -> bool| {
            first(part, is_meant).or_else(|| {
                let is_constant =
                    |type_: &Type| matches!(type_.kind, TypeKind::Alias(AliasKind::Const, _));
                first(Some(first(part, &is_constant)?), is_meant)
            })
        };
        let missing = |name: String| {
            let why = format!("the program has no type `{name}`, which this would point to");
            Fault::new(target.at, why)
        };
        let mut part = id;
        if let Form::Array(wanted) = target.form {
            let is_meant = |type_: &Type| matches!(&type_.kind, TypeKind::Array { dimensions, .. } if dimensions[..] == [Some(wanted)]);
            let found = made(part, &is_meant);
            part = Some(found.ok_or_else(|| missing(format!("{} [{wanted}]", target.name)))?);
        }
        for level in 1..target.pointers {
            let is_meant =
                |type_: &Type| matches!(type_.kind, TypeKind::Pointer(PointerKind::Pointer, _));
            let found = made(part, &is_meant);
            let name = || match self.frame.language {
                Language::Rust => format!("{}{}", "*const ".repeat(level), target.name),
                _ => format!("{} {}", target.name, "*".repeat(level)),
            };
            part = Some(found.ok_or_else(|| missing(name()))?);
        }
        Ok(part)
    }

    /// A pointer to the object's part of the target class, by the object's virtual table (`dynamic_cast`). Null if it has no such part.
    fn checked(
        &self,
        operand: &Expression,
        module: &Arc<LoadedModule>,
        target: Option<TypeId>,
    ) -> Result<Number, Fault> {
        let pointer = self.value(operand)?;
        let null = Number::Pointer { address: 0, target };
        let mut object = match self.reader.view(&pointer, LONG) {
            View::Pointer { address: 0, .. } => return Ok(null),
            View::Pointer {
                target: Some(object),
                ..
            } => object,
            _ => return Err(self.fault(operand, "is no pointer to an object")),
        };
        object.raw = false;
        let type_ = self.reader.resolve(&object).map(|resolved| resolved.type_);
        let whole = type_.and_then(|type_| match &type_.kind {
            TypeKind::Aggregate(aggregate) => self.reader.whole_object(&object, aggregate),
            _ => None,
        });
        let whole = whole.ok_or_else(|| {
            let why = "points to no object with virtual functions, which would tell what it is";
            self.fault(operand, why)
        })?;
        let Some(address) = whole.contents.address() else {
            return Ok(null);
        };
        let Some(part) = target else {
            let address = address.0;
            return Ok(Number::Pointer { address, target });
        };
        Ok(match self.base_in(&whole, part, 0) {
            Some(base) if whole.module.id == module.id => Number::Pointer {
                address: base.0,
                target,
            },
            _ => null,
        })
    }

    /// The address of the part of `object` that is of the base class `part`, which may be virtual. `None`: the object has no such base.
    pub(super) fn base_in(&self, object: &Value, part: TypeId, depth: usize) -> Option<Address> {
        let outer = self.reader.resolve(object)?.type_;
        let inner = object.module.module.strip_aliases(part).ok()??;
        if outer.id == inner.id || outer.name == inner.name {
            return object.contents.address();
        }
        let TypeKind::Aggregate(aggregate) = &outer.kind else {
            return None;
        };
        let mut bases = aggregate.members.iter().filter(|member| member.base);
        bases.find_map(|base| match depth < MAX_BASES {
            true => self.base_in(&self.reader.member(object, base), part, depth + 1),
            false => None,
        })
    }

    /// The number of a value. For a Rust reference or `Box` of one word, this is the address that it holds, not the number behind it.
    pub(super) fn pointer_itself(
        &self,
        value: &Value,
        operand: &Expression,
    ) -> Result<Number, Fault> {
        let target = match self.reader.resolve(value).map(|r| r.type_.kind.clone()) {
            Some(TypeKind::Pointer(PointerKind::Pointer, target)) => target,
            _ => return self.number_of(value, operand),
        };
        match (&value.contents, self.reader.word(&value.contents)) {
            (Contents::Number(number), _) => Ok(*number),
            (_, Ok(address)) => Ok(Number::Pointer { address, target }),
            (_, Err(_)) => self.number_of(value, operand),
        }
    }

    pub(super) fn size_of_type(&self, target: &TypeName) -> Result<Number, Fault> {
        let size = match (target.pointers, self.sized(target, target.scalar)) {
            (1.., _) => self.reader.address_size(),
            (0, Some(Scalar::Integer { size, .. } | Scalar::Float { size })) => size.into(),
            (0, Some(Scalar::Bool)) => 1,
            (0, Some(Scalar::Char)) => match self.frame.language {
                Language::Rust => 4,
                _ => 1,
            },
            (0, None) => {
                let (module, id) = self.find_type(target)?;
                let value = Value::new(
                    module,
                    id,
                    self.frame.language,
                    Contents::Memory(crate::Address(0)),
                );
                let size = self.reader.size_of(&value);
                size.ok_or_else(|| {
                    let why = format!("the size of `{}` is not known", target.name);
                    Fault::new(target.at, why)
                })?
            }
        };
        Ok(Number::integer(size.into(), self.word_size(), false))
    }

    /// A type's alignment: what its members need. An `alignas` is not taken into account.
    pub(super) fn align_of_type(&self, target: &TypeName) -> Result<Number, Fault> {
        let number = |align: u64| Number::integer(align.into(), self.word_size(), false);
        if target.pointers > 0 || target.scalar.is_some() {
            return self.size_of_type(target);
        }
        let (module, id) = self.find_type(target)?;
        let nowhere = Contents::Memory(crate::Address(0));
        let value = Value::new(module, id, self.frame.language, nowhere);
        Ok(number(self.reader.align_of(&value)))
    }

    pub(super) fn align_of(&self, operand: &Expression) -> Result<Number, Fault> {
        if operand.calls() {
            let why = "functions are not called to be measured";
            return Err(Fault::new(operand.at, why));
        }
        let value = match (self.value(operand), perhaps_type(operand)) {
            (Ok(value), _) => value,
            (Err(fault), Some(target)) => {
                return self.align_of_type(&target).map_err(|_| fault);
            }
            (Err(fault), None) => return Err(fault),
        };
        let align = match value.contents {
            Contents::Number(Number::Pointer { .. }) => self.reader.address_size(),
            Contents::Number(number) => number.to_bytes().len() as u64,
            _ => self.reader.align_of(&value),
        };
        Ok(Number::integer(align.into(), self.word_size(), false))
    }

    pub(super) fn size_of(&self, operand: &Expression) -> Result<Number, Fault> {
        if let Kind::Text(text) = &operand.kind {
            return Ok(Number::integer(
                text.len() as i128 + 1,
                self.word_size(),
                false,
            ));
        }
        if operand.calls() {
            let why = "functions are not called to be measured";
            return Err(Fault::new(operand.at, why));
        }
        let mut value = match (self.value(operand), perhaps_type(operand)) {
            (Ok(value), _) => value,
            (Err(fault), Some(target)) => {
                return self.size_of_type(&target).map_err(|_| fault);
            }
            (Err(fault), None) => return Err(fault),
        };
        for _ in 0..MAX_STEPS {
            if let Contents::Number(number) = value.contents {
                let is_c = self.frame.language == Language::C;
                let size = match number {
                    // In C, comparisons have the type int.
                    Number::Bool(_) if is_c => 4,
                    Number::Char(_) if self.frame.language != Language::Rust => 1,
                    Number::Pointer { .. } => usize::from(self.word_size()),
                    number => number.to_bytes().len(),
                };
                return Ok(Number::integer(size as i128, self.word_size(), false));
            }
            let type_ = self.reader.resolve(&value).map(|resolved| resolved.type_);
            let is_reference = type_.is_some_and(|type_| {
                matches!(
                    type_.kind,
                    TypeKind::Pointer(PointerKind::Reference | PointerKind::RvalueReference, _)
                )
            });
            match self.reader.view(&value, LONG) {
                View::Alias(target) if is_reference => value = target,
                _ => break,
            }
        }
        let size = self.reader.size_of(&value);
        let size = size.ok_or_else(|| self.fault(operand, "is of unknown size"))?;
        Ok(Number::integer(size.into(), self.word_size(), false))
    }

    /// The value of a conditional expression that has chosen its side `taken`. If both sides are numbers, the value is converted to their
    /// common type, for which `other` is evaluated too.
    pub(super) fn taken(&self, taken: &Expression, other: &Expression) -> Result<Value, Fault> {
        let value = self.value(taken)?;
        let (Ok(number), Ok(other)) = (self.number_of(&value, taken), self.number(other)) else {
            return Ok(value);
        };
        match super::arithmetic::in_common_type(self.frame.language, number, other, taken.at) {
            Some(converted) => converted.map(|number| self.computed(number)),
            None => Ok(value),
        }
    }

    /// A constant of an enumeration: `Colour::Red`, in C++ also `Class::Red`, or in C and C++ the name alone.
    pub(super) fn enumeration_constant(&self, name: &str) -> Option<Value> {
        let (module, id, number, size) = match name.rsplit_once("::") {
            Some((path, last)) => match self.type_named(path) {
                Some((module, id)) => {
                    let (id, number, size) = match constant_of(&module, id, last) {
                        Some((number, size)) => (id, number, size),
                        None => constant_in_class(&module, id, last, 0)?,
                    };
                    (module, id, number, size)
                }
                None => return self.constant_in_namespace(path, last),
            },
            None if self.frame.language == Language::Rust => return None,
            None => {
                let all = NamePattern::new("*");
                let types = match self.scope.and_then(|scope| scope.object.type_id) {
                    Some(id) => self.module.module.find_types_beside(id, &all),
                    None => {
                        let lookup = self.module.to_file(self.frame.physical.lookup);
                        self.module.module.find_types_near(lookup, &all)
                    }
                };
                let mut types = types.into_iter().take(MAX_TYPES);
                let found = types
                    .find_map(|found| Some((found.id, constant_of(&self.module, found.id, name)?)));
                let Some((id, (number, size))) = found else {
                    return self.constant_in_namespace("", name);
                };
                (Arc::clone(&self.module), id, number, size)
            }
        };
        Some(self.constant(module, (id, number, size)))
    }

    /// A constant of an enumeration of the frame's unit that is declared at namespace scope. Searched from the function's own namespace
    /// outwards. `path` is empty for a bare name.
    fn constant_in_namespace(&self, path: &str, name: &str) -> Option<Value> {
        if self.frame.language == Language::Rust {
            return None;
        }
        let lookup = self.module.to_file(self.frame.physical.lookup);
        let enumerations = self.module.module.free_enumerations_near(lookup);
        let function = self.frame.function.as_deref().unwrap_or_default();
        namespaces(function, path)
            .into_iter()
            .find_map(|namespace| {
                let inside = enumerations.iter().filter(|it| it.namespace == namespace);
                inside.take(MAX_TYPES).find_map(|it| {
                    let (number, size) = constant_of(&self.module, it.id, name)?;
                    Some(self.constant(Arc::clone(&self.module), (it.id, number, size)))
                })
            })
    }

    fn constant(
        &self,
        module: Arc<LoadedModule>,
        (id, number, size): (TypeId, i128, usize),
    ) -> Value {
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.truncate(size);
        let contents = Contents::Bytes(bytes.into());
        Value::new(module, Some(id), self.frame.language, contents)
    }

    /// A constant of an enumeration inside an object's class or its bases: `item.Many`, or `Many` inside methods.
    pub(super) fn constant_of_object(&self, object: &Value, name: &str) -> Option<Value> {
        let mut object = object.clone();
        for _ in 0..MAX_STEPS {
            let type_ = self.reader.resolve(&object)?.type_;
            if let TypeKind::Aggregate(_) = type_.kind {
                let module = Arc::clone(&object.module);
                let found = constant_in_class(&module, type_.id, name, 0)?;
                return Some(self.constant(module, found));
            }
            object = self.reader.view(&object, LONG).target()?;
        }
        None
    }
}

impl Runner<'_> {
    /// A static member by its path: `Base::alive`, `Box<int>::shared`. The class in the path may inherit the member.
    pub(super) fn static_of_class(&self, name: &str) -> Option<Value> {
        let (class, last) = name.rsplit_once("::")?;
        let (module, id) = self.type_named(class)?;
        let nowhere = Contents::Unavailable(Unavailable::OptimizedOut);
        let object = Value::new(module, Some(id), self.frame.language, nowhere);
        self.static_of(&object, last, 0)
    }

    fn static_of(&self, object: &Value, name: &str, depth: usize) -> Option<Value> {
        let type_ = self.reader.resolve(object)?.type_;
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        if let Some(found) = aggregate.statics.iter().find(|one| *one.name == *name) {
            let frame = Some(self.frame);
            return Some(self.reader.static_member(object, found, frame));
        }
        let mut bases = aggregate.members.iter().filter(|member| member.base);
        bases.find_map(|base| {
            let base = object.sibling(Some(base.type_id), object.contents.clone());
            (depth < MAX_BASES).then(|| self.static_of(&base, name, depth + 1))?
        })
    }
}

/// The namespaces that a path may mean inside a function, innermost first, without anonymous ones.
fn namespaces(function: &str, path: &str) -> Vec<String> {
    let parts = |path: &str| -> Vec<String> {
        let path = path.replace(ANONYMOUS_NAMESPACE, "");
        let parts = path.split("::").filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let wanted = parts(path);
    let mut around = parts(function);
    around.pop();
    if path.starts_with("::") {
        around.clear();
    }
    let outwards = (0..=around.len()).rev();
    let paths = outwards.map(|depth| [&around[..depth], &wanted].concat().join("::"));
    paths.collect()
}

/// The type that an operand may name if no variable has that name: `sizeof(node)`. `None`: the operand is no name.
fn perhaps_type(operand: &Expression) -> Option<TypeName> {
    let Kind::Name(name) = &operand.kind else {
        return None;
    };
    Some(TypeName {
        at: operand.at,
        name: name.clone(),
        scalar: None,
        pointers: 0,
        form: Form::Plain,
    })
}

/// A type's name without modules and namespaces, also in its arguments: `a::Pair<b::Point, u8>` → `Pair<Point, u8>`.
fn without_paths(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for part in name.split("::") {
        let path = text.rfind(|c: char| !(c.is_alphanumeric() || c == '_'));
        text.truncate(path.map_or(0, |at| at + 1));
        text.push_str(part);
    }
    text
}

/// A constant of an enumeration declared in a class or in one of its bases: its type, number and size in bytes.
fn constant_in_class(
    module: &LoadedModule,
    class: TypeId,
    name: &str,
    depth: usize,
) -> Option<(TypeId, i128, usize)> {
    let type_ = module.module.strip_aliases(class).ok()??;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    if type_.language != Language::Cpp {
        return None;
    }
    let mut own = module.module.enumerations_in(type_.id).into_iter();
    let own = own.find_map(|id| {
        let (number, size) = constant_of(module, id, name)?;
        Some((id, number, size))
    });
    own.or_else(|| {
        let mut bases = aggregate.members.iter().filter(|member| member.base);
        bases.find_map(|base| {
            (depth < MAX_BASES).then(|| constant_in_class(module, base.type_id, name, depth + 1))?
        })
    })
}

fn constant_of(module: &LoadedModule, id: TypeId, name: &str) -> Option<(i128, usize)> {
    let type_ = module.module.strip_aliases(id).ok()??;
    let TypeKind::Enumeration { values, .. } = &type_.kind else {
        return None;
    };
    let (_, value) = values.iter().find(|(known, _)| **known == *name)?;
    Some((*value, usize::try_from(type_.size?).ok()?.min(16)))
}

/// The offset of a base class's part in an object. `None`: it has no such base, or the base is virtual.
pub(super) fn base_offset(
    module: &LoadedModule,
    whole: TypeId,
    part: TypeId,
    depth: usize,
) -> Option<u64> {
    let strip = |id| module.module.strip_aliases(id).ok().flatten();
    let (outer, inner): (Arc<Type>, Arc<Type>) = (strip(whole)?, strip(part)?);
    if outer.id == inner.id || outer.name == inner.name {
        return Some(0);
    }
    let TypeKind::Aggregate(aggregate) = &outer.kind else {
        return None;
    };
    if depth >= MAX_BASES {
        return None;
    }
    let mut bases = aggregate
        .members
        .iter()
        .filter(|m| m.base && !m.virtual_base);
    bases.find_map(|base| {
        let inside = base_offset(module, base.type_id, part, depth + 1)?;
        inside.checked_add(base.offset)
    })
}

fn scalar_of(kind: &TypeKind, size: u8) -> Option<Scalar> {
    Some(match kind {
        TypeKind::Base(Encoding::Signed | Encoding::SignedChar) => {
            Scalar::Integer { size, signed: true }
        }
        TypeKind::Base(Encoding::Unsigned | Encoding::UnsignedChar | Encoding::Utf) => {
            Scalar::Integer {
                size,
                signed: false,
            }
        }
        TypeKind::Base(Encoding::Bool) => Scalar::Bool,
        TypeKind::Base(Encoding::Float) => Scalar::Float { size },
        TypeKind::Enumeration { signed, .. } => Scalar::Integer {
            size,
            signed: *signed,
        },
        _ => return None,
    })
}
