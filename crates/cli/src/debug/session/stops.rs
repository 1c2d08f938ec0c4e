//! A stop: what is printed about it, and the selected thread, frame and source.
//!
//! Frames are requested only as far as needed: most stops need one.

use std::path::{Path, PathBuf};

use anyhow::bail;
use dapple_dap::message::Empty;
use dapple_dap::types::{
    StackFrame, StackFrameFormat, StackFramePresentationHint, StackTraceArguments,
    StackTraceRequest, StepOutArguments, StepOutRequest, StoppedEventBody, StoppedEventReason,
    Thread, ThreadsRequest,
};

use super::{NoStop, Session, State};
use crate::debug::breakpoints::{Breakpoint, Lifetime};
use crate::debug::link::{Attach, Link};
use crate::debug::results::{self, Item, Record};
use crate::debug::style::Role;
use crate::debug::{commands, complete, render};

/// How many frames [`Session::select_own_code`] searches, from the innermost.
const FRAMES_SEARCHED: usize = 200;
/// How many frames the record of a stop has.
const FRAMES_TOLD: usize = 10;
/// How many variables the record of a stop has.
const LOCALS_TOLD: usize = 30;

/// A stop: the selected thread and frame.
#[derive(Debug)]
pub struct Stop {
    /// The thread.
    pub thread: i64,
    /// Its innermost frames, as many as were needed so far.
    pub frames: Vec<StackFrame>,
    /// Whether there are no more frames than these.
    pub complete: bool,
    /// The index of the selected frame.
    pub selected: usize,
    /// The write that was found last: of this expression, with this bookmark.
    pub write: Option<(String, u32)>,
}

impl Stop {
    /// A thread's innermost frame, with no frames loaded yet.
    pub fn of(thread: i64) -> Self {
        Self {
            thread,
            frames: Vec::new(),
            complete: false,
            selected: 0,
            write: None,
        }
    }

    /// The selected frame.
    pub fn frame(&self) -> Option<&StackFrame> {
        self.frames.get(self.selected)
    }
}

impl Session {
    pub(super) fn stopped(&mut self, body: &StoppedEventBody) {
        if let (State::Stopped(stop), Some(thread)) = (&self.process.state, body.thread_id)
            && stop.thread != thread
        {
            self.report_stop_of_other_thread(thread, body);
            return;
        }
        self.pause_at = None;
        let as_pause = self.as_pause(body);
        let body = as_pause.as_ref().unwrap_or(body);
        let (mut numbers, mut over) = self.count_hits(body);
        over.extend(self.breakpoints.until_next_stop());
        let threads = self.threads().unwrap_or_default();
        let id = body
            .thread_id
            .or_else(|| threads.first().map(|thread| thread.id))
            .unwrap_or_default();
        let previous = self.process.link.as_ref().and_then(Link::known_thread);
        if let Some(link) = &self.process.link {
            link.set_known_thread(id);
        }
        self.process.state = State::Stopped(Box::new(Stop::of(id)));
        self.process.is_at_failure = self.is_failure(body);
        if numbers.is_empty() && !self.is_own_adapter() {
            (numbers, over) = self.hits_here(body, over);
        }
        if body.reason == StoppedEventReason::Step && self.finish_on(id) {
            return;
        }
        // The user expects the end of a step in the thread that stopped last, so no reason is printed: only the place is shown.
        let expected = body.reason == StoppedEventReason::Step
            && body.text.is_none()
            && previous.is_none_or(|thread| thread == id)
            && !self.selected_for_event;
        if expected && self.steps_on() {
            return;
        }
        self.process.steps_left = None;
        self.screen.record_notice();
        let cause = results::Cause {
            expected,
            ..self.cause_of(body, &numbers)
        };
        self.process.cause = Some(cause.clone());
        let process = self.stopped_process();
        let stop = results::Stop::of(cause, results::Thread::of(id, &threads), process);
        if !expected && !self.screen.is_json() {
            let text = stop.text(self.screen.style);
            self.screen.print(&text);
        }
        // Those of a temporary breakpoint, too, which is about to go.
        let commands = self.commands_of(&numbers);
        self.delete_all(over);
        if self.selected_for_event {
            self.process.finishing = None;
            self.process.by_instruction = false;
            self.record_stop(stop);
            return;
        }
        self.show_stop(expected);
        self.hint_at_past(body);
        self.complete_stop(stop);
        self.run_commands(commands);
    }

