//! Values of the user's own types, as their Natvis files say.

mod support;

use dapple_engine::{Event, Session};
use expect_test::expect_file;
use std::path::{Path, PathBuf};
use support::{Debuggee, Fixture, clang, fixture, fixture_by, listing};

/// A file of the repository's `fixtures/`.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name)
}

fn shown_by(session: &Session, files: &[&str]) {
    let files = files.iter().map(|name| file(name)).collect();
    session.set_presentation(files).expect("a session");
}

/// What was told of the files, without the folder.
fn told(debuggee: &Debuggee<'_>) -> Vec<String> {
    let folder = file("").display().to_string();
    let warnings = debuggee
        .seen
        .iter()
        .cloned()
        .chain(debuggee.events.try_iter());
    let warnings = warnings.filter_map(|event| match event {
        Event::PresentationWarnings(warnings) => Some(warnings),
        _ => None,
    });
    let warnings = warnings.flatten();
    warnings
        .map(|warning| warning.replace(&folder, ""))
        .collect()
}

/// What is shown at a stop, live and in a core file.
fn shown(fixture: &Fixture, stop: &str, depth: usize) -> String {
    let mut debuggee = fixture.launch();
    shown_by(debuggee.session(), &["shown.natvis"]);
    debuggee.break_at(&[stop]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = listing::innermost(debuggee.session(), thread);
    let live = listing::locals(debuggee.session(), frame, depth);
    assert_eq!(
        told(&debuggee),
        ["shown.natvis:181: `shop::Renamed` has no member `older`"]
    );
    let core = listing::core_of(debuggee.session());
    let (remains, _) = listing::post_mortem(&core, None);
    shown_by(&remains, &["shown.natvis"]);
    let left = listing::locals(&remains, listing::innermost(&remains, thread), depth);
    std::fs::remove_file(&core).expect("removed");
    assert_eq!(left, live, "post mortem, and live");
    live
}

#[test]
fn values_are_shown_as_their_natvis_says() {
    let fixture = fixture("shown.cpp", &[]);
    expect_file!["presentation/values.txt"].assert_eq(&shown(&fixture, "values", 2));
}

#[test]
fn clangs_values_are_shown_alike() {
    let Some(clang) = clang() else {
        return;
    };
    let fixture = fixture_by(
        &clang,
        "shown.cpp",
        &["-fstandalone-debug", "-xc++", "-lstdc++"],
    );
    // The compilers write names of types each in their own way.
    let shown = shown(&fixture, "values", 2).replace("<const char *>", "<char const *>");
    expect_file!["presentation/values.txt"].assert_eq(&shown);
}

#[test]
fn what_makes_no_sense_has_its_reason_in_its_place() {
    let fixture = fixture("shown.cpp", &[]);
    expect_file!["presentation/corrupt.txt"].assert_eq(&shown(&fixture, "corrupt", 2));
}
