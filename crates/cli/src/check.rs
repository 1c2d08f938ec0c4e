//! `dapple check`: whether a debug adapter keeps to the protocol. The checking is in `dapple-check`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use dapple_check::programs::{self, Language};
use dapple_check::{Marks, Program, check_with};
use serde_json::Value;

/// The exit code if the adapter breaks rules.
const BROKEN: u8 = 1;
/// The exit code if the check could not be run.
const UNABLE: u8 = 2;

/// The options of `dapple check`.
#[derive(Args)]
#[command(after_help = "\
Exit code: 0 if no rule is violated (advice may have been found), 1 if one is, 2 if the check could not be run.

Examples:
  dapple check -- lldb-dap
  dapple check -- python3 -m debugpy.adapter
  dapple check --connect 127.0.0.1:4711 -- dlv dap --listen 127.0.0.1:4711
  dapple check --connect 127.0.0.1:4711 --child-session -- node js-debug/src/dapDebugServer.js 4711 127.0.0.1
  dapple check --launch '{\"program\":\"${program}\",\"stopOnEntry\":false}' -- gdb -q -i dap")]
pub struct Options {
    /// The arguments of `launch`: JSON, or @FILE. `${program}`, `${source}` and `${folder}` stand for the program that comes with the check
    #[arg(long, value_name = "JSON|@FILE")]
    launch: Option<String>,
    /// Fields for the arguments of `initialize`, beside those that say what this client supports: JSON, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    client_capabilities: Option<String>,
    /// The language of the program to debug; without it, what the command says, else C
    #[arg(long, value_enum, conflicts_with = "source")]
    language: Option<Word>,
    /// The source of a program of your own, with marks in its comments (see docs/check.md); needs --launch
    #[arg(long, value_name = "FILE", requires = "launch")]
    source: Option<PathBuf>,
    /// The adapter listens on this address, HOST:PORT, instead of using its standard input and output
    #[arg(long, value_name = "ADDR")]
    connect: Option<String>,
    /// The adapter debugs the program in a child session, which it asks for by `startDebugging`; needs --connect
    #[arg(long, requires = "connect")]
    child_session: bool,
    /// The `adapterID` of `initialize`
    #[arg(long, value_name = "ID", default_value = "check")]
    adapter_id: String,
    /// How long the adapter may take for an answer or a stop
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    timeout: f64,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Write the report to FILE as JUnit's XML, too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// List the rules that are checked, and do nothing else
    #[arg(long)]
    list_rules: bool,
    /// The adapter's command
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,
}

/// A language on the command line.
#[derive(Clone, Copy, ValueEnum)]
enum Word {
    C,
    Rust,
    Python,
    Javascript,
    Go,
}

impl From<Word> for Language {
    fn from(word: Word) -> Self {
        match word {
            Word::C => Self::C,
            Word::Rust => Self::Rust,
            Word::Python => Self::Python,
            Word::Javascript => Self::JavaScript,
            Word::Go => Self::Go,
        }
    }
}

/// Runs `dapple check`.
pub fn run(options: &Options) -> Result<ExitCode> {
    if options.list_rules {
        return list_rules();
    }
    match checked(options) {
        Ok(code) => Ok(code),
        Err(error) => {
            eprintln!("dapple: {error:#}");
            Ok(ExitCode::from(UNABLE))
        }
    }
}

fn checked(options: &Options) -> Result<ExitCode> {
    if options.command.is_empty() && options.connect.is_none() {
        bail!("no adapter: give its command behind `--`, or --connect");
    }
    let patience = Duration::try_from_secs_f64(options.timeout)
        .ok()
        .filter(|patience| !patience.is_zero())
        .context("--timeout must be a number of seconds above 0")?;
    let launch = options
        .launch
        .as_deref()
        .map(|text| json_of("--launch", text))
        .transpose()?;
    let client = { options.client_capabilities.as_deref() }
        .map(|text| json_of("--client-capabilities", text))
        .transpose()?;
    let language = options.language.map(Language::from);
    let language = language.unwrap_or_else(|| Language::of_command(&options.command));
    let built = match &options.source {
        Some(_) => None,
        None => Some(programs::build(language)?),
    };
    let (source, launch) = match (&options.source, &built) {
        (Some(source), _) => (absolute(source)?, launch.unwrap_or_default()),
        (None, Some(built)) => {
            let launch = launch.map(|launch| programs::filled_in(&launch, built));
            let launch = launch.unwrap_or_else(|| programs::launch_arguments(language, built));
            (built.source.clone(), launch)
        }
        (None, None) => bail!("there is no program to debug"),
    };
    let text =
        fs::read_to_string(&source).with_context(|| format!("can't read {}", source.display()))?;
    let marks = Marks::of(&text);
    if marks.line("stop").is_none() {
        bail!(
            "{} has no line with the mark `check: stop`",
            source.display()
        );
    }
    let adapter = Program {
        command: options.command.clone(),
        connect: options.connect.clone(),
        patience,
    };
    let check = dapple_check::Options {
        launch,
        source,
        marks,
        adapter_id: options.adapter_id.clone(),
        client: client.unwrap_or_else(|| serde_json::json!({})),
        child_session: options.child_session,
        patience,
        ..dapple_check::Options::default()
    };
    let report = check_with(&adapter, &check, &mut |scenario| eprintln!("{scenario} …"));
    if let Some(path) = &options.junit {
        fs::write(path, report.junit())
            .with_context(|| format!("can't write {}", path.display()))?;
    }
    let mut out = io::stdout().lock();
    match options.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?,
        false => write!(out, "{}", report.text())?,
    }
    Ok(match (report.unable.is_empty(), report.is_passed()) {
        (false, _) => ExitCode::from(UNABLE),
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(BROKEN),
    })
}

/// JSON as it is given, or in a file.
fn json_of(option: &str, text: &str) -> Result<Value> {
    let text = match text.strip_prefix('@') {
        Some(path) => {
            fs::read_to_string(path).with_context(|| format!("{option}: can't read {path}"))?
        }
        None => text.to_owned(),
    };
    let value: Value =
        serde_json::from_str(&text).with_context(|| format!("{option} is not JSON"))?;
    if !value.is_object() {
        bail!("{option} is not a JSON object");
    }
    Ok(value)
}

fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize()
        .with_context(|| format!("can't read {}", path.display()))
}

fn list_rules() -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    for rule in dapple_check::rules::ALL {
        writeln!(
            out,
            "{:28} {:9}  {}",
            rule.name, rule.severity, rule.sentence
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
