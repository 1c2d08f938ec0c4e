//! Stepping by line or instruction: the state machine that decides, stop by stop, what a stepping thread does next.
//!
//! This module decides *what* to do: single-step, run to an address, or finish. The owner thread does it: it inserts the breakpoint,
//! resumes and waits. So a step is a pure function of registers, memory and symbols.
//!
//! The contract of steps by line:
//! - A step **over** ends at the start of another line (or statement, [`StepUnit`]) of the same activation. If the activation returns,
//!   it ends in the nearest caller with user source: in the middle of the caller's line, if code of that line is left to run. Calls,
//!   inlined ones too, belong to the line.
//! - A step **into** ends there too, unless the line calls a function with user source. Then it ends after that function's prologue, or
//!   at the first statement of an inlined one. Linkage stubs are followed to the function that they jump to.
//! - A step **out** ends after the return, in the nearest caller with user source, or after the inlined code. Out of library code, it ends
//!   in the direct caller if no caller has user source.
//! - In an asynchronous function, the activation is that of its future: if the function returns because that is suspended, the step goes
//!   on when it is resumed ([`awaiting`]).
//! - If an exception or a panic unwinds past the place that a step runs to, the step ends at the code that catches it; after a
//!   `longjmp`, at the `setjmp`.
//!
//! Code is user code if its line is in a source file that exists on this machine, and neither that file nor the function is skipped
//! ([`SkipList`]; files of standard libraries are by default). All other code is library code. A step that starts in library code steps
//! through library code like any other. A step into that comes to library code goes on to the user code that this calls ([`through`]),
//! and after leaving that user code, to the user code that the library calls next.
//!
//! If a line begins with inlined code, a step stops before that code, so that the user sees the call and can step into it or over it.
//!
//! The trick: the stack pointer tells an activation from others of the same function, in a recursion or in coroutines. A call is
//! stepped over by running to its return address, and the arrival counts only if the stack is back at the caller's height.

mod awaiting;
pub mod code;
mod coroutines;
mod exits;
mod judging;
mod leaving;
mod line_range;
mod linked;
pub(crate) mod options;
mod position;
mod skip;
mod source;
mod spawned;
mod straight;
mod targets;
mod through;

use crate::Address;
use crate::step::options::Callee;
use crate::step::options::{Pace, StepKind, StepOptions, StepUnit};
pub use awaiting::{Touch, calls_in_coroutine};
use code::Instruction;
pub use coroutines::is_users_coroutine;
use dapple_arch::Memory;
use dapple_arch::registers::Registers;
use dapple_inspect::modules::Modules;
use dapple_inspect::unwind;
use dapple_inspect::values::coroutines::Activation;
use dapple_symbols::functions::{FunctionId, InlinedCall};
use exits::Exits;
pub use position::Places;
use position::Position;
pub use skip::{SkipList, ThirdParty};
pub(crate) use source::begin_of_statement;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
pub use targets::targets;
use through::Gates;

/// What a decision is made from: the stepping thread's current state.
pub struct Context<'a> {
    /// Its registers.
    pub registers: Registers,
    /// The modules.
    pub modules: &'a Modules,
    /// The debuggee's memory, without inserted bytes.
    pub memory: &'a dyn Memory,
    /// Cached symbol lookups.
    pub places: &'a Places,
}

/// Why a thread arrived elsewhere than at the address that it should have returned to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landing {
    /// An exception or a panic: the code there catches it, or runs destructors.
    Thrown,
    /// `longjmp`.
    Jumped,
}

/// What the stepping thread does next. After the first two, [`Step::after`] decides again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Execute one instruction.
    SingleStep,
    /// Run, with all threads that may run, until this thread is at `address` with its stack pointer at `height`. If an exception or a
    /// `longjmp` takes the thread elsewhere in the step's frame, or to an outer one, [`Step::landed`] decides. At one of [`Step::gates`],
    /// [`Step::at_gate`] decides.
    RunTo {
        /// The target address.
        address: Address,
        /// The stack pointer in the activation that is meant. `None`: every arrival counts.
        height: Option<Address>,
    },
    /// Run until the future is resumed whose body the step is about, on whichever thread, or dropped: then [`Step::touched`] decides. The
    /// future is suspended.
    Await,
    /// Run until the body begins of the future that the function was given in which the thread is ([`Step::followed_parameter`]), on
    /// whichever thread: then [`Step::begins_future`] decides.
    Follow,
    /// The step is complete.
    Finished,
    /// There is nothing left to step to: no caller has source. Let the program run.
    Run,
}

