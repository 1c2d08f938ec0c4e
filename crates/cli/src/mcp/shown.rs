//! What answers say of a session's records.

use std::fmt::Write;

use serde_json::Value;

use super::sessions::{Session, Told};
use crate::session::wire::State;

/// The most bytes of the program's output beside a stop.
const OUTPUT: usize = 2000;
/// Types longer than that aren't shown beside values.
const LONGEST_TYPE: usize = 60;

/// Text without characters that drive a terminal.
pub fn plain(text: &str) -> String {
    let is_kept = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars()
        .map(|c| if is_kept(c) { c } else { '·' })
        .collect()
}

/// An answer.
#[derive(Default)]
pub struct Shown {
    /// The text.
    pub text: String,
    /// Whether what was asked for has failed.
    pub failed: bool,
}

impl Shown {
    /// A line or more.
    pub fn line(&mut self, text: &str) {
        let text = text.trim_end();
        if !text.is_empty() {
            self.text += text;
            self.text.push('\n');
        }
    }

    /// All that commands and stops have shown.
    pub fn told(&mut self, told: &Told) {
        for record in &told.records {
            self.record(record);
        }
    }

    fn record(&mut self, record: &Value) {
        match record["record"].as_str() {
            Some("stop") => self.stop(record),
            Some("output") => {}
            _ => self.line(&text_of(record)),
        }
        if let Some(message) = record["error"]["message"].as_str() {
            self.failed |= record["record"] != "end";
            self.line(&plain(message));
        }
    }

    /// A stop: why and where, the source around, the frames, the variables.
    pub fn stop(&mut self, stop: &Value) {
        self.place(stop);
        let frames = stop["frames"].as_array().map_or(&[][..], Vec::as_slice);
        if frames.len() > 1 {
            self.line("stack:");
            let mut left_out = 0;
            for frame in frames {
                if is_library(frame) {
                    left_out += 1;
                    continue;
                }
                self.left_out(std::mem::take(&mut left_out));
                self.line(&frame_line(frame));
            }
            self.left_out(left_out);
            if stop["moreFrames"] == true {
                self.line("  … `inspect` stack shows more");
            }
        }
        self.variables(stop);
    }

    fn left_out(&mut self, frames: usize) {
        if frames > 0 {
            self.line(&format!("  … {frames} of libraries"));
        }
    }

    /// Why and where it has stopped, and the source around.
    pub fn place(&mut self, stop: &Value) {
        self.line(&text_of(stop));
    }

    /// The variables at a stop.
    pub fn variables(&mut self, stop: &Value) {
        let locals = stop["locals"].as_array().map_or(&[][..], Vec::as_slice);
        if !locals.is_empty() {
            self.line("variables:");
            for value in locals {
                self.line(&value_line(value));
            }
            if let Some(more) = stop["moreLocals"].as_u64().filter(|it| *it > 0) {
                self.line(&format!("  … and {more} more: `inspect` variables"));
            }
        }
    }

    /// What the program has written since the last answer.
    pub fn output(&mut self, session: &Session) {
        let text = session.known().take_output(false);
        if text.trim().is_empty() {
            return;
        }
        let over = text.len().saturating_sub(OUTPUT);
        let start = (over..).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        self.line("output of the program since the last answer:");
        if start > 0 {
            self.line(&format!("… {start} bytes before that: `output` with all"));
        }
        self.line(&text[start..]);
    }

    /// What the program does, if the records don't say it.
    pub fn state(&mut self, told: &Told) {
        if let Some(refused) = &told.done.refused {
            self.failed = true;
            let has_ended = told.done.state == State::Over;
            let text = if has_ended {
                "the session has ended"
            } else {
                refused
            };
            self.line(text);
            return;
        }
        let has_news = |what: &str| told.records.iter().any(|it| it["record"] == what);
        match told.done.state {
            State::Running => self.line(
                "the program runs: `run` waits on for its stop, `where_is_it_stuck` stops it and shows where it is",
            ),
            State::NotStarted if !self.failed => self.line("the program has not been started"),
            State::Ended if !has_news("exited") => self.line("the program has ended"),
            State::Over if !has_news("end") => self.line("the session has ended"),
            _ => {}
        }
    }
}

/// The text of a record, without hints for people at the prompt.
fn text_of(record: &Value) -> String {
    let text = plain(record["text"].as_str().unwrap_or_default());
    let items = record["items"].as_array().into_iter().flatten();
    let hints = items.filter(|it| it["kind"] == "hint");
    let hints: Vec<&str> = hints.filter_map(|it| it["text"].as_str()).collect();
    let lines = text.lines().filter(|line| !hints.contains(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a frame is others' code, or has no source.
fn is_library(frame: &Value) -> bool {
    let is_others = frame["origin"].is_string() || frame["subtle"] == true;
    frame["selected"] != true && (is_others || frame["path"].is_null())
}

fn frame_line(frame: &Value) -> String {
    let text = |key: &str| frame[key].as_str().map(plain);
    let mark = if frame["selected"] == true {
        "→"
    } else {
        " "
    };
    let mut line = String::new();
    let name = text("call")
        .or_else(|| text("function"))
        .unwrap_or_default();
    let _ = write!(line, "{mark} #{} {name}", frame["index"]);
    match (text("path"), frame["line"].as_u64(), text("address")) {
        (Some(path), Some(number), _) => {
            let _ = write!(line, " at {path}:{number}");
        }
        (.., Some(address)) => {
            let _ = write!(line, " at {address}");
        }
        _ => {}
    }
    line
}

fn value_line(value: &Value) -> String {
    let text = |key: &str| value[key].as_str().map(plain).unwrap_or_default();
    let kind = text("type");
    let kind = match !kind.is_empty() && kind.len() <= LONGEST_TYPE {
        true => format!(": {kind}"),
        false => String::new(),
    };
    let more = if value["cut"] == true {
        " (cut; `evaluate` shows it)"
    } else {
        ""
    };
    format!("  {}{kind} = {}{more}", text("name"), text("value"))
}
