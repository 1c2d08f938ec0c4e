//! An adapter that keeps the rules.

use crate::mutant::{Mutant, options};
use dapple_check::check;

#[test]
fn nothing_is_found_in_the_example_adapter() {
    let report = check(&Mutant::of("none", |_, messages| messages), &options());
    assert_eq!(
        report.text().lines().last(),
        Some("0 violations, 0 advice"),
        "{}",
        report.text()
    );
    assert!(report.is_passed());
    assert_eq!(report.scenarios.len(), 12);
}

#[test]
fn a_report_is_json_and_xml() {
    let report = check(&Mutant::of("none", |_, messages| messages), &options());
    let json = serde_json::to_value(&report).expect("it is JSON");
    assert_eq!(json["findings"], serde_json::json!([]));
    assert_eq!(json["capabilities"]["supportsSetVariable"], true);
    let xml = report.junit();
    assert!(
        xml.contains("<testsuite name=\"dapple check\" tests=\"12\" failures=\"0\""),
        "{xml}"
    );
}
