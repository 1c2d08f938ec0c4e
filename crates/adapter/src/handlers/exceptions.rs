//! Exceptions and signals: which of them stop the program, and the details of such a stop.

use crate::adapter::Adapter;
use crate::exceptions::{FILTERS, Filter, Wanted, stack_trace};
use crate::to_dap::OrFail;
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure, Outbox};
use dapple_dap::types::{
    Breakpoint, BreakpointReason, Capabilities, CapabilitiesEvent, CapabilitiesEventBody,
    ExceptionBreakpointsFilter, ExceptionInfoArguments, ExceptionInfoResponse,
    SetExceptionBreakpointsArguments, SetExceptionBreakpointsResponse,
};
use dapple_engine::exceptions::Runtimes;

/// The filters that `initialize` offers, before the program's languages are known.
pub fn filters() -> Vec<ExceptionBreakpointsFilter> {
    shown(FILTERS.iter())
}

/// Sends the client the filters that apply to the program's language runtimes, if they differ from the ones it has.
pub fn send_filters(adapter: &mut Adapter, runtimes: Runtimes, outbox: &Outbox) {
    if adapter.exceptions.set_runtimes(runtimes) {
        let filters = shown(adapter.exceptions.offered());
        let changed = Capabilities::new().with_exception_breakpoint_filters(filters);
        outbox.event::<CapabilitiesEvent>(CapabilitiesEventBody::new(changed));
    }
}

fn shown(filters: impl Iterator<Item = &'static Filter>) -> Vec<ExceptionBreakpointsFilter> {
    let filters = filters.map(|filter| {
        let shown = ExceptionBreakpointsFilter::new(filter.id, filter.label)
            .with_description(filter.description)
            .with_default(filter.default);
        match filter.condition {
            Some(help) => shown
                .with_supports_condition(true)
                .with_condition_description(help),
            None => shown,
        }
    });
    filters.collect()
}

/// Replaces the enabled filters. The response has one entry for each: `filters`, then `filterOptions`, then `exceptionOptions`.
pub fn set_exception_breakpoints(
    adapter: &mut Adapter,
    arguments: SetExceptionBreakpointsArguments,
    _: &mut Context,
) -> Result<SetExceptionBreakpointsResponse, Failure> {
    let plain = arguments.filters.into_iter().map(|id| Wanted {
        id,
        condition: None,
    });
    let options = arguments.filter_options.into_iter().flatten();
    let with_options = options.map(|option| Wanted {
        id: option.filter_id,
        condition: option.condition,
    });
    let wanted = plain.chain(with_options).collect();
    let options = arguments.exception_options.unwrap_or_default();
    let answers = adapter.exceptions.replace(wanted, &options);
    apply(adapter)?;
    let answers = answers.into_iter().map(|answer| match answer {
        Ok(()) => Breakpoint::new(true),
        Err(sentence) => to_dap::unverified(&sentence, BreakpointReason::Failed),
    });
    Ok(SetExceptionBreakpointsResponse::new().with_breakpoints(answers.collect()))
}

/// Passes the filters to the engine, if there is a program.
///
/// # Errors
/// The engine's.
pub fn apply(adapter: &Adapter) -> Result<(), Failure> {
    let set = adapter.if_debugged(|debuggee| {
        debuggee.set_signals(adapter.exceptions.signals())?;
        debuggee.set_exception_filters(adapter.exceptions.filters())
    })?;
    // Without a program, nothing is set yet: the launch passes the filters on.
    set.or(Ok(()))
}

/// Describes the exception or signal that a thread has stopped for.
pub fn exception_info(
    adapter: &mut Adapter,
    arguments: ExceptionInfoArguments,
    _: &mut Context,
) -> Result<ExceptionInfoResponse, Failure> {
    let thread = from_dap::thread(arguments.thread_id)?;
    let exception = adapter.stopped()?.exception(thread).or_fail()?;
    match exception {
        Some(exception) => {
            let trace = exception.stack_trace.as_ref();
            let trace = trace
                .map(|trace| stack_trace::text(trace, &adapter.source_map, adapter.function_names));
            Ok(to_dap::exception_info(&exception, trace))
        }
        None => Err(Failure::new(format!(
            "thread {thread} has not stopped for an exception"
        ))),
    }
}
