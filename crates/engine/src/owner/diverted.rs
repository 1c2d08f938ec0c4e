//! What is changed in the past, or called there, is in a copy of that moment: the past itself stays as it was. The copy is thrown away before
//! the program moves in any direction.

use super::Owner;
use crate::event::Stream;
use crate::{Error, Event};
use dapple_inspect::inspect::Inspect;
use dapple_target::written::UnderWay;
use std::sync::Arc;

impl Owner {
    /// Before something is changed or called: in the past, shows a copy of this moment for that.
    pub(super) fn divert(&mut self) -> Result<(), Error> {
        if !self.is_in_past() || self.is_diverted() {
            return Ok(());
        }
        let refused = |why: String| Error::Refused(format!("nothing can be changed here: {why}"));
        let (index, _) = self.keep_here().map_err(refused)?;
        let left = self.leave_process().ok_or(Error::Ended)?;
        if let Err(why) = self.show_copy(index) {
            self.return_to(left);
            return Err(refused(why));
        }
        if let Some(live) = self.history_live() {
            live.divert();
        }
        self.show_threads_as(&left.table);
        self.set_diverted(left);
        self.renew_stacks();
        self.tell(Event::PastDiverted {
            refused: Vec::new(),
        });
        Ok(())
    }

    /// Before the program moves: throws away what was changed in the past. Returns whether there was something.
    pub(super) fn end_diversion(&mut self) -> bool {
        let Some(left) = self.take_diverted() else {
            return false;
        };
        self.return_to(left);
        self.renew_stacks();
        true
    }

    /// Behind a function call: reports what it has written, and what was not done for it.
    pub(super) fn tell_tried(&mut self) {
        let tried = self.history_live().map(|live| live.take_tried());
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
            self.tell(Event::PastDiverted { refused });
        }
    }
}
