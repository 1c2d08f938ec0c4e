//! Restarts a frame: its thread begins the frame's function again.
//!
//! The thread begins after the function's prologue. There the arguments are in memory, so that it doesn't matter how they were passed. If
//! the code there still reads an argument from a register, the frame can be restarted only if the prologue has also stored the argument
//! in memory ([`super::arguments`]).

use super::Owner;
use super::goto::{has_rules, kept};
use crate::event::StopReason;
use crate::{Error, unwind};
use dapple_arch::registers::Registers;
use dapple_inspect::frame::{FrameId, PhysicalFrame};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::coroutines::Activation;
use dapple_symbols::names::readable_name;
use std::sync::Arc;

impl Owner {
    pub(crate) fn restart_frame(&mut self, id: FrameId) -> Result<(), Error> {
        self.will_change_thread(id.thread)?;
        let frame = self.frame(id)?;
        let name = (frame.function.as_deref()).map_or("the function".to_owned(), readable_name);
        let refuse = |why: String| {
            Err(Error::Refused(format!(
                "`{name}` can't be begun again: {why}"
            )))
        };
        if frame.inline_depth > 0 {
            return refuse("it was inlined; begin again the function around it".into());
        }
        if !frame.is_call() {
            return refuse("it is no call on the thread's stack".into());
        }
        if Activation::of_frame(&self.reader(), &frame).is_some() {
            return refuse("its future keeps how far it has come; spawn or await a new one".into());
        }
        let stack = self.stack(id.thread, 0..id.index + 1)?;
        for passed in stack.frames.iter().filter(|frame| frame.is_call()) {
            if passed.physical.signal_trampoline {
                return refuse("a signal's handler is in between".into());
            }
            if !has_rules(&passed.physical) {
                return refuse(format!(
                    "the stack has a frame{} that nothing says how to leave",
                    passed
                        .function
                        .as_ref()
                        .map_or_else(String::new, |f| format!(" (`{}`)", readable_name(f)))
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
        let machine = physical.registers.machine();
        if let Some(lost) =
            { machine.callee_saved() }.find(|number| physical.registers.get(*number).is_none())
        {
            let lost = machine.name_of(lost).unwrap_or_default();
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
        then.set_pc(Some(body.0));
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

    /// As [`Owner::same_stack`], but compares a frame that may be in a call (`now`) with the innermost frame that registers (`then`) give.
    fn same_stack_at(&self, now: &PhysicalFrame, then: Registers) -> Result<(), &'static str> {
        let caller = unwind::caller(now, self.modules(), self.memory());
        let there = unwind::innermost(then, self.modules(), self.memory());
        let from_there = unwind::caller(&there, self.modules(), self.memory());
        let registers = |frame: Option<PhysicalFrame>| frame.map(|frame| kept(frame.registers));
        if now.cfa.is_none() || now.cfa != there.cfa || registers(caller) != registers(from_there) {
            return Err("its stack is laid out otherwise by now");
        }
        Ok(())
    }
}
