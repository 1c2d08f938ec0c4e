//! Plans a jump at each instruction of real functions: those of this test program and of the C library that it runs with.

use dapple_arch::Address;
use dapple_arch::instructions::{decode, decoder};
use dapple_arch::jump_site::{
    Code, Indirect, JUMP, JumpSite, Position, Relocated, Unfit, flags_are_dead, jump_tables, plan,
};
use iced_x86::{FlowControl, Instruction, Mnemonic};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Planning decodes the whole function, so large functions would take most of the time.
const LARGEST: usize = 400;

/// What came out.
#[derive(Default)]
struct Counts {
    functions: usize,
    places: usize,
    planned: usize,
    expanded: usize,
    flags_dead: usize,
    reasons: BTreeMap<String, usize>,
}

/// The files of the test program and its C library.
fn files() -> Vec<PathBuf> {
    let program = std::env::current_exe().expect("this program");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("memory maps");
    let library = maps
        .lines()
        .filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..])))
        .find(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("libc."))
        });
    [Some(program), library].into_iter().flatten().collect()
}

/// The start and size of each function in `.text`, one for each start.
fn functions(file: &object::File<'_>) -> BTreeMap<u64, u64> {
    let symbols = file.symbols().chain(file.dynamic_symbols());
    symbols
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .map(|symbol| (symbol.address(), symbol.size()))
        .collect()
}

fn sweep(path: &Path, largest: usize, counts: &mut Counts) {
    let bytes = std::fs::read(path).expect("the file");
    let file = object::File::parse(&*bytes).expect("an ELF file");
    let text = file.section_by_name(".text").expect("code");
    let (start, code) = (text.address(), text.data().expect("code"));
    for (address, size) in functions(&file) {
        let Some(bytes) = address
            .checked_sub(start)
            .and_then(|offset| code.get(offset as usize..(offset + size) as usize))
        else {
            continue;
        };
        if bytes.len() <= largest {
            counts.functions += 1;
            function(Address(address), bytes, counts);
        }
    }
}

