//! What the tools do, one call after the other. They may wait for the program; [`super::server`] has them do so beside each other.

use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

use super::ANSWER;
use super::answers::Answers;
use super::arguments::{
    Breakpoint, Breakpoints, Crashed, End, Evaluate, Inspect, More, Output, Run, Start, Step,
    Stuck, What, Wrote,
};
use super::beginning::plan;
use super::commands::{self, Limits, operand, word};
use super::permissions::Permissions;
use super::sessions::{ByText, Call, Calling, Session, Sessions, Told};
use super::shown::{Shown, plain};
use crate::session::wire::State;

/// How long a program that was let run is waited for, in seconds.
const WITHIN: u32 = 30;
/// The most seconds that a client may ask for.
const LONGEST: u32 = 3600;

/// The tools, and what they work on.
pub struct Tools {
    /// What the user has allowed.
    pub permissions: Permissions,
    /// The adapter of sessions that don't choose one.
    pub adapter: Option<String>,
    /// Answers that were cut.
    pub answers: Answers,
    /// The sessions.
    pub sessions: Sessions,
}

/// What a tool returns.
type Answered = anyhow::Result<Shown>;

impl Tools {
    /// `start`
    pub fn start(&self, asked: &Start, calling: &Arc<Calling>) -> Answered {
        let (plan, before) = plan(asked, self.adapter.as_deref(), &self.permissions)?;
        let is_launched = plan.is_launched;
        let name = asked.session.as_deref().map(|it| word("`session`", it));
        let name = name.transpose()?.map(str::to_owned);
        let session = self.sessions.begin(name, plan)?;
        let call = calling.at(&session);
        let mut shown = Shown::default();
        shown.line(&format!("session `{}`", session.name));
        let begun = self.prepare(&call, asked, &before, &mut shown);
        if let Err(error) = begun {
            self.sessions.end(&session);
            return Err(error);
        }
        if is_launched {
            let told = call.exec(from_ref(&session.plan.run), within(asked.within));
            self.moved(&session, &told, &mut shown);
        }
        Ok(shown)
    }

    /// Sets what is to be set before the program runs.
    fn prepare(
        &self,
        call: &Call,
        asked: &Start,
        before: &[String],
        shown: &mut Shown,
    ) -> anyhow::Result<()> {
        if call.session.plan.is_launched {
            if !before.is_empty() {
                without_failure(&call.exec(before, ANSWER))?;
            }
            return self.set(call, &asked.breakpoints, shown);
        }
        let told = call.wait(within(asked.within));
        if told.done.state != State::Stopped {
            let mut why = Shown::default();
            why.told(&told);
            bail!("there is nothing to debug: {}", why.text.trim_end());
        }
        self.set(call, &asked.breakpoints, shown)?;
        shown.told(&told);
        Ok(())
    }

    /// `breakpoints`
    pub fn breakpoints(&self, asked: &Breakpoints, calling: &Arc<Calling>) -> Answered {
        let (call, mut shown) = self.stopped_call(asked.session.as_deref(), calling)?;
        let session = &call.session;
        if asked.remove_all {
            without_failure(&call.exec(&["delete all".to_owned()], ANSWER))?;
            session.known().by_text.clear();
            shown.line("all breakpoints removed");
        }
        for number in &asked.remove {
            let told = call.exec(&[format!("delete {number}")], ANSWER);
            session.known().by_text.retain(|it| it.number != *number);
            shown.told(&told);
        }
        self.set(&call, &asked.add, &mut shown)?;
        if asked.add.is_empty() {
            shown.told(&call.exec(&["info breakpoints".to_owned()], ANSWER));
        }
        Ok(shown)
    }

    fn limits<'a>(&'a self, session: &'a Session) -> Limits<'a> {
        Limits {
            permissions: &self.permissions,
            folder: &session.plan.folder,
            is_own_adapter: session.plan.is_own_adapter,
        }
    }

    /// Sets breakpoints.
    fn set(&self, call: &Call, wanted: &[Breakpoint], shown: &mut Shown) -> anyhow::Result<()> {
        let limits = self.limits(&call.session);
        // So that nothing is set if something is wrong.
        let all = wanted.iter().map(|it| limits.breakpoint(it));
        let all = all.collect::<anyhow::Result<Vec<_>>>()?;
        for (wanted, (commands, line)) in wanted.iter().zip(all) {
            let told = call.exec(&commands, ANSWER);
            without_failure(&told)?;
            shown.told(&told);
            if let (Some(line), Some(number)) = (line, breakpoint_number(&told)) {
                let wanted = wanted.clone();
                call.session.known().by_text.push(ByText {
                    number,
                    line,
                    wanted,
                });
            }
        }
        Ok(())
    }

