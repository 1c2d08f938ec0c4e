//! Inspecting stopped threads, of a live process or in a core dump: stacks, variables, expressions, memory, code.
//!
//! [`Inspect`] requires the primitives (memory, modules, registers) and provides everything else. It never resumes a thread.

mod awaiters;
pub mod declarations;
pub mod kept;
mod locks;
pub mod memory;
pub mod signals;
mod tasks;
pub mod threads;

use crate::disassembly::{self, Instruction, Window};
use crate::eval::calls::Calls;
use crate::eval::{Completions, Parsed, Statement};
use crate::exceptions::{Exception, StackTrace, TraceFrame};
use crate::frame::{Frame, FrameId, FrameKind, Stack, StackCache};
use crate::inspect::memory::{MOST_MEMORY, MemoryRead};
use crate::inspect::threads::ThreadInfo;
use crate::live::Live;
use crate::locks::Locks;
use crate::modules::{ModuleDetails, ModuleInfo, Modules};
use crate::pages::PageCache;
use crate::tasks::{TaskPage, TaskTable};
use crate::values::known::Known;
use crate::values::{Contents, Format, NamedValue, Reader, Rendered, Value, VariableKind};
use crate::{Address, Error, ThreadId, eval};
use dapple_arch::Memory;
use dapple_arch::registers::shown::{self, Rest, ShownRegister};
use dapple_target::memory_map::Mapping;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// How many mappings are tried to find where memory is readable again.
const MOST_TRIES: usize = 64;
/// The most frames that an exception's stack trace has.
const MOST_FRAMES: usize = 200;

/// The stacks requested in this stop, with what unwinding them needs.
pub struct Stacks<'a> {
    /// The requested stacks, as far as they were unwound.
    pub requested: &'a mut FxHashMap<ThreadId, StackCache>,
    /// The loaded modules.
    pub modules: &'a Modules,
    /// The memory, without breakpoint instructions.
    pub memory: &'a dyn Memory,
}

/// Values with their rendered texts.
pub(crate) type Shown = Vec<(NamedValue, Rendered)>;

fn render(reader: &Reader<'_>, values: Vec<NamedValue>) -> Shown {
    let shown = values.into_iter().map(|named| {
        let rendered = reader.render(&named.value);
        (named, rendered)
    });
    shown.collect()
}

/// Stopped threads that can be inspected.
pub trait Inspect {
    /// The memory, without breakpoint instructions.
    fn memory(&self) -> &dyn Memory;
    /// The loaded modules.
    fn modules(&self) -> &Modules;
    /// What is cached about values between requests.
    fn known(&self) -> &Known;
    /// The tasks of asynchronous executors, as far as they were found.
    fn task_table(&self) -> &TaskTable;
    /// The stacks.
    fn stacks(&mut self) -> Stacks<'_>;
    /// An empty cache for a stack; `None`: the thread is gone.
    fn new_stack(&mut self, thread: ThreadId) -> Option<StackCache>;
    /// The number of the stop that frames belong to.
    fn stop_number(&self) -> u64;
    /// The thread whose innermost frame is used for expressions without a frame.
    fn current(&self) -> ThreadId;
    /// All threads.
    fn threads(&self) -> Vec<ThreadInfo>;
    /// The memory mappings, in order of their addresses.
    fn mappings(&self) -> Vec<Mapping>;
    /// Reads the registers that frames don't store.
    fn live(&self) -> &dyn Live;
    /// The exception or signal that a thread has stopped for.
    fn exception_of(&self, thread: ThreadId) -> Option<&Arc<Exception>>;
    /// The result of the function that a thread was stepped out of.
    fn returned_value(&self) -> Option<&(ThreadId, NamedValue)>;
    /// Fails unless some thread is stopped.
    fn require_some_stopped(&self) -> Result<(), Error>;
    /// Fails unless this thread is stopped.
    fn require_thread_stopped(&self, thread: ThreadId) -> Result<(), Error>;

    // Provided methods.

