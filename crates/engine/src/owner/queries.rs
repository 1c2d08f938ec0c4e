//! What can be asked of a stopped debuggee: stacks, variables, expressions.

use super::Owner;
use crate::eval::Completions;
use crate::frame::{Frame, FrameId, Stack, StackCache};
use crate::modules::ModuleInfo;
use crate::registers::extended::Extended;
use crate::registers::shown::{self, Rest, ShownRegister};
use crate::session::ThreadInfo;
use crate::stops::Mode;
use crate::target::linux::{process, ptrace};
use crate::values::{Contents, Format, NamedValue, Reader, Rendered, Value};
use crate::{Error, ThreadId, eval};
use std::ops::Range;
use std::sync::Arc;

impl Owner {
    pub(crate) fn threads(&self) -> Vec<ThreadInfo> {
        self.stops
            .live()
            .map(|id| ThreadInfo {
                id,
                name: process::thread_name(self.process, id),
            })
            .collect()
    }

    pub(crate) fn modules(&self) -> Vec<ModuleInfo> {
        self.modules.iter().map(|m| m.info()).collect()
    }

    /// By id.
    pub(crate) fn loaded_modules(&self) -> Vec<(u64, Arc<dapple_symbols::Module>)> {
        let modules = self.modules.iter();
        modules.map(|m| (m.id, Arc::clone(&m.module))).collect()
    }

    pub(super) fn require_stopped(&self) -> Result<(), Error> {
        match self.stops.mode() {
            Mode::Stopped => Ok(()),
            Mode::Running | Mode::Stopping => Err(Error::NotStopped),
        }
    }

    pub(super) fn require_thread(&self, thread: ThreadId) -> Result<(), Error> {
        self.require_stopped()?;
        if !self.stops.is_live(thread) {
            return Err(Error::NoSuchThread(thread));
        }
        Ok(())
    }

    /// As [`Owner::require_stopped`], but some threads may run while others are held.
    pub(super) fn require_some_stopped(&self) -> Result<(), Error> {
        match self.stops.holds_some() {
            true => Ok(()),
            false => self.require_stopped(),
        }
    }

    /// The thread is stopped, whatever the others do.
    pub(super) fn require_held(&self, thread: ThreadId) -> Result<(), Error> {
        self.require_some_stopped()?;
        if !self.stops.is_live(thread) {
            return Err(Error::NoSuchThread(thread));
        }
        if !self.stops.is_held(thread) {
            return Err(Error::NotStopped);
        }
        Ok(())
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        Reader::new(&self.memory, &self.modules)
    }

    /// Unwinds a thread as far as wanted; keeps what was found until it runs again.
    fn with_stack<R>(
        &mut self,
        thread: ThreadId,
        use_it: impl FnOnce(&mut StackCache, &Owner) -> R,
    ) -> Result<R, Error> {
        self.require_held(thread)?;
        let mut stack = match self.stacks.remove(&thread) {
            Some(stack) => stack,
            None => self.new_stack(thread).ok_or(Error::NoSuchThread(thread))?,
        };
        let result = use_it(&mut stack, self);
        self.stacks.insert(thread, stack);
        Ok(result)
    }

    fn new_stack(&mut self, thread: ThreadId) -> Option<StackCache> {
        let registers = self.registers(thread)?;
        let vectors = ptrace::vectors(thread).ok().map(Arc::new);
        let stack = StackCache::new(thread, self.stop_number, registers.to_dwarf())
            .with_vectors(vectors)
            .before_calls(self.calls_not_begun(thread));
        Some(stack)
    }

    /// Memory or registers were changed: the stacks that somebody has looked at are followed anew, as far as they are asked for.
    pub(super) fn renew_stacks(&mut self) {
        for thread in std::mem::take(&mut self.stacks).into_keys() {
            if let Some(stack) = self.new_stack(thread) {
                self.stacks.insert(thread, stack);
            }
        }
    }

