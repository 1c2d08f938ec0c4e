//! A client of a session's host.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use dapple_dap::transport::{Connection, Incoming};

use super::folder;
use super::wire::{Done, Reply, Request, Status};

/// How long a host may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to a host.
pub struct Client {
    connection: Connection,
}

impl Client {
    /// Connects to the session of that name. `None`: there is none.
    ///
    /// # Errors
    /// The name can't be one, or the socket is another's.
    pub fn of(folder: &Path, name: &str) -> anyhow::Result<Option<Client>> {
        let socket = folder::socket(folder, name)?;
        let Ok(stream) = UnixStream::connect(&socket) else {
            return Ok(None);
        };
        let connection = Connection::unix(stream)
            .with_context(|| format!("the session `{name}` can't be reached"))?;
        Ok(Some(Client { connection }))
    }

    /// Asks, and calls `tell` with each reply but the last, which is returned.
    ///
    /// # Errors
    /// The host is gone, or the reply isn't understood.
    pub fn ask(&self, request: &Request, mut tell: impl FnMut(Reply)) -> anyhow::Result<Done> {
        self.send(request)?;
        loop {
            match self.reply(None)? {
                Reply::Done(done) => return Ok(done),
                reply => tell(reply),
            }
        }
    }

    /// Asks how the session is.
    ///
    /// # Errors
    /// The host is gone, or hangs.
    pub fn status(&self) -> anyhow::Result<Status> {
        self.send(&Request::Status)?;
        match self.reply(Some(PATIENCE))? {
            Reply::Status(status) => Ok(status),
            other => bail!("the session answers with {other:?}"),
        }
    }

    fn send(&self, request: &Request) -> anyhow::Result<()> {
        let text = serde_json::to_string(request)?;
        let sent = self.connection.outgoing.send_text(&text);
        sent.context("the session is over")
    }

    fn reply(&self, within: Option<Duration>) -> anyhow::Result<Reply> {
        let incoming = match within {
            Some(time) => { self.connection.incoming.recv_timeout(time) }.ok(),
            None => self.connection.incoming.recv().ok(),
        };
        match incoming {
            Some(Incoming::Message(message)) => serde_json::from_str(message.text())
                .context("the session was started by another version of dapple"),
            Some(Incoming::Malformed(error)) => {
                Err(error).context("the session's answer can't be read")
            }
            Some(_) => bail!("the session has ended"),
            None => bail!("the session doesn't answer"),
        }
    }
}

/// All sessions that answer, with their names and how they are. What is left of others is removed.
pub fn all(folder: &Path) -> Vec<(String, Status)> {
    let mut found = Vec::new();
    for name in folder::names(folder) {
        match Client::of(folder, &name) {
            Ok(Some(client)) => found.extend(client.status().ok().map(|status| (name, status))),
            Ok(None) => {
                // Its host was killed. One that has just begun to listen would be found.
                let _ = folder::socket(folder, &name).map(std::fs::remove_file);
            }
            Err(_) => {}
        }
    }
    found
}
