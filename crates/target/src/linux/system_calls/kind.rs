//! What a system call does beside writing memory.

use super::description::Facts;
use crate::Address;
use std::ops::Range;

/// What a call has done beside writing memory, as far as a recording has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that shows in the process's memory, threads or registers.
    Plain,
    /// It has made a mapping (mmap(2), shmat(2), map_shadow_stack).
    Maps(Mapped),
    /// It has moved or resized a mapping (mremap(2)).
    Moves {
        /// Where it was. Empty with MREMAP's old size of 0, which makes a second mapping.
        from: Range<Address>,
        /// Where it is.
        to: Range<Address>,
        /// `MREMAP_…`.
        flags: u64,
    },
    /// The heap ends here now (brk(2)). The call never fails: a break that is not the wanted one is the old one.
    Breaks(Address),
    /// Mappings are gone (munmap(2)).
    Unmaps(Range<Address>),
    /// A System V segment's mapping is gone (shmdt(2)); its size isn't an argument.
    Detaches(Address),
    /// The protection has changed (mprotect(2), pkey_mprotect(2)).
    Protects {
        /// Where.
        range: Range<Address>,
        /// `PROT_…`.
        protection: u64,
    },
    /// madvise(2): MADV_DONTNEED and others change what the memory has.
    Advises {
        /// Where.
        range: Range<Address>,
        /// `MADV_…`.
        advice: u64,
    },
    /// It has made a thread of this process.
    MakesThread(Created),
    /// It has made a process.
    MakesProcess(Created),
    /// The process executes another program.
    Executes,
    /// The thread ends (exit(2)); no exit from the call follows.
    EndsThread,
    /// The process ends (exit_group(2)); no exit from the call follows.
    EndsProcess,
    /// A signal handler has returned (rt_sigreturn(2)): all registers and the signal mask have changed, and the result is the interrupted code's
    /// register.
    ReturnsFromHandler,
    /// Signal actions, the alternative stack or the mask may have changed.
    SignalState,
    /// Registers beside the result's have changed: segment bases (arch_prctl(2)), protection keys (pkey_alloc(2)).
    Registers,
    /// The kernel clears the 4 bytes here and wakes a waiter when the thread ends (set_tid_address(2)).
    ClearsAtEnd(Address),
    /// The kernel goes through this list when the thread ends, and marks the locks in it (set_robust_list(2)).
    RobustList(Address),
    /// The kernel writes here whenever the thread returns to the program from being preempted, moved or interrupted by a signal (rseq(2)): the
    /// area and its size, or an empty range at its end. A recording has to refuse this call.
    Rseq(Range<Address>),
    /// System calls may be refused or trapped from now on (seccomp(2)).
    FiltersCalls,
    /// A recording can't cover what follows: memory changes without system calls, or another process's state is changed. The call's name.
    NotRecordable(&'static str),
}

/// A new mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// Where it is. Empty if the call doesn't say how large (shmat(2)).
    pub range: Range<Address>,
    /// `PROT_…`.
    pub protection: u64,
    /// `MAP_…`.
    pub flags: u64,
    /// The descriptor of the mapped file.
    pub file: Option<i32>,
    /// Where in the file it begins.
    pub offset: u64,
}

impl Mapped {
    /// Whether others may change the memory, or see what the process writes there: MAP_SHARED with a file, or shmat(2).
    pub fn is_shared_with_others(&self) -> bool {
        let kind = self.flags & 0xf;
        kind == SHARED || kind == SHARED_VALIDATE
    }
}

const SHARED: u64 = libc::MAP_SHARED as u64;
const SHARED_VALIDATE: u64 = libc::MAP_SHARED_VALIDATE as u64;
const ANONYMOUS: u64 = libc::MAP_ANONYMOUS as u64;

/// A new thread or process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// Its id, as its maker sees it. 0: this is the exit of the new process itself.
    pub id: i64,
    /// `CLONE_…`; for fork(2) none.
    pub flags: u64,
    /// Where the kernel writes the id in the new one's memory (CLONE_CHILD_SETTID), and clears it at its end (CLONE_CHILD_CLEARTID).
    pub child_id: Address,
}

