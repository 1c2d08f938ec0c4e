//! Cancellation of requests and progress.
//!
//! Each request and each progress has a [`CancelToken`]. The token is set as soon as a `cancel` request is read from the wire, however
//! busy the session is; and a little after a request that ends the session or the program is read, or the connection ends. Whether and
//! when the work stops is up to the handler.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::envelope::{Envelope, Kind};
use crate::message::decode_or_default;

/// Tells the handler of a request, or the work behind a progress, that the client has cancelled it.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<Token>);

#[derive(Default)]
struct Token {
    cancelled: AtomicBool,
    /// When it becomes cancelled by itself.
    deadline: OnceLock<Instant>,
    /// Reads pending input if the thread that handles messages has taken over the reading from the reader thread.
    read_pending: Option<ReadPending>,
    /// Notified when it is cancelled, and when it gets a deadline.
    #[cfg(all(feature = "tokio", feature = "server"))]
    changed: tokio::sync::Notify,
}

impl Token {
    fn changed(&self) {
        #[cfg(all(feature = "tokio", feature = "server"))]
        self.changed.notify_waiters();
    }
}

/// Reads the client's pending input.
pub(crate) type ReadPending = Arc<dyn Fn() + Send + Sync>;

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cancelled.fmt(f)
    }
}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// True once the client cancelled the request or progress, or no longer waits for it: it has asked for the end of the session or of the
    /// program a second ago, or has closed the connection some seconds ago.
    pub fn is_cancelled(&self) -> bool {
        let is_late =
            || { self.0.deadline.get() }.is_some_and(|deadline| Instant::now() >= *deadline);
        let cancelled = || self.0.cancelled.load(Ordering::Acquire) || is_late();
        if let Some(read_pending) = &self.0.read_pending
            && !cancelled()
        {
            read_pending();
        }
        cancelled()
    }

    /// Sets the token.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        self.0.changed();
    }

    /// Waits until the token [is cancelled](Self::is_cancelled): for asynchronous programs, with the feature `tokio`. The runtime needs time
    /// enabled.
    #[cfg(all(feature = "tokio", feature = "server"))]
    pub async fn wait(&self) {
        loop {
            // Created before looking, so that a change right after the look is not missed.
            let changed = self.0.changed.notified();
            if self.is_cancelled() {
                return;
            }
            match self.0.deadline.get() {
                Some(&deadline) => {
                    tokio::time::timeout_at(deadline.into(), changed).await.ok();
                }
                None => changed.await,
            }
        }
    }
}

/// How long requests may take behind which the client has asked for the end of the session or of the program.
const END_GRACE: Duration = Duration::from_secs(1);
/// How long requests may take that are under way when the connection ends. The client may still read.
const CLOSED_GRACE: Duration = Duration::from_secs(3);

/// How many cancellations of requests that did not start yet are remembered; further ones are ignored. No real client sends more.
const EARLY_LIMIT: usize = 4096;

/// The tokens of the requests under way, and the cancellations that were read before their request was started.
#[derive(Default)]
pub(crate) struct Cancellations(Mutex<State>);

#[derive(Default)]
struct State {
    read_pending: Option<ReadPending>,
    under_way: BTreeMap<i64, CancelToken>,
    early: BTreeSet<i64>,
    /// Progress under way.
    progress: BTreeMap<String, CancelToken>,
    /// When all further requests are cancelled.
    deadline: Option<Instant>,
    /// The highest number of a request that was started. Requests with lower numbers are under way or done: they can't be cancelled early.
    newest: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled {
    request_id: Option<i64>,
    progress_id: Option<String>,
}

impl State {
    /// A token that is not cancelled.
    fn token(&self) -> CancelToken {
        CancelToken(Arc::new(Token {
            read_pending: self.read_pending.clone(),
            deadline: self.deadline.map(OnceLock::from).unwrap_or_default(),
            ..Token::default()
        }))
    }

    /// Gives what is under way a time by which it is cancelled. An earlier one stays.
    fn limit(&self, deadline: Instant) {
        for token in self.under_way.values().chain(self.progress.values()) {
            let _ = token.0.deadline.set(deadline);
            token.0.changed();
        }
    }
}

impl Cancellations {
    /// Sets how new tokens read a pending `cancel` before [`CancelToken::is_cancelled`] answers.
    pub(crate) fn set_read_pending(&self, read_pending: ReadPending) {
        self.lock().read_pending = Some(read_pending);
    }

    /// Checks a message when it is read. If it is a `cancel` request, sets the tokens of the request and of the progress that it names. If it
    /// asks for the end of the session or of the program, gives what is under way a second.
    pub(crate) fn note(&self, text: &str) {
        // A real request of these has about 70 bytes. Longer messages are not worth decoding twice.
        let names = ["\"cancel\"", "\"disconnect\"", "\"terminate\""];
        if text.len() > 1024 || !names.iter().any(|name| text.contains(name)) {
            return;
        }
        let Ok(Envelope {
            kind: Kind::Request { command, arguments },
            ..
        }) = Envelope::parse(text)
        else {
            return;
        };
        match &*command {
            "cancel" => {
                if let Ok(cancelled) = decode_or_default::<Cancelled>(arguments) {
                    self.note_cancelled(&cancelled);
                }
            }
            "disconnect" => self.leaves_within(END_GRACE),
            // The program may go on.
            "terminate" => self.lock().limit(Instant::now() + END_GRACE),
            _ => {}
        }
    }

    fn note_cancelled(&self, cancelled: &Cancelled) {
        if let Some(id) = cancelled.request_id {
            self.cancel(id);
        }
        let progress = cancelled.progress_id.as_ref();
        let token = progress.and_then(|id| self.lock().progress.get(id).cloned());
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// The connection has ended.
    pub(crate) fn closed(&self) {
        self.leaves_within(CLOSED_GRACE);
    }

    /// The client leaves: gives all requests this time.
    fn leaves_within(&self, grace: Duration) {
        let mut state = self.lock();
        let deadline = Instant::now() + grace;
        state.deadline.get_or_insert(deadline);
        state.limit(deadline);
    }

    /// Whether the client has asked for the end of the session, or the connection has ended.
    #[cfg(all(feature = "tokio", feature = "server"))]
    pub(crate) fn client_leaves(&self) -> bool {
        self.lock().deadline.is_some()
    }

    fn cancel(&self, request: i64) {
        let mut state = self.lock();
        if let Some(token) = state.under_way.get(&request) {
            token.cancel();
        } else if request > state.newest && state.early.len() < EARLY_LIMIT {
            state.early.insert(request);
        }
    }

    /// Starts a request and returns its token, which is set already if the request's `cancel` was read before this.
    pub(crate) fn begin(&self, request: i64) -> CancelToken {
        let mut state = self.lock();
        let token = state.token();
        if state.early.remove(&request) {
            token.cancel();
        }
        state.newest = state.newest.max(request);
        state.under_way.insert(request, token.clone());
        token
    }

    /// Ends a request that was answered.
    pub(crate) fn end(&self, request: i64) {
        self.lock().under_way.remove(&request);
    }

    /// Starts a progress that can be cancelled.
    pub(crate) fn begin_progress(&self, id: String) -> CancelToken {
        let mut state = self.lock();
        let token = state.token();
        state.progress.insert(id, token.clone());
        token
    }

    /// Ends a progress.
    pub(crate) fn end_progress(&self, id: &str) {
        self.lock().progress.remove(id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
