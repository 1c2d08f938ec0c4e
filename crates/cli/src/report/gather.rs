//! Asks the session for what a report says.
//!
//! Sizes are bounded: the program may have thousands of threads, endless recursion, or libraries without number. What is left out is counted.

use std::ops::Range;

use anyhow::Context;
use dapple_adapter::ListedModule;
use dapple_dap::types::{
    Scope, ScopePresentationHint, StackFrame, StackFramePresentationHint, StoppedEventBody,
    StoppedEventReason, Variable as Told,
};

use super::model::{
    Cause, Frame, FrameVariables, Instruction, Mapping, Module, Register, Report, Stack, Thread,
    Variable,
};
use super::plain::Plain;
use super::session::Session;
use super::subject::{self, Known, LoadedFile};
use super::{Target, Values, redacted};

/// How many different stacks are shown.
const STACKS: usize = 200;
/// How many frames of each stack are shown.
const FRAMES: usize = 64;
/// How many threads' stacks are read.
const THREADS: usize = 5000;
/// Of how many frames the variables are shown.
const OPEN_FRAMES: usize = 4;
/// How many variables of a scope are shown.
const VARIABLES: usize = 50;
/// How many parts of a variable are shown.
const PARTS: usize = 16;
/// The longest value of a variable and of a part, in characters.
const VALUE: usize = 1000;
const PART: usize = 200;
/// The longest message of an exception, in characters.
const MESSAGE: usize = 4000;
/// How many instructions are shown, and how many of them in front of the current one.
const INSTRUCTIONS: i64 = 24;
const BEFORE: i64 = 10;
/// How many modules are listed.
const MODULES: usize = 1000;
/// How many mappings are listed.
const MAPPINGS: usize = 5000;
/// How many groups of registers are shown: the general ones and the flags.
const REGISTER_GROUPS: usize = 2;
/// The most registers of a group.
const REGISTERS: usize = 64;
/// The signals by which a program ends and leaves a core file (signal(7)).
const LEAVE_CORES: [&str; 10] = [
    "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGQUIT", "SIGSEGV", "SIGSYS", "SIGTRAP", "SIGXCPU",
    "SIGXFSZ",
];
/// The value of a variable that has none at this instruction.
const NOT_IN_SCOPE: &str = "<not in scope here>";
/// The name of what a pointer points to, if that has no parts. The pointer's own text shows it.
const POINTEE: &str = "*";
/// What the adapter says in place of an instruction that it can't read.
const NO_MEMORY: &str = "(no memory)";
/// The part of a value that has the type's internal layout.
const RAW: &str = "[raw]";

/// Makes the report. A process goes on afterwards.
///
/// # Errors
/// There is nothing to report on.
pub fn report(target: &Target, values: Values) -> anyhow::Result<Report> {
    let (session, stop) = Session::open(target)?;
    let known = match target {
        Target::Core { file, .. } => subject::of_core(file, values),
        Target::Process(pid) => subject::of_process(*pid, values),
    };
    let report = Gathering::begin(&session, target, values, &known)
        .and_then(|gathering| gathering.report(&stop));
    let closed = session.close();
    report.and_then(|report| closed.map(|()| report))
}

/// What the parts of a report are made from.
struct Gathering<'g> {
    session: &'g Session,
    target: &'g Target,
    values: Values,
    known: &'g Known,
    modules: Vec<LoadedModule>,
    more_modules: usize,
}

/// A module with its place.
struct LoadedModule {
    range: Range<u64>,
    module: ListedModule,
}

impl LoadedModule {
    fn path(&self) -> &str {
        let module = &self.module.module;
        module.path.as_deref().unwrap_or(&module.name)
    }

    fn has_debug_info(&self) -> bool {
        self.module.debug_info_size > 0 || self.module.debug_info_from.is_some()
    }
}

