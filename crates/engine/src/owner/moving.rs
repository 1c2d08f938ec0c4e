//! Moves stopped threads to another place in their code, restarts frames, and ends single threads.
//!
//! A thread may be moved only to where its stack and registers are as the code there expects them. The unwind information decides: the
//! canonical frame address and the caller's registers must be the same at both places. A restarted frame begins behind its function's
//! prologue, where the arguments are in memory, so that how they were passed doesn't matter. Code that still reads them from registers
//! there can't be restarted, unless the prologue has stored them elsewhere, too ([`super::arguments`]).

use super::Owner;
use crate::event::{Stop, StopReason};
use crate::stops::Mode;
use crate::{Address, Error, ThreadId, unwind};
use dapple_arch::abi::CALLEE_SAVED;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::registers::{NAMES, Registers};
use dapple_inspect::frame::{FrameId, PhysicalFrame};
use dapple_inspect::inspect::Inspect;
use dapple_symbols::functions::SourcePosition;
use dapple_symbols::lines::LineLookup;
use dapple_target::linux::ptrace;
use dapple_target::wait_event::What;
use std::path::Path;
use std::sync::Arc;

/// Where a thread may be moved to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GotoTarget {
    /// The instruction.
    pub address: Address,
    /// Its line.
    pub position: SourcePosition,
    /// The function that has the instruction.
    pub function: Option<String>,
}

/// The most stops that a thread may make on its way to its end.
const MOST_STOPS: usize = 64;
/// `syscall`.
const SYSCALL: [u8; 2] = [0x0f, 0x05];

impl Owner {
    pub(crate) fn goto_targets(&self, file: &Path, line: u32) -> Vec<GotoTarget> {
        let mut targets = Vec::new();
        for module in self.modules.iter() {
            let LineLookup::Found(locations) = module.module.lookup_line(file, line) else {
                continue;
            };
            for location in locations {
                let function = module.module.function_at(location.address);
                targets.push(GotoTarget {
                    address: module.to_process(location.address),
                    position: SourcePosition {
                        file: file.into(),
                        line: location.line,
                        column: location.column,
                    },
                    function: function.map(|function| function.name.clone()),
                });
            }
        }
        targets
    }

