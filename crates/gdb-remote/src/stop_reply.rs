//! Stop replies: how a stub says that its debuggee has stopped or ended (gdb manual, "Stop Reply Packets"), and what it may say before.

use crate::error::shown;
use crate::hex;
use crate::signal::Signal;
use crate::thread_id::ThreadId;

/// The most pairs of a stop reply that are read.
const MAX_PAIRS: usize = 4096;

/// A packet that comes while the debuggee runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReply {
    /// `T` or `S`: a thread has stopped, and with it all others.
    Stopped(Stop),
    /// `W`: a process has exited.
    Exited {
        /// The exit status.
        status: u64,
        /// The process, with the multiprocess extensions.
        process: Option<u64>,
    },
    /// `X`: a signal has ended a process.
    Signalled {
        /// The signal.
        signal: Signal,
        /// The process, with the multiprocess extensions.
        process: Option<u64>,
    },
    /// `w`: a thread has exited. Only after `QThreadEvents:1` or in non-stop mode.
    ThreadExited {
        /// The thread's exit status.
        status: u64,
        /// The thread.
        thread: ThreadId,
    },
    /// `N`: no thread that was resumed is left. Others may still be there.
    NoResumed,
    /// `O`: console output. The debuggee still runs.
    Output(Vec<u8>),
    /// `F`: the debuggee asks for a file operation of gdb's File-I/O protocol, such as `Fopen,…`. It waits for an answer.
    FileRequest(Vec<u8>),
}

/// A stop of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The signal. [`Signal::Trap`] for most stops that the debugger has caused.
    pub signal: Signal,
    /// The thread. Without it, the stub has one thread, or has to be asked (`qC`).
    pub thread: Option<ThreadId>,
    /// The processor's core that the thread was on.
    pub core: Option<u64>,
    /// Why it has stopped, if the stub says so.
    pub reason: Option<Reason>,
    /// Registers by number, in the debuggee's byte order. A byte is `None` if its value is not known.
    pub registers: Vec<(u64, Vec<Option<u8>>)>,
    /// All other pairs, as they are. lldb-server has many: `reason`, `threads`, `name`.
    pub other: Vec<(String, Vec<u8>)>,
}

/// Why a thread has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A software breakpoint. The program counter is at its address.
    SoftwareBreakpoint,
    /// A hardware breakpoint.
    HardwareBreakpoint,
    /// A watchpoint.
    Watchpoint {
        /// What it watches for.
        access: Access,
        /// The address of the data.
        address: u64,
    },
    /// The list of loaded libraries has changed.
    Libraries,
    /// fork(2): the child, which has stopped, too.
    Fork(ThreadId),
    /// vfork(2): the child, which has stopped, too.
    Vfork(ThreadId),
    /// The child of vfork(2) has left its parent's memory.
    VforkDone,
    /// The process executes this file now.
    Exec(Vec<u8>),
    /// A thread was created. Only after `QThreadEvents:1`.
    Create,
    /// The beginning of a recording was reached, running backwards.
    ReplayBegin,
    /// The end of a recording was reached.
    ReplayEnd,
    /// A system call is about to begin. Only after `QCatchSyscalls`.
    SyscallEntry(u64),
    /// A system call has ended. Only after `QCatchSyscalls`.
    SyscallReturn(u64),
}

/// Which accesses a watchpoint stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `watch`, `Z2`
    Write,
    /// `rwatch`, `Z3`
    Read,
    /// `awatch`, `Z4`
    ReadOrWrite,
}

/// A packet that is no stop reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} in the stop reply {reply}")]
pub struct NoStopReply {
    what: &'static str,
    reply: String,
}

impl StopReply {
    /// Reads a packet.
    ///
    /// # Errors
    ///
    /// If it is no stop reply, or has a number that is none.
    pub fn parse(body: &[u8]) -> Result<StopReply, NoStopReply> {
        let wrong = |what| NoStopReply {
            what,
            reply: shown(body),
        };
        let Some((kind, rest)) = body.split_first() else {
            return Err(wrong("nothing"));
        };
        match kind {
            b'T' => parse_stop(rest).map(StopReply::Stopped).map_err(wrong),
            b'S' => Ok(StopReply::Stopped(Stop {
                signal: signal(rest.get(..2).unwrap_or(rest)).map_err(wrong)?,
                thread: None,
                core: None,
                reason: None,
                registers: Vec::new(),
                other: Vec::new(),
            })),
            b'W' => {
                let (status, process) = ended(rest).map_err(wrong)?;
                let status = hex::number(status).ok_or_else(|| wrong("no exit status"))?;
                Ok(StopReply::Exited { status, process })
            }
            b'X' => {
                let (number, process) = ended(rest).map_err(wrong)?;
                let signal = signal(number).map_err(wrong)?;
                Ok(StopReply::Signalled { signal, process })
            }
            b'w' => {
                let (status, thread) = split(rest, b';');
                Ok(StopReply::ThreadExited {
                    status: hex::number(status).ok_or_else(|| wrong("no exit status"))?,
                    thread: thread
                        .and_then(ThreadId::parse)
                        .ok_or_else(|| wrong("no thread"))?,
                })
            }
            b'N' if rest.is_empty() => Ok(StopReply::NoResumed),
            b'O' => hex::decode(rest)
                .map(StopReply::Output)
                .ok_or_else(|| wrong("no hexadecimal output")),
            b'F' => Ok(StopReply::FileRequest(rest.to_vec())),
            _ => Err(wrong("unknown kind")),
        }
    }
}