    /// A stop that Ctrl-C has asked for, where the adapter tells it as the signal by which it stops the program, as lldb does.
    fn as_pause(&self, body: &StoppedEventBody) -> Option<StoppedEventBody> {
        let told = body.description.as_deref().or(body.text.as_deref())?;
        let is_signal = ["SIGSTOP", "SIGINT", "SIGTRAP"]
            .iter()
            .any(|name| told.contains(name));
        let is_asked = self.pauses > 0 && !self.is_own_adapter();
        let is_failure = body.reason == StoppedEventReason::Exception;
        (is_asked && is_signal && is_failure).then(|| {
            let mut pause = body.clone();
            pause.reason = StoppedEventReason::Pause;
            (pause.description, pause.text) = (None, None);
            pause
        })
    }

    /// As [`Self::count_hits`], for adapters that say only that a breakpoint was hit, or name one by an old id (js-debug does, after the breakpoints
    /// were set again): those on the line of the stop. `over`: those that are over already.
    fn hits_here(&mut self, body: &StoppedEventBody, mut over: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
        let is_hit = matches!(
            body.reason,
            StoppedEventReason::Breakpoint | StoppedEventReason::FunctionBreakpoint
        );
        let place = match is_hit && self.load_frames(1).is_ok() {
            true => { self.stop().ok() }.and_then(|stop| render::source_of(stop.frames.first()?)),
            false => None,
        };
        let Some((path, line)) = place else {
            return (Vec::new(), over);
        };
        let is_here = |breakpoint: &&Breakpoint| {
            let answer = self.breakpoints.answer(breakpoint.number);
            let (file, at) = breakpoint.location(answer);
            let is_there = file == Some(path.as_path())
                && at.is_some_and(|at| usize::try_from(at) == Ok(line));
            is_there && !breakpoint.options.disabled && breakpoint.options.log.is_none()
        };
        let here = self.breakpoints.iter().filter(is_here);
        let numbers = here.map(|breakpoint| self.seen_hit(breakpoint.number));
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in &numbers {
            if let Some(breakpoint) = self.breakpoints.get_mut(*number) {
                breakpoint.hits = breakpoint.hits.saturating_add(1);
                if breakpoint.lifetime == Lifetime::Once {
                    over.push(*number);
                }
            }
        }
        (numbers, over)
    }

    /// Where a recorded program fails, says how its cause is found.
    fn hint_at_past(&mut self, body: &StoppedEventBody) {
        let capabilities = self.process.link.as_ref().map(Link::capabilities);
        let is_recorded = capabilities.is_some_and(|can| can.supports_step_back == Some(true));
        if body.reason == StoppedEventReason::Exception && is_recorded && self.is_own_adapter() {
            let text = "`who EXPRESSION` finds what wrote a value, `rc` and `rn` go back";
            let text = text.to_owned();
            self.screen.show(Item::Hint(results::Text { text }));
        }
    }

    /// Says why a thread stopped while another thread of the process is stopped and selected. The selection stays.
    fn report_stop_of_other_thread(&mut self, thread: i64, body: &StoppedEventBody) {
        let (numbers, over) = self.count_hits(body);
        self.process.is_at_failure |= self.is_failure(body);
        let cause = self.cause_of(body, &numbers);
        if self.screen.is_json() {
            self.screen.record_notice();
            let threads = self.threads().unwrap_or_default();
            let shown = results::Thread::of(thread, &threads);
            let mut stop = results::Stop::of(cause, shown, self.stopped_process());
            stop.selected_thread = self.stop().ok().map(|stop| stop.thread);
            self.screen.record(&Record::Stop(Box::new(stop)));
        } else {
            let text = format!("thread {thread} also {}", cause.sentence);
            self.screen.print(&text);
            if let Some(below) = cause.text {
                self.screen.print(&below);
            }
        }
        self.delete_all(over);
    }