    /// `run`
    pub fn run(&self, asked: &Run, calling: &Arc<Calling>) -> Answered {
        let (call, news) = self.call(asked.session.as_deref(), calling)?;
        let session = &call.session;
        let mut shown = Shown::default();
        let time = within(asked.within);
        let state = session.known().state;
        if asked.restart {
            if !session.plan.is_launched {
                bail!("this session has not started its program, and can't start it again");
            }
            if state == State::Running {
                call.exec(&["interrupt".to_owned()], ANSWER);
            }
            self.move_by_text(&call, &mut shown)?;
            let told = call.exec(from_ref(&session.plan.run), time);
            self.moved(session, &told, &mut shown);
            return Ok(shown);
        }
        let has_stopped = news.records.iter().any(|it| it["record"] == "stop");
        if has_stopped && state == State::Stopped {
            shown.line("it has stopped meanwhile, and was not let run:");
            self.moved(session, &news, &mut shown);
            return Ok(shown);
        }
        let told = match (state, &asked.until) {
            (State::Running, None) => call.wait(time),
            (State::Running, Some(_)) => bail!(
                "the program runs: `where_is_it_stuck` stops it, and then it can be let run to a place"
            ),
            (State::Ended, _) => bail!("the program has ended; `restart` runs it again"),
            (State::NotStarted, None) => call.exec(from_ref(&session.plan.run), time),
            (_, Some(place)) => {
                let place = self.limits(session).place(place)?;
                let command = match asked.backwards {
                    true => "reverse-until",
                    false => "until",
                };
                call.exec(&[format!("{command} {place}")], time)
            }
            (_, None) if asked.backwards => call.exec(&["reverse-continue".to_owned()], time),
            (_, None) => call.exec(&["continue".to_owned()], time),
        };
        self.moved(session, &told, &mut shown);
        Ok(shown)
    }

    /// Moves breakpoints on lines with a text to where that is now.
    fn move_by_text(&self, call: &Call, shown: &mut Shown) -> anyhow::Result<()> {
        let before = call.session.known().by_text.clone();
        for old in before {
            let (commands, line) = self.limits(&call.session).breakpoint(&old.wanted)?;
            let Some(line) = line.filter(|line| *line != old.line) else {
                continue;
            };
            without_failure(&call.exec(&[format!("delete {}", old.number)], ANSWER))?;
            let told = call.exec(&commands, ANSWER);
            without_failure(&told)?;
            let Some(number) = breakpoint_number(&told) else {
                continue;
            };
            let mut known = call.session.known();
            known.by_text.retain(|it| it.number != old.number);
            known.by_text.push(ByText {
                number,
                line,
                wanted: old.wanted,
            });
            shown.line(&format!(
                "breakpoint {} is {number} now, and has moved with its text from line {} to line {line}",
                old.number, old.line
            ));
        }
        Ok(())
    }

    /// `step`
    pub fn step(&self, asked: &Step, calling: &Arc<Calling>) -> Answered {
        let command = commands::step(asked)?;
        let (call, mut shown) = self.stopped_call(asked.session.as_deref(), calling)?;
        let told = call.exec(&[command], within(asked.within));
        self.moved(&call.session, &told, &mut shown);
        Ok(shown)
    }

    /// `inspect`
    pub fn inspect(&self, asked: &Inspect, calling: &Arc<Calling>) -> Answered {
        if asked.what == What::Sessions {
            return Ok(self.list());
        }
        let (call, mut shown) = self.stopped_call(asked.session.as_deref(), calling)?;
        let commands = self.limits(&call.session).inspect(asked)?;
        shown.told(&at_place(&call, asked.frame, asked.thread, &commands)?);
        Ok(shown)
    }

    fn list(&self) -> Shown {
        let mut shown = Shown::default();
        let all = self.sessions.list();
        if all.is_empty() {
            shown.line("there is no session; `start` begins one");
        }
        for session in all {
            let state = session.known().state.text();
            let program = plain(&session.plan.program);
            shown.line(&format!("`{}`: {program}, {state}", session.name));
        }
        shown
    }

    /// `evaluate`
    pub fn evaluate(&self, asked: &Evaluate, calling: &Arc<Calling>) -> Answered {
        let (call, mut shown) = self.stopped_call(asked.session.as_deref(), calling)?;
        let limits = self.limits(&call.session);
        let expression = limits.expression("`expression`", &asked.expression)?;
        let command = match &asked.set {
            Some(value) => format!("set {expression} = {}", limits.expression("`set`", value)?),
            None => {
                let format = asked.format.as_deref().unwrap_or_default();
                if !format.chars().all(|c| c.is_ascii_alphanumeric()) {
                    bail!("`format` has only letters, such as `x`");
                }
                let format = if format.is_empty() {
                    String::new()
                } else {
                    format!("/{format}")
                };
                let whole = if asked.whole { " -full" } else { "" };
                format!("print{format}{whole} {}", operand(expression))
            }
        };
        shown.told(&at_place(&call, asked.frame, asked.thread, &[command])?);
        Ok(shown)
    }

