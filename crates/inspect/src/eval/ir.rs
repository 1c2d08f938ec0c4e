//! The expression tree.

use super::callers::Caller;
use crate::values::Number;
use std::sync::Arc;

/// A parsed line that may change the program.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Statement {
    Value(Expression),
    /// `target = source`, or with an operator: `target += source`.
    Assignment {
        target: Expression,
        operator: Option<Binary>,
        source: Expression,
    },
}

/// A part of an expression, with its range in the text: `at` is its first byte, `end` the byte after it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    pub at: usize,
    pub end: usize,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A variable, with its path where it has one.
    Name(String),
    /// A register, without the `$`.
    Register(String),
    /// Whether a function is among the frame's callers.
    CalledFrom(Arc<Caller>),
    /// A literal. An `untyped` one takes the type of the other operand (Rust).
    Literal { number: Number, untyped: bool },
    /// A string literal's bytes.
    Text(Arc<[u8]>),
    /// `.name`, `->name`, `.0`.
    Member {
        base: Box<Expression>,
        name: String,
        name_at: usize,
        arrow: bool,
    },
    /// `.*pointer`, `->*pointer` (C++).
    PointedMember {
        base: Box<Expression>,
        pointer: Box<Expression>,
        arrow: bool,
    },
    /// `[index]`.
    Index {
        base: Box<Expression>,
        index: Box<Expression>,
    },
    /// `[from..to]`.
    Slice {
        base: Box<Expression>,
        from: Option<Box<Expression>>,
        to: Option<Box<Expression>>,
        /// Whether `to` is included (`..=`).
        inclusive: bool,
    },
    /// A prefix operator.
    Unary {
        operator: Unary,
        operand: Box<Expression>,
    },
    /// A binary operator.
    Binary {
        operator: Binary,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    /// `(int)x`, `x as u8`, `(struct node *)p`, `static_cast<T>(x)`.
    Cast {
        operand: Box<Expression>,
        target: TypeName,
    },
    /// `sizeof(T)`, `size_of::<T>()`.
    SizeOfType(TypeName),
    /// `sizeof x`, `size_of_val(&x)`.
    SizeOf(Box<Expression>),
    /// `alignof(T)`, `align_of::<T>()`.
    AlignOfType(TypeName),
    /// `_Alignof x`, `align_of_val(&x)`.
    AlignOf(Box<Expression>),
    /// `condition ? yes : no`.
    Conditional {
        condition: Box<Expression>,
        yes: Box<Expression>,
        no: Box<Expression>,
    },
    /// A method that may be answered by reading memory, without calling the program, such as `v.len()`.
    Method {
        base: Box<Expression>,
        name: String,
        name_at: usize,
        arguments: Vec<Expression>,
        /// Written with `->`.
        arrow: bool,
    },
    /// `f(1, 2)`, `shape.area()`: for a method, the callee's base is the object.
    Call {
        callee: Box<Expression>,
        arguments: Vec<Expression>,
    },
    /// A value written part by part: `Point { x: 1, y: 2 }`, `Some(5)`, `(1, 2)`, `{1, 2}`.
    Built {
        /// The type or variant, where one is named.
        path: Option<String>,
        parts: Vec<Part>,
    },
}

/// A part of a [`Kind::Built`] value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub name: Option<String>,
    pub value: Expression,
}

impl Expression {
    pub fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Name(_))
    }

    /// The object, name and arguments of a method that may be answered without calling the program. `None`: it is another expression.
    pub fn as_method(&self) -> Option<(&Expression, &str, &[Expression])> {
        match &self.kind {
            Kind::Method {
                base,
                name,
                arguments,
                ..
            } => Some((base, name, arguments)),
            _ => None,
        }
    }

    /// Whether evaluating the expression evaluates a [`Kind::Call`]. Operands of `sizeof` and the like are not evaluated.
    pub fn calls(&self) -> bool {
        let any = |parts: &[&Option<Box<Expression>>]| {
            parts
                .iter()
                .any(|part| part.as_ref().is_some_and(|p| p.calls()))
        };
        match &self.kind {
            Kind::Name(_)
            | Kind::Register(_)
            | Kind::CalledFrom(_)
            | Kind::Literal { .. }
            | Kind::Text(_)
            | Kind::SizeOfType(_)
            | Kind::SizeOf(_)
            | Kind::AlignOfType(_)
            | Kind::AlignOf(_) => false,
            Kind::Member { base, .. } => base.calls(),
            Kind::Method {
                base, arguments, ..
            } => base.calls() || arguments.iter().any(Expression::calls),
            Kind::Built { parts, .. } => parts.iter().any(|part| part.value.calls()),
            Kind::PointedMember { base, pointer, .. } => base.calls() || pointer.calls(),
            Kind::Index { base, index } => base.calls() || index.calls(),
            Kind::Slice { base, from, to, .. } => base.calls() || any(&[from, to]),
            Kind::Unary { operand, .. } | Kind::Cast { operand, .. } => operand.calls(),
            Kind::Binary { left, right, .. } => left.calls() || right.calls(),
            Kind::Conditional { condition, yes, no } => {
                condition.calls() || yes.calls() || no.calls()
            }
            Kind::Call { .. } => true,
        }
    }
}

/// A type as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TypeName {
    pub at: usize,
    /// Its name without pointers.
    pub name: String,
    /// The numeric type that it names, which needs no debug information.
    pub scalar: Option<Scalar>,
    /// The number of pointers.
    pub pointers: usize,
    pub form: Form,
}

/// The rest of a type's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// `T &`.
    Reference,
    /// The innermost pointer points to an array of that length: `T (*)[3]`.
    Array(u64),
    /// It is a pointer to a function that returns the type: `T (*)(int)`, `fn(i32) -> T`.
    Function,
    /// The target of a `dynamic_cast`.
    Checked,
}

impl TypeName {
    /// The scalar, unless the type is a pointer to it or has another form.
    pub fn plain_scalar(&self) -> Option<Scalar> {
        self.scalar
            .filter(|_| self.pointers == 0 && self.form == Form::Plain)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Dereference,
    AddressOf,
    Negate,
    Plus,
    /// `!`: logical, and bitwise on Rust's integers.
    Not,
    Complement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Binary {
    /// Whether it asks for equality (`true`) or for the opposite. `None`: it asks for neither.
    pub(super) fn asks_equality(self) -> Option<bool> {
        match self {
            Binary::Equal => Some(true),
            Binary::NotEqual => Some(false),
            _ => None,
        }
    }
}

/// A numeric type that a cast converts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Integer { size: u8, signed: bool },
    Float { size: u8 },
    Bool,
    Char,
}
