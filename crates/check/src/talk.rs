//! One session with the adapter: requests, answers and events, each of which is checked as it passes.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

use dapple_dap::envelope::{Envelope, EnvelopeError};
use dapple_dap::lifecycle::{Facts, Lifecycle, Side, Violation};
use dapple_schema::validate::Validator;
use serde_json::{Value, json};

use crate::Options;
use crate::finding::Findings;
use crate::rules::{self, Rule};
use crate::wire::{Adapter, Incoming, Started, Wire};

/// How many messages a finding shows.
const CONTEXT: usize = 6;
/// The most characters of a message that a finding shows.
const SHOWN: usize = 400;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failed {
    /// The adapter has answered with an error; its text.
    Error(String),
    /// It has not answered in time.
    Unanswered,
    /// It is gone.
    Gone,
}

/// A request that was sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) seq: i64,
    pub(crate) command: String,
}

/// A session.
pub(crate) struct Talk<'a> {
    pub(crate) options: &'a Options,
    pub(crate) findings: &'a mut Findings,
    adapter: &'a dyn Adapter,
    wire: Wire,
    /// The session that has asked for this one.
    parent: Option<Wire>,
    /// The arguments of `startDebugging`, until the child session that it asks for is entered.
    child: Option<Value>,
    scenario: &'static str,
    lifecycle: Lifecycle,
    validator: &'a Validator,
    seq: i64,
    responses: HashMap<i64, Value>,
    events: VecDeque<Value>,
    /// The ids of breakpoints that the adapter has given out.
    breakpoints: BTreeSet<i64>,
    context: VecDeque<String>,
    /// The arguments of `initialize`.
    pub(crate) client: Value,
    /// The arguments of the last `launch` or `attach`.
    pub(crate) launch: Value,
    /// The capabilities, with those of later events.
    pub(crate) capabilities: Value,
    /// It is gone, or answers nothing any more.
    is_gone: bool,
    /// How many of the last requests got no response.
    unanswered: usize,
    /// Whether the adapter may close the connection now.
    may_go: bool,
    /// Whether `initialized` may come a second time.
    may_initialize_again: bool,
    /// All text of `output` events but telemetry.
    pub(crate) output: String,
    /// The debuggee's process, if the adapter has said it.
    pub(crate) process: Option<i64>,
}

impl<'a> Talk<'a> {
    pub(crate) fn new(
        adapter: &'a dyn Adapter,
        started: Started,
        options: &'a Options,
        validator: &'a Validator,
        findings: &'a mut Findings,
        scenario: &'static str,
    ) -> Self {
        Self {
            options,
            findings,
            adapter,
            wire: Wire::new(started),
            parent: None,
            child: None,
            scenario,
            lifecycle: Lifecycle::new(),
            validator,
            seq: 0,
            responses: HashMap::new(),
            events: VecDeque::new(),
            breakpoints: BTreeSet::new(),
            context: VecDeque::new(),
            client: json!({}),
            launch: json!({}),
            capabilities: json!({}),
            is_gone: false,
            unanswered: 0,
            may_go: false,
            may_initialize_again: false,
            output: String::new(),
            process: None,
        }
    }

    /// Notes that a rule is broken.
    pub(crate) fn finds(&mut self, rule: Rule, text: impl Into<String>) {
        let context = self.context.iter().cloned().collect();
        self.findings.add(rule, text.into(), self.scenario, context);
    }

    /// Notes that a rule is broken, unless `holds`.
    pub(crate) fn expects(
        &mut self,
        rule: Rule,
        holds: bool,
        text: impl FnOnce() -> String,
    ) -> bool {
        if !holds {
            self.finds(rule, text());
        }
        holds
    }

    /// Whether the adapter advertises a capability.
    pub(crate) fn has(&self, capability: &str) -> bool {
        self.capabilities[capability] == true
    }

    /// Sends a request without waiting for its response.
    pub(crate) fn send(&mut self, command: &str, arguments: Value) -> Sent {
        self.seq += 1;
        let seq = self.seq;
        let mut request = json!({"seq": seq, "type": "request", "command": command});
        if !arguments.is_null() {
            request["arguments"] = arguments;
        }
        self.send_message(&request);
        Sent {
            seq,
            command: command.to_owned(),
        }
    }

