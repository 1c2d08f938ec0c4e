//! A live process on this machine, controlled by ptrace(2) and read through `/proc`.

use super::memory::ProcessMemory;
use super::recording::Recorder;
use super::wait::{self, Waker};
use super::{attach, debug_registers, injected, process, ptrace};
use crate::memory_map::Mapping;
use crate::process::{Peeked, Process, Resume, Waited};
use crate::signal_info::{SignalInfo, WholeSignal};
use crate::wait_event::WaitEvent;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::watch_slots::{SINGLE_STEP, SLOTS, Slot};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A process that this thread traces.
#[derive(Debug)]
pub struct LiveProcess {
    id: ThreadId,
    memory: ProcessMemory,
    waker: Arc<Waker>,
    /// Records it.
    recorder: Option<Mutex<Recorder>>,
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
            recorder: None,
        })
    }

    /// The process, to be recorded.
    #[must_use]
    pub fn recorded(mut self, recorder: Recorder) -> LiveProcess {
        self.recorder = Some(Mutex::new(recorder));
        self
    }

    /// What records the process, if something does.
    pub fn recorder(&self) -> Option<MutexGuard<'_, Recorder>> {
        let recorder = self.recorder.as_ref()?;
        Some(recorder.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn has_feigned_step(&self, thread: ThreadId) -> bool {
        let recorder = self.recorder();
        recorder.is_some_and(|it| it.thread() == thread && it.has_feigned_step())
    }

    /// An event for whoever runs the process. `None`: it was only the recorder's.
    fn passed_on(&self, event: WaitEvent) -> Option<WaitEvent> {
        match self.recorder() {
            Some(mut recorder) => recorder.event(event),
            None => Some(event),
        }
    }
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
        loop {
            match wait::wait(&self.waker, thread)? {
                Waited::Event(event) => {
                    if let Some(event) = self.passed_on(event) {
                        return Ok(Waited::Event(event));
                    }
                }
                other => return Ok(other),
            }
        }
    }

    fn peek_event(&self, thread: Option<ThreadId>) -> io::Result<Waited<Peeked>> {
        wait::peek(&self.waker, thread)
    }

    fn take_event(&self, thread: ThreadId) -> Option<WaitEvent> {
        wait::take(thread)
    }

    fn has_event(&self) -> bool {
        wait::has_status()
    }

    fn event_of(&self, thread: ThreadId) -> Option<WaitEvent> {
        loop {
            let event = self.passed_on(wait::next_of(thread)?);
            if event.is_some() {
                return event;
            }
        }
    }

    fn peek_event_of(&self, thread: ThreadId) -> Option<Peeked> {
        wait::peek_of(thread)
    }

    fn wait_until_stopped(&self, thread: ThreadId) -> bool {
        wait::until_stopped(thread)
    }

    fn resume(&self, thread: ThreadId, how: Resume, signal: i32) -> io::Result<()> {
        if let Some(mut recorder) = self.recorder()
            && recorder.thread() == thread
        {
            return recorder.resume(how, signal);
        }
        match how {
            Resume::Continue => ptrace::cont(thread, signal),
            Resume::UntilSystemCall => ptrace::cont_to_system_call(thread, signal),
            Resume::Step => ptrace::step(thread, signal),
        }
    }

    fn interrupt(&self, thread: ThreadId) -> io::Result<()> {
        ptrace::interrupt(thread)
    }

    fn stay_in_group_stop(&self, thread: ThreadId) -> io::Result<()> {
        ptrace::listen(thread)
    }

    fn is_stopped(&self, thread: ThreadId) -> bool {
        ptrace::is_stopped(thread)
    }

    fn prepare_detach(&self, thread: ThreadId) -> io::Result<()> {
        ptrace::end_options(thread)
    }

    fn detach(&self, thread: ThreadId, signal: i32) -> io::Result<()> {
        ptrace::detach(thread, signal)
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
        ptrace::signal_info(thread)
    }

    fn whole_signal(&self, thread: ThreadId) -> io::Result<WholeSignal> {
        ptrace::whole_signal(thread)
    }

    fn set_whole_signal(&self, thread: ThreadId, signal: &WholeSignal) -> io::Result<()> {
        ptrace::set_whole_signal(thread, signal)
    }

    fn set_fault_address(&self, thread: ThreadId, address: Address) -> io::Result<()> {
        ptrace::set_fault_address(thread, address)
    }

    fn hand_back_signal(&self, thread: ThreadId, signal: i32) {
        ptrace::hand_back_signal(self.id, thread, signal);
    }

    fn is_before_signal(&self, thread: ThreadId) -> bool {
        ptrace::is_before_signal(thread)
    }

    fn is_within_system_call(&self, thread: ThreadId) -> bool {
        ptrace::is_within_system_call(thread)
    }

    fn signal_mask(&self, thread: ThreadId) -> io::Result<u64> {
        ptrace::signal_mask(thread)
    }

    fn set_signal_mask(&self, thread: ThreadId, mask: u64) -> io::Result<()> {
        ptrace::set_signal_mask(thread, mask)
    }

    fn catches(&self, signal: i32) -> bool {
        process::catches(self.id, signal)
    }

    fn ignores(&self, signal: i32) -> bool {
        process::ignores(self.id, signal)
    }

    fn registers(&self, thread: ThreadId) -> io::Result<UserRegisters> {
        ptrace::registers(thread)
    }

    fn set_registers(&self, thread: ThreadId, registers: &UserRegisters) -> io::Result<()> {
        ptrace::set_registers(thread, registers)
    }

    fn vectors(&self, thread: ThreadId) -> io::Result<[u128; 16]> {
        ptrace::vectors(thread)
    }

    fn set_vectors(&self, thread: ThreadId, vectors: &[u128; 16]) -> io::Result<()> {
        ptrace::set_vectors(thread, vectors)
    }

    fn x87_top(&self, thread: ThreadId) -> io::Result<[u8; 10]> {
        ptrace::x87_top(thread)
    }

    fn extended_state(&self, thread: ThreadId) -> io::Result<Vec<u8>> {
        ptrace::extended_state(thread)
    }

    fn set_extended_state(&self, thread: ThreadId, state: &[u8]) -> io::Result<()> {
        ptrace::set_extended_state(thread, state)
    }

    fn set_watch_slots(&self, thread: ThreadId, slots: &[Option<Slot>; SLOTS]) -> io::Result<()> {
        debug_registers::set(thread, slots)
    }

    fn take_watch_status(&self, thread: ThreadId) -> io::Result<u64> {
        if self.has_feigned_step(thread) {
            return Ok(SINGLE_STEP);
        }
        debug_registers::take_status(thread)
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
        injected::map_code(thread, address, size, call)
    }

    fn share(
        &self,
        thread: ThreadId,
        size: u64,
        call: Option<Address>,
    ) -> Result<(Address, File), String> {
        injected::share(thread, size, call)
    }

    fn has_shadow_stack(&self, thread: ThreadId) -> bool {
        attach::has_shadow_stack(thread)
    }

    fn changes(&self) -> u64 {
        ptrace::changes()
    }

    fn mappings(&self) -> Vec<Mapping> {
        process::mappings(self.id)
    }

    fn own_mappings(&self) -> io::Result<BTreeSet<u64>> {
        process::own_mappings(self.id)
    }

    fn auxiliary_bytes(&self) -> io::Result<Vec<u8>> {
        process::auxiliary_bytes(self.id)
    }

    fn executable(&self) -> PathBuf {
        process::executable(self.id).unwrap_or_default()
    }

    fn running_executable(&self) -> PathBuf {
        process::running_executable(self.id)
    }

    fn visible(&self, path: &Path) -> PathBuf {
        process::visible(self.id, path)
    }

    fn command_line(&self) -> String {
        process::command_line(self.id)
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        process::thread_name(thread)
    }
}