    /// A value with its frame's registers as they are now.
    fn renewed(&mut self, value: &Value) -> Value {
        let mut value = value.clone();
        if let Contents::Pieces(_, frame) = &mut value.contents {
            for stack in self.stacks.values_mut() {
                let now = stack.physical_at(frame.level, &self.modules, &self.memory);
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

    /// The reader for a thread: with what it has stopped for.
    pub(super) fn reader_for(&self, thread: ThreadId) -> Reader<'_> {
        let control = self.threads.get(&thread);
        Reader {
            thrown: control
                .and_then(|control| control.exception.as_ref())
                .and_then(|exception| exception.thrown.as_ref()),
            ..self.reader()
        }
    }

    /// A frame, or else the innermost one of the thread that stopped.
    pub(super) fn frame_or_current(&mut self, frame: Option<FrameId>) -> Result<Frame, Error> {
        self.require_some_stopped()?;
        self.frame(frame.unwrap_or(FrameId {
            stop: self.stop_number,
            thread: self.current,
            index: 0,
        }))
    }

    pub(crate) fn stack(&mut self, thread: ThreadId, window: Range<usize>) -> Result<Stack, Error> {
        self.with_stack(thread, |stack, owner| {
            stack.window(&owner.modules, &owner.memory, window)
        })
    }

    pub(super) fn frame(&mut self, id: FrameId) -> Result<Frame, Error> {
        self.require_some_stopped()?;
        if id.stop != self.stop_number {
            return Err(Error::StaleFrame);
        }
        self.with_stack(id.thread, |stack, owner| {
            stack.frame(&owner.modules, &owner.memory, id.index)
        })?
        .ok_or(Error::StaleFrame)
    }

    fn render(&self, values: Vec<NamedValue>) -> Vec<(NamedValue, Rendered)> {
        let reader = self.reader();
        values
            .into_iter()
            .map(|named| {
                let rendered = reader.render(&named.value);
                (named, rendered)
            })
            .collect()
    }

    pub(crate) fn shown_as(
        &self,
        values: Vec<NamedValue>,
        format: Format,
    ) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.require_some_stopped()?;
        let formatted = values.into_iter().map(|mut named| {
            if named.value.format == Format::Natural {
                named.value.format = format;
            }
            named
        });
        Ok(self.render(formatted.collect()))
    }

    pub(crate) fn variables(&mut self, id: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        let frame = self.frame(id)?;
        Ok(self.render(self.reader().variables(&frame)))
    }

    pub(crate) fn statics(&mut self, id: FrameId) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        let frame = self.frame(id)?;
        Ok(self.render(self.reader().statics(&frame)))
    }

    pub(crate) fn frame_registers(&mut self, id: FrameId) -> Result<Vec<ShownRegister>, Error> {
        let frame = self.frame(id)?;
        let general = &frame.physical.registers;
        let kernels = match frame.physical.level {
            0 => self.registers(id.thread),
            _ => None,
        };
        let Some(kernels) = kernels else {
            return Ok(shown::groups(general, None));
        };
        let extended = ptrace::extended_state(id.thread).unwrap_or_default();
        let extended = Extended::parse(&extended);
        let rest = Rest {
            flags: kernels.flags(),
            segments: kernels.segments(),
            extended: extended.as_ref(),
        };
        Ok(shown::groups(general, Some(&rest)))
    }

    pub(crate) fn children(
        &mut self,
        value: &Value,
        expression: Option<&str>,
        range: Range<u64>,
    ) -> Result<Vec<(NamedValue, Rendered)>, Error> {
        self.require_some_stopped()?;
        let value = self.renewed(value);
        Ok(self.render(self.reader().children(&value, expression, range)))
    }

    pub(crate) fn completions(
        &mut self,
        line: &str,
        frame: Option<FrameId>,
    ) -> Result<Completions, Error> {
        let frame = self.frame_or_current(frame)?;
        let reader = self.reader_for(frame.id.thread);
        Ok(eval::complete(line, &frame, &reader))
    }

    pub(crate) fn evaluate(
        &mut self,
        text: &str,
        frame: Option<FrameId>,
    ) -> Result<(NamedValue, Rendered), Error> {
        let frame = self.frame_or_current(frame)?;
        let reader = self.reader_for(frame.id.thread);
        let value = eval::evaluate(text, &frame, &reader)?;
        let rendered = self.reader().render(&value.value);
        Ok((value, rendered))
    }
}
