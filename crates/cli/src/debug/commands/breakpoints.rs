//! Commands for breakpoints.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dapple_dap::types::{LoadedSourcesRequest, Source};

use super::place_syntax::{self, BreakArguments, Position};
use super::{Argument, Command, Flow, number};
use crate::debug::breakpoints::{self, Lifetime, Options, Place, first_hit};
use crate::debug::render;
use crate::debug::results::{self, Item};
use crate::debug::session::Session;
use crate::debug::source_view;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "break",
        aliases: &["b"],
        usage: "LINE | FILE:LINE | FUNCTION | /re EXPRESSION [copies] [thread N] [not from FUNCTION] [if CONDITION]",
        summary: "stop there",
        details: "A bare line is one of the file in view, `+2` the one two further on; `12:5` has a column. `b 12 if n > 3` stops only where the condition \
            holds, `b 12 thread 4711` only that thread; \
            `b list.h:12 copies` stops in all files of that name and content, \
            `b 12 not from main` only where no such function is a caller. \
            A function is named by its path or the end of it; template arguments, parameters and `*` may be part of that. \
            `b /re ^parse_` is all functions whose full name matches the regular expression. \
            See `condition`, `hits` and `log` for what else a breakpoint can do.",
        argument: Argument::Location,
        repeats: false,
        run: |session, argument| set(session, argument, Lifetime::Always),
    },
    Command {
        name: "tbreak",
        aliases: &["tb"],
        usage: "LINE | FILE:LINE | FUNCTION | /re EXPRESSION [copies] [thread N] [not from FUNCTION] [if CONDITION]",
        summary: "stop there once",
        details: "",
        argument: Argument::Location,
        repeats: false,
        run: |session, argument| set(session, argument, Lifetime::Once),
    },
    Command {
        name: "condition",
        aliases: &["cond"],
        usage: "N [CONDITION]",
        summary: "have a breakpoint stop only where an expression holds",
        details: "`condition 1 n > 3 && done`; without an expression it stops each time. The expression is of the language there; \
            where it can't be evaluated, the program stops and says why. Its hits are counted anew.",
        argument: Argument::Expression,
        repeats: false,
        run: condition,
    },
    Command {
        name: "hits",
        aliases: &[],
        usage: "N [COUNT]",
        summary: "have a breakpoint stop only on some of its hits",
        details: "`hits 1 5` stops on the fifth, `hits 1 >= 5` from then on, `hits 1 % 3` on each third; there are `==`, `!=`, `>`, `<` \
            and `<=` as well. A hit counts when the condition holds. Without a count it stops each time.",
        argument: Argument::None,
        repeats: false,
        run: hits,
    },
    Command {
        name: "log",
        aliases: &["dprintf"],
        usage: "LINE MESSAGE | FILE:LINE MESSAGE | N [MESSAGE]",
        summary: "write a message whenever the program gets there, without stopping",
        details: "`log main.c:12 i is {i}`: what is in braces is evaluated; `{i:x}` shows it in hexadecimal (d, u, x, X, o, b, c, s, p; `#x` with a \
            prefix, `08x` with zeros, `.2` with decimals), `{{` and `}}` are braces. `log 1 MESSAGE` has breakpoint 1 write instead \
            of stopping, `log 1` has it stop again. A bare number means a breakpoint if there is one of that number, else a line.",
        argument: Argument::Location,
        repeats: false,
        run: log,
    },
    Command {
        name: "delete",
        aliases: &["d"],
        usage: "N | all",
        summary: "remove a breakpoint or watch, or all of them",
        details: "`info breakpoints` has the numbers.",
        argument: Argument::Topic(&["all"]),
        repeats: false,
        run: delete,
    },
];

/// Sets a breakpoint and prints where it was set.
pub fn set(session: &mut Session, argument: &str, lifetime: Lifetime) -> anyhow::Result<Flow> {
    let arguments = BreakArguments::parse(argument)?;
    let place = match arguments.place {
        "" => here(session)?,
        place => find_place(session, place)?,
    };
    let options = Options {
        condition: arguments.condition.map(str::to_owned),
        copies: arguments.copies,
        thread: arguments.thread,
        not_from: arguments.not_from.map(str::to_owned),
        ..Options::default()
    };
    if let (true, Place::Function(name)) = (options.copies, &place) {
        bail!("`copies` is for lines, and `{name}` is none; use FILE:LINE");
    }
    add(session, place, lifetime, options)
}

