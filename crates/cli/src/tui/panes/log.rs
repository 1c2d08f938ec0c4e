//! What was written, from below, and the line that is typed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::debug::style::Role;

use super::super::app::{App, PROMPT};
use super::super::log::Kind;
use super::super::pane::Pane;
use super::super::prompt::Prompt;
use super::super::text::{first, safe, width, without, wrapped};

/// Before what is typed for the program.
const INPUT: &str = "input> ";

/// Draws the pane.
pub fn draw(app: &App, pane: Pane, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let typed = area.bottom() - 1;
    let view = app.views.of(pane);
    let columns = usize::from(area.width);
    let mut y = typed;
    let lines = app.model.log.lines().iter().rev();
    let lines = lines.filter(|line| app.has_line(pane, line)).skip(view.top);
    for line in lines {
        let text = safe(&without_colours(&line.text)).into_owned();
        let style = style(app, line.kind);
        for part in wrapped(&text, columns).into_iter().rev() {
            if y == area.y {
                break;
            }
            y -= 1;
            buffer.set_stringn(area.x, y, part, columns, style);
        }
        if y == area.y {
            break;
        }
    }
    let (mark, prompt) = parts(app, pane);
    if view.top > 0 {
        let text = format!("… {} lines below", view.top);
        let style = app.theme.role(Role::Aside);
        buffer.set_stringn(area.x, typed, text, columns, style);
    } else {
        let style = app.theme.role(Role::Aside);
        let (x, _) = buffer.set_stringn(area.x, typed, mark, columns, style);
        let room = usize::from(area.right().saturating_sub(x));
        let (shown, _) = window(prompt, room);
        buffer.set_stringn(x, typed, shown, room, Style::new());
    }
}

fn parts(app: &App, pane: Pane) -> (&'static str, &Prompt) {
    match pane {
        Pane::Output => (INPUT, &app.input),
        _ => (PROMPT, &app.prompt),
    }
}

/// Where the terminal's cursor is in the pane.
pub fn cursor(app: &App, pane: Pane, area: Rect) -> Option<(u16, u16)> {
    if !pane.takes_text() || app.views.of(pane).top > 0 || area.height == 0 {
        return None;
    }
    let (mark, prompt) = parts(app, pane);
    let room = usize::from(area.width).saturating_sub(width(mark));
    let (_, column) = window(prompt, room);
    let x = area.x + u16::try_from(width(mark) + column).ok()?;
    (x < area.right()).then_some((x, area.bottom() - 1))
}

/// The part of what is typed that fits, and the column of the cursor in it.
fn window(prompt: &Prompt, room: usize) -> (String, usize) {
    let before: String = prompt.text().chars().take(prompt.cursor()).collect();
    let before = width(&safe(&before));
    let hidden = (before + 1).saturating_sub(room);
    let text = safe(prompt.text());
    let shown = first(without(&text, hidden), room).0.to_owned();
    (shown, before.saturating_sub(hidden))
}

fn style(app: &App, kind: Kind) -> Style {
    match kind {
        Kind::Command => app.theme.role(Role::Name),
        Kind::Answer | Kind::Stdout => Style::new(),
        Kind::Stop => app.theme.role(Role::Reason),
        Kind::Error => app.theme.role(Role::Error),
        Kind::Stderr => app.theme.stderr(),
        Kind::Typed => app.theme.role(Role::Aside),
    }
}

/// The text without the colours that a program has given it. Other sequences stay, and are shown as what they are.
fn without_colours(text: &str) -> String {
    if !text.contains('\x1b') {
        return text.to_owned();
    }
    let mut out = String::new();
    for (index, part) in text.split("\x1b[").enumerate() {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.filter(|end| index > 0 && part[*end..].starts_with(['m', 'K'])) {
            Some(end) => out.push_str(&part[end + 1..]),
            None if index == 0 => out.push_str(part),
            None => {
                out.push_str("\x1b[");
                out.push_str(part);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_the_program_are_left_out() {
        assert_eq!(without_colours("\x1b[1;31merror\x1b[0m: x"), "error: x");
        assert_eq!(safe(&without_colours("a\x1b[2Jb")), "a·[2Jb");
    }

    #[test]
    fn the_cursor_stays_in_the_window() {
        let mut prompt = Prompt::default();
        prompt.set("0123456789");
        assert_eq!(window(&prompt, 20), ("0123456789".to_owned(), 10));
        assert_eq!(window(&prompt, 5), ("6789".to_owned(), 4));
    }
}
