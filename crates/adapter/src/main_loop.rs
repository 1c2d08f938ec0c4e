//! The main loop of a session, on one thread.
//!
//! This thread is also the debuggee's tracer. It waits for the debuggee's next stop or the next message, whichever comes first, and reads
//! messages itself. So neither a request nor a stop costs a switch between threads.
//!
//! Waking a thread on another CPU takes 15 to 40 µs, more than a step does. Hence:
//! - The kernel's SIGURG for the client's descriptor (`O_ASYNC`) ends the wait for the debuggee.
//! - The reader thread rests meanwhile, so a [`CancelToken`](dapple_dap::cancel::CancelToken) that is asked about a cancellation reads the input
//!   itself.
//! - A client that sends within 200 µs of its response, as scripts do, is waited for 100 µs without sleeping.
//!
//! If breakpoints write more than 16 MiB that the client doesn't read, the loop lets the debuggee wait, and handles requests only.

mod input;

use crate::adapter::Adapter;
use crate::handlers;
use crate::serve_options::ServeOptions;
use crossbeam_channel::{
    Receiver, Select, Sender, TryRecvError, bounded, never, select, unbounded,
};
use dapple_dap::server::{Flow, Job};
use dapple_dap::transport::{Closed, Connection, Incoming};
use dapple_engine::session::Waker;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// The events of the loop.
enum Event {
    /// A message of the client, or the end of its connection.
    Client(Incoming),
    /// An event of the engine.
    Engine(dapple_engine::Event),
    /// The engine has failed.
    EngineLost,
    /// A job from another thread.
    Job(Job<Adapter>),
    /// This process is asked to end.
    Shutdown,
}

/// Serves one session until the client disconnects, its connection ends, or `options.shutdown` says so. A launched program is killed then,
/// unless the client asked to leave it running.
///
/// # Errors
/// The client's messages can't be read any further: [`Closed::Lost`] or [`Closed::Broken`].
pub fn serve(connection: Connection, options: ServeOptions) -> Result<(), Closed> {
    let shutdown = options.shutdown.clone();
    let waker = Arc::new(Waker::default());
    let _watch = wake_at_shutdown(&shutdown, &waker);
    connection.on_incoming({
        let waker = Arc::clone(&waker);
        move || waker.wake()
    });
    let server = handlers::server();
    let mut session = server.start(&connection);
    session.on_job({
        let waker = Arc::clone(&waker);
        move || waker.wake()
    });
    let outgoing = connection.outgoing.clone();
    let mut adapter = Adapter::new(options, unbounded(), session.later(), waker, outgoing);
    let mut sources = Sources {
        input: input::Input::new(&connection),
        connection: &connection,
        jobs: session.jobs().clone(),
        shutdown: &shutdown,
        news_first: None,
        turns: 0,
    };
    let mut ended_with_the_process = false;
    loop {
        match sources.next(&mut adapter) {
            Event::Client(incoming) => match session.handle(&mut adapter, incoming) {
                Flow::Continue => {}
                Flow::Closed => break,
            },
            Event::Engine(event) => {
                let (outbox, client) = (session.outbox(), session.conventions());
                let engine = adapter.engine.clone();
                if let Some(event) = adapter.send_logged_at_once(event, &engine, &outbox, client) {
                    adapter.send_event(event, &outbox, client);
                }
                adapter.delayed.flush();
            }
            Event::Job(job) => match session.run_job(&mut adapter, job) {
                Flow::Continue => {}
                Flow::Closed => {
                    session.finish();
                    break;
                }
            },
            Event::EngineLost => adapter.lost_engine(&session.outbox()),
            Event::Shutdown => {
                adapter.ends_with_the_process(&session.outbox());
                session.disconnect(&mut adapter);
                ended_with_the_process = true;
                break;
            }
        }
    }
    match session.closed() {
        Some(closed @ (Closed::Lost(_) | Closed::Broken(_))) => Err(closed.clone()),
        Some(_) => Ok(()),
        None => {
            if !ended_with_the_process {
                connection.outgoing.flush(LAST_ANSWER);
            }
            Ok(())
        }
    }
}

/// How long a client may take to read the response to `disconnect`. A client that has closed its connection is not waited for.
const LAST_ANSWER: Duration = Duration::from_secs(60);

/// How many turns of the loop still serve the debuggee when a client that doesn't read its output sends a message, so that a request takes
/// effect.
const TURNS: usize = 1000;

/// The sources of events.
struct Sources<'a> {
    connection: &'a Connection,
    input: input::Input<'a>,
    jobs: Receiver<Job<Adapter>>,
    shutdown: &'a Receiver<Infallible>,
    /// While the engine's events never run out: how many of them are still handled before other sources are looked at.
    news_first: Option<usize>,
    /// While too much output waits for the client to read it: how many turns still serve the debuggee.
    turns: usize,
}

