//! Calls functions of the program for breakpoints: in conditions and log messages.
//!
//! As a rule, it is decided while the other threads run what a breakpoint does with a thread. If an expression of the breakpoint needs a
//! call, all threads are stopped first. The functions are called as for the user's expressions, and the expression is evaluated with their
//! results. Unless the breakpoint then stops the thread, all threads go on without a reported stop, and so does a step under way.

use super::Owner;
use super::activity::Activity;
use crate::breakpoints::data::DataHit;
use crate::breakpoints::log::{self, Format, Message, Shown};
use crate::breakpoints::model::Place;
use crate::breakpoints::options::Act;
use crate::breakpoints::site::Reason;
use crate::event::{Logged, Stop, StopReason};
use crate::{Address, Error, Event, ThreadId};
use dapple_inspect::calls::{CallOptions, MOST_LEFT};
use dapple_inspect::eval::Parsed;
use dapple_inspect::eval::calls::Calls;
use dapple_inspect::frame::{Frame, FrameId};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::{Reader, Value};
use dapple_symbols::functions::SourcePosition;

/// Why a breakpoint's condition isn't evaluated while the program runs backwards.
pub(super) const BACKWARDS: &str = "it calls a function, which the program can't do backwards";

/// The reason, for the user, why an expression of a breakpoint can't call a function during another inferior call.
pub(super) const WITHIN_CALL: &str = "it calls a function, in a function that is called";

/// Threads for which functions are to be called once all threads have stopped, and the addresses at which they have stopped.
#[derive(Debug, Default)]
pub(super) struct Asking(Vec<(ThreadId, Address)>);

/// What has to be evaluated by calling functions of the program.
#[derive(Debug)]
pub(super) enum Ask {
    /// The condition of the breakpoint with this id.
    Condition(i64),
    /// The message of the breakpoint with this id.
    Message(i64),
    /// The condition of a data breakpoint. The access is reported if the condition holds.
    Access(Box<DataHit>),
}

/// The results of one thread's [`Ask`]s.
#[derive(Debug, Default)]
struct Answers {
    /// The breakpoints that stop the thread.
    stopping: Vec<i64>,
    /// Why the first condition that can't be evaluated can't be.
    why: Option<String>,
    accesses: Vec<DataHit>,
}

impl Owner {
    /// Whether functions have to be called for the breakpoints at which a thread has stopped. If so, notes the thread and its address `at`
    /// for [`Owner::decide_asked`].
    pub(super) fn asks(&mut self, thread: ThreadId, at: Address) -> bool {
        let asks = &self.control(thread).asks;
        let asks_of_place = asks.iter().any(|ask| !matches!(ask, Ask::Access(_)));
        let asks = !asks.is_empty();
        if asks && !self.stop.asking.0.contains(&(thread, at)) {
            self.stop.asking.0.push((thread, at));
            let site = self.site(at);
            let its_site = site.is_some_and(|it| it.has(Reason::Step) || it.has(Reason::Hook));
            if let Some(step) = self.activity.step_of(thread) {
                match asks_of_place {
                    true => step.was_asked(at, its_site),
                    false => step.was_asked_of_access(),
                }
            }
        }
        asks
    }

