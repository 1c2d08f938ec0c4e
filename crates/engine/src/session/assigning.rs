//! Assigning values to variables, registers and memory.

use super::Session;
use crate::Error;
use crate::owner::Owner;
pub use crate::owner::assigning::{Changed, Target};
use dapple_inspect::calls::CallOptions;
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::{NamedValue, Rendered};

/// A value, as it is shown, and what was changed to get it.
type Valued = (Result<(NamedValue, Rendered), Error>, Changed);

/// Evaluates a text in a live process, which may run for that.
type InLife = fn(&mut Owner, &str, Option<FrameId>, &CallOptions) -> Valued;

/// Evaluates a text in a core file.
type AfterDeath =
    fn(&mut dyn Inspect, &str, Option<FrameId>) -> Result<(NamedValue, Rendered), Error>;

impl Session {
    /// Assigns the value of the expression `text` to `target`. Both are looked up in `frame`; without one, in the innermost frame of the
    /// thread that stopped. If the assignment fails, only functions that the expression calls can have changed something; so the changes
    /// are returned in any case.
    ///
    /// # Errors
    /// [`Error::Expression`] if the value doesn't fit the target, or the target has no location, or a read-only one;
    /// [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn assign(
        &self,
        target: Target,
        text: &str,
        frame: Option<FrameId>,
        options: &CallOptions,
    ) -> (Result<(), Error>, Changed) {
        let (text, options) = (text.to_owned(), options.clone());
        told(self.ask(move |owner| owner.assign(&target, &text, frame, &options)))
    }

    /// As [`Session::evaluate`], for an expression that may call functions of the program, `f(1, 2)`. They run on the frame's thread,
    /// which afterwards is where it was, with all its registers; what they write to memory stays. Breakpoints in them are passed over.
    /// The changes are returned whether there is a value or not.
    ///
    /// # Errors
    /// As [`Session::evaluate`]; [`Error::Expression`] also if a call doesn't return, because it runs into a signal, throws or jumps
    /// out, or takes too long. Then the call is abandoned.
    pub fn evaluate_calling(
        &self,
        text: &str,
        frame: Option<FrameId>,
        options: &CallOptions,
    ) -> Valued {
        self.valued(
            (text, frame, options),
            Owner::evaluate_calling,
            |threads, text, frame| threads.evaluate_post_mortem(text, frame),
        )
    }

    /// As [`Session::evaluate_calling`]; an assignment (`x = 3`, `x += f(1)`) has the value of its target afterwards.
    ///
    /// # Errors
    /// As [`Session::evaluate_calling`] and [`Session::assign`].
    pub fn execute(&self, text: &str, frame: Option<FrameId>, options: &CallOptions) -> Valued {
        self.valued(
            (text, frame, options),
            Owner::execute,
            |threads, text, frame| threads.execute_post_mortem(text, frame),
        )
    }

    /// Sets whether no function of the program is called, whatever asks for it: an expression, an assignment, a breakpoint's condition or
    /// message. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn forbid_calls(&self, forbidden: bool) -> Result<(), Error> {
        self.ask(move |owner| owner.forbid_calls(forbidden))
    }

    fn valued(
        &self,
        (text, frame, options): (&str, Option<FrameId>, &CallOptions),
        in_life: InLife,
        after_death: AfterDeath,
    ) -> Valued {
        let text = text.to_owned();
        if self.is_post_mortem() {
            let found = self.look(move |threads| after_death(threads, &text, frame));
            return (found.and_then(|found| found), Changed::default());
        }
        let options = options.clone();
        told(self.ask(move |owner| in_life(owner, &text, frame, &options)))
    }
}

/// Flattens an answer: the outer error, for a session that has ended, has no changes.
fn told<T>(answer: Result<(Result<T, Error>, Changed), Error>) -> (Result<T, Error>, Changed) {
    match answer {
        Ok((found, changed)) => (found, changed),
        Err(error) => (Err(error), Changed::default()),
    }
}
