//! `loadedSources`, and the events that keep a client's list of sources up to date.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::process::Command;

/// The adapter's list.
#[track_caller]
fn listed(session: &Session) -> BTreeSet<String> {
    let sources = session
        .ok::<LoadedSourcesRequest>(Default::default())
        .sources;
    let count = sources.len();
    let paths: BTreeSet<String> = sources.into_iter().filter_map(|s| s.path).collect();
    assert_eq!(paths.len(), count, "each has a path, and is there once");
    paths
}

/// Waits for an event about `path`, and updates a client's list by all events until then.
#[track_caller]
fn wait_for_source(
    session: &Session,
    list: &mut BTreeSet<String>,
    path: &str,
) -> LoadedSourceEventReason {
    loop {
        let event = session.wait_for::<LoadedSourceEvent>();
        let source = event.source.path.expect("a path");
        let changed = match event.reason {
            LoadedSourceEventReason::New => list.insert(source.clone()),
            LoadedSourceEventReason::Removed => list.remove(&source),
            _ => true,
        };
        assert!(changed, "{source} was told twice");
        if source == path {
            return event.reason;
        }
    }
}

#[test]
fn a_clients_list_of_sources_stays_true_while_a_library_comes_and_goes() {
    let (host, library) = (Fixture::new("host.c"), Fixture::library("plugin.c"));
    let session = Session::new();
    session.launch(&host, json!({"args": [library.program()]}));
    let breakpoint = session.set_lines(&library.path(), &[library.line("greet")]);
    assert!(!breakpoint[0].verified);
    session.set_breakpoints(&host, &["used"]);
    session.configured();
    let stop = session.stopped_at(&library, "greet", StoppedEventReason::Breakpoint);
    let mut list = listed(&session);
    assert!(list.contains(&library.path()) && list.contains(&host.path()));
    for reason in ["gone", "again", "gone"] {
        session.resume(stop.thread);
        let (fixture, mark, told_of) = match reason {
            "gone" => (&host, "used", LoadedSourceEventReason::Removed),
            _ => (&library, "greet", LoadedSourceEventReason::New),
        };
        session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
        assert_eq!(
            wait_for_source(&session, &mut list, &library.path()),
            told_of
        );
        assert_eq!(list, listed(&session), "{reason}");
    }
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 42);
    session.disconnect();
}

#[test]
fn sources_have_the_checksums_of_what_was_compiled_and_are_files() {
    let summed = Fixture::with_checksums("exit.c");
    let is_summed = summed.is_some();
    let fixture = summed.unwrap_or_else(|| Fixture::new("exit.c"));
    let session = Session::new();
    session.launch(&fixture, json!({}));
    assert_eq!(
        session.capabilities().supported_checksum_algorithms,
        Some(vec![ChecksumAlgorithm::Md5])
    );
    let sources = session
        .ok::<LoadedSourcesRequest>(Default::default())
        .sources;
    let path = fixture.path();
    let own = sources.iter().find(|one| one.path.as_ref() == Some(&path));
    let own = own.expect("the program's source").checksums.clone();
    if is_summed {
        let sum = Command::new("md5sum").arg(&path).output().unwrap();
        let sum = String::from_utf8(sum.stdout).unwrap();
        let own = own.expect("its sum");
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].algorithm, ChecksumAlgorithm::Md5);
        assert!(sum.starts_with(&own[0].checksum), "{own:?}, {sum}");
    } else {
        assert_eq!(own, None);
    }
    // The C library's own sources have paths relative to an unknown folder, and its headers are sorted behind the user's sources.
    let paths: Vec<&str> = sources
        .iter()
        .filter_map(|one| one.path.as_deref())
        .collect();
    assert_eq!(paths[0], path, "{paths:?}");
    assert!(paths.iter().any(|path| path.starts_with("/usr/")));
    assert!(paths.iter().all(|path| path.starts_with('/')), "{paths:?}");
    let is_file = |one: &Source| !one.name.as_deref().unwrap_or("<").starts_with('<');
    let others: Vec<_> = sources.iter().filter(|one| !is_file(one)).collect();
    assert!(others.is_empty(), "{others:?}");
    session.configured();
    session.exit_code();
    session.disconnect();
}

#[test]
fn a_client_that_never_asks_is_not_told_of_sources() {
    let (host, library) = (Fixture::new("host.c"), Fixture::library("plugin.c"));
    let session = Session::new();
    session.launch(&host, json!({"args": [library.program()]}));
    session.configured();
    assert_eq!(session.exit_code(), 42);
    let events = session.untaken_events();
    assert!(events.iter().all(|event| event.event != "loadedSource"));
    session.disconnect();
}

#[test]
fn a_program_that_starts_again_has_its_sources_told_again() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({}), &["print"]);
    session.stopped_at(&fixture, "print", StoppedEventReason::Breakpoint);
    let mut list = listed(&session);
    session.ok::<RestartRequest>(RestartArguments::new());
    let path = fixture.path();
    assert_eq!(
        wait_for_source(&session, &mut list, &path),
        LoadedSourceEventReason::Removed
    );
    assert_eq!(
        wait_for_source(&session, &mut list, &path),
        LoadedSourceEventReason::New
    );
    session.stopped_at(&fixture, "print", StoppedEventReason::Breakpoint);
    session.disconnect();
}
