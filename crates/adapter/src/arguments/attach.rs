//! The arguments of `attach`.

use super::Start;
use super::given::{Common, Given};
use dapple_dap::message::Raw;
use dapple_engine::session::{RemoteOptions, RemoteStart, StubAddress};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The internal argument with the socket of the session that hands over a forked child.
pub const HANDED_OVER: &str = "_handedOver";

/// The arguments of `attach`.
#[derive(Debug, PartialEq, Eq)]
pub struct AttachArguments {
    /// The arguments shared with `launch`.
    pub common: Common,
    /// The process or core file.
    pub target: Target,
    /// The socket of the session that hands over the process, for a forked child.
    pub handed_over: Option<PathBuf>,
}

/// What to attach to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The process with this id.
    Pid(i32),
    /// The running process with this name or path.
    Named(String),
    /// The next process with this name or path that starts.
    Next(String),
    /// A core file.
    Core {
        /// The core file.
        core: PathBuf,
        /// The program, if the arguments name it.
        program: Option<PathBuf>,
    },
    /// A process behind a stub.
    Remote(Box<RemoteOptions>),
}

impl AttachArguments {
    /// Reads the arguments that the protocol leaves to the adapter.
    ///
    /// # Errors
    /// A message that names the argument and says what it should be.
    pub fn read(arguments: &BTreeMap<String, Raw>) -> Result<AttachArguments, String> {
        let given =
            Given::read(Start::Attach, arguments).map_err(|error| format!("attach: {error}"))?;
        Ok(AttachArguments {
            target: target(&given).map_err(|error| format!("attach: {error}"))?,
            handed_over: given.handed_over,
            common: given.common,
        })
    }
}

fn target(given: &Given) -> Result<Target, String> {
    let refused = |sentence: &str| Err(sentence.to_owned());
    let program = given.program.clone();
    if let Some(address) = given.stub.address() {
        return remote(given, address);
    }
    if let Some(core) = given.core.clone() {
        return match given.pid.is_some() || given.wait_for {
            true => refused(
                "`coreFile` is of a process that has ended: give neither `pid` nor `waitFor`",
            ),
            false => Ok(Target::Core { core, program }),
        };
    }
    let name = program.map(|program| program.to_string_lossy().into_owned());
    match (given.pid, name, given.wait_for) {
        (Some(_), _, true) => refused("`waitFor` waits for a name: give `program`, not `pid`"),
        (Some(pid), _, false) => Ok(Target::Pid(pid)),
        (None, Some(name), false) => Ok(Target::Named(name)),
        (None, Some(name), true) => Ok(Target::Next(name)),
        (None, None, _) => Err(given.common.with_warnings(
            "which process? give `pid`, or `program`: the name or path of an executable; or a `coreFile`, or the `target` of a stub",
        )),
    }
}

/// The process behind a stub.
fn remote(given: &Given, address: StubAddress) -> Result<Target, String> {
    let refused = |sentence: &str| Err(sentence.to_owned());
    if given.core.is_some() || given.wait_for {
        return refused("`target` is a stub: give neither `coreFile` nor `waitFor`");
    }
    let start = match (given.pid, given.stub.command.split_first()) {
        (Some(_), Some(_)) => {
            return refused("`remoteCommand` is started, and `pid` attached to: give one of them");
        }
        (Some(pid), None) => RemoteStart::Attach(u64::from(pid.unsigned_abs())),
        (None, Some((program, arguments))) => {
            let arguments = arguments.iter().map(|it| it.to_string_lossy().into_owned());
            RemoteStart::Run(program.into(), arguments.collect())
        }
        (None, None) => RemoteStart::Present,
    };
    Ok(Target::Remote(Box::new(RemoteOptions {
        address,
        start,
        program: given.program.clone(),
        sysroot: given.stub.sysroot.clone(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dapple_dap::types::AttachRequestArguments;
    use serde_json::{Value, json};

    fn read(value: Value) -> Result<AttachArguments, String> {
        let arguments: AttachRequestArguments = serde_json::from_value(value).expect("an object");
        AttachArguments::read(&arguments.other)
    }

    #[test]
    fn a_process_is_named_by_id_name_or_path() {
        for (arguments, target) in [
            (json!({"pid": 7}), Target::Pid(7)),
            (
                json!({"processId": " 7 ", "name": "Attach"}),
                Target::Pid(7),
            ),
            (json!({"program": "server"}), Target::Named("server".into())),
            (
                json!({"name": "Attach", "program": "/bin/x"}),
                Target::Named("/bin/x".into()),
            ),
            (
                json!({"program": "x", "waitFor": true, "type": "dapple"}),
                Target::Next("x".into()),
            ),
        ] {
            let read = read(arguments.clone()).expect("valid");
            assert_eq!(read.target, target, "{arguments}");
            assert_eq!(read.common.warnings, Vec::<String>::new());
        }
    }

    #[test]
    fn a_wrong_argument_is_named_with_what_was_expected() {
        for (arguments, part) in [
            (json!({}), "attach: which process? give `pid`"),
            // This `name` is the configuration's, not the process's.
            (
                json!({"name": "server"}),
                "attach: which process? give `pid`",
            ),
            (
                json!({"pid": "${command:pickProcess}"}),
                "`pid`: the client has not replaced ${command:pickProcess}",
            ),
            (
                json!({"pid": "x"}),
                "`pid` must be a process id, not a string",
            ),
            (
                json!({"pid": []}),
                "`pid` must be a process id, not an array",
            ),
            (json!({"pid": 0}), "0 is no process id"),
            (
                json!({"pid": 1e12}),
                "`pid` must be a whole number, not 1000",
            ),
            (
                json!({"pid": 4294967297_i64}),
                "4294967297 is no process id",
            ),
            (
                json!({"pid": 3, "waitFor": true}),
                "`waitFor` waits for a name",
            ),
            (
                json!({"pid": 3, "stopOnEntry": 1}),
                "`stopOnEntry` must be true or false",
            ),
        ] {
            let error = read(arguments.clone()).expect_err("refused");
            assert!(error.contains(part), "{arguments}: {error}");
        }
    }
}
