//! Steps back: the places in the code to which they may go.

use super::Owner;
use crate::step::is_linkage_stub;
use crate::{Address, ThreadId};
use dapple_arch::instructions::{LONGEST, decode, does_nothing, is_call};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::frame::Frame;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_symbols::functions::Function;
use dapple_symbols::sources::is_library_source;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The most jumps from a call to the function that it calls.
const MOST_HOPS: usize = 8;

/// How far a step back goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepBack {
    /// To the beginning of the line that ran before in this function; at its beginning, to the line that has called it.
    Line,
    /// To the instruction that ran before in this function; at its first one, to the call.
    Instruction,
    /// As `Line`, or to the last line of a function of the user's that was called since.
    Into,
    /// To the call of this function.
    Out,
}

/// Places in the code, each of which counts in one frame.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The line of each; for instructions, the address counts as the line.
    pub(super) all: FxHashMap<Address, u64>,
    /// The frames: where each begins on the stack. The innermost first.
    pub(super) frames: Vec<Address>,
    /// Those that are calls, from which the search goes on in the function that is called.
    calls: FxHashSet<Address>,
}

impl Places {
    /// Whether a place is the call itself, and not the beginning of a line.
    pub(super) fn is_only_call(&self, at: Address) -> bool {
        self.calls.contains(&at) && self.all.get(&at) == Some(&at.0)
    }
}

/// The code of a function.
struct Code<'m> {
    module: &'m Arc<LoadedModule>,
    function: Arc<Function>,
}

impl Owner {
    /// The places to which a step back may go.
    pub(super) fn places_before(
        &mut self,
        thread: ThreadId,
        how: StepBack,
    ) -> Result<Places, String> {
        let frames: Vec<Frame> = { self.frames_now(thread) }
            .filter(|frame| frame.inline_depth == 0)
            .take(2)
            .collect();
        let mut places = Places::default();
        for (index, frame) in frames.iter().enumerate() {
            let (Some(cfa), Some(module)) = (frame.physical.cfa, frame.physical.module.clone())
            else {
                break;
            };
            let Some(code) = code_at(&module, frame.physical.lookup) else {
                places.frames.push(cfa);
                continue;
            };
            let own_call = (index > 0).then_some(frame.physical.lookup);
            if how == StepBack::Out {
                if let Some(call) = own_call.and_then(|at| self.instruction_around(&code, at)) {
                    places.frames.push(cfa);
                    places.all.insert(call, call.0);
                }
                continue;
            }
            places.frames.push(cfa);
            let file = frame.position.as_ref().map(|at| Arc::clone(&at.file));
            places
                .all
                .extend(self.places_in(&code, file.as_deref(), how));
            if how == StepBack::Into {
                let call = own_call.and_then(|at| self.instruction_around(&code, at));
                let calls = self.calls_in(&code).into_iter();
                for other in calls.filter(|other| Some(*other) != call) {
                    places.calls.insert(other);
                    places.all.entry(other).or_insert(other.0);
                }
            }
        }
        match (places.all.is_empty(), how) {
            (true, StepBack::Out) => Err("the call of this function can't be found".into()),
            (true, _) => Err("there is no line before in this function".into()),
            (false, _) => Ok(places),
        }
    }

    /// The places in a function's code. `file`: only lines of this file.
    fn places_in(
        &self,
        code: &Code<'_>,
        file: Option<&Path>,
        how: StepBack,
    ) -> Vec<(Address, u64)> {
        let mut found = Vec::new();
        if how == StepBack::Instruction {
            let ranges = code.ranges().into_iter();
            let all = ranges.flat_map(|range| self.instructions_in(range));
            return all.map(|at| (at, at.0)).collect();
        }
        for range in &code.function.ranges {
            for row in code.module.module.rows_in(range.clone()) {
                let is_same = file.is_none_or(|file| *file == *row.file);
                let is_entry = row.range.start == code.function.entry;
                if row.is_stmt && row.line != 0 && is_same && !is_entry {
                    found.push((code.module.to_process(row.range.start), row.line.into()));
                }
            }
        }
        found
    }

