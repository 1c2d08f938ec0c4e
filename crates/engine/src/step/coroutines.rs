//! Steps in C++20's coroutines, as far as they differ from Rust's ([`super::awaiting`]). A coroutine may be resumed before the function that
//! suspends it has returned: on another thread, or inside `await_suspend`. So all of a step watches for that. And a coroutine that ends may
//! pass control to the one that awaits it by a jump, or by whoever resumes that next: so its step watches that coroutine as well, its
//! *awaiter*.

use super::awaiting::Touch;
use super::code::{self, Instruction};
use super::options::StepKind;
use super::position::Position;
use super::{Action, Call, Context, Phase, Places, Step};
use crate::Address;
use dapple_arch::Memory;
use dapple_inspect::frame::PhysicalFrame;
use dapple_inspect::modules::{LoadedModule, Modules};
use dapple_inspect::unwind;
use dapple_inspect::values::coroutines::Activation;
use dapple_symbols::FileAddress;
use dapple_symbols::cpp_coroutines::CoroutinePart;

/// The most instructions of a dispatch that are executed.
const MOST_DISPATCH: u32 = 1024;

impl Step {
    /// The C++ coroutines whose resumption the step has to notice.
    pub fn coroutines(&self) -> impl Iterator<Item = &Activation> {
        let own = self.activation.as_ref().filter(|own| own.frame.is_some());
        // A step out is only about the coroutine that awaits.
        let own = own.filter(|_| !self.waits_for_awaiter());
        own.into_iter().chain(&self.awaiter)
    }

    /// The first activation that a condition holds for: that of the step, then the awaiter.
    pub fn find_activation(&self, is_meant: impl Fn(&Activation) -> bool) -> Option<&Activation> {
        let mut both = self.activation.iter().chain(&self.awaiter);
        both.find(|activation| is_meant(activation))
    }

    /// Whether the coroutine has passed control to another of the same function, by a jump.
    pub(super) fn passed_control(&self, cx: &Context<'_>) -> bool {
        let is_cpp = self
            .activation
            .as_ref()
            .is_some_and(|own| own.frame.is_some());
        is_cpp && self.entry == cx.registers.pc()
    }

    /// For a step into, while the coroutine waits: where the body of the coroutine begins that it has made. The step ends there if its thread
    /// begins that body before the step's own coroutine is resumed: a scheduler begins what was awaited.
    pub fn made(&self) -> Option<Address> {
        self.made.filter(|_| self.kind == StepKind::Into)
    }

    /// Whether this is a step out of a C++ coroutine to the one that awaits it.
    pub(super) fn waits_for_awaiter(&self) -> bool {
        self.kind == StepKind::Out && self.awaiter.is_some()
    }

    /// Whether the step waits after its C++ coroutine has returned: until that is resumed, or if it has ended, the one that awaits it. A
    /// step out of a coroutine that nothing awaits, such as a generator, ends where that is resumed.
    pub(super) fn waits_for_coroutine(&self, memory: &dyn Memory) -> bool {
        let Some(own) = self.activation.as_ref().filter(|own| own.frame.is_some()) else {
            return false;
        };
        let awaiter = self.awaiter.as_ref();
        let awaiter_lives = awaiter.is_some_and(|awaiter| awaiter.is_suspended(memory));
        awaiter_lives || (self.kind != StepKind::Out && own.is_suspended(memory))
    }

    /// A thread has accessed the number in the frame of a coroutine, its own or that of the awaiter, by the instruction that has the byte
    /// `at`, or enters the coroutine's body or destroyer there.
    pub fn frame_touched(&mut self, cx: &Context<'_>, at: Address, frame: Address) -> Touch {
        let is_own = |activation: &Option<Activation>| {
            activation.as_ref().is_some_and(|it| it.state == frame)
        };
        let of_awaiter = !is_own(&self.activation) && is_own(&self.awaiter);
        let touched = match of_awaiter {
            true => &self.awaiter,
            false => &self.activation,
        };
        let Some(touched) = touched.as_ref().filter(|it| it.is_suspended(cx.memory)) else {
            return Touch::Other;
        };
        let own_lives = { &self.activation }
            .as_ref()
            .is_some_and(|own| own.is_suspended(cx.memory));
        if of_awaiter && own_lives && self.kind != StepKind::Out {
            return Touch::Other;
        }
        let Some(at) = cx.places.at(at, cx.modules) else {
            return Touch::Other;
        };
        let Some(coroutine) = &at.coroutine else {
            return Touch::Other;
        };
        let is_destroyed = match coroutine.part {
            CoroutinePart::Destroyer => true,
            CoroutinePart::Body if coroutine.is_dispatch(at.address) || at.is_entry() => {
                touched.is_being_destroyed(cx.memory)
            }
            _ => return Touch::Other,
        };
        if is_destroyed {
            return self.out_of_drop(cx);
        }
        if of_awaiter {
            self.activation = self.awaiter.take();
            self.arrives = true;
        }
        self.function = at.function_id();
        self.inlined.clear();
        self.exits.forget();
        self.gates.clear();
        self.calls_ahead.clear();
        self.phase = Phase::Resuming(0);
        Touch::Resumed(self.behind_dispatch(0, cx))
    }

