//! Commands for exceptions and signals.

use anyhow::bail;
use dapple_dap::types::{ExceptionBreakpointsFilter, ExceptionInfoArguments, ExceptionInfoRequest};

use super::{Argument, Command, Flow};
use crate::debug::exceptions::SIGNALS;
use crate::debug::results::{ExceptionFilter, Item};
use crate::debug::screen::printable;
use crate::debug::session::Session;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "catch",
        aliases: &[],
        usage: "[FILTER [off | CONDITION]]",
        summary: "stop at exceptions, or list at which",
        details: "`catch` lists the filters and whether they are on. `catch throw std::*, !my::Retry` stops at what is thrown of these types (`throw` is \
            cpp_throw), `catch rust_panic off` at no panics.",
        argument: Argument::Topic(&[
            "cpp_throw",
            "cpp_catch",
            "cpp_uncaught",
            "rust_panic",
            "rust_uncaught",
            "async_cancelled",
            "async_dropped",
            "sanitizers",
            "faults",
            "signals",
            "off",
        ]),
        repeats: false,
        run: catch,
    },
    Command {
        name: "handle",
        aliases: &[],
        usage: "[SIGNAL stop|nostop|pass|nopass|print|noprint …]",
        summary: "say what becomes of a signal, or list what was said",
        details: "`handle SIGUSR1 stop` stops before it is delivered, `handle SIGALRM nopass` keeps it from the program. `all` stands for all signals.",
        argument: Argument::Topic(&[
            "stop", "nostop", "pass", "nopass", "print", "noprint", "all",
        ]),
        repeats: false,
        run: handle,
    },
    Command {
        name: "why",
        aliases: &[],
        usage: "",
        summary: "say more about the exception or signal it stopped by",
        details: "",
        argument: Argument::None,
        repeats: false,
        run: why,
    },
];

/// The filters that the adapter offers for the program now.
fn filters(session: &mut Session) -> anyhow::Result<Vec<ExceptionBreakpointsFilter>> {
    let capabilities = session.link()?.capabilities();
    session.exceptions.note_offered(&capabilities);
    match capabilities.exception_breakpoint_filters {
        Some(filters) if !filters.is_empty() => Ok(filters),
        _ => bail!("this adapter can't stop at exceptions"),
    }
}

fn catch(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let filters = filters(session)?;
    if argument.is_empty() {
        for filter in &filters {
            let shown = shown(session, filter, true);
            session.screen.show(shown);
        }
        return Ok(Flow::Go);
    }
    let (name, rest) = argument
        .split_once(char::is_whitespace)
        .unwrap_or((argument, ""));
    let rest = rest.trim();
    // A filter that isn't offered now may become available when a library is loaded.
    let known = session.exceptions.known().to_vec();
    // `throw` means the filter `cpp_throw`; `uncaught` means the uncaught filters of all languages.
    let end = format!("_{name}");
    let mut meant: Vec<_> = known.iter().filter(|f| f.filter == name).collect();
    if meant.is_empty() {
        meant.extend(known.iter().filter(|f| f.filter.ends_with(&end)));
    }
    if meant.is_empty() {
        let known: Vec<&str> = known.iter().map(|f| f.filter.as_str()).collect();
        bail!(
            "there is nothing to catch called `{name}`; there are {}",
            known.join(", ")
        );
    }
    let condition = Some(rest.to_owned()).filter(|rest| !rest.is_empty() && rest != "off");
    let takes_none =
        |filter: &&&ExceptionBreakpointsFilter| filter.supports_condition != Some(true);
    if condition.is_some()
        && let Some(filter) = meant.iter().find(takes_none)
    {
        bail!("`{}` takes no condition", printable(&filter.filter));
    }
    for filter in &meant {
        let condition = condition.clone();
        session
            .exceptions
            .choose(&filter.filter, rest != "off", condition);
    }
    if let Err(error) = session.send_exceptions() {
        for filter in &meant {
            session.exceptions.forget_filter(&filter.filter);
        }
        session.send_exceptions()?;
        return Err(error);
    }
    for filter in meant {
        let is_offered = filters.iter().any(|it| it.filter == filter.filter);
        let shown = shown(session, filter, is_offered);
        session.screen.show(shown);
    }
    Ok(Flow::Go)
}

/// A filter with the user's choice. `is_offered`: the program has something for it.
fn shown(session: &Session, filter: &ExceptionBreakpointsFilter, is_offered: bool) -> Item {
    let (enabled, condition) = session.exceptions.state_of(filter);
    Item::ExceptionFilter(ExceptionFilter {
        filter: filter.filter.clone(),
        label: filter.label.clone(),
        enabled,
        condition,
        is_missing: !is_offered,
    })
}

fn handle(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let mut words = argument.split_whitespace();
    let Some(signal) = words.next() else {
        let told: Vec<String> = session.exceptions.signals().collect();
        let text = match told.is_empty() {
            true => "nothing was said of signals; faults stop, all are passed on".to_owned(),
            false => told.join("\n"),
        };
        session.screen.print(&text);
        return Ok(Flow::Go);
    };
    let words: Vec<&str> = words.collect();
    if words.is_empty() {
        bail!("handle it how? `handle {signal} nostop pass`");
    }
    if !filters(session)?
        .iter()
        .any(|filter| filter.filter == SIGNALS)
    {
        bail!("this adapter has no filter for signals");
    }
    session.exceptions.handle(signal, &words);
    if let Err(error) = session.send_exceptions() {
        session.exceptions.forget(signal);
        session.send_exceptions()?;
        return Err(error);
    }
    let signal = signal.to_ascii_uppercase();
    let told: Vec<String> = session.exceptions.signals().collect();
    let line = told
        .into_iter()
        .find(|line| line.starts_with(&format!("{signal}:")));
    session.screen.print(&line.unwrap_or(signal));
    Ok(Flow::Go)
}

fn why(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    if !session.offers(|it| it.supports_exception_info_request)? {
        bail!("this adapter can't say more");
    }
    let thread = session.stop()?.thread;
    let info = session.request::<ExceptionInfoRequest>(ExceptionInfoArguments::new(thread))?;
    let description = info.description.as_deref().unwrap_or(&info.exception_id);
    let mut lines = vec![printable(description)];
    if let Some(details) = &info.details {
        let mut inner: Vec<_> = details.inner_exception.iter().flatten().collect();
        inner.reverse();
        while let Some(cause) = inner.pop() {
            let name = cause.full_type_name.as_deref().unwrap_or("an exception");
            let said = cause.message.as_deref().unwrap_or_default();
            lines.push(printable(&format!("  for {name}: {said}")));
        }
        if let Some(facts) = &details.message
            && !description.contains(facts.as_str())
        {
            lines.push(printable(&format!("  {facts}")));
        }
    }
    session.screen.print(&lines.join("\n"));
    Ok(Flow::Go)
}
