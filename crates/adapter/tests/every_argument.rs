//! Checks the list in `every_argument.md`: it has each argument of the table, and the tests that it names exist. Also checks that the
//! launch configurations in the documents are valid.

use crate::support::json_schema;
use crate::support::listed;
use dapple_adapter::arguments::{documented, schema};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[test]
fn each_argument_has_a_test_of_its_effect() {
    let list = include_str!("every_argument.md");
    let known: BTreeSet<(String, String)> = documented()
        .map(|(start, name)| (start.name().to_owned(), name.to_owned()))
        .collect();
    let mut found = BTreeSet::new();
    for row in listed::rows(list, "Arguments") {
        let [name, requests, _] = row.as_slice() else {
            panic!("not three cells: {row:?}");
        };
        for request in requests.split(", ") {
            assert!(
                found.insert((request.to_owned(), name.to_owned())),
                "{name} is there twice"
            );
        }
        // The test has the name as a client sends it, so that the test really is about that argument.
        let texts = listed::files_of_tests(&row)
            .into_iter()
            .map(|file| listed::text_of(&file));
        let quoted = format!("\"{name}\"");
        assert!(
            texts.into_iter().any(|text| text.contains(&quoted)) || name == "program",
            "no test of {row:?} has {quoted}"
        );
    }
    let missing: Vec<_> = known.difference(&found).collect();
    let gone: Vec<_> = found.difference(&known).collect();
    assert!(missing.is_empty(), "not in the list: {missing:?}");
    assert!(
        gone.is_empty(),
        "in the list, but not in the table: {gone:?}"
    );
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All pages of the user documentation.
fn documents() -> Vec<PathBuf> {
    let mut pages = vec![
        root().join("README.md"),
        root().join("editors/vscode/README.md"),
    ];
    for folder in [root().join("docs"), root().join("docs/editors")] {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        pages.extend(entries.map(|entry| entry.expect("a file").path()));
    }
    pages.retain(|page| {
        page.extension().is_some_and(|extension| extension == "md") && page.is_file()
    });
    pages
}

/// All objects inside `value` that have a `request`.
fn configurations(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(fields) if fields.get("request").is_some_and(Value::is_string) => vec![value],
        Value::Object(fields) => fields.values().flat_map(configurations).collect(),
        Value::Array(items) => items.iter().flat_map(configurations).collect(),
        _ => Vec::new(),
    }
}

/// The part of a configuration that the adapter gets: Zed's configurations also have a label and the name of the adapter.
fn sent(configuration: &Value) -> Value {
    let mut sent = configuration.clone();
    if let Some(fields) = sent.as_object_mut()
        && fields.contains_key("label")
        && fields.contains_key("adapter")
    {
        fields.remove("label");
        fields.remove("adapter");
    }
    sent
}

#[test]
fn the_documents_configurations_are_as_the_schema_says() {
    let schema = schema::launch_schema();
    let mut count = 0;
    for page in documents() {
        let text = std::fs::read_to_string(&page).expect("it can be read");
        for block in text.split("```json\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            let value: Value = serde_json::from_str(block)
                .unwrap_or_else(|error| panic!("{}: {error}\n{block}", page.display()));
            for configuration in configurations(&value) {
                let problems = json_schema::problems(&schema, &sent(configuration));
                assert!(
                    problems.is_empty(),
                    "{}: {problems:?}\n{block}",
                    page.display()
                );
                count += 1;
            }
        }
    }
    assert!(
        count >= 3,
        "the page of launch configurations has examples: {count}"
    );
}

#[test]
fn the_snippets_of_the_extension_are_as_the_schema_says() {
    let manifest = std::fs::read_to_string(root().join("editors/vscode/package.json"));
    let manifest: Value = serde_json::from_str(&manifest.expect("the manifest")).expect("JSON");
    let debugger = &manifest["contributes"]["debuggers"][0];
    let found = configurations(&debugger["configurationSnippets"]);
    assert!(found.len() >= 3, "{found:?}");
    let schema = schema::launch_schema();
    for configuration in found {
        let problems = json_schema::problems(&schema, configuration);
        assert!(problems.is_empty(), "{problems:?}: {configuration}");
    }
}
