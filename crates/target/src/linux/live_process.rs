//! A live process on this machine, controlled by ptrace(2) and read through `/proc`.

use super::checkpoint::Checkpoint;
use super::memory::ProcessMemory;
use super::recording::journal::TurnEnd;
use super::recording::{Recorder, Replayer, Together, Tried};
use super::wait::{self, Waker};
use super::{attach, debug_registers, injected, process, ptrace};
use crate::memory_map::Mapping;
use crate::process::{Peeked, Process, Resume, Waited};
use crate::signal_info::{SignalInfo, WholeSignal};
use crate::wait_event::WaitEvent;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use dapple_arch::registers::Vectors;
use dapple_arch::registers::state::{narrowed, widened};
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::watch_slots::{SINGLE_STEP, SLOTS, Slot};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A process that this thread traces; or a copy of one, which stands for it under its ids ([`LiveProcess::replayed`]).
#[derive(Debug)]
pub struct LiveProcess {
    id: ThreadId,
    memory: ProcessMemory,
    waker: Arc<Waker>,
    role: Role,
    /// An event that was looked at and needs no wait, until it is taken.
    peeked: Mutex<Option<WaitEvent>>,
}

/// Whether a process is recorded or replayed.
#[derive(Debug)]
enum Role {
    Free,
    Recorded(Box<Mutex<Recorder>>),
    /// A copy that runs as was recorded.
    Replayed(Box<Mutex<Replayer>>),
}

impl LiveProcess {
    /// The process `id`, which this thread traces already. `waker` interrupts the waits for its events.
    ///
    /// # Errors
    /// Its memory can't be opened.
    pub fn open(id: ThreadId, waker: Arc<Waker>) -> io::Result<LiveProcess> {
        Ok(LiveProcess {
            id,
            memory: ProcessMemory::open(id)?,
            waker,
            role: Role::Free,
            peeked: Mutex::default(),
        })
    }

    /// The process, to be recorded.
    #[must_use]
    pub fn recorded(mut self, recorder: Recorder) -> LiveProcess {
        self.role = Role::Recorded(Box::new(Mutex::new(recorder)));
        self
    }

    /// The process `id` as it was: a copy that is replayed. Its threads have the ids here that they had in the process.
    ///
    /// # Errors
    /// The copy's memory can't be opened.
    pub fn replayed(
        id: ThreadId,
        waker: Arc<Waker>,
        replayer: Replayer,
    ) -> io::Result<LiveProcess> {
        Ok(LiveProcess {
            id,
            memory: ProcessMemory::open(replayer.process())?,
            waker,
            role: Role::Replayed(Box::new(Mutex::new(replayer))),
            peeked: Mutex::default(),
        })
    }

