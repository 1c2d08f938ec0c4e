//! The system calls of Linux x86-64, for recording and replaying a process: what the kernel writes into the caller's memory in a call, and
//! what else the call does that a recording has to know.
//!
//! [`Call::entered`] at the call's entry, because the kernel may overwrite what says where it will write; [`Call::effects`] at its exit. The
//! calls are described as data, by subject, in `system_calls/`; a reader sees there what a call writes.
//!
//! The ranges have every byte that a call writes, and may have more, up to the room that the caller gave: a recording reads them after the
//! call, a replay writes what was read. Part of a range may be unreadable; there, the kernel has written nothing. Not part of a call are what
//! other threads write meanwhile, signal frames (written after the call's exit), and the words that the kernel writes at a thread's end
//! ([`Kind::ClearsAtEnd`], [`Kind::RobustList`]) and whenever it runs on ([`Kind::Rseq`]).

mod basics;
mod description;

mod events;
mod fcntls;
mod file_calls;
mod ioctls;
mod ipc;
mod keys;
mod kind;
mod mappings;
mod places;
mod process_calls;
mod process_control;
mod signal_calls;
mod socket_calls;
mod table;
mod times;

pub use kind::{Created, Kind, Mapped};

use crate::Address;
use description::{Description, Facts};
use places::Possible;
use std::ops::Range;

/// Reads the caller's memory: fills all of the buffer, or returns `false`.
pub type Memory<'m> = dyn Fn(Address, &mut [u8]) -> bool + 'm;

/// The name of a system call of x86-64, such as `read`. `None`: there is none with this number, as far as is known here (Linux 6.19).
pub fn name(number: u64) -> Option<&'static str> {
    table::find(number).map(|call| call.name)
}

/// Why nothing can be said about a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// The number is none that is known.
    #[error("system call {0}")]
    Number(u64),
    /// The call's command is none that is known.
    #[error("{name} {command:#x}")]
    Command {
        /// The call, such as `ioctl`.
        name: &'static str,
        /// Its command.
        command: u32,
    },
    /// What the call's arguments point at could not be read, but the call has succeeded.
    #[error("{0} with arguments that can't be read")]
    Unreadable(&'static str),
    /// The call's buffers are too many.
    #[error("{0} with too many buffers")]
    TooMany(&'static str),
}

/// A call that is being made.
#[derive(Debug, Clone)]
pub struct Call {
    number: u64,
    arguments: [u64; 6],
    known: Result<&'static Description, Unknown>,
    places: Result<Vec<Possible>, Unknown>,
    structure: [u64; 11],
}

/// What a call has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effects {
    /// The memory that it has written, in the order of its arguments. Ranges may overlap, and are not empty.
    pub written: Vec<Range<Address>>,
    /// What else it has done.
    pub what: Kind,
}

/// What stands in the way of collecting places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Unreadable,
    TooMany,
}

impl Call {
    /// A call at its entry, with the values that its arguments' registers have.
    pub fn entered(number: u64, arguments: [u64; 6], memory: &Memory<'_>) -> Call {
        let known = find(number, &arguments);
        let mut call = Call {
            number,
            arguments,
            places: Ok(Vec::new()),
            structure: [0; 11],
            known,
        };
        let Ok(described) = &call.known else {
            return call;
        };
        let name = described.name;
        call.places =
            places::collect(described.outputs, arguments, memory).map_err(
                |trouble| match trouble {
                    Trouble::Unreadable => Unknown::Unreadable(name),
                    Trouble::TooMany => Unknown::TooMany(name),
                },
            );
        if let Some(argument) = described.structure {
            call.structure = structure(arguments[argument], memory);
        }
        call
    }

    /// The number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The arguments.
    pub fn arguments(&self) -> [u64; 6] {
        self.arguments
    }

