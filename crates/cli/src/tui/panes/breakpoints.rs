//! The breakpoints, then watchpoints and what else there is to say.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::debug::results::Breakpoint;
use crate::debug::style::Role;

use super::super::app::App;
use super::super::pane::Pane;
use super::super::text::safe;
use super::source::mark;
use super::{file_name, list};

/// Draws the breakpoints.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let known = &app.model.breakpoints;
    list(app, Pane::Breakpoints, area, buffer, |at| {
        match known.get(at) {
            Some(breakpoint) => row(app, breakpoint),
            None => {
                let text = app.model.watchpoints.get(at - known.len());
                Line::from(format!("  {}", safe(text.map_or("", |text| text))))
            }
        }
    });
}

fn row(app: &App, breakpoint: &Breakpoint) -> Line<'static> {
    let place = match (&breakpoint.path, breakpoint.line) {
        (Some(path), Some(line)) => format!("{}:{line}", safe(file_name(path))),
        _ => String::new(),
    };
    let mut spans = vec![
        Span::styled(mark(breakpoint), app.theme.breakpoint()),
        Span::raw(format!(" {} ", breakpoint.number)),
    ];
    if let Some(function) = &breakpoint.function {
        let name = format!("{} ", safe(function));
        spans.push(Span::styled(name, app.theme.role(Role::Function)));
    }
    spans.push(Span::styled(place, app.theme.role(Role::Location)));
    let mut more = String::new();
    if breakpoint.temporary {
        more += ", once";
    }
    if let Some(condition) = &breakpoint.condition {
        more += &format!(" if {}", safe(condition));
    }
    if let Some(hits) = &breakpoint.on_hits {
        more += &format!(", on hits {}", safe(hits));
    }
    if let Some(log) = &breakpoint.log {
        more += &format!(", logs {}", safe(log));
    }
    match breakpoint.hits {
        0 => {}
        hits => more += &format!(", hit {hits}×"),
    }
    if let Some(message) = breakpoint.message.as_ref().filter(|_| !breakpoint.verified) {
        more += &format!(": {}", safe(message));
    }
    spans.push(Span::styled(more, app.theme.role(Role::Aside)));
    Line::from(spans)
}
