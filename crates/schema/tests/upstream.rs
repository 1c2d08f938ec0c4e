//! The record of where the project's definition came from, held against the files.

use dapple_schema::upstream::{Age, Upstream, Verdict, sha256};
use dapple_schema::{PROTOCOL, PROTOCOL_VERSION};
use std::path::Path;

#[test]
fn the_record_is_complete_and_of_the_projects_definition() {
    let recorded = Upstream::recorded();
    let Upstream {
        source,
        download,
        version,
        published,
        taken,
        sha256: official,
        differs,
        own_sha256,
    } = recorded;
    for entry in [source, download, version, published, taken, differs] {
        assert_ne!(entry, "", "an entry of {recorded:?}");
    }
    assert_eq!(version, PROTOCOL_VERSION);
    assert_eq!(
        own_sha256,
        sha256(PROTOCOL.as_bytes()),
        "UPSTREAM has the sum of protocol.json"
    );
    assert_eq!(official.len(), 64);
}

#[test]
fn the_recorded_sum_is_that_of_the_official_file() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/dap/debugAdapterProtocol.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: there is no {}", path.display());
        return;
    };
    let recorded = Upstream::recorded();
    assert_eq!(sha256(text.as_bytes()), recorded.sha256);
    assert_eq!(
        recorded.compare(&text).expect("it is a definition"),
        Verdict::Same
    );
    // A changed text is another file of the same structure.
    let reworded = text.replacen("Base class of", "The base of", 1);
    let verdict = recorded.compare(&reworded).expect("it is a definition");
    let expected = Verdict::Other {
        age: Age::Equal,
        differences: Vec::new(),
    };
    assert_eq!(verdict, expected);
}

/// The verdict on the project's definition with one text replaced.
fn changed(from: &str, to: &str) -> (Age, Vec<String>) {
    assert!(PROTOCOL.contains(from), "{from}");
    let file = PROTOCOL.replacen(from, to, 1);
    match Upstream::recorded()
        .compare(&file)
        .expect("it is a definition")
    {
        Verdict::Other { age, differences } => {
            (age, differences.iter().map(ToString::to_string).collect())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_file_has_more_or_less_tells_its_age() {
    assert_eq!(
        Upstream::recorded().compare(PROTOCOL).expect("it is one"),
        Verdict::Own
    );
    let values = r#""_enum": [ "request", "response", "event" ]"#;
    assert_eq!(
        changed(
            values,
            r#""_enum": [ "request", "response", "event", "stream" ]"#
        ),
        (
            Age::Newer,
            vec!["ProtocolMessage.type: the value \"stream\" against nothing".to_owned()]
        )
    );
    assert_eq!(
        changed(values, r#""_enum": [ "request", "response" ]"#),
        (
            Age::Older,
            vec!["ProtocolMessage.type: nothing against the value \"event\"".to_owned()]
        )
    );
    assert_eq!(
        changed(values, r#""enum": [ "request", "response", "event" ]"#),
        (
            Age::Unclear,
            vec![
                "ProtocolMessage.type: a closed enumeration against an open enumeration".to_owned()
            ]
        )
    );
    assert_eq!(
        changed("What every message", "All that a message"),
        (Age::Equal, vec![])
    );
    assert!(Upstream::recorded().compare("{}").is_err());
}
