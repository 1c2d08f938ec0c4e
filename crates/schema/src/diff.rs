//! The difference of two definitions: in structure ([`diff`]) and in text ([`text`](fn@text)).
//!
//! Structure is what a program depends on: which definitions and properties exist, which definition extends which, what is required,
//! types, references, formats, limits, and enumerations with their kind (open or closed). Order, titles and prose don't belong to it.
//! Neither do keywords that the model doesn't know: see [`Model::unknown_keywords`].
//!
//! ```
//! use dapple_schema::{Model, diff};
//!
//! let with_line = |ty| Model::parse(&format!(
//!     r#"{{"definitions": {{"Place": {{"type": "object", "properties": {{"line": {{"type": "{ty}"}}}}}}}}}}"#
//! ));
//! let differences = diff::diff(&with_line("integer")?, &with_line("string")?);
//! assert_eq!(differences[0].to_string(), "Place.line: an integer against a string");
//! # Ok::<(), dapple_schema::SchemaError>(())
//! ```

mod text;

pub use text::text;

use crate::Model;
use crate::model::{Additional, Definition, Enumeration, Object, Schema, Type};
use std::collections::BTreeSet;
use std::fmt;

/// One way in which two definitions differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The place: a definition's name, then properties, `[]` for an array's items, `{}` for a map's values. If [`text`](fn@text) has
    /// found the difference, the aspect follows: `D.p: description`.
    pub path: String,
    /// What the first model has there.
    pub first: String,
    /// What the second model has there.
    pub second: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} against {}", self.path, self.first, self.second)
    }
}

/// Which of two models a difference gives more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The first model has something there that the second doesn't have.
    More,
    /// The second model has something there that the first doesn't have.
    Less,
    /// Both have something, but not the same.
    Other,
}

impl Difference {
    /// Whether one of the models simply has nothing there. For a difference in structure.
    pub fn extent(&self) -> Extent {
        // As this module writes it: `nothing`, `no minimum`, `no base`.
        let is_nothing = |text: &str| text == "nothing" || text.starts_with("no ");
        match (is_nothing(&self.first), is_nothing(&self.second)) {
            (false, true) => Extent::More,
            (true, false) => Extent::Less,
            _ => Extent::Other,
        }
    }
}

/// All differences in structure, in the order of the first model, at each level followed by what only the second has.
pub fn diff(first: &Model, second: &Model) -> Vec<Difference> {
    let mut comparison = Comparison { found: Vec::new() };
    for definition in first.definitions() {
        match second.get(&definition.name) {
            Some(other) => comparison.definition(definition, other),
            None => comparison.add(&definition.name, "a definition", "nothing"),
        }
    }
    for definition in second.definitions() {
        if first.get(&definition.name).is_none() {
            comparison.add(&definition.name, "nothing", "a definition");
        }
    }
    comparison.found
}

struct Comparison {
    found: Vec<Difference>,
}

impl Comparison {
    fn add(&mut self, path: &str, first: impl Into<String>, second: impl Into<String>) {
        self.found.push(Difference {
            path: path.to_owned(),
            first: first.into(),
            second: second.into(),
        });
    }

    /// Adds a difference unless both values are equal.
    fn same<T: PartialEq>(
        &mut self,
        path: &str,
        first: &T,
        second: &T,
        shown: impl Fn(&T) -> String,
    ) {
        if first != second {
            self.add(path, shown(first), shown(second));
        }
    }

    fn definition(&mut self, first: &Definition, second: &Definition) {
        self.same(&first.name, &first.base, &second.base, |base| match base {
            Some(base) => format!("base `{base}`"),
            None => "no base".into(),
        });
        self.schema(&first.name, &first.schema, &second.schema);
    }

    fn schema(&mut self, path: &str, first: &Schema, second: &Schema) {
        self.ty(path, &first.ty, &second.ty);
    }

