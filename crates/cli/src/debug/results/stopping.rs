//! What stops the program beside breakpoints: exceptions, signals and values that are watched. And the processes of a program that has several.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::{Frame, is_false};
use crate::debug::screen::printable;
use crate::debug::style::{Role, Style};

/// Exceptions or signals of a kind that the adapter can stop at.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionFilter {
    /// The adapter's name for the kind, which `catch` takes.
    pub filter: String,
    /// What it is, for people.
    pub label: String,
    /// Whether the program stops there.
    pub enabled: bool,
    /// Stops only where this holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Whether the program has nothing of the kind so far; a library may bring it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_missing: bool,
}

impl ExceptionFilter {
    /// `cpp_throw: on if std::* (C++: on throw)`.
    pub fn text(&self) -> String {
        let state = match (self.enabled, &self.condition) {
            (false, _) => "off".to_owned(),
            (true, None) => "on".to_owned(),
            (true, Some(condition)) => format!("on if {condition}"),
        };
        let missing = match self.is_missing {
            true => "; the program has nothing for it so far",
            false => "",
        };
        let [filter, label] = [&self.filter, &self.label].map(|it| printable(it));
        format!("{filter}: {state} ({label}){missing}")
    }
}

/// A value that stops the program when it is accessed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Watchpoint {
    /// Its number among the breakpoints.
    pub number: u32,
    /// The expression.
    pub expression: String,
    /// Which accesses stop the program.
    pub access: Access,
}

/// An access of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Access {
    /// It is read.
    Read,
    /// It is changed.
    Write,
    /// It is read or written.
    ReadWrite,
}

impl Watchpoint {
    /// `watch 3: list.length, where it is changed`.
    pub fn text(&self) -> String {
        let when = match self.access {
            Access::Read => "read",
            Access::Write => "changed",
            Access::ReadWrite => "read or written",
        };
        let Watchpoint {
            number, expression, ..
        } = self;
        format!("watch {number}: {expression}, where it is {when}")
    }
}

/// A process of the program, in a list of processes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessLine {
    /// Its number.
    pub number: u32,
    /// The id that the system has for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// What it does.
    pub state: super::State,
    /// Where it is stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
    /// Whether it is the selected one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub selected: bool,
}

impl ProcessLine {
    /// `→ process 2 (4711): stopped in main at main.c:3`.
    pub fn text(&self, style: Style) -> String {
        let mark = match self.selected {
            true => style.paint(Role::Current, "→"),
            false => " ".to_owned(),
        };
        let state = match (self.state, &self.frame) {
            (super::State::NotStarted, _) => "not started yet".to_owned(),
            (super::State::Running, _) => "running".to_owned(),
            (super::State::Stopped, Some(frame)) => format!("stopped in {}", frame.text(style)),
            (super::State::Stopped, None) => "stopped".to_owned(),
            (super::State::Ended, _) => "ended".to_owned(),
        };
        format!("{mark} {}: {state}", process_name(self.number, self.id))
    }
}

/// `process 2 (4711)`.
pub fn process_name(number: u32, id: Option<i64>) -> String {
    match id {
        Some(id) => format!("process {number} ({id})"),
        None => format!("process {number}"),
    }
}
