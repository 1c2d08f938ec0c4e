//! Giving variables, registers and what lies in memory other values.

use super::Session;
use crate::Error;
use crate::owner::Owner;
pub use crate::owner::assigning::{Changed, Target};
use dapple_inspect::calls::CallOptions;
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::{NamedValue, Rendered};

/// A value, as it is shown, and what has changed for it.
type Valued = (Result<(NamedValue, Rendered), Error>, Changed);

/// Has a text evaluated by who may run the program.
type InLife = fn(&mut Owner, &str, Option<FrameId>, &CallOptions) -> Valued;

/// Has it evaluated where there is only a core file.
type AfterDeath =
    fn(&mut dyn Inspect, &str, Option<FrameId>) -> Result<(NamedValue, Rendered), Error>;

impl Session {
    /// Gives `target` the value of the expression `text`, both in a frame; without one, in the innermost of the thread
    /// that stopped. Whatever can't be done leaves all as it was, but for what functions do that the expression calls; so what has
    /// changed is told either way.
    ///
    /// # Errors
    /// [`Error::Expression`] where the value is none for the target, or the target has no place, or one that is read-only;
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

    /// As [`Session::evaluate`], of an expression that may call functions of the program, `f(1, 2)`. They run on the frame's thread,
    /// which afterwards is where it was, with all its registers; what they write to memory stays. Breakpoints in them are passed over.
    /// What has changed is told whether there is a value or not.
    ///
    /// # Errors
    /// As [`Session::evaluate`]; [`Error::Expression`] also where a call doesn't return: it runs into a signal, throws or jumps out,
    /// takes too long. Then it was given up.
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

    /// As [`Session::evaluate_calling`], but of an assignment (`x = 3`, `x += f(1)`) the value of its target afterwards.
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

/// An answer where there may be nobody to give one.
fn told<T>(answer: Result<(Result<T, Error>, Changed), Error>) -> (Result<T, Error>, Changed) {
    match answer {
        Ok((found, changed)) => (found, changed),
        Err(error) => (Err(error), Changed::default()),
    }
}
