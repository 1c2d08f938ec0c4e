//! The source files of what is loaded.

use super::Session;
use crate::Error;
use dapple_symbols::Module;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The modules that were loaded at a time, to be asked for their sources on any thread: of large programs that takes a while.
#[derive(Debug, Clone)]
pub struct LoadedSources(Vec<Arc<Module>>);

impl LoadedSources {
    /// The files that the line tables name, each once, in order.
    pub fn files(&self) -> Vec<PathBuf> {
        let files: BTreeSet<Arc<Path>> = self.0.iter().flat_map(|m| m.source_files()).collect();
        files.iter().map(|file| file.to_path_buf()).collect()
    }
}

impl Session {
    /// What is loaded now, for its sources. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn sources(&self) -> Result<LoadedSources, Error> {
        self.ask(|owner| LoadedSources(owner.loaded_modules()))
    }
}
