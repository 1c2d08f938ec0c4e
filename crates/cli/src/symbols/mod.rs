//! `dapple symbols`: shows a program's symbols and debug information without running it.
//!
//! First a [`report`] is gathered, the same for text output ([`mod@print`]) and for `--json`. Results go to stdout. Each lookup that finds
//! nothing is also a sentence on stderr, and makes the exit code 1.

pub(crate) mod lookup;
mod print;
pub(crate) mod report;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use dapple_symbols::Module;
use dapple_symbols::sources::{PathMap, Source, installed_rust_source};

use report::{Answer, Lookup, Report};

/// The options of `dapple symbols`.
#[derive(Args)]
pub struct Options {
    /// The program, library or file with separate debug information
    file: PathBuf,
    /// Look up an address (0x1139), a line (main.rs:12) or a name (Vec::push, orders::*); may be repeated
    #[arg(short, long = "lookup", value_name = "ADDRESS|FILE:LINE|NAME")]
    lookups: Vec<String>,
    /// List the source files, and whether they are here and unchanged
    #[arg(short, long)]
    sources: bool,
    /// Where sources are on this machine: what the debug information has below FROM is below TO; may be repeated
    #[arg(long = "source-map", value_name = "FROM=TO")]
    source_map: Vec<String>,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

/// Runs `dapple symbols`.
pub fn run(options: Options) -> Result<ExitCode> {
    dapple_symbols::survive_changed_files();
    let module = Module::open(&options.file).map_err(|error| anyhow!("{error}"))?;
    if !options.lookups.is_empty()
        && let Some(cache) = crate::cache::open_if_possible()
    {
        module.use_index_cache(&cache);
    }
    let mut report = Report {
        file: options.file.display().to_string(),
        ..Report::default()
    };
    if options.sources {
        let sources = module.sources();
        let map = path_map(&options.source_map, &sources)?;
        report.sources = Some(report::sources(&sources, &map));
    } else if !options.source_map.is_empty() {
        bail!("--source-map is for --sources");
    }
    if options.lookups.is_empty() && !options.sources {
        report.summary = Some(report::summary(&module));
    }
    for query in &options.lookups {
        report.lookups.push(Lookup {
            query: query.clone(),
            answer: lookup::answer(&module, query)?,
        });
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = match options.json {
        true => serde_json::to_writer_pretty(&mut out, &report)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out)),
        false => print::report(&mut out, &report),
    };
    match written.and_then(|()| out.flush()) {
        // The reader closed the pipe, which is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
        written => written?,
    }
    let mut code = ExitCode::SUCCESS;
    for lookup in &report.lookups {
        if let Answer::NotFound { message, .. } = &lookup.answer {
            eprintln!("dapple: {message}");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// Maps paths by the user's pairs. Paths of Rust's library are mapped to rustup's copy, if rustup has installed the sources of the
/// compiler that made the program.
fn path_map(pairs: &[String], sources: &[Source]) -> Result<PathMap> {
    let mut map = PathMap::new();
    for pair in pairs {
        let Some((from, to)) = pair.split_once('=').filter(|(from, _)| !from.is_empty()) else {
            bail!("--source-map {pair}: expected FROM=TO");
        };
        map = map.with_pair(from, to);
    }
    let home = |variable| std::env::var_os(variable).map(PathBuf::from);
    let rustup = home("RUSTUP_HOME").or_else(|| home("HOME").map(|home| home.join(".rustup")));
    let installed =
        rustup.and_then(|rustup| installed_rust_source(&rustup.join("toolchains"), sources));
    Ok(match installed {
        Some(source) => map.with_rust_source(source),
        None => map,
    })
}
