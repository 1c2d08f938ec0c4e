//! Converts the arguments of a call: to the parameters' types, as in an assignment, or by the rules for `...`.

use crate::calls::{Arguments, Image};
use crate::eval::Fault;
use crate::eval::a_type;
use crate::eval::ir::{Expression, Kind};
use crate::eval::run::types::base_offset;
use crate::eval::run::{MAX_STEPS, Runner};
use crate::modules::LoadedModule;
use crate::values::passing::{self, Class, Part, Passing};
use crate::values::rust::glue;
use crate::values::view::{LONG, View};
use crate::values::{Contents, Number, Value, names};
use dapple_arch::Machine;
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{AliasKind, Encoding, PointerKind, Type, TypeId, TypeKind};
use std::sync::Arc;

/// How well an argument fits a parameter.
const EXACT: u8 = 0;
const PROMOTED: u8 = 1;
const CONVERTED: u8 = 2;

/// An argument in the form that it is passed in.
pub(super) struct Passed {
    pub(super) image: Image,
    pub(super) passing: Passing,
    pub(super) alignment: u64,
    pub(super) rank: u8,
}

impl Passed {
    fn word(machine: Machine, image: Image, rank: u8) -> Passed {
        Passed {
            image,
            passing: passing::one_word(machine),
            alignment: 8,
            rank,
        }
    }
}