    fn ty(&mut self, path: &str, first: &Type, second: &Type) {
        match (first, second) {
            (Type::Object(first), Type::Object(second)) => self.object(path, first, second),
            (Type::Array(first), Type::Array(second)) => {
                self.schema(&format!("{path}[]"), first, second)
            }
            (Type::Enumeration(first), Type::Enumeration(second)) => {
                self.enumeration(path, first, second)
            }
            (Type::Integer(first), Type::Integer(second)) => {
                self.same(path, &first.format, &second.format, |format| {
                    shown("format", format)
                });
                self.same(path, &first.minimum, &second.minimum, |limit| {
                    shown("minimum", limit)
                });
                self.same(path, &first.maximum, &second.maximum, |limit| {
                    shown("maximum", limit)
                });
            }
            (
                Type::Number { minimum, maximum },
                Type::Number {
                    minimum: other_minimum,
                    maximum: other_maximum,
                },
            ) => {
                self.same(path, minimum, other_minimum, |limit| {
                    shown("minimum", limit)
                });
                self.same(path, maximum, other_maximum, |limit| {
                    shown("maximum", limit)
                });
            }
            (Type::OneOf(first), Type::OneOf(second)) if first.len() == second.len() => {
                self.alternatives(
                    path,
                    first.iter().map(|schema| &schema.ty),
                    second.iter().map(|schema| &schema.ty),
                );
            }
            (Type::Union(first), Type::Union(second)) if first.len() == second.len() => {
                self.alternatives(path, first.iter(), second.iter());
            }
            (first, second) => {
                self.same(path, &described(first), &described(second), String::clone)
            }
        }
    }

    /// Alternatives have no order: both models' are sorted by their descriptions, then compared pairwise.
    fn alternatives<'t>(
        &mut self,
        path: &str,
        first: impl Iterator<Item = &'t Type>,
        second: impl Iterator<Item = &'t Type>,
    ) {
        let by_name = |mut types: Vec<&'t Type>| {
            types.sort_by_key(|ty| described(ty));
            types
        };
        for (first, second) in by_name(first.collect())
            .into_iter()
            .zip(by_name(second.collect()))
        {
            self.ty(path, first, second);
        }
    }

    fn object(&mut self, path: &str, first: &Object, second: &Object) {
        for property in &first.properties {
            let at = format!("{path}.{}", property.name);
            match second.property(&property.name) {
                Some(other) => {
                    self.same(&at, &property.required, &other.required, |required| {
                        if *required {
                            "required".into()
                        } else {
                            "optional".into()
                        }
                    });
                    self.schema(&at, &property.schema, &other.schema);
                }
                None => self.add(&at, "a property", "nothing"),
            }
        }
        for property in &second.properties {
            if first.property(&property.name).is_none() {
                self.add(
                    &format!("{path}.{}", property.name),
                    "nothing",
                    "a property",
                );
            }
        }
        match (&first.additional, &second.additional) {
            (Additional::Values(first), Additional::Values(second)) => {
                self.schema(&format!("{path}{{}}"), first, second)
            }
            (first, second) => {
                self.same(path, &free_content(first), &free_content(second), |text| {
                    (*text).to_owned()
                })
            }
        }
    }

    fn enumeration(&mut self, path: &str, first: &Enumeration, second: &Enumeration) {
        self.same(path, &first.open, &second.open, |open| {
            if *open {
                "an open enumeration".into()
            } else {
                "a closed enumeration".into()
            }
        });
        let (ours, theirs): (BTreeSet<_>, BTreeSet<_>) = (
            first.values.iter().collect(),
            second.values.iter().collect(),
        );
        for value in ours.difference(&theirs) {
            self.add(path, format!("the value \"{value}\""), "nothing");
        }
        for value in theirs.difference(&ours) {
            self.add(path, "nothing", format!("the value \"{value}\""));
        }
    }
}

fn shown<T: fmt::Display>(what: &str, value: &Option<T>) -> String {
    value
        .as_ref()
        .map_or_else(|| format!("no {what}"), |value| format!("{what} {value}"))
}

fn free_content(additional: &Additional) -> &'static str {
    match additional {
        Additional::Unsaid => "no additionalProperties",
        Additional::Any => "any additionalProperties",
        Additional::Values(_) => "additionalProperties of a type",
    }
}

/// A type in a few words, without its contents.
fn described(ty: &Type) -> String {
    match ty {
        Type::Any => "any value".into(),
        Type::Null => "null".into(),
        Type::Boolean => "a boolean".into(),
        Type::Integer(_) => "an integer".into(),
        Type::Number { .. } => "a number".into(),
        Type::String => "a string".into(),
        Type::Enumeration(_) => "an enumeration".into(),
        Type::Array(_) => "an array".into(),
        Type::Object(_) => "an object".into(),
        Type::Reference(name) => format!("`{name}`"),
        Type::OneOf(schemas) => {
            format!("one of {}", listed(schemas.iter().map(|schema| &schema.ty)))
        }
        Type::Union(types) => listed(types.iter()),
    }
}

