//! Stands between an editor and an adapter: moves the bytes of both directions, each on a thread, and ends with the two.
//!
//! A session ends when the adapter has exited and all that it said is passed on, when the editor is gone and the adapter has had its time
//! to end, or by a signal, which is passed on to the adapter. The adapter is never left behind.

use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use dapple_dap::lifecycle::Side;
use dapple_trace::backlog::Backlog;
use dapple_trace::forward::forward;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::Options;
use super::adapter::Adapter;
use super::ends::{self, End, Listener, Output};
use super::live::{Place, Sinks};
use super::show::Lines;

/// For how long an adapter may go on in silence after the editor is gone or a signal came.
const GRACE: Duration = Duration::from_secs(10);

/// For how long output is waited for after the adapter's end: a process that it left behind may hold its output open.
const DRAINED: Duration = Duration::from_secs(1);

/// What a session waits for.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// The editor sends nothing more, or the adapter takes nothing more.
    ClientClosed,
    /// The adapter sends nothing more, or the editor takes nothing more.
    AdapterClosed,
    AdapterExited,
    Signal(i32),
}

/// The signals that end this program, for all sessions.
#[derive(Clone, Default)]
struct Ending {
    sessions: Arc<Mutex<Vec<Sender<Event>>>>,
    signal: Arc<Mutex<Option<i32>>>,
}

impl Ending {
    fn watch(&self) -> Result<()> {
        let mut signals =
            Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot watch for signals")?;
        let ending = self.clone();
        let wait = move || {
            for (count, signal) in signals.forever().enumerate() {
                if count > 0 {
                    // Asked for a second time: what is still looked at is given up.
                    std::process::exit(128 + signal);
                }
                *lock(&ending.signal) = Some(signal);
                for session in lock(&ending.sessions).iter() {
                    session.send(Event::Signal(signal)).ok();
                }
            }
        };
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(wait)
            .context("cannot start a thread")?;
        Ok(())
    }

