//! The way from a function to who called it: the nearest caller with the user's source, or, on a step into, what a library on the
//! way calls of the user's before that: a closure of `map` at its end, the comparison of a sort, once more.

use super::{Action, Call, Context, Phase, Step};
use crate::frame::PhysicalFrame;
use crate::session::StepKind;
use crate::unwind;

/// How many callers are looked at for one with the user's source.
const MAX_CALLERS: usize = 256;

impl Step {
    /// Runs to the nearest caller with source. Where none has, the program runs on; but a step out of code that isn't the user's
    /// goes to the direct one.
    pub(super) fn leave(&mut self, cx: &Context<'_>) -> Action {
        let mut frame = unwind::innermost(cx.registers, cx.modules, cx.memory);
        let mut direct = None;
        for _ in 0..MAX_CALLERS {
            let Some(caller) = unwind::caller(&frame, cx.modules, cx.memory) else {
                break;
            };
            let Some(cfa) = frame.cfa else {
                break;
            };
            let target = Action::RunTo {
                address: caller.pc,
                height: Some(cfa),
            };
            if self.good(&caller, cx) {
                self.phase = Phase::Leaving;
                self.left = cx.registers.pc().filter(|_| direct.is_none());
                return target;
            }
            direct.get_or_insert(target);
            frame = caller;
        }
        self.phase = Phase::Leaving;
        self.left = None;
        match (self.kind, direct) {
            (StepKind::Out, Some(target)) if !cx.position().is_some_and(|at| at.in_users) => {
                self.left = cx.registers.pc();
                target
            }
            _ => Action::Run,
        }
    }

    /// Whether a caller is worth stopping in.
    fn good(&self, frame: &PhysicalFrame, cx: &Context<'_>) -> bool {
        let foreign = frame.module.as_ref().is_none_or(|m| self.is_foreign(m));
        let at = match foreign {
            true => None,
            false => cx.places.at(frame.lookup, cx.modules),
        };
        at.is_some_and(|at| at.row.is_some() && (at.in_users || self.any_source))
    }

    /// After a return.
    pub(super) fn arrive_in_caller(&mut self, cx: &Context<'_>) -> Action {
        if self.kind == StepKind::Out {
            return self.finish(cx);
        }
        match cx.position() {
            Some(at) if at.in_users || (self.any_source && at.row.is_some()) => {
                if at.shown_row().is_some() {
                    return self.finish(cx);
                }
                // Code of no line follows the call: finish that, as if it were the caller's line.
                self.settle(cx);
                self.advance(cx)
            }
            _ if self.kind == StepKind::Into && self.target.is_none() => self.leave_through(cx),
            _ => self.leave(cx),
        }
    }

    /// Back in a library that has called the user's code: to what of the user's it calls next, the same again or another, or else
    /// to the caller.
    fn leave_through(&mut self, cx: &Context<'_>) -> Action {
        let action = self.leave(cx);
        let Action::RunTo {
            address,
            height: Some(height),
        } = action
        else {
            return action;
        };
        self.gates.clear();
        self.gates.extend(self.entry);
        let mut frame = unwind::innermost(cx.registers, cx.modules, cx.memory);
        for _ in 0..MAX_CALLERS {
            if let Some(module) = &frame.module {
                self.gates.explore(module, frame.lookup, cx);
            }
            if frame.cfa == Some(height) {
                break;
            }
            let Some(caller) = unwind::caller(&frame, cx.modules, cx.memory) else {
                break;
            };
            frame = caller;
        }
        self.phase = Phase::Through(Call {
            return_to: address,
            height,
            left: true,
        });
        action
    }
}
