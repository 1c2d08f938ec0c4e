//! Stepping by line: the state machine that decides, instruction by instruction, what a stepping thread does next.
//!
//! Responsible for *what* to do: single-step, run to an address, or finish. Not responsible for doing it: the owner thread
//! inserts the breakpoint, resumes and waits. So a step is a pure function of registers, memory and symbols.
//!
//! The contract. A step **over** ends at the start of another line (or statement, [`StepUnit`]) of the same activation of the function, or, when that
//! returns, in the nearest caller that has the user's source, in the middle of its line where something is left to do there.
//! Calls, and calls that were inlined, belong to the line. A step **into** ends there too, unless the line calls a function
//! with the user's source: then after that function's prologue, or at the first statement of an inlined one. Linkage stubs
//! are followed to what they call. A step **out** ends after the return, or after the inlined code. Where an exception or a
//! panic leaves what the step runs past, each of them ends at the code that catches it, and where a `longjmp` does, at the
//! `setjmp`. Code is the user's when it has lines in a source that is on this machine and isn't skipped ([`SkipList`]), as a standard library's is; who
//! starts in a library steps through library code like any other. A step into that comes to a library goes on to what of the
//! user's that calls ([`through`]), and out of that, on to what it calls next.
//!
//! A line that begins with inlined code is stopped at before that code, so that a person sees the call and can choose.
//!
//! The trick: an activation is told from its twins, recursive ones and those of coroutines, by the stack pointer. A call is
//! stepped over by running to its return address, and the arrival counts only when the stack is back at the caller's height.

mod code;
mod exits;
mod judging;
mod leaving;
pub(crate) mod options;
mod position;
mod skip;
mod source;
mod straight;
mod targets;
mod through;

use crate::Address;
use crate::step::options::Callee;
use crate::step::options::{Pace, StepKind, StepOptions, StepUnit};
use code::Instruction;
pub(crate) use code::is_system_call;
use dapple_arch::Memory;
use dapple_arch::registers::Registers;
use dapple_inspect::modules::{LoadedModule, Modules};
use dapple_inspect::unwind;
use dapple_symbols::functions::{FunctionId, InlinedCall};
use exits::Exits;
pub use position::Places;
use position::Position;
pub use skip::SkipList;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
pub use targets::targets;
use through::Gates;

/// What a decision is made from: the stepping thread as it is now.
pub struct Context<'a> {
    /// Its registers.
    pub registers: Registers,
    /// The modules.
    pub modules: &'a Modules,
    /// The debuggee's memory, without inserted bytes.
    pub memory: &'a dyn Memory,
    /// What the symbols said before.
    pub places: &'a Places,
}

/// Why a thread isn't where it would have returned to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landing {
    /// An exception or a panic: the code takes it, or cleans up on its way.
    Thrown,
    /// `longjmp`.
    Jumped,
}

/// What the stepping thread is to do. After the first two, [`Step::after`] decides again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Execute one instruction.
    SingleStep,
    /// Run, with all threads, until this thread is at `address` with its stack at `height`; or, with its stack no deeper than
    /// that, where an exception or a jump takes it instead: that is told by [`Step::landed`]. At [`Step::gates`],
    /// [`Step::at_gate`] decides.
    RunTo {
        /// Where.
        address: Address,
        /// What the stack pointer is in the activation that is meant; without it every arrival counts.
        height: Option<Address>,
    },
    /// The step is complete.
    Finished,
    /// There is nothing left to step to: no caller has source. Let the program run.
    Run,
}

/// What the last action was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A single instruction is all that was asked for.
    Instruction,
    /// An instruction of the line that stays in the activation, or jumps.
    Inside,
    /// A return instruction.
    Returning,
    /// A call, or a signal's handler, that is run past.
    Skipping,
    /// A call instruction, or a stub behind it, on the way to the callee.
    Entering(Call),
    /// The dynamic linker's resolver, up to its last jump.
    Resolving(Call),
    /// The callee's prologue.
    Prologue,
    /// The way to a caller.
    Leaving,
    /// A library's function, which may call one of the user's.
    Through(Call),
    /// Everything up to where the line may be left: a loop, for one.
    Looping,
}

/// A call being entered: how to get past it if its target is of no interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    return_to: Address,
    /// The stack pointer after the return.
    height: Address,
    /// The step has left the line that made it: back in a library, it goes on to what that calls next, or to the caller.
    left: bool,
}

