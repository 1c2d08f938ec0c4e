//! How a program is asked to end (`terminate`), and how long it may take before it is killed.

use crate::argument_values::string;
use dapple_engine::signals;
use serde_json::Value;
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
