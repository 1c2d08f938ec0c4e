//! Runs a program to its end, recorded to a file. Nothing stops it: there is no debugger but this loop.

use super::file::{Beginning, RecordingWriter, Unwritten};
use super::{Recorder, start};
use crate::exit_status::ExitStatus;
use crate::launch::LaunchOptions;
use crate::linux::alarm::Alarm;
use crate::linux::live_process::LiveProcess;
use crate::linux::wait::{self, Waker};
use crate::linux::{launch, ptrace};
use crate::process::{Process, Resume, Waited};
use crate::wait_event::{WaitEvent, What};
use crate::{Error, ThreadId};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How often what was recorded is written at least.
const REGULARLY: Duration = Duration::from_millis(200);
/// How many entries wait at most.
const MOST_WAITING: usize = 256;

/// A program that was recorded to its end.
#[derive(Debug)]
pub struct Recorded {
    /// How it has ended.
    pub status: ExitStatus,
    /// How many things came from outside; or why the file could not be written to its end.
    pub events: io::Result<u64>,
    /// Why nothing was recorded any more, as the end of a sentence. `None`: all was.
    pub gap: Option<String>,
}

/// Why a program wasn't recorded.
#[derive(Debug, thiserror::Error)]
pub enum NotRecorded {
    /// It could not be launched.
    #[error(transparent)]
    Launch(#[from] Error),
    /// It could not be recorded from its beginning. The program has not run.
    #[error("it can't be recorded: {0}")]
    Start(String),
    /// Its file could not be written. The program has not run.
    #[error("the recording can't be written: {0}")]
    Unwritten(#[from] io::Error),
}

/// Runs a program to its end, and writes what was recorded to an empty file.
///
/// # Errors
/// It can't be launched or recorded, or the file can't be written.
pub fn run(options: &LaunchOptions, file: File) -> Result<Recorded, NotRecorded> {
    let waker = Arc::new(Waker::default());
    waker.adopt_current_thread();
    let launched = launch::launch(options)?;
    let thread = launched.process;
    let begun = start::prepare(thread)
        .and_then(|()| Beginning::of(thread, &launched.program, &options.args))
        .map_err(NotRecorded::Start)
        .and_then(|beginning| Ok(RecordingWriter::new(file, &beginning)?))
        .and_then(|writer| {
            let process = LiveProcess::open(thread, Arc::clone(&waker))?;
            let mut recorder = Recorder::new(thread).map_err(NotRecorded::Start)?;
            recorder.keep_contents();
            Ok((process.recorded(recorder), writer))
        });
    let (process, writer) = begun.inspect_err(|_| wait::abandon(thread))?;
    let mut run = Run {
        process,
        waker,
        writer,
        early: BTreeSet::new(),
    };
    let status = run.until_end();
    let status = status.inspect_err(|_| wait::abandon(thread))?;
    Ok(run.finish(status))
}

/// A program that runs.
struct Run {
    process: LiveProcess,
    waker: Arc<Waker>,
    writer: RecordingWriter,
    /// Threads and processes that have stopped before their maker has told of them.
    early: BTreeSet<ThreadId>,
}

impl Run {
    /// Runs the program to its end.
    fn until_end(&mut self) -> Result<ExitStatus, NotRecorded> {
        let mut alarm = Alarm::default();
        alarm.ring_every(REGULARLY);
        let first = self.process.id();
        self.process.resume(first, Resume::Continue, 0)?;
        loop {
            match self.process.next_event(None)? {
                Waited::Event(event) => {
                    if let What::Exited(status) = event.what
                        && event.thread == first
                    {
                        return Ok(status);
                    }
                    self.happens(event);
                    self.write(MOST_WAITING);
                }
                Waited::Woken => {
                    self.waker.take();
                    self.write(0);
                }
                // Its end was reported to somebody else.
                Waited::NoThreads => return Ok(ExitStatus::Signal(libc::SIGKILL)),
            }
        }
    }

    /// Writes what was recorded, if there is more than so much. If that can't be, the recording ends.
    fn write(&mut self, than: usize) {
        let Some(mut recorder) = self.process.recorder() else {
            return;
        };
        if recorder.journal().len() < than {
            return;
        }
        match self.writer.take(recorder.journal()) {
            Ok(()) => {}
            Err(Unwritten::Ends(reason)) => recorder.end(reason),
            Err(Unwritten::Failed(error)) => {
                recorder.end(format!("its file can't be written: {error}"));
            }
        }
    }

    /// Lets a thread go on behind an event.
    fn happens(&mut self, event: WaitEvent) {
        let WaitEvent { thread, what } = event;
        let is_recorded = { self.process.recorder() }.is_some_and(|recorder| recorder.has(thread));
        let mut signal = 0;
        match what {
            What::Exited(_) => return,
            What::Interrupted { .. } if !is_recorded => {
                self.early.insert(thread);
                return;
            }
            _ if !is_recorded => {
                // It has died, or goes on.
                let _ = ptrace::cont(thread, 0);
                return;
            }
            What::NewThread(made) if self.early.remove(&made) => {
                let _ = self.process.resume(made, Resume::Continue, 0);
            }
            What::NewProcess { child, .. } => self.let_child_go(child),
            What::Signal(number) => signal = number,
            _ => {}
        }
        // If it has died, the next event says so.
        let _ = self.process.resume(thread, Resume::Continue, signal);
    }

    /// Lets a process go on that isn't recorded.
    fn let_child_go(&mut self, child: ThreadId) {
        if !self.early.remove(&child) && !self.process.wait_until_stopped(child) {
            return;
        }
        if let Err(reason) = start::untrap_time(child) {
            tracing::debug!(%child, %reason, "instructions still trap that read the time");
        }
        let _ = ptrace::detach(child, 0);
    }

    /// Writes the rest.
    fn finish(mut self, status: ExitStatus) -> Recorded {
        self.write(0);
        let gap = { self.process.recorder() }.and_then(|recorder| recorder.journal().gap());
        Recorded {
            status,
            events: self.writer.finish(gap.clone(), status),
            gap,
        }
    }
}
