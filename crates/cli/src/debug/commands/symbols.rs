//! What `info` says of the program's code: functions, variables and types by name, lines, symbols, sources, and the memory map.

use anyhow::{Context, bail};
use dapple_adapter::{ShownSymbol, SymbolKind, SymbolsArguments, SymbolsRequest};
use dapple_dap::types::{
    GotoTargetsArguments, GotoTargetsRequest, LoadedSourcesArguments, LoadedSourcesRequest, Source,
};

use super::machine::{address, check_disassembles, code_symbol, number};
use crate::debug::breakpoints::Place;
use crate::debug::render;
use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::style::Role;

/// How many lines are shown of a list.
const MOST: usize = 500;

/// Shows a subject of `info`. Returns whether it is one of those here.
pub(super) fn show(session: &mut Session, topic: &str, argument: &str) -> anyhow::Result<bool> {
    match topic {
        "functions" => names(session, SymbolKind::Functions, argument)?,
        "variables" => names(session, SymbolKind::Variables, argument)?,
        "types" => names(session, SymbolKind::Types, argument)?,
        "line" => line(session, argument)?,
        "symbol" => symbol(session, argument)?,
        "source" => source(session)?,
        "sources" => sources(session, argument)?,
        "mappings" => mappings(session, argument)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn print_list(session: &mut Session, mut lines: Vec<String>, more: usize, narrower: &str) {
    let left = lines.len().saturating_sub(MOST) + more;
    lines.truncate(MOST);
    if left > 0 {
        let more = format!("… {left} more; `{narrower}` shows fewer");
        lines.push(session.screen.style.paint(Role::Aside, &more));
    }
    session.screen.print(&lines.join("\n"));
}

fn names(session: &mut Session, kind: SymbolKind, pattern: &str) -> anyhow::Result<()> {
    session.link()?;
    if !session.is_own_adapter() {
        bail!("only Dapple's adapter lists names; `break NAME` finds a function");
    }
    let pattern = Some(pattern.to_owned()).filter(|pattern| !pattern.is_empty());
    let answer = session.request_that_runs::<SymbolsRequest>(SymbolsArguments {
        kind,
        pattern: pattern.clone(),
    })?;
    let (what, topic) = match kind {
        SymbolKind::Functions => ("function", "functions"),
        SymbolKind::Variables => ("variable", "variables"),
        SymbolKind::Types => ("type", "types"),
    };
    if answer.symbols.is_empty() {
        match pattern {
            Some(pattern) => bail!("no {what} matches `{pattern}`"),
            None => bail!("the program has no {topic} with debug information"),
        }
    }
    let mut lines: Vec<String> = { answer.symbols.iter() }
        .map(|one| name_line(session, one))
        .collect();
    if answer.of_libraries > 0 && lines.len() <= MOST {
        let more = format!("and {} of libraries", answer.of_libraries);
        lines.push(session.screen.style.paint(Role::Aside, &more));
    }
    print_list(
        session,
        lines,
        answer.omitted,
        &format!("info {topic} REGEX"),
    );
    Ok(())
}

/// `name: type at file:line`.
fn name_line(session: &Session, one: &ShownSymbol) -> String {
    let style = session.screen.style;
    let mut line = style.paint(Role::Function, &printable(&one.name));
    if let Some(type_name) = &one.r#type {
        line += &format!(": {}", printable(type_name));
    }
    if let (Some(path), Some(number)) = (&one.path, one.line) {
        let place = render::location(path.as_ref(), number, style);
        line += &format!(" at {place}");
    }
    line
}

/// Where the code of a line is. `x/i` goes on there.
fn line(session: &mut Session, argument: &str) -> anyhow::Result<()> {
    session.stop()?;
    let (file, line) = if argument.is_empty() {
        let frame = session.stop()?.frame().and_then(render::source_of);
        let (file, line) = frame.context("the selected frame has no source; `info line 12`")?;
        (file, i64::try_from(line)?)
    } else {
        match super::breakpoints::find_place(session, argument)? {
            Place::Line(file, line)
            | Place::Column(file, line, _)
            | Place::Definition(file, line) => (file, line),
            Place::Function(name) => {
                let at = address(session, &format!("&{name}"))?;
                return print_address(session, argument, &at);
            }
        }
    };
    if !session.offers(|it| it.supports_goto_targets_request)? {
        bail!("this adapter doesn't say where the code of a line is");
    }
    let source = Source::new().with_path(file.to_string_lossy());
    let arguments = GotoTargetsArguments::new(source, line);
    let targets = session.request::<GotoTargetsRequest>(arguments)?.targets;
    let place = render::location(&file, line, session.screen.style);
    if targets.is_empty() {
        bail!("there is no code at {}:{line}", render::path(&file));
    }
    for target in targets {
        match target.instruction_pointer_reference {
            Some(at) => print_address(session, &place, &at)?,
            None => session.screen.print(&printable(&target.label)),
        }
    }
    Ok(())
}

fn print_address(session: &mut Session, what: &str, at: &str) -> anyhow::Result<()> {
    let symbol = number(at).and_then(|at| code_symbol(session, at));
    let symbol = symbol.map(|name| format!(" <{name}>")).unwrap_or_default();
    let text = format!("{what} begins at {}{symbol}", printable(at));
    session.screen.print(&text);
    session.examined = Some(super::memory::Examined::code_at(at));
    Ok(())
}

/// Which function or variable an address is in.
fn symbol(session: &mut Session, argument: &str) -> anyhow::Result<()> {
    if argument.is_empty() {
        bail!("the symbol at which address? `info symbol $pc`");
    }
    check_disassembles(session)?;
    let at = address(session, argument)?;
    let value = number(&at).with_context(|| format!("`{at}` is no address"))?;
    let symbol = code_symbol(session, value);
    let symbol = symbol.with_context(|| match session.is_own_adapter() {
        true => format!("no function or variable is at {value:#x}"),
        // lldb-dap names functions only where they begin.
        false => format!("this adapter names nothing at {value:#x}"),
    })?;
    session.screen.print(&symbol);
    Ok(())
}

/// The source of the selected frame.
fn source(session: &mut Session) -> anyhow::Result<()> {
    let frame = session.stop()?.frame().cloned();
    let frame = frame.context("this thread has no frames")?;
    let source = frame.source.clone();
    let source =
        source.context("the selected frame has no source; `disassemble` shows its code")?;
    let mut lines = Vec::new();
    match &source.path {
        Some(path) => {
            lines.push(printable(path));
            match session.sources.lines(path.as_ref()) {
                Ok(text) => lines.push(format!("{} lines, at line {}", text.len(), frame.line)),
                Err(error) => lines.push(printable(&format!("{error:#}"))),
            }
        }
        None => lines.extend(source.name.as_deref().map(printable)),
    }
    if let Some(origin) = &source.origin {
        lines.push(printable(&format!("of {origin}")));
    }
    session.screen.print(&lines.join("\n"));
    Ok(())
}

/// The sources of the program, or those with a text in their paths.
fn sources(session: &mut Session, wanted: &str) -> anyhow::Result<()> {
    if !session.offers(|it| it.supports_loaded_sources_request)? {
        bail!("this adapter doesn't list sources");
    }
    let answer = session.request_that_runs::<LoadedSourcesRequest>(LoadedSourcesArguments::new())?;
    let paths = answer.sources.into_iter().filter_map(|source| source.path);
    let lines = paths.filter(|path| path.contains(wanted));
    let lines: Vec<String> = lines.map(|path| render::path(path.as_ref())).collect();
    if lines.is_empty() {
        bail!("no source has `{wanted}` in its path");
    }
    print_list(session, lines, 0, "info sources TEXT");
    Ok(())
}

/// The memory map of the process (proc_pid_maps(5)), or the part of it that an address is in.
fn mappings(session: &mut Session, wanted: &str) -> anyhow::Result<()> {
    session.stop()?;
    let id = session.local_process();
    let id = id.context("there is no process on this machine")?;
    let file = format!("/proc/{id}/maps");
    let text = std::fs::read_to_string(&file).with_context(|| format!("can't read {file}"))?;
    if wanted.is_empty() {
        session.screen.print(&printable(text.trim_end()));
        return Ok(());
    }
    let at = address(session, wanted)?;
    let value = number(&at).with_context(|| format!("`{at}` is no address"))?;
    let has = |line: &&str| range_of(line).is_some_and(|range| range.contains(&value));
    let line = text.lines().find(has);
    let line = line.with_context(|| format!("nothing is mapped at {value:#x}"))?;
    session.screen.print(&printable(line));
    Ok(())
}

/// The addresses of a line of the memory map: `555555554000-555555555000 r-xp …`.
fn range_of(line: &str) -> Option<std::ops::Range<u64>> {
    let (from, to) = line.split_whitespace().next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    Some(address(from)?..address(to)?)
}
