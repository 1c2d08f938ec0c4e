//! The table of the debuggee's threads: everything that the owner keeps for one of them.
//!
//! State that belongs to a thread stands here, so that it ends with the thread: one [`Threads::ended`], one [`Threads::executed`], one
//! [`Threads::let_go`]. Not here: whether a thread runs ([`crate::stops`], a reducer without I/O, has its own table), and activities
//! that name their thread (the step, the inferior call, calls of IFUNC resolvers, watched frames).

use super::Owner;
use super::breakpoint_calls::Ask;
use super::interruptions::Interruptions;
use super::trap::Trap;
use crate::{Address, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::exceptions::Exception;
use dapple_inspect::exceptions::cpp::Object;
use dapple_inspect::frame::StackCache;
use dapple_inspect::tasks::TaskTable;
use dapple_inspect::values::NamedValue;
use dapple_symbols::functions::SourcePosition;
use dapple_target::linux::affinity::{Pace, Pinning};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How a thread runs. An inferior call saves all of it and puts it back, except for `watched` and `pace`.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// The thread's registers. `None` while it runs, and until they are read.
    pub(super) registers: Option<UserRegisters>,
    /// `registers` has changes that were not written to the kernel yet.
    pub(super) unwritten: bool,
    /// The cause of its SIGTRAP, if that was found while the stop was still the kernel's (before waitpid(2) took it).
    pub(super) trap: Option<Trap>,
    /// The address whose breakpoints have counted this thread's hit: it may get past a site there.
    pub(super) passed: Option<Address>,
    /// The site whose trampoline had no room for its message, until that is handled.
    pub(super) found_full: Option<Address>,
    /// Sites that it comes back to when signal handlers return, each with the stack pointer there: that is no new hit.
    pub(super) comes_back: Vec<(Address, u64)>,
    /// The signal to deliver when it goes on; 0: none.
    pub(super) signal: i32,
    /// The exception or signal of its present or last stop, if that was for one.
    pub(super) exception: Option<Arc<Exception>>,
    /// The version of the watch table that its debug registers were set from; 0: they were cleared or never set.
    pub(super) watched: u32,
    /// The source position of the panic under way.
    pub(super) panic_place: Option<String>,
    /// Breakpoint conditions and messages that need an inferior call before the thread goes on.
    pub(super) asks: Vec<Ask>,
    pub(super) pace: Pace,
}

/// What the present stop shows of a thread. An inferior call leaves it alone.
#[derive(Debug, Default, Clone)]
struct Shown {
    /// How many inlined calls begin at its instruction pointer and are shown as not entered.
    calls_not_entered: usize,
    /// The line of the breakpoint that it has stopped at.
    line: Option<SourcePosition>,
    /// The lowest address on its stack that inferior calls have left occupied, by their results and by what their arguments point to (texts,
    /// copies). `None`: nothing is left, or so much that the next call may overwrite it.
    stack_left: Option<u64>,
}

/// All threads of the debuggee.
#[derive(Debug, Default)]
pub(super) struct Threads {
    controls: FxHashMap<ThreadId, Control>,
    shown: FxHashMap<ThreadId, Shown>,
    stacks: FxHashMap<ThreadId, StackCache>,
    /// The tasks of asynchronous executors.
    tasks: TaskTable,
    /// For each thread, the uncaught exception that a stop has reported, until the thread throws again. `None`: the exception's object
    /// is unknown.
    reported: FxHashMap<ThreadId, Option<Object>>,
    /// The thread that was stepped out of a function, and the function's result.
    returned: Option<(ThreadId, NamedValue)>,
    /// Threads that can get past their site only while no other thread runs.
    alone: Vec<ThreadId>,
    /// Where signal handlers may return to.
    interruptions: Interruptions,
    /// Threads to be ended at the next stop of all.
    ending: Vec<ThreadId>,
    /// Threads that are pinned to the tracer's processor.
    pub(super) pinning: Pinning,
}

/// What is kept of the threads of a process that stands still while another one is shown in its place.
#[derive(Debug, Default)]
pub(super) struct Table {
    controls: FxHashMap<ThreadId, Control>,
    shown: FxHashMap<ThreadId, Shown>,
    returned: Option<(ThreadId, NamedValue)>,
    interruptions: Interruptions,
}

impl Table {
    pub(super) fn of(
        controls: FxHashMap<ThreadId, Control>,
        interruptions: Interruptions,
    ) -> Table {
        Table {
            controls,
            interruptions,
            ..Table::default()
        }
    }

