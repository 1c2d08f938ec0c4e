//! Commands that show registers and instructions.

use anyhow::{Context, bail};
use dapple_dap::types::{
    DisassembleArguments, DisassembleRequest, ScopePresentationHint, Variable,
};

use super::data::{children, evaluate, is_scope, scopes, selected};
use super::{Argument, Command, Flow};
use crate::debug::results::{Frame, Instruction, Instructions, Item, Values};
use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::value_tree;

/// How many instructions are shown by default, and how many of them precede the current one if no address is given.
const INSTRUCTIONS: i64 = 16;
const BEFORE: i64 = 5;
/// The most bytes or instructions that are shown.
pub(super) const MOST: i64 = 4096;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "registers",
        aliases: &["regs"],
        usage: "[REGISTER … | GROUP | all]",
        summary: "show registers",
        details: "Without an argument, the general ones and the flags. Vectors show their lanes: `registers xmm0`.",
        argument: Argument::None,
        repeats: false,
        run: show_registers,
    },
    Command {
        name: "disassemble",
        aliases: &["disas"],
        usage: "[ADDRESS [COUNT]]",
        summary: "show instructions",
        details: "Without an argument, those around the one that is next.",
        argument: Argument::Expression,
        repeats: false,
        run: disassemble,
    },
];

pub(super) fn show_registers(session: &mut Session, wanted: &str) -> anyhow::Result<Flow> {
    // gdb takes several.
    for one in wanted.split_whitespace() {
        registers(session, one)?;
    }
    match wanted.is_empty() {
        true => registers(session, ""),
        false => Ok(Flow::Go),
    }
}

pub(super) fn registers(session: &mut Session, wanted: &str) -> anyhow::Result<Flow> {
    let frame = selected(session)?;
    let scopes = scopes(session, &frame)?;
    let scope = scopes
        .iter()
        .find(|scope| is_scope(scope, &ScopePresentationHint::Registers))
        .context("this adapter shows no registers")?;
    let wanted = wanted.trim().trim_start_matches('$');
    let (mut values, mut others, mut groups) = (Vec::new(), Vec::new(), 0);
    let line = |one: &Variable| value_tree::line(session, &one.name, &value_tree::Value::from(one));
    for register in children(session, scope.variables_reference)? {
        // Some adapters put registers in groups, whose names are words. A register that points somewhere may have parts, too.
        let is_named = register.name.contains(' ') || register.value.is_empty();
        let has_no_type = || register.r#type.as_ref().is_none_or(String::is_empty);
        let is_group = register.variables_reference > 0
            && (is_named || register.named_variables.is_some() && has_no_type());
        if !is_group {
            if wanted.is_empty() || wanted == "all" || register.name == wanted {
                values.push(line(&register));
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
                values.push(line(&inner));
            } else if inner.name == wanted {
                let value = value_tree::Value::from(&inner);
                values.push(value_tree::open(session, wanted, &value));
            }
        }
    }
    if values.is_empty() {
        bail!("there is no register `{wanted}`");
    }
    let what = "registers".to_owned();
    session.screen.show(Item::Values(Values { what, values }));
    if !others.is_empty() {
        let others = format!("also: {}", others.join(", "));
        session.screen.print(&others);
    }
    Ok(Flow::Go)
}

fn disassemble(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.starts_with('/') {
        bail!("`disassemble` has no formats: lines and names are shown always");
    }
    let instructions = match argument.rsplit_once(char::is_whitespace) {
        _ if argument.is_empty() => {
            let frame = selected(session)?;
            let at = frame.instruction_pointer_reference;
            let at = at.context("this adapter does not report the frame's instruction address")?;
            let around = instructions(session, &at, -BEFORE, INSTRUCTIONS)?;
            // Some adapters, as gdb 18, begin elsewhere.
            match around.iter().any(|one| one.next) {
                true => around,
                false => instructions(session, &at, 0, INSTRUCTIONS)?,
            }
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
    let shown = Item::Instructions(Instructions { instructions });
    session.screen.show(shown);
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
    let place = Frame::of(&frame).numbered(session.stop()?.selected, true);
    let next = instructions(session, at, 0, 1)?.pop();
    session.screen.show(Item::Frame(place));
    if let Some(next) = next {
        session.screen.show(Item::Instruction(next));
    }
    Ok(())
}

/// The function or variable that contains an address, with the offset in it: `main+0x4`. `None` if the adapter knows none.
pub(super) fn code_symbol(session: &Session, address: u64) -> Option<String> {
    check_disassembles(session).ok()?;
    let arguments =
        DisassembleArguments::new(format!("{address:#x}"), 1).with_resolve_symbols(true);
    let listed = session.request::<DisassembleRequest>(arguments).ok()?;
    let symbol = listed.instructions.into_iter().next()?.symbol?;
    Some(printable(&symbol))
}

/// Fails for adapters that show no instructions, and no names with them.
pub(super) fn check_disassembles(session: &Session) -> anyhow::Result<()> {
    if !session.offers(|it| it.supports_disassemble_request)? {
        bail!("this adapter can't disassemble");
    }
    Ok(())
}

/// Disassembles.
pub(super) fn instructions(
    session: &mut Session,
    at: &str,
    first: i64,
    count: i64,
) -> anyhow::Result<Vec<Instruction>> {
    check_disassembles(session)?;
    let arguments = DisassembleArguments::new(at, count)
        .with_instruction_offset(first)
        .with_resolve_symbols(true);
    let listed = session
        .request::<DisassembleRequest>(arguments)?
        .instructions;
    let frame = session.stop().ok().and_then(|stop| stop.frame());
    let current = frame.and_then(|frame| number(frame.instruction_pointer_reference.as_deref()?));
    let mut path = None;
    let mut shown = Vec::with_capacity(listed.len());
    for one in listed {
        // A file is told where another one begins.
        if let Some(source) = one.location {
            path = source.path.or(source.name);
        }
        shown.push(Instruction {
            next: current.is_some() && number(&one.address) == current,
            address: one.address,
            symbol: one.symbol,
            text: one.instruction,
            path: path.clone().filter(|_| one.line.is_some()),
            line: one.line,
        });
    }
    Ok(shown)
}

/// Resolves a place to an address for the adapter: a number as it is, otherwise an expression's memory reference, or else its value.
pub(super) fn address(session: &mut Session, place: &str) -> anyhow::Result<String> {
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
    // CodeLLDB 1.11 shows of a pointer what it points to, and doesn't say where that is.
    let as_number = || format!("/nat (unsigned long)({place})");
    let number_of = session.is_adapter("codelldb").then(as_number);
    let answer = match number_of.map(|number_of| evaluate(session, &number_of)) {
        Some(Ok(answer)) => answer,
        _ => evaluate(session, place)?,
    };
    let result = answer.result.split_whitespace().next().unwrap_or_default();
    answer
        .memory_reference
        .or_else(|| number(result).map(|_| result.to_owned()))
        .with_context(|| format!("`{place}` is {}, and no address", answer.result))
}

pub(super) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
