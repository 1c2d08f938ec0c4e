//! Writing: the same bytes as serde_json.

use super::json;
use crate::json::{raw, write::quick};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// Whether the fast path writes `value`. If so, it has to write the same bytes as serde_json.
fn agrees(value: &(impl Serialize + ?Sized)) -> bool {
    let mut bytes = b"before".to_vec();
    let quick = quick(&mut bytes, value);
    let mut slow = b"before".to_vec();
    let written = serde_json::to_writer(&mut slow, value);
    if quick {
        written.expect("what is written here can be written there");
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            String::from_utf8_lossy(&slow)
        );
        let raw = raw(value).expect("it was written once");
        assert_eq!(raw.get().as_bytes(), &slow["before".len()..]);
    } else {
        assert_eq!(bytes, b"before");
    }
    quick
}

#[test]
fn strings_of_each_length_are_escaped_at_each_place() {
    for length in 0..40 {
        let plain: String = "äbcdefghijklmnopqrstuvwxyz0123456789ABCDEF"
            .chars()
            .take(length)
            .collect();
        assert!(agrees(&plain));
        for place in plain.char_indices().map(|(place, _)| place) {
            for special in ['"', '\\', '\n', '\0', '\u{1f}', '\u{7f}', '\u{80}', ' '] {
                let mut text = plain.clone();
                text.insert(place, special);
                assert!(agrees(&text), "{text:?}");
            }
        }
    }
    for code in 0..0x200 {
        assert!(agrees(&char::from_u32(code)));
    }
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct New(u8);

#[derive(Serialize)]
struct Pair(u8, &'static str);

#[derive(Serialize)]
enum Choice {
    Plain,
    New(u8),
    Pair(u8, u8),
    Object { a: u8 },
}

#[derive(Serialize)]
struct Object<'a> {
    #[serde(rename = "a \"key\"")]
    a: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<i64>,
    raw: &'a RawValue,
    nested: BTreeMap<char, Vec<()>>,
}

#[test]
fn each_kind_of_value_is_written_the_quick_way() {
    assert!(agrees(&(i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN)));
    assert!(agrees(&(u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX)));
    assert!(agrees(&[0.0, -0.0, 1.5, 1e300, f64::NAN, f64::INFINITY]));
    assert!(agrees(&0.1_f32));
    assert!(agrees(&(true, false, (), None::<u8>, Some("x"), 'ü')));
    assert!(agrees(&(Unit, New(1), Pair(2, "two"), Choice::Plain)));
    assert!(agrees(&format_args!("{}\n", 1)));
    let empty: [u8; 0] = [];
    assert!(agrees(&empty));
    let raw = RawValue::from_string(r#"{"as": [ "it", "is\u0041" ]}"#.to_owned());
    let raw = &*raw.expect("it is JSON");
    assert!(agrees(raw));
    for a in [None, Some(-1)] {
        assert!(agrees(&Object {
            a,
            b: a,
            raw,
            nested: BTreeMap::from([('ü', vec![(), ()]), ('"', Vec::new())]),
        }));
    }
}

/// A value whose `Display` fails.
struct Silent;

impl fmt::Display for Silent {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Err(fmt::Error)
    }
}

impl Serialize for Silent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[test]
fn what_is_rare_is_left_to_serde_json() {
    assert!(!agrees(&Choice::New(1)));
    assert!(!agrees(&(1, Choice::Pair(1, 2))));
    assert!(!agrees(&[Choice::Object { a: 1 }]));
    assert!(!agrees(&BTreeMap::from([(1, 2)])));
    assert!(!agrees(&BTreeMap::from([(true, 2)])));
    assert!(!agrees(&BTreeMap::from([(vec![1], 2)])));
    let mut bytes = Vec::new();
    assert!(!quick(&mut bytes, &Silent));

    let mut bytes = b"before".to_vec();
    crate::json::write(&mut bytes, &BTreeMap::from([(1, 2)])).expect("serde_json knows how");
    assert_eq!(bytes, br#"before{"1":2}"#);
    let error = crate::json::write(&mut bytes, &BTreeMap::from([(vec![1], 2)]));
    assert_eq!(error.unwrap_err().to_string(), "key must be a string");
    assert_eq!(bytes, br#"before{"1":2}"#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_value_is_written_as_serde_json_writes_it(value in json()) {
        prop_assert!(agrees(&value));
    }

    #[test]
    fn any_text_is_written_as_serde_json_writes_it(text in any::<String>()) {
        prop_assert!(agrees(&text));
    }
}
