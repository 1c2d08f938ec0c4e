//! The connection to a stub with what is known of its threads: packets become events, and wishes become packets.

mod accesses;
mod ahead;
mod backwards;
mod breakpoints;
mod insertion;
mod registers;
mod software_steps;
mod stepping_over;

use ahead::Asked;
pub(super) use insertion::Insertion;

use super::console::Console;
use super::files::Files;
use super::findings::Findings;
use super::memory::Blocks;
use super::registers::Layout;
use super::schedule::Schedule;
use super::threads::Ids;
use super::watchpoints::Watchpoints;
use crate::ThreadId;
use crate::exit_status::ExitStatus;
use crate::process::Resume as How;
use crate::wait_event::{WaitEvent, What};
use dapple_arch::InstructionSet;
use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::features::Feature;
use dapple_gdb_remote::resume::{Action, Resume};
use dapple_gdb_remote::signal::Signal;
use dapple_gdb_remote::stop_reply::{Reason, Stop, StopReply};
use dapple_gdb_remote::thread_id::ThreadId as StubThread;
use dapple_gdb_remote::{Client, Error};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The codes (`si_code`, sigaction(2)) by which the engine tells why a thread has trapped.
pub(super) mod code {
    /// An inserted breakpoint instruction was executed (`SI_KERNEL`).
    pub(in crate::remote) const BREAKPOINT: i32 = 0x80;
    /// `TRAP_BRKPT`: a trap instruction of the program's own was executed.
    pub(in crate::remote) const OWN: i32 = 1;
    /// `TRAP_TRACE`: a step has ended.
    pub(in crate::remote) const STEP: i32 = 2;
    /// `TRAP_HWBKPT`: a debug register has matched.
    pub(in crate::remote) const WATCHPOINT: i32 = 4;
}

/// Why a thread has stopped last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cause {
    /// A signal that would be delivered; 0: none.
    pub(super) signal: i32,
    /// For SIGTRAP: one of [`code`], or 0 if it is not known.
    pub(super) code: i32,
    /// The debug registers that have matched, as their status has them.
    pub(super) hits: u64,
}

/// The connection, and the state of what is behind it.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) client: Client,
    pub(super) schedule: Schedule,
    pub(super) ids: Ids,
    pub(super) process: ThreadId,
    pub(super) layout: Layout,
    pub(super) blocks: Blocks,
    pub(super) files: Files,
    pub(super) watchpoints: Watchpoints,
    pub(super) findings: Findings,
    /// The threads' registers that were read since threads ran.
    registers: BTreeMap<ThreadId, registers::Known>,
    causes: BTreeMap<ThreadId, Cause>,
    /// How many bytes the packet with all registers has.
    reach: usize,
    asked: Asked,
    stepping_over: stepping_over::SteppingOver,
    software_steps: software_steps::SoftwareSteps,
    /// The stub has no packet that writes one register.
    lacks_single_registers: bool,
    /// Where breakpoints are inserted, each with the code of its condition; empty: it has none.
    breakpoints: BTreeMap<u64, Vec<u8>>,
    pub(super) insertion: Insertion,
    /// By which instruction set the code at places of breakpoints is decoded, if the engine has told.
    pub(super) instruction_sets: BTreeMap<u64, InstructionSet>,
    /// Those that were removed, and that the stub still has.
    removed: BTreeMap<u64, Vec<u8>>,
    /// The thread whose vfork child uses the process's memory: breakpoints are taken out meanwhile, and no other thread runs.
    vforked: Option<ThreadId>,
    /// Threads that are resumed run backwards.
    pub(super) backwards: bool,
    /// The stub was asked to interrupt the process, and hasn't answered by a stop.
    interrupting: bool,
    /// How many interrupts weren't answered, because other stops have come first: their stops may come when the process runs again.
    owed: u32,
    /// At how many stops these are still looked for.
    awaited: u32,
    /// The process that sends the signal of an interrupt, as far as the stub has told it.
    sender: Option<i32>,
    /// A signal to deliver to any thread that runs.
    pub(super) to_deliver: i32,
    /// Counts what may have changed memory.
    pub(super) changes: u64,
    /// What the process writes by way of the stub.
    pub(super) console: Console,
    /// The program's file on this machine, if the user has named it.
    pub(super) program: Option<PathBuf>,
    /// When the threads were listed last: the number of changes.
    listed: u64,
    /// Why the connection is of no use any more.
    pub(super) lost: Option<String>,
}

