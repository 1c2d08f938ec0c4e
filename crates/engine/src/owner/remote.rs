//! Takes over a process behind a stub ([`dapple_target::remote`]).

use super::state::Debuggee;
use super::{CommandQueue, Owner, Parts};
use crate::debug_info::DebugInfoOptions;
use crate::event;
use crate::stops::Stops;
use crate::{Error, Event};
use crossbeam_channel::Sender;
use dapple_target::linux::output::Output;
use dapple_target::process::Process;
use dapple_target::process_info::{ProcessInfo, Start};
use dapple_target::remote::{self, GivingUp, RemoteOptions};
use dapple_target::stream::Stream;
use std::sync::Arc;

impl Owner {
    /// Has the stub carry out a command. What was known of threads and memory may not be so any more.
    pub(crate) fn monitor(&mut self, command: &str) -> Result<String, Error> {
        self.require_stopped()?;
        let said = self.process().monitor(command).map_err(Error::Refused)?;
        for thread in self.stopped_threads() {
            self.control(thread).registers = None;
        }
        self.forget_stacks();
        Ok(said)
    }

    /// Connects to a stub. All threads of its process are stopped when this returns.
    pub(crate) fn connect(
        options: &RemoteOptions,
        giving_up: &GivingUp,
        debug_info: DebugInfoOptions,
        events: Sender<Event>,
        queue: CommandQueue,
    ) -> Result<(Owner, ProcessInfo), Error> {
        queue.waker.adopt_current_thread();
        let refuse = |reason: String| Error::Connect {
            address: options.address.to_string(),
            reason,
        };
        let connected =
            remote::connect(options, giving_up, Arc::clone(&queue.waker)).map_err(refuse)?;
        let console = vec![(Stream::Stdout, connected.console.into())];
        let output = Output::start(console, &event::output_to(&events), queue.wakes())
            .map_err(|e| refuse(format!("its output can't be read: {e}")))?;
        let process = Arc::new(connected.process);
        let leader = process.id();
        let parts = Parts {
            debuggee: Debuggee {
                start: Start::Remote,
                of_launched: connected.of_launched,
                forbids_calls: false,
            },
            stops: Stops::at_rest(leader, &connected.threads),
            process,
            guardian: None,
            output,
            debug_info,
        };
        let mut owner = Owner::of(parts, events, queue);
        owner.interruptions().miss_earlier(&connected.threads);
        owner.set_current(connected.current);
        for thread in &connected.threads {
            owner.add_thread(*thread);
        }
        let info = ProcessInfo {
            pid: leader.0,
            program: owner.process().running_executable(),
            start: Start::Remote,
            of_launched: connected.of_launched,
            stopped: false,
        };
        owner.load_program(&info.program);
        owner.modules_changed();
        for thread in connected.threads {
            owner.tell(Event::ThreadStarted(thread));
        }
        Ok((owner, info))
    }
}
