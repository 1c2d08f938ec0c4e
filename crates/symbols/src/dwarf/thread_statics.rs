//! The storage of Rust's `thread_local!`. `NAME` itself is a constant; the values are in a static inside the library's
//! macro, `NAME::{constant#0}::{closure#1}::__RUST_STD_INTERNAL_VAL`. Here that static gets the name in the source.
//!
//! The macro makes two such statics and uses one of them. The linker discards the other and leaves 0 as its offset in the
//! thread-local storage, where another variable may be. Only the symbol table shows which variable really is at offset 0.

use crate::dwarf::entries::Chain;
use crate::dwarf::functions::Language;
use crate::dwarf::{Dwarf, Reader, Unit};
use crate::symbols::SymbolTable;
use gimli::{Expression, constants as dw};
use rustc_hash::FxHashSet;

/// The base name of the storage statics.
pub(crate) const STORAGE: &[u8] = b"__RUST_STD_INTERNAL_VAL";

/// The name in the source, if `name` is that of a storage static.
pub(crate) fn written_name(name: &str) -> Option<&str> {
    let name = name.strip_suffix("::__RUST_STD_INTERNAL_VAL")?;
    let (name, closure) = name.rsplit_once("::")?;
    let (name, constant) = name.rsplit_once("::")?;
    let is_one = closure.starts_with("{closure#") && constant.starts_with("{constant#");
    is_one.then_some(name)
}

/// Whether an operation converts an offset in the thread-local storage to an address.
pub(crate) fn is_thread_local(operation: dw::DwOp) -> bool {
    matches!(
        operation,
        dw::DW_OP_form_tls_address | dw::DW_OP_GNU_push_tls_address
    )
}

impl<'a> Dwarf<'a> {
    /// Whether a variable's location is offset 0 of the thread-local storage, but the symbol table has no such variable:
    /// the linker has discarded it.
    pub(crate) fn is_dropped_thread_local(
        &self,
        chain: &Chain<'_, 'a>,
        unit: &Unit<'a>,
        expression: Expression<Reader<'a>>,
    ) -> bool {
        // Check the last operation first, because this is called often and most variables are not thread-local.
        let last = expression.0.slice().last();
        if !last.is_some_and(|&last| is_thread_local(dw::DwOp(last))) {
            return false;
        }
        let mut operations = expression.operations(unit.dw().encoding());
        let is_zero = matches!(
            operations.next(),
            Ok(Some(gimli::Operation::UnsignedConstant { value: 0 }))
        ) && matches!(operations.next(), Ok(Some(gimli::Operation::TLS)));
        if !is_zero || unit.language() != Language::Rust {
            return false;
        }
        let names = self.thread_locals.get_or_init(|| {
            let mut names = FxHashSet::default();
            SymbolTable::new(self.files).each_thread_local(|_, name, _| {
                names.insert(name);
            });
            names
        });
        let linkage = self.chain_text(chain, dw::DW_AT_linkage_name);
        // No names at all mean that the symbol table is stripped.
        linkage.is_some_and(|name| !names.is_empty() && !names.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::written_name;

    #[test]
    fn the_written_name_is_in_front_of_what_the_macro_makes() {
        let made = "app::TL::{constant#0}::{closure#1}::__RUST_STD_INTERNAL_VAL";
        assert_eq!(written_name(made), Some("app::TL"));
        assert_eq!(written_name("app::TL"), None);
        assert_eq!(written_name("app::__RUST_STD_INTERNAL_VAL"), None);
    }
}
