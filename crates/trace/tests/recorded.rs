//! Recorded sessions of four adapters: shown, compared, played and cut down.

use std::thread;
use std::time::Duration;

use dapple_dap::lifecycle::Side;
use dapple_dap::testing::{Entry, Recorder};
use dapple_dap::transport::Outgoing;
use dapple_trace::diff::{Ignored, diff};
use dapple_trace::minimize::{self, By};
use dapple_trace::play::{AdapterPlay, ClientPlay, serve};
use dapple_trace::{Item, Message, Recorded, Session, html, input, line};
use expect_test::{expect, expect_file};
use serde_json::{Value, json};

const TINY: &str = include_str!("recordings/tiny.ndjson");
const LLDB: &str = include_str!("recordings/lldb-dap.ndjson");
const ALL: [(&str, &str); 4] = [
    ("tiny", TINY),
    ("lldb-dap", LLDB),
    ("debugpy", include_str!("recordings/debugpy.ndjson")),
    ("dapple", include_str!("recordings/dapple.ndjson")),
];

fn recorded(text: &str) -> Recorded {
    let mut sessions = input::read(text).expect("a recording");
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

fn messages(text: &str) -> Vec<Message> {
    Session::messages(&recorded(text).items)
}

/// The recording with each message changed.
fn changed(text: &str, change: impl Fn(&mut Value)) -> Vec<Message> {
    let mut items = recorded(text).items;
    for item in &mut items {
        if let Item::Message(entry) = item {
            let mut value = serde_json::from_str(&entry.text).expect("a message");
            change(&mut value);
            entry.text = value.to_string();
        }
    }
    Session::messages(&items)
}

/// Applies a function to all fields of these names.
fn each_field(value: &mut Value, names: &[&str], change: &impl Fn(&mut Value)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match names.contains(&name.as_str()) {
                    true => change(value),
                    false => each_field(value, names, change),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                each_field(item, names, change);
            }
        }
        _ => {}
    }
}

