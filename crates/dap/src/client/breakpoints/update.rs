//! The requests that breakpoints are sent by, and their answers.

use super::{BreakpointId, Breakpoints, Change, Entry, Problem, Set, Wanted};
use crate::client::{Client, ClientError};
use crate::types::{
    Breakpoint, Capabilities, SetBreakpointsArguments, SetBreakpointsRequest,
    SetDataBreakpointsArguments, SetDataBreakpointsRequest, SetFunctionBreakpointsArguments,
    SetFunctionBreakpointsRequest, SetInstructionBreakpointsArguments,
    SetInstructionBreakpointsRequest,
};

/// What a breakpoint says whose answer has not the protocol's shape.
const UNREADABLE: &str = "the adapter's answer cannot be read";

/// The arguments of a request that sets breakpoints.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Arguments {
    /// Of `setBreakpoints`.
    Source(Box<SetBreakpointsArguments>),
    /// Of `setFunctionBreakpoints`.
    Function(SetFunctionBreakpointsArguments),
    /// Of `setDataBreakpoints`.
    Data(SetDataBreakpointsArguments),
    /// Of `setInstructionBreakpoints`.
    Instruction(SetInstructionBreakpointsArguments),
}

/// A request to send, whose answer goes to [`Breakpoints::answered`].
#[derive(Debug, Clone)]
#[must_use = "it is to be sent, and its answer taken in"]
pub struct Update {
    arguments: Arguments,
    set: Set,
    /// The breakpoints in it, in their order, with the lines that are asked for.
    asked: Vec<(BreakpointId, Option<i64>)>,
    change: u64,
    session: u64,
}

impl Update {
    /// The request's arguments.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// What is set.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Sends the request and waits for its answer. For a breakpoint whose part of the answer cannot be read, there is an unverified one with a
    /// message that says so.
    ///
    /// # Errors
    /// The request failed.
    pub fn send(&self, client: &Client) -> Result<Vec<Breakpoint>, ClientError> {
        let arguments = self.arguments.clone();
        let (answers, unreadable) = match arguments {
            Arguments::Source(it) => {
                let (answer, unreadable) = client.request_list::<SetBreakpointsRequest>(*it)?;
                (answer.breakpoints, unreadable)
            }
            Arguments::Function(it) => {
                let (answer, unreadable) =
                    client.request_list::<SetFunctionBreakpointsRequest>(it)?;
                (answer.breakpoints, unreadable)
            }
            Arguments::Data(it) => {
                let (answer, unreadable) = client.request_list::<SetDataBreakpointsRequest>(it)?;
                (answer.breakpoints, unreadable)
            }
            Arguments::Instruction(it) => {
                let (answer, unreadable) =
                    client.request_list::<SetInstructionBreakpointsRequest>(it)?;
                (answer.breakpoints, unreadable)
            }
        };
        Ok(completed(answers, unreadable))
    }

    /// As [`send`](Self::send), with an asynchronous client.
    ///
    /// # Errors
    /// The request failed.
    #[cfg(feature = "tokio")]
    pub async fn send_async(
        &self,
        client: &crate::async_client::AsyncClient,
    ) -> Result<Vec<Breakpoint>, ClientError> {
        let arguments = self.arguments.clone();
        let (answers, unreadable) = match arguments {
            Arguments::Source(it) => {
                let answer = client.request_list::<SetBreakpointsRequest>(*it);
                let (answer, unreadable) = answer.await?;
                (answer.breakpoints, unreadable)
            }
            Arguments::Function(it) => {
                let answer = client.request_list::<SetFunctionBreakpointsRequest>(it);
                let (answer, unreadable) = answer.await?;
                (answer.breakpoints, unreadable)
            }
            Arguments::Data(it) => {
                let answer = client.request_list::<SetDataBreakpointsRequest>(it);
                let (answer, unreadable) = answer.await?;
                (answer.breakpoints, unreadable)
            }
            Arguments::Instruction(it) => {
                let answer = client.request_list::<SetInstructionBreakpointsRequest>(it);
                let (answer, unreadable) = answer.await?;
                (answer.breakpoints, unreadable)
            }
        };
        Ok(completed(answers, unreadable))
    }

