//! What came from outside while a process was recorded, in order.

use super::file::records::{deserialize_path, serialize_path};
use crate::exit_status::ExitStatus;
use crate::signal_info::WholeSignal;
use crate::{Address, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// All that came from outside. Clones are the same journal: what is recorded later is in all of them.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<RwLock<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    entries: Vec<Noted>,
    /// The indices of each thread's entries, in order.
    of_threads: FxHashMap<ThreadId, Vec<usize>>,
    /// Why nothing was recorded any more. `None`: it was up to the end, or still is.
    gap: Option<String>,
    /// All memory that was ever mapped while recorded: the ends of ranges by their beginnings. No two touch.
    mapped: BTreeMap<u64, u64>,
}

/// An entry, and the thread that it came to.
pub(super) type Noted = (ThreadId, Arc<Entry>);

/// One thing that came from outside.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Entry {
    /// The thread has entered a system call with this number, and others may run meanwhile. The call itself comes later.
    Enters(u64),
    /// A system call.
    Call(Box<Made>),
    /// A signal that was delivered.
    Signal(Box<Delivered>),
    /// The processor's time, and the processor's number if that was asked for.
    Time(u64, Option<u32>),
    /// Others run from here on, until this thread goes on.
    TurnEnd(Arc<TurnEnd>),
    /// The thread has ended by a system call.
    ThreadEnd,
    /// The process has ended.
    End(ExitStatus),
}

/// A signal that was delivered.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Delivered {
    pub(super) whole: WholeSignal,
    /// The signals that the thread blocked then, if the call that it was in had a mask of its own (sigsuspend(2)).
    pub(super) mask: Option<u64>,
}

impl Entry {
    /// What it is, in words.
    pub(super) fn kind(&self) -> String {
        match self {
            Entry::Enters(number) => format!("the entry of {}", call_name(*number)),
            Entry::Call(call) => call_name(call.number),
            Entry::Signal(signal) => format!("signal {}", signal.whole.number()),
            Entry::Time(..) => "a look at the processor's time".into(),
            Entry::TurnEnd(end) => format!("the end of its turn at {}", end.registers.pc()),
            Entry::ThreadEnd => "the thread's end".into(),
            Entry::End(_) => "the process's end".into(),
        }
    }
}

/// The name of a system call.
pub(super) fn call_name(number: u64) -> String {
    let name = crate::linux::system_calls::name(number);
    name.map_or_else(|| format!("system call {number}"), str::to_owned)
}

/// Where a thread was when its turn ended, or a signal came, amid code of its own. Such a state is looked for when the thread is run again: where two
/// are the same by this, but not in other memory, the wrong one may be found; that shows at what comes next.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TurnEnd {
    /// Its registers.
    pub registers: UserRegisters,
    /// What memory had that it worked on, as far as that is seen; what changes often comes first.
    pub memory: Vec<(Address, Box<[u8]>)>,
}

/// Bytes, each with where they are.
pub(super) type Written = Vec<(Address, Box<[u8]>)>;

/// A system call that was made.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) number: u64,
    /// Stands for the registers at its entry.
    pub(super) registers: u64,
    pub(super) answer: i64,
    /// What the kernel wrote.
    pub(super) written: Written,
    pub(super) again: Again,
    /// The thread that it has made.
    pub(super) thread: Option<ThreadId>,
}

impl Made {
    /// Whether it changes what memory is mapped where.
    pub(super) fn changes_mappings(&self) -> bool {
        let all = [
            libc::SYS_mmap,
            libc::SYS_munmap,
            libc::SYS_mremap,
            libc::SYS_brk,
            libc::SYS_madvise,
        ];
        all.contains(&self.number.cast_signed())
    }

    /// Whether the call changes nothing but the process that makes it: its memory map, its signal handlers, its registers, its threads.
    pub(super) fn changes_only_the_copy(&self) -> bool {
        match self.number.cast_signed() {
            libc::SYS_mmap
            | libc::SYS_mprotect
            | libc::SYS_munmap
            | libc::SYS_brk
            | libc::SYS_mremap
            | libc::SYS_madvise
            | libc::SYS_pkey_mprotect
            | libc::SYS_pkey_alloc
            | libc::SYS_rt_sigaction
            | libc::SYS_rt_sigprocmask
            | libc::SYS_rt_sigreturn
            | libc::SYS_sigaltstack
            | libc::SYS_arch_prctl
            | libc::SYS_modify_ldt
            | libc::SYS_set_tid_address => true,
            libc::SYS_clone | libc::SYS_clone3 => self.thread.is_some(),
            number => number == MAP_SHADOW_STACK,
        }
    }
}

/// What of a call is done again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Again {
    /// Nothing: its result and what it wrote are enough.
    Nothing,
    /// The whole call.
    All,
    /// Its file is mapped at the same address.
    Map(MappedFile),
    /// New memory is mapped at the same address: what its file had counts as written.
    Contents,
}

/// A file that was mapped, as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MappedFile {
    #[serde(
        serialize_with = "serialize_path",
        deserialize_with = "deserialize_path"
    )]
    pub(super) path: PathBuf,
    /// Not on disk: there, a file is known otherwise. Device, inode, size, and the time of the last change in nanoseconds.
    #[serde(skip)]
    pub(super) identity: [i128; 4],
}

/// map_shadow_stack, which has no name in libc yet.
const MAP_SHADOW_STACK: i64 = 453;

