//! Where a line can be left: this makes steps over loops fast.
//!
//! A loop that was inlined into a line, or is written on one, may take millions of iterations, and stops at every jump take a second
//! for some ten thousand jumps. So after some stops on a line, its code is disassembled from where the thread is: along jumps and past
//! calls, as far as a step would go on there. Code beyond that is an exit, and so is an instruction that can't be followed ahead: a
//! return, an indirect jump, a load of the stack pointer from elsewhere. The thread runs until it is at an exit.

use super::judging::Verdict;
use super::{Action, Context, Phase, Step};
use crate::Address;
use crate::step::options::{Pace, StepKind};
use dapple_arch::code::{Decoded, Flow, Instructions};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The number of jumps on a line after which its exits are looked for.
const PATIENCE: u32 = 16;
/// How many instructions a region may have.
const MOST_CODE: usize = 1 << 14;
/// The most exits that a region may have: to insert more sites would take long.
const MOST_EXITS: usize = 64;
/// The most code, in bytes, that a function executes between its last line and its return.
const LONGEST_EPILOGUE: usize = 64;
/// How much is read of a file at once, in bytes.
const PIECE: usize = 1 << 12;

/// What is known of a line's exits.
#[derive(Debug, Default)]
pub(super) struct Exits {
    /// The parts of the line that were read, each from one place where the step went on.
    regions: Vec<Region>,
    /// The index of the region that is being run.
    current: usize,
    /// Jumps since the line began, or since it was last read.
    jumps: u32,
    /// How often the line's code was read, successfully or not.
    reads: u32,
}

/// A part of a line, read from one place on.
#[derive(Debug, Default)]
struct Region {
    /// Its exits, with the stack pointer at each.
    exits: FxHashMap<Address, Address>,
    /// Its instructions, with the stack pointer at each.
    inside: FxHashMap<Address, Address>,
}

impl Exits {
    pub(super) fn addresses(&self) -> impl Iterator<Item = Address> {
        let current = self.regions.get(self.current).into_iter();
        current.flat_map(|region| region.exits.keys().copied())
    }

    /// The stack pointer at an exit of the current region.
    pub(super) fn height_at(&self, address: Address) -> Option<Address> {
        let current = self.regions.get(self.current)?;
        current.exits.get(&address).copied()
    }

    /// The stack pointer at an instruction of the current region, such as the one that a call returns to. All calls in the region are made
    /// at one height: a call at another is an exit.
    pub(super) fn height_inside(&self, address: Address) -> Option<Address> {
        let current = self.regions.get(self.current)?;
        current.inside.get(&address).copied()
    }

    /// Starts anew for another line.
    pub(super) fn forget(&mut self) {
        *self = Exits::default();
    }

    /// Makes the region that contains this place the current one. `false`: none does.
    fn choose(&mut self, pc: Address, sp: Address) -> bool {
        let has = |region: &Region| region.inside.get(&pc) == Some(&sp);
        let known = self.regions.iter().position(has);
        self.current = known.unwrap_or(self.current);
        known.is_some()
    }
}

impl Step {
    /// Runs to the line's exits, if that is worth it by now and they can be found.
    pub(super) fn run_to_exits(
        &mut self,
        pc: Address,
        sp: Address,
        cx: &Context<'_>,
    ) -> Option<Action> {
        if self.pace == Pace::EachInstruction || self.target.is_some() {
            return None;
        }
        if !self.exits.choose(pc, sp) {
            self.exits.jumps += 1;
            // A line that can't be read, or is left all the time, is tried ever more rarely.
            let patience = match self.pace {
                Pace::ToExits => 0,
                // A line with an `await` has jumps for each time that it is polled.
                Pace::Usual if self.is_over_await() && self.exits.reads == 0 => 0,
                _ => PATIENCE << (2 * self.exits.reads).min(20),
            };
            if self.exits.jumps <= patience {
                return None;
            }
            self.exits.jumps = 0;
            self.exits.reads += 1;
            let region = read(self, pc, sp, cx)?;
            self.exits.current = self.exits.regions.len();
            self.exits.regions.push(region);
        }
        let exits = &self.exits.regions.get(self.exits.current)?.exits;
        // An exception's landing is compared with this height: prefer the current frame's, which most exits have.
        let usual = exits.iter().find(|(_, height)| **height == sp);
        let (address, height) = usual.or_else(|| exits.iter().next())?;
        let (address, height) = (*address, Some(*height));
        self.phase = Phase::Looping;
        Some(Action::RunTo { address, height })
    }
}

/// A walk through the code of a line.
struct Walk<'a> {
    step: &'a Step,
    cx: &'a Context<'a>,
    /// The stack pointer at which all calls are made: callees' frames are below it.
    base: u64,
    /// Code yet to be read, with the stack pointer there.
    queue: Vec<(u64, u64)>,
    found: Region,
}

/// Reads the code from `pc` on. `None` if there is too much of it, if it has no exits or too many, if `pc` is an exit itself, if the code
/// leads out of the modules, or if a place is reached with two different stack pointers.
fn read(step: &Step, pc: Address, sp: Address, cx: &Context<'_>) -> Option<Region> {
    let mut walk = Walk {
        step,
        cx,
        base: sp.0,
        queue: vec![(pc.0, sp.0)],
        found: Region::default(),
    };
    while let Some((at, height)) = walk.queue.pop() {
        walk.read_block(at, height)?;
    }
    let found = walk.found;
    let fits = found.exits.len() <= MOST_EXITS && !found.exits.contains_key(&pc);
    // Without an exit there is nothing to run to: only the user can end such a loop.
    (fits && !found.exits.is_empty()).then_some(found)
}

