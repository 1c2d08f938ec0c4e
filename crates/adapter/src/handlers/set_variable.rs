//! Giving variables other values.

use super::variables::by_name::{Child, child};
use super::{stack_trace, variables};
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

/// The two responses have the same in them.
macro_rules! answer {
    ($response:ty, $after:expr) => {{
        let after: Shown = $after;
        let mut response = <$response>::new(after.text).with_variables_reference(after.reference);
        response.r#type = after.type_name;
        response.named_variables = after.named;
        response.indexed_variables = after.indexed;
        response.memory_reference = after.memory;
        response
    }};
}

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
        Child::Register(register) => {
            let whole = || format!("`{name}` can't be set as a whole; set what is in it");
            let expression = register.expression;
            Target::Expression(expression.ok_or_else(|| Failure::new(whole()).show_user())?)
        }
        Child::Value(found) => Target::Value(Box::new(found.0)),
    };
    assign(adapter, target, &arguments.value, frame, context)?;
    let (found, frame) = find(adapter)?;
    let afterwards = match found {
        Child::Value(found) => *found,
        Child::Register(register) => return Ok(SetVariableResponse::new(register.text)),
    };
    let after = shown(
        adapter,
        afterwards,
        frame,
        arguments.format.as_ref(),
        context,
    )?;
    Ok(answer!(SetVariableResponse, after))
}

/// Gives what an expression stands for another value. The answer has what is there afterwards.
pub fn set_expression(
    adapter: &mut Adapter,
    arguments: SetExpressionArguments,
    context: &mut Context,
) -> Result<SetExpressionResponse, Failure> {
    let frame = match arguments.frame_id {
        Some(id) => Some(stack_trace::frame(adapter, id)?),
        None => None,
    };
    let target = Target::Expression(arguments.expression.clone());
    assign(adapter, target, &arguments.value, frame, context)?;
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
    Ok(answer!(SetExpressionResponse, after))
}

fn assign(
    adapter: &mut Adapter,
    target: Target,
    value: &str,
    frame: Option<FrameId>,
    context: &mut Context,
) -> Result<(), Failure> {
    let options = adapter.call_options(context);
    let debuggee = adapter.partly_stopped()?;
    // An editor begins with what it shows.
    let value = match styling::is_wanted(context.client()) {
        true => &styling::without(value),
        false => value,
    };
    let (assigned, changed) = debuggee.assign(target, value, frame, &options);
    adapter.assigned(&changed, context);
    assigned.map_err(|error| to_dap::failure(&error))
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
    let (named, rendered) = variables::formatted_one(adapter, afterwards, format)?;
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