/// Checks that the adapter, if one is connected, supports the options of a breakpoint.
fn check_offered(session: &Session, options: &Options) -> anyhow::Result<()> {
    if session.breakpoints.rules.takes_one_limit
        && options.condition.is_some()
        && options.hits.is_some()
    {
        bail!("this adapter takes a condition or hits for a breakpoint, not both");
    }
    let Ok(link) = session.link() else {
        return Ok(());
    };
    let offered = link.capabilities();
    let condition =
        options.condition.is_some() || options.thread.is_some() || options.not_from.is_some();
    if condition && offered.supports_conditional_breakpoints != Some(true) {
        bail!("this adapter has no conditional breakpoints");
    }
    if options.thread.is_some() && !session.is_own_adapter() {
        bail!("this adapter has no breakpoints for single threads");
    }
    if options.not_from.is_some() && !session.is_own_adapter() {
        bail!("this adapter has no breakpoints that look at callers");
    }
    if options.copies && !session.is_own_adapter() {
        bail!("this adapter has no breakpoints in all copies of a file");
    }
    if options.hits.is_some() && offered.supports_hit_conditional_breakpoints != Some(true) {
        bail!("this adapter has no breakpoints with hit counts");
    }
    if options.log.is_some() && offered.supports_log_points != Some(true) {
        bail!("this adapter has no breakpoints that write messages");
    }
    Ok(())
}

fn add(
    session: &mut Session,
    place: Place,
    lifetime: Lifetime,
    options: Options,
) -> anyhow::Result<Flow> {
    check_offered(session, &options)?;
    let file = place.file().map(Path::to_owned);
    let number = session.breakpoints.add(place, lifetime, options);
    let told = tell(session, file.as_deref());
    let failed = failure(session, number);
    if told.is_err() || failed.is_some() {
        session.breakpoints.discard(number);
    }
    told?;
    if let Some(message) = failed {
        // The adapter has to remove it, too.
        tell(session, file.as_deref())?;
        bail!("no breakpoint set: {message}");
    }
    show(session, number);
    Ok(Flow::Go)
}

/// Sends the breakpoints of a file, or the function breakpoints, to the adapter.
fn tell(session: &mut Session, file: Option<&Path>) -> anyhow::Result<()> {
    match file {
        Some(file) => session.send_breakpoints(file),
        None => session.send_function_breakpoints(),
    }
}

/// Why the adapter can never set a breakpoint; `None` if it has, or may do so later.
fn failure(session: &Session, number: u32) -> Option<String> {
    breakpoints::failure(session.breakpoints.answer(number)?)
}

fn show(session: &mut Session, number: u32) {
    if let Some(breakpoint) = session.breakpoints.get(number) {
        let answer = session.breakpoints.answer(number);
        let shown = results::Breakpoint::of(breakpoint, answer, session.screen.style);
        session.screen.show(Item::Breakpoint(shown));
    }
}

/// Changes the options of a breakpoint. If the adapter can't set the breakpoint with the new options, the old options stay.
pub(super) fn change(
    session: &mut Session,
    number: u32,
    change: impl FnOnce(&mut Options),
) -> anyhow::Result<Flow> {
    let breakpoint = session
        .breakpoints
        .get(number)
        .with_context(|| format!("there is no breakpoint {number}"))?;
    let file = breakpoint.place.file().map(Path::to_owned);
    let before = breakpoint.options.clone();
    let mut options = before.clone();
    change(&mut options);
    if options.log.is_some() && matches!(breakpoint.place, Place::Function(_)) {
        bail!("breakpoint {number} is on a function; messages are written on lines only");
    }
    check_offered(session, &options)?;
    let put = |session: &mut Session, options| {
        if let Some(breakpoint) = session.breakpoints.get_mut(number) {
            breakpoint.options = options;
        }
    };
    put(session, options);
    if session.link().is_ok() {
        tell(session, file.as_deref())?;
        if let Some(message) = failure(session, number) {
            put(session, before);
            tell(session, file.as_deref())?;
            bail!("breakpoint {number} stays as it was: {message}");
        }
    }
    show(session, number);
    Ok(Flow::Go)
}

