//! The `setVariable` request: an assignment to a child of a container. Also the steps shared with `setExpression`.

use super::variables;
use super::variables::by_name::{Child, child};
use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use crate::{styling, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{SetVariableArguments, SetVariableResponse, ValueFormat};
use dapple_engine::frame::FrameId;
use dapple_engine::session::assigning::Target;
use dapple_engine::values::{NamedValue, Rendered};

/// Fills a response. `SetVariableResponse` and `SetExpressionResponse` have the same fields.
macro_rules! answer {
    ($response:ty, $after:expr) => {{
        let after: $crate::handlers::set_variable::Shown = $after;
        let mut response = <$response>::new(after.text).with_variables_reference(after.reference);
        response.r#type = after.type_name;
        response.named_variables = after.named;
        response.indexed_variables = after.indexed;
        response.memory_reference = after.memory;
        response
    }};
}
pub(super) use answer;

/// Assigns to a child of a container. The response has the value that is read back.
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

pub(super) fn assign(
    adapter: &mut Adapter,
    target: Target,
    value: &str,
    frame: Option<FrameId>,
    context: &mut Context,
) -> Result<(), Failure> {
    let options = adapter.call_options(context);
    let debuggee = adapter.partly_stopped()?;
    // Editors let the user edit the shown text, which may have ANSI colours in it.
    let value = match styling::is_wanted(context.client()) {
        true => &styling::without(value),
        false => value,
    };
    let (assigned, changed) = debuggee.assign(target, value, frame, &options);
    adapter.assigned(&changed, context);
    assigned.or_fail()
}

/// A value after the assignment, as the responses have it.
pub(super) struct Shown {
    pub text: String,
    pub reference: i64,
    pub type_name: Option<String>,
    pub named: Option<i64>,
    pub indexed: Option<i64>,
    pub memory: Option<String>,
}

pub(super) fn shown(
    adapter: &mut Adapter,
    afterwards: (NamedValue, Rendered),
    frame: Option<FrameId>,
    format: Option<&ValueFormat>,
    context: &Context,
) -> Result<Shown, Failure> {
    let (named, rendered) = variables::formatted_one(adapter, afterwards, format)?;
    let reference = adapter.reference(named, &rendered, frame)?;
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
