//! The index of a whole module: which modules get one, where it is stored, and how it is made.
//!
//! Line breakpoints and addresses need no index; they find the few units they need by the units' root entries. Names need
//! a walk over all entries, which takes a second for some hundred megabytes, or an index made by such a walk. With an
//! [`IndexCache`] the walk is done once for each build of a program on this machine.
//!
//! An index is not trusted: its bytes are verified when read, and it only says where to look; the entries themselves are
//! read from the debug information. A damaged index is given up with a warning ([`Error::Index`]) and removed from the
//! cache; queries then read the units instead.

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

/// The least size of `.debug_info` and `.debug_types` together, in bytes, for which an index is made unasked. Walking
/// less takes no longer than searching an index.
const WORTH_AN_INDEX: u64 = 4 << 20;

/// Whether a module has an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// The index is in use.
    Used,
    /// The module is large enough for an index, but has none yet.
    Missing,
    /// The module gets no index: there is too little debug information, too much for an index file, or it is of a kind that is not indexed
    /// (partial units, as `dwz` makes them; split units whose files are missing). Also if its index was found to be wrong, or one of its
    /// files changed while the index was made.
    Unneeded,
    /// The caller cancelled making the index.
    Cancelled,
}

/// A module's index, or the reasons why it has none.
#[derive(Default)]
pub(crate) struct IndexSlot {
    ready: OnceLock<StoredIndex>,
    /// Whether the index was given up, because it was wrong or its file has changed.
    dropped: AtomicBool,
    /// Whether making the index has failed for good: see [`IndexState::Unneeded`].
    unsuitable: AtomicBool,
    /// Locked while a thread makes the index.
    making: Mutex<()>,
}

impl<'a> Dwarf<'a> {
    /// The answer of `ask` to the module's index; `None` if there is no index. If the index proves damaged or wrong, or if its file has
    /// changed, the index is given up and the result is `None`, too.
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

    /// As [`Dwarf::ask_index_if_there`], but makes the index first if the module is large enough for one.
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

    /// Loads the index from the cache, if there is a cache and it has the index.
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
                // Another thread may have set the same index already.
                let _ = slot.ready.set(index);
            }
            Ok(None) => {}
            Err(error) => self.discard(error),
        }
    }

    /// Makes the index, unless the module has one. Uses it from now on, and stores it in the cache if a cache was given.
    /// If another thread is making the index, first waits until that thread is done.
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
            // The debug information read so far may be of two builds.
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
            // Writing to memory fails only if a count doesn't fit into the header's 32 bits.
            if IndexFile::write(&mut bytes, &key, &tables).is_ok() {
                self.take_index(bytes);
            }
        }
        self.index_state()
    }

    /// Uses an index that is not in a file.
    pub(crate) fn take_index(&self, bytes: Vec<u8>) {
        let (_, key) = identity(self.files);
        let bytes = Bytes::Owned(bytes.into_boxed_slice());
        let index = IndexFile::from_bytes(Path::new("in memory"), bytes, Some(&key));
        match index.and_then(|file| StoredIndex::new(file, self)) {
            Ok(index) => {
                // An index that is set already is just as good.
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

    /// Warns about a wrong index and removes it from the cache, so that the next session makes it again.
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

/// The size of the sections with debugging information entries, in bytes as stored in the file.
fn entries_size(files: &Files) -> u64 {
    let file = files.with_dwarf();
    file.size_of(".debug_info") + file.size_of(".debug_types")
}

/// Whether there is so much debug information that an index is quicker than a walk.
pub(crate) fn is_large(files: &Files) -> bool {
    entries_size(files) >= WORTH_AN_INDEX
}

/// The file name of a module's index in the cache, and the key that must match for the index to be used. The key has the
/// build id, or the files' stamps if there is no build id. It also has the files' sizes, because stripping a program
/// doesn't change its build id.
fn identity(files: &Files) -> (String, Vec<u8>) {
    let mut key = Vec::new();
    let mut name = String::new();
    if let Some(id) = files.main.elf.build_id.as_deref() {
        key.extend_from_slice(id);
        // Linkers compute build ids of at most 32 bytes. A user may have chosen a longer one, but file names have a
        // maximum length.
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
