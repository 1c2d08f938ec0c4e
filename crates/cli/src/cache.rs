//! `dapple cache`: manages the indexes of large programs that are kept between sessions.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use dapple_symbols::Module;
use dapple_symbols::indexing::{IndexCache, IndexState};

/// The options of `dapple cache`.
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Show which indexes there are, the one used last first
    List,
    /// Make the indexes of programs and libraries, however small, so that their first session need not
    Build {
        /// The programs or libraries
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Remove all indexes
    Clear,
}

/// The user's cache: `$XDG_CACHE_HOME/dapple/index`, or else `~/.cache/dapple/index`.
pub fn open() -> anyhow::Result<IndexCache> {
    let folder = |name| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(value)).filter(|folder| folder.is_absolute())
    };
    let caches = folder("XDG_CACHE_HOME")
        .or_else(|| Some(folder("HOME")?.join(".cache")))
        .context("there is no place for indexes: neither XDG_CACHE_HOME nor HOME is set")?;
    let folder = caches.join("dapple/index");
    IndexCache::open(folder.clone(), IndexCache::USUAL_LIMIT)
        .with_context(|| format!("indexes can't be kept in {}", folder.display()))
}

/// As [`open`], but `None` in place of an error, which is logged: a session also works without a cache.
pub fn open_if_possible() -> Option<Arc<IndexCache>> {
    open()
        .inspect_err(|error| tracing::warn!("{error:#}"))
        .ok()
        .map(Arc::new)
}

/// Runs `dapple cache`.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let cache = Arc::new(open()?);
    match options.action {
        Action::List => list(&cache)?,
        Action::Build { files } => {
            for file in files {
                build(&cache, &file)?;
            }
        }
        Action::Clear => {
            let freed = cache
                .clear()
                .with_context(|| format!("{} can't be cleared", cache.folder().display()))?;
            println!("{} freed", megabytes(freed));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(cache: &IndexCache) -> anyhow::Result<()> {
    let entries = cache
        .entries()
        .with_context(|| format!("{} can't be read", cache.folder().display()))?;
    for entry in &entries {
        let age = SystemTime::now()
            .duration_since(entry.used)
            .unwrap_or_default();
        println!(
            "{:>10}  {:>12}  {}",
            megabytes(entry.size),
            ago(age),
            match cache.program_of(entry) {
                Some(program) => program.display().to_string(),
                None => format!("{}, which is damaged or of another version", entry.name),
            }
        );
    }
    let size = entries.iter().map(|entry| entry.size).sum();
    println!(
        "{} of {} in {}",
        count(entries.len()),
        megabytes(size),
        cache.folder().display()
    );
    Ok(())
}

fn build(cache: &Arc<IndexCache>, file: &Path) -> anyhow::Result<()> {
    dapple_symbols::survive_changed_files();
    let module = Module::open(file)?;
    module.use_index_cache(cache);
    if module.load_index() == IndexState::Used {
        println!("{}: there is one already", file.display());
        return Ok(());
    }
    let state = module.make_index(&mut |_, _| true);
    let warnings = module.warnings();
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    match state {
        IndexState::Used => println!("{}: made", file.display()),
        _ => bail!(
            "{}: no index can be made of its debug information",
            file.display()
        ),
    }
    Ok(())
}

pub fn count(indexes: usize) -> String {
    match indexes {
        1 => "1 index".to_owned(),
        several => format!("{several} indexes"),
    }
}

pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    let (number, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural} ago")
}
