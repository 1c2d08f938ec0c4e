//! Reaching a place: a shell is started there, and a script (`there.sh`) says what is there, takes this program where it is missing, and becomes
//! it. All of that is one connection.
//!
//! The script is the shell's input and no argument, so that nothing on the way has to quote it. What follows on that input is sent only when the
//! script asks for it: a shell reads ahead. Everything that is read from there is bounded.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use crossbeam_channel::{Receiver, bounded, never, select};
use dapple_dap::client::end_child;
use std::convert::Infallible;

use super::binary::Parcel;
use super::place::Place;
use crate::debug::quoted;

const SCRIPT: &str = include_str!("there.sh");
/// What the lines of its answers begin with.
const MARK: &str = "dapple-on ";
/// How long nothing may happen until a place counts as unreachable. ssh gives up before.
const PATIENCE: Duration = Duration::from_secs(40);
/// The same where the user may be asked for a password.
const PATIENCE_WITH_USER: Duration = Duration::from_secs(300);
/// The most bytes that are read before the answer. A shell's start-up files may print something.
const MOST_NOISE: u64 = 1 << 20;
/// The most bytes of the command's messages that are kept: the last ones.
const KEPT: usize = 4096;
/// How long a command may take to end once its output has.
const ENDING: Duration = Duration::from_secs(5);
/// How long the rest of its messages may take then.
const REST: Duration = Duration::from_millis(200);

/// What the script is to do.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'w> {
    /// Become this program, with these arguments.
    Run(&'w [String]),
    /// Keep the file.
    Put,
    /// Remove all that was kept.
    Remove,
}

/// What ends a wait: the sender of a channel is dropped.
#[derive(Debug, Clone)]
pub struct Stops {
    /// The client has gone.
    pub client: Receiver<Infallible>,
    /// A signal has asked for the end.
    pub signal: Receiver<Infallible>,
}

impl Stops {
    /// Nothing but a signal.
    pub fn by(signal: Receiver<Infallible>) -> Stops {
        Stops {
            client: never(),
            signal,
        }
    }
}

/// A command that leads to a place.
#[derive(Debug)]
pub struct Way {
    /// `None`: it was waited for.
    child: Option<Child>,
    line: String,
    messages: Messages,
    reader: Option<JoinHandle<()>>,
}

/// What has been reached.
#[derive(Debug)]
pub struct Reached {
    /// The command. It is ended when it is dropped.
    pub way: Way,
    /// What is written there.
    pub input: ChildStdin,
    /// What comes from there.
    pub output: BufReader<ChildStdout>,
    /// The file there that runs or was put; what was removed.
    pub files: Vec<String>,
}

/// The last that a command has written to its stderr; once it is passed on, what follows goes to ours, too.
#[derive(Debug, Clone, Default)]
struct Messages(Arc<Mutex<(Vec<u8>, bool)>>);

impl Messages {
    fn follow(&self, mut from: impl Read) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (text, passes) = &mut *kept;
            text.extend_from_slice(&buffer[..count]);
            let excess = text.len().saturating_sub(KEPT);
            text.drain(..excess);
            if *passes {
                // Nobody may read it any more.
                let _ = io::stderr().write_all(&buffer[..count]);
            }
        }
    }

    fn pass_on(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = (Vec::new(), true);
    }

    /// The last lines, as the end of a sentence.
    fn last_lines(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept.0);
        let lines = { text.lines() }.map(|line| line.trim_matches(|c: char| c.is_control()));
        let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
        match &lines[lines.len().saturating_sub(4)..] {
            [] => String::new(),
            last => format!(": {}", last.join(" / ")),
        }
    }
}

impl Way {
    /// What follows of the command's messages goes to our stderr.
    pub fn pass_on_messages(&self) {
        self.messages.pass_on();
    }

    /// Waits for the end of the command, which is killed if that takes long.
    pub fn end(mut self) -> End {
        let mut end = End::default();
        let Some(mut child) = self.child.take() else {
            return end;
        };
        let status = end_child(&mut child, ENDING);
        // What it has started may still have its stderr.
        if let Some(reader) = self.reader.take() {
            let start = Instant::now();
            while !reader.is_finished() && start.elapsed() < REST {
                thread::park_timeout(Duration::from_millis(5));
            }
        }
        let (line, last) = (&self.line, self.messages.last_lines());
        end.failure = match status {
            Ok(status) => {
                end.code = status.code();
                let failure = || format!("`{line}` has ended {}{last}", how(status));
                (!status.success()).then(failure)
            }
            Err(error) => Some(format!("`{line}`: {error}")),
        };
        end
    }
}

/// How a command has ended.
#[derive(Debug, Default)]
pub struct End {
    /// Its exit code; `None` if a signal has ended it.
    pub code: Option<i32>,
    /// A sentence, if it has failed.
    pub failure: Option<String>,
}

impl Drop for Way {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It is gone in any case.
            let _ = end_child(&mut child, Duration::ZERO);
        }
    }
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("with exit code {code}"),
        (None, Some(signal)) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("by {name}"),
            None => format!("by signal {signal}"),
        },
        (None, None) => "somehow".to_owned(),
    }
}

