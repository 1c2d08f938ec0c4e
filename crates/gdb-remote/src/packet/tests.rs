//! Tests of the codec: each rule by an example, and by properties that a stream's pieces make no difference and that what is encoded is decoded.

use super::*;
use proptest::prelude::*;

fn decoded(limit: usize, bytes: &[u8]) -> Vec<Event> {
    let mut decoder = Decoder::new(limit);
    let mut events = VecDeque::new();
    decoder.decode(bytes, &mut events);
    events.into()
}

fn packet(body: &[u8]) -> Event {
    Event::Packet(body.to_vec())
}

/// A frame of bytes that are not escaped.
fn raw(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    let mut bytes = b"$".to_vec();
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(format!("#{sum:02X}").as_bytes());
    bytes
}

#[test]
fn packets_notifications_and_single_bytes_are_events() {
    assert_eq!(
        decoded(100, b"+$OK#9a-\x03$#00"),
        [
            Event::Ack,
            packet(b"OK"),
            Event::Nak,
            Event::Interrupt,
            packet(b"")
        ]
    );
    assert_eq!(decoded(100, b"%Stop#00"), []);
    assert_eq!(
        decoded(100, &encode_notification(b"Stop:T05")),
        [Event::Notification(b"Stop:T05".to_vec())]
    );
}

#[test]
fn a_repetition_repeats_the_byte_as_it_was_sent() {
    assert_eq!(decoded(100, &raw(b"0* ")), [packet(b"0000")]);
    assert_eq!(decoded(100, &raw(b"}\x03* ")), [packet(b"#\x03\x03\x03")]);
    assert_eq!(decoded(100, &raw(b"* ")), [Event::Damaged]);
    assert_eq!(decoded(100, &raw(b"0*")), [Event::Damaged]);
    assert_eq!(decoded(100, &raw(b"0*\x01")), [Event::Damaged]);
    assert_eq!(decoded(100, &raw(b"0}")), [Event::Damaged]);
}

#[test]
fn a_wrong_checksum_is_told_unless_they_are_ignored() {
    assert_eq!(decoded(100, b"$OK#9b"), [Event::Damaged]);
    assert_eq!(decoded(100, b"$OK#zz"), [Event::Damaged]);
    let mut decoder = Decoder::new(100);
    decoder.ignore_checksums();
    let mut events = VecDeque::new();
    decoder.decode(b"$OK#00", &mut events);
    assert_eq!(events, [packet(b"OK")]);
}

#[test]
fn a_packet_in_a_packet_replaces_it() {
    let mut decoder = Decoder::new(100);
    let mut events = VecDeque::new();
    decoder.decode(b"junk\r\n$m7f$OK#9a", &mut events);
    assert_eq!(events, [packet(b"OK")]);
    assert_eq!(decoder.junk(), 10);
}

#[test]
fn a_long_packet_is_told_at_once_and_skipped() {
    let mut decoder = Decoder::new(4);
    let mut events = VecDeque::new();
    decoder.decode(b"$0*~", &mut events);
    assert_eq!(events, [Event::TooLong]);
    decoder.decode(b"0*~}}0*~#00$abcd#8a", &mut events);
    assert_eq!(events, [Event::TooLong, packet(b"abcd")]);
    assert!(decoder.body.capacity() < 100);
}

fn any_stream() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..12).prop_map(|body| encode(&body)),
        proptest::collection::vec(
            prop_oneof![Just(b'*'), Just(b'}'), Just(b' '), Just(b'0'), any::<u8>()],
            0..12
        )
        .prop_map(|body| raw(&body)),
        proptest::collection::vec(any::<u8>(), 0..6),
        Just(b"+".to_vec()),
        Just(b"-".to_vec()),
        Just(b"\x03".to_vec()),
        Just(b"$0*~0*~#00".to_vec()),
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn pieces_make_no_difference(stream in any_stream(), cuts in proptest::collection::vec(0_usize..80, 0..6)) {
        let whole = decoded(64, &stream);
        let mut decoder = Decoder::new(64);
        let mut events = VecDeque::new();
        let mut rest = stream.as_slice();
        for cut in cuts {
            let (piece, behind) = rest.split_at(cut.min(rest.len()));
            decoder.decode(piece, &mut events);
            rest = behind;
        }
        decoder.decode(rest, &mut events);
        prop_assert_eq!(whole, Vec::from(events));
    }

    #[test]
    fn all_two_pieces_make_no_difference(stream in any_stream()) {
        let whole = decoded(64, &stream);
        for at in 0..=stream.len() {
            let mut decoder = Decoder::new(64);
            let mut events = VecDeque::new();
            decoder.decode(&stream[..at], &mut events);
            decoder.decode(&stream[at..], &mut events);
            prop_assert_eq!(&whole, &Vec::from(events));
        }
    }

    #[test]
    fn what_is_encoded_is_decoded(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let bytes = encode(&body);
        prop_assert_eq!(bytes.len(), 4 + body.iter().map(|byte| encoded_length(*byte)).sum::<usize>());
        prop_assert_eq!(decoded(200, &bytes), [Event::Packet(body)]);
    }

    #[test]
    fn packets_are_never_longer_than_the_limit(stream in any_stream(), limit in 0_usize..40) {
        for event in decoded(limit, &stream) {
            if let Event::Packet(body) | Event::Notification(body) = event {
                prop_assert!(body.len() <= limit);
            }
        }
    }
}
