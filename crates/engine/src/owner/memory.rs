//! Writes the debuggee's memory for the user.
//!
//! A write leaves inserted bytes and the copies of instructions in place, and changes the program's bytes under them. What was known about
//! the old bytes is forgotten: the code of a module that was written into is no longer read from the module's file
//! (`LoadedModule::code_in_file`), and the copy of an instruction that was written into is made again.
//!
//! A debugger can write where the program can't. But a write to memory that is read-only for the program is refused: other code relies on
//! that memory never changing (constants that the compiler has used elsewhere already, tables of the dynamic linker). Code is the
//! exception: it is read-only as a rule, and a user who writes into it means to change it.

use super::Owner;
use crate::{Address, Error};
use dapple_inspect::inspect::Inspect;
use dapple_target::memory_map::Mapping;

/// What happens to a write if a part of the memory can't be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialWrite {
    /// Nothing is written.
    Refused,
    /// The bytes before that part are written. If there are none, the write is refused.
    Allowed,
}

/// What was written into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryWrite {
    /// How many bytes were written.
    pub count: usize,
    /// Whether stack frames may have changed, because code or a part of a thread's stack was written.
    pub moves_frames: bool,
}

/// The size of a page in bytes. A page is writable as a whole or not at all.
const PAGE: u64 = 4096;

impl Owner {
    pub(crate) fn write_memory(
        &mut self,
        address: Address,
        bytes: &[u8],
        partial: PartialWrite,
    ) -> Result<MemoryWrite, Error> {
        self.require_some_stopped()?;
        self.will_change()?;
        let (writable, refusal) = self.writable(address, bytes.len());
        let wanted = match (refusal, partial) {
            (Some(why), PartialWrite::Refused) => return Err(Error::Refused(why)),
            (Some(why), PartialWrite::Allowed) if writable == 0 => return Err(Error::Refused(why)),
            _ => &bytes[..writable],
        };
        let mut before = vec![0; wanted.len()];
        self.memory()
            .read(address, &mut before)
            .map_err(|at| Error::Refused(format!("there is no memory at {at}")))?;
        let written = self.write_pages(address, wanted);
        if let Err((count, error)) = written {
            let keeps = partial == PartialWrite::Allowed && count > 0;
            if !keeps {
                // Doesn't fail as a rule: these bytes could be written just before.
                let _ = self.write_pages(address, &before[..count]);
                return Err(error);
            }
            return Ok(self.memory_written(address, count));
        }
        Ok(self.memory_written(address, wanted.len()))
    }

    fn memory_written(&mut self, address: Address, count: usize) -> MemoryWrite {
        self.memory_changed(address, count);
        MemoryWrite {
            count,
            moves_frames: self.holds_frames(address, count),
        }
    }

    /// Whether the `length` bytes from `address` on have executable memory or a part of a thread's stack among them.
    fn holds_frames(&mut self, address: Address, length: usize) -> bool {
        let end = address.0.saturating_add(length as u64);
        let overlaps = |start: u64, behind: u64| start < end && address.0 < behind;
        let mappings = self.process().mappings();
        if mappings.is_empty() {
            return true;
        }
        let mut executable = mappings.iter().filter(|mapping| mapping.execute);
        if executable.any(|mapping| overlaps(mapping.start, mapping.end)) {
            return true;
        }
        self.stopped_threads().into_iter().any(|thread| {
            let Some(sp) = self.registers(thread).map(|registers| registers.sp()) else {
                return false;
            };
            let mut stacks = mappings.iter();
            let stack = stacks.find(|mapping| (mapping.start..mapping.end).contains(&sp));
            stack.is_some_and(|stack| overlaps(sp, stack.end))
        })
    }

    /// Writes page by page. The error has the number of bytes that were written before it.
    pub(super) fn write_pages(
        &mut self,
        address: Address,
        bytes: &[u8],
    ) -> Result<(), (usize, Error)> {
        let mut done = 0;
        while done < bytes.len() {
            let at = Address(address.0.wrapping_add(done as u64));
            let room = (PAGE - at.0 % PAGE) as usize;
            let end = bytes.len().min(done + room);
            if let Err(error) = self.write_bytes(at, &bytes[done..end]) {
                let error = Error::System {
                    operation: format!("memory at {at} can't be written"),
                    reason: error.to_string(),
                };
                return Err((done, error));
            }
            done = end;
        }
        Ok(())
    }

    /// Whether there is memory at an address: for processes whose mappings aren't known, as behind some stubs.
    pub(super) fn can_be_read(&self, address: Address) -> bool {
        self.memory().read(address, &mut [0]).is_ok()
    }

    /// How many of the `length` bytes from `address` on may be written. If not all may, also says why the next one may not.
    pub(super) fn writable(&self, address: Address, length: usize) -> (usize, Option<String>) {
        let mappings = self.process().mappings();
        if mappings.is_empty() {
            // The write itself says whether it can be made.
            return (length, None);
        }
        let mut done = 0;
        while done < length {
            let Some(at) = address.0.checked_add(done as u64) else {
                return (
                    done,
                    Some("there is no memory behind the last address".into()),
                );
            };
            let here = mappings
                .iter()
                .find(|mapping| (mapping.start..mapping.end).contains(&at));
            let refusal = match here {
                None => Some(format!("there is no memory at {}", Address(at))),
                Some(mapping) => refusal(Address(at), mapping),
            };
            if refusal.is_some() {
                return (done, refusal);
            }
            let room = here.map_or(0, |mapping| mapping.end - at);
            let rest = length - done;
            done += usize::try_from(room).unwrap_or(rest).min(rest);
        }
        (done, None)
    }

    /// Forgets what was known about memory that the user has written.
    pub(super) fn memory_changed(&mut self, address: Address, length: usize) {
        // The written memory may be part of a stack.
        self.renew_stacks();
        self.refresh_watched();
        let end = Address(address.0.saturating_add(length as u64));
        for module in self.modules().iter() {
            if module.has_code_in(address..end) {
                module.code_was_changed();
            }
        }
    }
}

fn refusal(at: Address, mapping: &Mapping) -> Option<String> {
    let name = match mapping.name.as_str() {
        "" => String::new(),
        name => format!(" ({name})"),
    };
    match (mapping.write, mapping.execute) {
        (true, _) | (_, true) => None,
        _ if mapping.read => Some(format!(
            "the memory at {at}{name} is read-only: the program itself can't write there"
        )),
        _ => Some(format!("nothing may be done with the memory at {at}{name}")),
    }
}