/// What the last action was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A step by a single instruction.
    Instruction,
    /// An instruction or a straight stretch of the line, in the step's activation. A jump there may leave the function (a tail call).
    Inside,
    /// A return instruction.
    Returning,
    /// A call or a signal handler that the step runs over.
    Skipping,
    /// A call instruction, or a linkage stub after it, on the way to the callee.
    Entering(Call),
    /// The dynamic linker's resolver, up to its last jump.
    Resolving(Call),
    /// The callee's prologue.
    Prologue,
    /// Running to a caller.
    Leaving,
    /// Running through a library function, which may call user code.
    Through(Call),
    /// Running to one of the line's exits, mostly out of a loop.
    Looping,
    /// In the resumed body, on the way to the code behind the suspension. The number: how many instructions were executed.
    Resuming(u32),
    /// In the body of an asynchronous function that was entered, on the way to its first statement, or to the `await` that it was suspended
    /// at. The number: as in [`Phase::Resuming`].
    Opening(u32),
    /// In the body of a C++ coroutine that was entered, on the way to where it goes on. The number: as in [`Phase::Resuming`].
    Dispatching(u32, Call),
}

/// A call being entered, with what is needed to run over it if its target is of no interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    return_to: Address,
    /// The stack pointer after the return.
    height: Address,
    /// The step has left the line that made the call. Back in a library, it goes on to the user code that the library calls next, or to
    /// the library's caller.
    left: bool,
}

/// A step under way in one thread.
#[derive(Debug)]
pub struct Step {
    kind: StepKind,
    phase: Phase,
    function: Option<FunctionId>,
    /// The function's entry address.
    entry: Option<Address>,
    file: Option<Arc<Path>>,
    line: u32,
    /// The column of the statement to finish; 0: unknown.
    column: u32,
    unit: StepUnit,
    /// Addresses known to belong to the line.
    range: Range<u64>,
    /// The inlined calls around the start, outermost first.
    inlined: Vec<InlinedCall>,
    /// The step started in code that isn't the user's, so it may end in any code that has lines.
    any_source: bool,
    /// Lines don't end the step: it goes on until it is out of the innermost call of `inlined`.
    only_out: bool,
    pace: Pace,
    /// The places where the line may be left.
    exits: Exits,
    /// The calls in the straight stretch being run: the return address, and the stack pointer after the return.
    calls_ahead: Vec<(Address, Address)>,
    /// How many of the inlined calls that begin at the step's end are not entered yet.
    before: usize,
    /// Where library code may call user code.
    gates: Gates,
    /// The only call to step into, if one was selected.
    target: Option<Callee>,
    /// The selected call is being made.
    chosen: bool,
    /// For a step out to the direct caller: an address in the function that it left.
    left: Option<Address>,
    /// The activation of the asynchronous function that the step is about, until it has returned.
    activation: Option<Activation>,
    /// The user's C++ coroutine that goes on when that one ends.
    awaiter: Option<Activation>,
    /// Where the body begins of the C++ coroutine that the line has made, for a step into.
    made: Option<Address>,
    /// The step is in the awaiter, and ends behind where that was suspended.
    arrives: bool,
    /// The step started in the user's own code, so it doesn't end in a dependency that it comes back to.
    from_own: bool,
    /// The step started on a line of the user's own, so it doesn't end on a line that a dependency's macro has left in the function.
    from_own_line: bool,
    /// The name of the function that the linkage stub leads to which the thread was in last.
    linked: Option<String>,
}

