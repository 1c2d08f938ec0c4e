//! Conditions that call functions of the program.
//!
//! A thread that comes to a breakpoint is decided on while the others run, unless its condition gets to a call: then all are
//! stopped for it, as they are where a user calls a function, the condition is decided with what the call gives back, and
//! unless the breakpoint then stops the thread, all go on as if nothing had been. A step goes on, too.

use super::Owner;
use crate::breakpoints::site::Reason;
use crate::calls::CallOptions;
use crate::eval::Parsed;
use crate::eval::calls::Calls;
use crate::event::{Logged, Stop, StopReason};
use crate::frame::FrameId;
use crate::inspect::Inspect;
use crate::{Address, Error, Event, ThreadId};

/// Threads of which it is to be decided whether they stop, once all have.
#[derive(Debug, Default)]
pub(super) struct Asking(Vec<(ThreadId, Address)>);

impl Owner {
    /// Whether a thread's stop at a place is still to be decided; then it is, when all have stopped.
    pub(super) fn asks(&mut self, thread: ThreadId, at: Address) -> bool {
        let asks = !self.control(thread).asks.is_empty();
        if asks && !self.asking.0.contains(&(thread, at)) {
            self.asking.0.push((thread, at));
            let site = self.memory.site(at);
            let its_site = site.is_some_and(|it| it.has(Reason::Step) || it.has(Reason::Hook));
            if let Some(step) = self.step.as_mut().filter(|step| step.thread == thread) {
                step.was_asked(at, its_site);
            }
        }
        asks
    }

    /// All have stopped: decides on those that have waited for that.
    pub(super) fn decide_asked(&mut self) {
        for (thread, at) in std::mem::take(&mut self.asking.0) {
            let ids = std::mem::take(&mut self.control(thread).asks);
            if !self.stops.is_live(thread) {
                continue;
            }
            let mut stopping = Vec::new();
            let mut why = None;
            for id in ids {
                let is_there = self.registers(thread).is_some_and(|it| it.pc() == at);
                if self.over || !is_there {
                    return;
                }
                let Some(calling) = self.breakpoints.calling(id, at) else {
                    continue;
                };
                if calling.first {
                    let condition = calling.condition.trim();
                    self.tell(Event::Logged(Logged {
                        breakpoint: id,
                        thread,
                        position: calling.position.clone(),
                        text: format!(
                            "the condition `{condition}` calls a function of the program: all threads are stopped for that, each time"
                        ),
                        values: Vec::new(),
                    }));
                }
                let holds = self.holds_calling(thread, &calling.condition, calling.not_begun);
                let decided = match self.registers(thread) {
                    Some(registers) => self.act(thread, registers, id, at, Some(holds)),
                    None => return,
                };
                self.acted(id, thread, decided, &mut stopping, &mut why);
            }
            self.breakpoints.spend(&stopping);
            if !stopping.is_empty() {
                self.report_asked(thread, at, stopping, why);
            }
        }
    }

    fn report_asked(&mut self, thread: ThreadId, at: Address, ids: Vec<i64>, why: Option<String>) {
        let mut reports = self.reports.iter_mut();
        let reason = match reports.find(|report| report.thread == thread) {
            Some(report) => return report.reason.add_breakpoints(ids),
            None => reason_of(ids, why),
        };
        self.reports.extend(reason.map(|reason| Stop {
            thread,
            address: at,
            reason,
        }));
    }

    /// Whether a condition holds for a stopped thread, by calling what it calls.
    fn holds_calling(
        &mut self,
        thread: ThreadId,
        condition: &str,
        not_begun: usize,
    ) -> Result<bool, Error> {
        // A thread that steps isn't, while it runs for a call; who may run is the same afterwards.
        let step = self.step.take();
        let runners = self.stops.runners();
        let before = self.before_calls.insert(thread, not_begun);
        self.stacks.remove(&thread);
        let (options, calls) = (CallOptions::default(), Calls::default());
        let frame = FrameId {
            stop: self.stop_number,
            thread,
            index: 0,
        };
        let found = self.with_calls(Some(frame), &options, &calls, |owner, frame| {
            let parsed = Parsed::calling(condition, frame.language)?;
            let reader = owner.reader_for(frame.id.thread);
            parsed.number_with(frame, &reader, Some(&calls))
        });
        let dropped = self.drop_temporaries(thread, &calls, None, &options);
        match before {
            Some(before) => self.before_calls.insert(thread, before),
            None => self.before_calls.remove(&thread),
        };
        self.stacks.remove(&thread);
        self.stops.set_runners(runners);
        self.step = step;
        dropped?;
        Ok(found?.0.is_true())
    }
}

/// Why a thread stops at breakpoints; `None`: none of them wants it to.
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
    /// What stops a thread for now that is yet to be decided on.
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