/// Reaches a place, and has the script do what is wanted. `asks`: whether the user may be asked for a password.
///
/// # Errors
/// A sentence for the user. Nothing that was started here still runs then.
pub fn reach(
    place: &Place,
    wanted: Wanted<'_>,
    parcel: Parcel,
    asks: bool,
    stops: &Stops,
) -> anyhow::Result<Reached> {
    let words = place.shell(asks);
    let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let line = line.join(" ");
    let (way, mut input, output) = start(&words, line, asks)?;
    let text = script(wanted, &parcel);
    let moved = Arc::new(AtomicU64::new(0));
    let (sender, answered) = bounded(1);
    let progress = Arc::clone(&moved);
    let talk = move || {
        let mut output = BufReader::new(output);
        let answer = ask(&mut input, &mut output, &text, parcel, &progress);
        // The other end is gone if the wait was given up.
        let _ = sender.send((answer, input, output));
    };
    let talking = thread::Builder::new().name("reaching".to_owned());
    talking.spawn(talk).context("can't start a thread")?;
    let patience = if asks { PATIENCE_WITH_USER } else { PATIENCE };
    let mut before = 0;
    let (answer, input, output) = loop {
        select! {
            recv(answered) -> answer => break answer.context("the connection was lost")?,
            recv(stops.client) -> _ => return Err(anyhow!("the client has ended before {place} was reached")),
            recv(stops.signal) -> _ => return Err(anyhow!("interrupted before {place} was reached")),
            default(patience) => {
                let now = moved.load(Ordering::Relaxed);
                if now == before {
                    let (line, seconds) = (&way.line, patience.as_secs());
                    let last = way.messages.last_lines();
                    return Err(anyhow!("{place} can't be reached: `{line}` has not answered for {seconds} seconds{last}"));
                }
                before = now;
            }
        }
    };
    match answer {
        Ok(files) => Ok(Reached {
            way,
            input,
            output,
            files,
        }),
        Err(problem) => {
            drop((input, output));
            Err(explained(place, problem, way))
        }
    }
}

fn start(
    words: &[String],
    line: String,
    asks: bool,
) -> anyhow::Result<(Way, ChildStdin, ChildStdout)> {
    let (program, arguments) = words.split_first().context("the command has no words")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if !asks {
        // What it starts ends with it. To read a password from the terminal, it has to stay in the foreground.
        command.process_group(0);
    }
    let child = command.spawn();
    let mut child = child.with_context(|| {
        format!("can't start `{program}`, which leads to the other machine; is it on PATH?")
    })?;
    let messages = Messages::default();
    let (kept, errors) = (messages.clone(), child.stderr.take());
    let reader = errors.map(|errors| thread::spawn(move || kept.follow(errors)));
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let way = Way {
        child: Some(child),
        line,
        messages,
        reader,
    };
    let input = input.context("the command has no input")?;
    Ok((way, input, output.context("the command has no output")?))
}

/// The script, with what it needs to know in front.
fn script(wanted: Wanted<'_>, parcel: &Parcel) -> String {
    let (word, arguments) = match wanted {
        Wanted::Run(arguments) => ("run", arguments),
        Wanted::Put => ("put", &[][..]),
        Wanted::Remove => ("remove", &[][..]),
    };
    let arguments: Vec<String> = arguments.iter().map(|word| quoted_for_sh(word)).collect();
    let name = quoted_for_sh(&parcel.name);
    format!(
        "set -- {}\nwanted={word} name={name} hash={} size={}\n{SCRIPT}",
        arguments.join(" "),
        parcel.hash,
        parcel.size
    )
}

/// A word that a shell takes as it is.
fn quoted_for_sh(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Why the script hasn't done what it was to do.
#[derive(Debug, PartialEq, Eq)]
enum Problem {
    /// The connection has ended before the answer.
    Ended,
    /// The file to be sent can't be read.
    Unread(String),
    /// The script's own reason: a word, and what it is about.
    Said(String, String),
}

/// Sends the script and answers it. Returns the files that it names.
fn ask(
    input: &mut impl Write,
    output: &mut impl BufRead,
    script: &str,
    mut parcel: Parcel,
    moved: &AtomicU64,
) -> Result<Vec<String>, Problem> {
    // If this fails, the end of the output follows.
    let _ = input
        .write_all(script.as_bytes())
        .and_then(|()| input.flush());
    let mut files = Vec::new();
    let mut output = output.take(MOST_NOISE);
    let mut line = Vec::new();
    loop {
        line.clear();
        match output.read_until(b'\n', &mut line) {
            Ok(1..) => {}
            _ => return Err(Problem::Ended),
        }
        moved.fetch_add(1, Ordering::Relaxed);
        let text = String::from_utf8_lossy(&line);
        let Some(at) = text.find(MARK) else { continue };
        let answer = text[at + MARK.len()..].trim_end();
        let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
        match word {
            "need" => send(input, &mut parcel, moved)?,
            "removed" => files.push(rest.to_owned()),
            "run" | "put" => return Ok(vec![rest.to_owned()]),
            "done" => return Ok(files),
            _ => return Err(Problem::Said(word.to_owned(), rest.to_owned())),
        }
    }
}

/// Sends the file. A connection that is lost meanwhile is noticed by whoever reads the answer.
fn send(input: &mut impl Write, parcel: &mut Parcel, moved: &AtomicU64) -> Result<(), Problem> {
    let (mut left, mut buffer) = (parcel.size, vec![0; 1 << 16]);
    while left > 0 {
        let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let count = match parcel.file.read(&mut buffer[..most]) {
            Ok(0) => return Err(Problem::Unread("it has become shorter".to_owned())),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Problem::Unread(error.to_string())),
        };
        if input.write_all(&buffer[..count]).is_err() {
            return Ok(());
        }
        left -= count as u64;
        moved.fetch_add(1, Ordering::Relaxed);
    }
    let _ = input.flush();
    Ok(())
}