fn range(start: u64, length: u64) -> Range<Address> {
    // The kernel's pages.
    let length = length.saturating_add(4095) & !4095;
    Address(start)..Address(start.saturating_add(length))
}

pub(super) fn maps(facts: &Facts) -> Kind {
    let [_, length, protection, flags, file, offset] = facts.arguments;
    let is_anonymous = flags & ANONYMOUS != 0;
    Kind::Maps(Mapped {
        range: range(facts.result.cast_unsigned(), length),
        protection,
        flags,
        file: (!is_anonymous).then_some(file as i32),
        offset,
    })
}

pub(super) fn maps_shadow_stack(facts: &Facts) -> Kind {
    Kind::Maps(Mapped {
        range: range(facts.result.cast_unsigned(), facts.arguments[1]),
        protection: (libc::PROT_READ | libc::PROT_WRITE) as u64,
        flags: (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64,
        file: None,
        offset: 0,
    })
}

pub(super) fn attaches(facts: &Facts) -> Kind {
    let is_read_only = facts.arguments[2] & libc::SHM_RDONLY as u64 != 0;
    let write = if is_read_only { 0 } else { libc::PROT_WRITE };
    Kind::Maps(Mapped {
        range: range(facts.result.cast_unsigned(), 0),
        protection: (libc::PROT_READ | write) as u64,
        flags: SHARED,
        file: None,
        offset: 0,
    })
}

pub(super) fn moves(facts: &Facts) -> Kind {
    let [from, old, new, flags, ..] = facts.arguments;
    Kind::Moves {
        from: range(from, old),
        to: range(facts.result.cast_unsigned(), new),
        flags,
    }
}

pub(super) fn breaks(facts: &Facts) -> Kind {
    Kind::Breaks(Address(facts.result.cast_unsigned()))
}

pub(super) fn unmaps(facts: &Facts) -> Kind {
    Kind::Unmaps(range(facts.arguments[0], facts.arguments[1]))
}

pub(super) fn detaches(facts: &Facts) -> Kind {
    Kind::Detaches(Address(facts.arguments[0]))
}

pub(super) fn protects(facts: &Facts) -> Kind {
    Kind::Protects {
        range: range(facts.arguments[0], facts.arguments[1]),
        protection: facts.arguments[2],
    }
}

pub(super) fn advises(facts: &Facts) -> Kind {
    Kind::Advises {
        range: range(facts.arguments[0], facts.arguments[1]),
        advice: facts.arguments[2],
    }
}

pub(super) fn clones(facts: &Facts) -> Kind {
    created(facts, facts.arguments[0], facts.arguments[3])
}

pub(super) fn clones_by_structure(facts: &Facts) -> Kind {
    // `struct clone_args` of clone3(2): flags, pidfd, child_tid.
    created(facts, facts.structure[0], facts.structure[2])
}

pub(super) fn forks(facts: &Facts) -> Kind {
    created(facts, 0, 0)
}

pub(super) fn vforks(facts: &Facts) -> Kind {
    created(facts, (libc::CLONE_VM | libc::CLONE_VFORK) as u64, 0)
}

fn created(facts: &Facts, flags: u64, child_id: u64) -> Kind {
    let created = Created {
        id: facts.result,
        flags,
        child_id: Address(child_id),
    };
    if flags & libc::CLONE_THREAD as u64 == 0 {
        Kind::MakesProcess(created)
    } else {
        Kind::MakesThread(created)
    }
}

pub(super) fn clears_at_end(facts: &Facts) -> Kind {
    Kind::ClearsAtEnd(Address(facts.arguments[0]))
}

pub(super) fn robust_list(facts: &Facts) -> Kind {
    Kind::RobustList(Address(facts.arguments[0]))
}

pub(super) fn rseq(facts: &Facts) -> Kind {
    const UNREGISTER: u64 = 1;
    let [start, size, flags, ..] = facts.arguments;
    let is_end = flags & UNREGISTER != 0;
    let size = if is_end { 0 } else { size & 0xffff_ffff };
    Kind::Rseq(Address(start)..Address(start.saturating_add(size)))
}
