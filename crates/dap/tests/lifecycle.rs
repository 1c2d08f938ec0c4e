//! The rules of a session, one table for each rule: who sends which message, and which rule it breaks.

use dapple_dap::envelope::Envelope;
use dapple_dap::lifecycle::Side::{Adapter, Client};
use dapple_dap::lifecycle::{Facts, Lifecycle, Severity, Side, Violation};

/// `initialize`, answered.
const START: [(Side, &str); 2] = [
    (
        Client,
        r#"1? initialize {"supportsProgressReporting":true,"supportsRunInTerminalRequest":true}"#,
    ),
    (Adapter, r#"1! initialize {"supportsStepBack":true}"#),
];

/// Runs a session and returns the violation of each message as text, empty if there is none.
///
/// `N? command` is a request with that number, `N! command` a response, `N!! command` one that failed, and anything else an event; the
/// rest of the line is the payload.
fn run(messages: &[(Side, &str)]) -> Vec<String> {
    let mut lifecycle = Lifecycle::new();
    messages
        .iter()
        .map(|&(side, line)| outcome(lifecycle.observe(side, Facts::of(&envelope(&text(line))))))
        .collect()
}

fn outcome(violation: Option<Violation>) -> String {
    violation.map_or_else(String::new, |violation| violation.to_string())
}

/// Has a session observe a message that breaks no rule.
fn allowed(lifecycle: &mut Lifecycle, side: Side, line: &str) {
    let broken = lifecycle.observe(side, Facts::of(&envelope(&text(line))));
    assert_eq!(broken, None, "{line}");
}

fn envelope(text: &str) -> Envelope<'_> {
    Envelope::parse(text).expect("the test's own message")
}

