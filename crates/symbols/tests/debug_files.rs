//! Separate debug files, found by `.gnu_debuglink` and its checksum.

mod support;

use dapple_symbols::companions::{Companion, Outcome};
use dapple_symbols::module::DebugInfo;
use support::shapes::{all_seen, both, build, sources};
use support::{TestFolder, shapes};

/// A stripped program `left` whose debug information is in `left.debug`, and the complete program as `plain`.
fn stripped(name: &str, flags: &[&str]) -> TestFolder {
    let folder = sources(name);
    build(&folder, "plain", flags);
    std::fs::copy(folder.path("plain"), folder.path("left")).unwrap();
    folder.run("objcopy", &["--only-keep-debug", "left", "left.debug"]);
    folder.run("strip", &["-g", "left"]);
    folder.run("objcopy", &["--add-gnu-debuglink=left.debug", "left"]);
    folder
}

#[test]
fn a_linked_debug_file_shows_what_was_stripped() {
    let folder = stripped("link-same", &[]);
    assert_eq!(all_seen(&folder, "plain"), all_seen(&folder, "left"));
    let (main, _) = shapes::both(&folder, "left");
    let searches = main.open().searches();
    let last = searches.last().unwrap();
    assert_eq!(last.what, Companion::DebugFile);
    assert_eq!(last.path, folder.path("left.debug"));
    assert_eq!(last.outcome, Outcome::Found);
}

#[test]
fn a_linked_file_with_another_checksum_is_passed_over_and_told() {
    let folder = stripped("link-other", &["-Wl,--build-id=none"]);
    // Without a build id, only the checksum can show that the files don't match.
    for name in ["left", "left.debug"] {
        let path = folder.path(name);
        let path = path.to_str().unwrap();
        folder.run("objcopy", &["--remove-section=.note.gnu.build-id", path]);
    }
    let (main, _) = both(&folder, "left");
    let module = main.open();
    assert_ne!(module.debug_info(), DebugInfo::Dwarf);
    let warnings: Vec<String> = module.warnings().iter().map(ToString::to_string).collect();
    let wanted = folder.path("left.debug").display().to_string();
    assert!(
        warnings
            .iter()
            .any(|warning| warning.contains(&wanted) && warning.contains("checksum")),
        "{warnings:?}"
    );
    // With a new link, the file is used.
    folder.run("objcopy", &["--remove-section=.gnu_debuglink", "left"]);
    folder.run("objcopy", &["--add-gnu-debuglink=left.debug", "left"]);
    assert_eq!(main.open().debug_info(), DebugInfo::Dwarf);
}
