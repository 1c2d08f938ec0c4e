//! What a plain pointer points to, behind its address; and that what it or an owner leads to has been freed.
//!
//! The pointee is shown only of a pointer that is shown on its own: inside another value's summary there are addresses alone, so that lists and rings
//! have an end.

use super::render::Told;
use super::view::{Resolved, SHORT, View};
use super::{Reader, Value};
use crate::heap::Around;
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeKind;

/// In place of what is in memory that the program has given back.
pub(super) const FREED: &str = "<freed>";

impl Reader<'_> {
    /// Whether an address is in memory that the program has given back.
    pub(crate) fn is_freed(&self, address: u64) -> bool {
        let Some(live) = self.live.filter(|_| self.looks_at_heap && address != 0) else {
            return false;
        };
        let around = Around {
            memory: self.memory,
            modules: self.modules,
            live,
        };
        self.known.heap().is_freed(address, around)
    }

    /// Whether a value stands for something that lies elsewhere: a pointer, a reference, an owner.
    pub(crate) fn leads_elsewhere(&self, value: &Value) -> bool {
        matches!(
            self.view(value, SHORT),
            View::Pointer { .. } | View::Alias(_)
        )
    }

    /// All bytes of a value, where its size is known and they can be read.
    pub(crate) fn all_bytes(&self, value: &Value) -> Option<Vec<u8>> {
        self.bytes(&value.contents, self.size_of(value)?).ok()
    }

    /// Whether a value is in such memory.
    pub(super) fn is_in_freed(&self, value: &Value) -> bool {
        let address = value.contents.address();
        address.is_some_and(|address| self.is_freed(address.0))
    }

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