/// Plans a jump at each instruction of a function.
fn function(start: Address, bytes: &[u8], counts: &mut Counts) {
    let ranges = [Code { start, bytes }];
    let instructions: Vec<Instruction> = decoder(bytes, start.0).iter().collect();
    for (index, instruction) in instructions.iter().enumerate() {
        let site = Address(instruction.ip());
        counts.places += 1;
        match plan(site, &ranges, Indirect::Unknown, &|_| false) {
            Ok(planned) => {
                counts.planned += 1;
                counts.flags_dead += usize::from(flags_are_dead(site, &ranges));
                check(&planned, &instructions, index, counts);
            }
            Err(reason) => {
                let name = format!("{reason:?}");
                let name = name.split(['(', ' ']).next().unwrap_or_default();
                *counts.reasons.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
}

/// Checks a plan for the instruction with an index, and its moved code.
fn check(planned: &JumpSite, function: &[Instruction], index: usize, counts: &mut Counts) {
    let covered = |one: &&Instruction| one.ip() < planned.end().0;
    let displaced: Vec<&Instruction> = function[index..].iter().take_while(covered).collect();
    let last = displaced.last().expect("an instruction");
    assert_eq!(last.next_ip(), planned.end().0);
    assert!(planned.length >= JUMP as u64);
    assert!(planned.length - (last.len() as u64) < JUMP as u64);
    assert!(!leads_inside(planned, function), "at {}", planned.site);
    // At the start of a page of zeros that a program could map.
    let to = Address((planned.site.0 & !0xfff) + 0x1000_0000);
    let relocated = planned.relocated(to).expect("code in reach");
    let moved = decoded(&relocated, to);
    for one in &displaced {
        let original = Address(one.ip());
        let entry = planned.entry_of(&relocated, original).expect("an entry");
        let position = relocated.original(entry).expect("a position");
        assert_eq!((position.original, position.pushed), (original, 0));
        let first = relocated.positions.partition_point(|at| at.offset < entry);
        counts.expanded +=
            usize::from(is_same(one, &moved[first..], &relocated.positions[first..]));
    }
    let end = moved.last().expect("an instruction");
    match last.flow_control() {
        FlowControl::Next | FlowControl::ConditionalBranch => {
            assert_eq!(end.mnemonic(), Mnemonic::Jmp);
            assert_eq!(end.near_branch_target(), planned.end().0);
        }
        _ => assert_eq!(end.mnemonic(), Mnemonic::Jmp),
    }
}

/// Whether any branch of the function leads behind the first byte of a place.
fn leads_inside(planned: &JumpSite, function: &[Instruction]) -> bool {
    let inside = planned.site.0 + 1..planned.end().0;
    let mut targets = function.iter().map(Instruction::near_branch_target);
    targets.any(|target| target != 0 && inside.contains(&target))
}

/// The instructions of moved code, one for each position, without gaps.
fn decoded(relocated: &Relocated, to: Address) -> Vec<Instruction> {
    let mut offset = 0;
    let mut instructions = Vec::new();
    for position in &relocated.positions {
        assert_eq!(position.offset, offset, "{relocated:x?}");
        let here = Address(to.0 + offset);
        let bytes = &relocated.bytes[offset as usize..];
        let instruction = decode(here, bytes).expect("an instruction");
        offset += instruction.len() as u64;
        instructions.push(instruction);
    }
    let constants = relocated.bytes.len() as u64 - offset;
    assert!(constants <= 7 + 8, "{constants} bytes");
    instructions
}

/// Checks that moved code starts with what an instruction does. Gives whether that takes several instructions.
fn is_same(original: &Instruction, moved: &[Instruction], positions: &[Position]) -> bool {
    let first = &moved[0];
    match original.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall => {
            assert_eq!(first.mnemonic(), Mnemonic::Push);
            let jump = &moved[1];
            assert_eq!(jump.mnemonic(), Mnemonic::Jmp);
            assert_eq!(jump.near_branch_target(), original.near_branch_target());
            assert_eq!(jump.op0_kind(), original.op0_kind());
            assert_eq!(positions[1].pushed, 8);
            same_operand(original, jump);
            return true;
        }
        FlowControl::ConditionalBranch if !original.code().is_jcc_short_or_near() => {
            assert_eq!(first.mnemonic(), original.mnemonic());
            assert_eq!(first.near_branch_target(), moved[2].ip());
            assert_eq!(moved[1].near_branch_target(), moved[2].next_ip());
            let target = original.near_branch_target();
            assert_eq!(moved[2].near_branch_target(), target);
            assert_eq!(positions[2].original, Address(target));
            return true;
        }
        _ => {}
    }
    assert_eq!(first.mnemonic(), original.mnemonic());
    assert_eq!(first.near_branch_target(), original.near_branch_target());
    assert_eq!(first.op_count(), original.op_count());
    same_operand(original, first);
    false
}

/// Checks that operands relative to the instruction pointer mean the same address.
fn same_operand(original: &Instruction, moved: &Instruction) {
    let address = |one: &Instruction| {
        let relative = one.is_ip_rel_memory_operand();
        relative.then(|| one.ip_rel_memory_address())
    };
    assert_eq!(address(original), address(moved), "at {:#x}", original.ip());
}

#[test]
fn each_place_of_real_functions_is_planned_soundly_or_refused_for_a_reason() {
    let mut counts = Counts::default();
    for path in files() {
        sweep(&path, LARGEST, &mut counts);
    }
    let Counts {
        functions,
        places,
        planned,
        expanded,
        flags_dead,
        reasons,
    } = &counts;
    println!(
        "{functions} functions, {places} places, {planned} planned, {flags_dead} of these with dead flags; {expanded} instructions expanded; {reasons:?}"
    );
    assert!(*functions >= 2000, "only {functions} functions");
    // Most code isn't made of jump targets.
    assert!(planned * 2 > *places, "{planned} of {places}");
    let known: BTreeSet<&str> = reasons.keys().map(String::as_str).collect();
    for never in [Unfit::Outside, Unfit::NotAnInstruction] {
        assert!(!known.contains(format!("{never:?}").as_str()));
    }
}

/// What came out of the search for jump tables.
#[derive(Debug, Default)]
struct Tables {
    /// Functions with indirect jumps.
    functions: usize,
    /// Those of them whose indirect jumps are understood.
    understood: usize,
    targets: usize,
    /// Places in all of those functions.
    places: usize,
    planned_before: usize,
    planned: usize,
}

/// The constant memory of a file.
fn constants<'f>(file: &'f object::File<'f>) -> impl Fn(Address, &mut [u8]) -> bool + 'f {
    move |address, buffer| {
        let bytes = file.sections().find_map(|section| {
            let is_constant = matches!(section.name(), Ok(".rodata" | ".text" | ".lrodata"));
            let offset = usize::try_from(address.0.checked_sub(section.address())?).ok()?;
            let end = offset.checked_add(buffer.len())?;
            is_constant.then(|| section.data().ok()?.get(offset..end))?
        });
        bytes
            .inspect(|bytes| buffer.copy_from_slice(bytes))
            .is_some()
    }
}

fn tables_in(path: &Path, tables: &mut Tables) {
    let bytes = std::fs::read(path).expect("the file");
    let file = object::File::parse(&*bytes).expect("an ELF file");
    let text = file.section_by_name(".text").expect("code");
    let (start, code) = (text.address(), text.data().expect("code"));
    let read = constants(&file);
    for (address, size) in functions(&file) {
        let code = address
            .checked_sub(start)
            .and_then(|offset| code.get(offset as usize..(offset + size) as usize));
        let Some(bytes) = code.filter(|code| code.len() <= 20 * LARGEST) else {
            continue;
        };
        let ranges = [Code {
            start: Address(address),
            bytes,
        }];
        let instructions: Vec<Instruction> = decoder(bytes, address).iter().collect();
        let mut all = instructions.iter();
        if !all.any(|it| it.flow_control() == FlowControl::IndirectBranch) {
            continue;
        }
        tables.functions += 1;
        let targets = jump_tables(&ranges, &read, &|_| false);
        let starts: BTreeSet<u64> = instructions.iter().map(Instruction::ip).collect();
        let is_entered = |at: Address| targets.as_ref().is_some_and(|all| all.contains(&at));
        let indirect = match &targets {
            Some(_) => Indirect::Known,
            None => Indirect::Unknown,
        };
        if let Some(targets) = &targets {
            tables.understood += 1;
            tables.targets += targets.len();
            for target in targets {
                assert!(
                    starts.contains(&target.0),
                    "{}: a jump in the function at {address:#x} leads to {target}",
                    path.display()
                );
            }
        }
        // Planning takes long in a long function.
        if bytes.len() > LARGEST {
            continue;
        }
        for instruction in &instructions {
            let site = Address(instruction.ip());
            tables.places += 1;
            let before = plan(site, &ranges, Indirect::Unknown, &|_| false);
            tables.planned_before += usize::from(before.is_ok());
            let planned = plan(site, &ranges, indirect, &is_entered);
            tables.planned += usize::from(planned.is_ok());
            assert!(before.is_err() || planned.is_ok() || is_entered_in(&before, &is_entered));
        }
    }
}

/// Whether something is known to begin in a place behind its first instruction.
fn is_entered_in(planned: &Result<JumpSite, Unfit>, is_entered: &dyn Fn(Address) -> bool) -> bool {
    planned.as_ref().is_ok_and(|planned| {
        let mut inner = planned.site.0 + 1..planned.end().0;
        inner.any(|at| is_entered(Address(at)))
    })
}

/// `DAPPLE_FILES=/bin/bash:/lib/libstdc++.so.6` has other files.
#[test]
fn jump_tables_of_real_functions_lead_to_instructions() {
    let given = std::env::var("DAPPLE_FILES").ok();
    let given = given.map(|text| text.split(':').map(PathBuf::from).collect());
    for path in given.unwrap_or_else(files) {
        let mut tables = Tables::default();
        tables_in(&path, &mut tables);
        println!("{}: {tables:?}", path.display());
        assert!(tables.understood > 0, "{tables:?}");
    }
}
