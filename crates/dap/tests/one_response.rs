//! Whatever a client sends, each request gets exactly one response, and the adapter keeps the rules.

use std::collections::BTreeMap;

use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::lifecycle::{Facts, Lifecycle, Side};
use dapple_dap::types::*;
use dapple_dap::{Connection, Failure, Flow, Incoming, Responder, Server};
use proptest::prelude::*;

/// Answers some requests at once, some later, some never, and sends events whenever it can.
fn erratic() -> Server<Vec<Responder<EvaluateRequest>>> {
    Server::builder()
        .on_deferred::<EvaluateRequest>(|waiting: &mut Vec<_>, arguments, responder, context| {
            let outbox = context.outbox().clone();
            outbox.event::<InitializedEvent>(Empty);
            context
                .after_response(move || outbox.event::<OutputEvent>(OutputEventBody::new("after")));
            match arguments.expression.as_str() {
                "now" => responder.respond(EvaluateResponse::new("", 0)),
                "later" => waiting.push(responder),
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
        .on::<TerminateRequest>(|_, _, context| {
            context
                .outbox()
                .event::<TerminatedEvent>(TerminatedEventBody::new());
            Err(Failure::new("too late"))
        })
        .build()
}

fn arguments() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("{}"),
        Just("null"),
        Just("7"),
        Just("[[[[]]]]"),
        Just(r#"{"threadId":1,"singleThread":true}"#),
        Just(r#"{"threadId":"x"}"#),
        Just(r#"{"adapterID":"x"}"#),
        Just(r#"{"expression":"now"}"#),
        Just(r#"{"expression":"later"}"#),
        Just(r#"{"expression":"never"}"#),
        Just(r#"{"requestId":3}"#),
    ]
}

fn message() -> impl Strategy<Value = String> {
    let command = prop_oneof![
        4 => Just("initialize"),
        4 => Just("evaluate"),
        4 => Just("next"),
        1 => Just("cancel"),
        1 => Just("terminate"),
        1 => Just("disconnect"),
        1 => Just("fly"),
    ];
    let kind = prop_oneof![9 => Just("request"), 1 => Just("response"), 1 => Just("event"), 1 => Just("wish")];
    prop_oneof![
        9 => (1..9i64, kind, command, arguments()).prop_map(|(seq, kind, command, arguments)| format!(
            r#"{{"command":"{command}","arguments":{arguments},"seq":{seq},"type":"{kind}","request_seq":1,"success":true,"event":"x"}}"#
        )),
        1 => "[ -~]{0,20}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn each_request_gets_exactly_one_response(messages in prop::collection::vec(message(), 0..30)) {
        let server = erratic();
        let (client, adapter) = Connection::memory();
        let mut session = server.start(&adapter);
        let mut waiting = Vec::new();
        // By number: a client may use one twice.
        let mut open = BTreeMap::<i64, i64>::new();
        for text in &messages {
            client.outgoing.send_text(text).expect("the session is there");
            let request = match Envelope::parse(text) {
                Ok(Envelope { seq, kind: Kind::Request { .. } }) => Some(seq),
                Ok(_) => None,
                Err(dapple_dap::envelope::EnvelopeError::Shape { answer_to, .. }) => answer_to,
                Err(_) => None,
            };
            if let Some(seq) = request {
                *open.entry(seq).or_default() += 1;
            }
        }
        while let Ok(incoming) = adapter.incoming.try_recv() {
            if session.handle(&mut waiting, incoming) == Flow::Closed {
                break;
            }
        }
        drop(waiting);

        // What came out, against the rules. Requests of before `initialize` are errors that the rules do not know.
        let mut rules = Lifecycle::new();
        let mut expected_seq = 1;
        let mut started = false;
        for incoming in client.incoming.try_iter() {
            let Incoming::Message(message) = incoming else { continue };
            let envelope = message.envelope().expect("the session sends messages");
            prop_assert_eq!(envelope.seq, expected_seq);
            expected_seq += 1;
            match &envelope.kind {
                Kind::Response { request_seq, success, command, .. } => {
                    *open.entry(*request_seq).or_default() -= 1;
                    if *success && command == "initialize" {
                        let request = Facts::Request { seq: *request_seq, command, resumes: None };
                        prop_assert_eq!(rules.message(Side::Client, request), Ok(()));
                        prop_assert_eq!(rules.message(Side::Adapter, Facts::of(&envelope)), Ok(()));
                        started = true;
                    }
                }
                _ => {
                    prop_assert!(started, "an event before `initialize` was answered");
                    prop_assert_eq!(rules.message(Side::Adapter, Facts::of(&envelope)), Ok(()));
                }
            }
        }
        for (seq, left) in open {
            prop_assert_eq!(left, 0, "request {}: responses missing (or too many, if negative)", seq);
        }
    }
}
