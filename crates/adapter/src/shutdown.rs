//! How a program is asked to end (`terminate`), and how long it may take before it is killed.

use crate::adapter::{Adapter, say};
use crate::arguments::string;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use dapple_engine::Error;
use dapple_engine::signals;
use serde_json::Value;
use std::convert::Infallible;
use std::time::Duration;

/// The longest time that can be given, in seconds.
const LONGEST: f64 = 86_400.0;

/// What `launch` or `attach` said of the program's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shutdown {
    /// The signal that asks for it.
    pub signal: i32,
    /// How long the program may take then; `None`: as long as it likes.
    pub patience: Option<Duration>,
}

impl Default for Shutdown {
    fn default() -> Self {
        Shutdown {
            signal: signals::TERMINATE,
            patience: None,
        }
    }
}

impl Shutdown {
    /// Takes `gracefulShutdown`.
    ///
    /// # Errors
    /// It names no signal.
    pub fn read_signal(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let number = signals::number(string(name, value)?);
        self.signal = number.map_err(|sentence| format!("`{name}`: {sentence}"))?;
        Ok(())
    }

    /// Takes `shutdownTimeout`.
    ///
    /// # Errors
    /// It is no length of time.
    pub fn read_patience(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let seconds = value.as_f64().filter(|s| *s > 0.0 && *s <= LONGEST);
        let seconds = seconds.ok_or_else(|| {
            format!("`{name}` must be a number of seconds, more than 0 and at most {LONGEST}, not {value}")
        })?;
        self.patience = Some(Duration::from_secs_f64(seconds));
        Ok(())
    }
}

impl Adapter {
    /// Asks the program to end.
    ///
    /// # Errors
    /// [`Error::Ended`], or what the system says.
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

    /// Kills a process of this session after a time, unless what is given back is dropped before.
    fn kill_after(&self, patience: Duration, process: i32) -> Option<Sender<Infallible>> {
        let (over, ended) = bounded(0);
        let later = self.later.clone();
        let wait = move || {
            if ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                later.run(move |adapter, outbox, _| {
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
        Some(over)
    }

    /// Kills the process if it is this session's still, and not stopped: who debugs how it ends takes their time. Says what was done.
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
