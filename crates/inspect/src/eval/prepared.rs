//! Expressions prepared for fast evaluation at one location: names are resolved, types and locations known.
//!
//! Evaluating one reads a few registers and a little memory, and computes. Only simple expressions are prepared: scalars in
//! registers and memory, members and elements of values in memory, and pointers to all of those. The full evaluator (`run`) handles
//! everything else, and every failure: it gives the same value, or the message that says why there is none.

use super::Parsed;
use super::ir::{Binary, Expression, Kind, Scalar, Unary};
use super::run::arithmetic::{
    binary_on_numbers, compare_pointers, is_untyped, type_literals, unary,
};
use super::run::{cast, is_int_alone, promoted};
use crate::Address;
use crate::modules::{LoadedModule, Modules};
use crate::values::{Number, number_of};
use dapple_arch::Memory;
use dapple_arch::registers::{FP, NAMES, PC, Registers, SP};
use dapple_symbols::cfi::CfaRule;
use dapple_symbols::fixed_location::FixedLocation;
use dapple_symbols::functions::Language;
use dapple_symbols::scopes::Variable;
use dapple_symbols::types::{Aggregate, Encoding, PointerKind, Type, TypeId, TypeKind};
use std::cell::Cell;
use std::sync::Arc;

/// An expression prepared for one location.
#[derive(Debug, Clone)]
pub struct Prepared {
    root: Node,
    language: Language,
    /// The value is displayed as the digits of its number, and nothing else.
    bare: bool,
}

/// An operation that gives a number.
#[derive(Debug, Clone)]
enum Node {
    Constant(Number),
    Register(u16, Shape),
    Load(Box<Place>, Shape),
    Unary(Unary, Box<Node>),
    Binary {
        operator: Binary,
        /// Whether each operand is a Rust literal without a type suffix.
        untyped: (bool, bool),
        sides: Box<(Node, Node)>,
    },
    Cast(Box<Node>, Scalar),
    /// A register that the expression names, as in `$rax`.
    Named(u16),
}

/// A location in memory.
#[derive(Debug, Clone)]
enum Place {
    At(u64),
    /// An offset from a register's value.
    Near(u16, i64),
    /// The target of a pointer; fails if the pointer is null.
    Behind(Node),
    /// An element: the location of the first, the index, the number of elements where known, and the size of one in bytes.
    Element {
        first: Box<Place>,
        index: Node,
        count: Option<u64>,
        size: u64,
    },
    /// An offset into another location.
    Part(Box<Place>, u64),
}

/// How to convert bytes to a number.
#[derive(Debug, Clone)]
struct Shape {
    type_: Arc<Type>,
    size: u8,
    /// An enumeration whose constants all fit an `int`.
    fits: bool,
}

/// An intermediate result, before it is clear whether its number is needed.
enum Made {
    /// A number.
    Number(Node),
    /// A value in memory, with its type.
    Memory(Place, Arc<Type>),
    /// A value in a register, with its type.
    Register(u16, Arc<Type>),
}

/// Resolves names and types.
struct Maker<'a> {
    module: &'a Arc<LoadedModule>,
    modules: &'a Modules,
    address: Address,
    language: Language,
    locals: Vec<Variable>,
}

/// The longest chain of typedefs followed.
const MOST_ALIASES: usize = 32;
/// The bytes read from memory at once. A block lies within a page.
const BLOCK: u64 = 64;

/// The state of a thread at the location.
struct Machine<'a> {
    registers: &'a Registers,
    memory: &'a dyn Memory,
    language: Language,
    /// The block that was read last: values often lie side by side.
    block: Cell<Option<(u64, [u8; BLOCK as usize])>>,
}

impl Prepared {
    /// Prepares an expression for the innermost frame of threads at `address`: the function's (`inline_depth` 0), or that of the
    /// `inline_depth`-th inlined call there, counted from the outermost. `None`: the expression needs the full evaluator.
    pub fn new(
        parsed: &Parsed,
        modules: &Modules,
        address: Address,
        inline_depth: usize,
    ) -> Option<Prepared> {
        if !parsed.is_plain() {
            return None;
        }
        let module = modules.at(address)?;
        let lookup = module.to_file(address);
        let maker = Maker {
            module,
            modules,
            address,
            language: module.module.language_at(lookup),
            locals: module.module.variables_at(lookup, inline_depth),
        };
        let made = maker.make(&parsed.tree)?;
        let bare = match &made {
            Made::Number(Node::Named(_)) => false,
            Made::Number(Node::Constant(number)) => is_bare(*number),
            // The digits are all of a computed number's display unless it is a pointer or a character, and `text` checks that.
            Made::Number(_) => true,
            Made::Memory(_, type_) | Made::Register(_, type_) => maker.has_digits(type_),
        };
        Some(Prepared {
            root: maker.number(made)?,
            language: maker.language,
            bare,
        })
    }

