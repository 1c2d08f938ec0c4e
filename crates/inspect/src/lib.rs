//! All that only looks at a program that stands still, live or in a core file: modules, stacks, variables, expressions, exceptions, code.
//!
//! It is given memory, registers and modules, and never makes the program run. Where an expression wants a function called, it says what
//! is to be called with what ([`calls`]), and goes on with the result that it is given.
//!
//! [`values`], [`eval`] and [`natvis`] are one subject and need each other: an expression has a value, a presentation shows a value's
//! children by expressions, and those are read from values again. [`exceptions`] and [`calls`] belong to it: an exception's object is a value
//! and `$exception` an expression; an argument is passed as its type is laid out. Below them are [`modules`], then [`frame`] and [`unwind`].

pub mod calls;
pub mod disassembly;
pub mod eval;
pub mod exceptions;
mod faults;
pub mod frame;
mod heap;
pub mod inspect;
pub mod live;
pub mod modules;
pub mod natvis;
mod pages;
pub mod unwind;
pub mod values;

pub use dapple_arch::{Address, Memory};
pub use dapple_target::{Error, ThreadId};
