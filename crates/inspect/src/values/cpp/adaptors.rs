//! Iterators made of other iterators, and those that insert into a container.

use super::iterators::{self, Step};
use crate::Address;
use crate::values::view::{Field, Limit, Record, Shows, Style, View};
use crate::values::{Contents, Reader, Value};
use dapple_symbols::types::TypeKind;

/// The view of an iterator adaptor; `None`: another type, or an unknown layout.
pub(super) fn view(reader: &Reader<'_>, value: &Value, path: &str, limit: Limit) -> Option<View> {
    match path {
        // A reverse iterator refers to the element before that of its inner iterator.
        "reverse_iterator" => {
            let inner = reader.field(value, "current")?;
            iterators::at(reader, &inner, Step::Back, limit)
        }
        "move_iterator" | "counted_iterator" => {
            let inner = super::find(reader, value, &["_M_current", "__current_"])?;
            Some(pointing(reader.view(&inner, limit)))
        }
        "back_insert_iterator" | "front_insert_iterator" => container(reader, value),
        "insert_iterator" => {
            let field = |name: &str, value: Value| Field {
                name: name.to_owned(),
                value,
                base: false,
                artificial: false,
            };
            let (container, at) = (
                reader.field(value, "container")?,
                reader.field(value, "iter")?,
            );
            Some(View::Record(Record {
                name: None,
                style: Style::Named,
                fields: vec![field("container", container), field("iter", at)],
                statics: Vec::new(),
                raw: true,
                reachable: false,
                whole: None,
            }))
        }
        _ => None,
    }
}

/// The view of an iterator, made from the view of its inner iterator. If the inner one is a pointer, its target is shown, but not as a
/// text.
fn pointing(view: View) -> View {
    match view {
        View::Pointer {
            address,
            target,
            note,
            ..
        } => View::Pointer {
            address,
            target,
            note: note.filter(|note| note.starts_with('<')),
            shows: Shows::Target,
        },
        other => other,
    }
}

/// The view of an iterator that inserts into a container: the container.
fn container(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let pointer = reader.field(value, "container")?;
    let TypeKind::Pointer(_, target) = reader.resolve(&pointer)?.type_.kind else {
        return None;
    };
    let address = reader.word(&pointer.contents).ok()?;
    Some(View::Pointer {
        address,
        target: Some(value.sibling(target, Contents::Memory(Address(address)))),
        note: None,
        shows: Shows::Target,
    })
}
