//! Names from symbol tables: those in the file, compressed ones (`.gnu_debugdata`), and names for stubs that have none.

mod support;

use dapple_symbols::module::DebugInfo;
use dapple_symbols::{FileAddress, Module};
use std::os::unix::fs::FileExt;
use support::{Workshop, run};

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
    let workshop = Workshop::new("symbols-stubs");
    workshop.write("calls.c", CALLS);
    let ways: [&[&str]; 4] = [
        &["-fpie", "-pie"],
        &["-no-pie", "-fno-pie"],
        &["-fcf-protection=full", "-Wl,-z,ibtplt"],
        &["-fcf-protection=full", "-Wl,-z,ibtplt,-z,now"],
    ];
    for flags in ways {
        let mut arguments = vec!["calls.c", "-o", "calls"];
        arguments.extend(flags);
        workshop.run("gcc", &arguments);
        workshop.run("strip", &["calls"]);
        let binary = workshop.path("calls");
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
    let workshop = Workshop::new("symbols-mini");
    workshop.write("calls.c", CALLS);
    workshop.run("gcc", &["calls.c", "-o", "calls"]);
    let whole = Module::open(&workshop.path("calls")).unwrap();
    let main = whole.symbol_named("main").unwrap();
    workshop.run(
        "objcopy",
        &[
            "-S",
            "--keep-symbol=main",
            "--only-keep-debug",
            "calls",
            "mini",
        ],
    );
    workshop.run("xz", &["--keep", "mini"]);
    workshop.run("strip", &["calls"]);
    let bare = Module::open(&workshop.path("calls")).unwrap();
    assert_eq!(bare.symbol_named("main"), None);
    assert_eq!(bare.debug_info(), DebugInfo::Stripped);
    workshop.run(
        "objcopy",
        &["--add-section", ".gnu_debugdata=mini.xz", "calls"],
    );
    let module = Module::open(&workshop.path("calls")).unwrap();
    assert_eq!(module.debug_info(), DebugInfo::SymbolsOnly);
    assert_eq!(module.symbol_named("main").as_ref(), Some(&main));
    let inside = FileAddress(main.address.0 + 3);
    assert_eq!(module.symbol_at(inside).unwrap().name, "main");
    assert_eq!(module.warnings().len(), 0, "{:?}", module.warnings());
}

#[test]
fn damaged_compressed_symbols_are_told_and_do_no_harm() {
    let workshop = Workshop::new("symbols-damaged");
    workshop.write("calls.c", CALLS);
    workshop.run("gcc", &["calls.c", "-o", "calls"]);
    workshop.run("objcopy", &["--only-keep-debug", "calls", "mini"]);
    workshop.run("xz", &["--keep", "mini"]);
    workshop.run("strip", &["calls"]);
    let stripped = std::fs::read(workshop.path("calls")).unwrap();
    let compressed = std::fs::read(workshop.path("mini.xz")).unwrap();
    let mut told = 0;
    for at in (0..compressed.len()).step_by(compressed.len() / 24) {
        let mut bytes = compressed.clone();
        bytes[at] ^= 0x55;
        workshop.write("mini.xz", bytes);
        workshop.write("calls", &stripped);
        workshop.run(
            "objcopy",
            &["--add-section", ".gnu_debugdata=mini.xz", "calls"],
        );
        let module = Module::open(&workshop.path("calls")).unwrap();
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
    let workshop = Workshop::new("symbols-bomb");
    workshop.write("calls.c", CALLS);
    workshop.run("gcc", &["calls.c", "-o", "calls"]);
    workshop.run("strip", &["calls"]);
    workshop.run("truncate", &["--size=130M", "mini"]);
    workshop.run("xz", &["-0", "mini"]);
    let arguments = ["--add-section", ".gnu_debugdata=mini.xz", "calls"];
    workshop.run("objcopy", &arguments);
    let module = Module::open(&workshop.path("calls")).unwrap();
    assert_eq!(module.symbol_named("main"), None);
    let warnings = format!("{:?}", module.warnings());
    assert!(warnings.contains("take more than"), "{warnings}");
}
