//! Translates arguments of requests into types of the engine. Nothing is trusted: numbers may be out of range, and paths may be URIs.

use crate::breakpoint_modes::is_in_copies;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use dapple_dap::server::{ClientConventions, Failure};
use dapple_dap::types::{
    self, SetBreakpointsArguments, Source, SourceBreakpoint, SteppingGranularity,
    VariablesArguments, VariablesArgumentsFilter,
};
use dapple_engine::session::{
    BreakpointOptions, FunctionBreakpoint, InstructionBreakpoint, LineBreakpoint, StepKind,
    StepOptions, StepUnit,
};
use dapple_engine::{Address, ThreadId};
use std::ops::Range;
use std::path::PathBuf;

/// The most frames, modules or variables in one response. A client gets the rest by further requests.
pub const MOST_AT_ONCE: u64 = 10_000;

/// A thread's id.
///
/// # Errors
/// The number can't be a thread id.
pub fn thread(id: i64) -> Result<ThreadId, Failure> {
    i32::try_from(id)
        .map(ThreadId)
        .map_err(|_| Failure::new(format!("there is no thread {id}")))
}

/// The path of a source; `None` for one without a path. Accepts URIs from every client.
pub fn path(source: &Source, client: &ClientConventions) -> Option<PathBuf> {
    let text = source.path.as_deref().filter(|text| !text.is_empty())?;
    Some(client.path_from_client(text))
}

/// The greatest line number: clients use 32 bits.
const LAST_LINE: i64 = i32::MAX as i64;

/// A line, counted from 1.
///
/// # Errors
/// A message about a number that can't be a line.
pub fn line(line: i64, client: &ClientConventions) -> Result<u32, String> {
    let ours = client.line_from_client(line);
    u32::try_from(ours)
        .ok()
        .filter(|line| (1..=LAST_LINE).contains(&i64::from(*line)))
        .ok_or_else(|| {
            let (first, last) = (client.line_to_client(1), client.line_to_client(LAST_LINE));
            format!("{line} is not the number of a line: those go from {first} to {last}")
        })
}

/// An invalid line breakpoint: its line as the client has sent it, and the reason.
pub type BadLine = (i64, String);

/// The line breakpoints of a request, in the client's order.
pub fn line_breakpoints(
    arguments: &SetBreakpointsArguments,
    client: &ClientConventions,
) -> Vec<Result<LineBreakpoint, BadLine>> {
    let number = |sent: i64| line(sent, client).map_err(|why| (sent, why));
    let wanted = |wanted: &SourceBreakpoint| {
        Ok(LineBreakpoint {
            line: number(wanted.line)?,
            column: wanted.column.and_then(|column| {
                let column = client.column_from_client(column);
                u32::try_from(column).ok().filter(|column| *column > 0)
            }),
            copies: is_in_copies(wanted.mode.as_deref()).map_err(|why| (wanted.line, why))?,
            options: BreakpointOptions {
                condition: wanted.condition.clone(),
                hits: wanted.hit_condition.clone(),
                log: wanted.log_message.clone(),
            },
        })
    };
    let bare = |line: &i64| {
        Ok(LineBreakpoint {
            line: number(*line)?,
            ..LineBreakpoint::default()
        })
    };
    match (&arguments.breakpoints, &arguments.lines) {
        (Some(breakpoints), _) => breakpoints.iter().map(wanted).collect(),
        (None, Some(lines)) => lines.iter().map(bare).collect(),
        (None, None) => Vec::new(),
    }
}

/// An instruction breakpoint.
///
/// # Errors
/// A message about an invalid reference.
pub fn instruction_breakpoint(
    wanted: &types::InstructionBreakpoint,
) -> Result<InstructionBreakpoint, String> {
    let reference = &wanted.instruction_reference;
    let address = Address::parse(reference)
        .ok_or_else(|| format!("`{reference}` is no reference to an instruction"))?;
    let offset = wanted.offset.unwrap_or(0);
    let address = moved(address, offset)
        .ok_or_else(|| format!("{offset} bytes from {reference} there can be no instruction"))?;
    Ok(InstructionBreakpoint {
        address,
        options: BreakpointOptions {
            condition: wanted.condition.clone(),
            hits: wanted.hit_condition.clone(),
            log: None,
        },
    })
}