    /// Its number for a thread with these registers. `None`: use the full evaluator.
    pub fn number(&self, registers: &Registers, memory: &dyn Memory) -> Option<Number> {
        let machine = Machine {
            registers,
            memory,
            language: self.language,
            block: Cell::new(None),
        };
        machine.number(&self.root)
    }

    /// Its value as text, if that is only the digits of a number.
    pub fn text(&self, registers: &Registers, memory: &dyn Memory) -> Option<String> {
        let number = self.bare.then(|| self.number(registers, memory))??;
        is_bare(number).then(|| number.text())
    }
}

/// Whether a computed number is displayed as its digits in every language.
fn is_bare(number: Number) -> bool {
    !matches!(number, Number::Pointer { .. } | Number::Char(_))
}

impl Maker<'_> {
    fn make(&self, expression: &Expression) -> Option<Made> {
        match &expression.kind {
            Kind::Name(name) => self.name(name),
            Kind::Register(name) => self.register(name),
            Kind::Literal { number, .. } => Some(Made::Number(Node::Constant(*number))),
            Kind::Text(_)
            | Kind::CalledFrom(_)
            | Kind::Slice { .. }
            | Kind::SizeOfType(_)
            | Kind::SizeOf(_)
            | Kind::AlignOfType(_)
            | Kind::AlignOf(_)
            | Kind::Conditional { .. }
            | Kind::PointedMember { .. }
            | Kind::Method { .. }
            | Kind::Call { .. }
            | Kind::Built { .. } => None,
            Kind::Member {
                base, name, arrow, ..
            } => self.member(base, name, *arrow),
            Kind::Index { base, index } => self.element(base, index),
            Kind::Unary {
                operator: Unary::Dereference,
                operand,
            } => self.dereference(operand),
            Kind::Unary {
                operator: Unary::AddressOf,
                ..
            } => None,
            Kind::Unary { operator, operand } => {
                let operand = Box::new(self.number(self.make(operand)?)?);
                Some(Made::Number(Node::Unary(*operator, operand)))
            }
            Kind::Binary {
                operator,
                left,
                right,
            } => {
                let first = self.number(self.make(left)?)?;
                let second = match &right.kind {
                    Kind::Name(name) if !self.is_known(name) => self.enumerator(left, name)?,
                    _ => self.number(self.make(right)?)?,
                };
                Some(Made::Number(Node::Binary {
                    operator: *operator,
                    untyped: (is_untyped(left), is_untyped(right)),
                    sides: Box::new((first, second)),
                }))
            }
            Kind::Cast { operand, target } => {
                let target = target.plain_scalar()?;
                let operand = Box::new(self.number(self.make(operand)?)?);
                Some(Made::Number(Node::Cast(operand, target)))
            }
        }
    }

    // Names, in the order that the evaluator looks them up

    fn name(&self, name: &str) -> Option<Made> {
        if let Some(local) = self.locals.iter().rev().find(|local| local.name == name) {
            return self.variable(local);
        }
        // The name may be a member of `this`.
        if self.locals.iter().any(|local| local.name == "this") {
            return None;
        }
        let statics = self
            .module
            .module
            .statics_at(self.module.to_file(self.address));
        let ends = |variable: &&Variable| {
            let head = variable.name.strip_suffix(name);
            head.is_some_and(|head| head.ends_with("::"))
        };
        let found = statics.iter().find(|variable| variable.name == name);
        self.variable(found.or_else(|| statics.iter().find(ends))?)
    }

    /// Whether the evaluator may find anything under this name.
    fn is_known(&self, name: &str) -> bool {
        let here = |variable: &Variable| {
            let head = variable.name.strip_suffix(name);
            head.is_some_and(|head| head.is_empty() || head.ends_with("::"))
        };
        let lookup = self.module.to_file(self.address);
        self.locals
            .iter()
            .any(|local| local.name == name || local.name == "this")
            || self.module.module.statics_at(lookup).iter().any(here)
            || self.modules.iter().any(|module| {
                !module.module.statics_named(name).is_empty()
                    || !module.module.functions_named(name).is_empty()
            })
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
            FixedLocation::Register(register) => Made::Register(register, type_),
        })
    }

    fn register(&self, name: &str) -> Option<Made> {
        let number = match name {
            "pc" => PC,
            "sp" => SP,
            "fp" => FP,
            name => (0u16..).zip(NAMES).find(|(_, known)| *known == name)?.0,
        };
        Some(Made::Number(Node::Named(number)))
    }

    fn enumerator(&self, left: &Expression, name: &str) -> Option<Node> {
        let name = name.rsplit("::").next()?;
        let type_ = match self.make(left)? {
            Made::Memory(_, type_) | Made::Register(_, type_) => type_,
            Made::Number(_) => return None,
        };
        let TypeKind::Enumeration { signed, values } = &type_.kind else {
            return None;
        };
        let (_, number) = values.iter().find(|(known, _)| **known == *name)?;
        let size = u8::try_from(type_.size?).ok()?;
        Some(Node::Constant(Number::integer(*number, size, *signed)))
    }

    // Members and elements

    fn member(&self, base: &Expression, name: &str, arrow: bool) -> Option<Made> {
        let (place, type_, followed) = match self.make(base)? {
            made @ (Made::Memory(..) | Made::Register(..)) => self.follow(made)?,
            Made::Number(_) => return None,
        };
        if arrow && !followed {
            return None;
        }
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        if aggregate.variants.is_some() {
            return None;
        }
        let (offset, type_id) = plain_member(aggregate, name)?;
        let member = self.strip(type_id)?;
        Some(Made::Memory(Place::Part(Box::new(place), offset), member))
    }

    /// The location and type of a value, or of its target if the value is a pointer or reference. The `bool`: whether it is a
    /// pointer.
    fn follow(&self, made: Made) -> Option<(Place, Arc<Type>, bool)> {
        match made {
            Made::Memory(place, type_) if !matches!(type_.kind, TypeKind::Pointer(..)) => {
                Some((place, type_, false))
            }
            made => {
                let (Made::Memory(_, type_) | Made::Register(_, type_)) = &made else {
                    return None;
                };
                let pointed = matches!(type_.kind, TypeKind::Pointer(PointerKind::Pointer, _));
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
        let (Made::Memory(_, type_) | Made::Register(_, type_)) = &made else {
            return None;
        };
        let TypeKind::Pointer(_, Some(target)) = type_.kind else {
            return None;
        };
        Some((self.raw(made)?, target))
    }

    fn dereference(&self, operand: &Expression) -> Option<Made> {
        let made = self.make(operand)?;
        let (Made::Memory(_, type_) | Made::Register(_, type_)) = &made else {
            return None;
        };
        if !matches!(type_.kind, TypeKind::Pointer(PointerKind::Pointer, _)) {
            return None;
        }
        let (node, target) = self.pointer(made)?;
        Some(Made::Memory(Place::Behind(node), self.strip(target)?))
    }

    fn element(&self, base: &Expression, index: &Expression) -> Option<Made> {
        let index = self.number(self.make(index)?)?;
        let made = self.make(base)?;
        let (Made::Memory(_, type_) | Made::Register(_, type_)) = &made else {
            return None;
        };
        let type_ = Arc::clone(type_);
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
    fn is_seen_through(&self, type_: &Type) -> bool {
        match type_.kind {
            TypeKind::Pointer(PointerKind::Pointer, _) => {
                type_.language == Language::Rust && !type_.name.starts_with('*')
            }
            TypeKind::Pointer(..) => true,
            _ => false,
        }
    }

    /// The number that a value stands for.
    fn number(&self, made: Made) -> Option<Node> {
        match &made {
            Made::Number(_) => self.raw(made),
            Made::Memory(_, type_) | Made::Register(_, type_) if self.is_seen_through(type_) => {
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
    fn raw(&self, made: Made) -> Option<Node> {
        match made {
            Made::Number(node) => Some(node),
            Made::Memory(place, type_) => Some(Node::Load(Box::new(place), Shape::of(type_)?)),
            Made::Register(register, type_) => {
                let shape = Shape::of(type_).filter(|shape| shape.size <= 8)?;
                (register < PC).then_some(Node::Register(register, shape))
            }
        }
    }

    /// A type without typedefs and qualifiers. The debug information describes `wchar_t` as an `int`, but it is displayed as a
    /// character, so it is left to the full evaluator.
    fn strip(&self, id: TypeId) -> Option<Arc<Type>> {
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
    fn has_digits(&self, type_: &Type) -> bool {
        matches!(
            type_.kind,
            TypeKind::Base(
                Encoding::Float | Encoding::Bool | Encoding::Signed | Encoding::Unsigned
            )
        )
    }
}

/// The offset and type of a direct member that is neither a bit-field nor a virtual base.
fn plain_member(aggregate: &Aggregate, name: &str) -> Option<(u64, TypeId)> {
    let is_index = name.bytes().all(|byte| byte.is_ascii_digit());
    let member = aggregate.members.iter().find(|member| {
        member
            .name
            .as_deref()
            .is_some_and(|own| own == name || (is_index && own.strip_prefix("__") == Some(name)))
    })?;
    let plain = member.bits.is_none() && !member.virtual_base;
    plain.then_some((member.offset, member.type_id))
}

impl Shape {
    fn of(type_: Arc<Type>) -> Option<Shape> {
        let scalar = match &type_.kind {
            TypeKind::Base(encoding) => {
                !matches!(encoding, Encoding::ComplexFloat | Encoding::Other(_))
            }
            TypeKind::Enumeration { .. } => true,
            TypeKind::Pointer(..) => type_.size == Some(8),
            _ => false,
        };
        let size = u8::try_from(type_.size?).ok()?;
        let fits = is_int_alone(&type_);
        (scalar && (1..=16).contains(&size)).then_some(Shape { type_, size, fits })
    }
}

impl Machine<'_> {
    fn shaped(&self, shape: &Shape, bytes: &[u8]) -> Option<Number> {
        let number = number_of(&shape.type_, bytes)?;
        Some(promoted(self.language, number, shape.fits, false))
    }

    fn number(&self, node: &Node) -> Option<Number> {
        match node {
            Node::Constant(number) => Some(*number),
            Node::Register(register, shape) => {
                let bytes = self.registers.get(*register)?.to_le_bytes();
                self.shaped(shape, bytes.get(..usize::from(shape.size))?)
            }
            Node::Load(place, shape) => {
                let mut bytes = [0; 16];
                let bytes = &mut bytes[..usize::from(shape.size)];
                self.read(self.address(place)?, bytes)?;
                self.shaped(shape, bytes)
            }
            Node::Unary(operator, operand) => {
                unary(self.language, *operator, self.number(operand)?, 0).ok()
            }
            Node::Binary {
                operator,
                untyped,
                sides,
            } => self.binary(*operator, *untyped, &sides.0, &sides.1),
            Node::Cast(operand, target) => {
                Some(cast(self.language, self.number(operand)?, *target))
            }
            Node::Named(register) => {
                let value = self.registers.get(*register)?;
                Some(match *register {
                    PC | SP | FP => Number::Pointer {
                        address: value,
                        target: None,
                    },
                    _ => Number::integer(value.into(), 8, true),
                })
            }
        }
    }

    fn binary(
        &self,
        operator: Binary,
        untyped: (bool, bool),
        left: &Node,
        right: &Node,
    ) -> Option<Number> {
        let first = self.number(left)?;
        match operator {
            Binary::And if !first.is_true() => return Some(Number::Bool(false)),
            Binary::Or if first.is_true() => return Some(Number::Bool(true)),
            Binary::And | Binary::Or => return Some(Number::Bool(self.number(right)?.is_true())),
            _ => {}
        }
        let second = self.number(right)?;
        let (first, second) = match self.language {
            Language::Rust => type_literals((untyped.0, first), (untyped.1, second)),
            _ => (first, second),
        };
        if let (Number::Pointer { .. }, _) | (_, Number::Pointer { .. }) = (first, second) {
            return compare_pointers(operator, first, second).map(Number::Bool);
        }
        binary_on_numbers(self.language, operator, first, second, 0).ok()
    }

    fn address(&self, place: &Place) -> Option<u64> {
        match place {
            Place::At(address) => Some(*address),
            Place::Near(register, offset) => {
                Some(self.registers.get(*register)?.wrapping_add_signed(*offset))
            }
            Place::Behind(pointer) => match self.number(pointer)? {
                Number::Pointer { address, .. } => (address != 0).then_some(address),
                _ => None,
            },
            Place::Element {
                first,
                index,
                count,
                size,
            } => {
                let Number::Integer { value, .. } = self.number(index)? else {
                    return None;
                };
                if let Some(count) = count
                    && !u64::try_from(value).is_ok_and(|index| index < *count)
                {
                    return None;
                }
                let offset = value.wrapping_mul(i128::from(*size)) as u64;
                Some(self.address(first)?.wrapping_add(offset))
            }
            Place::Part(whole, offset) => Some(self.address(whole)?.wrapping_add(*offset)),
        }
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
        let start = address / BLOCK * BLOCK;
        let offset = (address - start) as usize;
        if offset + bytes.len() > BLOCK as usize {
            return self.memory.read(Address(address), bytes).ok();
        }
        let block = match self.block.get() {
            Some((known, block)) if known == start => block,
            _ => {
                let mut block = [0; BLOCK as usize];
                self.memory.read(Address(start), &mut block).ok()?;
                self.block.set(Some((start, block)));
                block
            }
        };
        bytes.copy_from_slice(&block[offset..offset + bytes.len()]);
        Some(())
    }
}
