//! A thread's stack.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::{Frame, Thread, is_zero};
use crate::debug::screen::printable;
use crate::debug::style::{Role, Style};

/// A thread's stack, or a part of it. Runs of frames of libraries may be folded.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stack {
    /// The threads that have it. Several: their stacks are equal.
    pub threads: Vec<Thread>,
    /// How many frames further in are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further_in: usize,
    /// The rows, the innermost frame first.
    pub rows: Vec<Row>,
    /// How many frames of libraries, or without a source, are left out below.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub libraries_below: usize,
    /// The command that shows more frames, if there are more or some are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// Whether text begins with the threads.
    #[serde(skip)]
    pub is_titled: bool,
    /// Whether the list was ended by Ctrl-C.
    #[serde(default, skip_serializing_if = "super::places::is_false")]
    pub interrupted: bool,
}

/// A row of a stack.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "row", rename_all = "camelCase")]
pub enum Row {
    /// A frame.
    Frame(Box<Frame>),
    /// A text between frames.
    Label(Label),
    /// Frames of libraries.
    Folded(Folded),
}

/// A text between frames, such as where an asynchronous stack begins.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Label {
    /// The text.
    pub text: String,
}

/// A run of frames of libraries that are left out.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Folded {
    /// The number of the first of them.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// Whose they are: `12 frames of tokio-1.54.1`.
    pub whose: String,
}

impl Stack {
    /// The rows, a line each.
    pub fn text(&self, style: Style) -> String {
        let mut lines = Vec::new();
        let aside = |lines: &mut Vec<String>, text: String| {
            lines.push(style.paint(Role::Aside, &text));
        };
        if self.is_titled {
            let names: Vec<String> = self.threads.iter().map(Thread::text).collect();
            let title = match names.len() {
                1 => names.join(""),
                count => format!("{count} threads: {}", names.join(", ")),
            };
            lines.push(style.paint(Role::Reason, &title));
        }
        if self.further_in > 0 {
            aside(&mut lines, format!("  … {} further in", self.further_in));
        }
        for row in &self.rows {
            match row {
                Row::Label(label) => aside(&mut lines, format!("  {}", printable(&label.text))),
                Row::Folded(folded) => aside(&mut lines, format!("  … {}", folded.whose)),
                Row::Frame(frame) => {
                    lines.push(frame.line(style));
                    let variables = frame.variables.iter();
                    lines.extend(variables.map(|one| format!("      {}", one.line(style))));
                    if frame.more_variables > 0 {
                        let (more, index) = (frame.more_variables, frame.index.unwrap_or_default());
                        let text = format!("      … {more} more: `frame {index}`, `info locals`");
                        aside(&mut lines, text);
                    }
                }
            }
        }
        if self.interrupted {
            aside(&mut lines, "  … interrupted".to_owned());
        } else if self.libraries_below > 0 {
            let count = self.libraries_below;
            let rest = { self.rest.as_ref() }.map(|rest| format!("; `{rest}` shows them"));
            let rest = rest.unwrap_or_default();
            let text = format!("  … and {count} below of libraries or without a source{rest}");
            aside(&mut lines, text);
        } else if let Some(rest) = &self.rest {
            aside(&mut lines, format!("  … `{rest}` shows more"));
        }
        lines.join("\n")
    }
}
