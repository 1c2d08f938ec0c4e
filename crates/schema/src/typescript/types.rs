//! TypeScript expressions for types, and comments about values; shared by the declarations and the document.

use crate::model::{Additional, Enumeration, Object, Property, Schema, Type};

/// Words that are refused as a type's name: predefined types, reserved words and some others.
const RESERVED: [&str; 49] = [
    "any",
    "as",
    "bigint",
    "boolean",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "never",
    "new",
    "null",
    "number",
    "object",
    "return",
    "string",
    "super",
    "switch",
    "symbol",
    "this",
    "throw",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "unknown",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Whether `name` can be the name of an interface or a type.
pub(crate) fn is_type_name(name: &str) -> bool {
    is_identifier(name) && !RESERVED.contains(&name)
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    chars.next().is_some_and(first) && chars.all(|c| first(c) || c.is_ascii_digit())
}

/// A property's name with its question mark, quoted if necessary.
pub(crate) fn key(property: &Property) -> String {
    let mark = if property.required { "" } else { "?" };
    if is_identifier(&property.name) {
        format!("{}{mark}", property.name)
    } else {
        format!("{}{mark}", quoted(&property.name))
    }
}

/// A string literal.
pub(crate) fn quoted(text: &str) -> String {
    let mut literal = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => literal.extend(['\\', c]),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\u{2028}' => literal.push_str("\\u2028"),
            '\u{2029}' => literal.push_str("\\u2029"),
            c => literal.push(c),
        }
    }
    literal.push('\'');
    literal
}

/// How an expression is written: the separator of alternatives, and the text for an inline object with
/// properties.
pub(crate) struct Form<'a> {
    pub(crate) or: &'a str,
    pub(crate) object: &'a dyn Fn(&Object) -> String,
}

impl Form<'_> {
    /// The expression for `ty`.
    pub(crate) fn expression(&self, ty: &Type) -> String {
        match ty {
            Type::Any => "any".into(),
            Type::Null => "null".into(),
            Type::Boolean => "boolean".into(),
            Type::Integer(_) | Type::Number { .. } => "number".into(),
            Type::String => "string".into(),
            Type::Enumeration(values) => {
                self.alternatives(ty, values.values.iter().map(|value| quoted(value)))
            }
            Type::Array(items) => {
                let one = self.expression(&items.ty);
                if has_alternatives(&items.ty) {
                    format!("({one})[]")
                } else {
                    format!("{one}[]")
                }
            }
            Type::Object(object) => self.object(object),
            Type::Reference(name) => name.clone(),
            Type::OneOf(schemas) => {
                self.alternatives(ty, schemas.iter().map(|schema| self.expression(&schema.ty)))
            }
            Type::Union(types) => {
                self.alternatives(ty, types.iter().map(|one| self.expression(one)))
            }
        }
    }

    fn alternatives(&self, ty: &Type, known: impl Iterator<Item = String>) -> String {
        let mut all: Vec<String> = known.collect();
        if matches!(ty, Type::Enumeration(values) if values.open) {
            all.push("string".into());
        }
        all.join(self.or)
    }

    fn object(&self, object: &Object) -> String {
        if !object.properties.is_empty() {
            return (self.object)(object);
        }
        match &object.additional {
            Additional::Values(values) => {
                format!("{{ [key: string]: {}; }}", self.expression(&values.ty))
            }
            Additional::Any => "{ [key: string]: any; }".into(),
            Additional::Unsaid => "object".into(),
        }
    }
}

fn has_alternatives(ty: &Type) -> bool {
    match ty {
        Type::Enumeration(values) => values.open || values.values.len() > 1,
        Type::OneOf(schemas) => schemas.len() > 1,
        Type::Union(types) => types.len() > 1,
        _ => false,
    }
}

/// Whether the expression for `ty` contains an inline object with properties.
pub(crate) fn has_block(ty: &Type) -> bool {
    match ty {
        Type::Object(object) => {
            !object.properties.is_empty()
                || matches!(&object.additional, Additional::Values(values) if has_block(&values.ty))
        }
        Type::Array(items) => has_block(&items.ty),
        Type::OneOf(schemas) => schemas.iter().any(|schema| has_block(&schema.ty)),
        Type::Union(types) => types.iter().any(has_block),
        _ => false,
    }
}

/// The property's value, if only one is possible. Such a value tells a message's kind, and a comment doesn't
/// list it.
pub(crate) fn constant(schema: &Schema) -> Option<&str> {
    match &schema.ty {
        Type::Enumeration(values) if !values.open && values.values.len() == 1 => {
            values.values.first().map(String::as_str)
        }
        _ => None,
    }
}

/// The enumeration whose values a comment lists: the type itself or that of an array's items.
pub(crate) fn listed(ty: &Type) -> Option<&Enumeration> {
    match ty {
        Type::Enumeration(values) => Some(values),
        Type::Array(items) => listed(&items.ty),
        _ => None,
    }
}

/// The values of an enumeration with their meanings, one a line, followed by `etc.` if others are allowed.
pub(crate) fn meanings(values: &Enumeration, bullet: &str) -> String {
    let mut lines: Vec<String> = values
        .values
        .iter()
        .zip(&values.descriptions)
        .map(|(value, meaning)| format!("{bullet}{}: {meaning}", quoted(value)))
        .collect();
    if values.open {
        lines.push("etc.".into());
    }
    lines.join("\n")
}

/// The values of an enumeration on one line, followed by `etc.` if others are allowed.
pub(crate) fn names(values: &Enumeration) -> String {
    let mut all: Vec<String> = values.values.iter().map(|value| quoted(value)).collect();
    if values.open {
        all.push("etc.".into());
    }
    format!("Values: {}", all.join(", "))
}

/// Joins the parts of a comment that exist, one below the other.
pub(crate) fn below<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let there: Vec<String> = parts.into_iter().flatten().collect();
    (!there.is_empty()).then(|| there.join("\n"))
}

/// Escapes the end of a comment in `text`, and normalizes its line ends.
pub(crate) fn in_comment(text: &str) -> String {
    text.replace("*/", "*\\/").replace("\r\n", "\n")
}
