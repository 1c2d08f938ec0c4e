//! Steps in asynchronous functions. When the body returns because its future is suspended, the step isn't over: it goes on when the same
//! activation is resumed, on whichever thread, at the code behind the `await`.

use super::code::{self, Instruction};
use super::position::{Position, is_glue};
use super::{Action, Context, Phase, Places, Step};
use crate::Address;
use crate::step::options::{Pace, StepKind, StepOptions};
use dapple_arch::Memory;
use dapple_inspect::modules::Modules;
use dapple_inspect::values::coroutines::{Activation, may_be_body};
use dapple_symbols::functions::SourcePosition;
use std::sync::Arc;

/// The most instructions between the entry of a body and the code behind the suspension: a jump through a table.
const MOST_DISPATCH: u32 = 64;

/// The end of the names of destructors.
const DROP: &str = " as core::ops::drop::Drop>::drop";

/// What an access to the state of a suspended future means.
#[derive(Debug)]
pub enum Touch {
    /// The body is being resumed: the step goes on.
    Resumed(Action),
    /// The future is being dropped. The action takes the thread to the nearest user code.
    Dropped(Action),
    /// Something else, such as a copy: the step waits on.
    Other,
}

impl Step {
    /// Starts a step of a suspended asynchronous function, in which no thread is. `entry` is the address of its body.
    pub fn of_suspended(
        kind: StepKind,
        activation: Activation,
        at: &SourcePosition,
        entry: Option<Address>,
        options: &StepOptions,
    ) -> (Step, Action) {
        let step = Step {
            entry,
            file: Some(Arc::clone(&at.file)),
            line: at.line,
            column: at.column,
            unit: options.unit,
            activation: Some(activation),
            from_own: true,
            ..Step::unbegun(kind, options.pace)
        };
        (step, Action::Await)
    }

    /// The future that the step waits for, after [`Action::Await`].
    pub fn awaited(&self) -> Option<&Activation> {
        self.activation.as_ref()
    }

    pub(super) fn is_suspended(&self, memory: &dyn Memory) -> bool {
        let activation = self.activation.as_ref();
        activation.is_some_and(|activation| activation.is_suspended(memory))
    }

    /// The step has left its function by a return: to the caller, or, if the function is asynchronous and suspended, for the time being.
    pub(super) fn body_has_returned(&mut self, cx: &Context<'_>) -> Action {
        let is_cpp = self
            .activation
            .as_ref()
            .is_some_and(|it| it.frame.is_some());
        let waits = match is_cpp {
            true => self.waits_for_coroutine(cx.memory),
            false => self.is_suspended(cx.memory),
        };
        if waits {
            return Action::Await;
        }
        self.awaiter = None;
        if self.activation.take().is_some()
            && self.phase == Phase::Leaving
            && !cx.position().is_some_and(|at| self.may_end_in(&at))
        {
            return self.leave_library(cx);
        }
        self.arrive_in_caller(cx)
    }

    /// The entry of the body that the step waits for. `None` if the body is inlined.
    pub fn awaited_entry(&self, places: &Places, modules: &Modules) -> Option<Address> {
        let activation = self.activation.as_ref()?;
        let at = places.at(self.entry?, modules)?;
        let function = at.function.as_ref()?;
        (function.name == activation.function).then_some(self.entry?)
    }

    /// A thread has accessed the number that tells the future's state, or enters the future's body, by the instruction that has the byte
    /// `at`.
    pub fn touched(&mut self, cx: &Context<'_>, at: Address) -> Touch {
        let Some(activation) = &self.activation else {
            return Touch::Other;
        };
        let Some(at) = cx.places.at(at, cx.modules) else {
            return Touch::Other;
        };
        if let Some(depth) = at.names().position(|name| name == activation.function) {
            self.function = at.function_id();
            self.inlined = at.inlined.iter().take(depth).cloned().collect();
            self.exits.forget();
            self.phase = Phase::Resuming(0);
            return Touch::Resumed(self.behind_resumption(0, cx));
        }
        if at.names().any(is_glue) || !activation.is_suspended(cx.memory) {
            return self.out_of_drop(cx);
        }
        Touch::Other
    }

