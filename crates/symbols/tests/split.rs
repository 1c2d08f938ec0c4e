//! Split DWARF and type units: the same facts as from one file, wherever the compiler left them.

mod support;

use dapple_symbols::Module;
use dapple_symbols::companions::{Companion, Outcome};
use support::Fixture;
use support::shapes::{all_seen, both, build, sources};

#[test]
fn a_split_program_shows_what_a_plain_one_does() {
    let workshop = sources("split-same");
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        for optimisation in ["-O0", "-O2"] {
            build(&workshop, "plain", &[version, optimisation]);
            build(
                &workshop,
                "split",
                &[version, optimisation, "-gsplit-dwarf"],
            );
            let plain = all_seen(&workshop, "plain");
            assert!(plain.contains("ns::Box"), "{plain}");
            let split = all_seen(&workshop, "split");
            assert_eq!(plain, split, "{version} {optimisation}");
        }
    }
}

#[test]
fn type_units_are_followed_in_one_file_and_in_split_ones() {
    let workshop = sources("split-types");
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        build(&workshop, "plain", &[version]);
        let plain = all_seen(&workshop, "plain");
        build(&workshop, "types", &[version, "-fdebug-types-section"]);
        assert_eq!(plain, all_seen(&workshop, "types"), "{version}");
        let flags = [version, "-fdebug-types-section", "-gsplit-dwarf"];
        build(&workshop, "both", &flags);
        assert_eq!(plain, all_seen(&workshop, "both"), "{version}, split");
    }
}

#[test]
fn a_package_has_the_units_and_the_types() {
    let workshop = sources("split-package");
    build(&workshop, "plain", &["-gdwarf-4"]);
    let flags = ["-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section"];
    build(&workshop, "split", &flags);
    workshop.run("dwp", &["-e", "split", "-o", "split.dwp"]);
    for name in ["main-split.dwo", "far-split.dwo"] {
        std::fs::remove_file(workshop.path(name)).unwrap();
    }
    assert_eq!(all_seen(&workshop, "plain"), all_seen(&workshop, "split"));
}

#[test]
fn opening_a_module_and_its_lines_reads_no_split_unit() {
    let workshop = sources("split-lazy");
    build(&workshop, "split", &["-gsplit-dwarf"]);
    // Whoever reads these will complain.
    for name in ["main-split.dwo", "far-split.dwo"] {
        workshop.write(name, "not an ELF file");
    }
    let (main, far) = both(&workshop, "split");
    let module = main.open();
    assert!(
        module
            .source_files()
            .iter()
            .any(|file| **file == *far.source)
    );
    assert_eq!(module.searches(), []);
    // A breakpoint in one unit opens that unit's file only.
    let address = main.address(&module, "loop");
    assert_eq!(module.row_at(address).unwrap().line, main.line("loop"));
    let looked: Vec<_> = module
        .searches()
        .into_iter()
        .map(|search| search.path)
        .collect();
    assert!(
        looked.contains(&workshop.path("main-split.dwo")),
        "{looked:?}"
    );
    assert!(
        !looked.contains(&workshop.path("far-split.dwo")),
        "{looked:?}"
    );
}

#[test]
fn a_missing_split_unit_is_told_with_the_places_looked_at_and_leaves_the_lines() {
    let workshop = sources("split-missing");
    build(&workshop, "split", &["-gsplit-dwarf"]);
    std::fs::remove_file(workshop.path("main-split.dwo")).unwrap();
    let (main, far) = both(&workshop, "split");
    let module = main.open();
    let address = main.address(&module, "area");
    assert_eq!(module.row_at(address).unwrap().line, main.line("area"));
    assert!(module.function_at(address).is_none());
    let warnings: Vec<String> = module.warnings().iter().map(ToString::to_string).collect();
    let wanted = format!(
        "{} (no such file)",
        workshop.path("main-split.dwo").display()
    );
    assert!(
        matches!(&warnings[..], [warning] if warning.contains(&wanted)),
        "{warnings:?}"
    );
    // The other unit is none the worse.
    let function = module.function_at(far.address(&module, "far")).unwrap();
    assert_eq!(function.name, "far_away");
    let searches = module.search_everything();
    let main_unit = Companion::SplitUnit("main-split.dwo".into());
    assert!(searches.iter().any(|search| search.what == main_unit));
    assert!(
        searches
            .iter()
            .filter(|search| search.what == main_unit)
            .all(|search| search.outcome == Outcome::Missing),
        "{searches:?}"
    );
    let far_unit = Companion::SplitUnit("far-split.dwo".into());
    let found = searches.iter().find(|search| search.what == far_unit);
    assert_eq!(found.map(|search| &search.outcome), Some(&Outcome::Found));
}

#[test]
fn a_split_unit_of_another_build_is_passed_over() {
    let workshop = sources("split-other");
    build(&workshop, "split", &["-gsplit-dwarf"]);
    std::fs::copy(
        workshop.path("far-split.dwo"),
        workshop.path("main-split.dwo"),
    )
    .unwrap();
    let (main, _) = both(&workshop, "split");
    let module = main.open();
    let address = main.address(&module, "area");
    assert!(module.function_at(address).is_none());
    let warnings = format!("{:?}", module.warnings());
    assert!(
        warnings.contains("of another build: its id is"),
        "{warnings}"
    );
}

#[test]
fn split_units_are_found_beside_a_program_that_was_moved() {
    let workshop = sources("split-moved");
    build(&workshop, "split", &["-gsplit-dwarf"]);
    std::fs::create_dir(workshop.path("moved")).unwrap();
    for name in ["split", "main-split.dwo", "far-split.dwo"] {
        std::fs::rename(workshop.path(name), workshop.path("moved").join(name)).unwrap();
    }
    let (main, _) = both(&workshop, "split");
    let module = Module::open(&workshop.path("moved").join("split")).unwrap();
    let function = module.function_at(main.address(&module, "area")).unwrap();
    assert_eq!(function.name, "ns::Box::area");
}

#[test]
fn broken_split_units_do_no_harm() {
    let workshop = sources("split-broken");
    build(
        &workshop,
        "split",
        &["-gsplit-dwarf", "-fdebug-types-section"],
    );
    let (main, _) = both(&workshop, "split");
    let path = workshop.path("main-split.dwo");
    let whole = std::fs::read(&path).unwrap();
    // Cut short, and with a byte changed, at places all over the file.
    for length in (0..whole.len()).step_by(97) {
        std::fs::write(&path, &whole[..length]).unwrap();
        look(&main);
    }
    for at in (0..whole.len()).step_by(13) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        std::fs::write(&path, &bytes).unwrap();
        look(&main);
    }
}

fn look(main: &Fixture) {
    let module = main.open();
    for address in main.addresses(&module, "area") {
        module.function_at(address);
        for variable in module.variables_at(address, 0) {
            if let Some(id) = variable.type_id {
                let _ = module.type_of(id);
            }
        }
    }
}
