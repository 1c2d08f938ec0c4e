//! The source: breakpoints and the program's place in the gutter, then the number and the text of each line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::debug::results::{Breakpoint, State};
use crate::debug::style::Role;

use super::super::app::App;
use super::super::pane::Pane;
use super::super::text::{safe, without};

/// How many columns are before the text.
pub fn gutter(lines: usize) -> usize {
    2 + digits(lines) + 2
}

fn digits(lines: usize) -> usize {
    lines.to_string().len().max(3)
}

/// The mark of a breakpoint.
pub fn mark(breakpoint: &Breakpoint) -> &'static str {
    match (breakpoint.disabled, breakpoint.verified) {
        (true, _) => "○",
        (false, false) => "◌",
        (false, true) => "●",
    }
}

/// Draws the source.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    if let Some(problem) = &app.source.problem {
        return super::message(app, problem, area, buffer);
    }
    let (path, view) = (app.source.path.as_deref(), app.views.of(Pane::Source));
    let here = app.model.place.as_ref();
    let is_stopped = app.model.state == State::Stopped;
    let here = here.filter(|place| is_stopped && Some(&*place.path) == path);
    let width = digits(app.source.lines.len());
    let row = |at: usize| {
        let number = at + 1;
        let is_here = here.is_some_and(|place| place.line == number);
        let breakpoint = path.and_then(|path| app.model.breakpoint_at(path, number));
        let role = match is_here {
            true => app.theme.role(Role::Current),
            false => app.theme.role(Role::Aside),
        };
        let mut spans = vec![
            Span::styled(breakpoint.map_or(" ", mark), app.theme.breakpoint()),
            Span::styled(
                if is_here { "→" } else { " " },
                app.theme.role(Role::Current),
            ),
            Span::styled(format!("{number:>width$}  "), role),
        ];
        spans.extend(text(app, at, is_here, view.left));
        Line::from(spans)
    };
    let rows = app.source.lines.len();
    if rows == 0 {
        return super::nothing(app, Pane::Source, area, buffer);
    }
    for (y, at) in (area.y..area.bottom()).zip(view.top..rows) {
        buffer.set_line(area.x, y, &row(at), area.width);
        if at == view.cursor {
            let whole = Rect::new(area.x, y, area.width, 1);
            buffer.set_style(whole, app.theme.cursor(app.focus == Pane::Source));
        }
    }
}

/// A line's text, in its colours.
fn text(app: &App, at: usize, is_here: bool, left: usize) -> Vec<Span<'static>> {
    let whole = app.source.lines.get(at).map_or("", |line| line);
    if is_here || !app.theme.colours {
        let style = match is_here {
            true => app.theme.role(Role::Current),
            false => ratatui::style::Style::new(),
        };
        return vec![Span::styled(without(&safe(whole), left).to_owned(), style)];
    }
    let Some(pieces) = app.source.pieces(at) else {
        return vec![Span::raw(without(&safe(whole), left).to_owned())];
    };
    let spans = pieces.iter().map(|(role, text)| match role {
        Some(role) => Span::styled(safe(text).into_owned(), app.theme.role(*role)),
        None => Span::raw(safe(text).into_owned()),
    });
    let line = Line::from(spans.collect::<Vec<_>>());
    super::shifted(line, left).spans
}
