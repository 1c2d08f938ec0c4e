//! Writes planned items as Rust source, without formatting it.

use super::names;
use super::plan::{Enum, EventMarker, Field, Item, Presence, RequestMarker, Struct};
use crate::Model;
use crate::model::{Definition, Type};
use std::fmt::Write as _;

/// The column before which documentation wraps, with some room for an indent.
const WIDTH: usize = 100;

const IMPORTS: &str = "\
use crate::message::{self, DecodeError, Direction, Event, Request, read_object, string_enum};
pub use crate::message::{Empty, IntegerOrString, Raw};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

";

/// `writeln!` to a `String`, which cannot fail.
macro_rules! w {
    ($out:expr, $($arg:tt)*) => {{ let _ = writeln!($out, $($arg)*); }};
}

/// The source: `preamble`, imports, and all items.
pub(super) fn emit(preamble: &str, model: &Model, items: &[Item]) -> String {
    let mut out = preamble.to_owned() + IMPORTS;
    for item in items {
        match item {
            Item::Struct(item) => structure(&mut out, item),
            Item::Enum(item) => enumeration(&mut out, item),
            Item::Alias {
                name,
                doc: text,
                target,
            } => {
                doc(&mut out, text);
                w!(out, "pub type {name} = {target};\n");
            }
            Item::Request(item) => request(&mut out, item),
            Item::Event(item) => event(&mut out, item),
        }
    }
    for holder in ["Capabilities", "InitializeRequestArguments"] {
        if let Some(definition) = model.get(holder) {
            flags(&mut out, definition);
        }
    }
    any(&mut out, items);
    out
}

/// Writes `///` lines, wrapped. Outside of code, characters that Markdown or rustdoc would take for a tag or link are escaped.
pub(super) fn doc(out: &mut String, paragraphs: &[String]) {
    doc_at("", out, paragraphs);
}

