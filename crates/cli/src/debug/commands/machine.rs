//! Commands that show registers, memory and instructions.

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dapple_dap::types::{
    DisassembleArguments, DisassembleRequest, DisassembledInstruction, EvaluateArguments,
    EvaluateArgumentsContext, EvaluateRequest, ReadMemoryArguments, ReadMemoryRequest,
    ScopePresentationHint, Variable,
};

use super::data::{children, hint, scopes, selected};
use super::{Argument, Command, Flow};
use crate::debug::render;
use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::style::Role;
use crate::debug::value_tree;

/// How many bytes of memory are shown by default.
const BYTES: i64 = 64;
/// How many instructions are shown by default, and how many of them precede the current one if no address is given.
const INSTRUCTIONS: i64 = 16;
const BEFORE: i64 = 5;
/// The most bytes or instructions that are shown.
const MOST: i64 = 4096;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "registers",
        aliases: &["regs"],
        usage: "[REGISTER | GROUP | all]",
        summary: "show registers",
        details: "Without an argument, the general ones and the flags. Vectors show their lanes: `registers xmm0`.",
        argument: Argument::None,
        repeats: false,
        run: registers,
    },
    Command {
        name: "x",
        aliases: &[],
        usage: "[/COUNT UNIT] ADDRESS [BYTES]",
        summary: "show memory",
        details: "Such as `x pointer`, `x $rsp 128` or `x &value`; `x/4w` shows four words of 4 bytes (b, h, w, g: 1, 2, 4, 8), `x/8i` instructions, `x/s` text.",
        argument: Argument::Expression,
        repeats: false,
        run: examine,
    },
    Command {
        name: "disassemble",
        aliases: &["disas", "dis"],
        usage: "[ADDRESS [COUNT]]",
        summary: "show instructions",
        details: "Without an argument, those around the one that is next.",
        argument: Argument::Expression,
        repeats: false,
        run: disassemble,
    },
];

pub(super) fn registers(session: &mut Session, wanted: &str) -> anyhow::Result<Flow> {
    let frame = selected(session)?;
    let scopes = scopes(session, &frame)?;
    let scope = scopes
        .iter()
        .find(|scope| hint(scope) == Some(&ScopePresentationHint::Registers))
        .context("this adapter shows no registers")?;
    let wanted = wanted.trim().trim_start_matches('$');
    let (mut lines, mut others, mut groups) = (Vec::new(), Vec::new(), 0);
    let line = |one: &Variable| value_tree::line(session, &one.name, &value_tree::Value::from(one));
    for register in children(session, scope.variables_reference)? {
        // Some adapters put registers in groups.
        let is_group = register.variables_reference > 0
            && (register.value.is_empty() || register.named_variables.is_some());
        if !is_group {
            if wanted.is_empty() || wanted == "all" || register.name == wanted {
                lines.push(line(&register));
            }
            continue;
        }
        groups += 1;
        let is_wanted = match wanted {
            // The general registers and the flags are the first two groups.
            "" => groups <= 2,
            "all" => true,
            name => register.name.eq_ignore_ascii_case(name),
        };
        if wanted.is_empty() && !is_wanted {
            others.push(register.name);
            continue;
        }
        for inner in children(session, register.variables_reference)? {
            if is_wanted {
                lines.push(line(&inner));
            } else if inner.name == wanted {
                let value = value_tree::Value::from(&inner);
                lines.push(value_tree::open(session, wanted, &value));
            }
        }
    }
    if lines.is_empty() {
        bail!("there is no register `{wanted}`");
    }
    if !others.is_empty() {
        lines.push(format!("also: {}", others.join(", ")));
    }
    session.screen.print(&lines.join("\n"));
    Ok(Flow::Go)
}

/// How memory is to be shown.
#[derive(Debug, PartialEq, Eq)]
enum Format {
    Dump,
    /// Numbers of this many bytes, in hexadecimal.
    Words(usize),
    Text,
    Instructions,
}

/// Parses what gdb has behind the slash of `x/4xw`: a count, and a unit or format.
fn format(text: &str) -> anyhow::Result<(Option<i64>, Format)> {
    let digits = text.find(|c: char| !c.is_ascii_digit());
    let (count, letters) = text.split_at(digits.unwrap_or(text.len()));
    let count = match count {
        "" => None,
        count => Some(
            count
                .parse()
                .ok()
                .filter(|count| (1..=MOST).contains(count)),
        ),
    };
    let Some(count) = count.map_or(Some(None), |count| count.map(Some)) else {
        bail!("1 to {MOST} can be shown");
    };
    let mut format = Format::Words(4);
    for letter in letters.chars() {
        format = match letter {
            // Hexadecimal is the default.
            'x' => format,
            'b' => Format::Words(1),
            'h' => Format::Words(2),
            'w' => Format::Words(4),
            'g' => Format::Words(8),
            's' => Format::Text,
            'i' => Format::Instructions,
            other => bail!("`x` has no format `{other}`: b, h, w, g, s, i, x"),
        };
    }
    Ok((count, format))
}