/// The address `offset` bytes from a `memoryReference`, which is an address.
///
/// # Errors
/// The reference or the sum is no address.
pub fn address(reference: &str, offset: Option<i64>) -> Result<Address, Failure> {
    let address = Address::parse(reference).ok_or_else(|| {
        Failure::new(format!(
            "`{reference}` is no reference to memory; they are addresses, as 0x401136"
        ))
    })?;
    let offset = offset.unwrap_or(0);
    moved(address, offset).ok_or_else(|| {
        Failure::new(format!(
            "{offset} bytes from {reference} there can be no memory"
        ))
    })
}

fn moved(address: Address, offset: i64) -> Option<Address> {
    address.0.checked_add_signed(offset).map(Address)
}

/// Decodes base64, with or without padding.
///
/// # Errors
/// The text is no base64.
pub fn base64(text: &str) -> Result<Vec<u8>, Failure> {
    BASE64_STANDARD_NO_PAD
        .decode(text.trim_end_matches('='))
        .map_err(|error| Failure::new(format!("the data is no base64: {error}")))
}

/// A function breakpoint.
pub fn function_breakpoint(wanted: &types::FunctionBreakpoint) -> FunctionBreakpoint {
    FunctionBreakpoint {
        name: wanted.name.clone(),
        options: BreakpointOptions {
            condition: wanted.condition.clone(),
            hits: wanted.hit_condition.clone(),
            log: None,
        },
    }
}

/// The kind and options of a step. The default granularity is a line, as in other debuggers for these languages; the protocol's default would
/// be a statement.
pub fn step(
    kind: StepKind,
    granularity: Option<&SteppingGranularity>,
    single_thread: Option<bool>,
) -> (StepKind, StepOptions) {
    let options = StepOptions {
        alone: single_thread == Some(true),
        unit: match granularity {
            Some(SteppingGranularity::Statement) => StepUnit::Statement,
            _ => StepUnit::Line,
        },
        ..StepOptions::default()
    };
    match (kind, granularity) {
        (StepKind::Over, Some(SteppingGranularity::Instruction)) => {
            (StepKind::OverInstruction, options)
        }
        (StepKind::Into, Some(SteppingGranularity::Instruction)) => {
            (StepKind::Instruction, options)
        }
        _ => (kind, options),
    }
}

/// A window of frames or modules. A count that is missing or 0 means all, but no window has more than [`MOST_AT_ONCE`].
pub fn frames(start: Option<i64>, levels: Option<i64>) -> Range<usize> {
    let start = unsigned(start);
    let end = start.saturating_add(at_most(levels));
    clamp(start)..clamp(end)
}

/// A window of a value's children, limited as in [`frames`]. Named children come before indexed ones.
pub fn children(arguments: &VariablesArguments, named: u64, indexed: u64) -> Range<u64> {
    let all = named.saturating_add(indexed);
    let (first, end) = match arguments.filter {
        Some(VariablesArgumentsFilter::Named) => (0, named),
        Some(VariablesArgumentsFilter::Indexed) => (named, all),
        _ => (0, all),
    };
    let start = first.saturating_add(unsigned(arguments.start)).min(end);
    start..start.saturating_add(at_most(arguments.count)).min(end)
}

fn unsigned(value: Option<i64>) -> u64 {
    value.map_or(0, |value| u64::try_from(value).unwrap_or(0))
}

fn at_most(count: Option<i64>) -> u64 {
    match unsigned(count) {
        0 => MOST_AT_ONCE,
        count => count.min(MOST_AT_ONCE),
    }
}

fn clamp(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_the_client_does_and_bad_ones_are_told_as_they_came() {
        let mut client = ClientConventions::default();
        let refused = |sent: i64, range: &str| {
            Err(format!(
                "{sent} is not the number of a line: those go from {range}"
            ))
        };
        assert_eq!(line(1, &client), Ok(1));
        assert_eq!(line(i64::from(i32::MAX), &client), Ok(i32::MAX as u32));
        for sent in [0, -7, 1 << 31, i64::from(u32::MAX), i64::MAX, i64::MIN] {
            assert_eq!(line(sent, &client), refused(sent, "1 to 2147483647"));
        }
        client.lines_start_at_1 = false;
        assert_eq!(line(0, &client), Ok(1));
        for sent in [-1, i64::from(i32::MAX), i64::MAX, i64::MIN] {
            assert_eq!(line(sent, &client), refused(sent, "0 to 2147483646"));
        }
    }
}
