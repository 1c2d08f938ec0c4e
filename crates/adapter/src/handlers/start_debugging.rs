//! The reverse request `startDebugging`: each child process that the program forks gets a session of its own.
//!
//! The child is held while the client starts the session. That session connects to a socket (`Meeting`), and gets the child handed over.
//! A child that no session takes over runs on without a debugger, and the user is told so once.

use super::waiting;
use crate::adapter::Adapter;
use crate::arguments::{HANDED_OVER, goes_for_children};
use crate::console::say;
use crossbeam_channel::{Sender, bounded};
use dapple_dap::message::Raw;
use dapple_dap::server::{Context, Outbox};
use dapple_dap::types::{
    StartDebuggingRequest, StartDebuggingRequestArguments, StartDebuggingRequestArgumentsRequest,
};
use dapple_engine::forks::{FollowForks, HandedOver, Meeting, Successor};
use serde_json::json;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Instant;

/// The state of child processes in the session of their parent.
#[derive(Debug, Default)]
pub struct Forks {
    /// Whether the client supports `startDebugging`.
    starts_debugging: bool,
    /// Arguments of this session that a child's session gets as well.
    inherited: BTreeMap<String, Raw>,
    /// The held children. Dropping a sender ends the wait for that child's session.
    waiting: Vec<(i32, Sender<Infallible>)>,
    /// The user was informed that a child runs without a debugger.
    said: bool,
}

impl Forks {
    /// Ends all waits, at the end of the session.
    pub fn end(&mut self) {
        self.waiting.clear();
    }
}

/// The outcome of a hand-over.
enum Outcome {
    /// The other session has the child.
    Taken,
    /// The other session has failed to take the child, which waits without a tracer.
    Lost(HandedOver),
    /// No hand-over has begun: the child is still held, or dead. The string is the reason.
    Held(String),
}

impl Adapter {
    /// Stores what the sessions of children need.
    pub fn follow_forks(
        &mut self,
        follow: FollowForks,
        arguments: &BTreeMap<String, Raw>,
        context: &Context,
    ) {
        if follow == FollowForks::Both {
            self.forks.starts_debugging =
                context.client().supports_start_debugging_request == Some(true);
            let inherited = arguments.iter().filter(|(name, _)| goes_for_children(name));
            self.forks.inherited = inherited
                .map(|(name, raw)| (name.clone(), raw.clone()))
                .collect();
        }
    }

    /// Has the client open a session for a child that is held.
    pub fn send_forked(&mut self, child: i32, name: &str, outbox: &Outbox) {
        if let Err(reason) = self.invite(child, name, outbox) {
            self.let_child_go(child, &reason, outbox);
        }
    }

    fn invite(&mut self, child: i32, name: &str, outbox: &Outbox) -> Result<(), String> {
        if !self.forks.starts_debugging {
            return Err(
                "this client opens no sessions for them (`supportsStartDebuggingRequest`)".into(),
            );
        }
        let meeting = Meeting::open()
            .map_err(|error| format!("there is no place to hand it over: {error}"))?;
        let arguments = configuration(child, name, &meeting, &self.forks.inherited)?;
        let (open, session_end) = bounded(0);
        let (refused, refusal) = bounded(1);
        let later = self.later.clone();
        let patience = self.options.child_patience;
        let wait = move || {
            let start = Instant::now();
            let came = meeting.wait(|time| {
                if start.elapsed() > patience {
                    let seconds = patience.as_secs_f32();
                    return Err(format!(
                        "no session has come for it within {seconds} seconds"
                    ));
                }
                waiting::pause(time, &session_end, &refusal)
            });
            later.run(move |adapter, session| {
                let outbox = &session.outbox();
                match came {
                    Ok(successor) => adapter.give_child(child, successor, outbox),
                    Err(reason) => adapter.settle_child(child, Outcome::Held(reason), outbox),
                }
            });
        };
        std::thread::Builder::new()
            .name("wait for child session".into())
            .spawn(wait)
            .map_err(|error| format!("nobody can wait for its session: {error}"))?;
        self.forks.waiting.push((child, open));
        outbox.request::<StartDebuggingRequest>(arguments, move |outcome| {
            if let Err(error) = outcome {
                let _ = refused.send(format!("the client has opened no session: {error}"));
            }
        });
        Ok(())
    }

