//! Writes planned items as Rust source for a crate of its own, beside `dapple-dap`: with serde's derives, and without the private macros
//! that the protocol's own types use.
//!
//! The derives would read `null` as absence. Where `null` is a value, or a number has to be written as most peers do, a field names a
//! function that is written to the end of the source if it is used.

use super::emit::{constructor, doc, doc_at, event, request};
use super::plan::{Enum, Extension, Field, Item, Presence, Struct};
use std::fmt::Write as _;

/// The names that the source may import, which no item may have.
pub(super) const NAMES: [&str; 14] = [
    "BTreeMap",
    "Deserialize",
    "Deserializer",
    "Direction",
    "Empty",
    "Event",
    "IntegerOrString",
    "Option",
    "Raw",
    "Request",
    "Serialize",
    "Serializer",
    "String",
    "Vec",
];

const PREAMBLE: &str = "\
//! The types of requests, events and values that are added to the protocol.
//!
//! Written by `dapple schema generate rust --base`: change the definition, not this file. It needs the crates `dapple-dap` and
//! `serde` (with the feature `derive`). An `XRequest` or `XEvent` is a marker that implements `Request` or `Event` of `dapple-dap`; an
//! `XResponse` is the response's body.

";

/// Keeps the `null` of a value that may be absent: `null` is a value there.
const KEEPS_NULL: &str = "\
fn keeps_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Raw>, D::Error> {
    Raw::deserialize(deserializer).map(Some)
}
";

/// Reads a value that may be `null` but not absent, which serde's derive would allow.
const NULLABLE: &str = "\
fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}
";

const NUMBER: &str = "\
/// Writes a number as most peers do: `100`, not `100.0`.
fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let whole = *value as i64;
    // Comparing the bits leaves fractions, large numbers and -0 alone.
    if (whole as f64).to_bits() == value.to_bits() && whole.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS {
        serializer.serialize_i64(whole)
    } else {
        serializer.serialize_f64(*value)
    }
}
";

const OPTIONAL_NUMBER: &str = "\
/// As [`number`], for a field that may be absent.
fn optional_number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => number(value, serializer),
        None => serializer.serialize_none(),
    }
}
";

/// `writeln!` to a `String`, which cannot fail.
macro_rules! w {
    ($out:expr, $($arg:tt)*) => {{ let _ = writeln!($out, $($arg)*); }};
}

/// The source: the preamble, imports, all items, and the functions that their fields name.
pub(super) fn emit(preamble: Option<&str>, extension: &Extension) -> String {
    let mut code = String::new();
    for item in &extension.items {
        match item {
            Item::Struct(item) => structure(&mut code, item),
            Item::Enum(item) => enumeration(&mut code, item),
            Item::Alias {
                name,
                doc: text,
                target,
            } => {
                doc(&mut code, text);
                w!(code, "pub type {name} = {target};\n");
            }
            Item::Request(item) => request(&mut code, item),
            Item::Event(item) => event(&mut code, item),
        }
    }
    for (name, function) in [
        ("keeps_null", KEEPS_NULL),
        ("nullable", NULLABLE),
        ("optional_number", OPTIONAL_NUMBER),
        ("number", NUMBER),
    ] {
        // An attribute names a function in quotes; `optional_number` calls `number`.
        if code.contains(&format!("\"{name}\")]")) || code.contains(&format!(" => {name}(")) {
            code.push_str(function);
            code.push('\n');
        }
    }
    preamble.unwrap_or(PREAMBLE).to_owned() + &imports(&code, extension) + &code
}

/// The `use` lines for what `code` names.
fn imports(code: &str, extension: &Extension) -> String {
    // In documentation, names of the base are no links and need no import.
    let lines = code.lines().map(str::trim_start);
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("///")).collect();
    let used = |name: &str| lines.iter().any(|line| has_word(line, name));
    let mut text = String::new();
    if used("Direction") {
        text.push_str("use dapple_dap::message::Direction;\n");
    }
    let from_base = extension.imports.iter();
    let mut types: Vec<String> = from_base.map(|name| super::plan::type_name(name)).collect();
    types.extend(["Empty", "IntegerOrString", "Raw"].map(str::to_owned));
    types.retain(|name| used(name));
    types.sort();
    for (path, names) in [
        ("dapple_dap::types", types),
        (
            "dapple_dap",
            only(&["Event", "Request"], |name| {
                lines
                    .iter()
                    .any(|line| line.starts_with(&format!("impl {name} for ")))
            }),
        ),
        (
            "serde",
            only(
                &["Deserialize", "Deserializer", "Serialize", "Serializer"],
                used,
            ),
        ),
    ] {
        match names.as_slice() {
            [] => {}
            [one] => w!(text, "use {path}::{one};"),
            many => w!(text, "use {path}::{{{}}};", many.join(", ")),
        }
    }
    if used("BTreeMap") {
        text.push_str("use std::collections::BTreeMap;\n");
    }
    text.push('\n');
    text
}

