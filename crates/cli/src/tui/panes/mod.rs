//! Drawing panes. Each is a function of the state to rows of text.

pub mod breakpoints;
pub mod header;
pub mod help;
pub mod lines;
pub mod log;
pub mod source;
pub mod stack;
pub mod threads;
pub mod values;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::debug::style::Role;

use super::app::App;
use super::layout::Group;
use super::pane::Pane;
use super::text::{fitting, safe, without};

/// Draws the pane that a group shows.
pub fn draw(app: &App, group: &Group, buffer: &mut Buffer) {
    let area = group.inner();
    match group.shown {
        Pane::Source => source::draw(app, area, buffer),
        Pane::Stack => stack::draw(app, area, buffer),
        Pane::Threads => threads::draw(app, area, buffer),
        Pane::Locals | Pane::Watches | Pane::Registers => {
            values::draw(app, group.shown, area, buffer)
        }
        Pane::Breakpoints => breakpoints::draw(app, area, buffer),
        Pane::Disassembly | Pane::Memory | Pane::Exceptions => {
            lines::draw(app, group.shown, area, buffer)
        }
        Pane::Prompt | Pane::Output => log::draw(app, group.shown, area, buffer),
    }
}

/// Draws the rows of a list that are on the screen, with the cursor.
fn list(
    app: &App,
    pane: Pane,
    area: Rect,
    buffer: &mut Buffer,
    row: impl Fn(usize) -> Line<'static>,
) {
    let view = app.views.of(pane);
    let rows = app.rows(pane);
    if rows == 0 {
        return nothing(app, pane, area, buffer);
    }
    let shown = (view.top..rows).take(usize::from(area.height));
    for (y, at) in (area.y..).zip(shown) {
        let line = shifted(row(at), view.left);
        buffer.set_line(area.x, y, &line, area.width);
        if at == view.cursor {
            let whole = Rect::new(area.x, y, area.width, 1);
            buffer.set_style(whole, app.theme.cursor(app.focus == pane));
        }
    }
}

/// Says why a pane is empty.
fn nothing(app: &App, pane: Pane, area: Rect, buffer: &mut Buffer) {
    let problem = app.model.problems.get(&pane);
    let text = match (problem, pane) {
        (Some(problem), _) => problem,
        (None, Pane::Watches) => "`display EXPRESSION`, or w on a value",
        (None, Pane::Breakpoints) => "none: F9 or `b PLACE` sets one",
        (None, Pane::Memory) => "`x/64xb ADDRESS`, or m on a value",
        (None, Pane::Source) => "no source yet: F5 starts the program, F10 up to main",
        _ => return,
    };
    message(app, text, area, buffer);
}

/// Draws a text in the secondary look.
fn message(app: &App, text: &str, area: Rect, buffer: &mut Buffer) {
    let text = safe(text).replace('\n', " ");
    let lines = super::text::wrapped(&text, usize::from(area.width));
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        let style = app.theme.role(Role::Aside);
        buffer.set_stringn(area.x, y, line, usize::from(area.width), style);
    }
}

/// The line without its first columns.
fn shifted(line: Line<'static>, columns: usize) -> Line<'static> {
    if columns == 0 {
        return line;
    }
    let mut left = columns;
    let spans = line.spans.into_iter().map(|span| {
        let width = span.width();
        let content = without(&span.content, left).to_owned();
        left = left.saturating_sub(width);
        Span::styled(content, span.style)
    });
    Line::from(spans.collect::<Vec<_>>())
}

/// A line of a text on the left and one on the right, of which the right one is left out first.
fn with_right(mut left: Vec<Span<'static>>, right: Span<'static>, width: u16) -> Line<'static> {
    let taken: usize = left.iter().map(Span::width).sum();
    let free = usize::from(width).saturating_sub(taken);
    if free > right.width() {
        left.push(Span::raw(" ".repeat(free - right.width())));
        left.push(right);
    } else if free > 4 {
        let cut = super::text::fitting_end(&right.content, free - 1).into_owned();
        left.push(Span::raw(" "));
        left.push(Span::styled(cut, right.style));
    }
    Line::from(left)
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A function's name in at most so many columns: without arguments of templates, and without what is around it, as far as needed.
fn short_function(name: &str, columns: usize) -> String {
    let name = safe(name);
    if super::text::width(&name) <= columns {
        return name.into_owned();
    }
    let mut out = String::new();
    let mut depth = 0_u32;
    for c in name.chars() {
        match c {
            '<' => {
                depth += 1;
                if depth == 1 {
                    out.push_str("<…>");
                }
            }
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    // `operator<` and the like have no partner.
    let out = if depth == 0 { out } else { name.into_owned() };
    let mut rest = &*out;
    while super::text::width(rest) > columns
        && let Some((_, inner)) = rest.split_once("::")
    {
        rest = inner;
    }
    fitting(rest, columns).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_function_loses_what_says_least() {
        let name = "std::vector<int, std::allocator<int>>::push_back";
        assert_eq!(short_function(name, 60), name);
        assert_eq!(short_function(name, 30), "std::vector<…>::push_back");
        assert_eq!(short_function(name, 10), "push_back");
        assert_eq!(short_function(name, 5), "push…");
        assert_eq!(short_function("a::operator<", 11), "operator<");
    }

    #[test]
    fn the_right_text_is_left_out_first() {
        let line = |width| {
            let left = vec![Span::raw("main")];
            with_right(left, Span::raw("tour.c:20"), width).to_string()
        };
        assert_eq!(line(20), "main       tour.c:20");
        assert_eq!(line(12), "main …r.c:20");
        assert_eq!(line(8), "main");
    }
}