    /// Hands a child over to the session that has connected. A thread of its own waits for the confirmation.
    fn give_child(&mut self, child: i32, mut successor: Successor, outbox: &Outbox) {
        let handed = match self.debuggee.as_ref() {
            Some(debuggee) => debuggee
                .hand_child_over(child, successor.process)
                .map_err(|error| error.to_string()),
            None => Err("the program's session has ended".into()),
        };
        let handed = match handed {
            Ok(handed) => handed,
            Err(reason) => {
                successor.refuse(&reason);
                return self.settle_child(child, Outcome::Held(reason), outbox);
            }
        };
        let later = self.later.clone();
        let kept = handed.clone();
        let confirm = move || {
            let taken = successor.give(&handed).is_ok() && successor.has_taken();
            later.run(move |adapter, session| {
                let outbox = &session.outbox();
                let outcome = match taken {
                    true => Outcome::Taken,
                    false => Outcome::Lost(handed),
                };
                adapter.settle_child(child, outcome, outbox);
            });
        };
        let confirming = std::thread::Builder::new().name("child session".into());
        if confirming.spawn(confirm).is_err() {
            self.settle_child(child, Outcome::Lost(kept), outbox);
        }
    }

    fn settle_child(&mut self, child: i32, outcome: Outcome, outbox: &Outbox) {
        self.forks.waiting.retain(|(waiting, _)| *waiting != child);
        let Some(debuggee) = self.debuggee.as_ref() else {
            return;
        };
        // Errors are ignored: they mean that the session has ended, which releases its children.
        match outcome {
            Outcome::Taken => {
                let _ = debuggee.child_was_taken(child);
            }
            Outcome::Lost(handed) => {
                let _ = debuggee.take_child_back(child, handed);
                self.say_let_go(child, "its session could not take it over", outbox);
            }
            Outcome::Held(reason) => self.let_child_go(child, &reason, outbox),
        }
    }

    fn let_child_go(&mut self, child: i32, reason: &str, outbox: &Outbox) {
        let held = self.debuggee.as_ref();
        if held.is_some_and(|debuggee| matches!(debuggee.let_child_go(child), Ok(true))) {
            self.say_let_go(child, reason, outbox);
        }
    }

    /// Tells the user that a child runs without a debugger, for the first such child.
    fn say_let_go(&mut self, child: i32, reason: &str, outbox: &Outbox) {
        if !std::mem::replace(&mut self.forks.said, true) {
            say(
                outbox,
                &format!(
                    "the program's child {child} runs without a debugger: {reason}. Further ones are not told of"
                ),
            );
        }
    }
}

/// The arguments of `startDebugging`.
fn configuration(
    child: i32,
    name: &str,
    meeting: &Meeting,
    inherited: &BTreeMap<String, Raw>,
) -> Result<StartDebuggingRequestArguments, String> {
    let place = meeting.path();
    let place = place
        .to_str()
        .ok_or("the path of the place to hand it over is not UTF-8")?;
    let mut configuration = inherited.clone();
    let own = [
        ("name", json!(format!("{name} {child}"))),
        ("pid", json!(child)),
        ("followForks", json!("both")),
        (HANDED_OVER, json!(place)),
    ];
    for (name, value) in own {
        let raw = Raw::new(&value).map_err(|error| error.to_string())?;
        configuration.insert(name.to_owned(), raw);
    }
    Ok(StartDebuggingRequestArguments::new(
        configuration,
        StartDebuggingRequestArgumentsRequest::Attach,
    ))
}