impl Sources<'_> {
    /// Waits for the next event. Events of the engine come first. Serves the debuggee meanwhile, unless too much output waits for the client.
    fn next(&mut self, adapter: &mut Adapter) -> Event {
        loop {
            adapter.delayed.client_is_quick = self.input.client_is_quick();
            if !self.connection.outgoing.is_full() {
                self.turns = 0;
            } else if self.turns > 0 {
                self.turns -= 1;
            } else if let Some(event) = self.next_before_there_is_room(adapter) {
                return event;
            } else {
                continue;
            }
            if let Some(event) = self.among_news(adapter) {
                return event;
            }
            match adapter.engine.try_recv() {
                Err(TryRecvError::Empty) => self.news_first = None,
                event => {
                    self.count_news(adapter.engine.len());
                    return of_engine(&mut adapter.engine, event.ok());
                }
            }
            adapter.delayed.flush_if_due(adapter.debuggee.as_ref());
            let mut select = Select::new();
            let engine = select.recv(&adapter.engine);
            let client = select.recv(&self.connection.incoming);
            let job = select.recv(&self.jobs);
            let shutdown = select.recv(self.shutdown);
            let ready = match (select.try_select(), adapter.debuggee.as_ref()) {
                (Ok(ready), _) => ready,
                (Err(_), Some(debuggee)) if self.input.read(debuggee) => continue,
                (Err(_), Some(debuggee)) if debuggee.attend() => continue,
                _ => {
                    adapter.delayed.flush();
                    self.input.give_back();
                    select.select()
                }
            };
            return match ready.index() {
                index if index == engine => {
                    let event = ready.recv(&adapter.engine);
                    of_engine(&mut adapter.engine, event.ok())
                }
                index if index == client => match ready.recv(&self.connection.incoming) {
                    Ok(incoming) => Event::Client(incoming),
                    Err(_) => Event::Shutdown,
                },
                index if index == job => match ready.recv(&self.jobs) {
                    Ok(job) => Event::Job(job),
                    Err(_) => Event::Shutdown,
                },
                index => {
                    debug_assert_eq!(index, shutdown);
                    let _ = ready.recv(self.shutdown);
                    Event::Shutdown
                }
            };
        }
    }
}

impl Sources<'_> {
    /// Waits for events of all sources but the debuggee. `None`: the client has read enough of the output.
    fn next_before_there_is_room(&mut self, adapter: &mut Adapter) -> Option<Event> {
        adapter.delayed.flush();
        self.input.give_back();
        select! {
            recv(self.connection.incoming) -> incoming => {
                self.turns = TURNS;
                Some(incoming.map_or(Event::Shutdown, Event::Client))
            }
            recv(self.jobs) -> job => Some(job.map_or(Event::Shutdown, Event::Job)),
            recv(self.shutdown) -> _ => Some(Event::Shutdown),
            recv(self.connection.outgoing.has_room()) -> _ => None,
        }
    }

    /// For times when the engine's events never run out: an event of another source. `None`: it isn't time to look yet, or no other source has
    /// one. Also serves the debuggee once, because its stops need handling besides their events.
    fn among_news(&mut self, adapter: &mut Adapter) -> Option<Event> {
        if self.news_first != Some(0) {
            return None;
        }
        self.news_first = None;
        if let Some(debuggee) = &adapter.debuggee
            && !self.input.read(debuggee)
        {
            adapter.delayed.flush_if_due(Some(debuggee));
            // Makes `attend` return at once, because the other sources are still to be looked at.
            adapter.waker.wake();
            debuggee.attend();
        }
        if let Ok(incoming) = self.connection.incoming.try_recv() {
            return Some(Event::Client(incoming));
        }
        if let Ok(job) = self.jobs.try_recv() {
            return Some(Event::Job(job));
        }
        let is_over = self.shutdown.try_recv() == Err(TryRecvError::Disconnected);
        is_over.then_some(Event::Shutdown)
    }

    /// Call for each event that is received from the engine, with `more` behind it in the channel. Once it is time to look for the client's
    /// messages, those `more` events are still handled first.
    fn count_news(&mut self, more: usize) {
        self.news_first = match self.news_first {
            Some(count) => Some(count.saturating_sub(1)),
            None => self.input.is_due().then_some(more),
        };
    }
}

fn of_engine(
    engine: &mut Receiver<dapple_engine::Event>,
    event: Option<dapple_engine::Event>,
) -> Event {
    match event {
        Some(event) => Event::Engine(event),
        None => {
            *engine = never();
            Event::EngineLost
        }
    }
}

/// When the process is asked to end, wakes the loop, which may wait for its debuggee. Dropping the sender ends the watching thread.
fn wake_at_shutdown(shutdown: &Receiver<Infallible>, waker: &Arc<Waker>) -> Sender<Infallible> {
    let (open, session_end) = bounded(0);
    let (shutdown, waker) = (shutdown.clone(), Arc::clone(waker));
    let watch = move || {
        select! {
            recv(shutdown) -> _ => waker.wake(),
            recv(session_end) -> _ => {}
        }
    };
    let watching = std::thread::Builder::new().name("shutdown".into());
    if let Err(error) = watching.spawn(watch) {
        tracing::warn!(%error, "the end of this process will be noticed late");
    }
    open
}