impl Step {
    /// Starts a step at the thread's position, where the innermost `before` inlined calls are not entered yet. `activation`: that of the
    /// asynchronous function there.
    pub fn begin(
        kind: StepKind,
        cx: &Context<'_>,
        before: usize,
        options: StepOptions,
        activation: Option<Activation>,
        awaiter: Option<Activation>,
    ) -> (Step, Action) {
        let mut step = Step::standing(kind, cx, before, options.pace);
        step.activation = activation.filter(|_| kind.is_by_line());
        step.awaiter = awaiter.filter(|_| step.activation.is_some());
        step.unit = options.unit;
        step.widen(cx);
        step.target = options.target.filter(|_| kind == StepKind::Into);
        let action = match kind {
            StepKind::Instruction => Action::SingleStep,
            StepKind::OverInstruction => step.over_instruction(cx),
            StepKind::Out if !step.inlined.is_empty() => step.advance(cx),
            StepKind::Out if step.waits_for_awaiter() => Action::Await,
            StepKind::Out => step.leave(cx),
            // No line to finish: the useful place is where the function returns to.
            StepKind::Over | StepKind::Into if step.line == 0 => step.leave(cx),
            StepKind::Over | StepKind::Into => step.advance(cx),
        };
        (step, action)
    }

    /// Starts a step out to the nearest caller in user code, however many frames are in between.
    pub fn out_to_users(cx: &Context<'_>, pace: Pace) -> (Step, Action) {
        let mut step = Step::standing(StepKind::Out, cx, 0, pace);
        step.any_source = false;
        let action = step.leave(cx);
        (step, action)
    }

    /// A step that has done nothing yet.
    fn standing(kind: StepKind, cx: &Context<'_>, before: usize, pace: Pace) -> Step {
        let mut step = Step::unbegun(kind, pace);
        if !step.is_by_instruction() {
            let at = cx.position();
            step.any_source = !at.as_ref().is_some_and(|at| at.users);
            step.from_own_line = at.as_ref().is_some_and(|at| at.own_line);
            step.from_own = at.is_some_and(|at| at.users && at.own);
            step.settle(cx);
            step.stand_before(cx, before);
        }
        step
    }

    /// A step that is nowhere yet.
    fn unbegun(kind: StepKind, pace: Pace) -> Step {
        Step {
            kind,
            phase: Phase::Instruction,
            function: None,
            entry: None,
            file: None,
            line: 0,
            column: 0,
            unit: StepUnit::Line,
            range: 0..0,
            inlined: Vec::new(),
            any_source: false,
            only_out: kind == StepKind::Out,
            pace,
            exits: Exits::default(),
            calls_ahead: Vec::new(),
            before: 0,
            gates: Gates::default(),
            target: None,
            chosen: false,
            left: None,
            activation: None,
            awaiter: None,
            made: None,
            arrives: false,
            from_own: false,
            from_own_line: false,
            linked: None,
        }
    }

    fn is_by_instruction(&self) -> bool {
        !self.kind.is_by_line()
    }

    /// Executes one instruction. If it is a call, runs until that has returned.
    fn over_instruction(&mut self, cx: &Context<'_>) -> Action {
        let (Some(pc), Some(sp)) = (cx.registers.pc(), cx.registers.sp()) else {
            return Action::Finished;
        };
        match code::instruction_at(pc, cx.modules, cx.memory) {
            Instruction::Call { length } => self.skip(Call {
                return_to: pc.offset(length),
                height: sp,
                left: false,
            }),
            _ => Action::SingleStep,
        }
    }

    /// If a step out has arrived in the direct caller of the function that it left: an address in that function. Returned only once.
    pub fn take_left(&mut self, memory: &dyn Memory) -> Option<Address> {
        let arrived = self.kind == StepKind::Out
            && self.phase == Phase::Leaving
            && !self.is_suspended(memory);
        self.left.take().filter(|_| arrived)
    }

