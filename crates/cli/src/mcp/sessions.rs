//! The sessions of the server: each is a host in a thread ([`crate::session::host`]), with a debugger in a process of its own.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, bail};
use crossbeam_channel::{Sender, unbounded};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::arguments::Breakpoint;
use super::shown::plain;
use crate::session::child::Debugger;
use crate::session::host::{Asked, Host};
use crate::session::wire::{Done, Reply, Request, State};

/// How long a session stays without a question. The client may be a person who thinks.
const IDLE: Duration = Duration::from_secs(8 * 60 * 60);
/// The most bytes of the program's output that are kept.
const MOST_OUTPUT: usize = 1 << 20;
/// The most sessions at a time.
const MOST_SESSIONS: usize = 16;

/// All sessions.
#[derive(Default)]
pub struct Sessions {
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    by_name: BTreeMap<String, Arc<Session>>,
    /// The one that was begun or used last.
    last: Option<String>,
    /// How many there have been.
    begun: u64,
}

/// What a session is begun with.
pub struct Plan {
    /// What is debugged, for people.
    pub program: String,
    /// The folder in which it runs.
    pub folder: PathBuf,
    /// The arguments of `dapple debug`.
    pub arguments: Vec<OsString>,
    /// Whether the adapter is Dapple's.
    pub is_own_adapter: bool,
    /// Whether there is a program to run: not a core file, or a process that is attached to.
    pub is_launched: bool,
    /// The command that runs it.
    pub run: String,
    /// The file that it reads as its standard input. It is removed with the session.
    pub input: Option<NamedTempFile>,
}

/// A session.
pub struct Session {
    /// Its name.
    pub name: String,
    /// What it was begun with.
    pub plan: Plan,
    host: Sender<Asked>,
    thread: Mutex<Option<JoinHandle<()>>>,
    calls: AtomicU64,
    known: Mutex<Known>,
}

/// What is known of a session.
#[derive(Default)]
pub struct Known {
    /// What the program does.
    pub state: State,
    /// The record of the last stop, if the program is still there.
    pub stop: Option<Value>,
    /// The breakpoints on lines with a text.
    pub by_text: Vec<ByText>,
    output: VecDeque<u8>,
    /// How many bytes of the end of the output weren't shown yet.
    new_output: usize,
}

/// A breakpoint on a line with a text.
#[derive(Clone)]
pub struct ByText {
    /// Its number.
    pub number: u32,
    /// The line on which it is.
    pub line: u32,
    /// How it was asked for.
    pub wanted: Breakpoint,
}

/// What a session has told.
pub struct Told {
    /// The records, in order.
    pub records: Vec<Value>,
    /// How it has ended.
    pub done: Done,
}

/// A call of a tool at a session.
pub struct Call {
    /// The session.
    pub session: Arc<Session>,
    /// The number of the client at the host.
    number: u64,
    calling: Arc<Calling>,
}

/// A call of a tool, which the client may cancel.
#[derive(Default)]
pub struct Calling {
    is_cancelled: AtomicBool,
    waits_for: Mutex<Option<(Arc<Session>, u64)>>,
}

impl Calling {
    /// A session is used.
    pub fn at(self: &Arc<Self>, session: &Arc<Session>) -> Call {
        let number = session.calls.fetch_add(1, Ordering::Relaxed);
        *self.waits_for() = Some((Arc::clone(session), number));
        Call {
            session: Arc::clone(session),
            number,
            calling: Arc::clone(self),
        }
    }

    /// The client doesn't want the answer any more. The program goes on as it does.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
        if let Some((session, number)) = self.waits_for().take() {
            let _ = session.host.send(Asked::Left(number));
        }
    }

    fn waits_for(&self) -> MutexGuard<'_, Option<(Arc<Session>, u64)>> {
        self.waits_for
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions {
    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session.
    ///
    /// # Errors
    /// There is one of that name, there are too many, or the debugger can't be started.
    pub fn begin(&self, name: Option<String>, plan: Plan) -> anyhow::Result<Arc<Session>> {
        let mut all = self.all();
        if all.by_name.len() >= MOST_SESSIONS {
            bail!("there are {MOST_SESSIONS} sessions already; `end` ends one");
        }
        all.begun += 1;
        let name = name.unwrap_or_else(|| all.begun.to_string());
        if all.by_name.contains_key(&name) {
            bail!("there is a session `{name}` already; `end` ends it");
        }
        let debugger = Debugger::start(&plan.arguments, Some(&plan.folder))?;
        let host = Host::new(debugger, plan.program.clone(), IDLE);
        let (sender, asked) = unbounded();
        let thread = thread::spawn(move || host.run(&asked));
        let session = Arc::new(Session {
            name: name.clone(),
            plan,
            host: sender,
            thread: Mutex::new(Some(thread)),
            calls: AtomicU64::default(),
            known: Mutex::default(),
        });
        all.by_name.insert(name.clone(), Arc::clone(&session));
        all.last = Some(name);
        Ok(session)
    }

    /// The session of a name; without, the one that was used last.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, name: Option<&str>) -> anyhow::Result<Arc<Session>> {
        let mut all = self.all();
        let name = name.map(str::to_owned).or_else(|| all.last.clone());
        let name = name.context("there is no session; `start` begins one")?;
        let session = all.by_name.get(&name).cloned();
        let session = session.with_context(|| {
            let names: Vec<&str> = all.by_name.keys().map(String::as_str).collect();
            match names.len() {
                0 => format!("there is no session `{name}`; `start` begins one"),
                _ => format!(
                    "there is no session `{name}`; there are {}",
                    names.join(", ")
                ),
            }
        })?;
        all.last = Some(name);
        Ok(session)
    }

    /// All of them.
    pub fn list(&self) -> Vec<Arc<Session>> {
        self.all().by_name.values().cloned().collect()
    }

    /// Forgets a session that is over, or ends it.
    pub fn end(&self, session: &Session) {
        {
            let mut all = self.all();
            all.by_name.remove(&session.name);
            if all.last.as_deref() == Some(&*session.name) {
                all.last = all.by_name.keys().next_back().cloned();
            }
        }
        session.end();
    }

    /// Ends all.
    pub fn end_all(&self) {
        let all = self.list();
        for session in &all {
            session.tell_end();
        }
        for session in &all {
            self.end(session);
        }
    }
}

