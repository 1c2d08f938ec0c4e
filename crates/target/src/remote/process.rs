//! What the engine asks of a process, answered by a stub.

use super::link::{Link, code};
use super::{injected, watchpoints};
use crate::linux::process::{parse_mappings, parse_own_mappings};
use crate::linux::wait::{self, Waker};
use crate::memory_map::Mapping;
use crate::process::{Peeked, Process, Resume, Waited};
use crate::signal_info::{SignalInfo, WholeSignal};
use crate::wait_event::WaitEvent;
use crate::{Address, ThreadId};
use dapple_arch::decision::Truth;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::registers::{Vectors, state};
use dapple_arch::watch_slots::{SINGLE_STEP, SLOTS, Slot};
use dapple_arch::{InstructionSet, Machine, Memory};
use dapple_gdb_remote::error::Support;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a stub may take to stop the process.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a thread may take for what the engine waits for without doing anything else, such as one step. Then it is interrupted.
const LONGEST_STEP: Duration = Duration::from_secs(20);

/// How much of what the stub has sent is taken before it is looked at what else there is to do.
const MOST_AT_ONCE: usize = 1000;

/// What could be done without waiting.
enum Ready<T> {
    /// An event, or that there is nothing to wait for.
    Done(Waited<T>),
    /// The stub has said nothing more.
    Later,
    /// The stub has said more than was taken.
    Again,
}

/// Why the process can't be reached any more. One that has ended needn't be.
fn lost(link: &Link) -> Option<String> {
    link.lost.clone().filter(|_| !link.schedule.is_empty())
}

/// A process behind a stub.
#[derive(Debug)]
pub struct RemoteProcess {
    id: ThreadId,
    machine: Machine,
    link: Arc<Mutex<Link>>,
    waker: Arc<Waker>,
    /// Since when the stub has been asked to stop the process.
    asked: Mutex<Option<Instant>>,
}

/// Why something can't be done for a process behind a stub.
fn not_by_stub<T>(what: &str) -> io::Result<T> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!("the remote protocol can't {what}"),
    ))
}

impl RemoteProcess {
    pub(super) fn new(id: ThreadId, link: Link, waker: Arc<Waker>) -> RemoteProcess {
        RemoteProcess {
            id,
            machine: link.layout.machine(),
            link: Arc::new(Mutex::new(link)),
            waker,
            asked: Mutex::default(),
        }
    }