impl<'g> Gathering<'g> {
    fn begin(
        session: &'g Session,
        target: &'g Target,
        values: Values,
        known: &'g Known,
    ) -> anyhow::Result<Self> {
        let (modules, total) = session.modules(MODULES)?;
        let more_modules = total.saturating_sub(modules.len());
        let loaded = modules.into_iter().map(|module| {
            let range = module.module.address_range.as_deref();
            LoadedModule {
                range: range.and_then(range_of).unwrap_or_default(),
                module,
            }
        });
        Ok(Gathering {
            session,
            target,
            values,
            known,
            modules: loaded.collect(),
            more_modules,
        })
    }

    fn report(&self, stop: &StoppedEventBody) -> anyhow::Result<Report> {
        let mut threads: Vec<Thread> = self.session.threads()?.iter().map(shown_thread).collect();
        let wanted = match self.target {
            Target::Core { .. } => stop.thread_id.unwrap_or_default(),
            // All threads were stopped alike. The main one has the process's id.
            Target::Process(pid) => i64::from(*pid),
        };
        let position = threads.iter().position(|one| one.id == wanted).unwrap_or(0);
        threads.get(position).context("it has no threads")?;
        let thread = threads.remove(position);
        let frames = self.session.frames(thread.id, FRAMES + 1);
        let inner = frames.as_deref().unwrap_or_default();
        let (variables, more_variables) = self.variables(inner);
        let registers = self.registers(inner);
        let instructions = self.instructions(inner);
        let (stacks, more_threads) = self.stacks(&thread, &frames, threads);
        let (modules, more_modules) = self.modules();
        let mut notes = self.session.warnings();
        notes.extend(self.missing());
        let (mut subject, mappings) = (self.known.subject.clone(), &self.known.mappings);
        if let Some(program) = self.session.program() {
            subject.program = Some(Plain::name(program));
        }
        Ok(Report {
            cause: self.cause(stop),
            subject,
            host: subject::host(),
            without_values: self.values == Values::LeftOut,
            notes: { notes.iter() }
                .map(|one| Plain::line(one, VALUE))
                .collect(),
            thread,
            variables,
            more_variables,
            registers,
            instructions,
            stacks,
            more_threads,
            modules,
            more_modules,
            more_mappings: mappings.len().saturating_sub(MAPPINGS),
            mappings: { mappings.iter().take(MAPPINGS) }
                .map(|one| self.mapping(one))
                .collect(),
        })
    }

    /// Why the program has crashed.
    fn cause(&self, stop: &StoppedEventBody) -> Option<Cause> {
        if stop.reason != StoppedEventReason::Exception {
            return None;
        }
        let sentence = stop.text.as_deref().or(stop.description.as_deref());
        let sentence = sentence.unwrap_or_default();
        let told = stop.thread_id.map(|thread| self.session.exception(thread));
        let Some(told) = told.and_then(Result::ok) else {
            let sentence = match self.values {
                Values::Shown => sentence,
                Values::LeftOut => "an exception",
            };
            return Some(Cause {
                id: Plain::name("exception"),
                sentence: Plain::lines(sentence, MESSAGE),
                exception: None,
                details: None,
            });
        };
        let id = told.exception_id;
        // Debuggers write core files of processes that they have stopped, with the signal of that stop.
        if matches!(self.target, Target::Core { .. }) && !LEAVE_CORES.contains(&&*id) {
            return None;
        }
        let details = told.details.unwrap_or_default();
        let exception = details.full_type_name.as_deref().map(Plain::name);
        let message = details.message.filter(|text| !sentence.contains(&**text));
        Some(Cause {
            sentence: match self.values {
                Values::Shown => Plain::lines(sentence, MESSAGE),
                Values::LeftOut => Plain::name(&redacted::reason(&id, sentence)),
            },
            id: Plain::name(&id),
            exception,
            details: { message.filter(|_| self.values == Values::Shown) }
                .map(|text| Plain::lines(&text, MESSAGE)),
        })
    }

    /// The stacks, that of `first` first, and how many threads are left out.
    fn stacks(
        &self,
        first: &Thread,
        frames: &anyhow::Result<Vec<StackFrame>>,
        others: Vec<Thread>,
    ) -> (Vec<Stack>, usize) {
        let mut stacks = vec![self.stack(first.clone(), frames)];
        let mut left_out = others.len().saturating_sub(THREADS);
        for thread in others.into_iter().take(THREADS) {
            let frames = self.session.frames(thread.id, FRAMES + 1);
            let stack = self.stack(thread, &frames);
            match stacks.iter().position(|known| are_alike(known, &stack)) {
                Some(index) => stacks[index].threads.extend(stack.threads),
                None if stacks.len() < STACKS => stacks.push(stack),
                None => left_out += 1,
            }
        }
        (stacks, left_out)
    }

