//! Another machine, a container or another user: `--on PLACE`, and the command `dapple on`.
//!
//! `place` says how a place is reached, `binary` what is sent there, `reach` sends and starts it, and `proxy` passes on the messages of a client.
//! The debugger itself is not changed by the distance: `dapple dap` runs there as it does here, on the input and output of the command that leads there.

mod binary;
mod place;
mod proxy;
mod reach;

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::Context;
use clap::Args;
use crossbeam_channel::{Receiver, bounded};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use binary::Parcel;
pub use place::Place;
use reach::{Stops, Wanted, reach};

/// The options of `dapple on`.
#[derive(Args)]
pub struct Options {
    /// ssh://USER@HOST:PORT, docker://NAME, podman://NAME, kubectl://NAMESPACE/POD/CONTAINER, or a command that runs others there, as in
    /// exec:'nsenter -t 1234 -a'
    #[arg(value_name = "PLACE", value_parser = Place::parse)]
    place: Place,

    /// Remove what was sent there: dapple, and programs
    #[arg(long, conflicts_with_all = ["command", "put"])]
    remove: bool,

    /// Send this program there, and print where it is
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    put: Option<PathBuf>,

    /// Send this executable in place of the one that runs, as one that needs no libraries
    #[arg(long, value_name = "FILE")]
    far_binary: Option<PathBuf>,

    /// The command of dapple to run there, with its arguments, as in `doctor`
    #[arg(
        value_name = "COMMAND",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<String>,
}

/// Runs a command of dapple at another place, or says what is there.
///
/// # Errors
/// The place can't be reached.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let place = &options.place;
    let asks = io::stdin().is_terminal() || asks_elsewhere();
    if let Some(program) = &options.put {
        println!("{}", put(place, program, asks)?);
        return Ok(ExitCode::SUCCESS);
    }
    let parcel = Parcel::dapple(options.far_binary.as_deref())?;
    if options.remove {
        let signal = SignalEnd::new()?;
        let stops = Stops::by(signal.received.clone());
        let removed = reach(place, Wanted::Remove, parcel, asks, &stops)?.files;
        let mut lines: Vec<String> = removed
            .iter()
            .map(|file| format!("removed {file}"))
            .collect();
        if lines.is_empty() {
            lines.push("nothing of dapple is kept there".to_owned());
        }
        println!("{}", lines.join("\n"));
        return Ok(ExitCode::SUCCESS);
    }
    if options.command.is_empty() {
        let signal = SignalEnd::new()?;
        let stops = Stops::by(signal.received.clone());
        let words = ["--version".to_owned()];
        let mut reached = reach(place, Wanted::Run(&words), parcel, asks, &stops)?;
        println!("{place} is ready, with {}", reached.files.join(", "));
        io::copy(&mut reached.output, &mut io::stdout())?;
        return Ok(code_of(reached.way.end().code));
    }
    let mut input = proxy::Input::read()?;
    // Its end is the command's own affair.
    let stops = Stops::by(input.stops.signal.clone());
    let wanted = Wanted::Run(&options.command);
    let reached = reach(place, wanted, parcel, asks, &stops)?;
    reached.way.pass_on_messages();
    input.stops = stops;
    Ok(code_of(proxy::pass(reached, &input, |_| ()).code))
}

/// Serves the debug adapter at a place to a client on stdio.
///
/// # Errors
/// The place can't be reached, and no client was told so.
pub fn serve(place: &Place, far_binary: Option<&Path>) -> anyhow::Result<ExitCode> {
    proxy::run(place, Parcel::dapple(far_binary))
}

/// The command that serves the debug adapter at a place on its stdio.
///
/// # Errors
/// This program's own path is unknown.
pub fn command(place: &Place, far_binary: Option<&Path>) -> anyhow::Result<Vec<OsString>> {
    let own = std::env::current_exe().context("this program's own path is not known")?;
    let mut words = vec![own.into_os_string()];
    words.extend(["dap", "--on"].map(OsString::from));
    words.push(place.to_string().into());
    if let Some(file) = far_binary {
        words.extend(["--far-binary".into(), file.into()]);
    }
    Ok(words)
}

/// Sends a program to a place, where it is kept, and returns its path there.
///
/// # Errors
/// The place can't be reached, or the program can't be read or written.
pub fn put(place: &Place, program: &Path, asks: bool) -> anyhow::Result<String> {
    let name = program.file_name().context("a program has a name")?;
    let parcel = Parcel::of(program, &name.to_string_lossy())?;
    let signal = SignalEnd::new()?;
    let stops = Stops::by(signal.received.clone());
    let mut files = reach(place, Wanted::Put, parcel, asks, &stops)?.files;
    files
        .pop()
        .context("the place doesn't say where the program is")
}

/// Whether ssh asks the user for passwords in a window, and so may be let ask.
fn asks_elsewhere() -> bool {
    let how = std::env::var("SSH_ASKPASS_REQUIRE");
    matches!(how.as_deref(), Ok("force" | "prefer"))
}

/// The exit code of a command, as ours.
fn code_of(code: Option<i32>) -> ExitCode {
    let code = code.and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}

/// Signals that ask this process to end. Once this is dropped, they end it at once.
struct SignalEnd {
    /// Closes when one has come.
    received: Receiver<Infallible>,
    handle: Handle,
}

impl SignalEnd {
    fn new() -> anyhow::Result<SignalEnd> {
        let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]);
        let mut signals = signals.context("cannot take care of signals")?;
        let handle = signals.handle();
        let (sender, received) = bounded(0);
        let wait = move || {
            signals.forever().next();
            drop(sender);
        };
        let thread = thread::Builder::new().name("signals".to_owned());
        thread.spawn(wait).context("can't start a thread")?;
        Ok(SignalEnd { received, handle })
    }
}

impl Drop for SignalEnd {
    fn drop(&mut self) {
        self.handle.close();
    }
}