    /// The name of the call, or of its command, such as `read`, `TCGETS`, `FUTEX_WAIT`. `None`: unknown.
    pub fn name(&self) -> Option<&'static str> {
        let known = self.known.as_ref().ok().map(|known| known.name);
        known.or_else(|| name(self.number))
    }

    /// Whether the call may wait until another thread or process does something, or time has passed. The flags of the files (O_NONBLOCK) aren't
    /// known here. An unknown call may.
    pub fn may_block(&self) -> bool {
        let facts = self.facts(0);
        let known = self.known.as_ref();
        known.map_or(true, |known| (known.blocks)(&facts))
    }

    fn facts(&self, result: i64) -> Facts {
        Facts {
            arguments: self.arguments,
            result,
            structure: self.structure,
        }
    }

    /// Whether the call goes on with one that a signal has interrupted with the result -ERESTART_RESTARTBLOCK (-516): that one's
    /// [`Call::effects`] are then to be asked for, with this one's result (restart_syscall(2)).
    pub fn continues_interrupted(&self) -> bool {
        self.number == libc::SYS_restart_syscall.cast_unsigned()
    }

    /// Where the kernel will clear the id of the thread that this call makes, when that ends; 0: nowhere. At the call's entry or later.
    pub fn cleared_of_new(&self) -> u64 {
        let (flags, place) = match self.number.cast_signed() {
            libc::SYS_clone => (self.arguments[0], self.arguments[3]),
            libc::SYS_clone3 => (self.structure[0], self.structure[2]),
            _ => return 0,
        };
        match flags & libc::CLONE_CHILD_CLEARTID as u64 {
            0 => 0,
            _ => place,
        }
    }

    /// The signal stack (`stack_t`, sigaltstack(2)) that the call has given its thread: `Some(None)`, if it has taken it away. `None`: neither.
    pub fn signal_stack(&self, result: i64, memory: &Memory<'_>) -> Option<Option<[u8; 24]>> {
        let place = self.arguments[0];
        if self.number.cast_signed() != libc::SYS_sigaltstack || result != 0 || place == 0 {
            return None;
        }
        let mut stack = [0; 24];
        if !memory(Address(place), &mut stack) {
            return None;
        }
        let is_none = i32::from(stack[8]) & libc::SS_DISABLE != 0;
        Some((!is_none).then_some(stack))
    }

    /// What the call has done, after its exit. `result` is what is in the result's register: an error is -4095..=-1, among them the kernel's
    /// own numbers for calls that it will restart.
    ///
    /// # Errors
    /// The call or its command isn't known, and it has not failed with an error that says that the kernel doesn't know it either.
    pub fn effects(&self, result: i64, memory: &Memory<'_>) -> Result<Effects, Unknown> {
        let nothing = Effects {
            written: Vec::new(),
            what: Kind::Plain,
        };
        let described = match &self.known {
            Ok(described) => described,
            Err(_) if is_refusal(result) => return Ok(nothing),
            Err(unknown) => return Err(unknown.clone()),
        };
        let is_error = places::is_error(result);
        let places = match &self.places {
            Ok(places) => places,
            Err(_) if is_error => return Ok(nothing),
            Err(unknown) => return Err(unknown.clone()),
        };
        let facts = self.facts(result);
        Ok(Effects {
            written: places::written(places, result, memory),
            what: if is_error && !described.always_does {
                Kind::Plain
            } else {
                (described.does)(&facts)
            },
        })
    }
}

/// The description of a call, or of its command.
fn find(number: u64, arguments: &[u64; 6]) -> Result<&'static Description, Unknown> {
    let call = table::find(number).ok_or(Unknown::Number(number))?;
    let Some(commands) = &call.commands else {
        return Ok(call);
    };
    let command = (arguments[commands.argument] as u32) & commands.mask;
    let mut known = commands.known.iter();
    known
        .find(|known| known.number == command)
        .ok_or(Unknown::Command {
            name: call.name,
            command,
        })
}

/// Whether a result says that the kernel, or the file's driver, doesn't know a call or command, or forbids it. Nothing was written then.
fn is_refusal(result: i64) -> bool {
    [
        libc::ENOSYS,
        libc::ENOTTY,
        libc::EINVAL,
        libc::EBADF,
        libc::EPERM,
        libc::EACCES,
        libc::EOPNOTSUPP,
        libc::ENODEV,
        libc::EFAULT,
    ]
    .contains(&i32::try_from(result.saturating_neg()).unwrap_or(0))
}

/// The 8-byte words of a structure of unknown size, up to the first that can't be read.
fn structure(start: u64, memory: &Memory<'_>) -> [u64; 11] {
    let mut words = [0; 11];
    for (index, word) in (0..).zip(&mut words) {
        let mut bytes = [0; 8];
        if start == 0 || !memory(Address(start.saturating_add(index * 8)), &mut bytes) {
            break;
        }
        *word = u64::from_le_bytes(bytes);
    }
    words
}

#[cfg(test)]
mod tests;
