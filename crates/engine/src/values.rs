//! Values: a lazy tree over (location, type), and how it is shown.

use crate::Address;
use crate::frame::{Frame, PhysicalFrame};
use crate::memory::Memory;
use crate::modules::{LoadedModule, Modules};
use dapple_symbols::functions::Language;
use dapple_symbols::location::{Piece, Unavailable};
pub use dapple_symbols::scopes::VariableKind;
use dapple_symbols::types::TypeId;
use std::ops::Range;
use std::sync::Arc;

/// A value: its type and where it is. Cloneable, reads nothing until asked.
#[derive(Debug, Clone)]
pub struct Value {
    /// The module its type belongs to.
    pub module: Arc<LoadedModule>,
    /// Its type; `None`: unknown.
    pub type_id: Option<TypeId>,
    /// The language to show it in.
    pub language: Language,
    /// Where it is.
    pub contents: Contents,
}

/// Where a value is.
#[derive(Debug, Clone)]
pub enum Contents {
    /// In memory.
    Memory(Address),
    /// In pieces: registers of a frame, memory, constants.
    Pieces(Arc<[Piece]>, Arc<PhysicalFrame>),
    /// Computed: its bytes.
    Bytes(Arc<[u8]>),
    /// Not to be had.
    Unavailable(Unavailable),
}

/// A value with the name it has in its parent or scope.
#[derive(Debug, Clone)]
pub struct NamedValue {
    /// `name`, `[3]`, `*`, `0`.
    pub name: String,
    /// The value.
    pub value: Value,
    /// An expression that gives it again in the same frame, where there's one.
    pub expression: Option<String>,
    /// What kind of variable it is, for variables.
    pub kind: Option<VariableKind>,
}

/// A value made readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The value in one line: `42`, `"text"`, `Point { x: 1, y: 2 }`, `len = 3 [1, 2, 3]`, or the reason why there's none in angle brackets.
    pub text: String,
    /// The type as people write it; empty when unknown.
    pub type_name: String,
    /// How many named children it has (fields, a pointee).
    pub named: u64,
    /// How many indexed children it has (elements).
    pub indexed: u64,
    /// The address to look at in a memory view: the pointee's of a pointer-like value, else its own.
    pub memory: Option<Address>,
}

/// What reading values needs.
pub struct Reader<'a> {
    /// The debuggee's memory.
    pub memory: &'a dyn Memory,
    /// Its modules.
    pub modules: &'a Modules,
}

impl Reader<'_> {
    /// Shows a value. Bounded in time and size whatever the memory holds.
    pub fn render(&self, value: &Value) -> Rendered {
        let _ = value;
        unimplemented!()
    }

    /// Children by position: named first (0..named), then indexed (named..named+indexed). Clamped to what exists.
    /// `expression` is the parent's, from which the children's are made.
    pub fn children(
        &self,
        value: &Value,
        expression: Option<&str>,
        range: Range<u64>,
    ) -> Vec<NamedValue> {
        let _ = (value, expression, range);
        unimplemented!()
    }

    /// Parameters and locals visible in the frame, in declaration order; a shadowed one is followed by the one that shadows it.
    pub fn variables(&self, frame: &Frame) -> Vec<NamedValue> {
        let _ = frame;
        unimplemented!()
    }

    /// Statics of the frame's unit.
    pub fn statics(&self, frame: &Frame) -> Vec<NamedValue> {
        let _ = frame;
        unimplemented!()
    }

    /// General registers of the frame, as values.
    pub fn registers(&self, frame: &Frame) -> Vec<(String, String)> {
        let _ = frame;
        unimplemented!()
    }
}
