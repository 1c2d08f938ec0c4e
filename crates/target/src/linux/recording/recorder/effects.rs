//! What is kept of a system call's effects.

use super::Recorder;
use crate::linux::process;
use crate::linux::recording::file::identity::Identity;
use crate::linux::recording::journal::{Again, MappedFile, Written};
use crate::linux::system_calls::{Kind, Mapped};
use crate::{Address, ThreadId};
use std::ops::Range;

/// The most memory that one call may have written.
const MOST_WRITTEN: u64 = 1 << 30;
/// The most that is kept of what a file has.
const MOST_CONTENTS: u64 = 64 << 20;

impl Recorder {
    /// What the kernel has written.
    pub(super) fn bytes_of(&self, written: Vec<Range<Address>>) -> Result<Written, String> {
        let mut all = Written::new();
        let mut size = 0_u64;
        for range in written {
            let length = range.end.0.saturating_sub(range.start.0);
            size = size.saturating_add(length);
            if size > MOST_WRITTEN {
                return Err("a system call has written too much".into());
            }
            let mut bytes = vec![0; length as usize];
            let length = self.memory.read_some(range.start, &mut bytes);
            bytes.truncate(length);
            if !bytes.is_empty() {
                all.push((range.start, bytes.into_boxed_slice()));
            }
        }
        Ok(all)
    }

    /// Notes what memory a call has mapped.
    pub(super) fn note_mapped(&mut self, what: &Kind) {
        match what {
            Kind::Maps(mapped) => self.journal.maps(mapped.range.clone()),
            Kind::Moves { to, .. } => self.journal.maps(to.clone()),
            Kind::Breaks(end) => {
                let before = self.heap_end.replace(*end).unwrap_or(*end);
                self.journal.maps(before.min(*end)..before.max(*end));
            }
            _ => {}
        }
    }

    /// What of a call is done again in a copy, given what it has done. Adds to what it has written what a file has that it has mapped, if that is
    /// kept.
    pub(super) fn again(
        &self,
        thread: ThreadId,
        what: Kind,
        name: Option<&str>,
        written: &mut Vec<Range<Address>>,
    ) -> Result<Again, String> {
        let name = name.unwrap_or("a system call");
        Ok(match what {
            Kind::Plain
            | Kind::MakesProcess(_)
            | Kind::RobustList(_)
            | Kind::Rseq(_)
            | Kind::EndsThread
            | Kind::EndsProcess => Again::Nothing,
            Kind::Moves { .. }
            | Kind::Breaks(_)
            | Kind::Unmaps(_)
            | Kind::Protects { .. }
            | Kind::Advises { .. }
            | Kind::ReturnsFromHandler
            | Kind::SignalState
            | Kind::Registers
            | Kind::MakesThread(_)
            | Kind::ClearsAtEnd(_) => Again::All,
            Kind::Maps(mapped) => {
                let again = maps(thread, &mapped)?;
                match again {
                    Again::Map(file) if self.keeps_contents && is_kept(&file, &mapped) => {
                        written.push(mapped.range);
                        Again::Contents
                    }
                    again => again,
                }
            }
            Kind::Detaches(_) | Kind::Executes | Kind::FiltersCalls => {
                return Err(format!("it has called {name}"));
            }
            Kind::NotRecordable(name) => return Err(format!("it has called {name}")),
        })
    }
}

/// Whether what a file has that was mapped is kept.
fn is_kept(file: &MappedFile, mapped: &Mapped) -> bool {
    let size = mapped.range.end.0.saturating_sub(mapped.range.start.0);
    size <= MOST_CONTENTS && !Identity::has_build_id(&file.path)
}

/// How memory is mapped again that a thread has mapped.
fn maps(thread: ThreadId, mapped: &Mapped) -> Result<Again, String> {
    let is_anonymous = mapped.flags as i32 & libc::MAP_ANONYMOUS != 0;
    let is_writable = mapped.protection & libc::PROT_WRITE as u64 != 0;
    // With the processes that it forks, or with whoever maps the file; and with its copies.
    if mapped.is_shared_with_others() && (is_writable || is_anonymous) {
        return Err("it shares memory with others".into());
    }
    if is_anonymous {
        return Ok(Again::All);
    }
    let file = mapped.file.ok_or("it shares memory with others")?;
    let path = process::file(thread, file).ok_or("a file that it maps has no name")?;
    Ok(Again::Map(MappedFile::of(path)?))
}
