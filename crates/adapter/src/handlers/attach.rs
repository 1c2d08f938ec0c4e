//! The `attach` request: takes over a running process, waits for one to start, or opens a core file.

use super::back;
use super::launch::{apply_common, begin, begin_post_mortem, check_place, not_entered};
use crate::adapter::{Adapter, Phase};
use crate::arguments::{AttachArguments, Target};
use crate::console::say;
use crate::to_dap;
use crate::to_dap::OrFail;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use dapple_dap::cancel::CancelToken;
use dapple_dap::message::Empty;
use dapple_dap::server::{
    ClientConventions, Context, Failure, LateProgress, Outbox, Progress, Responder,
};
use dapple_dap::types::{AttachRequest, AttachRequestArguments, TerminatedEvent};
use dapple_engine::attach::AttachOptions;
use dapple_engine::debug_info::DebugInfoOptions;
use dapple_engine::postmortem::CoreOptions;
use dapple_engine::processes::{self, Awaited, RunningProcess};
use dapple_engine::session::{GivingUp, RemoteOptions};
use dapple_engine::{Error, Session, session};
use std::convert::Infallible;
use std::time::Duration;

/// The most processes of one name that an error message lists.
const MOST_LISTED: usize = 20;

/// Attaches to a process and holds it until `configurationDone`, or opens a core file. A failed attach ends the session, except for one that
/// is refused because the session has a program already.
pub fn attach(
    adapter: &mut Adapter,
    arguments: AttachRequestArguments,
    responder: Responder<AttachRequest>,
    context: &mut Context,
) {
    if let Err(failure) = not_entered(adapter) {
        return responder.fail(failure);
    }
    let (outbox, client) = (context.outbox(), context.conventions());
    let attach = match AttachArguments::read(&arguments.other) {
        Ok(attach) => attach,
        Err(sentence) => return fail(adapter, Failure::new(sentence), responder, outbox),
    };
    if let Err(failure) = check_place(adapter, &attach.common) {
        return fail(adapter, failure, responder, outbox);
    }
    let options = AttachOptions {
        process: 0,
        follow_forks: attach.common.follow_forks,
        handed_over: attach.handed_over,
        debug_info: DebugInfoOptions {
            debuginfod: attach.common.debuginfod,
            index_cache: adapter.options.index_cache.clone(),
        },
    };
    adapter.follow_forks(options.follow_forks, &arguments.other, context);
    apply_common(adapter, attach.common, outbox);
    match attach.target {
        Target::Pid(pid) => {
            let found = Found {
                pid,
                said: format!("`pid` {pid}"),
            };
            take_over(adapter, &found, options, responder, outbox, client);
        }
        Target::Named(name) => match only_one(&name) {
            Ok(pid) => {
                let found = Found::named(pid, &name);
                take_over(adapter, &found, options, responder, outbox, client);
            }
            Err(failure) => fail(adapter, failure, responder, outbox),
        },
        Target::Next(name) => wait_for(adapter, name, options, responder, outbox),
        Target::Remote(remote) => {
            let debug_info = options.debug_info;
            let cancelled = responder.cancelled();
            match connect(adapter, *remote, debug_info, cancelled, outbox, client) {
                Ok(()) => responder.respond(Empty),
                Err(failure) => fail(adapter, failure, responder, outbox),
            }
        }
        Target::Core { core, program } => {
            let core = CoreOptions {
                core,
                program,
                index_cache: options.debug_info.index_cache,
            };
            if options.debug_info.debuginfod {
                say(
                    outbox,
                    "warning: debuginfod servers are not asked for what a core file's modules lack",
                );
            }
            match open_core(adapter, &core, outbox) {
                Ok(()) => responder.respond(Empty),
                Err(failure) => fail(adapter, failure, responder, outbox),
            }
        }
    }
}

/// Connects to a stub, until the client cancels that or ends the session.
fn connect(
    adapter: &mut Adapter,
    options: RemoteOptions,
    debug_info: DebugInfoOptions,
    cancelled: &CancelToken,
    outbox: &Outbox,
    client: &ClientConventions,
) -> Result<(), Failure> {
    let title = format!("Connecting to {}", options.address);
    let giving_up = GivingUp::default();
    let [by_progress, by_request] = [giving_up.clone(), giving_up.clone()];
    let progress = LateProgress::start_cancellable(outbox, title, move || by_progress.give_up());
    let events = adapter.engine_events.take();
    let events = events.ok_or_else(|| Failure::new("the session has ended; start a new one"))?;
    let (given_up, keep) = (giving_up.clone(), adapter.keep());
    let connected = on_cancellation(
        cancelled,
        || by_request.give_up(),
        || Session::connect_kept(options, giving_up, debug_info, events, keep),
    );
    drop(progress);
    if given_up.is_given_up() {
        return Err(Failure::cancelled());
    }
    let debuggee = connected.map_err(|error| match error {
        Error::Connect { address, reason } => {
            Failure::new(format!("attach: `target` {address}: {reason}"))
        }
        other => to_dap::failure(&other),
    })?;
    if debuggee.runs_backwards() {
        back::is_recorded(outbox);
    }
    begin(adapter, debuggee, outbox, client)
}

