//! Decodes a request's arguments for its handler, and encodes the handler's result as the response.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::value::RawValue;

use super::conventions::ClientConventions;
use super::failure::Failure;
use super::later::Later;
use super::outbox::Outbox;
#[cfg(feature = "tokio")]
use super::tasks::Tasks;
use crate::cancel::CancelToken;
use crate::message::{self, Raw, Request};
use crate::types::InitializeRequestArguments;

/// What a handler gets beside the session's state and the request's arguments: facts about the request and the client, and the outbox.
pub struct Context {
    pub(super) client: Arc<InitializeRequestArguments>,
    pub(super) conventions: ClientConventions,
    pub(super) outbox: Outbox,
    pub(super) cancel: CancelToken,
    pub(super) request_seq: i64,
    pub(super) after: Vec<Box<dyn FnOnce() + Send>>,
    /// Where the futures of asynchronous handlers run; `None` in sessions that have no such handlers.
    #[cfg(feature = "tokio")]
    pub(crate) tasks: Option<Arc<Tasks>>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("request_seq", &self.request_seq)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// The arguments of the client's `initialize`.
    pub fn client(&self) -> &InitializeRequestArguments {
        &self.client
    }

    /// How the client counts lines and columns and names files.
    pub fn conventions(&self) -> &ClientConventions {
        &self.conventions
    }

    /// Where to send events and reverse requests. They leave when the handler has returned; if it answers by returning, its response leaves
    /// first. Progress events leave at once. For other threads, clone the outbox.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// The request's token, which says whether the client has cancelled the request.
    pub fn cancelled(&self) -> &CancelToken {
        &self.cancel
    }

    /// The request's number.
    pub fn request_seq(&self) -> i64 {
        self.request_seq
    }

    /// Calls `run` after the response to this request and the events of its handler were sent. If the response is deferred and another
    /// thread sends it, that thread calls `run`.
    pub fn after_response(&mut self, run: impl FnOnce() + Send + 'static) {
        self.after.push(Box::new(run));
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn client_arc(&self) -> Arc<InitializeRequestArguments> {
        self.client.clone()
    }
}

/// Answers one request, once: now or later, from any thread. Dropping it without an answer answers with an error.
#[must_use = "dropping a responder answers the request with an error"]
pub struct Responder<R: Request> {
    outbox: Outbox,
    request_seq: i64,
    cancel: CancelToken,
    answered: bool,
    /// The request's span, entered on the thread that answers.
    span: tracing::Span,
    request: PhantomData<fn() -> R>,
}

impl<R: Request> std::fmt::Debug for Responder<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Responder")
            .field("command", &R::COMMAND)
            .field("request_seq", &self.request_seq)
            .finish()
    }
}

impl<R: Request> Responder<R> {
    fn new(outbox: Outbox, request_seq: i64, cancel: CancelToken) -> Self {
        Self {
            outbox,
            request_seq,
            cancel,
            answered: false,
            span: tracing::Span::current(),
            request: PhantomData,
        }
    }

    /// Answers with a result.
    pub fn respond(self, response: R::Response) {
        self.finish(Ok(response));
    }

    /// Answers with an error. If the client cancelled the request, the error is [`Failure::cancelled`], whatever `failure` is.
    pub fn fail(self, failure: Failure) {
        self.finish(Err(failure));
    }

    /// Answers with a result or an error, as [`respond`](Self::respond) or [`fail`](Self::fail).
    pub fn finish(mut self, result: Result<R::Response, Failure>) {
        self.answered = true;
        let _entered = self.span.clone().entered();
        answer::<R>(&self.outbox, self.request_seq, &self.cancel, result);
    }

    /// The request's `tracing` span, for work on other threads.
    pub fn span(&self) -> &tracing::Span {
        &self.span
    }

    /// The request's token, which says whether the client has cancelled the request. A cancelled request has to be answered all the same.
    pub fn cancelled(&self) -> &CancelToken {
        &self.cancel
    }

    /// The request's number.
    pub fn request_seq(&self) -> i64 {
        self.request_seq
    }
}

impl<R: Request> Drop for Responder<R> {
    fn drop(&mut self) {
        if !self.answered {
            let _entered = self.span.clone().entered();
            let command = R::COMMAND;
            let failure = Failure::new(match std::thread::panicking() {
                true => format!("the handler of `{command}` panicked"),
                false => {
                    format!("the handler of `{command}` dropped the request without answering")
                }
            });
            answer::<R>(&self.outbox, self.request_seq, &self.cancel, Err(failure));
        }
    }
}

fn answer<R: Request>(
    outbox: &Outbox,
    request_seq: i64,
    cancel: &CancelToken,
    result: Result<R::Response, Failure>,
) {
    let result = match result {
        Ok(response) => message::encode(&response).map_err(|error| {
            Failure::new(format!("the result cannot be written as JSON: {error}"))
        }),
        Err(_) if cancel.is_cancelled() => Err(Failure::cancelled()),
        Err(failure) => Err(failure),
    };
    outbox.respond(request_seq, R::COMMAND, result);
}

/// A handler for one command, its types erased. It answers the request, or gives the adapter's handler a [`Responder`] that answers later.
pub(crate) type Handler<S> =
    Box<dyn Fn(&mut S, Option<&RawValue>, &mut Context, &Later<S>) + Send + Sync>;

/// A handler that answers by returning.
pub(super) fn immediate<S, R: Request>(
    handler: impl Fn(&mut S, R::Arguments, &mut Context) -> Result<R::Response, Failure>
    + Send
    + Sync
    + 'static,
) -> Handler<S> {
    Box::new(move |state, arguments, context, _| {
        let result = decode::<R>(arguments).and_then(|arguments| {
            catch_unwind(AssertUnwindSafe(|| handler(state, arguments, context)))
                .unwrap_or_else(|panic| Err(panicked(R::COMMAND, &*panic)))
        });
        answer::<R>(
            &context.outbox,
            context.request_seq,
            &context.cancel,
            result,
        );
    })
}

/// A handler that answers through a [`Responder`].
pub(crate) fn deferred<S, R: Request>(
    handler: impl Fn(&mut S, R::Arguments, Responder<R>, &mut Context, &Later<S>)
    + Send
    + Sync
    + 'static,
) -> Handler<S> {
    Box::new(move |state, arguments, context, later| {
        let responder = Responder::new(
            context.outbox.clone(),
            context.request_seq,
            context.cancel.clone(),
        );
        match decode::<R>(arguments) {
            Ok(arguments) => {
                let run = || handler(state, arguments, responder, context, later);
                if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
                    // Dropping the responder has answered, unless the handler had passed it on.
                    let failure = panicked(R::COMMAND, &*panic);
                    tracing::error!("{failure}");
                }
            }
            Err(failure) => responder.fail(failure),
        }
    })
}

fn decode<R: Request>(arguments: Option<&RawValue>) -> Result<R::Arguments, Failure> {
    message::decode_or_default(arguments).map_err(|error| bad_arguments(R::COMMAND, &error))
}

/// The failure for arguments of the wrong shape: which field of which request, and what was expected.
pub(super) fn bad_arguments(command: &str, error: &message::DecodeError) -> Failure {
    Failure::new(format!("bad arguments for `{command}`: {error}"))
}

/// The failure of a request whose handler panicked. The session goes on.
pub(crate) fn panicked(command: &str, panic: &(dyn std::any::Any + Send)) -> Failure {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    let why = text.map_or_else(String::new, |text| format!(": {text}"));
    Failure::new(format!("the handler of `{command}` panicked{why}"))
}

/// The `body` of a response that has none.
pub(super) const NO_BODY: Option<Raw> = None;