/// Like [`doc`], with an indent, for places where rustfmt adds none.
pub(super) fn doc_at(indent: &str, out: &mut String, paragraphs: &[String]) {
    for (i, text) in paragraphs.iter().enumerate() {
        let in_list = text.trim_start().starts_with("- ");
        if i > 0 && !in_list {
            w!(out, "{indent}///");
        }
        let mut line = String::new();
        for word in escaped(text).split_whitespace() {
            if !line.is_empty() && line.chars().count() + word.chars().count() >= WIDTH - 8 {
                w!(out, "{indent}/// {line}");
                line.clear();
                line.push_str(if in_list { " " } else { "" });
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if !line.is_empty() {
            w!(out, "{indent}/// {line}");
        }
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut in_code = false;
    for c in text.chars() {
        match c {
            '`' => in_code = !in_code,
            '<' | '[' | ']' if !in_code => escaped.push('\\'),
            _ => {}
        }
        escaped.push(c);
    }
    escaped
}

impl Field {
    /// The field's type, with the `Option` if it has one.
    pub(super) fn full_type(&self) -> String {
        match self.presence {
            Presence::Required => self.ty.clone(),
            _ => format!("Option<{}>", self.ty),
        }
    }

    fn serde_attributes(&self) -> String {
        let mut parts = Vec::new();
        if self.name.trim_start_matches("r#") != self.wire {
            parts.push(format!("rename = \"{}\"", self.wire));
        }
        if self.presence.is_optional() {
            parts.push("skip_serializing_if = \"Option::is_none\"".into());
        }
        if self.ty == "f64" {
            let how = match self.presence.is_optional() {
                true => "optional_number",
                false => "number",
            };
            parts.push(format!("serialize_with = \"message::{how}\""));
        }
        if parts.is_empty() {
            String::new()
        } else {
            format!("#[serde({})]", parts.join(", "))
        }
    }

    /// A setter's parameter for a value of type `ty`, and the expression that converts it to the value.
    fn parameter(&self, ty: &str) -> (String, String) {
        if ty == "String" {
            ("impl Into<String>".into(), format!("{}.into()", self.name))
        } else {
            (ty.to_owned(), self.name.clone())
        }
    }
}

fn structure(out: &mut String, item: &Struct) {
    let Struct {
        name,
        fields,
        keeps_unknown,
        ..
    } = item;
    doc(out, &item.doc);
    let mut derives = vec!["Debug", "Clone", "PartialEq"];
    // If no field is a constant, `Default` can be derived.
    let derives_default = item.has_default() && fields.iter().all(|field| field.constant.is_none());
    derives.extend(derives_default.then_some("Default"));
    derives.extend((!keeps_unknown).then_some("Serialize"));
    w!(
        out,
        "#[derive({})]\n#[non_exhaustive]\npub struct {name} {{",
        derives.join(", ")
    );
    for field in fields {
        doc(out, &field.doc);
        let attributes = if *keeps_unknown {
            String::new()
        } else {
            field.serde_attributes()
        };
        w!(
            out,
            "{attributes} pub {}: {},",
            field.name,
            field.full_type()
        );
    }
    if *keeps_unknown {
        w!(
            out,
            "/// Fields that the protocol does not list, by name.\npub other: BTreeMap<String, Raw>,"
        );
    }
    w!(out, "}}\n");
    constructor(out, item);
    if *keeps_unknown {
        deserialize_keeping(out, item);
        serialize_keeping(out, item);
    } else {
        read_object(out, item);
    }
}

pub(super) fn constructor(out: &mut String, item: &Struct) {
    let Struct {
        name,
        fields,
        keeps_unknown,
        ..
    } = item;
    let mut parameters = String::new();
    let mut values = String::new();
    for field in fields {
        let value = match (&field.constant, field.presence) {
            (Some(constant), _) => format!("{}::{constant}", field.ty),
            (None, Presence::Required | Presence::RequiredNullable) => {
                let (parameter, value) = field.parameter(&field.full_type());
                let _ = write!(parameters, "{}: {parameter}, ", field.name);
                value
            }
            (None, _) => "None".into(),
        };
        let _ = match value == field.name {
            true => write!(values, "{value}, "),
            false => write!(values, "{}: {value}, ", field.name),
        };
    }
    if *keeps_unknown {
        values.push_str("other: BTreeMap::new(), ");
    }
    w!(out, "impl {name} {{");
    if item.has_default() && fields.iter().all(|field| field.constant.is_none()) {
        w!(
            out,
            "/// Nothing set.\npub fn new() -> Self {{ Self::default() }}"
        );
    } else {
        w!(out, "/// What is required set, nothing else.");
        if parameters.matches(": ").count() > 7 {
            w!(
                out,
                "#[expect(clippy::too_many_arguments, reason = \"the protocol requires all of them\")]"
            );
        }
        w!(
            out,
            "pub fn new({parameters}) -> Self {{ Self {{ {values} }} }}"
        );
    }
    for field in fields
        .iter()
        .filter(|field| field.presence.is_optional() && field.constant.is_none())
    {
        let (parameter, value) = field.parameter(&field.ty);
        let plain = field.name.trim_start_matches("r#");
        w!(out, "\n/// Sets [`{plain}`](Self::{plain}).\n#[must_use]");
        w!(
            out,
            "pub fn with_{plain}(mut self, {0}: {parameter}) -> Self {{ self.{0} = Some({value}); self }}",
            field.name
        );
    }
    w!(out, "}}\n");
}

fn read_object(out: &mut String, Struct { name, fields, .. }: &Struct) {
    w!(out, "read_object! {{\n    {name} {{");
    for (i, field) in fields.iter().enumerate() {
        let list = field.ty.starts_with("Vec<");
        let presence = match field.presence {
            Presence::Required if list => "list",
            Presence::Required | Presence::RequiredNullable => "required",
            Presence::Optional if list => "optional_list",
            Presence::Optional => "optional",
            Presence::OptionalKeepsNull => "any",
        };
        w!(
            out,
            "        {i} {} \"{}\" {presence},",
            field.name,
            field.wire
        );
    }
    w!(out, "    }}\n}}\n");
}

/// Writes the `Deserialize` of a struct that keeps unknown fields, without `serde(flatten)`, which would pass every value through
/// a buffer that doesn't support raw JSON.
fn deserialize_keeping(out: &mut String, Struct { name, fields, .. }: &Struct) {
    w!(out, "impl<'de> Deserialize<'de> for {name} {{");
    w!(
        out,
        "fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{"
    );
    w!(out, "struct Fields;");
    w!(
        out,
        "impl<'de> Visitor<'de> for Fields {{ type Value = {name};\n"
    );
    w!(
        out,
        "fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {{ f.write_str(\"struct {name}\") }}\n"
    );
    w!(
        out,
        "fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<{name}, A::Error> {{"
    );
    w!(out, "let mut value = {name}::default();");
    w!(
        out,
        "while let Some(key) = map.next_key::<String>()? {{ match key.as_str() {{"
    );
    for field in fields {
        let next = match field.presence {
            Presence::OptionalKeepsNull => "Some(map.next_value()?)",
            _ if field.ty.starts_with("Vec<") => "message::optional_list(&mut map)?",
            _ => "message::lenient::or_dropped(map.next_value())?",
        };
        w!(out, "\"{}\" => value.{} = {next},", field.wire, field.name);
    }
    w!(
        out,
        "_ => {{ value.other.insert(key, map.next_value()?); }}"
    );
    w!(
        out,
        "}} }}\nOk(value)\n}} }}\ndeserializer.deserialize_map(Fields)\n}} }}\n"
    );
}

fn serialize_keeping(out: &mut String, Struct { name, fields, .. }: &Struct) {
    w!(out, "impl Serialize for {name} {{");
    w!(
        out,
        "fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{"
    );
    w!(out, "let mut map = serializer.serialize_map(None)?;");
    for field in fields {
        w!(
            out,
            "if let Some(value) = &self.{} {{ map.serialize_entry(\"{}\", value)?; }}",
            field.name,
            field.wire
        );
    }
    w!(
        out,
        "for (key, value) in &self.other {{ map.serialize_entry(key, value)?; }}\nmap.end()\n}} }}\n"
    );
}

fn enumeration(out: &mut String, item: &Enum) {
    w!(out, "string_enum! {{");
    doc_at("    ", out, &item.doc);
    let kind = if item.open { "open" } else { "closed" };
    w!(out, "    {kind} {} {{", item.name);
    for variant in &item.variants {
        let wire = format!("`{}`.", variant.wire);
        doc_at("        ", out, &[variant.doc.clone().unwrap_or(wire)]);
        w!(out, "        {} = {:?},", variant.name, variant.wire);
    }
    w!(out, "    }}\n}}\n");
}

pub(super) fn request(out: &mut String, item: &RequestMarker) {
    doc(out, &item.doc);
    w!(
        out,
        "#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub struct {};\n",
        item.name
    );
    w!(out, "impl Request for {} {{", item.name);
    w!(out, "const COMMAND: &'static str = {:?};", item.command);
    if let Some(capability) = &item.capability {
        w!(
            out,
            "const CAPABILITY: Option<&'static str> = Some(\"{capability}\");"
        );
    }
    if item.reverse {
        w!(out, "const DIRECTION: Direction = Direction::ToClient;");
    }
    w!(
        out,
        "type Arguments = {};\ntype Response = {};\n}}\n",
        item.arguments,
        item.response
    );
}

pub(super) fn event(out: &mut String, item: &EventMarker) {
    doc(out, &item.doc);
    w!(
        out,
        "#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub struct {};\n",
        item.name
    );
    w!(
        out,
        "impl Event for {} {{ const EVENT: &'static str = {:?}; type Body = {}; }}\n",
        item.name,
        item.event,
        item.body
    );
}

/// Writes `supports`, which reads the boolean properties that begin with `support` by their names on the wire. For `Capabilities`,
/// also writes `support` and `merge`, which set them.
fn flags(out: &mut String, definition: &Definition) {
    let Some(object) = definition.object() else {
        return;
    };
    let name = &definition.name;
    let flags: Vec<_> = object
        .properties
        .iter()
        .filter(|property| {
            property.schema.ty == Type::Boolean && property.name.starts_with("support")
        })
        .map(|property| (property.name.as_str(), names::field(&property.name)))
        .collect();
    w!(out, "impl {name} {{");
    w!(
        out,
        "/// The names of all flags that say something is supported."
    );
    w!(out, "pub const FLAGS: &[&str] = &[");
    flags.iter().for_each(|(wire, _)| w!(out, "\"{wire}\","));
    w!(
        out,
        "];\n\n/// Whether the flag called `name` is there and true."
    );
    w!(
        out,
        "pub fn supports(&self, name: &str) -> bool {{ match name {{"
    );
    flags
        .iter()
        .for_each(|(wire, field)| w!(out, "\"{wire}\" => self.{field}.unwrap_or(false),"));
    let keeps = name == "Capabilities";
    let otherwise = if keeps {
        "self.other.get(name).is_some_and(|raw| raw.text() == \"true\")"
    } else {
        "false"
    };
    w!(out, "_ => {otherwise},\n}} }}\n");
    if keeps {
        w!(
            out,
            "/// Sets the flag called `name` to true; one that the protocol does not list goes to [`other`](Self::other)."
        );
        w!(
            out,
            "pub fn support(&mut self, name: &str) {{ match name {{"
        );
        flags
            .iter()
            .for_each(|(wire, field)| w!(out, "\"{wire}\" => self.{field} = Some(true),"));
        w!(
            out,
            "_ => {{ if let Ok(raw) = Raw::new(&true) {{ self.other.insert(name.to_owned(), raw); }} }}\n}} }}\n"
        );
        w!(
            out,
            "/// Takes over whatever `newer` says, as for a `capabilities` event."
        );
        w!(out, "pub fn merge(&mut self, newer: Self) {{");
        for property in &object.properties {
            let field = names::field(&property.name);
            w!(
                out,
                "if newer.{field}.is_some() {{ self.{field} = newer.{field}; }}"
            );
        }
        w!(out, "self.other.extend(newer.other);\n}}");
    }
    w!(out, "}}\n");
}

/// A kind of message (request, response, event), for which an enum of all its types is written. `payload` is the word for what a
/// variant contains.
struct Family {
    name: &'static str,
    doc: &'static str,
    payload: &'static str,
    named: &'static str,
}

fn any(out: &mut String, items: &[Item]) {
    let mut requests = Vec::new();
    let mut responses = Vec::new();
    let mut events = Vec::new();
    for item in items {
        match item {
            Item::Request(item) => {
                let variant = item.name.strip_suffix("Request").unwrap_or(&item.name);
                requests.push((variant, item.command.as_str(), item.arguments.as_str()));
                responses.push((variant, item.command.as_str(), item.response.as_str()));
            }
            Item::Event(item) => {
                let variant = item.name.strip_suffix("Event").unwrap_or(&item.name);
                events.push((variant, item.event.as_str(), item.body.as_str()));
            }
            _ => {}
        }
    }
    let request = Family {
        name: "AnyRequest",
        doc: "The arguments of any request.",
        payload: "arguments",
        named: "command",
    };
    let response = Family {
        name: "AnyResponse",
        doc: "The body of any successful response.",
        payload: "body",
        named: "command",
    };
    let event = Family {
        name: "AnyEvent",
        doc: "The body of any event.",
        payload: "body",
        named: "event",
    };
    family(out, &request, &requests);
    family(out, &response, &responses);
    family(out, &event, &events);
}

fn family(out: &mut String, family: &Family, variants: &[(&str, &str, &str)]) {
    family_enum(out, family, variants);
    w!(out, "impl {} {{", family.name);
    family_reading(out, family, variants);
    family_writing(out, family, variants);
}

/// Writes the enum of a family.
fn family_enum(out: &mut String, family: &Family, variants: &[(&str, &str, &str)]) {
    let Family {
        name,
        payload,
        named,
        ..
    } = family;
    w!(
        out,
        "/// {}\n///\n/// What is not in the protocol is kept as it came, to be passed on.",
        family.doc
    );
    w!(out, "#[derive(Debug, Clone, PartialEq)]\n#[non_exhaustive]");
    w!(
        out,
        "#[allow(clippy::large_enum_variant, reason = \"short-lived; most are read once and taken apart\")]"
    );
    w!(out, "pub enum {name} {{");
    for (variant, wire, ty) in variants {
        w!(out, "/// `{wire}`.\n{variant}({ty}),");
    }
    w!(
        out,
        "/// A {named} that the protocol does not have.\nOther {{"
    );
    w!(
        out,
        "/// Its {named}.\nname: Box<str>,\n/// Its {payload}, if any.\nraw: Option<Raw>,\n}},\n}}\n"
    );
}

/// Writes the methods that decode a payload into the family's enum.
fn family_reading(out: &mut String, family: &Family, variants: &[(&str, &str, &str)]) {
    let Family { payload, named, .. } = family;
    w!(
        out,
        "/// Decodes the {payload} of the {named} called `name`; absent, `null` and `{{}}` are the same where nothing is required."
    );
    w!(
        out,
        "///\n/// # Errors\n/// Where the {payload} of a known {named} does not have its shape; the error names the field."
    );
    w!(
        out,
        "pub fn decode(name: &str, raw: Option<&RawValue>) -> Result<Self, DecodeError> {{ Ok(match name {{"
    );
    for (variant, wire, _) in variants {
        w!(
            out,
            "\"{wire}\" => Self::{variant}(message::decode_or_default(raw)?),"
        );
    }
    w!(
        out,
        "_ => Self::Other {{ name: name.into(), raw: raw.map(Raw::from) }},\n}}) }}\n"
    );
    w!(
        out,
        "/// Reads the {payload} of the {named} called `name`, which have to be there."
    );
    w!(
        out,
        "///\n/// # Errors\n/// Where the {payload} of a known {named} does not have its shape."
    );
    w!(
        out,
        "pub fn read<'de, D: Deserializer<'de>>(name: &str, {payload}: D) -> Result<Self, D::Error> {{ Ok(match name {{"
    );
    for (variant, wire, ty) in variants {
        w!(
            out,
            "\"{wire}\" => Self::{variant}({ty}::deserialize({payload})?),"
        );
    }
    w!(
        out,
        "_ => Self::Other {{ name: name.into(), raw: Some(Raw::deserialize({payload})?) }},\n}}) }}\n"
    );
}

/// Writes the methods that give a variant's name on the wire and encode its payload. Ends the `impl`, and writes that of `Serialize`.
fn family_writing(out: &mut String, family: &Family, variants: &[(&str, &str, &str)]) {
    let Family {
        name,
        payload,
        named,
        ..
    } = family;
    w!(out, "/// The {named}'s name on the wire.");
    w!(out, "pub fn name(&self) -> &str {{ match self {{");
    for (variant, wire, _) in variants {
        w!(out, "Self::{variant}(_) => \"{wire}\",");
    }
    w!(out, "Self::Other {{ name, .. }} => name,\n}} }}\n");
    w!(
        out,
        "/// Writes the {payload}; `None` where there is nothing to carry."
    );
    w!(
        out,
        "///\n/// # Errors\n/// Where a value in it cannot be written as JSON."
    );
    w!(
        out,
        "pub fn encode(&self) -> Result<Option<Raw>, serde_json::Error> {{ match self {{"
    );
    for (variant, _, _) in variants {
        w!(out, "Self::{variant}(value) => message::encode(value),");
    }
    w!(
        out,
        "Self::Other {{ raw, .. }} => Ok(raw.clone()),\n}} }}\n}}\n"
    );
    w!(
        out,
        "/// Writes the {payload}; `null` where there is nothing to carry."
    );
    w!(out, "impl Serialize for {name} {{");
    w!(
        out,
        "fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{ match self {{"
    );
    for (variant, _, _) in variants {
        w!(
            out,
            "Self::{variant}(value) => value.serialize(serializer),"
        );
    }
    w!(
        out,
        "Self::Other {{ raw, .. }} => raw.serialize(serializer),\n}} }}\n}}\n"
    );
}
