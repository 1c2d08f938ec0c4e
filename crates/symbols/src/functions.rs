//! Functions and inlined calls: DWARF 5 §3.3.

use crate::{FileAddress, Module};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The source language of a unit (`DW_AT_language`), as far as presentation and expressions care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Any C.
    C,
    /// Any C++.
    Cpp,
    /// Rust.
    Rust,
    /// Anything else, assembler among it.
    Other,
}

/// Identifies a concrete function in its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FunctionId {
    pub(crate) unit: u32,
    pub(crate) offset: usize,
}

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePosition {
    /// The file, absolute.
    pub file: Arc<Path>,
    /// 1-based; 0: unknown.
    pub line: u32,
    /// 1-based; 0: unknown.
    pub column: u32,
}

/// A function with code of its own.
#[derive(Debug, Clone)]
pub struct Function {
    /// Identifies it in the module.
    pub id: FunctionId,
    /// What people call it, with its namespace: `tour::area`, `ns::Shape::area`.
    pub name: String,
    /// The linker's (mangled) name.
    pub linkage_name: Option<String>,
    /// Its code, entry's range first.
    pub ranges: Vec<Range<FileAddress>>,
    /// Where a call enters.
    pub entry: FileAddress,
    /// Where it is declared.
    pub declaration: Option<SourcePosition>,
    /// Its unit's language.
    pub language: Language,
}

/// A call whose callee's code stands in the caller's.
#[derive(Debug, Clone)]
pub struct InlinedCall {
    /// The callee's name, as in [`Function::name`].
    pub name: String,
    /// The callee's code here.
    pub ranges: Vec<Range<FileAddress>>,
    /// Where the call is written, in the caller.
    pub call_site: Option<SourcePosition>,
}

impl Module {
    /// The function whose code covers `address`, from DWARF. Symbol-table functions: [`Module::symbol_at`].
    pub fn function_at(&self, address: FileAddress) -> Option<Arc<Function>> {
        let _ = address;
        unimplemented!()
    }
    /// The inlined calls that cover `address`, outermost first.
    pub fn inlined_at(&self, address: FileAddress) -> Vec<InlinedCall> {
        let _ = address;
        unimplemented!()
    }
    /// The inlined calls whose code starts inside `range` of the function, at any depth.
    pub fn inlined_in(&self, range: Range<FileAddress>) -> Vec<InlinedCall> {
        let _ = range;
        unimplemented!()
    }
    /// Functions whose name is `name` or ends with `::name`, generic arguments ignored where `name` has none.
    /// Searches all units.
    pub fn functions_named(&self, name: &str) -> Vec<Arc<Function>> {
        let _ = name;
        unimplemented!()
    }
    /// The language of the unit that covers `address`.
    pub fn language_at(&self, address: FileAddress) -> Language {
        let _ = address;
        unimplemented!()
    }
}
