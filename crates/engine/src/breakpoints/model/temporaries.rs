//! Temporary breakpoints: they are in none of the client's lists, and are removed once they have stopped a thread, or when the owner says
//! that their frame or thread has ended.

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

    /// What makes a breakpoint a temporary one, if it is.
    pub(crate) fn temporary_of(&self, id: i64) -> Option<&Temporary> {
        let breakpoint = self.list.iter().find(|b| b.id == id)?;
        breakpoint.temporary.as_ref()
    }

    /// The frames that temporary breakpoints are limited to, with the breakpoints' ids. Not of those that have stopped a thread.
    pub(crate) fn temporary_frames(&self) -> impl Iterator<Item = (i64, FrameOnStack)> {
        let frame = |b: &Breakpoint| {
            let temporary = b.temporary.as_ref().filter(|temporary| !temporary.spent)?;
            Some((b.id, temporary.frame?))
        };
        self.list.iter().filter_map(frame)
    }

    /// Whether a temporary breakpoint is limited to a frame of `thread`.
    pub(crate) fn is_awaited_in(&self, thread: ThreadId) -> bool {
        let mut frames = self.temporary_frames();
        frames.any(|(_, frame)| frame.thread == thread)
    }

    /// Whether `address` is one of a breakpoint's own locations, not only its frame's return address.
    pub(crate) fn has_place(&self, id: i64, address: Address) -> bool {
        let breakpoint = self.list.iter().find(|b| b.id == id);
        breakpoint.is_some_and(|b| b.addresses().contains(&address))
    }

    /// A temporary breakpoint as it is set, or why it can't be.
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

    /// The temporary ones among `ids` have stopped a thread.
    pub(crate) fn spend(&mut self, ids: &[i64]) {
        for breakpoint in &mut self.list {
            if let Some(temporary) = &mut breakpoint.temporary {
                temporary.spent |= ids.contains(&breakpoint.id);
            }
        }
    }

    /// Removes the temporary breakpoints that have stopped a thread, and those that `gone` names; returns whether there were any.
    pub(crate) fn remove_temporaries(&mut self, gone: impl Fn(i64) -> bool) -> bool {
        let before = self.list.len();
        self.list.retain(|b| {
            let temporary = b.temporary.as_ref();
            temporary.is_none_or(|temporary| !temporary.spent && !gone(b.id))
        });
        self.list.len() < before
    }

    /// A forked child goes on in place of its parent's thread `maker`, with the same frames.
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

    /// Another program runs: removes the temporary breakpoints that were limited to frames of the old one.
    pub(crate) fn frames_gone(&mut self) {
        let in_frame = |b: &Breakpoint| b.temporary.as_ref().is_some_and(|t| t.frame.is_some());
        self.list.retain(|b| !in_frame(b));
    }
}
