//! Bytes and numbers as hexadecimal digits, which is how most packets have them. Digits of both cases are read; lower case is written.

/// What [`VALUES`] has for characters that are no digits.
const NONE: u8 = 0xff;

/// The value of each character as a hexadecimal digit.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value] as usize] = value as u8;
        values[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    values
};

/// The value of a hexadecimal digit.
pub(crate) fn digit(byte: u8) -> Option<u8> {
    Some(VALUES[usize::from(byte)]).filter(|value| *value != NONE)
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
    let (pairs, rest) = text.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    // The bits of all values: above 15 if a character is no digit. One check behind the loop is faster than one for each pair.
    let mut all = 0;
    let values = pairs.iter().map(|pair| {
        let [high, low] = pair.map(|byte| VALUES[usize::from(byte)]);
        all |= high | low;
        high << 4 | low
    });
    let bytes = values.collect();
    (all < 16).then_some(bytes)
}

/// Like [`decode`], where `xx` stands for a byte whose value the stub does not know.
pub(crate) fn decode_available(text: &[u8]) -> Option<Vec<Option<u8>>> {
    let (pairs, rest) = text.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let mut bytes = Vec::with_capacity(pairs.len());
    for pair in pairs {
        bytes.push(match pair {
            b"xx" | b"XX" => None,
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        });
    }
    Some(bytes)
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
