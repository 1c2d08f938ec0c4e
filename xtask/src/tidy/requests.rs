//! Every request of the protocol has a row in ARCHITECTURE.md that says where it is handled, and the row is true.

use super::source::Source;
use super::{Finding, Rule};
use dapple_schema::Model;

/// The page with the table.
const PAGE: &str = "ARCHITECTURE.md";
/// The title over the table.
const TITLE: &str = "## Requests and their rooms";
/// Where handlers are registered.
const REGISTRY: &str = "crates/adapter/src/handlers.rs";
/// What handlers' paths in the table begin at.
const ADAPTER: &str = "crates/adapter/src/";
/// In place of a handler: the request has none in the adapter.
const NONE: &str = "–";
/// How the room of a request begins that is refused.
const REFUSED: &str = "not offered";

/// A row of the table.
struct Row {
    /// Counted from 0.
    line: usize,
    request: String,
    handler: String,
    rooms: String,
}

/// A request that the table has to have.
struct Known {
    command: String,
    /// The name of its type.
    type_name: String,
    /// The adapter sends it.
    reverse: bool,
}

/// A handler, as it is registered.
struct Registration {
    type_name: String,
    /// From the adapter's sources.
    file: String,
    function: String,
}

/// Looks for requests without a row, for rows of none, and for rows that lead to the wrong file.
pub(super) fn check(sources: &[Source], model: &Model, findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "requests",
        remedy: "give each request one row: its handler's file, and the modules that do the work",
    };
    let text = |path: &str| {
        let found = sources.iter().find(|source| source.path == path);
        found.map(|source| source.text.as_str())
    };
    let registry = sources.iter().find(|source| source.path == REGISTRY);
    let registered = registrations(registry.map_or("", |registry| &registry.code));
    let rows = rows(text(PAGE).unwrap_or_default());
    let known = known(sources, model);
    for known in &known {
        let count = rows
            .iter()
            .filter(|row| row.request == known.command)
            .count();
        if count != 1 {
            let what = format!("`{}` has {count} rows", known.command);
            findings.push(Finding::new(PAGE, 0, rule, what));
        }
    }
    for row in &rows {
        let known = known.iter().find(|known| known.command == row.request);
        let wrong = match known {
            Some(known) => wrong_in(row, known, &registered, &text),
            None => vec!["is no request".to_owned()],
        };
        for what in wrong {
            let what = format!("`{}`: {what}", row.request);
            findings.push(Finding::new(PAGE, row.line, rule, what));
        }
    }
}

/// What is wrong in the row of a request. `text` returns that of a file.
fn wrong_in<'t>(
    row: &Row,
    known: &Known,
    registered: &[Registration],
    text: &impl Fn(&str) -> Option<&'t str>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let handler = format!("{ADAPTER}{}", row.handler);
    if row.handler != NONE && text(&handler).is_none() {
        wrong.push(format!("there is no file {handler}"));
    }
    let mut rooms = Vec::new();
    if !row.rooms.starts_with(REFUSED) {
        for room in named(&row.rooms) {
            let files = [format!("{room}.rs"), format!("{room}/mod.rs")];
            match files.iter().find_map(|file| text(file)) {
                Some(text) => rooms.push(text),
                None => wrong.push(format!("there is no file {}", files[0])),
            }
        }
        if rooms.is_empty() {
            wrong.push("no module is named that does the work".to_owned());
        }
    }
    let handled = registered
        .iter()
        .find(|handled| handled.type_name == known.type_name);
    let mentions = |text: &str| text.contains(&known.type_name);
    match handled {
        Some(handled) => {
            if handled.file != row.handler {
                let file = &handled.file;
                wrong.push(format!("its handler is registered from {file}"));
            }
            let name = snake_case(&known.type_name);
            if handled.function.trim_end_matches('_') != name {
                wrong.push(format!("its handler isn't called `{name}`"));
            }
            let function = format!("fn {}(", handled.function);
            if !text(&handler).unwrap_or_default().contains(&function) {
                wrong.push(format!("{handler} has no `{function}`"));
            }
        }
        None if known.reverse => {
            if !text(&handler).is_some_and(mentions) {
                wrong.push(format!("{handler} doesn't send it"));
            }
        }
        // The server answers it, or nobody does.
        None if row.rooms.starts_with(REFUSED) => {}
        None if rooms.iter().any(|room| mentions(room)) => {}
        None => wrong.push(format!(
            "is not registered, and no room has `{}`",
            known.type_name
        )),
    }
    wrong
}

