//! Asks the program to end, and kills it if it hasn't ended in time.

use crate::adapter::Adapter;
use crate::console::say;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use dapple_engine::Error;
use dapple_engine::signals;
use std::convert::Infallible;
use std::time::Duration;

impl Adapter {
    /// Asks the program to end, by the signal of `gracefulShutdown`. With `shutdownTimeout`, it is killed if it hasn't ended after that time.
    ///
    /// # Errors
    /// [`Error::Ended`], or an error of the system.
    pub fn ask_to_end(&mut self) -> Result<(), Error> {
        let signal = self.shutdown.signal;
        let process = match (&self.debuggee, &self.untraced) {
            (Some(debuggee), _) => {
                debuggee.terminate(signal)?;
                Some(debuggee.process().pid)
            }
            (None, Some(untraced)) => {
                untraced.terminate(signal)?;
                untraced.process().map(|process| process.pid)
            }
            (None, None) => None,
        };
        if let (Some(process), Some(patience)) = (process, self.shutdown.patience) {
            self.patience = self.kill_after(patience, process);
        }
        Ok(())
    }

    /// Kills a process of this session after a time. Dropping the returned sender cancels that.
    fn kill_after(&self, patience: Duration, process: i32) -> Option<Sender<Infallible>> {
        let (cancel, cancelled) = bounded(0);
        let later = self.later.clone();
        let wait = move || {
            if cancelled.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                later.run(move |adapter, session| {
                    let outbox = &session.outbox();
                    let Some(what) = adapter.kill_late(process) else {
                        return;
                    };
                    let signal = signals::name(adapter.shutdown.signal);
                    let seconds = patience.as_secs_f64();
                    let sentence =
                        format!("the program hasn't ended {seconds} s after {signal}: {what}");
                    say(outbox, &sentence);
                });
            }
        };
        let waiting = std::thread::Builder::new().name("shutdown timeout".into());
        if let Err(error) = waiting.spawn(wait) {
            tracing::error!(%error, "no thread to wait for the program's end");
        }
        Some(cancel)
    }

    /// Kills the process if it is still the one of this session. A stopped process isn't killed, because the user may be debugging its end.
    /// Returns what was done, in words for the user. `None`: the process isn't this session's any more, or can't be killed.
    fn kill_late(&self, process: i32) -> Option<&'static str> {
        if self.stopped_thread().is_some() {
            return Some("it isn't killed while it is stopped; asked once more to end, it is");
        }
        let killed = match (&self.debuggee, &self.untraced) {
            (Some(debuggee), _) if debuggee.process().pid == process => debuggee.kill(),
            (None, Some(untraced)) if untraced.process().is_some_and(|it| it.pid == process) => {
                untraced.kill()
            }
            _ => return None,
        };
        killed.ok().map(|()| "it is killed")
    }
}
