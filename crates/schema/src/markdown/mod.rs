//! The protocol's specification as a Markdown document.
//!
//! From the official schema, this makes the published specification page from its first heading on: sections at the definitions that have
//! a title, an anchor for each item, its description, and its type in TypeScript with wrapped comments. A request's arguments and response
//! follow it without headings of their own. The page begins with the file's title and description, unless [`Options::preamble`] replaces
//! them.

mod wrap;

use crate::Model;
use crate::model::{Additional, Definition, Enumeration, Integer, Object, Property, Schema, Type};
use crate::typescript::types::{
    Form, below, constant, has_block, in_comment, key, listed, meanings, names,
};
use crate::typescript::{GenerateError, check_names};
use std::collections::HashSet;

/// Options for [`generate`].
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The text before the first section. `None`: the title and description of the definition file.
    pub preamble: Option<String>,
}

/// A reverse request whose heading on the published page has the arrow of a request to the adapter.
const MARKED_AS_FORWARD: &str = "startDebugging";

/// The section whose requests go from the adapter to the client.
const REVERSE: &str = "Reverse Requests";

/// The section name in the anchors of items without a section, and of arguments and responses.
const TYPES: &str = "Types";

/// Generates the document for all definitions of `model`.
///
/// # Errors
/// A definition's name is not allowed in TypeScript, in which types are shown.
pub fn generate(model: &Model, options: &Options) -> Result<String, GenerateError> {
    check_names(model)?;
    let mut text = match &options.preamble {
        Some(preamble) => preamble.clone(),
        None => front(model),
    };
    let page = Page {
        reverse: model
            .requests()
            .filter(|request| request.reverse)
            .map(|request| request.definition.name.as_str())
            .collect(),
        attached: attached(model),
    };
    let mut section = TYPES;
    for definition in model.definitions() {
        if let Some(title) = &definition.schema.title {
            section = title;
            text.push_str(&format!("## {}{title}\n\n", anchor(&[title])));
        }
        page.item(&mut text, section, definition);
    }
    Ok(text)
}

fn front(model: &Model) -> String {
    let title = model.title().unwrap_or("Protocol");
    let description = model
        .description()
        .map(|text| format!("{}\n\n", paragraphs(text)));
    format!("# {title}\n\n{}", description.unwrap_or_default())
}

/// The arguments and responses that are shown below their request.
fn attached(model: &Model) -> HashSet<&str> {
    let mut names = HashSet::new();
    for request in model.requests() {
        names.extend(request.response.map(|response| response.name.as_str()));
        if let Some(Type::Reference(name)) = request.arguments.map(|arguments| &arguments.schema.ty)
            && name.ends_with("Arguments")
        {
            names.insert(name);
        }
    }
    names
}

struct Page<'m> {
    reverse: HashSet<&'m str>,
    attached: HashSet<&'m str>,
}

impl Page<'_> {
    fn item(&self, text: &mut String, section: &str, definition: &Definition) {
        let attached = self.attached.contains(definition.name.as_str());
        if !attached {
            let (name, heading) = self.heading(section, definition);
            text.push_str(&format!("### {}{heading}\n\n", anchor(&[section, name])));
        }
        let described = definition.schema.description.as_deref().map(paragraphs);
        let values = listed(&definition.schema.ty).and_then(|listed| values(listed, "- "));
        if let Some(said) = below([described, values]) {
            text.push_str(&format!("{said}\n\n"));
        }
        if attached {
            text.push_str(&format!("{}\n", anchor(&[TYPES, &definition.name])));
        }
        text.push_str(&format!(
            "```typescript\n{}```\n\n",
            declaration(definition)
        ));
    }

    /// The definition's name in the anchor, and the text of the heading.
    fn heading<'d>(&self, section: &str, definition: &'d Definition) -> (&'d str, String) {
        let name = definition.name.as_str();
        match definition.base.as_deref() {
            Some("Request") => {
                let short = name.strip_suffix("Request").unwrap_or(name);
                let reverse = section == REVERSE || self.reverse.contains(name);
                let arrow = if reverse && definition.constant("command") != Some(MARKED_AS_FORWARD)
                {
                    ":arrow_right_hook:"
                } else {
                    ":leftwards_arrow_with_hook:"
                };
                (short, format!("{arrow} {short} Request"))
            }
            Some("Event") => {
                let short = name.strip_suffix("Event").unwrap_or(name);
                (short, format!(":arrow_left: {short} Event"))
            }
            _ => (name, name.to_owned()),
        }
    }
}

