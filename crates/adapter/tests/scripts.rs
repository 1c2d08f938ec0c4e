//! Strings in all writing systems are readable, and invisible characters are escaped.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// Checks the locals at the fixture's mark, and that each has the same value when evaluated by name.
fn check(name: &str, expected: &[(&str, &str)]) {
    let fixture = Fixture::new(name);
    let session = Session::started(&fixture, json!({}), &["main"]);
    let stop = session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    for (name, text) in expected {
        let shown = session.variable(&stop.top, "Locals", name).value;
        assert!(shown.ends_with(text), "{name}: {shown} is not {text}");
        let evaluated = session.evaluate(&stop.top, name);
        assert!(
            evaluated.ends_with(text),
            "{name}: {evaluated} is not {text}"
        );
    }
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn c_texts_of_all_scripts_can_be_read() {
    check(
        "scripts.c",
        &[
            ("hindi", "\"नमस्ते दुनिया\""),
            ("thai", "\"สวัสดีชาวโลก\""),
            ("arabic", "\"السَّلَامُ\""),
            ("hebrew", "\"בְּרֵאשִׁית\""),
            ("latin", "\"e\u{301}te\u{301}\""),
            ("family", "\"👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\""),
            ("turned", r#""user\u{202e}txt.exe""#),
            ("alone", r#""\u{301}e""#),
            ("mark", r"'\u{94d}'"),
        ],
    );
}

#[test]
fn rust_texts_of_all_scripts_can_be_read() {
    check(
        "scripts.rs",
        &[
            ("hindi", "\"नमस्ते दुनिया\""),
            ("thai", "\"สวัสดีชาวโลก\""),
            ("arabic", "\"السَّلَامُ\""),
            ("hebrew", "len = 1 [\"בְּרֵאשִׁית\"]"),
            ("latin", "\"e\u{301}te\u{301}\""),
            ("family", "\"👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\""),
            ("turned", r#""user\u{202e}txt.exe""#),
            ("alone", r#""\u{301}e""#),
            ("mark", r"'\u{94d}'"),
        ],
    );
}