/// A step under way in one thread.
#[derive(Debug)]
pub struct Step {
    kind: StepKind,
    phase: Phase,
    function: Option<FunctionId>,
    /// Where that is called.
    entry: Option<Address>,
    file: Option<Arc<Path>>,
    line: u32,
    /// Of the statement to finish; 0: unknown.
    column: u32,
    unit: StepUnit,
    /// Addresses known to belong to the line.
    range: Range<u64>,
    /// The inlined calls around the start, outermost first.
    inlined: Vec<InlinedCall>,
    /// Started in code that isn't the user's, where all code with lines is good enough.
    any_source: bool,
    /// Only the rest of what is inlined, the innermost of `inlined`, is left to run.
    only_out: bool,
    pace: Pace,
    /// Where the line may be left.
    exits: Exits,
    /// The calls on the straight way that is run: where they return to, and the stack pointer there.
    calls_ahead: Vec<(Address, Address)>,
    /// How many inlined calls that begin where the step ended are not begun.
    before: usize,
    /// Where a library may call the user's code.
    gates: Gates,
    /// The one call to go into.
    target: Option<Callee>,
    /// It is being made.
    chosen: bool,
    /// Of a step out: where the function was left to run to its direct caller.
    left: Option<Address>,
}

impl Step {
    /// Starts a step where the thread stands: before the innermost `before` of the inlined calls there.
    pub fn begin(
        kind: StepKind,
        cx: &Context<'_>,
        before: usize,
        options: StepOptions,
    ) -> (Step, Action) {
        let mut step = Step::standing(kind, cx, before, options.pace);
        step.unit = options.unit;
        step.target = options.target.filter(|_| kind == StepKind::Into);
        let action = match kind {
            StepKind::Instruction => Action::SingleStep,
            StepKind::OverInstruction => step.over_instruction(cx),
            StepKind::Out if !step.inlined.is_empty() => step.advance(cx),
            StepKind::Out => step.leave(cx),
            // No line to finish: the useful place is where the function returns to.
            StepKind::Over | StepKind::Into if step.line == 0 => step.leave(cx),
            StepKind::Over | StepKind::Into => step.advance(cx),
        };
        (step, action)
    }

    /// Starts a step out to the nearest caller that is the user's, whatever is in between.
    pub fn out_to_users(cx: &Context<'_>, pace: Pace) -> (Step, Action) {
        let mut step = Step::standing(StepKind::Out, cx, 0, pace);
        step.any_source = false;
        let action = step.leave(cx);
        (step, action)
    }

    /// A step that has done nothing yet.
    fn standing(kind: StepKind, cx: &Context<'_>, before: usize, pace: Pace) -> Step {
        let mut step = Step {
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
        };
        if !step.is_by_instruction() {
            step.any_source = !cx.position().is_some_and(|p| p.users);
            step.settle(cx);
            step.stand_before(cx, before);
        }
        step
    }

    fn is_by_instruction(&self) -> bool {
        !self.kind.is_by_line()
    }

    /// Executes one instruction, with all that it calls.
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

