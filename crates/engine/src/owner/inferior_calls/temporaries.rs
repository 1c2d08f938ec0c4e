//! Runs the destructors of (drops) the values that called Rust functions have returned: otherwise guards would keep their locks, and
//! reference counts would stay too high.
//!
//! Such a temporary is dropped at the end of the expression, as in a program. If it owns memory that is still shown, it is dropped when the
//! program goes on.

use crate::Error;
use crate::ThreadId;
use crate::owner::Owner;
use dapple_inspect::calls::{Arguments, Call, CallOptions, Image, Returned};
use dapple_inspect::eval::calls::Calls;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::Value;
use dapple_inspect::values::passing::{Class, Part, Passing};
use dapple_inspect::values::rust::glue;
use dapple_inspect::values::storing::Change;

/// How many temporaries are kept at most until the program goes on.
const MOST_KEPT: usize = 64;

impl Owner {
    /// Runs the destructors of an expression's temporaries. `shown`: the expression's value, if it is shown; temporaries that may own
    /// memory of it are kept for [`Owner::drop_kept`]. The error: a destructor can't be called, or has not returned.
    pub(in crate::owner) fn drop_temporaries(
        &mut self,
        thread: ThreadId,
        calls: &Calls,
        shown: Option<&Value>,
        options: &CallOptions,
    ) -> Result<(), Error> {
        let temporaries = calls.take_temporaries();
        if temporaries.is_empty() {
            return Ok(());
        }
        let is_computed = shown.is_none_or(|value| value.contents.is_computed());
        let mut dropped = Ok(());
        for value in temporaries {
            let type_ = self.reader().resolve(&value).map(|resolved| resolved.type_);
            let stays = type_.is_some_and(|type_| !glue::outlives_drop(&value.module, &type_));
            if stays && !is_computed && self.stop.kept_temporaries.len() < MOST_KEPT {
                self.stop.kept_temporaries.push((thread, value));
            } else {
                dropped = dropped.and(self.drop_value(thread, &value, options));
            }
        }
        dropped
    }

    /// Removes from the temporaries to be dropped those that an assignment moves into the program's memory, where the program then owns
    /// them. A temporary counts as moved if it and the assigned bytes have a word in common other than zero.
    pub(in crate::owner) fn move_temporaries(&self, calls: &Calls, changes: &[Change]) {
        let size = self.process().machine().address_size() as usize;
        let words = |bytes: &[u8]| -> Vec<Vec<u8>> {
            let words = bytes.chunks_exact(size);
            let used = words.filter(|word| word.iter().any(|byte| *byte != 0));
            used.map(<[u8]>::to_vec).collect()
        };
        let stored = changes.iter().flat_map(|change| match change {
            Change::Memory { bytes, .. } => words(bytes),
            Change::Register { .. } => Vec::new(),
        });
        let stored: Vec<Vec<u8>> = stored.collect();
        calls.retain_temporaries(|value| {
            let size = self.reader().size_of(value).unwrap_or(0);
            let bytes = self
                .reader()
                .bytes(&value.contents, size)
                .unwrap_or_default();
            !words(&bytes).iter().any(|word| stored.contains(word))
        });
    }

    /// The temporaries that were kept to be shown, which are no more.
    pub(in crate::owner) fn take_kept(&mut self) -> Vec<(ThreadId, Value)> {
        std::mem::take(&mut self.stop.kept_temporaries)
    }

    /// Keeps these temporaries again, in place of others.
    pub(in crate::owner) fn set_kept(&mut self, temporaries: Vec<(ThreadId, Value)>) {
        self.stop.kept_temporaries = temporaries;
    }

    /// Runs the destructors of the temporaries that were kept to be shown, or throws the copy away that has them. Call before the program goes
    /// on.
    pub(in crate::owner) fn drop_kept(&mut self) {
        self.end_diversion();
        self.set_last_step(None);
        let kept = self.take_kept();
        if !self.is_stopped() {
            return;
        }
        for (thread, value) in kept.into_iter().rev() {
            if self.is_live(thread) && !self.is_over() {
                // There is no request to which a destructor's error could be reported.
                let _ = self.drop_value(thread, &value, &CallOptions::default());
            }
        }
    }

    fn drop_value(
        &mut self,
        thread: ThreadId,
        value: &Value,
        options: &CallOptions,
    ) -> Result<(), Error> {
        let calls = glue::calls(&self.reader(), value);
        for drop in calls {
            let part = Part {
                offset: 0,
                size: 8,
                class: Class::Integer,
            };
            let passing = Passing::Parts {
                size: 8,
                parts: vec![part],
            };
            let object = Image::of(drop.object.0.to_le_bytes().to_vec());
            let mut arguments = Arguments::of(self.process().machine());
            let pushed = arguments.push(&object, &passing, 8, true);
            pushed.map_err(Error::Expression)?;
            let call = Call {
                name: drop.name,
                code: drop.code,
                arguments,
                result: Returned::Nothing,
                drops: false,
            };
            self.call(thread, &call, options)?;
        }
        Ok(())
    }
}
