//! Expressions as clients ask for them: in which form numbers are shown, what is meant under the pointer, and what may follow.

mod support;

use dapple_dap::types::*;
use serde_json::json;
use support::{Fixture, Session, named};

#[test]
fn numbers_are_hexadecimal_where_that_is_asked_for() {
    let fixture = Fixture::new("assigned.c");
    let session = Session::started(&fixture, json!({}), &["inner"]);
    let stop = session.stopped_at(&fixture, "inner", StoppedEventReason::Breakpoint);
    let hex = || ValueFormat::new().with_hex(true);
    let frames = session
        .ok::<StackTraceRequest>(StackTraceArguments::new(stop.thread))
        .stack_frames;
    let main = &frames[1];
    let evaluate = |text: &str| {
        let arguments = EvaluateArguments::new(text).with_frame_id(main.id);
        session.ok::<EvaluateRequest>(arguments.with_format(hex()))
    };
    assert_eq!(evaluate("numbers").result, "{0x1, 0x2, 0x3, 0x4}");
    assert_eq!(evaluate("little - 5").result, "0xfffffffe");
    assert_eq!(evaluate("numbers[3],d").result, "4");
    assert_eq!(evaluate("real").result, "1.5");
    let scope = session.scope(main, "Locals").variables_reference;
    let listed = |reference: i64, format: ValueFormat| {
        let arguments = VariablesArguments::new(reference).with_format(format);
        session.ok::<VariablesRequest>(arguments).variables
    };
    let locals = listed(scope, hex());
    assert_eq!(named(&locals, "byte").value, "0x2");
    assert_eq!(named(&locals, "other").value, "{x = 0x1e, y = 0x28}");
    let other = named(&locals, "other").variables_reference;
    assert_eq!(named(&listed(other, hex()), "y").value, "0x28");
    let plain = listed(scope, ValueFormat::new());
    assert_eq!(named(&plain, "other").value, "{x = 30, y = 40}");
    let set = SetVariableArguments::new(scope, "little", "255").with_format(hex());
    assert_eq!(session.ok::<SetVariableRequest>(set).value, "0xff");
    let set = SetExpressionArguments::new("point.x", "little + 1").with_frame_id(main.id);
    let set = session.ok::<SetExpressionRequest>(set.with_format(hex()));
    assert_eq!(set.value, "0x100");
    session.disconnect();
}