    /// A step out has come to the caller of the function that it left: an address in that, once.
    pub fn take_left(&mut self) -> Option<Address> {
        let arrived = self.kind == StepKind::Out && self.phase == Phase::Leaving;
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
            Phase::Prologue => self.finish(cx),
            Phase::Inside if self.left_function(cx) => self.tail_called(cx),
            Phase::Through(call) if call.left => self.arrive_in_caller(cx),
            Phase::Inside | Phase::Skipping | Phase::Through(_) | Phase::Looping => self.judge(cx),
            Phase::Returning | Phase::Leaving => self.arrive_in_caller(cx),
            Phase::Entering(call) => self.enter(call, cx),
            Phase::Resolving(call) => {
                self.phase = Phase::Entering(call);
                Action::SingleStep
            }
        }
    }

    /// Where, besides its target, [`Action::RunTo`] is to stop, at whatever height of the stack.
    pub fn gates(&self) -> impl Iterator<Item = Address> {
        let looping = self.phase == Phase::Looping;
        let exits = looping.then(|| self.exits.addresses()).into_iter();
        self.gates.addresses().chain(exits.flatten())
    }

    /// How many inlined calls that begin where the step ended are not begun: the thread is shown before them.
    pub fn before(&self) -> usize {
        self.before
    }

    /// Where the stack has the return address of the call that is run over on the way to `address`, where the stack is at `height`.
    pub fn return_place(
        &self,
        address: Address,
        height: Address,
        memory: &dyn Memory,
    ) -> Option<Address> {
        let place = |height: Address| height.offset(-8);
        let at = |height| memory.read_u64(place(height)).ok().map(Address);
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
        // What an earlier call has left may be there still, beside what this one has pushed.
        match (begun.next(), begun.next()) {
            (Some((_, height)), None) => Some(place(*height)),
            _ => None,
        }
    }

    /// The thread is at one of [`Step::gates`]. `None`: it is to run on.
    pub fn at_gate(&mut self, cx: &Context<'_>) -> Option<Action> {
        let pc = cx.registers.pc()?;
        if self.phase == Phase::Looping {
            // In another activation the stack is elsewhere.
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

    /// Instead of getting where it should, the thread was taken elsewhere: `cx` is there, in the step's activation or one
    /// around that. `doing` is what it did.
    pub fn landed(&mut self, cx: &Context<'_>, landing: Landing, doing: Action) -> Action {
        if self.is_by_instruction() {
            return Action::Finished;
        }
        match cx.position() {
            Some(at) if landing == Landing::Thrown && at.is_cleanup() => doing,
            Some(at) if at.in_users || (self.any_source && at.row.is_some()) => {
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
            // A runtime's own handler, such as the one that makes an error of a panic.
            _ => self.leave(cx),
        }
    }

    /// A signal's handler runs in the middle of the step: `cx` is at its first instruction, and what it interrupted is
    /// continued when it returns.
    pub fn signal_handler_entered(
        &mut self,
        interrupted: Address,
        stack_pointer: Address,
    ) -> Action {
        if self.phase == Phase::Instruction {
            return Action::Finished;
        }
        if self.phase == Phase::Returning {
            // The return has not happened, its instruction was only interrupted.
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

    /// Takes the place where the thread stands as the line to finish.
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

    /// Ends the step, in the user's code: out of a library's that is inlined where the thread stands, and before the calls
    /// that begin there.
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
        // In the middle of a library's code in the user's function: that has to come to its end.
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

    /// The innermost `count` inlined calls are not begun: their code belongs to the line that has the first of them.
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

    /// Executes the instruction at hand, or what it calls.
    fn advance(&mut self, cx: &Context<'_>) -> Action {
        let (Some(pc), Some(sp)) = (cx.registers.pc(), cx.registers.sp()) else {
            return Action::Finished;
        };
        let chosen = self.target == Some(Callee::Called { from: pc });
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

    /// Runs what there is up to the next jump, or the end of what is known to belong to the line.
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

    /// Whether a call at hand is gone into.
    fn goes_into(&self) -> bool {
        match self.target {
            Some(_) => self.chosen,
            None => self.kind == StepKind::Into,
        }
    }

    /// In the inlined call that was chosen: the step is complete.
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

    /// Whether the instruction at hand may be emulated: nobody asked for its very execution.
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

    /// A jump left the function: what it went to returns to this activation's caller.
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
                left: false,
            };
            return self.enter(call, cx);
        }
        self.leave(cx)
    }

    /// At the target of a call, or of a stub that a call went to.
    fn enter(&mut self, call: Call, cx: &Context<'_>) -> Action {
        let Some(pc) = cx.registers.pc() else {
            return Action::Finished;
        };
        if pc == call.return_to {
            return match call.left {
                true => self.arrive_in_caller(cx),
                false => self.judge(cx),
            };
        }
        let Some(module) = cx.modules.at(pc) else {
            return self.skip(call);
        };
        if code::is_stub(module, module.to_file(pc)) {
            self.phase = Phase::Entering(call);
            return Action::SingleStep;
        }
        if let Some(last) = code::resolver_exit(module, pc, cx.memory) {
            self.phase = Phase::Resolving(call);
            return Action::RunTo {
                address: last,
                height: None,
            };
        }
        let at = match self.is_foreign(module) && !self.chosen {
            true => None,
            false => cx.position(),
        };
        if let Some(at) = at
            && at.row.is_some()
            && (at.in_users || self.any_source || self.chosen)
        {
            self.gates.clear();
            let body = at
                .module
                .to_process(at.module.module.after_prologue(at.address));
            if body == pc || !at.is_entry() {
                return self.finish(cx);
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
        self.gates.explore(module, pc, cx);
        if self.gates.is_empty() {
            return self.skip(call);
        }
        self.phase = Phase::Through(call);
        Action::RunTo {
            address: call.return_to,
            height: Some(call.height),
        }
    }

    /// Whether a module has nothing to stop at: it's a distribution's, whose debug information takes long to read.
    fn is_foreign(&self, module: &LoadedModule) -> bool {
        !self.any_source && module.is_distributions()
    }
}

/// How many inlined calls a thread is before when a step into from before the innermost `before` of those where it stands begins
/// one of them, and ends there: the first, if it has the user's source, or the one that was chosen.
pub fn enters_inlined(cx: &Context<'_>, before: usize, target: Option<Callee>) -> Option<usize> {
    let at = cx.position().filter(|_| before > 0)?;
    let entered = at.inlined.len().checked_sub(before)?;
    match target {
        Some(Callee::Called { .. }) => None,
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

/// Whether an exception that has come here only has destructors run, and goes on.
pub fn only_cleans_up(cx: &Context<'_>) -> bool {
    cx.position().is_some_and(|at| at.is_cleanup())
}

impl Context<'_> {
    fn position(&self) -> Option<Arc<Position>> {
        self.places.at(self.registers.pc()?, self.modules)
    }
}

impl Position {
    fn function_id(&self) -> Option<FunctionId> {
        self.function.as_ref().map(|f| f.id)
    }
}
