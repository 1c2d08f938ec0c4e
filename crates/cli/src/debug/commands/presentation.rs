//! Commands for how things are shown: the full screen, and visualizers of the user's types.

use anyhow::bail;

use super::{Argument, Command, Flow};
use crate::debug::render;
use crate::debug::session::Session;

/// The argument of `natvis` that has the files read again.
const RELOAD: &str = "reload";

pub static COMMANDS: &[Command] = &[
    Command {
        name: "tui",
        aliases: &[],
        usage: "",
        summary: "show the session on the full screen, with the program where it is",
        details: "`q` or `tui` there leads back to the prompt. A program that is started there gets a terminal of its own; one that was started before goes on \
                  writing to this one, and what it writes is wiped off the screen at its next stop.",
        argument: Argument::None,
        repeats: false,
        run: tui,
    },
    Command {
        name: "natvis",
        aliases: &[],
        usage: "[reload | FILE]",
        summary: "read a Natvis file, or again those that were read, or list them",
        details: "Such a file says how values of your types are shown. `natvis reload` reads all again, after they were edited.",
        argument: Argument::Topic(&[RELOAD]),
        repeats: false,
        run: natvis,
    },
];

fn tui(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if !argument.is_empty() {
        bail!("`tui` alone shows the full screen; its layouts are changed there, by F2");
    }
    session.show_full_screen()?;
    Ok(Flow::Go)
}

fn natvis(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let mut files = session.program.visualizers.clone();
    if !argument.is_empty() {
        if !session.is_own_adapter() {
            bail!("this adapter has no option for how values are shown");
        }
        if argument != RELOAD {
            let file = std::path::absolute(argument)?;
            if !file.is_file() {
                bail!("there is no file {}", render::path(&file));
            }
            // The first entry for a type wins.
            files.retain(|known| *known != file);
            files.insert(0, file);
        }
        session.program.visualizers = files;
        session.send_visualizers()?;
    }
    let files = session.program.visualizers.iter();
    let files: Vec<String> = files.map(|file| render::path(file)).collect();
    session.screen.print(&match files.as_slice() {
        [] => "no Natvis file was given; `natvis FILE` reads one".to_owned(),
        files => format!("values are shown by {}", files.join(", ")),
    });
    Ok(Flow::Go)
}
