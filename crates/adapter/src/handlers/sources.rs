//! The sources that the loaded modules are made of.

use crate::adapter::Adapter;
use crate::to_dap;
use dapple_dap::server::{Context, Failure, Progress, Responder};
use dapple_dap::types::{LoadedSourcesArguments, LoadedSourcesRequest, LoadedSourcesResponse};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The source files of all loaded modules, each once. Read beside the session; see [`crate::loaded_sources`].
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
    let source_map = Arc::clone(&adapter.source_map);
    let (later, round) = (adapter.later.clone(), adapter.sources.asked());
    let read = move || {
        let _progress = Progress::start(&outbox, "Listing sources");
        let listed = sources.iter().map(|of| (of.module(), of.files()));
        let listed: Vec<(u64, Vec<PathBuf>)> = listed.collect();
        let files: BTreeSet<&Path> = listed
            .iter()
            .flat_map(|(_, files)| files.iter().map(PathBuf::as_path))
            .collect();
        let source = |file: &Path| source_map.source(file, &client);
        let answer = LoadedSourcesResponse::new(files.into_iter().map(source).collect());
        // What comes and goes from now on is told behind the answer.
        later.run(move |adapter, outbox, client| {
            if adapter.is_list_good(round) {
                responder.respond(answer);
                adapter.sources_listed(listed, outbox, client);
            } else {
                responder.fail(Failure::new("the program was started again meanwhile"));
            }
        });
    };
    let reader = std::thread::Builder::new().name("loaded sources".into());
    if let Err(error) = reader.spawn(read) {
        tracing::error!(%error, "no thread to list the sources");
    }
}
