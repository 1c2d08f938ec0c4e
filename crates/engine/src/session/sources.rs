//! The source files of the loaded modules.

use super::Session;
use crate::Error;
use dapple_symbols::Module;
use std::path::PathBuf;
use std::sync::Arc;

pub use dapple_symbols::sources::Source as SourceFile;

/// A module that was loaded at some time. It can be asked for its sources and names on any thread: for large programs that takes a while.
#[derive(Debug, Clone)]
pub struct SourcesOf {
    module: u64,
    pub(super) symbols: Arc<Module>,
}

impl SourcesOf {
    /// The module's id: [`dapple_inspect::modules::ModuleInfo::id`].
    pub fn module(&self) -> u64 {
        self.module
    }

    /// The files that its line tables name, each path once, sorted.
    pub fn files(&self) -> Vec<SourceFile> {
        self.symbols.sources()
    }
}

impl Session {
    /// The modules that are loaded now, to be asked for their sources. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn sources(&self) -> Result<Vec<SourcesOf>, Error> {
        self.look(|threads| {
            let of = |(module, symbols)| SourcesOf { module, symbols };
            threads.loaded_modules().into_iter().map(of).collect()
        })
    }

    /// As [`Session::sources`], of one module; `None` when it isn't loaded any more.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn sources_of(&self, module: u64) -> Result<Option<SourcesOf>, Error> {
        let all = self.sources()?;
        Ok(all.into_iter().find(|of| of.module == module))
    }
}

impl Session {
    /// Asks debuginfod servers for a source of a module, by the module's id, if the session uses such servers. An answer comes as
    /// [`Event::SourceFetched`](crate::Event::SourceFetched).
    ///
    /// # Errors
    /// [`Error::Ended`], [`Error::PostMortem`].
    pub fn fetch_source(&self, module: u64, source: PathBuf) -> Result<(), Error> {
        self.ask(move |owner| owner.fetch_source(module, source))
    }

    /// Stops waiting for the debug information or source that servers are being asked for ([`Event::Fetching`](crate::Event::Fetching));
    /// then the next request is made.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn stop_fetching(&self) -> Result<(), Error> {
        self.ask(crate::owner::Owner::stop_fetching)
    }
}
