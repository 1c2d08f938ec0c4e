//! The host of a session: owns the debugger, and does for several clients what they ask.
//!
//! The debugger answers its commands one after the other, and tells stops, output and ends when they come. Whatever it tells goes to each client
//! that waits for something; if none does, it is kept for the next one that comes. So a stop that nobody was there for isn't lost.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, after, never, select};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::child::Debugger;
use super::wire::{Done, Reply, Request, State, Status};

/// The most bytes of records that are kept for a client that comes later.
const MOST_KEPT: usize = 4 << 20;
/// How long a session stays after its program has ended, or shorter if its own time is.
const AFTER_END: Duration = Duration::from_secs(5 * 60);
/// How long the debugger may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A command that does nothing. What commands of breakpoints, and the lines of defined commands, show comes behind the stop and the command itself:
/// where this is answered, all of it was told.
const FENCE: &str = "# all is told";

/// What clients tell a host.
pub enum Asked {
    /// A request of the client of a number, and where its replies go. A client whose replies pile up is left.
    Request(u64, Request, Sender<Reply>),
    /// The client of that number has left, whatever it waits for.
    Left(u64),
}

/// What is asked and has not been done yet.
struct Work {
    client: u64,
    replies: Sender<Reply>,
    /// Commands that the debugger hasn't got yet.
    commands: VecDeque<String>,
    /// The command that it has not answered yet.
    unanswered: Option<String>,
    /// Whether a command was answered: where the program runs then, that lets it run.
    has_begun: bool,
    /// Whether nothing more is to come but what the program does.
    is_all_told: bool,
    /// Whether it waits while the program runs.
    waits: bool,
    deadline: Option<Instant>,
    /// Its client doesn't read.
    is_gone: bool,
}

/// The parts of a record that the host looks at.
#[derive(Deserialize)]
struct Head {
    record: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    by: Option<String>,
    #[serde(default)]
    state: Option<State>,
}

/// A session.
pub struct Host {
    debugger: Debugger,
    program: String,
    begun: Instant,
    state: State,
    work: Vec<Work>,
    /// Commands that were given up before they were answered.
    abandoned: Vec<String>,
    kept: VecDeque<Box<RawValue>>,
    kept_bytes: usize,
    forgotten: u64,
    idle: Duration,
    /// Whether a client knows that the session is over.
    has_told_end: bool,
    /// Since when no client has been there.
    alone_since: Instant,
}

impl Host {
    /// A session with a debugger. `program` is what it debugs, for people. Without a client it ends after `idle`.
    pub fn new(debugger: Debugger, program: String, idle: Duration) -> Host {
        let now = Instant::now();
        Host {
            debugger,
            program,
            begun: now,
            state: State::NotStarted,
            work: Vec::new(),
            abandoned: Vec::new(),
            kept: VecDeque::new(),
            kept_bytes: 0,
            forgotten: 0,
            idle,
            has_told_end: false,
            alone_since: now,
        }
    }

    /// Serves requests until the session is over.
    pub fn run(mut self, asked: &Receiver<Asked>) {
        let mut records = self.debugger.records.clone();
        while !self.has_told_end {
            let timer = after(self.time_left());
            select! {
                recv(records) -> line => match line {
                    Ok(line) => self.record(&line),
                    // Somebody is to be told why, such as a program that isn't there.
                    Err(_) => {
                        self.state = State::Over;
                        records = never();
                    }
                },
                recv(asked) -> asked => match asked {
                    Ok(Asked::Request(client, request, replies)) => match request {
                        Request::End => return self.end(Some(&replies)),
                        Request::Status => self.tell_status(&replies),
                        request => self.begin(client, request, replies),
                    },
                    Ok(Asked::Left(client)) => self.leave(|work| work.client == client),
                    Err(_) => return self.end(None),
                },
                recv(timer) -> _ => {
                    if self.is_idle_too_long() {
                        return self.end(None);
                    }
                }
            }
            self.go_on();
        }
    }

    /// How long nothing happens by itself.
    fn time_left(&self) -> Duration {
        let deadlines = self.work.iter().filter_map(|work| work.deadline);
        let now = Instant::now();
        let alone = self.alone_since + self.longest_alone();
        let alone = self.work.is_empty().then_some(alone);
        let next = deadlines.chain(alone).min();
        next.map_or(Duration::from_secs(60), |next| {
            next.saturating_duration_since(now)
        })
    }

    fn longest_alone(&self) -> Duration {
        match self.state {
            State::Ended => self.idle.min(AFTER_END),
            State::Over => self.idle.min(PATIENCE),
            _ => self.idle,
        }
    }

    fn is_idle_too_long(&self) -> bool {
        self.work.is_empty() && self.alone_since.elapsed() >= self.longest_alone()
    }

    fn tell_status(&self, replies: &Sender<Reply>) {
        let status = Status {
            program: self.program.clone(),
            state: self.state,
            age: self.begun.elapsed().as_secs(),
            process: std::process::id(),
        };
        let _ = replies.try_send(Reply::Status(status));
    }

