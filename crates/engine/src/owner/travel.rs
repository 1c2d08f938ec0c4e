//! Travelling in the past of a recorded process: searches backwards for a stop, or for a place in the code.
//!
//! A process only runs forwards. So a search runs a copy of the last checkpoint before the present state, up to that state, and counts what it
//! looks for. If there was something, a second copy runs up to the last of them. If not, the interval before is searched. All that makes a
//! thread stop (breakpoints, conditions, watched data, signals, exceptions) works in the copy as ever.
//!
//! The end of a search is found by a site at its address: there, the state is compared with the process that stands still in this state, or with
//! the next checkpoint.

use super::Owner;
use super::history::{Left, Moment};
use super::laps::Laps;
use super::last_write::Wanted;
use super::pass_counts::PassCount;
use super::past_jumps::Ahead;
use super::repeated_lines::Repeats;
use super::same_memory::Differences;
use super::spans::Span;
use super::step_back::{Line, Places, StepBack};
use crate::breakpoints::site::Reason;
use crate::event::{Stop, StopReason};
use crate::{Address, Error, ThreadId};
use dapple_target::process::Process;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A search.
#[derive(Debug)]
pub(super) struct Travel {
    pub(super) thread: ThreadId,
    pub(super) goal: Goal,
    /// The process that was left, unless it is the present. The search ends where it stands.
    pub(super) left: Option<Left>,
    /// The number of the checkpoint from which it runs.
    pub(super) from: usize,
    /// The checkpoints that it passes.
    pub(super) span: Span,
    pub(super) end: End,
    pub(super) run: Run,
    pub(super) laps: Laps,
    /// How often sites were come to in this run.
    pub(super) hot: FxHashMap<Address, u32>,
    /// The passes that are counted.
    pub(super) passes: Option<PassCount>,
    /// Where none could be counted.
    pub(super) uncountable: Vec<Address>,
    /// The pass that was looked for has come.
    passed: bool,
    /// It has begun near its end, by counted passes.
    near: bool,
    /// How often nothing was found there.
    pub(super) too_near: u32,
    /// How many of what is looked for have come in this run.
    pub(super) count: usize,
    /// The number of the last one to go back to, if a search has found one.
    found: Option<usize>,
    /// The line of the last one.
    last: Option<Line>,
    pub(super) repeats: Repeats,
    /// The data breakpoints whose accesses were reported where the search has begun.
    reported: Vec<i64>,
    /// The end of the run was met.
    arrived: bool,
    /// The copy can't be replayed any further.
    ended: bool,
}

/// What is looked for.
#[derive(Debug)]
pub(super) enum Goal {
    /// What makes a thread stop.
    Stop,
    /// Places in the function that the thread is in and in its caller.
    Places(Places),
    /// The last write of data, without a stop for the client ([`super::last_write`]).
    Write(Box<Wanted>),
}

/// Where a run ends.
#[derive(Debug)]
pub(super) struct End {
    pub(super) moment: Moment,
    /// Stands still there.
    pub(super) process: Arc<dyn Process>,
    /// Whether it is a checkpoint: what is looked for counts there, too.
    is_checkpoint: bool,
    /// Where memory has differed before.
    pub(super) differs: Differences,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    /// To the end, in laps: nothing is looked for.
    Laps,
    /// To the end.
    Search,
    /// To the end, counting the passes of a place.
    Count(Address),
    /// To the pass of a place with this number.
    Near(Address, u64),
    /// To the one with this number.
    To(usize),
}

impl Run {
    /// Whether nothing is looked for in it.
    pub(super) fn is_blind(self) -> bool {
        match self {
            Run::Laps | Run::Count(_) | Run::Near(..) => true,
            Run::Search | Run::To(_) => false,
        }
    }
}

impl Owner {
    /// Runs backwards to the last stop before.
    pub(crate) fn reverse(&mut self, thread: ThreadId) -> Result<(), Error> {
        self.require_thread(thread)?;
        if self.process().runs_backwards() {
            return self.run_backwards(thread);
        }
        self.travel(thread, Goal::Stop)
    }

    /// Steps a thread backwards.
    pub(crate) fn step_back(&mut self, thread: ThreadId, how: StepBack) -> Result<(), Error> {
        self.require_thread(thread)?;
        if self.process().runs_backwards() {
            return self.step_backwards(thread, how);
        }
        let places = self.places_before(thread, how).map_err(Error::Refused)?;
        self.travel(thread, Goal::Places(places))
    }

