//! Keeps the client's list of sources up to date by `loadedSource` events.
//!
//! Events are sent from the first `loadedSources` request on, when modules are loaded or unloaded. A client that never sends the request gets
//! none. A module with more than 1,000 sources gets no events, because a client would take longer to process them than to ask again.

use crate::adapter::Adapter;
use crate::source_map::SourceMap;
use dapple_dap::server::{ClientConventions, Outbox};
use dapple_dap::types::{LoadedSourceEvent, LoadedSourceEventBody, LoadedSourceEventReason};
use dapple_engine::session::{SourceFile, SourcesOf};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The most sources of a module that are reported by events.
const MOST_TOLD: usize = 1_000;

/// The sources that the client knows.
#[derive(Debug, Default)]
pub struct LoadedSources {
    /// The client has requested the list.
    asked: bool,
    /// The number of unanswered requests. The sources of modules loaded meanwhile are read after the last response.
    listing: u32,
    /// Counts the processes of the session: lists of an earlier process are discarded.
    round: u64,
    /// The sources of loaded modules, by module.
    known: BTreeMap<u64, Vec<SourceFile>>,
    /// Modules that were unloaded before their sources were known.
    gone: BTreeSet<u64>,
    /// Whether a thread reads the sources of a module.
    reading: bool,
    /// Modules whose sources are still to be read.
    waiting: Vec<SourcesOf>,
}

impl LoadedSources {
    /// Notes a request for the list. Returns the present round.
    pub fn asked(&mut self) -> u64 {
        self.asked = true;
        self.listing += 1;
        self.round
    }

    /// Adds the sources of a module, unless it was unloaded or has more than [`MOST_TOLD`]. Returns the added ones that no other module has.
    fn add(&mut self, module: u64, files: Vec<SourceFile>) -> Vec<SourceFile> {
        if self.gone.remove(&module) || files.len() > MOST_TOLD {
            return Vec::new();
        }
        let new = self.only_in(&files);
        self.known.insert(module, files);
        new
    }

    /// Removes a module. Returns the sources that no other module has.
    fn remove(&mut self, module: u64) -> Vec<SourceFile> {
        self.waiting.retain(|waiting| waiting.module() != module);
        let Some(files) = self.known.remove(&module) else {
            if self.asked {
                self.gone.insert(module);
            }
            return Vec::new();
        };
        self.only_in(&files)
    }

    /// Those of `files` that no known module has.
    fn only_in(&self, files: &[SourceFile]) -> Vec<SourceFile> {
        let known: BTreeSet<&Path> = self
            .known
            .values()
            .flatten()
            .map(|file| &*file.path)
            .collect();
        let others = |file: &&SourceFile| !known.contains(&*file.path);
        files.iter().filter(others).cloned().collect()
    }

    /// Begins the next process. Its modules may have the same ids as those of the previous one.
    pub fn next_round(&mut self) {
        self.round += 1;
        self.known.clear();
        self.gone.clear();
        self.waiting.clear();
    }
}

impl Adapter {
    /// Call once for each request for the list that is answered. Returns whether the list is of the present process, by the `round` that
    /// [`LoadedSources::asked`] gave.
    pub fn is_list_good(&mut self, round: u64) -> bool {
        self.sources.listing -= 1;
        round == self.sources.round
    }

    /// Notes the list that was sent, and sends events for the modules that were loaded and unloaded since.
    pub fn sources_listed(
        &mut self,
        listed: Vec<(u64, Vec<SourceFile>)>,
        outbox: &Outbox,
        client: &ClientConventions,
    ) {
        let mut gone = BTreeMap::new();
        for (module, files) in listed {
            if self.sources.gone.contains(&module) && files.len() <= MOST_TOLD {
                gone.extend(
                    files
                        .iter()
                        .map(|file| (Arc::clone(&file.path), file.clone())),
                );
            }
            self.sources.add(module, files);
        }
        let gone: Vec<SourceFile> = gone.into_values().collect();
        let gone = self.sources.only_in(&gone);
        send_loaded_source(
            &self.source_map,
            outbox,
            client,
            LoadedSourceEventReason::Removed,
            &gone,
        );
        self.read_sources();
    }