impl Link {
    pub(super) fn new(
        client: Client,
        process: ThreadId,
        ids: Ids,
        layout: Layout,
        blocks: Blocks,
        files: Files,
        console: Console,
    ) -> Link {
        Link {
            schedule: Schedule::at_rest(ids.all()),
            client,
            ids,
            process,
            layout,
            blocks,
            files,
            watchpoints: Watchpoints::default(),
            findings: Findings::default(),
            registers: BTreeMap::new(),
            causes: BTreeMap::new(),
            asked: Asked::default(),
            stepping_over: stepping_over::SteppingOver::default(),
            software_steps: software_steps::SoftwareSteps::default(),
            breakpoints: BTreeMap::new(),
            insertion: Insertion::default(),
            instruction_sets: BTreeMap::new(),
            removed: BTreeMap::new(),
            vforked: None,
            backwards: false,
            interrupting: false,
            owed: 0,
            awaited: 0,
            sender: None,
            to_deliver: 0,
            changes: 1,
            console,
            reach: 0,
            lacks_single_registers: false,
            program: None,
            listed: 1,
            lost: None,
        }
    }

    /// Judges what a packet has brought: an error that ends the connection is noted.
    pub(super) fn noted<T>(&mut self, result: Result<T, Error>) -> io::Result<T> {
        result.map_err(|error| {
            let is_of_stub = matches!(error, Error::Stub { .. } | Error::NotSupported { .. });
            if !is_of_stub && self.lost.is_none() {
                self.lost = Some(error.to_string());
            }
            io::Error::other(error.to_string())
        })
    }

    /// Fails while threads run or after the connection was lost, when no packet may be sent.
    pub(super) fn require_rest(&self) -> io::Result<()> {
        match &self.lost {
            Some(why) => Err(io::Error::other(why.clone())),
            None if self.schedule.is_running() => Err(io::Error::other("the process runs")),
            None => Ok(()),
        }
    }

    /// Whether what runs may be a recording, which nothing may be changed in.
    pub(super) fn replays(&self) -> bool {
        let features = self.client.features();
        features.has(Feature::ReverseContinue) || features.has(Feature::ReverseStep)
    }

    // Running.

    /// Sends what threads are to do, if one is to run and none does.
    pub(super) fn run(&mut self) -> io::Result<()> {
        let mut wishes = self.schedule.wishes();
        if wishes.is_empty() {
            return Ok(());
        }
        self.require_rest()?;
        if self.backwards {
            return self.run_backwards(&wishes);
        }
        if let Some(vforked) = self.vforked {
            match wishes.iter().any(|(thread, ..)| *thread == vforked) {
                true => wishes.retain(|(thread, ..)| *thread == vforked),
                false => self.put_breakpoints_back(),
            }
        }
        let leads_past = self.leads_past(&mut wishes);
        let names_all = self.schedule.has_resting() || self.vforked.is_some() || leads_past;
        let begun = self.begin_software_steps(&mut wishes);
        begun.inspect_err(|_| {
            self.remove_breakpoints_of_steps();
        })?;
        if !self.steps_over_breakpoint(&wishes) {
            self.send_all_removed();
        }
        let resumptions = self.resumptions(&wishes, names_all);
        self.forget();
        for (thread, ..) in &wishes {
            self.causes.remove(thread);
        }
        let resumed = self.client.resume(&resumptions);
        resumed.or_else(|error| self.unresumed(&error))?;
        self.schedule
            .runs(wishes.iter().map(|(thread, ..)| *thread));
        Ok(())
    }

    /// The packets' words for wishes. `names_all`: threads that only run on are named, because others stay.
    fn resumptions(&mut self, wishes: &[(ThreadId, How, i32)], names_all: bool) -> Vec<Resume> {
        let mut deliver = std::mem::take(&mut self.to_deliver);
        let mut resumptions = Vec::new();
        let mut others = false;
        for (thread, how, signal) in wishes {
            let signal = match signal {
                0 => std::mem::take(&mut deliver),
                signal => *signal,
            };
            let stub = self.ids.stub(*thread);
            let signal = self.to_stub(signal);
            let action = match (how, signal) {
                (How::Step, None) => Action::Step,
                (How::Step, Some(signal)) => Action::StepWith(signal),
                (_, None) if !names_all => {
                    others = true;
                    continue;
                }
                (_, None) => Action::Continue,
                (_, Some(signal)) => Action::ContinueWith(signal),
            };
            let threads = stub
                .or(Some(StubThread::ALL))
                .filter(|_| self.ids.are_named());
            resumptions.push(Resume { action, threads });
        }
        if others {
            resumptions.push(Resume {
                action: Action::Continue,
                threads: None,
            });
        }
        resumptions
    }