    /// The threads as they are when they are shown again: all stopped, and their registers may be other ones.
    pub(super) fn resting(mut self) -> Table {
        for control in self.controls.values_mut() {
            (control.registers, control.unwritten, control.watched) = (None, false, 0);
        }
        self
    }
}

impl Threads {
    pub(super) fn add(&mut self, thread: ThreadId) {
        self.controls.entry(thread).or_default();
    }

    /// How a thread runs; an unknown thread is added.
    pub(super) fn control(&mut self, thread: ThreadId) -> &mut Control {
        self.controls.entry(thread).or_default()
    }

    pub(super) fn get(&self, thread: ThreadId) -> Option<&Control> {
        self.controls.get(&thread)
    }

    pub(super) fn get_mut(&mut self, thread: ThreadId) -> Option<&mut Control> {
        self.controls.get_mut(&thread)
    }

    /// Continues with other threads: those of another process that stands for this one. Returns the former ones.
    fn exchange(&mut self, table: Table) -> Table {
        self.forget_stacks();
        self.alone.clear();
        Table {
            controls: std::mem::replace(&mut self.controls, table.controls),
            shown: std::mem::replace(&mut self.shown, table.shown),
            returned: std::mem::replace(&mut self.returned, table.returned),
            interruptions: std::mem::replace(&mut self.interruptions, table.interruptions),
        }
    }

    /// The pinning of all threads, and how often `thread` has stopped lately.
    pub(super) fn pacing(&mut self, thread: ThreadId) -> Option<(&mut Pinning, &mut Pace)> {
        let control = self.controls.get_mut(&thread)?;
        Some((&mut self.pinning, &mut control.pace))
    }

    /// Forgets everything about all threads, except which of them are pinned.
    fn forget_all(&mut self) {
        *self = Threads {
            pinning: std::mem::take(&mut self.pinning),
            ..Threads::default()
        };
    }

    /// A thread has ended.
    pub(super) fn ended(&mut self, thread: ThreadId) {
        self.pinning.forget(thread);
        self.interruptions.ended(thread);
        self.controls.remove(&thread);
        self.shown.remove(&thread);
        self.stacks.remove(&thread);
        self.reported.remove(&thread);
        self.returned.take_if(|(other, _)| *other == thread);
        self.alone.retain(|other| *other != thread);
        self.ending.retain(|other| *other != thread);
    }

    /// The process runs another program, in which `thread` is the only thread.
    pub(super) fn executed(&mut self, thread: ThreadId) {
        self.pinning.forget_all();
        self.forget_all();
        self.add(thread);
    }

    /// The debugger follows `child` in place of the process of `maker`, which has forked it. The child will return through the frames of
    /// a signal handler and of a panic as its maker would have.
    pub(super) fn succeeded(&mut self, maker: ThreadId, child: ThreadId) {
        let of_maker = self.controls.remove(&maker).unwrap_or_default();
        let interruptions = self.interruptions.of_child(maker, child);
        self.forget_all();
        self.interruptions = interruptions;
        *self.control(child) = Control {
            comes_back: of_maker.comes_back,
            panic_place: of_maker.panic_place,
            ..Control::default()
        };
    }

    /// A child is no longer one of the debuggee's threads: it was detached, or is kept as a process of its own.
    pub(super) fn let_go(&mut self, child: ThreadId) {
        self.ended(child);
    }

    /// A new stop is reported: forgets the unwound stacks, and what inferior calls have left on the threads' stacks, which belong to the
    /// previous stop.
    pub(super) fn new_stop(&mut self) {
        self.stacks.clear();
        for shown in self.shown.values_mut() {
            shown.stack_left = None;
        }
    }

    /// Sets what a stop shows of the threads that it reports: how many inlined calls are not entered, and the breakpoints' lines. Clears
    /// both for all other threads.
    pub(super) fn show(
        &mut self,
        calls_not_entered: impl IntoIterator<Item = (ThreadId, usize)>,
        lines: impl IntoIterator<Item = (ThreadId, SourcePosition)>,
    ) {
        for shown in self.shown.values_mut() {
            shown.calls_not_entered = 0;
            shown.line = None;
        }
        for (thread, count) in calls_not_entered {
            self.shown.entry(thread).or_default().calls_not_entered = count;
        }
        for (thread, line) in lines {
            self.shown.entry(thread).or_default().line = Some(line);
        }
    }

