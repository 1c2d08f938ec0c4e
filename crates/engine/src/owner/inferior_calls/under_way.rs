//! Handles the events during an inferior call: the call's end, because the function returns or the call is given up, and what else happens.

use super::{End, InferiorCall};
use crate::breakpoints::site::Reason;
use crate::event::{Stop, StopReason};
use crate::owner::Owner;
use crate::{Address, ThreadId, signals, unwind};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::calls::{CallOptions, CallThreads};
use dapple_inspect::exceptions::handlers::{self, Fate};
use dapple_inspect::frame::Frame;
use dapple_inspect::inspect::Inspect;
use dapple_symbols::names::readable_name;
use dapple_target::linux::alarm::Alarm;
use dapple_target::wait_event::{WaitEvent, What};
use std::time::{Duration, Instant};

/// The longest time between two checks of a call's time limit and cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long after its beginning a call is still waited for, if its thread has ended and perhaps the whole process is ending.
const LONGEST_END: Duration = Duration::from_secs(60);
/// How long after the call's end a forked child may take to appear, once its parent has reported the fork.
const CHILDREN_PATIENCE: Duration = Duration::from_secs(1);
/// How many frames are searched at most for one in the user's code.
const MOST_FRAMES: usize = 32;

impl Owner {
    /// Whether threads are left, and the kernel has all of them in a stop. If one isn't, the whole process is exiting, and its end will be
    /// reported.
    fn has_held_thread(&self) -> bool {
        let mut live = self.live_threads().peekable();
        live.peek().is_some() && live.all(|thread| self.process().is_stopped(thread))
    }

    /// Handles events until the call has ended and all threads are stopped. Gives the call up at its time limit or when it is cancelled.
    pub(super) fn attend_call(&mut self, options: &CallOptions) {
        let begun = Instant::now();
        let mut ended = begun;
        let mut alarm = Alarm::default();
        let every = options
            .time_limit
            .clamp(Duration::from_millis(1), LOOK_EVERY);
        alarm.ring_every(every);
        self.attend_until(|owner| {
            if owner.activity.call().is_some_and(|call| call.end.is_none()) {
                ended = Instant::now();
                owner.limit_call(begun, options);
            }
            owner.call_has_settled(begun, ended)
        });
        alarm.end();
    }

    /// Whether the call has ended, all threads are stopped, and its forked children have appeared (or are overdue). Only then can its thread
    /// be put back.
    fn call_has_settled(&self, begun: Instant, ended: Instant) -> bool {
        let Some(call) = self.activity.call() else {
            return true;
        };
        let thread_has_ended = match call.end {
            None => return false,
            Some(End::ThreadEnded) => begun.elapsed() >= LONGEST_END || self.has_held_thread(),
            Some(_) => true,
        };
        thread_has_ended
            && self.is_stopped()
            && (!self.awaits_children() || ended.elapsed() >= CHILDREN_PATIENCE)
    }

    /// Gives the call up if its time limit is over or the user has cancelled it.
    fn limit_call(&mut self, begun: Instant, options: &CallOptions) {
        let Some(thread) = self.activity.call().map(|call| call.thread) else {
            return;
        };
        if begun.elapsed() >= options.time_limit {
            let limit = seconds(options.time_limit);
            let held = match options.threads {
                CallThreads::One if self.live_threads().count() > 1 => {
                    ", while the other threads were held"
                }
                _ => "",
            };
            self.give_up(|owner| {
                let place = owner.place_of(thread);
                format!("has not returned within {limit}{held}{place}")
            });
        } else if options.cancelled.as_ref().is_some_and(|asked| asked()) {
            self.give_up(|_| "was cancelled".to_owned());
        }
    }

