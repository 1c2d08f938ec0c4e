//! The index of a whole module: when it is worth one, where it is kept, how it comes to be.
//!
//! Line breakpoints and addresses need no index; they find the few units they are about by the units' root entries. Names
//! need a look at every entry, which takes a second for some hundred megabytes, or an index made by such a look. With an
//! [`IndexCache`] that look is done once for each build of a program, on this machine.
//!
//! An index is never trusted: it is verified where it is read, and what it answers is read again from the debug
//! information. One that is damaged is dropped with a warning ([`Error::Index`]), removed from the cache, and the answers come from
//! the units.

use crate::Error;
use crate::dwarf::Dwarf;
use crate::files::Files;
pub use crate::index_file::cache::{CachedIndex, IndexCache};
use crate::index_file::{IndexError, IndexFile};
use crate::mapping::Bytes;
use crate::stored::{StoredIndex, build};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Less debug information than this, in bytes of entries, is looked at as quickly as an index.
const WORTH_AN_INDEX: u64 = 4 << 20;

/// Whether a module has an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// It is used.
    Used,
    /// It would be worth one, and has none yet.
    Missing,
    /// It gets none: there is too little debug information, or of a kind that is not indexed (partial units, as `dwz`
    /// makes them; split units whose files are not there).
    Unneeded,
    /// Whoever asked for it stopped the work.
    Cancelled,
}

/// Where a module's index is, once it has one.
#[derive(Default)]
pub(crate) struct IndexSlot {
    ready: OnceLock<StoredIndex>,
    /// It was found wrong.
    dropped: AtomicBool,
    /// It can't have one.
    unsuitable: AtomicBool,
    /// Held by who makes it.
    making: Mutex<()>,
}

