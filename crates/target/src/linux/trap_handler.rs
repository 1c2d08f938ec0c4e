//! Gives a process the signal handler of [`dapple_arch::trap_handler`], so that it survives a debugger that is killed while a thread is stopped
//! at a breakpoint and the stop was not taken yet.
//!
//! The handler is only given to a process that leaves SIGTRAP its default action. As long as the debugger lives, no SIGTRAP of its own reaches
//! the process.

use crate::linux::injected::{answered, lost, word};
use crate::linux::memory::ProcessMemory;
use crate::linux::{process, ptrace};
use crate::{Address, ThreadId};
use dapple_arch::trap_handler::{
    ACTION, ACTION_SIZE, DEFAULT_ACTION, DISARMED, OLD_ACTION, PAGE, SET_SIZE, SIZE, image,
};
use std::io;

const TRAP: u64 = libc::SIGTRAP as u64;

/// The memory of a handler in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrapHandler {
    page: Address,
}

/// Whether a process leaves SIGTRAP its default action.
pub fn has_default_action(process: ThreadId) -> bool {
    !process::catches(process, libc::SIGTRAP) && !process::ignores(process, libc::SIGTRAP)
}

/// Makes the SIGTRAP at whose delivery a thread is stopped one that the handler doesn't take for the debugger's.
///
/// # Errors
/// The thread has died.
pub fn own_signal(thread: ThreadId) -> io::Result<()> {
    ptrace::set_signal_code(thread, libc::SI_USER)
}

impl TrapHandler {
    /// Makes a stopped thread map memory for the handler. `from`: where a `syscall` instruction is, if it shouldn't be looked for.
    ///
    /// # Errors
    /// The end of a sentence that says why not.
    pub fn map(thread: ThreadId, from: Option<Address>) -> Result<TrapHandler, String> {
        let protection = word(libc::PROT_READ | libc::PROT_WRITE);
        let flags = word(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let arguments = [0, SIZE, protection, flags, word(-1), 0];
        let page = Address(answered(thread, libc::SYS_mmap, arguments, from)?);
        let handler = TrapHandler { page };
        let code = word(libc::PROT_READ | libc::PROT_EXEC);
        let written =
            ProcessMemory::open(thread).and_then(|memory| memory.write(page, &image(page)));
        let ready = written.map_err(lost).and_then(|()| {
            let arguments = [page.0, PAGE, code, 0, 0, 0];
            answered(thread, libc::SYS_mprotect, arguments, from)
        });
        if ready.is_err() {
            handler.unmap(thread, from)?;
        }
        ready.map(|_| handler)
    }

    /// Where the memory begins.
    pub fn page(self) -> Address {
        self.page
    }

    /// Whether an address is in the handler's code.
    pub fn contains(self, address: Address) -> bool {
        address.0.wrapping_sub(self.page.0) < PAGE
    }

    /// The byte that makes SIGTRAP do what it does by default, if it is not 0.
    pub fn disarmed(self) -> Address {
        Address(self.page.0 + DISARMED)
    }

    /// Makes a stopped thread let the handler handle SIGTRAP.
    ///
    /// # Errors
    /// The end of a sentence that says why not.
    pub fn install(self, thread: ThreadId, from: Option<Address>) -> Result<(), String> {
        self.set_action(thread, ACTION, 0, from)
    }

    /// Makes a stopped thread give SIGTRAP its default action, unless the program has set another one meanwhile.
    ///
    /// # Errors
    /// The end of a sentence that says why not.
    pub fn remove(self, thread: ThreadId, from: Option<Address>) -> Result<(), String> {
        let old = self.page.offset(OLD_ACTION as i64);
        self.set_action(thread, DEFAULT_ACTION, old.0, from)?;
        let mut action = [0; ACTION_SIZE];
        let memory = ProcessMemory::open(thread).map_err(lost)?;
        { memory.read(old, &mut action) }.map_err(|at| format!("{at} can't be read"))?;
        match action.starts_with(&self.page.0.to_le_bytes()) {
            true => Ok(()),
            false => self.set_action(thread, OLD_ACTION, 0, from),
        }
    }

    fn set_action(
        self,
        thread: ThreadId,
        action: u64,
        old: u64,
        from: Option<Address>,
    ) -> Result<(), String> {
        let arguments = [TRAP, self.page.0 + action, old, SET_SIZE, 0, 0];
        answered(thread, libc::SYS_rt_sigaction, arguments, from).map(|_| ())
    }

    /// Makes a stopped thread unmap the memory, which no thread uses any more.
    ///
    /// # Errors
    /// The end of a sentence that says why not.
    pub fn unmap(self, thread: ThreadId, from: Option<Address>) -> Result<(), String> {
        let arguments = [self.page.0, SIZE, 0, 0, 0, 0];
        answered(thread, libc::SYS_munmap, arguments, from).map(|_| ())
    }
}
