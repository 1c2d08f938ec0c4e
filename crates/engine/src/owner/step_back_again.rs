//! A step back behind another one.
//!
//! A step back ends at one of the places that a run from a checkpoint comes to: at the last one before where the step has begun. If the next step looks
//! for the same places, and nothing has moved the program in between, it ends at the one before in the same run. Nothing has to be searched.

use super::Owner;
use super::step_back::Places;
use super::travel::{Goal, Run, Travel};
use crate::ThreadId;

/// Where the last step back has ended.
#[derive(Debug)]
pub(super) struct LastStep {
    /// The process of the checkpoint.
    checkpoint: ThreadId,
    /// The copy that has run from there.
    copy: ThreadId,
    thread: ThreadId,
    places: Places,
    /// How many of the places it has come to.
    count: usize,
}

impl LastStep {
    /// A search ends at a place. `None`: it looks for something else.
    fn of(travel: Travel, checkpoint: ThreadId, copy: ThreadId) -> Option<LastStep> {
        let (thread, count) = (travel.thread, travel.count);
        match travel.goal {
            Goal::Places(places) => Some(LastStep {
                checkpoint,
                copy,
                thread,
                places,
                count,
            }),
            Goal::Stop | Goal::Write(_) => None,
        }
    }
}

impl Owner {
    /// A search has ended at what it has looked for.
    pub(super) fn keep_last_step(&mut self, travel: Travel) {
        let checkpoint = self.checkpoint_process(travel.from);
        let copy = self.history_live().map(|live| live.actual_process());
        let step = checkpoint.zip(copy);
        let step = step.and_then(|(checkpoint, copy)| LastStep::of(travel, checkpoint, copy));
        self.set_last_step(step);
    }

    /// The run with which a search begins. `last`: the step back that has ended where it begins, if one has.
    pub(super) fn first_run(&self, travel: &Travel, last: Option<LastStep>) -> Run {
        let again = last.filter(|last| {
            let is_same = matches!(&travel.goal, Goal::Places(places) if *places == last.places);
            let checkpoint = self.checkpoint_process(travel.from);
            is_same && last.thread == travel.thread && checkpoint == Some(last.checkpoint)
        });
        match again.map(|last| last.count) {
            Some(count @ 2..) => Run::To(count - 1),
            _ => Run::Search,
        }
    }

    /// The step back that has ended where the program is, if it stands where one has ended.
    pub(super) fn last_step_here(&mut self) -> Option<LastStep> {
        let copy = self.history_live().map(|live| live.actual_process());
        let step = self.set_last_step(None);
        step.filter(|step| Some(step.copy) == copy)
    }
}