    /// Makes the calls for the threads that [`Owner::asks`] has noted, and adds a report for each that a breakpoint then stops. Call when
    /// all threads have stopped.
    pub(super) fn decide_asked(&mut self) {
        'threads: for (thread, at) in std::mem::take(&mut self.stop.asking.0) {
            let mut asks = std::mem::take(&mut self.control(thread).asks);
            if !self.is_live(thread) {
                continue;
            }
            let mut answers = Answers::default();
            while !asks.is_empty() {
                if self.is_over() {
                    return;
                }
                if self.registers(thread).is_none_or(|it| it.pc() != at) {
                    // A call for another thread has moved it; what is left to ask has no meaning there.
                    continue 'threads;
                }
                match asks.remove(0) {
                    Ask::Condition(id) => self.decide_condition(thread, at, id, &mut answers),
                    Ask::Message(id) => self.write_message(thread, at, id),
                    Ask::Access(hit) => self.decide_access(thread, *hit, &mut answers),
                }
                // A condition that holds may have added a message to write.
                asks.append(&mut self.control(thread).asks);
            }
            self.set_stack_left(thread, None);
            self.breakpoints.spend(&answers.stopping);
            self.report_asked(thread, at, answers);
        }
    }

    fn decide_condition(&mut self, thread: ThreadId, at: Address, id: i64, answers: &mut Answers) {
        let Some((rules, place)) = self.breakpoints.calling(id, at) else {
            return;
        };
        let condition = rules.asked().condition.clone().unwrap_or_default();
        if rules.calls() {
            let what = format!("condition `{}`", condition.trim());
            self.tell_that_calls(thread, id, place.position.clone(), &what);
        }
        let holds = self.holds_calling(thread, &condition, place.not_entered);
        if let Some(registers) = self.registers(thread) {
            let decided = self.act(thread, registers, id, at, Some(holds));
            self.acted(id, thread, decided, &mut answers.stopping, &mut answers.why);
        }
    }

    fn decide_access(&mut self, thread: ThreadId, mut hit: DataHit, answers: &mut Answers) {
        let id = hit.breakpoint;
        let watches = &mut self.watches.list;
        let Some(watch) = watches.iter_mut().find(|watch| watch.id == id) else {
            return;
        };
        let condition = watch.rules.asked().condition.clone().unwrap_or_default();
        if watch.rules.calls() {
            let what = format!("condition `{}`", condition.trim());
            self.tell_that_calls(thread, id, hit.position.clone(), &what);
        }
        let holds = self.holds_calling(thread, &condition, 0);
        let watches = &mut self.watches.list;
        let Some(watch) = watches.iter_mut().find(|watch| watch.id == id) else {
            return;
        };
        hit.undecided = match watch.rules.decided(holds.map(Some), None) {
            Act::Stop => None,
            Act::Undecided(why) => Some(why),
            Act::GoOn | Act::Log(_) | Act::Call | Act::LogCalling => return,
        };
        answers.accesses.push(hit);
    }

    /// Writes a breakpoint's message, and makes the calls in the message's expressions for that.
    fn write_message(&mut self, thread: ThreadId, at: Address, id: i64) {
        let Some((
            rules,
            Place {
                not_entered,
                position,
            },
        )) = self.breakpoints.calling(id, at)
        else {
            return;
        };
        let Some(message) = rules.log().cloned() else {
            return;
        };
        let mut first = rules.calls();
        let Message { text, values } = message.message_by(|text, format| {
            let calls = Calls::default();
            let shown = self.shown_calling(thread, text, format, not_entered, &calls);
            if calls.were_made() && std::mem::take(&mut first) {
                let what = format!("log message's `{text}`");
                self.tell_that_calls(thread, id, position.clone(), &what);
            }
            shown
        });
        self.tell(Event::Logged(Logged {
            breakpoint: id,
            thread,
            position,
            text,
            values,
        }));
    }

    fn tell_that_calls(
        &self,
        thread: ThreadId,
        breakpoint: i64,
        position: Option<SourcePosition>,
        what: &str,
    ) {
        let text = format!(
            "the {what} calls a function of the program: all threads are stopped for that, each time"
        );
        self.tell(Event::Logged(Logged {
            breakpoint,
            thread,
            position,
            text,
            values: Vec::new(),
        }));
    }

    fn report_asked(&mut self, thread: ThreadId, at: Address, answers: Answers) {
        let Answers {
            stopping,
            why,
            accesses,
        } = answers;
        let mut reports = self.stop.reports.iter_mut();
        let reported = reports.find(|report| report.thread == thread);
        let reason = match reported.map(|report| &mut report.reason) {
            Some(StopReason::Data(hits)) => return hits.extend(accesses),
            Some(reason) => return reason.add_breakpoints(stopping),
            None if accesses.is_empty() => reason_of(stopping, why),
            None => Some(StopReason::Data(accesses)),
        };
        self.stop.reports.extend(reason.map(|reason| Stop {
            thread,
            address: at,
            reason,
        }));
    }

    /// Whether a condition holds for a stopped thread. Makes the calls in the condition.
    fn holds_calling(
        &mut self,
        thread: ThreadId,
        condition: &str,
        not_entered: usize,
    ) -> Result<bool, Error> {
        let calls = Calls::default();
        let number = self.evaluate_asked(
            thread,
            condition,
            not_entered,
            &calls,
            |parsed, frame, reader| parsed.number_with(frame, reader, Some(&calls)),
        );
        Ok(number?.is_true())
    }

    /// What a message shows for an expression. Makes the calls in the expression.
    fn shown_calling(
        &mut self,
        thread: ThreadId,
        text: &str,
        format: Option<Format>,
        not_entered: usize,
        calls: &Calls,
    ) -> Result<Shown, Error> {
        let show = |parsed: &Parsed, frame: &Frame, reader: &Reader<'_>| {
            let named = parsed.value_with(frame, reader, Some(calls))?;
            let stays = calls.were_made() && !outlives_calls(&named.value, calls, frame);
            let (text, value) = log::shown(named, format, frame, reader);
            Ok((text, value.filter(|_| !stays)))
        };
        self.evaluate_asked(thread, text, not_entered, calls, show)
    }

    /// Makes the calls in an expression, and returns what `take` then makes of the expression in the innermost frame of a stopped thread.
    /// `not_entered`: how many of the inlined calls at the thread's address count as not entered yet.
    fn evaluate_asked<T>(
        &mut self,
        thread: ThreadId,
        text: &str,
        not_entered: usize,
        calls: &Calls,
        take: impl Fn(&Parsed, &Frame, &Reader<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // The call replaces the step as the activity, and changes which threads may run. Both are restored afterwards.
        let step = self.activity.take_step();
        let runners = self.stops.runners();
        let before = self.set_calls_not_entered(thread, not_entered);
        self.forget_stack(thread);
        let options = CallOptions::default();
        let frame = FrameId {
            stop: self.stop.number,
            thread,
            index: 0,
        };
        let found = self.with_calls(Some(frame), &options, calls, |owner, frame| {
            let parsed = Parsed::calling(text, frame.language)?;
            let reader = owner.reader_for(frame.id.thread);
            take(&parsed, frame, &reader)
        });
        let dropped = self.drop_temporaries(thread, calls, None, &options);
        self.set_calls_not_entered(thread, before);
        self.forget_stack(thread);
        self.stops.set_runners(runners);
        if let Some(step) = step {
            self.activity = Activity::Step(step);
        }
        dropped?;
        Ok(found?.0)
    }
}