    /// Begins what is asked.
    fn begin(&mut self, client: u64, request: Request, replies: Sender<Reply>) {
        let deadline = request
            .within()
            .and_then(|time| Instant::now().checked_add(time));
        let (commands, waits) = match request {
            Request::Exec {
                commands, waits, ..
            } => (commands, waits),
            _ => (Vec::new(), true),
        };
        let lines = commands.iter().flat_map(|command| command.lines());
        let commands = lines.map(str::to_owned).collect();
        let mut work = Work {
            client,
            replies,
            commands,
            unanswered: None,
            has_begun: false,
            is_all_told: false,
            waits,
            deadline,
            is_gone: false,
        };
        if self.forgotten > 0 {
            work.send(Reply::Forgotten(std::mem::take(&mut self.forgotten)));
        }
        for record in self.kept.drain(..) {
            work.send(Reply::Record(record));
        }
        self.kept_bytes = 0;
        self.work.push(work);
    }

    /// Drops the work of clients that are gone. Those commands that the debugger has got are carried out.
    fn leave(&mut self, is_gone: impl Fn(&Work) -> bool) {
        for work in { &mut self.work }.extract_if(.., |work| is_gone(work)) {
            self.abandoned.extend(work.unanswered);
            self.alone_since = Instant::now();
        }
    }

    /// Takes a record of the debugger.
    fn record(&mut self, line: &str) {
        let Ok(head) = serde_json::from_str::<Head>(line) else {
            return;
        };
        let Ok(record) = serde_json::from_str::<Box<RawValue>>(line) else {
            return;
        };
        self.state = match (&*head.record, head.state) {
            (_, Some(state)) => state,
            ("stop", None) => State::Stopped,
            ("exited", None) => State::Ended,
            ("resumed", None) => State::Running,
            (_, None) => self.state,
        };
        let is_command = head.record == "command";
        let command = head.command.as_deref().unwrap_or_default();
        if !(is_command && command == FENCE) {
            for work in &mut self.work {
                work.is_all_told &= !is_command && head.record != "stop";
                work.send(Reply::Record(record.clone()));
            }
            self.leave(|work| work.is_gone);
            if self.work.is_empty() {
                self.keep(record);
            }
        }
        if is_command && head.by.is_none() {
            self.answered(command);
        }
    }

    /// A command was answered. Commands are answered in order, but for `interrupt`.
    fn answered(&mut self, command: &str) {
        if let Some(at) = self.abandoned.iter().position(|it| it == command) {
            self.abandoned.remove(at);
            return;
        }
        let waiting = self
            .work
            .iter_mut()
            .find(|it| it.unanswered.as_deref() == Some(command));
        if let Some(work) = waiting {
            work.unanswered = None;
            work.has_begun |= command != FENCE;
            work.is_all_told = command == FENCE;
        }
    }

    fn keep(&mut self, record: Box<RawValue>) {
        self.kept_bytes += record.get().len();
        self.kept.push_back(record);
        while self.kept_bytes > MOST_KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.kept_bytes -= oldest.get().len();
            self.forgotten += 1;
        }
    }

    /// Lets each client's work go on as far as it can.
    fn go_on(&mut self) {
        let mut at = 0;
        while at < self.work.len() {
            match self.step(at) {
                Some(done) => {
                    let mut work = self.work.remove(at);
                    self.abandoned.extend(work.unanswered.take());
                    self.has_told_end |= done.state == State::Over;
                    work.send(Reply::Done(done));
                    self.alone_since = Instant::now();
                }
                None => at += 1,
            }
        }
    }

    /// Gives the debugger the next command of a client. Returns how its work has ended, if it has.
    fn step(&mut self, at: usize) -> Option<Done> {
        let state = self.state;
        let work = &mut self.work[at];
        let done = Done {
            state,
            ..Done::default()
        };
        if state == State::Over {
            let given = work.unanswered.as_deref().filter(|it| *it != FENCE);
            let left = given.or(work.commands.front().map(String::as_str));
            return Some(Done {
                refused: left.map(|command| {
                    format!("`{command}` was not carried out: the debugger has ended")
                }),
                ..done
            });
        }
        let runs = state == State::Running;
        let is_over = work
            .deadline
            .is_some_and(|deadline| deadline <= Instant::now());
        let is_next_refused = runs && !work.has_begun && !work.commands.is_empty();
        // While the program runs, only its stop lets the fence be answered.
        let unanswered = work.unanswered.as_deref();
        let is_waiting = unanswered.is_some_and(|command| command != FENCE || !runs)
            || runs && work.waits && !is_next_refused;
        if is_waiting {
            return is_over.then_some(Done {
                time_over: true,
                ..done
            });
        }
        let command = match work.commands.pop_front() {
            Some(command) => command,
            None if work.is_all_told || runs => return Some(done),
            None => FENCE.to_owned(),
        };
        if runs && command.trim() != "interrupt" {
            return Some(Done {
                refused: Some(format!(
                    "`{command}` has to wait: the program runs; `wait` waits for its stop, `interrupt` stops it"
                )),
                ..done
            });
        }
        work.unanswered = Some(command.clone());
        self.debugger.command(&command);
        None
    }

    /// Ends the session.
    fn end(self, told: Option<&Sender<Reply>>) {
        let is_running = self.state == State::Running;
        let done = || {
            Reply::Done(Done {
                state: State::Over,
                ..Done::default()
            })
        };
        self.debugger.end(is_running, PATIENCE);
        for replies in self.work.iter().map(|work| &work.replies).chain(told) {
            let _ = replies.try_send(done());
        }
    }
}

impl Work {
    fn send(&mut self, reply: Reply) {
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            self.replies.try_send(reply)
        {
            self.is_gone = true;
        }
    }
}
