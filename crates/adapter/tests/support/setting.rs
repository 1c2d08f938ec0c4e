//! Setting variables in every way that clients have, and checking the program's later output.

use super::{Session, Stopped, named};
use dapple_dap::client::ClientError;
use dapple_dap::types::*;

fn said<T>(answer: Result<T, ClientError>, value: impl FnOnce(T) -> String) -> String {
    match answer {
        Ok(answer) => masked(&value(answer)),
        Err(ClientError::Failed(failure)) => format!("error: {}", masked(&failure.to_string())),
        Err(error) => panic!("{error}"),
    }
}

/// A text with its addresses removed, because they vary.
fn masked(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        match digits {
            0..6 => masked.push_str(&format!("0x{part}")),
            _ => masked.push_str(&format!("0x…{}", &part[digits..])),
        }
    }
    masked
}

/// Sets a variable of a scope. Returns its new value.
pub fn set(session: &Session, frame: &StackFrame, name: &str, value: &str) -> String {
    let (scope, name) = name.split_once('/').unwrap_or(("Locals", name));
    let mut container = session.scope(frame, scope).variables_reference;
    let mut name = name;
    while let Some((group, inside)) = name.split_once('/') {
        let groups = session.variables(container);
        container = named(&groups, group).variables_reference;
        name = inside;
    }
    let arguments = SetVariableArguments::new(container, name, value);
    said(session.request::<SetVariableRequest>(arguments), |answer| {
        answer.value
    })
}

/// Sets a child of an expression's value: `point/x`.
pub fn set_child(session: &Session, frame: &StackFrame, name: &str, value: &str) -> String {
    let (parent, name) = name.split_once('/').expect("a parent");
    let arguments = EvaluateArguments::new(parent).with_frame_id(frame.id);
    let parent = session.ok::<EvaluateRequest>(arguments).variables_reference;
    let arguments = SetVariableArguments::new(parent, name, value);
    said(session.request::<SetVariableRequest>(arguments), |answer| {
        answer.value
    })
}

/// Sets the variable that an expression denotes.
pub fn set_expression(session: &Session, frame: &StackFrame, place: &str, value: &str) -> String {
    let arguments = SetExpressionArguments::new(place, value).with_frame_id(frame.id);
    said(
        session.request::<SetExpressionRequest>(arguments),
        |answer| answer.value,
    )
}

pub fn evaluated(
    session: &Session,
    frame: &StackFrame,
    text: &str,
    context: EvaluateArgumentsContext,
) -> String {
    let arguments = EvaluateArguments::new(text)
        .with_frame_id(frame.id)
        .with_context(context);
    said(session.request::<EvaluateRequest>(arguments), |answer| {
        answer.result
    })
}

/// The console's answer to `place` followed by `rest`.
pub fn typed(session: &Session, frame: &StackFrame, place: &str, rest: &str) -> String {
    let text = format!("{place} {rest}");
    evaluated(session, frame, &text, EvaluateArgumentsContext::Repl)
}

pub type Setter = fn(&Session, &StackFrame, &str, &str) -> String;

#[track_caller]
pub fn check(
    session: &Session,
    frame: &StackFrame,
    setter: Setter,
    expected: &[(&str, &str, &str)],
) {
    let wrong: Vec<String> = expected
        .iter()
        .filter_map(|(place, value, now)| {
            let is = setter(session, frame, place, value);
            (is != *now).then(|| format!("{place} = {value}\n  is       {is}\n  expected {now}"))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[track_caller]
pub fn check_later_output(session: Session, stop: &Stopped, output: &str) {
    session.resume(stop.thread);
    session.exit_code();
    let written = session.output(OutputEventCategory::Stdout);
    assert_eq!(written, output);
    session.disconnect();
}
