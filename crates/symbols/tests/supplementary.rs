//! Partial units of `dwz`, in the same file and in a supplementary file.

mod support;

use dapple_symbols::companions::{Companion, Outcome};
use support::Workshop;
use support::shapes::{all_seen, both, build, sources};

/// Builds the program three times. `left` and `right` have their common debug information in `common`.
fn shared(name: &str, flags: &[&str], dwz: &[&str]) -> Workshop {
    let workshop = sources(name);
    for binary in ["plain", "left", "right"] {
        build(&workshop, binary, flags);
    }
    let mut arguments = vec!["-m", "common", "-M", "common"];
    arguments.extend(dwz);
    arguments.extend(["left", "right"]);
    workshop.run("dwz", &arguments);
    assert!(workshop.path("common").exists(), "dwz had nothing to share");
    workshop
}

#[test]
fn a_program_shows_the_same_with_a_supplementary_file() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let workshop = shared("sup-same", &[version], &[]);
        let info = workshop.run("readelf", &["--debug-dump=info", "left"]);
        assert!(info.contains("(alt"), "nothing refers to the file");
        assert_eq!(
            all_seen(&workshop, "plain"),
            all_seen(&workshop, "left"),
            "{version}"
        );
        let (main, _) = both(&workshop, "left");
        let named = main.open().statics_named("depth");
        assert_eq!(named.len(), 1, "{named:?}");
    }
}

#[test]
fn a_program_shows_the_same_with_a_standard_supplementary_file() {
    let workshop = shared("sup-standard", &["-gdwarf-5"], &["--dwarf-5"]);
    let sections = workshop.run("readelf", &["-SW", "left"]);
    assert!(sections.contains(".debug_sup"), "{sections}");
    assert_eq!(all_seen(&workshop, "plain"), all_seen(&workshop, "left"));
}

#[test]
fn a_program_shows_the_same_with_partial_units_of_its_own() {
    let workshop = sources("sup-partial");
    build(&workshop, "plain", &[]);
    build(&workshop, "left", &[]);
    workshop.run("dwz", &["left"]);
    let info = workshop.run("readelf", &["--debug-dump=info", "left"]);
    assert!(info.contains("DW_TAG_partial_unit"), "dwz moved nothing");
    assert_eq!(all_seen(&workshop, "plain"), all_seen(&workshop, "left"));
}

#[test]
fn a_missing_supplementary_file_is_told_with_the_places_looked_at() {
    let workshop = shared("sup-missing", &[], &[]);
    std::fs::remove_file(workshop.path("common")).unwrap();
    let (main, _) = both(&workshop, "left");
    let module = main.open();
    let address = main.address(&module, "area");
    assert_eq!(module.row_at(address).unwrap().line, main.line("area"));
    let warnings: Vec<String> = module.warnings().iter().map(ToString::to_string).collect();
    let wanted = format!("{} (no such file)", workshop.path("common").display());
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
    let workshop = shared("sup-other", &[], &[]);
    std::fs::copy(workshop.path("plain"), workshop.path("common")).unwrap();
    let (main, _) = both(&workshop, "left");
    let module = main.open();
    module.function_at(main.address(&module, "area"));
    let warnings = format!("{:?}", module.warnings());
    assert!(warnings.contains("of another build"), "{warnings}");
}

#[test]
fn a_broken_supplementary_file_does_no_harm() {
    let workshop = shared("sup-broken", &[], &[]);
    let (main, _) = both(&workshop, "left");
    let path = workshop.path("common");
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