    /// Decides what follows when the last action is complete.
    pub fn after(&mut self, cx: &Context<'_>) -> Action {
        let pc = cx.registers.pc().unwrap_or_default();
        if let Some(finished) = self.in_target(cx) {
            return finished;
        }
        match self.phase {
            // By far the most frequent case needs no symbols.
            Phase::Inside if !self.only_out && self.range.contains(&pc.0) => self.advance(cx),
            Phase::Instruction => Action::Finished,
            Phase::Skipping if self.is_by_instruction() => Action::Finished,
            Phase::Prologue => self.in_selected(cx),
            Phase::Inside if self.left_function(cx) || self.passed_control(cx) => {
                self.tail_called(cx)
            }
            Phase::Through(call) if call.left => self.body_has_returned(cx),
            Phase::Inside | Phase::Skipping | Phase::Through(_) | Phase::Looping => self.judge(cx),
            Phase::Returning | Phase::Leaving => self.body_has_returned(cx),
            Phase::Resuming(executed) => self.behind_resumption(executed, cx),
            Phase::Opening(executed) => self.open(executed, cx),
            Phase::Dispatching(executed, call) => self.open_coroutine(executed, call, cx),
            Phase::Entering(call) => self.enter(call, cx),
            Phase::Resolving(call) => {
                self.phase = Phase::Entering(call);
                Action::SingleStep
            }
        }
    }

    /// The addresses, besides the target, at which [`Action::RunTo`] must stop at any height of the stack.
    pub fn gates(&self) -> impl Iterator<Item = Address> {
        let looping = self.phase == Phase::Looping;
        let exits = looping.then(|| self.exits.addresses()).into_iter();
        self.gates.addresses().chain(exits.flatten())
    }

    /// How many of the inlined calls that begin at the step's end are not entered yet: the thread is shown before them.
    pub fn before(&self) -> usize {
        self.before
    }

    /// The stack slot that holds the return address of the call being run over, on the way to `address` with the stack at `height`.
    /// `None` if no such slot is certain.
    pub fn return_place(
        &self,
        address: Address,
        height: Address,
        memory: &dyn Memory,
    ) -> Option<Address> {
        let place = |height: Address| height.offset(-8);
        let at = |height| memory.read_address(place(height)).ok().map(Address);
        if self.phase == Phase::Looping {
            let returns_inside = self.exits.height_inside(at(height)?) == Some(height);
            return returns_inside.then(|| place(height));
        }
        if self.gates.addresses().next().is_some() {
            return None;
        }
        let call = [(address, height)];
        let calls = match self.phase {
            Phase::Inside => self.calls_ahead.as_slice(),
            _ => &call,
        };
        let mut begun = calls.iter().filter(|(to, height)| at(*height) == Some(*to));
        // Two matches are ambiguous: one may be a return address that an earlier call has left on the stack.
        match (begun.next(), begun.next()) {
            (Some((_, height)), None) => Some(place(*height)),
            _ => None,
        }
    }

    /// Decides at one of [`Step::gates`]. `None`: the thread runs on.
    pub fn at_gate(&mut self, cx: &Context<'_>) -> Option<Action> {
        let pc = cx.registers.pc()?;
        if self.phase == Phase::Looping {
            // The stack pointer differs in another activation.
            let here = self.exits.height_at(pc) == cx.registers.sp();
            return here.then(|| self.after(cx));
        }
        let Phase::Through(call) = self.phase else {
            return None;
        };
        match self.gates.pass(pc)? {
            through::Gate::Users => match cx.position()? {
                at if at.is_entry() => Some(self.enter(call, cx)),
                _ => Some(Action::Finished),
            },
            through::Gate::Indirect => {
                self.phase = Phase::Entering(call);
                Some(Action::SingleStep)
            }
        }
    }

    /// Decides after an exception or a `longjmp` took the thread to another place, in the step's activation or an outer one. `doing` is
    /// the action that was under way.
    pub fn landed(&mut self, cx: &Context<'_>, landing: Landing, doing: Action) -> Action {
        if self.is_by_instruction() {
            return Action::Finished;
        }
        match cx.position() {
            Some(at) if landing == Landing::Thrown && at.is_cleanup() => doing,
            Some(at) if self.may_end_in(&at) => {
                let starts_line = at.begins_statement()
                    && at.row.as_ref().is_some_and(|row| {
                        row.line != self.line || at.function_id() != self.function
                    });
                if landing == Landing::Jumped || self.kind == StepKind::Out || starts_line {
                    return self.finish(cx);
                }
                self.settle(cx);
                self.advance(cx)
            }
            // A runtime's own handler, such as the one that turns a panic into an error.
            _ => self.leave(cx),
        }
    }

