//! `cargo xtask e2e terminals`: the same script, typed at the prompt of `dapple debug`, with each adapter that can be installed.
//!
//! The same small program in each adapter's language is debugged. What a command of [`script`] has to show is stated without regard to the
//! language. A difference that is the adapter's own is in [`differences`], from which the page for users is written; one that isn't there, or is
//! there and isn't seen any more, fails the run. `editors/e2e/terminals` installs the adapters. What was shown is in
//! `target/e2e/terminals/shown`.

mod differences;
mod page;
mod peers;
mod screen;
mod script;
mod terminal;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use regex::Regex;

use differences::DIFFERENCES;
use peers::{Adapter, PEERS, Peer, SOURCES};
use script::{STEPS, Step, Then};
use terminal::{Shown, Terminal};

pub use page::generated;
pub use terminal::on_terminal;

/// What no user is to be bothered with, in any answer.
const NOISE: &str = r#"supports[A-Z]|capabilit|Traceback|"(seq|command|body)"|panicked at crates/|has not answered"#;

/// Runs the script with all adapters, or those whose names begin with `wanted`.
pub fn run(root: &Path, dapple: &Path, wanted: &str) -> anyhow::Result<ExitCode> {
    let work = root.join("target/e2e/terminals");
    fs::create_dir_all(work.join("shown"))?;
    let mut failures = 0;
    let chosen: Vec<_> = { PEERS.iter() }
        .filter(|peer| peer.name().starts_with(wanted))
        .collect();
    if chosen.is_empty() {
        bail!("no adapter's name begins with `{wanted}`");
    }
    for peer in chosen {
        let mut run = Run::prepare(root, &work, dapple, peer)?;
        let outcome = run.all();
        let file = work.join("shown").join(format!("{}.txt", peer.name()));
        fs::write(&file, &run.shown)?;
        outcome.with_context(|| format!("{}, see {}", peer.name(), file.display()))?;
        println!(
            "{}: {} commands, {} as everywhere, {} differ as the adapter does, {} wrong",
            peer.name(),
            STEPS.len(),
            STEPS.len() - run.differing - run.problems.len(),
            run.differing,
            run.problems.len(),
        );
        for problem in &run.problems {
            println!("{problem}");
        }
        failures += run.problems.len();
    }
    Ok(match failures {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// One adapter's turn.
struct Run<'r> {
    peer: &'r Peer,
    terminal: Terminal,
    program: PathBuf,
    source: String,
    /// All that was shown.
    shown: String,
    problems: Vec<String>,
    differing: usize,
}

impl<'r> Run<'r> {
    fn prepare(root: &Path, work: &Path, dapple: &Path, peer: &'r Peer) -> anyhow::Result<Run<'r>> {
        let name = format!("market.{}", peer.language.ending());
        let source = fs::read_to_string(root.join(SOURCES).join(&name))?;
        let is_old = fs::read_to_string(work.join(&name)).ok().as_ref() != Some(&source);
        if is_old {
            fs::write(work.join(&name), &source)?;
            let _ = fs::remove_file(work.join(format!("market-{}", peer.language.ending())));
        }
        let program = peer.build(work)?;
        let mut command = Command::new("setsid");
        command
            .arg("--ctty")
            .arg(dapple)
            .args(["debug", "--no-init"]);
        if peer.adapter != Adapter::Own {
            command.args(["--adapter", peer.adapter.option()]);
        }
        command.arg(&program);
        let home = work.join("home");
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home)?;
        command
            .current_dir(work)
            .env("PATH", path_with(work, dapple)?)
            .env("HOME", &home)
            .env("VIRTUAL_ENV", work.join("venv"))
            .env("JS_DEBUG", work.join("js-debug.cjs"))
            .env_remove("NO_COLOR")
            .env_remove("DEBUGINFOD_URLS");
        Ok(Run {
            peer,
            terminal: Terminal::start(command)?,
            program,
            source,
            shown: String::new(),
            problems: Vec::new(),
            differing: 0,
        })
    }

    fn all(&mut self) -> anyhow::Result<()> {
        let greeting = self.terminal.until_prompt();
        self.note("", &greeting);
        if !greeting.in_time {
            bail!("the prompt has not come");
        }
        for step in STEPS {
            if self.typed(step).is_empty() {
                self.differing += 1;
                continue;
            }
            let shown = self.step(step)?;
            self.note(self.typed(step), &shown);
            self.judge(step, &shown)?;
        }
        self.look_for_processes()
    }

    /// Nothing of the session may be left: looks for processes that were started with the program, and ends them.
    fn look_for_processes(&mut self) -> anyhow::Result<()> {
        let name = self.program.to_string_lossy().into_owned();
        let is_there = || -> anyhow::Result<Option<String>> {
            for entry in fs::read_dir("/proc")? {
                let path = entry?.path();
                let command = fs::read(path.join("cmdline")).unwrap_or_default();
                if String::from_utf8_lossy(&command).contains(&name) {
                    let process = path.file_name().unwrap_or_default();
                    return Ok(Some(process.to_string_lossy().into_owned()));
                }
            }
            Ok(None)
        };
        let until = Instant::now() + Duration::from_secs(5);
        while let Some(process) = is_there()? {
            if Instant::now() > until {
                let text = format!("  process {process} is left of the session");
                self.problems.push(text);
                Command::new("kill").args(["-9", &process]).status()?;
                return Ok(());
            }
            // The kernel doesn't tell when the process of another one ends.
            std::thread::park_timeout(Duration::from_millis(20));
        }
        Ok(())
    }

    /// What is typed for a step.
    fn typed(&self, step: &Step) -> &'static str {
        let known = DIFFERENCES.iter().find(|it| it.is_of(self.peer, step));
        known.and_then(|it| it.typed).unwrap_or(step.typed)
    }

    fn step(&mut self, step: &Step) -> anyhow::Result<Shown> {
        let typed = self.with_places(self.typed(step), "");
        Ok(match step.then {
            Then::Prompt => {
                self.terminal.enter(&typed)?;
                self.at_prompt()?
            }
            Then::Runs(text) => {
                self.terminal.enter(&typed)?;
                self.terminal.until_text(text)
            }
            Then::Stops => {
                self.terminal.keys("\x03")?;
                self.at_prompt()?
            }
            Then::Completes(text) => {
                self.terminal.keys(&typed)?;
                let shown = self.terminal.until_typed(text);
                self.terminal.enter("")?;
                let mut below = self.at_prompt()?;
                below.lines.splice(0..0, shown.lines);
                below.in_time &= shown.in_time;
                below
            }
            Then::Ends => {
                self.terminal.enter(&typed)?;
                let (status, mut shown) = self.terminal.end()?;
                shown.lines.push(format!("[{status}]"));
                shown
            }
        })
    }

    /// A prompt that doesn't come is asked for by Ctrl-C, so that the rest can be seen.
    fn at_prompt(&mut self) -> anyhow::Result<Shown> {
        let shown = self.terminal.until_prompt();
        if shown.in_time {
            return Ok(shown);
        }
        self.terminal.keys("\x03")?;
        let again = self.terminal.until_prompt();
        if !again.in_time {
            self.note("no prompt", &again);
            bail!("Ctrl-C has not brought the prompt back");
        }
        Ok(Shown {
            in_time: false,
            ..again
        })
    }

    fn judge(&mut self, step: &Step, shown: &Shown) -> anyhow::Result<()> {
        let text = shown.lines.join("\n");
        let missing = self.missing(step.shows, &text)?;
        let is_noisy = Regex::new(NOISE)?.is_match(&text);
        let is_neutral = missing.is_none() && shown.in_time && !is_noisy;
        let known = DIFFERENCES.iter().find(|it| it.is_of(self.peer, step));
        let problem = match known {
            None if is_neutral => return Ok(()),
            None => format!(
                "shows no {}{}{}",
                missing.unwrap_or_default(),
                if shown.in_time { "" } else { " and no prompt" },
                if is_noisy { ", but noise" } else { "" },
            ),
            Some(known) if is_neutral && known.typed.is_none() => {
                "differs no more: take it out of differences.rs".to_owned()
            }
            Some(known) => match self.missing(known.shows, &text)? {
                None if shown.in_time => {
                    self.differing += 1;
                    return Ok(());
                }
                missing => format!("differs in another way: no {}", missing.unwrap_or_default()),
            },
        };
        let mut report = format!("  `{}` ({}) {problem}", step.typed, step.id);
        for line in &shown.lines {
            let _ = write!(report, "\n      {line}");
        }
        self.problems.push(report);
        Ok(())
    }

    /// The first pattern that the text lacks.
    fn missing(&self, patterns: &[&str], text: &str) -> anyhow::Result<Option<String>> {
        for pattern in patterns {
            let (is_wanted, pattern) = match pattern.strip_prefix('!') {
                Some(unwanted) => (false, unwanted),
                None => (true, *pattern),
            };
            let pattern = self.with_places(pattern, r"\b");
            let regex = Regex::new(&format!("(?m){pattern}"))?;
            if regex.is_match(text) != is_wanted {
                let not = if is_wanted { "" } else { "text without " };
                return Ok(Some(format!("{not}/{pattern}/")));
            }
        }
        Ok(None)
    }

    /// Replaces `@WORD` by the file and line that the word marks, with `end` behind.
    fn with_places(&self, text: &str, end: &str) -> String {
        let mut text = text.to_owned();
        let ending = self.peer.language.ending();
        for (index, line) in self.source.lines().enumerate() {
            let mark = line.rsplit_once("// ").or_else(|| line.rsplit_once("# "));
            let Some((_, mark)) = mark.filter(|(_, mark)| !mark.contains(' ')) else {
                continue;
            };
            let place = format!("market.{ending}:{}{end}", index + 1);
            text = text.replace(&format!("@{mark}"), &place);
        }
        text
    }

    fn note(&mut self, typed: &str, shown: &Shown) {
        let _ = writeln!(self.shown, "(dapple) {}", self.with_places(typed, ""));
        let late = shown.lines.len().saturating_sub(shown.late);
        for (index, line) in shown.lines.iter().enumerate() {
            let mark = if index >= late { "late| " } else { "" };
            let _ = writeln!(self.shown, "{mark}{line}");
        }
        if !shown.in_time {
            let _ = writeln!(self.shown, "[no prompt in time]");
        }
    }
}

/// The search path with the adapters that were installed for this, and with the debugger.
fn path_with(work: &Path, dapple: &Path) -> anyhow::Result<std::ffi::OsString> {
    let beside = dapple.parent().context("the debugger is in a folder")?;
    let old = std::env::var_os("PATH").unwrap_or_default();
    let folders = [work.join("bin"), beside.to_owned()];
    let all = folders.into_iter().chain(std::env::split_paths(&old));
    Ok(std::env::join_paths(all.collect::<Vec<PathBuf>>())?)
}
