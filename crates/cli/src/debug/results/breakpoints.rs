//! Breakpoints.

use dapple_dap::types;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::is_false;
use crate::debug::adapters::chatter;
use crate::debug::breakpoints::{self, Lifetime, Place};
use crate::debug::render;
use crate::debug::style::Style;

/// A breakpoint.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Breakpoint {
    /// Its number.
    pub number: u32,
    /// Whether the adapter has found its place.
    pub verified: bool,
    /// The function that it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// What the adapter says of it: why it is not found yet, or was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Stops only where this holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Stops only on these hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_hits: Option<String>,
    /// Writes this instead of stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// It is gone after its first hit, or the next stop.
    #[serde(default, skip_serializing_if = "is_false")]
    pub temporary: bool,
    /// It stops nowhere until it is enabled.
    #[serde(default, skip_serializing_if = "is_false")]
    pub disabled: bool,
    /// How often it has stopped the program.
    pub hits: u32,
    /// The line for people.
    pub text: String,
}

impl Breakpoint {
    /// A breakpoint with what the adapter has said of it. `style`: that of its line.
    pub fn of(
        this: &breakpoints::Breakpoint,
        answer: Option<&types::Breakpoint>,
        style: Style,
    ) -> Breakpoint {
        let (path, line) = this.location(answer);
        let function = match &this.place {
            Place::Function(name) => Some(name.clone()),
            Place::Line(..) | Place::Column(..) | Place::Definition(..) => None,
        };
        Breakpoint {
            number: this.number,
            verified: answer.is_some_and(|answer| answer.verified),
            function,
            path: path.map(|path| path.to_string_lossy().into_owned()),
            line,
            message: { answer.and_then(|answer| answer.message.as_deref()) }
                .and_then(chatter::of_breakpoint)
                .map(str::to_owned),
            condition: this.options.condition.clone(),
            on_hits: this.options.hits.clone(),
            log: this.options.log.clone(),
            temporary: this.lifetime != Lifetime::Always,
            disabled: this.options.disabled,
            hits: this.hits,
            text: render::breakpoint(this, answer, style),
        }
    }

    /// In a list, with how often it was hit, and more.
    pub fn listed(mut self, more: &str) -> Breakpoint {
        let hits = match self.hits {
            0 => String::new(),
            1 => ", hit once".to_owned(),
            hits => format!(", hit {hits} times"),
        };
        self.text += &hits;
        self.text += more;
        self
    }
}
