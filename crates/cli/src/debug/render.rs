//! Turns the protocol's types into lines of text. Makes no requests.
//!
//! Text from the adapter may contain any of the debuggee's data, so it passes through [`super::screen::printable`].

use std::fmt::Write;
use std::path::{Path, PathBuf};

use dapple_adapter::DecidedBreakpoint;
use dapple_dap::types::{self, StackFrame, StoppedEventBody, StoppedEventReason};

use super::adapters::chatter;
use super::breakpoints::{Breakpoint, Lifetime, Place};
use super::screen::printable;
use super::style::{Role, Style};
use super::styled::Styled;

/// A path for the user: relative if it is below the working directory, and without the folders of Rust's standard library and of the
/// dependencies that cargo has fetched.
pub fn path(path: &Path) -> String {
    if let Some(library) = in_standard_library(path) {
        return printable(&format!("<rust>/{library}"));
    }
    if let Some(dependency) = in_registry(path) {
        return printable(&format!("~registry/{dependency}"));
    }
    if let Some(dependency) = in_checkout(path) {
        return printable(&format!("~git/{dependency}"));
    }
    let below = std::env::current_dir()
        .ok()
        // If the working directory is the root, everything would be below it.
        .filter(|here| here.parent().is_some())
        .and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    printable(&below.unwrap_or_else(|| path.to_owned()).to_string_lossy())
}

/// The part of a path from `library/` on, if it is in Rust's standard library. The compiler records those paths as
/// `/rustc/COMMIT/library/…` on all machines, a distribution's compiler as `/rustc/VERSION/library/…`. rustup's copy is in the folder of
/// its toolchain.
fn in_standard_library(path: &Path) -> Option<&str> {
    let path = path.to_str()?;
    let rest = match path.strip_prefix("/rustc/") {
        Some(rest) => {
            let (compiler, rest) = rest.split_once('/')?;
            let is_version = compiler.starts_with(|first: char| first.is_ascii_digit());
            (compiler.len() == 40 || is_version && compiler.contains('.')).then_some(rest)?
        }
        None => path.split_once("/lib/rustlib/src/rust/")?.1,
    };
    rest.starts_with("library/").then_some(rest)
}

/// The part of a path from a package's folder on, if it is in cargo's registry (`~/.cargo/registry/src/REGISTRY/PACKAGE/…`).
fn in_registry(path: &Path) -> Option<&str> {
    let (_, rest) = path.to_str()?.split_once("/registry/src/")?;
    Some(rest.split_once('/')?.1)
}

/// `REPOSITORY/COMMIT/…`, if the path is in a repository that cargo has fetched (`~/.cargo/git/checkouts/REPOSITORY-HASH/COMMIT/…`).
fn in_checkout(path: &Path) -> Option<String> {
    let (_, rest) = path.to_str()?.split_once("/git/checkouts/")?;
    let (folder, rest) = rest.split_once('/')?;
    let repository = folder.rsplit_once('-').map_or(folder, |(name, _)| name);
    Some(format!("{repository}/{rest}"))
}

/// `file:line`.
pub fn location(file: &Path, line: i64, style: Style) -> String {
    style.paint(Role::Location, &format!("{}:{line}", path(file)))
}

/// A frame's file and line, if it has both.
pub fn source_of(frame: &StackFrame) -> Option<(PathBuf, usize)> {
    let path = frame.source.as_ref()?.path.as_ref()?;
    let line = usize::try_from(frame.line).ok().filter(|line| *line > 0)?;
    Some((PathBuf::from(path), line))
}

/// The text below the line that reports a stop: an exception's text, if it has several lines.
pub fn below_stop(stop: &StoppedEventBody) -> Option<String> {
    let text = stop.text.as_deref().filter(|text| text.contains('\n'));
    let text = text.filter(|_| stop.reason == StoppedEventReason::Exception);
    text.map(printable)
}