    fn to_stub(&self, signal: i32) -> Option<Signal> {
        match signal {
            0 => None,
            _ if self.client.features().has(Feature::NativeSignals) => {
                u8::try_from(signal).ok().map(Signal::new)
            }
            _ => Some(Signal::from_linux(signal)).filter(|it| *it != Signal::None),
        }
    }

    fn of_stub(&self, signal: Signal) -> i32 {
        match self.client.features().has(Feature::NativeSignals) {
            true => i32::from(signal.number()),
            false => signal.linux().unwrap_or(0),
        }
    }

    /// Threads may run: what was read of them is no longer so.
    pub(super) fn forget(&mut self) {
        self.registers.clear();
        self.blocks.forget();
        self.findings.forget();
        self.changes += 1;
    }

    /// Asks the stub to stop the process, once.
    pub(super) fn interrupt(&mut self) {
        if self.schedule.is_running() && !self.interrupting {
            self.interrupting = true;
            self.client.handle().interrupt();
        }
    }

    /// Whether the stub was asked to stop the process, and hasn't yet.
    pub(super) fn is_interrupting(&self) -> bool {
        self.interrupting && self.schedule.is_running()
    }

    /// The stub doesn't stop the process: nothing can be done with it any more.
    pub(super) fn give_up<T>(&mut self) -> io::Result<T> {
        let why = "the stub doesn't stop the process";
        self.lost = Some(why.to_owned());
        Err(io::Error::other(why))
    }

    /// Whether the process's end is not told yet, because something that it has written wasn't passed on.
    pub(super) fn is_end_held(&self) -> bool {
        self.schedule.is_empty() && self.console.is_behind()
    }

    /// Whether more is to be taken from the stub. The process's output waits for its reader, but no stop that was asked for does.
    pub(super) fn listens(&self) -> bool {
        !self.console.is_full() || self.is_interrupting()
    }

    /// Takes what the stub has sent while the process runs, without waiting. `false`: nothing has come.
    pub(super) fn receive(&mut self) -> io::Result<bool> {
        // What the engine asks at a stop, or that threads run on, follows at once.
        self.client.connection().hold_acknowledgements();
        match self.client.wait(after(Duration::ZERO)) {
            Ok(reply) => {
                if !matches!(reply, StopReply::Stopped(_)) {
                    self.acknowledge();
                }
                self.replied(reply);
                Ok(true)
            }
            Err(Error::TimedOut { .. } | Error::Cancelled { .. }) => Ok(false),
            Err(Error::NotSupported { .. }) if self.lacks_steps_after_all() => Ok(true),
            Err(error) if self.is_at_beginning(&error) => Ok(true),
            Err(error) => self.unresumed(&error),
        }
    }

    /// Acknowledges what the stub has sent, before a wait for something else than its answer. If it has closed the connection, that is noticed by what
    /// is received next, if anything is.
    pub(super) fn acknowledge(&mut self) {
        let _ = self.client.acknowledge();
    }

    /// Waits for what the stub says next of the process that it was told to run, besides output.
    fn next_reply(&mut self, longest: Duration) -> io::Result<StopReply> {
        let deadline = after(longest);
        loop {
            let reply = self.client.wait(deadline);
            match self.noted(reply)? {
                StopReply::Output(text) => self.console.take(&text),
                reply => return Ok(reply),
            }
        }
    }

    /// The stub has refused to resume threads, or its answer is none: nobody knows which run.
    fn unresumed<T>(&mut self, error: &Error) -> io::Result<T> {
        let why = self.lost.get_or_insert_with(|| error.to_string());
        Err(io::Error::other(why.clone()))
    }

    fn replied(&mut self, reply: StopReply) {
        if !matches!(
            reply,
            StopReply::Stopped(_) | StopReply::Output(_) | StopReply::FileRequest(_)
        ) {
            self.remove_breakpoints_of_steps();
        }
        match reply {
            StopReply::Stopped(stop) => self.stopped(stop),
            StopReply::Exited { status, process } => {
                // The low byte is what the parent gets.
                self.exited(process, ExitStatus::Code((status & 0xff) as i32));
            }
            StopReply::Signalled { signal, process } => {
                let signal = self.of_stub(signal);
                self.exited(process, ExitStatus::Signal(signal));
            }
            StopReply::ThreadExited { status, thread } => {
                self.schedule.stopped(None);
                if let Some(thread) = self.ids.known(thread) {
                    self.ended(thread, ExitStatus::Code((status & 0xff) as i32));
                }
            }
            StopReply::NoResumed => {
                self.schedule.stopped(None);
                self.find_threads();
            }
            StopReply::Output(text) => self.console.take(&text),
            // The client has answered it.
            _ => {}
        }
    }

