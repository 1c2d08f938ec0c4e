//! Registers the handler of each request. `initialize` offers what is registered here. ARCHITECTURE.md lists, for each request, the
//! modules that do the work.

mod attach;
pub mod back;
mod breakpoint_locations;
mod breakpoints;
mod completions;
mod configuration_done;
mod continue_and_pause;
mod data_breakpoints;
pub mod decided;
mod disassemble;
mod disconnect;
mod evaluate;
pub mod exceptions;
mod goto;
mod instruction_breakpoints;
pub mod last_write;
pub mod launch;
mod locations;
pub mod locks;
mod memory;
pub mod modules;
pub mod moments;
pub mod read_visualizers;
pub mod record;
mod restart;
mod restart_frame;
mod run_in_terminal;
mod scopes;
mod set_expression;
pub mod set_skip;
mod set_variable;
mod sources;
mod stack_trace;
pub mod start_debugging;
mod step;
pub mod symbols;
pub mod tasks;
mod terminate;
mod terminate_threads;
mod threads;
mod variables;
mod waiting;
pub mod write_core;

use crate::adapter::Adapter;
use crate::clients;
use dapple_dap::server::{Context, Failure, Server, ServerBuilder};
use dapple_dap::types::*;

/// The error for requests that need a debuggee, in a session without debugging.
pub const NO_DEBUG: &str = "the program runs without debugging (`noDebug`)";

/// Has the client show a handler's failures in the view that asked, not in a dialog: clients send these requests by themselves, to
/// fill a view or a hover.
fn in_place<A: 'static, R: 'static>(
    handler: impl Fn(&mut Adapter, A, &mut Context) -> Result<R, Failure> + Send + Sync + 'static,
) -> impl Fn(&mut Adapter, A, &mut Context) -> Result<R, Failure> + Send + Sync + 'static {
    move |adapter, arguments, context| {
        handler(adapter, arguments, context).map_err(Failure::in_place)
    }
}

/// Adds the requests that the protocol doesn't have.
fn with_own_requests(builder: ServerBuilder<Adapter>) -> ServerBuilder<Adapter> {
    builder
        .on::<set_skip::SetSkipRequest>(set_skip::set_skip)
        .on::<tasks::TasksRequest>(tasks::tasks)
        .on::<locks::LocksRequest>(locks::locks)
        .on_deferred::<symbols::SymbolsRequest>(symbols::symbols)
        .on::<write_core::WriteCoreRequest>(in_place(write_core::write_core))
        .on::<back::StepBackFurtherRequest>(back::step_back_further)
        .on::<record::RecordRequest>(in_place(record::record))
        .on::<last_write::WhoRequest>(in_place(last_write::who))
        .on::<moments::WhenRequest>(moments::when)
        .on::<moments::SetBookmarkRequest>(in_place(moments::set_bookmark))
        .on::<moments::RemoveBookmarkRequest>(in_place(moments::remove_bookmark))
        .on::<moments::GoToMomentRequest>(moments::go_to_moment)
        .on::<decided::DecidedRequest>(decided::decided)
        .on::<read_visualizers::ReadVisualizersRequest>(read_visualizers::read_visualizers)
}