    pub(crate) fn goto(
        &mut self,
        thread: ThreadId,
        target: Address,
    ) -> Result<Vec<&'static str>, Error> {
        self.require_thread(thread)?;
        let mut registers = self.registers(thread).ok_or(Error::NoSuchThread(thread))?;
        let refused = |why: &str| Error::Refused(format!("can't go there: {why}"));
        let refuse = |why: String| Err(refused(&why));
        let function_of = |address: Address| {
            let module = self.modules.at(address)?;
            let function = module.module.function_at(module.to_file(address))?;
            Some((module.id, function))
        };
        let (Some((there, to)), Some((here, from))) =
            (function_of(target), function_of(registers.pc()))
        else {
            return refuse("a jump is within one function, and what is known of code doesn't say which one this is".into());
        };
        if (there, to.id) != (here, from.id) {
            return refuse(format!(
                "it is in `{}`, and the thread is in `{}`; a jump is within one function",
                to.name, from.name
            ));
        }
        let inlined = |address: Address| {
            let module = self.modules.at(address);
            let calls = module.map(|m| m.module.inlined_at(m.to_file(address)));
            calls
                .unwrap_or_default()
                .into_iter()
                .map(|call| call.ranges)
                .collect::<Vec<_>>()
        };
        if inlined(target) != inlined(registers.pc()) {
            return refuse("one of the two places is in code that was inlined".into());
        }
        let now = registers.to_dwarf();
        let mut then = now;
        then.set(dapple_arch::registers::PC, Some(target.0));
        self.same_stack(now, then).map_err(refused)?;
        let expected = match target == registers.pc() {
            true => Vec::new(),
            false => self.expected_registers(target),
        };
        registers.set_pc(target);
        self.move_to(thread, registers, StopReason::Goto);
        Ok(expected)
    }

    /// Checks that unwinding from both sets of registers gives the same frame and the same caller.
    fn same_stack(&self, now: Registers, then: Registers) -> Result<(), &'static str> {
        let unwound = |registers: Registers| {
            let frame = unwind::innermost(registers, &self.modules, &self.memory);
            let known = has_rules(&frame);
            let caller = unwind::caller(&frame, &self.modules, &self.memory);
            (known, frame.cfa, caller.map(|caller| caller.registers))
        };
        let (now, then) = (unwound(now), unwound(then));
        if !now.0 || !then.0 {
            return Err("nothing says how the stack is laid out there and here");
        }
        if now.1 != then.1 || now.2.map(kept) != then.2.map(kept) {
            return Err(
                "the stack is laid out otherwise there than here, as it is at a function's beginning and end",
            );
        }
        Ok(())
    }

    pub(crate) fn restart_frame(&mut self, id: FrameId) -> Result<(), Error> {
        self.require_thread(id.thread)?;
        let frame = self.frame(id)?;
        let name = frame
            .function
            .clone()
            .unwrap_or_else(|| "the function".into());
        let refuse = |why: String| {
            Err(Error::Refused(format!(
                "`{name}` can't be begun again: {why}"
            )))
        };
        if frame.inline_depth > 0 {
            return refuse("it was inlined; begin again the function around it".into());
        }
        let stack = self.stack(id.thread, 0..id.index + 1)?;
        for passed in &stack.frames {
            if passed.physical.signal_trampoline {
                return refuse("a signal's handler is in between".into());
            }
            if !has_rules(&passed.physical) {
                return refuse(format!(
                    "the stack has a frame{} that nothing says how to leave",
                    passed
                        .function
                        .as_ref()
                        .map_or_else(String::new, |f| format!(" (`{f}`)"))
                ));
            }
        }
        let physical = &frame.physical;
        let body = physical.module.as_ref().and_then(|module| {
            let function = module.module.function_at(module.to_file(physical.lookup))?;
            Some((
                Arc::clone(module),
                module.module.after_prologue(function.entry),
                function.entry,
            ))
        });
        let Some((module, body, entry)) = body else {
            return refuse("it has no debug information".into());
        };
        if let Some(lost) = CALLEE_SAVED
            .iter()
            .find(|r| physical.registers.get(**r).is_none())
        {
            let lost = NAMES.get(usize::from(*lost)).unwrap_or(&"");
            return refuse(format!("what it had in register {lost} is lost"));
        }
        let known = match physical.cfa {
            Some(cfa) => self.behind_prologue(&module, entry, body, cfa),
            None => Vec::new(),
        };
        let all_kept = self.keeps_arguments_in_memory(&frame);
        if body == entry || self.expects_arguments(&module, body, &known, all_kept) {
            return refuse(
                "its arguments came in registers and were not kept in memory; they are lost".into(),
            );
        }
        let body = module.to_process(body);
        let now = physical.registers;
        let mut then = now;
        then.set(dapple_arch::registers::PC, Some(body.0));
        if let Err(why) = self.same_stack_at(physical, then) {
            return refuse(why.to_owned());
        }
        let mut registers = self
            .registers(id.thread)
            .ok_or(Error::NoSuchThread(id.thread))?;
        registers.set_kept(&then);
        for (register, value) in known {
            registers.set_argument(register, value);
        }
        self.move_to(id.thread, registers, StopReason::Restarted);
        Ok(())
    }

    /// As [`Owner::same_stack`], for a frame that may be waiting for a call to return.
    fn same_stack_at(&self, now: &PhysicalFrame, then: Registers) -> Result<(), &'static str> {
        let caller = unwind::caller(now, &self.modules, &self.memory);
        let there = unwind::innermost(then, &self.modules, &self.memory);
        let from_there = unwind::caller(&there, &self.modules, &self.memory);
        let registers = |frame: Option<PhysicalFrame>| frame.map(|frame| kept(frame.registers));
        if now.cfa.is_none() || now.cfa != there.cfa || registers(caller) != registers(from_there) {
            return Err("its stack is laid out otherwise by now");
        }
        Ok(())
    }

    /// Moves a stopped thread, and reports that as a stop.
    fn move_to(&mut self, thread: ThreadId, registers: UserRegisters, reason: StopReason) {
        self.place(thread, registers);
        self.stop.current = thread;
        self.tell_stops(vec![Stop {
            thread,
            address: registers.pc(),
            reason,
        }]);
    }

    /// Moves a stopped thread. A fault signal that it was about to get is dropped: it was about the old place.
    pub(super) fn place(&mut self, thread: ThreadId, mut registers: UserRegisters) {
        registers.forget_system_call();
        self.set_registers(thread, registers);
        self.frames_ended(thread);
        let control = self.control(thread);
        control.passed = Some(registers.pc());
        if [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL].contains(&control.signal) {
            control.signal = 0;
        }
        self.threads.moved(thread);
    }

    pub(crate) fn end_threads(&mut self, threads: &[ThreadId]) -> Result<(), Error> {
        for &thread in threads {
            if !self.stops.is_live(thread) {
                return Err(Error::NoSuchThread(thread));
            }
            if thread == self.debuggee.process {
                return Err(Error::Refused(format!(
                    "thread {thread} is the program's first, with which it would end; terminate the program instead"
                )));
            }
        }
        if let Some(thread) = threads.iter().find(|&&thread| self.stops.has_lent(thread)) {
            return Err(Error::Refused(format!(
                "thread {thread} waits for its child (vfork), which has its memory; it can be ended when the child has ended or runs a program"
            )));
        }
        self.threads.end_at_stop(threads);
        match self.stops.mode() {
            Mode::Stopped => self.end_them(),
            Mode::Running => self.stops.stop_all(&mut self.actions),
            Mode::Stopping => {}
        }
        Ok(())
    }

    /// While all threads are stopped: ends the threads that were asked to end. The kernel can't end one thread from outside, so each
    /// makes the system call itself: without its destructors, and with its locks held.
    pub(super) fn end_them(&mut self) {
        let ending = self.threads.take_ending();
        if ending.is_empty() {
            return;
        }
        // Threads that have lent their memory to a vfork child since can't run before they have it back.
        let (lent, threads) = ending
            .into_iter()
            .partition::<Vec<_>, _>(|thread| self.stops.has_lent(*thread));
        for thread in lent.iter().chain(&threads) {
            self.stops.wait_after_vfork(*thread, lent.contains(thread));
        }
        self.threads.end_at_stop(&lent);
        let Some(call) = self.system_call() else {
            return;
        };
        for thread in threads {
            if !self.stops.is_live(thread) {
                continue;
            }
            // Otherwise the kernel would write the result of the unfinished system call over the number of this one.
            if self.finish_system_call(thread).is_err() {
                continue;
            }
            let Some(mut registers) = self.registers(thread) else {
                continue;
            };
            registers.forget_system_call();
            registers.set_pc(call);
            registers.set_call(libc::SYS_exit.cast_unsigned(), 0);
            self.set_registers(thread, registers);
            self.unwatch(thread);
            // The process's other threads handle its signals from now on.
            let _ = ptrace::block_signals(thread);
            let signal = std::mem::take(&mut self.control(thread).signal);
            if signal != 0 {
                ptrace::hand_back_signal(self.debuggee.process, thread, signal);
            }
            for _ in 0..MOST_STOPS {
                if ptrace::cont(thread, 0).is_err() {
                    break;
                }
                match self.next_of(thread) {
                    Some(event) if matches!(event.what, What::Exiting | What::Exited(_)) => {
                        self.stops.handle(event, &mut self.actions);
                        break;
                    }
                    Some(_) => {}
                    None => break,
                }
            }
        }
    }

    /// The address of a system-call instruction in the program's memory. The vDSO has one.
    fn system_call(&self) -> Option<Address> {
        let modules = self.modules.iter();
        let mut vdso_first: Vec<_> = modules.collect();
        vdso_first.sort_by_key(|module| !module.is_vdso());
        vdso_first.into_iter().find_map(|module| {
            let mut segments = module.module.segments().iter().filter(|s| s.executable);
            segments.find_map(|segment| {
                let mut code = vec![0; segment.size.min(1 << 22) as usize];
                let start = module.to_process(segment.address);
                let length = self.memory.read_some(start, &mut code);
                let at = code[..length]
                    .windows(2)
                    .position(|bytes| bytes == SYSCALL)?;
                Some(start.offset(at as i64))
            })
        })
    }
}

/// The registers that a function preserves for its caller.
fn kept(registers: Registers) -> Vec<Option<u64>> {
    let sp = [dapple_arch::registers::SP, dapple_arch::registers::PC];
    CALLEE_SAVED
        .iter()
        .chain(&sp)
        .map(|number| registers.get(*number))
        .collect()
}

fn has_rules(frame: &PhysicalFrame) -> bool {
    frame.module.as_ref().is_some_and(|module| {
        let rules = module.module.unwind_rules(module.to_file(frame.lookup));
        rules.is_ok_and(|rules| rules.is_some())
    })
}