    fn stack(&self, thread: Thread, frames: &anyhow::Result<Vec<StackFrame>>) -> Stack {
        let read = frames.as_deref().unwrap_or_default();
        let shown = read.iter().enumerate().take(FRAMES);
        Stack {
            threads: vec![thread],
            frames: shown.map(|(index, one)| self.frame(index, one)).collect(),
            more_frames: read.len() > FRAMES,
            problem: frames
                .as_ref()
                .err()
                .map(|error| Plain::line(&format!("{error:#}"), VALUE)),
        }
    }

    fn frame(&self, index: usize, frame: &StackFrame) -> Frame {
        let at = frame.instruction_pointer_reference.as_deref();
        let address = at.and_then(number);
        let place = address.and_then(|at| self.place_of(at));
        let source = frame.source.as_ref();
        let path = source.and_then(|source| source.path.as_deref());
        let label = is_label(frame);
        // Without a function, the adapter names the address. One that is in no module may be data that was taken for a return address.
        let is_named = !at.is_some_and(|at| frame.name.starts_with(at));
        let is_code = label || frame.module_id.is_some() || path.is_some() || place.is_some();
        let may_be_shown = is_code || self.values == Values::Shown;
        let name = match self.values {
            Values::Shown => &*frame.name,
            Values::LeftOut => redacted::function(&frame.name, label),
        };
        Frame {
            index,
            function: (is_named && may_be_shown).then(|| Plain::name(name)),
            path: path.map(Plain::name),
            line: Some(frame.line).filter(|line| path.is_some() && *line > 0),
            address: address.filter(|_| may_be_shown).map(Plain::address),
            module: place.map(|(module, _)| Plain::name(module)),
            module_offset: place.map(|(_, offset)| Plain::address(offset)),
            own: is_own(frame),
            label,
        }
    }

    /// The path of the file whose code is at an address, and how far the address is from its beginning.
    fn place_of(&self, address: u64) -> Option<(&str, u64)> {
        if let Some(module) = self.module_at(address) {
            return Some((module.path(), address - module.range.start));
        }
        let (start, file) = self.known.loaded.range(..=address).next_back()?;
        (address < file.end).then_some((&*file.path, address - start))
    }

    /// Whether what is at an address can only be code as a file has it, and no data of the program.
    fn is_code_of_file(&self, address: u64) -> bool {
        let mut mappings = self.known.mappings.iter();
        match mappings.find(|one| (one.start..one.end).contains(&address)) {
            Some(mapping) => mapping.execute && !mapping.write && !mapping.name.is_empty(),
            // A core file may leave out what is as in the file.
            None => self.place_of(address).is_some(),
        }
    }

    fn module_at(&self, address: u64) -> Option<&LoadedModule> {
        { self.modules.iter() }.find(|module| module.range.contains(&address))
    }

    /// The variables of the innermost frames of the user's own code, and whether there are more such frames.
    fn variables(&self, frames: &[StackFrame]) -> (Vec<FrameVariables>, bool) {
        if self.values == Values::LeftOut {
            return (Vec::new(), false);
        }
        let mut own = frames.iter().enumerate().filter(|(_, frame)| is_own(frame));
        let open = own.by_ref().take(OPEN_FRAMES);
        let shown = open.map(|(index, frame)| self.variables_of(index, frame));
        let shown = shown.collect();
        (shown, own.next().is_some())
    }

