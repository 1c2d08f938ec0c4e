//! The target of a plain pointer, shown after its address; and marks for freed memory.
//!
//! Targets are shown only for a pointer that is shown on its own. Inside another value's summary pointers are just addresses, so that
//! linked lists and cycles end.

use super::render::TargetText;
use super::view::{Resolved, SHORT, View};
use super::{Reader, Value};
use crate::heap::Around;
use dapple_symbols::functions::Language;
use dapple_symbols::types::TypeKind;

/// Shown instead of a value in freed memory.
pub(super) const FREED: &str = "<freed>";

impl Reader<'_> {
    /// Whether an address is in freed memory. `false` if that is unknown, or if this reader doesn't look at the heap.
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

    /// Whether a value leads to another value that is shown in its place or after it: a pointer, a reference, an owner, a wrapper such as
    /// `optional`.
    pub(crate) fn leads_elsewhere(&self, value: &Value) -> bool {
        matches!(
            self.view(value, SHORT),
            View::Pointer { .. } | View::Alias(_)
        )
    }

    /// All bytes of a value, if its size is known and they are readable.
    pub(crate) fn all_bytes(&self, value: &Value) -> Option<Vec<u8>> {
        self.bytes(&value.contents, self.size_of(value)?).ok()
    }

    /// Whether a value is in freed memory.
    pub(super) fn is_in_freed(&self, value: &Value) -> bool {
        let address = value.contents.address();
        address.is_some_and(|address| self.is_freed(address.0))
    }

    /// How the target of a plain pointer is shown. `None`: not at all. `note` is the text about the target that the pointer has.
    pub(super) fn pointee(
        &self,
        target: &Value,
        note: Option<&str>,
        depth: usize,
    ) -> Option<TargetText> {
        if !self.has_pointees || depth > 0 {
            return None;
        }
        let Resolved { type_, .. } = self.resolve(target)?;
        let target_text = match &type_.kind {
            // An incomplete type, or Rust's stand-in for one: `c_void`.
            TypeKind::Aggregate(aggregate) if aggregate.declaration => return None,
            TypeKind::Enumeration { .. } if &*type_.name == "core::ffi::c_void" => return None,
            // The target's own text begins with its dynamic type, so the note would repeat it.
            TypeKind::Aggregate(_) => TargetText::Alone,
            TypeKind::Function { .. } => return None,
            _ if note.is_some() => return None,
            _ => TargetText::Besides,
        };
        let is_nothing = type_.language == Language::Rust && type_.size == Some(0);
        if is_nothing {
            return None;
        }
        Some(match self.is_readable_value(target) {
            true => target_text,
            false => TargetText::Unreadable,
        })
    }
}