    pub(super) fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the stub may still take to stop the process, which it was asked to. `None`: it wasn't.
    fn patience(&self, link: &Link) -> Option<Duration> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        match link.is_interrupting() {
            true => Some(PATIENCE.saturating_sub(asked.get_or_insert_with(Instant::now).elapsed())),
            false => {
                *asked = None;
                None
            }
        }
    }

    /// Does what can be done without waiting. `outputs`: the process's output is read meanwhile, so what comes waits for that.
    fn ready<T>(
        &self,
        link: &mut Link,
        outputs: bool,
        mut take: impl FnMut(&mut Link) -> Option<T>,
    ) -> io::Result<Ready<T>> {
        for _ in 0..MOST_AT_ONCE {
            link.console.pass_on();
            // Threads that stop without a packet would do so for ever. Only the process's end is still told.
            if let Some(why) = lost(link) {
                return Err(io::Error::other(why));
            }
            let is_held = outputs && link.is_end_held();
            if !is_held && let Some(event) = take(link) {
                return Ok(Ready::Done(Waited::Event(event)));
            }
            if let Some(why) = &link.lost {
                return Err(io::Error::other(why.clone()));
            }
            if is_held {
                return Ok(Ready::Later);
            }
            if link.schedule.is_empty() {
                return Ok(Ready::Done(Waited::NoThreads));
            }
            link.run()?;
            if link.schedule.needs_interrupt() {
                link.interrupt();
            }
            if outputs && !link.listens() || !link.receive()? {
                return Ok(Ready::Later);
            }
        }
        Ok(Ready::Again)
    }

    /// Waits for an event. The process's end comes when all that it has written was passed on, so that whoever reads that isn't cut off.
    fn wait<T>(&self, mut take: impl FnMut(&mut Link) -> Option<T>) -> io::Result<Waited<T>> {
        loop {
            let mut link = self.link();
            let is_busy = match self.ready(&mut link, true, &mut take)? {
                Ready::Done(result) => return Ok(result),
                Ready::Later => false,
                Ready::Again => true,
            };
            let patience = self.patience(&link);
            let listens = link.listens() && !link.is_end_held();
            link.acknowledge();
            let Link {
                client, console, ..
            } = &mut *link;
            if listens && !is_busy && client.connection().await_soon() {
                continue;
            }
            let input = Some(client.connection().input()).filter(|_| listens);
            let output = Some(console.output()).filter(|_| console.is_behind());
            let time = patience.filter(|_| !is_busy);
            let time = time.or(is_busy.then_some(Duration::ZERO));
            match wait::until_ready(&self.waker, input, output, time)? {
                Waited::Woken => return Ok(Waited::Woken),
                Waited::Event(false) if !is_busy => return link.give_up(),
                _ if is_busy && patience.is_some_and(|left| left.is_zero()) => {
                    return link.give_up();
                }
                _ => {}
            }
        }
    }

    /// As [`RemoteProcess::wait`], but nothing ends the wait but an event, the connection's end or the stub's taking too long.
    fn wait_alone<T>(&self, mut take: impl FnMut(&mut Link) -> Option<T>) -> Option<T> {
        let begun = Instant::now();
        loop {
            let mut link = self.link();
            let is_busy = match self.ready(&mut link, false, &mut take).ok()? {
                Ready::Done(Waited::Event(event)) => return Some(event),
                Ready::Done(_) => return None,
                Ready::Later => false,
                Ready::Again => true,
            };
            let patience = self.patience(&link);
            let left = patience.unwrap_or_else(|| LONGEST_STEP.saturating_sub(begun.elapsed()));
            if is_busy && !left.is_zero() {
                continue;
            }
            link.acknowledge();
            let left = Timespec::try_from(left).ok();
            let input = link.client.connection().input();
            let mut polled = [PollFd::from_borrowed_fd(input, PollFlags::IN)];
            let polled = match is_busy {
                true => Ok(0),
                false => poll(&mut polled, left.as_ref()),
            };
            match polled {
                Ok(0) if patience.is_some() => return link.give_up::<T>().ok().and(None),
                Ok(0) => link.interrupt(),
                _ => {}
            }
        }
    }

    /// Stops the process, if it runs, for a packet that can't be sent otherwise.
    fn halt(&self) {
        if self.link().schedule.is_running() {
            self.link().interrupt();
            // Events stay for whoever waits for them.
            self.wait_alone(|link| (!link.schedule.is_running()).then_some(()));
        }
    }

    fn kill(&self) -> io::Result<()> {
        self.halt();
        let mut link = self.link();
        link.console.drop_kept();
        let killed = match link.lost.clone() {
            Some(why) => Err(io::Error::other(why)),
            None => {
                let process = link.ids.process();
                let killed = link.client.kill(process);
                link.noted(killed)
            }
        };
        let id = link.process;
        link.schedule
            .process_ended(id, crate::exit_status::ExitStatus::Signal(libc::SIGKILL));
        killed
    }

    /// A file of the stub's `/proc` for this process.
    pub(super) fn proc_file(&self, name: &str) -> Option<Vec<u8>> {
        let mut link = self.link();
        link.require_rest().ok()?;
        let path = format!("/proc/{}/{name}", link.ids.process()?);
        let Link { client, files, .. } = &mut *link;
        let whole = files.whole(client, &path);
        link.noted(whole).ok().flatten()
    }

    /// A mask of signals from the stub's `/proc`.
    fn signals(&self, file: &str, mask: &str) -> Option<u64> {
        let status = self.proc_file(file)?;
        let status = String::from_utf8_lossy(&status);
        let mut lines = status.lines();
        let mask = lines.find_map(|line| line.strip_prefix(mask))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    }

    fn has_signal(&self, mask: &str, signal: i32) -> bool {
        let mask = self.signals("status", mask).unwrap_or(0);
        (1..=64).contains(&signal) && mask >> (signal - 1) & 1 == 1
    }
}

