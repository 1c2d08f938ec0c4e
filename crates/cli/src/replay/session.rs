//! `dapple replay` with a recorded session of the protocol: plays a side of it, or cuts it down.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use dapple_dap::Connection;
use dapple_dap::lifecycle::Side;
use dapple_dap::testing::{Entry, Recorder, Recording};
use dapple_dap::transport::Options as Transport;
use dapple_dap::transport::listen::{Reach, serve_each};
use dapple_trace::diff::{Ignored, diff};
use dapple_trace::minimize::{self, By};
use dapple_trace::play::{AdapterPlay, ClientPlay, Played, serve};
use dapple_trace::{Item, Recorded, Session};

use super::{As, Options};
use crate::debug::style::Style;
use crate::listening::Server;
use crate::trace::adapter::Adapter;
use crate::trace::show;

/// For how long an adapter may take to end after its client is gone.
const GRACE: Duration = Duration::from_secs(5);

/// Whether a file is a recorded session: its first character is that of JSON.
pub fn is_session(path: &Path) -> Result<bool> {
    let mut file =
        std::fs::File::open(path).with_context(|| format!("{} can't be read", path.display()))?;
    let mut start = [0; 64];
    let count = io::Read::read(&mut file, &mut start)
        .with_context(|| format!("{} can't be read", path.display()))?;
    let first = start[..count]
        .iter()
        .find(|byte| !byte.is_ascii_whitespace());
    Ok(first == Some(&b'{'))
}

/// Does what the options say, and returns the exit code.
pub fn run(options: &Options) -> Result<u8> {
    let sessions = show::read(&options.file)?;
    if options.minimize {
        return minimized(chosen(&sessions, options)?, options);
    }
    match options.side {
        Some(As::Client) => {
            if options.command.is_empty() {
                bail!(
                    "--as client needs the adapter to drive: `dapple replay FILE --as client -- COMMAND`"
                );
            }
            as_client(chosen(&sessions, options)?, options)
        }
        Some(As::Adapter) | None => {
            if !options.command.is_empty() {
                bail!(
                    "a COMMAND belongs to --as client and --minimize: as the adapter, nothing is started"
                );
            }
            as_adapter(&sessions, options)
        }
    }
}

/// The session that the options name.
fn chosen<'a>(sessions: &'a [Recorded], options: &Options) -> Result<&'a Recorded> {
    let number = options.session.unwrap_or(1);
    if options.session.is_none() && sessions.len() > 1 {
        eprintln!(
            "{} sessions are recorded; this is the first (see --session)",
            sessions.len()
        );
    }
    let chosen = number.checked_sub(1).and_then(|at| sessions.get(at));
    chosen.with_context(|| {
        format!(
            "there is no session {number}: {} are recorded",
            sessions.len()
        )
    })
}

/// Answers an editor with what the recorded adapter said, on stdio or for each connection.
fn as_adapter(sessions: &[Recorded], options: &Options) -> Result<u8> {
    let Some(address) = &options.listen else {
        let play = AdapterPlay::new(Session::messages(&chosen(sessions, options)?.items));
        serve(&Connection::stdio(), play);
        return Ok(0);
    };
    let server = Server::bind(address.clone(), Reach::Loopback).context("--listen")?;
    eprintln!("listening on {server}");
    // The first connection gets the first session; those after the last get the last again.
    let plays: Vec<Vec<Item>> = match options.session {
        Some(_) => vec![chosen(sessions, options)?.items.clone()],
        None => sessions
            .iter()
            .map(|session| session.items.clone())
            .collect(),
    };
    let session = move |number: u64, connection: Connection| {
        let at = usize::try_from(number)
            .unwrap_or(usize::MAX)
            .saturating_sub(1);
        let items = plays.get(at).or(plays.last());
        let messages = items
            .map(|items| Session::messages(items))
            .unwrap_or_default();
        serve(&connection, AdapterPlay::new(messages));
    };
    serve_each(&server, |_| Transport::new(), session).context("--listen")?;
    Ok(0)
}

/// Drives an adapter with what the recorded client said. 1 if the adapter says something else than then.
fn as_client(recorded: &Recorded, options: &Options) -> Result<u8> {
    let messages = Session::messages(&recorded.items);
    let played = drive(
        &recorded.items,
        &options.command,
        options.patience(),
        Stdio::inherit(),
    )?;
    let now = Session::messages(&items(&played.recording.entries));
    let found = diff(&messages, &now, &Ignored::and(&options.ignore));
    let mut out = io::stdout().lock();
    show::differences(&found, Style::new(options.color), &mut out)?;
    for missed in &played.missed {
        writeln!(out, "! {missed}")?;
    }
    if let Some(path) = &options.output {
        write(path, &played.recording)?;
    }
    if found.is_empty() && played.missed.is_empty() {
        writeln!(out, "the adapter says the same: {} messages", now.len())?;
        return Ok(0);
    }
    let count = found.len();
    let plural = if count == 1 { "" } else { "s" };
    eprintln!("{count} difference{plural}: A is the recording, B is the adapter now");
    Ok(1)
}

