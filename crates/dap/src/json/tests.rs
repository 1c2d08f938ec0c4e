//! Compares the fast paths with serde_json.

mod writing;

use super::read;
use crate::envelope::Envelope;
use crate::message::Raw;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A struct with a field of each kind that the fast path reads.
#[derive(Debug, PartialEq, Deserialize)]
struct Places {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    number: i64,
    #[serde(default)]
    flag: bool,
    #[serde(default)]
    raw: Option<Raw>,
    #[serde(default)]
    map: BTreeMap<String, Vec<Option<f64>>>,
    #[serde(default)]
    pair: Option<(u8, char)>,
    #[serde(default)]
    unit: Option<Unit>,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Unit {
    One,
    Two,
}

/// Whether the fast path reads `text`. If so, serde_json has to read the same value.
fn agrees<T: PartialEq + std::fmt::Debug + serde::de::DeserializeOwned>(text: &str) -> bool {
    let quick = read::<T>(text);
    if let Some(quick) = &quick {
        let slow = serde_json::from_str::<T>(text);
        assert_eq!(slow.ok().as_ref(), Some(quick), "{text}");
    }
    quick.is_some()
}

#[test]
fn ordinary_texts_are_read_the_quick_way() {
    for text in [
        r#"{"text":"ü\u00fc\ud83e\udd80\n\"","number":-9223372036854775808,"flag":true,"unknown":[{},[],{"a":[1.5e-3,null]}]}"#,
        r#" { "raw" : { "a" : [ 1 , "}" ] } , "map" : { "x\"y" : [ 1 , 0.5 , null ] } } "#,
        r#"{"pair":[255,"ü"],"unit":"Two","raw":null,"text":null}"#,
        "{}",
    ] {
        assert!(agrees::<Places>(text), "{text}");
        assert!(agrees::<Raw>(text), "{text}");
        assert!(agrees::<Value>(text), "{text}");
    }
}

#[test]
fn what_is_no_json_is_not_read() {
    for text in [
        "",
        "{",
        "}",
        "[1,]",
        "{\"a\":1,}",
        "{,}",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "\"a",
        "\"\u{1}\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\",
        "tru",
        "nulll",
        "[1}",
        "{\"a\":1]",
        "1 1",
        "{\"a\":1}}",
        "[\"\\ud800\\u0041\"]",
        "\u{feff}{}",
        "'a'",
        "NaN",
        "[",
        "[[",
        "{\"a\":[",
    ] {
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
        assert!(!agrees::<Value>(text), "{text}");
        assert!(!agrees::<Raw>(text), "{text}");
    }
}

#[test]
fn nesting_is_bounded() {
    for depth in [126, 127, 128, 129, 100_000] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(agrees::<Raw>(&text), depth <= 128, "{depth}");
        assert_eq!(agrees::<Value>(&text), depth <= 127, "{depth}");
    }
}

/// Text that is JSON or close to it.
fn near_json() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\"",
        "\\",
        "\"text\"",
        "\"number\"",
        "\"flag\"",
        "\"raw\"",
        "\"map\"",
        "\"pair\"",
        "\"unit\"",
        "\"seq\"",
        "\"type\"",
        "\"One\"",
        "\"request\"",
        "\"command\"",
        "\"arguments\"",
        "1",
        "0",
        "-0",
        "-1",
        "2.5",
        "1e3",
        "99999999999999999999",
        "true",
        "false",
        "null",
        "\\u00e4",
        "\\n",
        "ü",
        "\u{0}",
        "\n",
        "abcdefgh",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

/// JSON values of any shape.
pub(super) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|value| Value::from(f64::from(value) / 4.0)),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,9}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_is_read_that_serde_json_refuses_or_reads_differently(text in near_json()) {
        agrees::<Value>(&text);
        agrees::<Raw>(&text);
        agrees::<Places>(&text);
        agrees::<Places>(&format!("{{{text}}}"));
        // `Envelope::parse` has a fast and a slow path too. It must not panic, and the payload that it finds has to be JSON.
        if let Ok(envelope) = Envelope::parse(&text)
            && let crate::envelope::Kind::Request { arguments: Some(raw), .. } = envelope.kind
        {
            prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(raw.get()).is_ok());
        }
    }

    #[test]
    fn well_formed_texts_are_read_the_quick_way(value in json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("a value can be written");
        prop_assert!(agrees::<Value>(&text));
        prop_assert!(agrees::<Raw>(&text));
    }
}
