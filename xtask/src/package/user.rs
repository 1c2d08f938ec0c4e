//! What a user of the packages may write: an adapter, a client of it, and messages checked against the definition.

use std::sync::{Arc, Mutex};

use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::transport::Options;
use dapple_dap::types::*;
use dapple_dap::{Failure, Server};
use dapple_schema::validate::Validator;

fn main() {
    let server = Server::<String>::builder()
        .on::<LaunchRequest>(|program, arguments, context| {
            let path = arguments.other.get("program");
            *program = path.ok_or(Failure::new("`program` is missing"))?.decode()?;
            context.outbox().event::<InitializedEvent>(Empty);
            Ok(Empty)
        })
        .on::<ConfigurationDoneRequest>(|_, _, context| {
            let stopped = StoppedEventBody::new(StoppedEventReason::Entry).with_thread_id(1);
            context.outbox().event::<StoppedEvent>(stopped);
            Ok(Empty)
        })
        .on::<StackTraceRequest>(|program, _, _| {
            let source = Source::new().with_path(program.clone());
            let frame = StackFrame::new(1, "main", 1, 1).with_source(source);
            Ok(StackTraceResponse::new(vec![frame]))
        })
        .build();

    let messages = Arc::new(Mutex::new(Vec::new()));
    let (connection, adapter) = Options::new()
        .tap({
            let messages = messages.clone();
            move |_, message| messages.lock().unwrap().push(message.to_vec())
        })
        .memory();
    let session = std::thread::spawn(move || server.start(&adapter).run(&mut String::new()));
    let client = TestClient::new(connection);
    let fields = std::collections::BTreeMap::from([("program", "/bin/true")]);
    let launch = client.launch(launch_arguments(&fields));
    client.configured(launch);
    let thread = client.wait_for::<StoppedEvent>().thread_id.unwrap();
    let frame = client.top_frame(thread);
    println!("stopped in {} of {}", frame.name, frame.source.unwrap().path.unwrap());
    client.disconnect();
    client.assert_no_violations();
    session.join().unwrap();

    let validator = Validator::protocol().unwrap();
    for message in messages.lock().unwrap().iter() {
        let json = dapple_schema::serde_json::from_slice(message).unwrap();
        assert_eq!(validator.message(&json), []);
    }
}