    fn travel(&mut self, thread: ThreadId, goal: Goal) -> Result<(), Error> {
        let last = self.last_step_here();
        let Some(mut travel) = self.depart(thread, goal, None)? else {
            return Err(Error::Refused(
                "this is the beginning of the recording".into(),
            ));
        };
        travel.run = self.first_run(&travel, last);
        if !self.run_travel(travel) {
            self.all_stopped();
        }
        Ok(())
    }

    /// Leaves the process that is shown, for a search that ends there, or at a bookmark. `None`: there is nothing before.
    pub(super) fn depart(
        &mut self,
        thread: ThreadId,
        goal: Goal,
        before: Option<u32>,
    ) -> Result<Option<Box<Travel>>, Error> {
        self.require_history()?;
        self.drop_kept();
        let here = self.moment_now();
        let here = here.ok_or_else(|| Error::Refused("the process has ended".into()))?;
        self.thin_out_history(&[]);
        let (from, end) = match before {
            None => (self.history_before(&here), None),
            Some(bookmark) => {
                let index = self.bookmarked(bookmark)?;
                let end = self.end_at(index, false).map_err(Error::Refused)?;
                (index.checked_sub(1), Some(end))
            }
        };
        let Some(from) = from else {
            return Ok(None);
        };
        let nearest = from;
        let from = self.last_with_counts(&goal, nearest);
        self.end_step();
        let Some(left) = self.leave_process() else {
            return Err(Error::Refused("the process has ended".into()));
        };
        let end = end.unwrap_or_else(|| End {
            moment: left.moment,
            process: Arc::clone(&left.process) as Arc<dyn Process>,
            is_checkpoint: false,
            differs: Differences::default(),
        });
        let left = self.keep_present(left);
        Ok(Some(Box::new(Travel {
            thread,
            goal,
            left,
            from,
            span: Span::of(nearest - from),
            end,
            run: Run::Search,
            laps: Laps::default(),
            hot: FxHashMap::default(),
            passes: None,
            uncountable: Vec::new(),
            passed: false,
            near: false,
            too_near: 0,
            count: 0,
            found: None,
            last: None,
            repeats: Repeats::default(),
            reported: self.accessed_now(),
            arrived: false,
            ended: false,
        })))
    }

    /// A run that ends where a checkpoint stands. `counts`: what is looked for counts there, too.
    fn end_at(&self, index: usize, counts: bool) -> Result<End, String> {
        Ok(End {
            moment: { self.history_moment(index) }.ok_or("a checkpoint is gone")?,
            process: self.history_process(index)?,
            is_checkpoint: counts,
            differs: Differences::default(),
        })
    }

    /// Runs a copy of the checkpoint from which the search runs. `false`: that can't be, and the reason is to be reported.
    pub(super) fn run_travel(&mut self, mut travel: Box<Travel>) -> bool {
        travel.count = 0;
        if travel.run == Run::Search {
            // A search that was given up may have found something.
            travel.found = None;
        }
        travel.hot.clear();
        travel.passes = None;
        travel.repeats = Repeats::default();
        (travel.arrived, travel.ended, travel.passed) = (false, false, false);
        let (thread, from) = (travel.thread, travel.from);
        self.remove_sites(Reason::Travel);
        self.remove_sites(Reason::Present);
        let shown = self.show_copy(from);
        if let Err(why) = shown {
            self.travel_fails(travel, why);
            return false;
        }
        self.set_quiet(travel.ignores_stops());
        if travel.ignores_stops() {
            self.set_counts_lack_hits(true);
        }
        let end = travel.end.moment;
        self.process().replay_until(end.position, end.thread());
        let process = self.checkpoint_process(from);
        travel.laps.run_begins(travel.run, process);
        // A line that has begun before doesn't begin here.
        travel.last = self.line_now(thread, &travel);
        let run = travel.run;
        tracing::debug!(?run, from, "a run of a search");
        self.begin_travel(travel);
        self.begin_watching_write();
        self.insert_past_sites();
        if !self.begin_counting(run)
            && let Some(mut travel) = self.take_travel()
        {
            // Another place will be tried.
            travel.uncountable.extend(run.counted());
            travel.run = match travel.laps.divides_after_all() {
                true => Run::Laps,
                false => Run::Search,
            };
            return self.run_travel(travel);
        }
        self.resume_all();
        true
    }