/// Does `work`, and calls `give_up` on another thread when the client doesn't wait for it any more.
fn on_cancellation<T>(
    cancelled: &CancelToken,
    give_up: impl FnOnce() + Send,
    work: impl FnOnce() -> T,
) -> T {
    /// How often is looked whether it does.
    const TICK: Duration = Duration::from_millis(50);
    let (working, ended) = crossbeam_channel::bounded::<Infallible>(0);
    std::thread::scope(|scope| {
        let watch = move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if cancelled.is_cancelled() {
                    return give_up();
                }
            }
        };
        let watching = std::thread::Builder::new().name("cancellation".into());
        if let Err(error) = watching.spawn_scoped(scope, watch) {
            tracing::error!(%error, "no thread to wait for a cancellation");
        }
        let done = work();
        drop(working);
        done
    })
}

fn open_core(adapter: &mut Adapter, core: &CoreOptions, outbox: &Outbox) -> Result<(), Failure> {
    let _progress = LateProgress::start(outbox, format!("Opening {}", core.core.display()));
    let events = adapter.engine_events.take();
    let events = events.ok_or_else(|| Failure::new("the session has ended; start a new one"))?;
    let remains = Session::open_core(core, events).or_fail()?;
    begin_post_mortem(adapter, remains, outbox)
}

/// The id of the process with this name.
///
/// # Errors
/// No process has the name, or several have it.
fn only_one(name: &str) -> Result<i32, Failure> {
    let found = processes::named(name);
    match found.as_slice() {
        [] => Err(Failure::new(format!(
            "attach: `program`: no process is called `{name}`; `waitFor` would wait for one to start"
        ))),
        [one] => Ok(one.pid),
        several => Err(Failure::new(format!(
            "attach: `program`: {} processes are called `{name}`; give the `pid` of one:{}",
            several.len(),
            listed(several)
        ))),
    }
}

fn listed(processes: &[RunningProcess]) -> String {
    let mut text: String = processes
        .iter()
        .take(MOST_LISTED)
        .map(|process| format!("\n  {}  {}", process.pid, process.command))
        .collect();
    if processes.len() > MOST_LISTED {
        text.push_str("\n  …");
    }
    text
}

/// Waits for a process on a thread of its own, so that the client can disconnect or cancel meanwhile.
fn wait_for(
    adapter: &mut Adapter,
    name: String,
    options: AttachOptions,
    responder: Responder<AttachRequest>,
    outbox: &Outbox,
) {
    adapter.phase = Phase::Starting;
    let awaited = Awaited::called(&name);
    say(
        outbox,
        &format!("waiting for a process called {name} to start"),
    );
    let waiting = Progress::start(outbox, format!("Waiting for {name}"));
    let later = adapter.later.clone();
    let session_end = adapter.session_end();
    let wait = move || {
        let found = awaited.wait(|time| {
            session_end.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
                && !responder.cancelled().is_cancelled()
        });
        drop(waiting);
        later.run(move |adapter, session| {
            let (outbox, client) = (&session.outbox(), session.conventions());
            match found {
                Some(process) => {
                    let found = Found::named(process.pid, &name);
                    take_over(adapter, &found, options, responder, outbox, client);
                }
                None => fail(adapter, Failure::cancelled(), responder, outbox),
            }
        });
    };
    let waiting = std::thread::Builder::new().name("wait for process".into());
    if let Err(error) = waiting.spawn(wait) {
        tracing::error!(%error, "no thread to wait for a process");
    }
}

/// A process, and how the client named it, for error messages.
struct Found {
    pid: i32,
    said: String,
}

impl Found {
    fn named(pid: i32, name: &str) -> Found {
        let said = format!("`program` {name}, process {pid}");
        Found { pid, said }
    }
}

fn take_over(
    adapter: &mut Adapter,
    found: &Found,
    options: AttachOptions,
    responder: Responder<AttachRequest>,
    outbox: &Outbox,
    client: &ClientConventions,
) {
    let pid = found.pid;
    let options = AttachOptions {
        process: pid,
        ..options
    };
    let _progress = LateProgress::start(outbox, format!("Attaching to process {pid}"));
    let attached = adapter
        .engine_events
        .take()
        .ok_or_else(|| Failure::new("the session has ended; start a new one"))
        .and_then(|events| {
            Session::attach_kept(options, events, adapter.keep()).map_err(|error| match error {
                Error::Attach { reason, .. } => {
                    Failure::new(format!("attach: {}: {reason}", found.said))
                }
                other => to_dap::failure(&other),
            })
        })
        .and_then(|debuggee| {
            if let Some(warning) = stopped_by_signal(debuggee.process()) {
                say(outbox, &warning);
            }
            begin(adapter, debuggee, outbox, client)
        });
    match attached {
        Ok(()) => responder.respond(Empty),
        Err(failure) => fail(adapter, failure, responder, outbox),
    }
}

/// A warning for a process in a group-stop, which doesn't run when the debugger resumes it, but only after SIGCONT.
fn stopped_by_signal(process: &session::ProcessInfo) -> Option<String> {
    process.stopped.then(|| {
        format!(
            "process {pid} is stopped by a signal; it runs when it is continued here and by `kill -CONT {pid}`",
            pid = process.pid
        )
    })
}

fn fail(
    adapter: &mut Adapter,
    failure: Failure,
    responder: Responder<AttachRequest>,
    outbox: &Outbox,
) {
    adapter.end();
    responder.fail(failure.show_user());
    outbox.event::<TerminatedEvent>(Default::default());
}

impl Adapter {
    /// A channel that disconnects when the session ends, or when the next such channel is made.
    pub fn session_end(&mut self) -> Receiver<Infallible> {
        let (open, session_end) = crossbeam_channel::bounded(0);
        self.start_wait = Some(open);
        session_end
    }
}
