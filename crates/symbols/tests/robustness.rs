//! Damaged files: whatever bytes are missing or changed, every query returns in time and without a panic.
//!
//! The fuzz targets search for more. Each input that they find is put into `fuzz/found`, and is tested by the first test.

mod properties;
mod support;

use dapple_symbols::lines::LineLookup;
use dapple_symbols::{FileAddress, Module};
use properties::elf_file::places;
use properties::{cfi, index, lines, location, module};
use std::path::Path;
use std::time::{Duration, Instant};
use support::{Fixture, compile, compile_by};

const SOURCE: &str = include_str!("../fuzz/seeds/seed.cpp");

/// Flags for small programs, so that most changes hit bytes that are read.
const SMALL: &[&str] = &["-nostdlib", "-shared", "-fPIC", "-Wl,-z,noseparate-code"];

fn program(flags: &[&str]) -> Fixture {
    compile("seed.cpp", SOURCE, &[SMALL, flags].concat())
}

/// Pseudorandom numbers (Knuth's MMIX generator), which are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }

    /// A random replacement of a byte.
    fn instead_of(&mut self, byte: u8) -> u8 {
        match self.below(4) {
            0 => 0xff,
            1 => 0,
            2 => byte ^ (1 << self.below(8)),
            _ => self.below(256) as u8,
        }
    }
}

/// Checks the time that `ask` takes.
fn in_time(what: &str, ask: impl FnOnce()) {
    let start = Instant::now();
    ask();
    let spent = start.elapsed();
    assert!(spent < Duration::from_secs(20), "{what} took {spent:?}");
}

/// A property that must hold for any input.
type Property = fn(&[u8]);

#[test]
fn what_a_fuzzer_found_is_mended() {
    let targets: [(&str, Property); 5] = [
        ("index", index::any_index_is_checked),
        ("module", module::any_bytes_are_answered_for),
        ("lines", lines::any_line_program_is_answered_for),
        ("cfi", cfi::any_frame_section_is_answered_for),
        ("location", location::any_expression_ends),
    ];
    for (target, property) in targets {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/found")
            .join(target);
        let Ok(files) = std::fs::read_dir(folder) else {
            continue;
        };
        for file in files {
            // The output of a failed test names the file.
            let path = file.expect("a file").path();
            println!("{}", path.display());
            let input = std::fs::read(&path).expect("it is readable");
            in_time(&path.display().to_string(), || property(&input));
        }
    }
}

#[test]
fn an_index_with_right_checksums_is_not_believed_either() {
    let mut random = Random(7);
    let mut used = 0;
    for round in 0..2000 {
        let mut input = vec![(round % 8 != 0) as u8];
        for _ in 0..1 + random.below(6) {
            // Mostly in the tables of a small program, which are at the front.
            let place = match random.below(4) {
                0 => random.below(usize::MAX),
                _ => random.below(9000),
            };
            input.extend((place as u32).to_le_bytes());
            let old = random.below(256) as u8;
            input.push(random.instead_of(old));
        }
        in_time(&format!("round {round}"), || {
            used += usize::from(index::is_used(&input));
        });
    }
    assert!(used > 500, "{used} were used");
}

/// Changes bytes of sections and headers. Each is chosen equally often, so that small ones are hit, too.
fn damage_and_ask(flags: &[&str], rounds: usize) {
    let fixture = program(flags);
    let bytes = std::fs::read(&fixture.binary).unwrap();
    module::any_bytes_are_answered_for(&bytes);
    let opened = fixture.open();
    assert!(!opened.rows_in(module::EVERYWHERE).is_empty());
    assert!(opened.warnings().is_empty(), "{:?}", opened.warnings());

    let mut random = Random(42);
    let headers = 0..64 + 13 * 56;
    let mut sections: Vec<_> = places(&bytes)
        .into_iter()
        .map(|place| place.bytes)
        .collect();
    assert!(sections.len() > 8, "{sections:?}");
    sections.push(headers);
    let mut opened = 0;
    for round in 0..rounds {
        let mut damaged = bytes.clone();
        match round % 8 {
            0 => damaged.truncate(random.below(bytes.len())),
            kind => {
                for _ in 0..kind {
                    let section = &sections[random.below(sections.len())];
                    let at = section.start + random.below(section.len());
                    damaged[at] = random.instead_of(damaged[at]);
                }
            }
        }
        opened += usize::from(Module::from_bytes("damaged", damaged.clone()).is_ok());
        in_time(&format!("round {round}"), || {
            module::any_bytes_are_answered_for(&damaged);
        });
    }
    assert!(opened > rounds / 2, "{opened} of {rounds} could be opened");
}

#[test]
fn damaged_files_of_dwarf_4_are_survived() {
    damage_and_ask(&["-gdwarf-4", "-O2"], 600);
}

#[test]
fn damaged_files_of_dwarf_5_are_survived() {
    damage_and_ask(&["-gdwarf-5", "-O0"], 600);
}

