//! The `readMemory` and `writeMemory` requests.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{
    ReadMemoryArguments, ReadMemoryResponse, WriteMemoryArguments, WriteMemoryResponse,
};
use dapple_engine::session::memory::{MOST_MEMORY, PartialWrite};

/// Reads memory. Works while the program runs.
pub fn read_memory(
    adapter: &mut Adapter,
    arguments: ReadMemoryArguments,
    _: &mut Context,
) -> Result<ReadMemoryResponse, Failure> {
    let debuggee = adapter.debuggee()?;
    let address = from_dap::address(&arguments.memory_reference, arguments.offset)?;
    let count = usize::try_from(arguments.count).ok();
    // A longer read is refused, because a client would take a short answer for the end of readable memory.
    let Some(count) = count.filter(|count| *count <= MOST_MEMORY) else {
        let count = arguments.count;
        return Err(Failure::new(format!(
            "{count} bytes can't be read; 0 to {MOST_MEMORY} are at once"
        )));
    };
    let read = debuggee.read_memory(address, count).or_fail()?;
    let response = ReadMemoryResponse::new(address.to_string());
    let response = match read.bytes.is_empty() {
        true => response,
        false => response.with_data(to_dap::base64(&read.bytes)),
    };
    Ok(match read.unreadable {
        0 => response,
        unreadable => response.with_unreadable_bytes(to_dap::saturated(unreadable)),
    })
}

/// Writes memory while the program is stopped.
pub fn write_memory(
    adapter: &mut Adapter,
    arguments: WriteMemoryArguments,
    context: &mut Context,
) -> Result<WriteMemoryResponse, Failure> {
    let debuggee = adapter.partly_stopped()?;
    let address = from_dap::address(&arguments.memory_reference, arguments.offset)?;
    let bytes = from_dap::base64(&arguments.data)?;
    let partial = match arguments.allow_partial {
        Some(true) => PartialWrite::Allowed,
        _ => PartialWrite::Refused,
    };
    let written = debuggee.write_memory(address, bytes, partial).or_fail()?;
    if written.count > 0 {
        adapter.memory_changed(address, written, context);
    }
    Ok(WriteMemoryResponse::new()
        .with_offset(arguments.offset.unwrap_or(0))
        .with_bytes_written(to_dap::saturated(written.count as u64)))
}
