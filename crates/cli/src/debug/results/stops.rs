//! A stop of the program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::{Frame, Thread, is_false};
use super::{Item, Value};
use crate::debug::style::{Role, Style};

/// A stop: why, where, and what is there. It says enough to go on without another question.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stop {
    /// Why.
    pub cause: Cause,
    /// The thread.
    pub thread: Thread,
    /// The thread that stays selected, if it is another one: this one has stopped beside it, and has no frames and variables here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_thread: Option<i64>,
    /// The process, in a program that has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<StoppedProcess>,
    /// The innermost frames, and the selected one, if that is further out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// Whether there are more frames than these.
    #[serde(default, skip_serializing_if = "is_false")]
    pub more_frames: bool,
    /// The variables of the selected frame.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locals: Vec<Value>,
    /// How many more it has: `info locals` shows them.
    #[serde(default, skip_serializing_if = "super::places::is_zero")]
    pub more_locals: usize,
    /// What else is shown at the stop: the source, a returned value, displayed expressions.
    pub items: Vec<Item>,
    /// What the program has written since it was let run. Long output is cut at its beginning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// How many bytes of the output were cut.
    #[serde(default, skip_serializing_if = "super::places::is_zero")]
    pub output_cut: usize,
}

/// Why a program has stopped.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// The protocol's word: `breakpoint`, `function breakpoint`, `data breakpoint`, `step`, `exception`, `pause`, `entry`, `goto`, or one of the
    /// adapter's own.
    pub reason: String,
    /// The same for people, behind “stopped”: `at breakpoint 1`, `by SIGSEGV: read of address 0x0`.
    pub sentence: String,
    /// The text of an exception, if it has several lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The numbers of the breakpoints that were hit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breakpoints: Vec<u32>,
    /// Whether a command has ended as it was expected to: a step.
    #[serde(default, skip_serializing_if = "is_false")]
    pub expected: bool,
}

/// A process of a program that has several.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoppedProcess {
    /// Its number, for `process N`.
    pub number: u32,
    /// Its name for people.
    pub name: String,
    /// Whether another process stays selected.
    #[serde(default, skip_serializing_if = "is_false")]
    pub beside: bool,
}

impl Stop {
    /// A stop of which only the cause and the thread are known yet.
    pub fn of(cause: Cause, thread: Thread, process: Option<StoppedProcess>) -> Stop {
        Stop {
            cause,
            thread,
            selected_thread: None,
            process,
            frames: Vec::new(),
            more_frames: false,
            locals: Vec::new(),
            more_locals: 0,
            items: Vec::new(),
            output: String::new(),
            output_cut: 0,
        }
    }

    /// `stopped at breakpoint 1, thread 1234 "name"`.
    pub fn text(&self, style: Style) -> String {
        let reason = format!("stopped {}", self.cause.sentence);
        let reason = style.paint(Role::Reason, &reason);
        let thread = self.thread.text();
        let line = match &self.process {
            None => format!("{reason}, {thread}"),
            Some(process) if !process.beside => format!("{reason}, {}, {thread}", process.name),
            Some(process) => format!(
                "{} also {reason}, {thread}; `process {}` looks at it",
                process.name, process.number
            ),
        };
        match &self.cause.text {
            Some(text) => format!("{line}\n{text}"),
            None => line,
        }
    }
}
