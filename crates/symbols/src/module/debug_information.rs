//! A module's queries about its debug information: units, sections, files, and the index.

use super::Module;
use crate::FileAddress;
use crate::companions::Search;
use crate::dwarf::functions::Language;
use crate::dwarf::summary::DebugSection;
use crate::dwarf::summary::UnitSummary;
use crate::dwarf::summary::sections_of;
use crate::index_file::cache::IndexCache;
use crate::indexing::IndexState;
use crate::indexing::is_large;
use std::path::PathBuf;
use std::sync::Arc;

impl Module {
    /// All units, in file order.
    pub fn units(&self) -> Vec<UnitSummary> {
        self.dwarf(|dwarf| dwarf.units().map(|unit| dwarf.summary_of(unit)).collect())
    }

    /// The unit that covers the function `main`; if there is none, the first unit in a known language.
    pub fn main_unit(&self) -> Option<UnitSummary> {
        let main = self.symbol_named("main");
        if let Some(unit) = main.and_then(|main| self.unit_at(main.address)) {
            return Some(unit);
        }
        self.dwarf(|dwarf| {
            let mut units = dwarf.units();
            let unit = units.find(|unit| unit.language() != Language::Other)?;
            Some(dwarf.summary_of(unit))
        })
    }

    /// The names of the units in a language, as in [`UnitSummary::name`], in file order. Reads only what the names need.
    pub fn unit_names(&self, language: Language) -> Vec<PathBuf> {
        self.dwarf(|dwarf| {
            let names = dwarf.for_each_unit(|index| dwarf.name_in(index, language));
            names.into_iter().flatten().collect()
        })
    }

    /// The unit that covers `address`.
    pub fn unit_at(&self, address: FileAddress) -> Option<UnitSummary> {
        self.dwarf(|dwarf| {
            let unit = dwarf.units_at(address.0).next()?;
            Some(dwarf.summary_of(unit))
        })
    }

    /// The sections with debug information and symbols, of the loaded file and of its separate debug information file.
    pub fn debug_sections(&self) -> Vec<DebugSection> {
        self.decoded(|decoded| {
            let files = decoded.files();
            let files = [Some(&*files.main), files.debug.as_deref()];
            files.into_iter().flatten().flat_map(sections_of).collect()
        })
    }

    /// The separate debug information file, if there is one.
    pub fn debug_file(&self) -> Option<PathBuf> {
        self.decoded(|decoded| {
            let debug = decoded.files().debug.as_ref()?;
            Some(debug.elf.path.clone())
        })
    }

    /// The paths tried so far for files that belong to this module, in order. The separate debug information file is
    /// searched for when the module is opened, the file of a split unit when the unit's entries are first needed.
    pub fn searches(&self) -> Vec<Search> {
        self.decoded(|decoded| decoded.files().searches())
    }

    /// As [`Module::searches`], after searching for the files of all split units.
    pub fn search_everything(&self) -> Vec<Search> {
        self.dwarf(|dwarf| {
            for unit in dwarf.units() {
                unit.part();
            }
        });
        self.searches()
    }

    /// Uses a cache for this module's index from now on, unless one was set before. If the debug information is large, also
    /// reads the unit headers, and loads the index if the cache has it.
    pub fn use_index_cache(&self, cache: &Arc<IndexCache>) -> IndexState {
        self.decoded(|decoded| {
            let files = decoded.files();
            let _ = files.index_cache.set(cache.clone());
            if !is_large(files) {
                return IndexState::Unneeded;
            }
            let dwarf = decoded.dwarf();
            dwarf.load_index();
            dwarf.index_state()
        })
    }

    /// Loads the index from the cache given to [`Module::use_index_cache`], even if the debug information is small.
    pub fn load_index(&self) -> IndexState {
        self.dwarf(|dwarf| {
            dwarf.load_index();
            dwarf.index_state()
        })
    }

    /// Uses an index that the caller has stored, as returned by [`Module::index_bytes`]. An index of another module or an
    /// inconsistent one is not used and adds a warning. If there is an index already, that one stays.
    pub fn use_index(&self, bytes: Vec<u8>) -> IndexState {
        self.dwarf(|dwarf| {
            dwarf.take_index(bytes);
            dwarf.index_state()
        })
    }

    /// The index in its file format; `None` if there is none.
    pub fn index_bytes(&self) -> Option<Vec<u8>> {
        self.dwarf(|dwarf| dwarf.ask_index_if_there(|index| Ok(index.bytes().to_vec())))
    }

    /// Whether there is an index, or why not.
    pub fn index_state(&self) -> IndexState {
        self.decoded(|decoded| match decoded.dwarf_if_read() {
            Some(dwarf) => dwarf.index_state(),
            None if is_large(decoded.files()) => IndexState::Missing,
            None => IndexState::Unneeded,
        })
    }

    /// Makes the index, unless the module has one, with one thread per processor, and stores it in the cache given to
    /// [`Module::use_index_cache`]. Also indexes small modules. `progress` receives the bytes of units done and the total; if
    /// it returns false, the work is cancelled. If another thread is making the index, first waits for that thread.
    pub fn make_index(&self, progress: &mut dyn FnMut(u64, u64) -> bool) -> IndexState {
        self.dwarf(|dwarf| dwarf.make_index(progress))
    }
}