#[test]
fn damaged_files_with_type_units_are_survived() {
    damage_and_ask(&["-gdwarf-4", "-O1", "-fdebug-types-section"], 600);
}

#[test]
fn damaged_compressed_sections_are_survived() {
    damage_and_ask(&["-gdwarf-5", "-O2", "-gz"], 400);
}

/// Files of 32 bits, of which any bytes are changed.
#[test]
fn damaged_files_for_arm_are_survived() {
    const GXX: &str = "arm-linux-gnueabihf-g++";
    let runs = std::process::Command::new(GXX).arg("--version").output();
    if !runs.is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped: there is no {GXX}");
    }
    for flags in [
        ["-gdwarf-4", "-marm", "-gz"],
        ["-gdwarf-5", "-mthumb", "-O2"],
    ] {
        let fixture = compile_by(GXX, "seed.cpp", SOURCE, &[SMALL, &flags].concat());
        let bytes = std::fs::read(&fixture.binary).unwrap();
        let (mut random, mut opened) = (Random(1), 0);
        let rounds = 600;
        for round in 0..rounds {
            let mut damaged = bytes.clone();
            match round % 8 {
                0 => damaged.truncate(random.below(bytes.len())),
                kind => {
                    for _ in 0..8 * kind {
                        // Half of the changes in the tables of headers and symbols, at the file's ends.
                        let near = random.below(bytes.len() / 8);
                        let at = match random.below(4) {
                            0 => 20 + near,
                            1 => bytes.len() - 1 - near,
                            _ => 20 + random.below(bytes.len() - 20),
                        };
                        damaged[at] = random.instead_of(damaged[at]);
                    }
                }
            }
            opened += usize::from(Module::from_bytes("damaged", damaged.clone()).is_ok());
            in_time(&format!("round {round}"), || {
                module::any_bytes_are_answered_for(&damaged);
            });
        }
        assert!(opened > rounds / 4, "{opened} of {rounds} could be opened");
    }
}

/// A section's bytes, with the byte in front that says how the property uses them.
fn section_of(flags: &[&str], name: &str, choice: u8) -> Vec<u8> {
    let fixture = program(flags);
    let bytes = std::fs::read(&fixture.binary).unwrap();
    let place = places(&bytes)
        .into_iter()
        .find(|place| place.name == name)
        .unwrap_or_else(|| panic!("no {name}"));
    [&[choice], &bytes[place.bytes]].concat()
}

/// Changes, removes and inserts some bytes.
fn edit_and_ask(input: &[u8], rounds: usize, property: Property) {
    property(input);
    let mut random = Random(7);
    for round in 0..rounds {
        let mut edited = input.to_vec();
        for _ in 0..=round % 6 {
            let at = random.below(edited.len());
            match random.below(4) {
                0 => drop(edited.drain(at..(at + 1 + random.below(4)).min(edited.len()))),
                1 => {
                    let inserted: Vec<u8> = (0..4).map(|_| random.instead_of(0)).collect();
                    edited.splice(at..at, inserted);
                }
                _ => {
                    if let Some(byte) = edited.get_mut(at) {
                        *byte = random.instead_of(*byte);
                    }
                }
            }
        }
        in_time(&format!("round {round}"), || property(&edited));
    }
}

#[test]
fn damaged_line_programs_are_survived() {
    for (flags, choice) in [(["-gdwarf-4", "-O2"], 0), (["-gdwarf-5", "-O2"], 1)] {
        let section = section_of(&flags, ".debug_line", choice);
        edit_and_ask(&section, 300, lines::any_line_program_is_answered_for);
    }
}

#[test]
fn damaged_frame_information_is_survived() {
    // Without `.eh_frame_hdr`, whose table has other addresses here.
    let section = section_of(&["-g", "-O2"], ".eh_frame", 0);
    edit_and_ask(&section, 300, cfi::any_frame_section_is_answered_for);
    let flags = ["-g", "-O2", "-fno-asynchronous-unwind-tables"];
    let section = section_of(&flags, ".eh_frame", 1);
    edit_and_ask(&section, 300, cfi::any_frame_section_is_answered_for);
}

#[test]
fn any_location_expression_ends() {
    let expressions: [&[u8]; 6] = [
        // The frame's byte, then the location and the frame base with their lengths, and the passed value: fbreg 16; call_frame_cfa; lit2.
        &[0x10, 2, 0x91, 0x10, 1, 0x9c, 0x32],
        // A frame base that refers to itself.
        &[0x10, 2, 0x91, 0x10, 2, 0x91, 0x10],
        // entry_value(reg5); stack_value; call_frame_cfa; breg3 8.
        &[0x10, 4, 0xa3, 1, 0x55, 0x9f, 1, 0x9c, 0x73, 8],
        // Pieces of registers, empty pieces, and pieces in bits.
        &[0x10, 11, 0x50, 0x93, 4, 0x93, 2, 0x51, 0x93, 2, 0x9d, 3, 2],
        // regval_type, convert, stack_value.
        &[0x10, 7, 0xa5, 0x11, 0x21, 0xa8, 0x24, 0x9f, 0],
        // A loop: lit1; skip -4.
        &[0x10, 4, 0x31, 0x2f, 0xfc, 0xff],
    ];
    for expression in expressions {
        edit_and_ask(expression, 300, location::any_expression_ends);
    }
}