    /// A stopped thread was moved: it is at no breakpoint's line, and inside all inlined calls.
    pub(super) fn moved(&mut self, thread: ThreadId) {
        if let Some(shown) = self.shown.get_mut(&thread) {
            shown.calls_not_entered = 0;
            shown.line = None;
        }
    }

    /// How many of the inlined calls that begin at a stopped thread's instruction pointer are shown as not entered.
    pub(super) fn calls_not_entered(&self, thread: ThreadId) -> usize {
        self.shown
            .get(&thread)
            .map_or(0, |shown| shown.calls_not_entered)
    }

    /// Sets how many of the inlined calls at a stopped thread's address are shown as not entered. Returns the former number.
    pub(super) fn set_calls_not_entered(&mut self, thread: ThreadId, count: usize) -> usize {
        let shown = self.shown.entry(thread).or_default();
        std::mem::replace(&mut shown.calls_not_entered, count)
    }

    /// The line of the breakpoint that a thread has stopped at.
    pub(super) fn line(&self, thread: ThreadId) -> Option<SourcePosition> {
        self.shown.get(&thread)?.line.clone()
    }

    /// The lowest address on a thread's stack that inferior calls have left occupied.
    pub(super) fn stack_left(&self, thread: ThreadId) -> Option<u64> {
        self.shown.get(&thread)?.stack_left
    }

    pub(super) fn set_stack_left(&mut self, thread: ThreadId, lowest: Option<u64>) {
        self.shown.entry(thread).or_default().stack_left = lowest;
    }

    pub(super) fn tasks(&self) -> &TaskTable {
        &self.tasks
    }

    /// The stacks that were unwound at the present stop.
    pub(super) fn stacks(&mut self) -> &mut FxHashMap<ThreadId, StackCache> {
        &mut self.stacks
    }

    pub(super) fn stack(&self, thread: ThreadId) -> Option<&StackCache> {
        self.stacks.get(&thread)
    }

    /// A thread runs, or other inlined calls of it are shown as not entered: its stack is to be unwound again.
    pub(super) fn forget_stack(&mut self, thread: ThreadId) {
        self.stacks.remove(&thread);
    }

    pub(super) fn forget_stacks(&mut self) {
        self.stacks.clear();
        self.tasks.forget();
    }

    /// Whether a stop has reported that nothing catches this exception of a thread.
    pub(super) fn was_reported(&self, thread: ThreadId, object: Option<Object>) -> bool {
        self.reported.get(&thread) == Some(&object)
    }

    pub(super) fn set_reported(&mut self, thread: ThreadId, object: Option<Object>) {
        self.reported.insert(thread, object);
    }

    /// A thread throws again: what a stop has reported of it is forgotten.
    pub(super) fn throws(&mut self, thread: ThreadId) {
        self.reported.remove(&thread);
    }

    /// The thread that was stepped out of a function, and the function's result.
    pub(super) fn returned(&self) -> Option<&(ThreadId, NamedValue)> {
        self.returned.as_ref()
    }

    pub(super) fn set_returned(&mut self, returned: Option<(ThreadId, NamedValue)>) {
        self.returned = returned;
    }

    /// Forgets the function's result if `keep` is false for its thread.
    pub(super) fn keep_returned(&mut self, keep: impl Fn(ThreadId) -> bool) {
        self.returned.take_if(|(thread, _)| !keep(*thread));
    }

    /// A thread can get past its site only while no other thread runs.
    pub(super) fn must_run_alone(&mut self, thread: ThreadId) {
        self.alone.push(thread);
    }

    pub(super) fn take_alone(&mut self) -> Vec<ThreadId> {
        std::mem::take(&mut self.alone)
    }

    /// These threads are to be ended at the next stop of all.
    pub(super) fn end_at_stop(&mut self, threads: &[ThreadId]) {
        self.ending.extend(threads);
    }

    pub(super) fn take_ending(&mut self) -> Vec<ThreadId> {
        std::mem::take(&mut self.ending)
    }
}

impl Owner {
    pub(super) fn add_thread(&mut self, thread: ThreadId) {
        self.threads.add(thread);
    }

    /// How a thread runs; an unknown thread is added.
    pub(super) fn control(&mut self, thread: ThreadId) -> &mut Control {
        self.threads.control(thread)
    }

