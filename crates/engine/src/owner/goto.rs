//! Moves stopped threads to another line of their function.
//!
//! A thread may be moved only to where the code expects the stack and the callee-saved registers as they are. The unwind information
//! decides: the canonical frame address and the caller's registers must be the same at both places. Both places must also be in the same
//! inlined calls.

use super::Owner;
use crate::event::{Stop, StopReason};
use crate::{Address, Error, ThreadId, unwind};
use dapple_arch::registers::Registers;
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::frame::PhysicalFrame;
use dapple_inspect::inspect::Inspect;
use dapple_symbols::functions::SourcePosition;
use dapple_symbols::lines::LineLookup;
use std::path::Path;

/// A place to which a thread can perhaps be moved; that is checked when it is moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GotoTarget {
    /// The address of the instruction at which the thread would go on.
    pub address: Address,
    /// The instruction's line.
    pub position: SourcePosition,
    /// The function that the instruction is in.
    pub function: Option<String>,
}

impl Owner {
    pub(crate) fn goto_targets(&self, file: &Path, line: u32) -> Vec<GotoTarget> {
        let mut targets = Vec::new();
        for module in self.modules().iter() {
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
        self.will_change_thread(thread)?;
        let mut registers = self.registers(thread).ok_or(Error::NoSuchThread(thread))?;
        let refused = |why: &str| Error::Refused(format!("can't go there: {why}"));
        let refuse = |why: String| Err(refused(&why));
        let function_of = |address: Address| {
            let module = self.modules().at(address)?;
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
            let module = self.modules().at(address);
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
        then.set_pc(Some(target.0));
        self.same_stack(now, then).map_err(refused)?;
        let expected = match target == registers.pc() {
            true => Vec::new(),
            false => self.expected_registers(target),
        };
        registers.set_pc(target);
        self.move_to(thread, registers, StopReason::Goto);
        Ok(expected)
    }

    /// Checks that unwinding from either set of registers gives the same frame and the same caller. The error is the end of a sentence.
    pub(super) fn same_stack(&self, now: Registers, then: Registers) -> Result<(), &'static str> {
        let unwound = |registers: Registers| {
            let frame = unwind::innermost(registers, self.modules(), self.memory());
            let known = has_rules(&frame);
            let caller = unwind::caller(&frame, self.modules(), self.memory());
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

    /// Sets a stopped thread's registers, which move it, and reports that as a stop for `reason`.
    pub(super) fn move_to(
        &mut self,
        thread: ThreadId,
        registers: UserRegisters,
        reason: StopReason,
    ) {
        self.place(thread, registers);
        self.set_current(thread);
        self.tell_stops(vec![Stop {
            thread,
            address: registers.pc(),
            reason,
        }]);
    }

    /// Sets a stopped thread's registers, which move it. Discards a fault signal that the thread was about to get, because the fault was at
    /// the old place.
    pub(super) fn place(&mut self, thread: ThreadId, mut registers: UserRegisters) {
        registers.forget_system_call();
        self.set_registers(thread, registers);
        self.frames_ended(thread);
        let control = self.control(thread);
        control.passed = Some(registers.pc());
        if [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL].contains(&control.signal) {
            control.signal = 0;
        }
        self.moved(thread);
    }
}

/// The values of the callee-saved registers, and of SP and PC.
pub(super) fn kept(registers: Registers) -> Vec<Option<u64>> {
    let machine = registers.machine();
    { machine.callee_saved() }
        .chain([machine.sp(), machine.pc()])
        .map(|number| registers.get(number))
        .collect()
}

/// Whether the frame's module has unwind information for the frame's address.
pub(super) fn has_rules(frame: &PhysicalFrame) -> bool {
    frame.module.as_ref().is_some_and(|module| {
        let rules = module.module.unwind_rules(module.to_file(frame.lookup));
        rules.is_ok_and(|rules| rules.is_some())
    })
}
