//! Giving variables other values.

use super::children::{Child, child};
use super::{inspect, registers};
use crate::adapter::Adapter;
use crate::{styling, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    SetExpressionArguments, SetExpressionResponse, SetVariableArguments, SetVariableResponse,
    ValueFormat,
};
use dapple_engine::frame::FrameId;
use dapple_engine::session::assigning::Target;
use dapple_engine::values::{NamedValue, Rendered};

/// Gives a child of a container another value. The answer has what is there afterwards.
pub fn set_variable(
    adapter: &mut Adapter,
    arguments: SetVariableArguments,
    context: &mut Context,
) -> Result<SetVariableResponse, Failure> {
    let (container, name) = (arguments.variables_reference, arguments.name.as_str());
    let find = |adapter: &mut Adapter| {
        child(adapter, container, name)?.map_err(|why| Failure::new(why).show_user())
    };
    let (found, frame) = find(adapter)?;
    let target = match found {
        Child::Register => Target::Register(name.to_owned()),
        Child::Value(found) => Target::Value(Box::new(found.0)),
    };
    let debuggee = adapter.partly_stopped()?;
    let options = adapter.call_options(context);
    // An editor begins with what it shows.
    let value = match styling::is_wanted(context.client()) {
        true => styling::without(&arguments.value),
        false => arguments.value,
    };
    let (assigned, changed) = debuggee.assign(target, &value, frame, &options);
    adapter.assigned(&changed, context);
    assigned.map_err(|error| to_dap::failure(&error))?;
    let (found, frame) = find(adapter)?;
    let (named, rendered) = match (found, frame) {
        (Child::Value(found), _) => *found,
        (Child::Register, Some(frame)) => {
            let shown = registers::named(adapter, frame, name)?;
            let text = shown.map(|register| register.text).unwrap_or_default();
            return Ok(SetVariableResponse::new(text));
        }
        (Child::Register, None) => return Ok(SetVariableResponse::new(value)),
    };
    let afterwards = (named, rendered);
    let after = shown(
        adapter,
        afterwards,
        frame,
        arguments.format.as_ref(),
        context,
    )?;
    let mut response =
        SetVariableResponse::new(after.text).with_variables_reference(after.reference);
    response.r#type = after.type_name;
    response.named_variables = after.named;
    response.indexed_variables = after.indexed;
    response.memory_reference = after.memory;
    Ok(response)
}

/// Gives what an expression stands for another value. The answer has what is there afterwards.
pub fn set_expression(
    adapter: &mut Adapter,
    arguments: SetExpressionArguments,
    context: &mut Context,
) -> Result<SetExpressionResponse, Failure> {
    let frame = match arguments.frame_id {
        Some(id) => Some(inspect::frame(adapter, id)?),
        None => None,
    };
    let debuggee = adapter.partly_stopped()?;
    let target = Target::Expression(arguments.expression.clone());
    let options = adapter.call_options(context);
    let (assigned, changed) = debuggee.assign(target, &arguments.value, frame, &options);
    adapter.assigned(&changed, context);
    assigned.map_err(|error| to_dap::failure(&error))?;
    let afterwards = adapter
        .partly_stopped()?
        .evaluate(&arguments.expression, frame)
        .map_err(|error| to_dap::failure(&error))?;
    let after = shown(
        adapter,
        afterwards,
        frame,
        arguments.format.as_ref(),
        context,
    )?;
    let mut response =
        SetExpressionResponse::new(after.text).with_variables_reference(after.reference);
    response.r#type = after.type_name;
    response.named_variables = after.named;
    response.indexed_variables = after.indexed;
    response.memory_reference = after.memory;
    Ok(response)
}

/// What is there after an assignment, as the client is shown it.
struct Shown {
    text: String,
    reference: i64,
    type_name: Option<String>,
    named: Option<i64>,
    indexed: Option<i64>,
    memory: Option<String>,
}

fn shown(
    adapter: &mut Adapter,
    afterwards: (NamedValue, Rendered),
    frame: Option<FrameId>,
    format: Option<&ValueFormat>,
    context: &Context,
) -> Result<Shown, Failure> {
    let (named, rendered) = inspect::formatted_one(adapter, afterwards, format)?;
    let reference = adapter.reference(&named, &rendered, frame)?;
    let counts = to_dap::counts(&rendered);
    let has_type = context.client().supports_variable_type == Some(true);
    Ok(Shown {
        reference,
        named: counts.map(|(named, _)| named),
        indexed: counts.map(|(_, indexed)| indexed),
        memory: rendered.memory.map(|address| address.to_string()),
        type_name: (has_type && !rendered.type_name.is_empty()).then_some(rendered.type_name),
        text: rendered.text,
    })
}