impl Memory for RemoteProcess {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        let wanted = buffer.len();
        let count = self.read_some(address, buffer);
        match count < wanted {
            true => Err(Address(address.0.wrapping_add(count as u64))),
            false => Ok(()),
        }
    }

    fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
        self.link().read(address.0, buffer)
    }

    fn address_size(&self) -> u64 {
        self.machine.address_size()
    }
}

impl Process for RemoteProcess {
    fn id(&self) -> ThreadId {
        self.id
    }

    fn machine(&self) -> Machine {
        self.machine
    }

    fn is_local(&self) -> bool {
        false
    }

    fn reopen(&self, id: ThreadId) -> io::Result<Arc<dyn Process>> {
        Ok(Arc::new(RemoteProcess {
            id,
            machine: self.machine,
            link: Arc::clone(&self.link),
            waker: Arc::clone(&self.waker),
            asked: Mutex::default(),
        }))
    }

    fn next_event(&self, thread: Option<ThreadId>) -> io::Result<Waited<WaitEvent>> {
        self.wait(|link| link.schedule.take_event(thread))
    }

    fn peek_event(&self, thread: Option<ThreadId>) -> io::Result<Waited<Peeked>> {
        self.wait(|link| link.schedule.event(thread).map(peeked))
    }

    fn take_event(&self, thread: ThreadId) -> Option<WaitEvent> {
        self.link().schedule.take_event(Some(thread))
    }

    fn find_threads(&self) -> Vec<WaitEvent> {
        let mut link = self.link();
        link.find_threads();
        std::iter::from_fn(|| link.schedule.take_event(None)).collect()
    }

    fn monitor(&self, command: &str) -> Result<String, String> {
        let mut link = self.link();
        link.require_rest().map_err(|error| error.to_string())?;
        let answer = link.client.monitor(command.as_bytes());
        let answer = link.noted(answer).map_err(|error| error.to_string())?;
        link.forget();
        match answer {
            Some(text) => Ok(String::from_utf8_lossy(&text).into_owned()),
            None => Err("the stub has no commands of its own".into()),
        }
    }

    fn finding(&self, thread: ThreadId) -> Option<String> {
        self.link().findings.of(thread)
    }

    fn runs_backwards(&self) -> bool {
        self.link().can_run_backwards()
    }

    fn set_backwards(&self, backwards: bool) {
        self.link().backwards = backwards;
    }

    fn step_once(&self, thread: ThreadId, backwards: bool) -> io::Result<()> {
        self.link().step_once(thread, backwards)
    }

    fn has_event(&self) -> bool {
        let mut link = self.link();
        let listens = link.schedule.is_running() && link.listens();
        let _ = listens && link.receive().unwrap_or(false);
        link.schedule.event(None).is_some()
    }

    fn pending_event(&self) -> Option<WaitEvent> {
        let is_there = self.has_event();
        let mut link = self.link();
        match is_there && !link.is_end_held() {
            true => link.schedule.take_event(None),
            false => None,
        }
    }

    fn event_of(&self, thread: ThreadId) -> Option<WaitEvent> {
        self.wait_alone(|link| match link.schedule.has_thread_or_event(thread) {
            true => link.schedule.take_event(Some(thread)).map(Some),
            false => Some(None),
        })?
    }

    fn peek_event_of(&self, thread: ThreadId) -> Option<Peeked> {
        let event = self.wait_alone(|link| match link.schedule.has_thread_or_event(thread) {
            true => link.schedule.event(Some(thread)).map(Some),
            false => Some(None),
        })?;
        event.map(peeked)
    }

    fn wait_until_stopped(&self, thread: ThreadId) -> bool {
        self.event_of(thread).is_some() && self.link().schedule.has(thread)
    }

