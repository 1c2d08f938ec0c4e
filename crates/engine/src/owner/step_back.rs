//! Steps back: the places in the code to which they may go.

use super::Owner;
use crate::step::begin_of_statement;
use crate::step::code::is_linkage_stub;
use crate::{Address, ThreadId};
use dapple_arch::code;
use dapple_arch::instructions::{LONGEST, decode, does_nothing, is_call};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::frame::Frame;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use dapple_symbols::functions::{Function, InlinedCall};
use dapple_symbols::lines::LineRow;
use dapple_symbols::sources::is_library_source;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How many frames are searched at most for one with lines.
const MOST_FRAMES: usize = 64;
/// The most frames that are searched for one of those in which a step back looks for lines.
const MOST_SEARCHED: usize = 256;
/// From which bit the number of a line says in how many inlined calls it is.
const DEPTH: u32 = 48;
/// The most jumps from a call to the function that it calls.
const MOST_HOPS: usize = 8;

/// How far a step back goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepBack {
    /// To the beginning of the line that ran before in this function; at its beginning, to the line that has called it.
    Line,
    /// As `Line`, but to the beginning of the statement that ran before, perhaps on the same line.
    Statement,
    /// To the instruction that ran before in this function; at its first one, to the call.
    Instruction,
    /// As `Line`, or to the last line of a function of the user's that was called since.
    Into,
    /// To the call of this function.
    Out,
}

/// Places in the code, each of which counts in one frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// The line of each; for instructions, the address counts as the line.
    pub(super) all: FxHashMap<Address, u64>,
    /// The frames: where each begins on the stack. The innermost first.
    pub(super) frames: Vec<Address>,
    /// The function has called itself.
    pub(super) is_recursive: bool,
    /// They are lines or statements.
    pub(super) by_line: bool,
    /// Those that are calls, from which the search goes on in the function that is called.
    calls: FxHashSet<Address>,
}

impl Places {
    /// Whether a place is the call itself, and not the beginning of a line.
    pub(super) fn is_only_call(&self, at: Address) -> bool {
        self.calls.contains(&at) && self.all.get(&at) == Some(&at.0)
    }
}

/// Which of the frames is at which line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) frame: usize,
    pub(super) line: u64,
}

/// Whether the source of a frame is there.
fn has_source(frame: &Frame) -> bool {
    let position = frame.position.as_ref();
    position.is_some_and(|position| position.file.is_file())
}

/// The code of a function.
struct Code<'m> {
    module: &'m Arc<LoadedModule>,
    function: Arc<Function>,
}

/// What a thread is shown in of a function.
struct Shown {
    /// The source files; none: any.
    files: Vec<Arc<Path>>,
    /// The calls that were inlined, around where it is.
    inlined: Vec<InlinedCall>,
}

