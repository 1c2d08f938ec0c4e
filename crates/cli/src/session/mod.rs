//! `dapple session`: debug sessions that outlive the shell command, for scripts and agents whose shells don't last.
//!
//! `start` leaves a process behind, the [`host`], which has a debugger (`dapple debug --json`, in [`child`]) and a socket in a [`folder`] of the
//! user's own. The other commands connect to it ([`client`]), ask what [`wire`] names, and show what it tells.

pub mod child;
mod client;
mod folder;
pub mod host;
mod serve;
pub mod wire;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Deserialize;

use crate::debug;
use crate::debug::exit_codes::{COMMAND_FAILED, NOTHING_TO_DEBUG, TIME_OVER};
use client::Client;
use wire::{Done, Reply, Request, State};

/// The options of `dapple session`.
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Begin a session, which stays until it is ended or nobody has come for a time
    Start(Box<Start>),
    /// Carry out commands in a session, and wait for the stop or the end of a program that they let run
    Exec(Exec),
    /// Show what has happened, and wait until the program has stopped or ended
    Wait(Wait),
    /// List the sessions
    List(Shown),
    /// End a session, and its program unless it was attached to
    End(End),
    /// Be the host of a session
    #[command(hide = true)]
    Host(Host),
}

#[derive(Args)]
struct Start {
    /// The session's name; without, it is the program's
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// After how many minutes without a command the session ends
    #[arg(long, value_name = "MINUTES", default_value = "30", value_parser = minutes)]
    idle: Duration,
    /// After how many seconds `start` waits no longer for what its commands let run
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    within: u64,
    #[command(flatten)]
    debug: debug::Options,
}

#[derive(Args)]
struct Named {
    /// The session; without, DAPPLE_SESSION names it, or it is the only one
    #[arg(long, alias = "name", value_name = "NAME")]
    session: Option<String>,
    #[command(flatten)]
    shown: Shown,
}