    fn add(&self, session: Sender<Event>) {
        if let Some(signal) = *lock(&self.signal) {
            session.send(Event::Signal(signal)).ok();
        }
        lock(&self.sessions).push(session);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stands between the editor and the adapter until they end, and returns the adapter's exit code.
pub fn run(options: &Options) -> Result<ExitCode> {
    let place = match (&options.live, options.quiet, &options.listen) {
        (_, true, _) => Place::Nowhere,
        (Some(path), ..) => Place::File(path.clone()),
        (None, _, Some(_)) => Place::Stdout,
        (None, _, None) => Place::Stderr,
    };
    let lines = Lines::new(options.bodies, options.color);
    let mut sinks = Sinks::open(options.output.as_deref(), place, lines, options.filter())?;
    sinks.several = options.listen.is_some() && !options.once;
    let ending = Ending::default();
    ending.watch()?;
    // An adapter that listens by itself serves all sessions.
    let listening = match (&options.connect, options.command.is_empty()) {
        (Some(_), false) => Some(Adapter::start(&options.command, false, Stdio::inherit())?.0),
        _ => None,
    };
    let sinks = Arc::new(sinks);
    let outcome = match &options.listen {
        None => End::stdio().and_then(|client| session(1, client, options, &sinks, &ending)),
        Some(address) => listen(address, options, &sinks, &ending),
    };
    if let Some(adapter) = listening {
        adapter.signal(SIGTERM);
        adapter.end(GRACE);
    }
    if let Ok(sinks) = Arc::try_unwrap(sinks).map_err(drop) {
        sinks.finish();
    }
    outcome.map(ExitCode::from)
}

/// Serves one connection, or each on a thread of its own until a signal comes.
fn listen(
    address: &crate::listening::Address,
    options: &Options,
    sinks: &Sinks,
    ending: &Ending,
) -> Result<u8> {
    let listener = Listener::bind(address, options.allow_remote)?;
    eprintln!("listening on {}", listener.name());
    if options.once {
        let client = accept(&listener, ending)?;
        return match client {
            Some(client) => session(1, client, options, sinks, ending),
            None => Ok(0),
        };
    }
    thread::scope(|scope| {
        let mut number = 0;
        while let Some(client) = accept(&listener, ending)? {
            number += 1;
            scope.spawn(move || {
                if let Err(error) = session(number, client, options, sinks, ending) {
                    eprintln!("dapple: session {number}: {error:#}");
                }
            });
        }
        Ok(0)
    })
}

/// The next editor, or `None` once a signal has come.
fn accept(listener: &Listener, ending: &Ending) -> Result<Option<End>> {
    let (sender, signals) = unbounded();
    ending.add(sender);
    loop {
        if !signals.is_empty() {
            return Ok(None);
        }
        if let Some(client) = listener.accept_within(Duration::from_millis(100))? {
            return Ok(Some(client));
        }
    }
}

/// What the threads that move bytes tell about themselves.
#[derive(Debug)]
struct Activity {
    start: Instant,
    /// When bytes were last moved, in milliseconds since `start`.
    last: AtomicU64,
    /// Whether bytes of the adapter wait for the editor to take them.
    delivering: AtomicBool,
}

impl Activity {
    fn note(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }

    fn quiet_for(&self) -> Duration {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(last)
    }
}

/// One session, from its first byte to its end. Returns the adapter's exit code.
fn session(
    number: u64,
    client: End,
    options: &Options,
    sinks: &Sinks,
    ending: &Ending,
) -> Result<u8> {
    let (sender, events) = unbounded();
    let (adapter, end) = match &options.connect {
        Some(address) => (None, ends::connect(address)?),
        None => {
            let (adapter, pipes) = Adapter::start(&options.command, true, Stdio::inherit())?;
            let (input, output) = pipes.context("the adapter was started without pipes")?;
            let (waiter, exited) = (adapter.waiter()?, sender.clone());
            spawn("exit", move || {
                waiter.wait();
                exited.send(Event::AdapterExited).ok();
            })?;
            (Some(adapter), End::child(input, output))
        }
    };
    let closers = [client.closer(), end.closer()];
    let activity = Arc::new(Activity {
        start: Instant::now(),
        last: AtomicU64::new(0),
        delivering: AtomicBool::new(false),
    });
    let backlog = sinks.backlog();
    thread::scope(|scope| {
        let observer = scope.spawn(|| sinks.observe(number, &backlog));
        let moving = move_bytes(client, end, &backlog, &activity, &sender);
        let code = moving.map(|()| {
            ending.add(sender);
            wait_for_the_end(adapter, &events, &activity)
        });
        for close in closers {
            close();
        }
        backlog.close();
        observer.join().ok();
        code
    })
}

/// Starts the two threads that move the bytes.
fn move_bytes(
    client: End,
    adapter: End,
    backlog: &Backlog,
    activity: &Arc<Activity>,
    events: &Sender<Event>,
) -> Result<()> {
    let start = |from: Side, mut input: Box<dyn std::io::Read + Send>, mut output: Output| {
        let (backlog, activity, events) = (backlog.clone(), activity.clone(), events.clone());
        spawn("forward", move || {
            let moved = |arrived: bool| {
                if from == Side::Adapter {
                    activity.delivering.store(arrived, Ordering::SeqCst);
                }
                activity.note();
            };
            // However a direction ends, its reader sees the end.
            let _ = forward(from, &mut input, &mut output, &backlog, moved);
            activity
                .delivering
                .fetch_and(from != Side::Adapter, Ordering::SeqCst);
            drop((input, output));
            let closed = match from {
                Side::Client => Event::ClientClosed,
                Side::Adapter => Event::AdapterClosed,
            };
            events.send(closed).ok();
        })
    };
    start(Side::Client, client.input, adapter.output)?;
    start(Side::Adapter, adapter.input, client.output)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let builder = thread::Builder::new().name(name.to_owned());
    builder.spawn(run).context("cannot start a thread")?;
    Ok(())
}

/// Returns when the session is over, with the adapter's exit code.
fn wait_for_the_end(adapter: Option<Adapter>, events: &Receiver<Event>, activity: &Activity) -> u8 {
    // Without a process, its end is that of its output.
    let (mut exited, mut silent, mut ending) = (adapter.is_none(), false, false);
    while !(exited && silent) {
        let drained = exited && adapter.is_some();
        let limit = match (drained, ending) {
            (true, _) => Some(DRAINED),
            (false, true) => Some(GRACE),
            (false, false) => None,
        };
        let event = match limit {
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(limit) => events.recv_timeout(limit),
        };
        match event {
            Ok(Event::ClientClosed) => ending = true,
            Ok(Event::AdapterClosed) => (silent, ending) = (true, true),
            Ok(Event::AdapterExited) => exited = true,
            Ok(Event::Signal(signal)) => {
                ending = true;
                match &adapter {
                    Some(adapter) => adapter.signal(signal),
                    // It sees the end of the connection.
                    None => break,
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let delivering = activity.delivering.load(Ordering::SeqCst);
                let quiet = limit.is_some_and(|limit| activity.quiet_for() >= limit);
                if quiet && !(drained && delivering) {
                    break;
                }
            }
        }
    }
    adapter.map_or(0, |adapter| adapter.end(Duration::ZERO))
}
