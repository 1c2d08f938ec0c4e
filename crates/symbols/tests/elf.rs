//! ELF headers and symbol tables.

mod support;

use dapple_symbols::module::{DebugInfo, ModuleKind};
use dapple_symbols::{Error, FileAddress, Module};
use std::path::Path;
use support::compile;

const PROGRAM: &str = "int counter = 7;\nint twice(int x) { return 2 * x; }\nint main(void) { return twice(counter); }\n";

#[test]
fn the_kind_of_a_module_is_known() {
    let kind = |flags: &[&str]| compile("kind.c", PROGRAM, flags).open().kind();
    assert_eq!(
        kind(&["-g", "-pie", "-fPIE"]),
        ModuleKind::PositionIndependentExecutable
    );
    assert_eq!(kind(&["-g", "-no-pie"]), ModuleKind::FixedExecutable);
    assert_eq!(kind(&["-g", "-shared", "-fPIC"]), ModuleKind::SharedObject);
    assert_eq!(
        kind(&["-g", "-static-pie"]),
        ModuleKind::PositionIndependentExecutable
    );
}

#[test]
fn headers_give_the_interpreter_and_the_segments() {
    let module = compile("kind.c", PROGRAM, &["-g", "-pie", "-fPIE"]).open();
    assert_eq!(
        module.interpreter(),
        Some(Path::new("/lib64/ld-linux-x86-64.so.2"))
    );
    assert_eq!(module.build_id().map(<[u8]>::len), Some(20));
    assert_eq!(module.debug_info(), DebugInfo::Dwarf);
    assert!(module.dynamic().is_some());
    let entry = module.entry();
    assert_eq!(module.section_at(entry), Some(".text"));
    assert_eq!(
        module.symbol_at(entry).map(|symbol| symbol.name),
        Some("_start".to_owned())
    );
    assert_eq!(module.bytes_at(entry, 4).len(), 4);
    assert_eq!(module.bytes_at(FileAddress(u64::MAX), 4), b"");
    assert!(
        module
            .segments()
            .iter()
            .any(|segment| segment.executable && segment.address <= entry)
    );
    let fixed = compile("kind.c", PROGRAM, &["-g", "-static"]).open();
    assert_eq!(fixed.interpreter(), None);
}

#[test]
fn symbols_are_found_by_address_and_name() {
    let module = compile("kind.c", PROGRAM, &["-g", "-pie", "-fPIE"]).open();
    let twice = module.symbol_named("twice").unwrap();
    assert!(twice.function && twice.size > 0);
    let inside = FileAddress(twice.address.0 + twice.size - 1);
    assert_eq!(module.symbol_at(inside).unwrap().name, "twice");
    assert_ne!(
        module
            .symbol_at(FileAddress(twice.address.0 + twice.size))
            .unwrap()
            .name,
        "twice"
    );
    let counter = module.symbol_named("counter").unwrap();
    assert_eq!((counter.size, counter.function), (4, false));
    assert_eq!(module.bytes_at(counter.address, 4), [7, 0, 0, 0]);
    assert_eq!(module.symbol_named("nothing"), None);
}

#[test]
fn stripped_files_are_told_apart() {
    let kind = |flags: &[&str]| compile("kind.c", PROGRAM, flags).open().debug_info();
    assert_eq!(kind(&["-O1"]), DebugInfo::SymbolsOnly);
    assert_eq!(kind(&["-s"]), DebugInfo::Stripped);
}

#[test]
fn files_that_are_no_program_say_what_they_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fixtures");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        Module::open(&path).unwrap_err().to_string()
    };
    let mut header = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
    header.resize(64, 0);
    header[16] = 3;
    let with = |at: usize, value: u8| {
        let mut bytes = header.clone();
        bytes[at] = value;
        bytes
    };
    let cases: [(&str, Vec<u8>, &str); 7] = [
        (
            "a-script",
            b"#!/bin/sh\necho\n".to_vec(),
            "is a script for /bin/sh",
        ),
        ("a-text", b"hello".to_vec(), "is not an ELF file"),
        ("a-nothing", Vec::new(), "is empty"),
        ("a-32-bit", with(4, 1), "32-bit"),
        ("a-big-endian", with(5, 2), "big-endian"),
        ("a-foreign", with(18, 21), "PowerPC"),
        ("a-short", header[..20].to_vec(), "ends after 20 bytes"),
    ];
    for (name, bytes, expected) in cases {
        let message = write(name, &bytes);
        assert!(
            message.contains(expected) && message.contains(name),
            "{message}"
        );
    }
    let missing = Module::open(Path::new("/no/such/program")).unwrap_err();
    assert_eq!(missing.to_string(), "/no/such/program: no such file");
    assert!(matches!(
        Module::open(&folder),
        Err(Error::Unsupported { .. })
    ));
}
