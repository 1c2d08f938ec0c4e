//! Closures and futures: their captured variables, and where a future is suspended.

use super::{active_variant, empty};
use crate::values::view::{Field, Reason, Style, View};
use crate::values::{Reader, Value, names};
use dapple_symbols::types::{Aggregate, Type, TypeKind};

/// How the compiler names the types of closures.
const CLOSURES: [&str; 2] = ["{closure_env#", "{coroutine_closure_env#"];
/// How the compiler names the types of futures, and what a future of each type is in the source.
const FUTURES: [(&str, &str); 4] = [
    ("{async_fn_env#", "async fn"),
    ("{async_block_env#", "async block"),
    ("{async_closure_env#", "async closure"),
    ("{gen_block_env#", "gen block"),
];
/// How the compiler names the future that another one awaits.
pub(crate) const AWAITED: &str = "__awaitee";
/// The name that this field is shown with.
pub(crate) const AWAITING: &str = "awaiting";

/// Gives a closure's fields the names of the captured variables, and returns the name that is shown for the closure. `None`: the type
/// called `name` isn't a closure's.
pub(crate) fn closure_name(name: &str, fields: &mut [Field]) -> Option<&'static str> {
    let base = names::base_name(name);
    if !CLOSURES.iter().any(|closure| base.starts_with(closure)) {
        return None;
    }
    for field in fields {
        let by_reference = field.name.strip_prefix("_ref__");
        let captured = by_reference.unwrap_or(&field.name);
        // A captured part of a variable (`point.x`) is named `point__x`. A name that begins with `_` stays as it is: its `__` may be
        // from the source.
        field.name = match captured.starts_with('_') {
            true => captured.to_owned(),
            false => captured.replace("__", "."),
        };
    }
    Some("closure")
}

/// Whether a type is a future made by `async`, or a `gen` block.
pub(crate) fn is_future(name: &str) -> bool {
    kind(name).is_some()
}

fn kind(name: &str) -> Option<&'static str> {
    // Tuples, pointers and slices of futures.
    if name.starts_with(['(', '&', '*', '[']) || name.ends_with(" *") {
        return None;
    }
    let base = names::base_name(name);
    let mut kinds = FUTURES.iter();
    let (_, kind) = kinds.find(|(start, _)| base.starts_with(start))?;
    Some(kind)
}

/// The view of a future: the variables it stores while it is suspended, and what it awaits.
pub(super) fn future(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
) -> Result<View, Reason> {
    let variant = active_variant(reader, value, aggregate)?;
    let payload = reader.member(value, &variant.member);
    let inner = reader.resolve(&payload).map(|resolved| resolved.type_);
    let mut record = match inner.as_ref().map(|inner| (inner, &inner.kind)) {
        Some((inner, TypeKind::Aggregate(fields))) => reader.record(&payload, inner, fields),
        _ => empty(),
    };
    if let "Returned" | "Panicked" = state_name(inner.as_deref()) {
        // The fields have no values any more: their destructors have run.
        record.fields.clear();
    }
    // Two fields may have the name of a parameter: the variable that the parameter was moved to, and behind it the captured parameter.
    // The first one is shown.
    let mut seen: Vec<String> = Vec::new();
    record.fields.retain(|field| {
        let is_new = !seen.contains(&field.name);
        seen.push(field.name.clone());
        is_new
    });
    for field in &mut record.fields {
        if field.name == AWAITED {
            field.name = AWAITING.to_owned();
        }
        // Fields without a name in the source, such as drop flags.
        field.artificial |= super::tuple_index(&field.name).is_some();
    }
    // The awaited future comes last, as in the source.
    record.fields.sort_by_key(|field| field.name == AWAITING);
    let kind = kind(&type_.name).unwrap_or("future");
    record.name = Some(match kind {
        "async fn" => {
            let path = type_.name.split("::{async_fn_env#").next();
            format!("async {}", names::base_name(path.unwrap_or_default()))
        }
        kind => kind.to_owned(),
    });
    record.style = Style::Named;
    record.reachable = false;
    record.raw = true;
    Ok(View::Record(record))
}

/// The name of a state: `Unresumed`, `Returned`, `Panicked`, `Suspend0`, … Empty if its type isn't known.
pub(crate) fn state_name(payload: Option<&Type>) -> &str {
    // The future's own type, in whose name it is, may have generic arguments.
    payload.map_or("", |type_| {
        type_.name.rsplit("::").next().unwrap_or_default()
    })
}

/// The state of a future: not started, finished, panicked, or where it is suspended. `None`: the state is unknown.
pub(super) fn note(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<String> {
    let variant = active_variant(reader, value, aggregate).ok()?;
    let payload = reader.member(value, &variant.member);
    let state = reader.resolve(&payload)?.type_;
    let note = match state_name(Some(&state)) {
        "Unresumed" => "not started".to_owned(),
        "Returned" => "finished".to_owned(),
        "Panicked" => "panicked".to_owned(),
        _ => {
            let place = variant.declaration.as_ref()?;
            let file = place.file.file_name().unwrap_or_default();
            format!("suspended at {}:{}", file.to_string_lossy(), place.line)
        }
    };
    Some(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn futures_are_told_by_their_names() {
        assert_eq!(kind("tour::fetch::{async_fn_env#0}<i32>"), Some("async fn"));
        assert_eq!(kind("tour::main::{async_block_env#1}"), Some("async block"));
        assert_eq!(kind("tour::main::{closure_env#1}"), None);
        assert_eq!(kind("tour::Future"), None);
        assert_eq!(kind("(tour::fetch::{async_fn_env#0}<i32>, u8)"), None);
        assert_eq!(kind("tour::fetch::{async_fn_env#0} *"), None);
    }
}
