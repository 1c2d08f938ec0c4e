//! Steps, and steps that are done several times (`next 5`).
//!
//! The protocol has single steps only. So the stop at the end of a step begins the next one, unshown, until none is left. Any other stop ends
//! them: one at a breakpoint, for a signal or by Ctrl-C, and one of another thread.

use anyhow::bail;
use dapple_adapter::{Further, StepBackFurtherArguments, StepBackFurtherRequest};
use dapple_dap::types::{
    NextArguments, NextRequest, StepBackArguments, StepBackRequest, StepInArguments, StepInRequest,
    SteppingGranularity,
};

use super::Session;

/// How far a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// By a line.
    Line,
    /// By a statement, of which a line may have several.
    Statement,
    /// By a machine instruction.
    Instruction,
}

/// Where a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Forwards, over calls.
    Over,
    /// Forwards, into calls.
    Into,
    /// Backwards, over calls.
    BackOver,
    /// Backwards, into functions that were called.
    BackInto,
}

/// Steps of a kind that are still to be done.
#[derive(Debug, Clone, Copy)]
pub struct StepsLeft {
    way: Way,
    by: By,
    count: u64,
}

impl Session {
    /// Begins a step of the selected thread, which is done `count` times.
    ///
    /// # Errors
    /// The program is not stopped, or the adapter has no such step.
    pub fn step(&mut self, way: Way, by: By, count: u64) -> anyhow::Result<()> {
        let Some(left) = count.checked_sub(1) else {
            bail!("0 steps lead nowhere");
        };
        let thread = self.stop()?.thread;
        let granularity = self.granularity(by)?;
        match way {
            Way::Over => {
                let mut arguments = NextArguments::new(thread);
                arguments.granularity = granularity;
                self.request::<NextRequest>(arguments)?;
            }
            Way::Into => {
                let mut arguments = StepInArguments::new(thread);
                arguments.granularity = granularity;
                self.request::<StepInRequest>(arguments)?;
            }
            Way::BackOver => {
                let mut arguments = StepBackArguments::new(thread);
                arguments.granularity = granularity;
                self.request::<StepBackRequest>(arguments)?;
            }
            Way::BackInto => {
                let how = Further::Into;
                let arguments = StepBackFurtherArguments {
                    thread_id: thread,
                    how,
                };
                self.request::<StepBackFurtherRequest>(arguments)?;
            }
        }
        self.resumed();
        self.process.by_instruction = by == By::Instruction;
        let steps = StepsLeft {
            way,
            by,
            count: left,
        };
        self.process.steps_left = (left > 0).then_some(steps);
        Ok(())
    }

    /// The granularity to ask for. `None`: that of a step that asks for none, a line.
    fn granularity(&self, by: By) -> anyhow::Result<Option<SteppingGranularity>> {
        let (granularity, refused) = match by {
            By::Line => return Ok(None),
            By::Statement => (
                SteppingGranularity::Statement,
                "this adapter steps by lines only",
            ),
            By::Instruction => (
                SteppingGranularity::Instruction,
                "this adapter can't step by single instructions",
            ),
        };
        if !self.offers(|it| it.supports_stepping_granularity)? {
            bail!(refused);
        }
        Ok(Some(granularity))
    }

    /// A step has ended as expected: begins the next one, if more are left. Returns whether it has.
    pub(super) fn steps_on(&mut self) -> bool {
        let Some(StepsLeft { way, by, count }) = self.process.steps_left.take() else {
            return false;
        };
        match self.step(way, by, count) {
            Ok(()) => true,
            Err(error) => {
                self.screen.print_error(&format!("{error:#}"));
                false
            }
        }
    }
}