/// What was taken out of a journal.
#[derive(Debug, Default)]
pub(super) struct Drained {
    pub(super) entries: Vec<Noted>,
    /// The ends of mapped ranges by their beginnings.
    pub(super) mapped: Vec<(u64, u64)>,
}

impl MappedFile {
    /// A file as it is now.
    pub(super) fn of(path: PathBuf) -> Result<MappedFile, String> {
        let data = std::fs::metadata(&path);
        let data = data.map_err(|error| format!("{} can't be read: {error}", path.display()))?;
        let changed = i128::from(data.mtime()) * 1_000_000_000 + i128::from(data.mtime_nsec());
        let identity = [
            data.dev().into(),
            data.ino().into(),
            data.len().into(),
            changed,
        ];
        Ok(MappedFile { path, identity })
    }
}

impl Journal {
    fn pages(&self) -> RwLockReadGuard<'_, Pages> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn pages_mut(&self) -> RwLockWriteGuard<'_, Pages> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many things came from outside.
    pub fn len(&self) -> usize {
        self.pages().entries.len()
    }

    /// Whether nothing came from outside.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What came after so many others.
    pub(super) fn entry(&self, index: usize) -> Option<Noted> {
        self.pages().entries.get(index).cloned()
    }

    /// What comes to a thread next when so many things have come.
    pub(super) fn next_of(&self, thread: ThreadId, position: usize) -> Option<Arc<Entry>> {
        let pages = self.pages();
        let all = pages.of_threads.get(&thread)?;
        let next = all.get(all.partition_point(|index| *index < position))?;
        Some(Arc::clone(&pages.entries.get(*next)?.1))
    }

    /// What has come to a thread last when so many things have come.
    pub(super) fn last_of(&self, thread: ThreadId, position: usize) -> Option<Arc<Entry>> {
        let pages = self.pages();
        let all = pages.of_threads.get(&thread)?;
        let last = all
            .partition_point(|index| *index < position)
            .checked_sub(1)?;
        Some(Arc::clone(&pages.entries.get(*all.get(last)?)?.1))
    }

    /// Notes what has come to a thread; nothing, if nothing is recorded any more.
    pub(super) fn note(&self, thread: ThreadId, entry: Entry) {
        let mut pages = self.pages_mut();
        if pages.gap.is_none() {
            let index = pages.entries.len();
            pages.of_threads.entry(thread).or_default().push(index);
            pages.entries.push((thread, Arc::new(entry)));
        }
    }

    /// Notes that nothing is recorded any more. `reason`: the end of a sentence.
    pub(super) fn end_with(&self, reason: String) {
        self.pages_mut().gap.get_or_insert(reason);
    }

    /// Notes that memory was mapped.
    pub(super) fn maps(&self, range: Range<Address>) {
        let mut pages = self.pages_mut();
        let (mut start, mut end) = (range.start.0, range.end.0);
        while let Some((first, last)) = { pages.mapped.range(..=end).next_back() }
            .map(|(first, last)| (*first, *last))
            .filter(|(_, last)| *last >= start)
        {
            pages.mapped.remove(&first);
            (start, end) = (start.min(first), end.max(last));
        }
        pages.mapped.insert(start, end);
    }

    /// All memory that system calls have mapped while the process was recorded, whether it is still mapped or not.
    pub fn mapped(&self) -> Vec<Range<u64>> {
        let pages = self.pages();
        let all = pages.mapped.iter();
        all.map(|(start, end)| *start..*end).collect()
    }

    /// Takes out all that was noted, but not that nothing is recorded any more.
    pub(super) fn drain(&self) -> Drained {
        let mut pages = self.pages_mut();
        pages.of_threads.clear();
        Drained {
            entries: std::mem::take(&mut pages.entries),
            mapped: std::mem::take(&mut pages.mapped).into_iter().collect(),
        }
    }

    /// How the process has ended, if it has.
    pub fn end(&self) -> Option<ExitStatus> {
        match self.pages().entries.last().map(|(_, entry)| entry.as_ref()) {
            Some(Entry::End(status)) => Some(*status),
            _ => None,
        }
    }

    /// Why nothing was recorded any more, as the end of a sentence. `None`: all was.
    pub fn gap(&self) -> Option<String> {
        self.pages().gap.clone()
    }

    /// Whether all was recorded so far.
    pub fn goes_on(&self) -> bool {
        self.pages().gap.is_none()
    }
}

/// A number that stands for the registers at the entry of a system call: others have another one, but for an accident. Where the call is doesn't
/// count, nor the flags: the instruction may be run elsewhere, and by a step (debuggers do that to get past a breakpoint).
pub(super) fn fingerprint(registers: &UserRegisters) -> u64 {
    let mut hasher = FxHasher::default();
    for word in registers.of_call() {
        hasher.write_u64(word);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_was_mapped_is_kept_as_few_ranges() {
        let journal = Journal::default();
        for (start, end) in [(10, 20), (40, 50), (20, 30), (5, 8), (28, 42), (60, 61)] {
            journal.maps(Address(start)..Address(end));
        }
        assert_eq!(journal.mapped(), [5..8, 10..50, 60..61]);
        journal.maps(Address(0)..Address(100));
        assert_eq!(
            journal.mapped(),
            std::iter::once(0..100).collect::<Vec<_>>()
        );
    }
}
