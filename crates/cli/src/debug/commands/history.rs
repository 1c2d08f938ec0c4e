//! Commands that ask about a recorded program's history: who wrote a value, where the session is, bookmarks.

use anyhow::bail;
use dapple_adapter::{
    BookmarkNumber, GoToMomentArguments, GoToMomentRequest, Moment, NamedMoment, RecordRequest,
    RemoveBookmarkRequest, SetBookmarkArguments, SetBookmarkRequest, ShownWrite, ShownWriteFrame,
    WhenRequest, WhoArguments, WhoRequest, WhoResponse,
};
use dapple_dap::message::Empty;
use dapple_dap::types::{StackFrame, StackFramePresentationHint};

use super::backwards::thread;
use super::{Argument, Command, Flow};
use crate::debug::render;
use crate::debug::results::{Frame, History, Item, Text, Write};
use crate::debug::session::Session;

/// The option that lists all writes.
const ALL: &str = "-all";
/// The most writes that are listed.
const MOST: usize = 100;
/// The most frames that are shown of a write.
const FRAMES: usize = 8;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "record",
        aliases: &[],
        usage: "on",
        summary: "record the program from here on, so that it can run backwards up to here",
        details: "`dapple debug --record` records it from its beginning.",
        argument: Argument::Topic(&["on"]),
        repeats: false,
        run: record,
    },
    Command {
        name: "who",
        aliases: &[],
        usage: "[-all] EXPRESSION",
        summary: "who wrote this? the last write of a variable, field or element before now, in a recorded program",
        details: "Such as `who settings.limit` or `who *0x7fff1234`. The same again, or an empty line, finds the write before that. `who -all EXPRESSION` \
                  lists them, the last one first. The session stays where it is; `goto NUMBER` leads to a write.",
        argument: Argument::Expression,
        repeats: true,
        run: who,
    },
    Command {
        name: "when",
        aliases: &[],
        usage: "",
        summary: "where this is in the history of a recorded program, and its bookmarks",
        details: "",
        argument: Argument::None,
        repeats: false,
        run: when,
    },
    Command {
        name: "bookmark",
        aliases: &[],
        usage: "[NAME] | -delete NUMBER",
        summary: "keep this moment of a recorded program, so that `goto` leads back to it",
        details: "`when` lists all bookmarks.",
        argument: Argument::None,
        repeats: false,
        run: bookmark,
    },
    Command {
        name: "goto",
        aliases: &[],
        usage: "NUMBER | beginning | present",
        summary: "show another moment of a recorded program: a bookmark, a write that `who` has found",
        details: "`jump` moves a thread to another line without going back in time.",
        argument: Argument::Topic(&["beginning", "present"]),
        repeats: false,
        run: goto,
    },
];

fn record(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    session.stop()?;
    if argument != "on" {
        bail!("`record on` records the program from here on; the recording ends with the program");
    }
    session.request::<RecordRequest>(Empty)?;
    let said = "recorded from here on: `rc`, `rn` and `who` go back, up to here";
    session.screen.print(said);
    Ok(Flow::Go)
}

fn who(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    thread(session)?;
    let (all, expression) = match argument.strip_prefix(ALL) {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => {
            (true, rest.trim())
        }
        _ => (false, argument),
    };
    if expression.is_empty() {
        bail!("who wrote what? `who order.items[0]`");
    }
    if all {
        return list_writes(session, expression);
    }
    let stop = session.stop()?;
    let found = stop.write.as_ref();
    let before = found
        .filter(|(of, _)| of == expression)
        .map(|(_, bookmark)| *bookmark);
    let answer = ask(session, expression, before)?;
    let Some(write) = answer.write else {
        session.stop_mut()?.write = None;
        let text = match before {
            Some(_) => format!("before that, {}", answer.text),
            None => answer.text,
        };
        session.screen.print(&text);
        return Ok(Flow::Go);
    };
    let own = own_frame(&write);
    let place = write
        .stack
        .get(own)
        .map(|frame| Frame::of(&frame_of(frame)));
    let shown = Write::of(&write, place);
    session.screen.show(Item::Write(shown));
    let frames: Vec<StackFrame> = write.stack.iter().map(frame_of).collect();
    let stack = super::backtrace::folded(&frames, FRAMES.max(own + 1), Some(own));
    session.screen.show(Item::Stack(stack));
    if let Some((path, line)) = write
        .stack
        .get(own)
        .map(frame_of)
        .as_ref()
        .and_then(render::source_of)
    {
        session.show_lines(&path, line.saturating_sub(1), line + 1, Some(line))?;
    }
    if let Some(number) = write.bookmark {
        let text = format!("`goto {number}` leads there, an empty line to the write before");
        session.screen.show(Item::Hint(Text { text }));
    }
    session.stop_mut()?.write = write.bookmark.map(|number| (expression.to_owned(), number));
    Ok(Flow::Go)
}