    /// Sends any message. Its number is the caller's.
    fn send_message(&mut self, message: &Value) {
        let text = message.to_string();
        if let Ok(envelope) = Envelope::parse(&text) {
            // What the check does wrong itself is meant.
            self.lifecycle.observe(Side::Client, Facts::of(&envelope));
        }
        self.note("->", &text);
        self.wire.send(&text);
    }

    /// Writes bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.note("->", &String::from_utf8_lossy(bytes));
        self.wire.send_bytes(bytes);
    }

    /// Sends a request and waits for its result: the response's body.
    pub(crate) fn ask(&mut self, command: &str, arguments: Value) -> Result<Value, Failed> {
        let sent = self.send(command, arguments);
        self.wait(&sent)
    }

    /// Waits for the result of a request. A missing response is a finding.
    pub(crate) fn wait(&mut self, sent: &Sent) -> Result<Value, Failed> {
        let until = Instant::now() + self.options.patience;
        while !self.responses.contains_key(&sent.seq) {
            if !self.receive(until) {
                if self.is_gone {
                    self.dies(&format!("instead of answering `{}`", sent.command));
                    return Err(Failed::Gone);
                }
                self.is_silent(&sent.command);
                return Err(Failed::Unanswered);
            }
        }
        self.unanswered = 0;
        let response = self.responses.remove(&sent.seq).unwrap_or_default();
        match response["success"] == true {
            true => Ok(response["body"].clone()),
            false => Err(Failed::Error(self.reason_of(&response))),
        }
    }

    /// Notes that a request got no response. After two requests in a row without a response, the check sends `threads`. If that gets no
    /// response either, the adapter is asked nothing more.
    fn is_silent(&mut self, command: &str) {
        self.unanswered += 1;
        if self.unanswered == 1 || self.answers_at_all() {
            return self.finds(rules::UNANSWERED, format!("`{command}` got no response"));
        }
        self.finds(
            rules::UNANSWERED,
            format!("nor did `{command}`: nothing is answered any more"),
        );
        (self.is_gone, self.may_go) = (true, true);
    }

    /// Whether `threads` is answered.
    fn answers_at_all(&mut self) -> bool {
        let sent = self.send("threads", Value::Null);
        let until = Instant::now() + self.options.patience;
        while !self.is_answered(&sent) {
            if !self.receive(until) {
                return false;
            }
        }
        true
    }

    /// Whether the response to a request has come.
    pub(crate) fn is_answered(&self, sent: &Sent) -> bool {
        self.responses.contains_key(&sent.seq)
    }

    fn reason_of(&mut self, response: &Value) -> String {
        let error = response["body"]["error"]["format"].as_str();
        let reason = error.or(response["message"].as_str()).unwrap_or_default();
        let reason = reason.to_owned();
        self.expects(rules::ERROR_WITHOUT_REASON, !reason.is_empty(), || {
            format!(
                "`{}` failed without a reason",
                response["command"].as_str().unwrap_or("")
            )
        });
        reason
    }

    /// Waits for an event, and takes it with all that came before. `None`: it has not come in time.
    pub(crate) fn event(&mut self, name: &str) -> Option<Value> {
        self.event_of(&[name])
    }

    /// As [`Talk::event`], for the first of some events. Returns the whole event.
    pub(crate) fn event_of(&mut self, names: &[&str]) -> Option<Value> {
        self.event_until(names, Instant::now() + self.options.patience)
    }

    /// As [`Talk::event_of`], with a time of its own.
    pub(crate) fn event_within(&mut self, names: &[&str], patience: Duration) -> Option<Value> {
        self.event_until(names, Instant::now() + patience)
    }

    /// As [`Talk::event_of`], unless the response to a request comes first.
    pub(crate) fn event_before(&mut self, names: &[&str], sent: &Sent) -> Option<Value> {
        let until = Instant::now() + self.options.patience;
        loop {
            if self.is_answered(sent) {
                return None;
            }
            while let Some(event) = self.events.pop_front() {
                if names.iter().any(|name| event["event"] == **name) {
                    return Some(event);
                }
            }
            if !self.receive(until) {
                return None;
            }
        }
    }

    fn event_until(&mut self, names: &[&str], until: Instant) -> Option<Value> {
        loop {
            while let Some(event) = self.events.pop_front() {
                if names.iter().any(|name| event["event"] == **name) {
                    return Some(event);
                }
            }
            if !self.receive(until) {
                return None;
            }
        }
    }

    /// Whether an event has come that nobody has waited for.
    pub(crate) fn has_event(&self, name: &str) -> bool {
        self.events.iter().any(|event| event["event"] == name)
    }

    /// Forgets the events that came until now, so that the next one that is waited for is new.
    pub(crate) fn forget_events(&mut self) {
        self.events.clear();
    }

    /// Receives one message. Returns `false` if none comes in time, or the adapter is gone.
    fn receive(&mut self, until: Instant) -> bool {
        if self.is_gone {
            return false;
        }
        match self.wire.next(until) {
            None => false,
            Some(Incoming::Closed) => {
                self.is_gone = true;
                if !self.may_go {
                    self.dies("amid the session");
                }
                false
            }
            Some(Incoming::Malformed(reason)) => {
                self.finds(
                    rules::FRAMING,
                    format!("the adapter wrote something that is no message: {reason}"),
                );
                true
            }
            Some(Incoming::Text(text)) => {
                self.note("<-", &text);
                self.received(&text);
                true
            }
        }
    }

    fn dies(&mut self, when: &str) {
        if !self.may_go {
            self.finds(
                rules::DIED,
                format!("the adapter has closed the connection {when}"),
            );
            self.may_go = true;
        }
    }

    fn received(&mut self, text: &str) {
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return self.finds(rules::FRAMING, "the adapter wrote a body that is not JSON");
        };
        for problem in self.validator.message(&message) {
            let name = match &*problem.path {
                // The same for each message.
                "seq" => "a message".to_owned(),
                "body" if message["success"] == false => "an error response".to_owned(),
                _ => name_of(&message),
            };
            self.finds(rules::SHAPE, format!("{name}: {problem}"));
        }
        match Envelope::parse(text) {
            Ok(envelope) => {
                let numbered = self.lifecycle.sequence(Side::Adapter, envelope.seq).err();
                let broken = self.lifecycle.observe(Side::Adapter, Facts::of(&envelope));
                for violation in numbered.into_iter().chain(broken) {
                    self.breaks(&violation);
                }
            }
            // The shape has said so.
            Err(EnvelopeError::Shape { .. }) => {}
            Err(_) => return,
        }
        match message["type"].as_str() {
            Some("response") => self.response(message),
            Some("event") => self.came(message),
            Some("request") => self.asked(&message),
            _ => {}
        }
    }

    fn breaks(&mut self, violation: &Violation) {
        if *violation == Violation::InitializedTwice
            && std::mem::take(&mut self.may_initialize_again)
        {
            return;
        }
        let context = self.context.iter().cloned().collect();
        self.findings
            .add_violation(violation, self.scenario, context);
    }

    fn response(&mut self, response: Value) {
        if response["command"] == "initialize" && response["success"] == true {
            self.merge(&response["body"]);
        }
        for breakpoint in response["body"]["breakpoints"]
            .as_array()
            .into_iter()
            .flatten()
        {
            self.breakpoints.extend(breakpoint["id"].as_i64());
        }
        if let Some(seq) = response["request_seq"].as_i64() {
            self.responses.entry(seq).or_insert(response);
        }
    }

    fn came(&mut self, event: Value) {
        let body = &event["body"];
        match event["event"].as_str() {
            Some("output") if body["category"] != "telemetry" => {
                self.output += body["output"].as_str().unwrap_or_default();
            }
            Some("process") => self.process = body["systemProcessId"].as_i64().or(self.process),
            Some("capabilities") => self.merge(&body["capabilities"].clone()),
            Some("breakpoint") => self.breakpoint(&body.clone()),
            Some("stopped") => self.hit(&body["hitBreakpointIds"].clone()),
            Some("terminated") => self.may_go = true,
            _ => {}
        }
        self.events.push_back(event);
    }

    fn breakpoint(&mut self, body: &Value) {
        let id = body["breakpoint"]["id"].as_i64();
        if body["reason"] == "new" {
            self.breakpoints.extend(id);
            return;
        }
        let is_known = id.is_some_and(|id| self.breakpoints.contains(&id));
        self.expects(rules::UNKNOWN_BREAKPOINT_CHANGED, is_known, || {
            format!(
                "an event `breakpoint` ({}) names {}",
                body["reason"], body["breakpoint"]["id"]
            )
        });
    }

    /// Checks that the adapter has given out the breakpoints that a stop names.
    fn hit(&mut self, ids: &Value) {
        let unknown = { ids.as_array().into_iter().flatten() }
            .find(|id| id.as_i64().is_none_or(|id| !self.breakpoints.contains(&id)));
        if let Some(id) = unknown {
            self.finds(
                rules::UNKNOWN_BREAKPOINT_HIT,
                format!("a `stopped` event names the breakpoint {id}"),
            );
        }
    }

    fn merge(&mut self, newer: &Value) {
        if let (Some(all), Some(newer)) = (self.capabilities.as_object_mut(), newer.as_object()) {
            all.extend(
                newer
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
        }
    }

    /// Answers a reverse request: none was offered, but for a child session.
    fn asked(&mut self, request: &Value) {
        self.seq += 1;
        if request["command"] == "startDebugging" && self.options.child_session {
            let response = json!({
                "seq": self.seq,
                "type": "response",
                "request_seq": request["seq"],
                "command": "startDebugging",
                "success": true,
            });
            self.child = Some(request["arguments"].clone());
            return self.send_message(&response);
        }
        let response = json!({
            "seq": self.seq,
            "type": "response",
            "request_seq": request["seq"],
            "command": request["command"],
            "success": false,
            "message": "notSupported",
            "body": {"error": {"id": 1, "format": "this client supports no reverse requests"}},
        });
        self.send_message(&response);
    }

    /// Waits for `startDebugging`. `None`: it has not come in time.
    pub(crate) fn child_asked_for(&mut self) -> Option<Value> {
        let until = Instant::now() + self.options.patience;
        while self.child.is_none() {
            if !self.receive(until) {
                return None;
            }
        }
        self.child.take()
    }

    /// Connects once more: from here on, this is the session with the child.
    ///
    /// # Errors
    /// The adapter can't be connected to.
    pub(crate) fn enter_child(&mut self) -> std::io::Result<()> {
        let wire = Wire::new(self.adapter.connect()?);
        self.parent = Some(std::mem::replace(&mut self.wire, wire));
        self.lifecycle = Lifecycle::new();
        self.seq = 0;
        self.responses.clear();
        self.events.clear();
        self.breakpoints.clear();
        self.capabilities = json!({});
        Ok(())
    }

    /// Notes a message for the context of findings.
    fn note(&mut self, arrow: &str, text: &str) {
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        self.context.push_back(format!("{arrow} {shown}"));
        if self.context.len() > CONTEXT {
            self.context.pop_front();
        }
    }

    /// The adapter may close the connection from now on.
    pub(crate) fn may_go(&mut self) {
        self.may_go = true;
    }

    /// The adapter may send `initialized` once more: it starts the program anew.
    pub(crate) fn may_initialize_again(&mut self) {
        self.may_initialize_again = true;
    }

    /// Whether the adapter is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Closes the adapter's input. Returns whether it ends in time.
    pub(crate) fn close(&mut self) -> bool {
        self.may_go = true;
        self.wire.close_input();
        if let Some(parent) = &mut self.parent {
            parent.close_input();
        }
        self.wire.ends_within(self.options.patience)
    }
}

impl Drop for Talk<'_> {
    fn drop(&mut self) {
        let open: Vec<String> = self.lifecycle.open_progress().map(str::to_owned).collect();
        for id in open {
            self.finds(
                rules::OPEN_PROGRESS,
                format!("the progress {id} was not ended"),
            );
        }
    }
}

/// What a message is, in a few words.
fn name_of(message: &Value) -> String {
    match message["type"].as_str() {
        Some("response") => format!(
            "the response to `{}`",
            message["command"].as_str().unwrap_or("?")
        ),
        Some("event") => format!("the event `{}`", message["event"].as_str().unwrap_or("?")),
        Some("request") => format!(
            "the request `{}`",
            message["command"].as_str().unwrap_or("?")
        ),
        _ => "a message".to_owned(),
    }
}
