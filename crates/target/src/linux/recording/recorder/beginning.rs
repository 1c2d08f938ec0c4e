//! Where recording begins: with a program's first instruction, or midway.

use super::super::journal::Journal;
use super::super::together::Together;
use super::super::turns::Turns;
use super::super::{midway, start};
use super::thread::Recorded;
use super::{Monotonic, Recorder};
use crate::ThreadId;
use crate::linux::alarm::Alarm;
use crate::linux::checkpoint::Original;
use crate::linux::injected::lost;
use crate::linux::memory::ProcessMemory;
use crate::linux::ptrace;
use crate::linux::system_calls::Call;
use rustc_hash::FxHashMap;

impl Recorder {
    /// Begins with a stopped thread, the only one of its process, that [`super::super::start::prepare`] has made ready.
    ///
    /// # Errors
    /// The end of a sentence that says why it can't be recorded.
    pub fn new(thread: ThreadId) -> Result<Recorder, String> {
        let mut recorder = Recorder::of(thread)?;
        recorder.add(thread)?;
        recorder.turns.begin(thread);
        Ok(recorder)
    }

    /// Begins with all threads of a process, which has run already. All are stopped, and none is before the delivery of a signal. `first`: the one
    /// that has the turn, if it can. `outlives`: the process must run on if the debugger is killed.
    ///
    /// # Errors
    /// The end of a sentence that says why it can't be recorded.
    pub fn midway(
        process: ThreadId,
        threads: &[ThreadId],
        first: ThreadId,
        outlives: bool,
    ) -> Result<Recorder, String> {
        midway::prepare(process, threads)?;
        Recorder::prepared(process, threads, first, outlives).inspect_err(|_| {
            for thread in threads {
                // If it has died, nothing traps there.
                let _ = start::untrap_time(*thread);
            }
        })
    }

    /// As [`Recorder::midway`], of a process that is ready.
    fn prepared(
        process: ThreadId,
        threads: &[ThreadId],
        first: ThreadId,
        outlives: bool,
    ) -> Result<Recorder, String> {
        let mut recorder = Recorder::of(process)?;
        recorder.is_midway = true;
        recorder.outlives = outlives;
        for thread in threads {
            recorder.add(*thread)?;
        }
        let calls = |thread: &ThreadId| {
            ptrace::registers(*thread).is_ok_and(|registers| registers.restarts_system_call())
        };
        let runner = { std::iter::once(&first).chain(threads) }.find(|thread| !calls(thread));
        if runner.is_none() {
            // It makes its call anew in its turn.
            let mut registers = ptrace::registers(first).map_err(lost)?;
            registers.call_again();
            ptrace::set_registers(first, &registers).map_err(lost)?;
        }
        recorder.turns.begin(*runner.unwrap_or(&first));
        Ok(recorder)
    }

    /// Without threads yet.
    fn of(process: ThreadId) -> Result<Recorder, String> {
        Ok(Recorder {
            process,
            memory: ProcessMemory::open(process).map_err(lost)?,
            journal: Journal::default(),
            threads: FxHashMap::default(),
            turns: Turns::default(),
            together: Together::default(),
            since: Monotonic::now(),
            alarm: Alarm::default(),
            is_over: false,
            is_midway: false,
            outlives: false,
            heap_end: None,
            copies: Vec::new(),
            holds_since: None,
            keeps_contents: false,
            ender: None,
        })
    }

    /// A stopped thread is recorded from now on.
    fn add(&mut self, thread: ThreadId) -> Result<(), String> {
        let original = Original::ask(thread)?;
        original.tell_of_no_stack()?;
        let mut recorded = Recorded::new(original);
        let registers = ptrace::registers(thread).map_err(lost)?;
        if registers.goes_on_with_system_call() {
            let (number, arguments) = registers.system_call();
            let read = |at: crate::Address, buffer: &mut [u8]| self.memory.read(at, buffer).is_ok();
            recorded.interrupted = Some(Call::entered(number, arguments, &read));
        }
        recorded.behind_call = Some(registers);
        self.threads.insert(thread, recorded);
        self.turns.add(thread);
        Ok(())
    }
}