    /// `output`
    pub fn output(&self, asked: &Output, calling: &Arc<Calling>) -> Answered {
        let (call, news) = self.call(asked.session.as_deref(), calling)?;
        let mut shown = Shown::default();
        shown.told(&news);
        let text = call.session.known().take_output(asked.all);
        match text.is_empty() {
            true => shown.line("the program has written nothing new"),
            false => shown.line(&text),
        }
        shown.state(&news);
        Ok(shown)
    }

    /// `where_is_it_stuck`
    pub fn where_is_it_stuck(&self, asked: &Stuck, calling: &Arc<Calling>) -> Answered {
        let (call, news) = self.call(asked.session.as_deref(), calling)?;
        let session = &call.session;
        let mut shown = Shown::default();
        let mut told = news;
        if session.known().state == State::Running {
            told = call.exec(&["interrupt".to_owned()], ANSWER);
            without_failure(&told)?;
        }
        self.moved(session, &told, &mut shown);
        if session.known().state != State::Stopped {
            return Ok(shown);
        }
        shown.line("all stacks:");
        shown.told(&call.exec(&["thread apply all backtrace".to_owned()], ANSWER));
        // Not every adapter has them, and not every program.
        for (title, command) in [("locks:", "info locks"), ("tasks:", "tasks tree")] {
            let told = call.exec(&[command.to_owned()], ANSWER);
            let text = |record: &Value| record["text"].as_str().map(str::to_owned);
            let is_none = |text: String| text.is_empty() || text.starts_with("no ");
            let has_some = !told.records.iter().filter_map(text).all(is_none);
            if has_some && without_failure(&told).is_ok() {
                shown.line(title);
                shown.told(&told);
            }
        }
        Ok(shown)
    }

    /// `why_did_it_crash`
    pub fn why_did_it_crash(&self, asked: &Crashed, calling: &Arc<Calling>) -> Answered {
        let mut shown = Shown::default();
        let call = match &asked.core {
            Some(_) => {
                let start = Start {
                    core: asked.core.clone(),
                    program: asked.program.clone(),
                    session: asked.session.clone(),
                    ..Start::default()
                };
                shown = self.start(&start, calling)?;
                let session = self.sessions.find(asked.session.as_deref())?;
                calling.at(&session)
            }
            None => self.call(asked.session.as_deref(), calling)?.0,
        };
        let session = &call.session;
        let (state, stop) = {
            let known = session.known();
            (known.state, known.stop.clone())
        };
        let Some(stop) = stop.filter(|_| state == State::Stopped) else {
            let state = state.text();
            bail!(
                "the program is not stopped by a crash: it is {state}; `output` shows what it has written, `run` with `restart` runs it again"
            );
        };
        if asked.core.is_none() {
            shown.place(&stop);
            shown.variables(&stop);
        }
        if stop["cause"]["reason"] != "exception" {
            shown.line("this is no crash: the program can go on");
            return Ok(shown);
        }
        for (title, command) in [
            ("more about the reason:", "why"),
            ("stack:", "backtrace -args"),
            ("threads:", "info threads"),
        ] {
            let told = call.exec(&[command.to_owned()], ANSWER);
            if without_failure(&told).is_ok() {
                shown.line(title);
                shown.told(&told);
            }
        }
        let hint = match is_recorded(session) {
            true => "`who_wrote` says which line has written a value",
            false => {
                "in a session that was started with `record`, `who_wrote` says which line has written a value"
            }
        };
        if session.plan.is_launched && session.plan.is_own_adapter {
            shown.line(hint);
        }
        Ok(shown)
    }

    /// `who_wrote`
    pub fn who_wrote(&self, asked: &Wrote, calling: &Arc<Calling>) -> Answered {
        if asked.all && asked.go_there {
            bail!("`go_there` is for one write: without `all`");
        }
        let (call, mut shown) = self.stopped_call(asked.session.as_deref(), calling)?;
        let expression = self.limits(&call.session);
        let expression = expression.expression("`expression`", &asked.expression)?;
        let all = if asked.all { "-all " } else { "" };
        let who = format!("who {all}{expression}");
        let told = at_place(&call, asked.frame, None, &[who])?;
        shown.told(&told);
        if !asked.go_there || shown.failed {
            return Ok(shown);
        }
        let Some(number) = moment(&told) else {
            shown.line("there is nowhere to go to");
            return Ok(shown);
        };
        // It leads to behind the write.
        let there = [format!("goto {number}"), "reverse-nexti".to_owned()];
        let mut told = call.exec(&there, within(None));
        without_failure(&told)?;
        let last = told.records.iter().rposition(|it| it["record"] == "stop");
        told.records.drain(..last.unwrap_or_default());
        shown.line("before the write:");
        self.moved(&call.session, &told, &mut shown);
        Ok(shown)
    }

