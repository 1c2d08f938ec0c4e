//! The line above a group: the names of its panes, that of the shown one in brackets. It is heavy above the pane with the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::app::App;
use super::super::layout::Group;
use super::super::pane::Pane;
use super::super::text::{fitting_end, safe, width};

/// The names, each with its first column.
fn tabs(group: &Group) -> Vec<(Pane, u16, String)> {
    let mut column = group.area.x + 1;
    let mut tabs = Vec::new();
    for pane in group.panes {
        let name = match *pane == group.shown {
            true => format!("[{}]", pane.title()),
            false => format!(" {} ", pane.title()),
        };
        let end = column.saturating_add(name.chars().count() as u16);
        tabs.push((*pane, column, name));
        column = end;
    }
    tabs
}

/// The pane whose name is at a column.
pub fn tab_at(group: &Group, column: u16) -> Option<Pane> {
    let tabs = tabs(group);
    let mut found = tabs.iter().rev().filter(|(_, start, _)| *start <= column);
    let (pane, start, name) = found.next()?;
    (column < start + name.chars().count() as u16).then_some(*pane)
}

/// Draws the line.
pub fn draw(app: &App, group: &Group, buffer: &mut Buffer) {
    let area = group.area;
    let is_focused = group.shown == app.focus;
    let rule = if is_focused { "━" } else { "─" };
    for x in area.left()..area.right() {
        buffer[(x, area.y)]
            .set_symbol(rule)
            .set_style(app.theme.rule(is_focused));
    }
    let mut end = area.x + 1;
    for (pane, column, name) in tabs(group) {
        let room = usize::from(area.right().saturating_sub(column));
        let style = match pane == group.shown {
            true => app.theme.title(is_focused),
            false => app.theme.rule(false),
        };
        (end, _) = buffer.set_stringn(column.min(area.right()), area.y, name, room, style);
    }
    if group.shown == Pane::Source
        && let Some(path) = &app.source.path
    {
        draw_path(app, &path.to_string_lossy(), (end, area), buffer);
    }
}

/// The file at the right of the source's line.
fn draw_path(app: &App, path: &str, (end, area): (u16, Rect), buffer: &mut Buffer) {
    let room = usize::from(area.right().saturating_sub(end + 3));
    let shown = crate::debug::shown_path(std::path::Path::new(path));
    let shown = safe(&shown).into_owned();
    let text = format!(" {} ", fitting_end(&shown, room.saturating_sub(2)));
    if room > 6 {
        let column = area.right().saturating_sub(1 + width(&text) as u16);
        let style = app.theme.title(app.focus == Pane::Source);
        buffer.set_stringn(column, area.y, &text, width(&text), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_on_a_name_finds_its_pane() {
        let group = Group {
            area: Rect::new(10, 0, 40, 5),
            panes: &[Pane::Stack, Pane::Threads],
            shown: Pane::Stack,
        };
        let names: String = tabs(&group).into_iter().map(|(.., name)| name).collect();
        assert_eq!(names, "[Stack] Threads ");
        assert_eq!(tab_at(&group, 10), None);
        assert_eq!(tab_at(&group, 11), Some(Pane::Stack));
        assert_eq!(tab_at(&group, 20), Some(Pane::Threads));
        assert_eq!(tab_at(&group, 45), None);
    }
}