    fn variables_of(&self, index: usize, frame: &StackFrame) -> FrameVariables {
        let mut shown = FrameVariables {
            frame: index,
            function: Some(Plain::name(&frame.name)),
            arguments: Vec::new(),
            locals: Vec::new(),
            more: false,
        };
        for scope in self.session.scopes(frame.id).unwrap_or_default() {
            let list = match scope.presentation_hint {
                Some(ScopePresentationHint::Arguments) => &mut shown.arguments,
                Some(ScopePresentationHint::Locals) => &mut shown.locals,
                _ => continue,
            };
            let read = self
                .session
                .variables(scope.variables_reference, VARIABLES + 1);
            let read = read.unwrap_or_default();
            shown.more |= read.len() > VARIABLES;
            let in_scope = read.iter().filter(|one| one.value != NOT_IN_SCOPE);
            list.extend(in_scope.take(VARIABLES).map(|one| self.variable(one)));
        }
        shown
    }

    fn variable(&self, told: &Told) -> Variable {
        let mut variable = value(told, VALUE);
        if told.variables_reference > 0 && !says_all(&told.value) {
            let parts = self.session.variables(told.variables_reference, PARTS + 1);
            let parts = parts.unwrap_or_default();
            variable.more_parts = parts.len() > PARTS;
            let shown = parts.iter().take(PARTS);
            let shown = shown.filter(|part| ![RAW, POINTEE].contains(&&*part.name));
            variable.parts = shown.map(|part| value(part, PART)).collect();
        }
        variable
    }

    /// The registers of the innermost call.
    fn registers(&self, frames: &[StackFrame]) -> Vec<Register> {
        if self.values == Values::LeftOut {
            return Vec::new();
        }
        let of = |frame: &StackFrame| {
            let scopes = self.session.scopes(frame.id).ok()?;
            let is_wanted =
                |scope: &Scope| scope.presentation_hint == Some(ScopePresentationHint::Registers);
            let scope = scopes.into_iter().find(is_wanted)?;
            self.session
                .variables(scope.variables_reference, REGISTER_GROUPS)
                .ok()
        };
        let groups = frames.iter().find_map(of).unwrap_or_default();
        let registers = groups.iter().flat_map(|group| {
            let read = self.session.variables(group.variables_reference, REGISTERS);
            read.unwrap_or_default()
        });
        let shown = registers.map(|one| Register {
            name: Plain::name(&one.name),
            value: Plain::line(&one.value, PART),
        });
        shown.collect()
    }

    /// The instructions around the innermost frame's next one.
    fn instructions(&self, frames: &[StackFrame]) -> Vec<Instruction> {
        let calls = |frame: &&StackFrame| frame.instruction_pointer_reference.is_some();
        let Some(frame) = frames.iter().find(calls) else {
            return Vec::new();
        };
        let at = frame
            .instruction_pointer_reference
            .as_deref()
            .unwrap_or_default();
        let address = number(at);
        let may_be_shown = |at: &str| match self.values {
            Values::Shown => true,
            Values::LeftOut => number(at).is_some_and(|at| self.is_code_of_file(at)),
        };
        if !may_be_shown(at) {
            return Vec::new();
        }
        let read = self.session.instructions(at, BEFORE, INSTRUCTIONS);
        let read = read.unwrap_or_default();
        let there = read
            .iter()
            .filter(|one| one.instruction != NO_MEMORY && may_be_shown(&one.address));
        let shown = there.map(|one| Instruction {
            address: Plain::name(&one.address),
            symbol: one.symbol.as_deref().map(Plain::name),
            text: Plain::name(&one.instruction),
            current: address.is_some() && number(&one.address) == address,
        });
        shown.collect()
    }

    /// The modules with those that weren't found, and how many are left out.
    fn modules(&self) -> (Vec<Module>, usize) {
        let found = self.modules.iter().map(|loaded| {
            let (listed, path) = (&loaded.module, loaded.path());
            let debug_file = listed.module.symbol_file_path.as_deref();
            Module {
                path: Plain::name(path),
                build_id: listed.build_id.as_deref().map(Plain::name),
                start: Some(Plain::address(loaded.range.start)),
                end: Some(Plain::address(loaded.range.end)),
                symbols: listed.module.symbol_status.as_deref().map(Plain::name),
                debug_file: debug_file.filter(|file| *file != path).map(Plain::name),
                compiler: listed.compiler.as_deref().map(Plain::name),
            }
        });
        let not_found = self.not_found().map(|(start, file)| Module {
            path: Plain::name(&file.path),
            build_id: file.build_id.as_deref().map(Plain::name),
            start: Some(Plain::address(start)),
            end: Some(Plain::address(file.end)),
            symbols: Some(Plain::name("not found")),
            debug_file: None,
            compiler: None,
        });
        let mut all: Vec<Module> = found.chain(not_found).collect();
        let more = all.len().saturating_sub(MODULES);
        all.truncate(MODULES);
        (all, more + self.more_modules)
    }