impl Runner<'_> {
    /// Converts an argument to a parameter's type.
    pub(super) fn passed(
        &self,
        module: &Arc<LoadedModule>,
        type_id: TypeId,
        language: Language,
        argument: &Expression,
    ) -> Result<Passed, Fault> {
        let refuse = |why: &str| self.fault(argument, &format!("can't be passed: {why}"));
        let type_ = module.module.strip_aliases(type_id).ok().flatten();
        let type_ = type_.ok_or_else(|| refuse("the parameter's type is not known"))?;
        let runner = Runner {
            wanted: Some(Arc::clone(&type_)),
            module: Arc::clone(&self.module),
            ..*self
        };
        match &type_.kind {
            TypeKind::Pointer(PointerKind::Reference | PointerKind::RvalueReference, to) => {
                let to = to.ok_or_else(|| refuse("the parameter's type is not known"))?;
                let (image, rank) = runner.referred(module, to, argument)?;
                return Ok(Passed::word(self.machine(), image, rank));
            }
            TypeKind::Pointer(PointerKind::Pointer, to) => {
                let (image, rank) = runner.pointer(module, &type_, *to, argument)?;
                return Ok(Passed::word(self.machine(), image, rank));
            }
            _ => {}
        }
        let passing = passing::passing(module, type_id, language);
        let passing = passing.map_err(|unsure| refuse(unsure.of_argument()))?;
        if passing == Passing::Address && language != Language::Rust {
            // Its copy constructor is not run: the object itself is passed instead of a copy.
            let (image, rank) = runner.referred(module, type_id, argument)?;
            if image.points_to.is_some() {
                return Err(refuse("it has no address, and is passed by it"));
            }
            return Ok(Passed::word(self.machine(), image, rank));
        }
        if language == Language::Rust && glue::is_owner(module, &type_) {
            return Err(refuse(
                "it would be moved, and dropped once more by the program; only references to it can be passed",
            ));
        }
        let (image, rank) = runner.bytes_for(module, type_id, &type_, argument)?;
        let alignment = passing::alignment(module, type_id);
        let (image, passing) = widened(self.machine(), image, passing, &type_);
        Ok(Passed {
            image,
            passing,
            alignment,
            rank,
        })
    }

    /// The bytes for a parameter that is not a pointer.
    fn bytes_for(
        &self,
        module: &Arc<LoadedModule>,
        type_id: TypeId,
        type_: &Type,
        argument: &Expression,
    ) -> Result<(Image, u8), Fault> {
        let unplaced = Contents::Unavailable(Unavailable::NotHere);
        let target = Value::new(Arc::clone(module), Some(type_id), type_.language, unplaced);
        if let Kind::Text(text) = &argument.kind {
            let is_slice = type_.language == Language::Rust
                && ["&str", "&[u8]"]
                    .contains(&names::shorten(&type_.name, type_.language).as_str());
            if !is_slice || type_.size != Some(2 * self.reader.address_size()) {
                let wanted = a_type(names::shorten(&type_.name, type_.language));
                return Err(self.fault(argument, &format!("is a text, and {wanted} is taken")));
            }
            let mut image = Image::pointing_to(text.to_vec());
            let word = usize::from(self.word_size());
            image.bytes.truncate(word);
            image
                .bytes
                .extend(&(text.len() as u64).to_le_bytes()[..word]);
            return Ok((image, EXACT));
        }
        if let Some(image) = self.as_slice(type_, argument) {
            return Ok((image, EXACT));
        }
        match &type_.kind {
            TypeKind::Aggregate(_) | TypeKind::Array { .. } | TypeKind::MemberPointer { .. } => {
                let bytes = self.whole(&target, None, argument)?;
                Ok((Image::of(bytes), EXACT))
            }
            _ => {
                let value = self.value(argument)?;
                let number = self.number_of(&value, argument)?;
                let bytes = self.number_bytes(&target, type_, number, None, argument)?;
                let rank = self.rank(&value, number, type_);
                Ok((Image::of(bytes), rank))
            }
        }
    }

    fn rank(&self, value: &Value, number: Number, type_: &Type) -> u8 {
        let own = match value.contents {
            Contents::Number(_) => None,
            _ => self.referred_type(value).map(|(_, type_)| type_),
        };
        if let Some(own) = own {
            if own.name == type_.name {
                return EXACT;
            }
            if let TypeKind::Enumeration { .. } = type_.kind {
                return CONVERTED;
            }
        }
        let size = type_.size.unwrap_or(0);
        let kind = match &type_.kind {
            TypeKind::Base(encoding) => *encoding,
            _ => return CONVERTED,
        };
        match (number, kind) {
            (
                Number::Integer {
                    size: own, signed, ..
                },
                Encoding::Signed | Encoding::Unsigned,
            ) => {
                let same = u64::from(own) == size && signed == (kind == Encoding::Signed);
                match same {
                    true => EXACT,
                    false if own < 4 && size == 4 && kind == Encoding::Signed => PROMOTED,
                    false => CONVERTED,
                }
            }
            (Number::Float { size: own, .. }, Encoding::Float) => {
                match (u64::from(own) == size, own, size) {
                    (true, ..) => EXACT,
                    (false, 4, 8) => PROMOTED,
                    _ => CONVERTED,
                }
            }
            (Number::Bool(_), Encoding::Bool) => EXACT,
            (Number::Char(_), Encoding::SignedChar | Encoding::UnsignedChar | Encoding::Utf) => {
                EXACT
            }
            (Number::Integer { size: 1, .. }, Encoding::SignedChar) => EXACT,
            (Number::Bool(_) | Number::Char(_), Encoding::Signed) if size == 4 => PROMOTED,
            _ => CONVERTED,
        }
    }

    /// An argument for a parameter that is a pointer, or a Rust reference to a type with a known size; and how well
    /// it fits.
    fn pointer(
        &self,
        module: &Arc<LoadedModule>,
        type_: &Type,
        to: Option<TypeId>,
        argument: &Expression,
    ) -> Result<(Image, u8), Fault> {
        let strip = |module: &LoadedModule, id| module.module.strip_aliases(id).ok().flatten();
        let target_type = to.and_then(|id| strip(module, id));
        if let Kind::Text(text) = &argument.kind {
            let is_text = target_type.as_ref().is_none_or(|target| {
                matches!(target.kind, TypeKind::Base(_)) && target.size == Some(1)
            });
            if !is_text || type_.language == Language::Rust && type_.name.starts_with('&') {
                let wanted = a_type(names::shorten(&type_.name, type_.language));
                return Err(self.fault(argument, &format!("is a text, and {wanted} is taken")));
            }
            let mut bytes = text.to_vec();
            bytes.push(0);
            return Ok((Image::pointing_to(bytes), EXACT));
        }
        let value = self.value(argument)?;
        let number = self.pointer_itself(&value, argument)?;
        let (address, given) = match number {
            Number::Pointer { address, target } => (address, target),
            _ => {
                let unplaced = Contents::Unavailable(Unavailable::NotHere);
                let target =
                    Value::new(Arc::clone(module), Some(type_.id), type_.language, unplaced);
                let bytes = self.number_bytes(&target, type_, number, None, argument)?;
                return Ok((Image::of(bytes), CONVERTED));
            }
        };
        let given_type = given.and_then(|id| strip(&value.module, id));
        let image = |address: u64| Image::of(address.to_le_bytes().to_vec());
        let is_rust_reference = type_.language == Language::Rust && type_.name.starts_with('&');
        if is_rust_reference && address == 0 {
            return Err(Fault::new(argument.at, "a reference can't be null"));
        }
        let (Some(wanted), Some(given_type)) = (target_type, given_type) else {
            let is_same = to.is_none() && given.is_none();
            return Ok((image(address), if is_same { EXACT } else { CONVERTED }));
        };
        if wanted.id == given_type.id || wanted.name == given_type.name {
            return Ok((image(address), EXACT));
        }
        if value.module.id == module.id
            && let Some(offset) = base_offset(module, given_type.id, wanted.id, 0)
        {
            let moved = match address {
                0 => 0,
                address => address.wrapping_add(offset),
            };
            return Ok((image(moved), CONVERTED));
        }
        let wanted = names::shorten(&type_.name, type_.language);
        let given = match value.contents {
            Contents::Number(_) => self.type_of(&self.computed(number)),
            _ => self.type_of(&value),
        };
        let why = format!(
            "is {}, and {} is taken; cast it",
            a_type(given),
            a_type(wanted)
        );
        Err(self.fault(argument, &why))
    }

    /// An argument for a parameter that is a C++ reference: the address of the object, or of a copy that lives as
    /// long as the call.
    fn referred(
        &self,
        module: &Arc<LoadedModule>,
        to: TypeId,
        argument: &Expression,
    ) -> Result<(Image, u8), Fault> {
        let wanted = module.module.strip_aliases(to).ok().flatten();
        let wanted = wanted.ok_or_else(|| {
            self.fault(
                argument,
                "can't be passed: the parameter's type is not known",
            )
        })?;
        if !matches!(argument.kind, Kind::Text(_)) {
            let mut value = self.value(argument)?;
            for _ in 0..MAX_STEPS {
                let own = self.reader.resolve(&value).map(|resolved| resolved.type_);
                if let (Some(own), Some(address)) = (&own, value.contents.address())
                    && value.bits.is_none()
                {
                    let image = |address: u64| Image::of(address.to_le_bytes().to_vec());
                    if own.name == wanted.name {
                        return Ok((image(address.0), EXACT));
                    }
                    if value.module.id == module.id
                        && let Some(offset) = base_offset(module, own.id, wanted.id, 0)
                    {
                        return Ok((image(address.0.wrapping_add(offset)), CONVERTED));
                    }
                }
                let is_reference = own.is_some_and(|own| {
                    matches!(
                        own.kind,
                        TypeKind::Pointer(PointerKind::Reference | PointerKind::RvalueReference, _)
                    )
                });
                match self.reader.view(&value, LONG) {
                    View::Alias(target) if is_reference => value = target,
                    _ => break,
                }
            }
        }
        if !self.is_const(module, to) {
            let name = names::shorten(&wanted.name, wanted.language);
            let why = format!("is no `{name}` in memory, and a reference to one is taken");
            return Err(self.fault(argument, &why));
        }
        let (image, rank) = match &wanted.kind {
            TypeKind::Pointer(_, target) => self.pointer(module, &wanted, *target, argument)?,
            _ => self.bytes_for(module, to, &wanted, argument)?,
        };
        if image.points_to.is_some() {
            return Err(self.fault(argument, "can't be passed by reference"));
        }
        Ok((Image::pointing_to(image.bytes), rank))
    }

    fn is_const(&self, module: &LoadedModule, id: TypeId) -> bool {
        let type_ = module.module.type_of(id);
        type_.is_ok_and(|type_| matches!(type_.kind, TypeKind::Alias(AliasKind::Const, _)))
    }

    /// Whether a type is a pointer to a constant.
    pub(super) fn points_to_const(&self, module: &LoadedModule, id: TypeId) -> bool {
        let type_ = module.module.strip_aliases(id).ok().flatten();
        type_.is_some_and(|type_| match type_.kind {
            TypeKind::Pointer(_, Some(to)) => self.is_const(module, to),
            _ => false,
        })
    }

    /// A value and its type, with C++ references removed.
    fn referred_type(&self, value: &Value) -> Option<(Value, Arc<Type>)> {
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            let type_ = self.reader.resolve(&value)?.type_;
            let is_reference = matches!(
                type_.kind,
                TypeKind::Pointer(PointerKind::Reference | PointerKind::RvalueReference, _)
            );
            match self.reader.view(&value, LONG) {
                View::Alias(target) if is_reference => value = target,
                _ => return Some((value, type_)),
            }
        }
        None
    }

    /// Adds an argument for `...`: a number after C's default promotions (C 2011 §6.5.2.2), a pointer, or a string.
    pub(super) fn push_promoted(
        &self,
        arguments: &mut Arguments,
        argument: &Expression,
    ) -> Result<(), Fault> {
        let part = |offset, size, class| Part {
            offset,
            size,
            class,
        };
        let parts = |size, parts| Passing::Parts { size, parts };
        // Functions with `...` take their floating-point numbers like integers (Procedure Call Standard for the Arm Architecture, §6.1.2.1).
        let of_floats = match self.machine() {
            Machine::Arm => Class::Integer,
            _ => Class::Sse,
        };
        let (image, passing) = if let Kind::Text(text) = &argument.kind {
            let mut bytes = text.to_vec();
            bytes.push(0);
            (Image::pointing_to(bytes), passing::one_word(self.machine()))
        } else {
            let value = self.value(argument)?;
            let number = self.pointer_itself(&value, argument)?;
            match number {
                Number::Float {
                    value,
                    size: 10 | 16,
                } => {
                    let mut bytes = Number::Float { value, size: 16 }.to_bytes();
                    bytes.resize(16, 0);
                    (Image::of(bytes), Passing::Extended)
                }
                Number::Float { value, .. } => (
                    Image::of(value.to_le_bytes().to_vec()),
                    parts(8, vec![part(0, 8, of_floats)]),
                ),
                Number::Integer { value, size: 8, .. } => (
                    Image::of((value as u64).to_le_bytes().to_vec()),
                    parts(8, vec![part(0, 8, Class::Integer)]),
                ),
                Number::Integer {
                    value, size: 16, ..
                } => (
                    Image::of(value.to_le_bytes().to_vec()),
                    parts(
                        16,
                        vec![part(0, 8, Class::Integer), part(8, 8, Class::Integer)],
                    ),
                ),
                number => {
                    let bits = match number {
                        Number::Integer { value, .. } => value as u64,
                        Number::Pointer { address, .. } => address,
                        Number::Bool(value) => value.into(),
                        Number::Char(code) => code.into(),
                        Number::Float { .. } => 0,
                    };
                    let bytes = bits.to_le_bytes()[..usize::from(self.word_size())].to_vec();
                    (Image::of(bytes), passing::one_word(self.machine()))
                }
            }
        };
        let alignment = match image.bytes.len() {
            16.. => 16,
            _ => 8,
        };
        let pushed = arguments.push(&image, &passing, alignment, false);
        pushed.map_err(|why| self.fault(argument, &format!("can't be passed: {why}")))
    }

    /// Whether a Rust value owns anything, so that it has to be dropped.
    pub(super) fn is_owner(&self, value: &Value) -> bool {
        let type_ = self.reader.resolve(value).map(|resolved| resolved.type_);
        type_.is_none_or(|type_| glue::is_owner(&value.module, &type_))
    }
}

/// Widens short integers to the size of an address: compilers rely on the caller having widened small ones to an `int`.
fn widened(machine: Machine, image: Image, passing: Passing, type_: &Type) -> (Image, Passing) {
    let word = machine.address_size() as usize;
    let signed = match &type_.kind {
        TypeKind::Base(Encoding::Signed | Encoding::SignedChar) => true,
        TypeKind::Enumeration { signed, .. } => *signed,
        TypeKind::Base(
            Encoding::Unsigned | Encoding::UnsignedChar | Encoding::Bool | Encoding::Utf,
        ) => false,
        _ => return (image, passing),
    };
    if image.bytes.len() >= word || image.points_to.is_some() {
        return (image, passing);
    }
    let is_negative = signed && image.bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut bytes = image.bytes;
    bytes.resize(word, if is_negative { 0xff } else { 0 });
    (Image::of(bytes), passing::one_word(machine))
}