    /// Whether a stop is for something that has gone wrong just now.
    fn is_failure(&self, body: &StoppedEventBody) -> bool {
        let is_core = matches!(self.program.attach, Some(Attach::Core { .. }));
        body.reason == StoppedEventReason::Exception && !is_core
    }

    /// Why a thread has stopped. `numbers` are those of the breakpoints that it has hit.
    fn cause_of(&self, body: &StoppedEventBody, numbers: &[u32]) -> results::Cause {
        let sentence = match body.reason {
            StoppedEventReason::Entry
                if self.program.attach.is_some() && self.process.cause.is_none() =>
            {
                "where it was".to_owned()
            }
            _ => match self.watch_of(body) {
                Some(watch) => format!("at watch {}: {}", watch.number, watch.expression),
                None => render::stop_reason(body, numbers),
            },
        };
        results::Cause {
            reason: body.reason.as_str().to_owned(),
            sentence,
            text: render::below_stop(body),
            breakpoints: numbers.to_vec(),
            expected: false,
        }
    }

    /// The selected process, in a program that has several.
    pub(super) fn stopped_process(&self) -> Option<results::StoppedProcess> {
        self.has_children().then(|| results::StoppedProcess {
            number: self.process.number,
            name: self.this_process(),
            beside: self.selected_for_event,
        })
    }

    /// With `--json`: writes the record of a stop, with the stack and the variables there.
    pub(super) fn complete_stop(&mut self, mut stop: results::Stop) {
        if !self.screen.is_json() {
            return;
        }
        // What can't be read is missing: the stop itself counts.
        let _ = self.load_frames(FRAMES_TOLD + 1);
        if let Ok(now) = self.stop() {
            let frames = now.frames.iter().enumerate();
            let frames = frames.filter(|(index, _)| *index < FRAMES_TOLD || *index == now.selected);
            let told = frames.map(|(index, frame)| {
                results::Frame::of(frame).numbered(index, index == now.selected)
            });
            stop.frames = told.collect();
            stop.more_frames = now.frames.len() > FRAMES_TOLD;
        }
        let calls = self.calls_with_arguments(FRAMES_TOLD).unwrap_or_default();
        for (frame, call) in stop.frames.iter_mut().zip(calls) {
            frame.call = Some(call);
        }
        (stop.locals, stop.more_locals) = commands::locals_at_stop(self, LOCALS_TOLD);
        self.record_stop(stop);
    }

    /// The functions of the innermost frames with their arguments, from adapters that show these.
    pub fn calls_with_arguments(&self, count: usize) -> anyhow::Result<Vec<String>> {
        if !self.offers(|it| it.supports_value_formatting_options)? {
            return Ok(Vec::new());
        }
        let format = StackFrameFormat::new()
            .with_parameters(true)
            .with_parameter_names(true)
            .with_parameter_values(true);
        let arguments = StackTraceArguments::new(self.stop()?.thread)
            .with_levels(i64::try_from(count)?)
            .with_format(format);
        let answer = self.request::<StackTraceRequest>(arguments)?;
        let names = answer.stack_frames.into_iter().map(|frame| frame.name);
        Ok(names.collect())
    }

    fn record_stop(&mut self, mut stop: results::Stop) {
        stop.items = self.screen.take_items();
        (stop.output, stop.output_cut) = self.screen.take_output();
        self.screen.record(&Record::Stop(Box::new(stop)));
    }

