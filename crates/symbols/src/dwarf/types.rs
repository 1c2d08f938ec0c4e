//! Types of C, C++ and Rust: DWARF 5 §5. What they are; how they are read from the entries is next door.

use crate::dwarf::functions::{Language, SourcePosition};
use std::sync::Arc;

/// Identifies a type in its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeId {
    pub(crate) unit: u32,
    pub(crate) offset: usize,
}

/// A type, one level of it: what it refers to is behind [`TypeId`]s.
#[derive(Debug, Clone)]
pub struct Type {
    /// Identifies it.
    pub id: TypeId,
    /// The name as the language writes it, with namespaces (`alloc::vec::Vec<i32, alloc::alloc::Global>`);
    /// for pointers, arrays and the like composed from their parts (`char *`, `int [4]`). Never empty: `{anonymous struct}` and so on.
    pub name: Arc<str>,
    /// Size in bytes; `None` for incomplete types and arrays without bounds.
    pub size: Option<u64>,
    /// Its unit's language.
    pub language: Language,
    /// What it is.
    pub kind: TypeKind,
}

/// How a base type's bytes are read (DWARF 5 §7.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Signed integer, two's complement.
    Signed,
    /// Unsigned integer.
    Unsigned,
    /// Signed character.
    SignedChar,
    /// Unsigned character.
    UnsignedChar,
    /// Unicode code unit or scalar (`char16_t`, Rust `char`).
    Utf,
    /// Boolean.
    Bool,
    /// IEEE floating point, or x87 extended when the size is 16 (10 bytes used).
    Float,
    /// A pair of floats.
    ComplexFloat,
    /// Another encoding, by number.
    Other(u8),
}

/// What kind of pointer a pointer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointerKind {
    /// `T *`, Rust `&T`, `*const T`.
    Pointer,
    /// C++ `T &`.
    Reference,
    /// C++ `T &&`.
    RvalueReference,
}

/// What kind of aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateKind {
    /// `struct`, Rust tuples and enums' outer structure among them.
    Struct,
    /// `class`.
    Class,
    /// `union`.
    Union,
}

/// `typedef` and qualifiers: a type that only wraps another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasKind {
    /// `typedef` or `using`.
    Typedef,
    /// `const`.
    Const,
    /// `volatile`.
    Volatile,
    /// `restrict`, `_Atomic` and others.
    Other,
}

/// One level of a type.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TypeKind {
    /// A number, character or truth value.
    Base(Encoding),
    /// A pointer or reference; `None`: to void.
    Pointer(PointerKind, Option<TypeId>),
    /// A pointer to a member of `class`.
    MemberPointer {
        /// The member's type.
        target: Option<TypeId>,
        /// The class.
        class: Option<TypeId>,
    },
    /// An array; dimensions from the outermost, `None` where unknown.
    Array {
        /// The element's type.
        element: TypeId,
        /// Numbers of elements.
        dimensions: Vec<Option<u64>>,
    },
    /// A struct, class, union, tuple, or Rust enum with a variant part.
    Aggregate(Aggregate),
    /// An enumeration.
    Enumeration {
        /// The integer below; its size is the type's.
        signed: bool,
        /// Names and values in order.
        values: Vec<(Arc<str>, i128)>,
    },
    /// A typedef or qualified type; `None`: of void.
    Alias(AliasKind, Option<TypeId>),
    /// A function's type.
    Function {
        /// `None`: void.
        result: Option<TypeId>,
        /// The parameters' types.
        parameters: Vec<TypeId>,
    },
    /// No structure is known (`DW_TAG_unspecified_type`, Rust `!`, `nullptr_t`).
    Unspecified,
}

/// The contents of a struct, class, union or Rust enum.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// How it was written.
    pub kind: AggregateKind,
    /// Data members and base classes, in order.
    pub members: Vec<Member>,
    /// Static members of C++ classes, in order. They are no part of an object.
    pub statics: Vec<StaticMember>,
    /// A Rust enum's variants.
    pub variants: Option<VariantPart>,
    /// Template and generic type arguments: name, type.
    pub type_arguments: Vec<(Arc<str>, Option<TypeId>)>,
    /// Only declared here, and no definition found in the unit.
    pub declaration: bool,
}

/// A member of an aggregate.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its name; `None` for anonymous unions and structs, and bases (use the type's name).
    pub name: Option<Arc<str>>,
    /// Its type.
    pub type_id: TypeId,
    /// Its offset in the aggregate, in bytes. For bitfields: of the storage's first byte that holds a bit of it.
    pub offset: u64,
    /// For bitfields: (bit offset from `offset`, counted from the least significant bit; size in bits).
    pub bits: Option<(u64, u64)>,
    /// A base class.
    pub base: bool,
    /// A virtual base: `offset` is not known without the object.
    pub virtual_base: bool,
    /// A virtual base's place: [`crate::dwarf::location::evaluate_cfi`] with the object's address as the initial value.
    pub expression: Option<Arc<[u8]>>,
    /// The compiler's own, such as a vtable pointer.
    pub artificial: bool,
}

/// A static member of a class, as it is declared there. Where its value is: [`Module::static_member`].
#[derive(Debug, Clone)]
pub struct StaticMember {
    /// Its name, without the class.
    pub name: Arc<str>,
    /// Its type.
    pub type_id: TypeId,
    /// Its entry in the class.
    pub(crate) entry: TypeId,
}

/// The variants of a Rust enum (`DW_TAG_variant_part`).
#[derive(Debug, Clone)]
pub struct VariantPart {
    /// Where the discriminant is; `None` with a single variant.
    pub discriminant: Option<Member>,
    /// The variants in order.
    pub variants: Vec<Variant>,
}

/// A variant of a Rust enum.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Its name.
    pub name: Arc<str>,
    /// Discriminant values, inclusive ranges, zero-extended to the discriminant's width; empty: the default (niche) variant.
    pub discriminants: Vec<(u128, u128)>,
    /// The member that holds the payload's structure.
    pub member: Member,
    /// Where it is written: of a future, the line that it waits at in this state.
    pub declaration: Option<SourcePosition>,
}
