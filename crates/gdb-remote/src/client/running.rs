//! Running the debuggee, forwards and backwards, and waiting until it stops.

use super::{Client, judged, not_supported};
use crate::connection::Deadline;
use crate::error::{Error, Result, shown};
use crate::resume::{Action, Actions, Resume, vcont, without_vcont};
use crate::stop_reply::StopReply;
use crate::thread_id::ThreadId;

impl Client {
    /// Why the debuggee stands still (`?`). It is the first thing to ask: before, gdbserver 13 has no current thread, answers questions about one with
    /// `E01`, and ends at `QCatchSyscalls`.
    ///
    /// # Errors
    ///
    /// Those of [`Client::query`], and [`Error::Unexpected`].
    pub fn stop_reason(&mut self) -> Result<StopReply> {
        let answer = self.query(b"?")?.ok_or_else(|| not_supported(b"?"))?;
        stop_reply(b"?", &answer)
    }

    /// Resumes threads (`vCont`, or else `Hc` with `c`, `C`, `s` and `S`), and returns at once: [`Client::wait`] brings the stop. No other command may
    /// be sent before that.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] for actions that the stub has no packet for, [`Error::TooLong`]; else those of the connection.
    pub fn resume(&mut self, resumptions: &[Resume]) -> Result<()> {
        let complete = self.actions.as_ref().filter(|it| it.is_complete());
        if let Some(actions) = complete {
            let packet = vcont(resumptions, actions);
            let stops = resumptions.iter().any(|it| it.action == Action::Stop);
            let steps = resumptions.iter().any(|it| it.action.is_step());
            let with_signal =
                { resumptions.iter() }.any(|it| matches!(it.action, Action::StepWith(_)));
            let lacks_steps = steps && !actions.has_steps() || with_signal && !actions.has('S');
            if stops && !actions.has('t') || lacks_steps {
                return Err(not_supported(packet.as_bytes()));
            }
            return self.run(packet.as_bytes());
        }
        let Some((chosen, packet)) = without_vcont(resumptions) else {
            return Err(not_supported(
                vcont(resumptions, &Actions::default()).as_bytes(),
            ));
        };
        // A stub without threads doesn't know `Hc`, and needs none. valgrind answers it with an error for all threads, which it runs anyway.
        match self.choose_running_thread(chosen) {
            Err(Error::Stub { .. }) if chosen == ThreadId::ALL => {}
            chosen => {
                let _ = chosen?;
            }
        }
        self.run(packet.as_bytes())
    }

    /// Resumes all threads ([`Client::resume`]).
    ///
    /// # Errors
    ///
    /// Those of [`Client::resume`].
    pub fn resume_all(&mut self) -> Result<()> {
        self.resume(&[Resume {
            action: Action::Continue,
            threads: None,
        }])
    }

    /// Lets one thread execute one instruction while all others stand still ([`Client::resume`]). Stubs without `vCont` run the others, too.
    ///
    /// # Errors
    ///
    /// Those of [`Client::resume`].
    pub fn step(&mut self, thread: ThreadId) -> Result<()> {
        self.resume(&[Resume {
            action: Action::Step,
            threads: Some(thread),
        }])
    }

    /// Whether the stub has single steps. `None`: it will be known when it is asked for one, by [`Error::NotSupported`].
    #[must_use]
    pub fn has_steps(&self) -> Option<bool> {
        let actions = self.actions.as_ref().filter(|it| it.is_complete())?;
        Some(actions.has_steps())
    }

    /// Runs backwards to the last stop (`bc`). Only for stubs with [`Feature::ReverseContinue`](crate::features::Feature::ReverseContinue).
    ///
    /// # Errors
    ///
    /// Those of the connection.
    pub fn resume_backwards(&mut self) -> Result<()> {
        self.run(b"bc")
    }

    /// Executes the last instruction of the chosen thread backwards (`bs`). Only for stubs with
    /// [`Feature::ReverseStep`](crate::features::Feature::ReverseStep).
    ///
    /// # Errors
    ///
    /// Those of the connection.
    pub fn step_backwards(&mut self) -> Result<()> {
        self.run(b"bs")
    }

    /// Waits until the debuggee stops or says something, and sends the interrupts that a [`Handle`](crate::connection::Handle) asks for. `None` waits as
    /// long as the debuggee runs. After [`StopReply::Output`] it still runs; a [`StopReply::FileRequest`] is answered with `F-1,58` (ENOSYS in
    /// the numbers of that protocol), and it still runs, too.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] and [`Error::Cancelled`], after which it can be called again; [`Error::Stub`] and [`Error::NotSupported`] if the
    /// debuggee was not resumed; [`Error::Unexpected`]; those of the connection.
    pub fn wait(&mut self, deadline: Deadline) -> Result<StopReply> {
        let asked: &[u8] = b"the resumption";
        self.drop_ahead(deadline)?;
        let answer = self.connection.receive_running(deadline)?;
        let answer = judged(asked, answer)?.ok_or_else(|| not_supported(asked))?;
        let reply = stop_reply(asked, &answer)?;
        match &reply {
            StopReply::Output(_) => {}
            StopReply::FileRequest(_) => {
                let deadline = self.deadline();
                self.connection.send(b"F-1,58", deadline)?;
            }
            StopReply::Stopped(stop) => {
                self.connection.forget_interrupt();
                // Stubs choose the thread that has stopped; gdb relies on that, too.
                self.general_thread = stop.thread;
                self.stopped_thread = stop.thread;
            }
            _ => self.connection.forget_interrupt(),
        }
        Ok(reply)
    }

    /// Sends a packet whose answer is a stop reply, which comes later.
    pub(super) fn run(&mut self, packet: &[u8]) -> Result<()> {
        self.check_length(packet)?;
        let at_counter = self.resumption_at_counter(packet)?;
        let packet = at_counter.as_deref().map_or(packet, str::as_bytes);
        let deadline = self.deadline();
        self.connection.skip_owed(deadline)?;
        self.general_thread = None;
        self.running_thread = None;
        self.stopped_thread = None;
        self.connection.send(packet, deadline)
    }
}

pub(super) fn stop_reply(asked: &[u8], answer: &[u8]) -> Result<StopReply> {
    StopReply::parse(answer).map_err(|error| Error::Unexpected {
        asked: shown(asked),
        got: error.to_string(),
    })
}
