//! Checks that the tables of expressions in `docs/` show what the debugger answers.
//!
//! The comment in front of a table names where its expressions are evaluated: `<!-- guide.rs, stop: told -->`. The first column has an
//! expression, the second its value in code marks, or the sentence of the error. `DAPPLE_DOCS=write cargo test -p dapple-adapter --test
//! docs` writes the answers into the second column.

use crate::support::fixture::workspace;
use crate::support::{Fixture, Session};
use dapple_dap::client::ClientError;
use dapple_dap::types::*;
use serde_json::json;
use std::path::PathBuf;

/// The fixture and the mark in the comment that says where a table's expressions are evaluated.
fn place(line: &str) -> Option<(&str, &str)> {
    let inside = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    inside.split_once(", stop: ")
}

/// The cells of a table's row, if the row has an expression. `\|` doesn't end a cell.
fn cells(line: &str) -> Option<Vec<String>> {
    let inside = line.strip_prefix("| `")?.strip_suffix(" |")?;
    let inside = inside.replace("\\|", "\u{1}").replace("| | ", "|  | ");
    let cells = inside.split(" | ");
    Some(cells.map(|cell| cell.replace('\u{1}', "|")).collect())
}

/// The answer in the form of the tables.
fn answer(session: &Session, frame: &StackFrame, expression: &str) -> String {
    let arguments = EvaluateArguments::new(expression)
        .with_frame_id(frame.id)
        .with_context(EvaluateArgumentsContext::Repl);
    match session.request::<EvaluateRequest>(arguments) {
        Ok(body) => format!("`{}`", body.result),
        Err(ClientError::Failed(failure)) => failure.sentence,
        Err(error) => panic!("{expression}: {error:?}"),
    }
}

/// Whether the answer equals the page's text, in which `0x…` stands for any address.
fn is_as_told(told: &str, answer: &str) -> bool {
    let mut rest = answer;
    for (index, part) in told.split("0x…").enumerate() {
        if index > 0 {
            let Some(digits) = rest.strip_prefix("0x") else {
                return false;
            };
            rest = digits.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        }
        match rest.strip_prefix(part) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

#[test]
fn tables_of_expressions_say_what_is_answered() {
    let pages = workspace().join("docs");
    let pages: Vec<PathBuf> = std::fs::read_dir(pages)
        .expect("the pages")
        .map(|entry| entry.expect("a page").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    let writes = std::env::var_os("DAPPLE_DOCS").is_some();
    let (mut rows, mut wrong) = (0, Vec::new());
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a page");
        let mut written = String::new();
        let mut at: Option<(Session, StackFrame)> = None;
        for line in text.lines() {
            if let Some((name, mark)) = place(line) {
                let fixture = Fixture::new(name);
                let session = Session::started(&fixture, json!({}), &[mark]);
                let stop = session.stopped_at(&fixture, mark, StoppedEventReason::Breakpoint);
                at = Some((session, stop.top));
            } else if line.starts_with('#') {
                at = None;
            }
            let row = at.as_ref().zip(cells(line));
            let Some(((session, frame), cells)) = row else {
                written += &format!("{line}\n");
                continue;
            };
            rows += 1;
            let [expression, told, rest @ ..] = cells.as_slice() else {
                panic!(
                    "{}: a row has an expression and a value: {line}",
                    page.display()
                );
            };
            let expression = expression.trim_end_matches('`');
            let answer = answer(session, frame, expression);
            if !is_as_told(told, &answer) {
                wrong.push(format!(
                    "{}: `{expression}` is {answer}, not {told}",
                    page.display()
                ));
            }
            let value = match is_as_told(told, &answer) {
                true => told,
                false => &answer,
            };
            let expression = format!("`{expression}`");
            let remark = rest.first().map_or("", String::as_str);
            let row = [&expression, value, remark].map(|cell| cell.replace('|', "\\|"));
            written += &format!("| {} |\n", row.join(" | "));
        }
        if writes {
            std::fs::write(&page, written).expect("a page can be written");
        }
    }
    assert!(rows > 40, "the pages have tables: {rows} rows were found");
    assert!(writes || wrong.is_empty(), "{}", wrong.join("\n"));
}
