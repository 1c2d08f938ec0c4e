//! Commands that show memory and search it.
//!
//! `x` remembers where it ended and how it showed, so that `x` alone, or an empty line, goes on from there.

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dapple_dap::types::{ReadMemoryArguments, ReadMemoryRequest};

use super::machine::{MOST, address, code_symbol, instructions, number};
use super::memory_format::{Format, Layout, Unit, rows, text};
use super::{Argument, Command, Flow};
use crate::debug::results::{Instructions, Item, Memory};
use crate::debug::session::Session;

/// How many bytes of memory are shown by default.
const BYTES: i64 = 64;
/// The most bytes that one string is searched for its end.
const LONGEST: i64 = 4096;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "x",
        aliases: &[],
        usage: "[/COUNT FORMAT UNIT] [ADDRESS [BYTES]]",
        summary: "show memory",
        details: "Such as `x pointer`, `x $rsp 128` or `x &value`. `x/4xw p` shows four words of 4 bytes. Formats: x, z (hexadecimal), d, u (decimal), o (octal), \
                  t (binary), a (address), c (character), f (floating point), s (text), i (instructions). Units: b, h, w, g (1, 2, 4, 8 bytes). \
                  Without an address, or by an empty line, it goes on behind what was shown last.",
        argument: Argument::Expression,
        repeats: true,
        run: examine,
    },
    Command {
        name: "find",
        aliases: &[],
        usage: "[/UNIT COUNT] START, +LENGTH | END, VALUE …",
        summary: "search memory for values",
        details: "Such as `find &buffer, +4096, \"needle\"` or `find/w p, p + 100, 0x7f, 1`. Texts are searched without the zero at their end. Units: b, h, w, g \
                  (1, 2, 4, 8 bytes); without one, a value has the size of its type. `find/b3` shows three addresses; 100 are shown at most without a number. \
                  Ctrl-C ends it.",
        argument: Argument::Expression,
        repeats: false,
        run: super::searching::find,
    },
];

/// What `x` has shown last.
#[derive(Debug, Clone)]
pub struct Examined {
    /// A memory reference, and the offset from there at which it ended.
    reference: String,
    offset: i64,
    count: Option<i64>,
    layout: Layout,
}

impl Examined {
    /// Code that `x` shows next.
    pub(super) fn code_at(reference: &str) -> Self {
        Self {
            reference: reference.to_owned(),
            offset: 0,
            count: None,
            layout: Layout {
                format: Format::Instructions,
                unit: None,
            },
        }
    }
}

/// A read of memory.
pub(super) struct Read {
    /// The address of the first byte; 0 if the adapter's is no number.
    pub start: u64,
    /// The bytes, up to the first that can't be read.
    pub bytes: Vec<u8>,
}

/// Reads memory at an offset from a reference.
pub(super) fn read(
    session: &Session,
    reference: &str,
    offset: i64,
    count: i64,
) -> anyhow::Result<Read> {
    if !session.offers(|it| it.supports_read_memory_request)? {
        bail!("this adapter can't read memory");
    }
    let mut arguments = ReadMemoryArguments::new(reference, count);
    if offset != 0 {
        arguments.offset = Some(offset);
    }
    let answer = session.request::<ReadMemoryRequest>(arguments)?;
    let bytes = BASE64_STANDARD
        .decode(answer.data.unwrap_or_default())
        .context("the adapter's memory is no base64")?;
    let start = number(&answer.address)
        .or_else(|| number(reference)?.checked_add_signed(offset))
        .unwrap_or(0);
    Ok(Read { start, bytes })
}

/// Splits `4xw p` into what is behind the slash, and the rest. lldb's `-c 4 -s 4 -f x` is the same.
fn layout_of(argument: &str, last: Layout) -> anyhow::Result<(Option<i64>, Layout, &str)> {
    if let Some(rest) = argument.strip_prefix('/') {
        let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (count, layout) = Layout::parse(word, last)?;
        return Ok((count, layout, rest.trim()));
    }
    let (mut rest, mut letters, mut count) = (argument, String::new(), String::new());
    while let Some(option) = rest.strip_prefix('-') {
        let (name, after) = option.split_at(option.len().min(1));
        let after = after.trim_start();
        let (value, after) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
        match (name, value) {
            ("c", value) => count = value.to_owned(),
            ("f", value) => letters += value,
            ("s", "1") => letters.push('b'),
            ("s", "2") => letters.push('h'),
            ("s", "4") => letters.push('w'),
            ("s", "8") => letters.push('g'),
            _ => bail!("`x` has no option `-{option}`: `x/4xw ADDRESS`"),
        }
        rest = after.trim_start();
    }
    match letters.is_empty() && count.is_empty() {
        true => Ok((None, Layout::DUMP, argument)),
        false => {
            let (count, layout) = Layout::parse(&format!("{count}{letters}"), last)?;
            Ok((count, layout, rest))
        }
    }
}