fn items(entries: &[Entry]) -> Vec<Item> {
    entries.iter().cloned().map(Item::Message).collect()
}

/// Starts an adapter, whose standard error goes to `stderr`, plays the client to it, and ends it.
fn drive(
    recorded: &[Item],
    command: &[OsString],
    patience: Duration,
    stderr: Stdio,
) -> Result<Played> {
    let (adapter, pipes) = Adapter::start(command, true, stderr)?;
    let (input, output) = pipes.context("the adapter was started without pipes")?;
    let recorder = Recorder::new();
    let connection = recorder.options().streams(output, input, || {});
    let play = ClientPlay::new(Session::messages(recorded), patience);
    let played = play.run(connection, &recorder);
    adapter.end(GRACE);
    Ok(played)
}

/// Writes the shortest session that still shows the violation.
fn minimized(recorded: &Recorded, options: &Options) -> Result<u8> {
    let entries: Vec<Entry> = recorded.entries().cloned().collect();
    let command = &options.command;
    let live = |part: &[Entry]| -> Result<Vec<Entry>> {
        let played = drive(&items(part), command, options.patience(), Stdio::null())?;
        Ok(played.recording.entries)
    };
    let mut found = match command.is_empty() {
        true => minimize::findings(&entries),
        false => minimize::findings(&live(&entries)?),
    };
    found.sort_by_key(|one| std::cmp::Reverse(one.severity));
    // An adapter doesn't make each of its mistakes each time.
    let known = [found.clone(), minimize::findings(&entries)].concat();
    let wanted = found.iter().find(|one| {
        options
            .violation
            .as_ref()
            .is_none_or(|rule| *rule == one.rule)
    });
    let Some(wanted) = wanted else {
        let mut rules: Vec<&str> = found.iter().map(|one| one.rule.as_str()).collect();
        rules.dedup();
        match &options.violation {
            Some(rule) if !rules.is_empty() => bail!(
                "the session doesn't break the rule `{rule}`; it breaks: {}",
                rules.join(", ")
            ),
            _ => bail!("the session breaks no rule, so there is nothing to cut it down to"),
        }
    };
    eprintln!("looking for: {}: {}", wanted.rule, wanted.text);
    let terminal = io::stderr().is_terminal();
    let mut runs = 0_u32;
    // The messages of the last run that showed the violation: with fewer requests, another message may break the rule than in the
    // recording.
    let mut said = None;
    let part = match command.is_empty() {
        true => minimize::minimize(&entries, wanted, By::Message, |part| {
            minimize::shows(&minimize::findings(part), wanted, &known)
        }),
        false => minimize::minimize(&entries, wanted, By::Unit, |part| {
            // Only what the client says counts: without it nothing is to be run.
            if !part.iter().any(|entry| entry.from == Side::Client) {
                return false;
            }
            runs += 1;
            if terminal {
                eprint!("\rrun {runs}: {} messages ", part.len());
            }
            let now = live(part).unwrap_or_default();
            let shows = minimize::shows(&minimize::findings(&now), wanted, &known);
            if shows {
                said = Some(now);
            }
            shows
        }),
    };
    let part = said.unwrap_or(part);
    if runs > 0 && terminal {
        eprintln!();
    }
    let mut recording = Recording::default();
    recording.session.clone_from(&recorded.session);
    recording.entries.clone_from(&part);
    match &options.output {
        Some(path) => write(path, &recording)?,
        None => io::stdout().write_all(recording.to_string().as_bytes())?,
    }
    let (left, all) = (part.len(), entries.len());
    match runs {
        0 => eprintln!("{left} of {all} messages are left"),
        _ => eprintln!("{left} of {all} messages are left; the adapter was run {runs} times"),
    }
    Ok(0)
}

/// Writes a recording to a file that only the user may read.
fn write(path: &Path, recording: &Recording) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600);
    let cannot = || format!("cannot write {}", path.display());
    let mut file = file.open(path).with_context(cannot)?;
    file.write_all(recording.to_string().as_bytes())
        .with_context(cannot)
}
