//! Everything that inspects a stopped program, live or in a core dump: modules, stacks, variables, expressions, exceptions, code.
//!
//! The crate is given memory, registers and modules, and never resumes the program. Where an expression calls a function, the evaluator
//! returns the call that has to be made ([`calls`]) and continues with the result.
//!
//! [`values`], [`eval`] and [`natvis`] depend on each other: an expression has a value, a natvis presentation shows a value's children by
//! expressions, and expressions read values again. [`exceptions`] and [`calls`] belong to the same layer: an exception's object is a
//! value and `$exception` an expression; an argument is passed according to the layout of its type. Below them are [`modules`], then
//! [`frame`] and [`unwind`].

pub mod calls;
pub mod disassembly;
pub mod eval;
pub mod exceptions;
mod faults;
pub mod frame;
mod heap;
pub mod inspect;
pub mod live;
pub mod locks;
pub mod modules;
pub mod natvis;
pub mod own_ids;
mod pages;
pub mod tasks;
pub mod unwind;
pub mod values;

pub use dapple_arch::{Address, Memory};
pub use dapple_target::{Error, ThreadId};
