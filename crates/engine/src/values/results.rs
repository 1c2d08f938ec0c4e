//! What a function has returned, from the registers right after.
//!
//! For C and C++ the platform says where that is (System V ABI for x86-64, §3.2.3; Itanium C++ ABI, §3.1.4). Rust doesn't say; in
//! practice one or two scalars come in registers, and what is larger than two by a pointer. What isn't sure has its reason.

use super::{Contents, NamedValue, Value};
use crate::Address;
use crate::modules::LoadedModule;
use crate::registers::Registers;
use dapple_symbols::functions::{Function, Language};
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{Aggregate, Encoding, Type, TypeId, TypeKind};
use std::sync::Arc;

/// The DWARF numbers of rax and rdx.
const RAX: u16 = 0;
const RDX: u16 = 1;
/// Larger values are in memory, in bytes.
const IN_REGISTERS: u64 = 16;
/// How deep types are looked into.
const DEEPEST: usize = 32;
/// How many scalars a small value is looked through for.
const MOST_SCALARS: usize = 64;
/// What compilers call a function that they have changed the interface of.
const CHANGED: [&str; 3] = [".isra.", ".part.", ".specialized."];

/// The registers that results come in.
#[derive(Debug, Clone)]
pub struct ResultRegisters {
    /// The general ones.
    pub general: Registers,
    /// `xmm0` and `xmm1`.
    pub vectors: Option<[u128; 2]>,
    /// `st0`, ten bytes.
    pub x87: Option<[u8; 10]>,
}

/// Where a scalar of a value is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Integer,
    Sse,
}

/// A part of a value that is not made of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scalar {
    offset: u64,
    size: u64,
    class: Class,
}

/// What a function has returned; `None` where it returns nothing.
pub fn returned(
    module: &Arc<LoadedModule>,
    function: &Function,
    registers: &ResultRegisters,
) -> Option<NamedValue> {
    let result = module.module.result_of(function.id)?;
    let type_id = result.type_id?;
    let symbol = module.module.symbol_at(function.entry);
    let changed = symbol.is_some_and(|s| CHANGED.iter().any(|mark| s.name.contains(mark)));
    let contents = match result.unconventional || changed {
        true => Err("the compiler has changed how this function returns".to_owned()),
        false => contents(module, type_id, function.language, registers)?,
    };
    let contents =
        contents.unwrap_or_else(|why| Contents::Unavailable(Unavailable::Unsupported(why)));
    let value = Value::new(
        Arc::clone(module),
        Some(type_id),
        function.language,
        contents,
    );
    Some(NamedValue {
        name: format!("{}()", dapple_symbols::names::short_name(&function.name)),
        value,
        expression: None,
        kind: None,
    })
}

/// `None` where there is nothing to return.
fn contents(
    module: &LoadedModule,
    type_id: TypeId,
    language: Language,
    registers: &ResultRegisters,
) -> Option<Result<Contents, String>> {
    let unknown = || Err("what it returns isn't known well enough".to_owned());
    let Ok(stripped) = module.module.strip_aliases(type_id) else {
        return Some(unknown());
    };
    let type_ = stripped?;
    let size = match (type_.size, &type_.kind) {
        (_, TypeKind::Unspecified) => return None,
        (Some(0), _) if language == Language::Rust => return None,
        (Some(size), _) => size,
        (None, TypeKind::Pointer(..)) => 8,
        (None, _) => return Some(unknown()),
    };
    let in_memory = || match registers.general.get(RAX) {
        Some(address) => Ok(Contents::Memory(Address(address))),
        None => Err("its address is lost".to_owned()),
    };
    if let TypeKind::Base(Encoding::Float) = type_.kind
        && size == 16
        && !type_.name.contains("128")
    {
        let bytes = registers.x87.map(|bytes| {
            let mut whole = bytes.to_vec();
            whole.resize(16, 0);
            Contents::Bytes(whole.into())
        });
        return Some(bytes.ok_or_else(|| "the floating-point registers can't be read".to_owned()));
    }
    if let TypeKind::Array { .. } = type_.kind {
        // Functions return no arrays, but vectors.
        if language != Language::Rust && size <= IN_REGISTERS {
            return Some(vector(size, registers));
        }
    }
    if let TypeKind::Base(Encoding::Float) = type_.kind
        && size == 16
    {
        return Some(vector(size, registers));
    }
    let by_reference = language == Language::Cpp && module.module.is_passed_by_reference(type_.id);
    if size > IN_REGISTERS || by_reference {
        return Some(match (language, size > IN_REGISTERS) {
            (Language::C | Language::Cpp | Language::Rust, true) => in_memory(),
            (_, false) => in_memory(),
            _ => unknown(),
        });
    }
    let mut scalars = Vec::new();
    if !scalars_of(module, &type_, 0, DEEPEST, &mut scalars) {
        return Some(match language {
            // What isn't aligned is in memory.
            Language::C | Language::Cpp => in_memory(),
            _ => unknown(),
        });
    }
    if scalars.is_empty() {
        // An empty class.
        return Some(Ok(Contents::Bytes(vec![0; size as usize].into())));
    }
    Some(match language {
        Language::Rust => by_scalars(size, scalars, registers),
        _ => by_eightbytes(size, &scalars, registers),
    })
}

