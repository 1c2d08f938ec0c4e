//! Building the program before it is started, beside the session: requests go on being answered, and the client configures meanwhile.

use super::{Finish, Prepared, settle, start_built, tell_initialized};
use crate::adapter::{Adapter, Phase};
use crate::building::{Built, Plan, Site, Unbuilt, build};
use crossbeam_channel::{Sender, TryRecvError, bounded};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::TerminatedEvent;
use std::convert::Infallible;
use std::thread::JoinHandle;

/// A build under way. Dropped, it is given up, and nothing of it is left.
pub struct Building {
    /// Dropped first: the build is given up by that.
    wanted: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Building {
    /// Gives it up.
    pub fn give_up(&mut self) {
        self.wanted = None;
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        self.give_up();
        if let Some(thread) = self.thread.take() {
            // What went wrong there was said there.
            let _ = thread.join();
        }
    }
}

/// Begins to build; the program is started when that is done.
pub fn begin(adapter: &mut Adapter, prepared: Prepared, context: &mut Context, finish: Finish) {
    let outbox = context.outbox().clone();
    let (wanted, over) = bounded(0);
    let cancelled = context.cancelled().clone();
    let is_wanted =
        move || over.try_recv() == Err(TryRecvError::Empty) && !cancelled.is_cancelled();
    adapter.phase = Phase::Awaited;
    // Some clients wait for this for seconds only, and a build takes longer.
    tell_initialized(adapter, &outbox);
    let title = prepared.plans.first().map(Plan::title).unwrap_or_default();
    let programs = adapter.options.programs.clone();
    let later = adapter.later.clone();
    let work = move || {
        let mut site = Site::new(&outbox, title, programs, is_wanted);
        let built = build_all(&prepared.plans, &mut site);
        drop(site);
        later.run(move |adapter, outbox, client| {
            let was_ended = adapter.phase != Phase::Awaited;
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

/// Builds one after the other; the last says what is debugged.
fn build_all(plans: &[Plan], site: &mut Site) -> Result<Built, Unbuilt> {
    let mut last = Built::default();
    for plan in plans {
        last = build(plan, site)?;
    }
    Ok(last)
}
