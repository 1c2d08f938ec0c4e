//! Resolves an expression's names, types and locations, as the full evaluator finds them.

use super::members::BitField;
use super::{Node, Place, Shape, variants};
use crate::eval::ir::{Binary, Expression, Kind, Unary};
use crate::eval::run::arithmetic::is_untyped;
use crate::eval::run::{is_negative, promoted};
use crate::modules::{LoadedModule, Modules};
use crate::values::{Number, number_of};
use crate::{Address, Memory};
use dapple_arch::Machine;
use dapple_arch::registers::FS_BASE;
use dapple_symbols::cfi::CfaRule;
use dapple_symbols::fixed_location::FixedLocation;
use dapple_symbols::functions::Language;
use dapple_symbols::scopes::Variable;
use dapple_symbols::types::{Encoding, PointerKind, Type, TypeId, TypeKind};
use std::cell::{Cell, OnceCell};
use std::sync::Arc;

/// An intermediate result, before it is clear whether its number is needed.
pub(super) enum Made {
    /// A number.
    Number(Node),
    /// A value in memory, with its type.
    Memory(Place, Arc<Type>),
    /// A value that isn't in memory, with its type.
    Value(Node, Arc<Type>),
    /// A computed pointer, with its target's type unless that is `void`.
    Pointer(Node, Option<TypeId>),
}

/// No memory: what is looked up needs only types.
pub(super) struct Nothing;

impl Memory for Nothing {
    fn read(&self, address: Address, _: &mut [u8]) -> Result<(), Address> {
        Err(address)
    }
}

/// Resolves names and types.
pub(super) struct Maker<'a> {
    pub(super) module: &'a Arc<LoadedModule>,
    pub(super) modules: &'a Modules,
    pub(super) address: Address,
    pub(super) inline_depth: usize,
    language: Language,
    locals: Vec<Variable>,
    /// Caches [`Maker::statics`].
    statics: OnceCell<Vec<Variable>>,
    /// Whether the thread's id was needed.
    names_thread: Cell<bool>,
}

/// The value of a variable in a register, plus a number.
fn in_register(machine: Machine, register: u16, more: u64, type_: &Arc<Type>) -> Option<Node> {
    let shape = Shape::of(Arc::clone(type_)).filter(|shape| shape.size <= 8)?;
    let is_real = matches!(type_.kind, TypeKind::Base(Encoding::Float));
    if machine.general().contains(&register) {
        return Some(Node::Register(register, more, shape));
    }
    let number = machine.vector_index(register).filter(|_| is_real)?;
    Some(Node::Vector(u8::try_from(number).ok()?, shape))
}

/// The longest chain of typedefs followed.
const MOST_ALIASES: usize = 32;

