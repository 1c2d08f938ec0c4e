//! The names of a program's functions, variables and types: the custom request `dapple/symbols`.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::server::{Context, Failure, Progress, Responder};
use dapple_engine::session::names::{ListedName, NameExpression, NameKind, matching_names};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Lists functions, variables or types whose full names match a regular expression.
#[derive(Debug)]
pub struct SymbolsRequest;

/// What [`SymbolsRequest`] lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SymbolKind {
    /// Functions.
    Functions,
    /// Variables of static storage.
    Variables,
    /// Types.
    Types,
}

/// The arguments of [`SymbolsRequest`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SymbolsArguments {
    /// What is listed.
    pub kind: SymbolKind,
    /// The regular expression, for any part of the full name. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// The names.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SymbolsResponse {
    /// The names, sorted: the user's own if any match, otherwise those of libraries. Libraries of the system are searched only if nothing
    /// else has a match, and only for functions.
    pub symbols: Vec<ShownSymbol>,
    /// How many more match, but are left out because there are too many.
    #[serde(default)]
    pub omitted: usize,
    /// How many names of libraries match, but are left out because the user's own do.
    #[serde(default)]
    pub of_libraries: usize,
}

/// A name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownSymbol {
    /// The full name; in C and C++, a function's with the types of its parameters.
    pub name: String,
    /// A variable's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The file of its declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line of its declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
}

impl Request for SymbolsRequest {
    const COMMAND: &'static str = "dapple/symbols";
    type Arguments = SymbolsArguments;
    type Response = SymbolsResponse;
}

/// Lists the names. They are read on a thread of its own: for large programs that takes a while.
pub fn symbols(
    adapter: &mut Adapter,
    arguments: SymbolsArguments,
    responder: Responder<SymbolsRequest>,
    context: &mut Context,
) {
    let pattern = arguments.pattern.filter(|pattern| !pattern.is_empty());
    let expression = NameExpression::new(pattern.as_deref().unwrap_or("."));
    let expression = expression.map_err(Failure::new);
    let modules = expression.and_then(|expression| {
        let modules = adapter.debuggee()?.sources().or_fail()?;
        Ok((expression, modules))
    });
    let (expression, modules) = match modules {
        Ok(found) => found,
        Err(failure) => return responder.fail(failure),
    };
    let kind = match arguments.kind {
        SymbolKind::Functions => NameKind::Functions,
        SymbolKind::Variables => NameKind::Variables,
        SymbolKind::Types => NameKind::Types,
    };
    let (outbox, client) = (context.outbox().clone(), *context.conventions());
    let cancelled = context.cancelled().clone();
    let source_map = Arc::clone(&adapter.source_map);
    let read = move || {
        let _progress = Progress::start(&outbox, "Listing names");
        let is_cancelled = || cancelled.is_cancelled();
        let Some(found) = matching_names(&modules, kind, &expression, is_cancelled) else {
            return responder.fail(Failure::cancelled());
        };
        let shown = |one: ListedName| ShownSymbol {
            name: one.name,
            r#type: one.type_name,
            path: { one.declaration.as_ref() }
                .map(|place| source_map.locate(&place.file).0.display().to_string()),
            line: { one.declaration.as_ref() }
                .filter(|place| place.line > 0)
                .map(|place| client.line_to_client(i64::from(place.line))),
        };
        responder.respond(SymbolsResponse {
            symbols: found.names.into_iter().map(shown).collect(),
            omitted: found.omitted,
            of_libraries: found.of_libraries,
        });
    };
    let reader = std::thread::Builder::new().name("names".into());
    if let Err(error) = reader.spawn(read) {
        tracing::error!(%error, "no thread to list the names");
    }
}
