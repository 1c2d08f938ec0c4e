//! What the future of a handler gets, and the ways back from tasks to the session's state and to the client.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::cancel::CancelToken;
use crate::failure::Failure;
use crate::message::{Event, Request};
use crate::server::{ClientConventions, Context, Later, Outbox, RequestError, Session};
use crate::transport::either;
use crate::types::InitializeRequestArguments;

/// What an asynchronous handler gets beside the state and the request's arguments: facts about the request and the client, the
/// outbox, and a way back to the session's state. Clones are about the same request.
pub struct AsyncContext<S> {
    client: Arc<InitializeRequestArguments>,
    conventions: ClientConventions,
    outbox: Outbox,
    at_once: Outbox,
    later: Later<S>,
    cancel: CancelToken,
    request_seq: i64,
}

impl<S> Clone for AsyncContext<S> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            conventions: self.conventions,
            outbox: self.outbox.clone(),
            at_once: self.at_once.clone(),
            later: self.later.clone(),
            cancel: self.cancel.clone(),
            request_seq: self.request_seq,
        }
    }
}

impl<S> std::fmt::Debug for AsyncContext<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncContext")
            .field("request_seq", &self.request_seq)
            .finish_non_exhaustive()
    }
}

/// The session has ended, so that its state cannot be reached any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the session has ended")]
pub struct SessionEnded;

impl<S: 'static> AsyncContext<S> {
    pub(super) fn new(context: &Context, later: &Later<S>) -> Self {
        Self {
            client: context.client_arc(),
            conventions: *context.conventions(),
            outbox: context.outbox().behind(context.request_seq()),
            at_once: context.outbox().clone(),
            later: later.clone(),
            cancel: context.cancelled().clone(),
            request_seq: context.request_seq(),
        }
    }

    /// The arguments of the client's `initialize`.
    pub fn client(&self) -> &InitializeRequestArguments {
        &self.client
    }

    /// How the client counts lines and columns and names files.
    pub fn conventions(&self) -> &ClientConventions {
        &self.conventions
    }

    /// Sends events after this request's response, as synchronous handlers do. For example, `stopped` has to follow the response to `pause`.
    /// Output, progress and reverse requests leave at once. After the response, all events leave at once.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Where to send events that belong before the response: `initialized` by a `launch` that is answered after `configurationDone`.
    pub fn at_once(&self) -> &Outbox {
        &self.at_once
    }

    /// Runs a closure with the session's state, between two messages, and returns its result; see [`Later::with`].
    ///
    /// # Errors
    /// The session has ended.
    pub async fn with<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut S, &Session<S>) -> T + Send + 'static,
    ) -> Result<T, SessionEnded> {
        self.later.with(job).await
    }

    /// The session's state, for work that goes on after the response.
    pub fn later(&self) -> &Later<S> {
        &self.later
    }

    /// Waits until the client has cancelled the request, or no longer waits for it. A cancelled request has to be answered all the same;
    /// each error that its handler returns then becomes [`Failure::cancelled`].
    pub async fn cancelled(&self) {
        self.cancel.wait().await;
    }

    /// Runs a future until it is done or the request [is cancelled](Self::cancelled), and drops it then.
    ///
    /// # Errors
    /// The request was cancelled.
    pub async fn unless_cancelled<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        let done = async { Ok(future.await) };
        let cancelled = async {
            self.cancel.wait().await;
            Err(Failure::cancelled())
        };
        either(done, cancelled).await
    }

    /// The request's token.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// The request's number.
    pub fn request_seq(&self) -> i64 {
        self.request_seq
    }
}

impl<S: 'static> Later<S> {
    /// Runs a closure with the session's state, as [`run`](Self::run) does, and returns its result. A panic of the closure goes on in the
    /// caller. If the future is dropped before its turn, the closure is not run.
    ///
    /// # Errors
    /// The session has ended.
    pub async fn with<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut S, &Session<S>) -> T + Send + 'static,
    ) -> Result<T, SessionEnded> {
        let (sender, result) = oneshot::channel::<Result<T, Box<dyn Any + Send>>>();
        self.run(move |state, session| {
            if !sender.is_closed() {
                let result = catch_unwind(AssertUnwindSafe(|| job(state, session)));
                sender.send(result).ok();
            }
        });
        match result.await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(SessionEnded),
        }
    }
}

impl Outbox {
    /// Sends a reverse request, and waits for its answer. It leaves as soon as no synchronous handler runs. A client may never answer; see
    /// `tokio::time::timeout`. If the future is dropped, the answer is ignored.
    ///
    /// # Errors
    /// The client does not support the request, has answered with an error or is gone, or the session has ended.
    pub async fn ask<R: Request>(
        &self,
        arguments: R::Arguments,
    ) -> Result<R::Response, RequestError> {
        let (sender, answer) = oneshot::channel();
        self.request::<R>(arguments, move |outcome| {
            sender.send(outcome).ok();
        });
        answer.await.unwrap_or(Err(RequestError::Disconnected))
    }

    /// Sends an event as [`event`](Self::event) does, but waits before that while more than 16 MiB are queued for a client that reads
    /// slowly. For all that a task may send much of, such as a debuggee's output.
    pub async fn event_in_turn<E: Event>(&self, body: E::Body) {
        // Without a connection, the event is dropped where it would be sent.
        let turn = self.writer().wait_for_room_for_output().await;
        self.event::<E>(body);
        drop(turn);
    }
}