    /// What records the process, if something does.
    pub fn recorder(&self) -> Option<MutexGuard<'_, Recorder>> {
        match &self.role {
            Role::Recorded(recorder) => Some(locked(recorder)),
            Role::Free | Role::Replayed(_) => None,
        }
    }

    fn replayer(&self) -> Option<MutexGuard<'_, Replayer>> {
        match &self.role {
            Role::Replayed(replayer) => Some(locked(replayer)),
            Role::Free | Role::Recorded(_) => None,
        }
    }

    /// A checkpoint of a process that is recorded or replayed, whose threads are all stopped. Its threads are named as this process's.
    ///
    /// # Errors
    /// The end of a sentence that says why none can be taken; for example, a thread is within a system call.
    pub fn checkpoint(&self) -> Result<Checkpoint, String> {
        match &self.role {
            Role::Free => Err("it is neither recorded nor replayed".into()),
            Role::Recorded(recorder) => locked(recorder).checkpoint(),
            Role::Replayed(replayer) => locked(replayer).checkpoint(),
        }
    }

    /// Something new is done in a process that is replayed, which isn't replayed any further.
    pub fn divert(&self) {
        if let Some(mut replayer) = self.replayer() {
            replayer.divert();
        }
    }

    /// What was asked for since the last time, in a process in which something new is done.
    pub fn take_tried(&self) -> Tried {
        let replayer = self.replayer();
        replayer.map_or_else(Tried::default, |mut replayer| replayer.take_tried())
    }

    /// The thread of a process that is recorded or replayed that runs its own code next, if one does.
    pub fn runner(&self) -> Option<ThreadId> {
        match &self.role {
            Role::Free => None,
            Role::Recorded(recorder) => locked(recorder).runner(),
            Role::Replayed(replayer) => locked(replayer).runner(),
        }
    }

    /// Whether a thread of a process that is recorded runs code of its own now.
    pub fn computes(&self) -> bool {
        self.recorder().is_some_and(|recorder| recorder.computes())
    }

    /// How much memory the process uses. Zeros if the system doesn't tell.
    pub fn memory_use(&self) -> process::MemoryUse {
        process::memory_use(self.actual_process()).unwrap_or_default()
    }

    /// In a copy that is replayed: where the turn of the thread that runs next ends, if that is amid its own code.
    pub fn turn_end(&self) -> Option<(ThreadId, Arc<TurnEnd>)> {
        self.replayer()?.turn_end()
    }

    /// In a copy that is replayed: whether a thread is behind a system call whose result it has yet to get.
    pub fn is_in_call(&self, thread: ThreadId) -> bool {
        self.replayer()
            .is_some_and(|replayer| replayer.is_in_call(thread))
    }

    /// In a copy that is replayed: whether a thread waits for its turn amid its own code, and may be moved to code that does the same.
    pub fn waits_amid_code(&self, thread: ThreadId) -> bool {
        self.replayer()
            .is_some_and(|replayer| replayer.waits_amid_code(thread))
    }

    /// In a copy that is replayed: whether that is yet to be reported by [`What::TurnAhead`].
    ///
    /// [`What::TurnAhead`]: crate::wait_event::What::TurnAhead
    pub fn is_turn_end_untold(&self) -> bool {
        self.replayer()
            .is_some_and(|replayer| replayer.is_turn_end_untold())
    }

    /// In a copy that is replayed: the thread whose turn it is has come to its end.
    pub fn end_turn(&self) {
        if let Some(mut replayer) = self.replayer() {
            replayer.end_turn();
        }
    }

    /// In a copy that is replayed: reports system calls that write this memory ([`What::KernelWrote`]).
    ///
    /// [`What::KernelWrote`]: crate::wait_event::What::KernelWrote
    pub fn watch_calls(&self, watched: Vec<Range<u64>>) {
        if let Some(mut replayer) = self.replayer() {
            replayer.watch(watched);
        }
    }

    /// In a copy that is replayed: reports system calls that map memory, or doesn't ([`What::KernelWrote`]).
    ///
    /// [`What::KernelWrote`]: crate::wait_event::What::KernelWrote
    pub fn report_mappings(&self, reports: bool) {
        if let Some(mut replayer) = self.replayer() {
            replayer.report_mappings(reports);
        }
    }

    /// In a copy that is replayed: the name of the system call that came last from outside, if that is what came last.
    pub fn last_call(&self) -> Option<String> {
        self.replayer()?.last_call()
    }

    /// In a copy that is replayed: whether what came last from outside is a system call that maps memory, or unmaps it.
    pub fn last_call_maps(&self) -> bool {
        { self.replayer() }.is_some_and(|replayer| replayer.last_call_maps())
    }

    /// In a process that is recorded: notes where copies of instructions are executed in its place.
    pub fn has_copies(&self, copies: Range<Address>) {
        if let Some(mut recorder) = self.recorder() {
            recorder.has_copies(copies);
        }
    }

    /// All threads of a copy that is replayed.
    pub fn replayed_threads(&self) -> Vec<ThreadId> {
        let replayer = self.replayer();
        replayer.map_or_else(Vec::new, |replayer| replayer.threads().collect())
    }

    /// The thread that the kernel knows.
    fn actual(&self, thread: ThreadId) -> ThreadId {
        let copy = { self.replayer() }.and_then(|replayer| replayer.copy_of(thread));
        copy.unwrap_or(thread)
    }

    /// The process that the kernel knows: of a process that is replayed, the copy.
    pub fn actual_process(&self) -> ThreadId {
        self.replayer()
            .map_or(self.id, |replayer| replayer.process())
    }

    fn has_feigned_step(&self, thread: ThreadId) -> bool {
        match &self.role {
            Role::Free => false,
            Role::Recorded(recorder) => locked(recorder).has_feigned_step(thread),
            Role::Replayed(replayer) => locked(replayer).has_feigned_step(thread),
        }
    }

    /// Calls `act` with what keeps threads on the tracer's processor. `None`: nothing does.
    fn with_together<T>(&self, act: impl FnOnce(&mut Together) -> T) -> Option<T> {
        match &self.role {
            Role::Free => None,
            Role::Recorded(recorder) => locked(recorder).together().map(act),
            Role::Replayed(replayer) => Some(act(locked(replayer).together())),
        }
    }

    /// An event for whoever runs the process. `None`: it was only the recorder's, or the replayer's.
    fn passed_on(&self, event: WaitEvent) -> Option<WaitEvent> {
        match &self.role {
            Role::Free => Some(event),
            Role::Recorded(recorder) => locked(recorder).event(event),
            Role::Replayed(replayer) => locked(replayer).event(event),
        }
    }

    /// Before a wait: lets the thread run whose turn it is. Returns an event that needs no wait.
    fn scheduled(&self) -> Option<WaitEvent> {
        match &self.role {
            Role::Free => None,
            Role::Recorded(recorder) => {
                let mut recorder = locked(recorder);
                recorder.schedule();
                recorder.take_made_up(None)
            }
            Role::Replayed(replayer) => {
                let mut replayer = locked(replayer);
                replayer.schedule();
                replayer.take_made_up(None)
            }
        }
    }

    /// Before a wait for one thread: lets it run. Returns an event of it that needs no wait.
    fn scheduled_one(&self, thread: ThreadId) -> Option<WaitEvent> {
        match &self.role {
            Role::Free => None,
            Role::Recorded(recorder) => {
                let mut recorder = locked(recorder);
                recorder.give_turn(thread);
                recorder.take_made_up(Some(thread))
            }
            Role::Replayed(replayer) => {
                let mut replayer = locked(replayer);
                replayer.give_turn(thread);
                replayer.take_made_up(Some(thread))
            }
        }
    }
}

