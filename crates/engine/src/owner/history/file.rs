//! The history of a recording that was read from a file: all of it is past.
//!
//! A process is started as the recorded one was, and stands still before its first instruction ([`Recording::begin`]). It takes the place of
//! the present, which is never shown; copies of it run. Where the recording ends, so does what can be run: the threads stop there.

use super::{Beside, Differences, History, HitCounts, Kept, Left, Moment};
use crate::event::StopReason;
use crate::owner::Owner;
use crate::owner::threads::Table;
use crate::stops::{Mode, Stops};
use crate::{Error, ThreadId};
use dapple_target::launch::{CheckpointLimits, LaunchOptions};
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::recording::file::Recording;
use dapple_target::linux::wait::Waker;
use dapple_target::process::Process;
use std::sync::Arc;

/// Reads a recording that is to be replayed, if the options name one; with the options to launch its program.
pub(in crate::owner) fn opened(
    options: &LaunchOptions,
) -> Result<Option<(Recording, LaunchOptions)>, Error> {
    let Some(file) = &options.replay else {
        return Ok(None);
    };
    let recording = Recording::open(file).map_err(|damage| not_replayed(options, &damage))?;
    // Before it is launched: a program that isn't there is told by this better.
    recording
        .check_files()
        .map_err(|why| not_replayed(options, &why))?;
    let launched = recording.launch_options();
    Ok(Some((recording, launched)))
}

/// Why a recording can't be replayed.
pub(in crate::owner) fn not_replayed(
    options: &LaunchOptions,
    why: &dyn std::fmt::Display,
) -> Error {
    Error::Recording {
        file: options.replay.clone().unwrap_or_default(),
        reason: why.to_string(),
    }
}

/// Begins to replay a recording, by a process that has just executed its program and is stopped there.
pub(in crate::owner) fn begun(
    process: LiveProcess,
    mut recording: Recording,
    limits: CheckpointLimits,
    waker: &Arc<Waker>,
) -> Result<(Arc<LiveProcess>, History), String> {
    let id = process.id();
    let (checkpoint, journal) = recording.begin(id)?;
    let registers = process.registers(id).map_err(|error| error.to_string())?;
    let moment = Moment {
        position: 0,
        runner: Some((id, registers)),
    };
    let mut history = History {
        journal: Some(journal),
        kept: vec![Kept {
            checkpoint,
            moment,
            bookmark: None,
            time: 0.0,
            is_lap: false,
            after: None,
            cost: 0,
            most: 0,
            given: (id, 0),
            beside: Beside::default(),
        }],
        end: Some(recording.end()),
        limits,
        ..History::default()
    };
    let copy = Arc::new(history.copy(0, id, waker)?);
    history.live = Some(Arc::clone(&copy));
    history.present = Some(Left {
        process: Arc::new(process),
        // No copy comes here.
        moment: Moment {
            position: usize::MAX,
            runner: None,
        },
        table: Table::default(),
        stops: Stops::at_rest(id, &[id]),
        counts: HitCounts::default(),
        shown: 0,
        differs: Differences::default(),
    });
    Ok((copy, history))
}

impl Owner {
    /// Whether a recording is replayed that was read from a file.
    pub(in crate::owner) fn replays_file(&self) -> bool {
        self.history.end.is_some()
    }

    /// The replay has come to its end with a thread. `false`: that is where the present is, in a process that is recorded.
    pub(in crate::owner) fn stops_at_end(&mut self, thread: ThreadId) -> bool {
        let Some(why) = self.history.end.clone() else {
            return false;
        };
        if self.mode() == Mode::Stopped {
            // It was told already: the stop that is reported must not be reported again.
            return true;
        }
        let reason = match self.process().parted() {
            None => StopReason::RecordingEnds { why },
            Some(parted) => {
                let why = format!("the recording could not be run again: {parted}");
                StopReason::NotReplayed { why }
            }
        };
        self.report(thread, reason);
        true
    }
}