    /// A signal handler starts in the middle of the step: runs until it returns to the interrupted code. A step by one instruction ends in
    /// the handler.
    pub fn signal_handler_entered(
        &mut self,
        interrupted: Address,
        stack_pointer: Address,
    ) -> Action {
        if self.phase == Phase::Instruction {
            return Action::Finished;
        }
        if self.phase == Phase::Returning {
            // The return instruction was interrupted before it executed.
            self.phase = Phase::Inside;
        }
        if !matches!(self.phase, Phase::Entering(_)) {
            self.phase = Phase::Skipping;
            self.gates.clear();
        }
        Action::RunTo {
            address: interrupted,
            height: Some(stack_pointer),
        }
    }

    /// Takes the thread's position as the line to finish.
    fn settle(&mut self, cx: &Context<'_>) {
        let Some(at) = cx.position() else {
            return;
        };
        self.exits.forget();
        self.function = at.function_id();
        let entry = at.function.as_ref().map(|function| function.entry);
        self.entry = entry.map(|entry| at.module.to_process(entry));
        self.inlined.clone_from(&at.inlined);
        match at.shown_row() {
            Some(row) => {
                self.line = row.line;
                self.column = row.column;
                self.range = at.range(&row.range);
                self.file = Some(row.file);
            }
            None => self.line = 0,
        }
    }

    /// Ends the step. If it may only end in user code, it stops before inlined calls that begin here and are written in user code. In
    /// library code inlined into a user function, it goes on to that code's end.
    fn finish(&mut self, cx: &Context<'_>) -> Action {
        let Some(at) = cx.position() else {
            return Action::Finished;
        };
        if self.any_source {
            return Action::Finished;
        }
        let begins = |call: &&InlinedCall| {
            call.ranges
                .first()
                .is_some_and(|code| code.start == at.address)
                && call
                    .call_site
                    .as_ref()
                    .is_some_and(|site| cx.places.is_users(&site.file))
        };
        if let Some(first) = at.inlined.iter().position(|call| begins(&call)) {
            self.before = at.inlined.len() - first;
            return Action::Finished;
        }
        if at.users || !at.in_users {
            return Action::Finished;
        }
        // In the middle of library code inlined into a user function: run to its end first.
        let sites = at.inlined.iter().map(|call| call.call_site.as_ref());
        let users = sites
            .rev()
            .position(|site| site.is_some_and(|s| cx.places.is_users(&s.file)));
        self.settle(cx);
        let inside = users.map_or(0, |from_last| at.inlined.len() - from_last);
        self.inlined.truncate(inside);
        self.only_out = true;
        self.advance(cx)
    }

    /// Takes the innermost `count` inlined calls as not entered yet: their code belongs to the line on which the outermost of them is
    /// called.
    fn stand_before(&mut self, cx: &Context<'_>, count: usize) {
        let outer = self.inlined.len().saturating_sub(count);
        let Some(first) = self.inlined.get(outer) else {
            return;
        };
        if let Some(site) = &first.call_site {
            self.line = site.line;
            self.column = site.column;
            self.file = Some(Arc::clone(&site.file));
            self.any_source = !cx.places.is_users(&site.file);
            self.inlined.truncate(outer);
        }
    }

    /// Goes on from the current instruction: one instruction, a straight stretch, a call, or up to the line's exits.
    fn advance(&mut self, cx: &Context<'_>) -> Action {
        let (Some(pc), Some(sp)) = (cx.registers.pc(), cx.registers.sp()) else {
            return Action::Finished;
        };
        let chosen = match self.target {
            Some(Callee::Called { from } | Callee::Future { from, .. }) => from == pc,
            Some(Callee::Inlined { .. }) | None => false,
        };
        match code::instruction_at(pc, cx.modules, cx.memory) {
            Instruction::Call { length } => {
                let call = Call {
                    return_to: pc.offset(length),
                    height: sp,
                    left: false,
                };
                self.chosen |= chosen;
                if self.goes_into() {
                    self.phase = Phase::Entering(call);
                    Action::SingleStep
                } else {
                    self.skip(call)
                }
            }
            Instruction::Return => {
                self.phase = Phase::Returning;
                Action::SingleStep
            }
            Instruction::Other => {
                self.chosen |= chosen;
                if let Some(action) = self.run_to_exits(pc, sp, cx) {
                    return action;
                }
                self.phase = Phase::Inside;
                self.run_straight(pc, sp, cx).unwrap_or(Action::SingleStep)
            }
        }
    }