/// What is before and behind the first `separator`.
fn split(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    let mut parts = text.splitn(2, |byte| *byte == separator);
    (parts.next().unwrap_or_default(), parts.next())
}

fn signal(digits: &[u8]) -> Result<Signal, &'static str> {
    hex::number(digits)
        .and_then(|number| u8::try_from(number).ok())
        .map(Signal::new)
        .ok_or("no signal")
}

/// The number and the process of `W` and `X`.
fn ended(text: &[u8]) -> Result<(&[u8], Option<u64>), &'static str> {
    let (number, rest) = split(text, b';');
    let mut process = None;
    // lldb-server adds `description:`.
    for pair in rest.unwrap_or_default().split(|byte| *byte == b';') {
        if let Some(digits) = pair.strip_prefix(b"process:") {
            process = Some(hex::number(digits).ok_or("no process")?);
        }
    }
    Ok((number, process))
}

fn parse_stop(text: &[u8]) -> Result<Stop, &'static str> {
    let (digits, pairs) = text.split_at_checked(2).ok_or("no signal")?;
    let mut stop = Stop {
        signal: signal(digits)?,
        thread: None,
        core: None,
        reason: None,
        registers: Vec::new(),
        other: Vec::new(),
    };
    let pairs = pairs
        .split(|byte| *byte == b';')
        .filter(|pair| !pair.is_empty());
    for (count, pair) in pairs.enumerate() {
        if count == MAX_PAIRS {
            return Err("too many pairs");
        }
        let (key, value) = split(pair, b':');
        add(&mut stop, key, value.unwrap_or_default())?;
    }
    Ok(stop)
}

/// Adds a pair to a stop. Keys of digits alone are registers; unknown ones are kept, as gdb ignores them.
fn add(stop: &mut Stop, key: &[u8], value: &[u8]) -> Result<(), &'static str> {
    let address = || hex::number(value).ok_or("no address of data");
    let thread = || ThreadId::parse(value).ok_or("no thread");
    let watchpoint = |access| address().map(|address| Reason::Watchpoint { access, address });
    let reason = match key {
        b"thread" => {
            stop.thread = Some(thread()?);
            return Ok(());
        }
        b"core" => {
            stop.core = Some(hex::number(value).ok_or("no core")?);
            return Ok(());
        }
        b"swbreak" => Reason::SoftwareBreakpoint,
        b"hwbreak" => Reason::HardwareBreakpoint,
        b"watch" => watchpoint(Access::Write)?,
        b"rwatch" => watchpoint(Access::Read)?,
        b"awatch" => watchpoint(Access::ReadOrWrite)?,
        b"library" => Reason::Libraries,
        b"fork" => Reason::Fork(thread()?),
        b"vfork" => Reason::Vfork(thread()?),
        b"vforkdone" => Reason::VforkDone,
        b"exec" => Reason::Exec(hex::decode(value).ok_or("no path")?),
        b"create" => Reason::Create,
        b"replaylog" => match value {
            b"begin" => Reason::ReplayBegin,
            b"end" => Reason::ReplayEnd,
            _ => return Err("no end of a recording"),
        },
        b"syscall_entry" => Reason::SyscallEntry(hex::number(value).ok_or("no system call")?),
        b"syscall_return" => Reason::SyscallReturn(hex::number(value).ok_or("no system call")?),
        _ => {
            match hex::number(key) {
                Some(number) => {
                    let bytes = hex::decode_available(value).ok_or("no register's value")?;
                    stop.registers.push((number, bytes));
                }
                None => {
                    let key = String::from_utf8_lossy(key).into_owned();
                    stop.other.push((key, value.to_vec()));
                }
            }
            return Ok(());
        }
    };
    stop.reason = Some(reason);
    Ok(())
}

#[cfg(test)]
mod tests;
