//! Frames, source lines and threads.

use std::path::Path;

use dapple_dap::types::{self, StackFrame, StackFramePresentationHint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::debug::render;
use crate::debug::screen::printable;
use crate::debug::source_colours::{self, Pieces};
use crate::debug::style::{Role, Style};

/// A frame of a stack.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// Its number, from 0, the innermost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The function, as the adapter names it.
    pub function: String,
    /// The function with its arguments and their values, in records of stops and where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// The address of the next instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Whose code it is, if not the user's: `standard library`, `tokio-1.54.1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Whether the adapter says that it is not the user's code, or is only a text between frames.
    #[serde(default, skip_serializing_if = "is_false")]
    pub subtle: bool,
    /// Whether it is the selected one, in whose variables expressions are.
    #[serde(default, skip_serializing_if = "is_false")]
    pub selected: bool,
    /// Its variables, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<super::Value>,
    /// How many of them are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_variables: usize,
    /// Whether text has the whole path of the file.
    #[serde(skip)]
    pub whole: bool,
}

pub(super) fn is_false(value: &bool) -> bool {
    !value
}

pub(super) fn is_zero(value: &usize) -> bool {
    *value == 0
}

impl Frame {
    /// A frame as the adapter has told of it, without its variables.
    pub fn of(frame: &StackFrame) -> Frame {
        let (path, line) = render::source_of(frame).unzip();
        Frame {
            index: None,
            function: frame.name.clone(),
            call: None,
            path: path.map(|path| path.to_string_lossy().into_owned()),
            line,
            column: (frame.column > 0).then_some(frame.column),
            address: frame.instruction_pointer_reference.clone(),
            origin: frame.source.as_ref().and_then(|it| it.origin.clone()),
            subtle: matches!(
                frame.presentation_hint,
                Some(StackFramePresentationHint::Subtle | StackFramePresentationHint::Label)
            ),
            selected: false,
            variables: Vec::new(),
            more_variables: 0,
            whole: false,
        }
    }

    /// The same with its number.
    pub fn numbered(self, index: usize, selected: bool) -> Frame {
        let index = Some(index);
        Frame {
            index,
            selected,
            ..self
        }
    }

    /// `function at file:line`, or with the address if that is all that is known.
    pub fn text(&self, style: Style) -> String {
        let name = self.call.as_ref().unwrap_or(&self.function);
        let name = style.paint(Role::Function, &printable(name));
        let place = match (&self.path, self.line, &self.address) {
            (Some(path), Some(line), _) if self.whole => format!("{}:{line}", printable(path)),
            (Some(path), Some(line), _) => format!("{}:{line}", render::path(Path::new(path))),
            (.., Some(address)) => printable(address),
            _ => return name,
        };
        format!("{name} at {}", style.paint(Role::Location, &place))
    }

    /// A line of a backtrace.
    pub fn line(&self, style: Style) -> String {
        let mark = match self.selected {
            true => style.paint(Role::Current, "→"),
            false => " ".to_owned(),
        };
        let index = self.index.unwrap_or_default();
        format!("{mark} #{index:<2} {}", self.text(style))
    }
}

/// Lines of a source file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listing {
    /// The file.
    pub path: String,
    /// The line at which the program is, or which was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<usize>,
    /// The lines.
    pub lines: Vec<SourceLine>,
    /// The text of lines before them, for colours.
    #[serde(skip)]
    pub before: Vec<String>,
}

/// A line of a source file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its text. Control characters are shown as `·`, tabs as four spaces.
    pub text: String,
}

impl Listing {
    /// The lines `first..=last`, from 1, as far as the file has them.
    pub fn of(
        path: &Path,
        lines: &[String],
        first: usize,
        last: usize,
        current: Option<usize>,
    ) -> Listing {
        let first = first.max(1);
        let numbered = (1..).zip(lines).skip(first - 1);
        let shown = numbered.take((last + 1).saturating_sub(first));
        let before = lines.get(..first - 1).unwrap_or_default();
        let before = &before[before.len().saturating_sub(source_colours::BEFORE)..];
        Listing {
            path: path.to_string_lossy().into_owned(),
            current,
            before: before.to_vec(),
            lines: shown
                .map(|(number, text)| SourceLine {
                    number,
                    text: text.clone(),
                })
                .collect(),
        }
    }

    /// The lines in pieces for colours, if `style` has any and the language is known.
    fn pieces(&self, style: Style) -> Option<Vec<Pieces>> {
        if !style.is_enabled() {
            return None;
        }
        let shown = self.lines.iter().map(|line| &line.text);
        let all: Vec<String> = self.before.iter().chain(shown).cloned().collect();
        source_colours::pieces(Path::new(&self.path), &all, self.lines.len())
    }

