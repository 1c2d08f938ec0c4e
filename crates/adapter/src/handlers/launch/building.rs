//! Builds the program before it is started, on a thread of its own: meanwhile the session answers requests, and the client configures.

use super::{Finish, Prepared, send_initialized, settle, start_built};
use crate::adapter::{Adapter, Phase};
use crate::building::{BuildContext, Built, Plan, Unbuilt, build};
use crossbeam_channel::{Sender, TryRecvError, bounded};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::TerminatedEvent;
use std::convert::Infallible;
use std::thread::JoinHandle;

/// A build in progress. Dropping it cancels the build and waits until its processes are gone.
pub struct Building {
    /// Dropping the sender cancels the build, so it is dropped before the thread is joined.
    wanted: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Building {
    /// Cancels the build.
    pub fn give_up(&mut self) {
        self.wanted = None;
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        self.give_up();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// Begins the builds. When all have succeeded, the program is started.
pub fn begin(adapter: &mut Adapter, prepared: Prepared, context: &mut Context, finish: Finish) {
    let outbox = context.outbox().clone();
    let (wanted, given_up) = bounded(0);
    let cancelled = context.cancelled().clone();
    let is_wanted =
        move || given_up.try_recv() == Err(TryRecvError::Empty) && !cancelled.is_cancelled();
    adapter.phase = Phase::Starting;
    // Some clients wait only seconds for `initialized`, and a build takes longer.
    send_initialized(adapter, &outbox);
    let title = prepared.plans.first().map(Plan::title).unwrap_or_default();
    let programs = adapter.options.programs.clone();
    let later = adapter.later.clone();
    let work = move || {
        let mut build_context = BuildContext::new(&outbox, title, programs, is_wanted);
        let built = build_all(&prepared.plans, &mut build_context);
        drop(build_context);
        later.run(move |adapter, session| {
            let (outbox, client) = (&session.outbox(), session.conventions());
            let was_ended = adapter.phase != Phase::Starting;
            adapter.building = None;
            match built {
                _ if was_ended => finish(Err(Failure::cancelled())),
                Ok(built) => {
                    let mut prepared = prepared;
                    built.add_to(&mut prepared.options);
                    start_built(adapter, prepared, outbox, client, finish);
                }
                Err(Unbuilt::Failed(sentence)) => {
                    settle(adapter, Err(Failure::new(sentence)), finish, outbox);
                }
                Err(Unbuilt::Cancelled) => {
                    adapter.end();
                    finish(Err(Failure::cancelled()));
                    outbox.event::<TerminatedEvent>(Default::default());
                }
            }
        });
    };
    let thread = std::thread::Builder::new().name("build".into()).spawn(work);
    if let Err(error) = &thread {
        tracing::error!(%error, "no thread to build on");
    }
    adapter.building = Some(Building {
        wanted: Some(wanted),
        thread: thread.ok(),
    });
}

/// Runs the builds in order. The last one determines the program to debug.
fn build_all(plans: &[Plan], build_context: &mut BuildContext) -> Result<Built, Unbuilt> {
    let mut last = Built::default();
    for plan in plans {
        last = build(plan, build_context)?;
    }
    Ok(last)
}