/// The sentence for the user.
fn explained(place: &Place, problem: Problem, way: Way) -> anyhow::Error {
    let messages = way.messages.last_lines();
    let (word, rest) = match problem {
        Problem::Ended => {
            let how = way.end().failure.unwrap_or_else(|| {
                "the command has ended before the shell there has answered".to_owned()
            });
            let hint = hint(place, &how);
            return anyhow!("{place} can't be reached: {how}{hint}");
        }
        Problem::Unread(why) => return anyhow!("dapple can't be sent to {place}: {why}"),
        Problem::Said(word, rest) => (word, rest),
    };
    match &*word {
        "system" if rest.is_empty() => anyhow!(
            "dapple runs on Linux x86_64, and `uname` doesn't say what {place} is{messages}"
        ),
        "system" => anyhow!("dapple runs on Linux x86_64, and {place} is {rest}"),
        "nowhere" => anyhow!(
            "dapple can't be kept on {place}: you can't write to the folders {rest} there; TMPDIR may name another one"
        ),
        "unwritable" => anyhow!("dapple can't be written to {rest} on {place}{messages}"),
        "spoilt" => {
            anyhow!("what has arrived in {rest} on {place} is not what was sent; try again")
        }
        "unusable" => {
            let why = if rest.is_empty() {
                messages
            } else {
                format!(": {rest}")
            };
            anyhow!(
                "this dapple doesn't run on {place}{why}. It may need other libraries than there are; --far-binary (or {}) names a static one, as \
                 releases have, or as `cargo xtask dist` builds",
                super::binary::VARIABLE
            )
        }
        _ => anyhow!("{place} has answered with `{word} {rest}`, which is not understood"),
    }
}

/// What to do about what ssh says.
fn hint(place: &Place, said: &str) -> &'static str {
    match place {
        Place::Ssh(..) if said.contains("Host key verification failed") => {
            "; connect with ssh once, and accept its key"
        }
        Place::Ssh(..) if said.contains("Permission denied") => {
            "; no password can be typed here: ssh needs a key, an agent, or a connection that is shared (ControlMaster)"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel() -> Parcel {
        Parcel {
            file: std::fs::File::open("/dev/null").expect("a file"),
            name: "it's".to_owned(),
            hash: "00".to_owned(),
            size: 0,
        }
    }

    fn answered(text: &str) -> Result<Vec<String>, Problem> {
        let mut output = text.as_bytes();
        ask(
            &mut io::sink(),
            &mut output,
            "",
            parcel(),
            &AtomicU64::new(0),
        )
    }

    #[test]
    fn what_a_shell_prints_at_its_start_is_no_answer() {
        let file = Ok(vec!["/home/me/a b".to_owned()]);
        assert_eq!(answered("Welcome!\n$ dapple-on run /home/me/a b\n"), file);
        assert_eq!(answered("Welcome!\n"), Err(Problem::Ended));
        assert_eq!(answered(&"x".repeat(3 << 20)), Err(Problem::Ended));
        let said = Problem::Said("system".to_owned(), "Linux aarch64".to_owned());
        assert_eq!(answered("dapple-on system Linux aarch64\n"), Err(said));
    }

    #[test]
    fn words_reach_the_shell_as_they_are() {
        let arguments = ["dap".to_owned(), "a 'b' $c".to_owned()];
        let text = script(Wanted::Run(&arguments), &parcel());
        assert!(
            text.starts_with(
                "set -- 'dap' 'a '\\''b'\\'' $c'\nwanted=run name='it'\\''s' hash=00 size=0\n"
            ),
            "{text}"
        );
        // dash reads that much at once, and the script has to be read before it asks.
        assert!(SCRIPT.len() < 8000);
    }

    #[test]
    fn only_the_last_messages_are_kept_each_on_its_line() {
        let messages = Messages::default();
        messages.follow("a\n".repeat(9000).as_bytes());
        messages.follow("\r\nb\r\nc\n\nd".as_bytes());
        assert_eq!(messages.last_lines(), ": a / b / c / d");
        assert!(Messages::default().last_lines().is_empty());
    }
}
