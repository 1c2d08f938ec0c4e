//! Error codes, source locations, type information, and results of comparisons.

use super::{find, integer};
use crate::Address;
use crate::exceptions::cpp::Space;
use crate::values::quoting::quote;
use crate::values::view::View;
use crate::values::{Reader, Value, names};
use dapple_symbols::functions::Language;

/// The stack pointer for emulated functions: an address near the end of the address space, where at most the main thread's stack begins.
/// What they write there goes to a buffer in the debugger.
pub(super) const STACK: u64 = 0x7fff_ffff_e000;

fn space<'a>(reader: &Reader<'a>) -> Space<'a> {
    Space {
        memory: reader.memory,
        modules: reader.modules,
    }
}

/// The name of an error category: the first virtual function after the destructors, in both libraries.
fn category_name(reader: &Reader<'_>, at: u64) -> Option<String> {
    const NAME: i64 = 2;
    space(reader).text_of_method(Address(at), NAME, STACK)
}

/// `error_category`.
pub(super) fn category(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let at = value.contents.address()?;
    Some(View::Leaf(category_name(reader, at.0)?))
}

/// `error_code` and `error_condition`, as the library prints them: category and number. For the system's categories, the error's text
/// follows.
pub(super) fn code(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let number = integer(reader, &find(reader, value, &["_M_value", "__val_"])?)? as u32 as i32;
    let category = super::word(reader, value, &["_M_cat", "__cat_"])?;
    let Some(category) = category_name(reader, category) else {
        return Some(View::Leaf(format!(
            "{number}, of a category whose name cannot be read"
        )));
    };
    let text = match &*category {
        "generic" | "system" => match number {
            0 => Some("Success".to_owned()),
            _ => {
                let text = std::io::Error::from_raw_os_error(number).to_string();
                // The standard library appends the number to the text, but it is shown already.
                let text = text
                    .rsplit_once(" (os error")
                    .map(|(text, _)| text.to_owned());
                text.filter(|text| !text.is_empty())
            }
        },
        _ => None,
    };
    Some(View::Leaf(match text {
        Some(text) => format!("{category}:{number} {}", quote(text.as_bytes())),
        None => format!("{category}:{number}"),
    }))
}

/// `source_location`.
pub(super) fn location(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let at = super::word(reader, value, &["_M_impl", "__ptr_"])?;
    if at == 0 {
        return Some(View::Leaf("no location".to_owned()));
    }
    let [file, function, place] = reader.words(at).ok()?;
    let space = space(reader);
    let file = space.text(Address(file))?;
    let file = file.rsplit('/').next().unwrap_or_default();
    let line = place as u32;
    Some(View::Leaf(match space.text(Address(function)) {
        Some(function) if !function.is_empty() => format!("{file}:{line} in {function}"),
        _ => format!("{file}:{line}"),
    }))
}

/// The view of a `type_info`: the type's name.
fn type_named_at(reader: &Reader<'_>, at: u64) -> Option<View> {
    let name = space(reader).type_name(Address(at))?;
    let name = names::shorten(&name, Language::Cpp);
    Some(View::Leaf(format!("typeid({name})")))
}

/// `type_info`.
pub(super) fn type_info(reader: &Reader<'_>, value: &Value) -> Option<View> {
    type_named_at(reader, value.contents.address()?.0)
}

/// `type_index`.
pub(super) fn type_index(reader: &Reader<'_>, value: &Value) -> Option<View> {
    type_named_at(reader, super::word(reader, value, &["_M_target", "__t_"])?)
}

/// `strong_ordering`, `weak_ordering`, `partial_ordering`.
pub(super) fn ordering(reader: &Reader<'_>, value: &Value, path: &str) -> Option<View> {
    let number = integer(reader, &find(reader, value, &["_M_value", "__value_"])?)?;
    Some(View::Leaf(
        match number as u8 as i8 {
            -1 => "less",
            0 if path.starts_with("strong") => "equal",
            0 => "equivalent",
            1 => "greater",
            // `unordered` in libstdc++ and in libc++.
            2 | -127 => "unordered",
            _ => return None,
        }
        .to_owned(),
    ))
}