/// The protocol's requests, and the project's own.
fn known(sources: &[Source], model: &Model) -> Vec<Known> {
    let protocols = model.requests().map(|request| Known {
        command: request.command.to_owned(),
        type_name: request.definition.name.clone(),
        reverse: request.reverse,
    });
    let handlers = sources.iter().filter(|source| source.is_in(ADAPTER));
    let own = handlers
        .flat_map(|source| source.text.lines())
        .filter_map(|line| {
            let (_, command) = line.split_once("const COMMAND: &'static str = \"")?;
            let command = command.strip_suffix("\";")?;
            let name = command.strip_prefix("dapple/")?;
            Some(Known {
                command: command.to_owned(),
                type_name: name[..1].to_uppercase() + &name[1..] + "Request",
                reverse: false,
            })
        });
    protocols.chain(own).collect()
}

/// The table's rows.
fn rows(page: &str) -> Vec<Row> {
    let lines = page.lines().enumerate();
    let section = lines.skip_while(|(_, text)| *text != TITLE).skip(1);
    let section = section.take_while(|(_, text)| !text.starts_with("## "));
    let row = |(line, text): (usize, &str)| {
        let cells = text.strip_prefix("| ")?.strip_suffix(" |")?;
        let mut cells = cells.split(" | ").map(|cell| cell.replace('`', ""));
        Some(Row {
            line,
            request: cells.next()?,
            handler: cells.next()?,
            rooms: cells.next()?,
        })
    };
    let rows = section.filter_map(row);
    rows.filter(|row| !matches!(&*row.request, "request" | "---"))
        .collect()
}

/// The modules in a text such as `engine: owner/commands, step; inspect: eval`, by their paths without `.rs`.
fn named(rooms: &str) -> impl Iterator<Item = String> {
    rooms.split("; ").flat_map(|of_crate| {
        let (name, modules) = of_crate.split_once(": ").unwrap_or((of_crate, ""));
        let modules = modules.split(", ");
        modules.map(move |module| format!("crates/{name}/src/{module}"))
    })
}

/// The handlers in a text such as `.on::<NextRequest>(in_place(step::next))`.
fn registrations(code: &str) -> Vec<Registration> {
    let code: String = code.split_whitespace().collect();
    let mut found = Vec::new();
    for part in code.split(".on").skip(1) {
        let part = part.strip_prefix("_deferred").unwrap_or(part);
        let Some((request, handler)) = part
            .strip_prefix("::<")
            .and_then(|part| part.split_once(">("))
        else {
            continue;
        };
        let handler = handler.strip_prefix("in_place(").unwrap_or(handler);
        let handler = handler.split([')', ',']).next().unwrap_or_default();
        let Some((module, function)) = handler.rsplit_once("::") else {
            continue;
        };
        let type_name = request.rsplit("::").next().unwrap_or(request);
        found.push(Registration {
            type_name: type_name.to_owned(),
            file: format!("handlers/{}.rs", module.replace("::", "/")),
            function: function.to_owned(),
        });
    }
    found
}