/// Whether a value can still be expanded once the calls that made it are over. It can't if the calls have left temporaries, whose
/// destructors then run, or if the value is in that part of the stack where the calls' results are.
fn outlives_calls(value: &Value, calls: &Calls, frame: &Frame) -> bool {
    let top = frame.physical.registers.sp().unwrap_or_default().0;
    let left = top.saturating_sub(2 * MOST_LEFT)..top;
    let at = value.contents.address();
    !calls.has_temporaries() && at.is_none_or(|at| !left.contains(&at.0))
}

/// Why a thread stops, if the breakpoints `ids` stop it. `why`: why a condition can't be evaluated. `None`: `ids` is empty.
pub(super) fn reason_of(ids: Vec<i64>, why: Option<String>) -> Option<StopReason> {
    match why {
        _ if ids.is_empty() => None,
        None => Some(StopReason::Breakpoint(ids)),
        Some(why) => Some(StopReason::Undecided {
            breakpoints: ids,
            why,
        }),
    }
}

impl StopReason {
    /// The placeholder for the reason of a thread that is stopped until its breakpoints' expressions are evaluated.
    pub(super) fn undecided_yet() -> StopReason {
        StopReason::Breakpoint(Vec::new())
    }

    pub(super) fn is_undecided_yet(&self) -> bool {
        matches!(self, StopReason::Breakpoint(ids) if ids.is_empty())
    }

    fn add_breakpoints(&mut self, more: Vec<i64>) {
        if let StopReason::Breakpoint(ids)
        | StopReason::Undecided {
            breakpoints: ids, ..
        }
        | StopReason::Exception {
            breakpoints: ids, ..
        } = self
        {
            ids.extend(more);
        }
    }
}
