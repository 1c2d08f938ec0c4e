//! Steps into a future that a line passes to a function: `spawn(worker(3))`, `spawn(async move { … })`, also `worker(3).await`. The call that
//! makes such a future runs none of its body, so the target to step into is the body.
//!
//! The step runs to the function that the future is passed to, and reads it there, with what it has captured. From then on, the future is
//! moved, into the memory of a task or elsewhere. So the step recognises it where its body begins, on whichever thread
//! ([`dapple_inspect::values::coroutines::made`]). This works with every executor. If the future is dropped before it begins, that isn't
//! noticed, and the step goes on until the program stops for another reason.

use super::options::{Callee, StepTarget};
use super::{Action, Context, Step};
use crate::Address;
use dapple_inspect::modules::LoadedModule;
use dapple_inspect::values::coroutines::made::{future_parameters, maker_of};
use dapple_symbols::names::readable_name;

impl Step {
    /// The number of the parameter by which the selected future is passed to the function that the thread has entered.
    pub fn followed_parameter(&self) -> Option<usize> {
        match self.target {
            Some(Callee::Future { parameter, .. }) if self.chosen => Some(parameter),
            _ => None,
        }
    }

    /// The thread has entered the function of the selected call, behind the prologue.
    pub(super) fn in_selected(&mut self, cx: &Context<'_>) -> Action {
        match self.followed_parameter() {
            Some(_) => Action::Follow,
            None => self.finish(cx),
        }
    }

    /// A thread is about to execute the body of the selected future.
    pub fn begins_future(&mut self, cx: &Context<'_>) -> Action {
        self.target = None;
        self.chosen = false;
        self.activation = None;
        self.awaiter = None;
        self.gates.clear();
        self.calls_ahead.clear();
        self.settle(cx);
        self.open(0, cx)
    }
}

/// A call of the line, or the body of a future that is passed to it.
#[derive(Debug)]
pub(super) struct Found {
    /// Where the call is.
    pub place: Address,
    pub target: StepTarget,
    /// The name of the function that is called, or of the future's body.
    pub function: String,
}

/// The bodies of the futures that a call at `place` passes to the function at `entry`.
pub(super) fn passed(
    place: Address,
    entry: Address,
    call: &StepTarget,
    module: &LoadedModule,
) -> Vec<Found> {
    let parameters = future_parameters(module, module.to_file(entry)).into_iter();
    let found = parameters.map(|parameter| Found {
        place,
        target: StepTarget {
            into: Callee::Future {
                from: place,
                parameter: parameter.index,
            },
            name: readable_name(&parameter.body.name),
            position: call.position.clone(),
            end: None,
        },
        function: parameter.body.name.clone(),
    });
    found.collect()
}

/// Puts futures in the place of the calls that make them, and leaves out what `await` calls on its own, for which the future stands, too.
pub(super) fn merge(mut found: Vec<Found>) -> Vec<StepTarget> {
    let is_future = |it: &Found| matches!(it.target.into, Callee::Future { .. });
    let mut at = 0;
    while at < found.len() {
        if !is_future(&found[at]) {
            at += 1;
            continue;
        }
        let body = found[at].function.clone();
        let makes = |it: &Found| {
            let without_arguments = it.function.split('<').next();
            let is_maker = |maker: &str| it.function == maker || without_arguments == Some(maker);
            !is_future(it) && maker_of(&body).is_some_and(is_maker)
        };
        match found[..at].iter().position(makes) {
            Some(maker) => {
                let future = found.remove(at);
                let made = &mut found[maker];
                made.target.into = future.target.into;
                made.target.name = future.target.name;
                made.function = future.function;
            }
            None => at += 1,
        }
    }
    let bodies: Vec<String> = { found.iter() }
        .filter(|it| is_future(it))
        .map(|it| it.function.clone())
        .collect();
    found.retain(|it| {
        let is_sugar = it.function.ends_with("IntoFuture>::into_future")
            || it.function.ends_with("Pin<Ptr>::new_unchecked")
            || it.target.name == "memcpy";
        is_future(it) || !(bodies.contains(&it.function) || (is_sugar && !bodies.is_empty()))
    });
    found.into_iter().map(|it| it.target).collect()
}
