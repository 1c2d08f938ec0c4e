//! Files that are truncated, overwritten or replaced while they are mapped: the module reports the change, and never interprets the new
//! contents as the old.

mod support;

use dapple_symbols::indexing::{IndexCache, IndexState};
use dapple_symbols::lines::LineLookup;
use dapple_symbols::names::NamePattern;
use dapple_symbols::{Error, FileAddress, Module, survive_changed_files};
use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::TestFolder;
use support::shapes::{build, sources};

/// Truncates a file, as a rebuild in place does before it writes.
fn truncate(path: &Path, length: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(length).unwrap();
}

fn functions(module: &Module, name: &str) -> usize {
    module.find_functions(&NamePattern::new(name)).len()
}

/// The files that the module reports as changed. For files that others refer to, it may have reported already that it does without them.
fn changed(module: &Module) -> Vec<String> {
    let warnings = module.warnings();
    let (changed, others): (Vec<_>, Vec<_>) = warnings
        .iter()
        .partition(|warning| matches!(warning, Error::Changed { .. }));
    let of_it = |other: &&Error| {
        let told = other.to_string();
        !changed.is_empty() && told.ends_with("(changed on disk since it was loaded)")
    };
    assert!(others.iter().all(of_it), "{warnings:?}");
    changed.iter().map(ToString::to_string).collect()
}

/// Queries the module until it notices the change: it checks the file a few times a second.
fn until_seen(module: &Module) -> Vec<String> {
    let begun = Instant::now();
    loop {
        functions(module, "far_away");
        let seen = changed(module);
        if !seen.is_empty() || begun.elapsed() > Duration::from_secs(60) {
            return seen;
        }
    }
}

/// A program of two units, of which only the headers have been read.
fn program(name: &str, flags: &[&str]) -> (TestFolder, Module) {
    survive_changed_files();
    let folder = sources(name);
    build(&folder, "program", flags);
    let module = Module::open(&folder.path("program")).unwrap();
    (folder, module)
}

#[test]
fn a_program_that_is_truncated_has_no_debug_information_any_more_and_says_so() {
    let (folder, module) = program("changed-truncated", &[]);
    let path = folder.path("program");
    for length in [4096, 0] {
        truncate(&path, length);
        functions(&module, "far_away");
        let expected = format!(
            "{}: changed on disk since it was loaded, so it is no longer read; a restart reads the new one",
            path.display()
        );
        assert_eq!(until_seen(&module), [expected]);
        assert_eq!(functions(&module, "far_away"), 0);
        assert!(module.symbol_named("main").is_none());
        assert!(module.bytes_at(module.entry(), 16).is_empty());
        assert!(module.segments().len() > 2);
    }
}

#[test]
fn what_was_decoded_before_is_not_read_on_in_other_contents() {
    let (folder, module) = program("changed-overwritten", &[]);
    let (main, far) = support::shapes::both(&folder, "program");
    let line = far.line("far");
    assert!(matches!(
        module.lookup_line(&far.source, line),
        LineLookup::Found(_)
    ));
    let scope = module.function_at(far.address(&module, "far"));
    assert!(scope.is_some());

    // The same source with additional text in front, so that all offsets change.
    let text = std::fs::read_to_string(&far.source).unwrap();
    folder.write(
        "far.cpp",
        format!("struct Unused {{ long a; char b[7]; }};\nUnused unused[40];\n{text}"),
    );
    build(&folder, "other", &[]);
    let contents = std::fs::read(folder.path("other")).unwrap();
    std::fs::write(&main.binary, contents).unwrap();
    assert_eq!(until_seen(&module).len(), 1);
    assert!(!matches!(
        module.lookup_line(&far.source, line),
        LineLookup::Found(_)
    ));
    // A newly opened module has the new contents.
    let anew = Module::open(&main.binary).unwrap();
    assert!(matches!(
        anew.lookup_line(&far.source, line + 2),
        LineLookup::Found(_)
    ));
}

#[test]
fn a_file_that_is_only_touched_or_replaced_is_read_on() {
    for how in ["touched", "replaced", "removed"] {
        let (folder, module) = program(&format!("changed-{how}"), &[]);
        let path = folder.path("program");
        match how {
            "touched" => drop(folder.run("touch", &["-d", "2001-01-01", "program"])),
            "removed" => std::fs::remove_file(&path).unwrap(),
            _ => {
                folder.write("new", "of another build");
                std::fs::rename(folder.path("new"), &path).unwrap();
            }
        }
        let begun = Instant::now();
        // Longer than the interval between two checks of the file.
        while begun.elapsed() < Duration::from_millis(60) {
            assert_eq!(functions(&module, "far_away"), 1, "{how}");
        }
        assert_eq!(changed(&module), [""; 0], "{how}");
    }
}

#[test]
fn lines_outlive_a_split_unit_that_is_gone() {
    for length in [0, 1000] {
        let (folder, module) = program("changed-split", &["-gsplit-dwarf"]);
        let (main, far) = support::shapes::both(&folder, "program");
        let area = main.address(&module, "area");
        assert!(module.function_at(area).is_some());
        let dwo = folder.path("main-program.dwo");
        truncate(&dwo, length);
        let seen = until_seen(&module);
        assert_eq!(seen.len(), 1, "{seen:?}");
        assert!(seen[0].starts_with(&dwo.display().to_string()), "{seen:?}");
        assert_eq!(main.address(&module, "area"), area);
        assert!(module.function_at(area).is_none());
        // The other unit's file is unchanged.
        let far = far.address(&module, "far");
        assert!(module.function_at(far).is_some());
    }
}

#[test]
fn an_index_that_is_cut_is_not_believed() {
    survive_changed_files();
    let folder = sources("changed-index");
    build(&folder, "program", &[]);
    let cache = Arc::new(IndexCache::open(folder.path("cache"), 1 << 30).unwrap());
    let first = Module::open(&folder.path("program")).unwrap();
    first.use_index_cache(&cache);
    assert_eq!(first.make_index(&mut |_, _| true), IndexState::Used);

    let module = Module::open(&folder.path("program")).unwrap();
    module.use_index_cache(&cache);
    assert_eq!(module.load_index(), IndexState::Used);
    let indexes = std::fs::read_dir(folder.path("cache")).unwrap();
    let indexes: Vec<_> = indexes.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(indexes.len(), 1, "{indexes:?}");
    truncate(&indexes[0], 0);
    assert_eq!(functions(&module, "far_away"), 1);
    assert_eq!(module.index_state(), IndexState::Unneeded);
    let warnings = module.warnings();
    assert!(
        matches!(&warnings[..], [Error::Index { reason, .. }] if reason.contains("changed on disk")),
        "{warnings:?}"
    );
}

#[test]
fn many_threads_may_meet_the_missing_pages_at_once() {
    let (folder, module) = program("changed-threads", &[]);
    truncate(&folder.path("program"), 4096);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                functions(&module, "far_away");
                module.lookup_line(Path::new("main.cpp"), 3);
                module.function_at(FileAddress(0x1200));
            });
        }
    });
    assert_eq!(until_seen(&module).len(), 1);
}
