//! The test that the page about conformance shows, below this paragraph.

use dapple_check::Checker;
use serde_json::json;

#[test]
fn the_adapter_keeps_to_the_protocol() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/marked.tiny");
    // `serve` takes a `dapple_dap::Connection` and returns once it is closed.
    Checker::in_process(|connection| crate::adapter::serve(&connection))
        .program(program, json!({"program": program}))
        .run()
        .assert_clean();
}
