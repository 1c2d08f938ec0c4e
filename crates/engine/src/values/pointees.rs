//! What a plain pointer points to, behind its address.
//!
//! Only of a pointer that is shown on its own: inside another value's summary there are addresses alone, so that lists and rings
//! have an end.

use super::render::Told;
use super::view::Resolved;
use super::{Reader, Value};
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeKind;

impl Reader<'_> {
    /// How the target of a plain pointer is shown; `None`: not at all. `note` is what is known of it, as a text.
    pub(super) fn pointee(&self, target: &Value, note: Option<&str>, depth: usize) -> Option<Told> {
        if !self.has_pointees || depth > 0 {
            return None;
        }
        let Resolved { type_, .. } = self.resolve(target)?;
        let told = match &type_.kind {
            // Only declared, or a stand-in for that: `c_void`.
            TypeKind::Aggregate(aggregate) if aggregate.declaration => return None,
            TypeKind::Enumeration { .. } if &*type_.name == "core::ffi::c_void" => return None,
            // Its line begins with what is known of it, its dynamic type.
            TypeKind::Aggregate(_) => Told::Alone,
            TypeKind::Function { .. } => return None,
            _ if note.is_some() => return None,
            _ => Told::Besides,
        };
        let is_nothing = type_.language == Language::Rust && type_.size == Some(0);
        if is_nothing {
            return None;
        }
        Some(match self.is_readable_value(target) {
            true => told,
            false => Told::Unreadable,
        })
    }
}