impl LiveProcess {
    /// Keeps an event that needs no wait until it is taken.
    fn keep_peeked(&self, event: WaitEvent) -> Peeked {
        *locked(&self.peeked) = Some(event);
        Peeked {
            thread: event.thread,
            is_trap: false,
        }
    }
}

/// A wait for a process's events, after which its threads need not be on the tracer's processor.
struct Apart<'a>(&'a LiveProcess);

impl Drop for Apart<'_> {
    fn drop(&mut self) {
        self.0.with_together(Together::ends);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory for LiveProcess {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        self.memory.read(address, buffer)
    }

    fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
        self.memory.read_some(address, buffer)
    }
}

impl Process for LiveProcess {
    fn id(&self) -> ThreadId {
        self.id
    }

    fn reopen(&self, id: ThreadId) -> io::Result<Arc<dyn Process>> {
        let process = LiveProcess::open(id, Arc::clone(&self.waker))?;
        Ok(Arc::new(process))
    }

    fn next_event(&self, thread: Option<ThreadId>) -> io::Result<Waited<WaitEvent>> {
        let _apart = Apart(self);
        let mut trap = None;
        loop {
            if let Some(event) = self.scheduled() {
                return Ok(Waited::Event(event));
            }
            // Where threads take turns, the one that is waited for may not have its turn.
            let thread = thread.filter(|_| matches!(self.role, Role::Free));
            match wait::wait(&self.waker, thread)? {
                Waited::Woken => {
                    if let Some(mut recorder) = self.recorder() {
                        recorder.tick();
                    }
                    return Ok(Waited::Woken);
                }
                Waited::Event(event) => {
                    let begun = self.with_together(|it| it.stops(event.thread));
                    trap = trap.or(begun.flatten());
                    if let Some(event) = self.passed_on(event) {
                        return Ok(Waited::Event(event));
                    }
                }
                other => return Ok(other),
            }
        }
    }

    fn peek_event(&self, thread: Option<ThreadId>) -> io::Result<Waited<Peeked>> {
        if let Some(event) = self.scheduled() {
            return Ok(Waited::Event(self.keep_peeked(event)));
        }
        // As in `next_event`.
        let thread = thread.filter(|_| matches!(self.role, Role::Free));
        let peeked = wait::peek(&self.waker, thread)?;
        if matches!(peeked, Waited::Woken)
            && let Some(mut recorder) = self.recorder()
        {
            recorder.tick();
        }
        Ok(peeked)
    }

    fn take_event(&self, thread: ThreadId) -> Option<WaitEvent> {
        let kept = locked(&self.peeked).take_if(|event| event.thread == thread);
        kept.or_else(|| self.passed_on(wait::take(self.actual(thread))?))
    }

