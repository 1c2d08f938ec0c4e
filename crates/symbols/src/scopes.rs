//! Lexical scopes and the variables in them: DWARF 5 §3.5, §4.1.

use crate::functions::SourcePosition;
use crate::types::TypeId;
use crate::{FileAddress, Module};

/// What a variable is to the reader of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableKind {
    /// A formal parameter.
    Parameter,
    /// A local.
    Local,
    /// A static or global.
    Static,
}

/// A variable in scope. Where its value is depends on the address: [`Module::locate`].
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name; statics: with the namespace.
    pub name: String,
    /// Its type; `None` when the debug information lacks it.
    pub type_id: Option<TypeId>,
    /// What it is.
    pub kind: VariableKind,
    /// Where it is declared.
    pub declaration: Option<SourcePosition>,
    /// Nesting of its lexical block in its function: 0 for the function's own.
    pub depth: u32,
    /// The compiler's own, such as C++ `this` and Rust's closure environment.
    pub artificial: bool,
    pub(crate) unit: u32,
    pub(crate) offset: usize,
    /// For inlined and concrete instances: the instance's DIE holds the location.
    pub(crate) function: Option<crate::functions::FunctionId>,
}

impl Module {
    /// Parameters and locals visible at `address`, outer blocks first, in declaration order: of the function itself
    /// (`inline_depth` 0), or of the n-th inlined call from outside that covers the address (`inline_depth` n).
    /// Locals declared after the row's line in the same block are left out.
    pub fn variables_at(&self, address: FileAddress, inline_depth: usize) -> Vec<Variable> {
        let _ = (address, inline_depth);
        unimplemented!()
    }
    /// The statics and globals of the unit that covers `address`.
    pub fn statics_at(&self, address: FileAddress) -> Vec<Variable> {
        let _ = address;
        unimplemented!()
    }
    /// The statics named `name` or ending in `::name`, in any unit.
    pub fn statics_named(&self, name: &str) -> Vec<Variable> {
        let _ = name;
        unimplemented!()
    }
}