fn differences(first: &[Message], second: &[Message]) -> Vec<String> {
    let found = diff(first, second, &Ignored::default());
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn sessions_read_as_lines() {
    for (name, text) in ALL {
        let mut shown = String::new();
        let mut session = Session::new();
        for item in recorded(text).items {
            let message = session.item(&item);
            shown += &format!("{}\n", line::text(&message));
            for finding in line::findings(&message) {
                shown += &format!("{}\n", finding.text);
            }
        }
        for finding in session.end() {
            shown += &format!("{}\n", line::finding_line(&finding).text);
        }
        let file = format!("{}/tests/lines/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        expect_file![file].assert_eq(&shown);
    }
}

#[test]
fn what_controls_terminals_is_shown_escaped() {
    let mut session = Session::new();
    let message = session.message(Entry {
        time: Duration::ZERO,
        from: Side::Adapter,
        text: json!({"seq": 1, "type": "event", "event": "output", "body": {"output": "\u{1b}[2J\u{202e}x\n"}})
            .to_string(),
    });
    expect![[r#"    0.000 ←     output console "\u{1b}[2J\u{202e}x\n""#]]
        .assert_eq(&line::text(&message));
    assert!(!line::pretty(&message.text).contains('\u{202e}'));
}

#[test]
fn a_session_is_the_same_as_itself_with_other_ids_and_times() {
    for (name, text) in ALL {
        let first = messages(text);
        assert_eq!(differences(&first, &first), [""; 0], "{name}");
        let other = changed(text, |message| {
            each_field(message, &["variablesReference", "frameId"], &|value| {
                if let Some(number) = value.as_i64().filter(|&number| number > 0) {
                    *value = json!(number + 5000);
                }
            });
            each_field(message, &["stackFrames"], &|frames| {
                each_field(frames, &["id"], &|id| {
                    *id = json!(id.as_i64().unwrap_or(0) + 5000)
                });
            });
            each_field(message, &["systemProcessId"], &|value| {
                *value = json!(99_999)
            });
        });
        assert_eq!(differences(&first, &other), [""; 0], "{name}");
    }
}

#[test]
fn independent_events_and_the_split_of_output_are_not_compared() {
    let event = |event: &str, body: Value| {
        json!({"seq": 1, "type": "event", "event": event, "body": body}).to_string()
    };
    let output = |text: &str| event("output", json!({"category": "stdout", "output": text}));
    let module = |name: &str| {
        event(
            "module",
            json!({"reason": "new", "module": {"id": 1, "name": name}}),
        )
    };
    let session = |texts: &[String]| {
        let entry = |text: &String| {
            Item::Message(Entry {
                time: Duration::ZERO,
                from: Side::Adapter,
                text: text.clone(),
            })
        };
        Session::messages(&texts.iter().map(entry).collect::<Vec<_>>())
    };
    let first = session(&[output("one\ntwo\n"), module("a"), module("b")]);
    let second = session(&[module("b"), output("one\n"), module("a"), output("two\n")]);
    assert_eq!(differences(&first, &second), [""; 0]);
    let third = session(&[module("b"), output("one\nthree\n"), module("c")]);
    expect![[r#"
        ≠    1    2  ← output stdout "one\ntwo\n"
                     line 2 of all stdout output is "two" in A and "three" in B
        -    2       ← module new a
        +         3  ← module new c"#]]
    .assert_eq(&differences(&first, &third).join("\n"));
}

#[test]
fn a_changed_answer_is_found_with_its_place() {
    let first = messages(TINY);
    let second = changed(TINY, |message| {
        if message["command"] == "variables" {
            each_field(message, &["value"], &|value| {
                if *value == json!("9") {
                    *value = json!("10");
                }
            });
        }
    });
    expect![[r#"
        ≠   33   33  ← variables ok 2 variables: n = 3, square = 9
                     `variables[1].value` is "9" in A and "10" in B"#]]
    .assert_eq(&differences(&first, &second).join("\n"));
    // A step more, and what was asked after it.
    let shorter: Vec<Item> = recorded(TINY).items[..24].to_vec();
    let found = differences(&first, &Session::messages(&shorter));
    assert!(
        found
            .iter()
            .any(|line| line.contains("→ continue thread 1")),
        "{found:#?}"
    );
    assert!(found.iter().all(|line| line.starts_with('-')), "{found:#?}");
}

#[test]
fn the_recorded_client_gets_from_the_played_adapter_what_it_got_then() {
    for (name, text) in ALL {
        let (client, adapter) = (messages(text), messages(text));
        let recorder = Recorder::new();
        let (near, far) = recorder.options().memory();
        let serving = thread::spawn(move || serve(&far, AdapterPlay::new(adapter)));
        let played = ClientPlay::new(client, Duration::from_secs(20)).run(near, &recorder);
        serving.join().expect("the played adapter ends");
        assert_eq!(played.missed, [""; 0], "{name}");
        let entries = played.recording.entries.into_iter().map(Item::Message);
        let now = Session::messages(&entries.collect::<Vec<_>>());
        assert_eq!(differences(&messages(text), &now), [""; 0], "{name}");
    }
}

/// What a played adapter says to a request, in short.
fn said(play: &mut AdapterPlay, command: &str, arguments: Value) -> String {
    let messages = play.request(1, command, &arguments);
    let shown = messages.iter().map(|message| match message {
        Outgoing::Success { body, .. } => {
            let body = body
                .as_ref()
                .map(|body| body.as_raw_value().get().to_owned());
            format!("ok {}", body.unwrap_or_default())
        }
        Outgoing::Failure { message, .. } => format!("failed: {message}"),
        Outgoing::Event { event, .. } => format!("event {event}"),
        _ => "a request".to_owned(),
    });
    shown.collect::<Vec<_>>().join("; ")
}

#[test]
fn an_editor_may_ask_differently_than_the_recorded_one() {
    let mut play = AdapterPlay::new(messages(TINY));
    let other = json!({"clientID": "another", "adapterID": "any"});
    assert!(said(&mut play, "initialize", other).starts_with("ok {"));
    assert!(said(&mut play, "launch", json!({"program": "elsewhere"})).starts_with("ok "));
    // One of the two breakpoints of then, and one that was never set.
    let asked = json!({
        "source": {"path": "/home/me/orders/countdown.tiny"},
        "breakpoints": [{"line": 1}, {"line": 5}],
    });
    expect![[r#"ok {"breakpoints":[{"line":2,"verified":true},{"message":"the recording has no answer to this breakpoint","verified":false}]}"#]]
        .assert_eq(&said(&mut play, "setBreakpoints", asked));
    expect!["ok ; event stopped"].assert_eq(&said(&mut play, "configurationDone", Value::Null));
    // Fewer frames than then, more often than then.
    for _ in 0..3 {
        let answer = said(&mut play, "stackTrace", json!({"threadId": 1, "levels": 1}));
        assert!(answer.contains("\"line\":2"), "{answer}");
    }
    let elsewhere = json!({"expression": "n", "frameId": 1});
    expect!["failed: the recording has no `evaluate` with these arguments"]
        .assert_eq(&said(&mut play, "evaluate", elsewhere));
    expect!["failed: the recording has no `modules`"].assert_eq(&said(
        &mut play,
        "modules",
        Value::Null,
    ));
    expect!["failed: the recording has no `next` here: it goes on with `continue` (message 23)"]
        .assert_eq(&said(&mut play, "next", json!({"threadId": 1})));
    said(&mut play, "continue", json!({"threadId": 1}));
    let answer = said(
        &mut play,
        "stackTrace",
        json!({"threadId": 1, "levels": 20}),
    );
    assert!(
        answer.contains("\"name\":\"report\""),
        "the next stop: {answer}"
    );
}

#[test]
fn a_session_is_cut_down_to_what_shows_the_violation() {
    let entries: Vec<Entry> = recorded(LLDB).entries().cloned().collect();
    let found = minimize::findings(&entries);
    let wanted = &found[0];
    assert_eq!(wanted.rule, "redundant-continued");
    let part = minimize::minimize(&entries, wanted, By::Message, |part| {
        minimize::shows(part, wanted)
    });
    assert!(minimize::shows(&part, wanted));
    let items: Vec<Item> = part.into_iter().map(Item::Message).collect();
    let titles: Vec<_> = Session::messages(&items)
        .iter()
        .map(Message::title)
        .collect();
    assert_eq!(
        titles,
        [
            "the request `initialize`",
            "the response to `initialize`",
            "the request `continue`",
            "the event `continued`"
        ]
    );
    let rules: Vec<_> = Session::messages(&items)
        .iter()
        .flat_map(|message| message.findings.clone())
        .map(|finding| finding.rule)
        .collect();
    assert_eq!(rules, ["redundant-continued"], "the numbers count again");
}

#[test]
fn a_page_has_each_message_and_nothing_of_a_recording_as_markup() {
    let mut session = recorded(LLDB);
    let evil = "</pre><script>alert(1)</script><img src=x onerror='x'>\"&";
    session.items.push(Item::Message(Entry {
        time: Duration::from_secs(9),
        from: Side::Adapter,
        text: json!({"seq": 99, "type": "event", "event": evil, "body": {"output": evil}})
            .to_string(),
    }));
    let count = session.items.len();
    let mut page = Vec::new();
    html::write(&[session], evil, &mut page).expect("memory");
    let page = String::from_utf8(page).expect("UTF-8");
    assert_eq!(page.matches("<li class=\"row ").count(), count);
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(
        !page.contains("<img") && !page.contains("onerror='"),
        "escaped"
    );
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
    assert_eq!(
        page.matches(" class=\"wrong\"").count(),
        4,
        "two of the recording, two of the added message"
    );
}
