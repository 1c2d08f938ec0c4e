//! What is wrong with a message: the definition's shape and the rules of a session, as [`Finding`]s.
//!
//! The only module that uses `dapple-dap`'s lifecycle and `dapple-schema`'s validator. The rest of the crate knows findings only.

use std::sync::OnceLock;

use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::lifecycle::{Facts, Lifecycle, Severity, Side};
use dapple_schema::validate::Validator;
use serde_json::Value;

/// The rule of a message that is not as the definition says.
pub const SHAPE: &str = "shape";
/// The rule of a request that never got its response.
pub const UNANSWERED: &str = "unanswered";
/// The rule of a response to no request that waits.
pub const RESPONSE_TO_NOTHING: &str = "response-to-nothing";
/// The rule of a progress that was started and not ended.
pub const OPEN_PROGRESS: &str = "open-progress";
/// The rule of bytes that are no message.
pub const MALFORMED: &str = "malformed";
/// The rule of numbers that don't count from 1.
pub const SEQUENCE: &str = "sequence";

/// Something that is wrong with a message or a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken, such as `shape`, `sequence` or `after-terminated`.
    pub rule: String,
    /// Whether the specification says so, or clients only rely on it.
    pub severity: Severity,
    /// What the finding is about, without numbers that differ from run to run: the message and, for `shape`, the field.
    pub subject: String,
    /// What was found and what was expected, as a sentence.
    pub text: String,
}

impl Finding {
    /// True if both are about the same rule and the same kind of message.
    pub fn is_like(&self, other: &Finding) -> bool {
        self.rule == other.rule && self.subject == other.subject
    }

    /// Tells a second response to a request from one to a request that never was: another mistake, by the same rule.
    pub(crate) fn about_second_response(&mut self) {
        if self.rule == RESPONSE_TO_NOTHING {
            self.subject = format!("second {}", self.subject);
        }
    }

    pub(crate) fn unanswered(side: Side, seq: i64, command: &str) -> Self {
        let name = match side {
            Side::Client => "client",
            Side::Adapter => "adapter",
        };
        Self {
            rule: UNANSWERED.to_owned(),
            severity: Severity::Violation,
            subject: format!("request {command}"),
            text: format!("the {name}'s request {seq} (`{command}`) got no response"),
        }
    }

    pub(crate) fn malformed(reason: &str) -> Self {
        Self {
            rule: MALFORMED.to_owned(),
            severity: Severity::Violation,
            subject: String::new(),
            text: reason.to_owned(),
        }
    }
}

/// Checks the messages of one session, in order.
#[derive(Debug)]
pub(crate) struct Checker {
    lifecycle: Lifecycle,
}

impl Checker {
    pub(crate) fn new() -> Self {
        Self {
            lifecycle: Lifecycle::new(),
        }
    }

    /// What is wrong with a message. `value` is the message as a value.
    pub(crate) fn message(
        &mut self,
        from: Side,
        envelope: &Envelope<'_>,
        value: &Value,
    ) -> Vec<Finding> {
        let subject = subject(envelope);
        let mut findings = shape(&subject, value);
        let numbered = self.lifecycle.sequence(from, envelope.seq).err();
        let broken = self.lifecycle.observe(from, Facts::of(envelope));
        for violation in numbered.into_iter().chain(broken) {
            findings.push(Finding {
                rule: violation.rule().to_owned(),
                severity: violation.severity(),
                subject: subject.clone(),
                text: violation.to_string(),
            });
        }
        findings
    }

    /// What is wrong with a text that is not a message.
    pub(crate) fn not_a_message(value: Option<&Value>, reason: &str) -> Vec<Finding> {
        let findings = value.map(|value| shape("", value)).unwrap_or_default();
        match findings.is_empty() {
            true => vec![Finding {
                rule: SHAPE.to_owned(),
                severity: Severity::Violation,
                subject: String::new(),
                text: reason.to_owned(),
            }],
            false => findings,
        }
    }

    /// The progresses that are open when the session ends here.
    pub(crate) fn end(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for id in self.lifecycle.open_progress() {
            findings.push(Finding {
                rule: OPEN_PROGRESS.to_owned(),
                severity: Severity::Advice,
                subject: "progress".to_owned(),
                text: format!("the progress {id} was started and not ended"),
            });
        }
        findings
    }
}

/// The kind and name of a message.
fn subject(envelope: &Envelope<'_>) -> String {
    let kind = match envelope.kind {
        Kind::Request { .. } => "request",
        Kind::Response { success: true, .. } => "response",
        Kind::Response { .. } => "error response",
        _ => "event",
    };
    format!("{kind} {}", envelope.name())
}

fn shape(subject: &str, value: &Value) -> Vec<Finding> {
    static VALIDATOR: OnceLock<Option<Validator>> = OnceLock::new();
    // The built-in definition can be parsed: the tests of `dapple-schema` do.
    let Some(validator) = VALIDATOR.get_or_init(|| Validator::protocol().ok()) else {
        return Vec::new();
    };
    let problems = validator.message(value);
    let findings = problems.iter().map(|problem| Finding {
        rule: SHAPE.to_owned(),
        severity: Severity::Violation,
        subject: format!("{subject} {}", without_indices(&problem.path)),
        text: problem.to_string(),
    });
    findings.collect()
}

/// `body.breakpoints[3].line` without the 3.
fn without_indices(path: &str) -> String {
    let mut inside = false;
    let kept = |c: &char| {
        let before = inside;
        inside = match c {
            '[' => true,
            ']' => false,
            _ => inside,
        };
        !before || *c == ']'
    };
    path.chars().filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_for_each_element() {
        assert_eq!(
            without_indices("body.breakpoints[3].line"),
            "body.breakpoints[].line"
        );
    }
}
