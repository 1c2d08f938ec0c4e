//! What is found.

use dapple_dap::lifecycle::{Severity, Violation};
use serde::Serialize;
use std::collections::BTreeSet;

use crate::rules::Rule;

/// A rule that the adapter breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule's name.
    pub rule: String,
    /// `violation` or `advice`.
    pub severity: &'static str,
    /// What was found.
    pub text: String,
    /// The rule in a sentence.
    pub sentence: String,
    /// Which part of the check has found it.
    pub scenario: &'static str,
    /// The last messages, in order, each with an arrow that says which way it went.
    pub context: Vec<String>,
}

impl Finding {
    /// Whether the specification forbids it.
    pub fn is_violation(&self) -> bool {
        self.severity == Severity::Violation.as_str()
    }
}

/// The findings of a check. What is found again in the same way is kept once.
#[derive(Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
    seen: BTreeSet<(String, String)>,
}

impl Findings {
    /// All of them, in the order in which they were found.
    pub fn all(&self) -> &[Finding] {
        &self.all
    }

    pub(crate) fn into_all(self) -> Vec<Finding> {
        self.all
    }

    pub(crate) fn add(
        &mut self,
        rule: Rule,
        text: String,
        scenario: &'static str,
        context: Vec<String>,
    ) {
        let kind = without_numbers(&text);
        let finding = Finding {
            rule: rule.name.to_owned(),
            severity: rule.severity.as_str(),
            text,
            sentence: rule.sentence.to_owned(),
            scenario,
            context,
        };
        self.insert(kind, finding);
    }

    pub(crate) fn add_violation(
        &mut self,
        violation: &Violation,
        scenario: &'static str,
        context: Vec<String>,
    ) {
        let text = violation.to_string();
        let kind = match violation {
            // An adapter that leaves it out does so for each command.
            Violation::WrongCommand { .. } => String::new(),
            _ => without_numbers(&text),
        };
        let finding = Finding {
            rule: violation.rule().to_owned(),
            severity: violation.severity().as_str(),
            text,
            sentence: violation.sentence().into_owned(),
            scenario,
            context,
        };
        self.insert(kind, finding);
    }

    /// Adds a finding, unless one of its rule and `kind` is there.
    fn insert(&mut self, kind: String, finding: Finding) {
        if self.seen.insert((finding.rule.clone(), kind)) {
            self.all.push(finding);
        }
    }
}

/// A text without the numbers in it, which differ where the same is found again.
fn without_numbers(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}