    fn exited(&mut self, process: Option<u64>, status: ExitStatus) {
        let own = self.ids.process();
        if process.is_some() && own.is_some() && process != own {
            // A child that the stub still had.
            return self.schedule.stopped(None);
        }
        self.schedule.process_ended(self.process, status);
    }

    fn ended(&mut self, thread: ThreadId, status: ExitStatus) {
        // The process's end follows, which is that of its first thread.
        if thread != self.process {
            self.ids.forget(thread);
            self.schedule.ended(thread, status);
        }
    }

    fn stopped(&mut self, stop: Stop) {
        self.schedule.rests();
        if self.has_stayed_at_breakpoint(&stop) && self.run().is_ok() {
            return;
        }
        self.ask_ahead(stop.thread);
        self.end_software_steps(&stop);
        /// At how many stops an interrupt that wasn't answered is looked for.
        const AWAITED: u32 = 100;
        let asked = std::mem::take(&mut self.interrupting);
        (self.owed, self.awaited) = match (asked, self.awaited) {
            (true, _) => (self.owed + 1, AWAITED),
            (false, 0) => (0, 0),
            (false, left) => (self.owed, left - 1),
        };
        let thread = match stop.thread {
            Some(thread) => self.ids.known(thread),
            None => self.sole_thread(),
        };
        let thread = match (thread, stop.thread) {
            (Some(thread), _) => thread,
            (None, Some(new)) => {
                let thread = self.ids.add(new);
                self.schedule.stopped(None);
                self.schedule.born(thread);
                if stop.reason == Some(Reason::Create) {
                    return;
                }
                thread
            }
            (None, None) => return self.schedule.stopped(None),
        };
        if self.owed > 0 && self.is_interruption(thread, &stop, asked) {
            self.owed -= 1;
            return self.schedule.stopped(None);
        }
        if self.handled(thread, &stop) {
            return;
        }
        if self.is_end_of_replay(thread, &stop) {
            return self.schedule.stopped(Some(backwards::replay_ends(thread)));
        }
        let cause = self.cause(thread, &stop);
        if cause.signal == 0 {
            // Nothing that concerns the engine: all run on.
            return self.schedule.stopped(None);
        }
        self.causes.insert(thread, cause);
        let signal = WaitEvent {
            thread,
            what: What::Signal(cause.signal),
        };
        self.schedule.stopped(Some(signal));
        self.make_access(thread, &stop);
    }

    /// Whether a stop is what stubs say after an interrupt: gdbserver and QEMU SIGINT, lldb-server SIGSTOP, others nothing or SIGTRAP. `asked`: none
    /// has come since the stub was asked; else, only signals of the stub's are meant.
    fn is_interruption(&mut self, thread: ThreadId, stop: &Stop, asked: bool) -> bool {
        if stop.reason.is_some() {
            return false;
        }
        match self.of_stub(stop.signal) {
            libc::SIGINT | libc::SIGSTOP => {
                let info = self.signal_info(thread);
                let sender = info.as_deref().and_then(sender_of);
                if asked {
                    self.sender = sender.or(self.sender);
                }
                // One typed on the process's terminal has no sender.
                info.is_none() || sender.is_some() && (asked || sender == self.sender)
            }
            0 => asked,
            libc::SIGTRAP => {
                asked && !self.schedule.steps(thread) && !self.is_at_breakpoint(thread)
            }
            _ => false,
        }
    }

    /// The only thread, or the one that the stub says it is at.
    fn sole_thread(&mut self) -> Option<ThreadId> {
        let mut all = self.schedule.threads();
        let first = all.next()?;
        if all.next().is_none() {
            return Some(first);
        }
        drop(all);
        let current = self.client.current_thread();
        let current = self.noted(current).ok().flatten()?;
        self.ids.known(current)
    }