fn vector(size: u64, registers: &ResultRegisters) -> Result<Contents, String> {
    let [low, _] = registers
        .vectors
        .ok_or_else(|| "the vector registers can't be read".to_owned())?;
    let bytes = low.to_le_bytes();
    Ok(Contents::Bytes(bytes[..size.min(16) as usize].into()))
}

/// Takes registers of each class in turn.
struct Supply<'a> {
    registers: &'a ResultRegisters,
    integers: usize,
    vectors: usize,
}

impl Supply<'_> {
    fn next(&mut self, class: Class) -> Result<[u8; 8], String> {
        match class {
            Class::Integer => {
                let register = [RAX, RDX].get(self.integers).copied();
                self.integers += 1;
                register
                    .and_then(|register| self.registers.general.get(register))
                    .map(u64::to_le_bytes)
                    .ok_or_else(|| "a register that it is in is lost".to_owned())
            }
            Class::Sse => {
                let vector = self
                    .registers
                    .vectors
                    .and_then(|v| v.get(self.vectors).copied());
                self.vectors += 1;
                vector
                    .map(|vector| (vector as u64).to_le_bytes())
                    .ok_or_else(|| "the vector registers can't be read".to_owned())
            }
        }
    }
}

/// Each eight bytes come in a register: a vector one if there are only floats in them.
fn by_eightbytes(
    size: u64,
    scalars: &[Scalar],
    registers: &ResultRegisters,
) -> Result<Contents, String> {
    let mut supply = Supply {
        registers,
        integers: 0,
        vectors: 0,
    };
    let mut bytes = Vec::new();
    for start in (0..size).step_by(8) {
        let inside = |s: &&Scalar| s.offset < start + 8 && s.offset + s.size > start;
        let mut there = scalars.iter().filter(inside).peekable();
        if there.peek().is_none() {
            // Only padding: no register is used.
            bytes.extend([0; 8]);
            continue;
        }
        let class = match there.any(|s| s.class == Class::Integer) {
            true => Class::Integer,
            false => Class::Sse,
        };
        bytes.extend(supply.next(class)?);
    }
    bytes.truncate(size as usize);
    Ok(Contents::Bytes(bytes.into()))
}

/// Rust's one or two scalars come each in a register.
fn by_scalars(
    size: u64,
    mut scalars: Vec<Scalar>,
    registers: &ResultRegisters,
) -> Result<Contents, String> {
    scalars.sort_by_key(|s| (s.offset, s.size));
    scalars.dedup();
    let overlap = scalars
        .windows(2)
        .any(|w| w[0].offset + w[0].size > w[1].offset);
    let wide = scalars.len() == 1 && scalars[0].size == 16;
    if overlap || scalars.len() > 2 {
        return Err("Rust doesn't say how it returns such a value".to_owned());
    }
    let mut supply = Supply {
        registers,
        integers: 0,
        vectors: 0,
    };
    let mut bytes = vec![0; size as usize];
    for scalar in &scalars {
        let mut value = supply.next(scalar.class)?.to_vec();
        if wide {
            value.extend(supply.next(scalar.class)?);
        }
        let at = scalar.offset as usize;
        let there = bytes.get_mut(at..at + scalar.size as usize);
        let (Some(there), Some(value)) = (there, value.get(..scalar.size as usize)) else {
            return Err("what it returns isn't known well enough".to_owned());
        };
        there.copy_from_slice(value);
    }
    Ok(Contents::Bytes(bytes.into()))
}

/// Appends the scalars of a type at an offset. False: something is not aligned, or not known.
fn scalars_of(
    module: &LoadedModule,
    type_: &Type,
    offset: u64,
    depth: usize,
    found: &mut Vec<Scalar>,
) -> bool {
    if depth == 0 || found.len() > MOST_SCALARS {
        return false;
    }
    let size = type_.size.unwrap_or(8);
    let mut scalar = |class, size: u64, parts: u64| {
        for part in 0..parts {
            found.push(Scalar {
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
        // A `long double`, or a wide vector's.
        TypeKind::Base(Encoding::Float | Encoding::ComplexFloat) => false,
        TypeKind::Base(_) | TypeKind::Enumeration { .. } => scalar(Class::Integer, size, 1),
        TypeKind::Pointer(..) => scalar(Class::Integer, 8, 1),
        TypeKind::MemberPointer { .. } => scalar(Class::Integer, 8, size / 8),
        TypeKind::Array {
            element,
            dimensions,
        } => {
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
    found: &mut Vec<Scalar>,
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
            found.push(Scalar {
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
