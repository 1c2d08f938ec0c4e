//! The model of types in C, C++ and Rust (DWARF 5 §5). `type_entries` reads it from the debug information.

use crate::dwarf::functions::{Language, SourcePosition};
use std::sync::Arc;

/// Identifies a type in its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeId {
    pub(crate) unit: u32,
    pub(crate) offset: usize,
}

/// One level of a type; other types that it refers to are [`TypeId`]s.
#[derive(Debug, Clone)]
pub struct Type {
    /// Identifies it.
    pub id: TypeId,
    /// The name as in the language, with namespaces (`alloc::vec::Vec<i32, alloc::alloc::Global>`). For pointers, arrays
    /// and the like composed from their parts (`char *`, `int [4]`). Never empty: types without a name are `{anonymous
    /// struct}` and so on.
    pub name: Arc<str>,
    /// Size in bytes; `None` if it is unknown, as for incomplete types and arrays without bounds.
    pub size: Option<u64>,
    /// Its unit's language.
    pub language: Language,
    /// The kind, with its details.
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
    /// IEEE floating point of 16 bytes (binary128).
    Quad,
    /// A complex number: two floats.
    ComplexFloat,
    /// Another encoding, by number.
    Other(u8),
}

/// The kind of a pointer or reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointerKind {
    /// `T *`, Rust `&T`, `*const T`.
    Pointer,
    /// C++ `T &`.
    Reference,
    /// C++ `T &&`.
    RvalueReference,
}

/// The kind of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateKind {
    /// `struct`; also Rust's tuples, and the outer structure of its enums.
    Struct,
    /// `class`.
    Class,
    /// `union`.
    Union,
}

/// The kind of a type that only wraps another: `typedef` and qualifiers.
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
    /// A number, character or boolean.
    Base(Encoding),
    /// A pointer or reference; `None` for `void`.
    Pointer(PointerKind, Option<TypeId>),
    /// A pointer to a member of `class`.
    MemberPointer {
        /// The member's type.
        target: Option<TypeId>,
        /// The class.
        class: Option<TypeId>,
    },
    /// An array; dimensions from the outermost, `None` for unknown lengths.
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
        /// Whether the underlying integer is signed; it has the size of the type.
        signed: bool,
        /// Names and values in order.
        values: Vec<(Arc<str>, i128)>,
    },
    /// A typedef or qualified type; `None` for `void`.
    Alias(AliasKind, Option<TypeId>),
    /// A function's type.
    Function {
        /// `None` for `void`.
        result: Option<TypeId>,
        /// The parameters' types.
        parameters: Vec<TypeId>,
    },
    /// A type without a known structure (`DW_TAG_unspecified_type`, Rust `!`, `nullptr_t`).
    Unspecified,
}

/// The contents of a struct, class, union or Rust enum.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// The keyword that it is declared with.
    pub kind: AggregateKind,
    /// Data members and base classes, in order.
    pub members: Vec<Member>,
    /// Static members of C++ classes, in order. They are not part of an object.
    pub statics: Vec<StaticMember>,
    /// A Rust enum's variants.
    pub variants: Option<VariantPart>,
    /// Template and generic type arguments: name and type.
    pub type_arguments: Vec<(Arc<str>, Option<TypeId>)>,
    /// Whether there is only a declaration, and no definition was found.
    pub declaration: bool,
}

/// A member of an aggregate.
#[derive(Debug, Clone)]
pub struct Member {
    /// The name; `None` for anonymous unions and structs, and for base classes, which have the type's name.
    pub name: Option<Arc<str>>,
    /// Its type.
    pub type_id: TypeId,
    /// The offset in the aggregate, in bytes. For bitfields: the offset of the first storage byte that has a bit of it.
    pub offset: u64,
    /// For bitfields: (bit offset from `offset`, counted from the least significant bit; size in bits).
    pub bits: Option<(u64, u64)>,
    /// Whether this is a base class.
    pub base: bool,
    /// Whether this is a virtual base class: its offset depends on the object, see `expression`.
    pub virtual_base: bool,
    /// The address of a virtual base class: evaluate with [`crate::dwarf::location::evaluate_cfi`] and the object's
    /// address as the initial value.
    pub expression: Option<Arc<[u8]>>,
    /// Whether the compiler adds the member, such as a vtable pointer.
    pub artificial: bool,
}

/// A static member as declared in its class. For its value, see [`crate::Module::static_member`].
#[derive(Debug, Clone)]
pub struct StaticMember {
    /// The name, without the class.
    pub name: Arc<str>,
    /// Its type.
    pub type_id: TypeId,
    /// The entry in the class.
    pub(crate) entry: TypeId,
}

/// The variants of a Rust enum (`DW_TAG_variant_part`).
#[derive(Debug, Clone)]
pub struct VariantPart {
    /// The member with the discriminant; `None` if only one variant is possible.
    pub discriminant: Option<Member>,
    /// The variants in order.
    pub variants: Vec<Variant>,
}

/// A variant of a Rust enum.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Its name.
    pub name: Arc<str>,
    /// The discriminant's values for this variant, as inclusive ranges of unsigned numbers of the discriminant's width. Empty
    /// for the default (niche) variant.
    pub discriminants: Vec<(u128, u128)>,
    /// The member with the variant's fields.
    pub member: Member,
    /// The position of the declaration. For the state of a future: the position of its suspension point.
    pub declaration: Option<SourcePosition>,
}