    /// Handles stops that are no signals.
    fn handled(&mut self, thread: ThreadId, stop: &Stop) -> bool {
        match &stop.reason {
            Some(Reason::Fork(child)) => {
                self.let_child_go(*child, true);
                self.schedule.stopped(None);
            }
            Some(Reason::Vfork(child)) => {
                self.send_all_removed();
                self.lift_breakpoints();
                self.insertion.set_lifted(true);
                self.vforked = Some(thread);
                self.let_child_go(*child, false);
                self.schedule.stopped(None);
            }
            Some(Reason::VforkDone) => {
                self.put_breakpoints_back();
                self.schedule.stopped(None);
            }
            Some(Reason::Exec(_)) => {
                // The stub has none in the new program's memory.
                self.breakpoints.clear();
                self.removed.clear();
                self.insertion.forget_all();
                self.instruction_sets.clear();
                self.software_steps = software_steps::SoftwareSteps::default();
                self.watchpoints.forget();
                self.vforked = None;
                let stub = stop.thread.or_else(|| self.ids.stub(thread));
                self.ids.executed(self.process, stub);
                self.schedule.executed(self.process);
            }
            Some(Reason::Libraries | Reason::Create) => self.schedule.stopped(None),
            _ => return false,
        }
        true
    }

    /// Why a thread has stopped. A thread that has run into a breakpoint is moved back to it, if the stub hasn't done that.
    fn cause(&mut self, thread: ThreadId, stop: &Stop) -> Cause {
        let signal = self.of_stub(stop.signal);
        if let Some(Reason::Watchpoint { address, .. }) = stop.reason {
            return Cause {
                signal: libc::SIGTRAP,
                code: code::WATCHPOINT,
                hits: self.watchpoints.hits(address),
            };
        }
        if signal != libc::SIGTRAP {
            return Cause {
                signal,
                ..Cause::default()
            };
        }
        let trap = |code| Cause {
            signal: libc::SIGTRAP,
            code,
            hits: 0,
        };
        match self.take_end_of_software_step(thread) {
            Some(software_steps::End::Stepped) => return trap(code::STEP),
            Some(software_steps::End::Passing) => return Cause::default(),
            None => {}
        }
        let says_breakpoint = says_breakpoint(stop);
        if self.was_led(thread, says_breakpoint) {
            return Cause::default();
        }
        if says_breakpoint || !self.schedule.steps(thread) {
            if self.is_at_breakpoint(thread) {
                return trap(code::BREAKPOINT);
            }
            if says_breakpoint {
                return match self.leaves_own_trap(thread) {
                    true => trap(code::OWN),
                    // A breakpoint that was removed meanwhile.
                    false => Cause::default(),
                };
            }
        }
        if self.schedule.steps(thread) {
            return trap(code::STEP);
        }
        let is_finding = self.findings.ask(&mut self.client, thread);
        if self.noted(is_finding).unwrap_or(false) {
            return trap(code::OWN);
        }
        match self.signal_code(thread) {
            // A step that the engine has given up, or one of the stub's own.
            Some(code::STEP) => Cause::default(),
            // Sent by a program, as the stub says.
            Some(sent @ ..=0) => trap(sent),
            _ => trap(code::OWN),
        }
    }

    /// The code of a thread's signal (`si_code`).
    fn signal_code(&mut self, thread: ThreadId) -> Option<i32> {
        let info = self.signal_info(thread)?;
        Some(i32::from_le_bytes(*info.get(8..)?.first_chunk()?))
    }

    /// The `siginfo_t` of a thread's signal. `None`: the stub doesn't tell it.
    pub(super) fn signal_info(&mut self, thread: ThreadId) -> Option<Vec<u8>> {
        if !self.client.features().has(Feature::ReadSiginfo) {
            return None;
        }
        self.choose(thread).ok()?;
        let info = self.client.siginfo();
        self.noted(info).ok().flatten()
    }

    /// Why a thread has stopped last.
    pub(super) fn cause_of(&self, thread: ThreadId) -> Cause {
        self.causes.get(&thread).copied().unwrap_or_default()
    }

    /// Whether a thread has stopped last because its step has ended.
    pub(super) fn has_stepped(&self, thread: ThreadId) -> bool {
        self.cause_of(thread).code == code::STEP
    }

    /// The debug registers that a thread has hit, which are forgotten.
    pub(super) fn take_hits(&mut self, thread: ThreadId) -> u64 {
        let cause = self.causes.get_mut(&thread);
        cause.map_or(0, |cause| std::mem::take(&mut cause.hits))
    }

    // Threads.

