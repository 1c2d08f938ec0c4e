//! Checks that the adapter accepts the configurations in `docs/editors`. (`cargo xtask e2e` runs those for Emacs and Neovim.)

use crate::support;
use dapple_adapter::arguments::{self, Start};
use dapple_dap::message::Raw;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The blocks of one language in a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let path = support::root().join("docs/editors").join(page);
    let text = std::fs::read_to_string(path).expect("the page is there");
    let fence = format!("```{language}\n");
    let parts = text.split(&fence).skip(1);
    let blocks: Vec<String> = parts
        .map(|part| part.split("```").next().unwrap_or_default().to_owned())
        .collect();
    assert!(!blocks.is_empty(), "{page} has a text in {language}");
    blocks
}

/// All objects that have a `request`: those that are sent to the adapter.
fn configurations(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Object(fields) if fields.contains_key("request") => found.push(value.clone()),
        Value::Object(fields) => fields
            .values()
            .for_each(|value| found.extend(configurations(value))),
        Value::Array(items) => items
            .iter()
            .for_each(|value| found.extend(configurations(value))),
        _ => {}
    }
    found
}

/// Checks that the adapter accepts a configuration without warnings, apart from the editor's own fields.
#[track_caller]
fn assert_taken(configuration: &Value, editors_own: &[&str]) {
    let start = match configuration["request"].as_str() {
        Some("launch") => Start::Launch,
        Some("attach") => Start::Attach,
        other => panic!("{other:?} is no request: {configuration}"),
    };
    let fields = configuration.as_object().expect("an object");
    let mut given = BTreeMap::new();
    for (name, value) in fields {
        if !editors_own.contains(&name.as_str()) {
            // Editors replace their variables.
            let text = value.to_string().replace("${", "{").replace('$', "/");
            let text = text.replace("\"{command:pickProcess}\"", "1");
            let value: Value = serde_json::from_str(&text).expect("JSON");
            given.insert(name.clone(), Raw::new(&value).expect("JSON"));
        }
    }
    let said = arguments::check(start, &given);
    assert_eq!(said, Ok(Vec::new()), "{configuration:#}");
}

#[test]
fn the_adapter_takes_the_texts_for_editors_that_are_written_in_json() {
    for (page, language, own, count) in [
        ("vim.md", "json", &[][..], 3),
        ("zed.md", "json", &["label", "adapter"], 2),
        ("others.md", "jsonc", &[], 3),
    ] {
        let mut found = 0;
        for block in blocks(page, language) {
            let value: Value =
                serde_json::from_str(&block).unwrap_or_else(|error| panic!("{page}: {error}"));
            for configuration in configurations(&value) {
                found += 1;
                assert_taken(&configuration, own);
            }
        }
        assert_eq!(found, count, "{page}");
    }
}

#[test]
fn the_adapter_takes_the_templates_for_helix_in_the_forms_that_it_can_send() {
    let block = blocks("helix.md", "toml").remove(0);
    let mut templates = 0;
    for template in block.split("[[language.debugger.templates]]").skip(1) {
        let line = |name: &str| {
            let start = format!("{name} = ");
            let line = template.lines().find_map(|line| line.strip_prefix(&start));
            line.unwrap_or_else(|| panic!("no {name} in {template}"))
        };
        let arguments = line("args").trim_matches(['{', '}', ' ']);
        let (name, value) = arguments.split_once(" = ").expect("one argument");
        // Strings and lists of strings have the same syntax in TOML and JSON.
        let value: Value =
            serde_json::from_str(&value.replace("{0}", "1")).expect("a text or a list");
        let helix_has_it = value.is_string()
            || value.is_boolean()
            || value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_string));
        assert!(helix_has_it, "{value}");
        let request: Value = serde_json::from_str(line("request")).expect("a text");
        assert_taken(&json!({"request": request, name: value}), &[]);
        templates += 1;
    }
    assert_eq!(templates, 3);
    for line in [
        "transport = \"stdio\"",
        "command = \"dapple\"",
        "args = [\"dap\"]",
    ] {
        assert!(block.lines().any(|one| one == line), "{line}");
    }
}
