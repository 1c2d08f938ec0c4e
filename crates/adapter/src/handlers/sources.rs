//! The `source` and `loadedSources` requests.

use crate::adapter::Adapter;
use crate::from_dap;
use crate::source_files::source_exists;
use crate::to_dap::OrFail;
use dapple_dap::server::{Context, Failure, Progress, Responder};
use dapple_dap::types::{
    LoadedSourcesArguments, LoadedSourcesRequest, LoadedSourcesResponse, Source, SourceArguments,
    SourceResponse,
};
use dapple_engine::session::SourceFile;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Lists the source files of all loaded modules, each once, the user's own first. Files whose folder isn't known are left out, but not for the
/// terminal debugger. Reads the line tables on a thread of its own; see [`crate::adapter::loaded_sources`].
pub fn loaded_sources(
    adapter: &mut Adapter,
    _: LoadedSourcesArguments,
    responder: Responder<LoadedSourcesRequest>,
    context: &mut Context,
) {
    let sources = match adapter.debuggee() {
        Ok(debuggee) => debuggee.sources().or_fail(),
        Err(failure) => Err(failure),
    };
    let sources = match sources {
        Ok(sources) => sources,
        Err(failure) => return responder.fail(failure),
    };
    let (outbox, client) = (context.outbox().clone(), *context.conventions());
    let is_terminal = adapter.for_terminal;
    let source_map = Arc::clone(&adapter.source_map);
    let (later, round) = (adapter.later.clone(), adapter.sources.asked());
    let read = move || {
        let _progress = Progress::start(&outbox, "Listing sources");
        let listed = sources.iter().map(|of| (of.module(), of.files()));
        let listed: Vec<(u64, Vec<SourceFile>)> = listed.collect();
        let mut files = BTreeMap::new();
        for file in listed.iter().flat_map(|(_, files)| files) {
            let checksum: &mut Option<_> = files.entry(&*file.path).or_default();
            *checksum = checksum.or(file.checksum);
        }
        let source = |(file, checksum)| {
            let listed = source_map.listed(file, checksum, &client);
            // The terminal debugger searches this list for file names that the user types, also of files whose folder isn't known.
            let for_terminal = || Some((true, source_map.source(file, &client)));
            listed.or_else(|| for_terminal().filter(|_| is_terminal))
        };
        let mut sources: Vec<(bool, Source)> = files.into_iter().filter_map(source).collect();
        // A stable sort: each group stays sorted by name.
        sources.sort_by_key(|(is_behind, _)| *is_behind);
        let sources = sources.into_iter().map(|(_, source)| source).collect();
        let answer = LoadedSourcesResponse::new(sources);
        // `loadedSource` events about later changes follow the response.
        later.run(move |adapter, session| {
            let (outbox, client) = (&session.outbox(), session.conventions());
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

/// The text of a source: a file, one from a debuginfod server, or a disassembly.
pub fn source(
    adapter: &mut Adapter,
    arguments: SourceArguments,
    context: &mut Context,
) -> Result<SourceResponse, Failure> {
    let asked = arguments.source.as_ref();
    let reference = asked
        .and_then(|source| source.source_reference)
        .unwrap_or(arguments.source_reference);
    if let Some(file) = adapter.fetched.file(reference) {
        return text_of(file).map(SourceResponse::new);
    }
    if let Some(file) = adapter.source_map.far_file(reference) {
        return text_of(&file).map(SourceResponse::new);
    }
    if reference > 0 {
        let text = adapter.disassembly(reference)?;
        return Ok(SourceResponse::new(text).with_mime_type("text/x-asm"));
    }
    let client = context.conventions();
    let Some(path) = asked.and_then(|source| from_dap::path(source, client)) else {
        return Err(Failure::new(
            "the source has neither a path nor a reference",
        ));
    };
    text_here(adapter, path).map(SourceResponse::new)
}

/// The text of a source file, by its path on this machine or in the debug information.
///
/// # Errors
/// The file can't be read.
pub fn text_here(adapter: &Adapter, path: PathBuf) -> Result<String, Failure> {
    let path = match source_exists(&path) {
        true => path,
        false => adapter.source_map.locate(&path).0,
    };
    text_of(&path)
}

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

fn text_of(path: &Path) -> Result<String, Failure> {
    let cannot = |why: &dyn Display| {
        let path = path.display();
        Failure::new(format!("{path} can't be read: {why}"))
    };
    let about = std::fs::metadata(path).map_err(|error| cannot(&error))?;
    if !about.is_file() {
        return Err(cannot(&"it is no file"));
    }
    if about.len() > LARGEST {
        return Err(cannot(&format!("it has more than {LARGEST} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|error| cannot(&error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
