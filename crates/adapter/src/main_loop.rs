//! One session: a loop over everything that can happen, on one thread.
//!
//! The debuggee is kept by this thread, too: it waits there for whatever comes first, the debuggee's next stop or a message,
//! which it reads itself. So a request costs no switch to another thread and back, and a stop none to be told.

mod input;

use crate::adapter::Adapter;
use crate::adapter::later::{Job, Later};
use crate::handlers;
use crate::serve_options::ServeOptions;
use crossbeam_channel::{
    Receiver, Select, Sender, TryRecvError, bounded, never, select, unbounded,
};
use dapple_dap::server::Flow;
use dapple_dap::transport::{Closed, Connection, Incoming};
use dapple_engine::session::Waker;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// What the loop waits for.
enum Event {
    /// The client sent something, or is gone.
    Client(Incoming),
    /// The debuggee did something.
    Engine(dapple_engine::Event),
    /// The engine is gone.
    EngineLost,
    /// Something that went on beside the session has come to its end.
    Job(Job),
    /// The process was asked to end.
    Shutdown,
}

/// Serves one session until the client disconnects or vanishes. A launched program doesn't outlive it, unless the client
/// asked for that.
///
/// # Errors
/// What the client sent can't be read any further: [`Closed::Lost`] or [`Closed::Broken`].
pub fn serve(connection: Connection, options: ServeOptions) -> Result<(), Closed> {
    let shutdown = options.shutdown.clone();
    let waker = Arc::new(Waker::default());
    let _watch = wake_at_shutdown(&shutdown, &waker);
    connection.on_incoming({
        let waker = Arc::clone(&waker);
        move || waker.wake()
    });
    let (later, jobs) = Later::channel(Arc::clone(&waker));
    let outgoing = connection.outgoing.clone();
    let mut adapter = Adapter::new(options, unbounded(), later, waker, outgoing);
    let server = handlers::server();
    let mut session = server.start(&connection);
    let mut sources = Sources {
        input: input::Input::new(&connection),
        connection: &connection,
        jobs,
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
                if let Some(event) = adapter.tell_logged_at_once(event, &engine, &outbox, client) {
                    adapter.tell(event, &outbox, client);
                }
                adapter.gathering.flush();
            }
            Event::Job(job) => job(&mut adapter, &session.outbox(), session.conventions()),
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

/// How long a client that has taken leave may take to read the answer. One that has closed its end is not waited for.
const LAST_ANSWER: Duration = Duration::from_secs(60);

/// How often the debuggee is attended to after a message of a client that doesn't read, so that what was asked for happens.
const TURNS: usize = 1000;

/// Where things come from.
struct Sources<'a> {
    connection: &'a Connection,
    input: input::Input<'a>,
    jobs: Receiver<Job>,
    shutdown: &'a Receiver<Infallible>,
    /// How many of the engine's news come first before it is looked whether the client has sent something, where there is always more news.
    news_first: Option<usize>,
    /// While too much output waits for the client to read it: how often the debuggee may still be attended to.
    turns: usize,
}

impl Sources<'_> {
    /// Waits for what comes next; the engine's news first. A debuggee is looked after meanwhile, unless so much output waits already
    /// that it has to wait, too.
    fn next(&mut self, adapter: &mut Adapter) -> Event {
        loop {
            adapter.gathering.client_is_quick = self.input.client_is_quick();
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
            adapter.gathering.flush_if_due(adapter.debuggee.as_ref());
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
                    adapter.gathering.flush();
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
    /// Waits for anything but the debuggee; nothing: the client has read some of the output.
    fn next_before_there_is_room(&mut self, adapter: &mut Adapter) -> Option<Event> {
        adapter.gathering.flush();
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

    /// What else has come while there was news all the time. Where nothing has, the debuggee is looked after: what comes from it is not
    /// news alone.
    fn among_news(&mut self, adapter: &mut Adapter) -> Option<Event> {
        if self.news_first != Some(0) {
            return None;
        }
        self.news_first = None;
        if let Some(debuggee) = &adapter.debuggee
            && !self.input.read(debuggee)
        {
            adapter.gathering.flush_if_due(Some(debuggee));
            // It may have nothing more to tell, and then must not be waited for: what else has come is still to be looked at.
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

    /// There is news, and so much `more`: all of it comes before what the client has sent since.
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

/// Wakes a loop that waits for its debuggee when the process is asked to end. Ends itself when what it gives back is dropped.
fn wake_at_shutdown(shutdown: &Receiver<Infallible>, waker: &Arc<Waker>) -> Sender<Infallible> {
    let (over, session) = bounded(0);
    let (shutdown, waker) = (shutdown.clone(), Arc::clone(waker));
    let watch = move || {
        select! {
            recv(shutdown) -> _ => waker.wake(),
            recv(session) -> _ => {}
        }
    };
    let watching = std::thread::Builder::new().name("shutdown".into());
    if let Err(error) = watching.spawn(watch) {
        tracing::warn!(%error, "the end of this process will be noticed late");
    }
    over
}
