//! Names from symbol tables: those in the file, compressed ones (`.gnu_debugdata`), and names for stubs that have none.

mod support;

use dapple_symbols::module::DebugInfo;
use dapple_symbols::{FileAddress, Module};
use std::os::unix::fs::FileExt;
use support::{TestFolder, run};

const CALLS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    int (*indirect)(const char *) = puts;
    printf("%d\n", atoi(words[0]));
    puts("and");
    return indirect(words[count - 1]);
}
"#;

/// Every PLT stub that `objdump` names, with its address.
fn stubs(binary: &str) -> Vec<(u64, String)> {
    let listing = run("objdump", &["-d", binary]);
    let labels = listing.lines().filter_map(|line| {
        let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
        name.ends_with("@plt")
            .then(|| (u64::from_str_radix(address, 16).unwrap(), name.to_owned()))
    });
    labels.collect()
}

#[test]
fn linkage_stubs_have_the_names_of_what_they_call() {
    let folder = TestFolder::new("symbols-stubs");
    folder.write("calls.c", CALLS);
    let ways: [&[&str]; 4] = [
        &["-fpie", "-pie"],
        &["-no-pie", "-fno-pie"],
        &["-fcf-protection=full", "-Wl,-z,ibtplt"],
        &["-fcf-protection=full", "-Wl,-z,ibtplt,-z,now"],
    ];
    for flags in ways {
        let mut arguments = vec!["calls.c", "-o", "calls"];
        arguments.extend(flags);
        folder.run("gcc", &arguments);
        folder.run("strip", &["calls"]);
        let binary = folder.path("calls");
        let module = Module::open(&binary).unwrap();
        let expected = stubs(binary.to_str().unwrap());
        assert!(expected.len() >= 3, "{flags:?}: {expected:?}");
        for (address, name) in expected {
            // Anywhere inside the stub.
            for address in [address, address + 5] {
                let found = module.symbol_at(FileAddress(address));
                let found = found.map(|symbol| symbol.name);
                assert_eq!(found.as_ref(), Some(&name), "{flags:?} at {address:x}");
            }
        }
    }
}

#[test]
fn symbols_compressed_in_a_stripped_program_are_read() {
    let folder = TestFolder::new("symbols-mini");
    folder.write("calls.c", CALLS);
    folder.run("gcc", &["calls.c", "-o", "calls"]);
    let whole = Module::open(&folder.path("calls")).unwrap();
    let main = whole.symbol_named("main").unwrap();
    folder.run(
        "objcopy",
        &[
            "-S",
            "--keep-symbol=main",
            "--only-keep-debug",
            "calls",
            "mini",
        ],
    );
    folder.run("xz", &["--keep", "mini"]);
    folder.run("strip", &["calls"]);
    let bare = Module::open(&folder.path("calls")).unwrap();
    assert_eq!(bare.symbol_named("main"), None);
    assert_eq!(bare.debug_info(), DebugInfo::Stripped);
    folder.run(
        "objcopy",
        &["--add-section", ".gnu_debugdata=mini.xz", "calls"],
    );
    let module = Module::open(&folder.path("calls")).unwrap();
    assert_eq!(module.debug_info(), DebugInfo::SymbolsOnly);
    assert_eq!(module.symbol_named("main").as_ref(), Some(&main));
    let inside = FileAddress(main.address.0 + 3);
    assert_eq!(module.symbol_at(inside).unwrap().name, "main");
    assert_eq!(module.warnings().len(), 0, "{:?}", module.warnings());
}

#[test]
fn damaged_compressed_symbols_are_told_and_do_no_harm() {
    let folder = TestFolder::new("symbols-damaged");
    folder.write("calls.c", CALLS);
    folder.run("gcc", &["calls.c", "-o", "calls"]);
    folder.run("objcopy", &["--only-keep-debug", "calls", "mini"]);
    folder.run("xz", &["--keep", "mini"]);
    folder.run("strip", &["calls"]);
    let stripped = std::fs::read(folder.path("calls")).unwrap();
    let compressed = std::fs::read(folder.path("mini.xz")).unwrap();
    let mut told = 0;
    for at in (0..compressed.len()).step_by(compressed.len() / 24) {
        let mut bytes = compressed.clone();
        bytes[at] ^= 0x55;
        folder.write("mini.xz", bytes);
        folder.write("calls", &stripped);
        folder.run(
            "objcopy",
            &["--add-section", ".gnu_debugdata=mini.xz", "calls"],
        );
        let module = Module::open(&folder.path("calls")).unwrap();
        module.symbol_named("main");
        let warnings = format!("{:?}", module.warnings());
        told += usize::from(warnings.contains(".gnu_debugdata"));
    }
    assert!(told > 20, "only {told} were noticed");
}

#[test]
fn the_kernels_own_library_has_names() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with("[vdso]")).unwrap();
    let (range, _) = line.split_once(' ').unwrap();
    let (start, end) = range.split_once('-').unwrap();
    let number = |text| u64::from_str_radix(text, 16).unwrap();
    let mut bytes = vec![0; (number(end) - number(start)) as usize];
    let memory = std::fs::File::open("/proc/self/mem").unwrap();
    memory.read_exact_at(&mut bytes, number(start)).unwrap();
    let module = Module::from_bytes("[vdso]", bytes).unwrap();
    let clock = module.symbol_named("__vdso_clock_gettime").unwrap();
    let inside = FileAddress(clock.address.0 + 1);
    let name = module.symbol_at(inside).unwrap().name;
    assert!(name.ends_with("clock_gettime"), "{name}");
}

#[test]
fn compressed_symbols_without_an_end_are_left_out() {
    let folder = TestFolder::new("symbols-bomb");
    folder.write("calls.c", CALLS);
    folder.run("gcc", &["calls.c", "-o", "calls"]);
    folder.run("strip", &["calls"]);
    folder.run("truncate", &["--size=130M", "mini"]);
    folder.run("xz", &["-0", "mini"]);
    let arguments = ["--add-section", ".gnu_debugdata=mini.xz", "calls"];
    folder.run("objcopy", &arguments);
    let module = Module::open(&folder.path("calls")).unwrap();
    assert_eq!(module.symbol_named("main"), None);
    let warnings = format!("{:?}", module.warnings());
    assert!(warnings.contains("take more than"), "{warnings}");
}
