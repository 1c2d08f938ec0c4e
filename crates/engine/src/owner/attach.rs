//! Attaches to a running process, or takes over a child that another session has handed over ([`crate::forks`]).

use super::state::{Debuggee, FIRST_STOP};
use super::{CommandQueue, Owner, Parts, attached};
use crate::attach::AttachOptions;
use crate::event::{self, StopReason};
use crate::forks::Arrival;
use crate::stops::Stops;
use crate::{Error, Event, ThreadId};
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use dapple_inspect::inspect::Inspect;
use dapple_target::linux::attach::{self, AtDebuggersEnd};
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::output::Output;
use dapple_target::process_info::{ProcessInfo, Start};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the threads may take to stop. Usually they take milliseconds. They take longer if one waits uninterruptibly in the kernel, for
/// a broken disk or for a child of vfork(2).
const PATIENCE: Duration = Duration::from_secs(10);

const ENDED: &str = "it has ended meanwhile";

fn refusal(process: ThreadId, reason: String) -> Error {
    Error::Attach {
        process: process.0,
        reason,
    }
}

/// Begins to trace all threads of a process, which run on meanwhile, and opens the process's memory.
fn trace(
    process: ThreadId,
    of_launched: bool,
    queue: &CommandQueue,
) -> Result<(Vec<ThreadId>, LiveProcess), Error> {
    let at_end = match of_launched {
        true => AtDebuggersEnd::IsKilled,
        false => AtDebuggersEnd::Survives,
    };
    let threads = attach::seize(process, at_end)?;
    let live = LiveProcess::open(process, Arc::clone(&queue.waker));
    let live = live.map_err(|e| match e.raw_os_error() {
        Some(libc::ESRCH) => refusal(process, ENDED.into()),
        _ => refusal(process, format!("its memory can't be read: {e}")),
    })?;
    Ok((threads, live))
}

impl Owner {
    /// Attaches to a process. All its threads are stopped when this returns.
    pub(crate) fn attach(
        options: &AttachOptions,
        events: Sender<Event>,
        queue: CommandQueue,
    ) -> Result<(Owner, ProcessInfo), Error> {
        queue.waker.adopt_current_thread();
        let process = ThreadId(options.process);
        let refuse = |reason: String| refusal(process, reason);
        let arrival = match &options.handed_over {
            Some(place) => Some(Arrival::at(place).map_err(refuse)?),
            None => None,
        };
        let parked = arrival.as_ref().map(|arrival| arrival.parked);
        let of_launched = parked.is_some_and(|parked| parked.of_launched);
        let stopped = attach::stopped_by_signal(process);
        let (threads, live) = trace(process, of_launched, &queue)?;
        let guardian = match of_launched {
            true => None,
            false => attached::guardian_of(process),
        };
        let output = Output::start(Vec::new(), &event::output_to(&events), None)
            .map_err(|e| refuse(format!("the debugger has no pipe: {e}")))?;
        let mut stops = Stops::stopping(process, &threads);
        stops.follow(options.follow_forks);
        let parts = Parts {
            debuggee: Debuggee {
                start: Start::Attached,
                of_launched,
                forbids_calls: false,
            },
            stops,
            process: Arc::new(live),
            guardian,
            output,
            debug_info: options.debug_info.clone(),
        };
        let mut owner = Owner::of(parts, events, queue);
        // Threads may be in handlers.
        owner.interruptions().miss_earlier(&threads);
        owner.set_current(threads.first().copied().unwrap_or(process));
        for &thread in &threads {
            owner.add_thread(thread);
            owner.tell(Event::ThreadStarted(thread));
            // Fails only if the thread has died. The next wait reports that it has.
            let _ = owner.process().interrupt(thread);
        }
        owner.stop.pause = Some(Some(process));
        owner.children.parked = parked;
        if let Err(reason) = owner.wait_until_stopped() {
            if !owner.is_over() {
                owner.detach();
            }
            return Err(refuse(reason));
        }
        if let Some(arrival) = arrival {
            arrival.confirm();
        }
        // The program is read only now: the process may have executed another one (exec) while its threads were being stopped.
        let info = ProcessInfo {
            pid: process.0,
            program: owner.process().running_executable(),
            start: Start::Attached,
            of_launched,
            stopped,
        };
        // If the process has executed a program meanwhile, handling that event has loaded it already.
        if owner.modules().iter().next().is_none() {
            owner.load_program(&info.program);
        }
        owner.modules_changed();
        Ok((owner, info))
    }

    /// The reason of a stop that no thread has caused: the first stop after attaching, or a pause that the user asked for.
    pub(super) fn pause_reason(&self) -> StopReason {
        match (self.debuggee.start, self.stop_number()) {
            (Start::Attached, FIRST_STOP) => StopReason::Entry,
            _ => StopReason::Pause,
        }
    }

    /// Waits until all threads are stopped. The error says why they aren't, with "it" for the process.
    fn wait_until_stopped(&mut self) -> Result<(), String> {
        let start = Instant::now();
        let (_in_time, over) = bounded::<Infallible>(0);
        let alarm = Arc::clone(&self.link.waker);
        std::thread::Builder::new()
            .name("attach timeout".into())
            .spawn(move || {
                if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    alarm.wake();
                }
            })
            .map_err(|e| format!("waiting for it failed: {e}"))?;
        self.attend_until(|owner| owner.is_stopped() || start.elapsed() >= PATIENCE);
        if self.is_over() {
            return Err(ENDED.into());
        }
        if !self.is_stopped() {
            return Err(format!(
                "it does not stop: {}",
                attach::obstinate(self.process().id())
            ));
        }
        Ok(())
    }
}
