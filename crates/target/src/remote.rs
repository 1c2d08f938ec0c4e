//! A process behind a stub of gdb's remote protocol: gdbserver, QEMU, valgrind, a probe for a microcontroller.
//!
//! [`connect`] makes a [`RemoteProcess`], which is a [`Process`](crate::process::Process) like a live one. The protocol itself is in
//! `dapple-gdb-remote`; here is what joins it with what the engine expects of Linux's ptrace(2): threads that run and stop one by one
//! (`schedule`), registers in the kernel's layout (`registers`), memory (`memory`), watchpoints (`watchpoints`), conditions that the stub
//! evaluates (`conditions`), files (`files`) and what valgrind has found (`findings`).

mod conditions;
mod console;
mod files;
mod findings;
mod injected;
mod link;
mod memory;
mod process;
mod registers;
mod schedule;
mod symbols;
mod threads;
mod watchpoints;

pub use dapple_gdb_remote::Address as StubAddress;
pub use process::RemoteProcess;

use crate::ThreadId;
use crate::linux::wait::Waker;
use console::Console;
use dapple_gdb_remote::client::Launched;
use dapple_gdb_remote::connection::{Connection, Handle, after};
use dapple_gdb_remote::features::Feature;
use dapple_gdb_remote::stop_reply::StopReply;
use dapple_gdb_remote::{Client, Error};
use files::Files;
use link::{Insertion, Link};
use memory::{Blocks, ordinary};
use registers::Layout;
use rustix::event::Timespec;
use std::io::{self, PipeReader};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use threads::Ids;

/// How long starting a program on the stub's machine, or attaching to one there, may take.
const START: Duration = Duration::from_secs(60);

/// What becomes a process behind a stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteStart {
    /// What the stub has.
    Present,
    /// The process with this number on the stub's machine.
    Attach(u64),
    /// A program of the stub's machine, with its arguments.
    Run(PathBuf, Vec<String>),
}

/// How to get a process behind a stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteOptions {
    /// Where the stub is.
    pub address: StubAddress,
    /// What to debug.
    pub start: RemoteStart,
    /// The program's file on this machine. `None`: the stub says which it is.
    pub program: Option<PathBuf>,
    /// A folder of this machine with a copy of the other one's files.
    pub sysroot: Option<PathBuf>,
}

/// A process behind a stub, all of whose threads are stopped.
#[derive(Debug)]
pub struct Connected {
    /// The process.
    pub process: RemoteProcess,
    /// Its threads.
    pub threads: Vec<ThreadId>,
    /// The thread that has stopped.
    pub current: ThreadId,
    /// What the process writes by way of the stub.
    pub console: PipeReader,
    /// Whether the process was started for this session.
    pub of_launched: bool,
}

/// Gives up connecting to a stub, on any thread.
#[derive(Debug, Clone, Default)]
pub struct GivingUp(Arc<Mutex<GivenUp>>);

#[derive(Debug, Default)]
struct GivenUp {
    is_given_up: bool,
    /// The connection, if there is one.
    handle: Option<Handle>,
}

impl GivingUp {
    /// Ends [`connect`] with an error, now or when it begins, and the connection, if it has been made.
    pub fn give_up(&self) {
        let mut state = self.state();
        state.is_given_up = true;
        if let Some(handle) = &state.handle {
            handle.give_up();
        }
    }

    /// Whether [`GivingUp::give_up`] was called.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.state().is_given_up
    }

    fn covers(&self, connection: &Connection) {
        let handle = connection.handle();
        let mut state = self.state();
        if state.is_given_up {
            handle.give_up();
        }
        state.handle = Some(handle);
    }

    fn state(&self) -> MutexGuard<'_, GivenUp> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects to a stub. `waker` interrupts waits for the process's events.
