//! The threads: a row each, and one for several at the same place.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::debug::style::Role;

use super::super::app::App;
use super::super::pane::Pane;
use super::super::rows::{self, ThreadRow};
use super::super::text::safe;
use super::{list, short_function, stack, with_right};

/// Draws the threads.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    list(app, Pane::Threads, area, buffer, |at| {
        let (index, head) = match app.thread_rows[at] {
            ThreadRow::Thread(index, is_inner) => (index, head(app, index, is_inner)),
            ThreadRow::Together(index, count) => {
                let spot = rows::spot(app.model.threads.known[index].frame.as_ref());
                let mark = match app.opened_spots.contains(&spot) {
                    true => "▾",
                    false => "▸",
                };
                (index, (mark, format!("{count} threads ")))
            }
        };
        let frame = app.model.threads.known[index].frame.as_ref();
        let (mark, name) = head;
        let mark = Span::styled(mark, app.theme.role(Role::Current));
        let name = Span::styled(name, app.theme.role(Role::Name));
        let Some(frame) = frame else {
            let runs = Span::styled("runs", app.theme.role(Role::Aside));
            return Line::from(vec![mark, name, runs]);
        };
        let place = stack::place(frame);
        let free = usize::from(area.width).saturating_sub(mark.width() + name.width());
        let room = free.saturating_sub(place.chars().count() + 1).max(free / 2);
        let function = short_function(&frame.function, room);
        let function = Span::styled(function, app.theme.role(Role::Function));
        let place = Span::styled(place, app.theme.role(Role::Location));
        with_right(vec![mark, name, function], place, area.width)
    });
}

/// The mark and the name of a thread.
fn head(app: &App, index: usize, is_inner: bool) -> (&'static str, String) {
    let line = &app.model.threads.known[index];
    let mark = match (line.selected, is_inner) {
        (true, _) => "→",
        (false, true) => "  ",
        (false, false) => " ",
    };
    let thread = &line.thread;
    match thread.name.is_empty() {
        true => (mark, format!("{} ", thread.id)),
        false => (mark, format!("{} {} ", thread.id, safe(&thread.name))),
    }
}
