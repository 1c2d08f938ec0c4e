//! The `launch` request, and the steps that it shares with `attach` and `restart`.
//!
//! A launch prepares the options, builds the program if that is asked for (`building`), starts it here or in the client's terminal
//! (`run_in_terminal`), and holds it at its entry until the client has configured (`configurationDone`).

pub mod building;

use crate::adapter::main_stop::MainStop;
use crate::adapter::{Adapter, Phase, TypedInto};
use crate::arguments::{Common, Console, LaunchArguments, NOT_THERE};
use crate::breakpoints::Wanted;
use crate::building::Plan;
use crate::clients;
use crate::console::say;
use crate::handlers::{back, exceptions, run_in_terminal};
use crate::serve_options::OwnStdin;
use crate::to_dap;
use crate::to_dap::OrFail;
use dapple_dap::message::Empty;
use dapple_dap::server::{ClientConventions, Context, Failure, LateProgress, Outbox, Responder};
use dapple_dap::types::{
    InitializedEvent, LaunchRequest, LaunchRequestArguments, ProcessEvent, TerminatedEvent,
};
use dapple_engine::debug_info::DebugInfoOptions;
use dapple_engine::forks::FollowForks;
use dapple_engine::launch::{LaunchOptions, Stdin};
use dapple_engine::session::BreakpointState;
use dapple_engine::untraced::Untraced;
use dapple_engine::{Error, Session};
use std::path::Path;
use std::sync::Arc;

/// Called once with the outcome of the start.
pub type Finish = Box<dyn FnOnce(Result<Empty, Failure>) + Send>;

/// Starts the program and holds it at its entry. A failed start ends the session; a second `launch` is only refused.
pub fn launch(
    adapter: &mut Adapter,
    arguments: LaunchRequestArguments,
    responder: Responder<LaunchRequest>,
    context: &mut Context,
) {
    match not_entered(adapter) {
        Ok(()) => start(
            adapter,
            &arguments,
            context,
            Box::new(|outcome| responder.finish(outcome)),
        ),
        Err(failure) => responder.fail(failure),
    }
}

/// Checks that the session has had no program yet: it can have only one.
///
/// # Errors
/// The session has or had a program.
pub fn not_entered(adapter: &Adapter) -> Result<(), Failure> {
    let refused = match adapter.phase {
        Phase::New => return Ok(()),
        Phase::Ended => "the session has ended; start a new one",
        _ => "a program is launched already; a session has one",
    };
    Err(Failure::new(refused).show_user())
}

/// Builds the program if that is asked for, and starts it. Calls `finish` when the start is done or has failed, which may be later.
pub fn start(
    adapter: &mut Adapter,
    arguments: &LaunchRequestArguments,
    context: &mut Context,
    finish: Finish,
) {
    let (outbox, client) = (context.outbox(), context.conventions());
    match prepare(adapter, arguments, context) {
        Ok(prepared) if prepared.plans.is_empty() => {
            start_built(adapter, prepared, outbox, client, finish);
        }
        Ok(prepared) => building::begin(adapter, prepared, context, finish),
        Err(failure) => settle(adapter, Err(failure), finish, outbox),
    }
}

/// A program to be started.
pub struct Prepared {
    /// How to start the program. A build adds what it has made.
    pub options: LaunchOptions,
    /// Where the program's input and output are.
    pub console: Console,
    /// The builds to run first, in order.
    pub plans: Vec<Plan>,
}

/// Starts a program that is built.
pub fn start_built(
    adapter: &mut Adapter,
    prepared: Prepared,
    outbox: &Outbox,
    client: &ClientConventions,
    finish: Finish,
) {
    match prepared.console {
        Console::Internal => {
            let started = run(adapter, prepared.options, outbox, client);
            settle(adapter, started, finish, outbox);
        }
        console => {
            run_in_terminal::run(adapter, prepared.options, console, (outbox, client), finish)
        }
    }
}

/// Calls `finish` with the outcome. A failed start ends the session.
pub fn settle(
    adapter: &mut Adapter,
    started: Result<(), Failure>,
    finish: Finish,
    outbox: &Outbox,
) {
    match started {
        Ok(()) => finish(Ok(Empty)),
        Err(failure) => {
            adapter.end();
            finish(Err(failure.show_user()));
            outbox.event::<TerminatedEvent>(Default::default());
        }
    }
}

