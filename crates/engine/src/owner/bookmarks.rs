//! Bookmarks: moments of the history that are kept, so that the session can be shown them again at once.
//!
//! Each is a checkpoint that isn't thinned out.

use super::Owner;
use super::history::Bookmark;
use crate::breakpoints::site::Reason;
use crate::event::StopReason;
use crate::{Error, ThreadId};
use dapple_inspect::inspect::Inspect;

/// The most bookmarks that the user can have.
const MOST: usize = 64;
/// The most bookmarks that searches for writes have made. A new one takes the place of the oldest.
const MOST_OF_WRITES: usize = 64;

/// Where the session is in the history of a recorded program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    /// How many things have come from outside so far: results of system calls, signals, changes of threads, and others.
    pub position: usize,
    /// How many have come in all.
    pub length: usize,
    /// Whether the past is shown.
    pub is_past: bool,
    /// The bookmarks, the earliest moment first.
    pub bookmarks: Vec<Bookmark>,
}

/// A moment of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// The beginning of the recording.
    Beginning,
    /// A bookmark, by its number.
    Bookmark(u32),
    /// Where the program was when it was first run backwards.
    Present,
}

impl Owner {
    /// Where the session is in the history.
    pub(crate) fn when(&mut self) -> Result<When, Error> {
        self.require_stopped()?;
        self.require_history()?;
        let position = self.process().position().unwrap_or_default();
        Ok(When {
            position,
            length: self.journal_length(),
            is_past: self.is_in_past(),
            bookmarks: self.all_bookmarks(),
        })
    }

    /// Sets a bookmark at this moment. Returns its number.
    pub(crate) fn set_bookmark(&mut self, name: String) -> Result<u32, Error> {
        self.require_stopped()?;
        self.require_history()?;
        let named = self.all_bookmarks().into_iter();
        if named.filter(|bookmark| !bookmark.is_of_write).count() >= MOST {
            return Err(Error::Refused(format!(
                "there are {MOST} bookmarks already, which is the most; remove one"
            )));
        }
        if self.has_undelivered_signal() {
            return Err(Error::Refused(
                "no bookmark can be set here: a signal is about to be delivered".into(),
            ));
        }
        self.clean_for_stop();
        let set = self.keep_here();
        let (index, _) =
            set.map_err(|why| Error::Refused(format!("no bookmark can be set here: {why}")))?;
        Ok(self.mark(index, name, false))
    }

    /// Removes a bookmark.
    pub(crate) fn remove_bookmark(&mut self, number: u32) -> Result<(), Error> {
        let index = self.bookmarked(number)?;
        self.unmark(index);
        Ok(())
    }

    /// Keeps the moment of a write that a search has found. Returns the bookmark's number, and the index of the checkpoint if that is new.
    pub(super) fn bookmark_write(&mut self, name: &str) -> Option<(u32, Option<usize>)> {
        self.clean_for_stop();
        let (index, is_new) = match self.keep_here() {
            Ok(kept) => kept,
            Err(reason) => {
                tracing::debug!(%reason, "the moment of a write can't be kept");
                return None;
            }
        };
        let all = self.all_bookmarks().into_iter();
        let of_writes: Vec<u32> = all
            .filter(|bookmark| bookmark.is_of_write)
            .map(|bookmark| bookmark.number)
            .collect();
        if of_writes.len() >= MOST_OF_WRITES
            && let Some(oldest) = of_writes.into_iter().min()
            && let Ok(oldest) = self.bookmarked(oldest)
        {
            self.unmark(oldest);
        }
        let number = self.mark(index, name.to_owned(), true);
        Some((number, is_new.then_some(index)))
    }

    /// Shows another moment of the history.
    pub(crate) fn go_to_moment(&mut self, to: Destination) -> Result<(), Error> {
        self.require_stopped()?;
        self.require_history()?;
        let (index, reason) = match to {
            Destination::Present if self.replays_file() => {
                return Err(Error::Refused(
                    "a recording has no present; `continue` leads to its end".into(),
                ));
            }
            Destination::Present if !self.is_in_past() => {
                return Err(Error::Refused("this is the present".into()));
            }
            Destination::Present => (None, StopReason::Present),
            Destination::Beginning => (Some(0), StopReason::Beginning),
            Destination::Bookmark(number) => {
                let index = self.bookmarked(number)?;
                (Some(index), StopReason::Bookmark(number))
            }
        };
        let thread = self.current();
        self.drop_kept();
        self.end_step();
        match index {
            None => {
                self.leave_past();
                self.show_at(thread, reason);
            }
            Some(index) => self.show_checkpoint(index, thread, reason)?,
        }
        self.all_stopped();
        Ok(())
    }

    fn show_checkpoint(
        &mut self,
        index: usize,
        thread: ThreadId,
        reason: StopReason,
    ) -> Result<(), Error> {
        let moment = self.history_moment(index);
        let thread = moment.and_then(|moment| moment.thread()).unwrap_or(thread);
        let left = self.leave_process().ok_or(Error::Ended)?;
        let left = self.keep_present(left);
        self.remove_sites(Reason::Present);
        match self.show_copy(index) {
            Ok(()) => {
                self.end_travel();
                self.show_at(thread, reason);
                Ok(())
            }
            Err(why) => {
                self.go_back(left);
                Err(Error::Refused(why))
            }
        }
    }
}