    /// Shows where the selected thread is and, if a `finish` ended normally, the returned value. `expected`: a step has ended normally.
    fn show_stop(&mut self, expected: bool) {
        let looked = match expected {
            true => Ok(()),
            false => self.select_own_code(),
        };
        let by_instruction = std::mem::take(&mut self.process.by_instruction) && expected;
        let shown = looked.and_then(|()| match by_instruction {
            true => commands::show_instruction(self),
            false => self.show_selected(),
        });
        if let Err(error) = shown {
            self.screen.print_error(&format!("{error:#}"));
        }
        if self.process.finishing.take().is_some()
            && expected
            && let Err(error) = commands::returned(self)
        {
            self.screen.print_error(&format!("{error:#}"));
        }
        commands::show_displays(self);
    }

    /// Counts the breakpoint hits of a stop. Returns the numbers of the breakpoints that were hit, and which of these numbers belong to
    /// breakpoints that exist only until their first hit.
    fn count_hits(&mut self, body: &StoppedEventBody) -> (Vec<u32>, Vec<u32>) {
        let mut numbers = Vec::new();
        let mut over = Vec::new();
        // Some adapters, as lldb-dap 22, number what is watched on its own: an id may be a breakpoint's, too.
        if self.watch_of(body).is_some() {
            return (numbers, over);
        }
        for id in body.hit_breakpoint_ids.iter().flatten() {
            let number = self.breakpoints.by_id(*id).map(|it| it.number);
            let number = number.map(|number| self.seen_hit(number));
            let breakpoint = number.and_then(|number| self.breakpoints.get_mut(number));
            if let Some(breakpoint) = breakpoint.filter(|it| !numbers.contains(&it.number)) {
                breakpoint.hits = breakpoint.hits.saturating_add(1);
                numbers.push(breakpoint.number);
                if breakpoint.lifetime == Lifetime::Once {
                    over.push(breakpoint.number);
                }
            }
        }
        (numbers, over)
    }

    /// The breakpoint that was hit where the adapter says this one: where it has one a line, that may be the one beside it.
    fn seen_hit(&self, number: u32) -> u32 {
        let breakpoint = self.breakpoints.get(number);
        let beside = breakpoint.and_then(|it| self.breakpoints.stops_beside(it));
        beside.unwrap_or(number)
    }

    /// The watchpoint at which another adapter than ours has stopped.
    fn watch_of(&self, body: &StoppedEventBody) -> Option<&commands::Watch> {
        let is_watched = body.reason == StoppedEventReason::DataBreakpoint;
        let ids = body.hit_breakpoint_ids.as_ref();
        let ids = ids.filter(|_| is_watched && !self.is_own_adapter())?;
        let mut watches = self.process.watches.iter();
        watches.find(|watch| watch.id.is_some_and(|id| ids.contains(&id)))
    }

    fn delete_all(&mut self, numbers: Vec<u32>) {
        for number in numbers {
            if let Err(error) = self.delete_breakpoint(number) {
                self.screen.print_error(&format!("{error:#}"));
            }
        }
    }

    /// Continues a `finish` after a step out has ended: if the frame that shall return has not returned yet, begins the next step out.
    /// Returns whether a step was begun.
    fn finish_on(&mut self, thread: i64) -> bool {
        let Some(mut finishing) = self.process.finishing.take() else {
            return false;
        };
        let reached = self.load_frames(1).and_then(|()| self.stop());
        let place = reached.ok().and_then(|stop| {
            let frame = stop.frames.first()?;
            frame.instruction_pointer_reference.clone()
        });
        let again = finishing.is_inside(place.as_deref())
            && self
                .request::<StepOutRequest>(StepOutArguments::new(thread))
                .is_ok();
        if again {
            self.resumed();
        }
        self.process.finishing = Some(finishing);
        again
    }