fn examine(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (mut count, how, rest) = match argument.strip_prefix('/') {
        Some(rest) => {
            let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let (count, how) = format(word)?;
            (count, how, rest.trim())
        }
        None => (None, Format::Dump, argument),
    };
    let mut place = rest;
    if how == Format::Dump
        && let Some((before, last)) = rest.rsplit_once(char::is_whitespace)
        && let Ok(bytes) = last.parse()
    {
        (place, count) = (before.trim(), Some(bytes));
    }
    if place.is_empty() {
        bail!("show what memory? `x pointer`, `x $rsp 64`");
    }
    let at = address(session, place)?;
    if how == Format::Instructions {
        let lines = instructions(session, &at, 0, count.unwrap_or(1))?;
        session.screen.print(&lines.join("\n"));
        return Ok(Flow::Go);
    }
    let size = match how {
        Format::Words(size) => size,
        _ => 1,
    };
    let wanted = match (&how, count) {
        (Format::Dump, count) => count.unwrap_or(BYTES),
        (Format::Text, _) => MOST,
        (_, count) => count.unwrap_or(1).saturating_mul(size as i64),
    };
    if !(1..=MOST).contains(&wanted) {
        bail!("1 to {MOST} bytes can be shown");
    }
    let answer = session.request::<ReadMemoryRequest>(ReadMemoryArguments::new(&*at, wanted))?;
    let bytes = BASE64_STANDARD
        .decode(answer.data.unwrap_or_default())
        .context("the adapter's memory is no base64")?;
    let start = number(&answer.address).or_else(|| number(&at)).unwrap_or(0);
    if bytes.is_empty() {
        bail!("there is no memory at {at}");
    }
    let mut lines = match how {
        Format::Text => vec![text_line(start, &bytes)],
        Format::Words(size) => word_lines(start, &bytes, size),
        Format::Dump | Format::Instructions => dump_lines(start, &bytes),
    };
    if how != Format::Text && (bytes.len() as i64) < wanted {
        let end = start.wrapping_add(bytes.len() as u64);
        lines.push(format!("{end:#x}: no memory"));
    }
    session.screen.print(&lines.join("\n"));
    Ok(Flow::Go)
}

fn dump_lines(start: u64, bytes: &[u8]) -> Vec<String> {
    let rows = (start..).step_by(16).zip(bytes.chunks(16));
    let row = |(at, row): (u64, &[u8])| {
        let digits: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = row.iter().map(|byte| printed(*byte)).collect();
        format!("{at:#x}: {:<47}  {text}", digits.join(" "))
    };
    rows.map(row).collect()
}

fn printed(byte: u8) -> char {
    match byte {
        b' '..=b'~' => char::from(byte),
        _ => '.',
    }
}

fn word_lines(start: u64, bytes: &[u8], size: usize) -> Vec<String> {
    let per_line = 16;
    let rows = (start..).step_by(per_line).zip(bytes.chunks(per_line));
    let row = |(at, row): (u64, &[u8])| {
        let words = row.chunks_exact(size).map(|word| {
            let digits: String = word
                .iter()
                .rev()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!(" 0x{digits}")
        });
        format!("{at:#x}:{}", words.collect::<String>())
    };
    rows.map(row).collect()
}

fn text_line(start: u64, bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    let text = String::from_utf8_lossy(bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes));
    let more = if end.is_none() { "…" } else { "" };
    format!("{start:#x}: {:?}{more}", text)
}

fn disassemble(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.starts_with('/') {
        bail!("`disassemble` has no formats: lines and names are shown always");
    }
    let lines = match argument.rsplit_once(char::is_whitespace) {
        _ if argument.is_empty() => {
            let frame = selected(session)?;
            let at = frame.instruction_pointer_reference;
            let at = at.context("this adapter does not report the frame's instruction address")?;
            instructions(session, &at, -BEFORE, INSTRUCTIONS)?
        }
        Some((place, count)) if count.parse::<i64>().is_ok() => {
            let count = count.parse().unwrap_or(INSTRUCTIONS);
            if !(1..=MOST).contains(&count) {
                bail!("1 to {MOST} instructions can be shown");
            }
            let at = address(session, place.trim())?;
            instructions(session, &at, 0, count)?
        }
        _ => {
            let at = address(session, argument)?;
            instructions(session, &at, 0, INSTRUCTIONS)?
        }
    };
    session.screen.print(&lines.join("\n"));
    Ok(Flow::Go)
}