/// Reads the arguments of a launch. Stores those that are for the session.
fn prepare(
    adapter: &mut Adapter,
    arguments: &LaunchRequestArguments,
    context: &Context,
) -> Result<Prepared, Failure> {
    let launch = LaunchArguments::read(&arguments.other).map_err(Failure::new)?;
    check_place(adapter, &launch.common)?;
    let mut options = launch.options;
    if options.stdin == Stdin::Inherit && adapter.options.own_stdin == OwnStdin::Taken {
        return Err(Failure::new(
            "launch: `stdin` cannot be \"inherit\" here, the debugger's own standard input is in use; name a file, or \"null\"",
        ));
    }
    options.process_group = adapter.options.process_group;
    adapter.debug_info = DebugInfoOptions {
        debuginfod: launch.common.debuginfod,
        index_cache: adapter.options.index_cache.clone(),
    };
    adapter.no_debug = arguments.no_debug.unwrap_or(false);
    if adapter.no_debug && options.replay.is_some() {
        return Err(Failure::new(
            "launch: a recording is replayed by the debugger; leave out `noDebug`",
        ));
    }
    if adapter.no_debug {
        options.follow_forks = FollowForks::Parent;
        // The address space layout is randomized, as without a debugger.
        options.randomize = true;
    }
    adapter.follow_forks(options.follow_forks, &arguments.other, context);
    apply_common(adapter, launch.common, context.outbox());
    let has_terminal = context.client().supports_run_in_terminal_request == Some(true);
    let console = match launch.console {
        Console::IfThere if has_terminal && !run_in_terminal::is_redirected(&options) => {
            Console::Integrated
        }
        Console::IfThere => Console::Internal,
        said => said,
    };
    adapter.typed_into = match console {
        Console::Internal if options.terminal => TypedInto::Terminal,
        Console::Internal if options.stdin == Stdin::Sent => TypedInto::Pipe,
        _ => TypedInto::Nothing,
    };
    adapter.launched_with = Some(arguments.clone());
    Ok(Prepared {
        options,
        console,
        plans: launch.plans,
    })
}

/// Stores the arguments that `launch` and `attach` share, and prints the warnings about them.
pub fn apply_common(adapter: &mut Adapter, common: Common, outbox: &Outbox) {
    adapter.stop_on_entry = common.stop_on_entry;
    adapter.main_stop = match common.stop_at_main {
        true => MainStop::Asked,
        false => MainStop::None,
    };
    adapter.skip = common.skip.with_third_party(common.third_party.clone());
    adapter.third_party = common.third_party;
    let source_map = common.source_map.for_client(adapter.far_sources.clone());
    adapter.source_map = Arc::new(source_map);
    if !adapter.visualizers_requested {
        adapter.visualizers = common.visualizers;
    }
    adapter.addresses_only = common.addresses_only;
    let client = outbox.client();
    adapter.for_terminal = client.is_some_and(|client| clients::is_terminal(&client));
    adapter.calls = common.calls;
    adapter.decided = common.decided;
    adapter.separate_scopes = common.separate_scopes;
    adapter.show_disassembly = common.show_disassembly;
    adapter.function_names = common.function_names;
    adapter.hides_tasks = common.hides_tasks;
    adapter.shutdown = common.shutdown;
    adapter.exceptions.set_launch_signals(common.signals);
    for warning in &common.warnings {
        say(outbox, warning);
    }
}

/// Checks that this adapter is where the user means it to be.
///
/// # Errors
/// The user means another place.
pub fn check_place(adapter: &Adapter, common: &Common) -> Result<(), Failure> {
    match common.is_elsewhere && !adapter.options.is_far {
        true => Err(Failure::new(NOT_THERE).show_user()),
        false => Ok(()),
    }
}

/// Starts the program, under the engine or without debugging.
///
/// # Errors
/// The program can't be started, or has ended.
pub fn run(
    adapter: &mut Adapter,
    options: LaunchOptions,
    outbox: &Outbox,
    client: &ClientConventions,
) -> Result<(), Failure> {
    let events = adapter
        .engine_events
        .take()
        .ok_or_else(|| Failure::new("the session has ended; start a new one"))?;
    if adapter.no_debug {
        let untraced = Untraced::prepare(options, events).or_fail()?;
        adapter.untraced = Some(untraced);
        adapter.phase = Phase::Held;
        send_initialized(adapter, outbox);
        return adapter.start_when_ready(outbox);
    }
    let _progress = loading(options.replay.as_ref().unwrap_or(&options.program), outbox);
    let record = options.record || options.replay.is_some();
    let debuggee =
        Session::launch_kept(options, adapter.debug_info.clone(), events, adapter.keep())
            .or_fail()?;
    if record {
        back::is_recorded(outbox);
    }
    begin(adapter, debuggee, outbox, client)
}

