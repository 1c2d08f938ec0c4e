//! Memory and disassembly, which must agree with each other.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::setup::Stop;
use super::values;
use crate::rules;
use crate::talk::{Failed, Talk};

/// How many bytes are read.
const COUNT: i64 = 64;
/// How many instructions are disassembled.
const INSTRUCTIONS: usize = 8;

/// Checks what the adapter advertises of both.
pub(super) fn check(talk: &mut Talk<'_>, stop: &Stop) {
    if talk.has("supportsReadMemoryRequest") {
        let mut all = vec![stop.frame["instructionPointerReference"].clone()];
        for (name, _) in talk.options.marks.values("stop").to_vec() {
            let found = values::find(talk, stop, &name);
            all.extend(found.map(|(_, variable)| variable["memoryReference"].clone()));
        }
        for reference in all.iter().filter_map(Value::as_str) {
            reads(talk, reference);
        }
    }
    if talk.has("supportsDisassembleRequest")
        && let Some(reference) = stop.frame["instructionPointerReference"].as_str()
    {
        disassembles(talk, reference);
    }
}

/// The bytes of a memory reference from an offset on.
fn bytes(talk: &mut Talk<'_>, reference: &str, offset: i64, count: i64) -> Option<Vec<u8>> {
    addressed_bytes(talk, reference, offset, count).map(|(_, bytes)| bytes)
}

/// As [`bytes`], with the address that the adapter says of the first.
fn addressed_bytes(
    talk: &mut Talk<'_>,
    reference: &str,
    offset: i64,
    count: i64,
) -> Option<(Option<u64>, Vec<u8>)> {
    let arguments = json!({"memoryReference": reference, "offset": offset, "count": count});
    let body = match talk.ask("readMemory", arguments) {
        Ok(body) => body,
        Err(Failed::Error(reason)) => {
            let text =
                format!("`readMemory` of {reference} with the offset {offset} failed: {reason}");
            talk.finds(rules::MEMORY_FAILS, text);
            return None;
        }
        Err(_) => return None,
    };
    let data = body["data"].as_str().unwrap_or_default();
    let Ok(bytes) = STANDARD.decode(data) else {
        talk.finds(
            rules::MEMORY_LENGTH,
            format!("`readMemory` returned {data:?}, which is no base64"),
        );
        return None;
    };
    talk.expects(rules::MEMORY_LENGTH, bytes.len() as i64 <= count, || {
        format!("`readMemory` returned {} bytes of {count}", bytes.len())
    });
    Some((address(&body["address"]), bytes))
}

/// Memory read as a whole and in a part is the same.
fn reads(talk: &mut Talk<'_>, reference: &str) {
    let Some((start, whole)) = addressed_bytes(talk, reference, 0, COUNT) else {
        return;
    };
    let Some((shifted, part)) = addressed_bytes(talk, reference, 4, 4) else {
        return;
    };
    if let (Some(start), Some(shifted)) = (start, shifted) {
        talk.expects(
            rules::MEMORY_ADDRESS,
            start.checked_add(4) == Some(shifted),
            || {
                format!(
                    "`readMemory` of {reference} says the address {start:#x}, and with the offset 4 the address {shifted:#x}"
                )
            },
        );
    }
    let expected = whole.get(4..8).unwrap_or_default();
    talk.expects(rules::MEMORY_DISAGREES, whole.len() < 8 || part == expected, || {
        format!("the 4 bytes at {reference} + 4 are {part:x?}; read with those before, they are {expected:x?}")
    });
}

/// As many instructions as asked for, in order, made of what memory has.
fn disassembles(talk: &mut Talk<'_>, reference: &str) {
    let arguments = json!({
        "memoryReference": reference,
        "instructionOffset": 0,
        "instructionCount": INSTRUCTIONS,
    });
    let body = match talk.ask("disassemble", arguments) {
        Ok(body) => body,
        Err(Failed::Error(reason)) => {
            return talk.finds(
                rules::ADVERTISED_FAILS,
                format!("`disassemble` failed: {reason}"),
            );
        }
        Err(_) => return,
    };
    let all = body["instructions"].as_array().cloned().unwrap_or_default();
    talk.expects(rules::DISASSEMBLY_COUNT, all.len() == INSTRUCTIONS, || {
        format!(
            "{INSTRUCTIONS} instructions were asked for, {} came",
            all.len()
        )
    });
    let addresses: Vec<u64> = all
        .iter()
        .filter_map(|one| address(&one["address"]))
        .collect();
    talk.expects(
        rules::DISASSEMBLY_ORDER,
        addresses.windows(2).all(|two| two[0] < two[1]),
        || format!("the addresses of disassembled instructions don't ascend: {addresses:x?}"),
    );
    if let Some(first) = addresses.first() {
        offset(talk, reference, *first);
    }
    let Some(first) = all
        .first()
        .filter(|_| talk.has("supportsReadMemoryRequest"))
    else {
        return;
    };
    let Some(shown) = first["instructionBytes"].as_str().and_then(hexadecimal) else {
        return;
    };
    let Some(read) = bytes(talk, reference, 0, shown.len() as i64) else {
        return;
    };
    talk.expects(rules::DISASSEMBLY_DISAGREES, shown == read, || {
        format!("the instruction at {reference} has the bytes {shown:x?}; memory has {read:x?}")
    });
}

/// With an offset of one instruction back, the second is the one at the reference.
fn offset(talk: &mut Talk<'_>, reference: &str, expected: u64) {
    let arguments = json!({
        "memoryReference": reference,
        "instructionOffset": -1,
        "instructionCount": 2,
    });
    let Ok(body) = talk.ask("disassemble", arguments) else {
        return;
    };
    let second = address(&body["instructions"][1]["address"]);
    talk.expects(
        rules::DISASSEMBLY_OFFSET,
        second.is_none_or(|second| second == expected),
        || {
            format!(
                "with `instructionOffset` -1, the second instruction is at {:#x}; the reference is {expected:#x}",
                second.unwrap_or_default()
            )
        },
    );
}

/// An address as the protocol writes it: hexadecimal with `0x` before it, else decimal.
pub(super) fn address(value: &Value) -> Option<u64> {
    let text = value.as_str()?;
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `48 89 e5` or `4889e5`.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = { text.chars().filter(|c| !c.is_whitespace()) }
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    let byte = |[high, low]: &[u32; 2]| u8::try_from(high * 16 + low).ok();
    (rest.is_empty() && !pairs.is_empty()).then(|| pairs.iter().map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_bytes_are_read() {
        assert_eq!(hexadecimal("48 89 e5"), Some(vec![0x48, 0x89, 0xe5]));
        assert_eq!(hexadecimal("4889e"), None);
    }
}
