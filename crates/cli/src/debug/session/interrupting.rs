//! Ctrl-C and `interrupt` while the program runs, and the end of the session's time.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use crossbeam_channel::{after, bounded, never, select};
use dapple_dap::client::Pending;
use dapple_dap::message::Request;
use dapple_dap::types::{PauseArguments, PauseRequest};

use super::{Event, INTERRUPT_PATIENCE, NO_INPUT, Session, State};
use crate::debug::interrupts::{GRACE, Interrupted, tell_wait};

impl Session {
    /// Handles Ctrl-C while the program runs. If the program shares this process group, the terminal sends SIGINT to it as well, and it stops
    /// by itself; a pause would be a second stop for one key. So a pause is requested only if no stop comes in time, or at the second
    /// Ctrl-C. A program in another process group is paused at once.
    pub(super) fn interrupt(&mut self) {
        if !matches!(self.process.state, State::Running) {
            return;
        }
        match self.pause_at {
            None if self.has_our_terminal() && self.pauses == 0 => {
                self.pause_at = Some(Instant::now() + INTERRUPT_PATIENCE)
            }
            _ => self.pause(),
        }
    }

    /// As [`Self::request`], for requests that may call functions of the program. Ctrl-C cancels the request. If the program gets the
    /// terminal's SIGINT too, the request is cancelled only if no answer comes within [`INTERRUPT_PATIENCE`], or at the second Ctrl-C.
    pub fn request_that_runs<R: Request>(
        &mut self,
        arguments: R::Arguments,
    ) -> anyhow::Result<R::Response>
    where
        R::Response: Send + 'static,
        Pending<R>: Send + 'static,
    {
        let pending = self.link()?.send::<R>(arguments)?;
        let request = pending.seq();
        let (answered, answer) = bounded(1);
        std::thread::spawn(move || answered.send(pending.wait_at_most(Duration::MAX)));
        let (mut cancel_at, mut give_up_at) = (never(), never());
        let mut slow = self.interrupts.slow();
        let mut was_interrupted = false;
        loop {
            let mut is_to_cancel = false;
            select! {
                recv(answer) -> outcome => {
                    let answer = outcome.context(NO_INPUT)?;
                    return answer.map_err(|error| match self.link() {
                        Ok(link) => link.plain(error),
                        Err(_) => error.into(),
                    });
                }
                recv(self.events) -> event => match event.context(NO_INPUT)? {
                    // As in `interrupt`: the program gets the terminal's SIGINT, too.
                    Event::Interrupt if self.has_our_terminal() && !was_interrupted => {
                        was_interrupted = true;
                        cancel_at = after(INTERRUPT_PATIENCE);
                    }
                    Event::Interrupt => is_to_cancel = true,
                    Event::TimeOver => {
                        is_to_cancel = true;
                        give_up_at = after(GRACE);
                        self.waiting.push_front(Event::TimeOver);
                    }
                    event => self.waiting.push_back(event),
                },
                recv(cancel_at) -> _ => is_to_cancel = true,
                recv(slow) -> _ => {
                    slow = never();
                    tell_wait();
                }
                recv(give_up_at) -> _ => bail!(Interrupted::of(R::COMMAND)),
            }
            if is_to_cancel {
                self.link()?.cancel(request);
                // Ours answers once the function that it has called is left.
                if !self.is_adapter_here() {
                    give_up_at = after(INTERRUPT_PATIENCE);
                }
            }
        }
    }

    /// Whether the session has taken as long as it may.
    pub fn is_time_over(&self) -> bool {
        self.interrupts.is_time_over()
    }

    /// Whether somebody types, who may leave in any case.
    pub fn leaves_at_once(&self) -> bool {
        self.input.is_interactive()
    }

    /// Whether the terminal's signals reach the program as well as this process.
    pub(super) fn has_our_terminal(&self) -> bool {
        self.is_adapter_here() && self.program.attach.is_none()
    }

    /// Whether Ctrl-C was pressed since the command began, for commands that send many requests.
    pub fn was_interrupted(&mut self) -> bool {
        let mut was = false;
        for event in self.events.try_iter() {
            match event {
                Event::Interrupt => was = true,
                event => self.waiting.push_back(event),
            }
        }
        was || self.is_time_over()
    }

    /// Asks for a stop, however often that was done before.
    pub fn pause_for_command(&mut self) {
        self.pauses = 0;
        self.pause();
    }

    /// Asks for a stop. If several haven't come, the adapter is given up.
    pub(super) fn pause(&mut self) {
        /// So many stops are asked for.
        const MOST: u32 = 3;
        self.pause_at = None;
        self.pauses += 1;
        if self.pauses > MOST && !self.is_adapter_here() {
            return self.give_up();
        }
        if self.pauses == MOST && !self.is_adapter_here() {
            let text = "the program has not stopped; Ctrl-C once more ends the debug adapter";
            self.screen.print_error(text);
        }
        let Some(link) = &self.process.link else {
            return;
        };
        // Requesting the threads first would, in some adapters, wait for the very stop that is requested here.
        let thread = link.known_thread().unwrap_or_default();
        // If the program has ended or stopped by itself, events report that. The answer says nothing more.
        let _ = link.send::<PauseRequest>(PauseArguments::new(thread));
    }

    /// Ends an adapter that does nothing that it is asked for.
    fn give_up(&mut self) {
        self.lose_adapter();
        // What it has still sent is of no use.
        self.process.run = 0;
        self.screen
            .print_error("the debug adapter was ended; `run` starts it anew");
    }
}