    /// The future is being dropped, or the C++ coroutine destroyed: the step becomes one out to the nearest code in which it may end.
    pub(super) fn out_of_drop(&mut self, cx: &Context<'_>) -> Touch {
        let mut step = Step::standing(StepKind::Out, cx, 0, Pace::default());
        step.any_source = false;
        step.from_own = self.from_own;
        let action = step.leave(cx);
        *self = step;
        Touch::Dropped(action)
    }

    /// In the resumed body: gets behind the jump to the place where it was suspended.
    pub(super) fn behind_resumption(&mut self, executed: u32, cx: &Context<'_>) -> Action {
        if self
            .activation
            .as_ref()
            .is_some_and(|it| it.frame.is_some())
        {
            return self.behind_dispatch(executed, cx);
        }
        if self.kind == StepKind::Out {
            return self.leave(cx);
        }
        if executed == 0
            && self.is_over_await()
            && let Some(action) = self.run_from_suspension(cx)
        {
            return action;
        }
        let opening = self.activation.as_ref().and_then(Activation::opening);
        let is_opening = cx.position().is_none_or(|at| at.is_on_line(opening));
        // With the body on one line, the code of the jump is the line's.
        let is_one_line = opening.is_some_and(|opening| opening.line == self.line);
        if is_opening && !is_one_line && executed < MOST_DISPATCH {
            self.phase = Phase::Resuming(executed + 1);
            return Action::SingleStep;
        }
        self.judge(cx)
    }

    /// Whether this is a step over in the body of a Rust coroutine.
    pub(super) fn is_over_await(&self) -> bool {
        let own = self.activation.as_ref();
        self.kind == StepKind::Over && own.is_some_and(|own| own.frame.is_none())
    }

    /// In the resumed body, before the jump to where it was suspended: runs to the exits of the line behind that jump. `None`: they aren't
    /// known.
    fn run_from_suspension(&mut self, cx: &Context<'_>) -> Option<Action> {
        // At the entry, the stack pointer isn't yet that of the body.
        let at = cx.position().filter(|at| !at.is_entry())?;
        let state = self.activation.as_ref()?.number(cx.memory)?;
        let state = usize::try_from(state).ok()?;
        let resumed = at.module.module.resumption(at.address, state)?;
        let resumed = at.module.to_process(resumed);
        self.run_to_exits(resumed, cx.registers.sp()?, cx)
    }

    /// In the body of an asynchronous function that was entered: gets behind the code of its opening line, which moves the arguments and jumps
    /// to the place where the body was suspended.
    pub(super) fn open(&mut self, executed: u32, cx: &Context<'_>) -> Action {
        let (Some(at), Some(pc)) = (cx.position(), cx.registers.pc()) else {
            return Action::Finished;
        };
        let function = at.function.as_ref();
        let is_opening = at.is_on_line(function.and_then(|it| it.declaration.as_ref()));
        let calls = || {
            let instruction = code::instruction_at(pc, cx.modules, cx.memory);
            matches!(instruction, Instruction::Call { .. } | Instruction::Return)
        };
        if is_opening && executed < MOST_DISPATCH && !calls() {
            self.phase = Phase::Opening(executed + 1);
            return Action::SingleStep;
        }
        self.finish(cx)
    }

    /// Whether the step may end at a place that it comes back to.
    pub(super) fn may_end_in(&self, at: &Position) -> bool {
        let users = at.in_users && (at.own || !self.from_own);
        users || (self.any_source && at.row.is_some())
    }

    /// Whether the user's code doesn't name the function of a dependency that it is about to call: the function polls a future in the middle
    /// of an `await`, or drops a value.
    pub(super) fn calls_unnamed(&self, at: &Position) -> bool {
        let name = at.function.as_ref().map_or("", |function| &function.name);
        let polls = || at.is_coroutine() || name.ends_with("::poll");
        let drops = || is_glue(name) || name.ends_with(DROP);
        self.from_own && !at.own && (drops() || (self.activation.is_some() && polls()))
    }
}

/// How many calls are inlined at the thread's position, if the code there may be an asynchronous function's.
pub fn calls_in_coroutine(cx: &Context<'_>) -> Option<usize> {
    let at = cx.position()?;
    let may_be =
        at.names().any(may_be_body) || at.module.module.cpp_coroutine_at(at.address).is_some();
    may_be.then_some(at.inlined.len())
}