fn anchor(names: &[&str]) -> String {
    let name = names.join("_").replace(' ', "_");
    format!("<a name=\"{name}\" class=\"anchor\"></a>")
}

/// Makes each line of a description a paragraph. Lines of a list stay together.
fn paragraphs(description: &str) -> String {
    let mut text = String::new();
    for (i, line) in description.split('\n').enumerate() {
        if i > 0 {
            text.push_str(if line.starts_with('-') { "\n" } else { "\n\n" });
        }
        text.push_str(line);
    }
    text
}

fn declaration(definition: &Definition) -> String {
    let Some(object) = definition.object() else {
        return alias(definition);
    };
    let base = definition
        .base
        .as_ref()
        .map(|base| format!(" extends {base}"));
    let mut text = format!(
        "interface {}{} {{\n",
        definition.name,
        base.unwrap_or_default()
    );
    properties(&mut text, 1, object);
    text.push_str("}\n");
    text
}

/// A definition that is not an object. Of these, only open enumerations are exported, but lines are broken as if each began with `export`.
fn alias(definition: &Definition) -> String {
    const EXPORT: &str = "export ";
    let start = format!("{EXPORT}type {}", definition.name);
    let text = statement(&start, " = ", &definition.schema.ty, 0) + "\n";
    match &definition.schema.ty {
        Type::Enumeration(values) if values.open => text,
        _ => text
            .strip_prefix(EXPORT)
            .map_or(text.clone(), str::to_owned),
    }
}

fn properties(text: &mut String, depth: usize, object: &Object) {
    let indent = "  ".repeat(depth);
    for (i, property) in object.properties.iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        if let Some(said) = described(property) {
            text.push_str(&wrap::comment(&indent, &in_comment(&said)));
        }
        let statement = statement(&key(property), ": ", &property.schema.ty, depth);
        text.push_str(&format!("{indent}{statement}\n"));
    }
    if object.additional != Additional::Unsaid && !object.properties.is_empty() {
        text.push_str(&format!("\n{indent}[key: string]: any;\n"));
    }
}

fn statement(start: &str, joint: &str, ty: &Type, depth: usize) -> String {
    let object = |object: &Object| {
        let mut text = String::from("{\n");
        properties(&mut text, depth + 1, object);
        text.push_str(&"  ".repeat(depth));
        text.push('}');
        text
    };
    // A statement that contains a block is not broken into lines here, because the block has its own lines.
    let or = if has_block(ty) { " | " } else { "\n" };
    let form = Form {
        or,
        object: &object,
    };
    let text = format!("{start}{joint}{};", form.expression(ty));
    if has_block(ty) {
        return text;
    }
    let parts: Vec<&str> = text.split('\n').collect();
    wrap::alternatives(&parts, &"  ".repeat(depth))
}

/// The text of the comment above a property.
fn described(property: &Property) -> Option<String> {
    let Schema {
        description, ty, ..
    } = &property.schema;
    let values = match constant(&property.schema) {
        Some(_) => None,
        None => listed(ty).and_then(|listed| values(listed, "")),
    };
    below([description.clone(), values, limits(ty)])
}

fn values(values: &Enumeration, bullet: &str) -> Option<String> {
    if values.descriptions.is_empty() {
        return Some(names(values));
    }
    Some(format!("Values: \n{}", meanings(values, bullet)))
}

/// Format and range of a number, one a line. If a range has no format, the published page has `undefined` in its place.
fn limits(ty: &Type) -> Option<String> {
    let (format, minimum, maximum) = match ty {
        Type::Integer(Integer {
            format,
            minimum,
            maximum,
        }) => (
            format.clone(),
            minimum.map(|limit| limit.to_string()),
            maximum.map(|limit| limit.to_string()),
        ),
        Type::Number { minimum, maximum } => (
            None,
            minimum.map(|limit| limit.to_string()),
            maximum.map(|limit| limit.to_string()),
        ),
        Type::Array(items) => return limits(&items.ty),
        _ => return None,
    };
    let limited = minimum.is_some() || maximum.is_some();
    let format = format.or_else(|| limited.then(|| "undefined".to_owned()));
    below([
        format.map(|format| format!("@format {format}")),
        minimum.map(|limit| format!("@minimum {limit}")),
        maximum.map(|limit| format!("@maximum {limit}")),
    ])
}