/// Shows progress while a program's symbols are read, if that takes long.
fn loading(program: &Path, outbox: &Outbox) -> LateProgress {
    let name = program.file_name().unwrap_or(program.as_os_str());
    LateProgress::start(outbox, format!("Loading {}", name.to_string_lossy()))
}

/// Continues the start of a program that is held: passes on breakpoints and settings. If `configurationDone` has come, the program then runs,
/// or its stop at the entry is reported.
///
/// # Errors
/// The engine's; mostly that the program has ended.
pub fn begin(
    adapter: &mut Adapter,
    debuggee: Session,
    outbox: &Outbox,
    client: &ClientConventions,
) -> Result<(), Failure> {
    outbox.event::<ProcessEvent>(to_dap::process(debuggee.process()));
    if let Some(lost) = debuggee.process().lost_privileges() {
        say(outbox, &without_privileges(&lost));
    }
    debuggee.set_skip(adapter.skip.clone()).or_fail()?;
    debuggee.set_decided(adapter.decided).or_fail()?;
    debuggee.forbid_calls(adapter.calls.forbidden).or_fail()?;
    debuggee
        .set_presentation(adapter.visualizers.clone())
        .or_fail()?;
    debuggee.show_pointees(!adapter.addresses_only).or_fail()?;
    adapter.debuggee = Some(debuggee);
    adapter.phase = Phase::Held;
    exceptions::apply(adapter)?;
    set_early_breakpoints(adapter, outbox, client)?;
    send_initialized(adapter, outbox);
    adapter.start_when_ready(outbox)
}

/// As [`begin`], but for a core file, whose state is reported as a stop once `configurationDone` has come.
///
/// # Errors
/// None are known.
pub fn begin_post_mortem(
    adapter: &mut Adapter,
    remains: Session,
    outbox: &Outbox,
) -> Result<(), Failure> {
    outbox.event::<ProcessEvent>(to_dap::process(remains.process()));
    remains
        .set_presentation(adapter.visualizers.clone())
        .or_fail()?;
    remains.show_pointees(!adapter.addresses_only).or_fail()?;
    adapter.debuggee = Some(remains);
    adapter.phase = Phase::Held;
    send_initialized(adapter, outbox);
    adapter.start_when_ready(outbox)
}

/// A warning: the kernel ignores set-user-ID bits and file capabilities under an unprivileged tracer (execve(2)).
fn without_privileges(lost: &str) -> String {
    format!(
        "the program runs without the privileges {lost} that its file gives it, as programs do under a debugger that hasn't got them; \
         run the debugger as root (sudo), or the program without debugging (`noDebug`)"
    )
}

/// Sends `initialized`, once in a session.
pub fn send_initialized(adapter: &mut Adapter, outbox: &Outbox) {
    if !std::mem::replace(&mut adapter.sent_initialized, true) {
        outbox.event::<InitializedEvent>(Empty);
    }
}

/// Sets the breakpoints that were requested before the launch, and reports their states as events.
fn set_early_breakpoints(
    adapter: &mut Adapter,
    outbox: &Outbox,
    client: &ClientConventions,
) -> Result<(), Failure> {
    for (file, wanted) in adapter.breakpoints.lines() {
        let file = adapter.source_map.in_debuggee(&file);
        let set = |debuggee: &Session, lines| debuggee.set_line_breakpoints(&file, lines);
        set_early(adapter, &wanted, set, outbox, client)?;
    }
    super::data_breakpoints::set_early(adapter, outbox)?;
    let wanted = adapter.breakpoints.instructions();
    let set = Session::set_instruction_breakpoints;
    set_early(adapter, &wanted, set, outbox, client)?;
    let wanted = adapter.breakpoints.functions().to_vec();
    let set = Session::set_function_breakpoints;
    set_early(adapter, &wanted, set, outbox, client)
}

fn set_early<T: Clone>(
    adapter: &mut Adapter,
    wanted: &[Wanted<T>],
    set: impl FnOnce(&Session, Vec<T>) -> Result<Vec<BreakpointState>, Error>,
    outbox: &Outbox,
    client: &ClientConventions,
) -> Result<(), Failure> {
    if wanted.is_empty() {
        return Ok(());
    }
    let states = adapter.set_wanted(wanted, set)?;
    for state in states.map_err(|why| Failure::new(why).show_user())? {
        adapter.send_breakpoint(&state, outbox, client);
    }
    Ok(())
}
