//! Draws the state: what the program does above, the panes, the keys below.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::app::App;
use super::keys;
use super::layout::LEAST;
use super::panes::{self, header, help, log};
use super::text::{fitting, safe, width};

/// Draws everything.
pub fn draw(app: &App, frame: &mut Frame<'_>) {
    let size = frame.area();
    if size != app.size {
        // The terminal has another size since; the next screen is for that.
        return;
    }
    let buffer = frame.buffer_mut();
    if app.groups.is_empty() {
        let text = format!(
            "{}×{} is too small; {}×{} will do",
            size.width, size.height, LEAST.0, LEAST.1
        );
        buffer.set_stringn(
            size.x,
            size.y,
            text,
            usize::from(size.width),
            app.theme.bar(),
        );
        return;
    }
    draw_headline(app, size, buffer);
    for group in &app.groups {
        header::draw(app, group, buffer);
        panes::draw(app, group, buffer);
        draw_left_line(app, group.area, buffer);
    }
    draw_keys(app, size, buffer);
    if app.help.is_some() {
        return help::draw(app, buffer);
    }
    let focused = app.groups.iter().find(|group| group.shown == app.focus);
    let cursor = focused.and_then(|group| log::cursor(app, group.shown, group.inner()));
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

/// The line between a group and what is left of it.
fn draw_left_line(app: &App, area: Rect, buffer: &mut Buffer) {
    if area.x == 0 {
        return;
    }
    for y in area.top()..area.bottom() {
        let symbol = match y == area.y {
            true if y == 1 => "┬",
            true => "├",
            false => "│",
        };
        let cell = &mut buffer[(area.x - 1, y)];
        cell.set_symbol(symbol).set_style(app.theme.rule(false));
    }
}

/// The program, and what it does.
fn draw_headline(app: &App, size: Rect, buffer: &mut Buffer) {
    let row = Rect { height: 1, ..size };
    buffer.set_style(row, app.theme.bar());
    let waiting = match app.waiting() {
        0 => String::new(),
        _ if app.is_running() => " waits for the stop ".to_owned(),
        _ => " … ".to_owned(),
    };
    let room = usize::from(size.width).saturating_sub(width(&waiting));
    let text = format!(" {}  {}", app.model.program, app.model.headline);
    let text = safe(&text).into_owned();
    buffer.set_stringn(row.x, row.y, fitting(&text, room), room, app.theme.bar());
    let x = row.right().saturating_sub(width(&waiting) as u16);
    buffer.set_stringn(x, row.y, &waiting, width(&waiting), app.theme.bar());
}

/// The keys of the pane that gets them, or what there is to say.
fn draw_keys(app: &App, size: Rect, buffer: &mut Buffer) {
    let row = Rect {
        y: size.bottom() - 1,
        height: 1,
        ..size
    };
    buffer.set_style(row, app.theme.bar());
    let columns = usize::from(size.width);
    let text = match &app.notice {
        Some(notice) => format!(" {}", safe(notice)),
        None => {
            let mut text = String::new();
            for (key, label) in keys::hints(app.focus) {
                let hint = format!(" {key} {label} ");
                if width(&text) + width(&hint) <= columns {
                    text += &hint;
                }
            }
            text
        }
    };
    buffer.set_stringn(
        row.x,
        row.y,
        fitting(&text, columns),
        columns,
        app.theme.bar(),
    );
}
