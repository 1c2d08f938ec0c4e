//! `--cargo` with `--on`: cargo builds the program here, and it is sent to where it runs. Its sources are here.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use dapple_adapter::building::cargo::{CargoPlan, CommandLine};
use dapple_adapter::building::source::Language;
use dapple_adapter::building::{BuildContext, Plan, Unbuilt, build};
use signal_hook::consts::SIGINT;

use super::link::Program;
use super::texts;
use crate::on::{self, Place};

/// Builds what cargo makes with these arguments, and sends it. What cargo says goes to stderr.
///
/// # Errors
/// The build was cancelled or has failed, it makes no program, or the place can't be reached.
pub fn program(words: &[String], place: &Place, asks: bool) -> anyhow::Result<Program> {
    let line = CommandLine::read(words);
    let line = line.map_err(|sentence| anyhow::anyhow!("--cargo: {sentence}"))?;
    let plan = CargoPlan {
        line,
        ..CargoPlan::default()
    };
    let pressed = Arc::new(AtomicBool::new(false));
    let registered = signal_hook::flag::register(SIGINT, Arc::clone(&pressed));
    let is_styled = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let wanted = move || !pressed.load(Ordering::Relaxed);
    let mut context = BuildContext::without_session(is_styled, |text| eprint!("{text}"), wanted);
    let built = build(&Plan::Cargo(Box::new(plan)), &mut context);
    if let Ok(id) = registered {
        signal_hook::low_level::unregister(id);
    }
    let built = match built {
        Ok(built) => built,
        Err(Unbuilt::Failed(sentence)) => bail!(sentence),
        Err(Unbuilt::Cancelled) => bail!("interrupted"),
    };
    let program = built.program.context("cargo has built no program")?;
    let there = on::put(place, &program, asks)?;
    Ok(Program {
        path: PathBuf::from(there),
        args: texts(built.args.into_iter())?,
        language: Some(Language::Rust),
        ..Program::default()
    })
}