/// A breakpoint's number, and what follows it in the argument; `None` if nothing does.
fn numbered(
    session: &Session,
    argument: &str,
    command: &str,
) -> anyhow::Result<(u32, Option<String>)> {
    let (first, rest) = argument
        .split_once(char::is_whitespace)
        .unwrap_or((argument, ""));
    if first.is_empty() {
        bail!("`{command}` of which breakpoint? `info breakpoints` has the numbers");
    }
    let rest = rest.trim();
    let rest = (!rest.is_empty()).then(|| rest.to_owned());
    Ok((which(session, first)?, rest))
}

/// What stands for the number of the breakpoint that was set last.
pub(super) const LAST: &str = "$bpnum";

/// Parses the number of a breakpoint.
pub(super) fn which(session: &Session, text: &str) -> anyhow::Result<u32> {
    if text.trim() == LAST {
        let last = session.breakpoints.iter().last();
        return Ok(last.context("no breakpoint has been set yet")?.number);
    }
    number(text, "a breakpoint's number")
}

fn condition(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (number, condition) = numbered(session, argument, "condition")?;
    change(session, number, |options| options.condition = condition)
}

fn hits(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (number, hits) = numbered(session, argument, "hits")?;
    if session.breakpoints.rules.hit_number.is_some()
        && hits.as_ref().is_some_and(|hits| first_hit(hits).is_none())
    {
        bail!("this adapter can stop at each hit from one on only: `hits {number} >= 5`");
    }
    change(session, number, |options| options.hits = hits)
}

fn log(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (place, message) = argument
        .split_once(char::is_whitespace)
        .unwrap_or((argument, ""));
    let message = message.trim();
    if place.is_empty() {
        bail!("log where, and what? `log 12 i is {{i}}`");
    }
    if let Ok(number) = which(session, place)
        && session.breakpoints.get(number).is_some()
    {
        let message = (!message.is_empty()).then(|| message.to_owned());
        return change(session, number, |options| options.log = message);
    }
    if message.is_empty() {
        bail!("log what? `log {place} i is {{i}}`");
    }
    let place = find_place(session, place)?;
    if let Place::Function(name) = &place {
        bail!("messages are written on lines only, and `{name}` is none; use FILE:LINE");
    }
    let options = Options {
        log: Some(message.to_owned()),
        ..Options::default()
    };
    add(session, place, Lifetime::Always, options)
}

/// The line of the selected frame.
fn here(session: &Session) -> anyhow::Result<Place> {
    let frame = session
        .stop()
        .ok()
        .and_then(|stop| stop.frame())
        .and_then(render::source_of);
    let (file, line) = frame.context("break where? `b 12`, `b file.rs:12` or `b function`")?;
    Ok(Place::Line(file, i64::try_from(line)?))
}

/// Resolves `12`, `12:5`, `+3`, `tour.rs:12` or `total`.
pub fn find_place(session: &mut Session, text: &str) -> anyhow::Result<Place> {
    match place_syntax::position(text)? {
        Position::Line { file, line, column } => {
            let file = match file {
                Some(file) => find_file(session, file)?,
                None => {
                    let file = session.current_file().or_else(|| session.file_of_main());
                    file.context(
                        "which file? None is in view yet, so a line needs its file: `b FILE:LINE`",
                    )?
                }
            };
            Ok(match column {
                Some(column) => Place::Column(file, line, column),
                None => Place::Line(file, line),
            })
        }
        Position::Relative(lines) => {
            let Place::Line(file, line) = here(session)? else {
                bail!("`{text}` is from the line where the program is, and that is not known");
            };
            let line = line.saturating_add(lines);
            if line < 1 {
                bail!("there is no line {line}; lines are counted from 1");
            }
            Ok(Place::Line(file, line))
        }
        Position::Function(name) => {
            // Of an adapter that isn't there yet, nothing is known.
            let takes_names = session.link().map_or(true, |link| {
                link.capabilities().supports_function_breakpoints == Some(true)
            });
            match takes_names {
                true => Ok(Place::Function(name.to_owned())),
                false => find_function(session, name),
            }
        }
    }
}

