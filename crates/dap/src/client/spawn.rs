//! An adapter as a child process.

use std::process::{Child, Command, Stdio};

use crate::transport::{Connection, Options};

/// A child that is ended with the client.
#[derive(Debug)]
pub(super) struct Spawned {
    child: Child,
}

impl Spawned {
    pub(super) fn start(
        command: &mut Command,
        options: Options,
    ) -> std::io::Result<(Self, Connection)> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => {
                Ok((Self { child }, options.streams(output, input, || {})))
            }
            _ => Err(std::io::Error::other(
                "the adapter was started without pipes",
            )),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, if it has not ended, and collects it.
    pub(super) fn end(mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