    /// Stops all threads, and gives the call up unless it ends by itself meanwhile. `why` is called once the threads are stopped.
    fn give_up(&mut self, why: impl FnOnce(&mut Owner) -> String) {
        self.stop_all();
        if let Some(call) = self.activity.call_mut() {
            call.end = Some(End::Failed(String::new()));
        }
        self.perform();
        self.attend_until(|owner| owner.is_stopped());
        let has_end = |call: &InferiorCall| call.end != Some(End::Failed(String::new()));
        if self.is_over() || self.activity.call().is_some_and(has_end) {
            return;
        }
        let why = why(self);
        if let Some(call) = self.activity.call_mut() {
            call.end = Some(End::Failed(why));
        }
    }

    /// Notes a child that the called function has forked, if that is the event that the kernel has reported. Children of vfork(2) are not
    /// noted: they may run.
    pub(in crate::owner) fn noticed_in_call(&mut self, event: WaitEvent) {
        let What::NewProcess {
            child,
            shares_memory: false,
        } = event.what
        else {
            return;
        };
        if !self.activity.is_call_of(event.thread) {
            return;
        }
        let place = self.place_of(event.thread);
        if let Some(call) = self.activity.call_mut() {
            call.children.push(child);
            let why = || format!("has made a copy of the process (fork){place}");
            call.copied.get_or_insert_with(why);
        }
    }

    /// Whether a child was forked by the called function. Such a child must not run.
    pub(in crate::owner) fn is_calls_child(&self, child: ThreadId) -> bool {
        let call = self.activity.call();
        call.is_some_and(|call| call.children.contains(&child))
    }

    /// Stores how the call has ended, and stops all threads. Replaces a give-up that is still stopping the threads, but no other end.
    fn call_ended(&mut self, end: End) {
        if let Some(call) = self.activity.call_mut()
            && (call.end.is_none() || call.end == Some(End::Failed(String::new())))
        {
            call.end = Some(end);
        }
        self.stop_all();
    }

    /// Called when the calling thread has run into a site at `at`: ends the call if the function returns or is left there.
    pub(in crate::owner) fn met_in_call(&mut self, thread: ThreadId, at: Address) {
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let Some(call) = self.activity.call() else {
            return self.release(thread);
        };
        if at == call.back && registers.sp() == call.sp {
            return self.call_ended(End::Returned);
        }
        if let Some(why) = self.leaves_call(thread, at, &registers) {
            return self.call_ended(End::Failed(why));
        }
        self.release(thread);
    }

    /// Why the calling thread, at the site `at`, is about to leave the function without returning: the end of a sentence. `None`: it isn't.
    fn leaves_call(
        &mut self,
        thread: ThreadId,
        at: Address,
        registers: &UserRegisters,
    ) -> Option<String> {
        if self.is_at_jump_hook(at) {
            let sp = self.activity.call()?.sp;
            let targets = self.jump_stacks(registers);
            let here = Address(registers.sp());
            let mut targets = targets.into_iter().flatten();
            let leaves = targets.any(|to| to.0 > sp && self.is_one_stack(here, to));
            let place = self.place_of(thread);
            return leaves.then(|| format!("has jumped out (longjmp){place}"));
        }
        if self.exceptions.is_panic(at) {
            let first = unwind::innermost(registers.to_dwarf(), self.modules(), self.memory());
            return match handlers::of_panic(first, self.space()) {
                Fate::Caught { .. } => None,
                Fate::Uncaught(_) => {
                    let said = self.panic_text(registers);
                    let place = self.place_of(thread);
                    Some(format!("has panicked{place}: {said}"))
                }
            };
        }
        if self.exceptions.gives_up_at(at) {
            let place = self.place_of(thread);
            return Some(match self.given_up_for(thread) {
                Some(thrown) => format!("has thrown {thrown}{place}, which nothing in it catches"),
                None => format!("has called std::terminate{place}"),
            });
        }
        None
    }