    fn resume(&self, thread: ThreadId, how: Resume, signal: i32) -> io::Result<()> {
        match self.link().schedule.resume(thread, how, signal) {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    }

    fn interrupt(&self, thread: ThreadId) -> io::Result<()> {
        match self.link().schedule.interrupt(thread) {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    }

    fn stay_in_group_stop(&self, _thread: ThreadId) -> io::Result<()> {
        not_by_stub("leave a thread in a group stop")
    }

    fn is_stopped(&self, thread: ThreadId) -> bool {
        self.link().schedule.is_stopped(thread)
    }

    fn prepare_detach(&self, _thread: ThreadId) -> io::Result<()> {
        Ok(())
    }

    fn detach(&self, _thread: ThreadId, _signal: i32) -> io::Result<()> {
        let mut link = self.link();
        link.require_rest()?;
        if link.schedule.is_empty() {
            // With another of its threads.
            return Ok(());
        }
        link.send_all_removed();
        link.schedule = super::schedule::Schedule::default();
        link.console.drop_kept();
        let process = link.ids.process();
        let detached = link.client.detach(process);
        match link.noted(detached)? {
            Support::Done => Ok(()),
            Support::NotSupported => not_by_stub("detach"),
        }
    }

    fn kill_after_failure(&self) {
        let _ = self.kill();
    }

    fn signal(&self, _process: ThreadId, signal: i32) -> io::Result<()> {
        if signal == libc::SIGKILL {
            return self.kill();
        }
        self.halt();
        let mut link = self.link();
        link.require_rest()?;
        link.to_deliver = signal;
        Ok(())
    }

    fn signal_info(&self, thread: ThreadId) -> io::Result<SignalInfo> {
        let mut link = self.link();
        let cause = link.cause_of(thread);
        let known = SignalInfo {
            number: cause.signal,
            code: cause.code,
            ..SignalInfo::default()
        };
        if cause.signal == libc::SIGTRAP {
            return Ok(known);
        }
        let Some(bytes) = link.signal_info(thread) else {
            return Ok(SignalInfo {
                code: code::BREAKPOINT,
                ..known
            });
        };
        let half = |at: usize| match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) => i32::from_le_bytes(*bytes),
            None => 0,
        };
        Ok(SignalInfo {
            code: half(8),
            address: u64::from(half(16).cast_unsigned())
                | u64::from(half(20).cast_unsigned()) << 32,
            sender: half(16),
            status: half(24),
            system_call: half(24),
            ..known
        })
    }

    fn whole_signal(&self, thread: ThreadId) -> io::Result<WholeSignal> {
        let bytes = self.link().signal_info(thread).unwrap_or_default();
        let words = WholeSignal::from_bytes(&bytes);
        words.map_or_else(|| not_by_stub("give a signal with all its data"), Ok)
    }

    fn set_whole_signal(&self, thread: ThreadId, signal: &WholeSignal) -> io::Result<()> {
        let mut link = self.link();
        link.choose(thread)?;
        let written = link.client.write_siginfo(&signal.to_bytes());
        match link.noted(written)? {
            Support::Done => Ok(()),
            Support::NotSupported => not_by_stub("change a signal"),
        }
    }

    fn set_fault_address(&self, thread: ThreadId, address: Address) -> io::Result<()> {
        let mut signal = self.whole_signal(thread)?;
        signal.set_fault_address(address);
        self.set_whole_signal(thread, &signal)
    }

    fn hand_back_signal(&self, _thread: ThreadId, signal: i32) {
        self.link().to_deliver = signal;
    }

    fn is_before_signal(&self, thread: ThreadId) -> bool {
        let link = self.link();
        link.schedule.is_stopped(thread) && link.cause_of(thread).signal != 0
    }

    fn is_within_system_call(&self, _thread: ThreadId) -> bool {
        false
    }

