//! Checks that every capability of the protocol has a row in the list of capabilities and their tests.

use super::source::Source;
use super::{Finding, Rule};
use dapple_schema::Model;

/// The list; a test compares it with the capabilities that the adapter offers.
const LIST: &str = "crates/adapter/tests/every_capability.md";

/// Finds capabilities without a row, and rows without a capability.
pub(super) fn check(sources: &[Source], model: &Model, findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "capabilities",
        remedy: "give each capability one row: the tests of its effect, or why it isn't offered",
    };
    let list = sources.iter().find(|source| source.path == LIST);
    let text = list.map_or("", |list| list.text.as_str());
    let rows: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter_map(|(line, text)| Some((line, text.strip_prefix("| ")?.split(' ').next()?)))
        .filter(|(_, name)| !matches!(*name, "capability" | "---"))
        .collect();
    let object = model.get("Capabilities").and_then(|found| found.object());
    let known: Vec<&str> = object
        .iter()
        .flat_map(|object| object.properties.iter())
        .map(|property| property.name.as_str())
        .collect();
    for name in &known {
        let count = rows.iter().filter(|(_, row)| row == name).count();
        if count != 1 {
            let what = format!("`{name}` has {count} rows");
            findings.push(Finding::new(LIST, 0, rule, what));
        }
    }
    for (line, name) in rows.iter().filter(|(_, row)| !known.contains(row)) {
        let what = format!("`{name}` is no capability of the protocol");
        findings.push(Finding::new(LIST, *line, rule, what));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_without_a_row_is_found_and_so_is_a_row_of_none() {
        let model = Model::protocol().expect("the project's definition");
        let row = |name: &str| format!("| {name} | a/b: c |\n");
        let object = model.get("Capabilities").and_then(|found| found.object());
        let properties = &object.expect("an object").properties;
        let all: String = properties.iter().map(|one| row(&one.name)).collect();
        let found = |text: &str| {
            let mut findings = Vec::new();
            check(&[Source::new(LIST, text)], &model, &mut findings);
            findings
                .into_iter()
                .map(|finding| finding.what)
                .collect::<Vec<_>>()
        };
        assert!(found(&all).is_empty());
        assert_eq!(
            found(&all.replace(&row("supportsStepBack"), "")),
            ["`supportsStepBack` has 0 rows"]
        );
        assert_eq!(
            found(&(all + &row("supportsFlight"))),
            ["`supportsFlight` is no capability of the protocol"]
        );
    }
}
