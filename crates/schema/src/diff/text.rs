//! The difference of two definitions in prose and order, which only people read.

use super::Difference;
use crate::Model;
use crate::model::{Additional, Enumeration, Object, Schema, Type};

/// Compares titles, descriptions, meanings of values, and the order of definitions, properties and values. Only items in both models are
/// compared; [`diff`](super::diff) finds the others. In a [`Difference`], a missing text is an empty one.
pub fn text(first: &Model, second: &Model) -> Vec<Difference> {
    let mut reading = Reading { found: Vec::new() };
    let file = "the definition file";
    reading.said(file, "title", first.title(), second.title());
    reading.said(
        file,
        "description",
        first.description(),
        second.description(),
    );
    reading.order(
        file,
        first.definitions().iter().map(|d| d.name.as_str()),
        second.definitions().iter().map(|d| d.name.as_str()),
    );
    for definition in first.definitions() {
        if let Some(other) = second.get(&definition.name) {
            reading.schema(&definition.name, &definition.schema, &other.schema);
        }
    }
    reading.found
}

struct Reading {
    found: Vec<Difference>,
}

impl Reading {
    fn said(&mut self, path: &str, what: &str, first: Option<&str>, second: Option<&str>) {
        if first != second {
            self.found.push(Difference {
                path: format!("{path}: {what}"),
                first: first.unwrap_or_default().to_owned(),
                second: second.unwrap_or_default().to_owned(),
            });
        }
    }

    /// Compares the order of the items that both models have, and reports the first position with different items.
    fn order<'n>(
        &mut self,
        path: &str,
        first: impl Iterator<Item = &'n str>,
        second: impl Iterator<Item = &'n str>,
    ) {
        let (first, second): (Vec<_>, Vec<_>) = (first.collect(), second.collect());
        let ours = first.iter().filter(|name| second.contains(name));
        let theirs = second.iter().filter(|name| first.contains(name));
        if let Some((ours, theirs)) = ours.zip(theirs).find(|(ours, theirs)| ours != theirs) {
            self.found.push(Difference {
                path: format!("{path}: order"),
                first: format!("`{ours}` before `{theirs}`"),
                second: format!("`{theirs}` before `{ours}`"),
            });
        }
    }

    fn schema(&mut self, path: &str, first: &Schema, second: &Schema) {
        self.said(
            path,
            "title",
            first.title.as_deref(),
            second.title.as_deref(),
        );
        self.said(
            path,
            "description",
            first.description.as_deref(),
            second.description.as_deref(),
        );
        self.ty(path, &first.ty, &second.ty);
    }

    fn ty(&mut self, path: &str, first: &Type, second: &Type) {
        match (first, second) {
            (Type::Object(first), Type::Object(second)) => self.object(path, first, second),
            (Type::Array(first), Type::Array(second)) => {
                self.schema(&format!("{path}[]"), first, second);
            }
            (Type::Enumeration(first), Type::Enumeration(second)) => {
                self.enumeration(path, first, second);
            }
            (Type::OneOf(first), Type::OneOf(second)) => {
                for (first, second) in first.iter().zip(second) {
                    self.schema(path, first, second);
                }
            }
            (Type::Union(first), Type::Union(second)) => {
                for (first, second) in first.iter().zip(second) {
                    self.ty(path, first, second);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, path: &str, first: &Object, second: &Object) {
        self.order(
            path,
            first.properties.iter().map(|p| p.name.as_str()),
            second.properties.iter().map(|p| p.name.as_str()),
        );
        for property in &first.properties {
            if let Some(other) = second.property(&property.name) {
                self.schema(
                    &format!("{path}.{}", property.name),
                    &property.schema,
                    &other.schema,
                );
            }
        }
        if let (Additional::Values(first), Additional::Values(second)) =
            (&first.additional, &second.additional)
        {
            self.schema(&format!("{path}{{}}"), first, second);
        }
    }

    fn enumeration(&mut self, path: &str, first: &Enumeration, second: &Enumeration) {
        self.order(
            path,
            first.values.iter().map(String::as_str),
            second.values.iter().map(String::as_str),
        );
        for (i, value) in first.values.iter().enumerate() {
            let Some(j) = second.values.iter().position(|other| other == value) else {
                continue;
            };
            self.said(
                path,
                &format!("what \"{value}\" means"),
                first.descriptions.get(i).map(String::as_str),
                second.descriptions.get(j).map(String::as_str),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(first: &str, second: &str) -> Vec<String> {
        let model = |definitions: &str| {
            Model::parse(&format!(r#"{{"definitions": {{{definitions}}}}}"#))
                .expect("the test's definitions are well-formed")
        };
        text(&model(first), &model(second))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn all_that_is_said_is_compared() {
        let first = r#""D": {"type": "object", "description": "One.", "properties": {
            "p": {"type": "array", "items": {"type": "string", "enum": ["a", "b"], "enumDescriptions": ["A.", "B."]}},
            "m": {"type": "object", "additionalProperties": {"type": "string", "description": "Kept."}}
        }}"#;
        assert_eq!(differences(first, first), [""; 0]);
        let second = r#""D": {"type": "object", "title": "Things", "description": "Two.", "properties": {
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
            "p": {"type": "array", "description": "New.", "items": {"type": "string", "enum": ["b", "a"], "enumDescriptions": ["B.", "Å."]}}
        }}"#;
        assert_eq!(
            differences(first, second),
            [
                "D: title:  against Things",
                "D: description: One. against Two.",
                "D: order: `p` before `m` against `m` before `p`",
                "D.p: description:  against New.",
                "D.p[]: order: `a` before `b` against `b` before `a`",
                "D.p[]: what \"a\" means: A. against Å.",
                "D.m{}: description: Kept. against ",
            ]
        );
    }

    #[test]
    fn what_is_only_in_one_has_no_place_in_the_order() {
        let [a, b, c] = ["A", "B", "C"].map(|name| format!(r#""{name}": {{"type": "object"}}"#));
        assert_eq!(
            differences(&format!("{a}, {b}, {c}"), &format!("{a}, {c}")),
            [""; 0]
        );
        assert_eq!(
            differences(&format!("{a}, {b}, {c}"), &format!("{c}, {a}")),
            ["the definition file: order: `A` before `C` against `C` before `A`"]
        );
    }
}
