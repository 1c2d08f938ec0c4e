//! For any messages from a client, each request gets exactly one response, and the adapter keeps the rules.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use dapple_dap::envelope::{Envelope, EnvelopeError, Kind};
use dapple_dap::lifecycle::{Facts, Lifecycle, Severity, Side};
use dapple_dap::server::Progress;
use dapple_dap::types::*;
use dapple_dap::{Connection, Failure, Flow, Incoming, Responder, Server};

/// The adapter's requests under way.
#[derive(Default)]
struct State {
    waiting: Vec<Responder<EvaluateRequest>>,
    /// How many reverse requests were sent, and how many had an outcome.
    asked: usize,
    outcomes: Arc<AtomicUsize>,
}

/// An adapter that answers some requests at once, some later and some never, and sends events at many points.
fn erratic() -> Server<State> {
    Server::builder()
        .on_deferred::<EvaluateRequest>(|state: &mut State, arguments, responder, context| {
            let outbox = context.outbox().clone();
            outbox.event::<InitializedEvent>(Empty);
            context
                .after_response(move || outbox.event::<OutputEvent>(OutputEventBody::new("after")));
            match arguments.expression.as_str() {
                "now" => responder.respond(EvaluateResponse::new("", 0)),
                "later" => state.waiting.push(responder),
                "flush" => drop(std::mem::take(&mut state.waiting)),
                _ => drop(responder),
            }
        })
        .on::<NextRequest>(|_, _, context| {
            context
                .outbox()
                .event::<ContinuedEvent>(ContinuedEventBody::new(1));
            context
                .outbox()
                .event::<StoppedEvent>(StoppedEventBody::new(StoppedEventReason::Step));
            Ok(Empty)
        })
        .on::<LaunchRequest>(|state, _, context| {
            state.asked += 1;
            let outcomes = state.outcomes.clone();
            context.outbox().request::<RunInTerminalRequest>(
                RunInTerminalRequestArguments::new("/", vec!["true".to_owned()]),
                move |_| {
                    outcomes.fetch_add(1, Ordering::Relaxed);
                },
            );
            Ok(Empty)
        })
        .on::<ModulesRequest>(|_, _, context| {
            let mut progress = Progress::start_cancellable(context.outbox(), "Reading");
            progress.update(Some("still".to_owned()), Some(f64::NAN));
            match progress.cancelled().is_cancelled() {
                true => Err(Failure::cancelled()),
                false => Ok(ModulesResponse::new(vec![])),
            }
        })
        .on::<TerminateRequest>(|_, _, context| {
            context
                .outbox()
                .event::<TerminatedEvent>(TerminatedEventBody::new());
            Err(Failure::new("too late"))
        })
        .build()
}

/// Checks the session's messages against the rules.
#[derive(Default)]
struct Checker {
    rules: Lifecycle,
    /// The number of the client's requests without a response, by `seq`.
    open: BTreeMap<i64, i64>,
    last_seq: i64,
    progress: i64,
}

impl Checker {
    /// A message of the client is about to be handled.
    fn handled(&mut self, text: &str) {
        match Envelope::parse(text) {
            Ok(envelope) => {
                self.rules.observe(Side::Client, Facts::of(&envelope));
            }
            Err(error) => {
                if let Some(seq) = answer_to(&error) {
                    self.rules.note_request(Side::Client, seq, "");
                }
            }
        }
    }

    /// The client has received a message.
    fn received(&mut self, text: &str) {
        let envelope = Envelope::parse(text).expect("the session sends messages");
        assert_eq!(envelope.seq, self.last_seq + 1, "numbers count from one");
        self.last_seq = envelope.seq;
        let broken = self.rules.observe(Side::Adapter, Facts::of(&envelope));
        let broken = broken.filter(|broken| broken.severity() == Severity::Violation);
        assert_eq!(broken, None, "{text}");
        match &envelope.kind {
            Kind::Response { request_seq, .. } => {
                *self.open.entry(*request_seq).or_default() -= 1;
            }
            Kind::Event { event, .. } if event == "progressStart" => self.progress += 1,
            Kind::Event { event, .. } if event == "progressEnd" => self.progress -= 1,
            _ => {}
        }
    }
}

/// The number to answer to, if a text without a readable envelope may be a request.
fn answer_to(error: &EnvelopeError) -> Option<i64> {
    match error {
        EnvelopeError::Shape { answer_to, .. } => *answer_to,
        _ => None,
    }
}

/// Each line is a message of the client. They are handled at each empty line and at the end.
pub fn each_request_has_one_response(lines: &str) {
    static SERVER: LazyLock<Server<State>> = LazyLock::new(erratic);
    let (client, adapter) = Connection::memory();
    let mut session = SERVER.start(&adapter);
    let mut state = State::default();
    let mut checker = Checker::default();
    let mut flow = Flow::Continue;
    for batch in lines.split("\n\n") {
        if flow == Flow::Closed {
            break;
        }
        for text in batch.lines() {
            client
                .outgoing
                .send_text(text)
                .expect("the session is there");
            let request = match Envelope::parse(text) {
                Ok(Envelope {
                    seq,
                    kind: Kind::Request { .. },
                }) => Some(seq),
                Ok(_) => None,
                Err(error) => answer_to(&error),
            };
            if let Some(seq) = request {
                *checker.open.entry(seq).or_default() += 1;
            }
        }
        let mut texts = batch.lines();
        while let (Flow::Continue, Ok(incoming)) = (flow, adapter.incoming.try_recv()) {
            if let Some(text) = texts.next() {
                checker.handled(text);
            }
            flow = session.handle(&mut state, incoming);
            if flow == Flow::Closed {
                // Messages after `disconnect` were answered too.
                texts.by_ref().for_each(|text| checker.handled(text));
            }
            drain(&client, &mut checker);
        }
    }
    state.waiting.clear();
    drain(&client, &mut checker);
    for (seq, left) in checker.open {
        assert_eq!(
            left, 0,
            "request {seq}: responses missing (or too many, if negative)"
        );
    }
    assert_eq!(checker.rules.unanswered(Side::Client).count(), 0);
    assert_eq!(checker.progress, 0, "each progress that starts ends");

    drop(client);
    while let Ok(incoming) = adapter.incoming.try_recv() {
        flow = session.handle(&mut state, incoming);
    }
    assert_eq!(flow, Flow::Closed, "the client is gone");
    assert_eq!(state.asked, state.outcomes.load(Ordering::Relaxed));
}

fn drain(client: &Connection, checker: &mut Checker) {
    for incoming in client.incoming.try_iter() {
        if let Incoming::Message(message) = incoming {
            checker.received(message.text());
        }
    }
}
