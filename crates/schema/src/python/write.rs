//! Writes the module's classes, aliases and tables.

use super::GenerateError;
use crate::Model;
use crate::json::quoted;
use crate::model::{Additional, Definition, Enumeration, Object, Property, Schema, Type};
use crate::names::pascal;
use crate::prose;
use std::collections::HashSet;

const IMPORTS: &str = "\
from __future__ import annotations

import json
import sys
from typing import Any, Literal, TypedDict, Union, cast

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired
";

/// Words that can't be names: keywords, and what the module uses itself.
const RESERVED: [&str; 57] = [
    "False",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "while",
    "with",
    "yield",
    "Any",
    "Literal",
    "NotRequired",
    "TypedDict",
    "Union",
    "annotations",
    "bool",
    "cast",
    "decode",
    "dict",
    "float",
    "int",
    "json",
    "list",
    "object",
    "str",
    "sys",
    "type",
    "bytes",
    "EVENTS",
    "REQUESTS",
    "RESPONSES",
];

/// The unions of messages, which are written after all definitions.
const UNIONS: [&str; 4] = ["AnyRequest", "AnyResponse", "AnyEvent", "AnyMessage"];

/// The response to a request that failed.
const FAILURE: &str = "ErrorResponse";

/// The module's text.
pub(super) fn module(model: &Model, preamble: Option<&str>) -> Result<String, GenerateError> {
    let mut text = match preamble {
        Some(preamble) => preamble.to_owned(),
        None => format!(
            "{}\n",
            docstring(
                "",
                &format!(
                    "Types for: {}. Generated from its JSON schema: change that, not this.",
                    model.title().unwrap_or("a debug protocol")
                )
            )
        ),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(IMPORTS);
    let mut writer = Writer {
        model,
        classes: String::new(),
        aliases: String::new(),
        names: UNIONS.iter().map(|&name| name.to_owned()).collect(),
    };
    for definition in model.definitions() {
        writer.definition(definition)?;
    }
    text.push_str(&writer.classes);
    text.push_str(&writer.aliases);
    messages(&mut text, model);
    Ok(text)
}

struct Writer<'m> {
    model: &'m Model,
    classes: String,
    /// Definitions that are no objects. They are evaluated when the module is read, so all classes come before them.
    aliases: String,
    /// All names until now.
    names: HashSet<String>,
}

