//! Values of Rust programs whose layout needs care, as clients see them.

mod support;

use dapple_dap::types::*;
use serde_json::json;
use support::{Fixture, Session};

#[test]
fn enums_with_negative_discriminants_show_their_variants() {
    let fixture = Fixture::new("layouts.rs");
    let session = Session::started(&fixture, json!({}), &["layouts"]);
    let stop = session.stopped_at(&fixture, "layouts", StoppedEventReason::Breakpoint);
    let of = |text: &str| session.evaluate(&stop.top, text);
    assert_eq!(
        of("wide"),
        "[Wide::Negative(3), Wide::Next { x: 9 }, Wide::Byte(1), Wide::Large(\"q\")]"
    );
    assert_eq!(
        of("longest"),
        "[Longest::Minus(4), Longest::Least, Longest::Plus(2)]"
    );
    assert_eq!(of("size"), "[Size::Minus(1), Size::Plus(2)]");
    let raw = of("items,!");
    assert!(raw.starts_with("&[layouts::Item] { data_ptr: "), "{raw}");
    assert_eq!(of("wide[0].0"), "3");
    session.disconnect();
}
