//! The history of a recorded program: writes of values, moments and bookmarks.

use dapple_adapter::{ShownWrite, WhenResponse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::{Frame, is_false};
use crate::debug::screen::printable;
use crate::debug::style::Style;

/// A write of a value, before the moment that is shown.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Write {
    /// The value's name, as the adapter has it.
    pub name: String,
    /// What it was before. Missing: this is its first value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What it has been since.
    pub after: String,
    /// The system call that has written it, if one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_call: Option<String>,
    /// The number of its moment, for `goto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<u32>,
    /// The innermost frame in the user's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
}

impl Write {
    /// A write as the adapter has told of it, in this frame.
    pub fn of(write: &ShownWrite, frame: Option<Frame>) -> Write {
        Write {
            name: write.name.clone(),
            before: write.before.clone(),
            after: write.after.clone(),
            system_call: write.system_call.clone(),
            bookmark: write.bookmark,
            frame,
        }
    }

    /// `limit: 10 → 0`
    pub fn text(&self) -> String {
        let [name, after] = [&self.name, &self.after].map(|it| printable(it));
        let by = { self.system_call.as_ref() }
            .map(|call| format!(" (by the system call {})", printable(call)));
        let by = by.unwrap_or_default();
        match self.before.as_deref().map(printable) {
            None => format!("{name}: {after}, its first value{by}"),
            Some(before) if before == after => format!("{name}: {after}, as before{by}"),
            Some(before) => format!("{name}: {before} → {after}{by}"),
        }
    }

    /// `  2  limit: 10 → 0  parse at settings.rs:12`
    pub fn line(&self, style: Style) -> String {
        let number = { self.bookmark }.map_or_else(String::new, |number| number.to_string());
        let place = { self.frame.as_ref() }.map_or_else(String::new, |frame| frame.text(style));
        format!("{number:>3}  {}  {place}", self.text())
    }
}

/// Where the session is in the history.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// How many events from outside have come up to here.
    pub position: usize,
    /// How many have come in all.
    pub length: usize,
    /// Whether this is the past.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_past: bool,
    /// The moments that `goto` leads to.
    pub bookmarks: Vec<Bookmark>,
}

/// A moment that `goto` leads to.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bookmark {
    /// Its number.
    pub number: u32,
    /// Its name, or that of the value which was written there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How many events from outside have come before it.
    pub position: usize,
    /// Whether `who` has found a write there.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_of_write: bool,
}

impl History {
    /// The history as the adapter has told of it.
    pub fn of(when: WhenResponse) -> History {
        let bookmarks = when.bookmarks.into_iter().map(|bookmark| Bookmark {
            number: bookmark.number,
            name: bookmark.name,
            position: bookmark.position,
            is_of_write: bookmark.is_of_write,
        });
        History {
            position: when.position,
            length: when.length,
            is_past: when.is_past,
            bookmarks: bookmarks.collect(),
        }
    }

    /// Its lines.
    pub fn text(&self) -> String {
        let History {
            position, length, ..
        } = self;
        let mut lines = vec![match self.is_past {
            true => format!("the past: {position} of {length} events from outside have come"),
            false => format!("the present: {length} events have come from outside"),
        }];
        lines.extend(self.bookmarks.iter().map(Bookmark::line));
        lines.join("\n")
    }
}

impl Bookmark {
    fn line(&self) -> String {
        let name = printable(&self.name);
        let what = match (self.is_of_write, name.is_empty()) {
            (true, _) => format!("  a write of {name}"),
            (false, true) => String::new(),
            (false, false) => format!("  {name}"),
        };
        let Bookmark {
            number, position, ..
        } = self;
        format!("bookmark {number}: after {position} events{what}")
    }
}
