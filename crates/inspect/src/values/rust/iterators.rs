//! Iterators of the standard library, shown as their remaining items.

use super::tables::EntryPart;
use super::{Flaw, OrUnknownLayout, sequences, tables, text, trees};
use crate::values::view::{Limit, View};
use crate::values::{Reader, Value};
use dapple_symbols::types::Aggregate;

/// The view of an iterator, by the path of its type.
pub(super) fn view(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
    limit: Limit,
) -> Result<View, Flaw> {
    let alias = |name: &str| reader.field(value, name).known().map(View::Alias);
    let (module, name) = path.rsplit_once("::").known()?;
    match (module, name) {
        ("core::slice::iter", "Iter" | "IterMut") => {
            sequences::remaining(reader, value, aggregate, "end_or_len")
        }
        ("alloc::vec::into_iter", "IntoIter") => {
            sequences::remaining(reader, value, aggregate, "end")
        }
        ("core::array::iter", "IntoIter") => sequences::rest_of_array(reader, value),
        ("alloc::vec::drain", "Drain")
        | ("alloc::collections::binary_heap", "Iter" | "IntoIter" | "Drain")
        | ("alloc::string", "IntoChars") => alias("iter"),
        ("alloc::collections::vec_deque::iter", "Iter")
        | ("alloc::collections::vec_deque::iter_mut", "IterMut") => {
            sequences::rest_of_deque(reader, value, limit)
        }
        ("alloc::collections::vec_deque::into_iter", "IntoIter") => alias("inner"),
        ("alloc::collections::vec_deque::drain", "Drain") => {
            sequences::drained_deque(reader, value)
        }
        ("alloc::collections::linked_list", "IntoIter") => alias("list"),
        ("alloc::collections::linked_list", "Iter" | "IterMut") => {
            tables::list(reader, value, true, limit)
        }
        ("std::collections::hash::map" | "std::collections::hash::set", _) => {
            let given = EntryPart::by(name, module.ends_with("set")).known()?;
            tables::rest_of_hash(reader, value, given, limit)
        }
        ("alloc::collections::btree::map" | "alloc::collections::btree::set", _) => {
            let given = EntryPart::by(name, module.ends_with("set")).known()?;
            trees::rest(reader, value, given, limit)
        }
        ("core::option" | "core::result", "Iter" | "IterMut" | "IntoIter") => {
            let item = reader.field(value, "inner").known()?;
            Ok(View::Alias(reader.field(&item, "opt").unwrap_or(item)))
        }
        ("core::iter::sources::once", "Once") => alias("inner"),
        ("core::str::iter", "Chars" | "CharIndices" | "Bytes") | ("alloc::string", "Drain") => {
            text::remaining(reader, value, limit)
        }
        ("core::str::iter", _) => text::uncut(reader, value, limit),
        _ => Err(Flaw::Layout),
    }
}
