//! Recorded sessions of four adapters, and of VS Code: shown, compared, played and cut down.

use std::thread;
use std::time::Duration;

use dapple_dap::lifecycle::Side;
use dapple_dap::testing::{Entry, Recorder};
use dapple_trace::diff::{Ignored, diff};
use dapple_trace::minimize::{self, By};
use dapple_trace::play::{AdapterPlay, ClientPlay, serve};
use dapple_trace::{Item, Message, Recorded, Session, html, input, line};
use expect_test::{expect, expect_file};
use serde_json::{Value, json};

const TINY: &str = include_str!("recordings/tiny.ndjson");
const LLDB: &str = include_str!("recordings/lldb-dap.ndjson");
/// Two sessions of the same steps in VS Code.
const VSCODE: [&str; 2] = [
    include_str!("recordings/vscode.ndjson"),
    include_str!("recordings/vscode-again.ndjson"),
];
const ALL: [(&str, &str); 5] = [
    ("tiny", TINY),
    ("lldb-dap", LLDB),
    ("debugpy", include_str!("recordings/debugpy.ndjson")),
    ("dapple", include_str!("recordings/dapple.ndjson")),
    ("vscode", VSCODE[0]),
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
fn an_expression_is_answered_whatever_url_its_source_has_now() {
    let mut play = AdapterPlay::new(messages(VSCODE[0]));
    let hover = json!({"expression": "each", "frameId": 21, "context": "hover",
        "source": {"path": "vscode-remote://127.0.0.1:1/home/me/basket/basket.c"}, "line": 10, "column": 30});
    let answer = said(&mut play, "evaluate", hover);
    assert!(answer.contains(r#""result":"320""#), "{answer}");
}

#[test]
fn a_piece_of_a_stack_that_was_never_asked_for_is_put_together() {
    let mut play = AdapterPlay::new(messages(VSCODE[0]));
    for command in ["launch", "configurationDone", "next"] {
        said(&mut play, command, Value::Null);
    }
    let mut names = |start: i64, levels: i64| -> Vec<String> {
        let asked = json!({"threadId": 6089, "startFrame": start, "levels": levels});
        let answer = said(&mut play, "stackTrace", asked);
        let body: Value = serde_json::from_str(answer.trim_start_matches("ok ")).expect("a body");
        let frames = body["stackFrames"].as_array().expect("frames").iter();
        frames.map(|frame| frame["name"].to_string()).collect()
    };
    let all = names(0, 20);
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!(all[0], "\"main\"");
    assert_eq!(names(2, 1), all[2..3]);
    assert_eq!(names(2, 0), all[2..]);
    assert_eq!(names(4, 20), [""; 0]);
}

#[test]
fn a_piece_of_a_stack_that_was_never_recorded_is_an_error() {
    let deep = changed(VSCODE[0], |message| {
        each_field(message, &["totalFrames"], &|total| *total = json!(50));
    });
    let mut play = AdapterPlay::new(deep);
    for command in ["launch", "configurationDone", "next"] {
        said(&mut play, command, Value::Null);
    }
    let mut stack = |start: u64| {
        let asked = json!({"threadId": 6089, "startFrame": start, "levels": 20});
        said(&mut play, "stackTrace", asked)
    };
    expect!["failed: the recording has no `stackTrace` with the frames from 20 on"]
        .assert_eq(&stack(20));
    for start in [50, u64::MAX] {
        let answer = stack(start);
        assert!(answer.contains(r#""stackFrames":[]"#), "{answer}");
    }
}

/// What comes of the client of one recording with the adapter of another.
fn played(client: Vec<Message>, adapter: Vec<Message>) -> (Vec<Message>, Vec<String>) {
    let recorder = Recorder::new();
    let (near, far) = recorder.options().memory();
    let serving = thread::spawn(move || serve(&far, AdapterPlay::new(adapter)));
    let played = ClientPlay::new(client, Duration::from_secs(20)).run(near, &recorder);
    serving.join().expect("the played adapter ends");
    let entries = played.recording.entries.into_iter().map(Item::Message);
    let now = Session::messages(&entries.collect::<Vec<_>>());
    (now, played.missed)
}

#[test]
fn how_often_an_editor_asks_is_no_difference_but_what_it_gets_is() {
    let [first, second] = VSCODE.map(messages);
    // The stack is asked for in other pieces, and values are hovered over more often.
    let found = diff(&first, &second, &Ignored::default());
    assert!(found.iter().all(|one| one.is_question()), "{found:#?}");
    expect!["-   23       → threads"].assert_eq(&differences(&first, &second).join("\n"));
    // In the pieces and the repetitions that only one of them has.
    let line_of = |text: &str, line: i64| {
        changed(text, |message| {
            each_field(message, &["stackFrames"], &|frames| {
                each_field(frames, &["line"], &|value| {
                    if *value == json!(line) {
                        *value = json!(7);
                    }
                });
            });
        })
    };
    let found = differences(&first, &line_of(VSCODE[1], 23));
    expect![[r#"
        -   23       → threads
        ≠   43   43  ← stackTrace ok 3 of 4 frames: __libc_start_call_main at __libc_start_call_main (disassembly):23
                     `stackFrames[0].line` is 23 in A and 7 in B
        ≠   66   71  ← stackTrace ok 4 frames: main at basket.c:21
                     `stackFrames[0].line` is 23 in A and 7 in B
        ≠   89   87  ← stackTrace ok 4 frames: main at basket.c:20
                     `stackFrames[1].line` is 23 in A and 7 in B
        ≠  112  110  ← stackTrace ok 5 frames: price_of at basket.c:10
                     `stackFrames[2].line` is 23 in A and 7 in B"#]].assert_eq(&found.join("\n"));
    let found = differences(&line_of(VSCODE[0], 23), &second);
    expect![[r#"
        -   23       → threads
        ≠   43   43  ← stackTrace ok 3 of 4 frames: __libc_start_call_main at __libc_start_call_main (disassembly):7
                     `stackFrames[0].line` is 7 in A and 23 in B
        ≠   66   71  ← stackTrace ok 4 frames: main at basket.c:21
                     `stackFrames[0].line` is 7 in A and 23 in B
        ≠   89   87  ← stackTrace ok 4 frames: main at basket.c:20
                     `stackFrames[1].line` is 7 in A and 23 in B
        ≠  112  110  ← stackTrace ok 5 frames: price_of at basket.c:10
                     `stackFrames[2].line` is 7 in A and 23 in B"#]].assert_eq(&found.join("\n"));
}

/// A stop at which a client asks for a variable and sets it, in this order. Each number is the value that `variables` shows; `None` is
/// `setVariable`.
fn valued(steps: &[Option<i64>]) -> Vec<Message> {
    let mut items = Vec::new();
    let stop = json!({"reason": "step", "threadId": 1});
    let mut say = |from, message: Value| {
        items.push(Item::Message(Entry {
            time: Duration::from_secs(1),
            from,
            text: message.to_string(),
        }));
    };
    let mut ask = |seq: usize, command: &str, arguments: Value, body: Value| {
        say(
            Side::Client,
            json!({"seq": seq, "type": "request", "command": command, "arguments": arguments}),
        );
        say(
            Side::Adapter,
            json!({"seq": 2 * seq, "type": "response", "request_seq": seq, "success": true, "command": command, "body": body}),
        );
        if command == "next" {
            say(
                Side::Adapter,
                json!({"seq": 2 * seq + 1, "type": "event", "event": "stopped", "body": stop}),
            );
        }
    };
    ask(1, "next", json!({"threadId": 1}), Value::Null);
    for (seq, step) in (2..).zip(steps) {
        match step {
            Some(value) => {
                let variable =
                    json!({"name": "n", "value": value.to_string(), "variablesReference": 0});
                let body = json!({"variables": [variable]});
                ask(seq, "variables", json!({"variablesReference": 5}), body);
            }
            None => {
                let arguments = json!({"variablesReference": 5, "name": "n", "value": "5"});
                ask(seq, "setVariable", arguments, json!({"value": "5"}));
            }
        }
    }
    Session::messages(&items)
}

#[test]
fn a_question_that_is_repeated_corresponds_to_one_of_the_same_value() {
    let often = valued(&[Some(3), None, Some(5), Some(5)]);
    let once = valued(&[Some(3), None, Some(5)]);
    assert_eq!(differences(&often, &once), [""; 0]);
    assert_eq!(differences(&once, &often), [""; 0]);
    let twice = valued(&[Some(3), Some(3), None, Some(5), Some(5)]);
    assert_eq!(differences(&twice, &once), [""; 0]);
    assert_eq!(differences(&once, &twice), [""; 0]);
    // What only one of them asked before it set the value.
    let late = valued(&[None, Some(5)]);
    for (first, second) in [(&once, &late), (&late, &once)] {
        let found = diff(first, second, &Ignored::default());
        assert!(found.len() == 1 && found[0].is_question(), "{found:#?}");
    }
    // Without a value that is the same, the nearest one with the same value set.
    let wrong = valued(&[Some(3), None, Some(4)]);
    expect![[r#"
        ≠    9    9  ← variables ok 1 variable: n = 5
                     `variables[0].value` is "5" in A and "4" in B
        ≠   11    9  ← variables ok 1 variable: n = 5
                     `variables[0].value` is "5" in A and "4" in B"#]]
    .assert_eq(&differences(&often, &wrong).join("\n"));
}

#[test]
fn the_recorded_client_gets_from_the_played_adapter_what_it_got_then() {
    for (name, text) in ALL {
        let (now, missed) = played(messages(text), messages(text));
        assert_eq!(missed, [""; 0], "{name}");
        assert_eq!(differences(&messages(text), &now), [""; 0], "{name}");
    }
}

/// The tiny session as an adapter with flaws would have it: this is said after, or instead of, its message of that number.
fn flawed(flaws: &[(usize, bool, Value)]) -> Vec<Message> {
    let mut items = Vec::new();
    for (number, item) in (1..).zip(recorded(TINY).items) {
        let mut after = flaws.iter().filter(|(at, ..)| *at == number).peekable();
        if after.peek().is_none_or(|(_, instead, _)| !instead) {
            items.push(item);
        }
        for (.., message) in after {
            items.push(Item::Message(Entry {
                time: Duration::from_secs(1),
                from: Side::Adapter,
                text: message.to_string(),
            }));
        }
    }
    Session::messages(&items)
}

#[test]
fn what_was_wrong_is_played_again_and_compared() {
    let response = |request_seq: i64, command: &str| {
        json!({"seq": 9, "type": "response", "request_seq": request_seq, "success": true, "command": command,
            "body": {"scopes": []}})
    };
    let event =
        json!({"seq": 9, "type": "event", "event": "output", "body": {"output": "early\n"}});
    let session = flawed(&[
        (1, false, event),
        (
            14,
            true,
            json!({"seq": 9, "type": "response", "request_seq": 6, "command": "threads"}),
        ),
        (18, false, response(8, "scopes")),
        (20, true, response(9, "stackTrace")),
        (22, false, response(99, "scopes")),
    ]);
    let (now, missed) = played(session.clone(), session.clone());
    assert_eq!(missed, [""; 0]);
    assert_eq!(differences(&session, &now), [""; 0]);
    let wrong = |messages: &[Message]| -> Vec<String> {
        let found = messages.iter().flat_map(|message| &message.findings);
        let found = found.filter(|finding| finding.rule != "sequence");
        found
            .map(|finding| format!("{}: {}", finding.rule, finding.subject))
            .collect()
    };
    expect![[r#"
        before-initialize-response: event output
        shape:  success
        shape:  body
        response-to-nothing: second response scopes
        shape: response stackTrace body.stackFrames
        wrong-command: response stackTrace
        response-to-nothing: response scopes"#]]
    .assert_eq(&wrong(&session).join("\n"));
    assert_eq!(wrong(&session), wrong(&now));
    expect![[r#"
        -   14       ← threads ok 1 thread: 1 main
        ≠   20   22  ← variables ok 0 variables
                     it names `variables` in A and `stackTrace` in B
        ≠   20   22  ← variables ok 0 variables
                     `variables` is [] in A and absent in B
                     `scopes` is absent in A and [] in B
        +         2  ← output console "early\n"
        +        15  ← no message: `success`: missing in this response, expected a boolean
        +        20  ← scopes ok
        +        25  ← scopes ok"#]]
    .assert_eq(&differences(&messages(TINY), &session).join("\n"));
}

#[test]
fn what_is_no_message_is_compared_by_what_it_is() {
    let with = |texts: &[&str], reason: &str| {
        let mut items = recorded(TINY).items;
        let (time, from) = (Duration::from_secs(9), Side::Adapter);
        items.extend(texts.iter().map(|text| {
            let text = (*text).to_owned();
            Item::Message(Entry { time, from, text })
        }));
        let reason = reason.to_owned();
        items.push(Item::Malformed { time, from, reason });
        Session::messages(&items)
    };
    let one = with(&["one", r#"{"seq":7,"type":"event"}"#], "no length");
    // Numbers aren't compared.
    let again = with(&["one", r#"{"seq":8,"type":"event"}"#], "no length");
    assert_eq!(differences(&one, &again), [""; 0]);
    let other = with(&["two", r#"{"seq":7,"type":"event","body":1}"#], "no end");
    expect![[r#"
        ≠   72   72  ← no message: not a JSON object: expected `{` at the start
                     `text` is "one" in A and "two" in B
        ≠   73   73  ← no message: `event`: missing in this event, expected a string
                     `body` is absent in A and 1 in B
        ≠   74   74  ← no message: no length
                     `malformed` is "no length" in A and "no end" in B"#]]
    .assert_eq(&differences(&one, &other).join("\n"));
}

/// What a played adapter says to a request, in short.
fn said(play: &mut AdapterPlay, command: &str, arguments: Value) -> String {
    let texts = play.request(1, command, &arguments);
    let shown = texts.iter().map(|text| {
        let message: Value = serde_json::from_str(text).expect("a message");
        match (&message["type"], &message["success"]) {
            (Value::String(kind), _) if kind == "event" => {
                format!("event {}", message["event"].as_str().unwrap_or_default())
            }
            (_, Value::Bool(true)) => match message.get("body") {
                Some(body) => format!("ok {body}"),
                None => "ok ".to_owned(),
            },
            _ => format!(
                "failed: {}",
                message["message"].as_str().unwrap_or_default()
            ),
        }
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
    assert_eq!(
        shortest(&entries, "redundant-continued"),
        [
            "the request `initialize`",
            "the response to `initialize`",
            "the request `continue`",
            "the response to `continue`",
            "the event `continued`"
        ]
    );
}

/// The titles of the shortest session that breaks a rule, of whose messages no one is wrong but for it.
fn shortest(entries: &[Entry], rule: &str) -> Vec<String> {
    let known = minimize::findings(entries);
    let wanted = known
        .iter()
        .find(|one| one.rule == rule)
        .expect("it is broken");
    let part = minimize::minimize(entries, wanted, By::Message, |part| {
        minimize::shows(&minimize::findings(part), wanted, &known)
    });
    let violations: Vec<_> = minimize::findings(&part)
        .into_iter()
        .map(|finding| finding.rule)
        .collect();
    assert_eq!(violations, [rule], "the numbers count again");
    let items: Vec<Item> = part.into_iter().map(Item::Message).collect();
    let messages = Session::messages(&items);
    // Its last message is what is wrong: it comes also when the session is played.
    let (now, missed) = played(messages.clone(), messages.clone());
    assert_eq!(missed, [""; 0]);
    assert_eq!(differences(&messages, &now), [""; 0]);
    messages.iter().map(Message::title).collect()
}

#[test]
fn a_request_after_disconnect_needs_no_response() {
    let ask = |seq: i64, command: &str| {
        let text = json!({"seq": seq, "type": "request", "command": command}).to_string();
        Item::Message(Entry {
            time: Duration::from_secs(9),
            from: Side::Client,
            text,
        })
    };
    let unanswered = |items: &[Item]| -> Vec<String> {
        let mut session = Session::new();
        for item in items {
            session.item(item);
        }
        let end = session.end().into_iter();
        end.map(|finding| finding.subject).collect()
    };
    // The recording ends with `disconnect`. VS Code asks so, if its editor is shown anew just then.
    let mut items = recorded(TINY).items;
    items.push(ask(90, "breakpointLocations"));
    assert_eq!(unanswered(&items), [""; 0]);
    items.retain(
        |item| !matches!(item, Item::Message(entry) if entry.text.contains("\"disconnect\"")),
    );
    assert_eq!(unanswered(&items), ["request breakpointLocations"]);
}

#[test]
fn a_second_response_is_cut_down_with_the_first() {
    let again = json!({"seq": 9, "type": "response", "request_seq": 8, "success": true, "command": "scopes",
        "body": {"scopes": []}});
    let entries: Vec<Entry> = flawed(&[(18, false, again)])
        .into_iter()
        .map(|message| Entry {
            time: message.time,
            from: message.from,
            text: message.text,
        })
        .collect();
    assert_eq!(
        shortest(&entries, "response-to-nothing"),
        [
            "the request `initialize`",
            "the response to `initialize`",
            "the request `scopes`",
            "the response to `scopes`",
            "the response to `scopes`"
        ]
    );
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
