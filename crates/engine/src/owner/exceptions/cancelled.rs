//! Stops at Rust futures that are dropped before their end, and the task in which a thread panics. The hooks are the drop glue of the user's
//! futures, which is searched for only while a filter wants such stops.

use super::{Exceptions, Hook};
use crate::event::ExceptionKind;
use crate::owner::Owner;
use crate::{Address, ThreadId};
use dapple_inspect::exceptions::pattern::means_type;
use dapple_inspect::exceptions::{BreakMode, Exception, Patterns, StackTrace};
use dapple_inspect::frame::Frame;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::tasks::dropped::{self, Around, DropGlue, Dropped};
use dapple_inspect::tasks::polled;
use dapple_symbols::names::readable_name;
use rustc_hash::FxHashMap;

/// How many frames around a drop are looked at.
const MOST_FRAMES: usize = 256;

/// Each module's drop glue of the user's futures, by module id.
pub(super) type Glue = FxHashMap<u64, Vec<DropGlue>>;

impl Exceptions {
    pub(super) fn wants_drops(&self) -> bool {
        self.filters.task_cancelled.is_some() || self.filters.future_dropped.is_some()
    }
}

impl Owner {
    /// The drop glue in the modules, if a filter needs it.
    pub(super) fn find_drop_glue(&mut self) -> Vec<(Hook, Address)> {
        let mut known = std::mem::take(&mut self.exceptions.drop_glue);
        if !self.exceptions.wants_drops() {
            return Vec::new();
        }
        let mut hooks = Vec::new();
        let mut glue = Glue::default();
        for module in self.modules().iter() {
            let found = known.remove(&module.id);
            let found = found.unwrap_or_else(|| dropped::drop_glue(module));
            let entries = found.iter().map(|glue| module.to_process(glue.entry));
            hooks.extend(entries.map(|at| (Hook::FutureDropped, at)));
            glue.insert(module.id, found);
        }
        self.exceptions.drop_glue = glue;
        hooks
    }

    /// The task that a thread polls, for the description of a panic: ` in task 7`.
    pub(super) fn in_task(&mut self, thread: ThreadId) -> String {
        let registers = self.registers(thread);
        let pointer = registers.and_then(|registers| registers.to_dwarf().thread_pointer());
        let tasks = self.threads.tasks();
        let number = pointer.and_then(|at| tasks.polled_by(&self.reader(), thread, at));
        let frames: Vec<Frame> = match number {
            Some(_) => Vec::new(),
            None => self.frames_now(thread).take(MOST_FRAMES).collect(),
        };
        let number = number.or_else(|| polled::number(&self.reader(), frames.into_iter()));
        number.map_or_else(String::new, |number| format!(" in task {number}"))
    }

    /// A thread is at the entry of drop glue, with the address of the future. Returns the exception if a filter wants it.
    pub(super) fn future_dropped(
        &mut self,
        thread: ThreadId,
        at: Address,
        future: Address,
    ) -> Option<(ExceptionKind, Exception)> {
        let module = self.modules().at(at)?.clone();
        let entry = module.to_file(at);
        let known = self.exceptions.drop_glue.get(&module.id)?;
        let glue = *known.iter().find(|glue| glue.entry == entry)?;
        let now = self.live().monotonic_time();
        let dropped = Dropped::at(&self.reader(), &module, glue, future, now)?;
        let around: Vec<_> = self.frames_now(thread).skip(1).take(MOST_FRAMES).collect();
        let known = &self.exceptions.drop_glue;
        let around = Around::judge(around.into_iter(), |module, entry| {
            let glue = known.get(&module.id);
            glue.is_some_and(|all| all.iter().any(|glue| glue.entry == entry))
        });
        let name = readable_name(&dropped.function);
        let wants = |filter: &Option<Patterns>| {
            let filter = filter.as_ref();
            filter.is_some_and(|patterns| {
                let means = |pattern: &str| {
                    means_type(pattern, &name) || means_type(pattern, &dropped.function)
                };
                patterns.selects(means)
            })
        };
        let filters = &self.exceptions.filters;
        let is_task = around == Around::Executor;
        let wanted = match around {
            Around::Part => false,
            Around::Executor => wants(&filters.task_cancelled) || wants(&filters.future_dropped),
            Around::Future => wants(&filters.future_dropped),
        };
        let exception = wanted.then(|| Exception {
            id: if is_task {
                "task cancelled"
            } else {
                "future dropped"
            }
            .to_owned(),
            description: dropped.description(&name, is_task),
            mode: BreakMode::Always,
            stack_trace: Some(StackTrace {
                frames: dropped.frames,
                complete: true,
            }),
            ..Exception::default()
        })?;
        Some((ExceptionKind::Cancelled, exception))
    }
}
