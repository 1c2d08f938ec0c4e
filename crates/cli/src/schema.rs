//! `dapple schema`: tools for protocol definitions, the official one or others.
//!
//! This module has the arguments, files and output; the rest is in `dapple-schema`. Results go to stdout, and warnings about keywords that
//! aren't understood to stderr. Exit code 1 stands for an error, for a difference found, or for an invalid message, so that scripts can
//! test for it.

mod check;
mod order;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use dapple_schema::diff::{self, Difference};
use dapple_schema::model::UnknownKeyword;
use dapple_schema::validate::Validator;
use dapple_schema::{Model, go, markdown, python, rust, typescript};

use order::Order;

/// The longest line that `dapple schema validate` reads, in bytes.
const MAX_LINE: u64 = 64 * 1024 * 1024;

/// The options of `dapple schema`.
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Say where Dapple's definition came from, and whether FILE is that definition; exit code 1 if it is another
    Check(Check),
    /// Write types or a document for a definition
    Generate(Generate),
    /// List how two definitions differ, in structure and in text; exit code 1 if they do
    Diff(Diff),
    /// Check messages, one on each line, against the definition and, where a recording says who sent them, the rules of a session; exit
    /// code 1 if one is not as it must be
    Validate(Validate),
}

#[derive(Args)]
struct Check {
    /// A definition to compare with, such as a newer one that you have downloaded; `-` for standard input
    file: Option<PathBuf>,
}

