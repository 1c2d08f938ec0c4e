//! Temporary breakpoints: they are in none of the client's lists. They are removed once they have stopped a thread, or when their frame or
//! thread has ended.

use super::{Breakpoint, Model, Spec, function_spec};
use crate::Address;
use crate::ThreadId;
use crate::breakpoints::data::FrameOnStack;
use crate::breakpoints::options::BreakpointOptions;
use crate::breakpoints::temporary::Temporary;
use crate::breakpoints::wanted::Resolution;
use crate::breakpoints::wanted::{TemporaryPlace, TemporarySet};
use dapple_inspect::modules::Modules;

impl Model {
    /// Adds a temporary breakpoint; returns its id.
    pub(crate) fn add_temporary(
        &mut self,
        place: &TemporaryPlace,
        options: BreakpointOptions,
        temporary: Temporary,
        modules: &Modules,
    ) -> i64 {
        let spec = match place {
            TemporaryPlace::Line { file, line, column } => Spec::Line {
                file: file.clone(),
                line: *line,
                column: *column,
                copies: false,
            },
            TemporaryPlace::Function { name } => function_spec(name),
            TemporaryPlace::Address(address) => Spec::Address(*address),
        };
        let id = self.new_id();
        let breakpoint = Breakpoint::new(id, spec, options, modules);
        self.list.push(Breakpoint {
            temporary: Some(temporary),
            ..breakpoint
        });
        id
    }

    /// What makes a breakpoint a temporary one. `None`: it isn't one, or doesn't exist.
    pub(crate) fn temporary_of(&self, id: i64) -> Option<&Temporary> {
        let breakpoint = self.list.iter().find(|b| b.id == id)?;
        breakpoint.temporary.as_ref()
    }

    /// The frames that temporary breakpoints are limited to, with the breakpoints' ids. Breakpoints that have stopped a thread are left out.
    pub(crate) fn temporary_frames(&self) -> impl Iterator<Item = (i64, FrameOnStack)> {
        let frame = |b: &Breakpoint| {
            let temporary = b.temporary.as_ref().filter(|temporary| !temporary.spent)?;
            Some((b.id, temporary.frame?))
        };
        self.list.iter().filter_map(frame)
    }

    /// Whether a temporary breakpoint is limited to a frame of `thread`, and hasn't stopped it yet.
    pub(crate) fn is_awaited_in(&self, thread: ThreadId) -> bool {
        let mut frames = self.temporary_frames();
        frames.any(|(_, frame)| frame.thread == thread)
    }

    /// Whether `address` is one of a breakpoint's own locations. The return address of the frame that it is limited to isn't.
    pub(crate) fn has_place(&self, id: i64, address: Address) -> bool {
        let breakpoint = self.list.iter().find(|b| b.id == id);
        breakpoint.is_some_and(|b| b.addresses().contains(&address))
    }

    /// Where a temporary breakpoint is set. The error says why it isn't.
    pub(crate) fn temporary(&self, id: i64) -> Result<TemporarySet, String> {
        let found = self.list.iter().find(|b| b.id == id);
        let breakpoint = found.ok_or_else(|| "it is gone".to_owned())?;
        match breakpoint.resolve().resolution {
            Resolution::Pending(why) | Resolution::Failed(why) => Err(why),
            Resolution::Resolved {
                position,
                addresses,
                ..
            } => Ok(TemporarySet {
                id,
                position,
                addresses,
            }),
        }
    }

    /// Marks the temporary breakpoints among `ids`: they have stopped a thread.
    pub(crate) fn spend(&mut self, ids: &[i64]) {
        for breakpoint in &mut self.list {
            if let Some(temporary) = &mut breakpoint.temporary {
                temporary.spent |= ids.contains(&breakpoint.id);
            }
        }
    }

    /// Removes the temporary breakpoints that have stopped a thread, and those for whose id `gone` is true. Returns whether there were any.
    pub(crate) fn remove_temporaries(&mut self, gone: impl Fn(i64) -> bool) -> bool {
        let before = self.list.len();
        self.list.retain(|b| {
            let temporary = b.temporary.as_ref();
            temporary.is_none_or(|temporary| !temporary.spent && !gone(b.id))
        });
        self.list.len() < before
    }

    /// Limits to `child` the temporary breakpoints that were limited to `maker` or a frame of it. The debugger follows `child`, which the
    /// thread `maker` has forked; it has the same frames.
    pub(crate) fn thread_became(&mut self, maker: ThreadId, child: ThreadId) {
        let temporaries = self.list.iter_mut().filter_map(|b| b.temporary.as_mut());
        for temporary in temporaries {
            if temporary.thread == Some(maker) {
                temporary.thread = Some(child);
            }
            if let Some(frame) = temporary.frame.as_mut().filter(|f| f.thread == maker) {
                frame.thread = child;
            }
        }
    }

    /// Removes the temporary breakpoints that are limited to a frame. Call when exec has replaced the program, whose frames are gone.
    pub(crate) fn frames_gone(&mut self) {
        let in_frame = |b: &Breakpoint| b.temporary.as_ref().is_some_and(|t| t.frame.is_some());
        self.list.retain(|b| !in_frame(b));
    }
}