impl<'a> Dwarf<'a> {
    /// Asks the index, if there is one. One that contradicts itself is dropped.
    pub fn ask_index_if_there<T>(
        &self,
        ask: impl FnOnce(&StoredIndex) -> Result<T, IndexError>,
    ) -> Option<T> {
        let slot = &self.index_slot;
        if slot.dropped.load(Ordering::Relaxed) {
            return None;
        }
        let index = slot.ready.get()?;
        match ask(index).and_then(|answer| index.still(answer)) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.drop_index(error);
                None
            }
        }
    }

    /// Asks the index, and makes one before where the module is worth it.
    pub fn ask_index<T>(
        &self,
        ask: impl FnOnce(&StoredIndex) -> Result<T, IndexError>,
    ) -> Option<T> {
        if self.index_state() == IndexState::Missing {
            self.make_index(&mut |_, _| true);
        }
        self.ask_index_if_there(ask)
    }

    pub fn index_state(&self) -> IndexState {
        let slot = &self.index_slot;
        if slot.dropped.load(Ordering::Relaxed) || slot.unsuitable.load(Ordering::Relaxed) {
            IndexState::Unneeded
        } else if slot.ready.get().is_some() {
            IndexState::Used
        } else if !is_large(self.files) {
            IndexState::Unneeded
        } else {
            IndexState::Missing
        }
    }

    /// Takes the index that the cache has.
    pub(crate) fn load_index(&self) {
        let slot = &self.index_slot;
        let Some(cache) = self.files.index_cache.get() else {
            return;
        };
        if slot.ready.get().is_some() {
            return;
        }
        let (name, key) = identity(self.files);
        let loaded = cache.load(&name, &key);
        match loaded.and_then(|file| file.map(|file| StoredIndex::new(file, self)).transpose()) {
            Ok(Some(index)) => {
                // Another thread may have been quicker, with the same one.
                let _ = slot.ready.set(index);
            }
            Ok(None) => {}
            Err(error) => self.discard(error),
        }
    }

    /// Makes the index, keeps it in the cache if there is one, and takes it. Waits for another thread that does so.
    pub(crate) fn make_index(&self, progress: &mut dyn FnMut(u64, u64) -> bool) -> IndexState {
        let slot = &self.index_slot;
        let _alone = slot.making.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.ready.get().is_some() || slot.dropped.load(Ordering::Relaxed) {
            return self.index_state();
        }
        let tables = match build::build(self, progress) {
            Ok(tables) => tables,
            Err(build::NoIndex::Cancelled) => return IndexState::Cancelled,
            Err(build::NoIndex::Unsuitable | build::NoIndex::TooLarge) => {
                slot.unsuitable.store(true, Ordering::Relaxed);
                return IndexState::Unneeded;
            }
        };
        if self.files.have_changed_by_now() {
            // What was read may be of two builds.
            slot.unsuitable.store(true, Ordering::Relaxed);
            return IndexState::Unneeded;
        }
        let (name, key) = identity(self.files);
        if let Some(cache) = self.files.index_cache.get() {
            if let Err(error) = cache.save(&name, &key, &tables) {
                self.files.warn(Error::Index {
                    path: cache.folder().to_owned(),
                    reason: format!("this module's can't be kept: {error}"),
                });
            }
            self.load_index();
        }
        if slot.ready.get().is_none() {
            let mut bytes = Vec::new();
            // Memory takes it.
            if IndexFile::write(&mut bytes, &key, &tables).is_ok() {
                self.take_index(bytes);
            }
        }
        self.index_state()
    }

    /// Takes an index that is in no file.
    pub(crate) fn take_index(&self, bytes: Vec<u8>) {
        let (_, key) = identity(self.files);
        let bytes = Bytes::Owned(bytes.into_boxed_slice());
        let index = IndexFile::from_bytes(Path::new("in memory"), bytes, Some(&key));
        match index.and_then(|file| StoredIndex::new(file, self)) {
            Ok(index) => {
                // Where there is one already, that is as good.
                let _ = self.index_slot.ready.set(index);
            }
            Err(error) => self.discard(error),
        }
    }

    fn drop_index(&self, error: IndexError) {
        if !self.index_slot.dropped.swap(true, Ordering::Relaxed) {
            self.discard(error);
        }
    }

    /// Notes a wrong index, and removes it, so that the next session makes it again.
    fn discard(&self, error: IndexError) {
        if let Some(cache) = self.files.index_cache.get() {
            cache.remove(&identity(self.files).0);
        }
        self.files.warn(Error::Index {
            path: error.path,
            reason: error.reason,
        });
    }
}

/// The size of the sections with entries, in bytes as they are in the file.
fn entries_size(files: &Files) -> u64 {
    let file = files.with_dwarf();
    file.size_of(".debug_info") + file.size_of(".debug_types")
}

/// Whether there is enough debug information for an index to be quicker than a look at it.
pub(crate) fn is_large(files: &Files) -> bool {
    entries_size(files) >= WORTH_AN_INDEX
}

/// What a module's index is called in the cache, and what has to be the same for it to be used: the build id, or else
/// which file it is and when it changed; and the files' sizes, since a program with and without symbols has one build id.
fn identity(files: &Files) -> (String, Vec<u8>) {
    let mut key = Vec::new();
    let mut name = String::new();
    if let Some(id) = files.main.elf.build_id.as_deref() {
        key.extend_from_slice(id);
        // More than any linker writes; a file's name has its limits.
        name.extend(id.iter().take(32).map(|byte| format!("{byte:02x}")));
    }
    for file in std::iter::once(&files.main).chain(&files.debug) {
        key.extend_from_slice(&(file.bytes.len() as u64).to_le_bytes());
        if files.main.elf.build_id.is_none() {
            key.extend(
                file.bytes
                    .stamp()
                    .iter()
                    .flat_map(|number| number.to_le_bytes()),
            );
        }
    }
    if name.is_empty() {
        name = format!("{:08x}{:08x}", crc32fast::hash(&key), key.len());
    }
    (name, key)
}