    /// The calls in a function's code.
    fn calls_in(&self, code: &Code<'_>) -> Vec<Address> {
        let mut found = Vec::new();
        for range in code.ranges() {
            for at in self.instructions_in(range) {
                let mut bytes = [0; LONGEST];
                let length = self.memory().read_some(at, &mut bytes);
                if decode(at, &bytes[..length]).is_some_and(|it| is_call(&it)) {
                    found.push(at);
                }
            }
        }
        found
    }

    /// The instruction of a function's code that has the byte at this address.
    fn instruction_around(&self, code: &Code<'_>, at: Address) -> Option<Address> {
        let range = code
            .ranges()
            .into_iter()
            .find(|range| range.contains(&at))?;
        self.instructions_in(range)
            .take_while(|start| *start <= at)
            .last()
    }

    /// A search has found a place, at which the thread is. Returns whether that is a call: then it goes on in the function that is called, or, if that
    /// isn't the user's, without this call.
    pub(super) fn goes_into_call(&mut self, thread: ThreadId, places: &mut Places) -> bool {
        let Some(registers) = self.registers(thread) else {
            return false;
        };
        let at = registers.pc();
        if !places.calls.contains(&at) {
            return false;
        }
        let callee = self.callee_of(registers);
        let lines = callee.and_then(|entry| {
            let module = Arc::clone(self.modules().at(entry)?);
            let code = code_at(&module, entry)?;
            let row = module.module.row_at(code.function.entry)?;
            let is_users = !is_library_source(&row.file) && row.file.is_file();
            is_users.then(|| self.places_in(&code, Some(&row.file), StepBack::Line))
        });
        match lines.filter(|lines| !lines.is_empty()) {
            Some(lines) => {
                *places = Places {
                    all: lines.into_iter().collect(),
                    frames: vec![Address(registers.sp())],
                    calls: FxHashSet::default(),
                };
            }
            None => {
                if places.is_only_call(at) {
                    places.all.remove(&at);
                }
                places.calls.remove(&at);
            }
        }
        true
    }

    /// Where the call leads at which a thread of a copy is, which doesn't run on. Linkage stubs (`.plt`) are followed.
    fn callee_of(&mut self, mut registers: UserRegisters) -> Option<Address> {
        for hop in 0..MOST_HOPS {
            let pc = registers.pc();
            if hop > 0 {
                let module = self.modules().at(pc)?;
                if !is_linkage_stub(module, module.to_file(pc)) {
                    return Some(pc);
                }
            }
            let mut bytes = [0; LONGEST];
            let length = self.memory().read_some(pc, &mut bytes);
            let code = &bytes[..length];
            match self.emulated_at(pc, code, &registers) {
                Some(after) => registers = after,
                None => {
                    let instruction = decode(pc, code).filter(does_nothing)?;
                    registers.set_pc(pc.offset(instruction.len() as i64));
                }
            }
        }
        None
    }

    pub(super) fn instructions_in(
        &self,
        range: Range<Address>,
    ) -> impl Iterator<Item = Address> + use<> {
        let mut code = vec![0; (range.end.0 - range.start.0) as usize];
        let length = self.memory().read_some(range.start, &mut code);
        let mut at = 0;
        std::iter::from_fn(move || {
            let address = range.start.offset(at as i64);
            let instruction = decode(address, code.get(at..length)?)?;
            at += instruction.len();
            Some(address)
        })
    }
}

impl Code<'_> {
    /// Where it is in the process.
    fn ranges(&self) -> Vec<Range<Address>> {
        let ranges = self.function.ranges.iter();
        ranges
            .map(|range| self.module.to_process(range.start)..self.module.to_process(range.end))
            .collect()
    }
}

/// The code of the function at an address.
fn code_at(module: &Arc<LoadedModule>, at: Address) -> Option<Code<'_>> {
    let function = module.module.function_at(module.to_file(at))?;
    Some(Code { module, function })
}
