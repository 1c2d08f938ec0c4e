//! The JSON schema (draft 7) of launch configurations, and the part of it that VS Code's manifest carries.

use super::Start;
use super::row::{Origin, Row};
use super::table::{self, CLIENTS_OWN};
use crate::argument_values::shape::{Field, Shape, Word};
use serde_json::{Map, Value, json};

/// The whole schema, for an object with a `request`.
pub fn launch_schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Launch configurations of Dapple",
        "description": "Written by `cargo xtask codegen` from the adapter's table of arguments.",
        "type": "object",
        "required": ["request"],
        "properties": { "request": { "enum": ["launch", "attach"] } },
        "if": { "properties": { "request": { "const": "attach" } } },
        "then": { "$ref": "#/definitions/attach" },
        "else": { "$ref": "#/definitions/launch" },
        "definitions": {
            "launch": definition(Start::Launch),
            "attach": definition(Start::Attach),
        },
    })
}

/// `configurationAttributes` of VS Code's `contributes.debuggers`. VS Code itself adds the attributes that all debuggers have.
pub fn configuration_attributes() -> Value {
    let mut attributes =
        json!({ "launch": attributes(Start::Launch), "attach": attributes(Start::Attach) });
    in_markdown(&mut attributes);
    for start in [Start::Launch, Start::Attach] {
        // Aliases work, but are not suggested.
        for alias in table::rows(start).filter_map(|row| row.alias_of().map(|_| row.name)) {
            attributes[start.name()]["properties"][alias]["doNotSuggest"] = json!(true);
        }
    }
    attributes
}

/// Renames descriptions to the keys that VS Code renders as Markdown.
fn in_markdown(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            for (plain, markdown) in [
                ("description", "markdownDescription"),
                ("enumDescriptions", "markdownEnumDescriptions"),
            ] {
                if let Some(text) = keywords.remove(plain) {
                    keywords.insert(markdown.to_owned(), text);
                }
            }
            keywords.values_mut().for_each(in_markdown);
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(in_markdown),
        _ => {}
    }
}

fn attributes(start: Start) -> Value {
    // No argument is required, because any of several can name the program.
    json!({ "properties": properties(start) })
}

/// The schema of one request. Beside the request's arguments, it allows [`CLIENTS_OWN`] and all names that begin with `_`.
fn definition(start: Start) -> Value {
    let mut definition = attributes(start);
    let own = CLIENTS_OWN
        .iter()
        .map(|name| ((*name).to_owned(), Value::Bool(true)));
    if let Some(properties) = definition["properties"].as_object_mut() {
        properties.extend(own);
    }
    definition["type"] = json!("object");
    definition["patternProperties"] = json!({ "^_": true });
    definition["additionalProperties"] = json!(false);
    definition
}

fn properties(start: Start) -> Map<String, Value> {
    let documented = table::rows(start).filter(|row| row.is_documented());
    documented
        .map(|row| (row.name.to_owned(), property(row)))
        .collect()
}

fn property(row: &Row) -> Value {
    let mut property = row.shape.schema();
    property["description"] = json!(match row.origin {
        Origin::Alias { from, .. } => format!("{from}'s name: {}", lower(row.description)),
        _ => row.description.to_owned(),
    });
    if let Some(default) = row.default.and_then(|text| serde_json::from_str(text).ok()) {
        property["default"] = default;
    }
    if let Ok(example) = serde_json::from_str::<Value>(row.example) {
        property["examples"] = json!([example]);
    }
    property
}

/// A sentence with a lower-case first letter.
fn lower(sentence: &str) -> String {
    let mut characters = sentence.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

impl Shape {
    /// The schema of values with this shape.
    fn schema(&self) -> Value {
        match self {
            Shape::Boolean => json!({ "type": "boolean" }),
            Shape::Integer => json!({ "type": "integer" }),
            Shape::Number => json!({ "type": "number" }),
            Shape::Null => json!({ "type": "null" }),
            Shape::Text | Shape::Path => json!({ "type": "string" }),
            Shape::Word(words) => of_words(words),
            Shape::PathOr(words) => json!({ "anyOf": [of_words(words), { "type": "string" }] }),
            Shape::List(each) => json!({ "type": "array", "items": each.schema() }),
            Shape::Pair(each) => {
                json!({ "type": "array", "items": each.schema(), "minItems": 2, "maxItems": 2 })
            }
            Shape::Map(each) => json!({ "type": "object", "additionalProperties": each.schema() }),
            Shape::Object(fields) => of_fields(fields),
            Shape::Any(shapes) => {
                json!({ "anyOf": shapes.iter().map(Shape::schema).collect::<Vec<_>>() })
            }
            Shape::Called(_, shape) => shape.schema(),
        }
    }
}

fn of_words(words: &[Word]) -> Value {
    let (words, meanings): (Vec<_>, Vec<_>) =
        words.iter().map(|word| (word.word, word.meaning)).unzip();
    // `enumDescriptions` is for editors; validators ignore it.
    json!({ "type": "string", "enum": words, "enumDescriptions": meanings })
}

fn of_fields(fields: &[Field]) -> Value {
    let property = |field: &Field| {
        let mut property = field.shape.schema();
        property["description"] = json!(field.meaning);
        (field.name.to_owned(), property)
    };
    let required = fields.iter().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": fields.iter().map(property).collect::<Map<_, _>>(),
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}
