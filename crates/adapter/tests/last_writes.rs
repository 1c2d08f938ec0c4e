//! Who wrote this: the last write of a variable in a recorded program, and the moments that it leads to.

use crate::support::{Fixture, Session, Stopped};
use dapple_adapter::{
    BookmarkNumber, GoToMomentArguments, GoToMomentRequest, Moment, NamedMoment,
    RemoveBookmarkRequest, SetBookmarkArguments, SetBookmarkRequest, ShownWrite, WhenRequest,
    WhoArguments, WhoRequest, WhoResponse,
};
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use serde_json::json;

/// A recorded session, stopped at the first of the breakpoints.
fn recorded(fixture: &Fixture, stops: &[&str]) -> (Session, Stopped) {
    let session = Session::started(fixture, json!({"record": true}), stops);
    let stop = session.stopped_at(fixture, stops[0], StoppedEventReason::Breakpoint);
    (session, stop)
}

fn asked(stop: &Stopped, name: &str, before: Option<u32>) -> WhoArguments {
    WhoArguments {
        name: name.to_owned(),
        frame_id: Some(stop.top.id),
        before,
        ..WhoArguments::default()
    }
}

fn who(session: &Session, stop: &Stopped, name: &str, before: Option<u32>) -> WhoResponse {
    session.ok::<WhoRequest>(asked(stop, name, before))
}

/// Who has written, in short: the line's mark, the value before and after.
fn shown(fixture: &Fixture, write: &ShownWrite) -> String {
    let own = write.stack.iter().find(|frame| {
        let path = { frame.source.as_ref() }.and_then(|source| source.path.as_deref());
        path.is_some_and(|path| path == fixture.source.to_string_lossy())
    });
    let mark = own
        .map(|frame| fixture.mark_of(frame.line))
        .unwrap_or_default();
    let before = write.before.as_deref().unwrap_or("-");
    let call = { write.system_call.as_ref() }.map(|call| format!(" by {call}"));
    format!(
        "{mark}: {before} → {}{}",
        write.after,
        call.unwrap_or_default()
    )
}

/// All writes of a variable, the last one first, and what is said at the end.
fn all_writes(session: &Session, fixture: &Fixture, stop: &Stopped, name: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut before = None;
    loop {
        let answer = who(session, stop, name, before);
        let Some(write) = answer.write else {
            all.push(answer.text);
            return all;
        };
        all.push(shown(fixture, &write));
        before = write.bookmark;
        assert!(before.is_some(), "{all:?}");
    }
}

const SINCE_CALL: &str = "nothing has written it since its function was called";
const SINCE_BEGINNING: &str = "nothing has written it since the recording began";

#[test]
fn the_writes_of_a_variable_are_found_one_by_one() {
    let fixture = Fixture::new("who.c");
    let (session, last) = recorded(&fixture, &["last"]);
    let all = |name: &str| all_writes(&session, &fixture, &last, name);
    assert_eq!(all("deep"), ["deep: - → 60", SINCE_CALL]);
    assert_eq!(
        all("sum"),
        [
            "sums: 6 → 12",
            "sums: 2 → 6",
            "sums: 0 → 2",
            "sum: - → 0",
            SINCE_CALL
        ]
    );
    assert_eq!(
        all("state.text"),
        [
            "fills: \"from a pipe\" → \"xrom a pipe\"",
            "reads: \"\" → \"from a pipe\" by read",
            SINCE_BEGINNING
        ]
    );
    // What was shown before is shown still.
    assert_eq!(session.evaluate(&last.top, "sum"), "12");
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn a_write_that_changes_nothing_counts_and_a_hot_one_is_found_at_once() {
    let fixture = Fixture::new("who.c");
    let (session, last) = recorded(&fixture, &["last"]);
    let mut found = Vec::new();
    let mut before = None;
    for _ in 0..4 {
        let write = who(&session, &last, "state.total", before).write;
        let write = write.expect("a write");
        found.push(shown(&fixture, &write));
        before = write.bookmark;
    }
    let sums: [i64; 3] = std::array::from_fn(|less| (0..100_000 - less as i64).sum());
    assert_eq!(
        found,
        [
            "again: 7 → 7".to_owned(),
            format!("seven: {} → 7", sums[0]),
            format!("adds: {} → {}", sums[1], sums[0]),
            format!("adds: {} → {}", sums[2], sums[1]),
        ]
    );
}

#[test]
fn a_frame_of_a_recursion_knows_its_own_writes() {
    let fixture = Fixture::new("who.c");
    let (session, stop) = recorded(&fixture, &["up"]);
    // The innermost call, of four.
    let all = |stop: &Stopped| all_writes(&session, &fixture, stop, "own");
    assert_eq!(all(&stop), ["own: - → 0", SINCE_CALL]);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "up", StoppedEventReason::Breakpoint);
    assert_eq!(all(&stop), ["deeper: 10 → 10", "own: - → 10", SINCE_CALL]);
    let frames = session.stack(stop.thread);
    let outer = Stopped {
        top: frames[1].clone(),
        ..stop
    };
    assert_eq!(all(&outer), ["own: - → 20", SINCE_CALL]);
}

