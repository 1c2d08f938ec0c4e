//! The `setExpression` request: an assignment to an expression.

use super::set_variable::{answer, assign, shown};
use super::stack_trace;
use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{SetExpressionArguments, SetExpressionResponse};
use dapple_engine::session::assigning::Target;

/// Assigns to an expression. The response has the value that is read back.
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
        .or_fail()?;
    let after = shown(
        adapter,
        afterwards,
        frame,
        arguments.format.as_ref(),
        context,
    )?;
    Ok(answer!(SetExpressionResponse, after))
}