    /// Runs up to the next jump, to a call that the step goes into, or to the end of the code that is known to belong to the line. `None`:
    /// the thread is to be single-stepped.
    fn run_straight(&mut self, pc: Address, sp: Address, cx: &Context<'_>) -> Option<Action> {
        if self.pace == Pace::EachInstruction || self.only_out {
            return None;
        }
        let limit = match self.range.contains(&pc.0) {
            true => self.range.end,
            false => {
                let at = cx.position()?;
                at.range(&at.row.as_ref()?.range).end
            }
        };
        let limit = match self.target {
            Some(Callee::Inlined { start, .. }) if start > pc => limit.min(start.0),
            _ => limit,
        };
        let over = self.kind != StepKind::Into;
        let straight = straight::ahead(pc, sp.0, limit, over, cx.modules, cx.memory)?;
        self.calls_ahead = straight.calls;
        Some(Action::RunTo {
            address: straight.end,
            height: Some(Address(straight.stack_pointer)),
        })
    }

    /// Whether to step into the call at the current instruction.
    fn goes_into(&self) -> bool {
        match self.target {
            Some(_) => self.chosen,
            None => self.kind == StepKind::Into,
        }
    }

    /// Finishes the step if the thread is in the selected inlined call.
    fn in_target(&mut self, cx: &Context<'_>) -> Option<Action> {
        let Some(Callee::Inlined { start, depth }) = self.target else {
            return None;
        };
        if !matches!(self.phase, Phase::Inside | Phase::Skipping) {
            return None;
        }
        let at = cx.position()?;
        let code = at.inlined.get(depth)?.ranges.first()?;
        if at.module.to_process(code.start) != start || at.row.is_none() {
            return None;
        }
        let inner = at.inlined.get(depth + 1..)?.iter();
        let begun = inner.take_while(|call| !targets::begins(call, &at)).count();
        self.before = at.inlined.len() - depth - 1 - begun;
        Some(Action::Finished)
    }

    /// Whether the current instruction may be emulated: not if executing single instructions was asked for.
    pub fn may_emulate(&self) -> bool {
        self.pace != Pace::EachInstruction && self.phase != Phase::Instruction
    }

    fn skip(&mut self, call: Call) -> Action {
        self.gates.clear();
        self.phase = match call.left {
            true => Phase::Leaving,
            false => Phase::Skipping,
        };
        Action::RunTo {
            address: call.return_to,
            height: Some(call.height),
        }
    }

    fn left_function(&self, cx: &Context<'_>) -> bool {
        match cx.position() {
            Some(at) => at.function_id() != self.function,
            None => self.function.is_some(),
        }
    }

    /// After a tail call: the callee returns to this activation's caller.
    fn tail_called(&mut self, cx: &Context<'_>) -> Action {
        let Some(sp) = cx.registers.sp() else {
            return Action::Finished;
        };
        let frame = unwind::innermost(cx.registers, cx.modules, cx.memory);
        let Some(caller) = unwind::caller(&frame, cx.modules, cx.memory) else {
            return Action::Run;
        };
        if self.goes_into() {
            let call = Call {
                return_to: caller.pc,
                height: frame.cfa.unwrap_or(sp),
                // A coroutine that has passed control to another has returned when that returns.
                left: self.coroutines().next().is_some(),
            };
            return self.enter(call, cx);
        }
        self.leave(cx)
    }