impl<'a> Maker<'a> {
    pub(super) fn new(
        modules: &'a Modules,
        address: Address,
        inline_depth: usize,
    ) -> Option<Maker<'a>> {
        let module = modules.at(address)?;
        let lookup = module.to_file(address);
        Some(Maker {
            module,
            modules,
            address,
            inline_depth,
            language: module.module.language_at(lookup),
            locals: module.module.variables_at(lookup, inline_depth),
            statics: OnceCell::new(),
            names_thread: Cell::new(false),
        })
    }

    fn machine(&self) -> Machine {
        self.module.module.machine()
    }

    pub(super) fn language(&self) -> Language {
        self.language
    }

    pub(super) fn names_thread(&self) -> bool {
        self.names_thread.get()
    }

    pub(super) fn make(&self, expression: &Expression) -> Option<Made> {
        match &expression.kind {
            Kind::Name(name) => (self.name(name)).or_else(|| self.named_constant(expression, name)),
            Kind::Register(name) => self.register(name),
            // The `128i8` of `-128i8`.
            kind @ Kind::Literal { .. } if self.language == Language::Rust && is_negative(kind) => {
                None
            }
            Kind::Literal { number, .. } => Some(Made::Number(Node::Constant(*number))),
            Kind::Text(_)
            | Kind::CalledFrom(_)
            | Kind::Slice { .. }
            | Kind::AlignOf(_)
            | Kind::PointedMember { .. }
            | Kind::Call { .. }
            | Kind::Built { .. } => None,
            Kind::SizeOfType(_) | Kind::AlignOfType(_) => self.constant(expression),
            Kind::SizeOf(operand) => self.size_of(expression, operand),
            Kind::Conditional { condition, yes, no } => self.conditional(condition, yes, no),
            Kind::Member {
                base, name, arrow, ..
            } => self.member(base, name, *arrow),
            Kind::Index { base, index } => self.element(base, index),
            Kind::Method {
                base,
                name,
                arguments,
                arrow,
                ..
            } => match self.variant_test(base, name, arguments) {
                Some(test) => Some(test),
                None => self.length(base, (name, *arrow), arguments),
            },
            Kind::Unary {
                operator: Unary::Dereference,
                operand,
            } => self.dereference(operand),
            Kind::Unary {
                operator: Unary::AddressOf,
                operand,
            } => self.address_of(operand),
            Kind::Unary { operator, operand } => {
                let operand = Box::new(self.number(self.make(operand)?)?);
                Some(Made::Number(Node::Unary(*operator, operand)))
            }
            Kind::Binary {
                operator,
                left,
                right,
            } => self.binary(*operator, left, right),
            Kind::Cast { operand, target } => {
                let Some(target) = target.plain_scalar() else {
                    return self.cast(operand, target);
                };
                let operand = Box::new(self.number(self.make(operand)?)?);
                Some(Made::Number(Node::Cast(operand, target)))
            }
        }
    }

    fn binary(&self, operator: Binary, left: &Expression, right: &Expression) -> Option<Made> {
        if let Some(compared) = self.built_comparison(operator, left, right) {
            return Some(Made::Number(compared));
        }
        if let Some(texts) = self.text_comparison(operator, left, right) {
            return Some(Made::Number(texts));
        }
        let first = self.number(self.make(left)?)?;
        let second = match &right.kind {
            Kind::Name(name) if !self.is_known(name) => match self.named_constant(right, name) {
                Some(constant) => self.number(constant)?,
                None => self.enumerator(left, name)?,
            },
            _ => self.number(self.make(right)?)?,
        };
        Some(Made::Number(Node::Binary {
            operator,
            untyped: (is_untyped(left), is_untyped(right)),
            sides: Box::new((first, second)),
        }))
    }

    // Names, in the order that the evaluator looks them up

    fn name(&self, name: &str) -> Option<Made> {
        if let Some(local) = self.locals.iter().rev().find(|local| local.name == name) {
            return self.variable(local);
        }
        if let Some(this) = self.locals.iter().find(|local| local.name == "this") {
            let (object, type_, _) = self.follow(self.variable(this)?)?;
            // A name that isn't a declared member may still be one that the object is displayed with.
            return self.member_of(object, &type_, name);
        }
        let statics = self.statics();
        let ends = |variable: &&Variable| {
            let head = variable.name.strip_suffix(name);
            head.is_some_and(|head| head.ends_with("::"))
        };
        let exact: Vec<_> = statics.iter().filter(|it| it.name == name).collect();
        let found = match exact.is_empty() {
            true => statics.iter().filter(ends).collect(),
            false => exact,
        };
        // Of several variables that aren't discarded, the evaluator chooses by their namespaces.
        let mut found = found.into_iter().filter(|variable| !variable.dropped);
        let first = found.next()?;
        found.next().is_none().then(|| self.variable(first))?
    }

    /// The statics of the location's unit.
    fn statics(&self) -> &[Variable] {
        let lookup = self.module.to_file(self.address);
        (self.statics).get_or_init(|| self.module.module.statics_at(lookup))
    }

    pub(super) fn has_this(&self) -> bool {
        self.locals.iter().any(|local| local.name == "this")
    }

    /// Whether the evaluator may find anything under this name.
    pub(super) fn is_known(&self, name: &str) -> bool {
        let here = |variable: &Variable| {
            let head = variable.name.strip_suffix(name);
            head.is_some_and(|head| head.is_empty() || head.ends_with("::"))
        };
        self.locals.iter().any(|local| local.name == name)
            || self.may_be_of_this(name)
            || self.statics().iter().any(here)
            || self.modules.iter().any(|module| {
                !module.module.statics_named(name).is_empty()
                    || !module.module.functions_named(name).is_empty()
            })
    }

    /// Whether a name may be that of a member of `this`.
    fn may_be_of_this(&self, name: &str) -> bool {
        let Some(this) = self.locals.iter().find(|local| local.name == "this") else {
            return false;
        };
        let object = self.variable(this).and_then(|this| self.follow(this));
        object.is_none_or(|(_, type_, _)| self.may_have_member(&type_, name))
    }

    fn variable(&self, variable: &Variable) -> Option<Made> {
        let type_ = self.strip(variable.type_id?)?;
        let place = self
            .module
            .module
            .fixed_location(variable, self.module.to_file(self.address))?;
        Some(match place {
            FixedLocation::Address(address) => {
                Made::Memory(Place::At(self.module.to_process(address).0), type_)
            }
            FixedLocation::FrameOffset(offset) => {
                let lookup = self.module.to_file(self.address);
                let rules = self.module.module.unwind_rules(lookup).ok()??;
                let CfaRule::RegisterOffset(register, base) = rules.cfa else {
                    return None;
                };
                Made::Memory(Place::Near(register, base.checked_add(offset)?), type_)
            }
            FixedLocation::RegisterOffset(register, offset) => {
                Made::Memory(Place::Near(register, offset), type_)
            }
            FixedLocation::Register(register) => {
                Made::Value(in_register(self.machine(), register, 0, &type_)?, type_)
            }
            FixedLocation::Sum(register, more) => {
                let node = match register {
                    Some(register) if self.machine().general().contains(&register) => {
                        in_register(self.machine(), register, more, &type_)?
                    }
                    Some(_) => return None,
                    None => self.fixed(more, &type_)?,
                };
                Made::Value(node, type_)
            }
            FixedLocation::ThreadLocal(offset) => {
                // Only the program's own block is at the same distance in all threads.
                let program = self.modules.iter().next();
                program.filter(|program| program.id == self.module.id)?;
                let distance = self.module.module.thread_local_distance()?;
                let from = i64::try_from(offset).ok()? - i64::try_from(distance).ok()?;
                // Blocks are below the thread pointer on x86-64 alone.
                (from < 0 && self.machine() == Machine::X86_64).then_some(())?;
                Made::Memory(Place::Near(FS_BASE, from), type_)
            }
        })
    }

    /// The number of a variable that the debug information has no place for, but its bytes.
    fn fixed(&self, bytes: u64, type_: &Arc<Type>) -> Option<Node> {
        let shape = Shape::of(Arc::clone(type_)).filter(|shape| shape.size <= 8)?;
        let bytes = bytes.to_le_bytes();
        let number = number_of(type_, &bytes[..usize::from(shape.size)])?;
        Some(Node::Constant(promoted(
            self.language,
            number,
            shape.fits,
            false,
        )))
    }

    fn register(&self, name: &str) -> Option<Made> {
        let number = match name {
            "thread" => {
                self.names_thread.set(true);
                return Some(Made::Number(Node::Thread));
            }
            name => self.machine().named(name)?,
        };
        Some(Made::Number(Node::Named(number)))
    }

    fn enumerator(&self, left: &Expression, name: &str) -> Option<Node> {
        let (path, name) = match name.rsplit_once("::") {
            Some((path, name)) => (path, name),
            None => ("", name),
        };
        let type_ = match self.make(left)? {
            Made::Memory(_, type_) | Made::Value(_, type_) => type_,
            Made::Number(Node::Bits(_, field)) => field.shape.type_,
            Made::Number(_) | Made::Pointer(..) => return None,
        };
        let TypeKind::Enumeration { signed, values } = &type_.kind else {
            return None;
        };
        // A constant of another enumeration.
        let head = type_.name.strip_suffix(path);
        if !path.is_empty() && !head.is_some_and(|head| head.is_empty() || head.ends_with("::")) {
            return None;
        }
        let (_, number) = values.iter().find(|(known, _)| **known == *name)?;
        let size = u8::try_from(type_.size?).ok()?;
        Some(Node::Constant(Number::integer(*number, size, *signed)))
    }

    // Members and elements

    fn member(&self, base: &Expression, name: &str, arrow: bool) -> Option<Made> {
        let (place, type_, followed) = match self.make(base)? {
            made @ (Made::Memory(..) | Made::Value(..) | Made::Pointer(..)) => self.follow(made)?,
            Made::Number(_) => return None,
        };
        if arrow && !followed {
            return None;
        }
        self.member_of(place, &type_, name)
    }

    /// A member of an object in memory.
    fn member_of(&self, object: Place, type_: &Type, name: &str) -> Option<Made> {
        if variants::parts(type_).is_some() {
            return self.variant_member(object, type_, name);
        }
        let size = type_.size?;
        let (offset, member) = self.found_member(type_, name)?;
        let type_ = self.strip(member.type_id)?;
        let Some(bits) = member.bits else {
            return Some(Made::Memory(Place::Part(Box::new(object), offset), type_));
        };
        let field = BitField::of(offset, bits, type_, size)?;
        Some(Made::Number(Node::Bits(Box::new(object), Box::new(field))))
    }

    /// The location and type of a value, or of its target if the value is a pointer or reference. The `bool`: whether it is a
    /// pointer.
    pub(super) fn follow(&self, made: Made) -> Option<(Place, Arc<Type>, bool)> {
        match made {
            Made::Memory(place, type_) if !matches!(type_.kind, TypeKind::Pointer(..)) => {
                Some((place, type_, false))
            }
            made => {
                let pointed = match &made {
                    Made::Memory(_, type_) | Made::Value(_, type_) => {
                        matches!(type_.kind, TypeKind::Pointer(PointerKind::Pointer, _))
                    }
                    Made::Pointer(..) => true,
                    Made::Number(_) => return None,
                };
                let (node, target) = self.pointer(made)?;
                let target = self.strip(target)?;
                // A pointer to a pointer needs the full evaluator.
                if matches!(target.kind, TypeKind::Pointer(..)) {
                    return None;
                }
                Some((Place::Behind(node), target, pointed))
            }
        }
    }

    /// A pointer's number and the type of its target.
    fn pointer(&self, made: Made) -> Option<(Node, TypeId)> {
        if let Made::Pointer(node, target) = made {
            return Some((node, target?));
        }
        let (Made::Memory(_, type_) | Made::Value(_, type_)) = &made else {
            return None;
        };
        let TypeKind::Pointer(_, Some(target)) = type_.kind else {
            return None;
        };
        Some((self.raw(made)?, target))
    }

    fn dereference(&self, operand: &Expression) -> Option<Made> {
        let made = self.make(operand)?;
        if let Made::Memory(_, type_) | Made::Value(_, type_) = &made
            && !matches!(type_.kind, TypeKind::Pointer(PointerKind::Pointer, _))
        {
            return None;
        }
        let (node, target) = self.pointer(made)?;
        Some(Made::Memory(Place::Behind(node), self.strip(target)?))
    }

    fn element(&self, base: &Expression, index: &Expression) -> Option<Made> {
        let index = self.number(self.make(index)?)?;
        let made = self.make(base)?;
        let type_ = match &made {
            Made::Memory(_, type_) | Made::Value(_, type_) => Arc::clone(type_),
            Made::Pointer(..) => {
                let (node, target) = self.pointer(made)?;
                return self.element_at(Place::Behind(node), index, target, None);
            }
            Made::Number(_) => return None,
        };
        let (first, element, count) = match &type_.kind {
            TypeKind::Array {
                element,
                dimensions,
            } => {
                let Made::Memory(place, _) = made else {
                    return None;
                };
                let [Some(count)] = dimensions.as_slice() else {
                    return None;
                };
                (place, *element, Some(*count))
            }
            TypeKind::Pointer(PointerKind::Pointer, Some(_)) if !self.is_seen_through(&type_) => {
                let (node, target) = self.pointer(made)?;
                (Place::Behind(node), target, None)
            }
            _ => return None,
        };
        self.element_at(first, index, element, count)
    }

    fn element_at(
        &self,
        first: Place,
        index: Node,
        element: TypeId,
        count: Option<u64>,
    ) -> Option<Made> {
        let element = self.strip(element)?;
        let size = element.size.filter(|size| *size > 0)?;
        let first = Box::new(first);
        Some(Made::Memory(
            Place::Element {
                first,
                index,
                count,
                size,
            },
            element,
        ))
    }

    // Numbers

    /// Whether a type is a C++ reference or a Rust reference or box, whose value is that of its target.
    pub(super) fn is_seen_through(&self, type_: &Type) -> bool {
        match type_.kind {
            TypeKind::Pointer(PointerKind::Pointer, _) => {
                type_.language == Language::Rust && !type_.name.starts_with('*')
            }
            TypeKind::Pointer(..) => true,
            _ => false,
        }
    }

    /// The number that a value stands for.
    pub(super) fn number(&self, made: Made) -> Option<Node> {
        match &made {
            Made::Number(_) | Made::Pointer(..) => self.raw(made),
            Made::Memory(_, type_) | Made::Value(_, type_) if self.is_seen_through(type_) => {
                let (node, target) = self.pointer(made)?;
                let target = self.strip(target)?;
                if self.is_seen_through(&target) {
                    return None;
                }
                self.raw(Made::Memory(Place::Behind(node), target))
            }
            _ => self.raw(made),
        }
    }

    /// The number in a scalar's own bytes.
    pub(super) fn raw(&self, made: Made) -> Option<Node> {
        match made {
            Made::Number(node) | Made::Pointer(node, _) => Some(node),
            Made::Memory(place, type_) => Some(Node::Load(Box::new(place), Shape::of(type_)?)),
            Made::Value(node, _) => Some(node),
        }
    }

    /// A type without typedefs and qualifiers. The debug information describes `wchar_t` as an `int`, but it is displayed as a
    /// character, so it is left to the full evaluator.
    pub(super) fn strip(&self, id: TypeId) -> Option<Arc<Type>> {
        let module = &self.module.module;
        let mut id = id;
        for _ in 0..MOST_ALIASES {
            let type_ = module.type_of(id).ok()?;
            match type_.kind {
                _ if &*type_.name == "wchar_t" => return None,
                TypeKind::Alias(_, Some(next)) => id = next,
                TypeKind::Alias(_, None) => return None,
                _ => return Some(type_),
            }
        }
        None
    }

    /// Whether a scalar is displayed as digits and nothing else.
    pub(super) fn has_digits(&self, type_: &Type) -> bool {
        matches!(
            type_.kind,
            TypeKind::Base(
                Encoding::Float | Encoding::Bool | Encoding::Signed | Encoding::Unsigned
            )
        )
    }
}
