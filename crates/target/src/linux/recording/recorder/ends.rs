//! Where turns end amid a thread's own code, and who ends the process.

use super::{Recorder, SOON_AGAIN};
use crate::linux::injected::lost;
use crate::linux::recording::is_stopping_call;
use crate::linux::recording::journal::{Entry, TurnEnd};
use crate::linux::recording::turns::Place;
use crate::linux::{process, ptrace, wait};
use crate::memory_map::Mapping;
use crate::wait_event::{WaitEvent, What};
use crate::{Address, ThreadId};
use dapple_arch::abi::RED_ZONE;
use dapple_arch::instructions::{LONGEST, decode, enters_kernel};
use dapple_arch::jump_site::JUMP;
use dapple_arch::operands::used_near;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::signal_frame::without_the_kernels;
use dapple_arch::trap::TRAP;
use std::sync::Arc;

/// The bytes that are kept around a thread's stack pointer, from the end of the red zone.
const AROUND: usize = 448;
/// How far below a stack pointer unused parts of the stack may be, in bytes.
const UNUSED: u64 = 8 << 20;
/// The most operands in memory that are kept, and how many bytes of each.
const MOST_OPERANDS: usize = 24;
const OPERAND: usize = 8;
/// How many bytes are kept of what a register points at.
const POINTED: usize = 16;
/// The most instructions that a thread executes before its turn ends.
const MOST_STEPS: usize = 64;
/// The general registers.
const REGISTERS: u16 = 16;

impl Recorder {
    /// A thread was stopped: by whoever runs the process, or here, to take its turn from it, or for a signal that is held. Returns whether it goes
    /// on.
    ///
    /// # Errors
    /// Another event of the thread has come meanwhile.
    pub(super) fn interrupted(&mut self, thread: ThreadId) -> Result<bool, WaitEvent> {
        let Some(recorded) = self.threads.get(&thread) else {
            return Ok(false);
        };
        let gets_signal = !recorded.held.is_empty() && recorded.sent_again.is_none();
        let is_asked = recorded.is_to_stop || self.is_over;
        if is_asked || (self.turns.keeps() && !gets_signal) {
            return Ok(false);
        }
        self.go_to_long_instruction(thread)?;
        let Ok(registers) = ptrace::registers(thread) else {
            return Ok(false);
        };
        if self.is_elsewhere(registers.pc()) {
            // It executes an instruction elsewhere, which is to be done first.
            self.alarm.ring_every(SOON_AGAIN);
            return Ok(true);
        }
        if !gets_signal {
            return Ok(false);
        }
        self.note_turn_end(thread);
        if let Some(recorded) = self.threads.get_mut(&thread) {
            recorded.behind_call = Some(registers);
        }
        self.send_again(thread);
        Ok(true)
    }

    /// Lets a stopped thread go on, one by one, to an instruction with room for a jump: there, it is found again soon.
    fn go_to_long_instruction(&mut self, thread: ThreadId) -> Result<(), WaitEvent> {
        for _ in 0..MOST_STEPS {
            let Ok(registers) = ptrace::registers(thread) else {
                break;
            };
            if registers.restarts_system_call() {
                // A step would make the call again, which may never come back.
                break;
            }
            let mut code = [0; LONGEST];
            let length = self.memory.read_some(registers.pc(), &mut code);
            let is_site = code[0] == TRAP;
            let instruction = decode(registers.pc(), &code[..length]);
            let fits = instruction.is_none_or(|it| it.len() >= JUMP || enters_kernel(it.code()));
            if fits || is_site || ptrace::step(thread, 0).is_err() {
                break;
            }
            match wait::next_of(thread) {
                Some(event) if event.what == What::Signal(libc::SIGTRAP) => {}
                Some(event) => return Err(event),
                None => break,
            }
        }
        Ok(())
    }

    /// Who gets the turn next. The thread that had it last gets it again where its turn can't end.
    pub(super) fn next_turn(&self) -> Option<ThreadId> {
        let next = self.turns.next()?;
        let last = self.turns.last().filter(|last| *last != next);
        let last = last.filter(|last| self.must_go_on(*last));
        Some(last.unwrap_or(next))
    }

