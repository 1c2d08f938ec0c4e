//! Leaving a function for the nearest caller with user source. On a step into, library code on the way may call user code first, perhaps
//! the same function again (the closure of a `map`, the comparison of a sort), and the step ends there.

use super::coroutines::is_destroying;
use super::position::Position;
use super::{Action, Call, Context, Phase, Step};
use crate::step::options::StepKind;
use dapple_inspect::frame::PhysicalFrame;
use dapple_inspect::unwind;

/// How many callers are looked at for one with the user's source.
const MAX_CALLERS: usize = 256;

impl Step {
    /// Runs to the nearest caller with user source. If there is none, lets the program run; a step out of code that isn't the user's
    /// goes to the direct caller instead.
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
            // Whether an asynchronous function is suspended is seen in its direct caller.
            if self.activation.is_some() || self.good(&caller, cx) {
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
            (StepKind::Out, Some(target))
                if self.any_source && !cx.position().is_some_and(|at| at.in_users) =>
            {
                self.left = cx.registers.pc();
                target
            }
            _ => Action::Run,
        }
    }

    /// Goes on after an inlined call was left. Around it are the outermost `inside` inlined calls at `at`, and the function. If the
    /// innermost of these is library code, runs to the innermost one that is user code, or else to a caller.
    pub(super) fn out_of_inlined(
        &mut self,
        at: &Position,
        inside: usize,
        cx: &Context<'_>,
    ) -> Action {
        if self.any_source {
            return self.finish(cx);
        }
        match (0..=inside).rfind(|depth| cx.is_of_users(at, *depth)) {
            // In another inlined call, perhaps not at its beginning: the thread is shown before it.
            Some(depth) if depth == inside && at.inlined.len() > inside => {
                self.before = at.inlined.len() - inside;
                Action::Finished
            }
            Some(depth) if depth == inside => self.finish(cx),
            Some(depth) => {
                self.settle(cx);
                self.inlined.truncate(depth + 1);
                self.advance(cx)
            }
            None => self.leave_library(cx),
        }
    }

    /// Runs to the nearest caller with user source. Clears `left`: the value that is returned there is the library function's, not that
    /// of the function that the step left.
    pub(super) fn leave_library(&mut self, cx: &Context<'_>) -> Action {
        let action = self.leave(cx);
        self.left = None;
        action
    }

    /// Whether a caller is worth stopping in.
    fn good(&self, frame: &PhysicalFrame, cx: &Context<'_>) -> bool {
        let foreign = frame.module.as_ref().is_none_or(|m| self.is_foreign(m));
        let at = match foreign {
            true => None,
            false => cx.places.at(frame.lookup, cx.modules),
        };
        at.is_some_and(|at| at.row.is_some() && self.may_end_in(&at)) && !is_destroying(frame, cx)
    }

    /// Decides after a return.
    pub(super) fn arrive_in_caller(&mut self, cx: &Context<'_>) -> Action {
        if self.kind == StepKind::Out {
            let in_users = cx.position().is_some_and(|at| self.may_end_in(&at));
            let in_users = self.any_source || in_users;
            return match self.phase == Phase::Leaving || in_users {
                true => self.finish(cx),
                // The user code was inlined into the library function that has returned.
                false => self.leave_library(cx),
            };
        }
        match cx.position() {
            Some(at) if self.may_end_in(&at) => {
                if at.shown_row().is_some() {
                    return self.finish(cx);
                }
                // Code of line 0 follows the call: finish that, as if it were the caller's line.
                self.settle(cx);
                self.advance(cx)
            }
            _ if self.kind == StepKind::Into && self.target.is_none() => self.leave_through(cx),
            _ => self.leave(cx),
        }
    }

    /// Back in a library that has called user code: runs to the next user code that it calls, the same function or another, or else to
    /// the library's caller.
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
        if self.from_own {
            self.gates.want_own_only();
        }
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

impl Context<'_> {
    /// Whether code at a place is the user's: the function's own with `depth` 0, else that of the `depth`-th inlined call around the
    /// place.
    pub(super) fn is_of_users(&self, at: &Position, depth: usize) -> bool {
        // The call site of the next inner call names the file of this code.
        match at.inlined.get(depth) {
            Some(call) => call
                .call_site
                .as_ref()
                .is_some_and(|site| self.places.is_users(&site.file)),
            None => at.users,
        }
    }
}