    /// Removes the site where the run, or the past, ends: it can't end before something more has come from outside.
    pub(super) fn remove_end_sites(&mut self) {
        self.remove_sites(Reason::Present);
        let end = self.search().and_then(|travel| {
            let pc = travel.end.moment.pc()?;
            let is_more = travel.looks_for(pc) || travel.run.counted() == Some(pc);
            (!is_more).then_some(pc)
        });
        if let Some(end) = end {
            self.remove_site(end, Reason::Travel);
        }
    }

    /// Inserts the sites that a search, or the way to the present, still lacks. Libraries that aren't mapped yet can have none.
    pub(super) fn insert_past_sites(&mut self) {
        let (reason, places) = match self.search() {
            Some(travel) => (Reason::Travel, travel.places()),
            None => {
                let present = self.present_moment();
                let places = present.and_then(|present| present.pc());
                (Reason::Present, places.into_iter().collect())
            }
        };
        let mut lacks = false;
        let mut mappings = None;
        for place in places {
            let is_there = self.site(place).is_some_and(|site| site.has(reason));
            if is_there {
                continue;
            }
            // While a library is being mapped, other bytes may be there, which are replaced.
            let mappings = mappings.get_or_insert_with(|| self.process().mappings());
            let mut around = mappings.iter();
            let is_code = around.any(|it| (it.start..it.end).contains(&place.0) && it.execute);
            if !is_code || self.insert_site(place, reason).is_err() {
                tracing::debug!(%place, "a place can't be looked for yet");
                lacks = true;
            }
        }
        // The linker runs code of a library before it says that it has mapped it.
        if let Some(live) = self.history_live() {
            live.report_mappings(lacks);
        }
    }

    /// The dynamic linker has mapped or unmapped libraries: in the past, sites come into those that weren't there.
    pub(super) fn libraries_of_past_changed(&mut self) {
        if self.is_in_past() {
            self.insert_past_sites();
            // All are put back before the thread runs.
            self.lift_sites();
        }
    }

    /// A thread is at a site that a search or the present has. Returns whether that was all.
    pub(super) fn passes_in_past(&mut self, thread: ThreadId, at: Address) -> bool {
        if self.is_running_backwards() {
            return self.passes_backwards(thread, at);
        }
        if !self.is_travelling() {
            if self.is_at_present() {
                // What the thread came for in the past, it came for here: this may be a stop.
                self.arrive_in_present(thread);
                self.control(thread).passed = Some(at);
            } else {
                self.passed_other_state(at);
            }
            return false;
        }
        let passed = self.is_wanted_pass(at);
        let is_end = self.ends_run(thread, at);
        if !is_end && !passed {
            self.passed_other_state(at);
        }
        let travel = self.search_mut();
        // What is looked for is no site.
        let only_ends = |it: &&mut Travel| it.run.is_blind() || matches!(it.goal, Goal::Write(_));
        if let Some(travel) = travel.filter(only_ends) {
            travel.passed = passed;
            match is_end || passed {
                true => self.stop_all(),
                false => self.release(thread),
            }
            return true;
        }
        // At a checkpoint, what is looked for counts, too.
        let counts = !is_end || self.ends_at_a_checkpoint();
        if self.looks_for_places() {
            match (counts && self.comes_to_place(thread, at), is_end) {
                (true, _) => self.report(thread, StopReason::Step),
                (false, true) => self.stop_all(),
                (false, false) => self.release(thread),
            }
            return true;
        }
        if is_end {
            let reason = counts.then(|| self.stop_reason_at(thread, at)).flatten();
            match reason {
                Some(reason) => self.report(thread, reason),
                None => self.stop_all(),
            }
        }
        is_end
    }

    /// Whether the run ends where a thread is now.
    fn ends_run(&mut self, thread: ThreadId, at: Address) -> bool {
        let Some(mut travel) = self.take_travel() else {
            return false;
        };
        let end = travel.end.moment;
        travel.arrived =
            end.thread() == Some(thread) && end.pc() == Some(at) && self.stands_at_end(&mut travel);
        let arrived = travel.arrived;
        self.begin_travel(travel);
        arrived
    }