impl Owner {
    /// The places to which a step back may go.
    pub(super) fn places_before(
        &mut self,
        thread: ThreadId,
        how: StepBack,
    ) -> Result<Places, String> {
        let frames: Vec<Frame> = { self.frames_now(thread) }.take(MOST_FRAMES).collect();
        let mut places = Places {
            by_line: !matches!(how, StepBack::Instruction | StepBack::Out),
            ..Places::default()
        };
        let mut from_users = false;
        let mut entry = None;
        // The logical frames of a physical one follow each other.
        let same = |one: &Frame, other: &Frame| one.physical.cfa == other.physical.cfa;
        let chunks = || frames.chunk_by(same).enumerate();
        let is_users = |logical: &[Frame]| logical.iter().any(Frame::is_users);
        let by_line = matches!(how, StepBack::Line | StepBack::Statement);
        // In a library without its source, and where a panic stops, it is the user's function that is shown.
        let is_shown =
            self.exception_of(thread).is_none() && frames.first().is_some_and(has_source);
        let users = chunks().position(|(_, logical)| is_users(logical));
        let first = users.filter(|_| by_line && !is_shown).unwrap_or_default();
        for (index, logical) in chunks().skip(first) {
            let frame = &logical[0];
            let (Some(cfa), Some(module)) = (frame.physical.cfa, frame.physical.module.clone())
            else {
                break;
            };
            if places.frames.len() == 2 || index == 2 && !by_line {
                break;
            }
            let Some(code) = code_at(&module, frame.physical.lookup) else {
                if index == 0 || !by_line {
                    places.frames.push(cfa);
                }
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
            let shown = Shown::of(logical, &module);
            let found = self.places_in(&code, &shown, how);
            // From a signal handler, a step leads to the function that was interrupted; from one that a library has called back, to the call of the
            // library.
            let is_users = is_users(logical);
            from_users |= index == first && is_users;
            let is_no_caller = found.is_empty() || from_users && !is_users;
            if by_line && index > 0 && is_no_caller {
                continue;
            }
            let begins = Some(module.to_process(code.function.entry));
            places.is_recursive |= entry == begins;
            entry = begins;
            places.frames.push(cfa);
            places.all.extend(found);
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

    /// The places in a function's code.
    fn places_in(&self, code: &Code<'_>, shown: &Shown, how: StepBack) -> Vec<(Address, u64)> {
        let mut found = Vec::new();
        if how == StepBack::Instruction {
            let ranges = code.ranges().into_iter();
            let all = ranges.flat_map(|range| self.instructions_in(range));
            return all.map(|at| (at, at.0)).collect();
        }
        for range in &code.function.ranges {
            for row in code.module.module.rows_in(range.clone()) {
                let is_place = row.is_stmt || how == StepBack::Statement && row.column != 0;
                let is_entry = row.range.start == code.function.entry;
                if !is_place || row.line == 0 || is_entry || !shown.has_file(&row.file) {
                    continue;
                }
                let Some(depth) = shown.depth_of(&row, code) else {
                    continue;
                };
                let column = match how {
                    StepBack::Statement => begin_of_statement(&row.file, row.line, row.column),
                    _ => 0,
                };
                let column = u64::from(column) & 0xffff;
                let line = (depth as u64) << DEPTH | u64::from(row.line) << 16 | column;
                found.push((code.module.to_process(row.range.start), line));
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

    /// The code of the function that has an address.
    pub(super) fn code_around(&self, at: Address) -> Vec<Range<Address>> {
        let code = { self.modules().at(at) }.and_then(|module| code_at(module, at));
        code.map(|code| code.ranges()).unwrap_or_default()
    }

    /// The call to which a function returns at an address.
    pub(super) fn call_before(&self, back: Address) -> Option<Address> {
        let at = back.offset(-1);
        let code = code_at(self.modules().at(at)?, at)?;
        self.instruction_around(&code, at)
    }

    /// The line that a thread is at, or that has called what it is in, if that is one of those of the places.
    pub(super) fn line_among(&mut self, thread: ThreadId, places: &Places) -> Option<Line> {
        let mut frames = self.frames_now(thread).take(MOST_SEARCHED);
        let (frame, pc) = frames.find_map(|frame| {
            let cfa = frame.physical.cfa?;
            let index = places.frames.iter().position(|frame| *frame == cfa)?;
            Some((index, frame.physical.lookup))
        })?;
        let before = places.all.iter().filter(|(at, _)| **at <= pc);
        let lines = before.filter(|(at, _)| !places.is_only_call(**at));
        let (_, line) = lines.max_by_key(|(at, _)| **at)?;
        Some(Line { frame, line: *line })
    }

    /// Which of the frames is a thread's innermost one.
    pub(super) fn frame_of(&mut self, thread: ThreadId, places: &Places) -> Option<usize> {
        let cfa = self.frames_now(thread).next()?.physical.cfa?;
        places.frames.iter().position(|frame| *frame == cfa)
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

    /// How many of the inlined calls at a place count as not entered: a line may begin with such a call.
    pub(super) fn calls_before_line(&self, at: Address, places: &Places) -> usize {
        let line = places.all.get(&at).filter(|_| places.by_line);
        let (Some(line), Some(module)) = (line, self.modules().at(at)) else {
            return 0;
        };
        let inlined = module.module.inlined_at(module.to_file(at));
        inlined.len().saturating_sub((*line >> DEPTH) as usize)
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
            let shown = Shown {
                files: vec![Arc::clone(&row.file)],
                inlined: Vec::new(),
            };
            is_users.then(|| self.places_in(&code, &shown, StepBack::Line))
        });
        match lines.filter(|lines| !lines.is_empty()) {
            Some(lines) => {
                *places = Places {
                    all: lines.into_iter().collect(),
                    frames: vec![Address(registers.sp())],
                    is_recursive: false,
                    by_line: true,
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
        code.truncate(length);
        let set = self.modules().instruction_set(range.start);
        let all = code::Instructions::flows(set, &code, range.start);
        all.map(|it| it.address).collect::<Vec<_>>().into_iter()
    }
}

impl Shown {
    /// `logical`: the frames of one physical frame.
    fn of(logical: &[Frame], module: &LoadedModule) -> Shown {
        let positions = logical.iter().filter_map(|frame| frame.position.as_ref());
        let at = logical.first().map(|frame| frame.physical.lookup);
        let inlined = at.map(|at| module.module.inlined_at(module.to_file(at)));
        Shown {
            files: positions
                .map(|position| Arc::clone(&position.file))
                .collect(),
            inlined: inlined.unwrap_or_default(),
        }
    }

    fn has_file(&self, file: &Path) -> bool {
        self.files.is_empty() || self.files.iter().any(|own| **own == *file)
    }

    /// In how many of the inlined calls a row's code is, as it counts for a step. `None`: it is in a call that the thread isn't in.
    fn depth_of(&self, row: &LineRow, code: &Code<'_>) -> Option<usize> {
        let inlined = code.module.module.inlined_at(row.range.start);
        if self.inlined.starts_with(&inlined) {
            return Some(inlined.len());
        }
        // A call may begin at the very address of its line.
        let common = self.inlined.iter().zip(&inlined);
        let common = common.take_while(|(one, other)| one == other).count();
        let site = inlined.get(common)?.call_site.as_ref()?;
        (site.line == row.line && site.file == row.file).then_some(common)
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
