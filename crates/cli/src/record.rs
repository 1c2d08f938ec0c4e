//! `dapple record`: runs a program to its end, and writes what it did to a file, which `dapple replay` debugs.
//!
//! The program has this process's input and output, and its exit status becomes this process's. Ctrl+C is for the program.

use anyhow::{Context, bail};
use clap::Args;
use dapple_engine::exit_status::ExitStatus;
use dapple_engine::launch::{LaunchOptions, ProcessGroup, Sink, Stdin};
use dapple_engine::recording::{self, Recorded};
use dapple_engine::signals;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The most names that are tried for a file.
const MOST_NAMES: usize = 10_000;

/// The options of `dapple record`.
#[derive(Args)]
pub struct Options {
    /// Write the recording to this file, which must not exist yet; without this, to PROGRAM.recording here, or PROGRAM.2.recording …
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Run the program again and again, until it ends by a signal or with another status than 0; keep that run
    #[arg(long)]
    until_failure: bool,

    /// With --until-failure, run it so many times at most
    #[arg(long, value_name = "N", requires = "until_failure", value_parser = clap::value_parser!(u64).range(1..))]
    at_most: Option<u64>,

    /// The program to record, and its arguments, passed on as they are
    // One list, because only then are options after the program taken as the program's.
    #[arg(
        value_names = ["PROGRAM", "ARGS"],
        required = true,
        num_args = 1..,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    program: Vec<OsString>,
}

/// Records the program, and returns its exit status as a shell does.
///
/// # Errors
/// The program can't be run or recorded, or there can be no such file.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let mut words = options.program.into_iter();
    let program = PathBuf::from(words.next().unwrap_or_default());
    if program.as_os_str().as_encoded_bytes().starts_with(b"-") {
        bail!(
            "there is no option {}; `dapple record --help` lists them",
            program.display()
        );
    }
    let launch = LaunchOptions {
        program: found(&program),
        args: words.collect(),
        stdin: Stdin::Inherit,
        stdout: Sink::Inherit,
        stderr: Sink::Inherit,
        process_group: ProcessGroup::Shared,
        ..LaunchOptions::default()
    };
    launch.check()?;
    let mut output = Output::create(options.output, &program)?;
    leave_interrupts();
    let most = match options.until_failure {
        true => options.at_most.unwrap_or(u64::MAX),
        false => 1,
    };
    let mut runs = 0;
    loop {
        runs += 1;
        let recorded = output.empty().context("the recording can't be written")?;
        let recorded = match recording::run(&launch, recorded) {
            Ok(recorded) => recorded,
            Err(error) => {
                output.remove();
                return Err(error.into());
            }
        };
        let is_kept = !options.until_failure || recorded.status != ExitStatus::Code(0);
        if is_kept {
            if options.until_failure {
                let times = if runs == 1 { "run" } else { "runs" };
                eprintln!(
                    "dapple: it failed after {runs} {times}: {}",
                    ended(recorded.status)
                );
            }
            output.tell(&recorded);
            return Ok(exit_code(recorded.status));
        }
        if runs >= most {
            output.remove();
            eprintln!("dapple: it has not failed in {runs} runs; nothing is kept");
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// The program as it was named, or where it is in the folders of PATH.
fn found(program: &Path) -> PathBuf {
    let is_name = program.components().count() == 1 && !program.exists();
    let folders = std::env::var_os("PATH").filter(|_| is_name);
    let folders = folders.unwrap_or_default();
    let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(program));
    paths
        .find(|path| path.is_file())
        .unwrap_or_else(|| program.to_owned())
}

/// What is typed at the terminal to end the program is for the program: it ends, and the recording with it.
fn leave_interrupts() {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // Not ignored: that would be passed on to the program.
        let noted = Arc::new(AtomicBool::new(false));
        let _ = signal_hook::flag::register(signal, noted);
    }
}

/// The file of the recording.
struct Output {
    path: PathBuf,
    file: File,
}

impl Output {
    /// Makes a new file. Nothing is overwritten, and no symbolic link is followed.
    fn create(wanted: Option<PathBuf>, program: &Path) -> anyhow::Result<Output> {
        if let Some(path) = wanted {
            let file = create(&path).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    anyhow::anyhow!("{} exists; name another file", path.display())
                }
                _ => anyhow::anyhow!("{} can't be written: {error}", path.display()),
            })?;
            return Ok(Output { path, file });
        }
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        for number in 1..=MOST_NAMES {
            let path = PathBuf::from(match number {
                1 => format!("{name}.recording"),
                _ => format!("{name}.{number}.recording"),
            });
            match create(&path) {
                Ok(file) => return Ok(Output { path, file }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => bail!("{} can't be written: {error}", path.display()),
            }
        }
        bail!("{name}.recording and {MOST_NAMES} others exist; name a file with -o")
    }

    /// The file, emptied.
    fn empty(&mut self) -> io::Result<File> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.try_clone()
    }

    /// Removes the file, if it is still the one with its name.
    fn remove(&self) {
        let is_same = |one: &std::fs::Metadata, other: &std::fs::Metadata| {
            (one.dev(), one.ino()) == (other.dev(), other.ino())
        };
        if let (Ok(ours), Ok(there)) = (self.file.metadata(), self.path.symlink_metadata())
            && is_same(&ours, &there)
        {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Says where the recording is, and whether it has all.
    fn tell(&self, recorded: &Recorded) {
        let path = self.path.display();
        let events = match &recorded.events {
            Ok(events) => *events,
            Err(error) => {
                eprintln!("dapple: {path} can't be written to its end: {error}");
                return;
            }
        };
        if let Some(gap) = &recorded.gap {
            eprintln!(
                "dapple: the recording ends before the program, after {events} events: {gap}"
            );
        }
        eprintln!("dapple: recorded in {path}; `dapple replay {path}` debugs it");
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // With `create_new`, the last part of the path may be no symbolic link either.
    options.read(true).write(true).create_new(true).mode(0o600);
    options.open(path)
}

fn ended(status: ExitStatus) -> String {
    match status {
        ExitStatus::Code(code) => format!("exit status {code}"),
        ExitStatus::Signal(signal) => format!("killed by {}", signals::name(signal)),
    }
}

/// The exit status of a program as a shell reports it.
fn exit_code(status: ExitStatus) -> ExitCode {
    ExitCode::from(match status {
        ExitStatus::Code(code) => code as u8,
        ExitStatus::Signal(signal) => 128 + signal as u8,
    })
}
