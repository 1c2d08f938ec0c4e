//! Call frame information: how to find a caller's registers (DWARF 5 §6.4, `.eh_frame` as in the LSB).

use crate::{Error, FileAddress, Module};
use std::ops::Range;
use std::sync::Arc;

/// DWARF number of the stack pointer on x86-64.
pub const RSP: u16 = 7;
/// DWARF number of the frame pointer on x86-64.
pub const RBP: u16 = 6;
/// DWARF number of the return address column on x86-64: the caller's instruction pointer.
pub const RIP: u16 = 16;

/// How to compute the canonical frame address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CfaRule {
    /// A register plus an offset.
    RegisterOffset(u16, i64),
    /// An expression: [`crate::location::evaluate_cfi`] without an initial value.
    Expression(Arc<[u8]>),
}

/// How to recover one register of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterRule {
    /// It is lost.
    Undefined,
    /// It was not changed.
    SameValue,
    /// Saved at CFA + offset.
    Offset(i64),
    /// It is CFA + offset.
    ValueOffset(i64),
    /// It is in another register.
    Register(u16),
    /// Saved at the address the expression gives with the CFA on its stack.
    Expression(Arc<[u8]>),
    /// What the expression gives with the CFA on its stack.
    ValueExpression(Arc<[u8]>),
}

/// The rules in force at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnwindRules {
    /// The addresses these rules hold for.
    pub range: Range<FileAddress>,
    /// The canonical frame address.
    pub cfa: CfaRule,
    /// Registers by DWARF number; those not named are unchanged (callee-saved) by convention.
    pub registers: Vec<(u16, RegisterRule)>,
    /// The register that holds the return address.
    pub return_address: u16,
    /// A signal trampoline's frame: the caller's address is not a return address.
    pub signal_frame: bool,
}

impl Module {
    /// The rules at `address`; `None` when no entry covers it.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a broken entry.
    pub fn unwind_rules(&self, address: FileAddress) -> Result<Option<Arc<UnwindRules>>, Error> {
        let _ = address;
        unimplemented!()
    }
}
