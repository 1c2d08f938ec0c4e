//! Commands for watchpoints.

use anyhow::bail;
use dapple_dap::types::{
    DataBreakpoint, DataBreakpointAccessType, DataBreakpointInfoArguments,
    DataBreakpointInfoRequest, SetDataBreakpointsArguments, SetDataBreakpointsRequest,
};

use super::{Argument, Command, Flow};
use crate::debug::results::{Access, Item, Watchpoint};
use crate::debug::session::Session;

/// A watchpoint.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Its number among the breakpoints.
    pub number: u32,
    /// The expression as the user wrote it.
    pub expression: String,
    data: String,
    access: DataBreakpointAccessType,
    /// The adapter's id for it.
    pub id: Option<i64>,
}

pub static COMMANDS: &[Command] = &[
    Command {
        name: "watch",
        aliases: &["w"],
        usage: "[EXPRESSION]",
        summary: "stop where a value is changed, or list what is watched",
        details: "`watch order.total`, `watch items[0]`, `watch *pointer`: of the selected frame. The processor watches four places of up to eight bytes.",
        argument: Argument::Expression,
        repeats: false,
        run: |session, argument| watch(session, argument, DataBreakpointAccessType::Write),
    },
    Command {
        name: "rwatch",
        aliases: &[],
        usage: "EXPRESSION",
        summary: "stop where a value is read",
        details: "",
        argument: Argument::Expression,
        repeats: false,
        run: |session, argument| watch(session, argument, DataBreakpointAccessType::Read),
    },
    Command {
        name: "awatch",
        aliases: &[],
        usage: "EXPRESSION",
        summary: "stop where a value is read or written",
        details: "",
        argument: Argument::Expression,
        repeats: false,
        run: |session, argument| watch(session, argument, DataBreakpointAccessType::ReadWrite),
    },
    Command {
        name: "unwatch",
        aliases: &[],
        usage: "EXPRESSION | all",
        summary: "stop watching a value",
        details: "So does `delete` with the number of the watch.",
        argument: Argument::Expression,
        repeats: false,
        run: unwatch,
    },
];

fn watch(
    session: &mut Session,
    expression: &str,
    access: DataBreakpointAccessType,
) -> anyhow::Result<Flow> {
    if expression.is_empty() {
        list(session);
        return Ok(Flow::Go);
    }
    session.stop()?;
    if !session.offers(|it| it.supports_data_breakpoints)? {
        bail!(
            "this adapter can't watch data; `b LINE if EXPRESSION` stops at a line where something holds"
        );
    }
    session.load_frames(session.stop()?.selected + 1)?;
    let mut arguments = DataBreakpointInfoArguments::new(expression);
    arguments.frame_id = session.stop()?.frame().map(|frame| frame.id);
    if !session.is_own_adapter() {
        // lldb-dap takes the value of an expression for the address to watch, but not that of a scope's variable.
        arguments.variables_reference = super::assigning::holder(session, expression)?;
    }
    let info = session.request::<DataBreakpointInfoRequest>(arguments)?;
    let Some(data) = info.data_id else {
        bail!("{}", info.description);
    };
    let number = session.breakpoints.allocate_number();
    session.process.watches.push(Watch {
        number,
        expression: expression.to_owned(),
        data,
        access,
        id: None,
    });
    if let Err(error) = send(session) {
        session.process.watches.pop();
        session.breakpoints.release_number(number);
        // The adapter has to remove it, too.
        send(session)?;
        return Err(error);
    }
    session
        .screen
        .print(&format!("watching {expression} (watch {number})"));
    Ok(Flow::Go)
}

fn send(session: &mut Session) -> anyhow::Result<()> {
    let wanted = session.process.watches.iter().map(|watch| {
        DataBreakpoint::new(watch.data.clone()).with_access_type(watch.access.clone())
    });
    let arguments = SetDataBreakpointsArguments::new(wanted.collect());
    let answers = session
        .request::<SetDataBreakpointsRequest>(arguments)?
        .breakpoints;
    for (watch, answer) in session.process.watches.iter_mut().zip(&answers) {
        watch.id = answer.id;
    }
    match answers
        .iter()
        .zip(&session.process.watches)
        .find(|(answer, _)| !answer.verified)
    {
        Some((answer, watch)) => match &answer.message {
            Some(message) => bail!("{message}"),
            None => bail!("`{}` can't be watched", watch.expression),
        },
        None => Ok(()),
    }
}

fn unwatch(session: &mut Session, expression: &str) -> anyhow::Result<Flow> {
    match expression {
        "" => bail!("name what to stop watching: `unwatch EXPRESSION`, or `unwatch all`"),
        "all" if session.process.watches.is_empty() => {
            session.screen.print("nothing is watched");
            return Ok(Flow::Go);
        }
        "all" => session.process.watches.clear(),
        _ => {
            let count = session.process.watches.len();
            session
                .process
                .watches
                .retain(|watch| watch.expression != expression);
            if session.process.watches.len() == count {
                bail!("`{expression}` is not watched; `watch` lists what is");
            }
        }
    }
    if session.link().is_ok() {
        send(session)?;
    }
    Ok(Flow::Go)
}

/// Removes the watchpoint with this number. Returns `false` if there is none.
pub fn delete(session: &mut Session, number: u32) -> anyhow::Result<bool> {
    let count = session.process.watches.len();
    session
        .process
        .watches
        .retain(|watch| watch.number != number);
    if session.process.watches.len() == count {
        return Ok(false);
    }
    if session.link().is_ok() {
        send(session)?;
    }
    Ok(true)
}

fn list(session: &mut Session) {
    let all = shown(session);
    if all.is_empty() {
        session.screen.print("nothing is watched");
    }
    for one in all {
        session.screen.show(one);
    }
}

/// The watchpoints.
pub fn shown(session: &Session) -> Vec<Item> {
    let one = |watch: &Watch| {
        let access = match watch.access {
            DataBreakpointAccessType::Read => Access::Read,
            DataBreakpointAccessType::ReadWrite => Access::ReadWrite,
            _ => Access::Write,
        };
        Item::Watchpoint(Watchpoint {
            number: watch.number,
            expression: watch.expression.clone(),
            access,
        })
    };
    session.process.watches.iter().map(one).collect()
}
