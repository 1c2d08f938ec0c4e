//! All that only looks at a program that stands still, live or in a core file: modules, stacks, variables, expressions, exceptions, code.
//!
//! It is given memory, registers and modules, and never makes the program run. Where an expression wants a function called, it says what
//! is to be called with what ([`calls`]), and goes on with the result that it is given.

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
