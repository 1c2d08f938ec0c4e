//! A check as a test of an adapter's own crate.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io, thread};

use dapple_dap::server::Session;
use dapple_dap::{Connection, Server, transport};
use serde_json::Value;

use crate::{Adapter, Marks, Options, Program, Report, Scenario, Started, check};

/// A check of an adapter, for `cargo test`.
///
/// ```
/// use dapple_check::{Checker, Scenario};
/// use dapple_dap::types::{Empty, LaunchRequest};
/// use dapple_dap::{Failure, Server};
///
/// // An adapter that can launch nothing yet.
/// let server = Server::builder()
///     .on::<LaunchRequest>(|_: &mut (), _, _| Err::<Empty, _>(Failure::new("there is no such program")))
///     .build();
/// Checker::server(&server, |_| ())
///     .scenarios([Scenario::WrongTime, Scenario::BadLaunch])
///     .run()
///     .assert_clean();
/// ```
///
/// Most scenarios launch a program, whose source says by [marks](crate::marks) what has to be found in it; so give them one by
/// [`program`](Self::program):
///
/// ```no_run
/// use dapple_check::Checker;
/// use serde_json::json;
///
/// Checker::command(["target/debug/my-adapter", "--stdio"])
///     .program("tests/marked.my", json!({"program": "tests/marked.my"}))
///     // Known, and to be mended.
///     .allow("hit-breakpoints-missing")
///     .run()
///     .assert_clean();
/// ```
pub struct Checker {
    adapter: Box<dyn Adapter>,
    options: Options,
    allowed: BTreeSet<String>,
    allows_advice: bool,
    unable: Vec<String>,
}

impl Checker {
    /// A check of any adapter that can be started.
    pub fn new(adapter: impl Adapter + 'static) -> Self {
        Self {
            adapter: Box::new(adapter),
            options: Options::default(),
            allowed: BTreeSet::new(),
            allows_advice: false,
            unable: Vec::new(),
        }
    }

    /// A check of an adapter that is a program on its standard input and output. For one that listens, see [`Program`].
    pub fn command(command: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(Program::new(command.into_iter().map(Into::into).collect()))
    }

    /// A check of a [`Server`] in this process. `state` makes the state of each session.
    pub fn server<S: 'static>(
        server: &Server<S>,
        state: impl Fn(&Session<S>) -> S + Send + Sync + 'static,
    ) -> Self {
        let server = server.clone();
        Self::in_process(move |connection| {
            let mut session = server.start(&connection);
            let mut state = state(&session);
            session.run(&mut state);
        })
    }

    /// A check of an adapter in this process that serves a connection by a function of its own. The function runs in a thread for each
    /// session, and returns once the connection is closed.
    pub fn in_process(serve: impl Fn(Connection) + Send + Sync + 'static) -> Self {
        Self::new(InProcess(Arc::new(serve)))
    }

    /// The program that is debugged: its source, and the arguments of `launch` that launch it.
    ///
    /// The report says if the source can't be read, or has no mark `stop`.
    #[must_use]
    pub fn program(mut self, source: impl Into<PathBuf>, launch: Value) -> Self {
        let source = source.into();
        let read = source.canonicalize();
        match read.and_then(|source| Ok((fs::read_to_string(&source)?, source))) {
            Ok((text, source)) => {
                self.options.marks = Marks::of(&text);
                if self.options.marks.line("stop").is_none() {
                    let reason = "has no line with the mark `check: stop`";
                    self.unable.push(format!("{} {reason}", source.display()));
                }
                self.options.source = source;
            }
            Err(error) => {
                let reason = format!("can't read {}: {error}", source.display());
                self.unable.push(reason);
            }
        }
        self.options.launch = launch;
        self
    }

    /// Runs these scenarios alone, in this order.
    #[must_use]
    pub fn scenarios(mut self, scenarios: impl IntoIterator<Item = Scenario>) -> Self {
        self.options.scenarios = scenarios.into_iter().collect();
        self
    }

    /// Leaves out a scenario.
    #[must_use]
    pub fn without(mut self, scenario: Scenario) -> Self {
        self.options.scenarios.retain(|one| *one != scenario);
        self
    }

    /// Allows findings of a rule, by its name. If nothing breaks the rule any more, the report is not clean: then the name is to be taken out.
    #[must_use]
    pub fn allow(mut self, rule: impl Into<String>) -> Self {
        self.allowed.insert(rule.into());
        self
    }

    /// Allows all advice: only violations count.
    #[must_use]
    pub fn allow_advice(mut self) -> Self {
        self.allows_advice = true;
        self
    }

    /// How long a response or an event may take; 10 seconds if this isn't said.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.options.patience = patience;
        self
    }

    /// Changes what has no method here.
    #[must_use]
    pub fn with_options(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// Runs the check. What is allowed is in the report's `allowed`.
    pub fn run(&self) -> Report {
        if !self.unable.is_empty() {
            return Report {
                unable: self.unable.clone(),
                ..Report::default()
            };
        }
        let mut report = check(&*self.adapter, &self.options);
        let is_found = |rule: &&String| report.findings.iter().any(|one| one.rule == **rule);
        let not_found = self.allowed.iter().filter(|rule| !is_found(rule));
        report.not_found = not_found.cloned().collect();
        let found = std::mem::take(&mut report.findings);
        (report.allowed, report.findings) = { found.into_iter() }.partition(|one| {
            self.allowed.contains(&one.rule) || self.allows_advice && !one.is_violation()
        });
        report
    }
}

/// An adapter in this process. It is given the bytes of a connection as they are, so that bytes that are no message can be sent to it.
struct InProcess(Arc<dyn Fn(Connection) + Send + Sync>);

impl Adapter for InProcess {
    fn start(&self) -> io::Result<Started> {
        let (from_client, input) = io::pipe()?;
        let (output, to_client) = io::pipe()?;
        let serve = self.0.clone();
        thread::Builder::new()
            .name("adapter".to_owned())
            .spawn(move || {
                serve(transport::Options::new().streams(from_client, to_client, || {}));
            })?;
        Ok(Started {
            input: Box::new(input),
            output: Box::new(output),
            process: None,
            server: None,
        })
    }

    fn connect(&self) -> io::Result<Started> {
        self.start()
    }
}
