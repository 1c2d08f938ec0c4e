//! Arrays of numbers in the memory of a program.

use super::Session;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dapple_dap::types::*;

/// The numbers of eight bytes each from the address on that an expression has.
#[track_caller]
pub fn numbers(session: &Session, frame: &StackFrame, address: &str, count: usize) -> Vec<u64> {
    let address = EvaluateArguments::new(address)
        .with_frame_id(frame.id)
        .with_context(EvaluateArgumentsContext::Watch);
    let address = session.ok::<EvaluateRequest>(address);
    let reference = address.memory_reference.expect("an address");
    let bytes = ReadMemoryArguments::new(reference, (count * 8) as i64);
    let data = session.ok::<ReadMemoryRequest>(bytes).data.expect("memory");
    let bytes = STANDARD.decode(data).expect("base64");
    let words = bytes.chunks_exact(8);
    words
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight")))
        .collect()
}
