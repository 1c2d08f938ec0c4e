//! Checks the list in `every_request.md`: it has each request that the adapter answers, and the tests that it names exist. It fails when a
//! request is added without a row, or a test is removed.

use crate::support::listed;
use dapple_adapter::{ServeOptions, serve};
use dapple_dap::transport::{Connection, Incoming};
use dapple_schema::Model;
use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::listed::{crates, files_of_tests, text_of};

/// Time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The cells of each row of the table under a title.
fn rows(title: &str) -> Vec<Vec<String>> {
    listed::rows(include_str!("every_request.md"), title)
}

/// Checks that a row's tests exist, and that one of them, or a helper that all tests share, has the type `NAMEsuffix`.
fn check_row(row: &[String], suffix: &str) {
    let name = &row[0];
    let type_name = name[..1].to_uppercase() + &name[1..] + suffix;
    let files = files_of_tests(row);
    let shared = crates().join("dap/src/testing/client.rs");
    let shared = std::fs::read_to_string(shared).expect("the testing kit");
    let mut texts = files.iter().map(|file| text_of(file));
    assert!(
        texts.any(|text| text.contains(&type_name))
            || text_of("adapter/support/mod").contains(&type_name)
            || text_of("adapter/support/setting").contains(&type_name)
            || shared.contains(&type_name),
        "no test of {files:?} has {type_name}"
    );
}

/// Whether the adapter knows this request. It refuses unknown requests as not supported, whatever their arguments.
fn is_answered(command: &str) -> bool {
    let (ours, theirs) = Connection::memory();
    let serving = std::thread::spawn(move || serve(theirs, ServeOptions::default()));
    let ask = |seq: i32, command: &str, arguments: &str| {
        let request = format!(
            r#"{{"seq":{seq},"type":"request","command":"{command}","arguments":{arguments}}}"#
        );
        ours.outgoing.send_text(&request).expect("sent");
        loop {
            match ours.incoming.recv_timeout(PATIENCE).expect("an answer") {
                Incoming::Message(message) if message.text().contains("\"request_seq\"") => {
                    return message.text().to_owned();
                }
                Incoming::Message(_) => {}
                other => panic!("no answer to {command}: {other:?}"),
            }
        }
    };
    let mut answer = ask(1, "initialize", r#"{"adapterID":"dapple"}"#);
    if command != "initialize" {
        answer = ask(2, command, "{}");
    }
    drop(ours);
    assert!(serving.join().is_ok(), "the adapter ends in order");
    !answer.contains("is not supported here")
}

#[test]
fn each_request_that_is_answered_has_a_test_of_what_it_does() {
    let model = Model::protocol().expect("the project's definition");
    let requests = model.requests();
    // Reverse requests are sent by the adapter itself.
    let answered = requests.filter(|request| request.reverse || is_answered(request.command));
    let answered: BTreeSet<String> = answered.map(|request| request.command.into()).collect();
    let rows = rows("Requests");
    let listed: BTreeSet<String> = rows.iter().map(|row| row[0].clone()).collect();
    let missing: Vec<_> = answered.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&answered).collect();
    assert!(missing.is_empty(), "not in the list: {missing:?}");
    assert!(gone.is_empty(), "in the list, but not answered: {gone:?}");
    for row in rows {
        check_row(&row, "Request");
    }
}

#[test]
fn each_event_that_is_sent_has_a_test_that_waits_for_it() {
    let model = Model::protocol().expect("the project's definition");
    let known: BTreeSet<&str> = model.events().map(|event| event.event).collect();
    for row in rows("Events") {
        assert!(known.contains(&*row[0]), "there is no event `{}`", row[0]);
        check_row(&row, "Event");
    }
}

#[test]
fn each_behaviour_has_its_tests() {
    for row in rows("Behaviours") {
        assert_eq!(row.len(), 3, "{row:?}");
        files_of_tests(&row);
    }
}
