//! The file of `--log`: every message of every session, as the protocol crate records conversations.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use dapple_dap::lifecycle::Side;
use dapple_dap::testing::Log;
use dapple_dap::transport::Options;

/// Where messages are logged, if they are.
pub struct WireLog {
    log: Option<Log>,
    own: Side,
}

impl WireLog {
    /// Opens the file to append to it, if there is to be one; `own` is the side that we are.
    pub fn open_if(path: Option<&Path>, own: Side) -> anyhow::Result<Self> {
        let Some(path) = path else {
            return Ok(Self { log: None, own });
        };
        // Messages hold whatever the debugged program does.
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path);
        let file = file.with_context(|| format!("cannot open the log {}", path.display()))?;
        let log = Some(Log::new(file));
        Ok(Self { log, own })
    }

    /// How the connection of a session is made. Its number is unique within this process, and with the process's in the file.
    pub fn options(&self, session: u64) -> Options {
        match &self.log {
            None => Options::new(),
            Some(log) => log.options(format!("{}-{session}", std::process::id()), self.own),
        }
    }
}
