//! The decoder returns the same messages and errors however a stream is cut into pieces.

use dapple_dap::codec::{CodecError, Decoder};

type Found = Vec<Result<String, CodecError>>;

/// The first byte is the number of bytes after it that are lengths of pieces, which are used in a cycle; the rest is the stream.
pub fn pieces_do_not_matter(input: &[u8]) {
    let (lengths, stream) = match input.split_first() {
        Some((&count, rest)) => rest.split_at(usize::from(count % 16).min(rest.len())),
        None => (input, input),
    };
    let limit = 4096;
    let mut whole = Decoder::with_limit(limit);
    whole.push(stream);
    let at_once = read(&mut whole);

    let mut decoder = Decoder::with_limit(limit);
    let mut in_pieces = Vec::new();
    let mut rest = stream;
    for length in lengths.iter().chain(&[0]).cycle() {
        if rest.is_empty() {
            break;
        }
        // Pieces may be empty, but not all of them.
        let length = usize::from(*length) + usize::from(lengths.iter().all(|length| *length == 0));
        let (piece, behind) = rest.split_at(length.min(rest.len()));
        decoder.push(piece);
        in_pieces.extend(read(&mut decoder));
        rest = behind;
    }
    assert_eq!(at_once, in_pieces);
    assert_eq!(whole.is_lost(), decoder.is_lost());
    assert_eq!(whole.is_between_messages(), decoder.is_between_messages());

    // Nothing follows a fatal error, and messages are within the limit.
    let fatal =
        |found: &Result<String, CodecError>| found.as_ref().is_err_and(CodecError::is_fatal);
    let last = at_once.last();
    assert_eq!(at_once.iter().any(fatal), last.is_some_and(fatal));
    assert_eq!(whole.is_lost(), last.is_some_and(fatal));
    let messages: Vec<_> = at_once.into_iter().flatten().collect();
    assert!(messages.iter().all(|text| text.len() <= limit));

    // The messages can be written and read again.
    let mut again = Decoder::new();
    for text in &messages {
        again.push(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }
    let expected: Found = messages.into_iter().map(Ok).collect();
    assert_eq!(read(&mut again), expected);
    assert!(again.is_between_messages());
}

/// All messages and errors that a decoder returns, in order.
fn read(decoder: &mut Decoder) -> Found {
    let mut found = Vec::new();
    loop {
        match decoder.next() {
            Ok(None) => return found,
            Ok(Some(text)) => found.push(Ok(text)),
            Err(error) => found.push(Err(error)),
        }
    }
}
