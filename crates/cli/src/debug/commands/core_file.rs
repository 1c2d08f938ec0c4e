//! `gcore`: writes a core file of the program as it is now.

use std::path::PathBuf;

use anyhow::{Context, bail};
use dapple_adapter::{WriteCoreArguments, WriteCoreRequest};

use super::{Argument, Command, Flow};
use crate::debug::render;
use crate::debug::session::Session;
use crate::debug::shell_words;

pub static COMMANDS: &[Command] = &[Command {
    name: "gcore",
    aliases: &[],
    usage: "[FILE]",
    summary: "write a core file of the program as it is now",
    details: "Without a file, it is `core.PID`. `dapple debug --core FILE` looks at it. Only you can read the file. Only for Dapple's adapter.",
    argument: Argument::None,
    repeats: false,
    run: generate,
}];

fn generate(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    session.stop()?;
    if !session.is_own_adapter() {
        bail!("only Dapple's adapter writes core files; this one may have a command of its own");
    }
    let words = shell_words::split(argument)?.args;
    let file = match &words[..] {
        [] => {
            let id = session.process.id();
            let id = id.context("the process's id is not known; `gcore FILE`")?;
            PathBuf::from(format!("core.{id}"))
        }
        [file] => PathBuf::from(file),
        _ => bail!("one file is enough: `gcore FILE`"),
    };
    let path = std::path::absolute(&file)?;
    session.request::<WriteCoreRequest>(WriteCoreArguments { path: path.clone() })?;
    let text = format!("core file {} written", render::path(&path));
    session.screen.print(&text);
    Ok(Flow::Go)
}