impl Writer<'_> {
    fn definition(&mut self, definition: &Definition) -> Result<(), GenerateError> {
        let name = &definition.name;
        if !is_identifier(name) || RESERVED.contains(&name.as_str()) {
            return Err(GenerateError::Name { name: name.clone() });
        }
        let Some(object) = definition.object() else {
            return self.alias(definition);
        };
        let all = if definition.base.is_some() {
            self.model.all_properties(definition)
        } else {
            object.properties.clone()
        };
        let keys: Vec<Key> = all
            .iter()
            .map(|property| Key {
                property,
                literal: told_apart(self.model, definition, property),
                // The base's class has the documentation of what it has.
                is_own: object.property(&property.name).is_some(),
            })
            .collect();
        let mut doc = definition.schema.description.clone().unwrap_or_default();
        if doc.is_empty() {
            doc = format!("The protocol's `{name}`.");
        }
        doc.push_str(more(object));
        self.class(name, &doc, &keys)
    }

    fn alias(&mut self, definition: &Definition) -> Result<(), GenerateError> {
        let name = definition.name.clone();
        self.taken(&name)?;
        let place = Place {
            class: name.clone(),
            said: format!("`{name}`"),
        };
        let ty = self.expression(&place, &definition.schema.ty)?;
        let said = [
            definition.schema.description.clone(),
            listed(&definition.schema.ty).and_then(meanings),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        // In quotes, since it may refer to an alias that follows.
        let ty = match &definition.schema.ty {
            Type::Enumeration(values) if values.open => ty
                .strip_suffix(" | str")
                .map_or(ty.clone(), |known| format!("Union[{known}, str]")),
            Type::Enumeration(_) => ty,
            _ => format!("Union[{}]", quoted(&ty)),
        };
        self.aliases.push_str(&format!("\n{name} = {ty}\n"));
        if !said.is_empty() {
            self.aliases.push_str(&docstring("", &said.join("\n")));
        }
        Ok(())
    }

    fn taken(&mut self, name: &str) -> Result<(), GenerateError> {
        if self.names.insert(name.to_owned()) {
            return Ok(());
        }
        Err(GenerateError::Twice { name: name.into() })
    }

    /// Writes a class. Objects in it become classes of their own, in front of it, named after it and the property.
    fn class(&mut self, name: &str, doc: &str, keys: &[Key<'_>]) -> Result<(), GenerateError> {
        self.taken(name)?;
        let mut fields = Vec::new();
        for Key {
            property,
            literal,
            is_own,
        } in keys
        {
            let place = Place {
                class: format!("{name}{}", pascal(&property.name)),
                said: format!("`{}` of `{name}`", property.name),
            };
            let ty = match literal {
                Some(literal) => literal.clone(),
                None => self.expression(&place, &property.schema.ty)?,
            };
            let ty = match property.required {
                true => ty,
                false => format!("NotRequired[{ty}]"),
            };
            let said = is_own.then(|| described(property)).flatten();
            fields.push((&property.name, ty, said));
        }
        let out = &mut self.classes;
        let is_free = |name: &str| self.model.get(name).is_none() && is_field(name);
        if fields.iter().all(|(name, ..)| is_free(name)) {
            out.push_str(&format!("\n\nclass {name}(TypedDict):\n"));
            out.push_str(&docstring("    ", doc));
            for (name, ty, said) in &fields {
                out.push_str(&format!("\n    {name}: {ty}\n"));
                if let Some(said) = said {
                    out.push_str(&docstring("    ", said));
                }
            }
            return Ok(());
        }
        // Names that a class's body can't have.
        out.push_str("\n\n");
        out.push_str(&comment("", doc));
        out.push_str(&format!(
            "{name} = TypedDict(\n    {},\n    {{\n",
            quoted(name)
        ));
        for (name, ty, said) in &fields {
            out.push_str(&comment("        ", said.as_deref().unwrap_or_default()));
            out.push_str(&format!("        {}: {},\n", quoted(name), quoted(ty)));
        }
        out.push_str("    },\n)\n");
        Ok(())
    }

    /// The expression for a type. An object with properties becomes a class that is named after its place.
    fn expression(&mut self, in_place: &Place, ty: &Type) -> Result<String, GenerateError> {
        Ok(match ty {
            Type::Any => "Any".into(),
            Type::Null => "None".into(),
            Type::Boolean => "bool".into(),
            Type::Integer(_) => "int".into(),
            Type::Number { .. } => "float".into(),
            Type::String => "str".into(),
            Type::Enumeration(values) => {
                let known: Vec<String> = values.values.iter().map(|value| quoted(value)).collect();
                let open = if values.open { " | str" } else { "" };
                format!("Literal[{}]{open}", known.join(", "))
            }
            Type::Array(items) => format!("list[{}]", self.expression(in_place, &items.ty)?),
            Type::Object(object) => self.object(in_place, object)?,
            Type::Reference(name) => name.clone(),
            Type::OneOf(schemas) => {
                let types = schemas.iter().map(|schema| &schema.ty);
                self.alternatives(in_place, types)?
            }
            Type::Union(types) => self.alternatives(in_place, types.iter())?,
        })
    }

    fn alternatives<'t>(
        &mut self,
        in_place: &Place,
        types: impl Iterator<Item = &'t Type>,
    ) -> Result<String, GenerateError> {
        let mut known: Vec<String> = Vec::new();
        for (i, ty) in types.enumerate() {
            let number = if i == 0 {
                String::new()
            } else {
                (i + 1).to_string()
            };
            let place = Place {
                class: format!("{}{number}", in_place.class),
                said: in_place.said.clone(),
            };
            known.push(self.expression(&place, ty)?);
        }
        Ok(match known.as_slice() {
            [] => "Any".into(),
            _ => known.join(" | "),
        })
    }

    fn object(&mut self, in_place: &Place, object: &Object) -> Result<String, GenerateError> {
        match &object.additional {
            _ if !object.properties.is_empty() => {
                let keys = object.properties.iter().map(|property| Key {
                    property,
                    literal: None,
                    is_own: true,
                });
                let doc = format!("The {}.{}", in_place.said, more(object));
                self.class(&in_place.class, &doc, &keys.collect::<Vec<_>>())?;
                Ok(in_place.class.clone())
            }
            Additional::Values(values) => {
                let value = self.expression(in_place, &values.ty)?;
                Ok(format!("dict[str, {value}]"))
            }
            Additional::Any | Additional::Unsaid => Ok("dict[str, Any]".into()),
        }
    }
}

/// A property as a key of a class.
struct Key<'p> {
    property: &'p Property,
    /// What takes the place of its type.
    literal: Option<String>,
    is_own: bool,
}

/// Where an object may stand: the name of its class, and what is said about it.
struct Place {
    class: String,
    said: String,
}

/// What an object may have beside its properties, which a `TypedDict` can't say.
fn more(object: &Object) -> &'static str {
    if object.additional == Additional::Unsaid || object.properties.is_empty() {
        ""
    } else {
        "\nOther keys are allowed, too."
    }
}

/// The literal by which a response is told from others, if this property is one: its request's command, or whether that succeeded.
fn told_apart(model: &Model, definition: &Definition, property: &Property) -> Option<String> {
    if definition.base.as_deref() != Some("Response") {
        return None;
    }
    let answered = model.requests().find(|request| {
        let response = request.response;
        response.is_some_and(|response| response.name == definition.name)
    });
    let failed = definition.name == FAILURE;
    match (property.name.as_str(), &property.schema.ty) {
        ("command", Type::String) => {
            answered.map(|request| format!("Literal[{}]", quoted(request.command)))
        }
        ("success", Type::Boolean) if answered.is_some() => Some("Literal[True]".into()),
        ("success", Type::Boolean) if failed => Some("Literal[False]".into()),
        _ => None,
    }
}

