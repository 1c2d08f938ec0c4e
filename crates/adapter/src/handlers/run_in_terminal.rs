//! The reverse request `runInTerminal`: starts the program in a terminal of the client.
//!
//! The client runs Dapple's launcher there. The launcher connects to a socket (`Rendezvous`), is traced unless `noDebug` is set, and
//! executes the program.

use super::launch::{Finish, run as run_here, settle};
use super::waiting;
use crate::adapter::{Adapter, Phase};
use crate::arguments::Console;
use crate::to_dap::OrFail;
use crossbeam_channel::bounded;
use dapple_dap::server::{ClientConventions, Failure, Outbox};
use dapple_dap::types::{
    InitializeRequestArguments, RunInTerminalRequest, RunInTerminalRequestArguments,
    RunInTerminalRequestArgumentsKind,
};
use dapple_engine::launch::{LaunchOptions, Sink, Stdin};
use dapple_engine::launcher::Rendezvous;
use std::sync::Arc;

/// Asks the client for a terminal, and starts the program there when the launcher has connected.
pub fn run(
    adapter: &mut Adapter,
    options: LaunchOptions,
    console: Console,
    (outbox, client): (&Outbox, &ClientConventions),
    finish: Finish,
) {
    let invited = invitation(adapter, options, console, (outbox, client));
    let (arguments, rendezvous) = match invited {
        Ok(invitation) => invitation,
        Err(failure) => return settle(adapter, Err(failure), finish, outbox),
    };
    adapter.phase = Phase::Starting;
    let (refused, refusal) = bounded(1);
    outbox.request::<RunInTerminalRequest>(arguments, move |outcome| {
        if let Err(error) = outcome {
            let _ = refused.send(format!("the client has not started the program: {error}"));
        }
    });
    let (later, session_end) = (adapter.later.clone(), adapter.session_end());
    let wait = move || {
        let came = rendezvous.wait(|time| waiting::pause(time, &session_end, &refusal));
        later.run(move |adapter, session| {
            let (outbox, client) = (&session.outbox(), session.conventions());
            let started = came.map_err(Failure::new).and_then(|(options, launcher)| {
                let options = LaunchOptions {
                    launcher: Some(Arc::new(launcher)),
                    ..options
                };
                run_here(adapter, options, outbox, client)
            });
            settle(adapter, started, finish, outbox);
        });
    };
    let waiting = std::thread::Builder::new().name("wait for terminal".into());
    if let Err(error) = waiting.spawn(wait) {
        tracing::error!(%error, "no thread to wait for a terminal");
    }
}

/// Whether the launch arguments redirect a standard stream or ask for a terminal of the program's own: both exclude the client's terminal.
pub fn is_redirected(options: &LaunchOptions) -> bool {
    options.stdin != Stdin::Null
        || options.stdout != Sink::Events
        || options.stderr != Sink::Events
        || options.terminal
}

/// The request for the client, and the socket at which the launcher will connect.
fn invitation(
    adapter: &Adapter,
    options: LaunchOptions,
    console: Console,
    (outbox, client): (&Outbox, &ClientConventions),
) -> Result<(RunInTerminalRequestArguments, Rendezvous), Failure> {
    let is_able =
        |client: &InitializeRequestArguments| client.supports_run_in_terminal_request == Some(true);
    if !outbox.client().is_some_and(|client| is_able(&client)) {
        return Err(Failure::new(
            "launch: this client has no terminal for programs (`supportsRunInTerminalRequest`); \
             use \"console\": \"internalConsole\", with \"pty\": true if the program needs a terminal",
        ));
    }
    let Some(launcher) = adapter.options.launcher.clone() else {
        return Err(Failure::new(
            "launch: this debugger has no launcher for terminals; use \"console\": \"internalConsole\"",
        ));
    };
    if is_redirected(&options) {
        return Err(Failure::new(
            "launch: in a terminal, all streams of the program are that terminal's: leave out `stdio`, `stdin`, `stdout`, `stderr` and `pty`, or `console`",
        ));
    }
    let cwd = options.cwd.clone().or_else(|| std::env::current_dir().ok());
    let title = options.program.file_name().unwrap_or_default();
    let title = title.to_string_lossy().into_owned();
    let rendezvous = Rendezvous::open(options).or_fail()?;
    let command = rendezvous.short_command(&launcher).or_fail()?;
    let command = command
        .into_iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let cwd = client.path_to_client(&cwd.unwrap_or_else(|| "/".into()));
    let kind = match console {
        Console::External => RunInTerminalRequestArgumentsKind::External,
        _ => RunInTerminalRequestArgumentsKind::Integrated,
    };
    let arguments = RunInTerminalRequestArguments::new(cwd, command)
        .with_kind(kind)
        .with_title(title);
    Ok((arguments, rendezvous))
}