fn examine(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let last = session.examined.clone();
    if argument.is_empty()
        && let Some(last) = last
    {
        show(session, last)?;
        return Ok(Flow::Go);
    }
    let layout_before = last.as_ref().map_or(Layout::WORDS, |last| last.layout);
    let (mut count, layout, rest) = layout_of(argument, layout_before)?;
    let mut place = rest;
    if layout == Layout::DUMP
        && let Some((before, last)) = rest.rsplit_once(char::is_whitespace)
        && !before
            .trim_end()
            .ends_with(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>', ','])
        && let Ok(bytes) = last.parse()
    {
        (place, count) = (before.trim(), Some(bytes));
    }
    let next = match (place, last) {
        ("", Some(last)) => Examined {
            count,
            layout,
            ..last
        },
        ("", None) => bail!("show what memory? `x pointer`, `x $rsp 64`"),
        _ => Examined {
            reference: address(session, place)?,
            offset: 0,
            count,
            layout,
        },
    };
    show(session, next)?;
    Ok(Flow::Go)
}

/// Shows memory, and remembers where that ended.
fn show(session: &mut Session, mut what: Examined) -> anyhow::Result<()> {
    let (shown, length) = match what.layout.format {
        Format::Instructions => code(session, &what)?,
        Format::Text => texts(session, &what)?,
        Format::Address => addresses(session, &what)?,
        _ => numbers(session, &what)?,
    };
    session.screen.show(shown);
    what.offset = what.offset.saturating_add(length);
    session.examined = Some(what);
    Ok(())
}

/// Instructions, and how many bytes they have.
fn code(session: &mut Session, what: &Examined) -> anyhow::Result<(Item, i64)> {
    let at = match number(&what.reference) {
        Some(at) => format!("{:#x}", at.wrapping_add_signed(what.offset)),
        None if what.offset == 0 => what.reference.clone(),
        None => bail!("`{}` is no number to go on from", what.reference),
    };
    let count = what.count.unwrap_or(1);
    let mut instructions = instructions(session, &at, 0, count.saturating_add(1))?;
    // One more was read, because its address is the end of the others.
    let count = usize::try_from(count)?;
    let end = { instructions.get(count) }.and_then(|one| number(&one.address));
    let length = number(&at).zip(end);
    let length = length.map_or(0, |(start, end)| end.wrapping_sub(start));
    instructions.truncate(count);
    let shown = Item::Instructions(Instructions { instructions });
    Ok((shown, i64::try_from(length)?))
}

fn none_at(what: &Examined, start: u64) -> anyhow::Error {
    match start {
        0 => anyhow::anyhow!("there is no memory at {}", what.reference),
        start => anyhow::anyhow!("there is no memory at {start:#x}"),
    }
}

/// Strings, and how many bytes they take with their ends.
fn texts(session: &mut Session, what: &Examined) -> anyhow::Result<(Item, i64)> {
    let size = what.layout.unit.map_or(1, Unit::bytes);
    let (mut lines, mut length, mut begin) = (Vec::new(), 0_i64, None);
    for _ in 0..what.count.unwrap_or(1) {
        let offset = what.offset.saturating_add(length);
        let read = read(session, &what.reference, offset, LONGEST)?;
        begin.get_or_insert(read.start);
        if read.bytes.is_empty() {
            match lines.is_empty() {
                true => return Err(none_at(what, read.start)),
                false => lines.push(format!("{:#x}: no memory", read.start)),
            }
            break;
        }
        let (text, taken) = text(&read.bytes, size)?;
        lines.push(format!("{:#x}: {text}", read.start));
        length = length.saturating_add(i64::try_from(taken)?);
        if session.was_interrupted() {
            break;
        }
    }
    let shown = Item::Memory(Memory {
        address: format!("{:#x}", begin.unwrap_or_default()),
        data: None,
        lines,
    });
    Ok((shown, length))
}

/// Reads what is to be shown as numbers.
fn memory(session: &Session, what: &Examined) -> anyhow::Result<(Read, i64)> {
    let size = what.layout.size() as i64;
    let wanted = match what.layout {
        Layout::DUMP => what.count.unwrap_or(BYTES),
        _ => what.count.unwrap_or(1).saturating_mul(size),
    };
    if !(1..=MOST).contains(&wanted) {
        bail!("1 to {MOST} bytes can be shown");
    }
    let read = read(session, &what.reference, what.offset, wanted)?;
    if read.bytes.is_empty() {
        return Err(none_at(what, read.start));
    }
    Ok((read, wanted))
}

/// Numbers, and how many bytes they have.
fn numbers(session: &mut Session, what: &Examined) -> anyhow::Result<(Item, i64)> {
    let (read, wanted) = memory(session, what)?;
    let mut lines = rows(read.start, &read.bytes, what.layout);
    push_end(&mut lines, &read, wanted);
    Ok((shown(&read, lines), wanted))
}

/// What was read, in lines.
fn shown(read: &Read, lines: Vec<String>) -> Item {
    let digits = read.bytes.iter().map(|byte| format!("{byte:02x}"));
    Item::Memory(Memory {
        address: format!("{:#x}", read.start),
        data: Some(digits.collect()),
        lines,
    })
}

fn push_end(lines: &mut Vec<String>, read: &Read, wanted: i64) {
    if (read.bytes.len() as i64) < wanted {
        let end = read.start.wrapping_add(read.bytes.len() as u64);
        lines.push(format!("{end:#x}: no memory"));
    }
}

/// Addresses, with the functions they are in, and how many bytes they have.
fn addresses(session: &mut Session, what: &Examined) -> anyhow::Result<(Item, i64)> {
    let (read, wanted) = memory(session, what)?;
    let size = what.layout.size();
    let mut lines = Vec::new();
    let places = (read.start..).step_by(size);
    for (at, value) in places.zip(read.bytes.chunks_exact(size)) {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(value);
        let value = u64::from_le_bytes(bytes);
        let symbol = code_symbol(session, value).map(|name| format!(" <{name}>"));
        lines.push(format!("{at:#x}: {value:#x}{}", symbol.unwrap_or_default()));
        if session.was_interrupted() {
            break;
        }
    }
    push_end(&mut lines, &read, wanted);
    Ok((shown(&read, lines), wanted))
}