    /// Decides after a call instruction, a tail call, or an instruction of a linkage stub on the way to the callee. The thread may also be
    /// back at the return address.
    fn enter(&mut self, call: Call, cx: &Context<'_>) -> Action {
        let Some(pc) = cx.registers.pc() else {
            return Action::Finished;
        };
        if pc == call.return_to {
            return match call.left {
                true => self.body_has_returned(cx),
                false => self.judge(cx),
            };
        }
        let Some(module) = cx.modules.at(pc) else {
            return self.skip(call);
        };
        if code::is_stub(module, module.to_file(pc)) {
            self.linked = code::linked_name(module, module.to_file(pc)).or(self.linked.take());
            self.phase = Phase::Entering(call);
            return Action::SingleStep;
        }
        let linked = self.linked.take();
        if let Some(last) = code::resolver_exit(module, pc, cx.memory) {
            self.phase = Phase::Resolving(call);
            return Action::RunTo {
                address: last,
                height: None,
            };
        }
        if let Some(name) = linked.filter(|_| code::is_dynamic_linker(module)) {
            return self.enter_linked(&name, call, cx);
        }
        let at = match self.is_foreign(module) && !self.chosen {
            true => None,
            false => cx.position(),
        };
        if let Some(at) = at
            && at.row.is_some()
            && (self.gates.want(&at) || self.any_source || self.chosen)
            && !self.calls_unnamed(&at)
            && (self.chosen || !at.serves)
        {
            if !self.chosen && at.module.module.makes_future_at(at.address) {
                return self.skip(call);
            }
            self.gates.clear();
            let follows = self.followed_parameter().is_some();
            if at.is_entry() && at.is_coroutine() && !follows {
                return self.open(0, cx);
            }
            if at.is_entry() && at.is_cpp_body() {
                return self.open_coroutine(0, call, cx);
            }
            let body = at
                .module
                .to_process(at.module.module.after_prologue(at.address));
            if body == pc || !at.is_entry() {
                return self.in_selected(cx);
            }
            self.phase = Phase::Prologue;
            return Action::RunTo {
                address: body,
                height: None,
            };
        }
        if self.chosen {
            return Action::Finished;
        }
        if let Some(at) = cx.position().filter(|at| at.serves) {
            return self.enter_coroutines(&at, call, cx);
        }
        if cx.position().is_some_and(|at| self.calls_unnamed(&at)) {
            self.gates.want_own_only();
        }
        self.gates.explore(module, pc, cx);
        self.run_through(call)
    }

    /// Runs through a library function to the first of its gates, or over the call if it has none.
    fn run_through(&mut self, call: Call) -> Action {
        if self.gates.is_empty() {
            return self.skip(call);
        }
        self.phase = Phase::Through(call);
        Action::RunTo {
            address: call.return_to,
            height: Some(call.height),
        }
    }
}

/// A step into that starts before the innermost `before` inlined calls may end without moving the thread: in the first of them, if that
/// has user source, or in the selected one (`target`). Returns how many inlined calls are then not entered yet; `None`: the thread has
/// to run.
pub fn enters_inlined(cx: &Context<'_>, before: usize, target: Option<Callee>) -> Option<usize> {
    let at = cx.position().filter(|_| before > 0)?;
    let entered = at.inlined.len().checked_sub(before)?;
    match target {
        Some(Callee::Called { .. } | Callee::Future { .. }) => None,
        Some(Callee::Inlined { start, depth }) => {
            let begins = at.module.to_process(at.address) == start;
            (begins && depth >= entered).then(|| at.inlined.len().saturating_sub(depth + 1))
        }
        None => {
            let users = match at.inlined.get(entered + 1) {
                Some(inner) => inner
                    .call_site
                    .as_ref()
                    .is_some_and(|site| cx.places.is_users(&site.file)),
                None => at.users,
            };
            users.then_some(before - 1)
        }
    }
}

/// Whether an exception that landed here only runs destructors, and unwinds further.
pub fn only_cleans_up(cx: &Context<'_>) -> bool {
    cx.position().is_some_and(|at| at.is_cleanup())
}

impl Context<'_> {
    fn position(&self) -> Option<Arc<Position>> {
        self.places.at(self.registers.pc()?, self.modules)
    }
}
