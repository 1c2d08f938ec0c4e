//! Split DWARF and type units: the answers are the same as with a single file.

mod support;

use dapple_symbols::Module;
use dapple_symbols::companions::{Companion, Outcome};
use dapple_symbols::functions::Language;
use support::seen::seen;
use support::shapes::{all_seen, both, build, sources};
use support::{Fixture, TestFolder};

#[test]
fn a_split_program_shows_what_a_plain_one_does() {
    let folder = sources("split-same");
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        for optimisation in ["-O0", "-O2"] {
            build(&folder, "plain", &[version, optimisation]);
            build(&folder, "split", &[version, optimisation, "-gsplit-dwarf"]);
            let plain = all_seen(&folder, "plain");
            assert!(plain.contains("ns::Box"), "{plain}");
            let split = all_seen(&folder, "split");
            assert_eq!(plain, split, "{version} {optimisation}");
        }
    }
}

#[test]
fn type_units_are_followed_in_one_file_and_in_split_ones() {
    let folder = sources("split-types");
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        build(&folder, "plain", &[version]);
        let plain = all_seen(&folder, "plain");
        build(&folder, "types", &[version, "-fdebug-types-section"]);
        assert_eq!(plain, all_seen(&folder, "types"), "{version}");
        let flags = [version, "-fdebug-types-section", "-gsplit-dwarf"];
        build(&folder, "both", &flags);
        assert_eq!(plain, all_seen(&folder, "both"), "{version}, split");
    }
}

