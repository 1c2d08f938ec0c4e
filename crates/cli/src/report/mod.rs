//! `dapple report`: a page about a crash, or about what a process does now, to attach to a bug report.
//!
//! [`gather`] makes a [`model::Report`] of what a session with Dapple's own adapter ([`session`]) and the files of the system ([`subject`]) say.
//! [`text`] and [`html`] write it; JSON is the report itself. With `--no-values`, what comes from the program's memory is not asked for: nothing
//! has to be removed later.

mod gather;
mod html;
mod model;
mod plain;
mod redacted;
mod session;
mod subject;
mod text;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};

use model::Report;

/// The exit code if there is nothing to report: no such process, a broken core file. `dapple debug --batch` has the same.
const NOTHING_TO_REPORT: u8 = 126;

/// The options of `dapple report`.
#[derive(Args)]
pub struct Options {
    /// Report on this core file, which a program that has crashed left
    #[arg(long, value_name = "FILE", conflicts_with = "pid")]
    core: Option<PathBuf>,

    /// Report on this running process, which goes on afterwards
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Option<i32>,

    /// Write to this file, which only you can read, in place of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How to write it; by default as the ending of the --output file says, or as text
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,

    /// Leave out everything that comes from the program's memory: variables, arguments, registers, messages, the command line
    #[arg(long)]
    no_values: bool,

    /// Print what the JSON of a report has in it, as a JSON schema
    #[arg(long)]
    json_schema: bool,

    /// With --core, where the program is now, if not where it was
    #[arg(conflicts_with = "pid")]
    program: Option<PathBuf>,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines of text.
    Text,
    /// One object of JSON.
    Json,
    /// A page of HTML, without scripts and references to other files.
    Html,
}

impl Format {
    /// The format of a file by the ending of its name.
    fn of(file: &Path) -> Format {
        let ending = file.extension().unwrap_or_default().to_ascii_lowercase();
        match ending.to_str() {
            Some("json") => Format::Json,
            Some("html" | "htm") => Format::Html,
            _ => Format::Text,
        }
    }
}

/// What a report is about.
#[derive(Debug, Clone)]
enum Target {
    /// A core file, and where the program is now.
    Core {
        file: PathBuf,
        program: Option<PathBuf>,
    },
    /// A running process.
    Process(i32),
}

/// Whether values from the program's memory may be in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    /// They are shown.
    Shown,
    /// They are left out.
    LeftOut,
}

/// Runs `dapple report`.
///
/// # Errors
/// The options don't fit together, or the report can't be written.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    if options.json_schema {
        // Whoever reads it may have seen enough.
        let _ = io::stdout().write_all(model::schema().as_bytes());
        return Ok(ExitCode::SUCCESS);
    }
    let target = match (&options.core, options.pid) {
        (Some(file), _) => Target::Core {
            file: file.clone(),
            program: options.program.clone(),
        },
        (None, Some(pid)) => Target::Process(pid),
        (None, None) if options.program.is_some() => {
            bail!("a report on what? `--core FILE` is missing in front of the program")
        }
        (None, None) => bail!("a report on what? `--core FILE` or `--pid PID`"),
    };
    if let Some(output) = &options.output {
        check_output(output, &target)?;
    }
    let values = match options.no_values {
        true => Values::LeftOut,
        false => Values::Shown,
    };
    let report = match gather::report(&target, values) {
        Ok(report) => report,
        Err(error) => {
            eprintln!(
                "dapple: {}",
                plain::Plain::lines(&format!("{error:#}"), 4000)
            );
            return Ok(ExitCode::from(NOTHING_TO_REPORT));
        }
    };
    let format = options
        .format
        .or_else(|| options.output.as_deref().map(Format::of))
        .unwrap_or(Format::Text);
    let written = written(&report, format)?;
    match &options.output {
        Some(file) => save(file, &written)
            .with_context(|| format!("the report can't be written to {}", file.display()))?,
        None => match io::stdout().lock().write_all(written.as_bytes()) {
            // The reader closed the pipe, which is no error.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                return Err(error).context("the report can't be written");
            }
            _ => {}
        },
    }
    Ok(ExitCode::SUCCESS)
}

fn written(report: &Report, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Text => text::page(report),
        Format::Json => serde_json::to_string_pretty(report)? + "\n",
        Format::Html => html::page(report),
    })
}

/// Fails if the report would overwrite a file that it is made from.
fn check_output(output: &Path, target: &Target) -> anyhow::Result<()> {
    let Target::Core { file, program } = target else {
        return Ok(());
    };
    let identity = |path: &Path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let Some(written) = identity(output) else {
        return Ok(());
    };
    let read = [Some(file), program.as_ref()];
    if let Some(same) = read
        .into_iter()
        .flatten()
        .find(|one| identity(one) == Some(written))
    {
        bail!("--output would overwrite {}", same.display());
    }
    Ok(())
}

/// Writes a file that only the user can read: the report may have any of the program's data.
fn save(file: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(file)?;
    file.write_all(text.as_bytes())
}
