//! A way back to a session's state, from other threads and from answers to the adapter's own requests.
//!
//! Handlers get the state by `&mut`, so nothing else can have it. What another thread finds out goes back as a job: a closure that the session
//! runs between two messages.

use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::Session;
use super::outbox::{Outbox, RequestError};
use crate::message::Request;

/// Runs on the session's thread, between two messages.
pub type Job<S> = Box<dyn FnOnce(&mut S, &Session<S>) + Send>;

type Wake = Arc<dyn Fn() + Send + Sync>;

/// Runs closures with a session's state, from any thread. Clones reach the same session.
///
/// Take it from [`Session::later`] and keep it in the state, so that handlers can pass clones to threads:
///
/// ```
/// use dapple_dap::Server;
/// use dapple_dap::server::Later;
/// use dapple_dap::testing::TestClient;
/// use dapple_dap::types::*;
///
/// struct Program {
///     later: Later<Program>,
///     process: Option<i64>,
/// }
///
/// let server = Server::builder()
///     .on::<ConfigurationDoneRequest>(|program: &mut Program, _, _| {
///         let later = program.later.clone();
///         std::thread::spawn(move || {
///             // Here another thread finds something out, and the session goes on meanwhile.
///             later.run(|program, session| {
///                 program.process = Some(4711);
///                 session.outbox().event::<ProcessEvent>(ProcessEventBody::new("found"));
///             });
///         });
///         Ok(Empty)
///     })
///     .on_deferred::<LaunchRequest>(|program, _, responder, _| {
///         let terminal = RunInTerminalRequestArguments::new("/", vec!["./program".to_owned()]);
///         program.later.request::<RunInTerminalRequest>(terminal, |program, _, answer| match answer {
///             Ok(answer) => {
///                 program.process = answer.process_id;
///                 responder.respond(Empty);
///             }
///             Err(error) => responder.fail(error.into()),
///         });
///     })
///     .build();
/// let (client, session) =
///     TestClient::of_with(&server, |session| Program { later: session.later(), process: None });
/// client.initialize();
/// client.ok::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new());
/// assert_eq!(client.wait_for::<ProcessEvent>().name, "found");
/// assert_eq!(
///     client.fails::<LaunchRequest>(LaunchRequestArguments::new()),
///     "the client does not support `runInTerminal`"
/// );
/// client.disconnect();
/// assert_eq!(session.join().unwrap().process, Some(4711));
/// ```
pub struct Later<S> {
    jobs: Sender<Job<S>>,
    outbox: Outbox,
    wake: Arc<Mutex<Option<Wake>>>,
}

impl<S> Clone for Later<S> {
    fn clone(&self) -> Self {
        Self {
            jobs: self.jobs.clone(),
            outbox: self.outbox.clone(),
            wake: self.wake.clone(),
        }
    }
}

impl<S> std::fmt::Debug for Later<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Later")
            .field("jobs", &self.jobs.len())
            .finish_non_exhaustive()
    }
}

impl<S: 'static> Later<S> {
    pub(super) fn new(outbox: Outbox) -> (Self, Receiver<Job<S>>) {
        let (jobs, receiver) = unbounded();
        let later = Self {
            jobs,
            outbox,
            wake: Arc::default(),
        };
        (later, receiver)
    }

    /// Has the session run a closure, and returns at once. Closures run in the order of the calls, between two messages. If the session
    /// is over, the closure is dropped.
    pub fn run(&self, job: impl FnOnce(&mut S, &Session<S>) + Send + 'static) {
        if self.jobs.send(Box::new(job)).is_ok() {
            let wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(wake) = wake.clone() {
                wake();
            }
        }
    }

    /// Sends a reverse request, as [`Outbox::request`] does. `answer` runs with the state, as a closure of [`run`](Self::run) does.
    pub fn request<R: Request>(
        &self,
        arguments: R::Arguments,
        answer: impl FnOnce(&mut S, &Session<S>, Result<R::Response, RequestError>) + Send + 'static,
    ) {
        let later = self.clone();
        self.outbox.request::<R>(arguments, move |outcome| {
            later.run(move |state, session| answer(state, session, outcome));
        });
    }

    /// As [`request`](Self::request), but waits for the answer no longer than `timeout`; see [`Outbox::request_within`].
    pub fn request_within<R: Request>(
        &self,
        timeout: std::time::Duration,
        arguments: R::Arguments,
        answer: impl FnOnce(&mut S, &Session<S>, Result<R::Response, RequestError>) + Send + 'static,
    ) {
        let later = self.clone();
        let outbox = &self.outbox;
        outbox.request_within::<R>(timeout, arguments, move |outcome| {
            later.run(move |state, session| answer(state, session, outcome));
        });
    }

    /// The session's outbox.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Calls `wake` after each new job.
    pub(super) fn set_wake(&self, wake: Wake) {
        *self.wake.lock().unwrap_or_else(PoisonError::into_inner) = Some(wake);
    }
}
