//! Generates TypeScript declarations from a model: one ambient module with an interface or a type for each definition.
//!
//! From the official schema, it generates the same module, character for character, as the typings published with that schema
//! (`@vscode/debugprotocol`); `editors/interop/typings` checks it. So the layout is theirs: tabs; `extends` for a base; a message's
//! constant (`command`, `event`, `type`) as a comment, since the base declares it as a string; an enumeration's values in the comment of
//! the property that has it. Integers and numbers are both `number`, without their ranges. [`Options::preamble`] replaces the text before
//! the module.

pub(crate) mod types;

use crate::Model;
use crate::model::{Additional, Definition, Enumeration, Object, Property, Schema, Type};
use types::{
    Form, below, constant, in_comment, is_type_name, key, listed, meanings, names, quoted,
};

/// Options for [`generate`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The module's name.
    pub module: String,
    /// The text before the module. `None`: a line that says what it was generated from.
    pub preamble: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            module: "DebugProtocol".into(),
            preamble: None,
        }
    }
}

/// Why no TypeScript could be generated from a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A name that TypeScript does not allow.
    #[error("`{name}` can't be the name of a TypeScript type: rename the definition")]
    Name {
        /// The definition's name.
        name: String,
    },
    /// The module's name is not allowed in TypeScript.
    #[error("`{name}` can't be the name of a TypeScript module")]
    Module {
        /// The requested name.
        name: String,
    },
}

/// Generates the declarations of all types in `model`.
///
/// # Errors
/// The name of a definition or of the module is not allowed in TypeScript.
pub fn generate(model: &Model, options: &Options) -> Result<String, GenerateError> {
    if !is_type_name(&options.module) {
        return Err(GenerateError::Module {
            name: options.module.clone(),
        });
    }
    check_names(model)?;
    let mut text = match &options.preamble {
        Some(preamble) => preamble.clone(),
        None => format!(
            "/** Declarations for: {}. Generated from its JSON schema: change that, not this. */\n",
            in_comment(model.title().unwrap_or("a debug protocol"))
        ),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("export declare module {} {{\n", options.module));
    for definition in model.definitions() {
        text.push('\n');
        item(&mut text, model, definition);
    }
    text.push_str("}\n\n");
    Ok(text)
}

/// Checks that every definition's name can be the name of a type.
pub(crate) fn check_names(model: &Model) -> Result<(), GenerateError> {
    match model
        .definitions()
        .iter()
        .find(|definition| !is_type_name(&definition.name))
    {
        Some(definition) => Err(GenerateError::Name {
            name: definition.name.clone(),
        }),
        None => Ok(()),
    }
}

fn item(text: &mut String, model: &Model, definition: &Definition) {
    let values = listed(&definition.schema.ty).and_then(values);
    let described = below([
        message(definition),
        definition.schema.description.clone(),
        values,
    ]);
    comment(text, 1, described);
    match definition.object() {
        Some(object) => {
            let base = definition
                .base
                .as_ref()
                .map(|base| format!(" extends {base}"));
            text.push_str(&format!(
                "\tinterface {}{} {{\n",
                definition.name,
                base.unwrap_or_default()
            ));
            let inherited = inherited(model, definition);
            properties(text, 2, object, &inherited);
            text.push_str("\t}\n");
        }
        None => {
            let ty = expression(&definition.schema.ty, 1);
            text.push_str(&format!("\ttype {} = {ty};\n", definition.name));
        }
    }
}

/// The comment's line that names the request or event.
fn message(definition: &Definition) -> Option<String> {
    match definition.base.as_deref()? {
        "Request" => {
            let command = definition.constant("command")?;
            let name = definition
                .name
                .strip_suffix("Request")
                .unwrap_or(&definition.name);
            Some(format!(
                "{name} request; value of command field is {}.",
                quoted(command)
            ))
        }
        "Event" => {
            let event = definition.constant("event")?;
            Some(format!("Event message for {} event type.", quoted(event)))
        }
        _ => None,
    }
}

/// The comment for an enumeration. `None` if the type below the comment already lists the values.
fn values(values: &Enumeration) -> Option<String> {
    match (values.open, values.descriptions.is_empty()) {
        (true, true) => Some(names(values)),
        (true, false) => Some(format!("Values: \n{}", meanings(values, ""))),
        (false, true) => None,
        (false, false) => Some(meanings(values, "")),
    }
}

/// The properties that a definition inherits.
fn inherited(model: &Model, definition: &Definition) -> Vec<Property> {
    let base = definition.base.as_ref().and_then(|name| model.get(name));
    base.map(|base| model.all_properties(base))
        .unwrap_or_default()
}

/// Writes an object's properties. A constant that overrides an inherited property becomes a comment.
fn properties(text: &mut String, depth: usize, object: &Object, inherited: &[Property]) {
    let indent = "\t".repeat(depth);
    for property in &object.properties {
        let overrides = inherited.iter().any(|base| base.name == property.name);
        if overrides
            && constant(&property.schema).is_some()
            && property.schema.description.is_none()
        {
            text.push_str(&format!("{indent}// {}\n", statement(property, depth)));
            continue;
        }
        let Schema {
            description, ty, ..
        } = &property.schema;
        comment(
            text,
            depth,
            below([description.clone(), listed(ty).and_then(values)]),
        );
        text.push_str(&format!("{indent}{}\n", statement(property, depth)));
    }
    if object.additional != Additional::Unsaid && !object.properties.is_empty() {
        text.push_str(&format!("{indent}[key: string]: any;\n"));
    }
}

fn statement(property: &Property, depth: usize) -> String {
    format!(
        "{}: {};",
        key(property),
        expression(&property.schema.ty, depth)
    )
}

fn expression(ty: &Type, depth: usize) -> String {
    let object = |object: &Object| {
        let mut text = String::from("{\n");
        properties(&mut text, depth + 1, object, &[]);
        text.push_str(&"\t".repeat(depth));
        text.push('}');
        text
    };
    let form = Form {
        or: " | ",
        object: &object,
    };
    form.expression(ty)
}

/// Writes a comment on one line, or with all lines after the first indented.
fn comment(text: &mut String, depth: usize, said: Option<String>) {
    let Some(said) = said else { return };
    let indent = "\t".repeat(depth);
    let said = in_comment(&said);
    if said.contains('\n') {
        let said = said.replace('\n', &format!("\n{indent}\t"));
        text.push_str(&format!("{indent}/** {said}\n{indent}*/\n"));
    } else {
        text.push_str(&format!("{indent}/** {said} */\n"));
    }
}
