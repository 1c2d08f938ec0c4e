//! Commands for values that are shown at each stop.

use anyhow::bail;
use dapple_dap::types::{EvaluateArguments, EvaluateArgumentsContext, EvaluateRequest};

use super::data::in_notation_of_adapter;
use super::{Argument, Command, Flow, number};
use crate::debug::results::{self, Item};
use crate::debug::session::Session;
use crate::debug::value_tree;

/// An expression whose value is shown at each stop.
#[derive(Debug, Clone)]
pub struct Display {
    /// Its number, from 1.
    number: u32,
    /// As the user has written it.
    expression: String,
}

pub static COMMANDS: &[Command] = &[
    Command {
        name: "display",
        aliases: &["disp"],
        usage: "[EXPRESSION]",
        summary: "show a value now and at each stop, or show all of these again",
        details: "`display/x flags` shows numbers in hexadecimal, as `print` does. Where the expression means nothing, as in another function, it is left out. `undisplay` ends it.",
        argument: Argument::Expression,
        repeats: false,
        run: display,
    },
    Command {
        name: "undisplay",
        aliases: &["undisp"],
        usage: "[N …]",
        summary: "show a value no more at each stop",
        details: "Without a number, none is shown any more.",
        argument: Argument::None,
        repeats: false,
        run: undisplay,
    },
];

fn display(session: &mut Session, expression: &str) -> anyhow::Result<Flow> {
    if expression.is_empty() {
        if session.displays.is_empty() {
            session.screen.print("no values are shown at stops");
        }
        show_displays(session);
        return Ok(Flow::Go);
    }
    // A breakpoint's commands may say it again at each stop.
    if let Some(known) = { session.displays.iter() }.find(|it| it.expression == expression) {
        let known = known.clone();
        if session.stop().is_ok() {
            show(session, &known)?;
        }
        return Ok(Flow::Go);
    }
    let number = session.displays.last().map_or(1, |last| last.number + 1);
    let new = Display {
        number,
        expression: expression.to_owned(),
    };
    if session.stop().is_ok() {
        show(session, &new)?;
    }
    session.displays.push(new);
    Ok(Flow::Go)
}

fn show(session: &mut Session, display: &Display) -> anyhow::Result<()> {
    let frame = session.stop()?.frame().map(|frame| frame.id);
    let (name, expression) = in_notation_of_adapter(session, &display.expression)?;
    let mut arguments = EvaluateArguments::new(expression);
    arguments.frame_id = frame;
    arguments.context = Some(EvaluateArgumentsContext::Watch);
    let answer = session.request_that_runs::<EvaluateRequest>(arguments)?;
    let value = value_tree::Value::from(&answer).of_expression(name);
    let value = value_tree::open(session, name, &value);
    let number = display.number;
    session
        .screen
        .show(Item::Display(results::Display { number, value }));
    Ok(())
}

/// Shows the values of all displays at a stop. Those that mean nothing there are left out.
pub fn show_displays(session: &mut Session) {
    for display in session.displays.clone() {
        let shown = show(session, &display);
        if let Err(error) = shown {
            let expression = display.expression;
            tracing::debug!(expression, %error, "no value to show");
        }
    }
}

fn undisplay(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.is_empty() || argument == "all" {
        session.displays.clear();
        return Ok(Flow::Go);
    }
    for word in argument.split_whitespace() {
        let wanted: u32 = number(word, "the number of a display")?;
        let count = session.displays.len();
        session.displays.retain(|display| display.number != wanted);
        if session.displays.len() == count {
            bail!("nothing is displayed as number {wanted}; `display` shows what is");
        }
    }
    Ok(Flow::Go)
}