    /// Where the run ends, or the past.
    pub(super) fn end_pc(&self) -> Option<Address> {
        match self.search() {
            Some(travel) => travel.end.moment.pc(),
            None => self.present_moment()?.pc(),
        }
    }

    /// The state that a thread runs to in the past.
    pub(super) fn state_ahead(&self) -> Option<Ahead> {
        let Some(travel) = self.search() else {
            return self.present_ahead();
        };
        let end = &travel.end;
        let registers = end.moment.registers()?;
        Some(Ahead::of(registers, end.process.as_ref(), &end.differs))
    }

    /// Whether the thread is in the state where the run ends.
    pub(super) fn stands_at_end(&mut self, travel: &mut Travel) -> bool {
        let end = &mut travel.end;
        let process = Arc::clone(&end.process);
        self.is_at(&end.moment, process.as_ref(), &mut end.differs)
    }

    /// The line that a thread is at, or that has called what it is in, if that is one of those that are looked for.
    fn line_now(&mut self, thread: ThreadId, travel: &Travel) -> Option<Line> {
        match &travel.goal {
            Goal::Places(places) => self.line_among(thread, places),
            Goal::Stop | Goal::Write(_) => None,
        }
    }

    /// Counts that a thread has come to a place, if that is one of those that are looked for. Returns whether it is the one to go to.
    fn comes_to_place(&mut self, thread: ThreadId, at: Address) -> bool {
        let Some(mut travel) = self.take_travel() else {
            return false;
        };
        let line = match &travel.goal {
            _ if thread != travel.thread => None,
            Goal::Stop | Goal::Write(_) => None,
            Goal::Places(places) => { places.all.get(&at) }.and_then(|line| {
                let frame = self.frame_of(thread, places)?;
                Some(Line { frame, line: *line })
            }),
        };
        // The rest of a line behind a call is no other line.
        let is_call = matches!(&travel.goal, Goal::Places(places) if places.is_only_call(at));
        let mut is_wanted = false;
        let is_repeated = line.is_some() && travel.last == line;
        if line.is_some() && (is_call || !is_repeated) {
            if !is_call {
                travel.last = line;
            }
            is_wanted = travel.counts_one();
        }
        self.begin_travel(travel);
        if line.is_some() && !is_call {
            self.note_repeated_line(at, is_repeated);
        }
        is_wanted
    }

    /// All threads have stopped during a search. `false`: it is over, and the stop is to be reported.
    pub(super) fn travel_stopped(&mut self) -> bool {
        // Whoever waits for a write goes on himself.
        self.search_goes_on() || self.write_search().is_some_and(Wanted::is_over)
    }

    fn search_goes_on(&mut self) -> bool {
        if self.write_search().is_some_and(Wanted::is_over) {
            return false;
        }
        let reports = self.take_reports();
        let Some(mut travel) = self.take_travel() else {
            return false;
        };
        if self.takes_pause() || self.leaving.detaching {
            self.travel_fails(travel, "the search was interrupted".into());
            return false;
        }
        if !reports.is_empty() {
            // A thread that has accessed watched data hasn't run into a site.
            travel.arrived = travel.arrived || self.stands_at_end(&mut travel);
            // What was written by the last instruction before now comes before now, unless this stop has said so.
            let mut accesses = reports.iter().flat_map(|stop| stop.reason.data_hits());
            let is_news = accesses.any(|hit| !travel.reported.contains(&hit.breakpoint));
            let counts = !travel.arrived || travel.end.is_checkpoint || is_news;
            let is_wanted = match travel.goal {
                _ if travel.run.is_blind() => false,
                Goal::Stop => counts && travel.counts_one(),
                Goal::Places(_) => travel.run == Run::To(travel.count),
                Goal::Write(_) => false,
            };
            if is_wanted {
                let thread = travel.thread;
                if let Goal::Places(places) = &mut travel.goal
                    && self.goes_into_call(thread, places)
                {
                    travel.run = Run::Search;
                    (travel.found, travel.last) = (None, None);
                    return self.run_travel(travel);
                }
                if let (Goal::Places(places), Some(at)) =
                    (&travel.goal, reports.first().map(|stop| stop.address))
                {
                    let count = self.calls_before_line(at, places);
                    self.keep_stepped_back(thread, count);
                }
                self.set_reports(reports);
                self.end_travel();
                self.keep_last_step(*travel);
                return false;
            }
        }
        if travel.arrived || travel.ended {
            if !travel.arrived {
                // It may be where nothing more comes, or where nobody runs.
                travel.arrived = self.stands_at_end(&mut travel);
            }
            return self.run_is_over(travel);
        }
        if travel.passed {
            self.take_lap(&mut travel);
            travel.near = true;
            travel.run = Run::Search;
            return self.run_travel(travel);
        }
        if let Some(run) = self.lap_stopped(&mut travel) {
            travel.run = run;
            return self.run_travel(travel);
        }
        self.begin_travel(travel);
        match self.take_alone() {
            alone if alone.is_empty() => self.resume_all(),
            // Where the search has many sites, there may be no room for copies of their instructions.
            alone => self.run_alone(&alone),
        }
        true
    }