    fn has_event(&self) -> bool {
        wait::has_status()
    }

    fn pending_event(&self) -> Option<WaitEvent> {
        /// The most events that are only recorded, before others get their turn.
        const MOST: usize = 64;
        for _ in 0..MOST {
            let event = match self.scheduled() {
                Some(event) => Some(event),
                None => self.passed_on(wait::take_any()?),
            };
            if event.is_some() {
                return event;
            }
        }
        None
    }

    fn event_of(&self, thread: ThreadId) -> Option<WaitEvent> {
        loop {
            if let Some(event) = self.scheduled_one(thread) {
                return Some(event);
            }
            let event = self.passed_on(wait::next_of(self.actual(thread))?);
            if event.is_some() {
                return event;
            }
        }
    }

    fn peek_event_of(&self, thread: ThreadId) -> Option<Peeked> {
        match self.scheduled_one(thread) {
            Some(event) => Some(self.keep_peeked(event)),
            None => wait::peek_of(self.actual(thread)),
        }
    }

    fn wait_until_stopped(&self, thread: ThreadId) -> bool {
        wait::until_stopped(self.actual(thread))
    }

    fn resume(&self, thread: ThreadId, how: Resume, signal: i32) -> io::Result<()> {
        if let Some(mut recorder) = self.recorder()
            && recorder.has(thread)
        {
            return recorder.resume(thread, how, signal);
        }
        if let Some(mut replayer) = self.replayer()
            && replayer.copy_of(thread).is_some()
        {
            return replayer.resume(thread, how);
        }
        match how {
            Resume::Continue => ptrace::cont(self.actual(thread), signal),
            Resume::UntilSystemCall => ptrace::cont_to_system_call(self.actual(thread), signal),
            Resume::Step => ptrace::step(self.actual(thread), signal),
        }
    }

    fn interrupt(&self, thread: ThreadId) -> io::Result<()> {
        if let Some(mut recorder) = self.recorder()
            && recorder.has(thread)
        {
            return recorder.interrupt(thread);
        }
        if let Some(mut replayer) = self.replayer()
            && replayer.copy_of(thread).is_some()
        {
            return replayer.interrupt(thread);
        }
        ptrace::interrupt(self.actual(thread))
    }

    fn stay_in_group_stop(&self, thread: ThreadId) -> io::Result<()> {
        ptrace::listen(self.actual(thread))
    }

    fn is_stopped(&self, thread: ThreadId) -> bool {
        ptrace::is_stopped(self.actual(thread))
    }

    fn prepare_detach(&self, thread: ThreadId) -> io::Result<()> {
        ptrace::end_options(self.actual(thread))
    }

    fn detach(&self, thread: ThreadId, signal: i32) -> io::Result<()> {
        ptrace::detach(self.actual(thread), signal)
    }

    fn kill_after_failure(&self) {
        wait::abandon(self.id);
    }

    fn signal(&self, process: ThreadId, signal: i32) -> io::Result<()> {
        process::signal(process, signal)
    }

    fn signal_info(&self, thread: ThreadId) -> io::Result<SignalInfo> {
        if self.has_feigned_step(thread) {
            /// `TRAP_TRACE` (sigaction(2)).
            const STEP: i32 = 2;
            return Ok(SignalInfo {
                number: libc::SIGTRAP,
                code: STEP,
                ..SignalInfo::default()
            });
        }
        ptrace::signal_info(self.actual(thread))
    }

    fn whole_signal(&self, thread: ThreadId) -> io::Result<WholeSignal> {
        ptrace::whole_signal(self.actual(thread))
    }

    fn set_whole_signal(&self, thread: ThreadId, signal: &WholeSignal) -> io::Result<()> {
        ptrace::set_whole_signal(self.actual(thread), signal)
    }

    fn set_fault_address(&self, thread: ThreadId, address: Address) -> io::Result<()> {
        ptrace::set_fault_address(self.actual(thread), address)
    }

    fn hand_back_signal(&self, thread: ThreadId, signal: i32) {
        ptrace::hand_back_signal(self.id, thread, signal);
    }

    fn is_before_signal(&self, thread: ThreadId) -> bool {
        ptrace::is_before_signal(self.actual(thread))
    }

    fn is_within_system_call(&self, thread: ThreadId) -> bool {
        ptrace::is_within_system_call(self.actual(thread))
    }