    /// The files that were loaded, but of which the adapter has no module.
    fn not_found(&self) -> impl Iterator<Item = (u64, &LoadedFile)> {
        let loaded = self.known.loaded.iter().map(|(start, file)| (*start, file));
        loaded.filter(|(start, _)| self.more_modules == 0 && self.module_at(*start).is_none())
    }

    /// Sentences about what the program's file lacks.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if let Some(program) = self.known.entry.and_then(|entry| self.module_at(entry))
            && !program.has_debug_info()
        {
            let path = program.path();
            missing.push(format!(
                "{path} has no debug information: its lines and variables are not known"
            ));
        }
        if self.known.mappings.is_empty() {
            missing.push("the memory map can't be read".to_owned());
        }
        missing
    }

    fn mapping(&self, mapping: &dapple_engine::system_files::Mapping) -> Mapping {
        let right = |has: bool, letter: char| if has { letter } else { '-' };
        let rights = [
            right(mapping.read, 'r'),
            right(mapping.write, 'w'),
            right(mapping.execute, 'x'),
        ];
        let name = match self.values {
            Values::Shown => &*mapping.name,
            Values::LeftOut => redacted::mapping(&mapping.name),
        };
        Mapping {
            start: Plain::address(mapping.start),
            end: Plain::address(mapping.end),
            rights: Plain::name(&rights.iter().collect::<String>()),
            offset: Plain::address(mapping.offset),
            name: (!name.is_empty()).then(|| Plain::name(name)),
        }
    }
}

fn shown_thread(thread: &dapple_dap::types::Thread) -> Thread {
    Thread {
        id: thread.id,
        // Without a name, the adapter names the id.
        name: (!thread.name.is_empty() && thread.name != format!("thread {}", thread.id))
            .then(|| Plain::name(&thread.name)),
    }
}

fn value(told: &Told, most: usize) -> Variable {
    Variable {
        name: Plain::name(&told.name),
        r#type: told.r#type.as_deref().map(Plain::name),
        value: Plain::line(&told.value, most),
        parts: Vec::new(),
        more_parts: false,
    }
}

/// Whether a value's text says all. A bare type name, an address or a `{…}` does not.
fn says_all(text: &str) -> bool {
    let is_elided = text.contains('…') || text.contains("...");
    !is_elided && text.contains(['{', '[', '(', '"', '\''])
}

/// Whether a frame is a call of the user's own code. Its source need not be on this machine.
fn is_own(frame: &StackFrame) -> bool {
    let source = frame.source.as_ref();
    !is_label(frame) && source.is_some_and(|it| it.path.is_some() && it.origin.is_none())
}

fn is_label(frame: &StackFrame) -> bool {
    frame.presentation_hint == Some(StackFramePresentationHint::Label)
}

/// Whether two stacks are at the same lines, or instructions where none are known.
fn are_alike(one: &Stack, other: &Stack) -> bool {
    fn place(frame: &Frame) -> (Option<&Plain>, Option<&Plain>, Option<i64>, Option<&Plain>) {
        let at = frame.address.as_ref().filter(|_| frame.line.is_none());
        (frame.function.as_ref(), frame.path.as_ref(), frame.line, at)
    }
    one.problem == other.problem
        && one.more_frames == other.more_frames
        && one.frames.len() == other.frames.len()
        && { one.frames.iter().zip(&other.frames) }.all(|(a, b)| place(a) == place(b))
}

fn number(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// `0x1000-0x2000`.
fn range_of(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once('-')?;
    Some(number(start)?..number(end)?)
}
