//! Giving variables other values.

use super::children::{Child, child};
use super::{inspect, registers};
use crate::adapter::Adapter;
use crate::to_dap;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    SetExpressionArguments, SetExpressionResponse, SetVariableArguments, SetVariableResponse,
};
use dapple_engine::session::assigning::Target;
use dapple_engine::values::Rendered;

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
    let changed = debuggee
        .assign(target, &arguments.value, frame)
        .map_err(|error| to_dap::failure(&error))?;
    adapter.assigned(&changed, context);
    let (found, frame) = find(adapter)?;
    let (named, rendered) = match (found, frame) {
        (Child::Value(found), _) => *found,
        (Child::Register, Some(frame)) => {
            let shown = registers::named(adapter, frame, name)?;
            let text = shown.map(|register| register.text).unwrap_or_default();
            return Ok(SetVariableResponse::new(text));
        }
        (Child::Register, None) => return Ok(SetVariableResponse::new(arguments.value)),
    };
    let shown = (named, rendered);
    let (named, rendered) = inspect::formatted_one(adapter, shown, arguments.format.as_ref())?;
    let reference = adapter.reference(&named, &rendered, frame)?;
    let mut response =
        SetVariableResponse::new(rendered.text.clone()).with_variables_reference(reference);
    if let Some(type_name) = shown_type(&rendered, context) {
        response = response.with_type(type_name);
    }
    if let Some((named, indexed)) = to_dap::counts(&rendered) {
        response = response
            .with_named_variables(named)
            .with_indexed_variables(indexed);
    }
    if let Some(address) = rendered.memory {
        response = response.with_memory_reference(address.to_string());
    }
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
    let changed = debuggee
        .assign(target, &arguments.value, frame)
        .map_err(|error| to_dap::failure(&error))?;
    adapter.assigned(&changed, context);
    let (named, rendered) = adapter
        .partly_stopped()?
        .evaluate(&arguments.expression, frame)
        .map_err(|error| to_dap::failure(&error))?;
    let shown = (named, rendered);
    let (named, rendered) = inspect::formatted_one(adapter, shown, arguments.format.as_ref())?;
    let reference = adapter.reference(&named, &rendered, frame)?;
    let mut response =
        SetExpressionResponse::new(rendered.text.clone()).with_variables_reference(reference);
    if let Some(type_name) = shown_type(&rendered, context) {
        response = response.with_type(type_name);
    }
    if let Some((named, indexed)) = to_dap::counts(&rendered) {
        response = response
            .with_named_variables(named)
            .with_indexed_variables(indexed);
    }
    if let Some(address) = rendered.memory {
        response = response.with_memory_reference(address.to_string());
    }
    Ok(response)
}

fn shown_type(rendered: &Rendered, context: &Context) -> Option<String> {
    let wanted = context.client().supports_variable_type == Some(true);
    (wanted && !rendered.type_name.is_empty()).then(|| rendered.type_name.clone())
}
