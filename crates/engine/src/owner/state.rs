//! The owner's state in groups. The state of threads is in [`super::threads`].

use super::{Command, CommandQueue, background, breakpoint_calls, debuginfod, link_maps};
use crate::debug_info::DebugInfoOptions;
use crate::event::Stop;
use crate::indexing::Indexing;
use crate::{Event, ThreadId};
use crossbeam_channel::{Receiver, Sender};
use dapple_inspect::values::Value;
use dapple_target::linux::input::Input;
use dapple_target::linux::output::Output;
use dapple_target::linux::wait::Waker;
use dapple_target::process_info::Start;
use std::sync::Arc;

/// The stop number before any stop was reported.
pub(super) const FIRST_STOP: u64 = 1;

/// The process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Debuggee {
    pub(super) start: Start,
    /// Whether a debugger has launched the process or an ancestor of it. If so, the process is killed when the debugger ends.
    pub(super) of_launched: bool,
    /// Whether none of its functions is called.
    pub(super) forbids_calls: bool,
}

/// The connection to the session: commands in, events and output out.
pub(super) struct Link {
    pub(super) events: Sender<Event>,
    pub(super) commands: Receiver<Command>,
    pub(super) waker: Arc<Waker>,
    /// What background threads (indexing, debuginfod) get to send their results.
    pub(super) back: background::Back,
    /// Its destructor tells background threads that the session is over. It is dropped before [`Loading`], so that they begin nothing new
    /// while that is dropped.
    _beside: background::Ending,
    pub(super) output: Output,
    pub(super) input: Option<Input>,
}

impl Link {
    pub(super) fn new(queue: CommandQueue, events: Sender<Event>, output: Output) -> Link {
        let (back, beside) = background::Back::new(queue.sender, Arc::clone(&queue.waker));
        Link {
            events,
            commands: queue.commands,
            waker: queue.waker,
            back,
            _beside: beside,
            output,
            input: None,
        }
    }
}

/// State of loading modules and their debug information.
pub(super) struct Loading {
    pub(super) last_module: u64,
    pub(super) loader: link_maps::Loader,
    pub(super) indexing: Indexing,
    pub(super) debuginfod: debuginfod::Debuginfod,
    /// The problems with debug information that were reported.
    pub(super) warnings: crate::warnings::Reported,
}

impl Loading {
    pub(super) fn new(options: DebugInfoOptions, back: &background::Back) -> Loading {
        Loading {
            last_module: 0,
            loader: link_maps::Loader::default(),
            indexing: Indexing::new(options.index_cache),
            debuginfod: match options.debuginfod {
                true => debuginfod::Debuginfod::start(back.clone()),
                false => debuginfod::Debuginfod::default(),
            },
            warnings: crate::warnings::Reported::default(),
        }
    }
}

/// The present stop, and what is known of the next one.
pub(super) struct StopState {
    /// Stops to report once all threads are stopped.
    pub(super) reports: Vec<Stop>,
    /// The pause that was requested and isn't reported yet. `Some(None)`: any thread may be the one that the pause is reported for.
    pub(super) pause: Option<Option<ThreadId>>,
    /// Counts the stops that were reported. A frame's id has the number of the stop that the frame belongs to.
    pub(super) number: u64,
    /// The thread that stopped last.
    pub(super) current: ThreadId,
    /// The data breakpoints whose data was accessed, as the present stop says.
    accessed: Vec<i64>,
    pub(super) asking: breakpoint_calls::Asking,
    /// The threads that are waited for.
    pub(super) wait: super::stop_all::StopWait,
    /// Results of inferior calls that are still shown, each with the thread of its call. Their destructors have to run before the program
    /// goes on.
    pub(super) kept_temporaries: Vec<(ThreadId, Value)>,
}

impl StopState {
    /// The next stop is reported.
    pub(super) fn begins(&mut self, stops: &[Stop]) {
        self.number += 1;
        self.kept_temporaries.clear();
        let hits = stops.iter().flat_map(|stop| stop.reason.data_hits());
        self.accessed = hits.map(|hit| hit.breakpoint).collect();
    }

    /// The data breakpoints whose data was accessed, as the present stop says.
    pub(super) fn accessed(&self) -> &[i64] {
        &self.accessed
    }

    pub(super) fn new(current: ThreadId) -> StopState {
        StopState {
            reports: Vec::new(),
            pause: None,
            number: FIRST_STOP,
            current,
            accessed: Vec::new(),
            asking: breakpoint_calls::Asking::default(),
            wait: super::stop_all::StopWait::default(),
            kept_temporaries: Vec::new(),
        }
    }
}

/// How the session with this process ends.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    /// The signal that asks the program to end. It is delivered whatever the signal table says.
    pub(super) ends_with: Option<i32>,
    /// Whether all threads are being stopped for a detach.
    pub(super) detaching: bool,
    /// Whether the process is to be left stopped by SIGSTOP when it is detached.
    pub(super) suspend: bool,
    /// Why the process can't be reached any more.
    pub(super) lost: Option<String>,
    pub(super) over: bool,
}
