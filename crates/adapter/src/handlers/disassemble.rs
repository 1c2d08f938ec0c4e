//! The `disassemble` request.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use crate::{from_dap, to_dap};
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{DisassembleArguments, DisassembleResponse};
use dapple_engine::disassembly::{MOST_INSTRUCTIONS, Names, Window};
use dapple_engine::session::SourcePosition;

/// Lists exactly as many instructions as the client asks for. Works while the program runs.
pub fn disassemble(
    adapter: &mut Adapter,
    arguments: DisassembleArguments,
    context: &mut Context,
) -> Result<DisassembleResponse, Failure> {
    let debuggee = adapter.debuggee()?;
    let address = from_dap::address(&arguments.memory_reference, arguments.offset)?;
    let count = usize::try_from(arguments.instruction_count).ok();
    let Some(count) = count.filter(|count| *count <= MOST_INSTRUCTIONS) else {
        let count = arguments.instruction_count;
        return Err(Failure::new(format!(
            "{count} instructions can't be listed; 0 to {MOST_INSTRUCTIONS} are at once"
        )));
    };
    let first = arguments.instruction_offset.unwrap_or(0);
    if first.unsigned_abs() > MOST_INSTRUCTIONS as u64 {
        return Err(Failure::new(format!(
            "instructions are counted no further than {MOST_INSTRUCTIONS} from an address, and not {first}"
        )));
    }
    let window = Window {
        address,
        first,
        count,
        names: match arguments.resolve_symbols {
            Some(true) => Names::Symbols,
            _ => Names::None,
        },
    };
    let instructions = debuggee.disassemble(window).or_fail()?;
    let client = context.conventions();
    let source = |at: &SourcePosition| adapter.shown_source(at, None, client).0;
    Ok(DisassembleResponse::new(to_dap::instructions(
        &instructions,
        source,
        client,
    )))
}
