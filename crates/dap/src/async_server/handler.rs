//! Handlers whose futures answer their requests.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use super::AsyncContext;
use crate::failure::Failure;
use crate::message::Request;
use crate::server::dispatch::{self, Handler, panicked};
use crate::server::{Outbox, Responder};

/// A handler whose future answers the request.
pub(super) fn asynchronous<S, R, F>(
    handler: impl Fn(&mut S, R::Arguments, AsyncContext<S>) -> F + Send + Sync + 'static,
) -> Handler<S>
where
    S: 'static,
    R: Request,
    F: Future<Output = Result<R::Response, Failure>> + Send + 'static,
{
    dispatch::deferred::<S, R>(move |state, arguments, responder, context, later| {
        // All sessions of an `AsyncServer` have tasks. A dropped responder answers with an error.
        let Some(tasks) = context.tasks.clone() else {
            return;
        };
        let of_request = AsyncContext::new(context, later);
        match catch_unwind(AssertUnwindSafe(|| handler(state, arguments, of_request))) {
            Ok(future) => tasks.spawn(answer(future, responder, context.outbox().clone())),
            Err(panic) => responder.fail(panicked(R::COMMAND, &*panic)),
        }
    })
}

/// Answers a request with the output of its handler's future, once there is room for the response.
async fn answer<R: Request>(
    future: impl Future<Output = Result<R::Response, Failure>>,
    responder: Responder<R>,
    outbox: Outbox,
) {
    let result = caught(future, responder.span()).await;
    let result = result.unwrap_or_else(|panic| Err(panicked(R::COMMAND, &*panic)));
    // Without a connection, the response is dropped where it would be sent.
    let turn = outbox.writer().wait_for_room().await;
    responder.finish(result);
    drop(turn);
}

/// The future's output, or what it has panicked with. Each poll runs in the span.
async fn caught<T>(
    future: impl Future<Output = T>,
    span: &tracing::Span,
) -> Result<T, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let _entered = span.enter();
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}
