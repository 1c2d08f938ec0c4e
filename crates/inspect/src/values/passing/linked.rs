//! Calling conventions of C and C++ on aarch64 (Procedure Call Standard for the Arm 64-bit Architecture, §6.8), riscv64 (RISC-V ABIs
//! Specification, "Hardware Floating-point Calling Convention", with numbers of 64 bits in registers), and arm (Procedure Call Standard for the Arm
//! Architecture, §5.4, with the variant of §6.1.2 for floating-point numbers in registers).

use super::{Class, IN_REGISTERS, Part, Passing, Scalar, Scalars, Unsure};
use dapple_arch::Machine;
use dapple_symbols::types::{Encoding, Type, TypeKind};

/// The most members of a value that is passed in vector registers, one for each (aarch64).
const MOST_ALIKE: usize = 4;

/// How values of a type of `size` bytes are passed and returned. `scalars`: what it is made of; `is_known`: that is all.
pub(super) fn passing(
    machine: Machine,
    type_: &Type,
    size: u64,
    scalars: &Scalars,
    is_known: bool,
) -> Result<Passing, Unsure> {
    let one = |class| Passing::Parts {
        size,
        parts: vec![Part {
            offset: 0,
            size,
            class,
        }],
    };
    match (&type_.kind, machine) {
        (TypeKind::Base(Encoding::Quad), Machine::Aarch64) => return Ok(one(Class::Sse)),
        (TypeKind::Base(Encoding::Quad), _) => return Ok(words(size)),
        (TypeKind::Base(Encoding::ComplexFloat), _) if size > IN_REGISTERS => {
            return Err(Unsure::Complex);
        }
        // Functions don't return arrays, so this is a vector.
        (TypeKind::Array { .. }, Machine::Aarch64 | Machine::Arm) if size <= IN_REGISTERS => {
            return Ok(one(Class::Sse));
        }
        (TypeKind::Array { .. }, _) if size <= IN_REGISTERS => return Ok(words(size)),
        (TypeKind::Array { .. }, _) => return Err(Unsure::Wide),
        _ => {}
    }
    let all = &scalars.all;
    if is_known && !all.is_empty() {
        let in_floats = match machine {
            Machine::Aarch64 | Machine::Arm => are_alike(size, all),
            _ => are_two(all),
        };
        if in_floats {
            let part = |scalar: &Scalar| Part {
                offset: scalar.offset,
                size: scalar.size,
                class: scalar.class,
            };
            return Ok(Passing::Parts {
                size,
                parts: all.iter().map(part).collect(),
            });
        }
    }
    if scalars.has_wide {
        // A structure of long doubles.
        return Err(Unsure::Unknown);
    }
    match size {
        _ if is_known && all.is_empty() => Ok(Passing::Nothing { size: Some(size) }),
        // A structure is returned in one register. Passed, it is split between the registers that are left and the stack.
        5.. if machine == Machine::Arm && matches!(type_.kind, TypeKind::Aggregate(_)) => {
            Ok(Passing::Memory)
        }
        ..=IN_REGISTERS => Ok(words(size)),
        // In a copy of the caller's.
        _ => Ok(Passing::Address),
    }
}

/// In general registers, eight bytes in each; on arm, in two.
fn words(size: u64) -> Passing {
    let part = |offset: u64| Part {
        offset,
        size: (size - offset).min(8),
        class: Class::Integer,
    };
    Passing::Parts {
        size,
        parts: (0..size).step_by(8).map(part).collect(),
    }
}

/// Whether a value consists of one to four floating-point numbers of one size, and of nothing else.
fn are_alike(size: u64, scalars: &[Scalar]) -> bool {
    let each = scalars.first().map_or(0, |first| first.size);
    let is_next = |(at, scalar): (usize, &Scalar)| {
        scalar.class == Class::Sse && scalar.size == each && scalar.offset == each * at as u64
    };
    scalars.len() <= MOST_ALIKE
        && scalars.iter().enumerate().all(is_next)
        && each * scalars.len() as u64 == size
}

/// Whether a value consists of one floating-point number, of two, or of one and an integer.
fn are_two(scalars: &[Scalar]) -> bool {
    let floats = scalars.iter().filter(|it| it.class == Class::Sse).count();
    let overlaps = |pair: &[Scalar]| pair[0].offset + pair[0].size > pair[1].offset;
    floats > 0
        && scalars.len() <= 2
        && scalars.iter().all(|it| it.size <= 8)
        && !scalars.windows(2).any(overlaps)
}
