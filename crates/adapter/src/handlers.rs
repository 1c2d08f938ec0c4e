//! The requests that are answered, each with its handler. What is registered here is what `initialize` offers.

mod assigning;
mod attach;
mod breakpoints;
mod children;
mod completions;
mod data_breakpoints;
mod disassembly;
mod end;
mod exceptions;
pub mod forks;
mod input;
mod inspect;
mod locations;
mod memory;
mod moving;
mod places;
pub mod presentation;
mod registers;
mod restart;
mod run;
pub mod skipping;
mod sources;
mod start;
mod terminal;

use crate::adapter::Adapter;
use dapple_dap::server::Server;
use dapple_dap::types::*;

/// What is said of all that only a program has that is debugged.
pub const NO_DEBUG: &str = "the program runs without debugging (`noDebug`)";

/// The adapter as a server.
pub fn server() -> Server<Adapter> {
    Server::builder()
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
            capabilities.supports_data_breakpoint_bytes = Some(true);
            capabilities.breakpoint_modes = Some(crate::data_breakpoints::modes());
            capabilities.supports_ansi_styling = Some(true);
            capabilities.supported_checksum_algorithms = Some(vec![ChecksumAlgorithm::Md5]);
        })
        .on_deferred::<LaunchRequest>(start::launch)
        .on_deferred::<AttachRequest>(attach::attach)
        .on::<ConfigurationDoneRequest>(start::configuration_done)
        .on::<SetBreakpointsRequest>(breakpoints::set_breakpoints)
        .on::<SetFunctionBreakpointsRequest>(breakpoints::set_function_breakpoints)
        .on::<SetInstructionBreakpointsRequest>(places::set_instruction_breakpoints)
        .on::<BreakpointLocationsRequest>(places::breakpoint_locations)
        .on::<SetExceptionBreakpointsRequest>(exceptions::set_exception_breakpoints)
        .on::<ExceptionInfoRequest>(exceptions::exception_info)
        .on::<DataBreakpointInfoRequest>(data_breakpoints::info)
        .on::<SetDataBreakpointsRequest>(data_breakpoints::set)
        .on::<ThreadsRequest>(inspect::threads)
        .on::<StackTraceRequest>(inspect::stack_trace)
        .on::<ScopesRequest>(inspect::scopes)
        .on::<VariablesRequest>(inspect::variables)
        .on::<EvaluateRequest>(inspect::evaluate)
        .on::<CompletionsRequest>(completions::completions)
        .on::<SetVariableRequest>(assigning::set_variable)
        .on::<SetExpressionRequest>(assigning::set_expression)
        .on::<LocationsRequest>(locations::locations)
        .on::<ModulesRequest>(inspect::modules)
        .on::<ReadMemoryRequest>(memory::read_memory)
        .on::<WriteMemoryRequest>(memory::write_memory)
        .on::<DisassembleRequest>(disassembly::disassemble)
        .on::<GotoTargetsRequest>(moving::goto_targets)
        .on::<GotoRequest>(moving::goto)
        .on::<RestartFrameRequest>(moving::restart_frame)
        .on::<TerminateThreadsRequest>(moving::terminate_threads)
        .on::<ContinueRequest>(run::resume)
        .on::<NextRequest>(run::next)
        .on::<StepInRequest>(run::step_in)
        .on::<StepInTargetsRequest>(run::step_in_targets)
        .on::<StepOutRequest>(run::step_out)
        .on::<PauseRequest>(run::pause)
        .on::<skipping::SetSkipRequest>(skipping::set_skip)
        .on::<presentation::ReadVisualizersRequest>(presentation::read_visualizers)
        .on::<SourceRequest>(sources::source)
        .on_deferred::<LoadedSourcesRequest>(sources::loaded_sources)
        .on_deferred::<RestartRequest>(restart::restart)
        .capabilities_for(|client, capabilities| {
            if restart::is_better_left_to(client) {
                capabilities.supports_restart_request = None;
            }
        })
        .on::<TerminateRequest>(end::terminate)
        .on::<DisconnectRequest>(end::disconnect)
        .build()
}