    /// Selects the innermost frame that the adapter doesn't mark as others' code (`subtle`): after a pause or a failure inside the C library,
    /// the caller is of interest. If the innermost [`FRAMES_SEARCHED`] frames have none, the innermost frame stays selected that isn't only a
    /// text (`label`).
    pub(super) fn select_own_code(&mut self) -> anyhow::Result<()> {
        let is_own = |frame: &StackFrame| frame.presentation_hint.is_none();
        self.load_frames(1)?;
        if self.stop()?.frame().is_none_or(is_own) {
            return Ok(());
        }
        self.load_frames(FRAMES_SEARCHED)?;
        let style = self.screen.style;
        let stop = self.stop_mut()?;
        let is_label =
            |frame: &StackFrame| frame.presentation_hint == Some(StackFramePresentationHint::Label);
        let own = stop.frames.iter().position(is_own);
        let own = own.or_else(|| {
            let first = stop.frames.iter().position(|frame| !is_label(frame))?;
            (first > 0).then_some(first)
        });
        if let Some(own) = own {
            stop.selected = own;
            let inner = &stop.frames[0];
            let place = results::Frame::of(inner).text(style);
            let text = match inner.presentation_hint {
                Some(StackFramePresentationHint::Label) => place,
                _ => format!("in {place}, called by #{own}"),
            };
            self.screen.print(&text);
        }
        Ok(())
    }

    /// The process's threads.
    pub fn threads(&self) -> anyhow::Result<Vec<Thread>> {
        Ok(self.request::<ThreadsRequest>(Empty)?.threads)
    }

    /// The stop; the error says why there is none.
    pub fn stop(&self) -> anyhow::Result<&Stop> {
        let why = match &self.process.state {
            State::Stopped(stop) => return Ok(stop),
            State::Ready => "the program has not been started yet; `run` starts it",
            State::Running | State::Starting => "the program is running",
            State::Over => "the program is not running; `run` starts it",
        };
        Err(NoStop(why).into())
    }

    /// The stop, for changes of the selection.
    pub fn stop_mut(&mut self) -> anyhow::Result<&mut Stop> {
        self.stop()?;
        match &mut self.process.state {
            State::Stopped(stop) => Ok(stop),
            _ => bail!("the program is not stopped"),
        }
    }

    /// Selects another thread, and its innermost frame of the user's own code as [`Self::select_own_code`] does.
    pub fn select_thread(&mut self, thread: i64) -> anyhow::Result<()> {
        *self.stop_mut()? = Stop::of(thread);
        self.select_own_code()
    }

    /// Loads frames until there are `count`, or all.
    pub fn load_frames(&mut self, count: usize) -> anyhow::Result<()> {
        let stop = self.stop()?;
        let (thread, have) = (stop.thread, stop.frames.len());
        if stop.complete || have >= count {
            return Ok(());
        }
        let wanted = count - have;
        let arguments = StackTraceArguments::new(thread)
            .with_start_frame(i64::try_from(have)?)
            .with_levels(i64::try_from(wanted)?);
        let answer = self.request::<StackTraceRequest>(arguments)?;
        let stop = self.stop_mut()?;
        stop.complete = answer.stack_frames.len() < wanted;
        stop.frames.extend(answer.stack_frames);
        Ok(())
    }

    /// Selects a frame by its number and shows it.
    pub fn select_frame(&mut self, index: usize) -> anyhow::Result<()> {
        self.choose_frame(index)?;
        self.show_selected()
    }

    fn choose_frame(&mut self, index: usize) -> anyhow::Result<()> {
        self.load_frames(index.saturating_add(1))?;
        let stop = self.stop_mut()?;
        if index >= stop.frames.len() {
            match stop.frames.len() {
                0 => bail!("this thread has no frames"),
                count => bail!("there is no frame {index}; the outermost is {}", count - 1),
            }
        }
        stop.selected = index;
        Ok(())
    }

    /// Shows where the selected frame is, with the source around it.
    pub fn show_selected(&mut self) -> anyhow::Result<()> {
        self.load_frames(self.stop()?.selected + 1)?;
        let Some(frame) = self.stop()?.frame().cloned() else {
            self.screen.print("this thread has no frames to show");
            return Ok(());
        };
        let place = results::Frame::of(&frame).numbered(self.stop()?.selected, true);
        self.show_frame(&frame, place)
    }

