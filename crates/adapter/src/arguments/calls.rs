//! The arguments about inferior calls in expressions.

use crate::argument_values::string;
use dapple_engine::calls::{CallOptions, CallThreads};
use serde_json::Value;
use std::time::Duration;

/// The longest time a call may take, in seconds.
const LONGEST: f64 = 86_400.0;

/// Settings of inferior calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSettings {
    /// The time limit of each call.
    pub time_limit: Duration,
    /// Which threads run during a call.
    pub threads: CallThreads,
    /// Nothing is called.
    pub forbidden: bool,
}

impl Default for CallSettings {
    fn default() -> Self {
        let options = CallOptions::default();
        CallSettings {
            time_limit: options.time_limit,
            threads: options.threads,
            forbidden: false,
        }
    }
}

impl CallSettings {
    /// Reads `callTimeout`.
    ///
    /// # Errors
    /// A message that names the argument and says what it should be.
    pub fn read_time_limit(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let seconds = value.as_f64().filter(|s| *s > 0.0 && *s <= LONGEST);
        let seconds = seconds.ok_or_else(|| {
            format!("`{name}` must be a number of seconds, more than 0 and at most {LONGEST}, not {value}")
        })?;
        self.time_limit = Duration::from_secs_f64(seconds);
        Ok(())
    }

    /// Reads `callThreads`.
    ///
    /// # Errors
    /// The value is no string.
    pub fn read_threads(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let word = string(name, value)?;
        self.forbidden = word == "none";
        self.threads = match word {
            "all" => CallThreads::All,
            _ => CallThreads::One,
        };
        Ok(())
    }
}
