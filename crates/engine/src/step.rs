//! Stepping by line: the state machine that decides, instruction by instruction, what a stepping thread does next.
//!
//! Responsible for *what* to do: single-step, run to an address, or finish. Not responsible for doing it: the owner thread
//! inserts the breakpoint, resumes and waits. So a step is a pure function of registers, memory and symbols.
//!
//! The contract. A step **over** ends at the start of another line of the same activation of the function, or, when that
//! returns, in the nearest caller that has the user's source, in the middle of its line where something is left to do there.
//! Calls, and calls that were inlined, belong to the line. A step **into** ends there too, unless the line calls a function
//! with the user's source: then after that function's prologue, or at the first statement of an inlined one. Linkage stubs
//! are followed to what they call. A step **out** ends after the return, or after the inlined code. Where an exception or a
//! panic leaves what the step runs past, each of them ends at the code that catches it. Code is the user's when
//! it has lines in a source that is on this machine and isn't a standard library's; who starts in a library steps through library code like any other.
//!
//! The trick: an activation is told from its recursive twins by the stack pointer. A call is stepped over by running to its
//! return address, and the arrival counts only when the stack is back at the caller's height.

mod code;

use crate::Address;
use crate::frame::PhysicalFrame;
use crate::memory::Memory;
use crate::modules::{LoadedModule, Modules};
use crate::registers::Registers;
use crate::session::StepKind;
use crate::unwind;
use code::Instruction;
use dapple_symbols::FileAddress;
use dapple_symbols::functions::{FunctionId, InlinedCall};
use dapple_symbols::lines::LineRow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How many callers are looked at for one with the user's source.
const MAX_CALLERS: usize = 256;

/// What a decision is made from: the stepping thread as it is now.
pub struct Context<'a> {
    /// Its registers.
    pub registers: Registers,
    /// The modules.
    pub modules: &'a Modules,
    /// The debuggee's memory, without inserted bytes.
    pub memory: &'a dyn Memory,
}

/// What the stepping thread is to do. After the first two, [`Step::after`] decides again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Execute one instruction.
    SingleStep,
    /// Run, with all threads, until this thread is at `address` with its stack pointer greater than `above`; or, with such a
    /// stack pointer, where it takes an exception that keeps it from getting there: that is told by [`Step::landed`].
    RunTo {
        /// Where.
        address: Address,
        /// The guard; 0 lets every arrival count.
        above: u64,
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
}

/// A call being entered: how to get past it if its target is of no interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    return_to: Address,
    /// The stack pointer after the return is greater than this.
    above: u64,
}

/// A step under way in one thread.
#[derive(Debug)]
pub struct Step {
    kind: StepKind,
    phase: Phase,
    function: Option<FunctionId>,
    file: Option<Arc<Path>>,
    line: u32,
    /// Addresses known to belong to the line.
    range: Range<u64>,
    /// The inlined calls around the start, outermost first.
    inlined: Vec<InlinedCall>,
    /// Started in code that isn't the user's, where all code with lines is good enough.
    any_source: bool,
}

impl Step {
    /// Starts a step where the thread stands: before the innermost `before` of the inlined calls there.
    pub fn begin(kind: StepKind, cx: &Context<'_>, before: usize) -> (Step, Action) {
        let mut step = Step {
            kind,
            phase: Phase::Instruction,
            function: None,
            file: None,
            line: 0,
            range: 0..0,
            inlined: Vec::new(),
            any_source: false,
        };
        let action = match kind {
            StepKind::Instruction => Action::SingleStep,
            StepKind::Out => step.begin_out(cx, before),
            StepKind::Over | StepKind::Into => {
                step.any_source = !cx.position().is_some_and(|p| p.users);
                step.settle(cx);
                step.stand_before(before);
                if step.line == 0 {
                    // No line to finish: the useful place is where the function returns to.
                    step.leave(cx)
                } else {
                    step.advance(cx)
                }
            }
        };
        (step, action)
    }

    /// Decides what follows when the last action is complete.
    pub fn after(&mut self, cx: &Context<'_>) -> Action {
        let pc = cx.registers.pc().unwrap_or_default();
        match self.phase {
            // By far the most frequent case needs no symbols.
            Phase::Inside if self.kind != StepKind::Out && self.range.contains(&pc.0) => {
                self.advance(cx)
            }
            Phase::Instruction | Phase::Prologue => Action::Finished,
            Phase::Inside if self.left_function(cx) => self.tail_called(cx),
            Phase::Inside | Phase::Skipping => self.judge(cx),
            Phase::Returning | Phase::Leaving => self.arrive_in_caller(cx),
            Phase::Entering(call) => self.enter(call, cx),
            Phase::Resolving(call) => {
                self.phase = Phase::Entering(call);
                Action::SingleStep
            }
        }
    }