/// The server with all handlers and capabilities.
pub fn server() -> Server<Adapter> {
    with_own_requests(Server::builder())
        .keep_conventions()
        .capabilities(|capabilities| {
            capabilities.supports_evaluate_for_hovers = Some(true);
            let triggers = [".", ">", ":", "$"].map(str::to_owned);
            capabilities.completion_trigger_characters = Some(triggers.to_vec());
            capabilities.supports_value_formatting_options = Some(true);
            capabilities.support_terminate_debuggee = Some(true);
            capabilities.support_suspend_debuggee = Some(true);
            capabilities.supports_delayed_stack_trace_loading = Some(true);
            capabilities.supports_stepping_granularity = Some(true);
            capabilities.supports_conditional_breakpoints = Some(true);
            capabilities.supports_hit_conditional_breakpoints = Some(true);
            capabilities.supports_log_points = Some(true);
            capabilities.exception_breakpoint_filters = Some(exceptions::filters());
            capabilities.supports_exception_filter_options = Some(true);
            capabilities.supports_exception_options = Some(true);
            capabilities.supports_clipboard_context = Some(true);
            capabilities.supports_single_thread_execution_requests = Some(true);
            capabilities.additional_module_columns = Some(modules::columns());
            capabilities.supports_data_breakpoint_bytes = Some(true);
            capabilities.breakpoint_modes = Some(crate::breakpoint_modes::all());
            capabilities.supports_ansi_styling = Some(true);
            capabilities.supported_checksum_algorithms = Some(vec![ChecksumAlgorithm::Md5]);
        })
        .on_deferred::<LaunchRequest>(launch::launch)
        .on_deferred::<AttachRequest>(attach::attach)
        .on::<ConfigurationDoneRequest>(configuration_done::configuration_done)
        .on::<SetBreakpointsRequest>(breakpoints::set_breakpoints)
        .on::<SetFunctionBreakpointsRequest>(breakpoints::set_function_breakpoints)
        .on::<SetInstructionBreakpointsRequest>(
            instruction_breakpoints::set_instruction_breakpoints,
        )
        .on::<BreakpointLocationsRequest>(in_place(breakpoint_locations::breakpoint_locations))
        .on::<SetExceptionBreakpointsRequest>(exceptions::set_exception_breakpoints)
        .on::<ExceptionInfoRequest>(in_place(exceptions::exception_info))
        .on::<DataBreakpointInfoRequest>(in_place(data_breakpoints::data_breakpoint_info))
        .on::<SetDataBreakpointsRequest>(data_breakpoints::set_data_breakpoints)
        .on::<ThreadsRequest>(in_place(threads::threads))
        .on::<StackTraceRequest>(in_place(stack_trace::stack_trace))
        .on::<ScopesRequest>(in_place(scopes::scopes))
        .on::<VariablesRequest>(in_place(variables::variables))
        .on::<EvaluateRequest>(in_place(evaluate::evaluate))
        .on::<CompletionsRequest>(in_place(completions::completions))
        .on::<SetVariableRequest>(set_variable::set_variable)
        .on::<SetExpressionRequest>(set_expression::set_expression)
        .on::<LocationsRequest>(in_place(locations::locations))
        .on::<modules::ModulesRequest>(in_place(modules::modules))
        .on::<ReadMemoryRequest>(in_place(memory::read_memory))
        .on::<WriteMemoryRequest>(memory::write_memory)
        .on::<DisassembleRequest>(in_place(disassemble::disassemble))
        .on::<GotoTargetsRequest>(goto::goto_targets)
        .on::<GotoRequest>(goto::goto)
        .on::<RestartFrameRequest>(restart_frame::restart_frame)
        .on::<TerminateThreadsRequest>(terminate_threads::terminate_threads)
        .on::<ContinueRequest>(continue_and_pause::continue_)
        .on::<NextRequest>(step::next)
        .on::<StepInRequest>(step::step_in)
        .on::<StepInTargetsRequest>(in_place(step::step_in_targets))
        .on::<StepOutRequest>(step::step_out)
        .on::<StepBackRequest>(back::step_back)
        .on::<ReverseContinueRequest>(back::reverse_continue)
        .on::<PauseRequest>(continue_and_pause::pause)
        .on::<SourceRequest>(in_place(sources::source))
        .on_deferred::<LoadedSourcesRequest>(sources::loaded_sources)
        .on_deferred::<RestartRequest>(restart::restart)
        .capabilities_for(restart::offered)
        .failures_for(clients::failure)
        .on::<TerminateRequest>(terminate::terminate)
        .on::<DisconnectRequest>(disconnect::disconnect)
        .build()
}