    fn signal_mask(&self, thread: ThreadId) -> io::Result<u64> {
        let mask = self.signals(&format!("task/{thread}/status"), "SigBlk:");
        mask.map_or_else(|| not_by_stub("tell which signals a thread blocks"), Ok)
    }

    fn set_signal_mask(&self, _thread: ThreadId, _mask: u64) -> io::Result<()> {
        not_by_stub("change which signals a thread blocks")
    }

    fn catches(&self, signal: i32) -> bool {
        self.has_signal("SigCgt:", signal)
    }

    fn ignores(&self, signal: i32) -> bool {
        self.has_signal("SigIgn:", signal)
    }

    fn registers(&self, thread: ThreadId) -> io::Result<UserRegisters> {
        self.link().general(thread)
    }

    fn set_registers(&self, thread: ThreadId, registers: &UserRegisters) -> io::Result<()> {
        self.link().set_general(thread, registers)
    }

    fn vectors(&self, thread: ThreadId) -> io::Result<Vectors> {
        let state = self.extended_state(thread)?;
        let vectors = state::vectors(self.machine(), &state);
        vectors.map_or_else(|| not_by_stub("read vector registers"), Ok)
    }

    fn set_vectors(&self, thread: ThreadId, vectors: &Vectors) -> io::Result<()> {
        let mut state = self.extended_state(thread)?;
        state::set_vectors(self.machine(), &mut state, vectors);
        self.set_extended_state(thread, &state)
    }

    fn x87_top(&self, thread: ThreadId) -> io::Result<[u8; 10]> {
        use dapple_arch::registers::extended::x87_top;
        let state = match self.machine {
            Machine::X86_64 => self.extended_state(thread)?,
            _ => return not_by_stub("read registers that the processor doesn't have"),
        };
        x87_top(&state).map_or_else(|| not_by_stub("read x87 registers"), Ok)
    }

    fn extended_state(&self, thread: ThreadId) -> io::Result<Vec<u8>> {
        self.link().extended(thread)
    }

    fn set_extended_state(&self, thread: ThreadId, state: &[u8]) -> io::Result<()> {
        self.link().set_extended(thread, state)
    }

    fn set_watch_slots(&self, _thread: ThreadId, slots: &[Option<Slot>; SLOTS]) -> io::Result<()> {
        let mut link = self.link();
        let (gone, new) = link.watchpoints.changes(slots);
        if gone.is_empty() && new.is_empty() {
            return Ok(());
        }
        link.require_rest()?;
        for slot in gone {
            let removed =
                link.client
                    .remove_breakpoint(watchpoints::kind(&slot), slot.address, slot.length);
            let _ = link.noted(removed)?;
        }
        let mut set = *slots;
        let mut failed = Ok(());
        for (index, slot) in new {
            let kind = watchpoints::kind(&slot);
            let inserted = link
                .client
                .insert_breakpoint(kind, slot.address, slot.length);
            match link.noted(inserted) {
                Ok(Support::Done) => {}
                Ok(Support::NotSupported) => {
                    set[index] = None;
                    failed = not_by_stub("watch data with this stub");
                }
                Err(error) => {
                    set[index] = None;
                    failed = Err(error);
                }
            }
        }
        link.watchpoints.set(&set);
        failed
    }

    fn take_watch_status(&self, thread: ThreadId) -> io::Result<u64> {
        let mut link = self.link();
        let hits = link.take_hits(thread);
        Ok(match link.cause_of(thread).code {
            code::STEP => hits | SINGLE_STEP,
            _ => hits,
        })
    }

    fn is_copy(&self) -> bool {
        false
    }

    fn position(&self) -> Option<usize> {
        None
    }

    fn replay_until(&self, _position: usize, _last: Option<ThreadId>) {}

    fn parted(&self) -> Option<String> {
        None
    }

    fn has_shadow_stack(&self, thread: ThreadId) -> bool {
        // As for a process of this machine: "x86_Thread_features: shstk wrss".
        let status = self.proc_file(&format!("task/{thread}/status"));
        let status = status.unwrap_or_default();
        let status = String::from_utf8_lossy(&status);
        let features = status.lines();
        let mut features = features.filter(|line| line.starts_with("x86_Thread_features:"));
        features.any(|line| line.split_whitespace().any(|word| word == "shstk"))
    }