    /// Whether a thread waits for its turn where none can end: within a system call that doesn't take long, because others find done what it does
    /// there; or in a copy of an instruction, which a replay has elsewhere or not at all.
    fn must_go_on(&self, thread: ThreadId) -> bool {
        let Some(recorded) = self.threads.get(&thread) else {
            return false;
        };
        let waits = matches!(self.turns.place(thread), Some(Place::Ready(..)));
        waits
            && match &recorded.within {
                Some(within) => !within.is_long,
                None => ptrace::registers(thread).is_ok_and(|it| self.is_elsewhere(it.pc())),
            }
    }

    /// Whether a thread that ends has called for its own end only.
    pub(super) fn ends_alone(&self, thread: ThreadId) -> bool {
        let within = self.threads.get(&thread).and_then(|it| it.within.as_ref());
        within.is_some_and(|within| is_stopping_call(within.call.number()))
    }

    /// Whether an address is in a copy of an instruction, which is executed in place of one of the program.
    pub(super) fn is_elsewhere(&self, pc: Address) -> bool {
        self.copies.iter().any(|copies| copies.contains(&pc))
    }

    /// Notes that a stopped thread's turn ends, or a signal comes, where it is amid code of its own. Where it is about to make an interrupted
    /// system call again, it has run no code since that was noted.
    pub(super) fn note_turn_end(&mut self, thread: ThreadId) {
        if self.calls_again(thread) {
            return;
        }
        match self.turn_end(thread) {
            Ok(end) => self.journal.note(thread, Entry::TurnEnd(Arc::new(end))),
            Err(reason) => self.ends(reason),
        }
    }

    /// Whether a stopped thread, which was interrupted in a system call, has yet to make it again: it is behind the call still, or where the
    /// kernel has moved it.
    fn calls_again(&self, thread: ThreadId) -> bool {
        let Ok(now) = ptrace::registers(thread) else {
            return false;
        };
        let behind = self.threads.get(&thread).and_then(|it| it.behind_call);
        let moved = behind.filter(UserRegisters::restarts_system_call);
        let is_moved = moved.is_some_and(|mut moved| {
            moved.restart_call();
            now.runs_on_as(&moved, true)
        });
        is_moved || now.restarts_system_call()
    }

    /// Where a stopped thread is, amid code of its own.
    ///
    /// In a loop, its registers and the top of its stack may be the same each time; so what the code around works on is kept, too.
    fn turn_end(&self, thread: ThreadId) -> Result<TurnEnd, String> {
        let registers = ptrace::registers(thread).map_err(lost)?;
        let stack = registers.sp().wrapping_sub(RED_ZONE) & !3;
        let mut memory: Vec<(Address, Box<[u8]>)> = Vec::new();
        let mappings = process::mappings(self.process);
        let mut keep = |at: Address, count: usize| {
            // Other memory is always the same, but for what a debugger inserts in code.
            let mut around = mappings.iter();
            let is_inside = |it: &&Mapping| (it.start..it.end).contains(&at.0);
            if !around.find(is_inside).is_some_and(|it| it.write) {
                return;
            }
            // Below its own bytes, the stack has what is left of signals' frames: not all of that is the same again.
            if (stack.saturating_sub(UNUSED)..stack).contains(&at.0) {
                return;
            }
            let mut bytes = vec![0; count];
            let length = self.memory.read_some(at, &mut bytes) & !3;
            bytes.truncate(length);
            memory.extend(without_the_kernels(&self.memory, at, &bytes));
        };
        for operand in used_near(&registers, &self.memory)
            .into_iter()
            .take(MOST_OPERANDS)
        {
            keep(operand, OPERAND);
        }
        let dwarf = registers.to_dwarf();
        for pointed in (0..REGISTERS).filter_map(|number| dwarf.get(number)) {
            keep(Address(pointed & !3), POINTED);
        }
        keep(Address(stack), AROUND);
        tracing::debug!(pc = %registers.pc(), %thread, "a turn ends");
        Ok(TurnEnd { registers, memory })
    }
}