    /// Continues with other threads: those of another process that stands for this one. Returns how the former ones run.
    pub(super) fn exchange_threads(&mut self, table: Table) -> Table {
        self.threads.exchange(table)
    }

    /// Shows the threads as those of a process that was left in the same state.
    pub(super) fn show_threads_as(&mut self, table: &Table) {
        self.threads.shown = table.shown.clone();
    }

    /// Where signal handlers may return to.
    pub(super) fn interruptions(&mut self) -> &mut Interruptions {
        &mut self.threads.interruptions
    }

    /// The signal to deliver when a thread goes on; 0: none.
    pub(super) fn signal_of(&self, thread: ThreadId) -> i32 {
        let control = self.threads.get(thread);
        control.map_or(0, |control| control.signal)
    }

    /// Whether a signal is to be delivered when a stopped thread goes on.
    pub(super) fn has_undelivered_signal(&self) -> bool {
        let mut threads = self.stopped_threads().into_iter();
        threads.any(|thread| self.signal_of(thread) != 0)
    }

    /// A thread's registers, if they have changes that were not written to the kernel yet.
    pub(super) fn unwritten_registers(&self, thread: ThreadId) -> Option<UserRegisters> {
        let control = self.threads.get(thread)?;
        control.registers.filter(|_| control.unwritten)
    }

    /// Takes the threads that can get past their site only while no other thread runs.
    pub(super) fn take_alone(&mut self) -> Vec<ThreadId> {
        self.threads.take_alone()
    }

    /// A thread's stack as it was unwound at the present stop.
    pub(super) fn unwound_stack(&self, thread: ThreadId) -> Option<&StackCache> {
        self.threads.stack(thread)
    }

    /// A thread runs, or other inlined calls of it are shown as not entered: its stack is to be unwound again.
    pub(super) fn forget_stack(&mut self, thread: ThreadId) {
        self.threads.forget_stack(thread);
    }

    /// All stacks are to be unwound again.
    pub(super) fn forget_stacks(&mut self) {
        self.threads.forget_stacks();
    }

    // What the present stop shows of a thread.

    /// How many of the inlined calls that begin at a stopped thread's instruction pointer are shown as not entered.
    pub(super) fn calls_not_entered(&self, thread: ThreadId) -> usize {
        self.threads.calls_not_entered(thread)
    }

    /// Sets how many of the inlined calls at a stopped thread's address are shown as not entered. Returns the former number.
    pub(super) fn set_calls_not_entered(&mut self, thread: ThreadId, count: usize) -> usize {
        self.threads.set_calls_not_entered(thread, count)
    }

    /// As [`Threads::show`].
    pub(super) fn show(
        &mut self,
        calls_not_entered: impl IntoIterator<Item = (ThreadId, usize)>,
        lines: impl IntoIterator<Item = (ThreadId, SourcePosition)>,
    ) {
        self.threads.show(calls_not_entered, lines);
    }

    /// A stopped thread was moved: it is at no breakpoint's line, and inside all inlined calls.
    pub(super) fn moved(&mut self, thread: ThreadId) {
        self.threads.moved(thread);
    }

    /// The lowest address on a thread's stack that inferior calls have left occupied.
    pub(super) fn stack_left(&self, thread: ThreadId) -> Option<u64> {
        self.threads.stack_left(thread)
    }

    pub(super) fn set_stack_left(&mut self, thread: ThreadId, lowest: Option<u64>) {
        self.threads.set_stack_left(thread, lowest);
    }

    /// Sets the result of the function that a thread was stepped out of.
    pub(super) fn set_returned(&mut self, returned: Option<(ThreadId, NamedValue)>) {
        self.threads.set_returned(returned);
    }

    /// Forgets the function's result if `keep` is false for its thread.
    pub(super) fn keep_returned_of(&mut self, keep: impl Fn(ThreadId) -> bool) {
        self.threads.keep_returned(keep);
    }

    // The exceptions that nothing catches.

    /// Whether a stop has reported that nothing catches this exception of a thread.
    pub(super) fn was_reported(&self, thread: ThreadId, object: Option<Object>) -> bool {
        self.threads.was_reported(thread, object)
    }

    pub(super) fn set_reported(&mut self, thread: ThreadId, object: Option<Object>) {
        self.threads.set_reported(thread, object);
    }

    /// A thread throws again: what a stop has reported of it is forgotten.
    pub(super) fn throws(&mut self, thread: ThreadId) {
        self.threads.throws(thread);
    }
}