    /// In the resumed body: gets behind the jump to where it was suspended. In the body of the awaiter, the step ends there.
    pub(super) fn behind_dispatch(&mut self, executed: u32, cx: &Context<'_>) -> Action {
        let Some(at) = cx.position() else {
            return Action::Finished;
        };
        let is_users = at.users || !self.arrives;
        if (at.is_dispatch() || !is_users) && executed < MOST_DISPATCH && !transfers(cx) {
            self.phase = Phase::Resuming(executed + 1);
            return Action::SingleStep;
        }
        match self.arrives {
            true => self.finish(cx),
            false => self.judge(cx),
        }
    }

    /// In the body of a coroutine that a step enters: gets behind the dispatch. If the body begins, goes on to its first statement; the step
    /// doesn't end here if the coroutine suspends before that.
    pub(super) fn open_coroutine(&mut self, executed: u32, call: Call, cx: &Context<'_>) -> Action {
        let Some(at) = cx.position() else {
            return Action::Finished;
        };
        if at.is_dispatch() && executed < MOST_DISPATCH && !transfers(cx) {
            self.phase = Phase::Dispatching(executed + 1, call);
            return Action::SingleStep;
        }
        let begin = at.coroutine.as_ref().and_then(|coroutine| coroutine.begin);
        let Some(begin) = begin.filter(|_| !at.users || at.is_dispatch()) else {
            return self.finish(cx);
        };
        self.gates.clear();
        self.gates.extend([at.module.to_process(begin)]);
        self.phase = Phase::Through(call);
        Action::RunTo {
            address: call.return_to,
            height: Some(call.height),
        }
    }

    /// A step into comes to a function that was made for coroutines: goes on to the coroutine's body that it calls, if it calls one.
    pub(super) fn enter_coroutines(
        &mut self,
        at: &Position,
        call: Call,
        cx: &Context<'_>,
    ) -> Action {
        let part = at.coroutine.as_ref().map(|coroutine| coroutine.part);
        if part == Some(CoroutinePart::Destroyer) {
            return self.skip(call);
        }
        if part == Some(CoroutinePart::Start) && self.target.is_none() {
            self.made = made_by(at, cx);
        }
        let pc = cx.registers.pc().unwrap_or_default();
        self.gates.explore(&at.module, pc, cx);
        self.gates
            .retain_coroutines(part != Some(CoroutinePart::Start), cx);
        self.run_through(call)
    }
}

/// Where the body of the coroutine begins that a start makes.
fn made_by(start: &Position, cx: &Context<'_>) -> Option<Address> {
    let body = start.coroutine.as_ref()?.body?;
    let body = cx.places.at(start.module.to_process(body), cx.modules)?;
    let begin = body.coroutine.as_ref()?.begin?;
    Some(body.module.to_process(begin))
}

/// Whether the next instruction is a call or a return.
fn transfers(cx: &Context<'_>) -> bool {
    let pc = cx.registers.pc().unwrap_or_default();
    let instruction = code::instruction_at(pc, cx.modules, cx.memory);
    matches!(instruction, Instruction::Call { .. } | Instruction::Return)
}

/// Whether the body of a C++ coroutine is the user's own code.
pub fn is_users_coroutine(activation: &Activation, places: &Places, modules: &Modules) -> bool {
    let resume = activation.frame.as_ref().map(|frame| frame.resume);
    let at = resume.and_then(|resume| places.at(resume, modules));
    at.is_some_and(|at| at.in_users)
}

/// Whether a frame runs the body of a coroutine only to destroy that, as g++ has it.
pub(super) fn is_destroying(frame: &PhysicalFrame, cx: &Context<'_>) -> bool {
    let at = cx.places.at(frame.lookup, cx.modules);
    if !at.is_some_and(|at| at.is_cpp_body()) {
        return false;
    }
    let caller = unwind::caller(frame, cx.modules, cx.memory);
    let caller = caller.and_then(|caller| cx.places.at(caller.lookup, cx.modules));
    let coroutine = caller.as_ref().and_then(|at| at.coroutine.as_ref());
    coroutine.is_some_and(|coroutine| coroutine.part == CoroutinePart::Destroyer)
}

/// Whether code of a body has just passed control to another coroutine, or does that by the call that has the byte at `address`. Without
/// optimisation, g++ makes a call in place of a jump, and the body has nothing to do behind it.
pub(super) fn is_behind_transfer(module: &LoadedModule, address: FileAddress) -> bool {
    // mov rdx, [rax]; mov rdi, rax; call rdx
    const TRANSFER: [u8; 8] = [0x48, 0x8b, 0x10, 0x48, 0x89, 0xc7, 0xff, 0xd2];
    let length = TRANSFER.len() as u64;
    [address.0, address.0.saturating_add(1)].iter().any(|end| {
        let start = FileAddress(end.saturating_sub(length));
        module.code_in_file(start, TRANSFER.len()) == TRANSFER
    })
}
