//! Line tables: the answers are consistent, whatever the line program does.

use super::elf_file::{CODE, program};
use super::module::EVERYWHERE;
use dapple_symbols::lines::LineLookup;
use dapple_symbols::{FileAddress, Module};

/// `.debug_line_str` for line programs of DWARF 5, whose tables contain offsets into it.
const LINE_TEXTS: &[u8] = b"/src\0seed.c\0seed.h\0include\0../above\0seed.cpp\0";

/// The first byte chooses the DWARF version. The rest is `.debug_line`.
pub fn any_line_program_is_answered_for(input: &[u8]) {
    let Some((choice, line)) = input.split_first() else {
        return;
    };
    let module = Module::from_bytes("lines", with_line_program(*choice, line)).expect("a program");
    let rows = module.rows_in(EVERYWHERE);
    assert!(rows.is_sorted_by_key(|row| row.range.start));
    for row in rows.iter().take(50) {
        for address in [
            row.range.start,
            FileAddress(row.range.end.0.wrapping_sub(1)),
        ] {
            if let Some(at) = module.row_at(address) {
                assert!(at.range.contains(&address), "{at:?} for {address:?}");
            }
        }
        let near = module.rows_in(row.range.clone());
        assert!(near.is_sorted_by_key(|row| row.range.start));
        let after = module.after_prologue(row.range.start);
        assert!(after >= row.range.start, "{after:?} for {row:?}");
    }
    let _ = module.sources();
    for file in module.source_files().iter().take(4) {
        let lines = rows.iter().map(|row| row.line).take(20);
        for line in lines.chain([0, 1, u32::MAX]) {
            match module.lookup_line(file, line) {
                LineLookup::Found(found) => assert!(!found.is_empty()),
                LineLookup::NoCode { before, after } => {
                    assert!(
                        before.is_none_or(|before| before < line),
                        "{before:?} {line}"
                    );
                    assert!(after.is_none_or(|after| after > line), "{line} {after:?}");
                }
                LineLookup::NoFile { .. } => {}
            }
        }
        let _ = module.breakpoint_locations(file, 0..=u32::MAX);
        let _ = module.breakpoint_locations(file, 3..=9);
    }
    assert!(
        module
            .warnings()
            .iter()
            .all(|warning| warning.to_string().starts_with("lines: .debug_"))
    );
}

/// A program with this line program, and with one unit and one function that contain all its code.
fn with_line_program(choice: u8, line: &[u8]) -> Vec<u8> {
    let version: u8 = if choice & 1 == 0 { 4 } else { 5 };
    // DW_TAG_compile_unit: name, comp_dir, stmt_list, low_pc, high_pc (data8), language (data1).
    let abbreviations = [
        &[
            1, 0x11, 1, 0x03, 0x08, 0x1b, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0x13, 0x0b, 0,
            0,
        ][..],
        // DW_TAG_subprogram: name, low_pc, high_pc (data8).
        &[2, 0x2e, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, 0],
    ]
    .concat();
    let code = [CODE.start, CODE.end - CODE.start]
        .map(u64::to_le_bytes)
        .concat();
    let mut unit = vec![version, 0];
    match version {
        4 => unit.extend([0, 0, 0, 0, 8]),
        _ => unit.extend([1, 8, 0, 0, 0, 0]),
    }
    unit.extend_from_slice(b"\x01seed.c\0/src\0\0\0\0\0");
    unit.extend_from_slice(&code);
    unit.push(0x0c);
    unit.extend_from_slice(b"\x02work\0");
    unit.extend_from_slice(&code);
    unit.push(0);
    let info = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
    program(&[
        (".debug_abbrev", &abbreviations),
        (".debug_info", &info),
        (".debug_line", line),
        (".debug_line_str", LINE_TEXTS),
    ])
}
