//! The tables of arguments in `docs/launch.md`.

use super::Start;
use super::row::{Origin, Requests, Row};
use super::table;
use crate::argument_values::shape::{Shape, Word};

/// The tables, each with the name of its marker on the page.
pub fn tables() -> [(&'static str, String); 4] {
    let own = |requests: Requests| {
        let rows = table::ARGUMENTS.iter().chain(super::remote::ARGUMENTS);
        rows.filter(move |row| row.requests == requests && row.is_documented())
    };
    [
        ("launch", table_of(own(Requests::Launch))),
        ("attach", table_of(own(Requests::Attach))),
        ("both", table_of(own(Requests::Both))),
        ("aliases", table_of_aliases()),
    ]
}

fn table_of(rows: impl Iterator<Item = &'static Row>) -> String {
    let mut text =
        String::from("| argument | value | default | meaning |\n| --- | --- | --- | --- |\n");
    for row in rows {
        let default = row
            .default
            .map(|default| format!("`{default}`"))
            .unwrap_or_default();
        text.push_str(&line(&[
            &format!("`{}`", row.name),
            &row.shape.in_a_table(),
            &default,
            row.description,
        ]));
    }
    text
}

fn table_of_aliases() -> String {
    let mut text = String::from("| argument | of | request | here |\n| --- | --- | --- | --- |\n");
    for row in super::aliases::ALIASES.iter().chain(super::remote::ALIASES) {
        let Origin::Alias { from, .. } = row.origin else {
            continue;
        };
        let requests = match row.requests {
            Requests::Launch => Start::Launch.name(),
            Requests::Attach => Start::Attach.name(),
            Requests::Both => "both",
        };
        text.push_str(&line(&[
            &format!("`{}`", row.name),
            from,
            requests,
            row.description,
        ]));
    }
    text
}

fn line(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

impl Shape {
    /// A short description for a table cell.
    fn in_a_table(&self) -> String {
        let words = |words: &[Word]| {
            let words: Vec<String> = words
                .iter()
                .map(|word| format!("`\"{}\"`", word.word))
                .collect();
            words.join(", ")
        };
        match self {
            Shape::Boolean => "boolean".into(),
            Shape::Integer | Shape::Number => "number".into(),
            Shape::Null => "`null`".into(),
            Shape::Text => "string".into(),
            Shape::Path => "path".into(),
            Shape::Word(all) => words(all),
            Shape::PathOr(all) => format!("path, {}", words(all)),
            Shape::List(_) | Shape::Pair(_) => "array".into(),
            Shape::Map(_) => "object".into(),
            Shape::Object(fields) => {
                let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
                format!("`{{{}}}`", names.join(", "))
            }
            Shape::Any(shapes) => shapes
                .iter()
                .map(Shape::in_a_table)
                .collect::<Vec<_>>()
                .join(", "),
            Shape::Called(_, shape) => shape.in_a_table(),
        }
    }
}
