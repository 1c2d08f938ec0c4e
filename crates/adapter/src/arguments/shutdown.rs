//! The arguments about `terminate`: the signal, and the time after which the program is killed.

use crate::argument_values::string;
use dapple_engine::signals;
use serde_json::Value;
use std::time::Duration;

/// The longest time, in seconds.
const LONGEST: f64 = 86_400.0;

/// Settings of `terminate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shutdown {
    /// The signal that asks the program to end.
    pub signal: i32,
    /// The time after which the program is killed; `None`: never.
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
    /// Reads `gracefulShutdown`.
    ///
    /// # Errors
    /// The value names no signal.
    pub fn read_signal(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let number = signals::number(string(name, value)?);
        self.signal = number.map_err(|sentence| format!("`{name}`: {sentence}"))?;
        Ok(())
    }

    /// Reads `shutdownTimeout`.
    ///
    /// # Errors
    /// The value is no number of seconds, or out of range.
    pub fn read_patience(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let seconds = value.as_f64().filter(|s| *s > 0.0 && *s <= LONGEST);
        let seconds = seconds.ok_or_else(|| {
            format!("`{name}` must be a number of seconds, more than 0 and at most {LONGEST}, not {value}")
        })?;
        self.patience = Some(Duration::from_secs_f64(seconds));
        Ok(())
    }
}