impl Walk<'_> {
    /// Reads up to an instruction that doesn't go on to the next. `None`: the region can't be used ([`read`] says why); likewise in the
    /// methods below.
    fn read_block(&mut self, mut at: u64, mut height: u64) -> Option<()> {
        let mut range = self.range_at(at);
        loop {
            let module = self.cx.modules.at(Address(at))?;
            let bytes = module.code_in_file(module.to_file(Address(at)), PIECE);
            let before = at;
            for instruction in Instructions::of(
                self.cx.modules.instruction_set(Address(at)),
                bytes,
                Address(at),
            ) {
                if !range.contains(&at) {
                    if !self.goes_on(at, height)? {
                        return Some(());
                    }
                    range = self.range_at(at);
                }
                match self.found.inside.insert(Address(at), Address(height)) {
                    None if self.found.inside.len() > MOST_CODE => return None,
                    None => {}
                    Some(known) if known.0 == height => return Some(()),
                    Some(_) => return None,
                }
                match self.read_instruction(&instruction, height, &range)? {
                    Some(after) => height = after,
                    None => return Some(()),
                }
                at = instruction.next().0;
            }
            if at == before {
                // No valid instruction there: the thread stops when it gets there.
                self.found.inside.remove(&Address(at));
                return self.exit(at, height);
            }
        }
    }

    /// The stack pointer after an instruction; `Some(None)`: the block ends with the instruction.
    fn read_instruction(
        &mut self,
        instruction: &Decoded,
        height: u64,
        range: &Range<u64>,
    ) -> Option<Option<u64>> {
        let at = instruction.address.0;
        let next = match instruction.flow {
            Flow::Next => { instruction.stack }.map(|change| height.wrapping_add_signed(change)),
            Flow::Kernel => Some(height),
            Flow::Call(_) => {
                let over = self.step.kind != StepKind::Into && height == self.base;
                over.then_some(height)
            }
            Flow::Branch(target) | Flow::Jump(Some(target)) => {
                let target = target.0;
                if !self.is_in_function(target) {
                    None
                } else {
                    let known = range.contains(&target) || self.step.range.contains(&target);
                    if known || self.goes_on(target, height)? {
                        self.queue.push((target, height));
                    }
                    match instruction.flow {
                        Flow::Branch(_) => Some(height),
                        _ => return Some(None),
                    }
                }
            }
            _ => None,
        };
        if next.is_none() {
            self.found.inside.remove(&Address(at));
            self.exit(at, height)?;
        }
        Some(next)
    }

    fn exit(&mut self, at: u64, height: u64) -> Option<()> {
        match self.found.exits.insert(Address(at), Address(height)) {
            Some(known) if known.0 != height => None,
            _ => Some(()),
        }
    }

    /// Whether a step that comes to this place goes on there as before. If not, the place becomes an exit.
    fn goes_on(&mut self, at: u64, height: u64) -> Option<bool> {
        if self.step.range.contains(&at) && !self.step.only_out {
            return Some(true);
        }
        let position = self.cx.places.at(Address(at), self.cx.modules);
        let goes_on = position.is_some_and(|position| {
            position.function_id() == self.step.function
                && match self.step.verdict(&position, self.cx) {
                    Verdict::Line | Verdict::OnTheWay => true,
                    // A coroutine that suspends: the return itself becomes the exit.
                    Verdict::OtherLine => self.step.is_over_await() && self.is_epilogue(at),
                    Verdict::Ends(_) | Verdict::Out(_) => false,
                }
        });
        if !goes_on {
            self.exit(at, height)?;
        }
        Some(goes_on)
    }

    /// Whether straight code without calls leads from a place to a return.
    fn is_epilogue(&self, at: u64) -> bool {
        let Some(module) = self.cx.modules.at(Address(at)) else {
            return false;
        };
        let bytes = module.code_in_file(module.to_file(Address(at)), LONGEST_EPILOGUE);
        let code = Instructions::flows(
            self.cx.modules.instruction_set(Address(at)),
            bytes,
            Address(at),
        );
        let mut flows = code
            .map(|it| it.flow)
            .skip_while(|flow| *flow == Flow::Next);
        flows.next() == Some(Flow::Return)
    }

    fn is_in_function(&self, at: u64) -> bool {
        let position = self.cx.places.at(Address(at), self.cx.modules);
        position.is_some_and(|position| position.function_id() == self.step.function)
    }

    /// The addresses around a place that need no verdict of their own: the step's range, or else those of the place's row. With `only_out`,
    /// each address needs one.
    fn range_at(&self, at: u64) -> Range<u64> {
        if self.step.range.contains(&at) && !self.step.only_out {
            return self.step.range.clone();
        }
        let position = self.cx.places.at(Address(at), self.cx.modules);
        let row = position.and_then(|position| Some(position.range(&position.row.as_ref()?.range)));
        match row {
            Some(row) if row.contains(&at) && !self.step.only_out => row,
            _ => at..at + 1,
        }
    }
}
