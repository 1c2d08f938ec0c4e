//! Expressions prepared for fast evaluation at one location: names are resolved, types and locations known.
//!
//! Evaluating one reads a few registers and a little memory, and computes. Only simple expressions are prepared: scalars in
//! registers and memory, members and elements of values in memory, and pointers to all of those. The full evaluator (`run`) handles
//! everything else, and every failure: it gives the same value, or the message that says why there is none.
use super::Parsed;
use super::ir::{Binary, Scalar, Unary};
use super::run::is_int_alone;
use crate::modules::Modules;
use crate::values::Number;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use dapple_arch::registers::{Registers, Vectors};
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Encoding, Type, TypeKind};
pub use decided::Kind;
use machine::Machine;
use maker::{Made, Maker};
use members::BitField;
use std::sync::Arc;

mod built;
mod conditional;
mod constants;
mod decided;
mod lengths;
mod machine;
mod maker;
mod members;
mod pointers;
mod texts;
mod variants;

/// An expression prepared for one location.
#[derive(Debug, Clone)]
pub struct Prepared {
    root: Node,
    language: Language,
    /// The location.
    address: Address,
    /// The value is displayed as the digits of its number, and nothing else.
    bare: bool,
    names_thread: bool,
}

/// A thread at the location of a prepared expression.
#[derive(Clone, Copy)]
pub struct Thread<'a> {
    /// Its id.
    pub id: ThreadId,
    /// Its registers.
    pub registers: &'a Registers,
    /// Reads its SSE registers.
    pub vectors: &'a dyn Fn() -> Option<Arc<Vectors>>,
    /// Its memory.
    pub memory: &'a dyn Memory,
}

/// An operation that gives a number.
#[derive(Debug, Clone)]
enum Node {
    Constant(Number),
    /// The lowest bytes of a register's value plus a number.
    Register(u16, u64, Shape),
    /// The lowest bytes of an SSE register, by its number.
    Vector(u8, Shape),
    Load(Box<Place>, Shape),
    /// A bit-field of an object.
    Bits(Box<Place>, Box<BitField>),
    /// Whether a text is equal to a literal.
    Text(Box<texts::Comparison>),
    /// The length of a text or container.
    Length(Box<lengths::Measured>),
    /// Whether an enum is in a variant.
    Variant(Box<variants::IsVariant>),
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
    /// The thread's id.
    Thread,
    /// A number that is known if a location is.
    Known(Box<Place>, Number),
    /// A location's address.
    Address(Box<Place>),
    /// `condition ? yes : no`.
    Conditional(Box<conditional::Conditional>),
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
    /// A location in an enum's variant; fails if the enum is in another.
    Guarded(Box<variants::IsVariant>, Box<Place>),
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

impl Prepared {
    /// Prepares an expression for the innermost frame of threads at `address`: the function's (`inline_depth` 0), or that of the
    /// `inline_depth`-th inlined call there, counted from the outermost. `None`: the expression needs the full evaluator.
    pub fn new(
        parsed: &Parsed,
        modules: &Modules,
        address: Address,
        inline_depth: usize,
    ) -> Option<Prepared> {
        // Pointers, lengths and texts are read with words of 8 bytes.
        if !parsed.is_plain() || modules.machine().address_size() != 8 {
            return None;
        }
        let maker = Maker::new(modules, address, inline_depth)?;
        let made = maker.make(&parsed.tree)?;
        let bare = match &made {
            Made::Number(Node::Named(_) | Node::Conditional(_)) => false,
            // The name of a constant is displayed as it is.
            Made::Number(Node::Constant(number)) => is_bare(*number) && !parsed.tree.is_name(),
            Made::Number(Node::Bits(_, field)) => maker.has_digits(&field.shape.type_),
            // The digits are all of a computed number's display unless it is a pointer or a character, and `text` checks that.
            Made::Number(_) => true,
            Made::Pointer(..) => false,
            Made::Memory(_, type_) | Made::Value(_, type_) => maker.has_digits(type_),
        };
        Some(Prepared {
            root: maker.number(made)?,
            language: maker.language(),
            address,
            bare,
            names_thread: maker.names_thread(),
        })
    }

    /// Whether its value depends on the thread's id.
    pub fn names_thread(&self) -> bool {
        self.names_thread
    }

    /// Its number for a thread. `None`: use the full evaluator.
    pub fn number(&self, thread: Thread<'_>) -> Option<Number> {
        Machine::new(self.language, thread).number(&self.root)
    }

    /// Its value as text, if that is only the digits of a number.
    pub fn text(&self, thread: Thread<'_>) -> Option<String> {
        let number = self.bare.then(|| self.number(thread))??;
        is_bare(number).then(|| number.text())
    }
}

/// Whether a computed number is displayed as its digits in every language.
fn is_bare(number: Number) -> bool {
    !matches!(number, Number::Pointer { .. } | Number::Char(_))
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
