//! Reasons why values can't be shown: short in another value's summary, complete in the value itself.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

#[test]
fn a_reason_is_short_in_a_summary_and_whole_in_the_variable_itself() {
    let fixture = Fixture::new("reasons.cpp");
    let session = Session::started(&fixture, json!({}), &["made"]);
    let stop = session.stopped_at(&fixture, "made", StoppedEventReason::Breakpoint);
    for (summary, rest, members) in [
        ("town", "number = 7", &["town.name"]),
        ("choice", "count = -1", &["choice.either.name"]),
    ] {
        let shown = session.evaluate(&stop.top, summary);
        assert!(shown.contains(rest), "{shown}");
        let reasons: Vec<&str> = shown
            .split('<')
            .skip(1)
            .map(|text| text.split('>').next().expect("the text"))
            .collect();
        assert_eq!(reasons.len(), members.len(), "{shown}");
        for (reason, member) in reasons.iter().zip(members) {
            assert!(reason.len() <= 28, "{shown}");
            let whole = session.evaluate(&stop.top, member);
            let start = reason.trim_end_matches('…');
            assert!(
                whole.len() > 30 && whole.starts_with(&format!("<{start}")),
                "{whole} for {reason}"
            );
        }
    }
    session.disconnect();
}
