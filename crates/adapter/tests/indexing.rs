//! Sessions with programs that are large enough for an index: the first session writes it, the next one uses it, and a damaged index is
//! detected.

use crate::support::fixture::fixtures_folder;
use crate::support::{Fixture, PATIENCE, Session, initialize_arguments};
use dapple_adapter::{IndexCache, ServeOptions};
use dapple_dap::types::*;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// An empty folder for indexes.
fn folder(name: &str) -> PathBuf {
    let folder = fixtures_folder().join(name);
    // Removes an earlier run's files.
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn cache(folder: &Path) -> IndexCache {
    IndexCache::open(folder.to_owned(), IndexCache::USUAL_LIMIT).expect("a cache")
}

fn session(folder: &Path) -> Session {
    let options = ServeOptions {
        index_cache: Some(Arc::new(cache(folder))),
        ..ServeOptions::default()
    };
    let arguments = initialize_arguments().with_supports_progress_reporting(true);
    Session::serving(options, arguments)
}

/// The only index file in the folder.
fn index(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).expect("a folder");
    let files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    let [file] = &files[..] else {
        panic!("one index expected: {files:?}");
    };
    file.clone()
}

/// Uses the session until the index is there. Its progress is told only on a machine that needs longer for it.
fn index_is_made(session: &Session, folder: &Path) {
    let (cache, begun) = (cache(folder), Instant::now());
    while cache.entries().expect("a folder").is_empty() {
        assert!(begun.elapsed() < PATIENCE, "no index");
        assert!(
            !session
                .ok::<ThreadsRequest>(Default::default())
                .threads
                .is_empty()
        );
    }
}

/// Starts the program with breakpoints on functions, and stops at its first line.
fn start(session: &Session, fixture: &Fixture, functions: &[&str]) -> i64 {
    session.launch(fixture, json!({}));
    let wanted = functions.iter().map(|name| FunctionBreakpoint::new(*name));
    let wanted = SetFunctionBreakpointsArguments::new(wanted.collect());
    for breakpoint in session
        .ok::<SetFunctionBreakpointsRequest>(wanted)
        .breakpoints
    {
        assert!(breakpoint.verified, "{breakpoint:?}");
    }
    session.set_breakpoints(fixture, &["first"]);
    session.configured();
    let stop = session.stopped_at(fixture, "first", StoppedEventReason::Breakpoint);
    stop.thread
}

/// Runs through both calls of `twice`, the inlined one first, and that of `thrice`, to the end.
fn all_calls_stop(session: &Session, fixture: &Fixture, thread: i64) {
    session.resume(thread);
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    assert_eq!(stop.top.name, "twice");
    let stack = session.stack(thread);
    assert_eq!(stack[1].name, "main", "{stack:?}");
    for name in ["twice", "thrice"] {
        session.resume(thread);
        session.stopped_at(fixture, name, StoppedEventReason::FunctionBreakpoint);
    }
    session.resume(thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn an_index_is_made_behind_the_first_stop_and_used_by_the_next_session() {
    let fixture = Fixture::with_all_types("large.c");
    let folder = folder("index-sessions");
    let first = session(&folder);
    start(&first, &fixture, &[]);
    index_is_made(&first, &folder);
    first.disconnect();
    let made = index(&folder);
    let before = std::fs::metadata(&made).expect("an index");
    assert_eq!(before.mode() & 0o777, 0o600);

    let second = session(&folder);
    let thread = start(&second, &fixture, &["twice", "thrice"]);
    all_calls_stop(&second, &fixture, thread);
    second.disconnect();
    let after = std::fs::metadata(&made).expect("an index");
    assert_eq!(before.ino(), after.ino(), "it was made again");
}

/// A core file of the program at the point where `start` stops it.
fn core_of(fixture: &Fixture, folder: &Path) -> PathBuf {
    let options = dapple_engine::launch::LaunchOptions {
        program: fixture.binary.clone(),
        ..Default::default()
    };
    let core = folder.with_extension("core");
    let _ = std::fs::remove_file(&core);
    let (events, _told) = crossbeam_channel::unbounded();
    let program = dapple_engine::Session::launch(options, events).expect("launched");
    program.write_core(&core).expect("a core file");
    core
}

#[test]
fn an_index_is_made_for_a_core_file_and_used_by_the_next_session() {
    let fixture = Fixture::with_all_types("large.c");
    let folder = folder("index-cores");
    let core = core_of(&fixture, &folder);
    let open = || {
        let session = session(&folder);
        let arguments = json!({"coreFile": core});
        let arguments = serde_json::from_value(arguments).expect("an object");
        session.ok::<AttachRequest>(arguments);
        session.wait_for::<InitializedEvent>();
        session.configured();
        session.wait_for::<StoppedEvent>();
        session
    };
    let first = open();
    index_is_made(&first, &folder);
    first.disconnect();
    let made = index(&folder);
    let before = std::fs::metadata(&made).expect("an index");
    let second = open();
    let threads = second.ok::<ThreadsRequest>(Default::default()).threads;
    assert_eq!(threads.len(), 1);
    second.disconnect();
    let after = std::fs::metadata(index(&folder)).expect("an index");
    assert_eq!(before.ino(), after.ino(), "it was made again");
}

#[test]
fn a_function_stops_in_inlined_copies_without_an_index_and_with_a_damaged_one() {
    let fixture = Fixture::with_all_types("large.c");
    let folder = folder("index-damaged");
    let first = session(&folder);
    let thread = start(&first, &fixture, &["twice", "thrice"]);
    all_calls_stop(&first, &fixture, thread);
    first.disconnect();
    let made = index(&folder);
    let whole = std::fs::read(&made).expect("an index");
    // Damage near the start is noticed when the index is opened, later damage when it is used.
    for begin in [60, 5000] {
        let mut bytes = whole.clone();
        for byte in bytes.iter_mut().skip(begin).step_by(1000) {
            *byte ^= 0x10;
        }
        std::fs::write(&made, &bytes).expect("damaged");
        let again = session(&folder);
        let thread = start(&again, &fixture, &["thrice", "twice"]);
        again.wait_for_written(OutputEventCategory::Console, "warning: the index ");
        all_calls_stop(&again, &fixture, thread);
        again.disconnect();
    }
    let last = session(&folder);
    let thread = start(&last, &fixture, &["twice", "thrice"]);
    all_calls_stop(&last, &fixture, thread);
    last.disconnect();
    assert!(std::fs::read(index(&folder)).expect("an index") == whole);
}