#[derive(Args)]
struct Shown {
    /// Print objects of JSON, a line each: those of `dapple debug --json`, with their text
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Exec {
    #[command(flatten)]
    named: Named,
    /// Don't wait for the program's stop
    #[arg(long)]
    no_wait: bool,
    /// After how many seconds to give up waiting, with exit code 124; the program runs on
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    within: u64,
    /// A command of `dapple debug` each
    #[arg(required = true, value_name = "COMMAND")]
    commands: Vec<String>,
}

#[derive(Args)]
struct Wait {
    #[command(flatten)]
    named: Named,
    /// After how many seconds to give up, with exit code 124
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    within: u64,
}

#[derive(Args)]
struct End {
    #[command(flatten)]
    named: Named,
    /// End all sessions
    #[arg(long, conflicts_with = "session")]
    all: bool,
}

#[derive(Args)]
struct Host {
    #[arg(long)]
    name: String,
    #[arg(long)]
    program: String,
    #[arg(long)]
    idle: u64,
    /// The arguments of `dapple debug`
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// Runs a command of `dapple session`, and returns its exit code.
///
/// # Errors
/// There is no such session, or it can't be started or reached.
pub fn run(options: Options) -> anyhow::Result<u8> {
    match options.what {
        What::Start(start) => begin(*start),
        What::Exec(exec) => {
            let request = Request::Exec {
                commands: exec.commands,
                waits: !exec.no_wait,
                within: Some(exec.within.saturating_mul(1000)),
            };
            ask(&exec.named, &request)
        }
        What::Wait(wait) => {
            let within = Some(wait.within.saturating_mul(1000));
            ask(&wait.named, &Request::Wait { within })
        }
        What::List(shown) => list(&shown),
        What::End(end) if end.all => {
            let folder = folder::folder()?;
            for (name, _) in client::all(&folder) {
                finish(&name)?;
            }
            Ok(0)
        }
        What::End(end) => finish(&chosen(&end.named)?),
        What::Host(host) => {
            let socket = folder::socket(&folder::folder()?, &host.name)?;
            let idle = Duration::from_millis(host.idle);
            serve::serve(&socket, host.program, idle, &host.arguments)?;
            Ok(0)
        }
    }
}

/// Starts a host, and has it carry out the commands that were given.
fn begin(start: Start) -> anyhow::Result<u8> {
    let folder = folder::folder()?;
    let program = start.debug.debuggee();
    let name = start
        .name
        .unwrap_or_else(|| folder::name_for(&folder, &program));
    if Client::of(&folder, &name)?.is_some() {
        bail!("there is a session `{name}` already; `dapple session end --session {name}` ends it");
    }
    let is_json = start.debug.json;
    let (arguments, commands) = start.debug.for_host()?;
    let own = std::env::current_exe().context("this program's own file can't be found")?;
    let mut host = Command::new(own);
    host.args(["session", "host", "--name", &name, "--program", &program]);
    host.args(["--idle", &start.idle.as_millis().to_string(), "--"])
        .args(arguments);
    host.stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut host = host
        .spawn()
        .context("the session's host can't be started")?;
    let mut line = String::new();
    if let Some(stdout) = host.stdout.take() {
        BufReader::new(stdout).read_line(&mut line)?;
    }
    if line.trim() != "ready" {
        let mut why = String::new();
        if let Some(mut stderr) = host.stderr.take() {
            std::io::Read::read_to_string(&mut stderr, &mut why)?;
        }
        bail!(
            "the session can't begin: {}",
            why.trim().trim_start_matches("dapple: ")
        );
    }
    if is_json {
        print_line(&serde_json::json!({"session": name}).to_string());
    }
    let request = Request::Exec {
        commands,
        waits: true,
        within: Some(start.within.saturating_mul(1000)),
    };
    let named = Named {
        session: Some(name.clone()),
        shown: Shown { json: is_json },
    };
    let code = ask(&named, &request)?;
    // If there is nothing to debug, it is over.
    if !is_json && code != NOTHING_TO_DEBUG {
        print_line(&format!(
            "session `{name}`: `dapple session exec 'COMMAND'` goes on with it"
        ));
    }
    Ok(code)
}

/// The session that is meant.
fn chosen(named: &Named) -> anyhow::Result<String> {
    let of_environment = || std::env::var("DAPPLE_SESSION").ok();
    if let Some(name) = named.session.clone().or_else(of_environment) {
        return Ok(name);
    }
    let mut all = client::all(&folder::folder()?);
    match all.len() {
        0 => bail!("there is no session; `dapple session start PROGRAM` begins one"),
        1 => Ok(all.remove(0).0),
        _ => {
            let names: Vec<String> = all.into_iter().map(|(name, _)| name).collect();
            bail!(
                "there are several sessions: name one of {} by --session",
                names.join(", ")
            )
        }
    }
}

fn reached(name: &str) -> anyhow::Result<Client> {
    let client = Client::of(&folder::folder()?, name)?;
    client
        .with_context(|| format!("there is no session `{name}`; `dapple session list` lists them"))
}

/// Asks a session, and shows what it tells. Returns the exit code.
fn ask(named: &Named, request: &Request) -> anyhow::Result<u8> {
    let client = reached(&chosen(named)?)?;
    let mut shown = Printer {
        is_json: named.shown.json,
        is_wait: matches!(request, Request::Wait { .. }),
        is_empty: true,
        is_echoed: matches!(request, Request::Exec { commands, .. } if commands.len() > 1),
        code: 0,
    };
    let done = client.ask(request, |reply| shown.print(&reply))?;
    Ok(shown.finish(&done))
}

fn finish(name: &str) -> anyhow::Result<u8> {
    let client = reached(name)?;
    client.ask(&Request::End, |_| ())?;
    print_line(&format!("session `{name}` has ended"));
    Ok(0)
}

fn list(shown: &Shown) -> anyhow::Result<u8> {
    let all = client::all(&folder::folder()?);
    if all.is_empty() && !shown.json {
        print_line("there is no session");
    }
    for (name, status) in all {
        let line = match shown.json {
            true => {
                let mut object = serde_json::to_value(&status)?;
                object["session"] = name.into();
                object.to_string()
            }
            false => format!(
                "{name}  {}  {}  {} min, process {}",
                debug::printable(&status.program),
                status.state.text(),
                status.age / 60,
                status.process
            ),
        };
        print_line(&line);
    }
    Ok(0)
}

/// Shows what a session tells.
struct Printer {
    is_json: bool,
    /// Whether commands are shown in front of what they show.
    is_echoed: bool,
    /// Whether only news were asked for.
    is_wait: bool,
    /// Whether nothing was told.
    is_empty: bool,
    /// The exit code for what has failed.
    code: u8,
}

/// What is shown of a record.
#[derive(Deserialize)]
struct Told {
    record: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    by: Option<String>,
    #[serde(default)]
    error: Option<Failure>,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

impl Printer {
    fn print(&mut self, reply: &Reply) {
        self.is_empty = false;
        let record = match reply {
            Reply::Record(record) => record,
            Reply::Forgotten(count) => {
                let text = format!(
                    "{count} records of before were forgotten, because nobody came for them"
                );
                return match self.is_json {
                    true => print_line(&serde_json::json!({"forgotten": count}).to_string()),
                    false => eprintln!("dapple: {text}"),
                };
            }
            Reply::Done(_) | Reply::Status(_) => return,
        };
        let Ok(told) = serde_json::from_str::<Told>(record.get()) else {
            return;
        };
        match (&*told.record, &told.error) {
            ("command", Some(_)) => self.code = COMMAND_FAILED,
            ("end", Some(_)) => self.code = NOTHING_TO_DEBUG,
            _ => {}
        }
        if self.is_json {
            return print_line(record.get());
        }
        if told.record == "command" && self.is_echoed && told.by.is_none() {
            print_line(&format!("(dapple) {}", debug::printable(&told.command)));
        }
        if !told.text.is_empty() {
            let mut stdout = std::io::stdout().lock();
            let end = if told.record == "output" || told.text.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            let _ = write!(stdout, "{}{end}", told.text).and_then(|()| stdout.flush());
        }
        if let Some(error) = told.error {
            eprintln!("dapple: {}", error.message.trim_end());
        }
    }

    /// Says how a request has ended. Returns the exit code.
    fn finish(&self, done: &Done) -> u8 {
        if self.is_json {
            let text = serde_json::to_string(done);
            text.iter().for_each(|text| print_line(text));
        }
        if let Some(refused) = &done.refused {
            eprintln!("dapple: {refused}");
            return COMMAND_FAILED;
        }
        if done.time_over {
            match done.state {
                State::Running => eprintln!(
                    "dapple: the program runs on; `dapple session wait` waits for its stop"
                ),
                _ => eprintln!(
                    "dapple: the command takes longer; `dapple session wait` shows its answer later"
                ),
            }
            return TIME_OVER;
        }
        if self.is_wait && self.is_empty && !self.is_json {
            print_line(&format!(
                "nothing new: the program is {}",
                done.state.text()
            ));
        }
        self.code
    }
}

/// A time in minutes, of `--idle`.
fn minutes(text: &str) -> Result<Duration, String> {
    const MOST: f64 = 60.0 * 24.0 * 365.0;
    match text.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= MOST => {
            Ok(Duration::from_secs_f64(minutes * 60.0))
        }
        _ => Err("it takes minutes, more than 0 and no more than a year".to_owned()),
    }
}

/// Prints a line. Whoever reads may have seen enough.
fn print_line(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}