    /// Looks for new threads and ended ones, of which stubs don't tell: gdbserver 13 can, but then dies at a thread's end.
    pub(super) fn find_threads(&mut self) {
        if !self.ids.are_named() || self.listed == self.changes || self.require_rest().is_err() {
            return;
        }
        self.listed = self.changes;
        self.asked.threads = true;
        let listed = self.client.threads();
        let Ok(Some(listed)) = self.noted(listed) else {
            return;
        };
        let (new, gone) = self.ids.compare(&listed);
        for thread in gone {
            self.ended(thread, ExitStatus::Code(0));
        }
        for thread in new {
            self.schedule.born(thread);
        }
    }

    /// A thread's name; empty if it has none.
    pub(super) fn thread_name(&mut self, thread: ThreadId) -> String {
        self.find_threads();
        self.ids.name_of(thread)
    }

    /// A path of this machine for one of the stub's.
    pub(super) fn visible(&mut self, path: &Path) -> PathBuf {
        let visible = self.files.visible(&mut self.client, path);
        let visible = self.noted(visible);
        visible.unwrap_or_else(|_| path.to_owned())
    }

    /// Chooses the thread that packets about registers and memory are about.
    pub(super) fn choose(&mut self, thread: ThreadId) -> io::Result<()> {
        self.require_rest()?;
        let stub = self.ids.stub(thread);
        let stub = stub.ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?;
        if !self.ids.are_named() {
            return Ok(());
        }
        let chosen = self.client.choose_thread(stub);
        let _ = self.noted(chosen)?;
        Ok(())
    }

    // Memory.

    /// Reads memory, up to where it ends. Returns how many bytes were read.
    pub(super) fn read(&mut self, address: u64, buffer: &mut [u8]) -> usize {
        if self.require_rest().is_err() {
            return 0;
        }
        let (client, lost, asked) = (&mut self.client, &mut self.lost, &mut self.asked);
        let least = self.blocks.size();
        let insertion = &mut self.insertion;
        self.blocks.read(address, buffer, |at, buffer| {
            if lost.is_some() {
                return 0;
            }
            asked.reads(at, buffer.len());
            let read = match client.read_memory(at, buffer) {
                // Some stubs read all or nothing.
                Err(Error::Stub { .. }) => shorter(client, at, buffer, least),
                read => read,
            };
            let count = read.unwrap_or_else(|error| {
                *lost = Some(error.to_string());
                0
            });
            insertion.hide(at, buffer.get_mut(..count).unwrap_or_default());
            count
        })
    }

    /// Writes memory.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.require_rest()?;
        let end = address.saturating_add(bytes.len() as u64);
        if self.removed.range(address..end).next().is_some() {
            self.send_all_removed();
        }
        let memory = self.insertion.with_traps(address, bytes);
        let written = self.write_plainly(address, &memory);
        match &written {
            Ok(()) => {
                self.insertion.written(address, bytes);
                self.blocks.written(address, bytes);
            }
            // Some of it may have been written, with trap instructions.
            Err(_) => self.blocks.forget(),
        }
        self.software_steps.code_changed();
        written
    }

    /// Writes memory, whatever breakpoints are there.
    fn write_plainly(&mut self, address: u64, bytes: &[u8]) -> io::Result<()> {
        let written = self.client.write_memory(address, bytes);
        let written = self.noted(written)?;
        self.changes += 1;
        self.blocks
            .written(address, bytes.get(..written).unwrap_or(bytes));
        match written == bytes.len() {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(libc::EFAULT)),
        }
    }
}

/// Whether the stub says that a thread is at a breakpoint.
fn says_breakpoint(stop: &Stop) -> bool {
    matches!(
        stop.reason,
        Some(Reason::SoftwareBreakpoint | Reason::HardwareBreakpoint)
    )
}

/// The process that has sent a signal, by its `siginfo_t`. `None`: none has.
fn sender_of(info: &[u8]) -> Option<i32> {
    let half = |at: usize| Some(i32::from_le_bytes(*info.get(at..)?.first_chunk()?));
    if half(8)? > 0 {
        return None;
    }
    half(16)
}

/// Reads what there is before memory ends, which is found by halves of at least `least` bytes.
fn shorter(
    client: &mut Client,
    address: u64,
    buffer: &mut [u8],
    least: usize,
) -> Result<usize, Error> {
    let mut done = 0;
    let mut size = buffer.len() / 2;
    while size >= least {
        let Some(part) = buffer.get_mut(done..done + size) else {
            break;
        };
        match client.read_memory(address.saturating_add(done as u64), part) {
            Ok(count) => done += count,
            Err(Error::Stub { .. }) => {}
            Err(error) => return Err(error),
        }
        size /= 2;
    }
    Ok(done)
}