#[test]
fn a_write_leads_to_its_moment_and_back() {
    let fixture = Fixture::new("who.c");
    let (session, last) = recorded(&fixture, &["last"]);
    let write = who(&session, &last, "sum", None).write.expect("a write");
    let bookmark = write.bookmark.expect("a bookmark");
    let go = |to: Moment| session.ok::<GoToMomentRequest>(GoToMomentArguments { to });
    go(Moment::Bookmark(bookmark));
    let there = session.stopped(StoppedEventReason::Goto);
    assert_eq!(session.evaluate(&there.top, "i"), "3");
    // Here, the write has just been made; and it can be asked from here.
    assert_eq!(session.evaluate(&there.top, "sum"), "12");
    let same = who(&session, &there, "sum", None).write.expect("a write");
    assert_eq!((same.bookmark, &same.after), (Some(bookmark), &write.after));
    let own = session.ok::<SetBookmarkRequest>(SetBookmarkArguments {
        name: "here".into(),
    });
    assert_eq!(own.bookmark, bookmark);
    go(Moment::Named(NamedMoment::Beginning));
    let beginning = session.stopped(StoppedEventReason::Entry);
    let when = session.ok::<WhenRequest>(Empty);
    assert!(when.is_past && when.position < when.length, "{when:?}");
    assert_eq!(when.bookmarks.len(), 1, "{when:?}");
    assert_eq!(when.bookmarks[0].name, "here");
    assert_eq!(
        who(&session, &beginning, "state.total", None).text,
        SINCE_BEGINNING
    );
    go(Moment::Named(NamedMoment::Present));
    let now = session.stopped_at(&fixture, "last", StoppedEventReason::Goto);
    assert_eq!(session.evaluate(&now.top, "state.text"), "\"xrom a pipe\"");
    session.ok::<RemoveBookmarkRequest>(BookmarkNumber { bookmark });
    let to = Moment::Bookmark(bookmark);
    let refusal = session.refused::<GoToMomentRequest>(GoToMomentArguments { to });
    assert!(refusal.sentence.contains("no bookmark"), "{refusal:?}");
    session.resume(now.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn what_cannot_be_asked_is_refused_with_a_reason() {
    let fixture = Fixture::new("who.c");
    let (session, last) = recorded(&fixture, &["last"]);
    let refused = |name: &str, before: Option<u32>| {
        let refusal = session.refused::<WhoRequest>(asked(&last, name, before));
        refusal.sentence
    };
    assert!(refused("nothing", None).contains("nothing"));
    assert!(refused("sum + 1", None).contains("computed"));
    assert!(refused("state", None).contains("watch a part"));
    assert!(refused("sum", Some(99)).contains("no bookmark 99"));
    // Without a recording.
    let session = Session::started(&fixture, json!({}), &["last"]);
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    let refusal = session.refused::<WhoRequest>(asked(&last, "sum", None));
    assert!(refusal.sentence.contains("record"), "{refusal:?}");
    let refusal = session.refused::<WhenRequest>(Empty);
    assert!(refusal.sentence.contains("record"), "{refusal:?}");
}