    /// The lines with their numbers; the current one is marked.
    pub fn text(&self, style: Style) -> String {
        let last = self.lines.last().map_or(0, |line| line.number);
        let width = last.to_string().len().max(4);
        let mut out = String::new();
        let mut pieces = self.pieces(style).unwrap_or_default().into_iter();
        for SourceLine { number, text } in &self.lines {
            let pieces = pieces.next();
            let is_current = self.current == Some(*number);
            let coloured = pieces.map(|it| source_colours::painted(&it, style, is_current));
            let number = format!("{number:>width$}");
            let shown = match (is_current, coloured) {
                (true, Some(text)) => {
                    let number = style.paint(Role::Current, &format!("→ {number}"));
                    format!("{number}  {text}")
                }
                (true, None) => style.paint(Role::Current, &format!("→ {number}  {text}")),
                (false, coloured) => {
                    let text = coloured.as_ref().unwrap_or(text);
                    format!("  {}  {text}", style.paint(Role::Aside, &number))
                }
            };
            out.push_str(shown.trim_end());
            out.push('\n');
        }
        out
    }
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Its number, as the adapter has it.
    pub id: i64,
    /// Its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl Thread {
    /// A thread by its number.
    pub fn of(id: i64, threads: &[types::Thread]) -> Thread {
        let known = threads.iter().find(|thread| thread.id == id);
        Thread {
            id,
            name: known.map_or_else(String::new, |thread| thread.name.clone()),
        }
    }

    /// `thread 1234 "name"`. Adapters must name each thread, and name those without a name by their ids: they are `thread 1234`.
    pub fn text(&self) -> String {
        let by_id = format!("thread {}", self.id);
        match self.name.is_empty() || self.name.eq_ignore_ascii_case(&by_id) {
            true => by_id,
            false => format!("{by_id} \"{}\"", printable(&self.name)),
        }
    }
}

/// A thread in a list of threads.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadLine {
    /// The thread.
    pub thread: Thread,
    /// Whether it is the selected one.
    pub selected: bool,
    /// Its frame of the user's own code that is furthest in. Missing: it runs on, or has just ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
}

impl ThreadLine {
    /// `→ thread 1234 "name" in function at file:line`.
    pub fn text(&self, style: Style) -> String {
        let mark = match self.selected {
            true => style.paint(Role::Current, "→"),
            false => " ".to_owned(),
        };
        let place = self.frame.as_ref();
        let place = place.map_or_else(String::new, |frame| format!(" in {}", frame.text(style)));
        format!("{mark} {}{place}", self.thread.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dapple_dap::types::Source;

    #[test]
    fn a_thread_that_is_named_by_its_id_has_no_name_beside_it() {
        let named = |name: &str| Thread {
            id: 7,
            name: name.to_owned(),
        };
        let texts = ["", "thread 7", "Thread 7", "worker", "thread 8"].map(|it| named(it).text());
        let by_id = "thread 7";
        let expected = [
            by_id,
            by_id,
            by_id,
            "thread 7 \"worker\"",
            "thread 7 \"thread 8\"",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_frame_says_where_it_is_as_well_as_it_can() {
        let here = std::env::current_dir().unwrap().join("src/x.rs");
        let source = Source::new().with_path(here.to_string_lossy());
        let known = StackFrame::new(1, "total", 12, 0).with_source(source);
        assert_eq!(
            Frame::of(&known).text(Style::plain()),
            "total at src/x.rs:12"
        );
        let unknown = StackFrame::new(1, "??", 0, 0).with_instruction_pointer_reference("0x401000");
        assert_eq!(Frame::of(&unknown).text(Style::plain()), "?? at 0x401000");
        let hostile = StackFrame::new(1, "f\x1b[2J", 0, 0);
        let line = Frame::of(&hostile).numbered(3, true).line(Style::plain());
        assert_eq!(line, "→ #3  f·[2J");
    }

    #[test]
    fn a_window_is_clipped_to_the_text_and_marks_the_current_line() {
        let text = ["one", "    if x {", "three·[2J"].map(str::to_owned);
        let window = |first, last| Listing::of(Path::new("x.rs"), &text, first, last, Some(2));
        assert_eq!(
            window(0, 99).text(Style::plain()),
            "     1  one\n→    2      if x {\n     3  three·[2J\n"
        );
        assert_eq!(window(7, 9).text(Style::plain()), "");
        assert_eq!(window(3, 2).lines.len(), 0);
    }
}