impl Session {
    /// What is known of it.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_end(&self) {
        let (replies, _) = unbounded();
        let _ = self.host.send(Asked::Request(0, Request::End, replies));
    }

    fn end(&self) {
        self.tell_end();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let _ = thread.map(JoinHandle::join);
    }
}

impl Call {
    /// Has commands carried out, and waits for the stop or the end of a program that they let run, for as long as that.
    pub fn exec(&self, commands: &[String], within: Duration) -> Told {
        self.ask(Request::Exec {
            commands: commands.to_vec(),
            waits: true,
            within: Some(milliseconds(within)),
        })
    }

    /// Takes what has happened meanwhile.
    pub fn catch_up(&self) -> Told {
        self.ask(Request::Exec {
            commands: Vec::new(),
            waits: false,
            within: Some(milliseconds(super::ANSWER)),
        })
    }

    /// Waits until the program doesn't run.
    pub fn wait(&self, within: Duration) -> Told {
        self.ask(Request::Wait {
            within: Some(milliseconds(within)),
        })
    }

    fn ask(&self, request: Request) -> Told {
        let (replies, told) = unbounded();
        let session = &self.session;
        let is_wanted = !self.calling.is_cancelled.load(Ordering::Acquire);
        let request = if is_wanted { request } else { Request::Status };
        let is_there = session
            .host
            .send(Asked::Request(self.number, request, replies));
        let mut records = Vec::new();
        // A call that was cancelled gets no end.
        let mut done = Done {
            state: is_there.map_or(State::Over, |()| session.known().state),
            ..Done::default()
        };
        for reply in told {
            match reply {
                Reply::Record(record) => {
                    let Ok(record) = serde_json::from_str::<Value>(record.get()) else {
                        continue;
                    };
                    let mut known = session.known();
                    known.note(&record);
                    if record["record"] != "output" {
                        records.push(record);
                    }
                }
                Reply::Done(it) => {
                    done = it;
                    break;
                }
                Reply::Forgotten(_) => {}
                Reply::Status(_) => break,
            }
        }
        session.known().state = done.state;
        Told { records, done }
    }
}

impl Known {
    fn note(&mut self, record: &Value) {
        match record["record"].as_str() {
            Some("stop") if record["selectedThread"].is_null() => self.stop = Some(record.clone()),
            Some("exited" | "resumed" | "end") => self.stop = None,
            Some("output") => {
                let text = record["text"].as_str().unwrap_or_default();
                self.output.extend(text.as_bytes());
                self.new_output += text.len();
                let surplus = self.output.len().saturating_sub(MOST_OUTPUT);
                self.output.drain(..surplus);
            }
            _ => {}
        }
    }

    /// The program's output that wasn't shown yet, or all that is kept. It counts as shown then.
    pub fn take_output(&mut self, all: bool) -> String {
        let length = self.output.len();
        let new = std::mem::take(&mut self.new_output);
        let shown = if all { length } else { new.min(length) };
        let bytes: Vec<u8> = self.output.range(length - shown..).copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = plain(&text);
        match new > length {
            true => format!("… {} bytes before that aren't kept\n{text}", new - length),
            false => text,
        }
    }

    /// The frame and thread that are selected at the stop.
    pub fn selected(&self) -> (Option<u64>, Option<i64>) {
        let Some(stop) = &self.stop else {
            return (None, None);
        };
        let frames = stop["frames"].as_array().into_iter().flatten();
        let selected = frames.into_iter().find(|it| it["selected"] == true);
        let frame = selected.and_then(|it| it["index"].as_u64());
        (frame, stop["thread"]["id"].as_i64())
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