    /// `more`
    pub fn more(&self, asked: &More) -> anyhow::Result<String> {
        let more = self.answers.more(&asked.cursor);
        more.context("nothing is kept for this cursor: only the last long answers are")
    }

    /// `end`
    pub fn end(&self, asked: &End) -> Answered {
        let session = self.sessions.find(asked.session.as_deref())?;
        self.sessions.end(&session);
        let mut shown = Shown::default();
        shown.line(&format!("session `{}` has ended", session.name));
        Ok(shown)
    }

    /// A call at a session, with what has happened there since the last one.
    fn call(&self, name: Option<&str>, calling: &Arc<Calling>) -> anyhow::Result<(Call, Told)> {
        let session = self.sessions.find(name)?;
        let call = calling.at(&session);
        let news = call.catch_up();
        if news.done.state == State::Over {
            self.sessions.end(&session);
            let mut why = Shown::default();
            why.told(&news);
            bail!(
                "session `{}` is over: its debugger has ended\n{}",
                session.name,
                why.text.trim_end()
            );
        }
        Ok((call, news))
    }

    /// A call at a session whose program is stopped. What has happened since the last one comes first in the answer.
    fn stopped_call(
        &self,
        name: Option<&str>,
        calling: &Arc<Calling>,
    ) -> anyhow::Result<(Call, Shown)> {
        let (call, news) = self.call(name, calling)?;
        if call.session.known().state == State::Running {
            bail!(
                "the program runs: `run` waits for its stop, `where_is_it_stuck` stops it and shows where it is"
            );
        }
        let mut shown = Shown::default();
        shown.told(&news);
        shown.failed = false;
        Ok((call, shown))
    }

    /// What a program has done that was let run.
    fn moved(&self, session: &Session, told: &Told, shown: &mut Shown) {
        shown.told(told);
        shown.output(session);
        shown.state(told);
        if told.done.state == State::Over {
            self.sessions.end(session);
        }
    }
}

/// Has commands carried out with a frame or thread selected, and selects those of the stop again.
fn at_place(
    call: &Call,
    frame: Option<u32>,
    thread: Option<i64>,
    commands: &[String],
) -> anyhow::Result<Told> {
    let (own_frame, own_thread) = call.session.known().selected();
    let other = thread.filter(|it| Some(*it) != own_thread);
    let mut there = Vec::new();
    there.extend(other.map(|it| format!("thread {it}")));
    there.extend(frame.map(|it| format!("frame {it}")));
    if there.is_empty() {
        return Ok(call.exec(commands, ANSWER));
    }
    let mut back = Vec::new();
    back.extend(other.and(own_thread).map(|it| format!("thread {it}")));
    back.extend(own_frame.map(|it| format!("frame {it}")));
    let selected = without_failure(&call.exec(&there, ANSWER));
    let told = selected.map(|()| call.exec(commands, ANSWER));
    call.exec(&back, ANSWER);
    told
}

/// An error, if a command has failed.
fn without_failure(told: &Told) -> anyhow::Result<()> {
    if let Some(refused) = &told.done.refused {
        bail!("{refused}");
    }
    let message = |record: &Value| record["error"]["message"].as_str().map(plain);
    match told.records.iter().find_map(message) {
        Some(message) => bail!("{}", message.trim_end()),
        None => Ok(()),
    }
}

/// The number of the breakpoint that commands have set.
fn breakpoint_number(told: &Told) -> Option<u32> {
    let items = told.records.iter().filter_map(|it| it["items"].as_array());
    let mut breakpoints = items.flatten().filter(|it| it["kind"] == "breakpoint");
    breakpoints.find_map(|it| u32::try_from(it["number"].as_u64()?).ok())
}

/// The number of the write's moment in the answer of `who`.
fn moment(told: &Told) -> Option<u32> {
    let items = told.records.iter().filter_map(|it| it["items"].as_array());
    let mut writes = items.flatten().filter(|it| it["kind"] == "write");
    writes.find_map(|it| u32::try_from(it["bookmark"].as_u64()?).ok())
}

fn is_recorded(session: &Session) -> bool {
    session.plan.arguments.iter().any(|it| it == "--record")
}

fn within(seconds: Option<u32>) -> Duration {
    Duration::from_secs(u64::from(seconds.unwrap_or(WITHIN).min(LONGEST)))
}
