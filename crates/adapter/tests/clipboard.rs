//! The `clipboard` context: the whole value, in the syntax of the program's language.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn evaluated(
    session: &Session,
    stop: &Stopped,
    expression: &str,
    context: EvaluateArgumentsContext,
) -> String {
    let arguments = EvaluateArguments::new(expression).with_frame_id(stop.top.id);
    let answer = session.ok::<EvaluateRequest>(arguments.with_context(context));
    answer.result
}

fn copied(session: &Session, stop: &Stopped, expression: &str) -> String {
    evaluated(
        session,
        stop,
        expression,
        EvaluateArgumentsContext::Clipboard,
    )
}

/// `0, 1, …` up to and without `end`.
fn up_to(end: u32) -> String {
    let numbers: Vec<String> = (0..end).map(|number| number.to_string()).collect();
    numbers.join(", ")
}

#[test]
fn what_is_copied_is_whole_and_in_its_language() {
    let fixture = Fixture::new("copied.cpp");
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    let text = format!("\"{}end\"", "x".repeat(5_000));
    let points = vec!["{.x = 1, .sign = 'b'}"; 100].join(", ");
    for (expression, expected) in [
        ("numbers", format!("{{{}}}", up_to(3_000))),
        ("text", text.clone()),
        ("pointer", text.clone()),
        ("names", "{{1, \"one\"}, {2, \"two\"}}".into()),
        ("sets", "{{1, 2}, {3}}".into()),
        ("named", "{{.x = 7, .sign = 'A'}, .name = \"seven\"}".into()),
        ("points", format!("{{{points}}}")),
        ("owned", "{.x = 3, .sign = 'c'}".into()),
        ("matrix", "{{1, 2, 3}, {4, 5, 6}}".into()),
        ("numbers[5] * 2", "10".into()),
    ] {
        assert_eq!(
            copied(&session, &stop, expression),
            expected,
            "{expression}"
        );
    }
    let watch = EvaluateArgumentsContext::Watch;
    assert_eq!(evaluated(&session, &stop, "text,full", watch), text);
    // A string that is cut shows its length.
    for name in ["text", "pointer"] {
        let shown = session.variable(&stop.top, "Locals", name).value;
        assert!(shown.ends_with("xxx\"… (len = 5003)"), "{name}: {shown}");
    }
    session.disconnect();

    let fixture = Fixture::new("copied.rs");
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    for (expression, expected) in [
        ("numbers", format!("[{}]", up_to(3_000))),
        ("text", format!("\"{}end\"", "ü".repeat(4_000))),
        (
            "names",
            "BTreeMap::from([(1, \"one\"), (2, \"two\")])".into(),
        ),
        ("ages", "HashMap::from([(\"Ann\", 7)])".into()),
        ("set", "HashSet::from([3])".into()),
        ("list", "LinkedList::from([1, 2])".into()),
        ("queue", "[1, 2]".into()),
        (
            "shapes",
            "[Shape::Nothing, Shape::Line(Point { x: 1, tag: Some('a') }, Point { x: -2, tag: None })]".into(),
        ),
        (
            "boxed",
            "(Point { x: 1, tag: Some('a') }, [1.5, 2.0])".into(),
        ),
    ] {
        assert_eq!(
            copied(&session, &stop, expression),
            expected,
            "{expression}"
        );
    }
    let shown = session.variable(&stop.top, "Locals", "text").value;
    assert!(shown.ends_with("ü\"… (len = 8003)"), "{shown}");
    session.disconnect();
}

#[test]
fn what_is_larger_than_its_bound_says_what_is_left_out() {
    for name in ["copied.cpp", "copied.rs"] {
        let fixture = Fixture::new(name);
        let session = Session::started(&fixture, json!({"args": ["long"]}), &["end"]);
        let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
        let text = copied(&session, &stop, "numbers");
        let (value, last) = text.rsplit_once('\n').expect("a last line");
        assert!(
            value.len() >= 4 << 20 && value.len() < (4 << 20) + 100,
            "{}",
            value.len()
        );
        let first = last.strip_prefix("… left out at 4 MiB: elements ");
        let first = first.and_then(|rest| rest.strip_suffix(" to 1999999 of 2000000"));
        let first: u32 = first.and_then(|first| first.parse().ok()).expect(last);
        let inside = value.trim_matches(['{', '}', '[', ']']);
        let expected = up_to(first) + ", …";
        assert!(
            inside == expected,
            "{} and {}",
            inside.len(),
            expected.len()
        );
        session.disconnect();
    }
}