#[derive(Args)]
struct Generate {
    /// What to write
    language: Language,
    /// The definition, a JSON schema; `-` for standard input
    file: PathBuf,
    /// Where to write it, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A file with the text to begin with, instead of our own few words
    #[arg(long, value_name = "FILE")]
    preamble: Option<PathBuf>,
    /// A definition that FILE adds to, whose types it may refer to. Rust is then written only for what FILE adds, as a module of a crate
    /// that uses dapple-dap; the other languages get both
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// The name of the TypeScript module or Go package
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Language {
    /// Types with serialization: the `types` module of dapple-dap or, with --base, a module beside that crate
    Rust,
    /// Declarations: an ambient module
    Typescript,
    /// Types for a checker such as mypy, of the dictionaries that `json` reads
    Python,
    /// Structs that `encoding/json` reads and writes, and functions to decode any message
    Go,
    /// The specification as a document
    Markdown,
}

#[derive(Args)]
struct Diff {
    /// The first definition; `-` for standard input
    first: PathBuf,
    /// The second definition; without it, the one that Dapple is built on
    second: Option<PathBuf>,
    /// Compare only what programs depend on, not titles, descriptions and order
    #[arg(long)]
    structure: bool,
}

#[derive(Args)]
struct Validate {
    /// The messages, or a recording of them; `-` for standard input
    file: PathBuf,
    /// The definition to check against, instead of the one that Dapple is built on
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// A definition that the one of --schema adds to
    #[arg(long, value_name = "FILE", requires = "schema")]
    base: Option<PathBuf>,
}

/// Runs `dapple schema`.
pub fn run(options: Options) -> Result<ExitCode> {
    let outcome = match options.action {
        Action::Check(options) => check::run(options.file.as_deref()),
        Action::Generate(options) => generate(&options),
        Action::Diff(options) => compare(&options),
        Action::Validate(options) => validate(&options),
    };
    match outcome {
        // The reader closed the pipe, which is no error.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        outcome => outcome,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn generate(options: &Generate) -> Result<ExitCode> {
    let named = matches!(options.language, Language::Typescript | Language::Go);
    if options.module.is_some() && !named {
        bail!("only TypeScript and Go have a --module");
    }
    let preamble = match &options.preamble {
        Some(path) => Some(text_of(path)?),
        None => None,
    };
    let text = match options.language {
        Language::Rust => generate_rust(options, preamble)?,
        language => {
            let model = extended(options.base.as_deref(), &options.file)?;
            generate_other(language, &model, options, preamble)?
        }
    };
    match &options.output {
        Some(path) => {
            fs::write(path, text).with_context(|| format!("can't write {}", path.display()))?
        }
        None => io::stdout().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Rust for a whole definition or for what it adds to its base. Unknown keywords are errors, not warnings.
fn generate_rust(options: &Generate, preamble: Option<String>) -> Result<String> {
    let name = name_of(&options.file);
    let chosen = rust::Options { preamble };
    let source = match &options.base {
        Some(base) => {
            let base = parsed(None, base)?;
            let model = parsed(Some(&base), &options.file)?;
            rust::generate_extension(&model, &base, &chosen)
        }
        None => rust::generate(&parsed(None, &options.file)?, &chosen),
    };
    laid_out(source.with_context(|| format!("no Rust can be made of {name}"))?)
}

fn generate_other(
    language: Language,
    model: &Model,
    options: &Generate,
    preamble: Option<String>,
) -> Result<String> {
    let name = name_of(&options.file);
    let module = options.module.clone();
    Ok(match language {
        Language::Rust | Language::Typescript => {
            let mut chosen = typescript::Options {
                preamble,
                ..typescript::Options::default()
            };
            chosen.module = module.unwrap_or(chosen.module);
            typescript::generate(model, &chosen)
                .with_context(|| format!("no TypeScript can be made of {name}"))?
        }
        Language::Python => python::generate(model, &python::Options { preamble })
            .with_context(|| format!("no Python can be made of {name}"))?,
        Language::Go => {
            let mut chosen = go::Options {
                preamble,
                ..go::Options::default()
            };
            chosen.package = module.unwrap_or(chosen.package);
            go::generate(model, &chosen).with_context(|| format!("no Go can be made of {name}"))?
        }
        Language::Markdown => markdown::generate(model, &markdown::Options { preamble })
            .with_context(|| format!("no document can be made of {name}"))?,
    })
}

/// Generated Rust formatted by rustfmt, or unchanged if there is no rustfmt or it fails.
fn laid_out(source: String) -> Result<String> {
    let child = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(mut child) = child {
        let input = child.stdin.take();
        let output = std::thread::scope(|scope| {
            // Written by a thread, because rustfmt may write before it has read everything. An error of writing is ignored: whether rustfmt
            // succeeds is what counts.
            scope.spawn(|| input.map(|mut input| input.write_all(source.as_bytes())));
            child.wait_with_output()
        })?;
        if output.status.success() {
            return Ok(String::from_utf8(output.stdout)?);
        }
    }
    eprintln!("dapple: rustfmt is not installed: the Rust is not laid out");
    Ok(source)
}

fn compare(options: &Diff) -> Result<ExitCode> {
    let first = model_of(&options.first)?;
    let second = match &options.second {
        Some(path) => model_of(path)?,
        None => Model::protocol()?,
    };
    let structure = diff::diff(&first, &second);
    let text = if options.structure {
        Vec::new()
    } else {
        diff::text(&first, &second)
    };
    let mut out = io::stdout().lock();
    for difference in &structure {
        writeln!(out, "{difference}")?;
    }
    for difference in &text {
        write_text(&mut out, difference)?;
    }
    if !structure.is_empty() || !text.is_empty() {
        let mut shown = format!(
            "{} in structure",
            counted(structure.len() as u64, "difference")
        );
        if !options.structure {
            shown += &format!(", {} in text", text.len());
        }
        let second = options
            .second
            .as_deref()
            .map_or("Dapple's definition".into(), name_of);
        eprintln!("{shown}: {} against {second}", name_of(&options.first));
        return Ok(ExitCode::FAILURE);
    }
    let what = if options.structure {
        "in structure"
    } else {
        "in structure or text"
    };
    writeln!(
        out,
        "no difference {what} ({} definitions)",
        first.definitions().len()
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a difference in text, the first version above the second.
fn write_text(out: &mut impl Write, difference: &Difference) -> io::Result<()> {
    writeln!(out, "{}", difference.path)?;
    for (mark, text) in [('-', &difference.first), ('+', &difference.second)] {
        for line in text.lines() {
            writeln!(out, "  {mark} {line}")?;
        }
    }
    Ok(())
}

fn validate(options: &Validate) -> Result<ExitCode> {
    let validator = match &options.schema {
        Some(path) => Validator::new(extended(options.base.as_deref(), path)?),
        None => Validator::protocol()?,
    };
    let name = name_of(&options.file);
    let mut input: Box<dyn BufRead> = if is_standard(&options.file) {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&options.file).with_context(|| format!("can't read {name}"))?;
        Box::new(BufReader::new(file))
    };
    let mut out = io::stdout().lock();
    let (mut messages, mut wrong, mut problems) = (0_u64, 0_u64, 0_u64);
    let mut order = Order::default();
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = (&mut input).take(MAX_LINE).read_until(b'\n', &mut line);
        if read.with_context(|| format!("can't read {name}"))? == 0 {
            break;
        }
        if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
            bail!("{name}:{number}: the line is longer than {MAX_LINE} bytes");
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        messages += 1;
        let shape = validator.line(line.trim_ascii()).into_iter();
        let mut found: Vec<String> = shape.map(|problem| problem.to_string()).collect();
        for broken in order.line(line.trim_ascii()) {
            match broken.is_violation {
                true => found.push(broken.text),
                false => writeln!(out, "{name}:{number}: advice: {}", broken.text)?,
            }
        }
        wrong += u64::from(!found.is_empty());
        problems += found.len() as u64;
        for problem in found {
            writeln!(out, "{name}:{number}: {problem}")?;
        }
    }
    for note in order.open() {
        writeln!(out, "{name}: note: where the recording ends, {note}")?;
    }
    if wrong > 0 {
        eprintln!(
            "{name}: {} in {wrong} of {}",
            counted(problems, "problem"),
            counted(messages, "message")
        );
        return Ok(ExitCode::FAILURE);
    }
    writeln!(out, "{name}: {}, no problem", counted(messages, "message"))?;
    Ok(ExitCode::SUCCESS)
}

fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

fn model_of(path: &Path) -> Result<Model> {
    extended(None, path)
}

/// The definition in a file, combined with the base definition that it extends, if there is one. Warns of the keywords in both that
/// aren't understood.
fn extended(base: Option<&Path>, path: &Path) -> Result<Model> {
    let base = base.map(model_of).transpose()?;
    let model = parsed(base.as_ref(), path)?;
    let known = base.as_ref().map_or(&[][..], Model::unknown_keywords);
    warn(&model, known, path);
    Ok(model)
}

/// Warns of the keywords in a file that aren't understood, but for those in `known`.
fn warn(model: &Model, known: &[UnknownKeyword], path: &Path) {
    for keyword in model.unknown_keywords() {
        if !known.contains(keyword) {
            eprintln!("dapple: warning: {}: {keyword}", name_of(path));
        }
    }
}

fn parsed(base: Option<&Model>, path: &Path) -> Result<Model> {
    let text = text_of(path)?;
    let model = match base {
        Some(base) => base.extended_by(&text),
        None => Model::parse(&text),
    };
    // The error's message already includes its cause.
    model.map_err(|error| anyhow!("{} can't be used: {error}", name_of(path)))
}

fn text_of(path: &Path) -> Result<String> {
    let text = if is_standard(path) {
        io::read_to_string(io::stdin())
    } else {
        fs::read_to_string(path)
    };
    text.with_context(|| format!("can't read {}", name_of(path)))
}

fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

fn name_of(path: &Path) -> String {
    if is_standard(path) {
        "standard input".into()
    } else {
        path.display().to_string()
    }
}