fn only(names: &[&str], used: impl Fn(&str) -> bool) -> Vec<String> {
    let names = names.iter().filter(|name| used(name));
    names.map(|&name| name.to_owned()).collect()
}

/// Whether `line` has `word` between characters that are not part of a name.
fn has_word(line: &str, word: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    line.split(|c| !in_name(c)).any(|part| part == word)
}

fn structure(out: &mut String, item: &Struct) {
    doc(out, &item.doc);
    let derives_default =
        item.has_default() && item.fields.iter().all(|field| field.constant.is_none());
    let default = if derives_default { "Default, " } else { "" };
    w!(
        out,
        "#[derive(Debug, Clone, PartialEq, {default}Serialize, Deserialize)]\npub struct {} {{",
        item.name
    );
    for field in &item.fields {
        doc(out, &field.doc);
        w!(
            out,
            "{} pub {}: {},",
            attributes(field),
            field.name,
            field.full_type()
        );
    }
    w!(out, "}}\n");
    constructor(out, item);
}

fn attributes(field: &Field) -> String {
    let mut parts = Vec::new();
    if field.name.trim_start_matches("r#") != field.wire {
        parts.push(format!("rename = {:?}", field.wire));
    }
    match field.presence {
        Presence::Required => {}
        Presence::RequiredNullable => parts.push("deserialize_with = \"nullable\"".into()),
        Presence::Optional => parts.push("skip_serializing_if = \"Option::is_none\"".into()),
        Presence::OptionalKeepsNull => {
            parts.push("default, skip_serializing_if = \"Option::is_none\"".into());
            parts.push("deserialize_with = \"keeps_null\"".into());
        }
    }
    if field.ty == "f64" {
        let how = match field.presence.is_optional() {
            true => "optional_number",
            false => "number",
        };
        parts.push(format!("serialize_with = \"{how}\""));
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!("#[serde({})]", parts.join(", "))
    }
}

/// Writes an enumeration of strings. An open one keeps a value that it does not list in `Other`.
fn enumeration(out: &mut String, item: &Enum) {
    let Enum {
        name,
        open,
        variants,
        ..
    } = item;
    doc(out, &item.doc);
    let (derives, through) = match open {
        true => ("", "#[serde(from = \"String\", into = \"String\")]\n"),
        false => ("Copy, ", ""),
    };
    w!(
        out,
        "#[derive(Debug, Clone, {derives}PartialEq, Eq, Hash, Serialize, Deserialize)]\n{through}pub enum {name} {{"
    );
    for variant in variants {
        let wire = format!("`{}`.", variant.wire);
        doc_at("    ", out, &[variant.doc.clone().unwrap_or(wire)]);
        if !open && variant.name != variant.wire {
            w!(out, "    #[serde(rename = {:?})]", variant.wire);
        }
        w!(out, "    {},", variant.name);
    }
    if *open {
        w!(
            out,
            "    /// A value that the definition does not list.\n    Other(String),"
        );
    }
    w!(out, "}}\n\nimpl {name} {{");
    w!(
        out,
        "/// The value on the wire.\npub fn as_str(&self) -> &str {{ match self {{"
    );
    for variant in variants {
        w!(out, "Self::{} => {:?},", variant.name, variant.wire);
    }
    if *open {
        w!(out, "Self::Other(text) => text,");
    }
    w!(out, "}} }}\n}}\n");
    if *open {
        w!(
            out,
            "impl From<String> for {name} {{\nfn from(text: String) -> Self {{ match text.as_str() {{"
        );
        for variant in variants {
            w!(out, "{:?} => Self::{},", variant.wire, variant.name);
        }
        w!(out, "_ => Self::Other(text),\n}} }}\n}}\n");
        w!(
            out,
            "impl From<{name}> for String {{\nfn from(value: {name}) -> String {{ value.as_str().to_owned() }}\n}}\n"
        );
    }
}