/// The reason for a stop, to follow "stopped": `at breakpoint 1`, `after a step`, `by SIGSEGV: read of address 0x0`.
pub fn stop_reason(stop: &StoppedEventBody, breakpoints: &[u32]) -> String {
    // For an exception, the text names it; the description only says that it is one.
    let described = stop
        .text
        .as_deref()
        .or(stop.description.as_deref())
        .map(printable);
    let numbers = || {
        breakpoints
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let at = match breakpoints.len() {
        0 => String::new(),
        1 => format!(", at breakpoint {}", numbers()),
        _ => format!(", at breakpoints {}", numbers()),
    };
    match (&stop.reason, breakpoints.len()) {
        // The text has several lines and is shown below.
        (StoppedEventReason::Exception, _) if below_stop(stop).is_some() => {
            let kind = stop.description.as_deref().map(printable);
            let kind = kind
                .as_deref()
                .and_then(|kind| kind.strip_prefix("Stopped "));
            format!("{}{at}", kind.unwrap_or("by an exception"))
        }
        (StoppedEventReason::Exception, _) => {
            format!(
                "by {}{at}",
                described.unwrap_or_else(|| "an exception".to_owned())
            )
        }
        (_, 1) => format!("at breakpoint {}", numbers()),
        (_, 2..) => format!("at breakpoints {}", numbers()),
        (StoppedEventReason::Step, _) => match stop.text.as_deref().map(printable) {
            Some(why) => format!("after a step: {why}"),
            None => "after a step".to_owned(),
        },
        (StoppedEventReason::Pause, _) => match stop.text.as_deref().map(printable) {
            Some(why) => format!("by a pause: {why}"),
            None => "by a pause".to_owned(),
        },
        // A moment of a recorded program's history.
        (StoppedEventReason::Entry | StoppedEventReason::Goto, _)
            if let Some(moment) = described.as_deref().and_then(|it| it.strip_prefix("At ")) =>
        {
            format!("at {moment}")
        }
        (StoppedEventReason::Entry, _) => "at its entry".to_owned(),
        (StoppedEventReason::Breakpoint, _) => "at a breakpoint".to_owned(),
        // The description says what was accessed, the text which statement did it.
        (StoppedEventReason::DataBreakpoint, _) => {
            let what = stop.description.as_deref().map(printable);
            let by = stop.text.as_deref().map(printable);
            match (what, by) {
                (Some(what), Some(by)) => format!("because {what}, {by}"),
                (Some(what), None) => format!("because {what}"),
                (None, Some(by)) => by,
                (None, None) => "by an access to data".to_owned(),
            }
        }
        (StoppedEventReason::Goto, _) => "after a jump".to_owned(),
        (reason, _) if reason.as_str() == "end of the recording" => {
            let how = described.unwrap_or_default();
            format!("at the end of the recording: {how}")
        }
        (reason, _) if reason.as_str() == "restart" => "after restarting the function".to_owned(),
        (reason, _) => match described {
            Some(described) => format!("by {described}"),
            None => format!("by {}", printable(reason.as_str())),
        },
    }
}

/// A breakpoint with its place and options, and what the adapter has said of it: `breakpoint 1 at tour.rs:12`.
pub fn breakpoint(
    breakpoint: &Breakpoint,
    answer: Option<&types::Breakpoint>,
    style: Style,
) -> String {
    let kind = match breakpoint.lifetime {
        Lifetime::Always => "breakpoint",
        Lifetime::Once | Lifetime::NextStop => "temporary breakpoint",
    };
    let place = place(breakpoint, answer, style);
    let mut text = format!("{kind} {}{place}", breakpoint.number);
    if breakpoint.options.copies {
        text += " and in copies of the file";
    }
    if let Some(thread) = breakpoint.options.thread {
        text += &format!(" in thread {thread}");
    }
    if let Some(function) = &breakpoint.options.not_from {
        text += &format!(" not from {function}");
    }
    if let Some(condition) = &breakpoint.options.condition {
        text += &format!(" if {condition}");
    }
    if let Some(hits) = &breakpoint.options.hits {
        text += &format!(" on hit {hits}");
    }
    if let Some(log) = &breakpoint.options.log {
        text += &format!(", logs \"{}\"", printable(log));
    }
    if breakpoint.options.disabled {
        text += ", disabled";
    }
    let Some(answer) = answer else {
        return text;
    };
    if let (Place::Line(_, asked) | Place::Column(_, asked, _), Some(line)) =
        (&breakpoint.place, answer.line)
        && answer.verified
        && *asked != line
    {
        text += &style.paint(Role::Aside, &format!(" (asked for line {asked})"));
    }
    let message = answer.message.as_deref().and_then(chatter::of_breakpoint);
    if let Some(message) = message.filter(|_| answer.verified) {
        text += &style.paint(Role::Aside, &format!(" ({})", printable(message)));
    }
    if !answer.verified {
        let why = message.map_or_else(|| "not found yet".to_owned(), printable);
        text += &style.paint(Role::Aside, &format!(" (pending: {why})"));
    }
    text
}

/// How it is decided whether a breakpoint acts: `, decided in the program; 3 hits have counted`.
pub fn decided(this: &DecidedBreakpoint) -> String {
    let mut text = String::new();
    if this.in_program > 0 {
        text.push_str(", decided in the program");
    }
    if this.by_stub > 0 {
        text.push_str(", decided by the stub");
    }
    for reason in &this.by_stops {
        let _ = write!(
            text,
            ", decided by a stop at each hit: {}",
            printable(reason)
        );
    }
    let counted = match this.hits {
        0 => return text,
        1 => "1 hit has counted".to_owned(),
        hits => format!("{hits} hits have counted"),
    };
    if !text.is_empty() {
        let _ = write!(text, "; {counted}");
    }
    text
}

fn place(breakpoint: &Breakpoint, answer: Option<&types::Breakpoint>, style: Style) -> String {
    let function = match &breakpoint.place {
        Place::Function(name) => format!(" on {}", style.paint(Role::Function, name)),
        Place::Line(..) | Place::Column(..) | Place::Definition(..) => String::new(),
    };
    match breakpoint.location(answer) {
        (Some(file), Some(line)) => format!("{function} at {}", location(file, line, style)),
        _ => function,
    }
}

/// `name = value`, on one line.
pub fn assignment(name: &str, value: &Styled, style: Style) -> String {
    format!(
        "{} = {}",
        style.paint(Role::Name, &printable(name)),
        value.painted(style, None).replace('\n', " ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_library_is_named_without_its_commit() {
        let commit = "59807616e1fa2540724bfbac14d7976d7e4a3860";
        let file = format!("/rustc/{commit}/library/std/src/rt.rs");
        assert_eq!(path(Path::new(&file)), "<rust>/library/std/src/rt.rs");
        assert_eq!(path(Path::new("/rustc/x/y.rs")), "/rustc/x/y.rs");
        for file in [
            "/rustc/1.85.0/library/std/src/rt.rs",
            "/home/me/.rustup/toolchains/stable-x86_64-unknown-linux-gnu/lib/rustlib/src/rust/library/std/src/rt.rs",
        ] {
            assert_eq!(path(Path::new(file)), "<rust>/library/std/src/rt.rs");
        }
    }

    #[test]
    fn a_dependency_is_named_without_its_registry() {
        let folder = "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
        let file = format!("{folder}/tokio-1.54.1/src/time/sleep.rs");
        let written = path(Path::new(&file));
        assert_eq!(written, "~registry/tokio-1.54.1/src/time/sleep.rs");
        let file = "/home/me/.cargo/git/checkouts/serde-json-0bb2a2e5c3d4f6a7/1d7378e/src/ser.rs";
        assert_eq!(path(Path::new(file)), "~git/serde-json/1d7378e/src/ser.rs");
    }

    #[test]
    fn a_stop_names_its_breakpoints_or_its_reason() {
        let stop = |reason| StoppedEventBody::new(reason);
        assert_eq!(
            stop_reason(&stop(StoppedEventReason::Breakpoint), &[1, 4]),
            "at breakpoints 1, 4"
        );
        assert_eq!(
            stop_reason(&stop(StoppedEventReason::Step), &[]),
            "after a step"
        );
        let dropped = stop(StoppedEventReason::Step).with_text("the future is dropped here");
        assert_eq!(
            stop_reason(&dropped, &[]),
            "after a step: the future is dropped here"
        );
        let fault =
            stop(StoppedEventReason::Exception).with_description("SIGSEGV: read of address 0x0");
        assert_eq!(stop_reason(&fault, &[]), "by SIGSEGV: read of address 0x0");
        assert_eq!(
            stop_reason(&stop(StoppedEventReason::Other("tea time".into())), &[]),
            "by tea time"
        );
    }
}
