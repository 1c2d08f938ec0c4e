//! Steps of tasks that no thread runs: the step waits until the task's future is resumed, as a step over an `await` does.

use super::Owner;
use super::stepping::Stepping;
use crate::step::Step;
use crate::step::options::{StepKind, StepOptions};
use crate::{Error, ThreadId};
use dapple_inspect::frame::{Frame, FrameKind};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::coroutines::Activation;

/// How many frames of a task are searched for the user's innermost one.
const MOST_FRAMES: usize = 200;

impl Owner {
    /// Starts a step of a task. If a thread polls it, the step is the thread's.
    pub(super) fn start_task_step(
        &mut self,
        task: ThreadId,
        kind: StepKind,
        options: StepOptions,
    ) -> Result<(), Error> {
        self.require_stopped()?;
        if let Some(thread) = self.polling_thread(task)? {
            return self.start_step(thread, kind, options);
        }
        if !kind.is_by_line() || options.alone || options.target.is_some() {
            return Err(Error::Refused(
                "no thread runs this task, so it can only be stepped by lines, with all threads running".into(),
            ));
        }
        let frames = self.stack(task, 0..MOST_FRAMES)?.frames;
        let is_suspended = |frame: &&Frame| matches!(frame.kind, FrameKind::Suspended(_));
        let is_own =
            |frame: &&Frame| is_suspended(frame) && frame.is_users() && frame.origin().is_none();
        let frame = frames
            .iter()
            .find(is_own)
            .or(frames.iter().find(is_suspended));
        let activation = frame.and_then(|frame| Activation::of_suspended(&self.reader(), frame));
        let (Some(frame), Some(activation)) = (frame, activation) else {
            return Err(Error::Refused(
                "this task waits for something that can't be watched, so it can't be stepped"
                    .into(),
            ));
        };
        let Some(position) = frame
            .position
            .clone()
            .filter(|_| activation.is_suspended(self.memory()))
        else {
            return Err(Error::Refused(
                "this task's function hasn't begun to run; a breakpoint stops it there".into(),
            ));
        };
        self.drop_kept();
        if self.tell_put_off() {
            return Ok(());
        }
        let entry = Some(frame.physical.lookup);
        let (step, doing) = Step::of_suspended(kind, activation, &position, entry, &options);
        let thread = self.current();
        let from = self.registers(thread).map(|registers| registers.pc());
        self.begin(Stepping::new(thread, step, doing, from.unwrap_or_default()));
        Ok(())
    }
}