/// Each caller evaluates entry values of its own caller several times.
#[test]
fn entry_values_of_entry_values_end() {
    // entry_value(reg5); drop.
    let asks = [0xa3, 1, 0x55, 0x13].repeat(30);
    let found = [&[0x60, 4, 0xa3, 1, 0x55, 0x9f, 1, 0x9c][..], &asks, &[0x32]].concat();
    location::any_expression_ends(&found);
}

/// Ten thousand functions with the same code: one list of four thousand ranges.
#[test]
fn a_list_of_ranges_that_all_entries_claim_is_not_kept_for_each() {
    let abbreviations = [
        // DW_TAG_compile_unit: low_pc (addr), language (data1).
        &[1, 0x11, 1, 0x11, 0x01, 0x13, 0x0b, 0, 0][..],
        // DW_TAG_subprogram: name (string), ranges (sec_offset).
        &[2, 0x2e, 0, 0x03, 0x08, 0x55, 0x17, 0, 0, 0],
    ]
    .concat();
    let mut unit = vec![4, 0, 0, 0, 0, 0, 8, 1];
    unit.extend([0; 8]);
    unit.push(0x0c);
    unit.extend(b"\x02f\0\0\0\0\0".repeat(10_000));
    unit.push(0);
    let info = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
    let code = properties::elf_file::CODE.start;
    let mut ranges: Vec<u8> = (0..4000u64)
        .flat_map(|index| [code + index * 16, code + index * 16 + 8])
        .flat_map(u64::to_le_bytes)
        .collect();
    ranges.extend([0; 16]);
    let arange = {
        let mut set = vec![2, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0];
        set.extend([code, 0x10_0000, 0, 0].map(u64::to_le_bytes).concat());
        [&(set.len() as u32).to_le_bytes()[..], &set].concat()
    };
    let file = properties::elf_file::program(&[
        (".debug_abbrev", &abbreviations),
        (".debug_info", &info),
        (".debug_ranges", &ranges),
        (".debug_aranges", &arange),
    ]);
    let module = Module::from_bytes("claims", file).unwrap();
    let found = module
        .function_at(FileAddress(code + 4))
        .expect("one of them");
    assert_eq!(found.ranges.len(), 4000);
    let warnings = module.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let warning = warnings[0].to_string();
    assert!(
        warning.starts_with("claims: .debug_info at offset 0x0: entries claim more code"),
        "{warning}"
    );
}

/// Five hundred units that share a line program of four thousand rows.
#[test]
fn a_line_program_that_all_units_claim_is_run_once() {
    // DW_TAG_compile_unit: name, comp_dir (string), stmt_list (sec_offset), low_pc (addr), high_pc (data8).
    let abbreviations = [
        1, 0x11, 0, 0x03, 0x08, 0x1b, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, 0,
    ];
    let code = properties::elf_file::CODE;
    let mut unit = vec![4, 0, 0, 0, 0, 0, 8, 1];
    unit.extend_from_slice(b"seed.c\0/src\0\0\0\0\0");
    unit.extend(
        [code.start, code.end - code.start]
            .map(u64::to_le_bytes)
            .concat(),
    );
    let unit = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
    // Version 4, minimum_instruction_length 1, one operation, is_stmt, line_base 0, line_range 1, opcode_base 10.
    let mut header = vec![1, 1, 1, 0, 1, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0];
    header.extend_from_slice(b"seed.c\0\0\0\0\0");
    let mut program = [&[4, 0][..], &(header.len() as u32).to_le_bytes(), &header].concat();
    program.extend([0, 9, 2]);
    program.extend(code.start.to_le_bytes());
    // DW_LNS_advance_line 4; special opcodes that advance the address by 1; DW_LNE_end_sequence.
    program.extend([3, 4]);
    program.extend([11; 4000]);
    program.extend([0, 1, 1]);
    let lines = [&(program.len() as u32).to_le_bytes()[..], &program].concat();
    let file = properties::elf_file::program(&[
        (".debug_abbrev", &abbreviations),
        (".debug_info", &unit.repeat(500)),
        (".debug_line", &lines),
    ]);
    let module = Module::from_bytes("claims", file).unwrap();
    let row = module.row_at(FileAddress(code.start + 9)).expect("a row");
    assert_eq!((row.line, row.file.to_str()), (5, Some("/src/seed.c")));
    in_time("a line of all units", || {
        let found = module.lookup_line(Path::new("/src/seed.c"), 9);
        let nothing_behind = LineLookup::NoCode {
            before: Some(5),
            after: None,
        };
        assert_eq!(found, nothing_behind);
    });
}
