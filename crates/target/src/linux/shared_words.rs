//! Words in memory that the debugger and a debuggee share ([`crate::process::Process::share`]), which both change while the other runs.

use memmap2::{MmapOptions, MmapRaw};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicI64, Ordering};

/// Words of 8 bytes in a file of memory.
#[derive(Debug)]
pub struct SharedWords {
    map: MmapRaw,
}

impl SharedWords {
    /// Maps the first `size` bytes of a file of memory, which can't become smaller.
    ///
    /// # Errors
    /// The file is smaller, or may become so; or what mmap(2) gives.
    pub fn new(file: &File, size: usize) -> io::Result<SharedWords> {
        let seals = rustix::fs::fcntl_get_seals(file)?;
        let is_whole = file.metadata()?.len() >= size as u64;
        if !seals.contains(rustix::fs::SealFlags::SHRINK) || !is_whole {
            return Err(io::Error::other("the memory may become smaller"));
        }
        let map = MmapOptions::new().len(size).map_raw(file)?;
        Ok(SharedWords { map })
    }

    /// The word at an offset in bytes, a multiple of 8. `None`: it is outside.
    pub fn at(&self, offset: u64) -> Option<&AtomicI64> {
        let offset = usize::try_from(offset).ok()?;
        let is_inside = offset.is_multiple_of(8) && offset.checked_add(8)? <= self.map.len();
        // SAFETY: the word is inside of the mapping, which is aligned to a page and has the file's memory: that stays as large as it is. All
        // accesses here are atomic; what the debuggee writes there can be any integer.
        is_inside.then(|| unsafe { &*self.map.as_mut_ptr().add(offset).cast::<AtomicI64>() })
    }

    /// Decreases the word at an offset by one if it is above 0. Returns whether it was.
    pub fn take_one(&self, offset: u64) -> bool {
        let taken = self.at(offset).map(|word| {
            word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |value| {
                (value > 0).then(|| value - 1)
            })
        });
        taken.is_some_and(|taken| taken.is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, SealFlags};

    fn memory(size: u64) -> File {
        let file = rustix::fs::memfd_create(c"", MemfdFlags::ALLOW_SEALING).expect("memory");
        let file = File::from(file);
        file.set_len(size).expect("its size");
        file
    }

    #[test]
    fn each_is_taken_once() {
        let file = memory(4096);
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).expect("sealed");
        let words = SharedWords::new(&file, 4096).expect("mapped");
        let word = words.at(64).expect("a word");
        word.store(1000, Ordering::Relaxed);
        let taken: usize = std::thread::scope(|scope| {
            let take = || (0..800).filter(|_| words.take_one(64)).count();
            let threads = [scope.spawn(take), scope.spawn(take)];
            threads
                .map(|thread| thread.join().expect("a count"))
                .iter()
                .sum()
        });
        assert_eq!((taken, word.load(Ordering::Relaxed)), (1000, 0));
        assert!(
            words.at(4096).is_none() && words.at(4092).is_none() && words.at(u64::MAX).is_none()
        );
        assert!(!words.take_one(4096));
    }

    #[test]
    fn memory_that_may_shrink_is_refused() {
        assert!(SharedWords::new(&memory(4096), 4096).is_err());
        let small = memory(100);
        rustix::fs::fcntl_add_seals(&small, SealFlags::SHRINK).expect("sealed");
        assert!(SharedWords::new(&small, 4096).is_err());
    }
}