    /// Inserts sites where called functions are left without returning: at the functions that exceptions, panics and jumps pass.
    pub(super) fn watch_ways_out(&mut self) {
        let mut ways = self.exceptions_leave_at();
        for module in self.modules().iter() {
            ways.extend(module.jump_hooks());
        }
        for way in ways {
            if let Err(error) = self.insert_site(way, Reason::Call) {
                tracing::warn!(%way, %error, "a call can't see exceptions and jumps");
            }
        }
    }

    /// Called when a thread has a reason to stop during a call. If it is another thread, the stop is reported after the call. If it is the
    /// calling thread, a signal, a trap or an interruption gives the call up; other reasons don't stop it.
    pub(in crate::owner) fn stopped_in_call(&mut self, thread: ThreadId, reason: StopReason) {
        if !self.activity.is_call_of(thread) {
            let address = self.registers(thread).map(|r| r.pc()).unwrap_or_default();
            self.stop.reports.retain(|report| report.thread != thread);
            self.stop.reports.push(Stop {
                thread,
                address,
                reason,
            });
            return;
        }
        let what = match reason {
            StopReason::Signal {
                number,
                description,
                ..
            } => {
                if !signals::is_fault(number) {
                    // The signal was meant for the program. It is sent again, for after the call, unless it was for this thread alone.
                    self.process().hand_back_signal(thread, number);
                }
                format!("ran into {description}")
            }
            StopReason::Trap => "ran into a trap instruction of its own".to_owned(),
            StopReason::Pause => "was interrupted".to_owned(),
            _ => return self.release(thread),
        };
        let place = self.place_of(thread);
        self.call_ended(End::Failed(format!("{what}{place}")));
    }

    /// Called when all threads are stopped during a call. Either the call has ended; or no thread is left that may run, which ends it; or a
    /// thread can get past its site only while the others are stopped.
    pub(in crate::owner) fn all_stopped_in_call(&mut self) {
        let alone = self.take_alone();
        let none_may_run = self.none_may_run();
        match self.activity.call_mut() {
            Some(call) if call.end.is_none() && !none_may_run => {
                self.run_alone(&alone);
            }
            Some(call) => {
                call.end.get_or_insert(End::ThreadEnded);
            }
            None => {}
        }
    }

    /// Called when the calling thread has ended.
    pub(in crate::owner) fn thread_ended_in_call(&mut self) {
        self.call_ended(End::ThreadEnded);
    }

    /// Called when the process has executed another program during a call. `thread` is the new program's only thread.
    pub(in crate::owner) fn executed_in_call(&mut self, thread: ThreadId) {
        if let Some(call) = self.activity.call_mut() {
            call.thread = thread;
        }
        self.call_ended(End::Executed);
    }

    /// Where a thread is, for the end of a sentence: ` at crash.c:12 in `f``.
    fn place_of(&mut self, thread: ThreadId) -> String {
        let frames: Vec<Frame> = self.frames_now(thread).take(MOST_FRAMES).collect();
        let own = frames.iter().find(|frame| frame.is_own());
        let users = own.or_else(|| frames.iter().find(|frame| frame.is_users()));
        let Some(frame) = users.or(frames.first()) else {
            return String::new();
        };
        let mut place = String::new();
        if let Some(at) = &frame.position {
            let file = at.file.file_name().unwrap_or_default();
            place = format!(" at {}:{}", file.to_string_lossy(), at.line);
        }
        if let Some(function) = &frame.function {
            place.push_str(&format!(" in `{}`", readable_name(function)));
        }
        place
    }

    /// Reports the stops that other threads have made during a call. Call when the program is about to go on. `true`: there are such stops,
    /// and the program stays stopped.
    pub(in crate::owner) fn tell_put_off(&mut self) -> bool {
        let mut stops = std::mem::take(&mut self.stop.reports);
        stops.retain(|stop| self.is_live(stop.thread));
        let Some(first) = stops.first() else {
            return false;
        };
        self.stop.current = first.thread;
        for stop in &stops {
            self.mark_stop_seen(stop);
        }
        self.tell_stops(stops);
        true
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        1.0 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}
