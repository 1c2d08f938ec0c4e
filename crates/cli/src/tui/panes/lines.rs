//! Panes with lines of text as the debugger has them: instructions, memory, exceptions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::debug::style::Role;

use super::super::app::App;
use super::super::pane::Pane;
use super::super::text::safe;
use super::list;

/// Draws the lines of a pane.
pub fn draw(app: &App, pane: Pane, area: Rect, buffer: &mut Buffer) {
    let all = match pane {
        Pane::Disassembly => &app.model.disassembly,
        Pane::Memory => &app.model.memory,
        _ => &app.model.exceptions,
    };
    list(app, pane, area, buffer, |at| {
        let line = &all.lines[at];
        let text = safe(line).into_owned();
        let style = match pane {
            Pane::Disassembly if line.starts_with('→') => app.theme.role(Role::Current),
            // The source line before its instructions.
            Pane::Disassembly if !line.starts_with(' ') => app.theme.role(Role::Location),
            Pane::Memory if all.is_changed(line) => {
                let mark = Span::styled("*", app.theme.changed());
                return Line::from(vec![mark, Span::raw(text)]);
            }
            Pane::Memory => return Line::from(format!(" {text}")),
            _ => ratatui::style::Style::new(),
        };
        Line::from(Span::styled(text, style))
    });
}
