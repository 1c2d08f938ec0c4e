//! Checks whether a debug adapter keeps to the Debug Adapter Protocol.
//!
//! A check starts the adapter several times and drives it through sessions with a program that is known: its source has [marks] that say
//! where breakpoints, steps and values have to be. Each message is held against the definition and the rules of a session. What breaks a rule is a
//! [`Finding`]: a violation of the specification, or advice.
//!
//! ```
//! use dapple_check::{Options, Program, check};
//!
//! let adapter = Program::new(vec!["no-such-adapter".to_owned()]);
//! let report = check(&adapter, &Options::default());
//! assert!(report.unable[0].contains("can't be started"));
//! ```
//!
//! In tests of an adapter's crate, [`Checker`] does the same with a few lines, for an adapter in the test's process as well as for a command.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod checker;
mod finding;
pub mod marks;
pub mod programs;
pub mod report;
pub mod rules;
mod scenarios;
mod talk;
mod wire;

use std::path::PathBuf;
use std::time::Duration;

use dapple_schema::validate::Validator;
use serde_json::{Value, json};

pub use checker::Checker;
pub use finding::{Finding, Findings};
pub use marks::Marks;
pub use report::Report;
pub use scenarios::Scenario;
pub use wire::{Adapter, Program, Started};

/// What a check needs to know.
#[derive(Debug, Clone)]
pub struct Options {
    /// The arguments of `launch`.
    pub launch: Value,
    /// The source of the program that they launch.
    pub source: PathBuf,
    /// The marks in that source.
    pub marks: Marks,
    /// The `adapterID` of `initialize`.
    pub adapter_id: String,
    /// Fields that are added to the arguments of `initialize`.
    pub client: Value,
    /// The adapter debugs the program in a child session, which it asks for by `startDebugging`: that session is checked.
    pub child_session: bool,
    /// How long a response or an event may take.
    pub patience: Duration,
    /// The scenarios that are run, in order.
    pub scenarios: Vec<Scenario>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            launch: json!({}),
            source: PathBuf::new(),
            marks: Marks::default(),
            adapter_id: "check".to_owned(),
            client: json!({}),
            child_session: false,
            patience: Duration::from_secs(10),
            scenarios: Scenario::ALL.to_vec(),
        }
    }
}

/// Checks an adapter.
pub fn check(adapter: &dyn Adapter, options: &Options) -> Report {
    check_with(adapter, options, &mut |_| {})
}

/// As [`check`], and tells the name of each scenario before it is run.
pub fn check_with(
    adapter: &dyn Adapter,
    options: &Options,
    begins: &mut dyn FnMut(&'static str),
) -> Report {
    let mut report = Report::default();
    let validator = match Validator::protocol() {
        Ok(validator) => validator,
        Err(error) => {
            report
                .unable
                .push(format!("the definition can't be used: {error}"));
            return report;
        }
    };
    let mut findings = Findings::default();
    for scenario in &options.scenarios {
        begins(scenario.name());
        match adapter.start() {
            Ok(started) => {
                let mut talk = talk::Talk::new(
                    adapter,
                    started,
                    options,
                    &validator,
                    &mut findings,
                    scenario.name(),
                );
                scenario.run(&mut talk);
                report.capabilities = match talk.capabilities.clone() {
                    Value::Object(all) if !all.is_empty() => Value::Object(all),
                    _ => report.capabilities,
                };
                report.scenarios.push(scenario.name());
            }
            Err(error) => {
                report
                    .unable
                    .push(format!("the adapter can't be started: {error}"));
                break;
            }
        }
    }
    report.findings = findings.into_all();
    report
}
