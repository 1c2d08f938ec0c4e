//! The sources that the loaded modules are made of.

use crate::adapter::{Adapter, source_exists};
use crate::to_dap;
use dapple_dap::server::{Context, Progress, Responder};
use dapple_dap::types::{LoadedSourcesArguments, LoadedSourcesRequest, LoadedSourcesResponse};
use std::path::PathBuf;

/// The source files of all loaded modules, each once. Read beside the session.
pub fn loaded_sources(
    adapter: &mut Adapter,
    _: LoadedSourcesArguments,
    responder: Responder<LoadedSourcesRequest>,
    context: &mut Context,
) {
    let sources = match adapter.debuggee() {
        Ok(debuggee) => debuggee.sources().map_err(|error| to_dap::failure(&error)),
        Err(failure) => Err(failure),
    };
    let sources = match sources {
        Ok(sources) => sources,
        Err(failure) => return responder.fail(failure),
    };
    let (outbox, client) = (context.outbox().clone(), *context.conventions());
    let read = move || {
        let _progress = Progress::start(&outbox, "Listing sources");
        let source = |file: PathBuf| to_dap::source(&file, source_exists(&file), &client);
        let files = sources.files();
        responder.respond(LoadedSourcesResponse::new(
            files.into_iter().map(source).collect(),
        ));
    };
    let reader = std::thread::Builder::new().name("loaded sources".into());
    if let Err(error) = reader.spawn(read) {
        tracing::error!(%error, "no thread to list the sources");
    }
}
