//! Breakpoint locations in a file, the source files of a program, and whether they are unchanged.

mod support;

use dapple_symbols::Module;
use dapple_symbols::sources::{PathMap, SourceStatus, installed_rust_source};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use support::{compile, run};

const STATEMENTS: &str = "#include <stdio.h>
static inline __attribute__((always_inline)) int twice(int x) {
    return x * 2;
}

int add(int a, int b) {
    /* nothing here */
    int c = a; int d = b;
    return c + d;
}
int main(int argc, char **argv) {
    int first = twice(argc);
    int total = add(first, twice(first));
    printf(\"%d\\n\", total);
    return 0;
}
";

#[test]
fn breakpoint_locations_are_the_statements_of_the_line_table() {
    for flags in [["-g", "-O0"], ["-gdwarf-4", "-O2"]] {
        let fixture = compile("statements.c", STATEMENTS, &flags);
        let module = fixture.open();
        let all = module.breakpoint_locations(&fixture.source, 1..=u32::MAX);
        let ours: BTreeSet<u32> = all
            .iter()
            .filter(|at| at.is_stmt)
            .map(|at| at.line)
            .collect();
        // `statements.c  8  0x1133  2  x` in binutils' decoded table; `x` marks statements.
        let listing = run(
            "objdump",
            &["--dwarf=decodedline", fixture.binary.to_str().unwrap()],
        );
        let theirs: BTreeSet<u32> = listing
            .lines()
            .filter(|line| line.starts_with("statements.c") && line.trim_end().ends_with('x'))
            .filter_map(|line| line.split_whitespace().nth(1)?.parse().ok())
            .collect();
        assert!(theirs.len() >= 6, "{listing}");
        assert_eq!(ours, theirs, "{flags:?}");
        // A range of lines has the same locations as the whole file in that range.
        let part = module.breakpoint_locations(&fixture.source, 8..=9);
        let expected: Vec<_> = all
            .iter()
            .filter(|at| (8..=9).contains(&at.line))
            .cloned()
            .collect();
        assert_eq!(part, expected);
        for at in &all {
            assert!(!at.addresses.is_empty(), "{at:?}");
        }
    }
}

#[test]
fn a_line_with_two_statements_has_two_locations_and_an_inlined_one_an_address_for_each_copy() {
    let fixture = compile("statements.c", STATEMENTS, &["-g", "-O0"]);
    let module = fixture.open();
    let columns: Vec<u32> = module
        .breakpoint_locations(&fixture.source, 8..=8)
        .iter()
        .map(|at| at.column)
        .collect();
    assert_eq!(columns, [9, 20]);
    // The first location after the prologue, like a breakpoint on the function's line.
    let opening = module.breakpoint_locations(&fixture.source, 6..=6);
    assert_eq!(opening.len(), 1);
    assert_eq!(opening[0].addresses, fixture_breakpoint(&module, "add"));
    assert_eq!(module.breakpoint_locations(&fixture.source, 7..=7), []);
    assert_eq!(
        module.breakpoint_locations(Path::new("/nowhere/other.c"), 1..=99),
        []
    );
    let twice = module.breakpoint_locations(&fixture.source, 3..=3);
    let most = twice.iter().map(|at| at.addresses.len()).max();
    assert_eq!(most, Some(2), "{twice:?}");
}

fn fixture_breakpoint(module: &Module, name: &str) -> Vec<dapple_symbols::FileAddress> {
    let pattern = dapple_symbols::names::NamePattern::new(name);
    module
        .find_functions(&pattern)
        .iter()
        .map(|found| found.breakpoint)
        .collect()
}

/// A program whose line table has the MD5 of its source. gcc writes none. Its assembler does if told to, but its versions differ in the
/// byte order, so it is given an MD5 of equal bytes, which is then replaced.
fn with_checksum(name: &str, text: &str) -> (PathBuf, PathBuf) {
    // The folder belongs to this test, and its files are built again.
    let folder = compile(name, text, &["-g"])
        .source
        .parent()
        .unwrap()
        .join("checked");
    std::fs::create_dir_all(&folder).unwrap();
    let [source, assembly, binary] = [name, "program.s", "program"].map(|name| folder.join(name));
    std::fs::write(&source, text).unwrap();
    let [source_text, assembly_text, binary_text] =
        [&source, &assembly, &binary].map(|path| path.to_str().unwrap());
    run(
        "gcc",
        &["-gdwarf-5", "-S", source_text, "-o", assembly_text],
    );
    const STAND_IN: [u8; 16] = [0x5a; 16];
    let stand_in = "5a".repeat(16);
    let lines: Vec<String> = std::fs::read_to_string(&assembly)
        .unwrap()
        .lines()
        .map(|line| match line.trim().strip_prefix(".file ") {
            Some(file) if file.starts_with(|first: char| first.is_ascii_digit()) => {
                format!("{line} md5 0x{stand_in}")
            }
            _ => line.to_owned(),
        })
        .collect();
    std::fs::write(&assembly, lines.join("\n") + "\n").unwrap();
    run("gcc", &[assembly_text, "-o", binary_text]);
    let md5 = run("md5sum", &[source_text]);
    let digit = |at: usize| u8::from_str_radix(&md5[2 * at..2 * at + 2], 16).unwrap();
    let digest: [u8; 16] = std::array::from_fn(digit);
    let mut bytes = std::fs::read(&binary).unwrap();
    let mut replaced = 0;
    while let Some(at) = bytes.windows(16).position(|window| window == STAND_IN) {
        bytes[at..at + 16].copy_from_slice(&digest);
        replaced += 1;
    }
    assert!(replaced > 0, "the assembler wrote no checksum");
    std::fs::write(&binary, bytes).unwrap();
    (source, binary)
}

#[test]
fn a_changed_source_is_noticed_by_its_checksum() {
    let text = "int main(void) {\n    return 3;\n}\n";
    let (path, binary) = with_checksum("checked.c", text);
    let module = Module::open(&binary).unwrap();
    let sources = module.sources();
    let source = sources.iter().find(|source| *source.path == *path).unwrap();
    assert!(source.checksum.is_some(), "{sources:?}");
    let status = |map: &PathMap| {
        let checked = source.check(map);
        (checked.status, checked.found)
    };
    let here = PathMap::new();
    assert_eq!(status(&here), (SourceStatus::Same, Some(path.clone())));

    let moved = path.parent().unwrap().join("moved");
    std::fs::create_dir_all(&moved).unwrap();
    let there = moved.join("checked.c");
    std::fs::write(&there, text.replace('3', "4")).unwrap();
    let map = PathMap::new().with_pair(path.parent().unwrap(), &moved);
    assert_eq!(map.find(&source.path), Some(there.clone()));
    // The file at its original path is unchanged, so it is used.
    assert_eq!(status(&map), (SourceStatus::Same, Some(path.clone())));

    std::fs::write(&path, "int main(void) { return 5; }\n").unwrap();
    assert_eq!(status(&here), (SourceStatus::Changed, Some(path.clone())));
    std::fs::write(&path, "").unwrap();
    assert_eq!(status(&here), (SourceStatus::Changed, Some(path.clone())));
    assert_eq!(status(&map), (SourceStatus::Changed, Some(there.clone())));
    std::fs::write(&there, text).unwrap();
    assert_eq!(status(&map), (SourceStatus::Same, Some(there)));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(status(&here), (SourceStatus::Missing, None));
}

#[test]
fn without_checksums_a_source_is_known_to_be_here_or_not() {
    let fixture = compile("statements.c", STATEMENTS, &["-gdwarf-4", "-O0"]);
    let module = fixture.open();
    let sources = module.sources();
    let source = sources
        .iter()
        .find(|source| *source.path == *fixture.source)
        .unwrap();
    assert_eq!(source.checksum, None);
    assert_eq!(source.check(&PathMap::new()).status, SourceStatus::Unknown);
    let twice = sources
        .iter()
        .filter(|other| other.path == source.path)
        .count();
    assert_eq!(twice, 1);
}

#[test]
fn the_standard_librarys_source_is_found_where_it_is_installed() {
    let text = "fn main() { let v: Vec<u32> = std::env::args().map(|a| a.len() as u32).collect(); println!(\"{v:?}\"); }\n";
    let fixture = compile("library.rs", text, &["-g"]);
    let module = fixture.open();
    let sources = module.sources();
    let hash = run("rustc", &["-vV"]);
    let hash = hash
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "))
        .unwrap();
    // Toolchains as rustup installs them: one of another version, one without the component, and the right one.
    let toolchains = fixture.source.parent().unwrap().join("toolchains");
    let wanted = Path::new("library/alloc/src/vec/mod.rs");
    for (toolchain, commit, has_source) in [
        ("a", "0123456789", true),
        ("b", hash, false),
        ("c", hash, true),
    ] {
        let library = toolchains.join(toolchain).join("lib/rustlib");
        std::fs::create_dir_all(&library).unwrap();
        let manifest = format!(
            "[pkg.rustc]\nversion = \"1.0.0 ({} 2026-04-14)\"\n",
            &commit[..9]
        );
        std::fs::write(library.join("multirust-channel-manifest.toml"), manifest).unwrap();
        if has_source {
            let file = library.join("src/rust").join(wanted);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "// as installed\n").unwrap();
        }
    }
    let installed = installed_rust_source(&toolchains, &sources).expect("c has it");
    assert_eq!(installed, toolchains.join("c/lib/rustlib/src/rust"));
    let map = PathMap::new().with_rust_source(&installed);
    let named = Path::new("/rustc").join(hash).join(wanted);
    assert_eq!(map.find(&named), Some(installed.join(wanted)));
    let source = sources
        .iter()
        .find(|source| source.path.ends_with(wanted))
        .expect("a Vec is in it");
    // If the component is installed, rustc itself writes the paths of the installed files.
    let expected = match source.path.starts_with("/rustc") {
        true => installed.join(wanted),
        false => source.path.to_path_buf(),
    };
    assert_eq!(source.check(&map).found, Some(expected), "{source:?}");
}