    fn map_code(
        &self,
        thread: ThreadId,
        address: Address,
        size: u64,
        call: Option<Address>,
    ) -> Result<(), String> {
        match self.machine {
            Machine::X86_64 => injected::map_code(self, thread, address, size, call),
            machine => Err(format!(
                "memory can't be mapped on {} behind a stub",
                machine.name()
            )),
        }
    }

    fn share(
        &self,
        _thread: ThreadId,
        _size: u64,
        _call: Option<Address>,
    ) -> Result<(Address, File), String> {
        Err("memory can't be shared with a process behind a stub".into())
    }

    fn write(&self, address: Address, bytes: &[u8]) -> io::Result<()> {
        self.link().write(address.0, bytes)
    }

    fn hides_breakpoints(&self) -> bool {
        true
    }

    fn moves_back(&self) -> bool {
        true
    }

    fn lost(&self) -> Option<String> {
        lost(&self.link())
    }

    fn set_instruction_set(&self, address: Address, set: InstructionSet) {
        self.link().instruction_sets.insert(address.0, set);
    }

    fn insert_breakpoint(&self, address: Address) -> io::Result<()> {
        self.link().insert_breakpoint(address.0)
    }

    fn remove_breakpoint(&self, address: Address, _original: u8) -> io::Result<()> {
        self.link().remove_breakpoint(address.0)
    }

    fn has_breakpoint(&self, address: Address) -> bool {
        self.link().has_breakpoint(address.0)
    }

    fn decides_conditions(&self) -> bool {
        self.link().decides_conditions()
    }

    fn set_condition(&self, address: Address, condition: Option<&Truth>) -> Result<(), String> {
        self.link().set_condition(address.0, condition)
    }

    fn has_condition(&self, address: Address) -> bool {
        self.link().has_condition(address.0)
    }

    fn changes(&self) -> u64 {
        self.link().changes
    }

    fn mappings(&self) -> Vec<Mapping> {
        parse_mappings(&self.proc_file("maps").unwrap_or_default())
    }

    fn own_mappings(&self) -> io::Result<BTreeSet<u64>> {
        match self.proc_file("smaps") {
            Some(maps) => Ok(parse_own_mappings(&maps)),
            None => not_by_stub("tell which memory is the process's own"),
        }
    }

    fn auxiliary_bytes(&self) -> io::Result<Vec<u8>> {
        let mut link = self.link();
        link.require_rest()?;
        let vector = link.client.auxv();
        Ok(link.noted(vector)?.unwrap_or_default())
    }

    fn executable(&self) -> PathBuf {
        let mut link = self.link();
        if let Some(program) = &link.program {
            return program.clone();
        }
        if link.require_rest().is_err() {
            return PathBuf::new();
        }
        let process = link.ids.process();
        let path = link.client.exec_file(process);
        let path = link.noted(path).ok().flatten().unwrap_or_default();
        let path = PathBuf::from(OsString::from_vec(path));
        match path.as_os_str().is_empty() {
            true => path,
            false => link.visible(&path),
        }
    }

    fn running_executable(&self) -> PathBuf {
        self.executable()
    }

    fn visible(&self, path: &Path) -> PathBuf {
        let mut link = self.link();
        match link.require_rest() {
            Ok(()) => link.visible(path),
            Err(_) => path.to_owned(),
        }
    }

    fn command_line(&self) -> String {
        let words = self.proc_file("cmdline").unwrap_or_default();
        let words = words.split(|byte| *byte == 0).filter(|it| !it.is_empty());
        let words: Vec<_> = words.map(String::from_utf8_lossy).collect();
        words.join(" ")
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        self.link().thread_name(thread)
    }
}

fn peeked(event: WaitEvent) -> Peeked {
    Peeked {
        thread: event.thread,
        is_trap: false,
    }
}
