//! One session: a loop over everything that can happen, on one thread.

use crate::adapter::Adapter;
use crate::handlers;
use crate::later::{Job, Later};
use crossbeam_channel::{Receiver, TryRecvError, never, select, unbounded};
use dapple_dap::server::Flow;
use dapple_dap::transport::{Connection, Incoming};
use dapple_engine::launch::{IndexCache, ProcessGroup};
use std::convert::Infallible;
use std::sync::Arc;

/// How a session is served.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The process group of launched programs.
    pub process_group: ProcessGroup,
    /// Whether launched programs may be given this process's standard input.
    pub own_stdin: OwnStdin,
    /// Where indexes of large programs are kept, if anywhere.
    pub index_cache: Option<Arc<IndexCache>>,
    /// Ends the session as a `disconnect` would, when its sender is dropped.
    pub shutdown: Receiver<Infallible>,
}

/// What this process's standard input is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnStdin {
    /// A launched program may have it.
    Free,
    /// It carries the protocol or belongs to several sessions.
    Taken,
}

impl Default for ServeOptions {
    /// For a session on a wire.
    fn default() -> Self {
        ServeOptions {
            process_group: ProcessGroup::Own,
            own_stdin: OwnStdin::Taken,
            index_cache: None,
            shutdown: never(),
        }
    }
}

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
pub fn serve(connection: Connection, options: ServeOptions) {
    let shutdown = options.shutdown.clone();
    let (sender, mut engine) = unbounded();
    let (later, jobs) = Later::channel();
    let mut adapter = Adapter::new(options, sender, later);
    let server = handlers::server();
    let mut session = server.start(&connection);
    loop {
        match next(&connection, &mut engine, &jobs, &shutdown) {
            Event::Client(incoming) => match session.handle(&mut adapter, incoming) {
                Flow::Continue => {}
                Flow::Closed => break,
            },
            Event::Engine(event) => {
                let (outbox, client) = (session.outbox(), session.conventions());
                if let Some(event) = adapter.tell_logged_at_once(event, &engine, &outbox, client) {
                    adapter.tell(event, &outbox, client);
                }
            }
            Event::Job(job) => job(&mut adapter, &session.outbox(), session.conventions()),
            Event::EngineLost => adapter.lost_engine(&session.outbox()),
            Event::Shutdown => {
                session.disconnect(&mut adapter);
                break;
            }
        }
    }
}

/// Waits for what comes next; the engine's news first.
fn next(
    connection: &Connection,
    engine: &mut Receiver<dapple_engine::Event>,
    jobs: &Receiver<Job>,
    shutdown: &Receiver<Infallible>,
) -> Event {
    let from_engine = |event, engine: &mut Receiver<_>| match event {
        Ok(event) => Event::Engine(event),
        Err(_) => {
            *engine = never();
            Event::EngineLost
        }
    };
    match engine.try_recv() {
        Ok(event) => return Event::Engine(event),
        Err(TryRecvError::Disconnected) => return from_engine(Err(()), engine),
        Err(TryRecvError::Empty) => {}
    }
    select! {
        recv(engine) -> event => from_engine(event.map_err(drop), engine),
        recv(connection.incoming) -> incoming => match incoming {
            Ok(incoming) => Event::Client(incoming),
            Err(_) => Event::Shutdown,
        },
        recv(jobs) -> job => job.map_or(Event::Shutdown, Event::Job),
        recv(shutdown) -> _ => Event::Shutdown,
    }
}
