//! Compares the project's definition with the official schema, if a copy of that lies beside the repository.

use dapple_schema::diff::diff;
use dapple_schema::model::{Additional, Object, Schema, Type};
use dapple_schema::{Model, markdown, typescript};
use std::collections::HashSet;
use std::path::Path;

/// The official schema. `None`, with a note, if there is no copy.
fn official() -> Option<Model> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/dap/debugAdapterProtocol.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: there is no {}", path.display());
        return None;
    };
    Some(Model::parse(&text).expect("the official schema can be read"))
}

#[test]
fn the_definition_has_the_official_structure() {
    let Some(official) = official() else { return };
    let ours = Model::protocol().expect("the project's definition is well-formed");
    let differences: Vec<_> = diff(&official, &ours)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(differences, [""; 0]);
}

#[test]
fn the_descriptions_are_our_own() {
    let Some(official) = official() else { return };
    let ours = Model::protocol().expect("the project's definition is well-formed");
    let theirs: HashSet<String> = prose(&official).into_iter().collect();
    // Short texts may well be equal: there is only one way to say "Arguments".
    let copied: Vec<_> = prose(&ours)
        .into_iter()
        .filter(|text| text.len() > 40 && theirs.contains(text))
        .collect();
    assert_eq!(copied, [""; 0]);
}

#[test]
fn the_document_is_as_long_as_the_published_page() {
    let Some(official) = official() else { return };
    let options = markdown::Options {
        preamble: Some(String::new()),
    };
    let text = markdown::generate(&official, &options).expect("it can be generated");
    // The page of version 1.71 has 159,703 characters, 436 of them in front of the first section. It was made when a
    // slip of the definition had been corrected (`exceeeds`), a character less.
    assert_eq!(text.chars().count(), 159_703 - 436 + 1);
    let sections: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("## "))
        .filter_map(|line| line.split("</a>").nth(1))
        .collect();
    assert_eq!(
        sections,
        [
            "Base Protocol",
            "Events",
            "Reverse Requests",
            "Requests",
            "Types"
        ]
    );
}

#[test]
fn the_declarations_are_as_long_as_the_published_ones() {
    let Some(official) = official() else { return };
    let options = typescript::Options {
        preamble: Some(String::new()),
        ..typescript::Options::default()
    };
    let text = typescript::generate(&official, &options).expect("it can be generated");
    // The module of version 1.68 has 2,484 lines. Since then two requests got a comment for their arguments, and one property
    // came with its own.
    assert_eq!(text.lines().count(), 2_484 + 2 + 2);
}

/// Every description in a model.
fn prose(model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    for definition in model.definitions() {
        collect(&definition.schema, &mut found);
    }
    found
}

fn collect(schema: &Schema, found: &mut Vec<String>) {
    found.extend(schema.description.clone());
    match &schema.ty {
        Type::Enumeration(values) => found.extend(values.descriptions.iter().cloned()),
        Type::Array(items) => collect(items, found),
        Type::OneOf(schemas) => schemas.iter().for_each(|schema| collect(schema, found)),
        Type::Object(Object {
            properties,
            additional,
        }) => {
            properties
                .iter()
                .for_each(|property| collect(&property.schema, found));
            if let Additional::Values(values) = additional {
                collect(values, found);
            }
        }
        _ => {}
    }
}
