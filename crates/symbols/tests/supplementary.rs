//! Partial units of `dwz`, in the same file and in a supplementary file.

mod support;

use dapple_symbols::companions::{Companion, Outcome};
use support::TestFolder;
use support::shapes::{all_seen, both, build, sources};

/// Builds the program three times. `left` and `right` have their common debug information in `common`.
fn shared(name: &str, flags: &[&str], dwz: &[&str]) -> TestFolder {
    let folder = sources(name);
    for binary in ["plain", "left", "right"] {
        build(&folder, binary, flags);
    }
    let mut arguments = vec!["-m", "common", "-M", "common"];
    arguments.extend(dwz);
    arguments.extend(["left", "right"]);
    folder.run("dwz", &arguments);
    assert!(folder.path("common").exists(), "dwz had nothing to share");
    folder
}

#[test]
fn a_program_shows_the_same_with_a_supplementary_file() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = shared("sup-same", &[version], &[]);
        let info = folder.run("readelf", &["--debug-dump=info", "left"]);
        assert!(info.contains("(alt"), "nothing refers to the file");
        assert_eq!(
            all_seen(&folder, "plain"),
            all_seen(&folder, "left"),
            "{version}"
        );
        let (main, _) = both(&folder, "left");
        let named = main.open().statics_named("depth");
        assert_eq!(named.len(), 1, "{named:?}");
    }
}

#[test]
fn a_program_shows_the_same_with_a_standard_supplementary_file() {
    let folder = shared("sup-standard", &["-gdwarf-5"], &["--dwarf-5"]);
    let sections = folder.run("readelf", &["-SW", "left"]);
    assert!(sections.contains(".debug_sup"), "{sections}");
    assert_eq!(all_seen(&folder, "plain"), all_seen(&folder, "left"));
}

#[test]
fn a_program_shows_the_same_with_partial_units_of_its_own() {
    let folder = sources("sup-partial");
    build(&folder, "plain", &[]);
    build(&folder, "left", &[]);
    folder.run("dwz", &["left"]);
    let info = folder.run("readelf", &["--debug-dump=info", "left"]);
    assert!(info.contains("DW_TAG_partial_unit"), "dwz moved nothing");
    assert_eq!(all_seen(&folder, "plain"), all_seen(&folder, "left"));
}

#[test]
fn a_missing_supplementary_file_is_told_with_the_places_looked_at() {
    let folder = shared("sup-missing", &[], &[]);
    std::fs::remove_file(folder.path("common")).unwrap();
    let (main, _) = both(&folder, "left");
    let module = main.open();
    let address = main.address(&module, "area");
    assert_eq!(module.row_at(address).unwrap().line, main.line("area"));
    let warnings: Vec<String> = module.warnings().iter().map(ToString::to_string).collect();
    let wanted = format!("{} (no such file)", folder.path("common").display());
    assert!(
        warnings.iter().any(|warning| warning.contains(&wanted)),
        "{warnings:?}"
    );
    let searches = module.searches();
    assert_eq!(searches[0].what, Companion::Supplementary);
    assert_eq!(searches[0].outcome, Outcome::Missing);
}

#[test]
fn a_supplementary_file_of_another_build_is_passed_over() {
    let folder = shared("sup-other", &[], &[]);
    std::fs::copy(folder.path("plain"), folder.path("common")).unwrap();
    let (main, _) = both(&folder, "left");
    let module = main.open();
    module.function_at(main.address(&module, "area"));
    let warnings = format!("{:?}", module.warnings());
    assert!(warnings.contains("of another build"), "{warnings}");
}

#[test]
fn a_broken_supplementary_file_does_no_harm() {
    let folder = shared("sup-broken", &[], &[]);
    let (main, _) = both(&folder, "left");
    let path = folder.path("common");
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(41) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        std::fs::write(&path, &bytes).unwrap();
        let module = main.open();
        for address in main.addresses(&module, "area") {
            for variable in module.variables_at(address, 0) {
                if let Some(id) = variable.type_id {
                    let _ = module.type_of(id);
                }
            }
        }
    }
}