    /// A run has come to its end. `false`: the search is over, and the stop is to be reported.
    fn run_is_over(&mut self, mut travel: Box<Travel>) -> bool {
        let parted = self.process().parted();
        if parted.is_some() || matches!(travel.run, Run::To(_)) && travel.found.is_some() {
            let why = parted.unwrap_or_else(|| "it runs otherwise than before".into());
            self.travel_fails(travel, format!("the past could not be run again: {why}"));
            return false;
        }
        if matches!(travel.run, Run::To(_)) {
            // It was only taken to be there.
            travel.run = Run::Search;
            return self.run_travel(travel);
        }
        if travel.run.is_blind() && travel.arrived {
            travel.run = match travel.run {
                Run::Laps if travel.laps.divides() => Run::Laps,
                Run::Count(at) => self.counted_all(&mut travel, at),
                _ => Run::Search,
            };
            return self.run_travel(travel);
        }
        if travel.run == Run::Laps || !travel.arrived {
            let gone = self.forget_laps(travel.laps.taken());
            travel.removed(gone);
        }
        // If the end wasn't met, the checkpoint is from after it.
        if let Some(found) = travel.found.filter(|_| travel.arrived) {
            travel.run = self.narrows_span(&mut travel, found);
            return self.run_travel(travel);
        }
        if travel.arrived
            && let Some(found) = self.found_in_laps(&mut travel)
        {
            travel.found = Some(found);
            travel.run = Run::To(found);
            return self.run_travel(travel);
        }
        if travel.from == 0 {
            let looks_for_write = matches!(travel.goal, Goal::Write(_));
            let found = travel.found.is_some() || travel.laps.have_found();
            if !travel.arrived && (looks_for_write || found) {
                // Nothing is before that, and whether there was something up to the end isn't known.
                let why = "the past could not be run again: it doesn't come to where it was";
                self.travel_fails(travel, why.into());
                return false;
            }
            return self.stops_at_beginning(travel);
        }
        // The next run ends where the last one has begun.
        if travel.arrived {
            match self.end_at(travel.from, true) {
                Ok(end) => travel.end = end,
                Err(why) => {
                    self.travel_fails(travel, why);
                    return false;
                }
            }
        }
        travel.found = None;
        self.goes_further_back(&mut travel);
        travel.too_near += u32::from(std::mem::take(&mut travel.near));
        travel.laps.is_further();
        self.run_travel(travel)
    }

    /// Nothing was found. Returns whether the search goes on: it doesn't.
    fn stops_at_beginning(&mut self, mut travel: Box<Travel>) -> bool {
        if let Goal::Write(wanted) = &mut travel.goal {
            wanted.nothing_found();
            self.begin_travel(travel);
            return false;
        }
        match self.show_copy(0) {
            Ok(()) => {
                self.end_travel();
                self.show_at(travel.thread, StopReason::Beginning);
            }
            Err(why) => self.travel_fails(travel, why),
        }
        false
    }

    /// A thread is to be reported as stopped for this reason.
    pub(super) fn show_at(&mut self, thread: ThreadId, reason: StopReason) {
        // It may not have begun.
        let thread = match self.is_live(thread) {
            true => thread,
            false => self.process().id(),
        };
        let address = self.registers(thread).map(|r| r.pc()).unwrap_or_default();
        self.set_reports(vec![Stop {
            thread,
            address,
            reason,
        }]);
    }

