//! All keys, in front of everything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};

use crate::debug::style::Role;

use super::super::app::App;
use super::super::keys::{BINDINGS, Where};
use super::super::text::{first, width};

/// What help says: keys, and what they do. A row without keys is a title.
pub fn rows() -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut title = String::new();
    for binding in BINDINGS {
        let place = match binding.place {
            Where::Everywhere => "everywhere (letters not where text is typed)".to_owned(),
            Where::Panes => "where no text is typed".to_owned(),
            Where::In(panes) => {
                let names: Vec<&str> = panes.iter().map(|pane| pane.title()).collect();
                format!("in {}", names.join(", "))
            }
        };
        let keys = binding.keys.iter().map(|key| match *key {
            " " => "Space",
            key => key,
        });
        let keys = keys.collect::<Vec<_>>().join(" ");
        if matches!(binding.place, Where::In(_)) && place != title {
            rows.push((String::new(), place.clone()));
            title = place;
        } else if !matches!(binding.place, Where::In(_)) && title != "all" {
            title = "all".to_owned();
            rows.push((String::new(), "in all panes".to_owned()));
        }
        rows.push((keys, binding.help.to_owned()));
    }
    rows.push((String::new(), "where text is typed".to_owned()));
    let typed = [
        (
            "Enter",
            "give the command; in Output, send the line to the program",
        ),
        ("Up Down", "what was typed before"),
        ("Tab", "complete the name of a command"),
        ("C-d", "in Output: the end of the program's input"),
    ];
    rows.extend(typed.map(|(keys, help)| (keys.to_owned(), help.to_owned())));
    rows.push((String::new(), "with the mouse".to_owned()));
    let mouse = [
        (
            "click",
            "select a frame, a thread, a pane; in the gutter: a breakpoint",
        ),
        ("wheel", "scroll"),
        ("Shift", "the terminal's own selection"),
    ];
    rows.extend(mouse.map(|(keys, help)| (keys.to_owned(), help.to_owned())));
    rows
}

/// Where the help is on a screen.
pub fn area(size: Rect) -> Rect {
    let width = size.width.min(84);
    let height = size.height.saturating_sub(2).min(rows().len() as u16 + 1);
    Rect {
        x: size.x + (size.width - width) / 2,
        y: size.y + 1,
        width,
        height,
    }
}

/// Draws the help.
pub fn draw(app: &App, buffer: &mut Buffer) {
    let Some(view) = &app.help else { return };
    let area = area(app.size);
    Clear.render(area, buffer);
    let columns = usize::from(area.width);
    let title = " keys: any other key closes this, Up and Down scroll ";
    let title = format!("{title:━^columns$}");
    buffer.set_stringn(area.x, area.y, title, columns, app.theme.rule(true));
    let shown = rows().into_iter().skip(view.top);
    for (y, (keys, help)) in (area.y + 1..area.bottom()).zip(shown) {
        if keys.is_empty() {
            let style = app.theme.role(Role::Reason);
            buffer.set_stringn(area.x + 1, y, help, columns - 1, style);
            continue;
        }
        let (x, _) = buffer.set_stringn(area.x + 3, y, keys, 16, app.theme.role(Role::Name));
        let help = first(&help, columns.saturating_sub(20)).0;
        let x = x.max(area.x + 19);
        buffer.set_stringn(x, y, help, width(help), Style::new());
    }
}