    /// The breakpoints with their answers. They go by order; if their numbers differ, by the line in a source, as far as they can.
    fn matched(&self, answers: Vec<Breakpoint>) -> Vec<(BreakpointId, Option<Breakpoint>)> {
        let ids = self.asked.iter();
        if answers.len() == self.asked.len() || !matches!(self.set, Set::Source(_)) {
            let answers = answers.into_iter().map(Some).chain(std::iter::repeat(None));
            return ids.map(|&(id, _)| id).zip(answers).collect();
        }
        let mut answers: Vec<Option<Breakpoint>> = answers.into_iter().map(Some).collect();
        ids.map(|&(id, line)| {
            let mut answers = answers.iter_mut();
            let of_line = answers.find(|answer| {
                let answered = answer.as_ref().and_then(|answer| answer.line);
                answered.is_some() && answered == line
            });
            (id, of_line.and_then(Option::take))
        })
        .collect()
    }
}

/// An answer with stand-ins for the items at the indices `unreadable`, in ascending order, so that the others keep their places.
fn completed(mut answers: Vec<Breakpoint>, unreadable: Vec<usize>) -> Vec<Breakpoint> {
    let mut readable = std::mem::take(&mut answers).into_iter();
    for index in unreadable {
        answers.extend(readable.by_ref().take(index - answers.len()));
        answers.push(Breakpoint::new(false).with_message(UNREADABLE));
    }
    answers.extend(readable);
    answers
}

impl Breakpoints {
    /// The requests to send: one for each set with a change that was not answered yet. Sets that the adapter does not support are left out;
    /// they stay unsent.
    pub fn updates(&self, capabilities: &Capabilities) -> Vec<Update> {
        let supported = |set: &Set| match set {
            Set::Source(_) => true,
            Set::Function => capabilities.supports_function_breakpoints == Some(true),
            Set::Data => capabilities.supports_data_breakpoints == Some(true),
            Set::Instruction => capabilities.supports_instruction_breakpoints == Some(true),
        };
        let unsent = self.unsent.iter().filter(|(set, _)| supported(set));
        unsent
            .map(|(set, change)| self.update(set, *change))
            .collect()
    }