    fn signal_mask(&self, thread: ThreadId) -> io::Result<u64> {
        ptrace::signal_mask(self.actual(thread))
    }

    fn set_signal_mask(&self, thread: ThreadId, mask: u64) -> io::Result<()> {
        ptrace::set_signal_mask(self.actual(thread), mask)
    }

    fn catches(&self, signal: i32) -> bool {
        process::catches(self.actual_process(), signal)
    }

    fn ignores(&self, signal: i32) -> bool {
        process::ignores(self.actual_process(), signal)
    }

    fn registers(&self, thread: ThreadId) -> io::Result<UserRegisters> {
        ptrace::registers(self.actual(thread))
    }

    fn set_registers(&self, thread: ThreadId, registers: &UserRegisters) -> io::Result<()> {
        ptrace::set_registers(self.actual(thread), registers)
    }

    fn vectors(&self, thread: ThreadId) -> io::Result<Vectors> {
        ptrace::vectors(self.actual(thread)).map(|it| widened(&it))
    }

    fn set_vectors(&self, thread: ThreadId, vectors: &Vectors) -> io::Result<()> {
        ptrace::set_vectors(self.actual(thread), &narrowed(vectors))
    }

    fn x87_top(&self, thread: ThreadId) -> io::Result<[u8; 10]> {
        ptrace::x87_top(self.actual(thread))
    }

    fn extended_state(&self, thread: ThreadId) -> io::Result<Vec<u8>> {
        ptrace::extended_state(self.actual(thread))
    }

    fn set_extended_state(&self, thread: ThreadId, state: &[u8]) -> io::Result<()> {
        ptrace::set_extended_state(self.actual(thread), state)
    }

    fn set_watch_slots(&self, thread: ThreadId, slots: &[Option<Slot>; SLOTS]) -> io::Result<()> {
        debug_registers::set(self.actual(thread), slots)
    }

    fn take_watch_status(&self, thread: ThreadId) -> io::Result<u64> {
        if self.has_feigned_step(thread) {
            return Ok(SINGLE_STEP);
        }
        debug_registers::take_status(self.actual(thread))
    }

    fn write(&self, address: Address, bytes: &[u8]) -> io::Result<()> {
        self.memory.write(address, bytes)
    }

    fn map_code(
        &self,
        thread: ThreadId,
        address: Address,
        size: u64,
        call: Option<Address>,
    ) -> Result<(), String> {
        injected::map_code(self.actual(thread), address, size, self.is_copy(), call)
    }

    fn share(
        &self,
        thread: ThreadId,
        size: u64,
        call: Option<Address>,
    ) -> Result<(Address, File), String> {
        injected::share(self.actual(thread), size, call)
    }

    fn is_copy(&self) -> bool {
        matches!(self.role, Role::Replayed(_))
    }

    fn position(&self) -> Option<usize> {
        match &self.role {
            Role::Free => None,
            Role::Recorded(recorder) => Some(locked(recorder).journal().len()),
            Role::Replayed(replayer) => Some(locked(replayer).position()),
        }
    }

    fn replay_until(&self, position: usize, last: Option<ThreadId>) {
        if let Some(mut replayer) = self.replayer() {
            replayer.end_at(position, last);
        }
    }

    fn parted(&self) -> Option<String> {
        Some(self.replayer()?.parted()?.to_string())
    }

    fn has_shadow_stack(&self, thread: ThreadId) -> bool {
        attach::has_shadow_stack(self.actual(thread))
    }

    fn changes(&self) -> u64 {
        ptrace::changes()
    }

    fn mappings(&self) -> Vec<Mapping> {
        process::mappings(self.actual_process())
    }

    fn own_mappings(&self) -> io::Result<BTreeSet<u64>> {
        process::own_mappings(self.actual_process())
    }

    fn auxiliary_bytes(&self) -> io::Result<Vec<u8>> {
        process::auxiliary_bytes(self.actual_process())
    }

    fn executable(&self) -> PathBuf {
        process::executable(self.actual_process()).unwrap_or_default()
    }

    fn running_executable(&self) -> PathBuf {
        process::running_executable(self.actual_process())
    }

    fn visible(&self, path: &Path) -> PathBuf {
        process::visible(self.actual_process(), path)
    }

    fn command_line(&self) -> String {
        process::command_line(self.actual_process())
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        process::thread_name(self.actual(thread))
    }
}
