//! The result of a check, for people and for programs.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use crate::finding::Finding;

/// What a check has found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The scenarios that were run.
    pub scenarios: Vec<&'static str>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What was found and is allowed, by a [`Checker`](crate::Checker).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Finding>,
    /// The rules that are allowed, and that nothing breaks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_found: Vec<String>,
    /// Why parts of the check could not be run.
    pub unable: Vec<String>,
    /// The adapter's capabilities.
    pub capabilities: Value,
}

impl Report {
    /// How many findings are violations.
    pub fn violations(&self) -> usize {
        self.findings
            .iter()
            .filter(|one| one.is_violation())
            .count()
    }

    /// How many findings are advice.
    pub fn advice(&self) -> usize {
        self.findings.len() - self.violations()
    }

    /// Whether the adapter has passed: nothing is violated, and all was run.
    pub fn is_passed(&self) -> bool {
        self.violations() == 0 && self.unable.is_empty()
    }

    /// Fails a test unless all was run, nothing was found but what is allowed, and all that is allowed was found.
    ///
    /// # Panics
    /// It isn't so; the message is the report as text.
    #[track_caller]
    pub fn assert_clean(&self) {
        let is_clean =
            self.findings.is_empty() && self.not_found.is_empty() && self.unable.is_empty();
        assert!(
            is_clean,
            "the adapter doesn't keep to the protocol\n\n{}",
            self.text()
        );
    }

    /// A text for people: each finding with its rule and the last messages before it, and a table.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut findings: Vec<&Finding> = self.findings.iter().collect();
        findings.sort_by_key(|one| !one.is_violation());
        for finding in findings {
            let _ = writeln!(
                text,
                "{} [{}] {}",
                finding.severity, finding.rule, finding.text
            );
            let _ = writeln!(text, "  rule: {}", finding.sentence);
            let _ = writeln!(text, "  in: {}", finding.scenario);
            for message in &finding.context {
                let _ = writeln!(text, "    {message}");
            }
            text.push('\n');
        }
        let width = self
            .scenarios
            .iter()
            .map(|name| name.len())
            .max()
            .unwrap_or(0);
        for scenario in &self.scenarios {
            let of = |is_violation: bool| {
                let found = self.findings.iter().filter(|one| one.scenario == *scenario);
                found
                    .filter(|one| one.is_violation() == is_violation)
                    .count()
            };
            let (violations, advice) = (of(true), of(false));
            let outcome = match (violations, advice) {
                (0, 0) => "ok".to_owned(),
                (violations, advice) => {
                    format!("{}, {advice} advice", counted(violations, "violation"))
                }
            };
            let _ = writeln!(text, "{scenario:width$}  {outcome}");
        }
        for reason in &self.unable {
            let _ = writeln!(text, "not run: {reason}");
        }
        for rule in &self.not_found {
            let _ = writeln!(
                text,
                "allowed but not found: `{rule}`; nothing breaks this rule any more, or no rule has this name"
            );
        }
        if !self.allowed.is_empty() {
            let _ = writeln!(text, "{} allowed", counted(self.allowed.len(), "finding"));
        }
        let _ = writeln!(
            text,
            "{}, {} advice",
            counted(self.violations(), "violation"),
            self.advice()
        );
        text
    }

    /// The report as JUnit's XML: a test for each scenario, which fails by its violations.
    pub fn junit(&self) -> String {
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let failed = |scenario: &str| {
            let found = self.findings.iter().filter(|one| one.scenario == scenario);
            found.filter(|one| one.is_violation()).count()
        };
        let failures = self
            .scenarios
            .iter()
            .filter(|scenario| failed(scenario) > 0)
            .count();
        let _ = writeln!(
            xml,
            "<testsuite name=\"dapple check\" tests=\"{}\" failures=\"{failures}\" errors=\"{}\">",
            self.scenarios.len() + self.unable.len(),
            self.unable.len()
        );
        for scenario in &self.scenarios {
            let _ = writeln!(
                xml,
                "  <testcase classname=\"dapple.check\" name=\"{}\">",
                escaped(scenario)
            );
            for one in self.findings.iter().filter(|one| one.scenario == *scenario) {
                let body = format!("{}\n{}", one.sentence, one.context.join("\n"));
                let (tag, message) = (
                    if one.is_violation() {
                        "failure"
                    } else {
                        "system-out"
                    },
                    escaped(&one.text),
                );
                let _ = match one.is_violation() {
                    true => writeln!(
                        xml,
                        "    <{tag} type=\"{}\" message=\"{message}\">{}</{tag}>",
                        one.rule,
                        escaped(&body)
                    ),
                    false => writeln!(xml, "    <{tag}>advice [{}] {message}</{tag}>", one.rule),
                };
            }
            xml.push_str("  </testcase>\n");
        }
        for reason in &self.unable {
            let _ = writeln!(
                xml,
                "  <testcase classname=\"dapple.check\" name=\"start\"><error message=\"{}\"/></testcase>",
                escaped(reason)
            );
        }
        xml.push_str("</testsuite>\n");
        xml
    }
}

fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// A text as it is written in XML; characters that XML doesn't have become U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
