//! A client that counts lines from 0 and supports nothing that is optional.

use serde_json::json;

use super::setup::{configured, disconnect, initialize_as, launch, set_breakpoints, stopped};
use super::values;
use crate::rules;
use crate::talk::Talk;

/// A breakpoint, a stop at it, and its variables.
pub(super) fn session(talk: &mut Talk<'_>) {
    stop(talk);
    disconnect(talk);
}

fn stop(talk: &mut Talk<'_>) -> Option<()> {
    let arguments = json!({
        "clientID": "dapple-check",
        "adapterID": talk.options.adapter_id,
        "pathFormat": "path",
        "linesStartAt1": false,
        "columnsStartAt1": false,
    });
    // An adapter that refuses such a client says so, and does nothing wrong.
    initialize_as(talk, arguments).ok()?;
    let launch = launch(talk)?;
    // An adapter that ignores `linesStartAt1: false` answers with the line it was asked for, so its answers look right. The variable's value
    // shows the error: the program stops one line too early.
    let mark =
        { ["next", "stop"].into_iter() }.find(|mark| talk.options.marks.line(mark).is_some())?;
    let line = talk.options.marks.line(mark)? - 1;
    let answers = set_breakpoints(talk, &[json!({"line": line})])?;
    let placed = { answers.first() }
        .filter(|answer| answer["verified"] == true)
        .and_then(|answer| answer["line"].as_i64());
    talk.expects(
        rules::LINE_BASE,
        placed.is_none_or(|placed| placed == line),
        || {
            format!(
                "counted from 0, the breakpoint on line {line} is verified at line {}",
                placed.unwrap_or_default()
            )
        },
    );
    configured(talk, &launch)?;
    let stop = stopped(talk, "at a breakpoint whose line is counted from 0")?;
    talk.expects(rules::LINE_BASE, stop.line() == line, || {
        format!(
            "counted from 0, the breakpoint is on line {line}, and the program stopped at line {}",
            stop.line()
        )
    });
    let first = talk.options.marks.values(mark).first().cloned();
    let (name, value) = first?;
    let (_, variable) = values::find(talk, &stop, &name)?;
    let shown = variable["value"].as_str().unwrap_or_default().to_owned();
    talk.expects(rules::LINE_BASE, values::shows(&shown, &value), || {
        format!("at the breakpoint whose line is counted from 0, `{name}` is {shown}; where it should be, it is {value}")
    });
    let kind = &variable["type"];
    talk.expects(rules::TYPE_UNASKED, kind.is_null(), || {
        format!("`{name}` has the type {kind}, which the client doesn't support")
    });
    Some(())
}
