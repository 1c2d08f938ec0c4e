//! Calling conventions: the registers or memory in which a value is passed and returned.
//!
//! For C and C++ the platform defines this (System V ABI for x86-64, §3.2.3; Itanium C++ ABI, §3.1). Rust doesn't define it. In practice,
//! one or two scalars go in registers, other values of up to 8 bytes go in one register, and the rest is passed by address, as in rustc
//! 1.95's `fn_abi_adjust_for_abi`. Where versions of rustc differ, the result is an error that says so. Other machines' platforms are in
//! `linked`; what is here is x86-64's, but for Rust's.

use crate::modules::LoadedModule;
use dapple_arch::Machine;
use dapple_symbols::functions::Language;
use dapple_symbols::types::{Aggregate, Encoding, Type, TypeId, TypeKind};

mod linked;

/// The largest value that can be in registers, in bytes.
const IN_REGISTERS: u64 = 16;
/// How deep types may nest.
const DEEPEST: usize = 32;
/// An upper bound of the scalars in a small value.
const MOST_SCALARS: usize = 64;

/// How many members are visited in the search for wide ones.
const MOST_VISITS: usize = 10_000;

/// How a value is passed or returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passing {
    /// Uses neither registers nor memory. `size` is `None` if there is no value, else the number of its (meaningless) bytes.
    Nothing {
        /// In bytes.
        size: Option<u64>,
    },
    /// In registers if there are enough for all parts.
    Parts {
        /// The size of the value in bytes.
        size: u64,
        /// The parts, each with a register of its own.
        parts: Vec<Part>,
    },
    /// A `long double`: returned in `st0`, passed in memory.
    Extended,
    /// In memory: passed on the stack, returned at an address that the caller passes.
    Memory,
    /// In the caller's memory, whose address is passed.
    Address,
}

/// Why it is unknown how a value is passed or returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsure {
    /// The debug information lacks its layout.
    Unknown,
    /// Versions of the Rust compiler differ.
    Rust,
    /// A complex number of long doubles.
    Complex,
    /// A vector of more than 16 bytes.
    Wide,
}

impl Unsure {
    /// The reason why a result is unavailable.
    pub(crate) fn of_result(self) -> &'static str {
        match self {
            Unsure::Unknown => "what it returns isn't known well enough",
            Unsure::Rust => "Rust doesn't say how it returns such a value",
            Unsure::Complex => "complex numbers of long doubles can't be had",
            Unsure::Wide => "vectors of more than 16 bytes can't be had",
        }
    }

    /// The reason why an argument can't be passed.
    pub(crate) fn of_argument(self) -> &'static str {
        match self {
            Unsure::Unknown => "its type isn't known well enough to be passed",
            Unsure::Rust => "Rust doesn't say how it passes such a value",
            Unsure::Complex => "complex numbers of long doubles can't be passed",
            Unsure::Wide => "vectors of more than 16 bytes can't be passed",
        }
    }
}

/// The kind of register for a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A general-purpose register.
    Integer,
    /// A vector register.
    Sse,
}

/// The part of a value in one register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The offset in the value, in bytes.
    pub offset: u64,
    /// The size in bytes: 1 to 8, in a vector register up to 16.
    pub size: u64,
    /// The kind of register.
    pub class: Class,
}

/// A scalar in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scalar {
    offset: u64,
    size: u64,
    class: Class,
}

/// The scalars of a type.
#[derive(Debug, Default)]
struct Scalars {
    all: Vec<Scalar>,
    has_arrays: bool,
    /// Whether there is a floating-point number of neither 4 nor 8 bytes.
    has_wide: bool,
}

/// One part of the size of an address, in a general-purpose register.
pub(crate) fn one_word(machine: Machine) -> Passing {
    let size = machine.address_size();
    Passing::Parts {
        size,
        parts: vec![Part {
            offset: 0,
            size,
            class: Class::Integer,
        }],
    }
}

