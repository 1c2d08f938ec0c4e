//! The file of `--log`: every message of every session, in the format in which the protocol crate records conversations.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use dapple_dap::lifecycle::Side;
use dapple_dap::testing::Log;
use dapple_dap::transport::Options;

/// The log of messages, if there is one.
pub struct WireLog {
    log: Option<Log>,
    own: Side,
}

impl WireLog {
    /// Opens the file for appending, if there is a path. `own` is this process's side of the connections.
    pub fn open_if(path: Option<&Path>, own: Side) -> anyhow::Result<Self> {
        let Some(path) = path else {
            return Ok(Self { log: None, own });
        };
        // Only the user may read the file: messages may contain any of the debuggee's data.
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path);
        let file = file.with_context(|| format!("cannot open the log {}", path.display()))?;
        let log = Some(Log::new(file));
        Ok(Self { log, own })
    }

    /// The transport options of a session's connection. The log names the session by the process id and by a number that is unique within
    /// this process. A later process of the same id may repeat the name in the file.
    pub fn options(&self, session: u64) -> Options {
        match &self.log {
            None => Options::new(),
            Some(log) => log.options(format!("{}-{session}", std::process::id()), self.own),
        }
    }
}
