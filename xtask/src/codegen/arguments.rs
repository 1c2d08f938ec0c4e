//! Generates files from the adapter's table of launch arguments.

use super::Generated;
use anyhow::{Context, Result, bail};
use dapple_adapter::arguments::{page, schema};
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};
use std::fs;
use std::path::Path;

/// The file with the table.
const TABLE: &str = "crates/adapter/src/arguments/table.rs";
/// The JSON schema.
const SCHEMA: &str = "crates/adapter/launch-schema.json";
/// The page for users; the text between a table's marks is generated.
const PAGE: &str = "docs/launch.md";
/// VS Code's manifest, of which one value is generated.
const MANIFEST: &str = "editors/vscode/package.json";

/// The generated files.
pub(super) fn generated(root: &Path) -> Result<Vec<Generated>> {
    let made = |path, text| Generated {
        path,
        text,
        from: TABLE,
    };
    let mut files = vec![made(SCHEMA, pretty(&schema::launch_schema())?)];
    let text =
        fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    files.push(made(PAGE, with_tables(&text, &page::tables())?));
    // Not every copy of the sources includes the manifest.
    if let Ok(text) = fs::read_to_string(root.join(MANIFEST)) {
        files.push(made(
            MANIFEST,
            with_attributes(&text, &schema::configuration_attributes())?,
        ));
    }
    Ok(files)
}

fn pretty(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// The page, with the tables put between `<!-- table NAME … -->` and `<!-- end -->`.
fn with_tables(page: &str, tables: &[(&str, String)]) -> Result<String> {
    let mut text = page.to_owned();
    for (name, table) in tables {
        let mark = format!("<!-- table {name}: written by `cargo xtask codegen` -->\n");
        let Some((before, rest)) = text.split_once(&mark) else {
            bail!("{PAGE} has no line {}", mark.trim_end());
        };
        let Some((_, after)) = rest.split_once("<!-- end -->") else {
            bail!("{PAGE}: the table {name} has no <!-- end -->");
        };
        text = format!("{before}{mark}{table}<!-- end -->{after}");
    }
    Ok(text)
}

/// The manifest with these `configurationAttributes`, and everything else unchanged.
fn with_attributes(manifest: &str, attributes: &Value) -> Result<String> {
    const KEY: &str = "\"configurationAttributes\":";
    let Some((before, rest)) = manifest.split_once(KEY) else {
        bail!("{MANIFEST} has no {KEY} to write the launch arguments to");
    };
    let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    values
        .next()
        .with_context(|| format!("{MANIFEST}: nothing behind {KEY}"))??;
    let after = &rest[values.byte_offset()..];
    let line = before.lines().last().unwrap_or_default();
    let indent = &line[..line.len() - line.trim_start().len()];
    let attributes =
        serde_json::to_string_pretty(attributes)?.replace('\n', &format!("\n{indent}"));
    Ok(format!("{before}{KEY} {attributes}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_is_put_between_its_marks() {
        let page = "a\n<!-- table x: written by `cargo xtask codegen` -->\nold\n<!-- end -->\nb\n";
        let written = with_tables(page, &[("x", "| new |\n".into())]).expect("it has the marks");
        assert_eq!(written, page.replace("old", "| new |"));
        assert!(with_tables(page, &[("y", String::new())]).is_err());
    }

    #[test]
    fn only_the_attributes_of_a_manifest_are_replaced() {
        let manifest =
            "{\n  \"z\": 1,\n    \"configurationAttributes\": {\"old\": [{}]},\n  \"a\": 2\n}\n";
        let written = with_attributes(manifest, &json!({"new": {"b": 1}})).expect("it has them");
        assert_eq!(
            written,
            "{\n  \"z\": 1,\n    \"configurationAttributes\": {\n      \"new\": {\n        \"b\": 1\n      }\n    },\n  \"a\": 2\n}\n"
        );
        assert_eq!(
            with_attributes(&written, &json!({"new": {"b": 1}})).expect("again"),
            written
        );
        assert!(with_attributes("{}", &json!({})).is_err());
    }
}
