//! Running backwards through the Debug Adapter Protocol.

use std::time::{Duration, Instant};

use anyhow::Context;
use dapple_adapter::{ShownWrite, WhoArguments, WhoRequest};
use dapple_dap::message::Request;
use dapple_dap::types::*;

use crate::bench::run::dap::Dap;

impl Dap {
    /// The adapter's process.
    pub fn process(&self) -> u32 {
        self.client.process()
    }

    /// Steps back to the line before, and returns how long that took.
    pub fn step_back(&mut self) -> anyhow::Result<Duration> {
        self.moves::<StepBackRequest>(&StepBackArguments::new(self.thread))
    }

    /// Runs backwards to a stop, and returns how long that took.
    pub fn reverse(&mut self) -> anyhow::Result<Duration> {
        self.moves::<ReverseContinueRequest>(&ReverseContinueArguments::new(self.thread))
    }

    fn moves<R: Request>(&mut self, arguments: &R::Arguments) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        self.client.request::<R>(arguments)?;
        self.stopped()?;
        Ok(begin.elapsed())
    }

    /// Finds the last write of a variable, and returns it with how long that took.
    pub fn who(&mut self, name: &str) -> anyhow::Result<(ShownWrite, Duration)> {
        let arguments = WhoArguments {
            name: name.to_owned(),
            frame_id: Some(self.frame_id()?),
            ..WhoArguments::default()
        };
        let begin = Instant::now();
        let answer = self.client.request::<WhoRequest>(&arguments)?;
        let time = begin.elapsed();
        Ok((answer.write.context(answer.text)?, time))
    }
}