fn text(line: &str) -> String {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (name, payload) = rest.split_once(' ').unwrap_or((rest, "{}"));
    if let Some(seq) = first.strip_suffix('?') {
        format!(r#"{{"seq":{seq},"type":"request","command":"{name}","arguments":{payload}}}"#)
    } else if let Some(seq) = first.strip_suffix('!') {
        let success = !seq.ends_with('!');
        let seq = seq.trim_end_matches('!');
        format!(
            r#"{{"seq":1,"type":"response","request_seq":{seq},"success":{success},"command":"{name}","body":{payload}}}"#
        )
    } else {
        let payload = if rest.is_empty() { "{}" } else { rest };
        format!(r#"{{"seq":1,"type":"event","event":"{first}","body":{payload}}}"#)
    }
}

/// Runs a session after `initialize`, and returns the violation of its last message.
fn last(messages: &[(Side, &str)]) -> String {
    let all = [&START, messages].concat();
    let outcomes = run(&all);
    let (last, before) = outcomes.split_last().expect("a message");
    assert!(
        before.iter().all(String::is_empty),
        "only the last is to be wrong: {before:?}"
    );
    last.clone()
}

#[test]
fn the_first_request_is_initialize() {
    let outcomes = run(&[
        (Client, "1? launch"),
        (Client, "2? initialize"),
        (Client, "3? initialize"),
        (Adapter, "2! initialize"),
        (Client, "4? initialize"),
    ]);
    let twice = "`initialize` may be sent only once in a session";
    let early = "`launch` came before `initialize`; the first request must be `initialize`";
    assert_eq!(outcomes, [early, "", twice, "", twice]);
}

#[test]
fn a_failed_initialize_may_be_repeated() {
    let again = [
        (Client, "1? initialize"),
        (Adapter, "1!! initialize"),
        (Client, "2? initialize"),
    ];
    assert_eq!(run(&again), ["", "", ""]);
}

#[test]
fn nothing_is_sent_before_the_response_to_initialize() {
    let outcomes = run(&[
        (Adapter, "output"),
        (Client, "1? initialize"),
        (Client, "2? launch"),
        (Adapter, "initialized"),
        (Adapter, "1? runInTerminal"),
        (Adapter, "1! initialize"),
        (Adapter, "initialized"),
        (Adapter, "2! launch"),
        (Adapter, "initialized"),
    ]);
    assert_eq!(
        outcomes,
        [
            "`output` was sent before the response to `initialize`",
            "",
            "`launch` was sent before the response to `initialize` was received",
            "`initialized` was sent before the response to `initialize`",
            "`runInTerminal` was sent before the response to `initialize`",
            "",
            "",
            "",
            "the event `initialized` was sent a second time",
        ]
    );
}

#[test]
fn each_request_has_one_response_with_its_command() {
    assert_eq!(
        last(&[(Adapter, "1! initialize")]),
        "a response to request 1 (`initialize`), which is not waiting for one"
    );
    assert_eq!(last(&[(Client, "2? threads"), (Adapter, "2! threads")]), "");
    assert_eq!(
        last(&[(Client, "2? threads"), (Adapter, "2! scopes")]),
        "the response to request 2 (`threads`) names the command `scopes`"
    );
    assert_eq!(
        last(&[(Client, "2? threads"), (Client, "2! threads")]),
        "a response to request 2 (`threads`), which is not waiting for one",
        "nobody answers its own request"
    );
    assert_eq!(
        last(&[(Adapter, "7? runInTerminal"), (Client, "7! runInTerminal")]),
        ""
    );
}

#[test]
fn two_requests_of_one_number_are_both_answered() {
    let messages = [
        (Client, "2? threads"),
        (Client, "2? scopes"),
        (Adapter, "2! scopes"),
        (Adapter, "2! threads"),
    ];
    assert_eq!(last(&messages), "");
}

#[test]
fn what_is_not_answered_can_be_listed() {
    let mut lifecycle = Lifecycle::new();
    for (side, line) in START {
        allowed(&mut lifecycle, side, line);
    }
    for line in ["2? launch", "3? threads"] {
        allowed(&mut lifecycle, Client, line);
    }
    allowed(&mut lifecycle, Adapter, "2! launch");
    let left: Vec<_> = lifecycle.unanswered(Client).collect();
    assert_eq!(left, [(3, "threads")]);
}

#[test]
fn only_responses_follow_terminated() {
    let end = [(Client, "2? disconnect"), (Adapter, "terminated")];
    let after = |message| last(&[&end[..], &[(Adapter, message)]].concat());
    assert_eq!(after("2! disconnect"), "");
    assert_eq!(
        after("output"),
        "`output` was sent after `terminated`; clients may no longer listen"
    );
    assert_eq!(
        after("terminated"),
        "`terminated` was sent after `terminated`; clients may no longer listen"
    );
    assert_eq!(
        after("1? runInTerminal"),
        "`runInTerminal` was sent after `terminated`; clients may no longer listen"
    );
    assert_eq!(last(&[&end[..], &[(Client, "3? disconnect")]].concat()), "");
}

#[test]
fn a_resume_that_the_client_asked_for_is_not_told_back_to_it() {
    const REDUNDANT: &str = "a `continued` event for threads that the client resumed itself";
    let all = r#"2? continue {"threadId":1}"#;
    let one = r#"2? next {"threadId":1,"singleThread":true}"#;
    let continued_1 = r#"continued {"threadId":1}"#;
    let continued_2 = r#"continued {"threadId":2}"#;
    let continued_all = r#"continued {"threadId":1,"allThreadsContinued":true}"#;
    let cases: &[(&[(Side, &str)], &str)] = &[
        (&[(Adapter, continued_1)], ""),
        (&[(Client, all), (Adapter, continued_1)], REDUNDANT),
        (&[(Client, all), (Adapter, continued_2)], REDUNDANT),
        (
            &[
                (Client, all),
                (Adapter, "2! continue"),
                (Adapter, continued_all),
            ],
            REDUNDANT,
        ),
        (
            &[
                (Client, all),
                (Adapter, "2!! continue"),
                (Adapter, continued_1),
            ],
            "",
        ),
        (
            &[
                (Client, all),
                (Adapter, "2! continue"),
                (Adapter, "stopped"),
                (Adapter, continued_1),
            ],
            "",
        ),
        // The resume that failed is forgotten, not the newest.
        (
            &[
                (Client, all),
                (Client, r#"3? next {"threadId":7,"singleThread":true}"#),
                (Adapter, "2!! continue"),
                (Adapter, continued_1),
            ],
            "",
        ),
        (
            &[
                (Client, all),
                (Client, r#"3? next {"threadId":7,"singleThread":true}"#),
                (Adapter, "3!! next"),
                (Adapter, continued_1),
            ],
            REDUNDANT,
        ),
        (&[(Client, one), (Adapter, continued_1)], REDUNDANT),
        (&[(Client, one), (Adapter, continued_2)], ""),
        (&[(Client, one), (Adapter, continued_all)], ""),
        (
            &[
                (Client, "2? pause {\"threadId\":1}"),
                (Adapter, continued_1),
            ],
            "",
        ),
        (
            &[
                (Client, "2? stepIn {\"threadId\":\"x\"}"),
                (Adapter, continued_1),
            ],
            REDUNDANT,
        ),
    ];
    for (messages, expected) in cases {
        assert_eq!(last(messages), *expected, "{messages:?}");
    }
}

#[test]
fn numbers_count_from_one_on_each_side() {
    let mut lifecycle = Lifecycle::new();
    let mut seq = |side, seq| outcome(lifecycle.sequence(side, seq).err());
    assert_eq!(seq(Client, 1), "");
    assert_eq!(seq(Adapter, 1), "");
    assert_eq!(seq(Client, 2), "");
    assert_eq!(seq(Client, 2), "`seq` is 2, expected 3");
    assert_eq!(seq(Client, 9), "`seq` is 9, expected 3");
    assert_eq!(seq(Client, 10), "");
    assert_eq!(
        seq(Adapter, i64::MAX),
        format!("`seq` is {}, expected 2", i64::MAX)
    );
    assert_eq!(
        seq(Adapter, i64::MIN),
        format!("`seq` is {}, expected {}", i64::MIN, i64::MAX)
    );
}

#[test]
fn a_message_that_breaks_a_rule_changes_nothing() {
    let mut lifecycle = Lifecycle::new();
    let early = lifecycle.observe(Adapter, Facts::of(&envelope(&text("terminated"))));
    assert!(
        matches!(early, Some(Violation::BeforeInitializeResponse { .. })),
        "{early:?}"
    );
    for (side, line) in START {
        allowed(&mut lifecycle, side, line);
    }
    allowed(&mut lifecycle, Adapter, "output");
}

#[test]
fn only_the_adapter_sends_events() {
    let told = [
        (Client, "terminated"),
        (Adapter, "output"),
        (Client, "initialized"),
        (Adapter, "initialized"),
    ];
    let all = [&START, &told[..]].concat();
    let refused =
        |event: &str| format!("the client sent the event `{event}`; only the adapter sends events");
    assert_eq!(
        run(&all)[2..],
        [
            refused("terminated"),
            String::new(),
            refused("initialized"),
            String::new()
        ]
    );
}

#[test]
fn a_progress_starts_once_and_ends_once() {
    let start = (Adapter, r#"progressStart {"progressId":"a","title":"x"}"#);
    let update = (Adapter, r#"progressUpdate {"progressId":"a"}"#);
    let end = (Adapter, r#"progressEnd {"progressId":"a"}"#);
    let other = (Adapter, r#"progressEnd {"progressId":"b"}"#);
    assert_eq!(last(&[start, update, end]), "");
    assert_eq!(
        last(&[start, end, start]),
        "progress \"a\" is started a second time",
        "an id is used once in a session"
    );
    assert_eq!(
        last(&[start, start]),
        "progress \"a\" is started a second time"
    );
    assert_eq!(
        last(&[update]),
        "`progressUpdate` for progress \"a\", which does not go on"
    );
    assert_eq!(
        last(&[start, end, end]),
        "`progressEnd` for progress \"a\", which does not go on"
    );
    assert_eq!(
        last(&[start, other]),
        "`progressEnd` for progress \"b\", which does not go on"
    );
}

#[test]
fn a_progress_that_did_not_end_can_be_listed() {
    let mut lifecycle = Lifecycle::new();
    let messages = [
        (Adapter, r#"progressStart {"progressId":"a"}"#),
        (Adapter, r#"progressStart {"progressId":"b"}"#),
        (Adapter, r#"progressEnd {"progressId":"a"}"#),
    ];
    for (side, line) in [&START, &messages[..]].concat() {
        allowed(&mut lifecycle, side, line);
    }
    assert_eq!(lifecycle.open_progress().collect::<Vec<_>>(), ["\"b\""]);
}

#[test]
fn a_message_depends_on_a_capability_of_its_receiver() {
    let not_advertised = |message: &str, who: &str, capability: &str| {
        format!("`{message}` needs `{capability}`, which the {who} does not advertise")
    };
    assert_eq!(last(&[(Client, "2? stepBack")]), "");
    assert_eq!(
        last(&[(Client, "2? readMemory")]),
        not_advertised("readMemory", "adapter", "supportsReadMemoryRequest")
    );
    assert_eq!(last(&[(Adapter, "1? runInTerminal")]), "");
    assert_eq!(
        last(&[(Adapter, "1? startDebugging")]),
        not_advertised("startDebugging", "client", "supportsStartDebuggingRequest")
    );
    assert_eq!(
        last(&[(Adapter, "memory")]),
        not_advertised("memory", "client", "supportsMemoryEvent")
    );
    assert_eq!(last(&[(Client, "2? dapple/own")]), "");
    let changed = r#"capabilities {"capabilities":{"supportsReadMemoryRequest":true,"supportsStepBack":false}}"#;
    let changed = |line| last(&[(Adapter, changed), (Client, line)]);
    assert_eq!(changed("2? readMemory"), "");
    assert_eq!(
        changed("2? reverseContinue"),
        not_advertised("reverseContinue", "adapter", "supportsStepBack")
    );
    // It is answered like any other.
    let answered = [(Client, "2? readMemory"), (Adapter, "2! readMemory")];
    assert_eq!(run(&[&START[..], &answered].concat())[3], "");
}

#[test]
fn advice_changes_the_state_and_a_violation_does_not() {
    let mut lifecycle = Lifecycle::new();
    for (side, line) in START {
        allowed(&mut lifecycle, side, line);
    }
    allowed(&mut lifecycle, Adapter, "terminated");
    let late = lifecycle.observe(
        Adapter,
        Facts::of(&envelope(&text("progressStart {\"progressId\":1}"))),
    );
    assert_eq!(late.map(|late| late.severity()), Some(Severity::Advice));
    assert_eq!(lifecycle.open_progress().collect::<Vec<_>>(), ["1"]);
}

/// Each sentence that a violation rests on stands in the official definition, where that lies beside the project. Those about capabilities
/// are about many messages; the definition has them with slightly different words.
#[test]
fn the_sentences_of_the_specification_are_its_own() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/dap/debugAdapterProtocol.json"
    );
    let Ok(definition) = std::fs::read_to_string(path) else {
        return eprintln!("the official definition is not there: not compared");
    };
    let name = || Box::from("x");
    let violations = [
        Violation::BeforeInitialize { command: name() },
        Violation::InitializeTwice,
        Violation::RequestBeforeInitializeResponse { command: name() },
        Violation::BeforeInitializeResponse { message: name() },
        Violation::Sequence {
            expected: 1,
            found: 2,
        },
        Violation::ResponseToNothing {
            request_seq: 1,
            command: name(),
        },
        Violation::WrongCommand {
            request_seq: 1,
            expected: name(),
            found: name(),
        },
        Violation::EventFromClient { event: name() },
        Violation::ProgressTwice { id: name() },
        Violation::NoSuchProgress {
            event: name(),
            id: name(),
        },
        Violation::NotAdvertised {
            message: "stepBack".into(),
            capability: "supportsStepBack",
            receiver: Adapter,
        },
        Violation::NotAdvertised {
            message: "progressStart".into(),
            capability: "supportsProgressReporting",
            receiver: Client,
        },
        Violation::NotAdvertised {
            message: "startDebugging".into(),
            capability: "supportsStartDebuggingRequest",
            receiver: Client,
        },
    ];
    for violation in violations {
        assert_eq!(violation.severity(), Severity::Violation, "{violation}");
        let sentence = violation.sentence();
        assert!(
            definition.contains(&*sentence),
            "{}: {sentence}",
            violation.rule()
        );
    }
}
