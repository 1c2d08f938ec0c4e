//! Which threads there are, what they are called, and which of them commands are for.

use super::{Client, judged};
use crate::documents::{self, Thread};
use crate::error::{Error, Result, Support};
use crate::features::Feature;
use crate::hex;
use crate::thread_id::ThreadId;

/// The most threads of a list.
const MAX_THREADS: usize = 100_000;
/// The largest document of threads, in bytes.
const MAX_DOCUMENT: usize = 8 << 20;

impl Client {
    /// The thread that the stub is at (`qC`). `None` if it doesn't tell it.
    ///
    /// # Errors
    ///
    /// Those of [`Client::query`], and [`Error::Unexpected`].
    pub fn current_thread(&mut self) -> Result<Option<ThreadId>> {
        let Some(answer) = self.query(b"qC")? else {
            return Ok(None);
        };
        // Stubs without threads answer `QC0`.
        match answer.strip_prefix(b"QC").and_then(ThreadId::parse) {
            Some(thread) if thread != ThreadId::ANY => Ok(Some(thread)),
            Some(_) => Ok(None),
            None => Err(Error::unexpected(b"qC", &answer)),
        }
    }

    /// All threads: with names and cores (`qXfer:threads:read`), or else their ids (`qfThreadInfo`, `qsThreadInfo`). `None` if the stub has neither. At
    /// most 100,000 threads and 8 MiB are read.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`], [`Error::Document`], [`Error::Unexpected`]; else those of [`Client::query`].
    pub fn threads(&mut self) -> Result<Option<Vec<Thread>>> {
        if self.has(Feature::ReadThreads)
            && let Some(document) = self.transfer("threads", "", MAX_DOCUMENT)?
        {
            return documents::threads(&document).map(Some);
        }
        let whole = self.whole_deadline();
        let mut threads = Vec::new();
        let mut asked: &[u8] = b"qfThreadInfo";
        loop {
            let deadline = self.next_deadline(whole);
            let Some(answer) = self.query_until(asked, deadline)? else {
                return Ok((!threads.is_empty()).then_some(threads));
            };
            match answer.split_first() {
                Some((b'm', ids)) => add_ids(asked, ids, &mut threads)?,
                Some((b'l', [])) => return Ok(Some(threads)),
                _ => return Err(Error::unexpected(asked, &answer)),
            }
            asked = b"qsThreadInfo";
        }
    }

    /// What the stub says of a thread, such as its name (`qThreadExtraInfo`). `None` if it says nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Client::query`], and [`Error::Unexpected`].
    pub fn thread_details(&mut self, thread: ThreadId) -> Result<Option<String>> {
        let asked = format!("qThreadExtraInfo,{thread}");
        let Some(answer) = self.query(asked.as_bytes())? else {
            return Ok(None);
        };
        let text =
            hex::decode(&answer).ok_or_else(|| Error::unexpected(asked.as_bytes(), &answer))?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Whether a thread is alive (`T`). A stub that doesn't know the packet has the thread it started with, which is.
    ///
    /// # Errors
    ///
    /// Those of [`Client::query`], and [`Error::Unexpected`].
    pub fn is_alive(&mut self, thread: ThreadId) -> Result<bool> {
        let asked = format!("T{thread}");
        let deadline = self.deadline();
        let answer = self.asked(asked.as_bytes(), deadline)?;
        match judged(asked.as_bytes(), answer) {
            Ok(None) => Ok(true),
            Ok(Some(answer)) if answer == b"OK" => Ok(true),
            Ok(Some(answer)) => Err(Error::unexpected(asked.as_bytes(), &answer)),
            Err(Error::Stub { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Chooses the thread whose registers and memory later commands are about (`Hg`). Sends nothing if it is chosen already.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`]: a thread that isn't there is [`Error::Stub`].
    pub fn choose_thread(&mut self, thread: ThreadId) -> Result<Support> {
        if self.general_thread == Some(thread) {
            return Ok(Support::Done);
        }
        self.general_thread = None;
        let support = self.command(format!("Hg{thread}").as_bytes())?;
        if support == Support::Done {
            self.general_thread = Some(thread);
        }
        Ok(support)
    }

    /// Chooses the threads that `c` and `s` are for (`Hc`). [`Client::resume`] does that where it is needed.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn choose_running_thread(&mut self, threads: ThreadId) -> Result<Support> {
        if self.running_thread == Some(threads) {
            return Ok(Support::Done);
        }
        self.running_thread = None;
        let support = self.command(format!("Hc{threads}").as_bytes())?;
        if support == Support::Done {
            self.running_thread = Some(threads);
        }
        Ok(support)
    }
}

fn add_ids(asked: &[u8], ids: &[u8], threads: &mut Vec<Thread>) -> Result<()> {
    for id in ids.split(|byte| *byte == b',') {
        let id = ThreadId::parse(id).ok_or_else(|| Error::unexpected(asked, ids))?;
        if threads.len() == MAX_THREADS {
            return Err(Error::wrong(
                asked,
                format!("more than {MAX_THREADS} threads"),
            ));
        }
        threads.push(Thread {
            id,
            core: None,
            name: None,
            details: None,
            handle: None,
        });
    }
    Ok(())
}