    /// Instead of getting where it should, the thread has left its calls by an exception or a panic: `cx` is at the code that
    /// takes it, in the step's activation or one around that.
    pub fn landed(&mut self, cx: &Context<'_>) -> Action {
        match cx.position() {
            Some(at) if at.users || (self.any_source && at.row.is_some()) => {
                let starts_line = at.row.as_ref().is_some_and(|row| {
                    row.is_stmt
                        && cx.registers.pc() == Some(at.module.to_process(row.range.start))
                        && (row.line != self.line || at.function != self.function)
                });
                if self.kind == StepKind::Out || starts_line {
                    return Action::Finished;
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
    pub fn signal_handler_entered(&mut self, interrupted: Address, stack_pointer: u64) -> Action {
        if self.phase == Phase::Instruction {
            return Action::Finished;
        }
        if self.phase == Phase::Returning {
            // The return has not happened, its instruction was only interrupted.
            self.phase = Phase::Inside;
        }
        if !matches!(self.phase, Phase::Entering(_)) {
            self.phase = Phase::Skipping;
        }
        Action::RunTo {
            address: interrupted,
            above: stack_pointer.wrapping_sub(1),
        }
    }

    /// Takes the place where the thread stands as the line to finish.
    fn settle(&mut self, cx: &Context<'_>) {
        let Some(at) = cx.position() else {
            return;
        };
        self.function = at.function;
        self.inlined = at.module.module.inlined_at(at.address);
        match at.row {
            Some(row) => {
                self.line = row.line;
                self.range = at.module.range(&row.range);
                self.file = Some(row.file);
            }
            None => self.line = 0,
        }
    }

    /// The innermost `count` inlined calls are not begun: their code belongs to the line that has the first of them.
    fn stand_before(&mut self, count: usize) {
        let outer = self.inlined.len().saturating_sub(count);
        let Some(first) = self.inlined.get(outer) else {
            return;
        };
        if let Some(site) = &first.call_site {
            self.line = site.line;
            self.file = Some(Arc::clone(&site.file));
            self.any_source = !is_users(&site.file);
            self.inlined.truncate(outer);
        }
    }

    /// Executes the instruction at hand, or what it calls.
    fn advance(&mut self, cx: &Context<'_>) -> Action {
        let (Some(pc), Some(sp)) = (cx.registers.pc(), cx.registers.sp()) else {
            return Action::Finished;
        };
        match code::instruction_at(pc, cx.modules, cx.memory) {
            Instruction::Call { length } => {
                let call = Call {
                    return_to: pc.offset(length),
                    above: sp.0.wrapping_sub(1),
                };
                if self.kind == StepKind::Into {
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
                self.phase = Phase::Inside;
                Action::SingleStep
            }
        }
    }

    fn skip(&mut self, call: Call) -> Action {
        self.phase = Phase::Skipping;
        Action::RunTo {
            address: call.return_to,
            above: call.above,
        }
    }

    /// In the same activation: is this another line?
    fn judge(&mut self, cx: &Context<'_>) -> Action {
        let Some(pc) = cx.registers.pc() else {
            return Action::Finished;
        };
        if self.kind != StepKind::Out && self.range.contains(&pc.0) {
            return self.advance(cx);
        }
        let Some(at) = cx.position() else {
            return self.advance(cx);
        };
        let Some(row) = &at.row else {
            return self.advance(cx);
        };
        let inlined = at.module.module.inlined_at(at.address);
        let inside = self
            .inlined
            .iter()
            .zip(&inlined)
            .take_while(|(a, b)| a.ranges == b.ranges)
            .count();
        if self.kind == StepKind::Out {
            // Out of an inlined call: only its own code is left to run.
            return if inside < self.inlined.len() {
                Action::Finished
            } else {
                self.advance(cx)
            };
        }
        let statement = row.is_stmt && at.module.to_process(row.range.start) == pc;
        let deeper = inside == self.inlined.len() && inlined.len() > inside;
        if deeper {
            let enter = self.kind == StepKind::Into && statement && (at.users || self.any_source);
            return if enter {
                Action::Finished
            } else {
                self.advance(cx)
            };
        }
        let same_line = inside == self.inlined.len()
            && row.line == self.line
            && Some(&row.file) == self.file.as_ref();
        if same_line {
            self.range = at.module.range(&row.range);
            return self.advance(cx);
        }
        if statement && (at.users || self.any_source) {
            return Action::Finished;
        }
        if row.is_stmt {
            // In the middle of another line: that is the one to finish now.
            self.settle(cx);
        }
        self.advance(cx)
    }

    fn left_function(&self, cx: &Context<'_>) -> bool {
        match cx.position() {
            Some(at) => at.function != self.function,
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
        let above = frame.cfa.map_or(sp.0, |cfa| cfa.0.wrapping_sub(1));
        if self.kind == StepKind::Into {
            return self.enter(
                Call {
                    return_to: caller.pc,
                    above,
                },
                cx,
            );
        }
        self.leave(cx)
    }

    /// At the target of a call, or of a stub that a call went to.
    fn enter(&mut self, call: Call, cx: &Context<'_>) -> Action {
        let Some(pc) = cx.registers.pc() else {
            return Action::Finished;
        };
        if pc == call.return_to {
            return self.judge(cx);
        }
        let Some(at) = cx.position() else {
            return self.skip(call);
        };
        if at.row.is_some() && (at.users || self.any_source) {
            let body = at
                .module
                .to_process(at.module.module.after_prologue(at.address));
            if body == pc || at.entry != Some(at.address) {
                return Action::Finished;
            }
            self.phase = Phase::Prologue;
            return Action::RunTo {
                address: body,
                above: 0,
            };
        }
        if code::is_stub(&at.module, at.address) {
            self.phase = Phase::Entering(call);
            return Action::SingleStep;
        }
        if let Some(last) = code::resolver_exit(&at.module, pc, cx.memory) {
            self.phase = Phase::Resolving(call);
            return Action::RunTo {
                address: last,
                above: 0,
            };
        }
        self.skip(call)
    }

    fn begin_out(&mut self, cx: &Context<'_>, before: usize) -> Action {
        let at = cx.position();
        self.any_source = !at.as_ref().is_some_and(|at| at.users);
        self.settle(cx);
        self.stand_before(before);
        if self.inlined.is_empty() {
            self.leave(cx)
        } else {
            self.advance(cx)
        }
    }

    /// Runs to the nearest caller with source; a step out, to the direct one where none has.
    fn leave(&mut self, cx: &Context<'_>) -> Action {
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
                above: cfa.0.wrapping_sub(1),
            };
            if self.good(&caller) {
                self.phase = Phase::Leaving;
                return target;
            }
            direct.get_or_insert(target);
            frame = caller;
        }
        self.phase = Phase::Leaving;
        match (self.kind, direct) {
            (StepKind::Out, Some(target)) => target,
            _ => Action::Run,
        }
    }

    /// Whether a caller is worth stopping in.
    fn good(&self, frame: &PhysicalFrame) -> bool {
        frame.module.as_ref().is_some_and(|module| {
            let at = Position::new(module, frame.lookup);
            at.row.is_some() && (at.users || self.any_source)
        })
    }

    /// After a return.
    fn arrive_in_caller(&mut self, cx: &Context<'_>) -> Action {
        if self.kind == StepKind::Out {
            return Action::Finished;
        }
        match cx.position() {
            Some(at) if at.users || (self.any_source && at.row.is_some()) => {
                if at.row.is_some() {
                    return Action::Finished;
                }
                // Code of no line follows the call: finish that, as if it were the caller's line.
                self.settle(cx);
                self.advance(cx)
            }
            _ => self.leave(cx),
        }
    }
}

/// Whether a step into, from before the innermost `before` of the inlined calls where the thread stands, begins the first of
/// them and ends there: it has the user's source.
pub fn enters_inlined(cx: &Context<'_>, before: usize) -> bool {
    let Some(at) = cx.position().filter(|_| before > 0) else {
        return false;
    };
    let calls = at.module.module.inlined_at(at.address);
    let Some(entered) = calls.len().checked_sub(before) else {
        return false;
    };
    match calls.get(entered + 1) {
        Some(inner) => inner
            .call_site
            .as_ref()
            .is_some_and(|site| is_users(&site.file)),
        None => at.users,
    }
}

/// Whether a source is the user's own, as far as its path tells.
fn is_users(file: &Path) -> bool {
    !code::is_library_source(file) && file.is_file()
}

/// An address with what the symbols say of it.
struct Position {
    module: Arc<LoadedModule>,
    address: FileAddress,
    /// The row, when it belongs to a line.
    row: Option<LineRow>,
    function: Option<FunctionId>,
    entry: Option<FileAddress>,
    /// The user's own code, as far as the path tells.
    users: bool,
}

impl Position {
    fn new(module: &Arc<LoadedModule>, address: Address) -> Position {
        let file = module.to_file(address);
        let function = module.module.function_at(file);
        let row = module.module.row_at(file);
        let users = row.as_ref().is_some_and(|row| is_users(&row.file));
        Position {
            row: row.filter(|row| row.line != 0),
            address: file,
            function: function.as_ref().map(|f| f.id),
            entry: function.map(|f| f.entry),
            users,
            module: Arc::clone(module),
        }
    }
}

impl Context<'_> {
    fn position(&self) -> Option<Position> {
        let pc = self.registers.pc()?;
        Some(Position::new(self.modules.at(pc)?, pc))
    }
}

impl LoadedModule {
    fn range(&self, range: &Range<FileAddress>) -> Range<u64> {
        self.to_process(range.start).0..self.to_process(range.end).0
    }
}
