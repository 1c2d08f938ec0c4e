//! What is changed in the past, or called there, is in a copy of that moment: the past itself stays as it was. The copy is thrown away before
//! the program moves in any direction.
//!
//! In the present of a recorded process, expressions that only read a value (watches) call their functions in such a copy, too: a call in the
//! present would make what was before unreachable.

use super::Owner;
use crate::event::Stream;
use crate::{Error, Event};
use dapple_inspect::calls::CallOptions;
use dapple_inspect::inspect::Inspect;
use dapple_target::written::UnderWay;
use std::sync::Arc;

impl Owner {
    /// Before something is changed or called: in the past, shows a copy of this moment for that.
    pub(super) fn divert(&mut self) -> Result<(), Error> {
        if !self.is_in_past() || self.is_diverted() {
            return Ok(());
        }
        let done = self.show_for_changes();
        done.map_err(|why| Error::Refused(format!("nothing can be changed here: {why}")))?;
        self.tell(Event::PastDiverted);
        Ok(())
    }

    /// Before a function is called.
    pub(super) fn divert_for_call(&mut self, options: &CallOptions) -> Result<(), Error> {
        let is_past = self.is_in_past();
        if !options.in_copy || is_past || self.no_history().is_some() {
            return self.will_change();
        }
        if self.is_diverted() {
            return Ok(());
        }
        match self.show_for_changes() {
            Ok(()) => Ok(()),
            Err(reason) => {
                tracing::debug!(%reason, "a function is called in the present");
                self.will_change()
            }
        }
    }

    /// Shows a copy of this moment, in which something may be changed.
    fn show_for_changes(&mut self) -> Result<(), String> {
        let (index, _) = self.keep_here()?;
        let left = self.leave_process().ok_or("the process has ended")?;
        if let Err(why) = self.show_copy(index) {
            self.return_to(left);
            return Err(why);
        }
        if let Some(live) = self.history_live() {
            live.divert();
        }
        self.show_threads_as(&left.table);
        let temporaries = self.take_kept();
        self.set_diverted((left, temporaries));
        self.renew_stacks();
        Ok(())
    }

    /// Before the program moves: throws away what was changed in the past.
    pub(super) fn end_diversion(&mut self) {
        if let Some((left, temporaries)) = self.take_diverted() {
            self.return_to(left);
            self.set_kept(temporaries);
            self.renew_stacks();
        }
    }

    /// Before something is changed in the present: shows it again.
    pub(super) fn end_present_diversion(&mut self) {
        if !self.is_in_past() {
            self.end_diversion();
        }
    }

    /// Behind a function call: reports what it has written, and what was not done for it.
    pub(super) fn tell_tried(&mut self) {
        let tried = { self.history_live() }.filter(|_| self.is_diverted());
        let tried = tried.map(|live| live.take_tried());
        let Some(tried) = tried else {
            return;
        };
        for (stream, bytes) in [
            (Stream::Stdout, tried.output),
            (Stream::Stderr, tried.errors),
        ] {
            if !bytes.is_empty() {
                let bytes = Arc::<UnderWay>::default().send(bytes);
                self.tell(Event::Output { stream, bytes });
            }
        }
        if !tried.refused.is_empty() {
            let refused = tried.refused.into_iter().collect();
            self.tell(Event::SystemCallsRefused(refused));
        }
    }
}