fn listed<'t>(types: impl Iterator<Item = &'t Type>) -> String {
    types.map(described).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A definition file with one definition `D` whose property `p` has the schema `property`.
    fn model(property: &str) -> Model {
        let text = format!(
            r#"{{"definitions": {{
                "A": {{"type": "object"}}, "B": {{"type": "object"}},
                "D": {{"type": "object", "properties": {{"p": {property}, "q": {{"type": "null"}}}}, "required": ["q"]}}
            }}}}"#
        );
        Model::parse(&text).expect("the test's definition is well-formed")
    }

    fn lines(first: &Model, second: &Model) -> Vec<String> {
        diff(first, second)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[track_caller]
    fn differs(first: &str, second: &str, expected: &[&str]) {
        assert_eq!(lines(&model(first), &model(second)), expected);
    }

    #[test]
    fn every_structural_aspect_is_compared() {
        let integer = r#"{"type": "integer", "format": "int32", "minimum": 1, "maximum": 9}"#;
        differs(integer, integer, &[]);
        differs(
            integer,
            r#"{"type": "integer"}"#,
            &[
                "D.p: format int32 against no format",
                "D.p: minimum 1 against no minimum",
                "D.p: maximum 9 against no maximum",
            ],
        );
        differs(
            integer,
            r#"{"type": "string"}"#,
            &["D.p: an integer against a string"],
        );
        differs(
            r#"{"type": "number", "minimum": 0}"#,
            r#"{"type": "number", "maximum": 1.5}"#,
            &[
                "D.p: minimum 0 against no minimum",
                "D.p: no maximum against maximum 1.5",
            ],
        );
        differs(
            r#"{"type": "string", "enum": ["a", "b"]}"#,
            r#"{"type": "string", "_enum": ["c", "b"]}"#,
            &[
                "D.p: a closed enumeration against an open enumeration",
                "D.p: the value \"a\" against nothing",
                "D.p: nothing against the value \"c\"",
            ],
        );
        differs(
            r##"{"$ref": "#/definitions/A"}"##,
            r##"{"$ref": "#/definitions/B"}"##,
            &["D.p: `A` against `B`"],
        );
        differs(
            r#"{"type": "array", "items": {"type": "string"}}"#,
            r#"{"type": "array", "items": {"type": "boolean"}}"#,
            &["D.p[]: a string against a boolean"],
        );
        differs(
            r#"{"type": "object", "additionalProperties": true}"#,
            r#"{"type": "object"}"#,
            &["D.p: any additionalProperties against no additionalProperties"],
        );
        differs(
            r#"{"type": "object", "additionalProperties": {"type": ["string", "null"]}}"#,
            r#"{"type": "object", "additionalProperties": {"type": "string"}}"#,
            &["D.p{}: a string or null against a string"],
        );
        differs(
            r#"{"type": ["integer", "string"]}"#,
            r#"{"type": ["string", "boolean"]}"#,
            &[
                "D.p: a string against a boolean",
                "D.p: an integer against a string",
            ],
        );
        differs(
            r##"{"oneOf": [{"$ref": "#/definitions/A"}, {"$ref": "#/definitions/B"}]}"##,
            r##"{"oneOf": [{"$ref": "#/definitions/A"}]}"##,
            &["D.p: one of `A` or `B` against one of `A`"],
        );
    }

    #[test]
    fn definitions_properties_bases_and_required_are_compared() {
        let first = r##"{"definitions": {
            "A": {"type": "object", "properties": {"x": {"type": "null"}, "y": {"type": "null"}}, "required": ["x"]},
            "B": {"allOf": [{"$ref": "#/definitions/A"}, {"type": "object"}]},
            "C": {"type": "object"}
        }}"##;
        let second = r#"{"definitions": {
            "A": {"type": "object", "properties": {"x": {"type": "null"}, "z": {"type": "null"}}},
            "B": {"type": "object"},
            "E": {"type": "object"}
        }}"#;
        let (first, second) = (
            Model::parse(first).expect("first"),
            Model::parse(second).expect("second"),
        );
        assert_eq!(
            lines(&first, &second),
            [
                "A.x: required against optional",
                "A.y: a property against nothing",
                "A.z: nothing against a property",
                "B: base `A` against no base",
                "C: a definition against nothing",
                "E: nothing against a definition",
            ]
        );
    }

    #[test]
    fn order_titles_and_prose_do_not_count() {
        differs(
            r#"{"title": "T", "type": "string", "enum": ["a", "b"], "enumDescriptions": ["1", "2"]}"#,
            r#"{"description": "d", "type": "string", "enum": ["b", "a"]}"#,
            &[],
        );
        differs(
            r#"{"type": ["integer", "string"]}"#,
            r#"{"type": ["string", "integer"]}"#,
            &[],
        );
    }
}