/// `set_skip` of `SetSkipRequest`.
fn snake_case(type_name: &str) -> String {
    let mut name = String::new();
    for letter in type_name.trim_end_matches("Request").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found where the table has these rows besides good ones of all other requests.
    fn found(rows: &[(&str, &str)]) -> Vec<String> {
        let model = Model::protocol().expect("the project's definition");
        let mut page = format!("{TITLE}\n\n| request | handler | room |\n| --- | --- | --- |\n");
        let others = model
            .requests()
            .map(|request| request.command)
            .filter(|command| !rows.iter().any(|(request, _)| request == command));
        for command in others {
            page += &format!("| {command} | – | not offered |\n");
        }
        for (request, row) in rows.iter().filter(|(_, row)| !row.is_empty()) {
            page += &format!("| {request} | {row} |\n");
        }
        page += "\n## Others\n\n| one | two | three |\n";
        let next = "Server::builder()\n    .on::<NextRequest>(in_place(\n step::next,\n))\n    .on::<set_skip::SetSkipRequest>(set_skip::change)";
        let sources = [
            Source::new(PAGE, &page),
            Source::new(REGISTRY, next),
            Source::new("crates/adapter/src/handlers/step.rs", "pub fn next() {}"),
            Source::new(
                "crates/adapter/src/handlers/set_skip.rs",
                "const COMMAND: &'static str = \"dapple/setSkip\";\nfn change() {}",
            ),
            Source::new("crates/engine/src/step.rs", ""),
            Source::new("crates/inspect/src/eval/mod.rs", ""),
            Source::new("crates/dap/src/server.rs", "CancelRequest"),
            Source::new(
                "crates/adapter/src/handlers/run_in_terminal.rs",
                "RunInTerminalRequest",
            ),
        ];
        let mut findings = Vec::new();
        check(&sources, &model, &mut findings);
        findings.into_iter().map(|finding| finding.what).collect()
    }

    /// A good row of each that these sources handle.
    const NEXT: (&str, &str) = ("next", "`handlers/step.rs` | engine: step; inspect: eval");
    const CANCEL: (&str, &str) = ("cancel", "– | dap: server");
    const IN_TERMINAL: (&str, &str) = (
        "runInTerminal",
        "`handlers/run_in_terminal.rs` | engine: step",
    );
    /// Its handler is called otherwise.
    const SKIP: (&str, &str) = ("dapple/setSkip", "`handlers/set_skip.rs` | engine: step");
    const MISNAMED: &str = "`dapple/setSkip`: its handler isn't called `set_skip`";
    /// The reverse request that isn't given here has no file.
    const UNSENT: &str = "`startDebugging`: crates/adapter/src/– doesn't send it";

    #[test]
    fn a_true_table_passes_and_a_handler_of_another_name_is_found() {
        assert_eq!(
            found(&[NEXT, CANCEL, IN_TERMINAL, SKIP]),
            [UNSENT, MISNAMED]
        );
    }

    #[test]
    fn a_request_without_a_row_is_found_and_so_is_a_row_of_none() {
        let rows = [
            ("next", ""),
            ("fly", "– | not offered"),
            CANCEL,
            IN_TERMINAL,
            SKIP,
        ];
        assert_eq!(
            found(&rows),
            [
                "`next` has 0 rows",
                UNSENT,
                "`fly`: is no request",
                MISNAMED
            ]
        );
        let rows = [NEXT, CANCEL, IN_TERMINAL];
        assert_eq!(found(&rows), ["`dapple/setSkip` has 0 rows", UNSENT]);
    }

    #[test]
    fn a_row_that_leads_to_no_file_is_found() {
        let rows = [
            ("next", "handlers/steps.rs | engine: steps, step"),
            CANCEL,
            IN_TERMINAL,
            SKIP,
        ];
        assert_eq!(
            found(&rows),
            [
                UNSENT,
                "`next`: there is no file crates/adapter/src/handlers/steps.rs",
                "`next`: there is no file crates/engine/src/steps.rs",
                "`next`: its handler is registered from handlers/step.rs",
                "`next`: crates/adapter/src/handlers/steps.rs has no `fn next(`",
                MISNAMED
            ]
        );
    }

    #[test]
    fn a_row_that_leads_to_a_file_without_the_request_is_found() {
        let rows = [
            ("next", "handlers/set_skip.rs | –"),
            ("cancel", "– | engine: step"),
            ("runInTerminal", "handlers/step.rs | engine: step"),
            SKIP,
        ];
        assert_eq!(
            found(&rows),
            [
                UNSENT,
                "`next`: there is no file crates/–/src/.rs",
                "`next`: no module is named that does the work",
                "`next`: its handler is registered from handlers/step.rs",
                "`next`: crates/adapter/src/handlers/set_skip.rs has no `fn next(`",
                "`cancel`: is not registered, and no room has `CancelRequest`",
                "`runInTerminal`: crates/adapter/src/handlers/step.rs doesn't send it",
                MISNAMED
            ]
        );
    }
}