#[test]
fn a_package_has_the_units_and_the_types() {
    let folder = sources("split-package");
    build(&folder, "plain", &["-gdwarf-4"]);
    let flags = ["-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section"];
    build(&folder, "split", &flags);
    folder.run("dwp", &["-e", "split", "-o", "split.dwp"]);
    for name in ["main-split.dwo", "far-split.dwo"] {
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    assert_eq!(all_seen(&folder, "plain"), all_seen(&folder, "split"));
}

#[test]
fn opening_a_module_and_its_lines_reads_no_split_unit() {
    let folder = sources("split-lazy");
    build(&folder, "split", &["-gsplit-dwarf"]);
    // Reading these files would cause warnings.
    for name in ["main-split.dwo", "far-split.dwo"] {
        folder.write(name, "not an ELF file");
    }
    let (main, far) = both(&folder, "split");
    let module = main.open();
    assert!(
        module
            .source_files()
            .iter()
            .any(|file| **file == *far.source)
    );
    assert_eq!(module.searches(), []);
    // A breakpoint in one unit only opens that unit's file.
    let address = main.address(&module, "loop");
    assert_eq!(module.row_at(address).unwrap().line, main.line("loop"));
    let looked: Vec<_> = module
        .searches()
        .into_iter()
        .map(|search| search.path)
        .collect();
    assert!(
        looked.contains(&folder.path("main-split.dwo")),
        "{looked:?}"
    );
    assert!(
        !looked.contains(&folder.path("far-split.dwo")),
        "{looked:?}"
    );
}

#[test]
fn a_missing_split_unit_is_told_with_the_places_looked_at_and_leaves_the_lines() {
    let folder = sources("split-missing");
    build(&folder, "split", &["-gsplit-dwarf"]);
    std::fs::remove_file(folder.path("main-split.dwo")).unwrap();
    let (main, far) = both(&folder, "split");
    let module = main.open();
    let address = main.address(&module, "area");
    assert_eq!(module.row_at(address).unwrap().line, main.line("area"));
    assert!(module.function_at(address).is_none());
    let warnings: Vec<String> = module.warnings().iter().map(ToString::to_string).collect();
    let wanted = format!("{} (no such file)", folder.path("main-split.dwo").display());
    assert!(
        matches!(&warnings[..], [warning] if warning.contains(&wanted)),
        "{warnings:?}"
    );
    // The other unit is unaffected.
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
    let folder = sources("split-other");
    build(&folder, "split", &["-gsplit-dwarf"]);
    std::fs::copy(folder.path("far-split.dwo"), folder.path("main-split.dwo")).unwrap();
    let (main, _) = both(&folder, "split");
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
fn a_pipe_in_the_place_of_a_split_unit_is_not_waited_for() {
    let folder = sources("split-pipe");
    build(&folder, "split", &["-gsplit-dwarf"]);
    std::fs::remove_file(folder.path("main-split.dwo")).unwrap();
    folder.run("mkfifo", &["main-split.dwo"]);
    let (main, _) = both(&folder, "split");
    let module = main.open();
    assert!(module.function_at(main.address(&module, "area")).is_none());
    let warnings = format!("{:?}", module.warnings());
    assert!(warnings.contains("is not a regular file"), "{warnings}");
}

#[test]
fn split_units_are_found_beside_a_program_that_was_moved() {
    let folder = sources("split-moved");
    build(&folder, "split", &["-gsplit-dwarf"]);
    std::fs::create_dir(folder.path("moved")).unwrap();
    for name in ["split", "main-split.dwo", "far-split.dwo"] {
        std::fs::rename(folder.path(name), folder.path("moved").join(name)).unwrap();
    }
    let (main, _) = both(&folder, "split");
    let module = Module::open(&folder.path("moved").join("split")).unwrap();
    let function = module.function_at(main.address(&module, "area")).unwrap();
    assert_eq!(function.name, "ns::Box::area");
}

#[test]
fn broken_split_units_do_no_harm() {
    let folder = sources("split-broken");
    build(
        &folder,
        "split",
        &["-gsplit-dwarf", "-fdebug-types-section"],
    );
    let (main, _) = both(&folder, "split");
    let path = folder.path("main-split.dwo");
    let whole = std::fs::read(&path).unwrap();
    // Cuts the file off, and changes a byte, at places all over the file.
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

#[test]
fn broken_packages_do_no_harm() {
    let folder = sources("split-broken-package");
    let flags = ["-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section"];
    build(&folder, "split", &flags);
    folder.run("dwp", &["-e", "split", "-o", "split.dwp"]);
    let (main, _) = both(&folder, "split");
    let path = folder.path("split.dwp");
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(11) {
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

#[test]
fn a_standard_package_is_read_for_the_units_it_has() {
    let folder = sources("split-package-5");
    let flags = ["-gdwarf-5", "-O2"];
    build(&folder, "plain", &flags);
    build(&folder, "split", &[&flags[..], &["-gsplit-dwarf"]].concat());
    // Linkers' `dwp` only writes the index format of DWARF 4. This package has one of the two units.
    folder.write("index", standard_index(&folder, "main-split.dwo"));
    let arguments = [
        "--add-section",
        ".debug_cu_index=index",
        "main-split.dwo",
        "split.dwp",
    ];
    folder.run("objcopy", &arguments);
    std::fs::remove_file(folder.path("main-split.dwo")).unwrap();
    assert_eq!(all_seen(&folder, "plain"), all_seen(&folder, "split"));
    let (main, _) = both(&folder, "split");
    let searches = main.open().search_everything();
    let found: Vec<_> = searches
        .iter()
        .filter(|search| search.outcome == Outcome::Found)
        .map(|search| search.path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(found, ["split.dwp", "split.dwp", "far-split.dwo"]);
}

/// The `.debug_cu_index` (DWARF 5 §7.3.5.3) of a package with only the unit in `object`.
fn standard_index(folder: &TestFolder, object: &str) -> Vec<u8> {
    const SECTIONS: [(&str, u32); 6] = [
        (".debug_info.dwo", 1),
        (".debug_abbrev.dwo", 3),
        (".debug_line.dwo", 4),
        (".debug_loclists.dwo", 5),
        (".debug_str_offsets.dwo", 6),
        (".debug_rnglists.dwo", 8),
    ];
    let info = folder.run("readelf", &["--debug-dump=info", object]);
    let (_, id) = info.split_once("DWO ID:").unwrap();
    let id = id.trim_start().trim_start_matches("0x");
    let id = u64::from_str_radix(id.split_whitespace().next().unwrap(), 16).unwrap();
    let table = folder.run("readelf", &["-SW", object]);
    let size = |name: &str| -> u32 {
        let line = table
            .lines()
            .find(|line| line.contains(&format!("{name} ")));
        let fields = line.map(|line| line.split_once(']').unwrap().1.split_whitespace());
        fields.map_or(0, |mut fields| {
            u32::from_str_radix(fields.nth(4).unwrap(), 16).unwrap()
        })
    };
    let mut words = vec![5, SECTIONS.len() as u32, 1, 2];
    // Two slots: the lowest bit of the unit's id chooses one.
    let mut slots = [0u64; 2];
    let mut rows = [0u32; 2];
    slots[(id & 1) as usize] = id;
    rows[(id & 1) as usize] = 1;
    words.extend(slots.iter().flat_map(|id| [*id as u32, (id >> 32) as u32]));
    words.extend(rows);
    words.extend(SECTIONS.iter().map(|(_, number)| number));
    words.extend(SECTIONS.iter().map(|_| 0));
    words.extend(SECTIONS.iter().map(|(name, _)| size(name)));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

const RUST: &str = r#"
use std::hint::black_box;
pub enum Shape { Circle(f64), Rect { width: u32, height: u32 } }
pub struct Sheet<T> { pub items: Vec<T>, pub title: &'static str }
pub static LIMIT: u32 = 12;
#[inline(always)]
fn doubled(size: f64) -> f64 {
    let twice = size * 2.0; // stop: inlined
    black_box(twice)
}
impl Shape {
    #[inline(never)]
    fn area(&self) -> f64 {
        let scale = black_box(3.0);
        match self {
            Shape::Circle(radius) => doubled(scale * radius), // stop: circle
            Shape::Rect { width, height } => f64::from(width * height) * scale, // stop: rect
        }
    }
}
fn main() {
    let sheet = Sheet { items: vec![Shape::Circle(1.0), Shape::Rect { width: LIMIT, height: 3 }], title: "s" };
    let sum: f64 = sheet.items.iter().map(Shape::area).sum();
    println!("{} {sum}", sheet.title); // stop: print
}
"#;

/// LLVM's split DWARF differs from gcc's, and rustc makes packages of both versions.
#[test]
fn split_rust_programs_show_what_plain_ones_do() {
    for version in ["4", "5"] {
        for optimisation in ["0", "2"] {
            let folder = TestFolder::new(&format!("split-rust-{version}-{optimisation}"));
            folder.write("shapes.rs", RUST);
            let version = format!("dwarf-version={version}");
            let level = format!("opt-level={optimisation}");
            let shown = |kind: &str| {
                let split = format!("split-debuginfo={kind}");
                let arguments = ["-g", "-C", &version, "-C", &level, "-C", &split];
                let files = ["shapes.rs", "-o", kind];
                folder.run("rustc", &[&arguments[..], &files].concat());
                let fixture = folder.fixture("shapes.rs", kind);
                let module = fixture.open();
                let marks = ["inlined", "circle", "rect", "print"];
                let text = seen(&module, &fixture, &marks);
                assert_eq!(module.warnings().len(), 0, "{:?}", module.warnings());
                text
            };
            let plain = shown("off");
            assert!(plain.contains("Sheet<"), "{plain}");
            assert_eq!(plain, shown("unpacked"), "{version} {level}");
            assert_eq!(plain, shown("packed"), "{version} {level}, packed");
        }
    }
}

#[test]
fn units_are_named_by_their_root_entries_alone_as_by_all_of_them() {
    let folder = sources("split-names");
    for flags in [
        &["-gdwarf-5"][..],
        &["-gdwarf-4", "-gsplit-dwarf"],
        &["-gdwarf-5", "-gsplit-dwarf", "-fdebug-types-section"],
    ] {
        build(&folder, "named", flags);
        let path = folder.path("named");
        for language in [Language::Cpp, Language::C, Language::Rust] {
            let units = Module::open(&path).unwrap().units();
            let units = units.into_iter().filter(|unit| unit.language == language);
            let names = units.map(|unit| unit.name);
            let names: Vec<_> = names.filter(|name| !name.as_os_str().is_empty()).collect();
            assert_eq!(names.len(), 2 * usize::from(language == Language::Cpp));
            let module = Module::open(&path).unwrap();
            assert_eq!(module.unit_names(language), names, "{flags:?}");
        }
    }
}