/// One line for each write, the last one first.
fn list_writes(session: &mut Session, expression: &str) -> anyhow::Result<Flow> {
    let mut before = None;
    for index in 0.. {
        let answer = ask(session, expression, before)?;
        let Some(write) = answer.write else {
            let text = match index {
                0 => answer.text,
                _ => format!("before that, {}", answer.text),
            };
            session.screen.print(&text);
            break;
        };
        let place = write.stack.get(own_frame(&write)).map(frame_of);
        let place = place.map(|frame| Frame::of(&frame));
        let shown = Write::of(&write, place);
        session.screen.show(Item::WriteLine(shown));
        before = write.bookmark;
        if before.is_none() || index + 1 == MOST {
            session.screen.print("those before aren't listed");
            break;
        }
    }
    Ok(Flow::Go)
}

fn ask(
    session: &mut Session,
    expression: &str,
    before: Option<u32>,
) -> anyhow::Result<WhoResponse> {
    let frame = session.stop()?.frame().map(|frame| frame.id);
    let arguments = WhoArguments {
        name: expression.to_owned(),
        frame_id: frame,
        before,
        ..WhoArguments::default()
    };
    session.request_that_runs::<WhoRequest>(arguments)
}

/// The innermost frame with a source that can be read here; else the innermost one.
fn own_frame(write: &ShownWrite) -> usize {
    let has_source = |frame: &ShownWriteFrame| {
        let path = { frame.source.as_ref() }.and_then(|source| source.path.as_ref());
        let is_far = { frame.source.as_ref() }.is_some_and(|it| it.source_reference.is_some());
        let is_here = || path.is_some_and(|path| std::path::Path::new(path).is_file());
        frame.line > 0 && (is_far || is_here())
    };
    write.stack.iter().position(has_source).unwrap_or_default()
}

fn frame_of(frame: &ShownWriteFrame) -> StackFrame {
    let mut shown = StackFrame::new(0, frame.name.clone(), frame.line, 0);
    shown.source.clone_from(&frame.source);
    let is_own =
        { frame.source.as_ref() }.is_some_and(|it| it.path.is_some() && it.origin.is_none());
    if !is_own {
        shown.presentation_hint = Some(StackFramePresentationHint::Subtle);
    }
    shown.instruction_pointer_reference = Some(frame.instruction_pointer_reference.clone());
    shown
}

fn when(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    thread(session)?;
    let when = session.request::<WhenRequest>(Empty)?;
    session.screen.show(Item::History(History::of(when)));
    Ok(Flow::Go)
}

fn bookmark(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    thread(session)?;
    if let Some(number) = argument.strip_prefix("-delete") {
        let number = number.trim();
        let Ok(bookmark) = number.parse() else {
            bail!("`{number}` is no number of a bookmark; `when` lists them");
        };
        session.request::<RemoveBookmarkRequest>(BookmarkNumber { bookmark })?;
        return Ok(Flow::Go);
    }
    let name = argument.to_owned();
    let set = session.request::<SetBookmarkRequest>(SetBookmarkArguments { name })?;
    let number = set.bookmark;
    session.screen.print(&format!(
        "bookmark {number}; `goto {number}` leads back here"
    ));
    Ok(Flow::Go)
}

fn goto(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    thread(session)?;
    let to = match argument {
        "" => bail!(
            "where to? `goto NUMBER`, `goto beginning`, `goto present`; `when` lists the bookmarks"
        ),
        "beginning" => Moment::Named(NamedMoment::Beginning),
        "present" => Moment::Named(NamedMoment::Present),
        number => match number.parse() {
            Ok(number) => Moment::Bookmark(number),
            Err(_) => bail!(
                "`{number}` is no moment: a bookmark's number, `beginning` or `present`; `jump` moves a thread to a line"
            ),
        },
    };
    session.request::<GoToMomentRequest>(GoToMomentArguments { to })?;
    session.resumed();
    Ok(Flow::Go)
}