    /// A module was loaded or has changed. If the client has requested the list, the module's sources are read on another thread.
    pub fn sources_come(&mut self, module: u64) {
        if !self.sources.asked {
            return;
        }
        let Some(debuggee) = &self.debuggee else {
            return;
        };
        let Ok(Some(sources)) = debuggee.sources_of(module) else {
            return;
        };
        self.sources.waiting.push(sources);
        self.read_sources();
    }

    fn read_sources(&mut self) {
        let busy = self.sources.reading || self.sources.listing > 0;
        if busy || self.sources.waiting.is_empty() {
            return;
        }
        let modules = std::mem::take(&mut self.sources.waiting);
        let (later, round) = (self.later.clone(), self.sources.round);
        let read = move || {
            let files = modules.iter().map(|of| (of.module(), of.files()));
            let files: Vec<(u64, Vec<SourceFile>)> = files.collect();
            later.run(move |adapter, session| {
                let (outbox, client) = (&session.outbox(), session.conventions());
                adapter.sources.reading = false;
                adapter.sources_read(round, files, outbox, client);
                adapter.read_sources();
            });
        };
        let reader = std::thread::Builder::new().name("module sources".into());
        match reader.spawn(read) {
            Ok(_) => self.sources.reading = true,
            Err(error) => tracing::error!(%error, "no thread to read the sources of modules"),
        }
    }

    fn sources_read(
        &mut self,
        round: u64,
        modules: Vec<(u64, Vec<SourceFile>)>,
        outbox: &Outbox,
        client: &ClientConventions,
    ) {
        if round != self.sources.round {
            return;
        }
        for (module, files) in modules {
            let new = self.sources.add(module, files);
            send_loaded_source(
                &self.source_map,
                outbox,
                client,
                LoadedSourceEventReason::New,
                &new,
            );
        }
    }

    /// A module was unloaded.
    pub fn sources_go(&mut self, module: u64, outbox: &Outbox, client: &ClientConventions) {
        let gone = self.sources.remove(module);
        send_loaded_source(
            &self.source_map,
            outbox,
            client,
            LoadedSourceEventReason::Removed,
            &gone,
        );
    }
}

fn send_loaded_source(
    source_map: &SourceMap,
    outbox: &Outbox,
    client: &ClientConventions,
    reason: LoadedSourceEventReason,
    files: &[SourceFile],
) {
    for file in files {
        if let Some((_, source)) = source_map.listed(&file.path, file.checksum, client) {
            outbox.event::<LoadedSourceEvent>(LoadedSourceEventBody::new(reason.clone(), source));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> SourceFile {
        SourceFile {
            path: Path::new(name).into(),
            checksum: None,
        }
    }

    fn files(names: &[&str]) -> Vec<SourceFile> {
        names.iter().map(|name| file(name)).collect()
    }

    #[test]
    fn a_source_of_several_modules_comes_with_the_first_and_goes_with_the_last() {
        let mut sources = LoadedSources::default();
        sources.asked();
        assert_eq!(
            sources.add(1, files(&["/a.c", "/b.h"])),
            files(&["/a.c", "/b.h"])
        );
        assert_eq!(sources.add(2, files(&["/b.h", "/c.c"])), files(&["/c.c"]));
        assert_eq!(sources.remove(1), files(&["/a.c"]));
        assert_eq!(sources.remove(2), files(&["/b.h", "/c.c"]));
    }

    #[test]
    fn a_module_that_is_gone_before_its_sources_were_read_is_not_told_of() {
        let mut sources = LoadedSources::default();
        sources.asked();
        assert_eq!(sources.remove(1), files(&[]));
        assert_eq!(sources.add(1, files(&["/a.c"])), files(&[]));
    }

    #[test]
    fn a_module_of_thousands_of_sources_is_left_out() {
        let mut sources = LoadedSources::default();
        sources.asked();
        let many: Vec<SourceFile> = (0..=MOST_TOLD).map(|n| file(&format!("/{n}.c"))).collect();
        assert_eq!(sources.add(1, many.clone()), files(&[]));
        assert_eq!(sources.add(2, many[1..].to_vec()).len(), MOST_TOLD);
        assert_eq!(sources.remove(1), files(&[]));
        assert_eq!(sources.remove(2).len(), MOST_TOLD);
    }
}