/// Finds a file by its path or the end of its path. Looks among the files that were seen or have breakpoints, then on disk (from the working
/// directory, and beside those files), then among the sources that the adapter knows.
fn find_file(session: &Session, name: &str) -> anyhow::Result<PathBuf> {
    let named = PathBuf::from(name);
    if named.is_absolute() {
        return Ok(named);
    }
    let known = session.known_files();
    if let Some(file) = known.iter().find(|file| file.ends_with(&named)) {
        return Ok(file.clone());
    }
    // Where the program is elsewhere, so are its sources; but they may be here only.
    if session.is_elsewhere()
        && let Some(file) = in_program(session, &named)?
    {
        return Ok(file);
    }
    if let Ok(file) = named.canonicalize() {
        return Ok(file);
    }
    let beside = known
        .iter()
        .filter_map(|file| file.parent())
        .map(|directory| directory.join(&named));
    for file in beside {
        if let Ok(file) = file.canonicalize() {
            return Ok(file);
        }
    }
    if let Some(file) = in_program(session, &named)? {
        return Ok(file);
    }
    bail!("there is no file {name} here, nor in the debug information; give its path")
}

/// Finds a source of the program by the end of its path. The user's own sources come before those of libraries. Fails if several have the
/// same end.
fn in_program(session: &Session, named: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Ok(link) = session.link() else {
        return Ok(None);
    };
    if link.capabilities().supports_loaded_sources_request != Some(true) {
        return Ok(None);
    }
    let sources = session
        .request::<LoadedSourcesRequest>(Default::default())?
        .sources;
    let is_named = |source: &Source| {
        let path = source.path.as_ref();
        path.is_some_and(|path| Path::new(path).ends_with(named))
    };
    let (own, others): (Vec<Source>, Vec<Source>) = { sources.into_iter() }
        .filter(is_named)
        .partition(|source| source.origin.is_none());
    let wanted = if own.is_empty() { others } else { own };
    let paths = wanted.into_iter().filter_map(|source| source.path);
    let mut found: Vec<PathBuf> = paths.map(PathBuf::from).collect();
    found.sort();
    found.dedup();
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => {
            let named = named.display();
            let found: Vec<String> = found.iter().map(|path| render::path(path)).collect();
            bail!("{named} could be {}", found.join(" or "))
        }
    }
}

/// Finds a function by searching the known source texts, for adapters that can't find it themselves.
pub fn find_function(session: &mut Session, name: &str) -> anyhow::Result<Place> {
    let simple = name.rsplit("::").next().unwrap_or(name);
    let files = session.known_files();
    for file in &files {
        let Ok(lines) = session.sources.lines(file) else {
            continue;
        };
        if let Some(line) = source_view::find_definition(&lines, simple) {
            return Ok(Place::Definition(file.clone(), i64::try_from(line)?));
        }
    }
    match files.first() {
        Some(file) => bail!(
            "{} defines no function `{name}`, and this adapter can't look for it elsewhere; use FILE:LINE",
            render::path(file)
        ),
        None => bail!(
            "this adapter can't look for functions, and no source is in view yet; use FILE:LINE"
        ),
    }
}

fn delete(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.is_empty() {
        bail!("delete which? `delete 1`, or `delete all`");
    }
    let numbers: Vec<u32> = if argument == "all" {
        let breakpoints = session.breakpoints.iter().map(|b| b.number);
        let watches = session.process.watches.iter().map(|watch| watch.number);
        breakpoints.chain(watches).collect()
    } else {
        argument
            .split_whitespace()
            .map(|text| which(session, text))
            .collect::<Result<_, _>>()?
    };
    if numbers.is_empty() {
        session.screen.print("there are no breakpoints");
    }
    for number in numbers {
        let kind = match super::watching::delete(session, number)? {
            true => "watch",
            false => {
                session.delete_breakpoint(number)?;
                "breakpoint"
            }
        };
        session.screen.print(&format!("{kind} {number} deleted"));
    }
    Ok(Flow::Go)
}
