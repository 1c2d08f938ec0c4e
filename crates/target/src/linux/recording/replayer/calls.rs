//! What a replay does with single system calls of a copy.

use super::{Replayed, Replayer, Then};
use crate::ThreadId;
use crate::linux::injected::{self, lost};
use crate::linux::ptrace;
use crate::linux::recording::journal::{Entry, Made, MappedFile};
use crate::linux::recording::turns::Place;
use crate::wait_event::What;
use dapple_arch::registers::user::UserRegisters;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

impl Replayer {
    /// The number of the call that a thread goes on with behind the next thing that comes, which is an interrupted call, if it does.
    pub(super) fn called_again(
        &self,
        thread: ThreadId,
        mut registers: UserRegisters,
    ) -> Option<u64> {
        let next = self.journal.next_of(thread, self.next + 1)?;
        registers.call_again();
        match next.as_ref() {
            Entry::Enters(number) => Some(*number),
            Entry::Call(again) => Some(again.number),
            _ => None,
        }
    }

    /// The thread that a thread makes in its next system call, whose entry may be the next thing that comes.
    pub(super) fn thread_made_next(&self, maker: ThreadId) -> Option<ThreadId> {
        let mut next = self.journal.next_of(maker, self.next)?;
        if matches!(next.as_ref(), Entry::Enters(_)) {
            next = self.journal.next_of(maker, self.next + 1)?;
        }
        match next.as_ref() {
            Entry::Call(call) => call.thread,
            _ => None,
        }
    }

    /// A thread has made another one.
    pub(super) fn begins(&mut self, maker: ThreadId, made: ThreadId) -> Result<Then, String> {
        let original = self.thread_made_next(maker);
        let original = original.ok_or("it makes a thread early")?;
        self.threads.insert(original, Replayed::new(made));
        self.turns.add(original);
        self.checkpoint.add(original, made);
        match self.early.remove(&made) {
            Some(what) => self.turns.make_up(original, what),
            // Nobody runs before it has come to its first stop.
            None => self.turns.set(original, Place::Runs),
        }
        Ok(Then::Stops(What::NewThread(original)))
    }

    /// Whether a thread is behind a system call whose result it has yet to get.
    pub fn is_in_call(&self, thread: ThreadId) -> bool {
        match self.diverted {
            Some(_) => self.waits_in_call(thread),
            None => { self.threads.get(&thread) }.is_some_and(|it| it.within.is_some()),
        }
    }

    /// Whether a thread waits for its turn amid its own code, and nothing else is to happen to it first: it may be moved to code that does the same.
    pub fn waits_amid_code(&self, thread: ThreadId) -> bool {
        let is_ready = matches!(self.turns.place(thread), Some(Place::Ready(_, 0)));
        let replayed = self.threads.get(&thread);
        let is_free = replayed.is_some_and(|it| {
            it.within.is_none() && it.due.is_none() && !it.has_written && !it.restarts
        });
        is_ready && is_free && self.diverted.is_none()
    }

    /// Has memory mapped at the address where it was.
    pub(super) fn give_address(
        &self,
        copy: ThreadId,
        call: &Made,
        mut registers: UserRegisters,
    ) -> Result<(), String> {
        let (number, mut arguments) = registers.system_call();
        let (flags, place) = match number.cast_signed() {
            libc::SYS_mmap => (3, 0),
            // The new address counts only with the flag.
            libc::SYS_mremap if arguments[3] & libc::MREMAP_MAYMOVE as u64 != 0 => (3, 4),
            _ => return Ok(()),
        };
        let fixed = match number.cast_signed() {
            libc::SYS_mmap => libc::MAP_FIXED as u64,
            // A mapping can't be moved to where it is.
            _ if arguments[0] == call.answer.cast_unsigned() => 0,
            _ => libc::MREMAP_FIXED as u64,
        };
        arguments[flags] |= fixed;
        if fixed != 0 {
            arguments[place] = call.answer.cast_unsigned();
        }
        registers.set_arguments(arguments);
        ptrace::set_registers(copy, &registers).map_err(lost)
    }
}

/// The replay ends where a thread is at the entry of a system call, which isn't made. The thread is taken behind it, with the registers that
/// it has: there, it can be asked for more.
pub(super) fn ends_at_call(copy: ThreadId, registers: UserRegisters) -> Result<Then, String> {
    let mut skipped = registers;
    skipped.forget_system_call();
    ptrace::set_registers(copy, &skipped).map_err(lost)?;
    injected::to_system_call(copy)?;
    ptrace::set_registers(copy, &registers).map_err(lost)?;
    Ok(Then::Stops(What::ReplayEnds))
}

/// Maps a file as it was mapped.
pub(super) fn map(
    copy: ThreadId,
    file: &MappedFile,
    entry: UserRegisters,
    answer: i64,
) -> Result<(), String> {
    let now = MappedFile::of(file.path.clone())?;
    if now != *file {
        return Err(format!("{} has changed", file.path.display()));
    }
    let (_, mut arguments) = entry.system_call();
    let path = CString::new(file.path.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    let opened = injected::open(copy, &path)?;
    arguments[0] = answer.cast_unsigned();
    // Nobody else may see what is written there, nor the other way round.
    let kind = libc::MAP_TYPE as u64;
    arguments[3] = arguments[3] & !kind | (libc::MAP_PRIVATE | libc::MAP_FIXED) as u64;
    arguments[4] = opened;
    let mapped = injected::call(copy, libc::SYS_mmap, arguments, None)?;
    injected::call(copy, libc::SYS_close, [opened, 0, 0, 0, 0, 0], None)?;
    match mapped == answer {
        true => Ok(()),
        false => Err(format!(
            "{} can't be mapped: {}",
            file.path.display(),
            injected::refused(mapped)
        )),
    }
}

/// Maps new memory where a file was mapped.
pub(super) fn map_memory(copy: ThreadId, entry: UserRegisters, answer: i64) -> Result<(), String> {
    let (_, [_, size, protection, ..]) = entry.system_call();
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED) as u64;
    let no_file = injected::word(-1);
    let arguments = [answer.cast_unsigned(), size, protection, flags, no_file, 0];
    match injected::call(copy, libc::SYS_mmap, arguments, None)? {
        mapped if mapped == answer => Ok(()),
        refused => Err(format!(
            "memory can't be mapped: {}",
            injected::refused(refused)
        )),
    }
}