/// Shows the instruction at which the thread is, or, if the adapter reports no address, the line.
pub fn show_instruction(session: &mut Session) -> anyhow::Result<()> {
    session.load_frames(1)?;
    let frame = session.stop()?.frame().cloned();
    let frame = frame.context("this thread has no frames to show")?;
    let Some(at) = &frame.instruction_pointer_reference else {
        return session.show_selected();
    };
    let place = render::frame(&frame, session.screen.style);
    let lines = instructions(session, at, 0, 1)?;
    session.screen.print(&place);
    session
        .screen
        .print(lines.last().map_or("", String::as_str));
    Ok(())
}

/// Disassembled lines, with the file and line of each source line before its instructions.
fn instructions(
    session: &mut Session,
    at: &str,
    first: i64,
    count: i64,
) -> anyhow::Result<Vec<String>> {
    let arguments = DisassembleArguments::new(at, count)
        .with_instruction_offset(first)
        .with_resolve_symbols(true);
    let listed = session
        .request::<DisassembleRequest>(arguments)?
        .instructions;
    let frame = session.stop().ok().and_then(|stop| stop.frame());
    let current = frame.and_then(|frame| number(frame.instruction_pointer_reference.as_deref()?));
    let style = session.screen.style;
    let (mut lines, mut file, mut last) = (Vec::new(), None, None);
    for one in &listed {
        if let Some(source) = &one.location {
            file = source.name.clone();
        }
        if one.line != last {
            last = one.line;
            if let (Some(file), Some(line)) = (&file, last) {
                let place = format!("{}:{line}", printable(file));
                lines.push(style.paint(Role::Location, &place));
            }
        }
        let is_next = current.is_some() && number(&one.address) == current;
        let mark = match is_next {
            true => style.paint(Role::Current, "→"),
            false => " ".to_owned(),
        };
        lines.push(format!("{mark} {}", instruction(one)));
    }
    Ok(lines)
}

fn instruction(one: &DisassembledInstruction) -> String {
    let symbol = one.symbol.as_ref().map(|name| format!(" <{name}>"));
    let symbol = symbol.unwrap_or_default();
    printable(&format!("{}{symbol}  {}", one.address, one.instruction))
}

/// Resolves a place to an address for the adapter: a number as it is, otherwise an expression's memory reference, or else its value.
fn address(session: &mut Session, place: &str) -> anyhow::Result<String> {
    if number(place).is_some() {
        return Ok(place.to_owned());
    }
    let frame = session.stop()?.frame();
    // gdb's name for the frame's instruction pointer.
    if place == "$pc"
        && let Some(at) = frame.and_then(|frame| frame.instruction_pointer_reference.clone())
    {
        return Ok(at);
    }
    let frame = frame.map(|frame| frame.id);
    let mut arguments = EvaluateArguments::new(place);
    arguments.frame_id = frame;
    arguments.context = Some(EvaluateArgumentsContext::Watch);
    let answer = session.request_that_runs::<EvaluateRequest>(arguments)?;
    let result = answer.result.split_whitespace().next().unwrap_or_default();
    answer
        .memory_reference
        .or_else(|| number(result).map(|_| result.to_owned()))
        .with_context(|| format!("`{place}` is {}, and no address", answer.result))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_counts_and_letters() {
        let split = |text: &str| format(text).map_err(|error| error.to_string());
        assert_eq!(split("4xw"), Ok((Some(4), Format::Words(4))));
        assert_eq!(split("2gx"), Ok((Some(2), Format::Words(8))));
        assert_eq!(split("i"), Ok((None, Format::Instructions)));
        assert_eq!(split("s"), Ok((None, Format::Text)));
        assert!(split("0x").is_err() && split("99999999999999999999x").is_err());
        assert!(split("4q").is_err_and(|error| error.contains("no format `q`")));
    }

    #[test]
    fn memory_is_shown_in_rows_from_its_address() {
        let bytes: Vec<u8> = (0x3e..0x50).collect();
        assert_eq!(
            dump_lines(0x1000, &bytes),
            [
                "0x1000: 3e 3f 40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d  >?@ABCDEFGHIJKLM",
                "0x1010: 4e 4f                                            NO",
            ]
        );
        let words = word_lines(0x1000, &bytes[..8], 4);
        assert_eq!(words, ["0x1000: 0x41403f3e 0x45444342"]);
        assert_eq!(text_line(0x10, b"a\"b\0c"), "0x10: \"a\\\"b\"");
    }
}