    /// Selects a frame by its number and shows it with the function's whole name and the source's whole path.
    pub fn show_whole_frame(&mut self, index: usize) -> anyhow::Result<()> {
        self.choose_frame(index)?;
        let mut arguments = StackTraceArguments::new(self.stop()?.thread)
            .with_start_frame(i64::try_from(index)?)
            .with_levels(1);
        if self.offers(|it| it.supports_value_formatting_options)? {
            arguments.format = Some(StackFrameFormat::new().with_include_all(true));
        }
        let mut answer = self.request::<StackTraceRequest>(arguments)?;
        let Some(whole) = answer.stack_frames.pop() else {
            bail!("there is no frame {index} any more");
        };
        let place = results::Frame {
            whole: true,
            ..results::Frame::of(&whole).numbered(index, true)
        };
        // Frames are known by the ids of the first request for them.
        let Some(frame) = self.stop()?.frame().cloned() else {
            bail!("there is no frame {index} any more");
        };
        self.show_frame(&frame, place)
    }

    fn show_frame(&mut self, frame: &StackFrame, place: results::Frame) -> anyhow::Result<()> {
        self.screen.show(Item::Frame(place));
        self.refresh_names(frame);
        let Some((path, line)) = render::source_of(frame) else {
            self.screen.print(
                &self
                    .screen
                    .style
                    .paint(Role::Aside, "no source for this function"),
            );
            return Ok(());
        };
        self.show_lines(&path, line.saturating_sub(3), line + 3, Some(line))
    }

    /// Shows the lines `first..=last` of a file, with `current` marked, or prints why the file can't be read.
    pub fn show_lines(
        &mut self,
        path: &Path,
        first: usize,
        last: usize,
        current: Option<usize>,
    ) -> anyhow::Result<()> {
        match self.sources.lines(path) {
            Ok(lines) => {
                let listing = results::Listing::of(path, &lines, first, last, current);
                self.screen.show(Item::Source(listing));
                self.process.listed = Some((path.to_owned(), last));
            }
            Err(error) => {
                let text = self.screen.style.paint(Role::Aside, &format!("{error:#}"));
                self.screen.print(&text);
            }
        }
        Ok(())
    }

    pub(super) fn refresh_names(&mut self, frame: &StackFrame) {
        if !self.input.is_interactive() {
            return;
        }
        let variables = commands::variables_of(self, frame).unwrap_or_default();
        let file = render::source_of(frame).map(|(path, _)| path);
        let functions = file.as_deref().and_then(|path| {
            self.sources
                .lines(path)
                .ok()
                .map(|lines| complete::functions_in(path, &lines))
        });
        let mut names = self.completer.names();
        names.variables = variables;
        if let Some(file) = file.filter(|file| !names.files.contains(file)) {
            names.files.push(file);
            names.functions.extend(functions.into_iter().flatten());
        }
    }

    /// The file to which a bare line number refers: the selected frame's, or else the program's main source.
    pub fn current_file(&self) -> Option<PathBuf> {
        let frame = match &self.process.state {
            State::Stopped(stop) => stop.frame().and_then(render::source_of),
            _ => None,
        };
        frame
            .map(|(path, _)| path)
            .or_else(|| self.program.source.clone())
    }

    /// The source files at hand: the current one, the program's main source, those of the stop's frames loaded so far, and those with
    /// breakpoints.
    pub fn known_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self.current_file().into_iter().collect();
        let frames = match &self.process.state {
            State::Stopped(stop) => &stop.frames[..],
            _ => &[],
        };
        let frames = frames
            .iter()
            .filter_map(render::source_of)
            .map(|(path, _)| path);
        for file in self
            .program
            .source
            .clone()
            .into_iter()
            .chain(frames)
            .chain(self.breakpoints.files())
        {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }
}
