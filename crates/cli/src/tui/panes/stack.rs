//! The stack: a row each frame, and one for several frames of libraries.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::debug::results::Frame;
use crate::debug::style::Role;

use super::super::app::App;
use super::super::model::Entry;
use super::super::pane::Pane;
use super::super::rows::StackRow;
use super::super::text::safe;
use super::{file_name, list, short_function, with_right};

/// Draws the stack.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    list(app, Pane::Stack, area, buffer, |at| {
        match app.stack_rows[at] {
            StackRow::Entry(index) => match &app.model.stack.known[index] {
                Entry::Frame(frame) => row(app, index, frame, area.width),
                Entry::Label(text) => aside(app, format!("  {}", safe(text))),
            },
            StackRow::Folded(first, count) => {
                let origin = match &app.model.stack.known[first] {
                    Entry::Frame(frame) => frame.origin.as_deref(),
                    Entry::Label(_) => None,
                };
                let of = origin.map_or_else(String::new, |origin| format!(" of {}", safe(origin)));
                aside(app, format!("▸ {count} frames{of}"))
            }
        }
    });
}

fn aside(app: &App, text: String) -> Line<'static> {
    Line::from(Span::styled(text, app.theme.role(Role::Aside)))
}

fn row(app: &App, index: usize, frame: &Frame, width: u16) -> Line<'static> {
    let mark = if index == app.model.selected {
        "→"
    } else {
        " "
    };
    let number = format!("{index:>2} ");
    let place = place(frame);
    // The function is cut to leave room for the place, but not below a half.
    let free = usize::from(width).saturating_sub(1 + number.chars().count());
    let room = free.saturating_sub(place.chars().count() + 1).max(free / 2);
    let role = match frame.subtle {
        true => Role::Aside,
        false => Role::Function,
    };
    let name = frame
        .call
        .as_ref()
        .filter(|call| call.chars().count() <= room);
    let name = short_function(name.unwrap_or(&frame.function), room);
    let left = vec![
        Span::styled(mark, app.theme.role(Role::Current)),
        Span::styled(number, app.theme.role(Role::Aside)),
        Span::styled(name, app.theme.role(role)),
    ];
    let place = Span::styled(place, app.theme.role(Role::Location));
    with_right(left, place, width)
}

/// `file:line`, or the address where no line is known.
pub fn place(frame: &Frame) -> String {
    match (&frame.path, frame.line, &frame.address) {
        (Some(path), Some(line), _) => format!("{}:{line}", safe(file_name(path))),
        (.., Some(address)) => safe(address).into_owned(),
        _ => String::new(),
    }
}
