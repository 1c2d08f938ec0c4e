//! Checks the `.vscode/launch.json` of the current directory, which several editors read: each configuration for this debugger is checked
//! with the adapter's own code.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dapple_adapter::arguments::{self, Start};
use dapple_dap::message::Raw;
use serde_json::Value;

use super::Finding;
use crate::jsonc::without_comments;

const CHECK: &str = "launch.json";
const FILE: &str = ".vscode/launch.json";
/// Longer files, in bytes, are not read.
const LONGEST: u64 = 1 << 20;

/// Reports what is wrong in the file, or that nothing is. Reports nothing if there is no file.
pub fn check(report: &mut dyn FnMut(Finding)) {
    let file = Path::new(FILE);
    let Ok(metadata) = fs::metadata(file) else {
        return;
    };
    if metadata.len() > LONGEST {
        report(Finding::warning(
            CHECK,
            format!("{FILE} has more than a megabyte"),
        ));
        return;
    }
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            report(Finding::warning(
                CHECK,
                format!("{FILE} can't be read: {error}"),
            ));
            return;
        }
    };
    let parsed: Value = match serde_json::from_str(&without_comments(&text)) {
        Ok(parsed) => parsed,
        Err(error) => {
            report(Finding::warning(
                CHECK,
                format!("{FILE} is no JSON: {error}"),
            ));
            return;
        }
    };
    let all = parsed["configurations"].as_array();
    let ours = all
        .into_iter()
        .flatten()
        .filter(|one| one["type"] == "dapple");
    let mut count = 0;
    let mut faults = Vec::new();
    for configuration in ours {
        count += 1;
        faults.extend(faults_of(configuration));
    }
    if faults.is_empty() {
        let configurations = match count {
            0 => "has no configuration for this debugger".to_owned(),
            1 => "has 1 configuration for this debugger, with arguments that are known".to_owned(),
            several => format!(
                "has {several} configurations for this debugger, with arguments that are known"
            ),
        };
        report(Finding::ok(CHECK, format!("{FILE} {configurations}")));
    }
    for fault in faults {
        report(
            Finding::warning(CHECK, format!("{FILE}: {fault}"))
                .with_remedy("docs/launch.md lists the arguments"),
        );
    }
}

/// What the adapter would say about a configuration: its warnings, or its error.
fn faults_of(configuration: &Value) -> Vec<String> {
    let name = configuration["name"].as_str().unwrap_or("without a name");
    let start = match configuration["request"].as_str() {
        Some("launch") => Start::Launch,
        Some("attach") => Start::Attach,
        Some(other) => {
            return vec![format!(
                "\"{name}\": `request` is \"launch\" or \"attach\", not \"{other}\""
            )];
        }
        None => {
            return vec![format!(
                "\"{name}\": `request` is missing: \"launch\" or \"attach\""
            )];
        }
    };
    let fields = configuration.as_object().into_iter().flatten();
    let fields = fields.filter_map(|(name, value)| {
        let value = Raw::new(&substituted(value)).ok()?;
        Some((name.clone(), value))
    });
    let fields: BTreeMap<String, Raw> = fields.collect();
    let said = match arguments::check(start, &fields) {
        Ok(warnings) => warnings,
        Err(error) => vec![error],
    };
    said.into_iter()
        .map(|sentence| format!("\"{name}\": {sentence}"))
        .collect()
}

/// The value with each of the editor's variables (`${…}`) replaced by `1`, which is valid both as a path and as a number.
fn substituted(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_variables(text)),
        Value::Array(items) => Value::Array(items.iter().map(substituted).collect()),
        Value::Object(fields) => {
            let fields = fields.iter();
            Value::Object(
                fields
                    .map(|(name, value)| (name.clone(), substituted(value)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

fn without_variables(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((_, after)) = behind.split_once('}') else {
            break;
        };
        out.push_str(before);
        out.push('1');
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_can_be_paths_and_numbers() {
        assert_eq!(without_variables("${command:pickProcess}"), "1");
        assert_eq!(without_variables("${workspaceFolder}/a ${"), "1/a ${");
    }
}