/// How values of a type are passed and returned.
///
/// # Errors
/// Why it is unknown.
pub(crate) fn passing(
    module: &LoadedModule,
    type_id: TypeId,
    language: Language,
) -> Result<Passing, Unsure> {
    let unknown = || Unsure::Unknown;
    let Ok(stripped) = module.module.strip_aliases(type_id) else {
        return Err(unknown());
    };
    let Some(type_) = stripped else {
        return Ok(Passing::Nothing { size: None });
    };
    let is_rust = language == Language::Rust;
    let machine = module.module.machine();
    let word = machine.address_size();
    let size = match (type_.size, &type_.kind) {
        (_, TypeKind::Unspecified) if type_.name.contains("nullptr") => word,
        (_, TypeKind::Unspecified) => return Ok(Passing::Nothing { size: None }),
        (Some(0), _) if is_rust => return Ok(Passing::Nothing { size: None }),
        (Some(size), _) => size,
        (None, TypeKind::Pointer(..)) => word,
        (None, _) => return Err(unknown()),
    };
    if machine != Machine::X86_64 && !is_rust {
        if language == Language::Cpp && module.module.is_passed_by_reference(type_.id) {
            return Ok(Passing::Address);
        }
        let mut scalars = Scalars::default();
        let is_known = scalars_of(module, &type_, 0, DEEPEST, &mut scalars);
        return linked::passing(machine, &type_, size, &scalars, is_known);
    }
    let whole_vector = || Passing::Parts {
        size,
        parts: vec![Part {
            offset: 0,
            size,
            class: Class::Sse,
        }],
    };
    match &type_.kind {
        TypeKind::Base(Encoding::Float) if size == 16 => return Ok(Passing::Extended),
        TypeKind::Base(Encoding::Quad) => return Ok(whole_vector()),
        TypeKind::Base(Encoding::ComplexFloat) if size > IN_REGISTERS => {
            return Err(Unsure::Complex);
        }
        // Functions don't return arrays, so this is a vector.
        TypeKind::Array { .. } if !is_rust && size <= IN_REGISTERS => return Ok(whole_vector()),
        TypeKind::Array { .. } if !is_rust => {
            return Err(Unsure::Wide);
        }
        _ => {}
    }
    if language == Language::Cpp && module.module.is_passed_by_reference(type_.id) {
        return Ok(Passing::Address);
    }
    let mut scalars = Scalars::default();
    let is_known = scalars_of(module, &type_, 0, DEEPEST, &mut scalars);
    if is_rust {
        return by_scalars(word, size, is_known, scalars);
    }
    if size > IN_REGISTERS {
        return Ok(Passing::Memory);
    }
    if !is_known {
        // Values with unaligned members are in memory.
        let is_extended = size == 16 && scalars.has_wide && scalars.all.is_empty();
        return match language {
            Language::C | Language::Cpp if is_extended && is_one_extended(module, &type_) => {
                Ok(Passing::Extended)
            }
            Language::C | Language::Cpp => Ok(Passing::Memory),
            _ => Err(unknown()),
        };
    }
    if scalars.all.is_empty() {
        return Ok(Passing::Nothing { size: Some(size) });
    }
    Ok(by_eightbytes(size, &scalars.all))
}

/// The alignment of values of a type on the stack in bytes: 16 if they contain something with that alignment, else 8.
pub(crate) fn alignment(module: &LoadedModule, type_id: TypeId) -> u64 {
    let has_wide = |id, visits: &mut usize| has_wide(module, id, DEEPEST, visits);
    match has_wide(type_id, &mut 0) {
        true => 16,
        false => 8,
    }
}

fn has_wide(module: &LoadedModule, type_id: TypeId, depth: usize, visits: &mut usize) -> bool {
    *visits += 1;
    let Some(type_) = module.module.strip_aliases(type_id).ok().flatten() else {
        return false;
    };
    if depth == 0 || *visits > MOST_VISITS {
        return false;
    }
    match &type_.kind {
        TypeKind::Base(_) => type_.size == Some(16),
        TypeKind::Array { element, .. } => has_wide(module, *element, depth - 1, visits),
        TypeKind::Aggregate(aggregate) => aggregate
            .members
            .iter()
            .any(|member| has_wide(module, member.type_id, depth - 1, visits)),
        _ => false,
    }
}

/// Whether a class has a `long double` as its only member.
fn is_one_extended(module: &LoadedModule, type_: &Type) -> bool {
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return false;
    };
    let [only] = &aggregate.members[..] else {
        return false;
    };
    let inner = module.module.strip_aliases(only.type_id).ok().flatten();
    inner.is_some_and(|inner| {
        matches!(inner.kind, TypeKind::Base(Encoding::Float)) && inner.size == Some(16)
    })
}

/// Passing in registers, one for each eight bytes of the value: a vector register if these contain only floats, else a general one.
fn by_eightbytes(size: u64, scalars: &[Scalar]) -> Passing {
    let mut parts = Vec::new();
    for start in (0..size).step_by(8) {
        let inside = |s: &&Scalar| s.offset < start + 8 && s.offset + s.size > start;
        let mut there = scalars.iter().filter(inside).peekable();
        if there.peek().is_none() {
            // Only padding: no register is used.
            continue;
        }
        let class = match there.any(|s| s.class == Class::Integer) {
            true => Class::Integer,
            false => Class::Sse,
        };
        parts.push(Part {
            offset: start,
            size: (size - start).min(8),
            class,
        });
    }
    Passing::Parts { size, parts }
}