/// Writes the unions of all messages, the tables of their classes by name, and the function that reads one.
fn messages(text: &mut String, model: &Model) {
    let requests: Vec<(&str, &str)> = model
        .requests()
        .map(|request| (request.command, request.definition.name.as_str()))
        .collect();
    let events: Vec<(&str, &str)> = model
        .events()
        .map(|event| (event.event, event.definition.name.as_str()))
        .collect();
    let responses: Vec<(&str, &str)> = model
        .requests()
        .filter_map(|request| Some((request.command, request.response?.name.as_str())))
        .collect();
    if requests.is_empty() && events.is_empty() {
        return;
    }
    let failure = model.get(FAILURE).map(|failure| failure.name.as_str());
    let unions = [
        (
            "AnyRequest",
            "Any request, whichever side sends it.",
            &requests,
            None,
        ),
        (
            "AnyResponse",
            "Any response: of a request that succeeded or failed.",
            &responses,
            failure,
        ),
        ("AnyEvent", "Any event.", &events, None),
    ];
    let mut all = Vec::new();
    for (name, doc, members, more) in unions {
        let members = members.iter().map(|(_, class)| *class).chain(more);
        let members: Vec<String> = members.map(|class| format!("    {class},\n")).collect();
        if members.is_empty() {
            continue;
        }
        all.push(name);
        text.push_str(&format!("\n{name} = Union[\n{}]\n", members.concat()));
        text.push_str(&docstring("", doc));
    }
    text.push_str(&format!("\nAnyMessage = Union[{}]\n", all.join(", ")));
    text.push_str(&docstring("", "Any message."));
    for (name, doc, members) in [
        (
            "REQUESTS",
            "The class of each request, by its command.",
            &requests,
        ),
        (
            "RESPONSES",
            "The class of each successful response, by its command.",
            &responses,
        ),
        ("EVENTS", "The class of each event, by its name.", &events),
    ] {
        let members = members.iter();
        let members: String = members
            .map(|(wire, class)| format!("    {}: {class},\n", quoted(wire)))
            .collect();
        text.push_str(&format!("\n{name}: dict[str, Any] = {{\n{members}}}\n"));
        text.push_str(&docstring("", doc));
    }
    text.push_str(DECODE);
}

const DECODE: &str = r#"

def decode(text: str | bytes) -> AnyMessage:
    """Reads a message's JSON, without the header.

    Only the kind of message is checked. A command or event that isn't listed here is returned, too: keep a branch for it.
    A ValueError says that the text isn't JSON or isn't a message.
    """
    message = json.loads(text)
    kind = message.get("type") if isinstance(message, dict) else None
    name = {"request": "command", "response": "command", "event": "event"}.get(str(kind))
    if name is None or not isinstance(message.get(name), str):
        raise ValueError("not a request, a response or an event")
    return cast(AnyMessage, message)
"#;

/// What is said about a property: its description, the meanings of values, its range.
fn described(property: &Property) -> Option<String> {
    let Schema {
        description, ty, ..
    } = &property.schema;
    let parts = [
        description.clone(),
        listed(ty).and_then(meanings),
        prose::range(ty),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// The enumeration whose values a docstring explains: the type itself or that of an array's items.
fn listed(ty: &Type) -> Option<&Enumeration> {
    match ty {
        Type::Enumeration(values) => Some(values),
        Type::Array(items) => listed(&items.ty),
        _ => None,
    }
}

fn meanings(values: &Enumeration) -> Option<String> {
    let lines = values.values.iter().zip(&values.descriptions);
    let lines: Vec<String> = lines
        .map(|(value, meaning)| format!("- {}: {meaning}", quoted(value)))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A docstring with its indent and line end. Lines are wrapped.
fn docstring(indent: &str, text: &str) -> String {
    let lines = prose::wrapped(text, indent, "");
    let body = lines
        .join("\n")
        .replace('\\', "\\\\")
        .replace("\"\"\"", "\\\"\\\"\\\"");
    let body = match body.strip_suffix('"') {
        Some(rest) => format!("{rest}\\\""),
        None => body,
    };
    if lines.len() > 1 {
        format!("{indent}\"\"\"{}\n{indent}\"\"\"\n", body.trim_start())
    } else {
        format!("{indent}\"\"\"{}\"\"\"\n", body.trim_start())
    }
}

/// Comment lines; nothing for an empty text.
fn comment(indent: &str, text: &str) -> String {
    let lines = prose::wrapped(text, indent, "# ");
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    chars.next().is_some_and(first) && chars.all(|c| first(c) || c.is_ascii_digit())
}

/// Whether a class's body can have a key of that name. A name that begins with two underscores would be changed there, and one that
/// types use would be taken for the field.
fn is_field(name: &str) -> bool {
    let types = [
        "int",
        "str",
        "float",
        "bool",
        "dict",
        "list",
        "Any",
        "Literal",
        "NotRequired",
    ];
    let keyword = RESERVED.contains(&name)
        && !["type", "json", "cast", "decode", "sys", "object", "bytes"].contains(&name);
    is_identifier(name) && !name.starts_with("__") && !keyword && !types.contains(&name)
}