    /// A reader of values for one request. Making it also resets the limits of what natvis presentations may compute.
    fn reader(&self) -> Reader<'_> {
        self.known().presentation().begin();
        Reader {
            live: Some(self.live()),
            looks_at_heap: true,
            has_pointees: self.known().presentation().has_pointees(),
            ..Reader::new(self.memory(), self.modules(), self.known())
        }
    }

    /// The reader for a request about a thread: it also has the exception that the thread has stopped for.
    fn reader_for(&self, thread: ThreadId) -> Reader<'_> {
        Reader {
            thrown: self
                .exception_of(thread)
                .and_then(|exception| exception.thrown.as_ref()),
            ..self.reader()
        }
    }

    /// What events report of each module.
    fn module_infos(&self) -> Vec<ModuleInfo> {
        self.modules().iter().map(|m| m.info()).collect()
    }

    /// The details of a page of modules, and how many modules there are in all.
    fn module_details(&self, range: Range<usize>) -> (Vec<ModuleDetails>, usize) {
        let modules = self.modules().iter().skip(range.start);
        let page = modules.take(range.end.saturating_sub(range.start));
        let details = page.map(|module| module.details()).collect();
        (details, self.modules().iter().count())
    }

    /// The modules with their ids.
    fn loaded_modules(&self) -> Vec<(u64, Arc<dapple_symbols::Module>)> {
        let modules = self.modules().iter();
        modules.map(|m| (m.id, Arc::clone(&m.module))).collect()
    }

    /// Adds a thread's stack to the requested ones.
    fn follow(&mut self, thread: ThreadId) -> Result<(), Error> {
        if crate::tasks::is_task(thread) {
            return tasks::follow(self, thread);
        }
        self.require_thread_stopped(thread)?;
        if !self.stacks().requested.contains_key(&thread) {
            let stack = self.new_stack(thread);
            let stack = stack.ok_or(Error::NoSuchThread(thread))?;
            self.stacks().requested.insert(thread, stack);
            awaiters::add(self, thread);
        }
        Ok(())
    }

    /// A window of a thread's frames; what was unwound is kept until the thread resumes.
    fn stack(&mut self, thread: ThreadId, window: Range<usize>) -> Result<Stack, Error> {
        self.follow(thread)?;
        let stacks = self.stacks();
        let stack = stacks.requested.get_mut(&thread);
        let stack = stack.ok_or(Error::NoSuchThread(thread))?;
        Ok(stack.window(stacks.modules, stacks.memory, window))
    }

    /// The frame with this id.
    fn frame(&mut self, id: FrameId) -> Result<Frame, Error> {
        self.require_some_stopped()?;
        if id.stop != self.stop_number() {
            return Err(Error::StaleFrame);
        }
        self.follow(id.thread)?;
        let stacks = self.stacks();
        let stack = stacks.requested.get_mut(&id.thread);
        stack
            .and_then(|stack| stack.frame(stacks.modules, stacks.memory, id.index))
            .ok_or(Error::StaleFrame)
    }

    /// The frame with this id, or else the innermost one of the current thread.
    fn frame_or_current(&mut self, frame: Option<FrameId>) -> Result<Frame, Error> {
        self.require_some_stopped()?;
        let innermost = FrameId {
            stop: self.stop_number(),
            thread: self.current(),
            index: 0,
        };
        self.frame(frame.unwrap_or(innermost))
    }

    /// Replaces the requested stacks by empty caches. Call after memory or registers were changed.
    fn renew_stacks(&mut self) {
        for thread in std::mem::take(self.stacks().requested).into_keys() {
            if let Some(stack) = self.new_stack(thread) {
                self.stacks().requested.insert(thread, stack);
                awaiters::add(self, thread);
            }
        }
    }

    /// `value`, which may be from before registers were changed: if it has parts in registers of a frame, it gets the frame as it is
    /// unwound now.
    fn renewed(&mut self, mut value: Value) -> Value {
        if let Contents::Pieces(_, frame) = &mut value.contents {
            let stacks = self.stacks();
            for stack in stacks.requested.values_mut() {
                let now = stack.physical_at(frame.level, stacks.modules, stacks.memory);
                if let Some(now) = now
                    && now.cfa.is_some()
                    && now.cfa == frame.cfa
                {
                    *frame = now;
                    break;
                }
            }
        }
        value
    }

    /// Renders values.
    fn render(&self, values: Vec<NamedValue>) -> Shown {
        let pages = PageCache::of_request(self.memory());
        render(&self.reader().over(&pages), values)
    }

    /// Renders values in `format`. Values that have a format of their own keep it.
    fn shown_as(&self, values: Vec<NamedValue>, format: Format) -> Result<Shown, Error> {
        self.require_some_stopped()?;
        let formatted = values.into_iter().map(|mut named| {
            if named.value.format == Format::Natural {
                named.value.format = format;
            }
            named
        });
        Ok(self.render(formatted.collect()))
    }

    /// A frame's parameters and local variables.
    fn variables(&mut self, id: FrameId) -> Result<Shown, Error> {
        let frame = self.frame(id)?;
        let pages = PageCache::of_request(self.memory());
        let reader = self.reader().over(&pages);
        Ok(render(&reader, reader.variables(&frame)))
    }

    /// A frame's parameters alone, in a format.
    fn parameters(&mut self, id: FrameId, format: Format) -> Result<Shown, Error> {
        let frame = self.frame(id)?;
        let mut parameters = self.reader().variables(&frame);
        parameters.retain(|variable| variable.kind == Some(VariableKind::Parameter));
        self.shown_as(parameters, format)
    }

    /// The static variables in the scope of a frame's function.
    fn statics(&mut self, id: FrameId) -> Result<Shown, Error> {
        let frame = self.frame(id)?;
        Ok(self.render(self.reader().statics(&frame)))
    }

    /// A frame's registers; for the innermost frame also those that frames don't store.
    fn frame_registers(&mut self, id: FrameId) -> Result<Vec<ShownRegister>, Error> {
        let frame = self.frame(id)?;
        let general = &frame.physical.registers;
        let kernels = match frame.physical.level {
            0 => self.live().of(id.thread),
            _ => None,
        };
        let Some((kernels, extended)) = kernels else {
            return Ok(shown::groups(general, None));
        };
        let rest = Rest {
            registers: &kernels,
            extended: &extended,
        };
        Ok(shown::groups(general, Some(&rest)))
    }

    /// A value's children. `expression` is one that gives the value; the children's expressions are made from it.
    fn children(
        &mut self,
        value: Value,
        expression: Option<&str>,
        range: Range<u64>,
    ) -> Result<Shown, Error> {
        self.require_some_stopped()?;
        let value = self.renewed(value);
        let pages = PageCache::of_request(self.memory());
        let reader = self.reader().over(&pages);
        let children = reader.children(&value, expression, range);
        Ok(render(&reader, children))
    }

    /// A page of the tasks of asynchronous executors. If the program's names aren't indexed yet, waits until they are.
    fn tasks(&mut self, range: Range<usize>) -> Result<TaskPage, Error> {
        self.require_some_stopped()?;
        Ok(tasks::page(self, range, true))
    }

    /// As [`Inspect::tasks`], but doesn't wait: [`TaskPage::is_early`] then says that the executors can't be found yet.
    fn tasks_soon(&mut self, range: Range<usize>) -> Result<TaskPage, Error> {
        self.require_some_stopped()?;
        Ok(tasks::page(self, range, false))
    }

    /// The threads that wait for locks or for each other.
    fn locks(&mut self) -> Result<Locks, Error> {
        self.require_some_stopped()?;
        Ok(locks::locks(self))
    }

    /// The thread that polls a task at present.
    fn polling_thread(&mut self, task: ThreadId) -> Result<Option<ThreadId>, Error> {
        self.require_some_stopped()?;
        tasks::polling_thread(self, task)
    }

    /// The completions of a line.
    fn completions(&mut self, line: &str, frame: Option<FrameId>) -> Result<Completions, Error> {
        let frame = self.frame_or_current(frame)?;
        let reader = self.reader_for(frame.id.thread);
        Ok(eval::complete(line, &frame, &reader))
    }

    /// An expression's value, if it can be computed without running the program.
    fn evaluate(
        &mut self,
        text: &str,
        frame: Option<FrameId>,
    ) -> Result<(NamedValue, Rendered), Error> {
        let frame = self.frame_or_current(frame)?;
        let pages = PageCache::of_request(self.memory());
        let reader = self.reader_for(frame.id.thread).over(&pages);
        let value = eval::evaluate(text, &frame, &reader)?;
        let rendered = reader.render(&value.value);
        Ok((value, rendered))
    }

    /// A description of a name that is no variable: a type with its members, or a function with its parameters. `None`: it is neither.
    fn described(&mut self, name: &str, frame: Option<FrameId>) -> Result<Option<String>, Error> {
        let frame = self.frame_or_current(frame)?;
        let reader = self.reader_for(frame.id.thread);
        Ok(eval::described(name, &frame, &reader))
    }

    /// As [`Inspect::evaluate_post_mortem`], but fails for an assignment with [`Error::PostMortem`], which says that there is no process.
    fn execute_post_mortem(
        &mut self,
        text: &str,
        frame: Option<FrameId>,
    ) -> Result<(NamedValue, Rendered), Error> {
        let language = self.frame_or_current(frame)?.language;
        match Statement::new(text, language)? {
            Statement::Value(_) => self.evaluate_post_mortem(text, frame),
            Statement::Assignment(_) => Err(Error::PostMortem),
        }
    }

    /// As [`Inspect::evaluate`], but if the expression calls a function of the program, the error names the function.
    fn evaluate_post_mortem(
        &mut self,
        text: &str,
        frame: Option<FrameId>,
    ) -> Result<(NamedValue, Rendered), Error> {
        let frame = self.frame_or_current(frame)?;
        let reader = self.reader_for(frame.id.thread);
        let calls = Calls::default();
        let parsed = Parsed::calling(text, frame.language)?;
        let found = parsed.value_with(&frame, &reader, Some(&calls));
        if let Some(call) = calls.wanted() {
            return Err(Error::Expression(format!(
                "`{}` can't be called: there is no process to run it, only a core file",
                call.name
            )));
        }
        let value = found?;
        let rendered = self.reader().render(&value.value);
        Ok((value, rendered))
    }

    /// The result of the function that the frame's thread was stepped out of; only for the innermost frame.
    fn returned(&mut self, id: FrameId) -> Result<Option<(NamedValue, Rendered)>, Error> {
        self.frame(id)?;
        let Some((thread, value)) = self.returned_value() else {
            return Ok(None);
        };
        if *thread != id.thread || id.index != 0 {
            return Ok(None);
        }
        let rendered = self.reader().render(&value.value);
        Ok(Some((value.clone(), rendered)))
    }

    /// The exception that a thread has stopped for, with its stack trace.
    fn exception(&mut self, thread: ThreadId) -> Result<Option<Exception>, Error> {
        self.require_thread_stopped(thread)?;
        let Some(exception) = self.exception_of(thread) else {
            return Ok(None);
        };
        let mut exception = Exception::clone(exception);
        let stack = self.stack(thread, 0..MOST_FRAMES)?;
        if exception.stack_trace.is_none() {
            exception.stack_trace = Some(stack_trace(&stack));
        }
        // The unit of the innermost frame with the user's code most likely has the exception's types.
        let frames = &stack.frames;
        let own = frames.iter().find(|frame| frame.is_own());
        let users = own.or_else(|| frames.iter().find(|frame| frame.is_users()));
        if let Some(frame) = users.or(stack.frames.first()).map(|frame| frame.id) {
            exception.expression = self.exception_expression(frame, 0);
            for (inner, cause) in exception.inner.iter_mut().zip(1..) {
                inner.expression = self.exception_expression(frame, cause);
            }
        }
        Ok(Some(exception))
    }

    /// The expression for the exception of a frame's thread if `cause` is 0, else for the `cause`-th of the exceptions that caused it.
    /// `None`: it can't be evaluated.
    fn exception_expression(&mut self, frame: FrameId, cause: usize) -> Option<String> {
        let expression = match cause {
            0 => "$exception".to_owned(),
            cause => format!("$exception{cause}"),
        };
        self.evaluate(&expression, Some(frame)).ok()?;
        Some(expression)
    }

    /// Reads memory from `address` on, up to the first byte that can't be read, and no more than [`MOST_MEMORY`].
    fn read_memory(&self, address: Address, length: usize) -> MemoryRead {
        let length = length.min(MOST_MEMORY);
        let mut bytes = vec![0; length];
        let count = self.memory().read_some(address, &mut bytes);
        bytes.truncate(count);
        let unreadable = match (length - count) as u64 {
            0 => 0,
            rest => self.unreadable(address.0.saturating_add(count as u64), rest),
        };
        MemoryRead { bytes, unreadable }
    }

    /// How many of the `length` bytes from `from` on can't be read: those before the next mapping that can be read. The byte at `from`
    /// can't be.
    fn unreadable(&self, from: u64, length: u64) -> u64 {
        let mappings = self.mappings();
        let behind = mappings.iter().filter(|mapping| mapping.start > from);
        let readable = behind
            .take(MOST_TRIES)
            .find(|mapping| self.memory().read(Address(mapping.start), &mut [0]).is_ok());
        readable.map_or(length, |mapping| length.min(mapping.start - from))
    }

    /// The instructions of a window.
    fn disassemble(&self, window: &Window) -> Vec<Instruction> {
        disassembly::disassemble(window, self.modules(), self.memory())
    }

    /// The instructions of a range.
    fn disassemble_range(&self, range: Range<Address>) -> Vec<Instruction> {
        disassembly::disassemble_range(range, self.modules(), self.memory())
    }

    /// The borders of the function or other known piece of code around an address.
    fn code_around(&self, address: Address) -> Option<Range<Address>> {
        disassembly::code_around(address, self.modules())
    }
}

fn stack_trace(stack: &Stack) -> StackTrace {
    StackTrace {
        frames: { stack.frames.iter() }
            .filter(|frame| !matches!(frame.kind, FrameKind::Label))
            .map(TraceFrame::of)
            .collect(),
        complete: stack.total == Some(stack.frames.len()),
    }
}
