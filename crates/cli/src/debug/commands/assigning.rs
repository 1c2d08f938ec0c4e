//! New values for variables, by what each adapter has for that.

use anyhow::Context;
use dapple_dap::types::{
    EvaluateArguments, EvaluateArgumentsContext, EvaluateRequest, SetExpressionArguments,
    SetExpressionRequest, SetVariableArguments, SetVariableRequest,
};

use super::data;
use crate::debug::session::Session;
use crate::debug::value_tree;

/// A value that was set: with its parts, as text, and its type.
pub type Set = (value_tree::Value, String, Option<String>);

/// Has the adapter evaluate an assignment.
pub fn evaluate(session: &mut Session, assignment: &str) -> anyhow::Result<Set> {
    let mut arguments = EvaluateArguments::new(session.values.expanded(assignment)?);
    arguments.frame_id = session.stop()?.frame().map(|frame| frame.id);
    arguments.context = Some(EvaluateArgumentsContext::Repl);
    let answer = session.request_that_runs::<EvaluateRequest>(arguments)?;
    let value = value_tree::Value::from(&answer);
    Ok((value, answer.result, answer.r#type))
}

/// Sets a place to a value, in an adapter that is not known to evaluate assignments. A variable of the frame can be set also by adapters that set no
/// other places.
pub fn set(session: &mut Session, place: &str, value: &str) -> anyhow::Result<Set> {
    let expanded = session.values.expanded(value)?;
    if session.offers(|it| it.supports_set_expression)? {
        let place = session.values.expanded(place)?;
        let mut arguments = SetExpressionArguments::new(place, expanded);
        arguments.frame_id = session.stop()?.frame().map(|frame| frame.id);
        let answer = session.request_that_runs::<SetExpressionRequest>(arguments)?;
        let value = value_tree::Value::from(&answer);
        return Ok((value, answer.value, answer.r#type));
    }
    if session.offers(|it| it.supports_set_variable)? {
        let container = holder(session, place)?.with_context(|| {
            format!("this adapter sets only variables of the frame, and `{place}` is none")
        })?;
        let arguments = SetVariableArguments::new(container, place.to_owned(), expanded);
        let answer = session.request_that_runs::<SetVariableRequest>(arguments)?;
        let value = value_tree::Value::from(&answer);
        return Ok((value, answer.value, answer.r#type));
    }
    evaluate(session, &format!("{place} = {value}"))
}

/// The reference of the scope of the selected frame that has a variable of this name.
pub fn holder(session: &Session, name: &str) -> anyhow::Result<Option<i64>> {
    let frame = data::selected(session)?;
    for scope in data::scopes(session, &frame)? {
        if scope.expensive {
            continue;
        }
        let reference = scope.variables_reference;
        let inside = data::children(session, reference)?;
        if inside.iter().any(|variable| variable.name == name) {
            return Ok(Some(reference));
        }
    }
    Ok(None)
}
