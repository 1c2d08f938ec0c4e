//! Values as trees. `*` is before what has changed since the last stop, `▸` before what can be opened.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::debug::style::Role;

use super::super::app::App;
use super::super::pane::Pane;
use super::super::text::{fitting, safe};
use super::super::tree::{Node, Row, Tree};
use super::list;

/// Longer texts of values are cut, in characters.
const LONGEST: usize = 1000;

/// Draws a tree.
pub fn draw(app: &App, pane: Pane, area: Rect, buffer: &mut Buffer) {
    let Some(tree) = app.model.tree(pane) else {
        return;
    };
    let rows = tree.rows();
    list(app, pane, area, buffer, |at| match &rows[at] {
        Row::Value(node, depth) => row(app, tree, node, *depth),
        Row::More(_, depth) => {
            let text = format!(" {}… more: Enter shows them", "  ".repeat(*depth));
            Line::from(Span::styled(text, app.theme.role(Role::Aside)))
        }
    });
}

fn row(app: &App, tree: &Tree, node: &Node, depth: usize) -> Line<'static> {
    let value = &node.value;
    let changed = if node.is_changed { "*" } else { " " };
    let mark = match (value.has_parts, tree.is_open(node)) {
        (false, _) => "  ",
        (true, false) => "▸ ",
        (true, true) => "▾ ",
    };
    let (name, text) = (safe(&value.name).into_owned(), one_line(&value.value));
    let role = if value.raw { Role::Aside } else { Role::Name };
    let style = match node.is_changed {
        true => app.theme.changed(),
        false => ratatui::style::Style::new(),
    };
    let mut spans = vec![
        Span::styled(changed, app.theme.changed()),
        Span::styled(
            format!("{}{mark}", "  ".repeat(depth)),
            app.theme.role(Role::Aside),
        ),
        Span::styled(name, app.theme.role(role)),
    ];
    if !text.is_empty() {
        spans.push(Span::raw(" = "));
        spans.push(Span::styled(text, style));
    } else if let Some(of) = value.r#type.as_ref().filter(|_| value.has_parts) {
        let of = fitting(&safe(of), LONGEST).into_owned();
        spans.push(Span::styled(format!("  {of}"), app.theme.role(Role::Aside)));
    }
    Line::from(spans)
}

/// The text in one line.
fn one_line(text: &str) -> String {
    let cut: String = text.chars().take(LONGEST).collect();
    safe(&cut.replace('\n', " ")).into_owned()
}
