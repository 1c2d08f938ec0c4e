//! Bytes and numbers as hexadecimal digits, which is how most packets have them. Digits of both cases are read; lower case is written.

/// The value of a hexadecimal digit.
pub(crate) fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// The lower-case digit of a value below 16.
fn written(value: u8) -> u8 {
    match value {
        0..=9 => b'0' + value,
        _ => b'a' + (value & 15) - 10,
    }
}

/// Appends two digits for each byte.
pub(crate) fn append(bytes: &[u8], to: &mut Vec<u8>) {
    for byte in bytes {
        to.push(written(byte >> 4));
        to.push(written(byte & 15));
    }
}

/// Two digits for each byte.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    append(bytes, &mut text);
    text.into_iter().map(char::from).collect()
}

/// The bytes of pairs of digits. `None` for an odd number of digits or any other character.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let pairs = text.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}

/// Like [`decode`], where `xx` stands for a byte whose value the stub does not know.
pub(crate) fn decode_available(text: &[u8]) -> Option<Vec<Option<u8>>> {
    let pairs = text.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs
        .map(|pair| match pair {
            b"xx" | b"XX" => Some(None),
            _ => Some(Some(digit(pair[0])? << 4 | digit(pair[1])?)),
        })
        .collect()
}

/// A number of 1 to 16 significant digits, the highest first.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |value, byte| {
        let digit = u64::from(digit(*byte)?);
        Some(value.checked_mul(16)? | digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_up_to_sixteen_significant_digits() {
        assert_eq!(number(b"0"), Some(0));
        assert_eq!(number(b"00000000000000000001F"), Some(31));
        assert_eq!(number(b"ffffffffffffffff"), Some(u64::MAX));
        assert_eq!(number(b"10000000000000000"), None);
        assert_eq!(number(b""), None);
        assert_eq!(number(b"-1"), None);
    }

    #[test]
    fn bytes_are_pairs_of_digits() {
        assert_eq!(encode(b"\x00\xab"), "00ab");
        assert_eq!(decode(b"00aB"), Some(vec![0, 0xab]));
        assert_eq!(decode(b"00a"), None);
        assert_eq!(decode(b"0g"), None);
        assert_eq!(decode_available(b"01xx"), Some(vec![Some(1), None]));
        assert_eq!(decode_available(b"0x"), None);
    }
}