/// One or two Rust scalars are passed in registers: one register each, two for a scalar of 16 bytes. Other values are passed in one
/// register, or by address, or it is unknown how.
fn by_scalars(word: u64, size: u64, is_known: bool, scalars: Scalars) -> Result<Passing, Unsure> {
    let mut all = scalars.all;
    all.sort_by_key(|s| (s.offset, s.size));
    all.dedup();
    let overlap = all
        .windows(2)
        .any(|w| w[0].offset + w[0].size > w[1].offset);
    let is_scalars = is_known && !overlap && !scalars.has_arrays && all.len() <= 2;
    if size > 2 * word {
        return match is_scalars {
            // On machines with words of 4 bytes, these are long.
            true if word == 4 => Err(Unsure::Rust),
            // One of the scalars has 16 bytes. Versions of rustc pass such values differently.
            true => Err(Unsure::Rust),
            false => Ok(Passing::Address),
        };
    }
    if !is_known {
        return Err(Unsure::Unknown);
    }
    if is_scalars {
        let mut parts = Vec::new();
        for scalar in all {
            for at in (0..scalar.size).step_by(8) {
                parts.push(Part {
                    offset: scalar.offset + at,
                    size: (scalar.size - at).min(8),
                    class: scalar.class,
                });
            }
        }
        return Ok(Passing::Parts { size, parts });
    }
    match size {
        _ if size <= word => Ok(Passing::Parts {
            size,
            parts: vec![Part {
                offset: 0,
                size,
                class: Class::Integer,
            }],
        }),
        _ => Err(Unsure::Rust),
    }
}

/// Appends the scalars of a type at an offset. `false`: one of them is unaligned or unknown.
fn scalars_of(
    module: &LoadedModule,
    type_: &Type,
    offset: u64,
    depth: usize,
    found: &mut Scalars,
) -> bool {
    if depth == 0 || found.all.len() > MOST_SCALARS {
        return false;
    }
    let word = module.module.machine().address_size();
    let size = type_.size.unwrap_or(word);
    let mut scalar = |class, size: u64, parts: u64| {
        for part in 0..parts {
            found.all.push(Scalar {
                offset: offset + part * size,
                size,
                class,
            });
        }
        size > 0 && offset.is_multiple_of(size.min(16))
    };
    match &type_.kind {
        TypeKind::Base(Encoding::Float) if size <= 8 => scalar(Class::Sse, size, 1),
        TypeKind::Base(Encoding::ComplexFloat) if size <= 16 => scalar(Class::Sse, size / 2, 2),
        TypeKind::Base(Encoding::Float | Encoding::Quad | Encoding::ComplexFloat) => {
            // A `long double`, or a wide vector's element.
            found.has_wide = true;
            false
        }
        TypeKind::Base(_) | TypeKind::Enumeration { .. } => scalar(Class::Integer, size, 1),
        TypeKind::Pointer(..) => scalar(Class::Integer, word, 1),
        TypeKind::MemberPointer { .. } => scalar(Class::Integer, word, size / word),
        TypeKind::Array {
            element,
            dimensions,
        } => {
            found.has_arrays = true;
            let Ok(Some(element)) = module.module.strip_aliases(*element) else {
                return false;
            };
            let count: Option<u64> = dimensions
                .iter()
                .try_fold(1_u64, |all, n| all.checked_mul((*n)?));
            let (Some(count), Some(each)) = (count, element.size) else {
                return false;
            };
            count <= IN_REGISTERS
                && (0..count).all(|index| {
                    scalars_of(module, &element, offset + index * each, depth - 1, found)
                })
        }
        TypeKind::Aggregate(aggregate) => members(module, aggregate, offset, depth, found),
        _ => false,
    }
}

fn members(
    module: &LoadedModule,
    aggregate: &Aggregate,
    offset: u64,
    depth: usize,
    found: &mut Scalars,
) -> bool {
    if aggregate.declaration {
        return false;
    }
    let payloads = aggregate.variants.iter().flat_map(|part| {
        let discriminant = part.discriminant.iter();
        discriminant.chain(part.variants.iter().map(|variant| &variant.member))
    });
    for member in aggregate.members.iter().chain(payloads) {
        if member.virtual_base {
            return false;
        }
        let Ok(Some(type_)) = module.module.strip_aliases(member.type_id) else {
            return false;
        };
        if member.bits.is_some() {
            found.all.push(Scalar {
                offset: offset + member.offset,
                size: 1,
                class: Class::Integer,
            });
            continue;
        }
        if type_.size == Some(0) {
            continue;
        }
        if !scalars_of(module, &type_, offset + member.offset, depth - 1, found) {
            return false;
        }
    }
    true
}
