//! Commands that choose the target of a step or move the program elsewhere.

use anyhow::{Context, bail};
use dapple_dap::types::{
    GotoArguments, GotoRequest, GotoTargetsArguments, GotoTargetsRequest, RestartFrameArguments,
    RestartFrameRequest, Source, StepInTarget, StepInTargetsArguments, StepInTargetsRequest,
};

use super::{Argument, Command, Flow};
use crate::debug::breakpoints::Place;
use crate::debug::session::Session;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "targets",
        aliases: &["step-targets"],
        usage: "",
        summary: "list the calls of this line that `step NAME` can go into",
        details: "In the order in which they are made, as far as that is known.",
        argument: Argument::None,
        repeats: false,
        run: list,
    },
    Command {
        name: "jump",
        aliases: &["j"],
        usage: "LINE | FILE:LINE",
        summary: "go on from another line of this function, without what lies between",
        details: "The program stays stopped there. What was done is not undone.",
        argument: Argument::Location,
        repeats: false,
        run: jump,
    },
    Command {
        name: "restart-frame",
        aliases: &["again"],
        usage: "",
        summary: "begin the selected frame's function again",
        details: "With its arguments as they are now; what was done is not undone.",
        argument: Argument::None,
        repeats: false,
        run: restart_frame,
    },
];

fn targets(session: &mut Session) -> anyhow::Result<Vec<StepInTarget>> {
    session.stop()?;
    if !session.offers(|it| it.supports_step_in_targets_request)? {
        bail!("this adapter can't tell what a line calls");
    }
    session.load_frames(1)?;
    let frame = session.stop()?.frames.first().map(|frame| frame.id);
    let frame = frame.context("this thread has no frames")?;
    let answer = session.request::<StepInTargetsRequest>(StepInTargetsArguments::new(frame))?;
    Ok(answer.targets)
}

fn list(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    let targets = targets(session)?;
    if targets.is_empty() {
        session.screen.print("this line calls nothing more");
    }
    for target in targets {
        session.screen.print(&target.label);
    }
    Ok(Flow::Go)
}

/// The id of the first call of a function that has this name, or whose path ends with it; or of the body of the future that this function
/// makes. An async block is called `async`.
///
/// # Errors
/// There is no such call; the message lists the calls.
pub fn target(session: &mut Session, name: &str) -> anyhow::Result<i64> {
    let targets = targets(session)?;
    let is = |label: &str| {
        let plain = label.split('<').next().unwrap_or(label);
        let written = label
            .trim_start_matches("(*")
            .trim_end_matches("()")
            .trim_end_matches(')');
        let future = label.strip_suffix(" (async)").unwrap_or(label);
        let is_block = || name == "async" && label.starts_with("{async block");
        [label, plain, written, future]
            .into_iter()
            .any(|label| label == name || label.ends_with(&format!("::{name}")))
            || is_block()
    };
    if let Some(target) = targets.iter().find(|target| is(&target.label)) {
        return Ok(target.id);
    }
    let labels: Vec<_> = targets.iter().map(|target| target.label.as_str()).collect();
    match labels[..] {
        [] => bail!("this line calls nothing more, `{name}` neither"),
        _ => bail!("this line doesn't call `{name}`, but {}", labels.join(", ")),
    }
}

fn jump(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let thread = session.stop()?.thread;
    if !session.offers(|it| it.supports_goto_targets_request)? {
        bail!("this adapter can't go to another line");
    }
    if argument.is_empty() {
        bail!("jump where? `jump 12` or `jump file.rs:12`");
    }
    let Place::Line(file, line) = super::breakpoints::find_place(session, argument)? else {
        bail!("`{argument}` is not a line; a jump is to a line of this function");
    };
    let source = Source::new().with_path(file.to_string_lossy());
    let answer = session.request::<GotoTargetsRequest>(GotoTargetsArguments::new(source, line))?;
    let target = answer.targets.first().context("no code on that line")?.id;
    session.request::<GotoRequest>(GotoArguments::new(thread, target))?;
    session.resumed();
    Ok(Flow::Go)
}

fn restart_frame(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    session.stop()?;
    if !session.offers(|it| it.supports_restart_frame)? {
        bail!("this adapter can't begin a frame again");
    }
    session.load_frames(session.stop()?.selected + 1)?;
    let frame = session.stop()?.frame().map(|frame| frame.id);
    let frame = frame.context("this thread has no frames")?;
    session.request::<RestartFrameRequest>(RestartFrameArguments::new(frame))?;
    session.resumed();
    Ok(Flow::Go)
}