    /// The search is over. What was left is not shown again, unless it is the present.
    pub(super) fn end_travel(&mut self) {
        self.remove_sites(Reason::Travel);
        if self.is_quiet() {
            self.lift_sites();
            self.set_quiet(false);
            for thread in self.stopped_threads() {
                self.control(thread).watched = 0;
            }
        }
        let present = self.present_moment();
        let last = present.and_then(|present| present.thread());
        self.process().replay_until(usize::MAX, last);
        self.insert_past_sites();
    }

    /// Goes back to where the search has begun, and reports why.
    fn travel_fails(&mut self, mut travel: Box<Travel>, why: String) {
        if let Goal::Write(wanted) = &mut travel.goal {
            wanted.failed(why);
            return self.begin_travel(travel);
        }
        let thread = travel.thread;
        self.go_back(travel.left);
        self.show_at(thread, StopReason::NotReplayed { why });
    }

    /// Shows again what was left for a search; `None`: the present.
    pub(super) fn go_back(&mut self, left: Option<Left>) {
        self.remove_sites(Reason::Travel);
        match left {
            Some(left) => {
                self.return_to(left);
                self.end_travel();
            }
            None => {
                self.set_quiet(false);
                self.return_to_present();
            }
        }
    }

    /// A stop is about to be reported: if the past has come to the present with it, shows that.
    pub(super) fn settle_in_present(&mut self, thread: ThreadId) {
        if self.is_in_past() && self.is_at_present() {
            let passed = self.control(thread).passed;
            self.return_to_present();
            self.control(thread).passed = passed;
        }
    }

    /// The kernel has reported the end of a replay.
    pub(super) fn replay_ended(&mut self, thread: ThreadId) {
        self.leave_trampoline(thread);
        if self.process().runs_backwards() {
            return self.replay_ended_behind_stub(thread);
        }
        if self.is_travelling() {
            if let Some(mut travel) = self.take_travel() {
                travel.ended = true;
                self.begin_travel(travel);
            }
            return self.stop_all();
        }
        if self.stops_at_end(thread) {
            return;
        }
        let parted = self.process().parted();
        self.arrive_in_present(thread);
        match parted {
            None => self.release(thread),
            Some(parted) => {
                let why = format!("the past could not be run again: {parted}");
                self.report(thread, StopReason::NotReplayed { why });
            }
        }
    }
}

impl Owner {
    pub(super) fn is_travelling(&self) -> bool {
        self.search().is_some()
    }

    fn ends_at_a_checkpoint(&self) -> bool {
        self.search().is_some_and(|travel| travel.end.is_checkpoint)
    }

    /// Whether a search is under way that no stop is of use for.
    pub(super) fn ignores_stops(&self) -> bool {
        self.search().is_some_and(Travel::ignores_stops)
    }

    /// Whether places are looked for, and not stops.
    fn looks_for_places(&self) -> bool {
        let travel = self.search();
        travel.is_some_and(|travel| matches!(travel.goal, Goal::Places(_)))
    }
}

impl Travel {
    /// Whether no stop is of use for this run.
    fn ignores_stops(&self) -> bool {
        self.run.is_blind() || !matches!(self.goal, Goal::Stop)
    }

    /// Whether an address is a place that is looked for.
    pub(super) fn looks_for(&self, at: Address) -> bool {
        matches!(&self.goal, Goal::Places(places) if places.all.contains_key(&at))
    }

    /// A search has taken a checkpoint. Returns how many have come of what is looked for since the one before.
    pub(super) fn begins_lap(&mut self) -> Option<usize> {
        self.count = 0;
        self.hot.clear();
        self.found.take()
    }

    /// Where the search has its sites.
    fn places(&self) -> Vec<Address> {
        let mut places = Vec::from_iter(self.end.moment.pc());
        places.extend(self.run.counted());
        if let Goal::Places(wanted) = &self.goal
            && !self.run.is_blind()
        {
            let all = wanted.all.keys();
            places.extend(all.filter(|at| !self.repeats.leaves_out(**at)));
        }
        places
    }

    /// Whether what is looked for counts where the run ends, too.
    pub(super) fn counts_at_end(&self) -> bool {
        self.end.is_checkpoint
    }

    /// The run has come to its end.
    pub(super) fn arrives(&mut self) {
        self.arrived = true;
    }

    /// One more has come of what is looked for. Returns whether it is the one to go to.
    pub(super) fn counts_one(&mut self) -> bool {
        self.count += 1;
        if self.run == Run::Search {
            self.found = Some(self.count);
        }
        self.run == Run::To(self.count)
    }
}
