//! Checks the list in `every_capability.md`: each capability that the adapter offers has existing tests of its effect, and no other
//! capability is listed as offered.

use crate::support::listed;
use crate::support::listed::files_of_tests;
use dapple_adapter::{ServeOptions, serve};
use dapple_dap::testing::TestClient;
use dapple_dap::transport::Connection;
use dapple_dap::types::{DisconnectRequest, InitializeRequest, InitializeRequestArguments};
use std::collections::BTreeSet;

/// The start of the row of a capability that isn't offered.
const NOT_OFFERED: &str = "not offered: ";

#[test]
fn each_capability_that_is_offered_has_a_test_of_its_effect() {
    let (ours, theirs) = Connection::memory();
    let serving = std::thread::spawn(move || serve(theirs, ServeOptions::default()));
    let client = TestClient::new(ours);
    let offered = client.ok::<InitializeRequest>(InitializeRequestArguments::new("dapple"));
    client.ok::<DisconnectRequest>(Default::default());
    drop(client);
    assert!(serving.join().is_ok(), "the adapter ends in order");
    let offered = serde_json::to_value(offered).expect("JSON");
    let is_on = |value: &serde_json::Value| *value != serde_json::Value::Bool(false);
    let offered = offered.as_object().expect("an object").iter();
    let offered: BTreeSet<String> = offered
        .filter(|(_, value)| is_on(value))
        .map(|(name, _)| name.clone())
        .collect();
    let (mut listed, mut names) = (BTreeSet::new(), BTreeSet::new());
    for row in listed::rows(include_str!("every_capability.md"), "Capabilities") {
        assert!(names.insert(row[0].clone()), "{} is there twice", row[0]);
        if row[1].starts_with(NOT_OFFERED) {
            continue;
        }
        files_of_tests(&row);
        listed.insert(row[0].clone());
    }
    assert_eq!(offered, listed);
}