    fn update(&self, set: &Set, change: u64) -> Update {
        let entries: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|entry| entry.is_in(set))
            .collect();
        let wanted = || entries.iter().filter_map(|entry| entry.wanted.as_ref());
        let arguments = match set {
            Set::Source(source) => {
                let breakpoints = wanted().filter_map(|wanted| match wanted {
                    Wanted::Source(_, breakpoint) => Some(breakpoint.clone()),
                    _ => None,
                });
                let arguments = SetBreakpointsArguments::new((**source).clone());
                Arguments::Source(Box::new(arguments.with_breakpoints(breakpoints.collect())))
            }
            Set::Function => {
                let functions = wanted().filter_map(|wanted| match wanted {
                    Wanted::Function(breakpoint) => Some(breakpoint.clone()),
                    _ => None,
                });
                Arguments::Function(SetFunctionBreakpointsArguments::new(functions.collect()))
            }
            Set::Data => {
                let data = wanted().filter_map(|wanted| match wanted {
                    Wanted::Data { breakpoint, .. } => Some(breakpoint.clone()),
                    _ => None,
                });
                Arguments::Data(SetDataBreakpointsArguments::new(data.collect()))
            }
            Set::Instruction => {
                let instructions = wanted().filter_map(|wanted| match wanted {
                    Wanted::Instruction(breakpoint) => Some(breakpoint.clone()),
                    _ => None,
                });
                let arguments = SetInstructionBreakpointsArguments::new(instructions.collect());
                Arguments::Instruction(arguments)
            }
        };
        let line = |entry: &Entry| entry.wanted.as_ref().and_then(Wanted::line_number);
        Update {
            arguments,
            set: set.clone(),
            asked: entries
                .iter()
                .map(|entry| (entry.id, line(entry)))
                .collect(),
            change,
            session: self.session,
        }
    }

    /// Takes the answer to a request as [`Update::send`] returns it: a breakpoint for each that was sent. What was changed since the request was
    /// made stays unsent, and a set of which the adapter has removed a breakpoint meanwhile becomes unsent again. An answer from before a
    /// [restart](Self::restarted) is ignored.
    pub fn answered(&mut self, update: &Update, answers: Vec<Breakpoint>) -> Vec<Change> {
        if update.session != self.session {
            return Vec::new();
        }
        self.unsent
            .retain(|unsent| *unsent != (update.set.clone(), update.change));
        let is_here = |id| self.entries.iter().any(|entry| entry.id == id);
        let one_is_gone = update.asked.iter().any(|&(id, _)| !is_here(id));
        if one_is_gone && !self.unsent.iter().any(|(set, _)| *set == update.set) {
            // The adapter removed it, and has set it again by this request.
            self.resend(update.set.clone());
        }
        if answers.len() != update.asked.len() {
            self.note(Problem::WrongCount {
                set: Box::new(update.set.clone()),
                asked: update.asked.len(),
                answered: answers.len(),
            });
        }
        let mut changes = Vec::new();
        for (id, answer) in update.matched(answers) {
            // Another answer than to the set that it is in now.
            if self.get(id).is_none_or(|entry| !entry.is_in(&update.set)) {
                continue;
            }
            let adapter_id = answer.as_ref().and_then(|answer| answer.id);
            if self.tell(id, |_| answer) {
                changes.push(Change::Changed(id));
            }
            // The adapter has told it as its own before it has answered.
            let is_double = |entry: &&Entry| entry.id != id && entry.is_adapters;
            let same = adapter_id.into_iter();
            let same = same
                .flat_map(|id| self.with_adapter_id(id))
                .filter(is_double);
            let doubles: Vec<BreakpointId> = same.map(|entry| entry.id).collect();
            let taken = doubles.into_iter().filter_map(|double| self.take(double));
            changes.extend(taken.map(Box::new).map(Change::Removed));
        }
        changes
    }

    /// Sends what has changed, and takes the answers. A set that the adapter refuses stays unsent; the other ones are sent all the same.
    ///
    /// Give the `breakpoint` events that were received before to [`event`](Self::event) first. Later, they would replace what the answers say.
    ///
    /// # Errors
    /// The first request that failed. The entries have what the other ones have changed.
    pub fn send(&mut self, client: &Client) -> Result<Vec<Change>, ClientError> {
        let mut changes = Ok(Vec::new());
        for update in self.updates(&client.capabilities()) {
            let outcome = update.send(client);
            self.take_outcome(&update, outcome, &mut changes);
        }
        changes
    }

    /// As [`send`](Self::send), with an asynchronous client.
    ///
    /// # Errors
    /// The first request that failed. The entries have what the other ones have changed.
    #[cfg(feature = "tokio")]
    pub async fn send_async(
        &mut self,
        client: &crate::async_client::AsyncClient,
    ) -> Result<Vec<Change>, ClientError> {
        let mut changes = Ok(Vec::new());
        for update in self.updates(&client.capabilities()) {
            let outcome = update.send_async(client).await;
            self.take_outcome(&update, outcome, &mut changes);
        }
        changes
    }

    fn take_outcome(
        &mut self,
        update: &Update,
        outcome: Result<Vec<Breakpoint>, ClientError>,
        changes: &mut Result<Vec<Change>, ClientError>,
    ) {
        match outcome {
            Ok(answers) => {
                let new = self.answered(update, answers);
                if let Ok(changes) = changes {
                    changes.extend(new);
                }
            }
            Err(error) if changes.is_ok() => *changes = Err(error),
            Err(_) => {}
        }
    }
}