///
/// # Errors
/// The end of a sentence that says why the process can't be debugged.
pub fn connect(
    options: &RemoteOptions,
    giving_up: &GivingUp,
    waker: Arc<Waker>,
) -> Result<Connected, String> {
    let said = |error: Error| error.to_string();
    let connection = reach(&options.address, giving_up).map_err(said)?;
    giving_up.covers(&connection);
    let mut client = Client::start(connection).map_err(said)?;
    let stop = first_stop(&mut client, &options.start)?;
    let of_launched = match (&options.start, &options.address) {
        (RemoteStart::Run(..), _) => true,
        // The stub is ours, and so is what it has started.
        (RemoteStart::Present, StubAddress::Command(_)) => {
            client.launched(None).map_err(said)? == Some(Launched::ByStub)
        }
        _ => false,
    };
    let description = client.description().map_err(said)?;
    let layout = Layout::of(description.unwrap_or_default())?;
    // Only an operating system has processes with an auxiliary vector, and no device in their memory.
    let is_hosted = client.features().has(Feature::ReadAuxv);
    if let Some(program) = options.program.as_deref().filter(|_| !is_hosted) {
        symbols::offer(&mut client, program).map_err(said)?;
    }
    let listed = client.threads().map_err(said)?.unwrap_or_default();
    let ids = Ids::new(&listed);
    let stopped = match stop {
        Some(thread) => Some(thread),
        None => client.current_thread().map_err(said)?,
    };
    let all = ids.all();
    let first = all.first().copied().unwrap_or(ThreadId(1));
    let process = ids.process().and_then(|it| i32::try_from(it).ok());
    let process = process.map(ThreadId).filter(|id| all.contains(id));
    let current = stopped.and_then(|stopped| ids.known(stopped));
    let room = client.features().packet_size() / 2;
    let map = match client.features().has(Feature::ReadMemoryMap) {
        true => client.memory_map().map_err(said)?,
        false => None,
    };
    let fixed = map.as_deref().map(memory::fixed).unwrap_or_default();
    let regions = match (map, is_hosted) {
        (Some(map), _) => Some(ordinary(&map)),
        (None, true) => None,
        (None, false) => Some(Vec::new()),
    };
    let (console, writer) = io::pipe().map_err(|error| error.to_string())?;
    let writer = Console::new(writer).map_err(|error| error.to_string())?;
    let id = process.unwrap_or(first);
    // Where whole blocks are asked for ahead, parts would save nothing.
    let blocks = Blocks::new(room, !client.sends_ahead(), regions);
    let mut link = Link::new(
        client,
        id,
        ids,
        layout,
        blocks,
        Files::new(options.sysroot.clone()),
        writer,
    );
    link.program = options.program.clone();
    link.insertion = Insertion::new(fixed);
    Ok(Connected {
        process: RemoteProcess::new(id, link, waker),
        threads: all,
        current: current.unwrap_or(id),
        console,
        of_launched,
    })
}

/// Connects to a stub. One that isn't there yet is waited for, because it may have been started together with the debugger.
fn reach(address: &StubAddress, giving_up: &GivingUp) -> Result<Connection, Error> {
    /// How long it is waited for; gdb does so for 15 seconds.
    const PATIENCE: Duration = Duration::from_secs(3);
    /// How long a connection may take.
    const CONNECT: Duration = Duration::from_secs(10);
    let begun = Instant::now();
    let mut pause = Duration::from_millis(5);
    loop {
        let error = match Connection::connect(address, CONNECT) {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        let is_absent = matches!(&error, Error::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound));
        if !is_absent || begun.elapsed() > PATIENCE || giving_up.is_given_up() {
            return Err(error);
        }
        let time = Timespec::try_from(pause).ok();
        let _ = rustix::event::poll(&mut [], time.as_ref());
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}

/// Gets a process, and returns the thread that the stub says has stopped.
fn first_stop(
    client: &mut Client,
    start: &RemoteStart,
) -> Result<Option<dapple_gdb_remote::thread_id::ThreadId>, String> {
    let said = |error: Error| error.to_string();
    let reply = match start {
        RemoteStart::Present => client.stop_reason().map_err(said)?,
        RemoteStart::Attach(process) => {
            let _ = client.extend().map_err(said)?;
            client.attach(*process, after(START)).map_err(said)?
        }
        RemoteStart::Run(program, arguments) => {
            let _ = client.extend().map_err(said)?;
            let arguments: Vec<&[u8]> = arguments.iter().map(|it| it.as_bytes()).collect();
            client
                .start_program(program.as_os_str().as_bytes(), &arguments, after(START))
                .map_err(said)?
        }
    };
    match reply {
        StopReply::Stopped(stop) => Ok(stop.thread),
        StopReply::Exited { status, .. } if *start != RemoteStart::Present => Err(format!(
            "the program has ended at once, with status {status}"
        )),
        _ => Err("the stub has no process; name one to start or to attach to".into()),
    }
}
