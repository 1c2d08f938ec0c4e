//! The errors of `anyhow` and `eyre`: a pointer to an object whose type only a table of functions knows, shown as that object.
//!
//! The functions are generic, and their names in the debug information have the type. A linker may merge functions with the same
//! instructions, so two of them have to agree: the one that drops the object, and the one that casts it, which compares the type's id.

use super::{Flaw, OrUnknownLayout, objects, pointed_to};
use crate::values::view::View;
use crate::values::{Reader, Value};

pub(super) fn view(reader: &Reader<'_>, value: &Value, path: &str) -> Result<View, Flaw> {
    let (krate, _) = path.split_once("::").known()?;
    let object = pointed_to(reader, value)?;
    let table = reader.find(&object, "vtable").known()?;
    let table = pointed_to(reader, &table)?;
    let dropping = reader.field(&table, "object_drop").known()?;
    let casting = reader.field(&table, "object_downcast").known()?;
    let named = |function: &Value| -> Result<String, Flaw> {
        let address = reader.word(&function.contents)?;
        reader.function_name(address).known()
    };
    let dropping = named(&dropping)?;
    let casting = named(&casting)?;
    let argument = argument_in(&dropping).known()?;
    let is_agreed = argument_in(&casting).is_some_and(|other| argument.contains(other));
    if !is_agreed {
        return Err(Flaw::Layout);
    }
    let whole = objects::named(value, &format!("{krate}::error::ErrorImpl<{argument}>"));
    let mut whole = whole.known()?;
    whole.contents = object.contents;
    reader.field(&whole, "_object").map(View::Alias).known()
}

/// The arguments in a function's name.
fn argument_in(name: &str) -> Option<&str> {
    let (_, arguments) = name.split_once('<')?;
    arguments.strip_suffix('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_cut_out() {
        let name = "anyhow::error::object_drop<anyhow::wrapper::MessageError<&str>>";
        assert_eq!(
            argument_in(name),
            Some("anyhow::wrapper::MessageError<&str>")
        );
        assert_eq!(argument_in("anyhow::error::no_backtrace"), None);
    }
}
